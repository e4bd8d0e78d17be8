// See Object.h.
//
// Names. A kernel's entry point has the same name in all its variants, so it is renamed before the objects are joined, and afterwards only the C functions stay
// global. The launcher is in every object, and a program may link several: its three functions are weak and hidden, under names that end in a hash of its code,
// so that the linker keeps one of equal launchers, with one set of threads, and those of different tkcs stay apart. (As local symbols they would need no names,
// but every object would start threads of its own; a COMDAT group would also drop the copies that are not used, 27 KB each, at the price of a section for each
// function and datum.)
#include "runtime/jit/aot/Object.h"
#include "compiler/target/MachineCode.h"
#include "compiler/target/cpu/Machine.h"
#include "compiler/target/cpu/TargetName.h"
#include "compiler/target/nvidia/NvidiaTargets.h"
#include "runtime/device/cuda/Assembler.h"
#include "runtime/jit/Linker.h"
#include "runtime/jit/aot/EmbeddedLauncher.h"
#include "runtime/jit/aot/Symbols.h"
#include "runtime/jit/aot/Tables.h"
#include "tk/error.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SHA256.h"
#include "llvm/Support/SourceMgr.h"
#include <algorithm>
#include <fmt/format.h>
#include <tuple>

namespace tk::jit::aot {

namespace {
class Builder {
public:
  Builder(const ObjectRequest &request, lang::Diagnostics &diagnostics) : request(request), diagnostics(diagnostics) {}

  Object build();

private:
  void compile(Function &function, unsigned variant, const std::string &target);
  void addGpuCode(Function &function, unsigned variant, const std::string &target, const compiler::CompiledKernel &kernel);
  std::string tables();

  const ObjectRequest &request;
  lang::Diagnostics &diagnostics;
  compiler::Compiler compiler;
  std::vector<Function> functions;
  std::vector<std::string> objects; // of kernels for CPUs, ready to be joined
  LauncherNames launcher;
  Object result;
};

/// The launcher with its names changed.
std::string namedLauncher(LauncherNames &names) {
  std::string object = launcherObject();
  llvm::SHA256 hash;
  hash.update(object);
  std::string suffix;
  const auto digest = hash.final();
  for (size_t i = 0; i < 6; ++i)
    suffix += fmt::format("{:02x}", digest[i]);
  names = {"tk_aot_launch_" + suffix, "tk_aot_prepare_" + suffix, "tk_aot_unload_" + suffix};
  SymbolChange change;
  change.rename = {{"tk_aot_launch", names.launch}, {"tk_aot_prepare", names.prepare}, {"tk_aot_unload", names.unload}};
  change.keepGlobal = change.weaken = {names.launch, names.prepare, names.unload};
  change.keepGlobal.insert({"tk_aot_last_error", "tk_aot_error_text"}); // weak already
  return changeSymbols(object, change);
}

void refuseHidden(const std::string &kernel, const std::string &target, const runtime::KernelAbi &abi) {
  for (const runtime::ArgumentSlot &slot : abi.slots) {
    if (slot.kind == runtime::ArgumentSlot::Kind::PrintBuffer)
      throw Error(
          ErrorKind::User,
          fmt::format("`{}` prints or asserts, which objects can do on CPUs alone: leave out the target {}, or device_print and `--debug`", kernel, target));
    if (slot.kind == runtime::ArgumentSlot::Kind::Scratch)
      throw Error(ErrorKind::User, fmt::format("`{}` needs scratch memory on {}, which objects can't give yet: leave out this target", kernel, target));
  }
}

/// The rank of code among that for the same device.
std::tuple<unsigned, bool, size_t, bool> rankOf(const Code &code) {
  if (const nvidia::Target *gpu = nvidia::findTarget(code.target))
    return {gpu->sm, gpu->isExact(), 0, code.kind == compiler::ObjectKind::Cubin};
  cpu::TargetName name = cpu::parseTarget(code.target).value();
  return {name.base == "x86-64-v4", false, name.features.size(), false};
}

/// Puts code among the others, the better before the worse.
void addCode(Function &function, Code code) {
  auto place = std::upper_bound(function.codes.begin(), function.codes.end(), code, [](const Code &a, const Code &b) { return rankOf(a) > rankOf(b); });
  function.codes.insert(place, std::move(code));
}

void Builder::compile(Function &function, unsigned variant, const std::string &target) {
  const Signature &signature = *function.interface.variants[variant].signature;
  compiler::Options options = request.options;
  options.target = target;
  if (signature.options.numWarps)
    options.numWarps = signature.options.numWarps;
  if (signature.options.numStages)
    options.numStages = signature.options.numStages;
  options.fpFusion |= signature.options.fpFusion;
  const std::string &name = function.request->kernel;
  compiler::CompiledKernel kernel = compiler.compile(request.program->scope(), name, signature.specs, options, diagnostics);
  if (kernel.object.empty())
    throw Error(diagnostics.hasErrors() ? ErrorKind::User : ErrorKind::Internal,
                diagnostics.hasErrors()
                    ? fmt::format("{}compiling `{}` for {} with the signature `{}` failed", diagnostics.render(), name, target, signature.text)
                    : fmt::format("compiling `{}` for {} gave no code and no message", name, target));
  refuseHidden(name, target, kernel.abi);
  if (kernel.objectKind != compiler::ObjectKind::Elf)
    return addGpuCode(function, variant, target, kernel);
  std::string symbol = fmt::format("{}.{}.{}", function.request->name, target, variant); // what profilers show
  SymbolChange change;
  change.rename = {{kernel.abi.entry, symbol}};
  change.keepGlobal = {symbol};
  objects.push_back(changeSymbols(kernel.object, change));
  addCode(function, {target, variant, kernel.objectKind, symbol, "", kernel.abi});
}

/// A cubin where there is an assembler. PTX goes along where later devices can run it, for these.
void Builder::addGpuCode(Function &function, unsigned variant, const std::string &target, const compiler::CompiledKernel &kernel) {
  Code code{target, variant, kernel.objectKind, "", kernel.object, kernel.abi};
  if (!request.ptxas.empty()) {
    cuda::Assembled assembled = cuda::runPtxas(request.ptxas, kernel.object, target);
    if (assembled.cubin.empty())
      throw Error(ErrorKind::Internal,
                  fmt::format("internal error: `{}` refuses the code of `{}` for {}:\n{}", request.ptxas, kernel.abi.entry, target, assembled.log));
    Code cubin = code;
    cubin.kind = compiler::ObjectKind::Cubin, cubin.image = assembled.cubin;
    addCode(function, std::move(cubin));
    if (nvidia::findTarget(target)->isExact())
      return;
  }
  addCode(function, std::move(code));
}

/// The object with the tables and C functions.
std::string Builder::tables() {
  llvm::LLVMContext context;
  llvm::SMDiagnostic problem;
  std::string text = tablesText(functions, launcher), error;
  std::unique_ptr<llvm::Module> module = llvm::parseAssemblyString(text, problem, context);
  if (!module)
    throw Error(ErrorKind::Internal,
                fmt::format("the tables of an object are wrong: {} in `{}`", problem.getMessage().str(), problem.getLineContents().substr(0, 200).str()));
  // For any x86-64: these functions choose what is for a later one.
  std::unique_ptr<llvm::TargetMachine> machine = cpu::createMachine("x86-64-v3", false, error);
  if (!machine)
    throw Error(ErrorKind::Internal, error);
  module->setDataLayout(machine->createDataLayout());
  module->setPICLevel(llvm::PICLevel::BigPIC);
  for (llvm::Function &function : *module)
    if (!function.isDeclaration()) {
      function.addFnAttr("target-cpu", "x86-64");
      function.addFnAttr("target-features", "+sse2");
    }
  return compiler::machineCode(*module, *machine, llvm::CodeGenFileType::ObjectFile);
}

Object Builder::build() {
  std::string launcherBytes = namedLauncher(launcher);
  SymbolChange change;
  change.keepGlobal = {launcher.launch, launcher.prepare, launcher.unload, "tk_aot_last_error", "tk_aot_error_text"};
  for (const FunctionRequest &wanted : request.functions) {
    const lang::ast::Function &kernel = request.program->kernel(wanted.kernel);
    std::vector<std::string> parameters;
    for (const lang::ast::Parameter &parameter : kernel.params)
      parameters.push_back(parameter.name);
    Function function;
    function.request = &wanted;
    function.interface = interfaceOf(wanted.name, parameters, wanted.signatures);
    for (unsigned variant = 0; variant < function.interface.variants.size(); ++variant)
      for (const std::string &target : request.targets)
        compile(function, variant, target);
    const runtime::KernelAbi &abi = function.codes.front().abi;
    function.place = fmt::format("{}:{}", abi.file.substr(abi.file.rfind('/') + 1), abi.line);
    for (const std::string &name : {wanted.name, wanted.name + "_prepare", wanted.name + "_unload"})
      if (!change.keepGlobal.insert(name).second)
        throw Error(ErrorKind::User, fmt::format("the object would have two functions `{}`: give another name with `--name`", name));
    functions.push_back(std::move(function));
  }
  result.header = headerText(functions, request);
  std::vector<std::string_view> inputs = {launcherBytes};
  std::string tableBytes = tables();
  inputs.push_back(tableBytes);
  inputs.insert(inputs.end(), objects.begin(), objects.end());
  result.bytes = changeSymbols(linkRelocatable(inputs), change);
  bool hasGpu = std::any_of(request.targets.begin(), request.targets.end(), [](const std::string &target) { return nvidia::findTarget(target); });
  if (hasGpu && request.ptxas.empty())
    result.notes.emplace_back("no `ptxas` in PATH: the object holds PTX, which the driver assembles when it first loads the code");
  return std::move(result);
}

#if defined(__x86_64__)
std::string bestHere() {
  if (!__builtin_cpu_supports("x86-64-v3"))
    throw Error(ErrorKind::User, "target `cpu`: this machine has less than x86-64-v3; name a target for another one");
  bool v4 = __builtin_cpu_supports("x86-64-v4");
  std::string name = v4 ? "x86-64-v4" : "x86-64-v3";
  if (__builtin_cpu_supports("avxvnni"))
    name += "+avxvnni";
  if (v4 && __builtin_cpu_supports("avx512vnni"))
    name += "+avx512vnni";
  if (v4 && __builtin_cpu_supports("avx512bf16"))
    name += "+avx512bf16";
  return name;
}
#else
std::string bestHere() { throw Error(ErrorKind::User, "target `cpu`: objects are for x86-64, which this machine is not; name a target, as in x86-64-v3"); }
#endif
} // namespace

std::vector<std::string> targetsOf(const std::string &list) {
  std::vector<std::string> targets;
  for (size_t begin = 0; begin <= list.size();) {
    size_t end = std::min(list.find(',', begin), list.size());
    std::string name = list.substr(begin, end - begin);
    name.erase(0, name.find_first_not_of(' '));
    name.erase(name.find_last_not_of(' ') + 1);
    if (name.empty())
      throw Error(ErrorKind::User, fmt::format("the list of targets `{}` has an empty name", list));
    if (name == "cpu")
      name = bestHere();
    if (std::find(targets.begin(), targets.end(), name) != targets.end())
      throw Error(ErrorKind::User, fmt::format("target `{}` stands twice in `{}`", name, list));
    targets.push_back(std::move(name));
    begin = end + 1;
  }
  return targets;
}

Object makeObject(const ObjectRequest &request, lang::Diagnostics &diagnostics) { return Builder(request, diagnostics).build(); }

} // namespace tk::jit::aot
