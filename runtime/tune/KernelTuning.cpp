// See KernelTuning.h. Kernel::tune and Kernel::tunedList are here as well.
#include "runtime/tune/KernelTuning.h"
#include "runtime/ForkSafety.h"
#include "runtime/cache/DiskCache.h"
#include "runtime/device/cpu/HostFeatures.h"
#include "runtime/device/cpu/ThreadPool.h"
#include "runtime/tune/ArgumentText.h"
#include "runtime/tune/Options.h"
#include "runtime/tune/Progress.h"
#include "runtime/tune/TrialLaunch.h"
#include <algorithm>
#include <condition_variable>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>
#include <unistd.h>

namespace tk {

namespace runtime {

/// What was found for one value of the key.
struct KernelTuning::Chosen {
  const TuneConfig *config = nullptr;
  TuneReport report;
};

/// The place of one value of the key: what was found last, which may be measured again.
struct KernelTuning::Slot {
  std::atomic<const Chosen *> chosen{nullptr};
};

/// A tuning under way; others wait for it, whatever they need. A child after a fork can't wait for the parent's threads.
struct KernelTuning::Running {
  pid_t process = getpid();
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false;
};

static NamedValues sorted(NamedValues values) {
  std::sort(values.begin(), values.end());
  return values;
}

KernelTuning::KernelTuning(Kernel::Impl &kernel, TuneDescription tuned) : kernel(kernel), description(std::move(tuned)), isChosen(kernel.rules.size()) {
  for (const TuneConfig &config : description.configs) {
    named.push_back(sorted(namedValues(config)));
    for (const auto &[parameter, value] : config.values)
      isChosen[parameter] = true;
  }
}

KernelTuning::~KernelTuning() = default;

NamedValues KernelTuning::namedValues(const TuneConfig &config) const {
  NamedValues values;
  for (const auto &[parameter, value] : config.values) {
    Argument argument = value.get();
    values.emplace_back(kernel.rules[parameter].name, valueText(&argument));
  }
#define LAUNCH_OPTION(field, text, type, otherwise) \
  if (config.options.field != type{})               \
    values.emplace_back(text, fmt::format("{}", static_cast<int64_t>(config.options.field)));
#include "runtime/LaunchOptions.def"
#undef LAUNCH_OPTION
  return values;
}

/// "BLOCK=64 num_warps=4", in the order of the configuration.
static std::string textOf(const NamedValues &values) {
  std::string text;
  for (const auto &[name, value] : values)
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value);
  return text.empty() ? "the defaults" : text;
}

TuneReport::Trial KernelTuning::trialOf(const TuneConfig &config) const {
  TuneReport::Trial trial;
  for (const auto &[parameter, value] : config.values)
    if (Argument argument = value.get(); argument.kind == Argument::Kind::Int || argument.kind == Argument::Kind::UInt || argument.kind == Argument::Kind::Bool)
      trial.config.emplace_back(kernel.rules[parameter].name, static_cast<int64_t>(argument.bits));
#define LAUNCH_OPTION(field, text, type, otherwise) \
  if (config.options.field != type{})               \
    trial.config.emplace_back(text, static_cast<int64_t>(config.options.field));
#include "runtime/LaunchOptions.def"
#undef LAUNCH_OPTION
  trial.values = namedValues(config);
  trial.text = textOf(trial.values);
  trial.seconds = std::numeric_limits<double>::infinity();
  return trial;
}

const Argument *KernelTuning::argumentOf(size_t parameter, const BoundLaunch &bound) const {
  if (isChosen[parameter])
    return nullptr;
  if (bound.arguments[parameter])
    return bound.arguments[parameter];
  return kernel.defaults[parameter] ? &*kernel.defaults[parameter] : nullptr;
}

static std::string hostArchitecture() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("x86-64-v4") ? "x86-64-v4" : __builtin_cpu_supports("x86-64-v3") ? "x86-64-v3" : "x86-64";
#else
  return "aarch64";
#endif
}

TuneIdentity KernelTuning::identityOf(const Stream &stream, const BoundLaunch &bound) const {
  TuneIdentity identity{kernel.description.name, kernel.description.closure, {}, {}, {}, {}};
  if (GpuDevice *device = stream.device().implementation()) {
    identity.device = device->properties().name;
    identity.architecture = fmt::format("sm_{}", device->properties().architecture);
  } else {
    identity.device = fmt::format("{}, {} threads", hostName(), availableCores());
    identity.architecture = hostArchitecture();
  }
  for (size_t i = 0; i < kernel.rules.size(); ++i)
    if (std::string type = kernel.rules[i].isConstexpr ? "" : typeText(argumentOf(i, bound)); !type.empty())
      identity.types.push_back(std::move(type));
  for (unsigned parameter : description.key)
    identity.key.emplace_back(kernel.rules[parameter].name, valueText(argumentOf(parameter, bound)));
  return identity;
}

/// The same as the identity, for the table in memory.
static void appendValue(LaunchKey &key, const Argument *argument, bool value) {
  key.byte(argument ? static_cast<uint8_t>(argument->kind) : 0xff);
  if (!argument)
    return;
  key.byte(argument->typed), key.byte(static_cast<uint8_t>(argument->type));
  if (argument->kind == Argument::Kind::Int || argument->kind == Argument::Kind::UInt)
    key.byte(static_cast<int64_t>(argument->bits) == static_cast<int32_t>(argument->bits)), key.byte(argument->bits >> 63);
  if (argument->kind == Argument::Kind::Tuple)
    for (uint64_t i = 0; i < argument->bits; ++i)
      appendValue(key, &argument->elements[i], value);
  if (!value)
    return;
  if (argument->kind != Argument::Kind::Pointer && argument->kind != Argument::Kind::Type)
    key.word(argument->bits);
  if (argument->text)
    key.text(argument->text);
}

/// Tells parameters that are given as well, which no configuration can be applied to.
void KernelTuning::checkGiven(const BoundLaunch &bound) const {
  for (size_t i = 0; i < isChosen.size(); ++i)
    if (isChosen[i] && bound.arguments[i])
      throw Error(ErrorKind::User,
                  fmt::format("`{}`: parameter `{}` is given, but a tuned configuration chooses it", kernel.description.name, kernel.rules[i].name));
}

std::vector<unsigned> KernelTuning::candidates(const BoundLaunch &bound) const {
  std::vector<unsigned> list;
  if (description.prunes)
    list = kernel.module->front().prune(kernel.description.name, bound.arguments.data(), bound.arguments.size());
  else
    for (unsigned i = 0; i < description.configs.size(); ++i)
      list.push_back(i);
  for (unsigned index : list)
    if (index >= description.configs.size())
      throw Error(ErrorKind::Internal, fmt::format("`{}`: pruning chose configuration {} of {}", kernel.description.name, index, description.configs.size()));
  if (list.empty())
    throw Error(ErrorKind::User, fmt::format("`{}`: early_config_prune leaves no configuration", kernel.description.name));
  return list;
}

std::unique_ptr<const KernelTuning::Chosen> KernelTuning::measure(const Stream &stream, const Grid &grid, const BoundLaunch &bound, const TuneOptions &options,
                                                                  const TuneIdentity &identity) {
  const std::vector<unsigned> list = candidates(bound);
  std::vector<std::unique_ptr<TrialLaunch>> trials;
  std::vector<Trial *> pointers;
  for (unsigned index : list) {
    trials.push_back(std::make_unique<TrialLaunch>(kernel, stream, grid, bound, description.configs[index], textOf(namedValues(description.configs[index]))));
    pointers.push_back(trials.back().get());
  }
  auto chosen = std::make_unique<Chosen>();
  chosen->report.kernel = identity.kernel, chosen->report.device = identity.device, chosen->report.key = identity.key;
  for (unsigned index : list)
    chosen->report.trials.push_back(trialOf(description.configs[index]));
  if (list.size() == 1) { // nothing to choose, and nothing to measure
    chosen->config = &description.configs[list[0]];
    return chosen;
  }

  const bool onHost = stream.device().isHost();
  TunerOptions tuner;
  tuner.what = fmt::format("`{}`", identity.kernel);
  tuner.budgetSeconds = options.budgetSeconds;
  tuner.warmupSeconds = description.warmupMs / 1e3, tuner.repSeconds = description.repMs / 1e3;
  tuner.compileThreads = options.compileThreads ? options.compileThreads : availableCores();
  tuner.measuresWhileCompiling = !onHost;
  tuner.check = options.mode == TuneOptions::Mode::Check;
  TuneProgress progress;
  std::unique_ptr<TuneProgressLine> line;
  if (options.progress) {
    std::string key = identity.key.empty() ? "" : " for " + textOf(identity.key);
    line = std::make_unique<TuneProgressLine>(toStandardError(fmt::format("`{}`{} on {}", identity.kernel, key, identity.device)));
    tuner.progress = [&](const TuneProgress &now) { line->update(progress = now); };
  }
  LaunchMeasurement measurement(stream, description, kernel, bound, tuner.check);
  TunerResult result = tune(pointers, measurement, tuner);
  measurement.finish();

  for (size_t i = 0; i < list.size(); ++i) {
    chosen->report.trials[i].seconds = result.outcomes[i].seconds;
    chosen->report.trials[i].failure = result.outcomes[i].failure;
  }
  chosen->report.best = result.best;
  chosen->config = &description.configs[list[result.best]];
  if (line) {
    progress.best = pointers[result.best], progress.bestSeconds = result.outcomes[result.best].seconds;
    line->finish(progress);
  }
  return chosen;
}

/// Looks among the results, else measures.
std::unique_ptr<const KernelTuning::Chosen> KernelTuning::decide(const Stream &stream, const Grid *grid, const BoundLaunch &bound) {
  const TuneOptions options = tuneOptions();
  DiskCache *cache = DiskCache::process();
  std::shared_ptr<TuneResults> results = tuneResults(options, cache ? cache->folder() + "/tuned.txt" : "");
  TuneIdentity identity = identityOf(stream, bound);
  auto indexOf = [&](const NamedValues &config) { return static_cast<size_t>(std::find(named.begin(), named.end(), config) - named.begin()); };
  auto isKnown = [&](const NamedValues &config) { return indexOf(config) < named.size(); };
  if (options.mode != TuneOptions::Mode::Check && !options.again)
    if (std::optional<TuneEntry> entry = results->find(identity, isKnown)) {
      auto chosen = std::make_unique<Chosen>();
      chosen->report = {identity.kernel, identity.device, identity.key, {}, indexOf(entry->config), true};
      for (const TuneConfig &config : description.configs)
        chosen->report.trials.push_back(trialOf(config));
      chosen->report.trials[chosen->report.best].seconds = entry->seconds;
      chosen->config = &description.configs[chosen->report.best];
      return chosen;
    }
  auto subject = [&] {
    return fmt::format("`{}`{}{} on {}", identity.kernel, identity.key.empty() ? "" : " for ", identity.key.empty() ? "" : textOf(identity.key),
                       identity.device);
  };
  if (options.mode == TuneOptions::Mode::Pin)
    throw Error(ErrorKind::User,
                fmt::format("nothing is known for {} in the tuning results ({}), and they are pinned: tune it where that is allowed, with `tkc tune`, and "
                            "ship the file",
                            subject(), results->files().empty() ? "no file" : fmt::format("`{}`", fmt::join(results->files(), "`, `"))));
  GpuDevice *device = stream.device().implementation();
  if (device && device->isCapturing(stream.handle()))
    throw Error(ErrorKind::User,
                fmt::format("{} must be tuned, which is not possible while the stream is being captured: call Kernel::tuned() with the same arguments before",
                            subject()));
  if (!grid && !kernel.description.hasGrid)
    throw Error(ErrorKind::User, fmt::format("{} must be tuned, for which its grid is needed: call Kernel::tuned() with it before", subject()));
  std::unique_ptr<const Chosen> chosen = measure(stream, grid ? *grid : autoGrid(), bound, options, identity);
  if (const double seconds = chosen->report.trials[chosen->report.best].seconds; std::isfinite(seconds))
    results->add({identity, namedValues(*chosen->config), seconds}, isKnown);
  return chosen;
}

KernelTuning::Slot &KernelTuning::slotOf(const Stream &stream, const Grid *grid, const BoundLaunch &bound, bool again) {
  LaunchKey key;
  key.word(reinterpret_cast<uintptr_t>(stream.device().implementation()));
  for (size_t i = 0; i < kernel.rules.size(); ++i)
    if (!kernel.rules[i].isConstexpr && !isChosen[i])
      appendValue(key, argumentOf(i, bound), false);
  for (unsigned parameter : description.key)
    appendValue(key, argumentOf(parameter, bound), true);
  const uint64_t hash = key.hash();
  auto known = [&]() -> Slot * {
    const auto *found = table.find(key.view(), hash);
    return found && !again ? found->get() : nullptr;
  };
  if (Slot *slot = known())
    return *slot;
  checkGiven(bound);
  std::shared_ptr<Running> mine;
  while (!mine) {
    std::shared_ptr<Running> other;
    {
      std::lock_guard lock(tablesMutex());
      if (Slot *slot = known())
        return *slot;
      if (running && running->process == getpid())
        other = running;
      else
        running = mine = std::make_shared<Running>();
    }
    if (other) {
      std::unique_lock lock(other->mutex);
      other->changed.wait(lock, [&] { return other->done; });
    }
  }
  std::unique_ptr<const Chosen> chosen;
  std::exception_ptr failure;
  try {
    chosen = decide(stream, grid, bound);
  } catch (...) {
    failure = std::current_exception();
  }
  Slot *slot = nullptr;
  {
    std::lock_guard lock(tablesMutex());
    running.reset();
    if (!failure) {
      const auto *found = table.find(key.view(), hash);
      slot = found ? found->get() : table.insert(key.view(), hash, std::make_unique<Slot>()).get();
      slot->chosen.store(chosen.get(), std::memory_order_release);
      history.push_back(std::move(chosen));
    }
  }
  {
    std::lock_guard lock(mine->mutex);
    mine->done = true;
  }
  mine->changed.notify_all();
  if (failure)
    std::rethrow_exception(failure);
  return *slot;
}

const TuneConfig &KernelTuning::choose(const Stream &stream, const Grid *grid, const BoundLaunch &bound) {
  return *slotOf(stream, grid, bound, false).chosen.load(std::memory_order_acquire)->config;
}

TuneReport KernelTuning::report(const Stream &stream, const Grid &grid, const BoundLaunch &bound) {
  return slotOf(stream, &grid, bound, tuneOptions().again).chosen.load(std::memory_order_acquire)->report;
}

void KernelTuning::zero(const Stream &stream, const Argument *const *arguments) const {
  std::vector<TrialArray> arrays;
  for (unsigned parameter : description.resetToZero)
    if (const Argument *argument = arguments[parameter]; argument && argument->kind == Argument::Kind::Pointer)
      arrays.push_back({kernel.rules[parameter].name, argument->bits, argument->bytes, argument->type, true});
  zeroArrays(stream, arrays);
}

TuneDescription describeTuning(const Kernel::Impl &kernel, const Tuning &tuning) {
  const std::string &name = kernel.description.name;
  if (tuning.configs.empty())
    throw Error(ErrorKind::User, fmt::format("`{}`: a tuning needs one configuration at least", name));
  if (!(tuning.warmupMs >= 0 && tuning.repMs > 0))
    throw Error(ErrorKind::User,
                fmt::format("`{}`: a tuning's times must be milliseconds, found {} to warm up and {} to measure", name, tuning.warmupMs, tuning.repMs));
  TuneDescription result;
  result.warmupMs = tuning.warmupMs, result.repMs = tuning.repMs;
  for (const Config &given : tuning.configs) {
    TuneConfig config;
    std::vector<std::string> seen;
    for (const auto &[key, value] : given) {
      if (std::find(seen.begin(), seen.end(), key) != seen.end())
        throw Error(ErrorKind::User, fmt::format("`{}`: a configuration gives `{}` twice", name, key));
      seen.push_back(key);
      const bool isParameter = std::any_of(kernel.rules.begin(), kernel.rules.end(), [&key = key](const ParameterRule &rule) { return rule.name == key; });
      if (isParameter || !LaunchOptions::has(key))
        config.values.emplace_back(static_cast<unsigned>(kernel.parameterIndex(key)), StoredArgument(Argument(value)));
      else if (std::string wrong = config.options.set(key, value); !wrong.empty())
        throw Error(ErrorKind::User, fmt::format("`{}`: `{}` of a configuration {}", name, key, wrong));
    }
    result.configs.push_back(std::move(config));
  }
  for (auto [from, to] :
       {std::pair{&tuning.key, &result.key}, std::pair{&tuning.resetToZero, &result.resetToZero}, std::pair{&tuning.restoreValue, &result.restoreValue}})
    for (const std::string &parameter : *from)
      to->push_back(static_cast<unsigned>(kernel.parameterIndex(parameter)));
  return result;
}

} // namespace runtime

using namespace runtime;

void Kernel::tune(const Tuning &tuning) const { impl->setTuning(describeTuning(*impl, tuning)); }

TuneReport Kernel::tunedList(const Stream &stream, const Grid &grid, const Argument *arguments, size_t count) const {
  KernelTuning *tuning = impl->tuning.load(std::memory_order_acquire);
  if (const auto &tune = impl->description.tune; !tuning && tune && !tune->problem.empty())
    throw Error(ErrorKind::User, fmt::format("the configurations of `{}` are not known: {}", name(), tune->problem));
  if (!tuning)
    throw Error(ErrorKind::User, fmt::format("`{}` has no configurations: decorate it with @triton.autotune, or call Kernel::tune()", name()));
  BoundLaunch bound(impl->rules);
  impl->bind(stream, &grid, arguments, count, bound, false);
  return tuning->report(stream, grid, bound);
}

} // namespace tk
