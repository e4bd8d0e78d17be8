// Starts bench-start again and again over a cache that a process of this program has filled.
#include "test/bench/ChildProcess.h"
#include "test/bench/Table.h"
#include "test/bench/launch/Costs.h"
#include "test/bench/launch/TemporaryFolder.h"
#include "tk/error.h"
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <sstream>

namespace tk::bench {

namespace fs = std::filesystem;

namespace {
double numberOf(const std::string &json, const std::string &name) {
  const size_t at = json.find("\"" + name + "\": ");
  if (at == std::string::npos)
    throw Error(ErrorKind::Internal, "bench-start says: " + json);
  return std::strtod(json.c_str() + at + name.size() + 4, nullptr);
}

std::vector<std::string> commandOf(const std::string &program, const std::string &first, const std::string &place) {
  std::vector<std::string> command = {program};
  std::istringstream words(first + " " + place);
  for (std::string word; words >> word;)
    command.push_back(word);
  return command;
}

void startsOn(const std::string &name, const std::string &place, const CostOptions &options, double most, std::vector<Cost> &costs) {
  TemporaryFolder folder;
  const std::vector<std::string> environment = {"TKC_CACHE_DIR=" + folder.path};
  const fs::path self = fs::canonical("/proc/self/exe");
  const std::string starter = (self.parent_path() / "bench-start").string(), kernel = options.samples + "/softmax.tk";
  const Finished warm = runProgram(commandOf(self.string(), "--fill", kernel + " " + place), environment);
  if (warm.status != 0)
    throw Error(ErrorKind::Internal, "the first start failed");
  std::vector<double> beyond, driver, init, context, process;
  const unsigned rounds = std::clamp(options.rounds / 20, 2u, 20u);
  for (unsigned round = 0; round <= rounds; ++round) {
    const Finished start = runProgram(commandOf(starter, kernel, place), environment);
    if (start.status != 0)
      throw Error(ErrorKind::Internal, fmt::format("`{}` failed", starter));
    if (numberOf(start.output, "compiled") != 0 || start.output.find("\"compilers\": \"\"") == std::string::npos)
      throw Error(ErrorKind::Internal, "the second start compiles: " + start.output);
    if (round == 0)
      continue; // files are read from the disk for the first time
    beyond.push_back(numberOf(start.output, "beyond")), driver.push_back(numberOf(start.output, "driver"));
    init.push_back(numberOf(start.output, "init")), context.push_back(numberOf(start.output, "context")), process.push_back(start.seconds);
  }
  costs.push_back({name + ": main to first launch", median(beyond), 0, most});
  if (place.starts_with("--device")) {
    costs.back().name += " done, beyond cuInit and context";
    costs.push_back({name + ": of it loading the driver", median(driver)});
    costs.push_back({name + ": cuInit", median(init)});
    costs.push_back({name + ": context", median(context)});
  }
  costs.push_back({name + ": whole process", median(process)});
}
} // namespace

void startCosts(const CostOptions &options, std::vector<Cost> &costs) {
  startsOn("second start, host", "", options, 15e-3, costs);
  if (!options.device.isHost())
    startsOn("second start, GPU", options.place, options, options.device.isEmulated() ? 0 : 60e-3, costs);
}

} // namespace tk::bench
