// The compiler as a library: source and a specialization in, text of any stage or an object file out. No MLIR or LLVM type appears here.
#pragma once
#include "lang/sema/ConstValue.h"
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tk::lang {
struct ParamSpec;
}

namespace tk::compiler {

enum class Stage : uint8_t { Tt, TtOpt, Ttg, Llvm, Asm, Bin };

struct Options {
  std::string target = "cpu"; // cpu, x86-64-v3, x86-64-v4 (others follow)
  bool debug = false;
  bool fpFusion = false;
  bool strictTriton = false;
  bool timePasses = false;
};

/// One run-time argument of the compiled entry point, in order (see KernelAbi below).
struct ArgumentSlot {
  std::string name;   // "x" or "t[0]"
  unsigned param = 0; // index of the kernel's parameter
  std::vector<unsigned> path;
  DType dtype = DType::I32; // of the scalar, or of what the pointer points to
  unsigned pointerDepth = 0;
  bool read = false, written = false;
};

/// The calling convention of a compiled kernel, as data.
/// CPU: `void NAME(const uint64_t *slots, const int32_t grid[3], uint64_t begin, uint64_t end, void *arena, const void *services)` runs the programs
/// with linear index begin <= i < end (x fastest); slot i holds the bits of argument i, zero-extended; `arena` has `arenaBytes` bytes aligned to 64, private to the call;
/// `services` is runtime/device/cpu/CpuServices.h's table.
struct KernelAbi {
  std::string entry;
  std::vector<ArgumentSlot> slots;
  uint64_t arenaBytes = 0;
  bool spins = false; // calls the `yield` service: the runtime then runs one program a chunk, since a program may wait for any other
};

struct CompiledKernel {
  std::string object;  // a relocatable object file (ELF)
  KernelAbi abi;
  std::vector<std::string> printed; // static_print
};

/// Owns an MLIR context. One per thread, or guarded by the caller; separate instances are independent.
class Compiler {
public:
  Compiler();
  ~Compiler();
  /// The text of `kernel` at a stage; empty after errors.
  std::string emit(const lang::ModuleScope &scope, const std::string &kernel, const std::vector<lang::ParamSpec> &params, const Options &options, Stage stage, lang::Diagnostics &diagnostics);
  /// Object code; `object` is empty after errors.
  CompiledKernel compile(const lang::ModuleScope &scope, const std::string &kernel, const std::vector<lang::ParamSpec> &params, const Options &options, lang::Diagnostics &diagnostics);

  /// The elaborated kernel for the interpreter (compiler/interpret/Oracle.h runs it).
  struct Elaboration;
  std::shared_ptr<Elaboration> elaborate(const lang::ModuleScope &scope, const std::string &kernel, const std::vector<lang::ParamSpec> &params, const Options &options, lang::Diagnostics &diagnostics);

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

} // namespace tk::compiler
