// Why an access of memory is as wide as it is, and what the user could promise to make it wider.
//
// What the facts lack is found by asking "what if": the analysis runs again with arguments taken for multiples of 16, first all of them, then without each that
// makes no difference. So the arguments that are named are those that matter, however far from the access they are.
#include "compiler/RecordRemark.h"
#include "compiler/layout/AccessLayout.h"
#include "compiler/lower/GpuRemarks.h"

using namespace mlir;
using namespace tk;
using tk::compiler::AccessWidth;
using tk::compiler::AxisInfoAnalysis;

static constexpr int64_t kPromise = 16;
static constexpr StringRef kDivisibility = "tt.divisibility";

namespace {
/// Arguments of the function whose divisibility is changed for a while.
class Promises {
public:
  explicit Promises(tt::FuncOp function) : function(function) {
    for (unsigned i = 0; i < function.getNumArguments(); ++i) {
      Type type = function.getArgument(i).getType();
      auto known = function.getArgAttrOfType<IntegerAttr>(i, kDivisibility);
      bool isCandidate = isa<tt::PointerType>(type) || (isa<IntegerType>(type) && !type.isInteger(1));
      if (isCandidate && (!known || known.getInt() < kPromise))
        candidates.push_back({i, known});
    }
  }
  ~Promises() {
    for (unsigned i = 0; i < candidates.size(); ++i)
      set(i, false);
  }
  size_t size() const { return candidates.size(); }
  unsigned argument(size_t i) const { return candidates[i].first; }
  void set(size_t i, bool promised) {
    auto [argument, known] = candidates[i];
    if (promised)
      function.setArgAttr(argument, kDivisibility, IntegerAttr::get(IntegerType::get(function.getContext(), 32), kPromise));
    else if (known)
      function.setArgAttr(argument, kDivisibility, known);
    else
      function.removeArgAttr(argument, StringAttr::get(function.getContext(), kDivisibility));
  }

private:
  tt::FuncOp function;
  SmallVector<std::pair<unsigned, IntegerAttr>> candidates;
};
} // namespace

static std::string spellingOf(Type type) {
  if (auto pointer = dyn_cast<tt::PointerType>(type))
    return "*" + spellingOf(pointer.getPointeeType());
  std::string text;
  llvm::raw_string_ostream(text) << type;
  if (type.isF16() || type.isF32() || type.isF64())
    return "fp" + text.substr(1);
  if (isa<Float8E4M3FNType>(type))
    return "fp8e4nv";
  if (isa<Float8E4M3FNUZType>(type))
    return "fp8e4b8";
  if (isa<Float8E5M2Type>(type))
    return "fp8e5";
  return isa<Float8E5M2FNUZType>(type) ? "fp8e5b16" : text;
}

/// `x: "*fp32:16"`; empty when no promise about arguments makes the access wider.
static std::string promisesFor(Operation *access, unsigned axis, int64_t wanted) {
  auto function = access->getParentOfType<tt::FuncOp>();
  if (!function)
    return "";
  Promises promises(function);
  auto width = [&] { return std::min(wanted, AxisInfoAnalysis(function).vectorWidth(access, axis)); };
  int64_t now = width();
  for (size_t i = 0; i < promises.size(); ++i)
    promises.set(i, true);
  int64_t best = width();
  if (best <= now)
    return "";
  std::string text;
  for (size_t i = 0; i < promises.size(); ++i) {
    promises.set(i, false);
    if (width() >= best)
      continue;
    promises.set(i, true);
    BlockArgument argument = function.getArgument(promises.argument(i));
    auto name = dyn_cast<NameLoc>(argument.getLoc());
    text += (text.empty() ? "`" : ", `") + (name ? name.getName().str() : "argument " + std::to_string(argument.getArgNumber())) + ": \"" +
            spellingOf(argument.getType()) + ":16\"`";
  }
  return text;
}

void lower::remarkAccess(Operation *op, const ttg::TileLayout *layout, unsigned elements, unsigned accesses, AxisInfoAnalysis &axes) {
  compiler::RecordRemark remark(op, compiler::RemarkKind::Access);
  if (!remark)
    return;
  Type pointer = op->getOperand(0).getType();
  unsigned bytes = tt::bytesOf(tt::elementType(tt::pointeesOf(pointer)));
  bool isAtomic = isa<tt::AtomicRMWOp, tt::AtomicCASOp>(op);
  remark.fact("operation", isAtomic ? "atomic" : isa<tt::StoreOp>(op) ? "store" : "load").fact("elements", elements).fact("bits", 8 * bytes);
  if (!layout) {
    remark.fact("limit", "scalar");
    return;
  }
  remark.fact("accesses", accesses);
  AccessWidth width = compiler::accessWidth(op, *layout, axes);
  int64_t held = int64_t(elements) * accesses, most = std::min(width.instruction, held);
  remark.fact("most", width.instruction);
  int used = int(100 * compiler::sectorUse(op, *layout, axes));
  auto last = [&] {
    if (used < 100)
      remark.fact("used", used);
  };
  if (isAtomic || elements >= width.instruction)
    return last();
  if (elements >= most) {
    remark.fact("limit", "small");
    return last();
  }
  if (std::min(width.address, width.mask) > elements) {
    remark.fact("limit", "layout");
    return last();
  }
  const compiler::AxisInfo &address = axes.of(op->getOperand(0));
  if (width.mask < width.address) {
    remark.fact("limit", "mask").fact("uniform", width.mask);
  } else if (int64_t run = address.contiguity[width.axis]; run <= width.address) {
    remark.fact("limit", "neighbours").fact("run", run);
  } else {
    remark.fact("limit", "alignment").fact("aligned", std::max<int64_t>(bytes, address.divisibilityAt(width.axis, most)));
  }
  if (std::string promises = promisesFor(op, width.axis, most); !promises.empty())
    remark.fact("annotate", promises);
  last();
}
