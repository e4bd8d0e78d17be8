// What bench-launch measures, as seconds.
#pragma once
#include "tk/device.h"
#include <string>
#include <vector>

namespace tk::bench {

struct Cost {
  std::string name;
  double ours = 0, reference = 0; // seconds; reference 0: there is none
  double most = 0;                // what ours may be, as a part of the reference or, where there is none, in seconds; 0: nothing is asked
  double ratio() const { return reference > 0 ? ours / reference : 0; }
  bool misses() const { return most > 0 && (reference > 0 ? ratio() : ours) > most; }
};

struct CostOptions {
  std::string samples; // the folder of the samples
  Device device;       // beside the host; the host: none
  std::string place;   // the device as the command line says it: "--device 0"
  unsigned rounds = 400;
};

/// What a launch costs its caller, on the host and on the device beside the driver's own call.
void launchCosts(const CostOptions &options, std::vector<Cost> &costs);
/// What the second start of a program costs until its first launch is done, with what the first one left in the disk cache.
void startCosts(const CostOptions &options, std::vector<Cost> &costs);
/// How long the configurations of a tuning take to compile, on all cores beside one.
void tuneCosts(const CostOptions &options, std::vector<Cost> &costs);

} // namespace tk::bench
