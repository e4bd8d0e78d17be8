// A function of tt flattened into a list of instructions over numbered slots, with jumps for the structured control flow.
//
//   scf.for %i = %a to %b step %c iter_args(%x = %y) { ... scf.yield %z }     becomes
//
//   0 move y -> x            3 ... body ...            6 move x -> result
//   1 begin loop a, b, c     4 move z -> x             7 join (bounds, when the trip count was uncertain)
//   2 test, exit to 6        5 jump to 2
//
// Why flat: the state of a program is then a counter and its slots, so a program that waits for another one is set aside and taken up again without stacks of its own,
// and nesting costs no recursion.
#pragma once
#include "compiler/interpret/Tile.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseMap.h"
#include <memory>
#include <string>
#include <vector>

namespace tk::interpret {

class Machine;
struct Code;
struct Instruction;
using Handler = void (*)(Machine &, const Instruction &);

/// The place of one SSA value.
struct Slot {
  ElementType type;
  llvm::SmallVector<int64_t, 2> shape;
  uint64_t count = 1;
};

struct Instruction {
  Handler run = nullptr;
  mlir::Operation *op = nullptr; // for its location, types and rare attributes
  llvm::SmallVector<uint32_t, 3> operands, results;
  llvm::SmallVector<uint32_t, 2> releases; // slots that nobody reads after this instruction
  uint32_t target = 0;                     // of a jump
  uint32_t detail = 0;                     // what the handler was chosen for: a comparison's outcomes, an axis
  uint32_t reg = 0;                        // first register of a loop or branch
  bool waits = false;                      // a back edge of a loop that may wait for another program
  llvm::SmallVector<int64_t, 0> numbers;   // index_switch: cases; shape operations: extents, strides
  llvm::SmallVector<uint32_t, 0> targets;  // index_switch
  TileRef constant;
  Code *code = nullptr; // callee or combine region
};

struct Code {
  std::vector<Instruction> instructions;
  std::vector<Slot> slots; // the arguments come first
  uint32_t arguments = 0;
  uint32_t registers = 0;
  std::vector<std::pair<uint32_t, uint32_t>> captures; // of a region: slot outside, slot inside
  /// Only elementwise scalar operations: runs on many elements at once.
  bool laneable = false;
  /// A combine region that is one operation of its two arguments, in order.
  mlir::Operation *single = nullptr;
};

/// All code of a kernel: its function, callees and regions.
struct Image {
  std::vector<std::unique_ptr<Code>> codes;
  Code *kernel = nullptr;
  std::string error; // when not empty: why there is no code, with the place
};

/// Flattens the function named `kernel` and all it calls.
Image flatten(mlir::ModuleOp module, llvm::StringRef kernel);

/// False when the type is none of tt's.
bool elementTypeOf(mlir::Type type, ElementType &result);
bool slotOf(mlir::Type type, Slot &slot);
/// "file:line" of the innermost file location, or "unknown".
std::string placeOf(mlir::Location location);

// The handlers of the operation families: null when the operation is not theirs. `instruction` may be completed.
Handler selectArithmetic(mlir::Operation *op, Instruction &instruction);
Handler selectConversion(mlir::Operation *op, Instruction &instruction);
Handler selectMath(mlir::Operation *op, Instruction &instruction);
Handler selectShape(mlir::Operation *op, Instruction &instruction);
Handler selectMemory(mlir::Operation *op, Instruction &instruction);
Handler selectAtomic(mlir::Operation *op, Instruction &instruction);
Handler selectReduction(mlir::Operation *op, Instruction &instruction);
Handler selectMatrix(mlir::Operation *op, Instruction &instruction);
Handler selectGrid(mlir::Operation *op, Instruction &instruction);
Handler selectDebug(mlir::Operation *op, Instruction &instruction);

// Control instructions (InterpretControl.cpp).
void runConstant(Machine &, const Instruction &);
void runMove(Machine &, const Instruction &);
void runJump(Machine &, const Instruction &);
void runBranch(Machine &, const Instruction &);
void runSwitch(Machine &, const Instruction &);
void runForBegin(Machine &, const Instruction &);
void runForTest(Machine &, const Instruction &);
void runForNext(Machine &, const Instruction &);
void runCondition(Machine &, const Instruction &);
void runBackEdge(Machine &, const Instruction &);
void runEnter(Machine &, const Instruction &);
void runJoin(Machine &, const Instruction &);
void runCall(Machine &, const Instruction &);
void runReturn(Machine &, const Instruction &);

} // namespace tk::interpret
