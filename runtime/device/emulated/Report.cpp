#include "runtime/device/emulated/EmulatedDevice.h"
#include <fmt/format.h>

namespace tk::emulated {

const char *nameOf(Class kind) {
  static constexpr const char *names[] = {"move",    "integer", "float",     "double", "half",   "compare", "convert", "special", "warp",
                                          "control", "barrier", "parameter", "global", "shared", "local",   "atomic",  "matrix",  "async"};
  static_assert(std::size(names) == size_t(Class::Count));
  return names[size_t(kind)];
}

const char *nameOf(Finding::Kind kind) {
  switch (kind) {
  case Finding::Kind::Fault: return "fault";
  case Finding::Kind::Deadlock: return "deadlock";
  case Finding::Kind::Race: return "race";
  case Finding::Kind::Uninitialised: return "uninitialised shared memory";
  case Finding::Kind::ProxyFence: return "missing proxy fence";
  case Finding::Kind::AsyncHazard: return "hazard of asynchronous work";
  case Finding::Kind::RegisterFence: return "missing wgmma.fence";
  case Finding::Kind::NonUniformBarrier: return "barrier that not all lanes come to";
  }
  return "";
}

std::string Finding::text() const {
  std::string result;
  if (sourceLine)
    result = fmt::format("{}:{}:{}: ", file.empty() ? "source" : file, sourceLine, sourceColumn);
  result += fmt::format("{}: {}", nameOf(kind), message);
  if (ptxLine)
    result += fmt::format(" (line {} of the PTX, in `{}`, block ({}, {}, {}), thread {}", ptxLine, function, block[0], block[1], block[2], thread);
  else
    result += fmt::format(" (in `{}`", function);
  return result + (times > 1 ? fmt::format(", {} times)", times) : ")");
}

std::string LaunchResult::text() const {
  std::string result;
  for (const Finding &finding : findings)
    result += finding.text() + "\n";
  return result;
}

uint64_t Statistics::totalThreadInstructions() const {
  uint64_t total = 0;
  for (uint64_t count : threadInstructions)
    total += count;
  return total;
}

Statistics &Statistics::operator+=(const Statistics &other) {
  for (size_t i = 0; i < threadInstructions.size(); ++i) {
    threadInstructions[i] += other.threadInstructions[i];
    warpInstructions[i] += other.warpInstructions[i];
  }
  globalRequests += other.globalRequests;
  globalSectors += other.globalSectors;
  globalBytes += other.globalBytes;
  sharedRequests += other.sharedRequests;
  sharedWavefronts += other.sharedWavefronts;
  sharedIdeal += other.sharedIdeal;
  asyncBytes += other.asyncBytes;
  matrixOperations += other.matrixOperations;
  barriers += other.barriers;
  divergentBranches += other.divergentBranches;
  return *this;
}

} // namespace tk::emulated
