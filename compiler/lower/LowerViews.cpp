// Tiles that are made from nothing or from one scalar, and views: no element is computed or leaves its thread.
#include "compiler/layout/LayoutRules.h"
#include "compiler/lower/GpuEmitter.h"

using namespace llvm;
namespace tk::lower {

void GpuEmitter::emitConstant(mlir::Operation *op) {
  mlir::Value result = op->getResult(0);
  mlir::Type element = tt::elementType(result.getType());
  unsigned count = tt::isTile(result.getType()) ? ttg::layoutOf(result.getType()).registers() : 1;
  if (auto splat = mlir::dyn_cast<tt::SplatOp>(op))
    return define(result, Registers(count, scalar(splat.getSrc())));
  if (mlir::isa<mlir::ub::PoisonOp>(op))
    return define(result, Registers(count, Constant::getNullValue(valueType(element))));
  mlir::Attribute value = mlir::cast<mlir::arith::ConstantOp>(op).getValue();
  if (auto splat = mlir::dyn_cast<mlir::SplatElementsAttr>(value))
    return define(result, Registers(count, constant(splat.getSplatValue<mlir::Attribute>(), element)));
  auto dense = mlir::dyn_cast<mlir::DenseElementsAttr>(value);
  if (!dense)
    return define(result, {constant(value, element)});
  // A table in constant memory.
  SmallVector<Constant *> items;
  Type *type = element.isInteger(1) ? b.getInt8Ty() : valueType(element);
  for (mlir::Attribute item : dense.getValues<mlir::Attribute>())
    items.push_back(element.isInteger(1) ? b.getInt8(mlir::cast<mlir::IntegerAttr>(item).getValue().getBoolValue()) : constant(item, element));
  auto *array = ArrayType::get(type, items.size());
  auto *table = new GlobalVariable(module, array, true, GlobalValue::PrivateLinkage, ConstantArray::get(array, items), "table", nullptr, GlobalValue::NotThreadLocal, 1);
  ttg::TileLayout layout = ttg::layoutOf(result.getType());
  Registers made;
  for (unsigned i = 0; i < count; ++i) {
    Value *found = b.CreateLoad(type, b.CreateGEP(type, table, elementIndex(layout, i)));
    made.push_back(element.isInteger(1) ? b.CreateICmpNE(found, b.getInt8(0)) : found);
  }
  define(result, std::move(made));
}

void GpuEmitter::emitMakeRange(tt::MakeRangeOp op) {
  ttg::TileLayout layout = ttg::layoutOf(op.getType());
  Registers made;
  for (unsigned i = 0; i < layout.registers(); ++i) {
    Value *index = elementIndex(layout, i);
    made.push_back(op.getStart() ? b.CreateAdd(index, word(op.getStart())) : index);
  }
  define(op, std::move(made));
}

void GpuEmitter::emitView(mlir::Operation *op) {
  mlir::Value source = op->getOperand(0), result = op->getResult(0);
  const Registers &from = registers(source);
  if (mlir::isa<tt::UnsplatOp>(op))
    return define(result, {from.front()});
  // Thread bits agree by construction, so each register of the result is one of the operand's.
  ttg::TileLayout to = ttg::layoutOf(result.getType()), own = ttg::layoutOf(source.getType());
  DenseMap<uint32_t, unsigned> registerOf;
  for (unsigned i = 0; i < own.registers(); ++i)
    registerOf.try_emplace(own.indexOfRegister(i), i);
  Registers made;
  for (unsigned i = 0; i < to.registers(); ++i) {
    // The place in the operand of what register i holds: the view's rule applied to a layout of this one register.
    ttg::TileLayout single;
    single.lane = {to.indexOfRegister(i)};
    uint32_t index = compiler::operandLayout(op, single).lane.front();
    auto found = registerOf.find(index);
    if (found == registerOf.end())
      return fail(op, "internal error: the layouts of a view don't agree");
    made.push_back(from[found->second]);
  }
  define(result, std::move(made));
}

} // namespace tk::lower
