// The tables of runtime/aot/Tables.h and the typed functions as LLVM IR. Text, since it reads like what it makes: a function
//
//   tk_aot_status scale(tk_aot_stream stream, float *x, int32_t n)
//
// whose grid is a program becomes
//
//   define i32 @scale(i32 %device, ptr %handle, ptr %p0, i32 %p1) nounwind uwtable {
//     %values = alloca [2 x i64]
//     %v0 = ptrtoint ptr %p0 to i64
//     store i64 %v0, ptr %values
//     ...
//     %status = call i32 @tk_aot_launch(ptr @scale.table, i32 %device, ptr %handle, ptr null, ptr %values)
//     ret i32 %status
//   }
#include "compiler/target/cpu/TargetName.h"
#include "compiler/target/nvidia/NvidiaTargets.h"
#include "runtime/jit/aot/Tables.h"
#include "tk/error.h"
#include <algorithm>
#include <bit>
#include <fmt/format.h>

namespace tk::jit::aot {

namespace {
/// c"..." with everything but letters and digits as numbers.
std::string bytesText(std::string_view bytes) {
  constexpr const char *digits = "0123456789ABCDEF";
  std::string text = "c\"";
  text.reserve(bytes.size() + bytes.size() / 2);
  for (char c : bytes) {
    auto byte = static_cast<unsigned char>(c);
    if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == ' ')
      text += c;
    else
      text += '\\', text += digits[byte >> 4], text += digits[byte & 15];
  }
  return text + '"';
}

unsigned needsOf(const std::string &target) {
  if (const nvidia::Target *gpu = nvidia::findTarget(target))
    return gpu->sm;
  cpu::TargetName name = cpu::parseTarget(target).value();
  unsigned needs = name.base == "x86-64-v4" ? TkAotCpuV3 | TkAotCpuV4 : TkAotCpuV3;
  for (const std::string &feature : name.features)
    needs |= feature == "avxvnni" ? TkAotCpuAvxVnni : feature == "avx512vnni" ? TkAotCpuAvx512Vnni : TkAotCpuAvx512Bf16;
  return needs;
}

class Writer {
public:
  explicit Writer(const LauncherNames &launcher) : launcher(launcher) {
    text = "target triple = \"x86_64-unknown-linux-gnu\"\n"
           "%parameter = type { ptr, i8, i8, i8, [5 x i8] }\n"
           "%condition = type { i16, i8, i8, i32, i64 }\n"
           "%value = type { i32, i64, double }\n"
           "%slot = type { i16, i16 }\n"
           "%code = type { ptr, ptr, ptr, ptr, i64, i32, i32, i32, i32, i32, i8, i8, i8, i8 }\n"
           "%variant = type { ptr, ptr, ptr, ptr, ptr, i32, i32 }\n"
           "%program = type { ptr, i64 }\n"
           "%kernel = type { ptr, ptr, ptr, ptr, i32, i32, i32, i32 }\n";
    text += fmt::format("declare hidden i32 @{}(ptr, i32, ptr, ptr, ptr)\ndeclare hidden i32 @{}(ptr, i32, ptr)\ndeclare hidden i32 @{}(ptr)\n",
                        launcher.launch, launcher.prepare, launcher.unload);
  }

  void add(const Function &function) {
    std::string table = kernel(function);
    typedFunction(function, table);
    const std::string &name = function.request->name;
    text +=
        fmt::format("define i32 @{}_prepare(i32 %device, ptr %handle) nounwind uwtable {{\n  %status = call i32 @{}(ptr {}, i32 %device, ptr %handle)\n  ret "
                    "i32 %status\n}}\n",
                    name, launcher.prepare, table);
    text += fmt::format("define i32 @{}_unload() nounwind uwtable {{\n  %status = call i32 @{}(ptr {})\n  ret i32 %status\n}}\n", name, launcher.unload, table);
  }

  std::string text;

private:
  std::string fresh() { return fmt::format("@.t{}", count++); }

  std::string define(const std::string &type, const std::string &value, const char *kind = "private constant", unsigned align = 8) {
    std::string name = fresh();
    text += fmt::format("{} = {} {} {}, align {}\n", name, kind, type, value, align);
    return name;
  }

  /// An array, or null where there is nothing.
  std::string array(const std::string &type, const std::vector<std::string> &elements) {
    if (elements.empty())
      return "null";
    std::string all;
    for (const std::string &element : elements)
      all += fmt::format("{}{} {}", all.empty() ? "" : ", ", type, element);
    return define(fmt::format("[{} x {}]", elements.size(), type), "[" + all + "]");
  }

  std::string bytes(std::string_view content, unsigned align) {
    return define(fmt::format("[{} x i8]", content.size()), bytesText(content), "private constant", align);
  }
  /// With a zero behind it.
  std::string string(const std::string &content) { return bytes(std::string_view(content.c_str(), content.size() + 1), 1); }

  std::string code(const Code &code) {
    bool isCpu = code.kind == compiler::ObjectKind::Elf;
    const nvidia::Target *gpu = nvidia::findTarget(code.target);
    std::vector<std::string> slots;
    for (const runtime::ArgumentSlot &slot : code.abi.slots)
      slots.push_back(fmt::format("{{ i16 {}, i16 {} }}", slot.param, slot.parameterBytes()));
    std::string image = fmt::format("@\"{}\"", code.symbol);
    if (isCpu)
      text += fmt::format("declare hidden void {}()\n", image);
    else // the driver reads text up to a zero, and cubins are ELF files
      image = code.kind == compiler::ObjectKind::Ptx ? string(code.image) : bytes(code.image, 64);
    return fmt::format("{{ ptr {}, ptr {}, ptr {}, ptr {}, i64 {}, i32 {}, i32 {}, i32 {}, i32 {}, i32 {}, i8 {}, i8 {}, i8 {}, i8 {} }}", string(code.target),
                       image, isCpu ? "null" : string(code.abi.entry), array("%slot", slots), code.abi.arenaBytes, slots.size(), needsOf(code.target),
                       code.abi.threads, code.abi.clusterSize, code.abi.sharedBytes, int(isCpu ? TK_AOT_CPU : TK_AOT_CUDA), int(gpu && gpu->isExact()),
                       int(code.kind == compiler::ObjectKind::Ptx), int(code.abi.spins));
  }

  std::string variant(const Function &function, unsigned index) {
    const Variant &variant = function.interface.variants[index];
    std::vector<std::string> conditions, constants, codes;
    for (const Condition &condition : variant.conditions)
      conditions.push_back(
          fmt::format("{{ i16 {}, i8 {}, i8 {}, i32 0, i64 {} }}", condition.parameter, int(condition.test), condition.bytes, condition.value));
    for (const TkProgramValue &value : variant.constants)
      constants.push_back(fmt::format("{{ i32 {}, i64 {}, double 0x{:016X} }}", int(value.kind), value.integer, std::bit_cast<uint64_t>(value.number)));
    for (const Code &candidate : function.codes)
      if (candidate.variant == index)
        codes.push_back(code(candidate));
    std::string loaded = define("ptr", "null", "private global");
    return fmt::format("{{ ptr {}, ptr {}, ptr {}, ptr {}, ptr {}, i32 {}, i32 {} }}", string(variant.signature->text), array("%condition", conditions),
                       array("%value", constants), array("%code", codes), loaded, conditions.size(), codes.size());
  }

  std::string kernel(const Function &function) {
    std::vector<std::string> parameters, variants;
    for (const Parameter &parameter : function.interface.parameters)
      parameters.push_back(fmt::format("{{ ptr {}, i8 {}, i8 {}, i8 {}, [5 x i8] zeroinitializer }}", string(parameter.name), int(parameter.kind),
                                       parameter.bytes, parameter.element));
    for (unsigned i = 0; i < function.interface.variants.size(); ++i)
      variants.push_back(variant(function, i));
    std::vector<std::string> grid;
    for (const std::string &program : function.request->grid)
      grid.push_back(fmt::format("{{ ptr {}, i64 {} }}", bytes(program, 1), program.size()));
    std::string value =
        fmt::format("{{ ptr {}, ptr {}, ptr {}, ptr {}, i32 {}, i32 {}, i32 {}, i32 0 }}", string(function.request->name), array("%parameter", parameters),
                    array("%variant", variants), array("%program", grid), parameters.size(), variants.size(), grid.size());
    return define("%kernel", value);
  }

  void typedFunction(const Function &function, const std::string &table) {
    const std::vector<Parameter> &parameters = function.interface.parameters;
    std::string arguments = "i32 %device, ptr %handle", body = fmt::format("  %values = alloca [{} x i64], align 8\n", std::max<size_t>(parameters.size(), 1));
    std::string grid = "null";
    if (function.request->grid.empty()) {
      grid = "%grid";
      body += "  %grid = alloca [3 x i32], align 4\n";
      for (int axis = 0; axis < 3; ++axis) {
        arguments += fmt::format(", i32 %g{}", axis);
        body += fmt::format("  %ga{0} = getelementptr i32, ptr %grid, i64 {0}\n  store i32 %g{0}, ptr %ga{0}, align 4\n", axis);
      }
    }
    for (unsigned i = 0; i < parameters.size(); ++i) {
      const Parameter &parameter = parameters[i];
      std::string value = fmt::format("%v{}", i), integer = fmt::format("i{}", 8 * parameter.bytes);
      if (parameter.kind == TkAotBaked) {
        value = "0";
      } else if (parameter.kind == TkAotPointer) {
        arguments += fmt::format(", ptr %p{}", i);
        body += fmt::format("  {} = ptrtoint ptr %p{} to i64\n", value, i);
      } else {
        bool isReal = parameter.kind == TkAotFloat || parameter.kind == TkAotDouble;
        std::string type = parameter.kind == TkAotFloat ? "float" : isReal ? "double" : integer, bits = fmt::format("%p{}", i);
        arguments += fmt::format(", {} %p{}", type, i);
        if (isReal) {
          body += fmt::format("  %b{0} = bitcast {1} %p{0} to {2}\n", i, type, integer);
          bits = fmt::format("%b{}", i);
        }
        if (parameter.bytes == 8)
          value = bits;
        else
          body += fmt::format("  {} = zext {} {} to i64\n", value, integer, bits);
      }
      body += fmt::format("  %a{0} = getelementptr i64, ptr %values, i64 {0}\n  store i64 {1}, ptr %a{0}, align 8\n", i, value);
    }
    text += fmt::format("define i32 @{}({}) nounwind uwtable {{\n{}  %status = call i32 @{}(ptr {}, i32 %device, ptr %handle, ptr {}, ptr %values)\n  ret i32 "
                        "%status\n}}\n",
                        function.request->name, arguments, body, launcher.launch, table, grid);
  }

  const LauncherNames &launcher;
  unsigned count = 0;
};
} // namespace

std::string tablesText(const std::vector<Function> &functions, const LauncherNames &launcher) {
  Writer writer(launcher);
  for (const Function &function : functions)
    writer.add(function);
  return std::move(writer.text);
}

} // namespace tk::jit::aot
