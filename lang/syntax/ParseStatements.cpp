// Simple statements, and what can be assigned to.
#include "lang/syntax/ParserState.h"
#include <utility>

namespace tk::lang {

using namespace ast;

/// `a; b; c` and the end of the line.
bool Parser::simpleStatements(Block &out) {
  do {
    if (at(Tok::Newline))
      break;
    StmtPtr stmt = simpleStatement();
    if (!stmt)
      return false;
    out.push_back(std::move(stmt));
  } while (accept(Tok::Semicolon));
  if (accept(Tok::Newline) || at(Tok::EndOfFile))
    return true;
  if (at(Tok::Walrus))
    return error(Diag::BareWalrus, tok.range);
  const Expr *last = out.back()->kind == StmtKind::ExprStmt ? as<ExprStmt>(*out.back()).value.get() : nullptr;
  const Name *name = dyn<Name>(last);
  if (name && (name->id == "print" || name->id == "exec") && startsExpression())
    return error(Diag::CallWithoutParentheses, name->range, name->id);
  return unexpected("the end of the statement");
}

StmtPtr Parser::simpleStatement() {
  const uint32_t begin = tok.range.begin;
  switch (tok.kind) {
  case Tok::KwPass: advance(); return finishStmt(std::make_unique<Pass>(), begin);
  case Tok::KwBreak:
  case Tok::KwContinue: {
    const bool isBreak = at(Tok::KwBreak);
    if (!context.inLoop)
      return error(Diag::OutsideLoop, tok.range, isBreak ? "break" : "continue");
    advance();
    return isBreak ? finishStmt(std::make_unique<Break>(), begin) : finishStmt(std::make_unique<Continue>(), begin);
  }
  case Tok::KwReturn: {
    if (!context.inFunction)
      return error(Diag::OutsideFunction, tok.range, "return");
    advance();
    auto node = std::make_unique<Return>();
    if (!at(Tok::Newline) && !at(Tok::Semicolon) && !(node->value = starExpressions()))
      return nullptr;
    return finishStmt(std::move(node), begin);
  }
  case Tok::KwImport: return import();
  case Tok::KwFrom: return importFrom();
  case Tok::KwRaise: return raise();
  case Tok::KwAssert: return assertion();
  case Tok::KwDel: return deletion();
  case Tok::KwGlobal: {
    advance();
    auto node = std::make_unique<Global>();
    return nameList(node->names) ? finishStmt(std::move(node), begin) : nullptr;
  }
  case Tok::KwNonlocal: {
    advance();
    auto node = std::make_unique<Nonlocal>();
    return nameList(node->names) ? finishStmt(std::move(node), begin) : nullptr;
  }
  default:
    if (atWord("type") && peek(0).kind == Tok::Name)
      return typeAlias();
    return expressionStatement();
  }
}

static std::optional<BinaryOp> augmentedOp(Tok kind) {
  if (kind < Tok::PlusEqual || kind > Tok::CaretEqual)
    return std::nullopt;
  return static_cast<BinaryOp>(static_cast<unsigned>(kind) - static_cast<unsigned>(Tok::PlusEqual));
}

/// An expression, or an assignment of any kind.
StmtPtr Parser::expressionStatement() {
  const uint32_t begin = tok.range.begin;
  ExprPtr first = at(Tok::KwYield) ? yield() : tupleOf(&Parser::expression);
  if (!first)
    return nullptr;
  if (at(Tok::Colon))
    return annotated(std::move(first), begin);
  if (std::optional<BinaryOp> op = augmentedOp(tok.kind)) {
    if (first->kind != ExprKind::Name && first->kind != ExprKind::Attribute && first->kind != ExprKind::Subscript)
      return error(Diag::CannotAugment, first->range, file.text(tok.range), describe(*first));
    advance();
    auto node = std::make_unique<AugAssign>();
    node->op = *op;
    node->target = std::move(first);
    if (!(node->value = yieldOrStarExpressions()))
      return nullptr;
    return finishStmt(std::move(node), begin);
  }
  if (!at(Tok::Equal)) {
    if (first->kind == ExprKind::Starred)
      return error(Diag::StarAlone, first->range);
    auto node = std::make_unique<ExprStmt>();
    node->value = std::move(first);
    return finishStmt(std::move(node), begin);
  }
  auto node = std::make_unique<Assign>();
  ExprPtr value = std::move(first);
  while (at(Tok::Equal)) {
    if (!checkTarget(*value))
      return nullptr;
    advance();
    node->targets.push_back(std::move(value));
    if (!(value = at(Tok::KwYield) ? yield() : tupleOf(&Parser::expression)))
      return nullptr;
  }
  if (value->kind == ExprKind::Starred)
    return error(Diag::StarAlone, value->range);
  node->value = std::move(value);
  return finishStmt(std::move(node), begin);
}

/// `target: annotation = value`, at the colon.
StmtPtr Parser::annotated(ExprPtr target, uint32_t begin) {
  if (target->kind != ExprKind::Name && target->kind != ExprKind::Attribute && target->kind != ExprKind::Subscript)
    return error(Diag::CannotAnnotate, target->range, describe(*target));
  advance();
  auto node = std::make_unique<AnnAssign>();
  node->target = std::move(target);
  if (!(node->annotation = expression()))
    return nullptr;
  if (accept(Tok::Equal) && !(node->value = yieldOrStarExpressions()))
    return nullptr;
  return finishStmt(std::move(node), begin);
}

/// `type Name[T] = value` is kept as an assignment: only annotations of host code use it.
StmtPtr Parser::typeAlias() {
  const uint32_t begin = tok.range.begin;
  advance();
  auto node = std::make_unique<Assign>();
  node->targets.push_back(atom());
  if (!typeParameters() || !expect(Tok::Equal) || !(node->value = expression()))
    return nullptr;
  return finishStmt(std::move(node), begin);
}

bool Parser::dottedName(std::string &name) {
  SourceRange range;
  if (!expectName(name, range))
    return false;
  while (accept(Tok::Dot)) {
    std::string part;
    if (!expectName(part, range))
      return false;
    name += '.';
    name += part;
  }
  return true;
}

/// `name`, `name as other`; `name` has dots in an `import`.
bool Parser::importedName(ImportedName &name, bool dotted) {
  const uint32_t begin = tok.range.begin;
  SourceRange range;
  if (!(dotted ? dottedName(name.name) : expectName(name.name, range)) || (accept(Tok::KwAs) && !expectName(name.asName, range)))
    return false;
  name.range = {begin, previousEnd};
  return true;
}

StmtPtr Parser::import() {
  const uint32_t begin = tok.range.begin;
  advance();
  auto node = std::make_unique<Import>();
  do {
    if (!importedName(node->names.emplace_back(), true))
      return nullptr;
  } while (accept(Tok::Comma));
  return finishStmt(std::move(node), begin);
}

StmtPtr Parser::importFrom() {
  const uint32_t begin = tok.range.begin;
  advance();
  auto node = std::make_unique<ImportFrom>();
  for (; at(Tok::Dot) || at(Tok::Ellipsis); advance())
    node->level += at(Tok::Dot) ? 1 : 3;
  if ((node->level == 0 || at(Tok::Name)) && !dottedName(node->module))
    return nullptr;
  if (!expect(Tok::KwImport))
    return nullptr;
  if (at(Tok::Star)) {
    node->names.push_back({"*", "", tok.range});
    advance();
    return finishStmt(std::move(node), begin);
  }
  const Token bracket = tok;
  if (accept(Tok::LParen)) {
    Nest nest(*this, &bracket);
    do {
      if (!node->names.empty() && at(Tok::RParen))
        break;
      if (!nest || !importedName(node->names.emplace_back(), false))
        return nullptr;
    } while (accept(Tok::Comma));
    return expect(Tok::RParen) ? finishStmt(std::move(node), begin) : nullptr;
  }
  do {
    if (!importedName(node->names.emplace_back(), false))
      return nullptr;
  } while (accept(Tok::Comma));
  return finishStmt(std::move(node), begin);
}

StmtPtr Parser::raise() {
  const uint32_t begin = tok.range.begin;
  advance();
  auto node = std::make_unique<Raise>();
  if (!at(Tok::Newline) && !at(Tok::Semicolon)) {
    if (!(node->value = expression()) || (accept(Tok::KwFrom) && !(node->cause = expression())))
      return nullptr;
  }
  return finishStmt(std::move(node), begin);
}

StmtPtr Parser::assertion() {
  const uint32_t begin = tok.range.begin;
  advance();
  auto node = std::make_unique<Assert>();
  if (!(node->condition = expression()) || (accept(Tok::Comma) && !(node->message = expression())))
    return nullptr;
  return finishStmt(std::move(node), begin);
}

StmtPtr Parser::deletion() {
  const uint32_t begin = tok.range.begin;
  advance();
  auto node = std::make_unique<Delete>();
  do {
    if (!node->targets.empty() && !startsExpression())
      break;
    ExprPtr target = bitwiseOr();
    if (!target || !checkDeleted(*target))
      return nullptr;
    node->targets.push_back(std::move(target));
  } while (accept(Tok::Comma));
  return finishStmt(std::move(node), begin);
}

bool Parser::nameList(std::vector<std::string> &names) {
  SourceRange range;
  do {
    if (!expectName(names.emplace_back(), range))
      return false;
  } while (accept(Tok::Comma));
  return true;
}

/// How messages call an expression.
const char *Parser::describe(const Expr &expr) {
  switch (expr.kind) {
  case ExprKind::Name: return "a name";
  case ExprKind::Constant: return "a literal";
  case ExprKind::FString: return "an f-string";
  case ExprKind::Tuple: return "a tuple";
  case ExprKind::List: return "a list";
  case ExprKind::Set: return "a set";
  case ExprKind::Dict: return "a dict";
  case ExprKind::Comprehension: return as<Comprehension>(expr).type == Comprehension::Generator ? "a generator expression" : "a comprehension";
  case ExprKind::Binary:
  case ExprKind::Unary:
  case ExprKind::Bool: return "the result of an operator";
  case ExprKind::Compare: return "a comparison";
  case ExprKind::Conditional: return "a conditional expression";
  case ExprKind::Call: return "the result of a call";
  case ExprKind::Attribute: return "an attribute";
  case ExprKind::Subscript: return "an item";
  case ExprKind::Slice: return "a slice";
  case ExprKind::Starred: return "a starred expression";
  case ExprKind::Lambda: return "a lambda";
  case ExprKind::Walrus: return "an assignment expression";
  case ExprKind::Yield: return "a `yield` expression";
  case ExprKind::Await: return "an `await` expression";
  }
  return "this expression";
}

/// Whether a value can be assigned to `target`. `inTuple`: it is an element of a tuple or list of targets, so it may be starred.
bool Parser::checkTarget(const Expr &target, bool inTuple) {
  const std::vector<ExprPtr> *elements = nullptr;
  switch (target.kind) {
  case ExprKind::Name:
  case ExprKind::Attribute:
  case ExprKind::Subscript: return true;
  case ExprKind::Starred:
    if (!inTuple)
      return error(Diag::StarTargetAlone, target.range);
    return checkTarget(*as<Starred>(target).value);
  case ExprKind::Tuple: elements = &as<Tuple>(target).elements; break;
  case ExprKind::List: elements = &as<List>(target).elements; break;
  case ExprKind::Compare: return error(Diag::CannotAssignComparison, target.range);
  default: return error(Diag::CannotAssign, target.range, describe(target));
  }
  bool starred = false;
  for (const ExprPtr &element : *elements) {
    if (element->kind == ExprKind::Starred && std::exchange(starred, true))
      return error(Diag::TwoStarTargets, element->range);
    if (!checkTarget(*element, true))
      return false;
  }
  return true;
}

bool Parser::checkDeleted(const Expr &target) {
  const std::vector<ExprPtr> *elements = nullptr;
  switch (target.kind) {
  case ExprKind::Name:
  case ExprKind::Attribute:
  case ExprKind::Subscript: return true;
  case ExprKind::Tuple: elements = &as<Tuple>(target).elements; break;
  case ExprKind::List: elements = &as<List>(target).elements; break;
  default: return error(Diag::CannotDelete, target.range, describe(target));
  }
  for (const ExprPtr &element : *elements)
    if (!checkDeleted(*element))
      return false;
  return true;
}

} // namespace tk::lang
