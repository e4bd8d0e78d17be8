// @autotune and @heuristics as real files write them: lists, comprehensions, functions that build lists, hooks, pruning.
#include "lang/sema/Tuning.h"
#include "ModuleText.h"
#include "lang/sema/Describe.h"
#include <fmt/format.h>

using namespace tk;
using namespace tk::lang;

namespace {
std::string shown(const runtime::TuneConfig &config, const runtime::KernelDescription &kernel) {
  std::string text;
  for (const auto &[parameter, value] : config.values)
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", kernel.parameters[parameter].name, runtime::describe(value.get()));
  std::string options = config.options.text();
  return options.empty() ? text : text + (text.empty() ? "" : " ") + options;
}

std::string names(const std::vector<unsigned> &indices, const runtime::KernelDescription &kernel) {
  std::string text;
  for (unsigned index : indices)
    text += (text.empty() ? "" : " ") + kernel.parameters[index].name;
  return text;
}

/// The configurations of the kernel `k` of a Python file, one after the other; or what is wrong.
std::string configs(const std::string &decorator, const std::string &before = "") {
  ModuleText module("import triton\nimport triton.language as tl\n" + before + "\n" + decorator + "\n@triton.jit\ndef k(a, b, c, n, BLOCK: tl.constexpr, WIDE: tl.constexpr = False): pass\n", "a.py");
  runtime::ModuleDescription described = describe(module.scope, module.diagnostics);
  REQUIRE(described.kernels.size() == 1);
  const runtime::KernelDescription &kernel = described.kernels[0];
  std::string error;
  runtime::ModuleDescription read;
  REQUIRE(runtime::parseModuleDescription(runtime::toText(described), read, error));
  if (!kernel.problem.empty())
    return "problem: " + kernel.problem;
  if (!kernel.tune)
    return "none";
  if (!kernel.tune->problem.empty())
    return "unknown: " + kernel.tune->problem;
  std::string text;
  for (const runtime::TuneConfig &config : kernel.tune->configs)
    text += (text.empty() ? "" : "; ") + shown(config, kernel);
  return text;
}

runtime::KernelDescription described(const std::string &text) {
  ModuleText module("import triton\nimport triton.language as tl\n" + text, "a.py");
  runtime::ModuleDescription result = describe(module.scope, module.diagnostics);
  INFO(module.diagnostics.render());
  REQUIRE(result.kernels.size() == 1);
  return result.kernels[0];
}
} // namespace

TEST_CASE("configurations in all the ways that files write them") {
  CHECK(configs("@triton.autotune(configs=[triton.Config({'BLOCK': 64}, num_warps=4), triton.Config({'BLOCK': 128, 'WIDE': True}, num_stages=2)], key=['n'])") ==
        "BLOCK=64 num_warps=4; BLOCK=128 WIDE=true num_stages=2");
  CHECK(configs("@triton.autotune([triton.Config(kwargs={'BLOCK': 64}, num_warps=4)], ['n'])") == "BLOCK=64 num_warps=4");
  CHECK(configs("@autotune(configs=[Config({'BLOCK': b}, num_warps=w) for b in (64, 128) for w in [4, 8] if b * w < 1024], key=[])", "from triton import autotune, Config") ==
        "BLOCK=64 num_warps=4; BLOCK=64 num_warps=8; BLOCK=128 num_warps=4");
  CHECK(configs("@triton.autotune(configs=LIST, key=['n'])", "LIST = [triton.Config({'BLOCK': 32})]") == "BLOCK=32");
  CHECK(configs("@triton.autotune(configs=LIST + make(4), key=['n'])", R"(
LIST = [triton.Config({'BLOCK': 32})]
def make(most):
    configs = []
    for warps in range(1, most + 1):
        if warps & (warps - 1):
            continue
        configs.append(triton.Config({"BLOCK": 32 * warps}, num_warps=warps))
    return configs
)") == "BLOCK=32; BLOCK=32 num_warps=1; BLOCK=64 num_warps=2; BLOCK=128 num_warps=4");
  CHECK(configs("@triton.autotune(configs=LIST, key=['n'])", R"(
LIST = []
for block in (16, 32):
    for wide in (True, False):
        LIST.append(triton.Config({'BLOCK': block, 'WIDE': wide}))
LIST += [triton.Config({'BLOCK': 8})]
LIST.pop(0)
)") == "BLOCK=16 WIDE=false; BLOCK=32 WIDE=true; BLOCK=32 WIDE=false; BLOCK=8");
  CHECK(configs("@triton.autotune(configs=[triton.Config({'BLOCK': b, 'WIDE': w}) for b, w in itertools.product([1, 2], [True])], key=['n'])", "import itertools") ==
        "BLOCK=1 WIDE=true; BLOCK=2 WIDE=true");
  CHECK(configs("@triton.autotune(configs=list(filter(keep, [triton.Config({'BLOCK': b}, num_warps=2) for b in (8, 16)])), key=['n'])",
                "def keep(conf):\n    return conf.kwargs['BLOCK'] * conf.num_warps > 16") == "BLOCK=16 num_warps=2");
  CHECK(configs("@triton.autotune(configs=[triton.Config(dict(BLOCK=4, **MORE), **OPTIONS)], key=['n'])", "MORE = {'WIDE': True}\nOPTIONS = {'num_warps': 8}") ==
        "BLOCK=4 WIDE=true num_warps=8");
  CHECK(configs("@triton.autotune(configs=[triton.Config({f'BL{x}': 4}) for x in ['OCK']], key=['n'])") == "BLOCK=4");
  CHECK(configs("@triton.autotune(configs=get_configs(), key=['n'])", R"(
import os
def is_cuda():
    return triton.runtime.driver.active.get_current_target().backend == "cuda"
def get_configs():
    if os.environ.get("TUNE", "0") == "1":
        return everything()
    if is_cuda():
        sizes = [{'num_warps': w, 'num_stages': s} for w in [4] for s in [2, 3]]
        return [triton.Config({'BLOCK': 64}, **size) for size in sizes]
    else:
        return hip()
)") == "BLOCK=64 num_warps=4, num_stages=2; BLOCK=64 num_warps=4, num_stages=3");
  CHECK(configs("@triton.autotune(configs=[], key=['n'])") == "");
  CHECK(configs("@triton.autotune(**OPTIONS)", "OPTIONS = {'configs': [triton.Config({'BLOCK': 2})], 'key': ['n']}") == "BLOCK=2");
  CHECK(configs("@triton.autotune(configs=[triton.Config({'BLOCK': 2})], key=['n'], **unknown_options)", "from elsewhere import unknown_options") == "BLOCK=2");
  CHECK(configs("@triton.heuristics({})") == "none");
}

TEST_CASE("options of configurations") {
  CHECK(configs("@triton.autotune([triton.Config({'BLOCK': 1, 'waves_per_eu': 2, 'kpack': 1}, num_warps=1, num_ctas=1, maxnreg=None)], [])") == "BLOCK=1 num_warps=1, num_ctas=1");
  CHECK(configs("@triton.autotune([triton.Config({'BLOCK': 1}, maxnreg=128)], [])") == "BLOCK=1 maxnreg=128");
  CHECK(configs("@triton.autotune([triton.Config({'BLOCK': 1}, num_ctas=2), triton.Config({'BLOCK': 2})], [])") == "BLOCK=2"); // clusters are passed over
  CHECK(configs("@triton.autotune([triton.Config({'BLOK': 1})], [])") == "problem: line 4: `BLOK` in a configuration is neither a parameter of `k` nor a launch option; did you mean `BLOCK`?");
  CHECK(configs("@triton.autotune([triton.Config({'BLOCK': 1}, num_wraps=1)], [])") ==
        "problem: line 4: `num_wraps` in a configuration is neither a parameter of `k` nor a launch option; did you mean `num_warps`?");
  CHECK(configs("@triton.autotune([triton.Config({'BLOCK': 1}, num_warps=3)], [])") == "problem: line 4: launch option `num_warps` of a configuration must be 1, 2, 4, 8, 16 or 32, found 3");
  CHECK(configs("@triton.autotune([triton.Config({'BLOCK': [1]})], [])").starts_with("problem: line 4: `BLOCK` of a configuration must be a number"));
  CHECK(configs("@triton.autotune([64], [])") == "problem: line 4: `configs` needs a list of `Config`, found int");
  CHECK(configs("@triton.autotune(configs=[triton.Config({'BLOCK': 1}, num_ctas=2)], key=[])").starts_with("problem: line 4: launch option `num_ctas`"));
}

TEST_CASE("configurations that only the host knows are unknown, not wrong") {
  CHECK(configs("@triton.autotune(configs=make(), key=['n'])", "from elsewhere import make").starts_with("unknown: line 4: "));
  CHECK(configs("@triton.autotune(configs=[triton.Config({'BLOCK': b}) for b in sizes()], key=['n'])", "def sizes():\n    return [torch.cuda.size()]").starts_with("unknown: line "));
  CHECK(configs("@triton.autotune(configs=LIST, key=['n'])", "LIST = []\nfor d in devices():\n    LIST.append(triton.Config({'BLOCK': d}))").starts_with("unknown: line "));
}

TEST_CASE("keys, arrays to reset, times") {
  runtime::KernelDescription kernel = described(R"(
KEYS = ['n', 'not_here']
@triton.autotune(configs=[triton.Config({'BLOCK': 1})], key=KEYS, reset_to_zero=['c', None], restore_value=['a', 'b'], warmup=5, rep=20.5, use_cuda_graph=True, cache_results=True)
@triton.jit
def k(a, b, c, n, BLOCK: tl.constexpr): pass
)");
  REQUIRE(kernel.tune);
  CHECK(kernel.problem.empty());
  CHECK(names(kernel.tune->key, kernel) == "n");
  CHECK(names(kernel.tune->resetToZero, kernel) == "c");
  CHECK(names(kernel.tune->restoreValue, kernel) == "a b");
  CHECK(kernel.tune->warmupMs == 5);
  CHECK(kernel.tune->repMs == 20.5);
  CHECK_FALSE(kernel.tune->prunes);
  CHECK(configs("@triton.autotune([triton.Config({'BLOCK': 1})], [], reset_to_zero=['cc'])") == "problem: line 4: `reset_to_zero` names `cc`, which is no parameter of `k`; did you mean `c`?");
  CHECK(configs("@triton.autotune([triton.Config({'BLOCK': 1})], [], restore_value=[1])") == "problem: line 4: `restore_value` needs names of parameters, found 1");
  CHECK(configs("@triton.autotune([triton.Config({'BLOCK': 1})], [], reset_to_zero=None, restore_value=None, prune_configs_by=None, pre_hook=None)") == "BLOCK=1");
}

TEST_CASE("hooks that zero arrays are understood, others are named") {
  auto zeroed = [](const std::string &before, const std::string &hook, const std::string &ofAll = "") {
    runtime::KernelDescription kernel = described(before + "\n@triton.autotune(configs=[triton.Config({'BLOCK': 1}, pre_hook=" + hook + ")], key=[]" + ofAll +
                                                  ")\n@triton.jit\ndef k(a, b, c, n, BLOCK: tl.constexpr): pass\n");
    REQUIRE(kernel.tune);
    return kernel.tune->problem.empty() ? names(kernel.tune->resetToZero, kernel) : kernel.tune->problem;
  };
  CHECK(zeroed("", "None") == "");
  CHECK(zeroed("", "lambda args: args['c'].zero_()") == "c");
  CHECK(zeroed("def init_to_zero(name):\n    return lambda nargs: nargs[name].zero_()", "init_to_zero('b')") == "b");
  CHECK(zeroed("def hook(nargs):\n    'zeroes'\n    if nargs['n'] > 1:\n        nargs['c'].zero_()\n    nargs['a'].zero_()", "hook") == "c a");
  CHECK(zeroed("", "None", ", pre_hook=lambda args, reset_only=False: [args['a'].zero_(), args['b'].zero_()]") == "a b");
  CHECK(zeroed("", "lambda args: print(args)") == "line 4: `pre_hook` is a hook in Python, which only Python can run");
  CHECK(zeroed("", "lambda args: args['unknown'].zero_()").find("only Python can run") != std::string::npos);
  CHECK(zeroed("", "None", ", post_hook=lambda args, exception: print(args)").find("`post_hook`") != std::string::npos);
}

TEST_CASE("heuristics become programs where they can") {
  runtime::KernelDescription kernel = described(R"(
def wide(args):
    return args["n"] > 100
TABLE = {"WIDE": wide, "HAS_B": lambda args: args["b"] is not None}
@triton.autotune(configs=[triton.Config({'BLOCK': 1})], key=[])
@triton.heuristics(TABLE)
@triton.heuristics(values={"EVEN": lambda args: args["n"] % args["BLOCK"] == 0, "KIND": lambda args: args["a"].dtype})
@triton.jit
def k(a, b, n, BLOCK: tl.constexpr, WIDE: tl.constexpr, HAS_B: tl.constexpr, EVEN: tl.constexpr, KIND: tl.constexpr): pass
)");
  CHECK(kernel.problem.empty());
  REQUIRE(kernel.heuristics.size() == 4);
  float memory = 0;
  Argument a(&memory), none, n(96), block(32);
  const Argument *arguments[] = {&a, &none, &n, &block};
  std::string text, error;
  for (const runtime::Heuristic &heuristic : kernel.heuristics) {
    std::optional<Argument> value = heuristic.program.empty() ? std::nullopt : heuristic.program.run(arguments, 4, error);
    text += fmt::format("{}={} ", kernel.parameters[heuristic.parameter].name, value ? runtime::describe(*value) : "");
  }
  CHECK(text == "WIDE=false HAS_B=false EVEN=true KIND= ");
  CHECK(described("@triton.heuristics({'WIDE': 3})\n@triton.jit\ndef k(a, WIDE: tl.constexpr): pass\n").problem == "line 3: `heuristics` needs a dict of functions by parameter, found 3");
  CHECK(described("@triton.heuristics({'WIDER': lambda args: 3})\n@triton.jit\ndef k(a, WIDE: tl.constexpr): pass\n").problem ==
        "line 3: `heuristics` names `WIDER`, which is no parameter of `k`; did you mean `WIDE`?");
}

namespace {
/// What pruning leaves for a = an array, n; or what is wrong.
std::string pruned(const std::string &text, const std::vector<Argument> &arguments) {
  ModuleText module("import triton\nimport triton.language as tl\n" + text, "a.py");
  const ast::Function &kernel = module.function("k");
  std::vector<const Argument *> pointers;
  for (const Argument &argument : arguments)
    pointers.push_back(&argument);
  std::optional<NamedArguments> named = namedArguments(module.scope, kernel, pointers.data(), pointers.size(), module.diagnostics);
  REQUIRE(named);
  std::optional<std::vector<unsigned>> kept = prune(module.scope, kernel, *named, module.diagnostics);
  std::string result;
  for (unsigned index : kept.value_or(std::vector<unsigned>()))
    result += fmt::format("{}{}", result.empty() ? "" : " ", index);
  return kept ? result : module.diagnostics.messages().at(0).text;
}
} // namespace

TEST_CASE("pruning") {
  float memory = 0;
  auto with = [&](const std::string &before, const std::string &pruning, int64_t n = 100) {
    return pruned(before + "\n@triton.autotune(configs=[triton.Config({'BLOCK': b}, num_warps=w) for b in (16, 32, 64) for w in (1, 2)], key=['n'], prune_configs_by=" + pruning +
                      ")\n@triton.jit\ndef k(a, n, BLOCK: tl.constexpr, WIDE: tl.constexpr = 7): pass\n",
                  {Argument(&memory), Argument(n)});
  };
  const std::string early = R"(
def early(configs, named_args, **kwargs):
    kept = []
    for config in configs:
        if config.kwargs['BLOCK'] <= named_args['n'] and config.num_warps == 2 and named_args["a"].element_size() == 4 and kwargs["WIDE"] == 7:
            kept.append(config)
    return kept
def model(n, BLOCK, num_warps, num_stages, **kwargs):
    return n / BLOCK + num_warps
def none(configs, named_args):
    return []
def others(configs, named_args):
    return [triton.Config({'BLOCK': 1})]
)";
  CHECK(with(early, "{'early_config_prune': early}") == "1 3 5");
  CHECK(with(early, "{'early_config_prune': early}", 40) == "1 3");
  CHECK(with(early, "{'perf_model': model, 'top_k': 2}") == "4 5");
  CHECK(with(early, "{'perf_model': model, 'top_k': 0.5}") == "4 5 2");
  CHECK(with(early, "{'early_config_prune': early, 'perf_model': model, 'top_k': 1}") == "5");
  CHECK(with(early, "{'perf_model': model}") == "0 1 2 3 4 5");
  CHECK(with(early, "{'early_config_prune': none}") == "`early_config_prune` leaves no configuration");
  CHECK(with(early, "{'early_config_prune': others}").find("which is none of the configurations") != std::string::npos);
  CHECK(with(early, "{'perf_model': lambda **kwargs: None, 'top_k': 1}") == "`perf_model` must give a number, found None");
  CHECK(with(early, "{'early_config_prune': lambda configs, named: named['a'].shape[0]}") == "the shape of `a` is not known at a launch; pass what is needed of it as a parameter");
  CHECK(with("", "{}") == "0 1 2 3 4 5");
}

TEST_CASE("what no program expresses is evaluated") {
  ModuleText module(R"(
def blocks(n, sizes=(8, 16)):
    total = 0
    for size in sizes:
        total += cdiv(n, size)
    return total
@tk.grid(lambda meta: (blocks(meta["n"]), 2))
@heuristics({"KIND": lambda args: args["a"].dtype, "NAME": lambda args: "x" * args["n"]})
@jit
def k(a, n, KIND: constexpr, NAME: constexpr): pass
)");
  const ast::Function &kernel = module.function("k");
  float memory = 0;
  Argument a(&memory), n(3);
  const Argument *arguments[] = {&a, &n};
  std::optional<NamedArguments> named = namedArguments(module.scope, kernel, arguments, 2, module.diagnostics);
  REQUIRE(named);
  auto text = [&](const std::string &which) {
    std::string result;
    std::optional<std::vector<runtime::StoredArgument>> values = evaluateDecorator(module.scope, kernel, which, *named, module.diagnostics);
    REQUIRE(values);
    for (const runtime::StoredArgument &value : *values)
      result += (result.empty() ? "" : ", ") + runtime::describe(value.get());
    return result;
  };
  CHECK(text("grid") == "2, 2");
  CHECK(text("KIND") == "the type fp32");
  CHECK(text("NAME") == "the string `xxx`");
}
