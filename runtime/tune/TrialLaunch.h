// The configurations of a launch as trials (Tuner.h), and how they are measured on a stream.
#pragma once
#include "runtime/KernelImpl.h"
#include "runtime/Stopwatch.h"
#include "runtime/tune/TrialArrays.h"
#include "runtime/tune/Tuner.h"
#include <optional>

namespace tk::runtime {

/// A launch with one configuration. Refers to what it is made of.
class TrialLaunch : public Trial {
public:
  TrialLaunch(Kernel::Impl &kernel, const Stream &stream, const Grid &grid, const BoundLaunch &given, const TuneConfig &config, std::string text)
      : kernel(kernel), stream(stream), grid(grid), given(given), config(config), name(std::move(text)), bound(kernel.rules) {}
  void compile() override;
  void run() override;
  std::string text() const override { return name; }
  /// Once it is compiled.
  const LoadedCode &loaded() const { return *code; }

private:
  Kernel::Impl &kernel;
  const Stream &stream;
  const Grid &grid;
  const BoundLaunch &given;
  const TuneConfig &config;
  const std::string name;
  BoundLaunch bound;
  const LoadedCode *code = nullptr;
  std::vector<uint64_t> slots;
  std::optional<Grid> extents; // once it has run
};

/// Measures such launches.
class LaunchMeasurement : public Measurement {
public:
  LaunchMeasurement(const Stream &stream, const TuneDescription &tuning, const Kernel::Impl &kernel, const BoundLaunch &given, bool check)
      : stream(stream), tuning(tuning), kernel(kernel), given(given), check(check) {}
  double now() override;
  std::vector<double> run(Trial &trial, unsigned count) override;
  std::string lost() override;
  std::string difference() override { return arrays ? arrays->difference() : ""; }
  /// Puts the arrays back. Throws what the device says.
  void finish() {
    if (arrays)
      arrays->restore();
  }

private:
  std::vector<TrialArray> arraysOf(const KernelAbi &abi) const;

  const Stream &stream;
  const TuneDescription &tuning;
  const Kernel::Impl &kernel;
  const BoundLaunch &given;
  const bool check;
  Trial *current = nullptr;
  std::unique_ptr<TrialArrays> arrays; // made for the first trial: the code says what it reads and writes
  std::unique_ptr<Stopwatch> stopwatch;
};

} // namespace tk::runtime
