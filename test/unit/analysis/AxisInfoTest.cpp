// Every fact that the analysis claims is true of every value in every execution: random functions with random arguments, executed element by element.
#include "compiler/analysis/AxisInfo.h"
#include "Catch.h"
#include "Evaluator.h"
#include "RandomKernel.h"
#include "mlir/IR/Verifier.h"
#include "llvm/Support/InterleavedRange.h"

using namespace mlir;
using namespace tk;
using namespace tk::test;
using namespace tk::compiler;
using llvm::APInt;

namespace {
/// How many facts that say something were put to the test.
struct Tally {
  size_t contiguous = 0, constant = 0, divisible = 0, ranges = 0, executions = 0;
};
} // namespace

static bool divides(int64_t divisor, const APInt &value) { return value.isZero() || int64_t(1) << std::min(62u, value.countr_zero()) >= divisor; }

/// What is wrong with the facts; empty when they hold.
static std::string violation(const AxisInfo &info, Type type, const Elements &elements, Tally &tally) {
  ArrayRef<int64_t> shape = tt::shapeOf(type);
  SmallVector<int64_t> extents(shape);
  if (extents.empty())
    extents.push_back(1);
  bool isInteger = isa<IntegerType>(tt::elementType(type));
  auto read = [&](const APInt &value) { return value.getBitWidth() == 1 ? int64_t(value.getZExtValue()) : value.getSExtValue(); };
  for (const APInt &value : elements)
    if (isInteger) {
      if (info.constant && read(value) != *info.constant)
        return "not constant";
      if (read(value) < info.low || read(value) > info.high)
        return "out of range";
    }
  AxisInfo full = AxisInfo::unknown(type);
  tally.ranges += isInteger && (info.low != full.low || info.high != full.high);
  int64_t stride = 1;
  for (int axis = int(extents.size()) - 1; axis >= 0; stride *= extents[axis--]) {
    tally.contiguous += info.contiguity[axis] > 1, tally.constant += info.constancy[axis] > 1, tally.divisible += info.divisibility[axis] > 1;
    for (size_t i = 0; i < elements.size(); ++i) {
      int64_t index = int64_t(i) / stride % extents[axis];
      std::string where = " along axis " + std::to_string(axis) + " at element " + std::to_string(i);
      bool inside = index + 1 < extents[axis];
      if (inside && (index + 1) % info.contiguity[axis] != 0 && elements[i] + uint64_t(info.unit) != elements[i + stride])
        return "not contiguous" + where;
      if (inside && (index + 1) % info.constancy[axis] != 0 && elements[i] != elements[i + stride])
        return "not equal" + where;
      if (index % info.contiguity[axis] == 0 && !divides(info.divisibility[axis], elements[i]))
        return "not divisible" + where;
    }
  }
  return "";
}

static APInt randomArgument(Type type, int64_t divisibility, std::mt19937 &random) {
  unsigned width = isa<tt::PointerType>(type) ? 64 : type.getIntOrFloatBitWidth();
  uint64_t bits = random();
  switch (random() % 4) {
  case 0: bits %= 64; break;
  case 1: bits = -(bits % 64); break;
  case 2: bits = (uint64_t(1) << (width - 1)) - bits % 100; break;
  default: bits = bits << 20 ^ random(); break;
  }
  return APInt(width, bits - bits % uint64_t(divisibility), false, true);
}

static void printFailure(tt::FuncOp function, Value value, const AxisInfo &info, const Elements &elements, const std::string &what, std::string &report) {
  llvm::raw_string_ostream os(report);
  os << what << ": " << value << "\n";
  os << "contiguity " << llvm::interleaved_array(info.contiguity) << ", divisibility " << llvm::interleaved_array(info.divisibility) << ", constancy "
     << llvm::interleaved_array(info.constancy) << ", range " << info.low << " " << info.high << "\n";
  for (const APInt &element : elements)
    os << " " << element;
  os << "\n" << function;
}

/// Executes with some arguments and checks every value on the way. A presumption that turns out wrong is like a false assumption.
static void check(tt::FuncOp function, AxisInfoAnalysis &analysis, std::mt19937 &random, Tally &tally) {
  std::string report;
  Evaluator evaluator;
  evaluator.seen = [&](Value value, const Elements &elements) {
    if (!report.empty())
      return;
    if (std::string what = violation(analysis.of(value), value.getType(), elements, tally); !what.empty())
      printFailure(function, value, analysis.of(value), elements, what, report);
  };
  evaluator.divided = [&](Operation *op, const Elements &dividend) {
    if (llvm::is_contained(analysis.presumed(), op) && llvm::any_of(dividend, [](const APInt &value) { return value.isNegative(); }))
      throw Undefined();
  };
  try {
    for (BlockArgument argument : function.getBody().getArguments()) {
      auto attribute = function.getArgAttrOfType<IntegerAttr>(argument.getArgNumber(), "tt.divisibility");
      evaluator.set(argument, {randomArgument(argument.getType(), attribute ? attribute.getInt() : 1, random)});
    }
    evaluator.run(function.getBody().front());
    ++tally.executions;
  } catch (Unspecified) { // what was seen before counts
  } catch (Undefined) {
    report.clear();
  }
  if (!report.empty())
    FAIL(report);
}

static void checkMany(AxisInfoAnalysis::Dividends dividends, unsigned functions, unsigned seed) {
  DialectRegistry registry;
  registry.insert<tt::TTDialect, arith::ArithDialect, math::MathDialect, scf::SCFDialect, ub::UBDialect>();
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  std::mt19937 random(seed);
  Tally tally;
  for (unsigned i = 0; i < functions; ++i) {
    RandomKernel kernel(context, random);
    REQUIRE(succeeded(verify(*kernel.module)));
    AxisInfoAnalysis analysis(kernel.function, dividends);
    for (unsigned execution = 0; execution < 8; ++execution)
      check(kernel.function, analysis, random, tally);
  }
  INFO(tally.executions << " executions; facts: contiguous " << tally.contiguous << ", equal " << tally.constant << ", divisible " << tally.divisible
                        << ", ranges " << tally.ranges);
  // There was something to check.
  CHECK(tally.executions > functions);
  CHECK(tally.contiguous > functions * 20);
  CHECK(tally.constant > functions * 20);
  CHECK(tally.divisible > functions * 20);
  CHECK(tally.ranges > functions * 20);
}

TEST_CASE("axis facts hold in every execution") { checkMany(AxisInfoAnalysis::Dividends::AsProven, 150, 1); }
TEST_CASE("axis facts hold where dividends are not negative") { checkMany(AxisInfoAnalysis::Dividends::Presumed, 70, 2); }
TEST_CASE("axis facts hold in many more functions", "[slow]") {
  checkMany(AxisInfoAnalysis::Dividends::AsProven, 500, 3);
  checkMany(AxisInfoAnalysis::Dividends::Presumed, 250, 4);
}
