// Atomics on global memory in PTX: one instruction where the target has it, else a loop around compare and swap.
//
// Facts from the PTX ISA reference, sections on atom and red: both take integers of 32 and 64 bits and fp32; fp64 came with sm_60, fp16 with sm_70, bf16 with sm_90;
// a compare and swap of 16 bits with sm_70. A `red` has no result and knows the orders relaxed and release. What an unread atomic would acquire nobody can rely on, as
// nothing says that it came after anything, so that it becomes a `red` whatever its order.
#include "compiler/target/nvidia/NvidiaInstructions.h"

using namespace llvm;
namespace tk::nvidia {

static char constraintOf(unsigned bits) { return bits == 16 ? 'h' : bits == 32 ? 'r' : 'l'; }

static std::string scopeOf(tt::MemSyncScope scope) { return scope == tt::MemSyncScope::CTA ? ".cta" : scope == tt::MemSyncScope::SYSTEM ? ".sys" : ".gpu"; }

static std::string semanticOf(tt::MemSemantic sem) {
  switch (sem) {
  case tt::MemSemantic::RELAXED: return ".relaxed";
  case tt::MemSemantic::ACQUIRE: return ".acquire";
  case tt::MemSemantic::RELEASE: return ".release";
  case tt::MemSemantic::ACQUIRE_RELEASE: return ".acq_rel";
  }
  return "";
}

/// `.add.u32` and the like; empty when a loop has to do it.
static std::string operationOf(tt::RMWOp op, mlir::Type element, unsigned bits, const Target &target) {
  std::string width = std::to_string(bits);
  bool isFloat = mlir::isa<mlir::FloatType>(element);
  if (op == tt::RMWOp::FADD || (op == tt::RMWOp::ADD && isFloat)) {
    if (element.isF32() || element.isF64())
      return ".add.f" + width;
    if (element.isF16())
      return ".add.noftz.f16";
    return element.isBF16() && target.sm >= 90 && target.ptx >= 78 ? ".add.noftz.bf16" : "";
  }
  if (bits == 16)
    return "";
  switch (op) {
  case tt::RMWOp::ADD: return ".add.u" + width;
  case tt::RMWOp::AND: return ".and.b" + width;
  case tt::RMWOp::OR: return ".or.b" + width;
  case tt::RMWOp::XOR: return ".xor.b" + width;
  case tt::RMWOp::XCHG: return ".exch.b" + width;
  default: break;
  }
  if (isFloat) // in the order of their codes, which is a loop's
    return "";
  switch (op) {
  case tt::RMWOp::MAX: return ".max.s" + width;
  case tt::RMWOp::MIN: return ".min.s" + width;
  case tt::RMWOp::UMAX: return ".max.u" + width;
  case tt::RMWOp::UMIN: return ".min.u" + width;
  default: return "";
  }
}

/// What the location holds after the update, of integers with the element's bits.
static Value *updated(IRBuilder<> &b, tt::RMWOp op, mlir::Type element, Value *old, Value *value) {
  bool isFloat = mlir::isa<mlir::FloatType>(element);
  unsigned bits = value->getType()->getIntegerBitWidth();
  auto pick = [&](CmpInst::Predicate predicate, Value *left, Value *right) { return b.CreateSelect(b.CreateICmp(predicate, left, right), old, value); };
  auto ordered = [&](Value *code) { // a float's code as a signed number in the order of sign and magnitude
    return b.CreateXor(code, b.CreateLShr(b.CreateAShr(code, bits - 1), 1));
  };
  switch (op) {
  case tt::RMWOp::AND: return b.CreateAnd(old, value);
  case tt::RMWOp::OR: return b.CreateOr(old, value);
  case tt::RMWOp::XOR: return b.CreateXor(old, value);
  case tt::RMWOp::XCHG: return value;
  case tt::RMWOp::ADD:
  case tt::RMWOp::FADD: {
    if (!isFloat)
      return b.CreateAdd(old, value);
    Type *type = element.isF16() ? b.getHalfTy() : element.isBF16() ? b.getBFloatTy() : element.isF32() ? b.getFloatTy() : b.getDoubleTy(), *wide = bits < 32 ? b.getFloatTy() : type;
    auto read = [&](Value *code) { return b.CreateFPCast(b.CreateBitCast(code, type), wide); };
    return b.CreateBitCast(b.CreateFPCast(b.CreateFAdd(read(old), read(value)), type), value->getType());
  }
  default: break;
  }
  bool isMax = op == tt::RMWOp::MAX || op == tt::RMWOp::UMAX, isSigned = isFloat || op == tt::RMWOp::MAX || op == tt::RMWOp::MIN;
  if (isFloat)
    return pick(isMax ? CmpInst::ICMP_SGT : CmpInst::ICMP_SLT, ordered(old), ordered(value));
  return pick(isMax ? (isSigned ? CmpInst::ICMP_SGT : CmpInst::ICMP_UGT) : (isSigned ? CmpInst::ICMP_SLT : CmpInst::ICMP_ULT), old, value);
}

/// One atom or red with these operands after the address. Where the predicate is false the result is 0.
Value *Instructions::atomicInstruction(IRBuilder<> &b, const lower::AtomicAccess &access, const std::string &operation, ArrayRef<Value *> values, bool isReduction) {
  unsigned bits = values[0]->getType()->getIntegerBitWidth(), next = isReduction ? 0 : 1;
  std::string kind = constraintOf(bits) + std::string(), text, constraints = isReduction ? "" : (access.predicate ? "=&" : "=") + kind + ",";
  bool releases = access.sem == tt::MemSemantic::RELEASE || access.sem == tt::MemSemantic::ACQUIRE_RELEASE;
  std::string sem = !isReduction ? semanticOf(access.sem) : releases ? ".release" : ".relaxed";
  SmallVector<Value *> operands{access.address};
  std::string list = "[$" + std::to_string(next++) + "]";
  constraints += "l";
  for (Value *value : values) {
    operands.push_back(value);
    constraints += "," + kind;
    list += ", $" + std::to_string(next++);
  }
  if (access.predicate) {
    if (!isReduction)
      text = "mov.b" + std::to_string(bits) + " $0, 0;\n\t";
    text += "@$" + std::to_string(next) + " ";
    operands.push_back(access.predicate);
    constraints += ",b";
  }
  text += (isReduction ? "red" : "atom") + sem + scopeOf(access.scope) + ".global" + operation + (isReduction ? " " : " $0, ") + list + ";";
  return assembly(b, isReduction ? b.getVoidTy() : values[0]->getType(), text, constraints, operands);
}

/// Reads, computes, and swaps when nothing came between, else again.
Value *Instructions::atomicLoop(IRBuilder<> &b, const lower::AtomicAccess &access, tt::RMWOp op, Value *value) {
  LLVMContext &context = b.getContext();
  Function *function = b.GetInsertBlock()->getParent();
  Type *type = value->getType();
  std::string bits = std::to_string(type->getIntegerBitWidth()), kind(1, constraintOf(type->getIntegerBitWidth()));
  BasicBlock *before = b.GetInsertBlock(), *start = BasicBlock::Create(context, "atomic", function), *again = BasicBlock::Create(context, "atomic.again", function),
             *after = BasicBlock::Create(context, "atomic.end", function);
  if (access.predicate)
    b.CreateCondBr(access.predicate, start, after);
  else
    b.CreateBr(start);
  b.SetInsertPoint(start);
  Value *first = assembly(b, type, "ld.volatile.global.b" + bits + " $0, [$1];", "=" + kind + ",l", {access.address});
  b.CreateBr(again);
  b.SetInsertPoint(again);
  PHINode *old = b.CreatePHI(type, 2, "old");
  lower::AtomicAccess always = access;
  always.predicate = nullptr;
  Value *seen = atomicInstruction(b, always, ".cas.b" + bits, {old, updated(b, op, access.element, old, value)}, false);
  old->addIncoming(first, start);
  old->addIncoming(seen, again);
  b.CreateCondBr(b.CreateICmpEQ(seen, old), after, again);
  b.SetInsertPoint(after);
  if (!access.predicate)
    return old;
  PHINode *result = b.CreatePHI(type, 2);
  result->addIncoming(old, again);
  result->addIncoming(ConstantInt::get(type, 0), before);
  return result;
}

Value *Instructions::atomicUpdate(IRBuilder<> &b, const lower::AtomicAccess &access, tt::RMWOp op, Value *value, std::string &error) {
  unsigned bits = value->getType()->getIntegerBitWidth();
  if (bits < 16)
    return error = "the target has no atomics of 8 bits", nullptr;
  std::string operation = operationOf(op, access.element, bits, target);
  if (operation.empty())
    return atomicLoop(b, access, op, value);
  return atomicInstruction(b, access, operation, {value}, !access.usesResult && op != tt::RMWOp::XCHG);
}

Value *Instructions::atomicSwap(IRBuilder<> &b, const lower::AtomicAccess &access, Value *expected, Value *value, std::string &error) {
  unsigned bits = value->getType()->getIntegerBitWidth();
  if (bits < 16)
    return error = "the target has no atomics of 8 bits", nullptr;
  return atomicInstruction(b, access, ".cas.b" + std::to_string(bits), {expected, value}, false);
}

} // namespace tk::nvidia
