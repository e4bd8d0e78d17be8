// wgmma: products of four warps, asynchronous, with operands in shared memory. Source: PTX ISA, "Asynchronous Warpgroup Level Matrix Multiply-Accumulate
// Instructions".
//
// All instructions of one operation are one statement, so that nothing can come between them that touches their registers: ptxas would wait for each of them
// then. The sums are inputs and outputs at the same places; between operations they are values like any others, which stay where they are as long as nobody
// else asks for them.
#include "compiler/target/nvidia/NvidiaInstructions.h"
#include "llvm/IR/InlineAsm.h"

using namespace llvm;
namespace tk::nvidia {

/// PTX ISA, "Matrix Descriptor Format": address, leading and stride byte offset in units of 16 bytes, the swizzle in the two highest bits. With K as the fast
/// axis a swizzled operand has no leading offset; else it leads from one panel to the next. The stride goes from one 8 rows to the next.
static Value *descriptorOf(IRBuilder<> &b, const lower::WarpgroupProduct::Memory &memory) {
  uint64_t mode = memory.matrix.rowBytes == 128 ? 1 : memory.matrix.rowBytes == 64 ? 2 : 3;
  uint64_t leading = memory.isTransposed ? memory.matrix.panelBytes : 16, stride = 8 * memory.matrix.rowBytes;
  uint64_t fields = (leading >> 4 & 0x3fff) << 16 | (stride >> 4) << 32 | mode << 62;
  Value *address = b.CreateLShr(b.CreatePtrToInt(memory.address, b.getInt32Ty()), 4);
  return b.CreateOr(b.CreateZExt(address, b.getInt64Ty()), b.getInt64(fields));
}

static const char *nameOf(mlir::Type type) {
  if (mlir::isa<mlir::Float8E5M2Type>(type))
    return "e5m2";
  if (mlir::isa<mlir::Float8E4M3FNType>(type))
    return "e4m3";
  return type.isF16() ? "f16" : type.isBF16() ? "bf16" : type.isF32() ? "tf32" : "s8";
}

/// `{$3, $4, ..}`
static std::string listOf(unsigned first, unsigned count) {
  std::string text = "{";
  for (unsigned i = 0; i < count; ++i)
    text += (i ? ", $" : "$") + std::to_string(first + i);
  return text + "}";
}

SmallVector<Value *> Instructions::multiplyWarpgroups(IRBuilder<> &b, const lower::WarpgroupProduct &product) {
  unsigned each = product.sumWords(), count = each * product.rowBlocks * product.columnBlocks;
  bool isFloat = product.sum.isF32(), isInteger = product.sum.isInteger(32);
  Type *word = isFloat ? b.getFloatTy() : static_cast<Type *>(b.getInt32Ty());
  std::string constraints, constraint = isFloat ? "f" : "r";
  SmallVector<Value *> operands;
  for (unsigned i = 0; i < count; ++i)
    constraints += (i ? "," : "") + std::string(product.sums.empty() ? "=&" : "=") + constraint;
  unsigned next = count;
  for (auto [i, sum] : enumerate(product.sums)) {
    operands.push_back(b.CreateBitCast(sum, word));
    constraints += "," + std::to_string(i);
    ++next;
  }
  auto input = [&](Value *value, const char *kind) {
    operands.push_back(value);
    constraints += std::string(",") + kind;
    return next++;
  };
  unsigned left = next;
  if (product.left)
    input(descriptorOf(b, *product.left), "l");
  for (Value *value : product.leftWords)
    input(b.CreateBitCast(value, b.getInt32Ty()), "r");
  unsigned right = input(descriptorOf(b, product.right), "l");

  // Steps outermost: neighbouring instructions then have different sums.
  unsigned depth = 256 / product.a.getIntOrFloatBitWidth();
  std::string sumName = isFloat ? "f32" : isInteger ? "s32" : "f16";
  std::string name = "m64n" + std::to_string(product.columns) + "k" + std::to_string(depth) + "." + sumName + "." + nameOf(product.a) + "." + nameOf(product.b);
  std::string text = "{\n\t.reg .pred adds;\n\t.reg .b64 left, right;\n\tsetp.ne.b32 adds, " + std::string(product.sums.empty() ? "0" : "1") +
                     ", 0;\n\twgmma.fence.sync.aligned;\n\t";
  for (unsigned step = 0; step < product.steps; ++step) {
    for (unsigned row = 0; row < product.rowBlocks; ++row)
      for (unsigned column = 0; column < product.columnBlocks; ++column) {
        std::string a;
        if (product.left) {
          text += "add.s64 left, $" + std::to_string(left) + ", " + std::to_string(product.left->offsets[row * product.steps + step] >> 4) + ";\n\t";
          a = "left";
        } else {
          a = listOf(left + 4 * (row * product.steps + step), 4);
        }
        text += "add.s64 right, $" + std::to_string(right) + ", " + std::to_string(product.right.offsets[column * product.steps + step] >> 4) + ";\n\t";
        text += "wgmma.mma_async.sync.aligned." + name + " " + listOf((row * product.columnBlocks + column) * each, each) + ", " + a + ", right, adds";
        if (!isInteger)
          text += ", 1, 1";
        if (product.a.getIntOrFloatBitWidth() == 16)
          text += std::string(product.left ? product.left->isTransposed ? ", 1" : ", 0" : "") + (product.right.isTransposed ? ", 1" : ", 0");
        text += ";\n\t";
        ++matrixInstructions["wgmma." + name];
      }
    if (step == 0 && product.sums.empty() && product.steps > 1)
      text += "setp.ne.b32 adds, 1, 0;\n\t";
  }
  text += "wgmma.commit_group.sync.aligned;\n\t}";
  Type *result = StructType::get(b.getContext(), SmallVector<Type *>(count, word));
  Value *call = assembly(b, result, text, constraints + ",~{memory}", operands);
  cast<CallInst>(call)->addFnAttr(Attribute::Convergent);
  SmallVector<Value *> words;
  for (unsigned i = 0; i < count; ++i)
    words.push_back(b.CreateExtractValue(call, i));
  return words;
}

SmallVector<Value *> Instructions::waitForProducts(IRBuilder<> &b, unsigned pending, ArrayRef<Value *> sums) {
  std::string constraints;
  SmallVector<Type *> types;
  for (Value *sum : sums) {
    types.push_back(sum->getType());
    constraints += std::string(sum->getType()->isFloatTy() ? "=f" : "=r") + ",";
  }
  for (size_t i = 0; i < sums.size(); ++i)
    constraints += std::to_string(i) + ",";
  Type *result = sums.empty() ? b.getVoidTy() : sums.size() == 1 ? types.front() : static_cast<Type *>(StructType::get(b.getContext(), types));
  Value *call = assembly(b, result, "wgmma.wait_group.sync.aligned " + std::to_string(pending) + ";", constraints + "~{memory}", sums);
  cast<CallInst>(call)->addFnAttr(Attribute::Convergent);
  SmallVector<Value *> words;
  for (size_t i = 0; i < sums.size(); ++i)
    words.push_back(sums.size() == 1 ? call : b.CreateExtractValue(call, i));
  return words;
}

void Instructions::proxyFence(IRBuilder<> &b) { assembly(b, b.getVoidTy(), "fence.proxy.async.shared::cta;", "~{memory}", {}); }

} // namespace tk::nvidia
