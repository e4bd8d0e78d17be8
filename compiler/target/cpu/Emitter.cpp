// The frame of a kernel: types, constants, loops, the entry point and the loop over programs.
#include "compiler/target/cpu/Emitter.h"
#include "mlir/IR/Matchers.h"
#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/Support/Path.h"

using namespace llvm;
namespace tk::cpu {

void Emitter::fail(mlir::Operation *op, const Twine &why) {
  if (!error.empty())
    return;
  error = why.str();
  errorLocation = op->getLoc();
}

Type *Emitter::registerType(mlir::Type element) { return lower::registerType(b, element); }

Type *Emitter::memoryType(mlir::Type element) {
  if (isNarrowFloat(element))
    return b.getIntNTy(element.getIntOrFloatBitWidth());
  if (element.isInteger(1))
    return b.getInt8Ty();
  return registerType(element);
}

Type *Emitter::bufferType(mlir::Type element) { return element.isInteger(1) ? b.getInt8Ty() : registerType(element); }

/// A stack slot in the entry block; SROA turns it into registers.
Value *Emitter::local(Type *type, const Twine &name) {
  IRBuilder<> top(entry, entry->begin());
  return top.CreateAlloca(type, nullptr, name);
}

/// Arena memory for a tile, 64-byte aligned, row-major or with `laneDim` contiguous. It is given back when the block that asked for it ends.
Buffer Emitter::allocate(mlir::Type tile, int laneDim) { return allocateArray(bufferType(tt::elementType(tile)), tt::shapeOf(tile), laneDim); }

Buffer Emitter::allocateArray(Type *type, ArrayRef<int64_t> shape, int laneDim) {
  Buffer buffer;
  buffer.type = type;
  buffer.strides.resize(shape.size());
  int64_t count = 1;
  auto assign = [&](int dim) { buffer.strides[dim] = count, count *= shape[dim]; };
  if (laneDim >= 0)
    assign(laneDim);
  for (int dim = int(shape.size()) - 1; dim >= 0; --dim)
    if (dim != laneDim)
      assign(dim);
  // Vectors may read past the last row's end, never write there.
  uint64_t bytes = count * (buffer.type->isPointerTy() ? 8 : buffer.type->getPrimitiveSizeInBits() / 8) + 512;
  arenaTop = (arenaTop + 63) & ~uint64_t(63);
  buffer.base = b.CreateConstGEP1_64(b.getInt8Ty(), arena, arenaTop, "tile");
  arenaTop += bytes;
  arenaHigh = std::max(arenaHigh, arenaTop);
  return buffer;
}

Constant *Emitter::constant(mlir::Attribute value, mlir::Type element) {
  if (auto integer = mlir::dyn_cast<mlir::IntegerAttr>(value)) {
    APInt bits = integer.getValue();
    return ConstantInt::get(registerType(element), mlir::isa<mlir::IndexType>(element) ? bits.sextOrTrunc(64) : bits);
  }
  APFloat number = mlir::cast<mlir::FloatAttr>(value).getValue();
  bool loses;
  number.convert(element.isF64() ? APFloat::IEEEdouble() : APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven, &loses);
  return ConstantFP::get(context, number);
}

Value *Emitter::scalar(mlir::Value value) {
  if (ahead && ahead->active) {
    Value *early = scalarAhead(value);
    return early ? early : PoisonValue::get(registerType(value.getType()));
  }
  auto it = scalars.find(value);
  if (it != scalars.end())
    return it->second;
  mlir::Attribute attribute;
  if (matchPattern(value, mlir::m_Constant(&attribute)))
    return constant(attribute, value.getType());
  fail(value.getDefiningOp() ? value.getDefiningOp() : source.getOperation(), "a value is used before it is known");
  return PoisonValue::get(registerType(value.getType()));
}

void Emitter::setLocation(mlir::Operation *op) {
  if (mlir::FileLineColLoc place = lower::placeOf(op->getLoc()); place && subprogram)
    b.SetCurrentDebugLocation(DILocation::get(context, place.getLine(), place.getColumn(), subprogram));
}

/// for (i64 i = begin; i < end; i += step) body(i)
void Emitter::forLoop(Value *begin, Value *end, int64_t step, const Twine &name, function_ref<void(Value *)> body) {
  auto *constantBegin = dyn_cast<ConstantInt>(begin), *constantEnd = dyn_cast<ConstantInt>(end);
  if (constantBegin && constantEnd && constantEnd->getSExtValue() <= constantBegin->getSExtValue())
    return;
  if (constantBegin && constantEnd && constantEnd->getSExtValue() <= constantBegin->getSExtValue() + step) {
    MemoScope scope(*this);
    body(begin);
    return;
  }
  BasicBlock *before = b.GetInsertBlock();
  BasicBlock *loop = BasicBlock::Create(context, name, function), *after = BasicBlock::Create(context, name + ".end", function);
  if (constantBegin && constantEnd)
    b.CreateBr(loop);
  else
    b.CreateCondBr(b.CreateICmpSLT(begin, end), loop, after);
  b.SetInsertPoint(loop);
  PHINode *index = b.CreatePHI(b.getInt64Ty(), 2, name);
  index->addIncoming(begin, before);
  {
    MemoScope scope(*this);
    body(index);
  }
  Value *next = b.CreateAdd(index, i64(step), "", /*NUW=*/true, /*NSW=*/true);
  index->addIncoming(next, b.GetInsertBlock());
  b.CreateCondBr(b.CreateICmpSLT(next, end), loop, after);
  b.SetInsertPoint(after);
}

void Emitter::ifThen(Value *condition, function_ref<void()> then, function_ref<void()> otherwise) {
  BasicBlock *yes = BasicBlock::Create(context, "then", function), *after = BasicBlock::Create(context, "endif", function);
  BasicBlock *no = otherwise ? BasicBlock::Create(context, "else", function) : after;
  b.CreateCondBr(condition, yes, no);
  b.SetInsertPoint(yes);
  {
    MemoScope scope(*this);
    then();
  }
  b.CreateBr(after);
  if (otherwise) {
    b.SetInsertPoint(no);
    MemoScope scope(*this);
    otherwise();
    b.CreateBr(after);
  }
  b.SetInsertPoint(after);
}

void Emitter::forEach(ArrayRef<int64_t> shape, function_ref<void(ArrayRef<Value *>)> body) {
  SmallVector<Value *> index;
  std::function<void(unsigned)> nest = [&](unsigned dim) {
    if (dim == shape.size())
      return body(index);
    forLoop(i64(0), i64(shape[dim]), 1, "i", [&](Value *i) {
      index.push_back(i);
      nest(dim + 1);
      index.pop_back();
    });
  };
  nest(0);
}

bool Emitter::emitKernel(tt::FuncOp kernel) {
  DIBuilder debug(module);
  mlir::FileLineColLoc place = lower::placeOf(kernel.getLoc());
  std::string file = place ? place.getFilename().str() : "kernel.tk";
  unsigned line = place ? place.getLine() : 1;
  debugFile = debug.createFile(sys::path::filename(file), sys::path::parent_path(file));
  DICompileUnit *unit = debug.createCompileUnit(DISourceLanguageName(dwarf::DW_LANG_C), debugFile, "tkc", true, "", 0, "", DICompileUnit::LineTablesOnly);

  Type *pointer = b.getPtrTy();
  auto *type = FunctionType::get(b.getVoidTy(), {pointer, pointer, b.getInt64Ty(), b.getInt64Ty(), pointer, pointer}, false);
  function = Function::Create(type, Function::ExternalLinkage, kernel.getName(), module);
  function->addFnAttr(Attribute::NoUnwind);
  function->addFnAttr("target-cpu", facts.cpu);
  function->addFnAttr("target-features", facts.features);
  function->addFnAttr("prefer-vector-width", std::to_string(facts.vectorBytes * 8));
  function->addFnAttr("min-legal-vector-width", std::to_string(facts.vectorBytes * 8));
  function->addParamAttr(0, Attribute::NoAlias);
  function->addParamAttr(0, Attribute::ReadOnly);
  function->addParamAttr(4, Attribute::NoAlias);
  function->getArg(4)->addAttr(Attribute::getWithAlignment(context, Align(64)));
  subprogram = debug.createFunction(debugFile, kernel.getName(), kernel.getName(), debugFile, line, debug.createSubroutineType(debug.getOrCreateTypeArray({})), line, DINode::FlagZero,
                                    DISubprogram::SPFlagDefinition);
  function->setSubprogram(subprogram);
  (void)unit;

  entry = BasicBlock::Create(context, "entry", function);
  BasicBlock *start = BasicBlock::Create(context, "start", function);
  b.SetInsertPoint(start);
  b.SetCurrentDebugLocation(DILocation::get(context, line, 1, subprogram));
  Value *slots = function->getArg(0), *grid = function->getArg(1);
  arena = function->getArg(4), services = function->getArg(5);
  for (auto [index, argument] : llvm::enumerate(kernel.getArguments())) {
    mlir::Type argumentType = argument.getType();
    Value *slot = b.CreateConstGEP1_64(b.getInt64Ty(), slots, index);
    Value *value;
    if (mlir::isa<tt::PointerType>(argumentType))
      value = b.CreateLoad(b.getPtrTy(), slot);
    else if (isNarrowFloat(argumentType))
      value = decodeFloat(b, b.CreateLoad(memoryType(argumentType), slot), argumentType);
    else if (argumentType.isInteger(1))
      value = b.CreateICmpNE(b.CreateLoad(b.getInt8Ty(), slot), b.getInt8(0));
    else
      value = b.CreateLoad(registerType(argumentType), slot);
    value->setName("arg" + Twine(index));
    scalars[argument] = value;
  }
  for (int axis = 0; axis < 3; ++axis)
    gridSizes[axis] = b.CreateLoad(b.getInt32Ty(), b.CreateConstGEP1_64(b.getInt32Ty(), grid, axis), "grid");
  Value *x = b.CreateZExt(gridSizes[0], b.getInt64Ty()), *y = b.CreateZExt(gridSizes[1], b.getInt64Ty());
  forLoop(function->getArg(2), function->getArg(3), 1, "program", [&](Value *program) {
    programIds[0] = b.CreateTrunc(b.CreateURem(program, x), b.getInt32Ty(), "pid.x");
    Value *rest = b.CreateUDiv(program, x);
    programIds[1] = b.CreateTrunc(b.CreateURem(rest, y), b.getInt32Ty(), "pid.y");
    programIds[2] = b.CreateTrunc(b.CreateUDiv(rest, y), b.getInt32Ty(), "pid.z");
    emitBlock(kernel.getBody().front(), {}, {});
  });
  b.CreateRetVoid();
  b.SetInsertPoint(entry);
  b.CreateBr(start);
  debug.finalize();
  return error.empty();
}

} // namespace tk::cpu
