// From a parsed file to tt, for one specialization of one kernel.
#pragma once
#include "lang/sema/ConstValue.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace tk::lang {

/// What is known of one kernel parameter at compile time.
struct ParamSpec {
  enum Kind {
    Scalar,    // a run-time number of type `type`
    Pointer,   // a run-time pointer to `type.dtype`
    Constant,  // a compile-time value: a constexpr, None, a folded 1, a function, a dtype, a string
    Tuple      // `elements`, each its own parameter
  } kind = Constant;
  TypeValue type;
  ConstValue value;          // Constant
  unsigned divisibility = 1; // Scalar, Pointer (of the address in bytes): a known divisor, 1 or 16
  std::vector<ParamSpec> elements;
};

struct ElaborateOptions {
  std::string target = "cpu";   // answers tl.target_info and the default dot precision
  std::string defaultDotPrecision = "ieee";
  bool debug = false;           // device_assert and overflow checks are compiled, as for a kernel with @triton.jit(debug=True)
  bool strictTriton = false;    // notes every extension used
  uint64_t stepLimit = 2'000'000; // compile-time statements executed before "endless compile-time loop"
  unsigned callDepthLimit = 100;
};

/// One run-time argument of the elaborated tt.func, in order: which parameter (and tuple path) it is.
struct KernelArgument {
  std::string name;            // "x", "t[0]"
  unsigned param = 0;
  std::vector<unsigned> path;
  TypeValue type;
  bool written = false;        // stored to or updated atomically (outputs)
  bool read = false;
};

struct Elaborated {
  mlir::OwningOpRef<mlir::ModuleOp> module; // one public tt.func named as the kernel, private helpers
  std::vector<KernelArgument> arguments;
  std::vector<std::string> printed;         // output of static_print
};

/// Elaborates `kernel` for `params` (one per parameter of the function, in order). Null module after errors, which are reported.
/// The module passes MLIR's verifier. The context must have tt, arith, math, scf and ub loaded.
Elaborated elaborate(mlir::MLIRContext &context, const ModuleScope &scope, const ast::Function &kernel, const std::vector<ParamSpec> &params, const ElaborateOptions &options,
                     Diagnostics &diagnostics);

/// Elaborates a function of the embedded standard library (or of `scope`) as a private tt.func for argument types, for passes that expand an op into library code.
/// Returns null when there is no such function. The function is added to `module` under a unique name and found again on the second call.
mlir::Operation *elaborateLibraryFunction(mlir::ModuleOp module, const std::string &libraryModule, const std::string &name, const std::vector<mlir::Type> &argumentTypes);

} // namespace tk::lang
