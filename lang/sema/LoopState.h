// What a loop carries from one iteration to the next, and the assumption about its types under which the body is elaborated.
//
// A variable that is assigned in the loop and has a value before it is carried. At first a compile-time value is assumed to stay what it is; when the body gives it another value, or a
// run-time one, the assumption becomes the type that unites both and the body is elaborated again, the first attempt being thrown away. A run-time value's type is fixed: another one is an error.
#pragma once
#include "lang/sema/Elaborator.h"

namespace tk::lang {

class LoopState {
public:
  LoopState(Elaborator &elaborator, const std::set<std::string> &assigned, const std::set<std::string> &targets, SourceRange range);

  /// The environment at the start of an iteration: carried variables are new arguments of `block`.
  void enter(mlir::Block &block);
  /// Compares what the body left with the assumption. False: the assumption has been widened, elaborate again.
  bool settle(const Environment &env, bool allVariables);
  /// The carried parts before the loop, and at the end of an iteration (emitted at the insertion point).
  llvm::SmallVector<mlir::Value> initial();
  llvm::SmallVector<mlir::Value> parts(const Environment &env);
  /// The environment after the loop; `results` has the carried parts.
  void leave(llvm::ArrayRef<mlir::Value> results);
  /// Variables without one type: reported when the assumption has settled. True: there are some; every variable of the loop is an error value then.
  bool reportConflicts();
  const std::vector<std::string> &carriedNames() const { return carried; }
  const Value &assumption(const std::string &name) const { return assumed.find(name)->second; }

private:
  Elaborator &e;
  SourceRange range;
  Environment before;
  std::vector<std::string> carried, inside;
  std::map<std::string, Value> assumed;
  std::map<std::string, Binding> conflicts;
  std::map<std::string, SourceRange> places; // where the names of `inside` are assigned
  unsigned attempts = 0;
};

/// Bounds of a counting loop: an ascending loop variable from `lower` to `upper` by `step`, and the range's value for it.
struct LoopBounds {
  mlir::Value lower, upper, step;
  std::function<Runtime(mlir::Value)> variable;
};

} // namespace tk::lang
