// Polynomials over SSA scalars.
#include "compiler/analysis/ScalarExpr.h"
#include "dialects/tt/Facts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tk::compiler;

// Beyond these an expression tells nothing that its SSA value doesn't.
static constexpr unsigned kMaxTerms = 16, kMaxFactors = 4, kMaxDepth = 12;

bool ScalarExpr::Atom::operator==(const Atom &other) const {
  if (value || other.value)
    return value == other.value;
  return isSigned == other.isSigned && (inner == other.inner || *inner == *other.inner);
}

/// The same factors in any order.
static bool sameFactors(ArrayRef<ScalarExpr::Atom> left, ArrayRef<ScalarExpr::Atom> right) {
  return left.size() == right.size() && std::is_permutation(left.begin(), left.end(), right.begin());
}

void ScalarExpr::add(Term term) {
  for (auto it = sum.begin(); it != sum.end(); ++it)
    if (sameFactors(it->factors, term.factors)) {
      it->coefficient += term.coefficient;
      if (it->coefficient.isZero())
        sum.erase(it);
      return;
    }
  if (!term.coefficient.isZero())
    sum.push_back(std::move(term));
}

ScalarExpr ScalarExpr::constant(APInt value) {
  ScalarExpr expr(value.getBitWidth());
  expr.add({value, {}});
  return expr;
}

ScalarExpr ScalarExpr::atom(unsigned width, Atom atom) {
  ScalarExpr expr(width);
  expr.add({APInt(width, 1), {std::move(atom)}});
  return expr;
}

std::optional<APInt> ScalarExpr::asConstant() const {
  if (sum.empty())
    return APInt::getZero(bits);
  if (sum.size() == 1 && sum.front().factors.empty())
    return sum.front().coefficient;
  return std::nullopt;
}

bool ScalarExpr::isConstant(int64_t value) const { return *this == constant(bits, value); }

bool ScalarExpr::operator==(const ScalarExpr &other) const {
  if (bits != other.bits || sum.size() != other.sum.size())
    return false;
  return llvm::all_of(sum, [&](const Term &term) {
    return llvm::any_of(other.sum, [&](const Term &match) { return term.coefficient == match.coefficient && sameFactors(term.factors, match.factors); });
  });
}

ScalarExpr ScalarExpr::operator+(const ScalarExpr &other) const {
  ScalarExpr expr = *this;
  for (const Term &term : other.sum)
    expr.add(term);
  return expr;
}

ScalarExpr ScalarExpr::operator-(const ScalarExpr &other) const {
  ScalarExpr expr = *this;
  for (Term term : other.sum) {
    term.coefficient.negate();
    expr.add(std::move(term));
  }
  return expr;
}

std::optional<ScalarExpr> ScalarExpr::times(const ScalarExpr &other) const {
  ScalarExpr expr(bits);
  for (const Term &left : sum)
    for (const Term &right : other.sum) {
      Term term = left;
      term.coefficient *= right.coefficient;
      term.factors.append(right.factors);
      if (term.factors.size() > kMaxFactors)
        return std::nullopt;
      expr.add(std::move(term));
      if (expr.sum.size() > kMaxTerms)
        return std::nullopt;
    }
  return expr;
}

ScalarExpr ScalarExpr::extend(unsigned width, bool isSigned) const {
  if (width == bits)
    return *this;
  if (auto value = asConstant())
    return constant(isSigned ? value->sext(width) : value->zext(width));
  if (sum.size() == 1 && sum.front().coefficient.isOne() && sum.front().factors.size() == 1) {
    const Atom &only = sum.front().factors.front();
    // sext(sext(x)) = sext(x), and what was zero-extended before is not negative.
    if (only.inner && (only.isSigned == isSigned || !only.isSigned))
      return atom(width, {{}, only.inner, only.isSigned});
  }
  return atom(width, {{}, std::make_shared<const ScalarExpr>(*this), isSigned});
}

ScalarExpr ScalarExpr::of(Value scalar) { return of(scalar, 0); }

ScalarExpr ScalarExpr::of(Value scalar, unsigned depth) {
  unsigned width = scalar.getType().getIntOrFloatBitWidth();
  APInt value;
  if (matchPattern(scalar, m_ConstantInt(&value)))
    return constant(value);
  ScalarExpr itself = atom(width, {scalar, {}, false});
  Operation *op = scalar.getDefiningOp();
  if (!op || depth > kMaxDepth)
    return itself;
  auto operand = [&](unsigned index) { return of(op->getOperand(index), depth + 1); };
  std::optional<ScalarExpr> expr;
  if (tk::tt::isFactCarrier(op)) {
    expr = operand(0);
  } else if (isa<arith::AddIOp>(op)) {
    expr = operand(0) + operand(1);
  } else if (isa<arith::SubIOp>(op)) {
    expr = operand(0) - operand(1);
  } else if (isa<arith::MulIOp>(op)) {
    expr = operand(0).times(operand(1));
  } else if (isa<arith::ShLIOp>(op) && matchPattern(op->getOperand(1), m_ConstantInt(&value)) && value.ult(width)) {
    expr = operand(0).times(constant(APInt::getOneBitSet(width, value.getZExtValue())));
  } else if (isa<arith::ExtSIOp, arith::ExtUIOp>(op)) {
    expr = operand(0).extend(width, isa<arith::ExtSIOp>(op));
  }
  return expr && expr->sum.size() <= kMaxTerms ? *expr : itself;
}

void ScalarExpr::print(raw_ostream &os, AsmState &names) const {
  if (sum.empty()) {
    os << "0";
    return;
  }
  llvm::interleave(
      sum, os,
      [&](const Term &term) {
        bool one = term.coefficient.isOne() && !term.factors.empty();
        if (!one)
          term.coefficient.print(os, /*isSigned=*/true);
        if (!one && !term.factors.empty())
          os << "*";
        llvm::interleave(
            term.factors, os,
            [&](const Atom &factor) {
              if (factor.value) {
                factor.value.printAsOperand(os, names);
                return;
              }
              os << (factor.isSigned ? "sext(" : "zext(");
              factor.inner->print(os, names);
              os << ")";
            },
            "*");
      },
      " + ");
}
