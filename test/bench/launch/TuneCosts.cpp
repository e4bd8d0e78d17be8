// A tuning of samples/matmul.tk with eight configurations on the host: from its start until the last one is compiled, with two threads and with one, in turn;
// and what a later kernel takes to read the choice from the file.
#include "runtime/device/cpu/ThreadPool.h"
#include "test/bench/Table.h"
#include "test/bench/launch/Costs.h"
#include "test/bench/launch/TemporaryFolder.h"
#include "tk/tk.h"
#include <algorithm>
#include <atomic>
#include <fmt/format.h>

namespace tk::bench {

namespace {
constexpr size_t configurations = 8;

struct Tuned {
  double compiling = 0, all = 0; // seconds until the last compilation has ended, and until the choice is made, opening the file included
  TuneReport report;
};

/// A kernel without code, tuned; there is no disk cache. `again`: what `results` says is not used.
Tuned tune(const std::string &file, const std::string &results, unsigned threads, bool again) {
  TuneOptions options;
  options.file = results, options.compileThreads = threads, options.progress = false, options.again = again;
  setTuneOptions(options);
  Tuning tuning;
  for (int64_t m : {32, 64})
    for (int64_t n : {32, 64})
      for (int64_t k : {32, 64})
        tuning.configs.push_back({{"BLOCK_M", m}, {"BLOCK_N", n}, {"BLOCK_K", k}, {"GROUP_M", 4}});
  tuning.key = {"M"}, tuning.warmupMs = 0.1, tuning.repMs = 0.1;
  constexpr int64_t size = 64;
  Array a(DType::F32, {size, size}), b(DType::F32, {size, size}), c(DType::F32, {size, size});
  std::atomic<double> last{0};
  Hooks hooks;
  hooks.afterCompile = [&](const CompileReport &) { last = seconds(); };
  const Hooks before = setHooks(hooks);
  const double opened = seconds();
  Kernel kernel = Module::fromFile(file).kernel("matmul");
  kernel.tune(tuning);
  const double start = seconds();
  TuneReport report = kernel.tuned({}, autoGrid(), a, b, c, size, size, size, size, 1, size, 1, size, 1);
  const double end = seconds();
  setHooks(before);
  if (const size_t expected = again ? configurations : 0; kernel.compiledCount() != expected)
    throw Error(ErrorKind::Internal, fmt::format("{} configurations were compiled, not {}", kernel.compiledCount(), expected));
  return {last - start, end - opened, std::move(report)};
}
} // namespace

void tuneCosts(const CostOptions &options, std::vector<Cost> &costs) {
  const unsigned threads = std::min(runtime::availableCores(), 2u), rounds = std::clamp(options.rounds / 40, 1u, 10u);
  const std::string file = options.samples + "/matmul.tk";
  TemporaryFolder folder;
  const std::string results = folder.path + "/tuned.txt";
  std::vector<double> together, alone, later;
  for (unsigned round = 0; round <= rounds; ++round) {
    const Tuned two = tune(file, results, threads, true), one = tune(file, results, 1, true), next = tune(file, results, threads, false);
    if (!next.report.fromFile)
      throw Error(ErrorKind::Internal, "a later kernel does not find its choice in the file");
    if (round > 0) // the first one warms up
      together.push_back(two.compiling), alone.push_back(one.compiling), later.push_back(next.all);
  }
  costs.push_back({fmt::format("tuning, host: compiling {} configurations on {} threads, beside 1", configurations, threads), median(together), median(alone),
                   threads == 2 ? 0.65 : 0});
  costs.push_back({"tuning, host: opening a kernel and reading its choice from the file", median(later)});
}

} // namespace tk::bench
