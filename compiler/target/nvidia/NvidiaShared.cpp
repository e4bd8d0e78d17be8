// Shared memory: asynchronous copies, barriers and the loads of matrix fragments. Sources: PTX ISA, "cp.async", "cp.async.commit_group", "cp.async.wait_group",
// "mbarrier.init", "mbarrier.arrive", "mbarrier.test_wait", "ldmatrix".
#include "compiler/target/nvidia/NvidiaInstructions.h"

using namespace llvm;
namespace tk::nvidia {

/// Shared addresses are 32 bits wide.
static Value *addressOf(IRBuilder<> &b, Value *shared) { return b.CreatePtrToInt(shared, b.getInt32Ty()); }

void Instructions::asyncCopy(IRBuilder<> &b, Value *to, Value *from, unsigned bytes, Value *mask, Value *predicate) {
  SmallVector<Value *> operands{addressOf(b, to), from};
  // What is smaller than 16 bytes goes through the first-level cache.
  std::string text = std::string("cp.async.") + (bytes == 16 ? "cg" : "ca") + ".shared.global [$0], [$1], " + std::to_string(bytes), constraints = "r,l", guard;
  if (mask) {
    text += ", $" + std::to_string(operands.size());
    operands.push_back(b.CreateSelect(mask, b.getInt32(bytes), b.getInt32(0)));
    constraints += ",r";
  }
  if (predicate) {
    guard = "@$" + std::to_string(operands.size()) + " ";
    operands.push_back(predicate);
    constraints += ",b";
  }
  assembly(b, b.getVoidTy(), guard + text + ";", constraints + ",~{memory}", operands);
}

void Instructions::asyncCommit(IRBuilder<> &b) { assembly(b, b.getVoidTy(), "cp.async.commit_group;", "~{memory}", {}); }
void Instructions::asyncWait(IRBuilder<> &b, unsigned pending) {
  assembly(b, b.getVoidTy(), "cp.async.wait_group " + std::to_string(pending) + ";", "~{memory}", {});
}

void Instructions::mbarrierInit(IRBuilder<> &b, Value *address, unsigned count) {
  assembly(b, b.getVoidTy(), "mbarrier.init.shared.b64 [$0], " + std::to_string(count) + ";", "r,~{memory}", {addressOf(b, address)});
}
void Instructions::mbarrierInval(IRBuilder<> &b, Value *address) {
  assembly(b, b.getVoidTy(), "mbarrier.inval.shared.b64 [$0];", "r,~{memory}", {addressOf(b, address)});
}
void Instructions::mbarrierArrive(IRBuilder<> &b, Value *address) {
  // Without `_` for the state, which came later.
  assembly(b, b.getInt64Ty(), "mbarrier.arrive.shared.b64 $0, [$1];", "=l,r,~{memory}", {addressOf(b, address)});
}
Value *Instructions::mbarrierTest(IRBuilder<> &b, Value *address, Value *phase) {
  // The machine may put the thread to sleep for a while where it can.
  const char *kind = target.sm >= 90 ? "try_wait" : "test_wait";
  Value *done = assembly(b, b.getInt32Ty(),
                         std::string("{\n\t.reg .pred done;\n\tmbarrier.") + kind + ".parity.shared.b64 done, [$1], $2;\n\tselp.b32 $0, 1, 0, done;\n\t}",
                         "=r,r,r,~{memory}", {addressOf(b, address), phase});
  return b.CreateICmpNE(done, b.getInt32(0));
}

SmallVector<Value *> Instructions::loadMatrix(IRBuilder<> &b, Value *address, unsigned count, bool transposed) {
  std::string results, constraints;
  for (unsigned i = 0; i < count; ++i) {
    results += (i ? ", $" : "$") + std::to_string(i);
    constraints += "=r,";
  }
  Type *type = count == 1 ? b.getInt32Ty() : cast<Type>(StructType::get(b.getContext(), SmallVector<Type *>(count, b.getInt32Ty())));
  Value *loaded = assembly(b, type,
                           "ldmatrix.sync.aligned.m8n8.x" + std::to_string(count) + (transposed ? ".trans" : "") + ".shared.b16 {" + results + "}, [$" +
                               std::to_string(count) + "];",
                           constraints + "r,~{memory}", {addressOf(b, address)});
  cast<CallInst>(loaded)->addFnAttr(Attribute::Convergent); // all lanes take part
  SmallVector<Value *> words;
  for (unsigned i = 0; i < count; ++i)
    words.push_back(count == 1 ? loaded : b.CreateExtractValue(loaded, i));
  return words;
}

} // namespace tk::nvidia
