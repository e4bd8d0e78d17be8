// Emission of one kernel as LLVM IR: the shared state behind the Emit*.cpp files (private to this folder; README.md says what each file does).
#pragma once
#include "compiler/lower/Arithmetic.h"
#include "compiler/lower/FloatBits.h"
#include "compiler/lower/SourcePlace.h"
#include "compiler/target/cpu/Plan.h"
#include "llvm/IR/DIBuilder.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include <map>
#include <optional>

namespace tk::cpu {

using lower::decodeFloat;
using lower::encodeFloat;
using lower::isNarrowFloat;
using lower::likeType;
using lower::roundFloat;
using lower::roundToOdd;

/// What the emission needs to know of the machine.
struct MachineFacts {
  unsigned vectorBytes = 32; // of one register
  bool maskedAccess = true;  // masked loads of 32- and 64-bit elements
  std::string cpu, features;
};

/// A tile in memory: element (i0, i1, ...) at base + sum i_k * strides[k], in elements of `type`.
struct Buffer {
  llvm::Value *base = nullptr;
  llvm::SmallVector<int64_t> strides;
  llvm::Type *type = nullptr;
};

/// Where a tile is evaluated: one index per dimension; the lane dimension holds `lanes` consecutive indices from its index on.
/// lanes == 0: one element, and no dimension is the lane dimension.
struct Point {
  llvm::SmallVector<llvm::Value *, 4> index; // i64
  int laneDim = -1;
  unsigned lanes = 0;
  bool operator<(const Point &other) const { return std::tie(laneDim, lanes, index) < std::tie(other.laneDim, other.lanes, other.index); }
};

/// A scalar (the same in every lane) or a vector of the point's lanes.
struct LaneValue {
  llvm::Value *value = nullptr;
  bool isVector = false;
};

/// The state of one row of a group: what is known before its lane loop.
struct AccessInfo {
  bool contiguous = false; // lane stride 1
  llvm::Value *rowBase = nullptr; // address at lane 0
  bool structuralMask = true;     // the mask is true exactly for lanes < rowBound
};
struct Row {
  llvm::DenseMap<mlir::Operation *, AccessInfo> accesses;
  llvm::Value *bound = nullptr; // lanes below it have every structural mask true (i64), null: all
  llvm::Value *exact = nullptr; // i1: no 32-bit offset wraps within the row; null: always so
  struct Ahead {
    llvm::Value *address; // of the first body's first line
    int64_t lines;        // a body
    bool write;
  };
  llvm::SmallVector<Ahead> prefetches;
};

enum class BodyMode { Full, Masked, Single };

class Emitter {
public:
  Emitter(llvm::Module &module, const MachineFacts &facts, mlir::ModuleOp source) : module(module), context(module.getContext()), b(context), facts(facts), source(source) {}
  /// Emits the entry point for a public function. False with `error` set when the kernel has something the CPU can't do yet.
  bool emitKernel(tt::FuncOp function);
  uint64_t arenaBytes() const { return arenaHigh; }
  bool spins() const { return callsYield; }
  std::string error;
  mlir::LocationAttr errorLocation;

private:
  using VectorLike = llvm::ArrayRef<llvm::Value *>;

  // Emitter.cpp: frame
  void fail(mlir::Operation *op, const llvm::Twine &why);
  llvm::Type *registerType(mlir::Type element);
  llvm::Type *memoryType(mlir::Type element);
  llvm::Type *bufferType(mlir::Type element);
  llvm::Value *i64(int64_t value) { return b.getInt64(value); }
  llvm::Value *local(llvm::Type *type, const llvm::Twine &name);
  Buffer allocate(mlir::Type tile, int laneDim = -1);
  Buffer allocateArray(llvm::Type *type, llvm::ArrayRef<int64_t> shape, int laneDim = -1);
  llvm::Value *scalar(mlir::Value value);
  llvm::Constant *constant(mlir::Attribute value, mlir::Type element);
  void setLocation(mlir::Operation *op);
  void forLoop(llvm::Value *begin, llvm::Value *end, int64_t step, const llvm::Twine &name, llvm::function_ref<void(llvm::Value *)> body);
  void ifThen(llvm::Value *condition, llvm::function_ref<void()> then, llvm::function_ref<void()> otherwise = nullptr);
  /// Calls `body` for every index of `shape`, as nested loops in order.
  void forEach(llvm::ArrayRef<int64_t> shape, llvm::function_ref<void(llvm::ArrayRef<llvm::Value *>)> body);

  // EmitControl.cpp
  void emitBlock(mlir::Block &block, llvm::ArrayRef<Buffer> slots, llvm::ArrayRef<llvm::Value *> scalarSlots);
  void emitStep(Plan &plan, unsigned index, llvm::ArrayRef<Buffer> copyTargets);
  void emitScalar(mlir::Operation *op);
  void emitAlone(mlir::Operation *op);
  void emitFor(mlir::scf::ForOp op);
  void emitIf(mlir::scf::IfOp op);
  void emitWhile(mlir::scf::WhileOp op);
  void materializeInto(mlir::Value value, const Buffer &target);
  Buffer bufferOf(mlir::Value value);
  void copyBuffer(const Buffer &from, const Buffer &to, mlir::Type tile);
  void defineResults(mlir::Operation *op, llvm::ArrayRef<Buffer> tiles, llvm::ArrayRef<llvm::Value *> locals);

  // EmitPrefetch.cpp
  struct Prefetch {
    mlir::Value pointer; // a tile
    bool write;
    int64_t firstLine, linesPerBody; // of the row's cache lines
  };
  struct Ahead {
    bool active = false, failed = false, moves = false; // moves: depends on the program id
    llvm::DenseMap<mlir::Value, llvm::Value *> known;
  };
  Ahead *ahead = nullptr; // set while addresses are evaluated before their place
  llvm::Value *scalarAhead(mlir::Value value);
  llvm::SmallVector<Prefetch> choosePrefetches(const Plan &plan, unsigned index);
  Prefetch prefetchShare(const Plan &plan, llvm::ArrayRef<unsigned> groups, unsigned index, mlir::Value pointer, bool write);
  struct Group;
  void beginPrefetches(const Group &group, Row &row, const Point &point);
  void emitPrefetches(const Row &row, const Point &point);

  // EmitGroup.cpp
  struct GroupOut {
    mlir::Value value;
    Buffer buffer;
  };
  struct Group {
    llvm::ArrayRef<mlir::Operation *> ops;
    llvm::ArrayRef<int64_t> shape;
    llvm::SmallVector<GroupOut> outs; // written at every point
    llvm::SmallVector<Prefetch> prefetches;
    int laneDim = -1;
    unsigned lanes = 1;
  };
  void emitGroup(const Step &step, llvm::ArrayRef<GroupOut> outs, llvm::ArrayRef<Prefetch> prefetches = {});
  void emitGroupLoops(Group &group);
  void defineReduced(const Step &step);
  void emitNest(Group &group, unsigned dim, Point &point);
  void emitRow(Group &group, Point point);
  void emitLanes(Group &group, const Row &row, Point point, unsigned lanes, llvm::Value *begin, llvm::Value *end, BodyMode mode);
  void emitBody(Group &group, const Row &row, Point point, BodyMode mode);
  int chooseLaneDim(const Step &step);
  unsigned chooseLanes(const Group &group);
  void beginReductions(Group &group, unsigned lanes);
  void accumulate(tt::ReduceOp op, const Point &point, llvm::Value *valid, BodyMode mode);
  void finishReductions(Group &group, Point point, unsigned lanes);
  llvm::SmallVector<LaneValue> combine(mlir::Region &region, llvm::ArrayRef<LaneValue> operands);
  llvm::SmallVector<LaneValue> combineBlock(mlir::Block &block, llvm::DenseMap<mlir::Value, LaneValue> &values, unsigned lanes, LaneValue guard);
  llvm::SmallVector<llvm::Value *> combineAfterFirst(mlir::Region &region, llvm::Value *isFirst, llvm::ArrayRef<LaneValue> before, llvm::ArrayRef<LaneValue> element, unsigned lanes);
  bool isReorderable(tt::ReduceOp op);
  llvm::DenseMap<mlir::Value, llvm::SmallVector<llvm::Value *>> accumulators;
  llvm::DenseMap<mlir::Value, llvm::Value *> scalarResults; // slots of full reductions

  // EmitValue.cpp
  LaneValue eval(mlir::Value value, const Point &point);
  llvm::Value *evalVector(mlir::Value value, const Point &point);
  llvm::Value *evalScalar(mlir::Value value, const Point &point);
  llvm::Value *vectorize(LaneValue value, unsigned lanes);
  LaneValue loadBuffer(const Buffer &buffer, mlir::Type element, const Point &point);
  void storeBuffer(const Buffer &buffer, mlir::Type element, const Point &point, LaneValue value, llvm::Value *valid);
  Point throughView(mlir::Operation *view, const Point &point);
  /// A value of less than 64 bits that is widened: `value`, which is at `point` for lane 0, grows by `growth` a lane and must not wrap.
  struct Growth {
    mlir::Value value;
    int64_t growth;
    Point point;
  };
  std::optional<int64_t> laneStride(mlir::Value value, int dim, llvm::SmallVectorImpl<Growth> *wraps = nullptr, const Point *point = nullptr);
  bool constantRange(mlir::Value value, int64_t &low, int64_t &high);
  llvm::Value *laneIndices(unsigned lanes, llvm::Type *element);

  // EmitArithmetic.cpp
  LaneValue evalElementwise(mlir::Operation *op, llvm::ArrayRef<LaneValue> operands, unsigned lanes);
  llvm::Value *arithmetic(mlir::Operation *op, llvm::ArrayRef<llvm::Value *> operands);
  llvm::Value *mathCall(mlir::Operation *op, llvm::ArrayRef<llvm::Value *> operands);

  // EmitMemory.cpp
  bool tileAddress(mlir::Value pointer, mlir::Value &base, mlir::Value &offset);
  Row beginRow(Group &group, const Point &point);
  bool boundOfMask(mlir::Value mask, const Point &point, int laneDim, int64_t extent, llvm::Value *&bound, llvm::SmallVectorImpl<llvm::Value *> &exact);
  llvm::Value *noWrap(mlir::Value value, int64_t stride, const Point &point, int64_t extent);
  LaneValue emitLoad(tt::LoadOp op, const Row &row, const Point &point, llvm::Value *valid, BodyMode mode);
  void emitStore(tt::StoreOp op, const Row &row, const Point &point, llvm::Value *valid, BodyMode mode);
  void emitAtomic(mlir::Operation *op, const Point &point);
  llvm::Value *fromMemory(llvm::Value *bits, mlir::Type element);
  llvm::Value *toMemory(llvm::Value *value, mlir::Type element);
  llvm::Value *loadElement(mlir::Type element, llvm::Value *address, llvm::Value *mask, llvm::Value *other, bool isVolatile = false);
  void storeElement(mlir::Type element, llvm::Value *value, llvm::Value *address, llvm::Value *mask);

  // EmitServices.cpp
  void callService(size_t offset, llvm::ArrayRef<llvm::Value *> arguments);
  void emitYield();
  void emitAssert(tt::AssertOp op, llvm::Value *holds);
  void emitPrint(tt::PrintOp op);

  // EmitOverlap.cpp
  struct AffineForm {
    llvm::Value *constant = nullptr; // i64
    llvm::SmallVector<llvm::Value *> strides;
    llvm::Value *exact = nullptr; // i1 or null
  };
  std::optional<AffineForm> affineForm(mlir::Value value);
  /// i1: the group's loads and stores may share one loop; null when no test is needed; nothing when none is possible.
  std::optional<llvm::Value *> overlapTest(const Step &step);

  // EmitOperand.cpp
  /// A matrix in memory, in the arena or where it was loaded from: like a Buffer, with strides that may be known at run time only.
  struct Operand {
    llvm::Value *base;
    llvm::SmallVector<llvm::Value *> strides; // i64, in elements
    llvm::Type *type;
  };
  bool wholeMask(mlir::Value mask, llvm::SmallVectorImpl<llvm::Value *> &conditions);
  std::optional<Operand> operandInPlace(tt::LoadOp load, llvm::SmallVectorImpl<llvm::Value *> &conditions);
  void emitOperandLoad(tt::LoadOp load);
  Operand operandOf(mlir::Value value);
  Operand operandOf(const Buffer &buffer);
  void packOperand(const Operand &from, const Buffer &to, llvm::ArrayRef<int64_t> shape);
  llvm::DenseMap<mlir::Value, Operand> operands;

  // EmitDotWords.cpp
  /// How a dot multiplies: one product a lane, or `group` products of neighbours along the depth.
  struct DotUnit {
    enum Kind { Plain, Bytes, Pairs, Bf16 } kind;
    unsigned group;
  };
  DotUnit chooseUnit(tt::DotOp op);
  Operand packLeft(const Operand &from, DotUnit unit, llvm::ArrayRef<int64_t> shape);
  Operand packRight(Operand from, DotUnit unit, llvm::ArrayRef<int64_t> shape);
  Operand leftSums(const Operand &left, DotUnit unit, llvm::ArrayRef<int64_t> shape);
  llvm::Value *addProducts(DotUnit unit, llvm::Value *sum, llvm::Value *left, llvm::Value *right);
  llvm::Value *addressIn(const Operand &operand, llvm::ArrayRef<llvm::Value *> index);
  llvm::Value *loadLanes(const Operand &operand, llvm::ArrayRef<llvm::Value *> index, unsigned lanes);
  unsigned dividingLanes(int64_t extent) const;

  // EmitDot.cpp, EmitShape.cpp
  void emitDot(tt::DotOp op);
  void emitReshape(tt::ReshapeOp op);
  void emitElementMoves(mlir::Operation *op);
  void emitScan(tt::ScanOp op);
  void emitHistogram(tt::HistogramOp op);

  llvm::Module &module;
  llvm::LLVMContext &context;
  llvm::IRBuilder<> b;
  MachineFacts facts;
  mlir::ModuleOp source;

  llvm::Function *function = nullptr;
  llvm::BasicBlock *entry = nullptr;
  llvm::Value *arena = nullptr, *services = nullptr;
  llvm::Value *programIds[3] = {}, *gridSizes[3] = {};
  uint64_t arenaTop = 0, arenaHigh = 0;
  bool callsYield = false;

  llvm::DenseMap<mlir::Value, llvm::Value *> scalars;
  llvm::DenseMap<mlir::Value, Buffer> buffers;
  llvm::DenseMap<mlir::Value, Buffer> targets; // tiles that must be made in a given buffer
  /// Values already computed at a point, valid where the current code is dominated by them; a body restores the map at its end.
  std::map<std::pair<void *, Point>, LaneValue> memo;
  std::vector<std::pair<void *, Point>> memoTrail;
  struct MemoScope {
    Emitter &emitter;
    size_t mark;
    explicit MemoScope(Emitter &emitter) : emitter(emitter), mark(emitter.memoTrail.size()) {}
    ~MemoScope() {
      while (emitter.memoTrail.size() > mark)
        emitter.memo.erase(emitter.memoTrail.back()), emitter.memoTrail.pop_back();
    }
  };
  void remember(mlir::Value value, const Point &point, LaneValue result);

  llvm::DIFile *debugFile = nullptr;
  llvm::DISubprogram *subprogram = nullptr;
};

} // namespace tk::cpu
