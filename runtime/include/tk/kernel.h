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
#include <array>
#include <memory>
#include <string>
#include <vector>

namespace tk {

/// Programs along each axis. An extent of 0 launches nothing.
struct Grid {
  int64_t x = 1, y = 1, z = 1;
};
inline Grid grid(int64_t x, int64_t y = 1, int64_t z = 1) { return {x, y, z}; }

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

  /// Positional arguments first, then tk::meta ones in any order; tk::meta("num_warps", 8), "num_stages" and "enable_fp_fusion" say how to compile. Parameters
  /// with a default may be left out.
  template <typename... Args> void launch(const Stream &stream, Grid grid, const Args &...args) const {
    const std::array<Argument, sizeof...(Args)> list{Argument(args)...};
    launchList(stream, grid, list.data(), list.size());
  }
  void launchList(const Stream &stream, Grid grid, const Argument *arguments, size_t count) const;
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
  /// How many specializations have been compiled so far.
  size_t compiledCount() const;

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
