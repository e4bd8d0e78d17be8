// Library functions for passes that expand an operation into library code.
#include "lang/sema/DeepStack.h"
#include "lang/sema/Elaborator.h"
#include "lang/sema/Library.h"
#include "mlir/IR/SymbolTable.h"

namespace tk::lang {

/// The front end's type of an element; integers count as signed.
static std::optional<TypeValue> frontType(mlir::Type element) {
  TypeValue type;
  while (auto pointer = mlir::dyn_cast<tt::PointerType>(element)) {
    ++type.pointerDepth;
    element = pointer.getPointeeType();
  }
  for (DType candidate : {DType::I1, DType::I8, DType::I16, DType::I32, DType::I64})
    if (element.isInteger(bitsOf(candidate)))
      return type.dtype = candidate, type;
  if (mlir::isa<mlir::Float8E4M3FNType>(element))
    type.dtype = DType::F8E4M3FN;
  else if (mlir::isa<mlir::Float8E5M2Type>(element))
    type.dtype = DType::F8E5M2;
  else if (mlir::isa<mlir::Float8E4M3FNUZType>(element))
    type.dtype = DType::F8E4M3FNUZ;
  else if (mlir::isa<mlir::Float8E5M2FNUZType>(element))
    type.dtype = DType::F8E5M2FNUZ;
  else if (element.isF16())
    type.dtype = DType::F16;
  else if (element.isBF16())
    type.dtype = DType::BF16;
  else if (element.isF32())
    type.dtype = DType::F32;
  else if (element.isF64())
    type.dtype = DType::F64;
  else
    return std::nullopt;
  return type;
}

mlir::Operation *Elaborator::elaborateFunction(mlir::ModuleOp into, const FunctionValue &function, llvm::ArrayRef<mlir::Type> types,
                                               const std::string &symbol) {
  module = into;
  Frame outer;
  outer.scope = function.scope;
  outer.file = &function.scope->file();
  outer.name = symbol;
  Strand strand;
  outer.strand = &strand;
  frame = &outer;
  mlir::Location at = loc(function.function->nameRange);
  mlir::Region region;
  mlir::Block &entry = region.emplaceBlock();
  builder.setInsertionPointToEnd(&entry);
  std::vector<Argument> arguments;
  for (mlir::Type type : types) {
    std::optional<TypeValue> element = frontType(tt::elementType(type));
    if (!element)
      return nullptr;
    arguments.push_back({Runtime{entry.addArgument(type, at), *element}, function.function->nameRange, ""});
  }
  Value returned = callFunction(function, arguments, function.function->nameRange);
  if (returned.isError() || errors)
    return nullptr;
  llvm::SmallVector<mlir::Value> results;
  for (const Value &value : returned.elements().value_or(std::vector<Value>{returned})) {
    if (value.isNone())
      continue;
    std::optional<Runtime> runtime = toRuntime(value, function.function->nameRange);
    if (!runtime)
      return nullptr;
    results.push_back(runtime->ssa);
  }
  tt::ReturnOp::create(builder, at, results);
  llvm::SmallVector<mlir::Type> resultTypes;
  for (mlir::Value result : results)
    resultTypes.push_back(result.getType());
  builder.setInsertionPointToEnd(into.getBody());
  auto op = tt::FuncOp::create(builder, at, symbol, builder.getFunctionType(types, resultTypes));
  op.getBody().takeBody(region);
  op.setPrivate();
  return op;
}

mlir::Operation *elaborateLibraryFunction(mlir::ModuleOp module, const std::string &libraryModuleName, const std::string &name,
                                          const std::vector<mlir::Type> &argumentTypes) {
  std::string symbol = "__tk_" + libraryModuleName + "_" + name;
  for (mlir::Type type : argumentTypes) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    type.print(stream);
    symbol += "_";
    for (char c : text)
      symbol += llvm::isAlnum(c) ? c : '_';
  }
  if (mlir::Operation *known = mlir::SymbolTable::lookupSymbolIn(module, symbol))
    return known;
  const ModuleScope *scope = nullptr;
  const ast::Function *function = findLibraryModuleFunction(libraryModuleName, name, scope);
  if (!function) // a group: "math" and "libdevice" are several files
    function = findLibraryFunction(libraryModuleName == "math" ? "libdevice" : libraryModuleName, name, scope);
  if (!function)
    return nullptr;
  mlir::Operation *result = nullptr;
  onDeepStack(32u << 20, [&]() {
    ElaborateOptions options;
    Elaborator elaborator(*module.getContext(), options, 24u << 20);
    result = elaborator.elaborateFunction(module, FunctionValue{scope, function, nullptr}, argumentTypes, symbol);
  });
  return result;
}

} // namespace tk::lang
