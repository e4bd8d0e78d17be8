// The configurations of one kernel at its launches: which one these arguments get, measured when nothing is known.
#pragma once
#include "runtime/CodeTable.h"
#include "runtime/KernelImpl.h"
#include "runtime/tune/Results.h"
#include "runtime/tune/TrialArrays.h"

namespace tk::runtime {

/// Thread-safe; outlives no launch that uses it (Kernel::Impl keeps it).
class KernelTuning {
public:
  KernelTuning(Kernel::Impl &kernel, TuneDescription description);
  ~KernelTuning();

  /// The configuration for these arguments, which are bound but not complete: known in this process, found among the results, or measured now. `grid` is null
  /// where none is given; the kernel's own is measured with then. What comes back lives as long as this. Throws Error as tk::Kernel::launch does.
  const TuneConfig &choose(const Stream &stream, const Grid *grid, const BoundLaunch &bound);
  TuneReport report(const Stream &stream, const Grid &grid, const BoundLaunch &bound);

  /// What reset_to_zero asks for before each launch.
  bool zeroes() const { return !description.resetToZero.empty(); }
  void zero(const Stream &stream, const Argument *const *arguments) const;

private:
  struct Chosen;
  struct Running;
  struct Slot;

  Slot &slotOf(const Stream &stream, const Grid *grid, const BoundLaunch &bound, bool again);
  void checkGiven(const BoundLaunch &bound) const;
  std::unique_ptr<const Chosen> decide(const Stream &stream, const Grid *grid, const BoundLaunch &bound);
  std::unique_ptr<const Chosen> measure(const Stream &stream, const Grid &grid, const BoundLaunch &bound, const TuneOptions &options,
                                        const TuneIdentity &identity);
  TuneIdentity identityOf(const Stream &stream, const BoundLaunch &bound) const;
  /// Whose value counts: not what configurations choose and heuristics find.
  const Argument *argumentOf(size_t parameter, const BoundLaunch &bound) const;
  std::vector<unsigned> candidates(const BoundLaunch &bound) const;
  /// Parameters and launch options, in the order of the configuration.
  NamedValues namedValues(const TuneConfig &config) const;
  TuneReport::Trial trialOf(const TuneConfig &config) const;

  Kernel::Impl &kernel;
  const TuneDescription description;
  std::vector<NamedValues> named; // of each configuration, sorted
  std::vector<bool> isChosen;     // of each parameter: by configurations
  CodeTable<std::unique_ptr<Slot>> table;
  std::shared_ptr<Running> running;                   // guarded by tablesMutex()
  std::vector<std::unique_ptr<const Chosen>> history; // of all slots; guarded by tablesMutex()
};

/// From C++ to what the launch needs. Throws Error(User) that names what the kernel does not have.
TuneDescription describeTuning(const Kernel::Impl &kernel, const Tuning &tuning);

} // namespace tk::runtime
