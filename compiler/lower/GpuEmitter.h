// Emission of one kernel in ttg as LLVM IR for a GPU: the state behind the Lower*.cpp files, one for each family of operations (private to this folder).
//
// A tile is the list of a thread's registers, each an LLVM value: never a struct or vector. Control flow is structured and becomes blocks and phis, one for each register.
#pragma once
#include "compiler/analysis/AxisInfo.h"
#include "compiler/lower/GpuTarget.h"
#include "compiler/lower/SourcePlace.h"
#include "runtime/KernelAbi.h"
#include "llvm/IR/DIBuilder.h"
#include "llvm/IR/Module.h"
#include <map>

namespace tk::lower {

using Registers = llvm::SmallVector<llvm::Value *, 8>;
struct ShufflePlan;

/// What the warps that execute the same code are: the function's, or those of one partition. Saved and restored as a whole.
struct WarpRegion {
  llvm::BasicBlock *entry = nullptr;                               // dominates the region; what threads know of themselves is computed at its end
  llvm::Value *thread = nullptr, *lane = nullptr, *warp = nullptr; // counted from the region's first warp
  unsigned numWarps = 1;
  unsigned barrierId = 0; // kBlockBarrier: of all threads of the block
  llvm::Value *group = nullptr; // warp / 4, made where it is first asked for
  std::map<std::pair<std::vector<uint32_t>, std::vector<uint32_t>>, llvm::Value *> threadIndices;
};

/// The region's state is a base, so that each operation finds `lane`, `warp` and the others by these names, whoever executes it.
class GpuEmitter : private WarpRegion {
public:
  GpuEmitter(llvm::Module &module, GpuTarget &target, runtime::KernelAbi &abi) : module(module), context(module.getContext()), b(context), target(target), abi(abi) {}
  /// Emits the entry point. False with `error` set when the kernel has something that the target can't do.
  bool emitKernel(tt::FuncOp function);
  std::string error;
  mlir::LocationAttr errorLocation;

private:
  // GpuEmitter.cpp: frame
  void fail(mlir::Operation *op, const llvm::Twine &why);
  void setLocation(mlir::Operation *op);
  /// The type of an element in a register: half and bfloat for 16-bit floats, i8 for 8-bit ones, ptr addrspace(1) for pointers.
  llvm::Type *valueType(mlir::Type element);
  llvm::Constant *constant(mlir::Attribute value, mlir::Type element);
  llvm::Value *scalar(mlir::Value value);
  const Registers &registers(mlir::Value value); // of a tile, or the one of a scalar
  void define(mlir::Value value, Registers values);
  llvm::Value *word(uint32_t value) { return b.getInt32(value); }
  /// XOR of the bases that the bits of the lane and warp number select: the thread's part of an index. Made once a region for each list of bases.
  llvm::Value *threadIndex(llvm::ArrayRef<uint32_t> lane, llvm::ArrayRef<uint32_t> warp);
  llvm::Value *threadIndex(const ttg::TileLayout &layout) { return threadIndex(layout.lane, layout.warp); }
  /// index of register `number` of this thread in the tile's row-major order.
  llvm::Value *elementIndex(const ttg::TileLayout &layout, unsigned number);
  /// i1: this thread is the one of those with the same elements that has side effects; null when there are no others.
  llvm::Value *isOwner(const ttg::TileLayout &layout);
  /// i1: these bits of the lane's and the warp's number are 0; null when there are none.
  llvm::Value *areZero(uint32_t laneBits, uint32_t warpBits);
  llvm::Value *bothOf(llvm::Value *a, llvm::Value *b); // conjunction of predicates; null is true
  void ifThen(llvm::Value *condition, llvm::function_ref<void()> then);

  // Shared memory
  /// Offset of the operation's scratch in the block's shared memory.
  uint64_t scratchOffset(mlir::Operation *op);
  llvm::Value *sharedAddress(uint64_t offset, llvm::Value *bytes = nullptr); // ptr addrspace(3)
  void storeShared(llvm::Value *address, llvm::Value *value);                // of any value type; i1 as a byte
  llvm::Value *loadShared(llvm::Value *address, llvm::Type *type);
  void barrier(); // of the region's threads
  /// One thread makes the value, all get it.
  llvm::Value *once(mlir::Operation *op, llvm::Type *type, llvm::function_ref<llvm::Value *()> make);

  // Bits of values
  llvm::Value *toBits(llvm::Value *value);                    // an integer of the value's width (i1: i8)
  llvm::Value *fromBits(llvm::Value *bits, llvm::Type *type);
  /// Any value through a function on 32-bit words (shuffles), piece by piece.
  llvm::Value *byWords(llvm::Value *value, llvm::function_ref<llvm::Value *(llvm::Value *)> move);

  // LowerControl.cpp
  void emitBlock(mlir::Block &block);
  void emitOperation(mlir::Operation *op);
  void emitFor(mlir::scf::ForOp op);
  void emitIf(mlir::scf::IfOp op);
  void emitWhile(mlir::scf::WhileOp op);
  struct Phis;

  // LowerArithmetic.cpp
  void emitElementwise(mlir::Operation *op);
  llvm::Value *elementwise(mlir::Operation *op, llvm::ArrayRef<llvm::Value *> operands);
  /// `owner`: of the threads that make the same combination, this is the one that prints; null: no others do.
  llvm::SmallVector<llvm::Value *> combine(mlir::Region &region, llvm::ArrayRef<llvm::Value *> operands, llvm::Value *owner = nullptr);
  friend class GpuArithmetic;

  // LowerViews.cpp
  void emitConstant(mlir::Operation *op);
  void emitMakeRange(tt::MakeRangeOp op);
  void emitView(mlir::Operation *op);
  void emitJoin(tt::JoinOp op);
  void emitSplit(tt::SplitOp op);
  void emitCat(tt::CatOp op);

  // LowerMemory.cpp
  void emitLoad(tt::LoadOp op);
  void emitStore(tt::StoreOp op);
  llvm::SmallVector<llvm::Value *> pack(llvm::ArrayRef<llvm::Value *> elements, unsigned wordBits); // elements of one vector -> words
  Registers unpack(llvm::ArrayRef<llvm::Value *> words, unsigned elements, mlir::Type element);

  // LowerEdges.cpp
  /// The mask of a thread's vector: `whole` where it is true for all elements, `partial` where it is true for some (or might be: then for no element).
  struct Edge {
    llvm::Value *whole = nullptr, *partial = nullptr;
  };
  llvm::SmallVector<Edge> edgesOf(mlir::Operation *access, unsigned vector, unsigned count);
  llvm::SmallVector<llvm::Value *> edgeMasks(mlir::Operation *access, unsigned vector, unsigned first);
  llvm::Value *neighbour(llvm::Value *address, unsigned elements, mlir::Type element); // the address so many elements behind
  void atEdges(llvm::ArrayRef<Edge> edges, llvm::function_ref<void(unsigned)> vector, llvm::MutableArrayRef<llvm::SmallVector<llvm::Value *>> results = {});
  void emitEdgedLoad(tt::LoadOp op, unsigned vector);
  void emitEdgedStore(tt::StoreOp op, unsigned vector);

  // LowerAtomics.cpp
  void emitAtomic(mlir::Operation *op);

  // LowerConversion.cpp
  void emitConversion(ttg::ConvertLayoutOp op);
  struct ShuffleSteps;
  Registers shuffled(const Registers &source, const ttg::TileLayout &from, const ttg::TileLayout &to, const ShufflePlan &plan, mlir::Type element);

  // LowerShared.cpp
  /// Address of the element `index` more than what the bits of this thread's lane and warp number stand for; bases and `index` are row-major indices, offsets are in elements.
  llvm::Value *sharedPlace(llvm::Value *base, llvm::ArrayRef<uint32_t> offsetOfIndexBit, llvm::ArrayRef<uint32_t> lanes, llvm::ArrayRef<uint32_t> warps, uint32_t index, unsigned bytes);
  llvm::Value *memory(mlir::Value descriptor); // its first byte
  void emitLocalAlloc(ttg::LocalAllocOp op);
  void emitMemDescIndex(ttg::MemDescIndexOp op);
  void emitLocalLoad(ttg::LocalLoadOp op);
  void emitMatrixLoad(ttg::LocalLoadOp op, llvm::ArrayRef<uint32_t> offsets);
  void storeTile(mlir::Value tile, mlir::Value descriptor);
  void emitAsyncCopy(ttg::AsyncCopyOp op);

  // LowerReduction.cpp, LowerScan.cpp
  void emitReduce(tt::ReduceOp op);
  void emitScan(tt::ScanOp op);
  struct Scan;

  // LowerGather.cpp
  void emitGather(tt::GatherOp op);
  void emitHistogram(tt::HistogramOp op);

  // LowerMatrix.cpp
  void emitDot(tt::DotOp op);
  void emitMatrixUnit(tt::DotOp op, ttg::MmaAttr unit);
  llvm::Value *truncateToTf32(llvm::Value *value);
  // LowerWarpgroup.cpp
  llvm::Value *warpgroup(); // the number of the thread's group of four warps in its region
  void emitWarpgroupDot(ttg::WarpgroupDotOp op);
  void emitWarpgroupWait(ttg::WarpgroupWaitOp op);
  // LowerMultiplyAdd.cpp
  void emitMultiplyAdd(tt::DotOp op);
  llvm::Value *toComputeType(llvm::Value *value, mlir::Type element, bool truncatesToTf32);

  // LowerWarps.cpp
  struct Workers {
    llvm::BasicBlock *head = nullptr, *idle = nullptr;
    llvm::Value *thread = nullptr, *warp = nullptr; // their numbers in the block
    llvm::Value *number = nullptr;                  // of the division that they shall take part in
    std::vector<llvm::BasicBlock *> divisions;      // where the workers begin with each
    uint64_t dispatch = 0;                          // where the number is in shared memory
  };
  using Handed = llvm::DenseMap<mlir::Value, std::pair<uint64_t, llvm::Type *>>; // offset in shared memory
  void blockBarrier();
  void beginWorkers(tt::FuncOp kernel);
  void endWorkers();
  void dispatch(unsigned number);
  void meet(unsigned launch, unsigned changed);
  void emitWarpSpecialize(ttg::WarpSpecializeOp op);
  void emitPartition(ttg::WarpPartitionOp op, unsigned first, unsigned barrierNumber, unsigned launch, unsigned changed, Handed &handed);
  void emitMbarrier(mlir::Operation *op);

  // LowerDebug.cpp
  void emitPrint(tt::PrintOp op);
  void emitAssert(tt::AssertOp op);
  unsigned printSite(mlir::Operation *op); // its number in the kernel's description
  void writeRecord(mlir::Operation *op, unsigned operand, llvm::Value *element, llvm::Value *bits);
  std::pair<llvm::Value *, llvm::Value *> trueElement(const ttg::TileLayout &layout, unsigned number, llvm::ArrayRef<int64_t> padded, llvm::ArrayRef<int64_t> extents);

  llvm::Module &module;
  llvm::LLVMContext &context;
  llvm::IRBuilder<> b;
  GpuTarget &target;
  runtime::KernelAbi &abi;
  std::unique_ptr<compiler::AxisInfoAnalysis> axes;

  llvm::Function *function = nullptr;
  llvm::Value *shared = nullptr, *printBuffer = nullptr;
  llvm::Value *combineOwner = nullptr; // in a combine region: see combine()
  std::optional<Workers> workers;      // the warps beyond the function's; none where nothing divides the warps
  llvm::DenseMap<mlir::Value, Registers> values;
  llvm::DenseMap<mlir::Operation *, unsigned> printSites;
  llvm::DISubprogram *subprogram = nullptr;
};

} // namespace tk::lower
