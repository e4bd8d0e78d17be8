// Tokens, errors and recovery, blocks, and the entry points.
#include "lang/syntax/Parser.h"
#include "lang/syntax/AstWalk.h"
#include "lang/syntax/ParserState.h"
#include <algorithm>

namespace tk::lang {

using namespace ast;

static constexpr uint64_t kMaxTokens = 20'000'000;
static constexpr unsigned kMaxErrors = 1000; // no one reads more: the rest of the file is left alone

Parser::Parser(const SourceFile &file, Diagnostics &diagnostics, bool expression)
    : file(file), diagnostics(diagnostics), lexer(file, diagnostics, expression), errorsBefore(diagnostics.errorCount()) {
  advance();
}

// Tokens

void Parser::advance() {
  previousEnd = tok.range.end;
  take();
  if (tok.startsLine)
    lineStart = tok;
}

void Parser::take() {
  if (!ahead.empty()) {
    tok = ahead.front();
    ahead.pop_front();
    return;
  }
  if (tokenCount < kMaxTokens && diagnostics.errorCount() - errorsBefore < kMaxErrors) {
    ++tokenCount;
    tok = lexer.next();
    return;
  }
  // One Error token, so that nothing else is reported, then the end.
  tok.kind = at(Tok::Error) ? Tok::EndOfFile : Tok::Error;
  if (tokenCount++ == kMaxTokens)
    error(Diag::TooManyTokens, tok.range, kMaxTokens);
}

/// The token after the current one (0), the one after that ... Callers must not look past a Newline.
const Token &Parser::peek(size_t index) {
  while (ahead.size() <= index) {
    ++tokenCount;
    ahead.push_back(lexer.next());
  }
  return ahead[index];
}

bool Parser::accept(Tok kind) {
  if (!at(kind))
    return false;
  advance();
  return true;
}

bool Parser::expect(Tok kind) {
  if (accept(kind))
    return true;
  if (kind == Tok::Colon && at(Tok::Equal))
    error(Diag::EqualInCondition, tok.range);
  else
    unexpected(tokenDescription(kind));
  return false;
}

bool Parser::expectName(std::string &name, SourceRange &range) {
  if (!at(Tok::Name)) {
    unexpected("a name");
    return false;
  }
  name = textOf(tok);
  range = tok.range;
  advance();
  return true;
}

/// The current token for a message.
std::string Parser::found() const {
  static constexpr size_t kLongest = 40;
  std::string_view text = file.text(tok.range);
  if ((at(Tok::Name) || at(Tok::Number)) && text.size() <= kLongest)
    return "`" + std::string(text) + "`";
  return tokenDescription(tok.kind);
}

uint32_t Parser::columnOf(const Token &token) const { return token.range.begin - file.lineStart(file.position(token.range.begin).line); }

// Errors

/// Whether the line we are in is rather the next statement: it starts in a bracket, but no further right than the statement does.
bool Parser::lineIsNextStatement() const {
  const bool closes = lineStart.kind == Tok::RParen || lineStart.kind == Tok::RBracket || lineStart.kind == Tok::RBrace;
  return lineStart.range.begin > statementBegin && !closes && columnOf(lineStart) <= statementColumn;
}

/// Reports an open bracket instead of what stands here, when the latter only makes sense in another statement.
bool Parser::blameBracket() {
  const bool statementLike = tok.startsLine || at(Tok::Equal) || at(Tok::Colon) || (tok.kind >= Tok::PlusEqual && tok.kind <= Tok::CaretEqual);
  if (open.empty() || !statementLike || open.back().range.begin > lineStart.range.begin || !lineIsNextStatement())
    return false;
  error(Diag::UnclosedBracket, open.back().range, file.text(open.back().range));
  return true;
}

/// Reports that `expected` is not what stands here.
Parser::Failure Parser::unexpected(std::string_view expected) {
  if (at(Tok::Error) || blameBracket())
    return {};
  return error(Diag::Expected, tok.range, expected, found());
}

/// Skips to the end of a statement that is wrong: the end of its line, or a line in its brackets that is rather the next statement.
void Parser::skipStatement() {
  lexer.setQuiet(true);
  while (!at(Tok::EndOfFile) && !at(Tok::Newline)) {
    if (lineIsNextStatement()) {
      ahead.clear();
      lexer.restartAt(lineStart.range.begin);
      lexer.setQuiet(false);
      advance();
      return;
    }
    advance();
  }
  lexer.setQuiet(false);
  accept(Tok::Newline);
}

/// Skips an indented block without looking at it.
void Parser::skipBlock() {
  lexer.setQuiet(true);
  unsigned depth = 0;
  do {
    depth += at(Tok::Indent);
    depth -= at(Tok::Dedent);
    if (depth == 0)
      lexer.setQuiet(false);
    advance();
  } while (depth > 0 && !at(Tok::EndOfFile));
  lexer.setQuiet(false);
}

/// After a wrong statement: skips its line, and parses the block below, where independent errors may be.
void Parser::recover() {
  skipStatement();
  if (!at(Tok::Indent))
    return;
  if (nesting >= kMaxNesting)
    return skipBlock();
  Nest nest(*this);
  const Context outer = context;
  context = {true, true};
  advance();
  Block ignored;
  statements(ignored);
  accept(Tok::Dedent);
  context = outer;
}

Parser::Nest::Nest(Parser &parser, const Token *bracket) : parser(parser), fits(parser.nesting < kMaxNesting), isBracket(bracket) {
  ++parser.nesting;
  if (bracket)
    parser.open.push_back(*bracket);
  if (!fits)
    parser.error(Diag::NestingTooDeep, parser.tok.range, kMaxNesting);
}

Parser::Nest::~Nest() {
  --parser.nesting;
  if (isBracket)
    parser.open.pop_back();
}

/// Sets a node's range, up to the last token taken, and its height. Null when it is too high, which is reported.
ExprPtr Parser::setRange(ExprPtr node, uint32_t begin) {
  node->range = {begin, previousEnd};
  unsigned height = 0;
  forEachChild(*node, [&](const Expr &child) { height = std::max<unsigned>(height, child.height); });
  if (height >= kMaxHeight)
    return error(Diag::ExpressionTooHigh, node->range, kMaxHeight);
  node->height = static_cast<uint16_t>(height + 1);
  return node;
}

// Blocks

/// Statements up to the end of the block or the file.
void Parser::statements(Block &out) {
  unsigned extraIndents = 0;
  while (!at(Tok::EndOfFile)) {
    if (at(Tok::Dedent)) {
      if (extraIndents == 0)
        return;
      --extraIndents;
      advance();
    } else if (at(Tok::Indent)) {
      if (!afterFailure)
        error(Diag::UnexpectedIndent, tok.range);
      ++extraIndents;
      advance();
    } else if (at(Tok::Newline)) {
      advance();
    } else {
      afterFailure = !statement(out);
    }
  }
}

/// One line of simple statements or one compound statement. False after an error in it (not in its blocks), from which it has recovered.
bool Parser::statement(Block &out) {
  statementBegin = tok.range.begin;
  statementColumn = columnOf(tok);
  const bool clause = at(Tok::KwElif) || at(Tok::KwElse) || at(Tok::KwExcept) || at(Tok::KwFinally);
  if (clause) {
    if (!afterFailure)
      error(Diag::ClauseAlone, tok.range, file.text(tok.range));
    recover();
    return false;
  }
  if (!atCompound()) {
    if (simpleStatements(out))
      return true;
    recover();
    return false;
  }
  StmtPtr compound = compoundStatement();
  if (!compound) {
    recover();
    return false;
  }
  out.push_back(std::move(compound));
  return true;
}

bool Parser::block(Block &out, const char *owner) { return block(out, owner, context); }

/// `:` and what belongs to it: the rest of the line, or an indented block. False when the `:` is missing.
bool Parser::block(Block &out, const char *owner, Context inside) {
  if (!expect(Tok::Colon))
    return false;
  const Context outer = context;
  context = inside;
  bool good = true;
  if (!accept(Tok::Newline)) {
    if (at(Tok::Error) || atCompound())
      unexpected("a simple statement or the end of the line"), good = false;
    else
      good = simpleStatements(out);
  } else if (!at(Tok::Indent)) {
    error(Diag::ExpectedBlock, tok.range, owner);
  } else if (Nest nest(*this); !nest) {
    skipBlock();
  } else {
    const uint32_t begin = statementBegin, column = statementColumn;
    std::vector<Token> brackets;
    brackets.swap(open);
    ++statementHeight;
    advance();
    afterFailure = false;
    statements(out);
    afterFailure = false;
    accept(Tok::Dedent);
    --statementHeight;
    brackets.swap(open);
    statementBegin = begin;
    statementColumn = column;
  }
  context = outer;
  return good;
}

Block Parser::module() {
  Block body;
  statements(body);
  return body;
}

ExprPtr Parser::wholeExpression() {
  ExprPtr expr = starExpressions();
  if (!expr)
    return nullptr;
  while (at(Tok::Newline))
    advance();
  if (!at(Tok::EndOfFile))
    return unexpected("the end of the expression");
  return expr;
}

// Entry points

Module parse(std::shared_ptr<const SourceFile> file, Diagnostics &diagnostics) {
  Module module;
  const unsigned before = diagnostics.errorCount();
  if (checkEncoding(*file, diagnostics) || diagnostics.errorCount() - before < kMaxErrors)
    module.body = Parser(*file, diagnostics).module();
  module.file = std::move(file);
  return module;
}

ExprPtr parseExpression(const SourceFile &file, Diagnostics &diagnostics) {
  const unsigned before = diagnostics.errorCount();
  checkEncoding(file, diagnostics);
  ExprPtr expr = Parser(file, diagnostics, true).wholeExpression();
  return diagnostics.errorCount() == before ? std::move(expr) : nullptr;
}

} // namespace tk::lang
