// The PTX of what LLVM has no instruction for: predicated vector accesses, shuffles, atomics, approximate functions, matrix units.
//
// Source of every mnemonic: the PTX ISA reference. Instructions stand as inline assembly where they need a predicate or a modifier that LLVM can't express.
#pragma once
#include "compiler/lower/GpuTarget.h"
#include "compiler/target/nvidia/NvidiaTargets.h"

namespace tk::nvidia {

class Instructions : public lower::GpuTarget {
public:
  explicit Instructions(const Target &target, unsigned maxRegisters = 0) : target(target), maxRegisters(maxRegisters) {}

  unsigned lanes() const override { return 32; }
  llvm::CallingConv::ID kernelConvention() const override { return llvm::CallingConv::PTX_Kernel; }
  void annotateKernel(llvm::Function &function, unsigned threads, unsigned registers) override;
  llvm::Value *threadId(llvm::IRBuilder<> &b) override;
  llvm::Value *programId(llvm::IRBuilder<> &b, unsigned axis) override;
  llvm::Value *numPrograms(llvm::IRBuilder<> &b, unsigned axis) override;
  llvm::Value *opaque(llvm::IRBuilder<> &b, llvm::Value *value) override;
  void barrier(llvm::IRBuilder<> &b, unsigned number, unsigned threads) override;
  llvm::Value *shuffleXor(llvm::IRBuilder<> &b, llvm::Value *word, unsigned mask) override;
  llvm::Value *shuffleIndex(llvm::IRBuilder<> &b, llvm::Value *word, llvm::Value *lane) override;
  llvm::Value *shuffleUp(llvm::IRBuilder<> &b, llvm::Value *word, unsigned distance) override;
  llvm::SmallVector<llvm::Value *> loadGlobal(llvm::IRBuilder<> &b, const lower::GlobalAccess &access, llvm::ArrayRef<llvm::Value *> others) override;
  void storeGlobal(llvm::IRBuilder<> &b, const lower::GlobalAccess &access, llvm::ArrayRef<llvm::Value *> words) override;
  bool changesRegisters() const override { return target.sm >= 90 && target.isExact(); }
  unsigned mostRegisters() const override { return maxRegisters; }
  void setRegisters(llvm::IRBuilder<> &b, unsigned count, bool increases) override;
  bool hasMbarriers() const override { return target.sm >= 80; }
  // NvidiaShared.cpp
  void mbarrierInit(llvm::IRBuilder<> &b, llvm::Value *address, unsigned count) override;
  void mbarrierInval(llvm::IRBuilder<> &b, llvm::Value *address) override;
  void mbarrierArrive(llvm::IRBuilder<> &b, llvm::Value *address) override;
  llvm::Value *mbarrierTest(llvm::IRBuilder<> &b, llvm::Value *address, llvm::Value *phase) override;
  void asyncCopy(llvm::IRBuilder<> &b, llvm::Value *to, llvm::Value *from, unsigned bytes, llvm::Value *mask, llvm::Value *predicate) override;
  void asyncCommit(llvm::IRBuilder<> &b) override;
  void asyncWait(llvm::IRBuilder<> &b, unsigned pending) override;
  llvm::SmallVector<llvm::Value *> loadMatrix(llvm::IRBuilder<> &b, llvm::Value *address, unsigned count, bool transposed) override;

  llvm::Value *math(llvm::IRBuilder<> &b, mlir::Operation *op, llvm::ArrayRef<llvm::Value *> operands) override;
  llvm::Value *encodeFloat(llvm::IRBuilder<> &b, llvm::Value *value, mlir::Type narrow, bool towardZero) override;
  void trap(llvm::IRBuilder<> &b) override;

  // NvidiaAtomics.cpp
  llvm::Value *atomicUpdate(llvm::IRBuilder<> &b, const lower::AtomicAccess &access, tt::RMWOp op, llvm::Value *value, std::string &error) override;
  llvm::Value *atomicSwap(llvm::IRBuilder<> &b, const lower::AtomicAccess &access, llvm::Value *expected, llvm::Value *value, std::string &error) override;

  // NvidiaMatrix.cpp
  llvm::SmallVector<llvm::Value *> multiply(llvm::IRBuilder<> &b, const lower::MatrixInstruction &instruction, llvm::ArrayRef<llvm::Value *> a, llvm::ArrayRef<llvm::Value *> bWords,
                                            llvm::ArrayRef<llvm::Value *> c) override;

  // NvidiaWarpgroup.cpp
  llvm::SmallVector<llvm::Value *> multiplyWarpgroups(llvm::IRBuilder<> &b, const lower::WarpgroupProduct &product) override;
  llvm::SmallVector<llvm::Value *> waitForProducts(llvm::IRBuilder<> &b, unsigned pending, llvm::ArrayRef<llvm::Value *> sums) override;
  void proxyFence(llvm::IRBuilder<> &b) override;

private:
  llvm::Value *atomicInstruction(llvm::IRBuilder<> &b, const lower::AtomicAccess &access, const std::string &operation, llvm::ArrayRef<llvm::Value *> values, bool isReduction);
  llvm::Value *atomicLoop(llvm::IRBuilder<> &b, const lower::AtomicAccess &access, tt::RMWOp op, llvm::Value *value);
  /// One asm statement that has effects, or may not move across threads' control flow.
  llvm::Value *assembly(llvm::IRBuilder<> &b, llvm::Type *result, const std::string &text, const std::string &constraints, llvm::ArrayRef<llvm::Value *> operands, bool hasEffects = true);
  const Target &target;
  const unsigned maxRegisters; // 0: any number
};

} // namespace tk::nvidia
