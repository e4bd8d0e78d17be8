// Launches on the host: how often they compile, what they accept, who is told.
#include "Catch.h"
#include "test/unit/runtime/Thrown.h"
#include "tk/tk.h"
#include <atomic>
#include <set>
#include <thread>

using namespace tk;

namespace {
constexpr const char *source = R"(
def helper(v):
    return v * 2

@tk.grid(cdiv(n, BLOCK))
def scale(x, out, n, a, BLOCK: constexpr = 64):
    i = program_id(0) * BLOCK + arange(0, BLOCK)
    store(out + i, load(x + i, mask=i < n) * a, mask=i < n)

@triton.jit
def count(out, n):
    store(out, load(out) + n)

@triton.jit
def pair(t, n, BLOCK: constexpr):
    i = arange(0, BLOCK)
    store(t[1] + i, load(t[0] + i, mask=i < n) + t[2], mask=i < n)

@triton.jit
def doubt(x):
    device_assert(load(x) > 0, "must be positive")

@triton.jit
def constants(out, n, A: constexpr, B: constexpr, C: constexpr):
    store(out, A)
    store(out + 1, B)
    store(out + 2, C)
    store(out + 3, n)
)";

Kernel kernelOf(const std::string &name) { return Module::fromSource(source, "kernels.tk").kernel(name); }

std::vector<float> counting(size_t count) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i)
    values[i] = static_cast<float>(i);
  return values;
}
} // namespace

TEST_CASE("a length that changes with every launch is compiled at most four times") {
  Kernel kernel = kernelOf("scale");
  alignas(64) static float x[1008], out[1008];
  for (int i = 0; i < 1000; ++i)
    x[i] = static_cast<float>(i);
  for (int n = 1; n <= 1000; ++n) {
    out[n - 1] = -1;
    kernel.launch({}, grid(cdiv(n, 64)), x, out, n, 3.0);
    REQUIRE(out[n - 1] == 3.0f * x[n - 1]);
  }
  CHECK(kernel.compiledCount() == 3); // 1, multiples of 16, the others
}

TEST_CASE("threads that launch first together compile once") {
  Kernel kernel = kernelOf("scale");
  std::atomic<int> ready{0};
  std::vector<std::thread> threads;
  std::atomic<int> right{0};
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&] {
      std::vector<float> x = counting(500), out(500);
      ++ready;
      while (ready < 8) {
      }
      kernel.launch({}, grid(8), x.data(), out.data(), 500, 2.0);
      right += out[499] == 998;
    });
  for (std::thread &thread : threads)
    thread.join();
  CHECK(right == 8);
  CHECK(kernel.compiledCount() == 1);
}

TEST_CASE("threads that wait for a kernel that does not compile all get its error, and the next launch tries again") {
  Kernel kernel = Module::fromSource("def wrong(x, n):\n    store(x, n + undefined_name)\n", "wrong.tk").kernel("wrong");
  std::atomic<int> failures{0};
  std::vector<std::thread> threads;
  float x = 0;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&] { failures += contains(thrown(ErrorKind::User, [&] { kernel.launch({}, grid(1), &x, 5); }), "undefined_name"); });
  for (std::thread &thread : threads)
    thread.join();
  CHECK(failures == 8);
  CHECK(contains(thrown([&] { kernel.launch({}, grid(1), &x, 5); }), "wrong.tk:2"));
  CHECK(kernel.compiledCount() == 0);
}

TEST_CASE("the grid as numbers, as a function of the values, and as the kernel says") {
  Kernel kernel = kernelOf("scale");
  std::vector<float> x = counting(300), out(300);
  auto launched = [&](const Grid &grid, auto... more) {
    std::fill(out.begin(), out.end(), -1.0f);
    kernel.launch({}, grid, x.data(), out.data(), 300, 2.0, more...);
    int written = 0;
    for (float value : out)
      written += value != -1.0f;
    return written;
  };
  CHECK(launched({2}) == 128);
  CHECK(launched(grid(0)) == 0);
  CHECK(launched([&](const Meta &meta) { return grid(cdiv(meta["n"], meta["BLOCK"])); }) == 300);
  CHECK(launched(autoGrid()) == 300);
  CHECK(launched(autoGrid(), meta("BLOCK", 32)) == 300);
  CHECK(launched([](const Meta &meta) { return grid(meta["BLOCK"] / 32); }, meta("BLOCK", 32)) == 32);
  CHECK(contains(thrown([&] { launched([](const Meta &meta) { return grid(meta["BLOK"]); }); }), "no parameter `BLOK`"));
  CHECK(contains(thrown([&] { launched([](const Meta &meta) { return grid(meta["x"]); }); }), "a pointer to fp32, not an integer"));
  int64_t sum = 0;
  CHECK(contains(thrown([&] { kernelOf("count").launch({}, autoGrid(), &sum, 1); }), "`count` has no @tk.grid"));
}

TEST_CASE("each combination of constants has code of its own") {
  Kernel kernel = kernelOf("constants");
  const int64_t values[] = {0, 1, -1, int64_t(1) << 40};
  int64_t out[4] = {}, n = 0;
  for (int round = 0; round < 2; ++round)
    for (int64_t a : values)
      for (int64_t b : values)
        for (int64_t c : values) {
          n += 32;
          kernel.launch({}, grid(1), out, n, a, b, c);
          REQUIRE((out[0] == a && out[1] == b && out[2] == c && out[3] == n));
        }
  CHECK(kernel.compiledCount() == 64);
}

TEST_CASE("a policy that specializes less makes fewer variants") {
  int64_t sum = 0;
  auto compiled = [&](Kernel::Specialization policy) {
    Kernel kernel = kernelOf("count");
    kernel.specialize(policy);
    sum = 0;
    for (int n : {1, 2, 16, 17})
      kernel.launch({}, grid(1), &sum, n);
    CHECK(sum == 36);
    return kernel.compiledCount();
  };
  CHECK(compiled(Kernel::Specialization::Full) == 3);
  CHECK(compiled(Kernel::Specialization::Divisibility) == 2);
  CHECK(compiled(Kernel::Specialization::None) == 1);
  Kernel kernel = kernelOf("count");
  CHECK(contains(thrown([&] { kernel.specialize("m", Kernel::Specialization::None); }), "no parameter `m`; it has out, n"));
}

TEST_CASE("a change of the policy counts from the next launch on") {
  Kernel kernel = kernelOf("count");
  int64_t sum = 0;
  auto compiled = [&](int64_t n) {
    kernel.launch({}, grid(1), &sum, n);
    return kernel.compiledCount();
  };
  kernel.specialize(Kernel::Specialization::None);
  CHECK(compiled(1) == 1);
  CHECK(compiled(3) == 1);
  kernel.specialize(Kernel::Specialization::Full);
  CHECK(compiled(3) <= 2);
  const size_t before = kernel.compiledCount();
  CHECK(compiled(1) == before + 1); // which is folded now
  CHECK(compiled(1) == before + 1);
  kernel.specialize(Kernel::Specialization::None);
  CHECK(compiled(1) == before + 1);
  CHECK(sum == 10);
}

TEST_CASE("tuples, nested ones too, reach the code element by element") {
  Kernel kernel = kernelOf("pair");
  std::vector<float> x = counting(20), out(20);
  kernel.launch({}, grid(1), tuple(x.data(), out.data(), 5), 20, meta("BLOCK", 32));
  CHECK(out[19] == 24);
  kernel.launch({}, grid(1), tuple(x.data(), out.data(), 7), 20, meta("BLOCK", 32));
  CHECK(out[19] == 26);
  CHECK(kernel.compiledCount() == 1);
}

TEST_CASE("a launcher skips the key, and refuses what its code was not made for") {
  Kernel kernel = kernelOf("scale");
  alignas(64) static float x[64], other[65], out[64];
  for (int i = 0; i < 64; ++i)
    x[i] = static_cast<float>(i), other[i + 1] = static_cast<float>(100 + i);
  Launcher launcher = kernel.launcher({}, x, out, 64, 2.0);
  launcher.launch(grid(1));
  CHECK(out[63] == 126);
  launcher.set("a", 3.0);
  launcher.set("n", 32);
  std::fill(out, out + 64, 0.0f);
  launcher.launch({1});
  CHECK(out[31] == 93);
  CHECK(out[32] == 0);
  CHECK(contains(thrown([&] { launcher.set("n", 33); }), "parameter `n`: 33 is another specialization"));
  CHECK(contains(thrown([&] { launcher.set("x", other + 1); }), "another specialization"));
  CHECK(contains(thrown([&] { launcher.set("BLOCK", 64); }), "compile-time"));
  CHECK(contains(thrown([&] { launcher.set("BLOK", 64); }), "no parameter `BLOK`"));
  CHECK(contains(thrown([&] { launcher.set(size_t(9), 64); }), "there is no number 9"));
  CHECK(contains(thrown([&] { launcher.launch(autoGrid()); }), "as numbers"));
  Launcher moved = std::move(launcher);
  moved.set(0, static_cast<float *>(out));
  moved.launch(grid(1));
  CHECK(out[31] == 279);
  CHECK(kernel.compiledCount() == 1);
}

TEST_CASE("a stream of the host works in order, beside its caller") {
  Kernel kernel = kernelOf("count");
  Stream stream = Device().newStream(), another = Device().newStream();
  int64_t sum = 0, sums = 0;
  for (int n = 2; n < 200; ++n) {
    kernel.launch(stream, grid(1), &sum, n);
    kernel.launch(another, grid(1), &sums, n);
  }
  stream.synchronize();
  CHECK(sum == 199 * 200 / 2 - 1);
  another.synchronize();
  CHECK(sums == sum);
  // What goes wrong comes to light when it is waited for, once.
  Kernel doubt = kernelOf("doubt");
  float bad = -1;
  doubt.launch(stream, grid(1), &bad); // without debug=True no code
  stream.synchronize();
  doubt.launch(stream, grid(1), &bad, meta("debug", true));
  CHECK(contains(thrown(ErrorKind::User, [&] { stream.synchronize(); }), "kernels.tk:21: must be positive"));
  CHECK(thrown([&] { stream.synchronize(); }).empty());
  DeviceArray array(Device(), DType::I64, {1});
  kernel.launch(stream, grid(1), array, 7);
  CHECK(array.toHost(stream).getInteger(0) == 7);
}

TEST_CASE("hooks are told of compilations and launches") {
  std::vector<std::string> told;
  Hooks hooks;
  hooks.beforeCompile = [&](const CompileReport &report) {
    told.push_back("compile " + report.kernel + " for " + report.device + ": " + report.specialization);
  };
  hooks.afterCompile = [&](const CompileReport &report) {
    told.push_back(report.failure.empty() ? "compiled" : "failed");
    CHECK((report.codeBytes > 0 || !report.failure.empty()));
  };
  hooks.beforeLaunch = [&](const LaunchReport &report) { told.push_back(std::string("launch ") + report.kernel + " " + std::to_string(report.grid.x)); };
  setHooks(hooks);
  alignas(64) float x[64] = {}, out[64] = {};
  Kernel kernel = kernelOf("scale");
  kernel.launch({}, grid(1), x, out, 64, 1.5);
  kernel.launch({}, autoGrid(), x, out, 64, 1.5);
  CHECK_FALSE(thrown([&] { kernelOf("pair").launch({}, grid(1), 3, 5, meta("BLOCK", 32)); }).empty());
  setHooks({});
  kernel.launch({}, grid(1), x, out, 64, 1.5);
  CHECK(told == std::vector<std::string>{"compile scale for CPU: *fp32:16, *fp32:16, i32:16, fp32, BLOCK=64", "compiled", "launch scale 1", "launch scale 1",
                                         "compile pair for CPU: i32, i32, BLOCK=32", "failed"});
}

TEST_CASE("launch options of GPUs are taken everywhere, and wrong ones are refused") {
  Kernel kernel = kernelOf("count");
  int64_t sum = 0;
  kernel.launch({}, grid(1), &sum, 5, meta("num_warps", 8), meta("num_stages", 2), meta("maxnreg", 64), meta("launch_cooperative_grid", true),
                meta("launch_pdl", true), meta("num_ctas", 1));
  CHECK(sum == 5);
  CHECK(contains(thrown([&] { kernel.launch({}, grid(1), &sum, 5, meta("maxnreg", 8)); }), "`maxnreg` must lie between 16 and 255, found 8"));
  CHECK(contains(thrown([&] { kernel.launch({}, grid(1), &sum, 5, meta("num_ctas", 2)); }), "`num_ctas` must be 1, found 2"));
}

TEST_CASE("heuristics, grids and prunings that need the file's own functions") {
  Kernel kernel = Module::fromSource(R"(
import triton
import triton.language as tl

def width(n):
    w = 16
    while w < n:
        w = w * 2
    return w

def fitting(configs, named_args, **kwargs):
    return [c for c in configs if c.kwargs['STEP'] > 1]

@triton.autotune(configs=[triton.Config({'STEP': 1}), triton.Config({'STEP': 3})], key=['n'], prune_configs_by={'early_config_prune': fitting})
@triton.heuristics({'WIDTH': lambda args: width(args['n'])})
@triton.jit
def fill(out, n, STEP: tl.constexpr, WIDTH: tl.constexpr):
    i = tl.arange(0, WIDTH)
    tl.store(out + i, STEP * 1000 + WIDTH, mask=i < n)
)",
                                     "fill.py")
                      .kernel("fill");
  Array array(DType::I32, {100});
  kernel.launch({}, grid(1), array, 100);
  CHECK(array.getInteger(99) == 3128);
  kernel.launch({}, grid(1), array, 20);
  CHECK((array.getInteger(19) == 3032 && array.getInteger(20) == 3128));
}
