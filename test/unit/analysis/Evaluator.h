// Executes integer and pointer operations of tt element by element, and shows every value to a visitor. Apart from the interpreter: values of unreached
// operations and of each iteration are seen, pointers are plain addresses, and what the language leaves unspecified ends the execution.
#pragma once
#include "dialects/tt/TT.h"
#include "llvm/ADT/APInt.h"
#include <functional>
#include <map>
#include <vector>

namespace tk::test {

/// The elements in row-major order, each of the type's width (pointers: 64).
using Elements = std::vector<llvm::APInt>;

/// What ends an execution: a division by zero or a loop that takes too long.
struct Unspecified {};
/// What takes the ground from all that came before: a false assumption.
struct Undefined {};

class Evaluator {
public:
  std::function<void(mlir::Value, const Elements &)> seen;
  std::function<void(mlir::Operation *, const Elements &dividend)> divided;

  void set(mlir::Value value, Elements elements);
  void run(mlir::Block &block);

private:
  const Elements &of(mlir::Value value) const { return values.at(value); }
  Elements operands(mlir::Operation *op, size_t element) const;
  void execute(mlir::Operation *op);
  bool control(mlir::Operation *op);
  Elements movement(mlir::Operation *op);
  Elements elementwise(mlir::Operation *op);
  void setAll(mlir::ValueRange values, const std::vector<Elements> &elements);
  std::vector<Elements> all(mlir::ValueRange values) const;

  struct Less {
    bool operator()(mlir::Value a, mlir::Value b) const { return a.getAsOpaquePointer() < b.getAsOpaquePointer(); }
  };
  std::map<mlir::Value, Elements, Less> values;
};

} // namespace tk::test
