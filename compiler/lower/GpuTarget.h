// What differs between GPUs in the lowering of ttg: one small interface, an implementation a vendor (compiler/target/nvidia).
//
// Words are i32, values in registers; `b` stands where the code goes. Nothing here knows layouts.
#pragma once
#include "dialects/ttg/TTG.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include <map>

namespace tk::lower {

/// One access of a thread to global memory: `words` words of `wordBits` (8, 16, 32, 64) at `address` (ptr addrspace(1), aligned to words * wordBits / 8).
struct GlobalAccess {
  llvm::Value *address = nullptr;
  llvm::Value *predicate = nullptr; // i1; null: always
  unsigned words = 1, wordBits = 32;
  tt::CacheModifier cache = tt::CacheModifier::NONE;
  tt::EvictionPolicy evict = tt::EvictionPolicy::NORMAL;
  bool isVolatile = false;

  /// Words of 32 bits where so many elements are that long, of 64 for elements of 64.
  void chooseWords(unsigned elements, unsigned elementBytes);
};

/// An atomic of one thread on global memory. `type` is the element's; values are integers of its width.
struct AtomicAccess {
  llvm::Value *address = nullptr, *predicate = nullptr;
  mlir::Type element;
  tt::MemSemantic sem = tt::MemSemantic::ACQUIRE_RELEASE;
  tt::MemSyncScope scope = tt::MemSyncScope::GPU;
  bool usesResult = true;
};

/// One instruction of a matrix unit: operands and accumulator as packed 32-bit registers (64-bit for fp64), in the order of the ISA's fragments.
struct MatrixInstruction {
  ttg::MatrixUnit unit;
  mlir::Type a, b, sum;  // element types; fp32 operands are tf32
  bool exactSums = true; // 8-bit floats: the sum has fp32's precision, even where the unit's own has less
};

/// Products of the groups of four warps that one operation stands for: for each step of K, for each block of 64 rows, for each block of columns one
/// instruction.
struct WarpgroupProduct {
  mlir::Type a, b, sum;
  unsigned columns = 8, rowBlocks = 1, columnBlocks = 1, steps = 1;
  /// Operands in shared memory: the address (ptr addrspace(3), the same in all threads of the group), how they lie, and where each instruction's part begins,
  /// in bytes: [row block][step], [column block][step].
  struct Memory {
    llvm::Value *address = nullptr;
    ttg::SwizzledMatrix matrix;
    bool isTransposed = false; // K is not the fast axis
    llvm::SmallVector<uint32_t> offsets;
  };
  std::optional<Memory> left;                 // else in registers:
  llvm::SmallVector<llvm::Value *> leftWords; // [row block][step][4]
  Memory right;
  /// Words of the sums, [row block][column block][..]. Empty: they begin with zero.
  llvm::SmallVector<llvm::Value *> sums;
  unsigned sumWords() const { return columns / (sum.getIntOrFloatBitWidth() == 16 ? 4 : 2); } // of one instruction
};

class GpuTarget {
public:
  virtual ~GpuTarget() = default;
  virtual unsigned lanes() const = 0;
  virtual llvm::CallingConv::ID kernelConvention() const = 0;
  /// Facts about the launch that code generation may rely on. `registers`: what a thread has at the launch when warps change it later; 0: whatever the code
  /// takes.
  virtual void annotateKernel(llvm::Function &function, unsigned threads, unsigned registers) = 0;

  virtual llvm::Value *threadId(llvm::IRBuilder<> &b) = 0; // i32, 0 <= id < threads of the block
  virtual llvm::Value *programId(llvm::IRBuilder<> &b, unsigned axis) = 0;
  virtual llvm::Value *numPrograms(llvm::IRBuilder<> &b, unsigned axis) = 0;

  /// The same value, of which the optimizer knows nothing, so that what is computed from it stays where it is.
  virtual llvm::Value *opaque(llvm::IRBuilder<> &b, llvm::Value *value) = 0;
  /// `threads` threads of whole warps, which meet at barrier `number` (0 to 15); 0: all threads of the block. Orders shared and global memory among them.
  virtual void barrier(llvm::IRBuilder<> &b, unsigned number, unsigned threads) = 0;
  /// Whether warp groups can change the number of their registers, and the change: it waits until there are as many.
  virtual bool changesRegisters() const = 0;
  virtual unsigned mostRegisters() const = 0; // that a thread may have at the launch; 0: any number
  virtual void setRegisters(llvm::IRBuilder<> &b, unsigned count, bool increases) = 0;
  /// Barriers in shared memory (8 bytes at `address`), for one thread to make, unmake, and arrive at; mbarrierTest: i1, the phase of this parity is complete.
  virtual bool hasMbarriers() const = 0;
  virtual void mbarrierInit(llvm::IRBuilder<> &b, llvm::Value *address, unsigned count) = 0;
  virtual void mbarrierInval(llvm::IRBuilder<> &b, llvm::Value *address) = 0;
  virtual void mbarrierArrive(llvm::IRBuilder<> &b, llvm::Value *address) = 0;
  virtual llvm::Value *mbarrierTest(llvm::IRBuilder<> &b, llvm::Value *address, llvm::Value *phase) = 0;
  /// The word of the lane whose number differs by `mask`, of lane `lane`, of the lane `distance` below (the own one where there is none).
  virtual llvm::Value *shuffleXor(llvm::IRBuilder<> &b, llvm::Value *word, unsigned mask) = 0;
  virtual llvm::Value *shuffleIndex(llvm::IRBuilder<> &b, llvm::Value *word, llvm::Value *lane) = 0;
  virtual llvm::Value *shuffleUp(llvm::IRBuilder<> &b, llvm::Value *word, unsigned distance) = 0;

  /// The words read; `others` (one a word, may be empty: then unspecified) where the predicate is false.
  virtual llvm::SmallVector<llvm::Value *> loadGlobal(llvm::IRBuilder<> &b, const GlobalAccess &access, llvm::ArrayRef<llvm::Value *> others) = 0;
  virtual void storeGlobal(llvm::IRBuilder<> &b, const GlobalAccess &access, llvm::ArrayRef<llvm::Value *> words) = 0;
  /// `bytes` (4, 8 or 16) from global to shared memory (ptr addrspace(3)), both aligned to them: under `predicate` (null: always), zeros without a read where `mask` (null: all) is
  /// false. Belongs to the group that the thread commits next.
  virtual void asyncCopy(llvm::IRBuilder<> &b, llvm::Value *to, llvm::Value *from, unsigned bytes, llvm::Value *mask, llvm::Value *predicate) = 0;
  virtual void asyncCommit(llvm::IRBuilder<> &b) = 0;
  /// Until the thread's groups but the last `pending` ones have arrived.
  virtual void asyncWait(llvm::IRBuilder<> &b, unsigned pending) = 0;
  /// A word of each of `count` (1, 2, 4) matrices of 8 rows of 16 bytes; lane 8 q + r has the address of row r of matrix q. Transposed: of 16-bit elements.
  virtual llvm::SmallVector<llvm::Value *> loadMatrix(llvm::IRBuilder<> &b, llvm::Value *address, unsigned count, bool transposed) = 0;

  /// Starts the products, which are a group of their own for waits; the words of the sums, which are theirs until waited for.
  virtual llvm::SmallVector<llvm::Value *> multiplyWarpgroups(llvm::IRBuilder<> &b, const WarpgroupProduct &product) = 0;
  /// Until all groups but the last `pending` ones are done; `sums` as they are then.
  virtual llvm::SmallVector<llvm::Value *> waitForProducts(llvm::IRBuilder<> &b, unsigned pending, llvm::ArrayRef<llvm::Value *> sums) = 0;
  /// The thread's writes to shared memory are seen by units that read it by themselves, after the next barrier.
  virtual void proxyFence(llvm::IRBuilder<> &b) = 0;

  /// The old value (unspecified where the predicate is false). Null with `error` set when the target has no such atomic.
  virtual llvm::Value *atomicUpdate(llvm::IRBuilder<> &b, const AtomicAccess &access, tt::RMWOp op, llvm::Value *value, std::string &error) = 0;
  virtual llvm::Value *atomicSwap(llvm::IRBuilder<> &b, const AtomicAccess &access, llvm::Value *expected, llvm::Value *value, std::string &error) = 0;

  /// An elementary function that the machine has itself (fp32 operands); null: the library or plain LLVM does it.
  virtual llvm::Value *math(llvm::IRBuilder<> &b, mlir::Operation *op, llvm::ArrayRef<llvm::Value *> operands) = 0;
  /// fp32 <-> a narrow float by the machine's own conversion; null: bit arithmetic does it. Encoding saturates for 8-bit kinds.
  virtual llvm::Value *encodeFloat(llvm::IRBuilder<> &b, llvm::Value *value, mlir::Type narrow, bool towardZero) = 0;

  /// Names of the matrix instructions that multiply() has issued, with how often: the emitter clears it before a product and reads it after.
  std::map<std::string, unsigned> matrixInstructions;
  /// d = a * b + c
  virtual llvm::SmallVector<llvm::Value *> multiply(llvm::IRBuilder<> &b, const MatrixInstruction &instruction, llvm::ArrayRef<llvm::Value *> a,
                                                    llvm::ArrayRef<llvm::Value *> bWords, llvm::ArrayRef<llvm::Value *> c) = 0;
  /// Ends the launch with an error.
  virtual void trap(llvm::IRBuilder<> &b) = 0;
};

} // namespace tk::lower
