// From what a caller has (values, arrays, a signature text) to ParamSpecs, and what a kernel's decorators and annotations say.
//
// The rules are the usual ones of host-side specialization: an unannotated integer is i32, i64 or u64 by value, 1 is folded to a constant and divisibility by 16 is
// noted; a float is fp32, a bool i1, None a constant; a constexpr parameter takes any value; an annotation fixes the type. Nothing here needs MLIR.
#pragma once
#include "lang/sema/Elaborate.h"
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tk::lang {

/// What a parameter's annotation says: `constexpr`, `tl.constexpr`, `i32`, `tl.int64`, `ptr[fp32]`, "*fp32:16", `tl.const`. An annotation with another meaning (`torch.Tensor`)
/// gives all fields their defaults.
struct Annotation {
  bool isConstexpr = false;
  bool isConst = false;          // tl.const or "*k...": never stored to
  std::optional<TypeValue> type; // the fixed type of a scalar or pointer
  unsigned divisibility = 1;     // from "*fp32:16" or "i32:16"
};

/// Empty without an annotation. Errors inside it are reported.
std::optional<Annotation> annotationOf(const ModuleScope &scope, const ast::Parameter &parameter, Diagnostics &diagnostics);

/// What stands above a kernel. The pointers live as long as the scope.
struct KernelDecorators {
  bool hasGrid = false;
  std::vector<const ast::Expr *> grid;       // the expressions of @tk.grid, one to three; `@tk.grid((a, b))` and a lambda are left as the one expression they are
  std::vector<const ast::Call *> examples;   // each @tk.example(...): its keywords are parameter values, its `grid=` (if any) is not a parameter's
  std::vector<bool> doNotSpecialize;            // per parameter
  std::vector<bool> doNotSpecializeOnAlignment; // per parameter
  bool noinline = false;
};
KernelDecorators decoratorsOf(const ModuleScope &scope, const ast::Function &function, Diagnostics &diagnostics);

struct SpecializeOptions {
  bool specialize = true;           // false: do_not_specialize (neither folds 1 nor notes divisibility)
  bool alignment = true;            // false: do_not_specialize_on_alignment
  bool foldOne = true;              // false: 1 is an integer like others
  unsigned addressDivisibility = 1; // of an array's base address, in bytes: 16 when it is divisible by 16
  std::function<unsigned(size_t)> elementAddresses; // the same of each element of a tuple; empty: 1
};

/// The spec of one parameter for a value: an integer, a float, a bool, None, an array or an initialiser with a dtype (becomes a Pointer), a tuple (element by element), or anything when the
/// annotation is constexpr. Strings, dtypes and functions become constants also without the annotation. Empty with `error` filled (worded for a diagnostic after the
/// parameter's name: "is out of range of i32") when the value can't stand for the parameter.
std::optional<ParamSpec> specializeParam(const ConstValue &value, const std::optional<Annotation> &annotation, const SpecializeOptions &options, std::string &error);

/// The bits of a host scalar as an argument of type `type`, zero-extended: rounded to nearest even for floats, wrapped never. Empty when the value doesn't fit or has no such form.
std::optional<uint64_t> scalarBits(const ConstValue &value, DType type);

/// Specs from a signature text for ahead-of-time compilation: "*fp32:16, *fp32:16, i32, i32:16, 1024, BLOCK=1024". Entries go to the parameters in order, `NAME=...` by name. An entry is
/// a type spelling with an optional `:16` or `:1`, or a constant expression evaluated in the module (a function, a dtype for a constexpr parameter, None, 1024). Parameters without an
/// entry take their default as a constant. Empty after errors, which are reported against the text (a file named "signature" that `diagnostics` keeps alive is not needed: the caller passes `file`).
std::optional<std::vector<ParamSpec>> parseSignature(const ModuleScope &scope, const ast::Function &kernel, const SourceFile &file, Diagnostics &diagnostics);

/// A spec as text, for keys and messages: "*fp32:16", "i32", "=1024".
std::string describe(const ParamSpec &spec);

} // namespace tk::lang
