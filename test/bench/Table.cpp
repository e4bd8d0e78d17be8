// Medians, the printed table, and JSON.
#include "test/bench/Table.h"
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fmt/format.h>
#include <fstream>
#include <sched.h>
#include <thread>

namespace tk::bench {

double seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

double median(std::vector<double> values) {
  if (values.empty())
    return 0;
  std::sort(values.begin(), values.end());
  const size_t half = values.size() / 2;
  return values.size() % 2 ? values[half] : (values[half - 1] + values[half]) / 2;
}

static double timeOf(const std::function<void()> &work) {
  const double start = seconds();
  work();
  return seconds() - start;
}

Medians measure(const std::function<void()> &ours, const std::function<void()> &peer, Repetition repetition) {
  const auto one = [&](const std::function<void()> &work) {
    if (!repetition.settle)
      return timeOf(work);
    // The other side's threads go to sleep; then this side's wake up, and the clock rises, before what counts.
    std::this_thread::sleep_for(std::chrono::milliseconds(60));
    for (const double start = seconds(); seconds() - start < 0.04;)
      work();
    return median({timeOf(work), timeOf(work), timeOf(work)});
  };
  std::vector<double> oursTimes, peerTimes, ratios;
  for (unsigned i = 0; i < repetition.rounds + 2; ++i) {
    const double first = one(ours), second = one(peer);
    if (i >= 2)
      oursTimes.push_back(first), peerTimes.push_back(second), ratios.push_back(second / first);
  }
  return {median(oursTimes), median(peerTimes), median(ratios)};
}

std::string machine() {
  std::ifstream info("/proc/cpuinfo");
  std::string line, model = "unknown processor";
  while (std::getline(info, line))
    if (line.rfind("model name", 0) == 0) {
      model = line.substr(line.find(':') + 2);
      break;
    }
  cpu_set_t set;
  const int cores = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
  return fmt::format("{}, {} cores", model, cores);
}

void printHeader() { fmt::print("{}\n\n{:<34} {:>12} {:>12} {:>7} {:>7}\n", machine(), "work", "tkc", "peer", "ratio", "wanted"); }

void printRows(const std::vector<Row> &rows, size_t first) {
  for (size_t i = first; i < rows.size(); ++i) {
    const Row &row = rows[i];
    const char *verdict = row.wanted == 0 ? "" : row.ratio >= row.wanted ? "yes" : "NO";
    fmt::print("{:<34} {:>12} {:>12} {:>7.2f} {:>7} {:>3}  {}\n", row.work, fmt::format("{:.2f} {}", row.ours, row.unit),
               row.peer > 0 ? fmt::format("{:.2f} {}", row.peer, row.unit) : "", row.ratio, row.wanted > 0 ? fmt::format("{:.2f}", row.wanted) : "", verdict,
               row.detail);
  }
  std::fflush(stdout);
}

static std::string quoted(const std::string &text) {
  std::string result = "\"";
  for (char c : text)
    if (c == '"' || c == '\\')
      result += {'\\', c};
    else
      result += static_cast<unsigned char>(c) < 32 ? ' ' : c;
  return result + '"';
}

std::string toJson(const std::vector<Row> &rows) {
  std::string text = fmt::format("{{\"machine\": {}, \"rows\": [", quoted(machine()));
  for (size_t i = 0; i < rows.size(); ++i)
    text += fmt::format("{}\n  {{\"work\": {}, \"unit\": {}, \"ours\": {:.6g}, \"peer\": {:.6g}, \"ratio\": {:.4f}, \"wanted\": {:.4g}, \"detail\": {}}}",
                        i ? "," : "", quoted(rows[i].work), quoted(rows[i].unit), rows[i].ours, rows[i].peer, rows[i].ratio, rows[i].wanted,
                        quoted(rows[i].detail));
  return text + "\n]}\n";
}

} // namespace tk::bench
