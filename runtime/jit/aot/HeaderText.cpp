// The header of an object: what every header shares (runtime/aot/Types.h, word for word) and the declarations.
#include "runtime/jit/aot/EmbeddedLauncher.h"
#include "runtime/jit/aot/Tables.h"
#include "tk/error.h"
#include <algorithm>
#include <dlfcn.h>
#include <fmt/format.h>
#include <set>

namespace tk::jit::aot {

namespace {
/// Of C to C23 and of C++ to C++23, and names that the header itself uses.
const std::set<std::string> &reservedWords() {
  static const std::set<std::string> words = {"alignas",     "alignof",
                                              "and",         "and_eq",
                                              "asm",         "auto",
                                              "bitand",      "bitor",
                                              "bool",        "break",
                                              "case",        "catch",
                                              "char",        "char16_t",
                                              "char32_t",    "char8_t",
                                              "class",       "co_await",
                                              "co_return",   "co_yield",
                                              "compl",       "concept",
                                              "const",       "const_cast",
                                              "consteval",   "constexpr",
                                              "constinit",   "continue",
                                              "decltype",    "default",
                                              "delete",      "do",
                                              "double",      "dynamic_cast",
                                              "else",        "enum",
                                              "explicit",    "export",
                                              "extern",      "false",
                                              "float",       "for",
                                              "friend",      "goto",
                                              "if",          "inline",
                                              "int",         "int16_t",
                                              "int32_t",     "int64_t",
                                              "int8_t",      "long",
                                              "main",        "mutable",
                                              "namespace",   "new",
                                              "noexcept",    "not",
                                              "not_eq",      "nullptr",
                                              "operator",    "or",
                                              "or_eq",       "private",
                                              "protected",   "public",
                                              "register",    "reinterpret_cast",
                                              "requires",    "restrict",
                                              "return",      "short",
                                              "signed",      "sizeof",
                                              "static",      "static_assert",
                                              "static_cast", "struct",
                                              "switch",      "template",
                                              "this",        "thread_local",
                                              "throw",       "true",
                                              "try",         "typedef",
                                              "typeid",      "typename",
                                              "typeof",      "typeof_unqual",
                                              "uint16_t",    "uint32_t",
                                              "uint64_t",    "uint8_t",
                                              "union",       "unsigned",
                                              "using",       "virtual",
                                              "void",        "volatile",
                                              "wchar_t",     "while",
                                              "xor",         "xor_eq"};
  return words;
}

bool isIdentifier(const std::string &name) {
  bool good = !name.empty() && !(name[0] >= '0' && name[0] <= '9');
  for (char c : name)
    good &= (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  return good && !reservedWords().contains(name);
}

/// Whether the C library has a function of this name, which the object's would take the place of in the whole program.
bool isLibraryFunction(const std::string &name) {
  Dl_info place = {};
  void *address = dlsym(RTLD_DEFAULT, name.c_str());
  if (!address || !dladdr(address, &place) || !place.dli_fname)
    return false;
  std::string file = place.dli_fname;
  file.erase(0, file.rfind('/') + 1);
  return file.starts_with("libc.") || file.starts_with("libm.");
}

const char *numberType(DType dtype) {
  switch (dtype) {
  case DType::I1: return "bool";
  case DType::I8: return "int8_t";
  case DType::I16: return "int16_t";
  case DType::I32: return "int32_t";
  case DType::I64: return "int64_t";
  case DType::U8: return "uint8_t";
  case DType::U16: return "uint16_t";
  case DType::U32: return "uint32_t";
  case DType::U64: return "uint64_t";
  case DType::F32: return "float";
  case DType::F64: return "double";
  case DType::F16:
  case DType::BF16: return "uint16_t";
  default: return "uint8_t";
  }
}

/// `float *x`. Elements that C has no type for are behind `void *`.
std::string declared(const Parameter &parameter, const std::string &name, bool readOnly) {
  if (parameter.kind != TkAotPointer)
    return fmt::format("{} {}", numberType(parameter.dtype), name);
  bool hasType = parameter.pointerDepth == 1 && (!isFloat(parameter.dtype) || parameter.dtype == DType::F32 || parameter.dtype == DType::F64);
  return fmt::format("{}{} *{}", readOnly ? "const " : "", hasType ? numberType(parameter.dtype) : "void", name);
}

/// Text inside a comment.
std::string commented(std::string text) {
  for (size_t at; (at = text.find("*/")) != std::string::npos;)
    text.replace(at, 2, "* /");
  for (size_t at; (at = text.find("/*")) != std::string::npos;)
    text.replace(at, 2, "/ *");
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

/// The words of a comment about one parameter, or nothing.
std::string remarkOf(const Function &function, unsigned index, const std::string &name) {
  const Parameter &parameter = function.interface.parameters[index];
  std::string text;
  if (parameter.kind == TkAotBits)
    text = fmt::format("the bits of one {}", spelling(parameter.dtype));
  else if (parameter.kind == TkAotPointer && declared(parameter, "", false) == "void *")
    text = fmt::format("elements are {}{}", parameter.pointerDepth > 1 ? "pointers to " : "", spelling(parameter.dtype));
  std::set<std::string> choices;
  bool always = true;
  for (const Variant &variant : function.interface.variants) {
    auto equals = std::find_if(variant.conditions.begin(), variant.conditions.end(),
                               [&](const Condition &condition) { return condition.parameter == index && condition.test == TkAotEquals; });
    always &= equals != variant.conditions.end();
    if (equals != variant.conditions.end())
      choices.insert(parameter.kind == TkAotPointer ? "NULL" : variant.signature->specs[index].value.repr());
  }
  if (always && !choices.empty()) {
    text += text.empty() ? "one of " : "; one of ";
    for (const std::string &choice : choices)
      text += (choice == *choices.begin() ? "" : ", ") + choice;
  }
  if (name != parameter.name)
    text = fmt::format("`{}`{}{}", parameter.name, text.empty() ? "" : ": ", text);
  return text;
}

std::string declarations(const Function &function) {
  const FunctionRequest &request = *function.request;
  if (!isIdentifier(request.name))
    throw Error(ErrorKind::User, fmt::format("`{}` can't be a C function's name: give one with `--name`", request.name));
  for (const char *suffix : {"", "_prepare", "_unload"})
    if (isLibraryFunction(request.name + suffix))
      throw Error(ErrorKind::User, fmt::format("`{}{}` is a function of the C library: give another name with `--name`", request.name, suffix));
  std::set<std::string> taken;
  for (const Parameter &parameter : function.interface.parameters)
    taken.insert(parameter.name);
  auto own = [&](std::string name) {
    while (taken.contains(name))
      name += '_';
    taken.insert(name);
    return name;
  };
  std::string arguments = "tk_aot_stream " + own("stream"), remarks;
  if (request.grid.empty())
    for (const char *axis : {"grid_x", "grid_y", "grid_z"})
      arguments += ", uint32_t " + own(axis);
  for (unsigned i = 0; i < function.interface.parameters.size(); ++i) {
    const Parameter &parameter = function.interface.parameters[i];
    if (parameter.kind == TkAotBaked)
      continue;
    std::string name = isIdentifier(parameter.name) ? parameter.name : own(fmt::format("p{}", i));
    arguments += ", " + declared(parameter, name, function.isReadOnly(i));
    if (std::string remark = remarkOf(function, i, name); !remark.empty())
      remarks += fmt::format(" *   {}: {}\n", name, commented(remark));
  }
  std::string text =
      fmt::format("\n/* {} of {}.\n * Compiled for the signatures, in the order in which they are tried:\n", request.kernel, commented(function.place));
  for (const Variant &variant : function.interface.variants)
    text += fmt::format(" *   {}\n", commented(variant.signature->text));
  text += remarks;
  text += request.grid.empty() ? " * The caller gives the grid: programs along x, y and z.\n" : fmt::format(" * Grid: {}\n", commented(request.gridText));
  text += fmt::format(" */\ntk_aot_status {}({});\n", request.name, arguments);
  text += fmt::format("/* Loads the code now, as a launch into a graph that is being captured can't. */\ntk_aot_status {}_prepare(tk_aot_stream stream);\n",
                      request.name);
  text += fmt::format(
      "/* Gives back what was loaded on GPUs, when no launch is under way any more; a later launch loads it again. */\ntk_aot_status {}_unload(void);\n",
      request.name);
  return text;
}
} // namespace

bool Function::isReadOnly(unsigned parameter) const {
  for (const Code &code : codes)
    for (const runtime::ArgumentSlot &slot : code.abi.slots)
      if (slot.param == parameter && slot.written)
        return false;
  return true;
}

std::string headerText(const std::vector<Function> &functions, const ObjectRequest &request) {
  std::string targets, guard = "TK_AOT", body;
  for (const std::string &target : request.targets)
    targets += (targets.empty() ? "" : ", ") + target;
  for (const Function &function : functions)
    body += declarations(function), guard += "_" + function.request->name;
  std::string text =
      fmt::format("/* Kernels compiled by tkc {} for {}. C99 and C++; link the object that goes with it, and libc. */\n#ifndef {}_H\n#define {}_H\n\n",
                  request.version, targets, guard, guard);
  text += launcherTypes();
  text += "\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n" + body + "\n#ifdef __cplusplus\n}\n#endif\n#endif\n";
  return text;
}

} // namespace tk::jit::aot
