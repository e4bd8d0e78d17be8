// vector_add, softmax and layer_norm: memory-bound work on all threads, buffers warm, the same arrays for both sides.
#include "runtime/device/cpu/ThreadPool.h"
#include "test/bench/Benches.h"
#include "test/bench/Peers.h"
#include "tk/tk.h"
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <random>

namespace tk::bench {

static Array randomArray(std::vector<int64_t> shape, unsigned seed) {
  Array result(DType::F32, std::move(shape));
  std::minstd_rand generator(seed);
  std::uniform_real_distribution<float> distribution(-3, 3);
  for (int64_t i = 0; i < result.size(); ++i)
    result.as<float>()[i] = distribution(generator);
  return result;
}

/// Both results are the same up to rounding, or the measurement means nothing.
static void checkClose(const char *what, const Array &ours, const Array &peer, float absolute) {
  for (int64_t i = 0; i < ours.size(); ++i)
    if (!(std::fabs(ours.as<float>()[i] - peer.as<float>()[i]) <= 1e-5f * std::fabs(peer.as<float>()[i]) + absolute))
      throw Error(ErrorKind::Internal, fmt::format("{}: element {} is {}, the peer has {}", what, i, ours.as<float>()[i], peer.as<float>()[i]));
}

static void overThreads(runtime::ThreadPool &pool, int64_t count, const std::function<void(int64_t, int64_t)> &body) {
  const int64_t threads = pool.size();
  pool.run(threads, [&](unsigned i) { body(count * i / threads, count * (i + 1) / threads); });
}

void benchElementwise(std::vector<Row> &rows) {
  runtime::ThreadPool pool;
  const Kernel add = Module::fromFile(TKC_SOURCE_DIR "/samples/vector_add.tk").kernel("vector_add");
  const int64_t n = int64_t(1) << 26;
  {
    const Array x = randomArray({n}, 1), y = randomArray({n}, 2), out(DType::F32, {n}), expected(DType::F32, {n});
    for (int64_t block : {1024, 16384}) {
      const Medians times = measure([&] { add.launch({}, grid((n + block - 1) / block), x, y, out, n, meta("BLOCK", block)); },
                                    [&] { overThreads(pool, n, [&](int64_t begin, int64_t end) { addLoop(x.as<float>(), y.as<float>(), expected.as<float>(), begin, end); }); });
      checkClose("vector_add", out, expected, 1e-7f);
      const double gigabytes = 3.0 * n * sizeof(float) * 1e-9;
      rows.push_back({fmt::format("vector_add 2^26 BLOCK={}", block), "GB/s", fmt::format("{} threads", pool.size()), gigabytes / times.ours, gigabytes / times.peer, times.ratio, 0.97});
    }
  }
  const Kernel softmax = Module::fromFile(TKC_SOURCE_DIR "/samples/softmax.tk").kernel("softmax");
  for (int64_t columns : {1000, 1023}) {
    const int64_t count = 4096;
    const Array x = randomArray({count, columns}, 3), out(DType::F32, {count, columns}), expected(DType::F32, {count, columns});
    const Medians times = measure([&] { softmax.launch({}, grid(count), out, x, columns, columns, columns, meta("BLOCK", 1024)); },
                                  [&] { overThreads(pool, count, [&](int64_t begin, int64_t end) { softmaxRows(x.as<float>(), expected.as<float>(), columns, begin, end); }); });
    checkClose("softmax", out, expected, 1e-7f);
    const double gigabytes = 2.0 * count * columns * sizeof(float) * 1e-9;
    rows.push_back({fmt::format("softmax 4096x{}", columns), "GB/s", fmt::format("{} threads", pool.size()), gigabytes / times.ours, gigabytes / times.peer, times.ratio, 1.2});
  }
  const Kernel norm = Module::fromFile(TKC_SOURCE_DIR "/samples/layer_norm.tk").kernel("layer_norm");
  {
    const int64_t count = 4096, columns = 1024;
    const Array x = randomArray({count, columns}, 4), weight = randomArray({columns}, 5), bias = randomArray({columns}, 6), out(DType::F32, {count, columns}), expected(DType::F32, {count, columns});
    const Medians times = measure([&] { norm.launch({}, grid(count), x, out, weight, bias, columns, columns, 1e-5f, meta("BLOCK", 1024)); }, [&] {
      overThreads(pool, count, [&](int64_t begin, int64_t end) { layerNormRows(x.as<float>(), weight.as<float>(), bias.as<float>(), expected.as<float>(), columns, 1e-5f, begin, end); });
    });
    checkClose("layer_norm", out, expected, 1e-5f);
    const double gigabytes = 2.0 * count * columns * sizeof(float) * 1e-9;
    rows.push_back({"layer_norm 4096x1024", "GB/s", fmt::format("{} threads", pool.size()), gigabytes / times.ours, gigabytes / times.peer, times.ratio, 1.2});
    // What memory allows: nobody can be faster than this.
    const Medians bound = measure([&] { norm.launch({}, grid(count), x, out, weight, bias, columns, columns, 1e-5f, meta("BLOCK", 1024)); }, [&] {
      overThreads(pool, count, [&](int64_t begin, int64_t end) { std::memcpy(expected.as<float>() + begin * columns, x.as<float>() + begin * columns, (end - begin) * columns * sizeof(float)); });
    });
    rows.push_back({"layer_norm 4096x1024", "GB/s", fmt::format("{} threads; copying the same bytes", pool.size()), gigabytes / bound.ours, gigabytes / bound.peer, bound.ratio, 0});
  }
}

} // namespace tk::bench
