// Entry points of the elaborator, the kernel's function, places, reporting and limits.
#include "lang/sema/Elaborator.h"
#include "lang/sema/ConstOperations.h"
#include "lang/sema/ConstText.h"
#include "lang/sema/DeepStack.h"
#include "lang/sema/Library.h"
#include "lang/sema/ModuleScope.h"
#include "lang/sema/Provenance.h"
#include "lang/sema/TypeSpelling.h"
#include "mlir/IR/Verifier.h"
#include "llvm/Support/ProgramStack.h"

namespace tk::lang {

static constexpr unsigned kStackBytes = 128u << 20, kStackLimit = 96u << 20;
static constexpr uint64_t kOperationLimit = 500'000;

Elaborator::Elaborator(mlir::MLIRContext &context, const ElaborateOptions &options, unsigned stackLimit)
    : context(context), builder(&context), options(options), stackBase(llvm::getStackPointer()), stackLimit(stackLimit) {
  builder.setListener(&counter);
}

// ---- places ----
static uint32_t codePoints(std::string_view text) {
  return static_cast<uint32_t>(std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

LineColumn Elaborator::position(uint32_t offset) {
  const SourceFile &file = *frame->file;
  auto &last = lastPosition;
  if (last.file == &file && offset >= last.lineBegin && offset < last.lineEnd) {
    if (offset >= last.offset)
      last.at.column += codePoints(file.text({last.offset, offset}));
    else
      last.at.column -= codePoints(file.text({offset, last.offset}));
  } else {
    last.file = &file;
    last.at = file.position(offset);
    last.lineBegin = file.lineStart(last.at.line);
    last.lineEnd = last.at.line < file.lineCount() ? file.lineStart(last.at.line + 1) : static_cast<uint32_t>(file.text().size()) + 1;
  }
  last.offset = offset;
  return last.at;
}

Place Elaborator::userPlace(SourceRange range) const {
  Place result = place(range);
  for (const Frame *f = frame; f->caller && isLibraryScope(f->scope); f = f->caller)
    result = {f->caller->file, f->callRange};
  return result;
}

mlir::Location Elaborator::loc(SourceRange range) {
  const SourceFile &file = *frame->file;
  LineColumn at = position(range.begin);
  mlir::Location result = mlir::FileLineColLoc::get(&context, file.name(), at.line, at.column);
  if (!frame->target.empty())
    result = mlir::NameLoc::get(mlir::StringAttr::get(&context, frame->target), result);
  return frame->callLocation ? mlir::CallSiteLoc::get(result, *frame->callLocation) : result;
}

void Elaborator::noteCallers() {
  constexpr size_t kFirst = 4, kLast = 3; // of a long chain
  std::vector<const Frame *> chain;
  const Frame *f = frame;
  while (f->caller && isLibraryScope(f->scope)) // userPlace is the call into the library
    f = f->caller;
  for (; f->caller; f = f->caller)
    chain.push_back(f);
  for (size_t i = 0; i < chain.size(); ++i) {
    bool middle = chain.size() > kFirst + kLast + 1 && i >= kFirst && i + kLast < chain.size();
    if (!middle)
      report(Diag::CalledHere, Place{chain[i]->caller->file, chain[i]->callRange}, chain[i]->name);
    else if (i == kFirst)
      report(Diag::MoreCalls, Place{chain[i]->caller->file, chain[i]->callRange}, chain.size() - kFirst - kLast);
  }
}

mlir::Value Elaborator::approximable(mlir::Value result) const {
  if (tt::elementType(result.getType()).isF32() && !isLibraryScope(frame->scope))
    if (mlir::Operation *op = result.getDefiningOp())
      op->setAttr("fastmath", mlir::arith::FastMathFlagsAttr::get(&context, mlir::arith::FastMathFlags::afn));
  return result;
}

void Elaborator::extension(SourceRange range, const char *what) {
  if (options.strictTriton && !isLibraryScope(frame->scope))
    report(Diag::Extension, place(range), std::string(what));
}

void Elaborator::flush(Diagnostics &diagnostics) {
  for (const auto &message : log)
    message(diagnostics);
  log.clear();
}

void Elaborator::rollback(const Mark &mark) {
  if (exhausted)
    return;
  log.resize(mark.log);
  printed.resize(mark.printed);
  errors = mark.errors;
}

bool Elaborator::step(SourceRange range) {
  if (exhausted)
    return false;
  uintptr_t here = llvm::getStackPointer();
  uintptr_t used = here > stackBase ? here - stackBase : stackBase - here;
  if (++steps <= options.stepLimit && counter.count <= kOperationLimit && used <= stackLimit)
    return true;
  if (used > stackLimit)
    error(range, Diag::TooDeep);
  else if (steps > options.stepLimit)
    error(range, Diag::EndlessCompileTime, options.stepLimit);
  else
    error(range, Diag::TooLarge, kOperationLimit);
  exhausted = true;
  return false;
}

// ---- types and constants ----
mlir::Type Elaborator::mlirType(const TypeValue &type) {
  mlir::Type result;
  switch (type.dtype) {
  case DType::I1: result = builder.getI1Type(); break;
  case DType::I8:
  case DType::U8:
  case DType::F8E4B15: result = builder.getI8Type(); break;
  case DType::I16:
  case DType::U16: result = builder.getI16Type(); break;
  case DType::I32:
  case DType::U32: result = builder.getI32Type(); break;
  case DType::I64:
  case DType::U64: result = builder.getI64Type(); break;
  case DType::F8E4M3FN: result = mlir::Float8E4M3FNType::get(&context); break;
  case DType::F8E5M2: result = mlir::Float8E5M2Type::get(&context); break;
  case DType::F8E4M3FNUZ: result = mlir::Float8E4M3FNUZType::get(&context); break;
  case DType::F8E5M2FNUZ: result = mlir::Float8E5M2FNUZType::get(&context); break;
  case DType::F16: result = builder.getF16Type(); break;
  case DType::BF16: result = builder.getBF16Type(); break;
  case DType::F32: result = builder.getF32Type(); break;
  case DType::F64: result = builder.getF64Type(); break;
  }
  for (unsigned i = 0; i < type.pointerDepth; ++i)
    result = tt::PointerType::get(result);
  return result;
}

mlir::Type Elaborator::mlirType(const TypeValue &type, llvm::ArrayRef<int64_t> shape) {
  mlir::Type element = mlirType(type);
  return shape.empty() ? element : mlir::RankedTensorType::get(shape, element);
}

bool Elaborator::checkType(const TypeValue &type, SourceRange range) {
  if (type.pointerDepth > 8) {
    error(range, Diag::PointerDepth);
    return false;
  }
  return true;
}

bool Elaborator::checkShape(llvm::ArrayRef<int64_t> shape, SourceRange range) {
  uint64_t count = 1;
  for (int64_t extent : shape) {
    if (extent < 1) {
      error(range, Diag::ExtentTooSmall, extent);
      return false;
    }
    count = static_cast<uint64_t>(extent) > static_cast<uint64_t>(tt::kMaxTileElements) / count ? UINT64_MAX : count * static_cast<uint64_t>(extent);
    if (count > static_cast<uint64_t>(tt::kMaxTileElements)) {
      error(range, Diag::TileTooLarge, tt::kMaxTileElements);
      return false;
    }
  }
  return true;
}

mlir::Value Elaborator::constantInt(int64_t value, unsigned bits, mlir::Location at) {
  auto type = builder.getIntegerType(bits);
  return mlir::arith::ConstantOp::create(builder, at,
                                         builder.getIntegerAttr(type, llvm::APInt(bits, static_cast<uint64_t>(value), true, /*implicitTrunc=*/true)));
}

Runtime Elaborator::materialize(const ConstValue &value, DType type, SourceRange range) {
  TypeValue frontType{type, 0, false};
  mlir::Type mlirElement = mlirType(frontType);
  mlir::Location at = loc(range);
  if (type == DType::F8E4B15)
    return convert(materialize(value, DType::F32, range), type, at);
  if (isFloat(type)) {
    llvm::APFloat number = floatConstant(value, type).value_or(llvm::APFloat::getZero(semanticsOf(type)));
    return {mlir::arith::ConstantOp::create(builder, at, mlir::FloatAttr::get(mlirElement, number)), frontType};
  }
  unsigned bits = bitsOf(type);
  BigInt integer(0);
  if (auto *b = value.get<bool>())
    integer = BigInt(static_cast<int64_t>(*b));
  else if (auto *i = value.get<BigInt>())
    integer = *i;
  else if (auto *d = value.get<double>(); d && std::isfinite(*d))
    integer = truncateToBigInt(*d);
  if (type == DType::I1)
    integer = BigInt(static_cast<int64_t>(value.truth()));
  return {mlir::arith::ConstantOp::create(builder, at, builder.getIntegerAttr(mlirElement, toAPInt(integer, bits))), frontType};
}

std::optional<Runtime> Elaborator::toRuntime(const Value &value, SourceRange range) {
  if (auto *runtime = value.asRuntime())
    return *runtime;
  if (value.isError())
    return std::nullopt;
  if (auto *c = value.asConst()) {
    if (std::optional<DType> type = literalType(*c))
      return materialize(*c, *type, range);
    if (c->get<BigInt>()) {
      error(range, Diag::IntegerTooLarge, c->repr());
      return std::nullopt;
    }
  }
  error(range, Diag::NotANumber, value.describe());
  return std::nullopt;
}

mlir::Value Elaborator::placeholder(mlir::Type type, mlir::Location at) {
  mlir::Type element = tt::elementType(type);
  if (mlir::isa<tt::PointerType>(element)) {
    mlir::Value zero = placeholder(tt::withShapeOf(builder.getI64Type(), type), at);
    return tt::IntToPtrOp::create(builder, at, type, zero);
  }
  return mlir::arith::ConstantOp::create(builder, at, mlir::cast<mlir::TypedAttr>(builder.getZeroAttr(type)));
}

// ---- the kernel ----
namespace {
/// Adds the run-time arguments of a parameter to the function and gives its value.
struct ParameterReader {
  Elaborator &elaborator;
  mlir::Block &entry;
  std::vector<KernelArgument> &arguments;
  std::vector<mlir::NamedAttrList> attributes;
  mlir::Location loc;

  Value read(const ParamSpec &spec, unsigned param, const std::string &name, std::vector<unsigned> &path, SourceRange range) {
    if (spec.kind == ParamSpec::Constant)
      return Value(spec.value);
    if (spec.kind == ParamSpec::Tuple) {
      std::vector<Value> elements;
      for (unsigned i = 0; i < spec.elements.size(); ++i) {
        path.push_back(i);
        elements.push_back(read(spec.elements[i], param, name + "[" + std::to_string(i) + "]", path, range));
        path.pop_back();
      }
      return Value::tuple(std::move(elements));
    }
    TypeValue type = spec.type;
    if (spec.kind == ParamSpec::Pointer)
      ++type.pointerDepth;
    if (!elaborator.checkType(type, range))
      return Value();
    mlir::NamedAttrList attrs;
    if (spec.divisibility > 1)
      attrs.set("tt.divisibility", elaborator.builder.getI32IntegerAttr(static_cast<int32_t>(spec.divisibility)));
    attributes.push_back(attrs);
    mlir::Location named = mlir::NameLoc::get(mlir::StringAttr::get(&elaborator.context, name), loc);
    mlir::Value ssa = entry.addArgument(elaborator.mlirType(type), named);
    arguments.push_back({name, param, path, type, false, false});
    return Runtime{ssa, type};
  }
};
} // namespace

mlir::OwningOpRef<mlir::ModuleOp> Elaborator::elaborateKernel(const ModuleScope &scope, const ast::Function &kernel, const std::vector<ParamSpec> &params,
                                                              std::vector<KernelArgument> &arguments) {
  Frame top;
  top.scope = &scope;
  top.file = &scope.file();
  top.name = kernel.name;
  top.function = &kernel;
  frame = &top;
  mlir::Location at = loc(kernel.nameRange);
  mlir::OwningOpRef<mlir::ModuleOp> owner = mlir::ModuleOp::create(at);
  module = *owner;
  auto region = std::make_unique<mlir::Region>();
  mlir::Block &entry = region->emplaceBlock();
  builder.setInsertionPointToEnd(&entry);
  if (params.size() != kernel.params.size()) {
    error(kernel.nameRange, Diag::ParameterCount, kernel.name, kernel.params.size(), params.size());
    return nullptr;
  }
  ParameterReader reader{*this, entry, arguments, {}, at};
  for (unsigned i = 0; i < params.size(); ++i) {
    std::vector<unsigned> path;
    const ast::Parameter &param = kernel.params[i];
    top.env[param.name] = Binding{reader.read(params[i], i, param.name, path, param.range), param.range, std::nullopt, "", false};
  }
  Value returned = inlineBody(FunctionValue{&scope, &kernel, nullptr}, top, kernel.nameRange);
  if (!returned.isError() && !returned.isNone())
    error(kernel.nameRange, Diag::KernelReturns, kernel.name, returned.describe());
  if (errors)
    return nullptr;
  tt::ReturnOp::create(builder, at);
  builder.setInsertionPointToEnd(module.getBody());
  auto function = tt::FuncOp::create(builder, at, kernel.name, builder.getFunctionType(entry.getArgumentTypes(), {}));
  function.getBody().takeBody(*region);
  function.setSymVisibility("public"); // written out, as in TTIR
  for (unsigned i = 0; i < reader.attributes.size(); ++i)
    if (!reader.attributes[i].empty())
      function.setArgAttrs(i, reader.attributes[i].getDictionary(&context));
  function->moveBefore(module.getBody(), module.getBody()->begin());
  findAccesses(function, arguments);
  return owner;
}

Elaborated elaborate(mlir::MLIRContext &context, const ModuleScope &scope, const ast::Function &kernel, const std::vector<ParamSpec> &params,
                     const ElaborateOptions &options, Diagnostics &diagnostics) {
  Elaborated result;
  ElaborateOptions chosen = options;
  chosen.debug |= hasJitFlag(kernel, "debug"); // of the kernel that is launched, with all that it calls
  onDeepStack(kStackBytes, [&]() {
    Elaborator elaborator(context, chosen, kStackLimit);
    result.module = elaborator.elaborateKernel(scope, kernel, params, result.arguments);
    result.printed = std::move(elaborator.printed);
    if (result.module) {
      std::string text;
      mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diagnostic) {
        if (text.empty())
          text = diagnostic.str();
        return mlir::success();
      });
      if (mlir::failed(mlir::verify(*result.module))) {
        elaborator.report(Diag::Internal, Place{&scope.file(), kernel.nameRange}, text);
        result.module = nullptr;
      }
    }
    elaborator.flush(diagnostics);
  });
  return result;
}

} // namespace tk::lang
