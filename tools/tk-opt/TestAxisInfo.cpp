// -test-axis-info: what AxisInfo says of each operation that has the attribute `show`, and the width of each access, as remarks.
#include "compiler/analysis/AxisInfo.h"
#include "mlir/Pass/Pass.h"
#include "tools/tk-opt/TestPasses.h"

using namespace mlir;
using namespace tk;
using namespace tk::compiler;

static void printFacts(raw_ostream &os, const AxisInfo &info, Type type) {
  auto list = [&](StringRef name, ArrayRef<int64_t> numbers) {
    os << name << " [";
    llvm::interleaveComma(numbers, os, [&](int64_t number) {
      if (number == AxisInfo::kMost)
        os << "all";
      else
        os << number;
    });
    os << "]";
  };
  list("contiguity", info.contiguity);
  list(", divisibility", info.divisibility);
  list(", constancy", info.constancy);
  AxisInfo full = AxisInfo::unknown(type);
  if (info.constant)
    os << ", constant " << *info.constant;
  else if (info.low != full.low || info.high != full.high)
    os << ", range [" << info.low << ", " << info.high << "]";
}

namespace {
struct TestAxisInfo : public PassWrapper<TestAxisInfo, OperationPass<tt::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TestAxisInfo)
  StringRef getArgument() const override { return "test-axis-info"; }
  StringRef getDescription() const override { return "print the axis facts of operations with the attribute `show`, and the width of each access"; }

  void runOnOperation() override {
    auto dividends = getOperation()->hasAttr("presume") ? AxisInfoAnalysis::Dividends::Presumed : AxisInfoAnalysis::Dividends::AsProven;
    AxisInfoAnalysis analysis(getOperation(), dividends);
    getOperation()->walk([&](Operation *op) {
      std::string text;
      llvm::raw_string_ostream os(text);
      if (op->hasAttr("show"))
        for (Value result : op->getResults())
          printFacts(os << (text.empty() ? "" : "; "), analysis.of(result), result.getType());
      if (isa<tt::LoadOp, tt::StoreOp, tt::AtomicRMWOp, tt::AtomicCASOp>(op)) {
        os << (text.empty() ? "width [" : "; width [");
        size_t rank = tt::shapeOf(op->getOperand(0).getType()).size();
        llvm::interleaveComma(llvm::seq<size_t>(0, std::max<size_t>(1, rank)), os, [&](size_t axis) { os << analysis.vectorWidth(op, axis); });
        os << "]";
      }
      if (llvm::is_contained(analysis.presumed(), op))
        os << (text.empty() ? "presumed" : "; presumed");
      if (!text.empty())
        op->emitRemark() << text;
    });
  }
};
} // namespace

void tk::test::registerTestAxisInfo() { PassRegistration<TestAxisInfo>(); }
