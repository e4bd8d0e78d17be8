// bench-launch: what the runtime costs beside the work itself: launches, the start of a program, the compilations of a tuning.
//
//   bench-launch [launch] [start] [tune] [--device N | --emulate sm_90a] [--rounds N] [--json FILE]
//
// Without a group all are measured, on the host and on the first GPU, where there is one. Status 1 when something costs more than it may; on an emulated GPU
// times say nothing, and nothing is asked.
#include "test/bench/launch/Costs.h"
#include "test/bench/launch/FirstLaunch.h"
#include "tk/tk.h"
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>

using namespace tk;
using namespace tk::bench;

namespace {
struct Options : CostOptions {
  std::string json, fill;
  std::vector<std::string> groups;
  bool wants(const char *group) const { return groups.empty() || std::find(groups.begin(), groups.end(), group) != groups.end(); }
};

Options parse(int argc, char **argv) {
  Options options;
  // In a bundle the samples lie beside the program's folder.
  const std::filesystem::path bundled = std::filesystem::canonical("/proc/self/exe").parent_path() / "../samples";
  options.samples = std::filesystem::exists(bundled) ? bundled.string() : TKC_SOURCE_DIR "/samples";
  auto choose = [&](const char *option, const std::string &value) {
    options.place = fmt::format("{} {}", option, value);
    options.device = option == std::string("--device") ? Device::cuda(static_cast<unsigned>(std::atoi(value.c_str()))) : Device::emulated(value);
  };
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "launch" || argument == "start" || argument == "tune") {
      options.groups.push_back(argument);
      continue;
    }
    if (i + 1 >= argc)
      throw Error(ErrorKind::User, fmt::format("`{}`: expected launch, start, tune, or an option and its value", argument));
    const std::string value = argv[++i];
    if (argument == "--json")
      options.json = value;
    else if (argument == "--rounds")
      options.rounds = static_cast<unsigned>(std::max(1, std::atoi(value.c_str())));
    else if (argument == "--device" || argument == "--emulate")
      choose(argument.c_str(), value);
    else if (argument == "--fill") // what startCosts asks of a process of its own: compile into the disk cache
      options.fill = value;
    else if (argument != "--tkc") // what every program of test/bench is given
      throw Error(ErrorKind::User, fmt::format("unknown option `{}`", argument));
  }
  if (options.fill.empty())
    setenv("TKC_CACHE_DIR", "none", 1); // what is measured neither finds nor leaves anything in the user's cache
  if (options.place.empty() && options.fill.empty() && !Device::best().isHost())
    choose("--device", "0");
  return options;
}

void write(const std::string &file, const std::vector<Cost> &costs, const Options &options) {
  std::string text = fmt::format("{{\"device\": \"{}\", \"rows\": [", options.device.name());
  for (const Cost &cost : costs)
    text += fmt::format("{}\n  {{\"name\": \"{}\", \"seconds\": {:.9f}, \"reference\": {:.9f}, \"ratio\": {:.4f}, \"most\": {}, \"misses\": {}}}",
                        &cost == costs.data() ? "" : ",", cost.name, cost.ours, cost.reference, cost.ratio(), cost.most, cost.misses());
  std::ofstream(file) << text << "\n]}\n";
}

std::string durationText(double seconds) { return seconds < 1e-4 ? fmt::format("{:9.1f} ns", seconds * 1e9) : fmt::format("{:9.3f} ms", seconds * 1e3); }
} // namespace

int main(int argc, char **argv) {
  try {
    Options options = parse(argc, argv);
    if (!options.fill.empty())
      return FirstLaunch(options.device, options.fill).isRight() ? 0 : 1;
    std::vector<Cost> costs;
    if (options.wants("launch"))
      launchCosts(options, costs);
    if (options.wants("start"))
      startCosts(options, costs);
    if (options.wants("tune"))
      tuneCosts(options, costs);
    bool misses = false;
    for (const Cost &cost : costs) {
      std::string line = fmt::format("{:<72} {}", cost.name, durationText(cost.ours));
      if (cost.reference > 0)
        line += fmt::format("   beside {}: {:.3f}", durationText(cost.reference), cost.ratio());
      if (cost.most > 0)
        line += fmt::format("   {} {}", cost.misses() ? "MISSES" : "within", cost.reference > 0 ? fmt::format("{:.2f}", cost.most) : durationText(cost.most));
      fmt::print("{}\n", line);
      misses |= cost.misses();
    }
    if (!options.json.empty())
      write(options.json, costs, options);
    return misses;
  } catch (const Error &error) {
    fmt::print(stderr, "bench-launch: {}\n", error.what());
    return 2;
  }
}
