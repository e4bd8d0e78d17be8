// `match` and its patterns. No kernel may use them, so patterns are checked and kept as text.
#include "lang/syntax/ParserState.h"

namespace tk::lang {

using namespace ast;

/// Whether the name `match` here starts a match statement: a subject, and a colon at the end of the line.
bool Parser::atMatch() {
  switch (peek(0).kind) {
  case Tok::Name:
  case Tok::Number:
  case Tok::String:
  case Tok::FStringStart:
  case Tok::LBrace:
  case Tok::Tilde:
  case Tok::Ellipsis:
  case Tok::KwNone:
  case Tok::KwTrue:
  case Tok::KwFalse:
  case Tok::KwAwait:
  case Tok::KwLambda:
  case Tok::KwYield: return true;
  case Tok::KwNot: // `match not in x` is a comparison
    return peek(1).kind != Tok::KwIn;
  case Tok::LParen:
  case Tok::LBracket:
  case Tok::Minus:
  case Tok::Plus:
  case Tok::Star: break;
  default: return false;
  }
  size_t i = 0;
  while (peek(i).kind != Tok::Newline && peek(i).kind != Tok::EndOfFile && peek(i).kind != Tok::Error)
    ++i;
  return i > 0 && peek(i).kind == Tok::Newline && peek(i - 1).kind == Tok::Colon;
}

StmtPtr Parser::matchStatement() {
  const uint32_t begin = tok.range.begin;
  advance();
  auto node = std::make_unique<Match>();
  if (!(node->subject = tupleOf(&Parser::namedExpression)) || !expect(Tok::Colon))
    return nullptr;
  if (node->subject->kind == ExprKind::Starred)
    return error(Diag::StarAlone, node->subject->range);
  if (!accept(Tok::Newline))
    return unexpected("the end of the line");
  if (!at(Tok::Indent)) {
    error(Diag::ExpectedBlock, tok.range, "`match`");
    return finishStmt(std::move(node), begin);
  }
  Nest nest(*this);
  if (!nest) {
    skipBlock();
    return finishStmt(std::move(node), begin);
  }
  advance();
  const uint32_t outerBegin = statementBegin, outerColumn = statementColumn;
  while (!at(Tok::Dedent) && !at(Tok::EndOfFile)) {
    statementBegin = tok.range.begin;
    statementColumn = columnOf(tok);
    if (!atWord("case"))
      unexpected("`case`");
    else if (matchCase(*node))
      continue;
    recover();
  }
  accept(Tok::Dedent);
  statementBegin = outerBegin;
  statementColumn = outerColumn;
  return finishStmt(std::move(node), begin);
}

bool Parser::matchCase(Match &node) {
  advance();
  Match::Case &branch = node.cases.emplace_back();
  branch.pattern.begin = tok.range.begin;
  if (!openPattern())
    return false;
  branch.pattern.end = previousEnd;
  if (accept(Tok::KwIf) && !(branch.guard = namedExpression()))
    return false;
  ++statementHeight;
  const bool good = block(branch.body, "`case`");
  --statementHeight;
  return good;
}

/// A pattern, or a sequence of them without brackets.
bool Parser::openPattern() {
  for (;;) {
    if (accept(Tok::Star) ? !accept(Tok::Name) && !unexpected("a name") : !pattern())
      return false;
    if (!accept(Tok::Comma))
      return true;
    if (at(Tok::Colon) || at(Tok::KwIf))
      return true;
  }
}

/// Alternatives, and the name that the whole is bound to.
bool Parser::pattern() {
  do {
    if (!closedPattern())
      return false;
  } while (accept(Tok::Pipe));
  if (!accept(Tok::KwAs))
    return true;
  return accept(Tok::Name) || unexpected("a name");
}

bool Parser::closedPattern() {
  switch (tok.kind) {
  case Tok::Number:
  case Tok::Minus: return numberPattern();
  case Tok::String:
  case Tok::FStringStart: return strings() != nullptr;
  case Tok::KwNone:
  case Tok::KwTrue:
  case Tok::KwFalse: advance(); return true;
  case Tok::LParen: return patternSequence(Tok::RParen);
  case Tok::LBracket: return patternSequence(Tok::RBracket);
  case Tok::LBrace: return mappingPattern();
  case Tok::Name: {
    std::string name;
    return dottedName(name) && (!at(Tok::LParen) || classPattern());
  }
  default: return unexpected("a pattern");
  }
}

/// `1`, `-1`, `1 + 2j`.
bool Parser::numberPattern() {
  accept(Tok::Minus);
  if (!at(Tok::Number))
    return unexpected("a number");
  if (!number())
    return false;
  if (!accept(Tok::Plus) && !accept(Tok::Minus))
    return true;
  if (!at(Tok::Number))
    return unexpected("an imaginary number");
  return number() != nullptr;
}

/// `(a)`, `(a, *b)`, `[a, b]`.
bool Parser::patternSequence(Tok closer) {
  const Token bracket = tok;
  Nest nest(*this, &bracket);
  if (!nest)
    return false;
  advance();
  while (!at(closer)) {
    if (accept(Tok::Star) ? !accept(Tok::Name) && !unexpected("a name") : !pattern())
      return false;
    if (!accept(Tok::Comma) && !at(closer))
      return unexpected(std::string("`,` or ") + tokenDescription(closer));
  }
  advance();
  return true;
}

/// `{key: pattern, **rest}`.
bool Parser::mappingPattern() {
  const Token bracket = tok;
  Nest nest(*this, &bracket);
  if (!nest)
    return false;
  advance();
  while (!at(Tok::RBrace)) {
    if (accept(Tok::StarStar)) {
      if (!accept(Tok::Name))
        return unexpected("a name");
    } else if (!closedPattern() || !expect(Tok::Colon) || !pattern()) {
      return false;
    }
    if (!accept(Tok::Comma) && !at(Tok::RBrace))
      return unexpected("`,` or `}`");
  }
  advance();
  return true;
}

/// `(pattern, name=pattern)` behind a class's name.
bool Parser::classPattern() {
  const Token bracket = tok;
  Nest nest(*this, &bracket);
  if (!nest)
    return false;
  advance();
  while (!at(Tok::RParen)) {
    if (at(Tok::Name) && peek(0).kind == Tok::Equal) {
      advance();
      advance();
    }
    if (!pattern())
      return false;
    if (!accept(Tok::Comma) && !at(Tok::RParen))
      return unexpected("`,` or `)`");
  }
  advance();
  return true;
}

} // namespace tk::lang
