// The machine: executes flattened code for one program after another, and sets programs aside that wait for another.
#pragma once
#include "compiler/interpret/Code.h"
#include "compiler/interpret/Interpreter.h"
#include "compiler/interpret/Memory.h"
#include <deque>

namespace tk::interpret {

/// An activation of a function or region.
struct Frame {
  const Code *code = nullptr;
  uint32_t pc = 0;
  uint64_t lanes = 1; // elements that each scalar of a region stands for
  const Instruction *call = nullptr; // the call to return to; null: a kernel or a region
  std::vector<TileRef> slots;
  std::vector<uint64_t> registers;
  std::vector<TileRef> returned; // of a region

  void enter(const Code &code);
};

/// A program: what must be kept to go on with it later.
struct Task {
  std::array<int32_t, 3> id = {};
  uint64_t linear = 0;
  std::vector<Frame *> stack;
  unsigned doubt = 0;       // nested regions entered by an uncertain condition
  unsigned nested = 0;      // regions being evaluated: no suspension inside
  uint64_t backEdges = 0;   // of waiting loops since it was resumed
  uint64_t seenVersion = 0; // memory's at the latest back edge
  bool stuck = false;       // set aside in a state that repeats until memory changes
};

class Machine {
public:
  Machine(const Launch &launch, Image &image);
  Result runAll();

  const Launch &launch;
  Memory memory;
  Frame *frame = nullptr;
  Task *task = nullptr;
  uint64_t operations = 0;  // elements computed
  uint64_t executed = 0;    // stores and atomics, as a clock
  bool freeRounding = false; // in a combine region: the bracketing is free, so every rounding counts
  bool suspend = false;     // the current program gives way

  // ---- operands and results ----
  const Tile &in(const Instruction &i, unsigned operand) const { return *frame->slots[i.operands[operand]]; }
  const Slot &resultSlot(const Instruction &i, unsigned result = 0) const { return frame->code->slots[i.results[result]]; }
  /// A new tile for a result, its elements unset, without bounds.
  Tile &out(const Instruction &i, unsigned result = 0);
  /// The operand's value as the result, without a copy.
  void share(const Instruction &i, unsigned operand, unsigned result = 0) { frame->slots[i.results[result]] = frame->slots[i.operands[operand]]; }
  TileRef fresh(ElementType type, uint64_t count);
  void release(TileRef &tile);

  // ---- regions ----
  /// Prepares `inner` for the region: captures are taken from the current frame.
  void enterRegion(Frame &inner, const Code &code, uint64_t lanes);
  /// Runs it on `arguments`; the values are in inner.returned. False after a fault.
  bool runRegion(Frame &inner, llvm::ArrayRef<TileRef> arguments);

  // ---- faults ----
  bool stopped() const { return result.status != Result::Ok; }
  void stop(Result::Status status, std::string message);
  /// Stops with "file:line: text"; `element` counts along the shape of `type`.
  void fault(const Instruction &i, std::string text);
  /// " of element [1, 2]" for a tile, nothing for a scalar.
  std::string elementName(mlir::Type type, uint64_t element) const;
  std::string programName() const;

  // ---- control ----
  void enterCall(const Instruction &call);
  void leave(const Instruction &ret);
  void backEdge(bool changed, bool waits);

private:
  enum class Outcome { Finished, Suspended, Stopped };
  Outcome execute(size_t floor);
  void start(Task &task);
  bool nextTask(std::deque<std::unique_ptr<Task>> &waiting, std::unique_ptr<Task> &current);
  Frame *newFrame(const Code &code);
  void dropFrame(Frame *frame);

  Image &image;
  Result result;
  std::vector<TileRef> scalarPool, tilePool;
  std::vector<std::unique_ptr<Frame>> frames;
  std::vector<Frame *> freeFrames;
  uint64_t nextProgram = 0, programCount = 0;
  uint64_t edgesWithoutChange = 0, edgeVersion = 0;
};

} // namespace tk::interpret
