// Replaces the elementary functions of `math` by the arithmetic of the math library (lang/stdlib/math.tk), inlined.
//
// Why: one implementation, written in the language, gives the same bits on every target, runs on vectors wherever its operands are tiles, and needs no
// libm at run time. fp32 and fp64, scalars and tiles; what processors do themselves (sqrt, fma, floor, ceil, abs, ...) stays.
//
//   %1 = math.exp %0 : tensor<8xf32>      ->     %1 = arith.mulf %0, ...
//                                                ...                          the body of `exp` for tensor<8xf32>
#include "compiler/Passes.h"
#include "lang/sema/Elaborate.h"
#include "mlir/Pass/PassManager.h"

namespace tk::compiler {
#define GEN_PASS_DEF_EXPANDMATHPASS
#include "compiler/Passes.h.inc"
} // namespace tk::compiler

using namespace mlir;
using namespace tk;

/// The library's name for an operation; empty when it stays.
static StringRef libraryName(Operation *op) {
  return llvm::TypeSwitch<Operation *, StringRef>(op)
      .Case<math::ExpOp>([](auto) { return "exp"; })
      .Case<math::Exp2Op>([](auto) { return "exp2"; })
      .Case<math::ExpM1Op>([](auto) { return "expm1"; })
      .Case<math::LogOp>([](auto) { return "log"; })
      .Case<math::Log2Op>([](auto) { return "log2"; })
      .Case<math::Log10Op>([](auto) { return "log10"; })
      .Case<math::Log1pOp>([](auto) { return "log1p"; })
      .Case<math::SinOp>([](auto) { return "sin"; })
      .Case<math::CosOp>([](auto) { return "cos"; })
      .Case<math::TanOp>([](auto) { return "tan"; })
      .Case<math::AsinOp>([](auto) { return "asin"; })
      .Case<math::AcosOp>([](auto) { return "acos"; })
      .Case<math::AtanOp>([](auto) { return "atan"; })
      .Case<math::Atan2Op>([](auto) { return "atan2"; })
      .Case<math::SinhOp>([](auto) { return "sinh"; })
      .Case<math::CoshOp>([](auto) { return "cosh"; })
      .Case<math::TanhOp>([](auto) { return "tanh"; })
      .Case<math::AsinhOp>([](auto) { return "asinh"; })
      .Case<math::AcoshOp>([](auto) { return "acosh"; })
      .Case<math::AtanhOp>([](auto) { return "atanh"; })
      .Case<math::ErfOp>([](auto) { return "erf"; })
      .Case<math::ErfcOp>([](auto) { return "erfc"; })
      .Case<math::CbrtOp>([](auto) { return "cbrt"; })
      .Case<math::RsqrtOp>([](auto) { return "rsqrt"; })
      .Case<math::PowFOp>([](auto) { return "pow"; })
      .Default([](Operation *) { return StringRef(); });
}

/// tl's functions may be the machine's own, with its error; libdevice's may not.
static bool allowsApproximation(Operation *op) {
  auto flags = dyn_cast<arith::ArithFastMathInterface>(op);
  return flags && arith::bitEnumContainsAll(flags.getFastMathFlagsAttr().getValue(), arith::FastMathFlags::afn);
}

static bool isExpanded(Operation *op, bool keepNative) {
  if (libraryName(op).empty())
    return false;
  Type element = tt::elementType(op->getResult(0).getType());
  if (keepNative && element.isF32() && isa<math::ExpOp, math::Exp2Op, math::RsqrtOp>(op) && allowsApproximation(op))
    return false;
  return element.isF32() || element.isF64();
}

namespace {
class ExpandMathPass : public compiler::impl::ExpandMathPassBase<ExpandMathPass> {
public:
  using ExpandMathPassBase::ExpandMathPassBase;

  void runOnOperation() override {
    // A function of the library may use another one: what it brings is expanded too. Each (function, types) is elaborated once.
    functions.clear();
    SmallVector<Operation *> work;
    collect(getOperation(), work);
    if (work.empty())
      return;
    while (!work.empty())
      if (failed(replaceByCall(work.pop_back_val(), work)))
        return signalPassFailure();
    OpPassManager inlining(ModuleOp::getOperationName());
    inlining.addPass(compiler::createInlinePass());
    if (failed(runPipeline(inlining, getOperation())))
      signalPassFailure();
  }

private:
  void collect(Operation *root, SmallVectorImpl<Operation *> &work) {
    root->walk([&](Operation *op) {
      if (isExpanded(op, keepNative))
        work.push_back(op);
    });
  }

  LogicalResult replaceByCall(Operation *op, SmallVectorImpl<Operation *> &work) {
    auto key = std::make_pair(libraryName(op), op->getResult(0).getType());
    auto [slot, fresh] = functions.try_emplace(key);
    if (fresh) {
      std::vector<Type> types(op->getOperandTypes().begin(), op->getOperandTypes().end());
      slot->second = cast_or_null<tt::FuncOp>(lang::elaborateLibraryFunction(getOperation(), "math", key.first.str(), types));
      if (slot->second)
        collect(slot->second, work);
    }
    tt::FuncOp function = slot->second;
    if (!function || function.getFunctionType().getResults() != ArrayRef<Type>(op->getResult(0).getType()))
      return op->emitError() << "the math library has no `" << key.first << "` for " << key.second;
    OpBuilder builder(op);
    auto call = tt::CallOp::create(builder, op->getLoc(), function, op->getOperands());
    op->getResult(0).replaceAllUsesWith(call.getResult(0));
    op->erase();
    return success();
  }

  DenseMap<std::pair<StringRef, Type>, tt::FuncOp> functions;
};
} // namespace
