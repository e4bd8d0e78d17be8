// -test-access-form: what AccessForm says of each load, store and atomic, as remarks.
#include "compiler/analysis/AccessForm.h"
#include "mlir/IR/AsmState.h"
#include "mlir/Pass/Pass.h"
#include "tools/tk-opt/TestPasses.h"

using namespace mlir;
using namespace tk;
using namespace tk::compiler;

static void printMask(raw_ostream &os, const MaskForm &mask, AsmState &names) {
  SmallVector<std::string> parts;
  auto part = [&](function_ref<void(raw_ostream &)> print) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    print(stream);
    parts.push_back(text);
  };
  if (mask.never)
    parts.push_back("never");
  for (const Bound &bound : mask.bounds)
    part([&](raw_ostream &os) {
      bound.form->print(os, names);
      os << " " << arith::stringifyCmpIPredicate(bound.predicate) << " ";
      bound.limit.print(os, names);
      if (int axis = bound.form->onlyAxis(); axis >= 0)
        os << " along i" << axis;
      if (!bound.form->conditions.empty())
        os << " unless wrapped";
    });
  for (Value scalar : mask.scalars)
    part([&](raw_ostream &os) { scalar.printAsOperand(os, names); });
  for (const MaskForm::Opaque &residue : mask.residues)
    part([&](raw_ostream &os) {
      residue.tile.printAsOperand(os, names);
      os << "[";
      llvm::interleaveComma(residue.axes, os, [&](int axis) { axis < 0 ? os << "*" : os << "i" << axis; });
      os << "]";
    });
  if (!parts.empty())
    os << "; mask: " << llvm::join(parts, " and ");
}

static void printAccess(raw_ostream &os, const Access &access, AsmState &names) {
  os << "base ";
  access.base.printAsOperand(os, names);
  os << ", offset ";
  access.offset->print(os, names);
  for (const NoWrap &condition : access.offset->conditions) {
    os << (condition.isSigned ? " if signed i" : " if unsigned i") << condition.form->width << " holds ";
    condition.form->print(os, names);
  }
  printMask(os, access.mask, names);
}

namespace {
struct TestAccessForm : public PassWrapper<TestAccessForm, OperationPass<tt::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TestAccessForm)
  StringRef getArgument() const override { return "test-access-form"; }
  StringRef getDescription() const override { return "print the access form of each load, store and atomic"; }

  void runOnOperation() override {
    AccessAnalysis analysis;
    AsmState names(getOperation());
    getOperation()->walk([&](Operation *op) {
      if (!isa<tt::LoadOp, tt::StoreOp, tt::AtomicRMWOp, tt::AtomicCASOp>(op))
        return;
      std::string text;
      llvm::raw_string_ostream os(text);
      if (auto access = analysis.accessOf(op))
        printAccess(os, *access, names);
      else
        os << "unknown";
      op->emitRemark() << text;
    });
  }
};
} // namespace

void tk::test::registerTestAccessForm() { PassRegistration<TestAccessForm>(); }
