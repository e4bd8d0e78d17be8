// Functions and calls: text form, builders, verifiers.
#include "dialects/tt/TT.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionImplementation.h"

using namespace mlir;
using namespace tk::tt;

/// What TT_Value says in TableGen.
static bool isValueType(Type type) {
  if (auto tile = dyn_cast<RankedTensorType>(type))
    return isTileShape(tile.getShape()) && isScalarType(tile.getElementType());
  return isScalarType(type);
}

// ---- tt.func ----

void FuncOp::build(OpBuilder &builder, OperationState &state, StringRef name, FunctionType type, ArrayRef<NamedAttribute> attrs) {
  state.addAttribute(SymbolTable::getSymbolAttrName(), builder.getStringAttr(name));
  state.addAttribute(getFunctionTypeAttrName(state.name), TypeAttr::get(type));
  state.attributes.append(attrs.begin(), attrs.end());
  state.addRegion();
}

ParseResult FuncOp::parse(OpAsmParser &parser, OperationState &result) {
  auto makeType = [](Builder &builder, ArrayRef<Type> arguments, ArrayRef<Type> results, function_interface_impl::VariadicFlag, std::string &) {
    return builder.getFunctionType(arguments, results);
  };
  return function_interface_impl::parseFunctionOp(parser, result, /*allowVariadic=*/false, getFunctionTypeAttrName(result.name), makeType, getArgAttrsAttrName(result.name),
                                                  getResAttrsAttrName(result.name));
}

void FuncOp::print(OpAsmPrinter &printer) {
  function_interface_impl::printFunctionOp(printer, *this, /*isVariadic=*/false, getFunctionTypeAttrName(), getArgAttrsAttrName(), getResAttrsAttrName());
}

LogicalResult FuncOp::verify() {
  if (isKernel() && getFunctionType().getNumResults() != 0)
    return emitOpError() << "is public and must return nothing, found " << getFunctionType().getNumResults() << " results [F1]";
  for (auto [index, type] : llvm::enumerate(getFunctionType().getInputs()))
    if (!isValueType(type))
      return emitOpError() << "argument " << index << " must be a tt scalar or tile, found " << type << " [F2]";
  return success();
}

// ---- tt.return ----

LogicalResult ReturnOp::verify() {
  auto function = cast<FuncOp>((*this)->getParentOp());
  ArrayRef<Type> expected = function.getFunctionType().getResults();
  if (getSrcs().getTypes() == TypeRange(expected))
    return success();
  InFlightDiagnostic error = emitOpError() << "must return the function's result types (" << expected << "), found (" << getSrcs().getTypes() << ") [R1]";
  error.attachNote(function.getLoc()) << "the function is here";
  return error;
}

// ---- tt.call ----

LogicalResult CallOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto callee = symbols.lookupNearestSymbolFrom<FuncOp>(*this, getCalleeAttr());
  if (!callee)
    return emitOpError() << "callee `" << getCallee() << "` is not a tt.func of this module [C1]";
  FunctionType type = callee.getFunctionType();
  if (TypeRange(type.getInputs()) == getOperands().getTypes() && TypeRange(type.getResults()) == getResultTypes())
    return success();
  InFlightDiagnostic error = emitOpError() << "must have the callee's type " << type << ", found "
                                           << FunctionType::get(getContext(), getOperands().getTypes(), getResultTypes()) << " [C2]";
  error.attachNote(callee.getLoc()) << "the callee is here";
  return error;
}
