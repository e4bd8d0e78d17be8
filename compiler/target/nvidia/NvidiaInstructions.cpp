// See NvidiaInstructions.h.
#include "compiler/target/nvidia/NvidiaInstructions.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace llvm;
namespace tk::nvidia {

Value *Instructions::assembly(IRBuilder<> &b, Type *result, const std::string &text, const std::string &constraints, ArrayRef<Value *> operands,
                              bool hasEffects) {
  SmallVector<Type *> types;
  for (Value *operand : operands)
    types.push_back(operand->getType());
  InlineAsm *statement = InlineAsm::get(FunctionType::get(result, types, false), text, constraints, hasEffects);
  CallInst *call = b.CreateCall(statement, operands);
  call->addFnAttr(Attribute::NoUnwind);
  if (!hasEffects)
    call->setDoesNotAccessMemory();
  return call;
}

void Instructions::annotateKernel(Function &function, unsigned threads, unsigned registers) {
  function.addFnAttr("nvvm.reqntid", std::to_string(threads) + ",1,1");
  if (registers || maxRegisters)
    function.addFnAttr("nvvm.maxnreg", std::to_string(registers ? registers : maxRegisters));
}

Value *Instructions::threadId(IRBuilder<> &b) { return b.CreateIntrinsic(b.getInt32Ty(), Intrinsic::nvvm_read_ptx_sreg_tid_x, {}); }

Value *Instructions::programId(IRBuilder<> &b, unsigned axis) {
  static const Intrinsic::ID ids[] = {Intrinsic::nvvm_read_ptx_sreg_ctaid_x, Intrinsic::nvvm_read_ptx_sreg_ctaid_y, Intrinsic::nvvm_read_ptx_sreg_ctaid_z};
  return b.CreateIntrinsic(b.getInt32Ty(), ids[axis], {});
}

Value *Instructions::numPrograms(IRBuilder<> &b, unsigned axis) {
  static const Intrinsic::ID ids[] = {Intrinsic::nvvm_read_ptx_sreg_nctaid_x, Intrinsic::nvvm_read_ptx_sreg_nctaid_y, Intrinsic::nvvm_read_ptx_sreg_nctaid_z};
  return b.CreateIntrinsic(b.getInt32Ty(), ids[axis], {});
}

Value *Instructions::opaque(IRBuilder<> &b, Value *value) {
  unsigned bits = value->getType()->isPointerTy() ? 64 : value->getType()->getPrimitiveSizeInBits();
  if ((bits != 32 && bits != 64) || (value->getType()->isPointerTy() && value->getType()->getPointerAddressSpace() == 3))
    return value;
  const char *constraints = value->getType()->isFloatTy() ? "=f,f" : value->getType()->isDoubleTy() ? "=d,d" : bits == 32 ? "=r,r" : "=l,l";
  return assembly(b, value->getType(), "mov.b" + std::to_string(bits) + " $0, $1;", constraints, {value});
}

void Instructions::barrier(IRBuilder<> &b, unsigned number, unsigned threads) {
  if (threads)
    b.CreateIntrinsic(b.getVoidTy(), Intrinsic::nvvm_barrier_cta_sync_aligned_count, {b.getInt32(number), b.getInt32(threads)});
  else
    b.CreateIntrinsic(b.getVoidTy(), Intrinsic::nvvm_barrier_cta_sync_aligned_all, {b.getInt32(number)});
}

/// PTX ISA, "setmaxnreg": every warp of the group executes it, and the count is a multiple of 8 from 24 to 256.
void Instructions::setRegisters(IRBuilder<> &b, unsigned count, bool increases) {
  Value *call = assembly(b, b.getVoidTy(), std::string("setmaxnreg.") + (increases ? "inc" : "dec") + ".sync.aligned.u32 " + std::to_string(count) + ";",
                         "~{memory}", {});
  cast<CallInst>(call)->addFnAttr(Attribute::Convergent);
}

static constexpr uint32_t kAllLanes = 0xffffffff;

Value *Instructions::shuffleXor(IRBuilder<> &b, Value *word, unsigned mask) {
  return b.CreateIntrinsic(b.getInt32Ty(), Intrinsic::nvvm_shfl_sync_bfly_i32, {b.getInt32(kAllLanes), word, b.getInt32(mask), b.getInt32(31)});
}
Value *Instructions::shuffleIndex(IRBuilder<> &b, Value *word, Value *lane) {
  return b.CreateIntrinsic(b.getInt32Ty(), Intrinsic::nvvm_shfl_sync_idx_i32, {b.getInt32(kAllLanes), word, lane, b.getInt32(31)});
}
Value *Instructions::shuffleUp(IRBuilder<> &b, Value *word, unsigned distance) {
  return b.CreateIntrinsic(b.getInt32Ty(), Intrinsic::nvvm_shfl_sync_up_i32, {b.getInt32(kAllLanes), word, b.getInt32(distance), b.getInt32(0)});
}

// ---- global memory ----

/// Registers of 8-bit words are 16 bits wide.
static Type *registerOf(IRBuilder<> &b, unsigned wordBits) { return b.getIntNTy(std::max(16u, wordBits)); }
static char constraintOf(unsigned wordBits) { return wordBits <= 16 ? 'h' : wordBits == 32 ? 'r' : 'l'; }

/// `{$a, $b}` or `$a` for operands first .. first + count.
static std::string operandList(unsigned first, unsigned count) {
  std::string text = count > 1 ? "{" : "";
  for (unsigned i = 0; i < count; ++i)
    text += (i ? ", $" : "$") + std::to_string(first + i);
  return text + (count > 1 ? "}" : "");
}

static std::string vectorSuffix(const lower::GlobalAccess &access) {
  return (access.words > 1 ? ".v" + std::to_string(access.words) : std::string()) + ".b" + std::to_string(access.wordBits);
}

/// Eviction priorities came with PTX 7.4; they are hints, so that an older target goes without.
static std::string evictionOf(const lower::GlobalAccess &access, unsigned ptx) {
  if (ptx < 74 || access.isVolatile)
    return "";
  return access.evict == tt::EvictionPolicy::EVICT_FIRST ? ".L1::evict_first" : access.evict == tt::EvictionPolicy::EVICT_LAST ? ".L1::evict_last" : "";
}

SmallVector<Value *> Instructions::loadGlobal(IRBuilder<> &b, const lower::GlobalAccess &access, ArrayRef<Value *> others) {
  std::string cache, text, constraints;
  switch (access.cache) {
  case tt::CacheModifier::CA: cache = ".ca"; break;
  case tt::CacheModifier::CG: cache = ".cg"; break;
  case tt::CacheModifier::CS: cache = ".cs"; break;
  case tt::CacheModifier::CV: cache = ".cv"; break;
  default: break;
  }
  unsigned n = access.words, next = n;
  Type *word = registerOf(b, access.wordBits);
  SmallVector<Value *> operands;
  for (unsigned i = 0; i < n; ++i)
    constraints += std::string(i ? "," : "") + (access.predicate ? "=&" : "=") + constraintOf(access.wordBits); // `others` go in before the address is read
  auto operand = [&](Value *value, char constraint) {
    operands.push_back(value);
    constraints += std::string(",") + constraint;
    return "$" + std::to_string(next++);
  };
  std::string address = operand(access.address, 'l'), guard;
  if (access.predicate) {
    guard = "@" + operand(access.predicate, 'b') + " ";
    for (unsigned i = 0; i < n; ++i) {
      Value *other = others.empty() ? ConstantInt::get(word, 0) : b.CreateZExt(others[i], word);
      text += "mov.b" + std::to_string(word->getIntegerBitWidth()) + " $" + std::to_string(i) + ", " + operand(other, constraintOf(access.wordBits)) + ";\n\t";
    }
  }
  std::string modifiers =
      access.isVolatile ? ".volatile.global" : ".global" + (evictionOf(access, target.ptx).empty() ? cache : evictionOf(access, target.ptx));
  text += guard + "ld" + modifiers + vectorSuffix(access) + " " + operandList(0, n) + ", [" + address + "];";
  Type *result = n == 1 ? word : cast<Type>(StructType::get(b.getContext(), SmallVector<Type *>(n, word)));
  Value *loaded = assembly(b, result, text, constraints, operands);
  SmallVector<Value *> words;
  for (unsigned i = 0; i < n; ++i)
    words.push_back(b.CreateTrunc(n == 1 ? loaded : b.CreateExtractValue(loaded, i), b.getIntNTy(access.wordBits)));
  return words;
}

void Instructions::storeGlobal(IRBuilder<> &b, const lower::GlobalAccess &access, ArrayRef<Value *> words) {
  std::string cache;
  switch (access.cache) {
  case tt::CacheModifier::WB: cache = ".wb"; break;
  case tt::CacheModifier::CG: cache = ".cg"; break;
  case tt::CacheModifier::CS: cache = ".cs"; break;
  case tt::CacheModifier::WT: cache = ".wt"; break;
  default: break;
  }
  SmallVector<Value *> operands{access.address};
  std::string constraints = "l", guard;
  for (Value *word : words) {
    operands.push_back(b.CreateZExt(word, registerOf(b, access.wordBits)));
    constraints += std::string(",") + constraintOf(access.wordBits);
  }
  if (access.predicate) {
    guard = "@$" + std::to_string(operands.size()) + " ";
    operands.push_back(access.predicate);
    constraints += ",b";
  }
  std::string eviction = evictionOf(access, target.ptx);
  assembly(b, b.getVoidTy(),
           guard + "st.global" + (eviction.empty() ? cache : eviction) + vectorSuffix(access) + " [$0], " + operandList(1, words.size()) + ";", constraints,
           operands);
}

// ---- arithmetic ----

Value *Instructions::math(IRBuilder<> &b, mlir::Operation *op, ArrayRef<Value *> v) {
  if (!v.front()->getType()->isFloatTy())
    return nullptr;
  auto unary = [&](const char *text, Value *operand) { return assembly(b, b.getFloatTy(), std::string(text) + " $0, $1;", "=f,f", {operand}, false); };
  // exp and exp2 flush subnormal results to zero, as Triton has it by default: keeping them takes three more instructions each. Errors by the PTX ISA: ex2 2
  // ulp, rsqrt 2^-22.9 relative, div.full 2 ulp, sqrt.approx 2^-23 relative. What is not marked stays LLVM's, which is correctly rounded.
  if (mlir::isa<mlir::math::Exp2Op>(op))
    return unary("ex2.approx.ftz.f32", v[0]);
  if (mlir::isa<mlir::math::ExpOp>(op))
    return unary("ex2.approx.ftz.f32", b.CreateFMul(v[0], ConstantFP::get(b.getFloatTy(), 1.4426950408889634)));
  if (mlir::isa<mlir::math::RsqrtOp>(op))
    return unary("rsqrt.approx.f32", v[0]);
  if (!mlir::isa<mlir::math::SqrtOp, mlir::arith::DivFOp>(op) || !tt::elementType(op->getResult(0).getType()).isF32())
    return nullptr;
  mlir::arith::FastMathFlags flags = mlir::cast<mlir::arith::ArithFastMathInterface>(op).getFastMathFlagsAttr().getValue();
  if (!mlir::arith::bitEnumContainsAll(flags, mlir::arith::FastMathFlags::afn))
    return nullptr;
  if (mlir::isa<mlir::math::SqrtOp>(op))
    return unary("sqrt.approx.f32", v[0]);
  // By a power of two: a product, and exact.
  auto *divisor = dyn_cast<ConstantFP>(v[1]);
  if (divisor && divisor->getValueAPF().getExactInverse(nullptr))
    return nullptr;
  return assembly(b, b.getFloatTy(), "div.full.f32 $0, $1, $2;", "=f,f,f", {v[0], v[1]}, false);
}

Value *Instructions::encodeFloat(IRBuilder<> &b, Value *value, mlir::Type narrow, bool towardZero) {
  if (towardZero || !target.has(Fp8Mma))
    return nullptr;
  const char *kind = mlir::isa<mlir::Float8E4M3FNType>(narrow) ? "e4m3x2" : mlir::isa<mlir::Float8E5M2Type>(narrow) ? "e5m2x2" : nullptr;
  if (!kind)
    return nullptr;
  Value *pair =
      assembly(b, b.getInt16Ty(), std::string("cvt.rn.satfinite.") + kind + ".f32 $0, $1, $2;", "=h,f,f", {ConstantFP::get(b.getFloatTy(), 0.0), value}, false);
  return b.CreateTrunc(pair, b.getInt8Ty());
}

void Instructions::trap(IRBuilder<> &b) { assembly(b, b.getVoidTy(), "trap;", "", {}); }

} // namespace tk::nvidia
