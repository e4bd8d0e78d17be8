// Ahead-of-time objects: kernels of a file, each for several signatures and targets, as one relocatable object of the host with a typed C function a kernel,
// and the header that declares them. README.md says how the parts fit and shows a header.
#pragma once
#include "compiler/Compiler.h"
#include "runtime/jit/Program.h"
#include "runtime/jit/aot/Interface.h"
#include <string>
#include <vector>

namespace tk::jit::aot {

/// One C function.
struct FunctionRequest {
  std::string name;   // in C
  std::string kernel; // in the file
  std::vector<Signature> signatures;
  std::vector<std::string> grid; // a program (runtime/program/Program.h) over the kernel's parameters for each of one to three extents; empty: the caller gives them
  std::string gridText;          // the same as source text, for the header
};

struct ObjectRequest {
  const Program *program = nullptr;
  std::vector<FunctionRequest> functions;
  std::vector<std::string> targets; // names as compiler::Options::target takes them, without `cpu` and `cuda`; each once
  compiler::Options options;        // but its target; what a signature's own options say goes first
  std::string ptxas;                // NVIDIA's assembler; empty: none, the driver assembles PTX when it loads the code
  std::string version;              // of tkc, for the header
};

struct Object {
  std::string bytes; // the object file
  std::string header;
  std::vector<std::string> notes; // one line each, without a line break
};

/// Compiles and links. Warnings and notes of the compiler are left in `diagnostics`. Throws Error(User) with rendered diagnostics or a text that says which
/// signature, kernel or name can't be, Error(Internal) for what tkc itself does wrong.
Object makeObject(const ObjectRequest &request, lang::Diagnostics &diagnostics);

/// The targets of a list as in "sm_80,sm_90a,x86-64-v4": `cpu` becomes the best that this machine has of those that are checked at run time. Throws Error(User)
/// for an empty name, a name that stands there twice, and a machine that has too little.
std::vector<std::string> targetsOf(const std::string &list);

} // namespace tk::jit::aot
