// Names, literals, f-strings, displays and comprehensions.
#include "lang/syntax/Literals.h"
#include "lang/syntax/ParserState.h"

namespace tk::lang {

using namespace ast;

ExprPtr Parser::atom() {
  switch (tok.kind) {
  case Tok::Name: {
    const uint32_t begin = tok.range.begin;
    auto node = std::make_unique<Name>();
    node->id = textOf(tok);
    advance();
    return finish(std::move(node), begin);
  }
  case Tok::Number: return number();
  case Tok::String:
  case Tok::FStringStart: return strings();
  case Tok::KwNone: return constant(Constant::None);
  case Tok::KwTrue: return constant(Constant::True);
  case Tok::KwFalse: return constant(Constant::False);
  case Tok::Ellipsis: return constant(Constant::Ellipsis);
  case Tok::LParen: return parenthesized();
  case Tok::LBracket: return listDisplay();
  case Tok::LBrace: return braceDisplay();
  default: return unexpected("an expression");
  }
}

ExprPtr Parser::constant(Constant::Type type) {
  const uint32_t begin = tok.range.begin;
  auto node = std::make_unique<Constant>();
  node->type = type;
  advance();
  return finish(std::move(node), begin);
}

ExprPtr Parser::number() {
  const uint32_t begin = tok.range.begin;
  auto node = std::make_unique<Constant>();
  if (!decodeNumber({&file, tok.range}, *node, diagnostics))
    return nullptr;
  advance();
  return finish(std::move(node), begin);
}

/// Adjacent string literals: one Constant, or one FString if any of them is an f-string.
ExprPtr Parser::strings() {
  const uint32_t begin = tok.range.begin;
  auto constant = std::make_unique<Constant>();
  auto joined = std::make_unique<FString>();
  bool anyText = false, anyBytes = false, anyFString = false, good = true;
  std::string text;
  while (at(Tok::String) || at(Tok::FStringStart)) {
    if (at(Tok::FStringStart)) {
      anyFString = anyText = true;
      if (!fstring(joined->parts, text))
        return nullptr;
    } else {
      const StringForm form = stringForm(file.text(tok.range));
      (form.bytes ? anyBytes : anyText) = true;
      good &= decodeString({&file, tok.range}, form, text, diagnostics);
      advance();
    }
  }
  if (anyText && anyBytes)
    return error(Diag::MixedStrings, {begin, previousEnd});
  if (!good)
    return nullptr;
  if (!anyFString) {
    constant->type = anyBytes ? Constant::Bytes : Constant::String;
    constant->text = std::move(text);
    return finish(std::move(constant), begin);
  }
  if (!text.empty()) {
    joined->parts.emplace_back();
    joined->parts.back().text = std::move(text);
  }
  return finish(std::move(joined), begin);
}

/// One f-string. `text` is the literal text read so far that no part holds yet.
bool Parser::fstring(std::vector<FString::Part> &parts, std::string &text) {
  const bool raw = stringForm(file.text(tok.range)).raw;
  advance();
  while (!accept(Tok::FStringEnd)) {
    if (at(Tok::FStringMiddle)) {
      if (!decodeFStringText({&file, tok.range}, raw, text, diagnostics))
        return false;
      advance();
      continue;
    }
    if (!at(Tok::LBrace))
      return unexpected("the rest of the f-string");
    FString::Part part;
    if (!fstringField(part))
      return false;
    if (!text.empty()) {
      parts.emplace_back();
      parts.back().text = std::move(text);
      text.clear();
    }
    parts.push_back(std::move(part));
  }
  return true;
}

/// `{value!conversion:format}`, at the `{`.
bool Parser::fstringField(FString::Part &part) {
  const Token bracket = tok;
  Nest nest(*this, &bracket);
  if (!nest)
    return false;
  advance();
  if (at(Tok::RBrace) || at(Tok::Exclaim) || at(Tok::Colon) || at(Tok::Equal))
    return error(Diag::EmptyField, {bracket.range.begin, tok.range.end});
  // Inside a field everything is parenthesized, so to speak.
  if (!(part.field = at(Tok::KwYield) ? yield() : tupleOf(&Parser::namedExpression)))
    return false;
  if (part.field->kind == ExprKind::Starred)
    return error(Diag::StarAlone, part.field->range);
  if (accept(Tok::Equal)) {
    part.selfDocumenting = true;
    part.text = std::string(file.text({bracket.range.end, tok.range.begin}));
  }
  if (at(Tok::Exclaim)) {
    const uint32_t exclaim = tok.range.begin;
    advance();
    const std::string_view letter = file.text(tok.range);
    if (!at(Tok::Name) || (letter != "r" && letter != "s" && letter != "a"))
      return error(Diag::BadConversion, {exclaim, std::max(tok.range.end, exclaim + 1)});
    part.conversion = letter[0];
    advance();
  }
  if (at(Tok::Colon)) {
    if (!fieldFormat(part))
      return false;
  } else if (part.selfDocumenting && !part.conversion) {
    part.conversion = 'r';
  }
  if (!at(Tok::RBrace))
    return unexpected("`}`");
  advance();
  return true;
}

/// `:format`. Fields inside it are checked, and kept as text.
bool Parser::fieldFormat(FString::Part &part) {
  advance();
  const uint32_t begin = previousEnd;
  while (at(Tok::FStringMiddle) || at(Tok::LBrace)) {
    if (accept(Tok::FStringMiddle))
      continue;
    FString::Part nested;
    if (!fstringField(nested))
      return false;
  }
  part.format = std::string(file.text({begin, previousEnd}));
  return true;
}

/// The elements up to `closer`, or a comprehension of `type` when `for` follows the first. Takes the closer.
bool Parser::display(Display &out, Comprehension::Type type, Tok closer, uint32_t begin, ExprPtr first) {
  while (first || !at(closer)) {
    const uint32_t start = tok.range.begin;
    ExprPtr element = first ? std::move(first) : at(Tok::Star) ? starred() : namedExpression();
    if (!element)
      return false;
    if (atComprehension()) {
      if (out.comma)
        return error(Diag::BareTupleElement, {out.elements.front()->range.begin, previousEnd});
      if (element->kind == ExprKind::Starred)
        return error(Diag::StarInComprehension, {start, previousEnd});
      out.comprehension = comprehension(type, std::move(element), nullptr, begin);
      if (!out.comprehension)
        return false;
      if (!at(closer))
        return unexpected(tokenDescription(closer));
      break;
    }
    out.elements.push_back(std::move(element));
    if (accept(Tok::Comma))
      out.comma = true;
    else if (!at(closer))
      return unexpected(std::string("`,` or ") + tokenDescription(closer));
  }
  advance();
  if (out.comprehension)
    out.comprehension->range.end = previousEnd;
  return true;
}

/// `()`, `(a)`, `(a, b)`, `(yield a)`, `(a for ...)`.
ExprPtr Parser::parenthesized() {
  const Token bracket = tok;
  Nest nest(*this, &bracket);
  if (!nest)
    return nullptr;
  advance();
  if (at(Tok::KwYield)) {
    ExprPtr value = yield();
    return value && expect(Tok::RParen) ? std::move(value) : nullptr;
  }
  Display inside;
  if (!display(inside, Comprehension::Generator, Tok::RParen, bracket.range.begin))
    return nullptr;
  if (inside.comprehension)
    return std::move(inside.comprehension);
  if (inside.elements.size() == 1 && !inside.comma) {
    if (inside.elements[0]->kind == ExprKind::Starred)
      return error(Diag::StarAlone, inside.elements[0]->range);
    return std::move(inside.elements[0]);
  }
  auto tuple = std::make_unique<Tuple>();
  tuple->elements = std::move(inside.elements);
  return finish(std::move(tuple), bracket.range.begin);
}

ExprPtr Parser::listDisplay() {
  const Token bracket = tok;
  Nest nest(*this, &bracket);
  if (!nest)
    return nullptr;
  advance();
  Display inside;
  if (!display(inside, Comprehension::List, Tok::RBracket, bracket.range.begin))
    return nullptr;
  if (inside.comprehension)
    return std::move(inside.comprehension);
  auto list = std::make_unique<List>();
  list->elements = std::move(inside.elements);
  return finish(std::move(list), bracket.range.begin);
}

/// A set, a dict or a comprehension of either.
ExprPtr Parser::braceDisplay() {
  const Token bracket = tok;
  const uint32_t begin = bracket.range.begin;
  Nest nest(*this, &bracket);
  if (!nest)
    return nullptr;
  advance();
  if (at(Tok::RBrace) || at(Tok::StarStar))
    return dictDisplay(begin, nullptr);
  ExprPtr first = at(Tok::Star) ? starred() : namedExpression();
  if (!first)
    return nullptr;
  if (at(Tok::Colon) && first->kind != ExprKind::Starred)
    return dictDisplay(begin, std::move(first));
  Display inside;
  if (!display(inside, Comprehension::Set, Tok::RBrace, begin, std::move(first)))
    return nullptr;
  if (inside.comprehension)
    return std::move(inside.comprehension);
  auto set = std::make_unique<Set>();
  set->elements = std::move(inside.elements);
  return finish(std::move(set), begin);
}

/// The items of a dict; `key` is the first one's, already read, or null.
ExprPtr Parser::dictDisplay(uint32_t begin, ExprPtr key) {
  auto dict = std::make_unique<Dict>();
  while (key || !at(Tok::RBrace)) {
    ExprPtr value;
    if (!key && accept(Tok::StarStar)) {
      if (!(value = bitwiseOr()))
        return nullptr;
      if (atComprehension())
        return error(Diag::StarInComprehension, value->range);
    } else {
      if ((!key && !(key = expression())) || !expect(Tok::Colon) || !(value = expression()))
        return nullptr;
      if (dict->items.empty() && atComprehension()) {
        ExprPtr node = comprehension(Comprehension::Dict, std::move(key), std::move(value), begin);
        if (!node || !expect(Tok::RBrace))
          return nullptr;
        node->range.end = previousEnd;
        return node;
      }
    }
    dict->items.emplace_back(std::move(key), std::move(value));
    key = nullptr;
    if (!accept(Tok::Comma) && !at(Tok::RBrace))
      return unexpected("`,` or `}`");
  }
  advance();
  return finish(std::move(dict), begin);
}

bool Parser::atComprehension() { return at(Tok::KwFor) || (at(Tok::KwAsync) && peek(0).kind == Tok::KwFor); }

/// The clauses behind the element.
ExprPtr Parser::comprehension(Comprehension::Type type, ExprPtr element, ExprPtr value, uint32_t begin) {
  auto node = std::make_unique<Comprehension>();
  node->type = type;
  node->element = std::move(element);
  node->value = std::move(value);
  while (atComprehension()) {
    Comprehension::Clause &clause = node->clauses.emplace_back();
    clause.isAsync = accept(Tok::KwAsync);
    advance();
    if (!(clause.target = targets()) || !expect(Tok::KwIn) || !(clause.iterable = disjunction()))
      return nullptr;
    while (accept(Tok::KwIf)) {
      clause.conditions.push_back(disjunction());
      if (!clause.conditions.back())
        return nullptr;
    }
  }
  return finish(std::move(node), begin);
}

} // namespace tk::lang
