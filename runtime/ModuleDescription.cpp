// The text form of a ModuleDescription: one fact a line, as runtime/TextLine.h has it.
//
//   tkc-module 1
//   kernel "matmul" 12 0123abcd             name, line, closure; what follows up to the next kernel is of this one
//   problem "line 12: ..."                  what is wrong with the kernel's decorators
//   parameter cdsa "BLOCK"                  c constexpr, d has a default, s specialized, a by alignment; - for none
//   default int 1024                        of the parameter above: none, bool, int, uint, float, type, string, function; `i64 int 3` for a typed scalar
//   grid "..."                              one program; without one: there is a grid that only the front end evaluates
//   heuristic 4 "..."                       parameter, program or nothing
//   tune 4039000000000000 4059000000000000 prunes     warm-up and repetition in ms, as the bits of a double; prunes or keeps
//   unknown "line 3: ..."                   why the configurations are not known
//   key 0 1 2                               and zero, restore: parameters
//   config num_warps 4 num_stages 2         options that are given
//   value 3 int 64                          of the configuration above: parameter, value
//   function "matmul" 12 40 0123abcd        name, first and last line, closure
#include "runtime/ModuleDescription.h"
#include "runtime/TextLine.h"
#include "runtime/program/Program.h"
#include <cstring>
#include <fmt/format.h>

namespace tk::runtime {

namespace {
constexpr std::string_view versionLine = "tkc-module 1";

using Kind = Argument::Kind;

uint64_t bitsOf(double value) {
  uint64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

std::string argumentText(const StoredArgument &stored) {
  Argument argument = stored.get();
  std::string prefix = argument.typed ? fmt::format("{} ", spelling(argument.type)) : "";
  switch (argument.kind) {
  case Kind::None: break;
  case Kind::Bool: return fmt::format("{}bool {}", prefix, argument.bits ? "true" : "false");
  case Kind::Int: return fmt::format("{}int {}", prefix, static_cast<int64_t>(argument.bits));
  case Kind::UInt: return fmt::format("{}uint {}", prefix, argument.bits);
  case Kind::Float: return fmt::format("{}float {:016x}", prefix, argument.bits);
  case Kind::Type: return fmt::format("type {}", spelling(argument.type));
  case Kind::String: return fmt::format("string {}", quoted(argument.text));
  case Kind::Function: return fmt::format("function {}", quoted(argument.text));
  default: break; // what lies in memory is nothing that a description can hold
  }
  return "none";
}

std::string numbersLine(const char *what, const std::vector<unsigned> &numbers) {
  std::string text;
  for (unsigned number : numbers)
    text += fmt::format(" {}", number);
  return numbers.empty() ? "" : fmt::format("{}{}\n", what, text);
}

std::string optionsText(const LaunchOptions &options) {
  std::string text;
#define LAUNCH_OPTION(field, name, type, otherwise) \
  if (options.field != type{})                      \
    text += fmt::format(" {} {}", name, static_cast<int64_t>(options.field));
#include "runtime/LaunchOptions.def"
#undef LAUNCH_OPTION
  return text;
}

std::string programLine(const std::string &what, const StackProgram &program) {
  return program.empty() ? what + "\n" : fmt::format("{} {}\n", what, quoted(program.code()));
}

void append(std::string &text, const TuneDescription &tune) {
  text += fmt::format("tune {:016x} {:016x} {}\n", bitsOf(tune.warmupMs), bitsOf(tune.repMs), tune.prunes ? "prunes" : "keeps");
  text += numbersLine("key", tune.key) + numbersLine("zero", tune.resetToZero) + numbersLine("restore", tune.restoreValue);
  if (!tune.problem.empty())
    text += fmt::format("unknown {}\n", quoted(tune.problem));
  for (const TuneConfig &config : tune.configs) {
    text += fmt::format("config{}\n", optionsText(config.options));
    for (const auto &[parameter, value] : config.values)
      text += fmt::format("value {} {}\n", parameter, argumentText(value));
  }
}

void append(std::string &text, const KernelDescription &kernel) {
  text += fmt::format("kernel {} {} {}\n", quoted(kernel.name), kernel.line, quoted(kernel.closure));
  if (!kernel.problem.empty())
    text += fmt::format("problem {}\n", quoted(kernel.problem));
  for (const ParameterDescription &parameter : kernel.parameters) {
    std::string flags = fmt::format("{}{}{}{}", parameter.isConstexpr ? "c" : "", parameter.hasDefault ? "d" : "", parameter.specialize ? "s" : "",
                                    parameter.alignment ? "a" : "");
    text += fmt::format("parameter {} {}\n", flags.empty() ? "-" : flags, quoted(parameter.name));
    if (parameter.defaultValue)
      text += fmt::format("default {}\n", argumentText(*parameter.defaultValue));
  }
  if (kernel.hasGrid && kernel.grid.empty())
    text += "grid\n";
  for (const StackProgram &program : kernel.grid)
    text += programLine("grid", program);
  for (const Heuristic &heuristic : kernel.heuristics)
    text += programLine(fmt::format("heuristic {}", heuristic.parameter), heuristic.program);
  if (kernel.tune)
    append(text, *kernel.tune);
}

// ---- reading ----

void readArgument(TextLine &line, StoredArgument &result) {
  Argument argument;
  std::string text;
  std::string_view kind = line.word();
  if (DType type; parseDType(kind, type) && spelling(type) == kind) {
    argument.typed = true, argument.type = type;
    kind = line.word();
    line.good &= kind == "bool" || kind == "int" || kind == "uint" || kind == "float";
  }
  if (kind == "bool") {
    argument.kind = Kind::Bool, argument.bits = line.choice("true", "false");
  } else if (kind == "int") {
    int64_t value = 0;
    line.number(value);
    argument.kind = Kind::Int, argument.bits = static_cast<uint64_t>(value);
  } else if (kind == "uint") {
    argument.kind = Kind::UInt, line.number(argument.bits);
  } else if (kind == "float") {
    argument.kind = Kind::Float, line.hex(argument.bits);
  } else if (kind == "type") {
    argument.kind = Kind::Type, line.dtype(argument.type);
  } else if (kind == "string" || kind == "function") {
    argument.kind = kind == "string" ? Kind::String : Kind::Function;
    line.string(text);
    line.good &= text.find('\0') == std::string::npos;
    argument.text = text.c_str();
  } else {
    line.good &= kind == "none";
  }
  result = StoredArgument(argument);
}

class Reader {
public:
  explicit Reader(ModuleDescription &module) : module(module) {}
  bool read(std::string_view text) {
    TextLine line(text);
    std::string_view what = line.word();
    if (what == "kernel")
      readKernel(line);
    else if (what == "function")
      readFunction(line);
    else if (module.kernels.empty())
      return false;
    else if (what == "problem")
      line.string(kernel().problem);
    else if (what == "parameter")
      readParameter(line);
    else if (what == "default")
      readDefault(line);
    else if (what == "grid")
      readGrid(line);
    else if (what == "heuristic")
      readHeuristic(line);
    else if (what == "tune")
      readTune(line);
    else if (!module.kernels.back().tune || !readOfTune(what, line))
      return false;
    return line.good && line.atEnd();
  }

private:
  KernelDescription &kernel() { return module.kernels.back(); }

  void readKernel(TextLine &line) {
    KernelDescription &result = module.kernels.emplace_back();
    line.string(result.name), line.number(result.line), line.string(result.closure);
  }
  void readFunction(TextLine &line) {
    FunctionLines &result = module.functions.emplace_back();
    line.string(result.name), line.number(result.first), line.number(result.last), line.string(result.closure);
  }
  void readParameter(TextLine &line) {
    ParameterDescription result;
    result.specialize = result.alignment = false;
    for (char flag : line.word()) {
      result.isConstexpr |= flag == 'c', result.hasDefault |= flag == 'd', result.specialize |= flag == 's', result.alignment |= flag == 'a';
      line.good &= std::strchr("cdsa-", flag) != nullptr;
    }
    line.string(result.name);
    kernel().parameters.push_back(std::move(result));
  }
  void readDefault(TextLine &line) {
    if (kernel().parameters.empty())
      return refuse(line);
    readArgument(line, kernel().parameters.back().defaultValue.emplace());
  }
  void readGrid(TextLine &line) {
    kernel().hasGrid = true;
    if (!line.atEnd())
      kernel().grid.push_back(program(line));
  }
  void readHeuristic(TextLine &line) {
    Heuristic &result = kernel().heuristics.emplace_back();
    result.parameter = parameter(line);
    if (!line.atEnd())
      result.program = program(line);
  }
  void readTune(TextLine &line) {
    uint64_t warmup = 0, repetition = 0;
    TuneDescription &result = kernel().tune.emplace();
    line.hex(warmup), line.hex(repetition);
    std::memcpy(&result.warmupMs, &warmup, sizeof warmup), std::memcpy(&result.repMs, &repetition, sizeof repetition);
    result.prunes = line.choice("prunes", "keeps");
  }
  bool readOfTune(std::string_view what, TextLine &line) {
    TuneDescription &tune = *kernel().tune;
    if (what == "unknown") {
      line.string(tune.problem);
    } else if (what == "config") {
      readOptions(line, tune.configs.emplace_back().options);
    } else if (what == "value" && !tune.configs.empty()) {
      auto &[index, value] = tune.configs.back().values.emplace_back();
      index = parameter(line);
      readArgument(line, value);
    } else if (what == "key" || what == "zero" || what == "restore") {
      std::vector<unsigned> &numbers = what == "key" ? tune.key : what == "zero" ? tune.resetToZero : tune.restoreValue;
      while (line.good && !line.atEnd())
        numbers.push_back(parameter(line));
    } else {
      return false;
    }
    return true;
  }
  void readOptions(TextLine &line, LaunchOptions &options) {
    while (line.good && !line.atEnd()) {
      std::string name(line.word());
      int64_t value = 0;
      line.number(value);
      line.good &= LaunchOptions::has(name) && options.set(name, value).empty();
    }
  }

  StackProgram program(TextLine &line) {
    std::string code;
    unsigned results = 0;
    line.string(code);
    line.good &= tkProgramValidate(reinterpret_cast<const uint8_t *>(code.data()), code.size(), &results) == TkProgramOk && results == 1;
    return StackProgram(std::move(code));
  }
  unsigned parameter(TextLine &line) {
    unsigned index = 0;
    line.number(index);
    line.good &= index < kernel().parameters.size();
    return index;
  }
  void refuse(TextLine &line) { line.good = false; }

  ModuleDescription &module;
};
} // namespace

std::string toText(const ModuleDescription &module) {
  std::string text = fmt::format("{}\n", versionLine);
  for (const KernelDescription &kernel : module.kernels)
    append(text, kernel);
  for (const FunctionLines &function : module.functions)
    text += fmt::format("function {} {} {} {}\n", quoted(function.name), function.first, function.last, quoted(function.closure));
  return text;
}

bool parseModuleDescription(const std::string &text, ModuleDescription &module, std::string &error) {
  module = ModuleDescription();
  Reader reader(module);
  size_t number = 0;
  for (std::string_view rest = text; !rest.empty() || number == 0;) {
    size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (++number == 1 ? line == versionLine : reader.read(line))
      continue;
    error = number == 1 ? fmt::format("expected `{}`, found `{}`", versionLine, line.substr(0, 80))
                        : fmt::format("line {} of the module's description can't be read: `{}`", number, line.substr(0, 80));
    return false;
  }
  // Whatever could be read in more than one way, or was cut off, shows here.
  if (toText(module) == text)
    return true;
  error = "the module's description is not as this version writes it";
  return false;
}

} // namespace tk::runtime
