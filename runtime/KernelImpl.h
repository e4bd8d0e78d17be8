// What stands behind tk::Module and tk::Kernel.
#pragma once
#include "runtime/CodeTable.h"
#include "runtime/Frontend.h"
#include "runtime/LineMap.h"
#include "runtime/SeenLaunch.h"
#include "runtime/StackArray.h"
#include "runtime/device/GpuDevice.h"
#include "runtime/device/cpu/CpuDevice.h"
#include "runtime/device/cpu/CpuImage.h"
#include "tk/kernel.h"
#include <atomic>
#include <mutex>

namespace tk {

struct Module::Impl {
  std::string name, text;
  runtime::ModuleDescription description;

  /// The file in the front end, which is asked only for what no cache has.
  runtime::FrontendModule &front();

private:
  std::mutex opening;
  std::unique_ptr<runtime::FrontendModule> opened;
};

namespace runtime {

/// What a launch has to know of a visible slot, in a few bytes; of the kinds but Other the usual arguments are passed without a look at the slot itself.
struct SlotPlan {
  uint32_t parameter, slot; // as indices
  enum class Kind : uint8_t { Pointer, Int32, Float32, Other } kind;
  DType dtype;
};

/// Code that is ready to run, on one device.
struct LoadedCode {
  KernelAbi abi;
  std::vector<SlotPlan> plans; // of the visible slots, in order
  void planSlots();
  CpuFunction cpu; // the host
  std::unique_ptr<CpuImage> image;
  LineMap lines;
  std::shared_ptr<GpuKernel> gpu; // or a GPU
  SeenLaunch seen;
};

/// The arguments of a launch, one per parameter, and what follows from them.
struct BoundLaunch {
  explicit BoundLaunch(const std::vector<ParameterRule> &rules) : rules(rules), arguments(rules.size()), computed(rules.size()) {}
  const std::vector<ParameterRule> &rules;
  StackArray<const Argument *, 64> arguments;
  StackArray<Argument, 64> computed; // values of heuristics, where `arguments` points to them
  LaunchOptions options;
  LaunchKey key;
};

/// One specialization that is being made: others wait for it.
struct Making;

class KernelTuning; // runtime/tune/
} // namespace runtime

struct Kernel::Impl {
  Impl(std::shared_ptr<Module::Impl> module, const runtime::KernelDescription &description);
  ~Impl();

  std::shared_ptr<Module::Impl> module;
  const runtime::KernelDescription &description;
  std::vector<runtime::ParameterRule> rules;
  std::vector<uint32_t> keyMasks; // of the rules
  unsigned policy = 0;            // how often they have changed
  std::vector<std::string> parameterNames;
  std::vector<std::optional<Argument>> defaults; // those that an argument can express
  std::atomic<runtime::KernelTuning *> tuning{nullptr}; // of the file, or of Kernel::tune; null: there are no configurations
  std::atomic<size_t> compiled{0};

  /// Takes the place of the configurations before.
  void setTuning(runtime::TuneDescription description);
  /// Everything but the key. `configured`: a tuned kernel's configuration is chosen and filled in. `grid`: null where none is given.
  void bind(const Stream &stream, const Grid *grid, const Argument *given, size_t count, runtime::BoundLaunch &bound, bool configured = true);
  void apply(const runtime::TuneConfig &config, runtime::BoundLaunch &bound) const;
  /// After the configuration: heuristics, defaults, checks, the key.
  void complete(runtime::GpuDevice *device, runtime::BoundLaunch &bound);
  /// Of bound arguments, which are completed; the key is not always made.
  const runtime::LoadedCode &codeFor(runtime::GpuDevice *device, runtime::BoundLaunch &bound);
  Grid gridOf(const Grid &grid, const runtime::BoundLaunch &bound);
  const runtime::LoadedCode &obtain(runtime::GpuDevice *device, const runtime::BoundLaunch &bound);
  void fillSlots(const runtime::LoadedCode &code, const runtime::BoundLaunch &bound, uint64_t *slots) const;
  void launch(const Stream &stream, const Grid &grid, const runtime::LoadedCode &code, const uint64_t *slots) const;
  size_t parameterIndex(std::string_view parameter) const; // Error(User) that lists them

private:
  runtime::LoadedCode make(runtime::GpuDevice *device, const runtime::BoundLaunch &bound);
  void runHeuristics(runtime::BoundLaunch &bound);
  void makeKey(runtime::GpuDevice *device, runtime::BoundLaunch &bound);
  void checkResidence(runtime::GpuDevice &device, const runtime::BoundLaunch &bound) const;

  runtime::CodeTable<std::unique_ptr<const runtime::LoadedCode>> table;
  std::atomic<const runtime::LoadedCode *> latest{nullptr};    // of the table
  std::vector<std::shared_ptr<runtime::Making>> making;        // guarded by tablesMutex()
  std::vector<std::unique_ptr<runtime::KernelTuning>> tunings; // all that there were: launches may still use them; guarded by tablesMutex()
};

} // namespace tk
