// See TuneConfigs.h.
#include "lang/sema/TuneConfigs.h"
#include "lang/sema/ConstOperations.h"
#include "lang/sema/HostArguments.h"
#include "llvm/ADT/StringSwitch.h"

namespace tk::lang {

using namespace runtime;

int parameterIndex(const ast::Function &kernel, const std::string &name) {
  for (size_t i = 0; i < kernel.params.size(); ++i)
    if (kernel.params[i].name == name)
      return static_cast<int>(i);
  return -1;
}

std::string suggestion(const std::string &name, std::vector<std::string> candidates, const ast::Function &kernel) {
  for (const ast::Parameter &parameter : kernel.params)
    candidates.push_back(parameter.name);
  std::string near = nearest(name, candidates);
  return near.empty() ? "" : fmt::format("; did you mean `{}`?", near);
}

static bool isOfOtherTargets(const std::string &name) {
  return llvm::StringSwitch<bool>(name)
#define OPTION_ELSEWHERE(name) .Case(#name, true)
#include "lang/sema/OptionsElsewhere.def"
#undef OPTION_ELSEWHERE
      .Default(false);
}

static std::vector<std::string> optionNames() {
  return {
#define LAUNCH_OPTION(field, name, type, otherwise) name,
#include "runtime/LaunchOptions.def"
#undef LAUNCH_OPTION
  };
}

namespace {
class ConfigReader {
public:
  ConfigReader(const ModuleScope &scope, const ast::Function &kernel, Place place, Diagnostics &diagnostics)
      : scope(scope), kernel(kernel), place(place), diagnostics(diagnostics) {}
  /// False after an error; `usable` is false for one that is left out.
  bool read(const ConstValue &value, TuneConfig &config, bool &usable);

private:
  bool entry(const std::string &name, const ConstValue &value, TuneConfig &config, bool &usable);

  const ModuleScope &scope;
  const ast::Function &kernel;
  Place place;
  Diagnostics &diagnostics;
};
} // namespace

bool ConfigReader::entry(const std::string &name, const ConstValue &value, TuneConfig &config, bool &usable) {
  int index = parameterIndex(kernel, name);
  if (index >= 0) {
    std::optional<StoredArgument> argument = argumentOf(scope, value);
    if (!argument)
      return diagnostics.report(Diag::TuneValue, place, name, value.repr()), false;
    config.values.emplace_back(static_cast<unsigned>(index), std::move(*argument));
    return true;
  }
  if (!LaunchOptions::has(name)) {
    if (isOfOtherTargets(name))
      return true;
    return diagnostics.report(Diag::TuneUnknownName, place, name, kernel.name, suggestion(name, optionNames(), kernel)), false;
  }
  if (value.isNone())
    return true;
  std::optional<int64_t> number = value.get<double>() ? std::nullopt : value.asInt64();
  std::string wrong = number ? config.options.set(name, *number) : fmt::format("must be an integer, found {}", value.repr());
  if (number && name == "num_ctas" && *number > 1 && !wrong.empty()) {
    usable = false;
    return true;
  }
  if (!wrong.empty())
    return diagnostics.report(Diag::TuneOption, place, name, wrong), false;
  return true;
}

bool ConfigReader::read(const ConstValue &value, TuneConfig &config, bool &usable) {
  if (!isConfig(value))
    return diagnostics.report(Diag::TuneConfigs, place, value.kindName()), false;
  for (const ConstValue *dict : {&value.asTuple()->elements[0], &value.asTuple()->elements[kConfigGiven]})
    for (const auto &[key, entryValue] : *dict->asDict()) {
      if (!key.asString())
        return diagnostics.report(Diag::TuneNames, place, "Config", key.repr()), false;
      if (!entry(*key.asString(), entryValue, config, usable))
        return false;
    }
  return true;
}

std::optional<ReadConfigs> readConfigs(const ModuleScope &scope, const ast::Function &kernel, const ConstValue &list, Place place, Diagnostics &diagnostics) {
  if (!list.asTuple() || isConfig(list)) {
    diagnostics.report(Diag::TuneConfigs, place, isConfig(list) ? "one" : list.kindName());
    return std::nullopt;
  }
  ReadConfigs result;
  ConfigReader reader(scope, kernel, place, diagnostics);
  for (const ConstValue &value : list.asTuple()->elements) {
    TuneConfig config;
    bool usable = true;
    if (!reader.read(value, config, usable))
      return std::nullopt;
    if (!usable)
      continue;
    std::optional<std::vector<unsigned>> zeroed = zeroedBy(scope, kernel, value.asTuple()->elements[kConfigHook]);
    result.foreignHook |= !zeroed;
    for (unsigned parameter : zeroed.value_or(std::vector<unsigned>()))
      if (std::find(result.zeroed.begin(), result.zeroed.end(), parameter) == result.zeroed.end())
        result.zeroed.push_back(parameter);
    result.configs.push_back(std::move(config));
    result.values.push_back(value);
  }
  if (result.configs.empty() && !list.asTuple()->elements.empty()) {
    diagnostics.report(Diag::TuneOption, place, "num_ctas", "must be 1 in one of them at least: tiles that are spread over several blocks are not available yet");
    return std::nullopt;
  }
  if (result.configs.empty()) { // an empty list is one configuration of nothing
    result.configs.emplace_back();
    std::string error;
    result.values.push_back(*makeConfig({{ConstValue(std::make_shared<const ConstValue::Dict>())}, {}}, error));
  }
  return result;
}

// ---- hooks ----

namespace {
/// Looks for nothing but `args["c"].zero_()`.
class HookReader {
public:
  HookReader(const ast::Function &kernel, const FunctionValue &hook, std::string arguments) : kernel(kernel), hook(hook), arguments(std::move(arguments)) {}
  bool block(const ast::Block &statements);
  bool expr(const ast::Expr &node);
  std::vector<unsigned> zeroed;

private:
  std::optional<std::string> key(const ast::Expr &node) const;
  const ast::Function &kernel;
  const FunctionValue &hook;
  std::string arguments;
};
} // namespace

/// The name that a subscript asks for: written out, or a variable of the function around, as in `def init_to_zero(name): return lambda args: args[name].zero_()`.
std::optional<std::string> HookReader::key(const ast::Expr &node) const {
  if (auto *constant = ast::dyn<ast::Constant>(&node); constant && constant->type == ast::Constant::String)
    return constant->text;
  auto *name = ast::dyn<ast::Name>(&node);
  if (!name)
    return std::nullopt;
  std::optional<ConstValue> value;
  if (hook.captured)
    if (auto it = hook.captured->find(name->id); it != hook.captured->end())
      value = it->second;
  if (!value && hook.scope) {
    Diagnostics quiet;
    value = hook.scope->lookup(name->id, quiet);
  }
  return value && value->asString() ? std::optional(*value->asString()) : std::nullopt;
}

bool HookReader::expr(const ast::Expr &node) {
  const std::vector<ast::ExprPtr> *elements = nullptr;
  if (auto *tuple = ast::dyn<ast::Tuple>(&node))
    elements = &tuple->elements;
  else if (auto *list = ast::dyn<ast::List>(&node))
    elements = &list->elements;
  if (elements)
    return std::all_of(elements->begin(), elements->end(), [&](const ast::ExprPtr &element) { return expr(*element); });
  auto *call = ast::dyn<ast::Call>(&node);
  auto *method = call ? ast::dyn<ast::Attribute>(call->callee.get()) : nullptr;
  auto *item = method && method->attr == "zero_" && call->args.empty() ? ast::dyn<ast::Subscript>(method->value.get()) : nullptr;
  auto *object = item ? ast::dyn<ast::Name>(item->value.get()) : nullptr;
  std::optional<std::string> name = object && object->id == arguments ? key(*item->index) : std::nullopt;
  int index = name ? parameterIndex(kernel, *name) : -1;
  if (index < 0)
    return false;
  zeroed.push_back(static_cast<unsigned>(index));
  return true;
}

/// An array that is zeroed under a condition counts: a kernel that accumulates only then does not mind zeros otherwise.
bool HookReader::block(const ast::Block &statements) {
  for (const ast::StmtPtr &node : statements) {
    auto *expression = ast::dyn<ast::ExprStmt>(node.get());
    auto *branch = ast::dyn<ast::If>(node.get());
    auto *ret = ast::dyn<ast::Return>(node.get());
    bool fine = node->kind == ast::StmtKind::Pass || (expression && (expression->value->kind == ast::ExprKind::Constant || expr(*expression->value))) ||
                (branch && block(branch->then) && block(branch->orelse)) || (ret && (!ret->value || ret->value->kind == ast::ExprKind::Constant || expr(*ret->value)));
    if (!fine)
      return false;
  }
  return true;
}

std::optional<std::vector<unsigned>> zeroedBy(const ModuleScope &scope, const ast::Function &kernel, const ConstValue &hook) {
  if (hook.isNone())
    return std::vector<unsigned>();
  auto *function = hook.get<FunctionValue>();
  const std::vector<ast::Parameter> *params = !function ? nullptr : function->function ? &function->function->params : &function->lambda->params;
  if (!params || params->empty())
    return std::nullopt;
  HookReader reader(kernel, *function, (*params)[0].name);
  if (!(function->function ? reader.block(function->function->body) : reader.expr(*function->lambda->body)))
    return std::nullopt;
  return reader.zeroed;
}

} // namespace tk::lang
