// See Tuning.h.
#include "lang/sema/Tuning.h"
#include "lang/sema/ConstOperations.h"
#include "lang/sema/Describe.h"
#include "lang/sema/HostPrograms.h"
#include "lang/sema/ModuleScope.h"
#include "lang/sema/ParamSpecs.h"
#include "lang/sema/TuneConfigs.h"
#include "llvm/ADT/STLExtras.h"

namespace tk::lang {

using namespace runtime;

namespace {
constexpr const char *kPositions[] = {"configs", "key", "prune_configs_by", "reset_to_zero", "restore_value", "pre_hook", "post_hook", "warmup", "rep", "use_cuda_graph", "do_bench"};

/// The arguments of one @autotune, each evaluated by itself when it is asked for.
class Autotune {
public:
  Autotune(const ModuleScope &scope, const ast::Call &call) : scope(scope), call(call) {}
  /// Empty when it is not given, or can't be evaluated: then `messages` says why.
  std::optional<ConstValue> get(const std::string &name, Diagnostics &messages) const;
  Place place(const std::string &name) const {
    const ast::Expr *expr = find(name);
    return {&scope.file(), expr ? expr->range : call.range};
  }

private:
  const ast::Expr *find(const std::string &name) const;
  const ModuleScope &scope;
  const ast::Call &call;
};

struct NamedFunction {
  std::string name;
  ConstValue function;
  Place place;
};
} // namespace

const ast::Expr *Autotune::find(const std::string &name) const {
  for (size_t i = 0; i < call.args.size() && i < std::size(kPositions); ++i)
    if (name == kPositions[i])
      return call.args[i].get();
  for (const ast::Keyword &keyword : call.keywords)
    if (keyword.name == name)
      return keyword.value.get();
  return nullptr;
}

std::optional<ConstValue> Autotune::get(const std::string &name, Diagnostics &messages) const {
  if (const ast::Expr *expr = find(name))
    return HostEvaluator(&scope, messages).evaluate(*expr, scope.file());
  for (const ast::Keyword &keyword : call.keywords) // **options, of the host more often than not
    if (keyword.name.empty()) {
      Diagnostics quiet;
      std::optional<ConstValue> options = HostEvaluator(&scope, quiet).evaluate(*keyword.value, scope.file());
      for (const auto &[key, value] : options && options->asDict() ? *options->asDict() : ConstValue::Dict())
        if (key.asString() && *key.asString() == name)
          return value;
    }
  return std::nullopt;
}

static const ast::Call *autotuneOf(const ast::Function &kernel) {
  for (const ast::ExprPtr &decorator : kernel.decorators)
    if (auto *call = ast::dyn<ast::Call>(decorator.get()); call && decoratorName(*decorator) == "autotune")
      return call;
  return nullptr;
}

/// The functions of `@heuristics({...})`, outermost first. What can't be evaluated is passed over: its parameters have to be given.
static std::vector<NamedFunction> heuristicsOf(const ModuleScope &scope, const ast::Function &kernel, Diagnostics &diagnostics) {
  std::vector<NamedFunction> functions;
  for (const ast::ExprPtr &decorator : kernel.decorators) {
    auto *call = ast::dyn<ast::Call>(decorator.get());
    if (!call || decoratorName(*decorator) != "heuristics" || call->args.size() + call->keywords.size() != 1)
      continue;
    const ast::Expr &table = call->args.empty() ? *call->keywords[0].value : *call->args[0];
    Diagnostics quiet;
    std::optional<ConstValue> value = HostEvaluator(&scope, quiet).evaluate(table, scope.file());
    if (!value)
      continue;
    if (!value->asDict()) {
      diagnostics.report(Diag::HeuristicsForm, {&scope.file(), table.range}, value->kindName());
      continue;
    }
    for (const auto &[key, function] : *value->asDict())
      if (key.asString() && function.get<FunctionValue>())
        functions.push_back({*key.asString(), function, {&scope.file(), table.range}});
      else
        diagnostics.report(Diag::HeuristicsForm, {&scope.file(), table.range}, (key.asString() ? function : key).repr());
  }
  return functions;
}

/// Names of parameters; None among them is nobody. Names of no parameter are an error where they must be one.
static std::vector<unsigned> parametersNamed(const ast::Function &kernel, const std::string &what, const ConstValue &value, bool strict, Place place, Diagnostics &diagnostics) {
  std::vector<unsigned> result;
  std::string error;
  std::vector<ConstValue> names = {value};
  if (auto elements = value.asString() ? std::nullopt : constElements(value, error))
    names = std::move(*elements);
  for (const ConstValue &name : names) {
    if (name.isNone())
      continue;
    if (!name.asString()) {
      diagnostics.report(Diag::TuneNames, place, what, name.repr());
      continue;
    }
    int index = parameterIndex(kernel, *name.asString());
    if (index >= 0)
      result.push_back(static_cast<unsigned>(index));
    else if (strict)
      diagnostics.report(Diag::TuneNotAParameter, place, what, *name.asString(), kernel.name, suggestion(*name.asString(), {}, kernel));
  }
  return result;
}

static void unite(std::vector<unsigned> &all, const std::vector<unsigned> &more) {
  for (unsigned parameter : more)
    if (!llvm::is_contained(all, parameter))
      all.push_back(parameter);
}

static void describeAutotune(const ModuleScope &scope, const ast::Function &kernel, const Autotune &autotune, TuneDescription &tune, Diagnostics &diagnostics) {
  Diagnostics unknown, quiet;
  auto refuse = [&](const char *name, Place place) {
    diagnostics.report(Diag::TuneHook, place, name);
    unknown.report(Diag::RelayedError, place, fmt::format("`{}` is a hook in Python, which only Python can run", name));
  };
  std::optional<ConstValue> configs = autotune.get("configs", unknown);
  if (!configs && !unknown.hasErrors())
    configs = ConstValue::tuple({}, true);
  if (configs)
    if (std::optional<ReadConfigs> read = readConfigs(scope, kernel, *configs, autotune.place("configs"), diagnostics)) {
      tune.configs = std::move(read->configs);
      tune.resetToZero = std::move(read->zeroed);
      if (read->foreignHook)
        refuse("pre_hook", autotune.place("configs"));
    }
  for (auto [name, list] : {std::pair("key", &tune.key), std::pair("reset_to_zero", &tune.resetToZero), std::pair("restore_value", &tune.restoreValue)})
    if (std::optional<ConstValue> value = autotune.get(name, unknown); value && !value->isNone())
      unite(*list, parametersNamed(kernel, name, *value, list != &tune.key, autotune.place(name), diagnostics));
  for (const char *name : {"pre_hook", "post_hook"}) {
    std::optional<ConstValue> hook = autotune.get(name, unknown);
    std::optional<std::vector<unsigned>> zeroed = hook ? zeroedBy(scope, kernel, *hook) : std::vector<unsigned>();
    if (!zeroed || (!zeroed->empty() && name == std::string("post_hook")))
      refuse(name, autotune.place(name));
    else
      unite(tune.resetToZero, *zeroed);
  }
  for (auto [name, milliseconds] : {std::pair("warmup", &tune.warmupMs), std::pair("rep", &tune.repMs)})
    if (std::optional<ConstValue> value = autotune.get(name, quiet); value && value->asDouble() && *value->asDouble() >= 0)
      *milliseconds = *value->asDouble();
  if (std::optional<ConstValue> pruning = autotune.get("prune_configs_by", quiet); pruning && pruning->asDict())
    for (const auto &[key, value] : *pruning->asDict())
      tune.prunes |= value.get<FunctionValue>() != nullptr;
  tune.problem = problemText(unknown);
  if (!tune.problem.empty())
    tune.configs.clear();
}

void describeTuning(const ModuleScope &scope, const ast::Function &kernel, KernelDescription &description, Diagnostics &diagnostics) {
  for (const NamedFunction &heuristic : heuristicsOf(scope, kernel, diagnostics)) {
    int index = parameterIndex(kernel, heuristic.name);
    if (index < 0) {
      diagnostics.report(Diag::TuneNotAParameter, heuristic.place, "heuristics", heuristic.name, kernel.name, suggestion(heuristic.name, {}, kernel));
      continue;
    }
    std::optional<std::string> program = compileHostFunction(scope, kernel, *heuristic.function.get<FunctionValue>());
    description.heuristics.push_back({static_cast<unsigned>(index), StackProgram(program.value_or(""))});
  }
  if (const ast::Call *call = autotuneOf(kernel))
    describeAutotune(scope, kernel, Autotune(scope, *call), description.tune.emplace(), diagnostics);
}

// ---- at a launch ----

static ConstValue dictOf(const NamedArguments &arguments) {
  ConstValue::Dict dict;
  for (const auto &[name, value] : arguments)
    dict.emplace_back(ConstValue::string(name), value);
  return ConstValue(std::make_shared<const ConstValue::Dict>(std::move(dict)));
}

/// `arguments` as keywords, as far as the function takes them; the first `taken` parameters are given by position.
static std::vector<ConstKeyword> keywordsFor(const ConstValue &callee, size_t taken, const NamedArguments &arguments) {
  std::vector<ConstKeyword> keywords;
  auto *function = callee.get<FunctionValue>();
  if (!function)
    return keywords;
  const std::vector<ast::Parameter> &params = function->function ? function->function->params : function->lambda->params;
  bool takesAll = llvm::any_of(params, [](const ast::Parameter &parameter) { return parameter.kind == ast::Parameter::VarKeywords; });
  for (const auto &[name, value] : arguments) {
    size_t index = 0;
    while (index < params.size() && params[index].name != name)
      ++index;
    if (index >= taken && (index < params.size() || takesAll))
      keywords.push_back({name, value});
  }
  return keywords;
}

namespace {
class Pruner {
public:
  Pruner(const ModuleScope &scope, const Autotune &autotune, const NamedArguments &arguments, Diagnostics &diagnostics)
      : place(autotune.place("prune_configs_by")), arguments(arguments), evaluator(&scope, diagnostics), diagnostics(diagnostics) {}
  /// The configurations that `early_config_prune` returns, as indices in `all`.
  bool filter(const ConstValue &function, const std::vector<ConstValue> &all, std::vector<unsigned> &kept);
  /// The `count` fastest by the model.
  bool rank(const ConstValue &model, const std::vector<ConstValue> &all, size_t count, std::vector<unsigned> &kept);

private:
  bool fail(const std::string &text) { return diagnostics.report(Diag::ConstEvaluation, place, text), false; }
  Place place;
  const NamedArguments &arguments;
  HostEvaluator evaluator;
  Diagnostics &diagnostics;
};
} // namespace

bool Pruner::filter(const ConstValue &function, const std::vector<ConstValue> &all, std::vector<unsigned> &kept) {
  ConstCall call{{ConstValue::tuple(all, true), dictOf(arguments)}, keywordsFor(function, 2, arguments)};
  std::optional<ConstValue> result = evaluator.callWith(function, call, place);
  if (!result)
    return false;
  if (!result->asTuple() || isConfig(*result))
    return fail(fmt::format("`early_config_prune` must give a list of configurations, found {}", result->kindName()));
  kept.clear();
  for (const ConstValue &config : result->asTuple()->elements) {
    auto it = llvm::find_if(all, [&](const ConstValue &known) { return known.identical(config); });
    if (it == all.end())
      return fail(fmt::format("`early_config_prune` gives {}, which is none of the configurations", config.repr()));
    kept.push_back(static_cast<unsigned>(it - all.begin()));
  }
  return !kept.empty() || fail("`early_config_prune` leaves no configuration");
}

bool Pruner::rank(const ConstValue &model, const std::vector<ConstValue> &all, size_t count, std::vector<unsigned> &kept) {
  if (kept.size() <= count)
    return true;
  std::vector<std::pair<double, unsigned>> estimates;
  for (unsigned index : kept) {
    NamedArguments named = arguments;
    std::string error;
    ConstValue options = *constMethod(all[index], "all_kwargs", {}, error);
    for (const auto &[key, value] : *options.asDict())
      if (key.asString())
        named.emplace_back(*key.asString(), value);
    std::optional<ConstValue> estimate = evaluator.callWith(model, {{}, keywordsFor(model, 0, named)}, place);
    if (!estimate)
      return false;
    if (!estimate->asDouble() || *estimate->asDouble() != *estimate->asDouble())
      return fail(fmt::format("`perf_model` must give a number, found {}", estimate->repr()));
    estimates.emplace_back(*estimate->asDouble(), index);
  }
  std::stable_sort(estimates.begin(), estimates.end(), [](const auto &a, const auto &b) { return a.first < b.first; });
  kept.clear();
  for (size_t i = 0; i < count; ++i)
    kept.push_back(estimates[i].second);
  return true;
}

std::optional<std::vector<unsigned>> prune(const ModuleScope &scope, const ast::Function &kernel, const NamedArguments &arguments, Diagnostics &diagnostics) {
  const ast::Call *call = autotuneOf(kernel);
  if (!call)
    return std::vector<unsigned>();
  Autotune autotune(scope, *call);
  std::optional<ConstValue> configs = autotune.get("configs", diagnostics);
  if (!configs)
    configs = ConstValue::tuple({}, true);
  std::optional<ReadConfigs> read = diagnostics.hasErrors() ? std::nullopt : readConfigs(scope, kernel, *configs, autotune.place("configs"), diagnostics);
  std::optional<ConstValue> pruning = autotune.get("prune_configs_by", diagnostics);
  if (!read || diagnostics.hasErrors())
    return std::nullopt;
  std::vector<unsigned> kept(read->values.size());
  for (size_t i = 0; i < kept.size(); ++i)
    kept[i] = static_cast<unsigned>(i);
  auto option = [&](const char *name) -> ConstValue {
    std::string error;
    std::optional<ConstValue> value = pruning ? constSubscript(*pruning, ConstValue::string(name), error) : std::nullopt;
    return value ? *value : ConstValue();
  };
  Pruner pruner(scope, autotune, arguments, diagnostics);
  ConstValue early = option("early_config_prune"), model = option("perf_model"), most = option("top_k");
  if (early.get<FunctionValue>() && !pruner.filter(early, read->values, kept))
    return std::nullopt;
  if (model.get<FunctionValue>()) {
    std::optional<double> limit = most.asDouble();
    double all = static_cast<double>(read->values.size());
    double count = !limit ? all : most.get<double>() && *limit <= 1 ? all * *limit : *limit; // 0.25: a quarter of all
    if (!pruner.rank(model, read->values, static_cast<size_t>(std::clamp(count, 1.0, all)), kept))
      return std::nullopt;
  }
  return kept;
}

std::optional<std::vector<StoredArgument>> evaluateDecorator(const ModuleScope &scope, const ast::Function &kernel, const std::string &which, const NamedArguments &arguments,
                                                             Diagnostics &diagnostics) {
  std::vector<ConstValue> values;
  Place place{&scope.file(), kernel.nameRange};
  if (which == "grid") {
    for (const ast::Expr *expr : decoratorsOf(scope, kernel, diagnostics).grid) {
      std::optional<ConstValue> value = evaluateHost(scope, *expr, arguments, diagnostics);
      if (!value)
        return std::nullopt;
      std::vector<ConstValue> extents = value->asTuple() ? value->asTuple()->elements : std::vector<ConstValue>{*value};
      values.insert(values.end(), extents.begin(), extents.end());
      place.range = expr->range;
    }
  } else {
    for (const NamedFunction &heuristic : heuristicsOf(scope, kernel, diagnostics))
      if (heuristic.name == which) {
        place = heuristic.place;
        std::optional<ConstValue> value = HostEvaluator(&scope, diagnostics).call(heuristic.function, {dictOf(arguments)}, place);
        if (!value)
          return std::nullopt;
        values.push_back(std::move(*value));
      }
  }
  std::vector<StoredArgument> results;
  for (const ConstValue &value : values) {
    std::optional<StoredArgument> argument = argumentOf(scope, value);
    if (!argument) {
      diagnostics.report(Diag::ConstEvaluation, place, fmt::format("{} is nothing that a launch can take", value.repr()));
      return std::nullopt;
    }
    results.push_back(std::move(*argument));
  }
  return results;
}

} // namespace tk::lang
