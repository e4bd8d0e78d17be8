// What Python allows and no kernel may contain (FEATURES 2.1 and 2.2), each with its own message that says what to do instead.
//
// Whatever depends on types or values (what a loop iterates over, what is called) is the elaborator's to refuse.
#include "lang/syntax/AstWalk.h"
#include "lang/syntax/Parser.h"
#include <algorithm>

namespace tk::lang {

using namespace ast;

/// The last component of a decorator's dotted name: "jit" for `@triton.jit(...)`. Empty for anything else.
static std::string_view decoratorName(const Expr &decorator) {
  const Expr *expr = &decorator;
  if (const Call *call = dyn<Call>(expr))
    expr = call->callee.get();
  if (const Attribute *attribute = dyn<Attribute>(expr))
    return attribute->attr;
  if (const Name *name = dyn<Name>(expr))
    return name->id;
  return {};
}

bool isCompiled(const Function &function, bool isPython) {
  static constexpr std::string_view kHost[] = {"constexpr_function", "host"};
  static constexpr std::string_view kKernel[] = {"autotune", "example", "grid", "heuristics"};
  auto among = [](auto &list, std::string_view name) { return std::find(std::begin(list), std::end(list), name) != std::end(list); };
  bool jit = false, unknown = false;
  for (const ExprPtr &decorator : function.decorators) {
    const std::string_view name = decoratorName(*decorator);
    if (among(kHost, name))
      return false;
    jit |= name == "jit";
    unknown |= name != "jit" && !among(kKernel, name);
  }
  return jit || (!isPython && !unknown);
}

namespace {
class Checker {
public:
  Checker(const SourceFile &file, Diagnostics &diagnostics) : file(file), diagnostics(diagnostics) {}

  void module(const Block &body, bool isPython) {
    for (const StmtPtr &stmt : body) {
      if (const Function *function = dyn<Function>(stmt.get())) {
        if (isCompiled(*function, isPython))
          this->function(*function);
      } else if (stmt->kind == StmtKind::If || stmt->kind == StmtKind::Try || stmt->kind == StmtKind::With) {
        forEachBlock(*stmt, [&](const Block &block) { module(block, isPython); });
      }
    }
  }

private:
  template <typename... Args> void report(Diag id, SourceRange range, const Args &...args) { diagnostics.report(id, {&file, range}, args...); }
  /// The first word of a statement.
  SourceRange keyword(const Stmt &stmt, size_t length) const { return {stmt.range.begin, stmt.range.begin + static_cast<uint32_t>(length)}; }

  void function(const Function &function);
  void block(const Block &block) {
    for (const StmtPtr &stmt : block)
      statement(*stmt);
  }
  void statement(const Stmt &stmt);
  bool allowedStatement(const Stmt &stmt);
  void target(const Expr &expr);
  void expression(const Expr &expr);
  void comprehension(const Comprehension &node);
  void compare(const Compare &node);
  void starredElements(const std::vector<ExprPtr> &elements);

  const SourceFile &file;
  Diagnostics &diagnostics;
};
} // namespace

void Checker::function(const Function &function) {
  if (function.isAsync)
    report(Diag::NoAsync, keyword(function, 5));
  for (const Parameter &param : function.params)
    if (param.kind == Parameter::VarKeywords)
      report(Diag::NoKeywordParameter, param.range, param.name);
  block(function.body);
}

void Checker::statement(const Stmt &stmt) {
  if (!allowedStatement(stmt))
    return;
  forEachExpr(stmt, [&](const Expr &expr) { expression(expr); });
  forEachBlock(stmt, [&](const Block &inner) { block(inner); });
}

/// Reports a statement that is refused. True when its parts are still worth a look.
bool Checker::allowedStatement(const Stmt &stmt) {
  auto refuse = [&](Diag id, size_t keywordLength) {
    report(id, keyword(stmt, keywordLength));
    return false;
  };
  switch (stmt.kind) {
  case StmtKind::Function:
    if (as<Function>(stmt).decorators.empty())
      report(Diag::NoNestedFunction, as<Function>(stmt).nameRange, as<Function>(stmt).name);
    else
      report(Diag::NoNestedDecorator, as<Function>(stmt).decorators.front()->range);
    return false;
  case StmtKind::Class: return refuse(Diag::NoClass, 5);
  case StmtKind::Try: return refuse(Diag::NoTry, 3);
  case StmtKind::Raise: return refuse(Diag::NoRaise, 5);
  case StmtKind::Import: return refuse(Diag::NoImport, 6);
  case StmtKind::ImportFrom: return refuse(Diag::NoImport, 4);
  case StmtKind::Global: return refuse(Diag::NoGlobal, 6);
  case StmtKind::Nonlocal: return refuse(Diag::NoNonlocal, 8);
  case StmtKind::Delete: return refuse(Diag::NoDelete, 3);
  case StmtKind::Match: return refuse(Diag::NoMatch, 5);
  case StmtKind::With: return refuse(as<With>(stmt).isAsync ? Diag::NoAsync : Diag::NoWith, as<With>(stmt).isAsync ? 5 : 4);
  case StmtKind::For:
    if (as<For>(stmt).isAsync)
      return refuse(Diag::NoAsync, 5);
    if (as<For>(stmt).target->kind != ExprKind::Name)
      report(Diag::LoopTarget, as<For>(stmt).target->range);
    return true;
  case StmtKind::While:
    if (!as<While>(stmt).orelse.empty())
      report(Diag::NoWhileElse, keyword(stmt, 5));
    return true;
  case StmtKind::Assign:
    if (as<Assign>(stmt).targets.size() > 1)
      report(Diag::NoChainedAssignment, stmt.range);
    for (const ExprPtr &expr : as<Assign>(stmt).targets)
      target(*expr);
    expression(*as<Assign>(stmt).value);
    return false;
  case StmtKind::AugAssign:
    target(*as<AugAssign>(stmt).target);
    expression(*as<AugAssign>(stmt).value);
    return false;
  case StmtKind::AnnAssign:
    // The annotation is no part of what is computed: it isn't looked at here.
    target(*as<AnnAssign>(stmt).target);
    if (as<AnnAssign>(stmt).value)
      expression(*as<AnnAssign>(stmt).value);
    return false;
  default: return true;
  }
}

void Checker::target(const Expr &expr) {
  switch (expr.kind) {
  case ExprKind::Subscript: report(Diag::NoItemTarget, expr.range); return expression(expr);
  case ExprKind::Attribute: report(Diag::NoAttributeTarget, expr.range, as<Attribute>(expr).attr); return expression(expr);
  case ExprKind::Starred: return report(Diag::NoStarTarget, expr.range);
  case ExprKind::Tuple:
  case ExprKind::List: return forEachChild(expr, [&](const Expr &child) { target(child); });
  default: return;
  }
}

void Checker::expression(const Expr &expr) {
  switch (expr.kind) {
  case ExprKind::Lambda: return report(Diag::NoLambda, {expr.range.begin, expr.range.begin + 6});
  case ExprKind::Yield: return report(Diag::NoYield, expr.range);
  case ExprKind::Await: return report(Diag::NoAwait, expr.range);
  case ExprKind::Dict: return report(Diag::NoDict, expr.range);
  case ExprKind::Set: return report(Diag::NoSet, expr.range);
  case ExprKind::Constant: {
    const auto type = as<Constant>(expr).type;
    if (type == Constant::Imaginary)
      report(Diag::NoComplex, expr.range);
    else if (type == Constant::Bytes)
      report(Diag::NoBytes, expr.range);
    return;
  }
  case ExprKind::Comprehension:
    if (as<Comprehension>(expr).type != Comprehension::List)
      return comprehension(as<Comprehension>(expr));
    comprehension(as<Comprehension>(expr));
    break;
  case ExprKind::Compare: compare(as<Compare>(expr)); break;
  case ExprKind::Binary:
    if (as<Binary>(expr).op == BinaryOp::MatMul)
      report(Diag::NoMatMul, as<Binary>(expr).opRange);
    break;
  case ExprKind::Call:
    for (const Keyword &keyword : as<Call>(expr).keywords)
      if (keyword.name.empty())
        report(Diag::NoKeywordUnpacking, {keyword.nameRange.begin, keyword.value->range.end});
    // `*values` is fine here: its value is what is looked at.
    break;
  case ExprKind::Tuple: starredElements(as<Tuple>(expr).elements); break;
  case ExprKind::List: starredElements(as<List>(expr).elements); break;
  default: break;
  }
  forEachChild(expr, [&](const Expr &child) { expression(child); });
}

void Checker::starredElements(const std::vector<ExprPtr> &elements) {
  for (const ExprPtr &element : elements)
    if (element->kind == ExprKind::Starred)
      report(Diag::NoStarElement, element->range);
}

void Checker::comprehension(const Comprehension &node) {
  if (node.type == Comprehension::Generator)
    return report(Diag::NoGenerator, node.range);
  if (node.type != Comprehension::List)
    return report(node.type == Comprehension::Set ? Diag::NoSet : Diag::NoDict, node.range);
  if (node.clauses.size() > 1)
    report(Diag::OneComprehensionClause, node.clauses[1].target->range);
  for (const Comprehension::Clause &clause : node.clauses)
    if (clause.isAsync)
      report(Diag::NoAsync, clause.target->range);
}

void Checker::compare(const Compare &node) {
  if (node.ops.size() > 1)
    return report(Diag::NoChainedComparison, node.range);
  if (node.ops.front() == CompareOp::In || node.ops.front() == CompareOp::NotIn)
    report(Diag::NoMembership, node.range, spelling(node.ops.front()));
}

void checkRestrictions(const Module &module, Diagnostics &diagnostics) {
  const bool isPython = module.file->name().ends_with(".py");
  Checker(*module.file, diagnostics).module(module.body, isPython);
}

} // namespace tk::lang
