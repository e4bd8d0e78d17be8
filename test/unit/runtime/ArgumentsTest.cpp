// NAME=VALUE: taken apart as text, and worked out together with examples and defaults.
#include "tools/tkc/ArgumentResolver.h"
#include "tools/tkc/CommandLine.h"
#include "tools/tkc/Failure.h"
#include "tools/tkc/Targets.h"
#include "tools/tkc/ValueText.h"
#include "Catch.h"
#include "runtime/device/cuda/CudaDevice.h"
#include <filesystem>
#include <unistd.h>

using namespace tk;
using namespace tk::tool;

namespace {
const char *program = R"(
def relu(x):
    return x

@tk.grid(cdiv(n, BLOCK))
@tk.example(x=randn(fp32, 1000), out=zeros(x.dtype, x.shape), n=x.numel(), BLOCK=256)
@tk.example(x=ones(fp16, [4, 8]), out=zeros(fp32, [4, 8]), n=32, BLOCK=16, grid=(n, 2))
def k(x, out, n, scale=0.5, BLOCK: constexpr = 64, ACTIVATION: constexpr = None):
    store(out, load(x))
)";

/// One kernel with its arguments worked out.
struct Resolved {
  std::unique_ptr<jit::Program> file = jit::Program::fromText(program, "k.tk");
  const lang::ast::Function &kernel = file->kernel("k");
  lang::Diagnostics diagnostics;
  lang::KernelDecorators decorators = lang::decoratorsOf(file->scope(), kernel, diagnostics);
  ArgumentResolver resolver;

  Resolved(std::vector<std::pair<std::string, std::string>> given, int example = 0)
      : resolver(*file, kernel, given, example < 0 ? nullptr : decorators.examples.at(static_cast<size_t>(example))) {}
};

std::string described(std::vector<std::pair<std::string, std::string>> given, int example = 0) {
  Resolved run(std::move(given), example);
  run.resolver.resolve();
  return run.resolver.describe();
}

template <typename Call> std::string failure(Call call, Status status = Status::Usage) {
  try {
    call();
  } catch (const Failure &failure) {
    CHECK(failure.status() == status);
    return failure.what();
  }
  return "nothing failed";
}
std::string failureOf(std::vector<std::pair<std::string, std::string>> given, int example = 0, Status status = Status::Usage) {
  return failure([&] { described(given, example); }, status);
}
bool contains(const std::string &text, const std::string &part) { return text.find(part) != std::string::npos; }
} // namespace

TEST_CASE("values as text", "[arguments]") {
  auto parse = [](const char *text) { return parseValueText("x", text); };
  CHECK(parse("3").form == ValueText::Expression);
  CHECK(parse("1:i64").type == DType::I64);
  CHECK(parse("1:i64").text == "1");
  CHECK(parse("x[1:, ::2]").form == ValueText::Expression);
  CHECK(parse("'a:fp32'").text == "'a:fp32'");
  CHECK(parse("@a/b.npy").text == "a/b.npy");
  CHECK(parse("@c:x.npy:bf16").text == "c:x.npy");
  CHECK(parse("@c:x.npy:bf16").type == DType::BF16);
  ValueText init = parse("randn(seed=3):fp16[M, x.shape[0]]");
  CHECK(init.form == ValueText::Initialised);
  CHECK(init.text == "randn(seed=3)");
  CHECK(init.shape == "[M, x.shape[0]]");
  CHECK(init.type == DType::F16);
  CHECK(contains(failure([&] { parse(""); }), "has no value"));
  CHECK(contains(failure([&] { parse("@"); }), "needs a file name"));
  CHECK(contains(failure([&] { parse("1:i46"); }), "unknown dtype `i46`"));
  CHECK(contains(failure([&] { parse("zeros:fp23[3]"); }), "did you mean `fp32`?"));
  CHECK(contains(failure([&] { parse("zeros:fp32[3"); }), "expected `]`"));
  CHECK(contains(failure([&] { parse(":fp32[3]"); }), "expected a value before"));
  std::string name, value;
  CHECK((splitArgument("a=b=c", name, value) && name == "a" && value == "b=c"));
  CHECK_FALSE(splitArgument("=3", name, value));
  CHECK_FALSE(splitArgument("abc", name, value));
}

TEST_CASE("examples, defaults and given values", "[arguments]") {
  CHECK(described({}) == "x=fp32[1000] out=fp32[1000] n=1000 scale=0.5 BLOCK=256 ACTIVATION=None");
  CHECK(described({}, 1) == "x=fp16[4,8] out=fp32[4,8] n=32 scale=0.5 BLOCK=16 ACTIVATION=None");
  CHECK(described({{"x", "zeros:bf16[10,BLOCK]"}, {"BLOCK", "8*2"}}) == "x=bf16[10,16] out=bf16[10,16] n=160 scale=0.5 BLOCK=16 ACTIVATION=None");
  CHECK(described({{"n", "3:i64"}, {"scale", "2:fp64"}}) == "x=fp32[1000] out=fp32[1000] n=3:i64 scale=2:fp64 BLOCK=256 ACTIVATION=None");
  CHECK(described({{"x", "full(2):i8[2**3]"}, {"out", "x"}, {"n", "x.shape[0] + out.stride(0)"}}, -1) == "x=i8[8] out=i8[8] n=9 scale=0.5 BLOCK=64 ACTIVATION=None");
  CHECK(described({{"ACTIVATION", "fast"}, {"scale", "inf"}}) == "x=fp32[1000] out=fp32[1000] n=1000 scale=inf BLOCK=256 ACTIVATION='fast'");
  CHECK(contains(described({{"ACTIVATION", "relu"}}), "relu"));
  CHECK(contains(described({{"ACTIVATION", "bf16"}}), "ACTIVATION=bf16"));
  CHECK(contains(described({{"ACTIVATION", "(1, true, none)"}}), "ACTIVATION=(1, True, None)"));
  Resolved aliased(std::vector<std::pair<std::string, std::string>>{{"out", "x"}});
  aliased.resolver.resolve();
  CHECK(aliased.resolver.arrays().size() == 1);
}

TEST_CASE("arguments that can't be worked out", "[arguments]") {
  CHECK(failureOf({{"N", "3"}}) == "`k` has no parameter `N`; did you mean `n`?");
  CHECK(contains(failureOf({{"zzzzz", "3"}}), "it has x, out, n, scale, BLOCK, ACTIVATION"));
  CHECK(failureOf({{"n", "3"}, {"n", "4"}}) == "argument `n` is given twice");
  CHECK(contains(failureOf({}, -1), "parameter `x` of `k` has no value"));
  CHECK(failureOf({{"n", "BLOCK"}, {"BLOCK", "n + 1"}}) == "arguments depend on each other: `n` needs `BLOCK` needs `n`");
  CHECK(contains(failureOf({{"n", "n"}}), "`n` needs `n`"));
  CHECK(contains(failureOf({{"n", "x.shape[7]"}}), "argument `n`:1:"));
  CHECK(contains(failureOf({{"n", "3 +"}}), "argument `n`:1:"));
  CHECK(contains(failureOf({{"n", "1 // 0"}}), "argument `n`:1:"));
  CHECK(contains(failureOf({{"n", "300:i8"}}), "300 is out of range of i8"));
  CHECK(contains(failureOf({{"n", "-1:u32"}}), "out of range of u32"));
  CHECK(contains(failureOf({{"n", "'a':i32"}}), "types a number"));
  CHECK(contains(failureOf({{"x", "zeros"}}), "needs a dtype and a shape"));
  CHECK(contains(failureOf({{"x", "zeros:fp32"}}), "needs a dtype and a shape"));
  CHECK(contains(failureOf({{"x", "3:fp32[4]"}}), "no initialiser"));
  CHECK(contains(failureOf({{"x", "zeros:fp32[-4]"}}), "at least 0"));
  CHECK(contains(failureOf({{"x", "zeros:fp32[0.5]"}}), "must be an integer"));
  CHECK(contains(failureOf({{"x", "randint(5,5):i32[4]"}}), "lo < hi"));
  CHECK(contains(failureOf({{"x", "@/nonexistent.npy"}}), "No such file"));
  CHECK(contains(failureOf({{"ACTIVATION", "relo"}}), "relu"));
  CHECK(contains(failureOf({{"out", "x[1:]"}}), "views of arrays are not supported yet"));
  CHECK(contains(failureOf({{"out", "[x, x]"}}), "pointer tables are not supported yet"));
  CHECK(contains(failureOf({{"out", "desc(x, [128, 64])"}}), "descriptors are not supported yet"));
}

TEST_CASE("grids", "[arguments]") {
  auto gridOf = [](std::string text, int example = 0) {
    Resolved run({}, example);
    return run.resolver.grid(text, run.decorators);
  };
  using Grid = std::array<int64_t, 3>;
  CHECK(gridOf("") == Grid{4, 1, 1});
  CHECK(gridOf("", 1) == Grid{32, 2, 1});
  CHECK(gridOf("n, 2, BLOCK // 2") == Grid{1000, 2, 128});
  CHECK(gridOf("(3,)") == Grid{3, 1, 1});
  CHECK(gridOf("lambda meta: (cdiv(n, meta['BLOCK']), 5)") == Grid{4, 5, 1});
  CHECK(contains(failure([&] { gridOf("1, 2, 3, 4"); }), "one to three extents, found 4"));
  CHECK(contains(failure([&] { gridOf("-1"); }), "must be an integer from 0"));
  CHECK(contains(failure([&] { gridOf("0.5"); }), "found 0.5"));
}

TEST_CASE("specs of resolved arguments", "[arguments]") {
  Resolved run({{"n", "1"}, {"scale", "1:fp64"}});
  std::vector<lang::ParamSpec> specs = specsOf(*run.file, run.kernel, run.decorators, run.resolver.resolve());
  std::vector<std::string> texts;
  for (const lang::ParamSpec &spec : specs)
    texts.push_back(lang::describe(spec));
  CHECK(texts == std::vector<std::string>{"*fp32:16", "*fp32:16", "=1", "fp64", "=256", "=None"});
}

TEST_CASE("arrays from files", "[arguments]") {
  std::string path = (std::filesystem::temp_directory_path() / ("tk-arguments-" + std::to_string(getpid()) + ".npy")).string();
  Array saved(DType::BF16, {3, 5});
  saved.set(7, 2.5);
  saved.save(path);
  Resolved run({{"x", "@" + path + ":bf16"}});
  run.resolver.resolve();
  CHECK(contains(run.resolver.describe(), "x=bf16[3,5] out=bf16[3,5] n=15"));
  for (const auto &array : run.resolver.arrays())
    array->allocate(nullptr);
  CHECK(run.resolver.arrays()[0]->array.get(7) == 2.5);
  CHECK(contains(failureOf({{"x", "@" + path}}), "name their type"));
  std::filesystem::remove(path);
}

TEST_CASE("flags", "[arguments]") {
  std::string target;
  bool json = false, help = false;
  Verb verb = {"run", "run FILE", "runs", "", {{"--target", "T", "where", [&](const std::string &value) { target = value; }}, {"--json", "", "json", [&](const std::string &) { json = true; }}}};
  CHECK(parseFlags(verb, {"a", "--target", "cpu", "b=-3", "--json"}, help) == std::vector<std::string>{"a", "b=-3"});
  CHECK(target == "cpu");
  CHECK(json);
}

TEST_CASE("flags that are wrong", "[arguments]") {
  bool help = false;
  Verb verb = {"run", "run FILE", "runs", "", {{"--target", "T", "where", [](const std::string &) {}}, {"--json", "", "json", [](const std::string &) {}}}};
  auto parse = [&](std::vector<std::string> arguments) { return failure([&] { parseFlags(verb, arguments, help); }); };
  CHECK(parse({"--tarjet", "cpu"}) == "unknown option `--tarjet`; did you mean `--target`?");
  CHECK(contains(parse({"--target"}), "needs a value"));
  CHECK(contains(parse({"--json=1"}), "takes no value"));
  CHECK(parseFlags(verb, {"--", "--json"}, help) == std::vector<std::string>{"--json"});
  parseFlags(verb, {"x", "--help", "--nonsense"}, help);
  CHECK(help);
  CHECK(contains(helpText(verb), "--target T"));
  CHECK(numberOf("--n", "12", 1, 20) == 12);
  CHECK(contains(failure([&] { numberOf("--n", "21", 1, 20); }), "from 1 to 20"));
  CHECK(contains(failure([&] { numberOf("--n", "1x", 1, 20); }), "found `1x`"));
}

TEST_CASE("targets", "[arguments]") {
  CHECK_FALSE(isGpuTarget("cpu"));
  CHECK_FALSE(isGpuTarget("x86-64-v4"));
  CHECK(isGpuTarget("sm_90a"));
  CHECK(isGpuTarget("cuda"));
  CHECK(compileTarget("sm_120a") == "sm_120a");
  CHECK(contains(failure([] { isGpuTarget("gfx942"); }, Status::Device), "`gfx942` is not available"));
  CHECK(contains(failure([] { isGpuTarget("sm_90x"); }), "did you mean `sm_90a`?"));
  CHECK(contains(failure([] { isGpuTarget("cpu,sm_80"); }), "several targets"));
  CHECK(choosePlace("cpu", false).device == nullptr);
  CHECK(contains(failure([] { choosePlace("cpu", true); }), "`--emulate` needs the GPU"));
  CHECK(contains(failure([] { choosePlace("", true); }), "`--emulate` needs the GPU"));
  CHECK(contains(failure([] { choosePlace("cuda", true); }), "`--emulate` needs the GPU"));
  std::string why;
  if (runtime::cudaDevices(&why).empty()) {
    CHECK(choosePlace("", false).target == "cpu");
    for (const char *target : {"cuda", "sm_75", "sm_90a"}) {
      std::string text = failure([&] { choosePlace(target, false); }, Status::Device);
      CHECK(contains(text, why));
      CHECK(contains(text, "add `--emulate`"));
    }
    CHECK(contains(failure([] { compileTarget("cuda"); }, Status::Device), "name one"));
  }
}
