// Operators, from the conditional expression down to calls and subscripts.
//
// Binary operators are parsed by precedence climbing. Chains (a + b + c, a.b.c, f()()) are loops, so only what really nests recurses.
#include "lang/syntax/ParserState.h"

namespace tk::lang {

using namespace ast;

bool Parser::startsExpression() const {
  switch (tok.kind) {
  case Tok::Name:
  case Tok::Number:
  case Tok::String:
  case Tok::FStringStart:
  case Tok::KwFalse:
  case Tok::KwNone:
  case Tok::KwTrue:
  case Tok::KwAwait:
  case Tok::KwLambda:
  case Tok::KwNot:
  case Tok::KwYield:
  case Tok::LParen:
  case Tok::LBracket:
  case Tok::LBrace:
  case Tok::Ellipsis:
  case Tok::Plus:
  case Tok::Minus:
  case Tok::Tilde:
  case Tok::Star: return true;
  default: return false;
  }
}

/// `a`, `a, b`, `*a, b`: what may stand on the right of `=`, after `return` and so on.
ExprPtr Parser::starExpressions() {
  const Token first = tok;
  ExprPtr expr = tupleOf(&Parser::expression);
  if (expr && expr->kind == ExprKind::Starred)
    return error(Diag::StarAlone, first.range);
  return expr;
}

/// One element, or a tuple of several (without parentheses) whose elements are `production` or starred.
ExprPtr Parser::tupleOf(ExprPtr (Parser::*production)()) {
  const uint32_t begin = tok.range.begin;
  auto element = [&] { return at(Tok::Star) ? starred() : (this->*production)(); };
  ExprPtr first = element();
  if (!first || !at(Tok::Comma))
    return first;
  auto tuple = std::make_unique<Tuple>();
  tuple->elements.push_back(std::move(first));
  while (accept(Tok::Comma) && startsExpression()) {
    ExprPtr next = element();
    if (!next)
      return nullptr;
    tuple->elements.push_back(std::move(next));
  }
  return finish(std::move(tuple), begin);
}

ExprPtr Parser::yieldOrStarExpressions() { return at(Tok::KwYield) ? yield() : starExpressions(); }

/// The targets of `for`, up to its `in`.
ExprPtr Parser::targets() {
  ExprPtr expr = tupleOf(&Parser::bitwiseOr);
  return expr && checkTarget(*expr) ? std::move(expr) : nullptr;
}

ExprPtr Parser::starred() {
  const uint32_t begin = tok.range.begin;
  advance();
  auto node = std::make_unique<Starred>();
  if (!(node->value = bitwiseOr()))
    return nullptr;
  return finish(std::move(node), begin);
}

/// An expression, or `name := expression`.
ExprPtr Parser::namedExpression() {
  const uint32_t begin = tok.range.begin;
  ExprPtr expr = expression();
  if (!expr || !at(Tok::Walrus))
    return expr;
  if (expr->kind != ExprKind::Name || expr->range.begin != begin || expr->range.end != previousEnd)
    return error(Diag::WalrusTarget, {begin, previousEnd});
  advance();
  auto node = std::make_unique<Walrus>();
  node->target = std::move(expr);
  if (!(node->value = expression()))
    return nullptr;
  return finish(std::move(node), begin);
}

/// A conditional, or what binds tighter.
ExprPtr Parser::expression() {
  if (at(Tok::KwLambda))
    return lambda();
  const uint32_t begin = tok.range.begin;
  ExprPtr then = disjunction();
  if (!then || !at(Tok::KwIf))
    return then;
  advance();
  auto node = std::make_unique<Conditional>();
  node->then = std::move(then);
  if (!(node->condition = disjunction()) || !expect(Tok::KwElse))
    return nullptr;
  Nest nest(*this);
  if (!nest || !(node->otherwise = expression()))
    return nullptr;
  return finish(std::move(node), begin);
}

ExprPtr Parser::lambda() {
  const uint32_t begin = tok.range.begin;
  Nest nest(*this);
  if (!nest)
    return nullptr;
  advance();
  auto node = std::make_unique<Lambda>();
  if (!parameters(node->params, Tok::Colon) || !expect(Tok::Colon))
    return nullptr;
  const Context outer = context;
  context = {true, false};
  node->body = expression();
  context = outer;
  if (!node->body)
    return nullptr;
  return finish(std::move(node), begin);
}

ExprPtr Parser::yield() {
  const Token keyword = tok;
  if (!context.inFunction)
    return error(Diag::OutsideFunction, keyword.range, "yield");
  advance();
  auto node = std::make_unique<Yield>();
  if (accept(Tok::KwFrom)) {
    node->from = true;
    if (!(node->value = expression()))
      return nullptr;
  } else if (startsExpression() && !(node->value = starExpressions())) {
    return nullptr;
  }
  return finish(std::move(node), keyword.range.begin);
}

ExprPtr Parser::disjunction() { return boolean(Tok::KwOr, &Parser::conjunction); }
ExprPtr Parser::conjunction() { return boolean(Tok::KwAnd, &Parser::inversion); }

ExprPtr Parser::boolean(Tok keyword, ExprPtr (Parser::*operand)()) {
  const uint32_t begin = tok.range.begin;
  ExprPtr first = (this->*operand)();
  if (!first || !at(keyword))
    return first;
  auto node = std::make_unique<Bool>();
  node->isAnd = keyword == Tok::KwAnd;
  node->values.push_back(std::move(first));
  while (accept(keyword)) {
    ExprPtr next = (this->*operand)();
    if (!next)
      return nullptr;
    node->values.push_back(std::move(next));
  }
  return finish(std::move(node), begin);
}

ExprPtr Parser::inversion() {
  if (!at(Tok::KwNot))
    return comparison();
  const uint32_t begin = tok.range.begin;
  Nest nest(*this);
  if (!nest)
    return nullptr;
  advance();
  auto node = std::make_unique<Unary>();
  node->op = UnaryOp::Not;
  if (!(node->operand = inversion()))
    return nullptr;
  return finish(std::move(node), begin);
}

static std::optional<CompareOp> compareOp(Tok kind) {
  switch (kind) {
  case Tok::EqEqual: return CompareOp::Eq;
  case Tok::NotEqual: return CompareOp::NotEq;
  case Tok::Less: return CompareOp::Lt;
  case Tok::LessEqual: return CompareOp::LtE;
  case Tok::Greater: return CompareOp::Gt;
  case Tok::GreaterEqual: return CompareOp::GtE;
  case Tok::KwIs: return CompareOp::Is;
  case Tok::KwIn: return CompareOp::In;
  case Tok::KwNot: return CompareOp::NotIn;
  default: return std::nullopt;
  }
}

ExprPtr Parser::comparison() {
  const uint32_t begin = tok.range.begin;
  ExprPtr first = bitwiseOr();
  if (!first || !compareOp(tok.kind))
    return first;
  auto node = std::make_unique<Compare>();
  node->first = std::move(first);
  while (std::optional<CompareOp> op = compareOp(tok.kind)) {
    advance();
    if (op == CompareOp::NotIn && !expect(Tok::KwIn))
      return nullptr;
    if (op == CompareOp::Is && accept(Tok::KwNot))
      op = CompareOp::IsNot;
    ExprPtr next = bitwiseOr();
    if (!next)
      return nullptr;
    node->ops.push_back(*op);
    node->rest.push_back(std::move(next));
  }
  return finish(std::move(node), begin);
}

namespace {
struct BinaryInfo {
  BinaryOp op;
  unsigned precedence;
};
} // namespace

static std::optional<BinaryInfo> binaryInfo(Tok kind) {
  switch (kind) {
  case Tok::Pipe: return BinaryInfo{BinaryOp::BitOr, 1};
  case Tok::Caret: return BinaryInfo{BinaryOp::BitXor, 2};
  case Tok::Ampersand: return BinaryInfo{BinaryOp::BitAnd, 3};
  case Tok::LShift: return BinaryInfo{BinaryOp::LShift, 4};
  case Tok::RShift: return BinaryInfo{BinaryOp::RShift, 4};
  case Tok::Plus: return BinaryInfo{BinaryOp::Add, 5};
  case Tok::Minus: return BinaryInfo{BinaryOp::Sub, 5};
  case Tok::Star: return BinaryInfo{BinaryOp::Mul, 6};
  case Tok::Slash: return BinaryInfo{BinaryOp::Div, 6};
  case Tok::SlashSlash: return BinaryInfo{BinaryOp::FloorDiv, 6};
  case Tok::Percent: return BinaryInfo{BinaryOp::Mod, 6};
  case Tok::At: return BinaryInfo{BinaryOp::MatMul, 6};
  default: return std::nullopt;
  }
}

/// Operands joined by operators of at least `least`; recursion is at most one level per precedence.
ExprPtr Parser::binary(unsigned least) {
  const uint32_t begin = tok.range.begin;
  ExprPtr lhs = unary();
  while (lhs) {
    const std::optional<BinaryInfo> info = binaryInfo(tok.kind);
    if (!info || info->precedence < least)
      break;
    auto node = std::make_unique<Binary>();
    node->op = info->op;
    node->opRange = tok.range;
    advance();
    node->lhs = std::move(lhs);
    if (!(node->rhs = binary(info->precedence + 1)))
      return nullptr;
    lhs = finish(std::move(node), begin);
  }
  return lhs;
}

ExprPtr Parser::unary() {
  if (!at(Tok::Plus) && !at(Tok::Minus) && !at(Tok::Tilde))
    return power();
  const uint32_t begin = tok.range.begin;
  Nest nest(*this);
  if (!nest)
    return nullptr;
  auto node = std::make_unique<Unary>();
  node->op = at(Tok::Plus) ? UnaryOp::Plus : at(Tok::Minus) ? UnaryOp::Minus : UnaryOp::Invert;
  advance();
  if (!(node->operand = unary()))
    return nullptr;
  return finish(std::move(node), begin);
}

ExprPtr Parser::power() {
  const uint32_t begin = tok.range.begin;
  ExprPtr base;
  if (at(Tok::KwAwait)) {
    advance();
    auto node = std::make_unique<Await>();
    if (!(node->value = postfix()))
      return nullptr;
    base = finish(std::move(node), begin);
  } else {
    base = postfix();
  }
  if (!base || !at(Tok::StarStar))
    return base;
  Nest nest(*this);
  if (!nest)
    return nullptr;
  auto node = std::make_unique<Binary>();
  node->op = BinaryOp::Pow;
  node->opRange = tok.range;
  advance();
  node->lhs = std::move(base);
  if (!(node->rhs = unary()))
    return nullptr;
  return finish(std::move(node), begin);
}

/// An atom and the attributes, calls and subscripts behind it.
ExprPtr Parser::postfix() {
  const uint32_t begin = tok.range.begin;
  ExprPtr expr = atom();
  while (expr) {
    if (at(Tok::Dot)) {
      advance();
      auto node = std::make_unique<Attribute>();
      if (!expectName(node->attr, node->attrRange))
        return nullptr;
      node->value = std::move(expr);
      expr = finish(std::move(node), begin);
    } else if (at(Tok::LParen)) {
      auto node = std::make_unique<Call>();
      node->callee = std::move(expr);
      if (!arguments(node->args, node->keywords))
        return nullptr;
      expr = finish(std::move(node), begin);
    } else if (at(Tok::LBracket)) {
      auto node = std::make_unique<Subscript>();
      node->value = std::move(expr);
      if (!(node->index = subscript()))
        return nullptr;
      expr = finish(std::move(node), begin);
    } else {
      break;
    }
  }
  return expr;
}

/// `(...)` of a call or of a class's bases.
bool Parser::arguments(std::vector<ExprPtr> &args, std::vector<Keyword> &keywords) {
  const Token bracket = tok;
  Nest nest(*this, &bracket);
  if (!nest)
    return false;
  advance();
  bool unpacked = false; // `**` was seen
  std::optional<SourceRange> generator;
  std::unordered_set<std::string> names;
  unsigned count = 0;
  while (!at(Tok::RParen)) {
    const uint32_t begin = tok.range.begin;
    ++count;
    if (accept(Tok::StarStar)) {
      keywords.push_back({"", expression(), {begin, begin + 2}});
      unpacked = true;
      if (!keywords.back().value)
        return false;
    } else if (at(Tok::Star)) {
      if (unpacked)
        return error(Diag::PositionalAfterUnpacking, tok.range);
      advance();
      auto node = std::make_unique<Starred>();
      if (!(node->value = expression()))
        return false;
      args.push_back(finish(std::move(node), begin));
    } else {
      ExprPtr expr = namedExpression();
      if (!expr)
        return false;
      if (at(Tok::Equal)) {
        if (!keywordArgument(keywords, names, *expr, begin))
          return false;
      } else if (atComprehension()) {
        args.push_back(comprehension(Comprehension::Generator, std::move(expr), nullptr, begin));
        generator = {begin, previousEnd};
      } else {
        if (!keywords.empty())
          return error(unpacked ? Diag::PositionalAfterUnpacking : Diag::PositionalAfterKeyword, {begin, previousEnd});
        args.push_back(std::move(expr));
      }
    }
    if (!args.empty() && !args.back())
      return false;
    if (!at(Tok::RParen) && !accept(Tok::Comma))
      return unexpected("`,` or `)`");
  }
  if (generator && (count > 1 || file.text()[previousEnd - 1] == ','))
    return error(Diag::BareGenerator, *generator);
  advance();
  return true;
}

/// `name=value`, at the `=`; `name` begins at `begin`.
bool Parser::keywordArgument(std::vector<Keyword> &keywords, std::unordered_set<std::string> &names, const Expr &name, uint32_t begin) {
  if (name.kind != ExprKind::Name || name.range.begin != begin || name.range.end != previousEnd)
    return !blameBracket() && error(Diag::KeywordNotName, {begin, previousEnd});
  const std::string &id = as<Name>(name).id;
  if (!names.insert(id).second)
    return error(Diag::RepeatedKeyword, name.range, id);
  advance();
  keywords.push_back({id, expression(), name.range});
  return keywords.back().value != nullptr;
}

/// `[...]` behind a value: an expression, a slice, or a tuple of these.
ExprPtr Parser::subscript() {
  const Token bracket = tok;
  Nest nest(*this, &bracket);
  if (!nest)
    return nullptr;
  advance();
  const uint32_t begin = tok.range.begin;
  std::vector<ExprPtr> elements;
  bool comma = false;
  do {
    if (comma && at(Tok::RBracket))
      break;
    elements.push_back(at(Tok::Star) ? starred() : sliceOrExpression());
    if (!elements.back())
      return nullptr;
  } while (accept(Tok::Comma) && (comma = true));
  if (!at(Tok::RBracket))
    return unexpected("`,` or `]`");
  ExprPtr index;
  if (comma || elements.front()->kind == ExprKind::Starred) {
    auto tuple = std::make_unique<Tuple>();
    tuple->elements = std::move(elements);
    index = finish(std::move(tuple), begin);
  } else {
    index = std::move(elements.front());
  }
  advance();
  return index;
}

ExprPtr Parser::sliceOrExpression() {
  const uint32_t begin = tok.range.begin;
  ExprPtr lower;
  if (!at(Tok::Colon) && !(lower = namedExpression()))
    return nullptr;
  if (!at(Tok::Colon))
    return lower;
  auto node = std::make_unique<Slice>();
  node->lower = std::move(lower);
  auto bound = [&](ExprPtr &out) {
    const bool absent = at(Tok::Colon) || at(Tok::Comma) || at(Tok::RBracket);
    return absent || (out = expression());
  };
  advance();
  if (!bound(node->upper) || (accept(Tok::Colon) && !bound(node->step)))
    return nullptr;
  return finish(std::move(node), begin);
}

} // namespace tk::lang
