// Compound statements: a header, a colon and blocks.
#include "lang/syntax/ParserState.h"

namespace tk::lang {

using namespace ast;

bool Parser::atCompound() {
  switch (tok.kind) {
  case Tok::KwIf:
  case Tok::KwWhile:
  case Tok::KwFor:
  case Tok::KwTry:
  case Tok::KwWith:
  case Tok::KwDef:
  case Tok::KwClass:
  case Tok::KwAsync:
  case Tok::At: return true;
  default: return atWord("match") && atMatch();
  }
}

StmtPtr Parser::compoundStatement() {
  const uint32_t begin = tok.range.begin;
  switch (tok.kind) {
  case Tok::KwIf: return ifStatement();
  case Tok::KwWhile: return whileStatement();
  case Tok::KwFor: return forStatement(begin, false);
  case Tok::KwTry: return tryStatement();
  case Tok::KwWith: return withStatement(begin, false);
  case Tok::KwDef: return function(begin, {}, false);
  case Tok::KwClass: return classDefinition(begin, {});
  case Tok::KwAsync: return asyncStatement({});
  case Tok::At: return decorated();
  default: return matchStatement();
  }
}

StmtPtr Parser::decorated() {
  std::vector<ExprPtr> decorators;
  while (accept(Tok::At)) {
    decorators.push_back(namedExpression());
    if (!decorators.back())
      return nullptr;
    if (!accept(Tok::Newline))
      return unexpected("the end of the line");
  }
  // The statement begins at its `def`: decorators have ranges of their own.
  const uint32_t begin = tok.range.begin;
  if (at(Tok::KwDef))
    return function(begin, std::move(decorators), false);
  if (at(Tok::KwClass))
    return classDefinition(begin, std::move(decorators));
  if (at(Tok::KwAsync) && peek(0).kind == Tok::KwDef)
    return asyncStatement(std::move(decorators));
  return unexpected("`def` or `class` after the decorator");
}

StmtPtr Parser::asyncStatement(std::vector<ExprPtr> decorators) {
  const uint32_t begin = tok.range.begin;
  advance();
  if (at(Tok::KwDef))
    return function(begin, std::move(decorators), true);
  if (at(Tok::KwFor))
    return forStatement(begin, true);
  if (at(Tok::KwWith))
    return withStatement(begin, true);
  return unexpected("`def`, `for` or `with` after `async`");
}

StmtPtr Parser::function(uint32_t begin, std::vector<ExprPtr> decorators, bool isAsync) {
  advance();
  auto node = std::make_unique<Function>();
  node->decorators = std::move(decorators);
  node->isAsync = isAsync;
  if (!expectName(node->name, node->nameRange) || !typeParameters())
    return nullptr;
  const Token bracket = tok;
  if (!expect(Tok::LParen))
    return nullptr;
  {
    Nest nest(*this, &bracket);
    if (!nest || !parameters(node->params, Tok::RParen) || !expect(Tok::RParen))
      return nullptr;
  }
  if (accept(Tok::Arrow) && !(node->returns = expression()))
    return nullptr;
  if (!block(node->body, "`def`", {true, false}))
    return nullptr;
  return finishStmt(std::move(node), begin);
}

StmtPtr Parser::classDefinition(uint32_t begin, std::vector<ExprPtr> decorators) {
  advance();
  auto node = std::make_unique<Class>();
  node->decorators = std::move(decorators);
  if (!expectName(node->name, node->nameRange) || !typeParameters())
    return nullptr;
  if (at(Tok::LParen) && !arguments(node->bases, node->keywords))
    return nullptr;
  if (!block(node->body, "`class`", {false, false}))
    return nullptr;
  return finishStmt(std::move(node), begin);
}

/// `[T, U: int, *Ts, **P]` behind a name: checked and forgotten, only annotations of host code use them.
bool Parser::typeParameters() {
  if (!at(Tok::LBracket))
    return true;
  const Token bracket = tok;
  Nest nest(*this, &bracket);
  if (!nest)
    return false;
  advance();
  do {
    if (at(Tok::RBracket))
      break;
    const bool starred = accept(Tok::Star) || accept(Tok::StarStar);
    std::string name;
    SourceRange range;
    if (!expectName(name, range) || (!starred && accept(Tok::Colon) && !expression()))
      return false;
  } while (accept(Tok::Comma));
  return expect(Tok::RBracket);
}

/// Parameters of a function (up to `)`) or a lambda (up to `:`), with the markers `/` and `*`.
bool Parser::parameters(std::vector<Parameter> &params, Tok closer) {
  const bool annotated = closer == Tok::RParen;
  std::unordered_set<std::string> names;
  bool slash = false, star = false, starNeedsName = false, anyDefault = false;
  SourceRange starRange;
  while (!at(closer)) {
    if (!params.empty() && params.back().kind == Parameter::VarKeywords)
      return error(Diag::ParameterAfterKeywords, tok.range);
    const Token first = tok;
    if (accept(Tok::Slash)) {
      if (params.empty() || slash || star)
        return error(Diag::MisplacedSlash, first.range);
      slash = true;
    } else if (at(Tok::Star) && (peek(0).kind == Tok::Comma || peek(0).kind == closer)) {
      if (star)
        return error(Diag::SecondStar, first.range);
      star = starNeedsName = true;
      starRange = first.range;
      advance();
    } else {
      Parameter param;
      if (accept(Tok::Star)) {
        if (star)
          return error(Diag::SecondStar, first.range);
        star = true;
        param.kind = Parameter::VarArgs;
      } else if (accept(Tok::StarStar)) {
        param.kind = Parameter::VarKeywords;
      } else if (star) {
        param.kind = Parameter::KeywordOnly;
        starNeedsName = false;
      }
      param.range.begin = first.range.begin;
      if (!parameter(param, annotated))
        return false;
      if (!names.insert(param.name).second)
        return error(Diag::RepeatedParameter, param.nameRange, param.name);
      if (param.kind == Parameter::Positional && !param.defaultValue && anyDefault)
        return error(Diag::DefaultMissing, param.nameRange, param.name);
      anyDefault |= param.kind == Parameter::Positional && param.defaultValue;
      params.push_back(std::move(param));
    }
    if (!accept(Tok::Comma) && !at(closer))
      return unexpected(std::string("`,` or ") + tokenDescription(closer));
    if (starNeedsName && (at(closer) || at(Tok::StarStar)))
      return error(Diag::StarWithoutName, starRange);
  }
  return true;
}

/// `name: annotation = default`.
bool Parser::parameter(Parameter &param, bool annotated) {
  if (!expectName(param.name, param.nameRange))
    return false;
  if (annotated && accept(Tok::Colon)) {
    param.annotation = param.kind == Parameter::VarArgs && at(Tok::Star) ? starred() : expression();
    if (!param.annotation)
      return false;
  }
  if (at(Tok::Equal)) {
    if (param.kind == Parameter::VarArgs || param.kind == Parameter::VarKeywords)
      return error(Diag::DefaultNotAllowed, param.nameRange, param.name);
    advance();
    if (!(param.defaultValue = expression()))
      return false;
  }
  param.range.end = previousEnd;
  return true;
}

/// An `elif` is an If alone in the `else` block; the chain is built by a loop.
StmtPtr Parser::ifStatement() {
  auto root = std::make_unique<If>();
  root->range.begin = tok.range.begin;
  std::vector<If *> chain{root.get()};
  const unsigned outerHeight = statementHeight;
  bool good = true;
  const char *owner = "`if`";
  for (;;) {
    If &node = *chain.back();
    advance();
    good = (node.condition = namedExpression()) && block(node.then, owner);
    if (!good || !at(Tok::KwElif))
      break;
    if (++statementHeight >= kMaxHeight) {
      good = error(Diag::TooManyElifs, tok.range, kMaxHeight);
      break;
    }
    owner = "`elif`";
    auto next = std::make_unique<If>();
    next->range.begin = tok.range.begin;
    chain.push_back(next.get());
    node.orelse.push_back(std::move(next));
  }
  if (good && accept(Tok::KwElse))
    good = block(chain.back()->orelse, "`else`");
  statementHeight = outerHeight;
  for (If *node : chain)
    node->range.end = previousEnd;
  return good ? std::move(root) : nullptr;
}

StmtPtr Parser::whileStatement() {
  const uint32_t begin = tok.range.begin;
  advance();
  auto node = std::make_unique<While>();
  if (!(node->condition = namedExpression()) || !block(node->body, "`while`", {context.inFunction, true}))
    return nullptr;
  if (accept(Tok::KwElse) && !block(node->orelse, "`else`"))
    return nullptr;
  return finishStmt(std::move(node), begin);
}

StmtPtr Parser::forStatement(uint32_t begin, bool isAsync) {
  advance();
  auto node = std::make_unique<For>();
  node->isAsync = isAsync;
  if (!(node->target = targets()) || !expect(Tok::KwIn) || !(node->iterable = starExpressions()) || !block(node->body, "`for`", {context.inFunction, true}))
    return nullptr;
  if (accept(Tok::KwElse) && !block(node->orelse, "`else`"))
    return nullptr;
  return finishStmt(std::move(node), begin);
}

StmtPtr Parser::withStatement(uint32_t begin, bool isAsync) {
  advance();
  auto node = std::make_unique<With>();
  node->isAsync = isAsync;
  if (!withItems(*node) || !block(node->body, "`with`"))
    return nullptr;
  return finishStmt(std::move(node), begin);
}

bool Parser::withItem(With &node) {
  auto &[context, target] = node.items.emplace_back();
  if (!(context = expression()))
    return false;
  if (!accept(Tok::KwAs))
    return true;
  target = at(Tok::Star) ? starred() : bitwiseOr();
  return target && checkTarget(*target);
}

/// Whether the parenthesis here holds items with `as`, so that it isn't part of an expression.
bool Parser::parenthesizedWithItems() {
  unsigned depth = 1;
  for (size_t i = 0;; ++i) {
    switch (peek(i).kind) {
    case Tok::LParen:
    case Tok::LBracket:
    case Tok::LBrace: ++depth; break;
    case Tok::RParen:
    case Tok::RBracket:
    case Tok::RBrace:
      if (--depth == 0)
        return false;
      break;
    case Tok::KwAs:
      if (depth == 1)
        return true;
      break;
    case Tok::Newline:
    case Tok::Error:
    case Tok::EndOfFile: return false;
    default: break;
    }
  }
}

bool Parser::withItems(With &node) {
  const Token bracket = tok;
  if (at(Tok::LParen) && parenthesizedWithItems()) {
    Nest nest(*this, &bracket);
    advance();
    do {
      if (at(Tok::RParen))
        break;
      if (!nest || !withItem(node))
        return false;
    } while (accept(Tok::Comma));
    return expect(Tok::RParen);
  }
  do {
    if (!withItem(node))
      return false;
  } while (accept(Tok::Comma));
  // `with (a, b):` has two items, not a tuple.
  auto &[context, target] = node.items.front();
  if (node.items.size() > 1 || target || context->kind != ExprKind::Tuple || context->range.begin != bracket.range.begin || !at(Tok::Colon))
    return true;
  auto &elements = static_cast<Tuple &>(*context).elements;
  for (const ExprPtr &element : elements)
    if (element->kind == ExprKind::Starred || element->kind == ExprKind::Walrus)
      return true;
  if (elements.empty())
    return true;
  std::vector<ExprPtr> contexts = std::move(elements);
  node.items.clear();
  for (ExprPtr &element : contexts)
    node.items.emplace_back(std::move(element), nullptr);
  return true;
}

StmtPtr Parser::tryStatement() {
  const Token keyword = tok;
  advance();
  auto node = std::make_unique<Try>();
  if (!block(node->body, "`try`"))
    return nullptr;
  bool anyGroup = false, anyPlain = false;
  while (at(Tok::KwExcept)) {
    const SourceRange range = tok.range;
    if (!node->handlers.empty() && !node->handlers.back().type)
      return error(Diag::BareExceptNotLast, range);
    bool isGroup = false;
    if (!handler(*node, isGroup))
      return nullptr;
    (isGroup ? anyGroup : anyPlain) = true;
    if (anyGroup && anyPlain)
      return error(Diag::MixedExcepts, range);
  }
  if (!node->handlers.empty() && accept(Tok::KwElse) && !block(node->orelse, "`else`"))
    return nullptr;
  const bool hasFinally = accept(Tok::KwFinally);
  if (hasFinally && !block(node->finally, "`finally`"))
    return nullptr;
  if (node->handlers.empty() && !hasFinally) {
    // The block was fine: only this is reported, nothing is skipped.
    error(Diag::TryAlone, keyword.range);
  }
  return finishStmt(std::move(node), keyword.range.begin);
}

/// `except type as name:`; `except* type` sets `isGroup`.
bool Parser::handler(Try &node, bool &isGroup) {
  advance();
  isGroup = accept(Tok::Star);
  Try::Handler &handler = node.handlers.emplace_back();
  SourceRange range;
  if (!at(Tok::Colon) || isGroup) {
    if (!(handler.type = expression()))
      return false;
    if (at(Tok::Comma))
      return error(Diag::ExceptNeedsParentheses, tok.range);
    if (accept(Tok::KwAs) && !expectName(handler.name, range))
      return false;
  }
  return block(handler.body, "`except`");
}

} // namespace tk::lang
