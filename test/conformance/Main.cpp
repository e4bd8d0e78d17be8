// tk-conformance: runs the cases, prints each failure and a summary `N passed, N failed`. Every pair of a case and an execution counts as one.
#include "runtime/Environment.h"
#include "test/conformance/Areas.h"
#include "test/conformance/Coverage.h"
#include "test/conformance/Execute.h"
#include "test/conformance/GpuRunner.h"
#include "test/conformance/SelfTest.h"
#include "test/conformance/Worker.h"
#include <algorithm>
#include <cstdio>
#include <fmt/format.h>
#include <fstream>
#include <sstream>

using namespace tk::conformance;

namespace {
struct Options {
  std::vector<std::string> filters;
  std::string json, coverageFile = TKC_SOURCE_DIR "/test/conformance/COVERAGE.md";
  bool list = false, coverage = false, slow = false, help = false;
  unsigned warps = 0;
  RunOptions run;
};

constexpr const char *kHelp = "usage: tk-conformance [options]\n\n"
                              "  --filter TEXT    only cases whose id contains TEXT (may be repeated; any of them)\n"
                              "  --target NAME    only this execution: interpreter, cpu, x86-64-v3, x86-64-v4, compile; cuda: the GPU of this\n"
                              "                   machine; sm_75 sm_80 sm_86 sm_89 sm_90a sm_100a sm_120a: an emulated one; ptxas:sm_90a and\n"
                              "                   the like: only whether NVIDIA's assembler takes the code. Without it the\n"
                              "                   interpreter and the CPU targets, the coverage and the self-test\n"
                              "  --warps N        on GPUs, warps of a program in the cases that don't say: 1, 2, 4 ... 32\n"
                              "  --jobs N         child processes at a time (default 1)\n"
                              "  --list           print the ids and end\n"
                              "  --json FILE      write all results to FILE\n"
                              "  --coverage       print COVERAGE.md and end\n"
                              "  --slow           print the ten slowest cases\n"
                              "  --timeout N      seconds that a case may take (default 60)\n"
                              "  --no-fork        run in this process, for debuggers\n";

bool isExecution(const std::string &name) {
  constexpr std::string_view ofHost[] = {"interpreter", "cpu", "x86-64-v3", "x86-64-v4", "compile"};
  return GpuRunner::isGpu(name) || Executor::isAssembly(name) || std::find(std::begin(ofHost), std::end(ofHost), name) != std::end(ofHost);
}

bool parse(int count, char **arguments, Options &options) {
  for (int i = 1; i < count; ++i) {
    std::string flag = arguments[i];
    auto next = [&]() -> std::string { return i + 1 < count ? arguments[++i] : ""; };
    if (flag == "--filter")
      options.filters.push_back(next());
    else if (flag == "--target")
      options.run.only = next();
    else if (flag == "--json")
      options.json = next();
    else if (flag == "--jobs")
      options.run.jobs = static_cast<unsigned>(std::clamp(std::atoi(next().c_str()), 1, 256));
    else if (flag == "--warps")
      options.warps = static_cast<unsigned>(std::clamp(std::atoi(next().c_str()), 1, 32));
    else if (flag == "--timeout")
      options.run.secondsPerCase = static_cast<unsigned>(std::max(1, std::atoi(next().c_str())));
    else if (flag == "--list")
      options.list = true;
    else if (flag == "--coverage")
      options.coverage = true;
    else if (flag == "--slow")
      options.slow = true;
    else if (flag == "--no-fork")
      options.run.inThisProcess = true;
    else if (flag == "--help")
      options.help = true;
    else
      return false;
  }
  return options.run.only.empty() || isExecution(options.run.only);
}

std::string jsonText(const std::string &text) {
  std::string result = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\')
      result += fmt::format("\\{}", c);
    else if (static_cast<unsigned char>(c) < 0x20)
      result += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    else
      result += c;
  }
  return result + "\"";
}

bool isSelected(const Options &options, const std::string &id) {
  return options.filters.empty() || std::any_of(options.filters.begin(), options.filters.end(), [&](const std::string &filter) { return id.find(filter) != std::string::npos; });
}

std::string readFile(const std::string &path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}
} // namespace

int main(int count, char **arguments) {
  Options options;
  if (!parse(count, arguments, options)) {
    std::fputs(kHelp, stderr);
    return 2;
  }
  if (options.help) {
    std::fputs(kHelp, stdout);
    return 0;
  }
  Suite suite;
#define TK_AREA(name) add##name(suite);
  TK_CONFORMANCE_AREAS(TK_AREA)
#undef TK_AREA
  for (Case &one : suite.cases)
    one.warps = one.warps ? one.warps : options.warps;
  if (options.coverage) {
    std::fputs(coverageText(suite).c_str(), stdout);
    return 0;
  }
  std::vector<size_t> indices;
  for (size_t i = 0; i < suite.cases.size(); ++i)
    if (isSelected(options, suite.cases[i].id))
      indices.push_back(i);
  if (options.list) {
    for (size_t index : indices)
      fmt::print("{}\n", suite.cases[index].id);
    return 0;
  }

  if (Executor::isAssembly(options.run.only) && tk::runtime::environment().ptxas.empty()) {
    std::puts("skipped: there is no ptxas in PATH, and TKC_PTXAS names none\n0 passed, 0 failed");
    return 0;
  }
  size_t passed = 0, failed = 0;
  std::string json;
  std::vector<std::pair<double, std::string>> times;
  runCases(suite, indices, options.run, [&](const Report &report) {
    const std::string &id = suite.cases[report.index].id;
    times.emplace_back(report.seconds, id);
    for (const Outcome &outcome : report.outcomes) {
      ++(outcome.problem.empty() ? passed : failed);
      if (!outcome.problem.empty())
        fmt::print("FAIL {}: {} ({})\n", id, outcome.problem, outcome.execution);
      json += fmt::format("{}  {{\"id\": {}, \"execution\": {}, \"passed\": {}, \"problem\": {}, \"seconds\": {:.4f}}}", json.empty() ? "" : ",\n", jsonText(id), jsonText(outcome.execution),
                          outcome.problem.empty(), jsonText(outcome.problem), report.seconds);
    }
    std::fflush(stdout);
  });
  if (options.filters.empty() && options.run.only.empty()) {
    std::vector<std::string> problems = coverageProblems(suite);
    if (readFile(options.coverageFile) != coverageText(suite))
      problems.push_back("COVERAGE.md is not what `tk-conformance --coverage` prints");
    for (const std::string &problem : problems)
      fmt::print("FAIL coverage: {}\n", problem);
    failed += problems.size();
    passed += problems.empty();
    if (!options.run.inThisProcess) { // a wrong expectation may end its process
      problems = selfTestProblems();
      for (const std::string &problem : problems)
        fmt::print("FAIL self-test: {}\n", problem);
      failed += problems.size();
      passed += problems.empty();
    }
  }
  if (options.slow) {
    std::sort(times.rbegin(), times.rend());
    for (size_t i = 0; i < std::min<size_t>(10, times.size()); ++i)
      fmt::print("{:.3f} s {}\n", times[i].first, times[i].second);
  }
  if (!options.json.empty())
    std::ofstream(options.json) << "[\n" << json << "\n]\n";
  fmt::print("{} passed, {} failed\n", passed, failed);
  return failed ? 1 : 0;
}
