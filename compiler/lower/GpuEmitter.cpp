// The frame of a GPU kernel: entry point, parameters, thread numbers, shared memory, bits.
#include "compiler/lower/GpuEmitter.h"
#include "compiler/lower/Scratch.h"
#include "compiler/lower/WarpPlan.h"
#include "mlir/IR/Matchers.h"
#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/Support/Path.h"

using namespace llvm;
namespace tk::lower {

/// Of a block, on every GPU that there is: 1024 threads.
static constexpr unsigned kMostWarps = 32;

void GpuEmitter::fail(mlir::Operation *op, const Twine &why) {
  if (!error.empty())
    return;
  error = why.str();
  errorLocation = op->getLoc();
}

void GpuEmitter::setLocation(mlir::Operation *op) {
  if (mlir::FileLineColLoc place = placeOf(op->getLoc()); place && subprogram)
    b.SetCurrentDebugLocation(DILocation::get(context, place.getLine(), place.getColumn(), subprogram));
}

Type *GpuEmitter::valueType(mlir::Type element) {
  if (mlir::isa<tt::PointerType>(element))
    return PointerType::get(context, 1);
  if (element.isF16())
    return b.getHalfTy();
  if (element.isBF16())
    return b.getBFloatTy();
  if (element.isF32())
    return b.getFloatTy();
  if (element.isF64())
    return b.getDoubleTy();
  if (mlir::isa<mlir::IndexType>(element))
    return b.getInt64Ty();
  return b.getIntNTy(element.getIntOrFloatBitWidth());
}

Constant *GpuEmitter::constant(mlir::Attribute value, mlir::Type element) {
  Type *type = valueType(element);
  if (auto integer = mlir::dyn_cast<mlir::IntegerAttr>(value)) {
    APInt bits = integer.getValue();
    return ConstantInt::get(context, mlir::isa<mlir::IndexType>(element) ? bits.sextOrTrunc(64) : bits);
  }
  APFloat number = mlir::cast<mlir::FloatAttr>(value).getValue();
  if (type->isIntegerTy()) // 8-bit kinds are their bits
    return ConstantInt::get(context, number.bitcastToAPInt());
  return ConstantFP::get(context, number);
}

const Registers &GpuEmitter::registers(mlir::Value value) {
  auto it = values.find(value);
  if (it != values.end())
    return it->second;
  if (value.getDefiningOp())
    fail(value.getDefiningOp(), "internal error: a value is used before it is known");
  unsigned count = tt::isTile(value.getType()) ? ttg::layoutOf(value.getType()).registers() : 1;
  return values[value] = Registers(count, PoisonValue::get(valueType(tt::elementType(value.getType()))));
}

Value *GpuEmitter::scalar(mlir::Value value) { return registers(value).front(); }
void GpuEmitter::define(mlir::Value value, Registers made) { values[value] = std::move(made); }

// ---- places of elements ----

Value *GpuEmitter::threadIndex(ArrayRef<uint32_t> laneBases, ArrayRef<uint32_t> warpBases) {
  auto [slot, fresh] = threadIndices.try_emplace({laneBases.vec(), warpBases.vec()}, nullptr);
  if (!fresh)
    return slot->second;
  IRBuilder<> top(entry->getTerminator());
  Value *index = nullptr;
  auto add = [&](Value *number, ArrayRef<uint32_t> bases) {
    // Runs of bits whose images are neighbours too move together.
    for (size_t i = 0; i < bases.size();) {
      size_t count = 1;
      bool single = isPowerOf2_32(bases[i]);
      while (single && i + count < bases.size() && bases[i + count] == bases[i] << count)
        ++count;
      if (bases[i]) {
        Value *part = i ? top.CreateLShr(number, i) : number;
        part = top.CreateAnd(part, (uint64_t(1) << count) - 1);
        part = single ? top.CreateShl(part, Log2_32(bases[i]), "", true, true) : top.CreateMul(part, top.getInt32(bases[i]));
        index = index ? top.CreateXor(index, part) : part;
      }
      i += count;
    }
  };
  add(lane, laneBases);
  add(warp, warpBases);
  return slot->second = index ? index : top.getInt32(0);
}

Value *GpuEmitter::elementIndex(const ttg::TileLayout &layout, unsigned number) {
  uint32_t own = layout.indexOfRegister(number), others = 0;
  Value *base = threadIndex(layout);
  if (!own)
    return base;
  for (auto *group : {&layout.lane, &layout.warp})
    for (uint32_t basis : *group)
      others |= basis;
  // Without common bits exclusive or is a sum, which address arithmetic can use.
  return others & own ? b.CreateXor(base, word(own)) : b.CreateAdd(base, word(own), "", true, true);
}

Value *GpuEmitter::isOwner(const ttg::TileLayout &layout) {
  uint32_t free = layout.freeThreadBits(), laneMask = (1u << layout.lane.size()) - 1;
  return areZero(free & laneMask, free >> layout.lane.size());
}

Value *GpuEmitter::areZero(uint32_t laneBits, uint32_t warpBits) {
  Value *result = laneBits ? b.CreateICmpEQ(b.CreateAnd(lane, word(laneBits)), word(0)) : nullptr;
  return warpBits ? bothOf(result, b.CreateICmpEQ(b.CreateAnd(warp, word(warpBits)), word(0))) : result;
}

Value *GpuEmitter::bothOf(Value *a, Value *c) { return !a ? c : !c ? a : b.CreateAnd(a, c); }

void GpuEmitter::ifThen(Value *condition, function_ref<void()> then) {
  BasicBlock *yes = BasicBlock::Create(context, "then", function), *after = BasicBlock::Create(context, "endif", function);
  b.CreateCondBr(condition, yes, after);
  b.SetInsertPoint(yes);
  then();
  b.CreateBr(after);
  b.SetInsertPoint(after);
}

// ---- shared memory ----

uint64_t GpuEmitter::scratchOffset(mlir::Operation *op) {
  auto offset = op->getAttrOfType<mlir::IntegerAttr>(ttg::kOffsetName);
  if (!offset)
    fail(op, "internal error: no shared memory was reserved for `" + op->getName().getStringRef() + "`");
  return offset ? offset.getInt() : 0;
}

Value *GpuEmitter::sharedAddress(uint64_t offset, Value *bytes) {
  Value *address = offset ? b.CreateConstGEP1_32(b.getInt8Ty(), shared, offset) : shared;
  return bytes ? b.CreateGEP(b.getInt8Ty(), address, bytes) : address;
}

static Align alignOf(Type *type) { return Align(type->isPointerTy() ? 8 : std::max<uint64_t>(1, type->getPrimitiveSizeInBits() / 8)); }

void GpuEmitter::storeShared(Value *address, Value *value) {
  if (value->getType()->isIntegerTy(1))
    value = b.CreateZExt(value, b.getInt8Ty());
  b.CreateAlignedStore(value, address, alignOf(value->getType()));
}

Value *GpuEmitter::loadShared(Value *address, Type *type) {
  if (type->isIntegerTy(1))
    return b.CreateICmpNE(b.CreateAlignedLoad(b.getInt8Ty(), address, Align(1)), b.getInt8(0));
  return b.CreateAlignedLoad(type, address, alignOf(type));
}

void GpuEmitter::barrier() { target.barrier(b, barrierId, barrierId == kBlockBarrier ? 0 : numWarps * target.lanes()); }

Value *GpuEmitter::once(mlir::Operation *op, Type *type, function_ref<Value *()> make) {
  Value *address = sharedAddress(scratchOffset(op));
  ifThen(b.CreateICmpEQ(thread, word(0)), [&] { storeShared(address, make()); });
  barrier();
  return loadShared(address, type);
}

// ---- bits ----

Value *GpuEmitter::toBits(Value *value) {
  Type *type = value->getType();
  if (type->isIntegerTy(1))
    return b.CreateZExt(value, b.getInt8Ty());
  if (type->isPointerTy())
    return b.CreatePtrToInt(value, b.getInt64Ty());
  return type->isIntegerTy() ? value : b.CreateBitCast(value, b.getIntNTy(type->getPrimitiveSizeInBits()));
}

Value *GpuEmitter::fromBits(Value *bits, Type *type) {
  if (type->isIntegerTy(1))
    return b.CreateICmpNE(bits, ConstantInt::get(bits->getType(), 0));
  if (type->isPointerTy())
    return b.CreateIntToPtr(bits, type);
  return type->isIntegerTy() ? bits : b.CreateBitCast(bits, type);
}

Value *GpuEmitter::byWords(Value *value, function_ref<Value *(Value *)> move) {
  Value *bits = toBits(value);
  unsigned width = bits->getType()->getIntegerBitWidth();
  Value *moved;
  if (width == 64) {
    Value *low = move(b.CreateTrunc(bits, b.getInt32Ty())), *high = move(b.CreateTrunc(b.CreateLShr(bits, 32), b.getInt32Ty()));
    moved = b.CreateOr(b.CreateZExt(low, b.getInt64Ty()), b.CreateShl(b.CreateZExt(high, b.getInt64Ty()), 32));
  } else {
    moved = b.CreateTrunc(move(b.CreateZExt(bits, b.getInt32Ty())), bits->getType());
  }
  return fromBits(moved, value->getType());
}

// ---- the entry point ----

bool GpuEmitter::emitKernel(tt::FuncOp kernel) {
  axes = std::make_unique<compiler::AxisInfoAnalysis>(kernel);
  numWarps = ttg::warpsOf(kernel);
  unsigned blockWarps = warpsOfBlock(kernel);
  if (blockWarps > kMostWarps) {
    fail(kernel, "the regions of `" + kernel.getName() + "` need " + Twine(blockWarps) + " warps together, a block has at most " + Twine(kMostWarps));
    return false;
  }
  abi.threads = blockWarps * target.lanes();

  DIBuilder debug(module);
  mlir::FileLineColLoc place = placeOf(kernel.getLoc());
  std::string file = place ? place.getFilename().str() : "kernel.tk";
  unsigned line = place ? place.getLine() : 1;
  DIFile *debugFile = debug.createFile(sys::path::filename(file), sys::path::parent_path(file));
  debug.createCompileUnit(DISourceLanguageName(dwarf::DW_LANG_C), debugFile, "tkc", true, "", 0, "", DICompileUnit::DebugDirectivesOnly);
  abi.file = file, abi.line = line;

  SmallVector<Type *> parameters;
  for (mlir::Type type : kernel.getFunctionType().getInputs())
    parameters.push_back(type.isInteger(1) ? b.getInt8Ty() : valueType(type));
  bool prints = false;
  kernel.walk([&](mlir::Operation *op) { prints |= mlir::isa<tt::PrintOp, tt::AssertOp>(op); });
  if (prints) {
    parameters.push_back(PointerType::get(context, 1));
    runtime::ArgumentSlot slot;
    slot.name = "print buffer", slot.kind = runtime::ArgumentSlot::Kind::PrintBuffer;
    abi.slots.push_back(slot);
  }
  function = Function::Create(FunctionType::get(b.getVoidTy(), parameters, false), Function::ExternalLinkage, kernel.getName(), module);
  function->setCallingConv(target.kernelConvention());
  function->addFnAttr(Attribute::NoUnwind);
  bool movesRegisters = false;
  unsigned launch = registersAtLaunch(blockWarps, target.mostRegisters());
  kernel.walk([&](ttg::WarpSpecializeOp op) { movesRegisters |= planRegisters(op, target.changesRegisters(), launch).changes(); });
  target.annotateKernel(*function, abi.threads, movesRegisters ? launch : 0);
  subprogram = debug.createFunction(debugFile, kernel.getName(), kernel.getName(), debugFile, line, debug.createSubroutineType(debug.getOrCreateTypeArray({})), line, DINode::FlagZero,
                                    DISubprogram::SPFlagDefinition);
  function->setSubprogram(subprogram);

  shared = new GlobalVariable(module, ArrayType::get(b.getInt8Ty(), 0), false, GlobalValue::ExternalLinkage, nullptr, "tk_shared", nullptr, GlobalValue::NotThreadLocal, 3);
  cast<GlobalVariable>(shared)->setAlignment(Align(1024));

  entry = BasicBlock::Create(context, "entry", function);
  BasicBlock *start = BasicBlock::Create(context, "start", function);
  b.SetInsertPoint(entry);
  b.SetCurrentDebugLocation(DILocation::get(context, line, 1, subprogram));
  thread = target.threadId(b);
  lane = numWarps == 1 ? thread : b.CreateAnd(thread, word(target.lanes() - 1), "lane");
  warp = numWarps == 1 ? word(0) : b.CreateLShr(thread, Log2_32(target.lanes()), "warp");
  for (auto [index, argument] : enumerate(kernel.getArguments())) {
    Value *value = function->getArg(index);
    value->setName("arg" + Twine(index));
    if (argument.getType().isInteger(1))
      value = b.CreateICmpNE(value, b.getInt8(0));
    values[argument] = {value};
  }
  if (prints)
    printBuffer = function->getArg(parameters.size() - 1);
  if (dividesWarps(kernel))
    beginWorkers(kernel);
  b.CreateBr(start);
  b.SetInsertPoint(start);
  emitBlock(kernel.getBody().front());
  if (workers && error.empty())
    endWorkers();
  b.CreateRetVoid();
  debug.finalize();
  if (auto bytes = kernel->getAttrOfType<mlir::IntegerAttr>(ttg::kSharedName))
    abi.sharedBytes = bytes.getInt();
  return error.empty();
}

} // namespace tk::lower
