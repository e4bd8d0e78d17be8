// The names of the language and where they are found.
#include "lang/sema/LanguageNames.h"
#include "lang/sema/Library.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"
#include <cmath>

namespace tk::lang {

static ConstValue module(std::string name) { return ConstValue(BuiltinValue{std::move(name), true}); }
static ConstValue builtin(std::string name) { return ConstValue(BuiltinValue{std::move(name), false}); }

static const llvm::StringSet<> &tlFunctions() {
  static const llvm::StringSet<> names = {
#define TK_BUILTIN(name, handler, params) #name,
#define TK_UNSUPPORTED(name) #name,
#include "lang/sema/Builtins.def"
  };
  return names;
}

static const llvm::StringSet<> &pythonFunctions() {
  static const llvm::StringSet<> names = {
#define TK_PYTHON(name, handler, params) #name,
#include "lang/sema/Builtins.def"
  };
  return names;
}

/// Functions of Python's math module on compile-time values; HostBuiltins.cpp evaluates them.
static const llvm::StringSet<> &mathFunctions() {
  static const llvm::StringSet<> names = {"sqrt", "exp",  "exp2", "expm1", "log",   "log2", "log10", "log1p", "sin",   "cos",      "tan",      "asin",  "acos",  "atan", "atan2", "sinh", "cosh",
                                          "tanh", "asinh", "acosh", "atanh", "pow",  "fabs", "floor", "ceil",  "trunc", "fmod",     "hypot",    "erf",   "erfc",  "gcd",  "lcm",   "isnan",
                                          "isinf", "isfinite", "copysign", "ldexp", "isqrt", "prod", "gamma", "lgamma", "degrees", "radians", "cbrt", "remainder"};
  return names;
}

static const llvm::StringSet<> &tritonFunctions() {
  static const llvm::StringSet<> names = {"cdiv", "next_power_of_2", "jit", "autotune", "heuristics", "Config", "constexpr_function", "must_use_result"};
  return names;
}

bool isMethodName(const std::string &name) {
  static const llvm::StringSet<> names = {
#define TK_METHOD(name) #name,
#include "lang/sema/Builtins.def"
  };
  return names.contains(name);
}

const char *foreignOrigin(const std::string &name) {
  return llvm::StringSwitch<const char *>(name)
#define TK_FOREIGN(name, where) .Case(#name, where)
#include "lang/sema/Builtins.def"
      .Default(nullptr);
}

bool isUnsupportedName(const std::string &name) {
  return llvm::StringSwitch<bool>(name)
#define TK_UNSUPPORTED(name) .Case(#name, true)
#include "lang/sema/Builtins.def"
      .Default(false);
}

std::string languageModule(const std::string &path) {
  static const llvm::StringMap<std::string> modules = {
      {"tl", "tl"}, {"triton", "triton"}, {"triton.language", "tl"}, {"triton.language.core", "tl"}, {"triton.language.standard", "tl"}, {"triton.language.random", "tl"},
      {"triton.language.math", "tl.math"}, {"triton.language.extra", "tl.extra"}, {"triton.language.extra.libdevice", "libdevice"}, {"triton.language.libdevice", "libdevice"},
      {"triton.language.extra.cuda", "tl.extra.cuda"}, {"triton.language.extra.hip", "tl.extra.hip"}, {"triton.language.extra.cuda.libdevice", "libdevice"},
      {"triton.language.extra.hip.libdevice", "libdevice"}, {"triton.language.extra.cpu.libdevice", "libdevice"}, {"triton.language.target_info", "tl.target_info"},
      {"triton.tools", "triton.tools"}, {"triton.runtime", "triton.runtime"}, {"triton.runtime.driver", "triton.runtime.driver"}, {"itertools", "itertools"}, {"os", "os"}, {"copy", "copy"},
      {"math", "math"}, {"tk", "tk"}, {"libdevice", "libdevice"}};
  auto it = modules.find(path);
  return it == modules.end() ? "" : it->second;
}

static std::optional<ConstValue> dtypeNamed(const std::string &name) {
  DType type;
  if (name == "float8e4") // an old name
    return ConstValue(TypeValue{DType::F8E4M3FN, 0, false});
  if (name == "pi32_t")
    return ConstValue(TypeValue{DType::I32, 1, false});
  if (name != "float" && name != "int" && name != "bool" && parseDType(name, type))
    return ConstValue(TypeValue{type, 0, false});
  return std::nullopt;
}

static std::optional<ConstValue> libraryFunction(const std::string &group, const std::string &name) {
  const ModuleScope *scope = nullptr;
  if (const ast::Function *function = findLibraryFunction(group, name, scope))
    return ConstValue(FunctionValue{scope, function, nullptr});
  return std::nullopt;
}

static std::optional<ConstValue> mathMember(const std::string &name) {
  if (mathFunctions().contains(name))
    return builtin("math." + name);
  auto constant = llvm::StringSwitch<double>(name).Case("pi", 3.14159265358979323846).Case("e", 2.71828182845904523536).Case("tau", 6.28318530717958647692).Case("inf", INFINITY).Case("nan", NAN).Default(0);
  if (constant != 0 || name == "nan")
    return ConstValue(constant);
  return std::nullopt;
}

static std::optional<ConstValue> tlMember(const std::string &name) {
  if (name == "math" || name == "extra" || name == "target_info")
    return module("tl." + name);
  if (name == "libdevice")
    return module("libdevice");
  if (name == "core" || name == "standard" || name == "random")
    return module("tl");
  if (name == "PropagateNan")
    return module("tl.PropagateNan");
  if (auto type = dtypeNamed(name))
    return type;
  for (const char *special : {"tensor", "dtype", "const", "void", "tuple", "tensor_descriptor", "slice"})
    if (name == special)
      return builtin("type." + name);
  if (name == "TRITON_MAX_TENSOR_NUMEL")
    return ConstValue::integer(1048576);
  if (tlFunctions().contains(name) || foreignOrigin(name))
    return builtin(name);
  return libraryFunction("tl", name);
}

/// `triton.runtime.driver.active.get_current_target`, by which files choose their configurations.
static std::optional<ConstValue> hostMember(const std::string &moduleName, const std::string &name) {
  if (moduleName == "triton.runtime" && (name == "Config" || name == "autotune" || name == "heuristics"))
    return builtin("triton." + name);
  if (moduleName == "triton.runtime.driver" && name == "driver") // from triton.runtime.driver import driver
    return module(moduleName);
  if ((moduleName == "triton.runtime" && name == "driver") || (moduleName == "triton.runtime.driver" && name == "active"))
    return module(moduleName + "." + name);
  if (moduleName == "triton.runtime.driver.active" && name == "get_current_target")
    return builtin("triton.runtime.get_current_target");
  return std::nullopt;
}

std::optional<ConstValue> languageMember(const std::string &moduleName, const std::string &name) {
  if (moduleName == "tl")
    return tlMember(name);
  if (moduleName == "tl.math" || moduleName == "libdevice") {
    // The functions of tl that are mathematics, then everything that libdevice has.
    static const llvm::StringSet<> shared = {"exp", "exp2", "log", "log2", "sin", "cos", "sqrt", "rsqrt", "erf", "floor", "ceil", "abs", "fma", "umulhi", "fdiv", "div_rn", "sqrt_rn", "clamp", "add", "sub", "mul",
                                             "maximum", "minimum", "cdiv", "sigmoid", "softmax", "max", "min"};
    if (moduleName == "tl.math" && shared.contains(name))
      return tlMember(name);
    return builtin("libdevice." + name);
  }
  if (moduleName == "tl.PropagateNan" && (name == "ALL" || name == "NONE"))
    return ConstValue::string(name == "ALL" ? "PropagateNan.ALL" : "PropagateNan.NONE");
  if (moduleName == "tl.target_info")
    return builtin("target_info." + name);
  if (moduleName == "tl.extra") {
    if (name == "libdevice")
      return module("libdevice");
    if (name == "cuda" || name == "hip" || name == "cpu")
      return module("tl.extra." + name);
  }
  if (moduleName.rfind("tl.extra.", 0) == 0)
    return name == "libdevice" ? module("libdevice") : builtin(moduleName.substr(3) + "." + name);
  if (moduleName == "triton") {
    if (name == "language")
      return module("tl");
    if (name == "tools" || name == "runtime")
      return module("triton." + name);
    if (tritonFunctions().contains(name))
      return builtin("triton." + name);
    return std::nullopt;
  }
  if (moduleName == "math")
    return mathMember(name);
  if (moduleName == "tk") {
    if (name == "Config")
      return builtin("triton.Config");
    for (const char *decorator : {"grid", "example", "jit", "constexpr_function", "autotune", "heuristics"})
      if (name == decorator)
        return builtin("tk." + name);
    return globalName(name, false);
  }
  if (moduleName.rfind("triton.runtime", 0) == 0)
    return hostMember(moduleName, name);
  if (moduleName == "itertools" || moduleName == "copy" || (moduleName == "os" && name != "environ"))
    return builtin(moduleName + "." + name);
  if (moduleName == "os") // environ is empty: a kernel file means the same in every environment
    return ConstValue(std::make_shared<const ConstValue::Dict>());
  if (moduleName == "?torch" && name == "version")
    return module("?torch.version");
  if (moduleName == "?torch.version" && name == "hip")
    return ConstValue();
  if (!moduleName.empty() && moduleName[0] == '?')
    return builtin(moduleName + "." + name);
  return std::nullopt;
}

std::vector<std::string> languageMembers(const std::string &moduleName) {
  std::vector<std::string> names;
  auto add = [&](const llvm::StringSet<> &set) {
    for (const auto &entry : set)
      names.push_back(entry.getKey().str());
  };
  if (moduleName == "tl" || moduleName == "tl.math") {
    add(tlFunctions());
    for (const std::string &name : libraryFunctionNames("tl"))
      names.push_back(name);
    for (const char *name : {"float16", "float32", "float64", "bfloat16", "int1", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float8e4nv", "float8e5", "math", "extra", "constexpr"})
      names.push_back(name);
  } else if (moduleName == "libdevice") {
    names = libraryFunctionNames("libdevice");
  } else if (moduleName == "math") {
    add(mathFunctions());
    names.insert(names.end(), {"pi", "e", "inf", "nan", "tau"});
  } else if (moduleName == "triton") {
    add(tritonFunctions());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::optional<ConstValue> globalName(const std::string &name, bool isPython) {
  if (pythonFunctions().contains(name))
    return builtin("python." + name);
  if (isPython)
    return std::nullopt;
  for (const char *known : {"tl", "triton", "math", "libdevice", "tk"})
    if (name == known)
      return module(name);
  if (name == "next_power_of_2" || name == "constexpr_function" || name == "jit")
    return builtin("triton." + name);
  if (name == "ptr")
    return builtin("type.ptr");
  return tlMember(name);
}

std::vector<std::string> globalNames(bool isPython) {
  std::vector<std::string> names;
  for (const auto &entry : pythonFunctions())
    names.push_back(entry.getKey().str());
  if (!isPython) {
    std::vector<std::string> members = languageMembers("tl");
    names.insert(names.end(), members.begin(), members.end());
    names.insert(names.end(), {"tl", "triton", "libdevice", "next_power_of_2"});
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string displayName(const BuiltinValue &value) {
  const std::string &name = value.name;
  if (name.rfind("python.", 0) == 0)
    return name.substr(7);
  if (name.rfind("type.", 0) == 0 || name.rfind("init.", 0) == 0)
    return name.substr(5);
  if (!name.empty() && name[0] == '?')
    return name.substr(1);
  if (value.isModule || name.find('.') != std::string::npos)
    return name;
  return "tl." + name;
}

} // namespace tk::lang
