// The compiler as a library: source and a specialization in, text of any stage or an object file out. No MLIR or LLVM type appears here.
#pragma once
#include "compiler/Remarks.h"
#include "lang/sema/ConstValue.h"
#include "runtime/KernelAbi.h"
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
  std::string target = "cpu"; // cpu, x86-64-v3, x86-64-v4, or a row of target/nvidia/Targets.def
  bool debug = false;
  bool fpFusion = false;
  bool strictTriton = false;
  bool timePasses = false;
  unsigned numWarps = 0;  // of a GPU's block, a power of two up to 32; 0: by the kernel's widest tile (DefaultWarps.h)
  unsigned numStages = 0; // rounds of a loop under way at once on a GPU; 0: 3 where copies are asynchronous (sm_80 and later), else 1, which means no pipelining
  unsigned maxRegisters = 0;  // of a GPU's thread; 0: the assembler chooses
  Remarks *remarks = nullptr; // what the compiler did is added here, settled (Remarks.h); null: not wanted
};

// The calling convention of a compiled kernel, as data.
using runtime::ArgumentSlot;
using runtime::KernelAbi;
using runtime::PrintOperand;
using runtime::PrintSite;

/// What a compiled kernel's bytes are: a relocatable object file of the host, PTX text, or a loadable image for one NVIDIA GPU.
enum class ObjectKind : uint8_t { Elf, Ptx, Cubin };

struct CompiledKernel {
  std::string object;
  ObjectKind objectKind = ObjectKind::Elf;
  KernelAbi abi;
  std::vector<std::string> printed; // static_print
};

/// Owns an MLIR context. One per thread, or guarded by the caller; separate instances are independent.
class Compiler {
public:
  Compiler();
  ~Compiler();
  /// The text of `kernel` at a stage; empty after errors.
  std::string emit(const lang::ModuleScope &scope, const std::string &kernel, const std::vector<lang::ParamSpec> &params, const Options &options, Stage stage,
                   lang::Diagnostics &diagnostics);
  /// Object code; `object` is empty after errors.
  CompiledKernel compile(const lang::ModuleScope &scope, const std::string &kernel, const std::vector<lang::ParamSpec> &params, const Options &options,
                         lang::Diagnostics &diagnostics);

  /// The elaborated kernel for the interpreter (compiler/interpret/Oracle.h runs it).
  struct Elaboration;
  std::shared_ptr<Elaboration> elaborate(const lang::ModuleScope &scope, const std::string &kernel, const std::vector<lang::ParamSpec> &params,
                                         const Options &options, lang::Diagnostics &diagnostics);

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

} // namespace tk::compiler
