// From a kernel file to a launch.
//
//   auto kernel = tk::Module::fromFile("softmax.tk").kernel("softmax");
//   kernel.launch(stream, tk::grid(rows), out, in, outStride, inStride, cols, tk::meta("BLOCK", 1024));
//
// The stream says where: tk::Stream() is the host, where a launch returns when it is done; on a GPU it is asynchronous (device.h).
// A launch compiles the kernel for the types and properties of its arguments when it meets them for the first time, and keeps the code. Modules and
// kernels are handles: cheap to copy, safe to use from several threads, alive as long as any handle is. Everything throws tk::Error.
#pragma once
#include "tk/argument.h"
#include "tk/error.h"
#include "tk/grid.h"
#include "tk/launcher.h"
#include "tk/tune.h"
#include <array>
#include <memory>
#include <string>
#include <vector>

namespace tk {

/// What a GPU's driver says of compiled code.
struct KernelResources {
  int registers = 0;                 // of a thread
  int spillBytes = 0;                // of a thread: local memory, where registers did not suffice
  int sharedBytes = 0, threads = 0;  // of a program
  int programsPerMultiprocessor = 0; // that fit at once; 0: unknown
};

class Kernel {
public:
  const std::string &name() const;
  /// The parameters' names, in order.
  const std::vector<std::string> &parameters() const;

  /// Positional arguments first, then tk::meta ones in any order; tk::meta("num_warps", 8), "num_stages" and so on say how to compile and launch
  /// (runtime/LaunchOptions.def). Parameters with a default, and those that heuristics or configurations fill, may be left out.
  template <typename... Args> void launch(const Stream &stream, const Grid &grid, const Args &...args) const {
    const std::array<Argument, sizeof...(Args)> list{Argument(args)...};
    launchList(stream, grid, list.data(), list.size());
  }
  void launchList(const Stream &stream, const Grid &grid, const Argument *arguments, size_t count) const;
  /// Compiles and loads what a launch with these arguments needs, so that the launch may be captured into a graph or starts at once.
  template <typename... Args> void prepare(const Stream &stream, const Args &...args) const {
    const std::array<Argument, sizeof...(Args)> list{Argument(args)...};
    prepareList(stream, list.data(), list.size());
  }
  void prepareList(const Stream &stream, const Argument *arguments, size_t count) const;
  /// Of the code that a launch with these arguments runs, which is compiled and loaded when needed. Error(User) for a stream of the host.
  KernelResources resourcesList(const Stream &stream, const Argument *arguments, size_t count) const;
  template <typename... Args> KernelResources resources(const Stream &stream, const Args &...args) const {
    const std::array<Argument, sizeof...(Args)> list{Argument(args)...};
    return resourcesList(stream, list.data(), list.size());
  }
  /// A launch whose specialization these arguments settle; it is compiled and loaded here. `grid` may be given at each launch only as numbers.
  template <typename... Args> Launcher launcher(const Stream &stream, const Args &...args) const {
    const std::array<Argument, sizeof...(Args)> list{Argument(args)...};
    return launcherList(stream, list.data(), list.size());
  }
  Launcher launcherList(const Stream &stream, const Argument *arguments, size_t count) const;
  /// How many specializations this process has compiled so far; those found in the disk cache don't count.
  size_t compiledCount() const;

  /// Replaces what the file's @autotune says. Error(User) for names that the kernel does not have, and for no configuration.
  void tune(const Tuning &tuning) const;
  /// Measures now what a launch with these arguments would, or finds it among the results; runs nothing else.
  template <typename... Args> TuneReport tuned(const Stream &stream, const Grid &grid, const Args &...args) const {
    const std::array<Argument, sizeof...(Args)> list{Argument(args)...};
    return tunedList(stream, grid, list.data(), list.size());
  }
  TuneReport tunedList(const Stream &stream, const Grid &grid, const Argument *arguments, size_t count) const;

  /// Which facts about arguments code is made for: more make faster code and more variants.
  enum class Specialization {
    Full,         // types, integers that are 1, divisibility by 16 (Triton's rule)
    Divisibility, // types, divisibility by 16
    None          // types
  };
  /// For all parameters, or one of them. What the file says for a parameter (do_not_specialize) stays. Not thread-safe; before the first launch.
  void specialize(Specialization policy) const;
  void specialize(const std::string &parameter, Specialization policy) const;

  struct Impl;

private:
  friend class Module;
  explicit Kernel(std::shared_ptr<Impl> impl) : impl(std::move(impl)) {}
  std::shared_ptr<Impl> impl;
};

class Module {
public:
  /// Parses and checks. Error(User) holds the diagnostics.
  static Module fromFile(const std::string &path);
  /// `name` stands for the file in messages.
  static Module fromSource(const std::string &text, const std::string &name = "<source>");

  std::vector<std::string> kernelNames() const;
  Kernel kernel(const std::string &name) const;

  struct Impl;

private:
  explicit Module(std::shared_ptr<Impl> impl) : impl(std::move(impl)) {}
  std::shared_ptr<Impl> impl;
};

} // namespace tk
