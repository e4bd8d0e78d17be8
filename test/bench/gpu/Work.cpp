// See Work.h.
#include "test/bench/gpu/Work.h"
#include "test/bench/Table.h"
#include "test/bench/gpu/Values.h"
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>

namespace tk::bench {

static const char *const fillSource = R"(
def fill(out, n, seed, BLOCK: constexpr):
    i = program_id(0) * BLOCK + arange(0, BLOCK)
    low = 4294967295
    h = (i.to(int64) * 2654435769 + seed * 2246822507) & low
    h = ((h ^ (h >> 16)) * 2146121005) & low
    h = ((h ^ (h >> 15)) * 2221713035) & low
    h = h ^ (h >> 16)
    total = (h & 255) + ((h >> 8) & 255) + ((h >> 16) & 255) + (h >> 24)
    store(out + i, (total - 510).to(fp32) / 128.0, mask=i < n)
)";

static std::string sampleOf(const Settings &work) { return work.text("kind"); }

Work::Work(const GpuRow &row, Device device, const std::string &samples, const Repeats &repeats)
    : row(row), device(device), stream(device.newStream()), kernel(Module::fromFile(samples + "/" + sampleOf(row.work) + ".tk").kernel(sampleOf(row.work))),
      repeats(repeats) {
  const Settings &work = this->row.work;
  if (!parseDType(work.text("dtype"), dtype))
    throw Error(ErrorKind::User, fmt::format("`{}` is no element type", work.text("dtype")));
  const std::string kind = work.text("kind");
  const auto number = [&](const char *name) { return work.number(name); };
  for (unsigned i = 0; i < repeats.sets; ++i) {
    std::vector<Buffer> set;
    if (kind == "vector_add") {
      addBuffer(set, dtype, {number("n")}, 1), addBuffer(set, dtype, {number("n")}, 2), addBuffer(set, dtype, {number("n")}, 0);
    } else if (kind == "softmax") {
      addBuffer(set, dtype, {number("rows"), number("cols")}, 0), addBuffer(set, dtype, {number("rows"), number("cols")}, 1);
    } else if (kind == "layer_norm") {
      addBuffer(set, dtype, {number("rows"), number("cols")}, 1), addBuffer(set, dtype, {number("rows"), number("cols")}, 0);
      addBuffer(set, dtype, {number("cols")}, 2), addBuffer(set, dtype, {number("cols")}, 3);
    } else if (kind == "matmul") {
      addBuffer(set, dtype, {number("M"), number("K")}, 1), addBuffer(set, dtype, {number("K"), number("N")}, 2),
          addBuffer(set, dtype, {number("M"), number("N")}, 0);
    } else if (kind == "attention") {
      for (uint32_t seed : {1, 2, 3, 0})
        addBuffer(set, dtype, {number("batch"), number("heads"), number("length"), number("D")}, seed);
    } else {
      throw Error(ErrorKind::User, fmt::format("`{}` is no kind of work", kind));
    }
    sets.push_back(std::move(set));
  }
  stream.synchronize();
}

void Work::addBuffer(std::vector<Buffer> &set, DType type, std::vector<int64_t> shape, uint32_t seed) {
  static const Kernel fill = Module::fromSource(fillSource, "fill").kernel("fill");
  Buffer buffer{DeviceArray(device, type, std::move(shape)), seed};
  constexpr int64_t block = 1024;
  const int64_t n = buffer.array.size();
  if (seed)
    fill.launch(stream, tk::grid((n + block - 1) / block), buffer.array, n, i64(seed), meta("BLOCK", block));
  set.push_back(std::move(buffer));
}

static int64_t nextPower(int64_t value) {
  int64_t power = 1;
  while (power < value)
    power *= 2;
  return power;
}

std::vector<Argument> Work::arguments(const std::vector<Buffer> &set) const {
  const Settings &work = row.work;
  std::vector<Argument> list;
  for (const Buffer &buffer : set)
    list.emplace_back(buffer.array);
  const auto add = [&](auto... values) { (list.emplace_back(values), ...); };
  const auto number = [&](const char *name) { return work.number(name); };
  const std::string kind = work.text("kind");
  if (kind == "vector_add")
    add(number("n"));
  else if (kind == "softmax")
    add(number("cols"), number("cols"), number("cols"), meta("BLOCK", nextPower(number("cols"))));
  else if (kind == "layer_norm")
    add(number("cols"), number("cols"), 1e-5, meta("BLOCK", nextPower(number("cols"))));
  else if (kind == "matmul")
    add(number("M"), number("N"), number("K"), number("K"), int64_t(1), number("N"), int64_t(1), number("N"), int64_t(1), meta("GROUP_M", 8));
  else
    add(1 / std::sqrt(static_cast<double>(number("D"))), number("heads") * number("length") * number("D"), number("length") * number("D"), number("D"),
        number("heads"), number("length"), meta("D", number("D")), meta("CAUSAL", number("causal") != 0));
  for (const auto &[name, value] : config.pairs())
    list.push_back(meta(name.c_str(), config.number(name)));
  return list;
}

Grid Work::grid() const {
  const auto blocks = [&](const char *extent, const char *block) { return (row.work.number(extent) + config.number(block) - 1) / config.number(block); };
  const std::string kind = row.work.text("kind");
  if (kind == "vector_add")
    return tk::grid(blocks("n", "BLOCK"));
  if (kind == "matmul")
    return tk::grid(blocks("M", "BLOCK_M") * blocks("N", "BLOCK_N"));
  if (kind == "attention")
    return tk::grid(blocks("length", "BLOCK_M"), row.work.number("batch") * row.work.number("heads"));
  return tk::grid(row.work.number("rows"));
}

void Work::prepare(const Settings &newConfig) {
  config = newConfig;
  graph.reset();
  std::vector<std::vector<Argument>> lists;
  for (const std::vector<Buffer> &set : sets)
    lists.push_back(arguments(set));
  kernel.prepareList(stream, lists[0].data(), lists[0].size());
  use = kernel.resourcesList(stream, lists[0].data(), lists[0].size());
  graph = device.implementation()->capture(stream.handle(), [&] {
    for (unsigned i = 0; i < repeats.launches; ++i)
      kernel.launchList(stream, grid(), lists[i % lists.size()].data(), lists[i % lists.size()].size());
  });
}

double Work::time(unsigned replays) {
  runtime::GpuDevice &gpu = *device.implementation();
  std::vector<double> times;
  graph->launch(stream.handle());
  stream.synchronize();
  for (unsigned i = 0; i < replays; ++i) {
    if (!device.isEmulated())
      graph->launch(stream.handle()); // the device is still busy with this when what is timed arrives: no time of the host's is measured
    times.push_back(gpu.measure(stream.handle(), [&] { graph->launch(stream.handle()); }) / repeats.launches);
  }
  return median(times);
}

double Work::value(uint32_t seed, int64_t index) const {
  const double exact = valueAt(seed, static_cast<uint64_t>(index));
  if (dtype == DType::F32)
    return exact;
  Array one(dtype, {1});
  one.set(0, exact);
  return one.get(0);
}

/// Some of 0 .. count - 1, the first and the last among them.
static std::vector<int64_t> someOf(int64_t count, int64_t wanted) {
  std::vector<int64_t> result;
  for (int64_t i = 0; i < std::min(count, wanted); ++i)
    result.push_back(wanted >= count   ? i
                     : i + 1 == wanted ? count - 1
                     : i == 0          ? 0
                                       : static_cast<int64_t>(static_cast<uint64_t>(i) * 0x9E3779B97F4A7C15u % static_cast<uint64_t>(count)));
  return result;
}

std::vector<Work::Sample> Work::samples() const {
  const Settings &work = row.work;
  const std::string kind = work.text("kind");
  std::vector<Sample> result;
  const auto number = [&](const char *name) { return work.number(name); };
  if (kind == "vector_add") {
    for (int64_t i : someOf(number("n"), 4096))
      result.push_back({i, value(1, i) + value(2, i)});
  } else if (kind == "softmax" || kind == "layer_norm") {
    const int64_t cols = number("cols");
    for (int64_t r : someOf(number("rows"), 8)) {
      std::vector<double> x;
      for (int64_t c = 0; c < cols; ++c)
        x.push_back(value(1, r * cols + c));
      double largest = *std::max_element(x.begin(), x.end()), sum = 0, squares = 0;
      for (double &one : x)
        one = kind == "softmax" ? std::exp(one - largest) : one, sum += one;
      for (double one : x)
        squares += (one - sum / cols) * (one - sum / cols);
      for (int64_t c = 0; c < cols; ++c)
        result.push_back({r * cols + c, kind == "softmax" ? x[c] / sum : (x[c] - sum / cols) / std::sqrt(squares / cols + 1e-5) * value(2, c) + value(3, c)});
    }
  } else if (kind == "matmul") {
    const int64_t M = number("M"), N = number("N"), K = number("K");
    for (int64_t m : someOf(M, 16))
      for (int64_t n : someOf(N, 32)) {
        double sum = 0;
        for (int64_t k = 0; k < K; ++k)
          sum += value(1, m * K + k) * value(2, k * N + n);
        result.push_back({m * N + n, sum});
      }
  } else {
    const int64_t S = number("length"), D = number("D"), heads = number("batch") * number("heads");
    for (int64_t i : someOf(heads * S, 12)) {
      const int64_t first = i / S * S; // the head's row 0
      const int64_t end = number("causal") ? i - first + 1 : S;
      std::vector<double> q, weights, sums(static_cast<size_t>(D));
      for (int64_t d = 0; d < D; ++d)
        q.push_back(value(1, i * D + d));
      for (int64_t s = 0; s < end; ++s) {
        double score = 0;
        for (int64_t d = 0; d < D; ++d)
          score += q[static_cast<size_t>(d)] * value(2, (first + s) * D + d);
        weights.push_back(score / std::sqrt(static_cast<double>(D)));
      }
      double largest = *std::max_element(weights.begin(), weights.end()), total = 0;
      for (int64_t s = 0; s < end; ++s) {
        const double weight = std::exp(weights[static_cast<size_t>(s)] - largest);
        total += weight;
        for (int64_t d = 0; d < D; ++d)
          sums[static_cast<size_t>(d)] += weight * value(3, (first + s) * D + d);
      }
      for (int64_t d = 0; d < D; ++d)
        result.push_back({i * D + d, sums[static_cast<size_t>(d)] / total});
    }
  }
  return result;
}

double Work::error() {
  const std::vector<Buffer> &set = sets.back();
  const Buffer &out = *std::find_if(set.begin(), set.end(), [](const Buffer &buffer) { return buffer.seed == 0; });
  runtime::GpuDevice &gpu = *device.implementation();
  const uint64_t address = reinterpret_cast<uint64_t>(out.array.data());
  gpu.fill(address, 0xFF, out.array.bytes(), stream.handle()); // NaN
  const std::vector<Argument> list = arguments(set);
  kernel.launchList(stream, grid(), list.data(), list.size());
  stream.synchronize();
  double errors = 0, references = 0;
  // Consecutive samples come in one copy.
  const std::vector<Sample> wanted = samples();
  const size_t bytes = tk::bytesOf(dtype);
  for (size_t begin = 0, end; begin < wanted.size(); begin = end) {
    for (end = begin + 1; end < wanted.size() && wanted[end].index == wanted[end - 1].index + 1;)
      ++end;
    Array some(dtype, {static_cast<int64_t>(end - begin)});
    gpu.copyOut(some.data(), address + static_cast<uint64_t>(wanted[begin].index) * bytes, some.bytes(), stream.handle());
    for (size_t i = begin; i < end; ++i) {
      const double reference = wanted[i].reference, difference = some.get(static_cast<int64_t>(i - begin)) - reference;
      errors += difference * difference, references += reference * reference;
    }
  }
  return std::sqrt(errors / references);
}

} // namespace tk::bench
