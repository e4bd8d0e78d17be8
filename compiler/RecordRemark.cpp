// See RecordRemark.h.
#include "compiler/RecordRemark.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Operation.h"

using namespace mlir;
namespace tk::compiler {

RecordRemark::RecordRemark(Operation *op, RemarkKind kind)
    : context(op->getContext()), remark(remark::analysis(op->getLoc(), remark::RemarkOpts::name(nameOf(kind)).category(nameOf(kind)))) {}

RecordRemark &RecordRemark::fact(StringRef name, int64_t number) {
  if (remark)
    remark << remark::detail::Remark::Arg(name, Attribute(IntegerAttr::get(IntegerType::get(context, 64), number)));
  return *this;
}

RecordRemark &RecordRemark::fact(StringRef name, const llvm::Twine &text) {
  if (remark)
    remark << remark::detail::Remark::Arg(name, Attribute(StringAttr::get(context, text)));
  return *this;
}

namespace {
class Collector : public remark::detail::MLIRRemarkStreamerBase {
public:
  Collector(std::function<RemarkListener::Position(Location)> place, Remarks &out) : place(std::move(place)), out(out) {}

  void streamOptimizationRemark(const remark::detail::Remark &recorded) override {
    static constexpr RemarkKind kinds[] = {
#define TK_REMARK(kind, name) RemarkKind::kind,
#include "compiler/Remarks.def"
    };
    for (RemarkKind kind : kinds)
      if (recorded.getRemarkName() == nameOf(kind))
        return add(kind, recorded);
  }

private:
  void add(RemarkKind kind, const remark::detail::Remark &recorded) {
    RemarkListener::Position at = place(recorded.getLocation());
    Remark &made = out.emplace_back(Remark{kind, at.file, at.line, at.column, {}, 1});
    for (const auto &argument : recorded.getArgs())
      if (auto number = dyn_cast_or_null<IntegerAttr>(argument.getAttribute()))
        made.facts.push_back({argument.key, number.getInt()});
      else if (auto text = dyn_cast_or_null<StringAttr>(argument.getAttribute()))
        made.facts.push_back({argument.key, text.getValue().str()});
  }

  std::function<RemarkListener::Position(Location)> place;
  Remarks &out;
};
} // namespace

RemarkListener::RemarkListener(MLIRContext &context, bool all, std::function<Position(Location)> place, Remarks &out) : context(context) {
  remark::RemarkCategories categories;
  categories.analysis = all ? std::string(".*") : "^" + std::string(nameOf(RemarkKind::Shared)) + "$";
  auto engine = std::make_unique<remark::detail::RemarkEngine>(/*printAsEmitRemarks=*/false, categories);
  std::string problem;
  if (succeeded(engine->initialize(std::make_unique<Collector>(std::move(place), out), std::make_unique<remark::RemarkEmittingPolicyAll>(), &problem)))
    context.setRemarkEngine(std::move(engine));
}

RemarkListener::~RemarkListener() { context.setRemarkEngine(nullptr); }

} // namespace tk::compiler
