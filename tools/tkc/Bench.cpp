// tkc bench: how long kernels take, on one target or several, as a table.
#include "tools/tkc/Execution.h"
#include "tools/tkc/Failure.h"
#include "tools/tkc/KernelChoice.h"
#include "tools/tkc/Report.h"
#include "tools/tkc/Targets.h"
#include "tools/tkc/TuneSession.h"
#include "tools/tkc/ValueText.h"
#include "tools/tkc/Verbs.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <charconv>
#include <cstdio>
#include <fmt/format.h>

namespace tk::tool {

namespace {
struct BenchOptions {
  std::string file, kernel, grid;
  std::vector<std::string> targets;
  std::vector<std::pair<std::string, std::string>> arguments;
  compiler::Options compile;
  BenchmarkOptions benchmark;
  bool json = false, help = false;
  int64_t example = 0, threads = 0;
};

/// One kernel with one set of arguments on one target.
struct BenchRow {
  std::string kernel, target, place, arguments;
  std::array<int64_t, 3> grid = {1, 1, 1};
  uint64_t bytes = 0;
  BenchmarkResult time;
};

double millisecondsOf(const char *flag, const std::string &text) {
  double value = -1;
  auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size() || !(value >= 0 && value <= 1e9))
    throw Failure(Status::Usage, fmt::format("option `{}` needs milliseconds, from 0 to 1e9, found `{}`", flag, text));
  return value;
}

std::vector<std::string> listOf(const std::string &flag, const std::string &text) {
  std::vector<std::string> list;
  for (size_t begin = 0; begin <= text.size();) {
    size_t end = std::min(text.find(',', begin), text.size());
    if (end == begin)
      throw Failure(Status::Usage, fmt::format("option `{}` needs names separated by commas, found `{}`", flag, text));
    list.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return list;
}

Verb verbOf(BenchOptions &options) {
  return {
      "bench",
      "bench FILE[:KERNEL] [NAME=VALUE ...] [options]",
      "measures how long a kernel takes",
      "Arguments are those of `tkc run`; without any every @tk.example is measured. The time is the device's on a GPU, the wall clock's on the host; before "
      "each "
      "run the\n"
      "device's last-level cache is overwritten, which is not part of the time. GB/s counts every array that is read, and every one that is written, once.\n",
      {
          {"--target", "TARGETS", "one or several, separated by commas: cpu, cuda, sm_90a ...; default: the GPU found here, else cpu",
           [&](const std::string &value) { options.targets = listOf("--target", value); }},
          {"--example", "N", "the Nth @tk.example alone", [&](const std::string &value) { options.example = numberOf("--example", value, 1, 1000000); }},
          {"--grid", "EXPRS", "one to three extents, as in 'cdiv(n,BLOCK)', instead of @tk.grid", [&](const std::string &value) { options.grid = value; }},
          {"--warmup", "MS", "milliseconds to run before measuring; default 25",
           [&](const std::string &value) { options.benchmark.warmupMs = millisecondsOf("--warmup", value); }},
          {"--rep", "MS", "milliseconds to measure; default 100", [&](const std::string &value) { options.benchmark.repMs = millisecondsOf("--rep", value); }},
          {"--runs", "N", "how many runs to measure, instead of --rep",
           [&](const std::string &value) { options.benchmark.repetitions = static_cast<unsigned>(numberOf("--runs", value, 1, 100000000)); }},
          {"--no-flush", "", "leave the cache as the run before left it", [&](const std::string &) { options.benchmark.flushCache = false; }},
          {"--graph", "", "on a GPU: record the launch and replay it, without the host's share", [&](const std::string &) { options.benchmark.graph = true; }},
          {"--json", "", "print one JSON object", [&](const std::string &) { options.json = true; }},
          {"--threads", "N", "threads of the CPU device; default: the cores that this process may use",
           [&](const std::string &value) { options.threads = numberOf("--threads", value, 1, 4096); }},
          {"--fp-fusion", "", "allow fused multiply-add", [&](const std::string &) { options.compile.fpFusion = true; }},
          {"--debug", "", "compile device_assert and overflow checks", [&](const std::string &) { options.compile.debug = true; }},
          {"--num-warps", "N", "warps of a program on a GPU: 1, 2, 4 ... 32", [&](const std::string &text) { options.compile.numWarps = warpsOf(text); }},
          {"--num-stages", "N", "rounds of a loop that a GPU has under way at once: 1 ... 16",
           [&](const std::string &text) { options.compile.numStages = stagesOf(text); }},
      }};
}

BenchOptions parse(const std::vector<std::string> &arguments) {
  BenchOptions options;
  Verb verb = verbOf(options);
  std::vector<std::string> left = parseFlags(verb, arguments, options.help);
  if (options.help) {
    std::fputs(helpText(verb).c_str(), stdout);
    return options;
  }
  if (left.empty())
    throw Failure(Status::Usage, "no file given: `tkc bench FILE[:KERNEL] [NAME=VALUE ...]`");
  options.file = left[0];
  options.kernel = kernelOf(options.file);
  for (size_t i = 1; i < left.size(); ++i) {
    std::string name, value;
    if (!splitArgument(left[i], name, value))
      throw Failure(Status::Usage, fmt::format("expected NAME=VALUE, found `{}`", left[i]));
    options.arguments.emplace_back(name, value);
  }
  if (options.targets.empty())
    options.targets.emplace_back();
  return options;
}

BenchRow measure(const BenchOptions &options, const jit::Program &program, const lang::ast::Function &kernel, const lang::KernelDecorators &decorators,
                 const lang::ast::Call *example, const Place &place, Execution &execution) {
  ArgumentResolver resolver(program, kernel, withConfiguration(program, kernel, decorators, place, options.arguments, example, options.grid), example);
  const std::vector<ResolvedArgument> &arguments = resolver.resolve();
  compiler::Options compile = withLaunchOptions(options.compile, resolver.launchOptions());
  compile.target = place.target;
  BenchRow row{kernel.name, place.target, execution.place(), resolver.describe(), resolver.grid(options.grid, decorators), 0, {}};
  compiler::Compiler compiler;
  std::unique_ptr<Executable> executable =
      execution.load(compileKernel(compiler, program, kernel.name, specsOf(program, kernel, decorators, arguments), compile));
  for (const auto &array : resolver.arrays())
    array->allocate(&execution.pool());
  HostArrays arrays{arguments, [](const ArrayArgument &array) { return array.array.data(); }};
  Snapshot before(executable->abi().slots, arguments);
  row.time = executable->measure(arrays, row.grid, before, options.benchmark);
  row.bytes = bytesMoved(executable->abi().slots, arguments);
  return row;
}

double rateOf(const BenchRow &row) { return static_cast<double>(row.bytes) / row.time.median; }

/// A block of lines for each kernel and set of arguments, a line for each target.
std::string tableOf(const std::vector<BenchRow> &rows) {
  size_t target = 6, place = 5;
  for (const BenchRow &row : rows)
    target = std::max(target, row.target.size()), place = std::max(place, row.place.size());
  std::string text;
  for (size_t i = 0; i < rows.size(); ++i) {
    const BenchRow &row = rows[i];
    if (!i || row.kernel != rows[i - 1].kernel || row.arguments != rows[i - 1].arguments) {
      text += fmt::format("{}: {}, grid {}\n", row.kernel, row.arguments, gridText(row.grid));
      text +=
          fmt::format("  {:<{}}  {:<{}}  {:>11}  {:>11}  {:>11}  {:>10}  {:>7}\n", "target", target, "place", place, "min", "median", "p95", "GB/s", "runs");
    }
    text += fmt::format("  {:<{}}  {:<{}}  {:>11}  {:>11}  {:>11}  {:>10}  {:>7}\n", row.target, target, row.place, place, durationText(row.time.minimum),
                        durationText(row.time.median), durationText(row.time.p95), row.bytes ? fmt::format("{:.3f}", rateOf(row) * 1e-9) : "-", row.time.runs);
  }
  return text;
}

std::string jsonOf(const std::vector<BenchRow> &rows) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::json::OStream json(stream, 2);
  json.object([&] {
    json.attributeArray("benchmarks", [&] {
      for (const BenchRow &row : rows)
        json.object([&] {
          json.attribute("kernel", row.kernel);
          json.attribute("arguments", llvm::json::fixUTF8(row.arguments));
          json.attributeArray("grid", [&] {
            for (int64_t extent : row.grid)
              json.value(extent);
          });
          json.attribute("target", row.target);
          json.attribute("place", row.place);
          json.attributeObject("seconds", [&] {
            json.attribute("min", row.time.minimum);
            json.attribute("median", row.time.median);
            json.attribute("p95", row.time.p95);
            json.attribute("mean", row.time.mean);
            json.attribute("runs", row.time.runs);
          });
          json.attribute("bytes", static_cast<int64_t>(row.bytes));
          json.attribute("bytes_per_second", rateOf(row));
        });
    });
  });
  return text + "\n";
}
} // namespace

int benchVerb(const std::vector<std::string> &arguments) {
  BenchOptions options = parse(arguments);
  if (options.help)
    return 0;
  std::vector<Place> places;
  std::vector<std::unique_ptr<Execution>> executions;
  for (const std::string &target : options.targets) {
    places.push_back(choosePlace(target, false));
    executions.push_back(places.back().device ? makeGpuExecution(places.back().device, printer(options.json))
                                              : makeCpuExecution(static_cast<unsigned>(options.threads), options.compile.debug, printer(options.json)));
  }
  std::unique_ptr<jit::Program> program = jit::Program::fromFile(options.file);
  std::fputs(program->remarks().c_str(), stderr);
  std::vector<BenchRow> rows;
  const bool nothingGiven = options.arguments.empty() && options.grid.empty() && !options.example;
  for (const lang::ast::Function *kernel : kernelsToRun(*program, options.kernel, nothingGiven)) {
    lang::Diagnostics diagnostics;
    lang::KernelDecorators decorators = lang::decoratorsOf(program->scope(), *kernel, diagnostics);
    if (diagnostics.hasErrors())
      throw Failure(Status::Diagnostics, diagnostics.render());
    for (const lang::ast::Call *example : examplesToRun(*kernel, decorators, options.example, !options.arguments.empty()))
      for (size_t i = 0; i < places.size(); ++i)
        rows.push_back(measure(options, *program, *kernel, decorators, example, places[i], *executions[i]));
  }
  std::fputs(options.json ? jsonOf(rows).c_str() : tableOf(rows).c_str(), stdout);
  return 0;
}

} // namespace tk::tool
