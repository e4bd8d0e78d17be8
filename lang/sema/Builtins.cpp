// The table of builtins, their parameters and the reading of compile-time arguments.
#include "lang/sema/Builtins.h"
#include "lang/sema/LanguageNames.h"
#include "llvm/ADT/StringMap.h"

namespace tk::lang {

static ConstValue defaultOf(llvm::StringRef text) {
  if (text == "None")
    return ConstValue();
  if (text == "True" || text == "False")
    return ConstValue(text == "True");
  if (text == "()")
    return ConstValue::tuple({});
  if (text.starts_with("'"))
    return ConstValue::string(text.drop_front().drop_back().str());
  if (text.contains('.')) {
    double number = 0;
    text.getAsDouble(number);
    return ConstValue(number);
  }
  int64_t number = 0;
  text.getAsInteger(10, number);
  return ConstValue::integer(number);
}

static std::vector<BuiltinParameter> parseParameters(llvm::StringRef text) {
  std::vector<BuiltinParameter> params;
  bool afterStar = false;
  while (!text.empty()) {
    size_t end = 0;
    for (bool quoted = false; end < text.size() && (quoted || text[end] != ','); ++end)
      quoted ^= text[end] == '\'';
    llvm::StringRef piece = text.substr(0, end).trim(' ');
    text = text.substr(std::min(end + 1, text.size())).ltrim(' ');
    BuiltinParameter param;
    param.isStar = piece.consume_front("*");
    param.keywordOnly = afterStar;
    afterStar = afterStar || param.isStar;
    auto [name, fallback] = piece.split('=');
    param.name = name.str();
    if (piece.contains('=')) {
      param.hasDefault = true;
      param.defaultValue = defaultOf(fallback);
    }
    params.push_back(std::move(param));
  }
  return params;
}

const BuiltinInfo *findBuiltin(const std::string &canonical) {
  static const llvm::StringMap<BuiltinInfo> table = [] {
    llvm::StringMap<BuiltinInfo> result;
#define TK_BUILTIN(name, handler, params) result[#name] = BuiltinInfo{#name, "tl." #name, &BuiltinHandlers::handler, parseParameters(params)};
#define TK_PYTHON(name, handler, params) result["python." #name] = BuiltinInfo{#name, #name, &BuiltinHandlers::handler, parseParameters(params)};
#include "lang/sema/Builtins.def"
    return result;
  }();
  auto it = table.find(canonical);
  return it == table.end() ? nullptr : &it->second;
}

std::optional<int64_t> constantInteger(Elaborator &e, const BoundCall &call, size_t index) {
  const Value &value = call[index];
  auto *c = value.asConst();
  std::optional<int64_t> number = c && (c->get<BigInt>() || c->get<bool>()) ? c->asInt64() : std::nullopt;
  if (!number)
    e.error(call.values[index].range, Diag::NotConstantInteger, call.info->params[index].name, call.info->display, value.describe());
  return number;
}

std::optional<bool> constantBool(Elaborator &e, const BoundCall &call, size_t index) {
  auto *c = call[index].asConst();
  if (!c) {
    e.error(call.values[index].range, Diag::NotConstant, "`" + call.info->params[index].name + "` of `" + call.info->display + "`", call[index].describe());
    return std::nullopt;
  }
  return c->truth();
}

std::optional<std::string> constantString(Elaborator &e, const BoundCall &call, size_t index) {
  auto *c = call[index].asConst();
  if (c && c->isNone())
    return std::string();
  if (!c || !c->asString()) {
    e.error(call.values[index].range, Diag::NotConstantString, call.info->params[index].name, call.info->display, call[index].describe());
    return std::nullopt;
  }
  return *c->asString();
}

std::optional<llvm::SmallVector<int64_t>> constantIntegers(Elaborator &e, const std::vector<Argument> &arguments, const BoundCall &call, const char *what) {
  std::vector<Value> values;
  for (const Argument &argument : arguments)
    values.push_back(argument.value);
  SourceRange range = arguments.empty() ? call.range : arguments[0].range;
  if (values.size() == 1)
    if (std::optional<std::vector<Value>> elements = values[0].elements())
      values = *elements;
  llvm::SmallVector<int64_t> result;
  for (const Value &value : values) {
    auto *c = value.asConst();
    std::optional<int64_t> number = c && (c->get<BigInt>() || c->get<bool>()) ? c->asInt64() : std::nullopt;
    if (!number) {
      if (!value.isError())
        e.error(range, Diag::NotConstantInteger, std::string(what), call.info->display, value.describe());
      return std::nullopt;
    }
    result.push_back(*number);
  }
  return result;
}

std::optional<Runtime> runtimeOperand(Elaborator &e, const BoundCall &call, size_t index) {
  const Value &value = call[index];
  if (!value.asRuntime() && !value.isError() && !(value.asConst() && (value.asConst()->asDouble()))) {
    e.error(call.values[index].range, Diag::NeedsTile, call.info->params[index].name, call.info->display, value.describe());
    return std::nullopt;
  }
  return e.toRuntime(value, call.values[index].range);
}

std::optional<unsigned> normalizedAxis(Elaborator &e, const BoundCall &call, int64_t axis, size_t rank) {
  int64_t size = static_cast<int64_t>(rank);
  if (axis < -size || axis >= size) {
    e.error(call.range, Diag::AxisOutOfRange, axis, call.info->display, rank);
    return std::nullopt;
  }
  return static_cast<unsigned>(axis < 0 ? axis + size : axis);
}

} // namespace tk::lang
