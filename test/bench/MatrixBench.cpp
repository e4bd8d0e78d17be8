// matmul against OpenBLAS and a C++ loop, on one core and on all; attention beside matmul.
//
// OpenBLAS picks its kernels by the processor's model and takes old ones for models it doesn't know; OPENBLAS_CORETYPE overrides that, but only before the library
// is loaded. So each core type gets a process of its own, which runs our kernel and the library's in turn: first a short look at all types, then the best one at
// length. Types whose instructions the processor lacks die of a signal and drop out. A process for one core is bound to it.
#include "test/bench/Benches.h"
#include "test/bench/ChildProcess.h"
#include "test/bench/Peers.h"
#include "runtime/device/cpu/ThreadPool.h"
#include "tk/tk.h"
#include <bit>
#include <cmath>
#include <cstdlib>
#include <dlfcn.h>
#include <fmt/format.h>
#include <random>
#include <sched.h>

namespace tk::bench {

static const char *const kCoreTypes[] = {"Haswell", "Zen", "SkylakeX", "Cooperlake", "Sapphirerapids", "Sandybridge", "Nehalem"};

using Sgemm = void(int order, int transA, int transB, int m, int n, int k, float alpha, const float *a, int lda, const float *b, int ldb, float beta, float *c, int ldc);

static bool bindToOneCore() {
  cpu_set_t allowed, one;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
    return false;
  CPU_ZERO(&one);
  for (int core = CPU_SETSIZE - 1; core >= 0; --core)
    if (CPU_ISSET(core, &allowed)) {
      CPU_SET(core, &one);
      break;
    }
  return sched_setaffinity(0, sizeof one, &one) == 0;
}

namespace {
/// n x n operands in fp32 for the peers and, if the kernel's type is another, the same values in that.
struct Operands {
  Array plainA, plainB, plainC, narrowA, narrowB, c;
  const Array &a() const { return narrowA.size() ? narrowA : plainA; }
  const Array &b() const { return narrowB.size() ? narrowB : plainB; }
};
} // namespace

static Operands makeOperands(int n, bool isBf16) {
  Operands o;
  o.plainA = Array(DType::F32, {n, n}), o.plainB = Array(DType::F32, {n, n}), o.plainC = Array(DType::F32, {n, n});
  o.c = Array(DType::F32, {n, n});
  if (isBf16)
    o.narrowA = Array(DType::BF16, {n, n}), o.narrowB = Array(DType::BF16, {n, n});
  std::minstd_rand generator(7);
  std::uniform_real_distribution<float> distribution(-1, 1);
  const auto fill = [&](const Array &plain, const Array &typed) {
    for (int64_t i = 0; i < plain.size(); ++i) {
      const uint32_t bits = std::bit_cast<uint32_t>(distribution(generator));
      plain.as<float>()[i] = std::bit_cast<float>(isBf16 ? bits & 0xffff0000u : bits);
      if (isBf16)
        typed.as<uint16_t>()[i] = static_cast<uint16_t>(bits >> 16);
    }
  };
  fill(o.plainA, o.narrowA), fill(o.plainB, o.narrowB);
  return o;
}

static std::function<void()> ourProduct(const Operands &o, int n) {
  const Kernel kernel = Module::fromFile(TKC_SOURCE_DIR "/samples/matmul.tk").kernel("matmul");
  const int64_t blockM = 64, blockN = 64, tiles = ((n + blockM - 1) / blockM) * ((n + blockN - 1) / blockN);
  return [=, &o] {
    kernel.launch({}, grid(tiles), o.a(), o.b(), o.c, n, n, n, n, 1, n, 1, n, 1, meta("BLOCK_M", blockM), meta("BLOCK_N", blockN), meta("BLOCK_K", 128), meta("GROUP_M", 8));
  };
}

/// Some elements by hand, so that nothing wrong is measured.
static bool isProduct(const Operands &o, const Array &c, int n) {
  for (int i = 0; i < 16; ++i) {
    const int row = (i * 37 + 3) % n, column = (i * 101 + 5) % n;
    double expected = 0;
    for (int k = 0; k < n; ++k)
      expected += static_cast<double>(o.plainA.as<float>()[row * n + k]) * o.plainB.as<float>()[k * n + column];
    if (std::fabs(c.as<float>()[row * n + column] - expected) > 1e-3)
      return false;
  }
  return true;
}

int matrixChild(const std::string &dtype, int n, bool oneCore, int rounds) {
  if (oneCore && !bindToOneCore())
    return 1;
  void *handle = dlopen("libopenblas.so.0", RTLD_NOW);
  auto *sgemm = handle ? reinterpret_cast<Sgemm *>(dlsym(handle, "cblas_sgemm")) : nullptr;
  auto *corename = handle ? reinterpret_cast<char *(*)()>(dlsym(handle, "openblas_get_corename")) : nullptr;
  if (!sgemm || !corename)
    return 1;
  const Operands o = makeOperands(n, dtype == "bf16");
  const Medians times = measure(ourProduct(o, n), [&] { sgemm(101, 111, 111, n, n, n, 1.0f, o.plainA.as<float>(), n, o.plainB.as<float>(), n, 0.0f, o.plainC.as<float>(), n); },
                                {.rounds = unsigned(rounds), .settle = true});
  if (!isProduct(o, o.c, n) || !isProduct(o, o.plainC, n))
    return 1;
  fmt::print("{:.9f} {:.9f} {:.6f} {}\n", times.ours, times.peer, times.ratio, corename());
  return 0;
}

/// Both sides in a child process with OpenBLAS as `coreType`; nothing when that can't run here.
static Medians inChild(const std::string &self, const std::string &coreType, const std::string &dtype, int n, bool oneCore, int rounds, std::string &name) {
  const std::string threads = oneCore ? "1" : std::to_string(runtime::availableCores());
  const Finished done = runProgram({self, "--matrix-child", dtype, std::to_string(n), oneCore ? "1" : "0", std::to_string(rounds)},
                                   {"OPENBLAS_CORETYPE=" + coreType, "OPENBLAS_NUM_THREADS=" + threads}, false);
  Medians times;
  char core[64] = "";
  if (done.status != 0 || std::sscanf(done.output.c_str(), "%lf %lf %lf %63s", &times.ours, &times.peer, &times.ratio, core) != 4)
    return {};
  name = core;
  return times;
}

static void addProductRow(std::vector<Row> &rows, const std::string &self, const std::string &dtype, int n, bool oneCore, double wanted) {
  std::string best, name;
  double least = 0;
  for (const char *type : kCoreTypes)
    if (const Medians times = inChild(self, type, dtype, n, oneCore, 4, name); times.peer > 0 && (least == 0 || times.peer < least))
      least = times.peer, best = type;
  const Medians times = inChild(self, best, dtype, n, oneCore, 20, name);
  const double gigaflops = 2.0 * n * n * n * 1e-9;
  const std::string threads = oneCore ? "one core" : fmt::format("{} threads", runtime::availableCores());
  rows.push_back({fmt::format("matmul {} {}", dtype, n), "GF/s", fmt::format("{}; OpenBLAS {} as {}", threads, dtype == "bf16" ? "sgemm of the same values" : "sgemm", best.empty() ? "none" : name),
                  times.ours > 0 ? gigaflops / times.ours : 0, times.peer > 0 ? gigaflops / times.peer : 0, times.ratio, wanted});
}

/// The same against a loop in C++.
static void addLoopRow(std::vector<Row> &rows, runtime::ThreadPool &pool, const std::string &dtype, int n) {
  const Operands o = makeOperands(n, dtype == "bf16");
  const auto loop = [&](unsigned thread) {
    const int64_t begin = int64_t(n) * thread / pool.size(), end = int64_t(n) * (thread + 1) / pool.size();
    if (dtype == "bf16")
      matmulRows(o.narrowA.as<Bf16>(), o.narrowB.as<Bf16>(), o.plainC.as<float>(), n, begin, end);
    else
      matmulRows(o.plainA.as<float>(), o.plainB.as<float>(), o.plainC.as<float>(), n, begin, end);
  };
  const Medians times = measure(ourProduct(o, n), [&] { pool.run(pool.size(), loop); });
  if (!isProduct(o, o.c, n) || !isProduct(o, o.plainC, n))
    throw Error(ErrorKind::Internal, "matmul: a result is wrong");
  const double gigaflops = 2.0 * n * n * n * 1e-9;
  rows.push_back({fmt::format("matmul {} {}", dtype, n), "GF/s", fmt::format("{} threads; C++ loop", pool.size()), gigaflops / times.ours, gigaflops / times.peer, times.ratio, 0});
}

/// attention(1 x 8 x 1024 x 64) and matmul in turn: the FLOP/s of two products and a softmax beside those of one product.
static void addAttentionRow(std::vector<Row> &rows, DType type, const char *name, bool causal) {
  const int64_t heads = 8, length = 1024, depth = 64, block = 64;
  const Kernel kernel = Module::fromFile(TKC_SOURCE_DIR "/samples/attention.tk").kernel("attention");
  const auto make = [&](unsigned seed) {
    Array result(type, {1, heads, length, depth});
    std::minstd_rand generator(seed);
    std::uniform_real_distribution<float> distribution(-1, 1);
    for (int64_t i = 0; i < result.size(); ++i)
      if (type == DType::F32)
        result.as<float>()[i] = distribution(generator);
      else
        result.as<_Float16>()[i] = static_cast<_Float16>(distribution(generator));
    return result;
  };
  const Array q = make(1), k = make(2), v = make(3), out(type, {1, heads, length, depth});
  const Operands o = makeOperands(1024, false);
  const Medians times = measure(
      [&] {
        kernel.launch({}, grid(length / block, heads), q, k, v, out, 0.125f, heads * length * depth, length * depth, depth, heads, length, meta("D", depth), meta("BLOCK_M", block),
                      meta("BLOCK_N", block), meta("CAUSAL", causal));
      },
      ourProduct(o, 1024));
  // Of the causal one only what is not masked is counted.
  const double pairs = causal ? 0.5 * double(length) * double(length + 1) : double(length) * double(length), gigaflops = 4.0 * double(heads * depth) * pairs * 1e-9, other = 2.0 * 1024 * 1024 * 1024 * 1e-9;
  const double ours = gigaflops / times.ours, peer = other / times.peer;
  rows.push_back({fmt::format("attention {} 1x8x1024x64{}", name, causal ? " causal" : ""), "GF/s", fmt::format("{} threads; our matmul fp32 1024", runtime::availableCores()), ours, peer, ours / peer, 0});
}

void benchMatrix(std::vector<Row> &rows, const std::string &self) {
  addProductRow(rows, self, "fp32", 512, true, 0.5);
  addProductRow(rows, self, "fp32", 1024, true, 0.5);
  addProductRow(rows, self, "fp32", 1024, false, 0.75);
  addProductRow(rows, self, "bf16", 1024, false, 0);
  runtime::ThreadPool pool;
  addLoopRow(rows, pool, "fp32", 1024);
  addLoopRow(rows, pool, "bf16", 1024);
  addAttentionRow(rows, DType::F32, "fp32", false);
  addAttentionRow(rows, DType::F32, "fp32", true);
  addAttentionRow(rows, DType::F16, "fp16", false);
}

} // namespace tk::bench
