// matmul fp32 on one core against OpenBLAS.
//
// OpenBLAS picks its kernels by the processor's model and takes old ones for models it doesn't know; OPENBLAS_CORETYPE overrides that, but only before the library
// is loaded. So each core type is measured in a process of its own, and the best one is the peer. Each process is bound to one core; types whose instructions the
// processor lacks die of a signal and drop out.
#include "test/bench/Benches.h"
#include "test/bench/ChildProcess.h"
#include "tk/tk.h"
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

int matrixChild(const std::string &library, int n) {
  if (!bindToOneCore())
    return 1;
  Array a(DType::F32, {n, n}), b(DType::F32, {n, n}), c(DType::F32, {n, n});
  std::minstd_rand generator(7);
  std::uniform_real_distribution<float> distribution(-1, 1);
  for (int64_t i = 0; i < a.size(); ++i)
    a.as<float>()[i] = distribution(generator), b.as<float>()[i] = distribution(generator);

  std::function<void()> product;
  std::string detail = "-";
  if (library == "openblas") {
    void *handle = dlopen("libopenblas.so.0", RTLD_NOW);
    auto *sgemm = handle ? reinterpret_cast<Sgemm *>(dlsym(handle, "cblas_sgemm")) : nullptr;
    if (!sgemm)
      return 1;
    if (auto *corename = reinterpret_cast<char *(*)()>(dlsym(handle, "openblas_get_corename")))
      detail = corename();
    product = [=, &a, &b, &c] { sgemm(101, 111, 111, n, n, n, 1.0f, a.as<float>(), n, b.as<float>(), n, 0.0f, c.as<float>(), n); };
  } else {
    const Kernel kernel = Module::fromFile(TKC_SOURCE_DIR "/samples/matmul.tk").kernel("matmul");
    const int64_t blockM = 64, blockN = 64, tiles = ((n + blockM - 1) / blockM) * ((n + blockN - 1) / blockN);
    product = [=, &a, &b, &c] {
      kernel.launch({}, grid(tiles), a, b, c, n, n, n, n, 1, n, 1, n, 1, meta("BLOCK_M", blockM), meta("BLOCK_N", blockN), meta("BLOCK_K", 128), meta("GROUP_M", 8));
    };
  }
  std::vector<double> times;
  for (int i = 0; i < 23; ++i) {
    const double start = seconds();
    product();
    if (i >= 3)
      times.push_back(seconds() - start);
  }
  // One element by hand, so that nothing wrong is measured.
  double expected = 0;
  for (int k = 0; k < n; ++k)
    expected += static_cast<double>(a.as<float>()[3 * n + k]) * b.as<float>()[k * n + 5];
  if (std::fabs(c.as<float>()[3 * n + 5] - expected) > 1e-3)
    return 1;
  fmt::print("{:.9f} {}\n", median(times), detail);
  return 0;
}

static double childSeconds(const std::string &self, const std::string &library, int n, const std::vector<std::string> &environment, std::string &detail) {
  const Finished done = runProgram({self, "--matrix-child", library, std::to_string(n)}, environment, library == "tkc");
  if (done.status != 0)
    return 0;
  detail = done.output.substr(done.output.find(' ') + 1);
  detail.erase(detail.find_last_not_of('\n') + 1);
  return std::strtod(done.output.c_str(), nullptr);
}

void benchMatrix(std::vector<Row> &rows, const std::string &self) {
  for (int n : {512, 1024}) {
    std::string best = "none", ignored;
    double peer = 0;
    for (const char *type : kCoreTypes) {
      std::string name;
      const double time = childSeconds(self, "openblas", n, {std::string("OPENBLAS_CORETYPE=") + type, "OPENBLAS_NUM_THREADS=1"}, name);
      if (time > 0 && (peer == 0 || time < peer))
        peer = time, best = name;
    }
    const double ours = childSeconds(self, "tkc", n, {}, ignored);
    const double gigaflops = 2.0 * n * n * n * 1e-9;
    // Measured once more beside ours, so that both saw the same machine.
    const double again = childSeconds(self, "openblas", n, {"OPENBLAS_CORETYPE=" + best, "OPENBLAS_NUM_THREADS=1"}, ignored);
    if (again > 0 && again < peer)
      peer = again;
    rows.push_back({fmt::format("matmul fp32 {}", n), "GF/s", fmt::format("one core; OpenBLAS as {}", best), ours > 0 ? gigaflops / ours : 0, peer > 0 ? gigaflops / peer : 0,
                    ours > 0 ? peer / ours : 0, 0.5});
  }
}

} // namespace tk::bench
