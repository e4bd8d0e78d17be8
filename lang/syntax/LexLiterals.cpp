// Numbers, strings and f-strings: where they end. What they mean is decoded by Literals.cpp.
//
// An f-string is read in two modes. In text mode everything up to a `{`, a `}` or the closing quote is one FStringMiddle; a `{`
// opens a field and switches to ordinary tokens, until its `}` or the `:` of its format, which is text again and may hold fields.
#include "lang/syntax/Lexer.h"
#include "lang/syntax/Literals.h"
#include "lang/syntax/Utf8.h"
#include <algorithm>

namespace tk::lang {

static bool isDigit(char c) { return c >= '0' && c <= '9'; }

/// The bytes of a character outside ASCII that can be in a name, else 0.
static size_t nameCharacter(std::string_view text, size_t index) {
  if (index >= text.size() || static_cast<signed char>(text[index]) >= 0)
    return 0;
  const Utf8Char c = decodeUtf8(text, index);
  return c.valid && !canBeInName(c.value) ? 0 : c.length;
}

/// Takes digits of `base` with single underscores between them, or in front where a prefix stands there. False when there is none or an underscore is astray.
bool Lexer::digits(unsigned base) {
  bool any = false;
  for (;;) {
    if (at(pos) == '_' && digitValue(at(pos + 1)) < 10 && (any || base != 10))
      ++pos;
    else if (at(pos) == '_' && base == 16 && digitValue(at(pos + 1)) < 16)
      ++pos;
    if (digitValue(at(pos)) >= base)
      return any && at(pos) != '_';
    ++pos;
    any = true;
  }
}

/// What may stand right behind a number: no letter, except those of the keywords that may follow an operand (`1if x else 2`).
bool Lexer::numberMayEnd() const {
  const char c = at(pos);
  if (isDigit(c) || c == '_' || nameCharacter(text, pos))
    return false;
  if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')))
    return true;
  for (std::string_view word : {"and", "else", "for", "if", "in", "is", "not", "or"})
    if (text.substr(pos, word.size()) == word)
      return true;
  return false;
}

Token Lexer::badNumber(size_t begin, const char *kind) {
  const size_t end = pos;
  while (digitValue(at(pos)) < 36 || at(pos) == '_' || nameCharacter(text, pos))
    pos += std::max<size_t>(1, nameCharacter(text, pos));
  if (at(end) != '_' && digitValue(at(end)) < 10)
    report(Diag::InvalidDigit, end, end + 1, at(end), kind);
  else
    report(Diag::InvalidNumber, begin, pos, kind);
  return error(begin);
}

Token Lexer::prefixedNumber(unsigned base, const char *kind) {
  const size_t begin = pos;
  pos += 2;
  if (!digits(base) || !numberMayEnd())
    return badNumber(begin, kind);
  return make(Tok::Number, begin);
}

Token Lexer::number() {
  const size_t begin = pos;
  if (at(pos) == '0') {
    switch (at(pos + 1) | 0x20) {
    case 'x': return prefixedNumber(16, "hexadecimal");
    case 'o': return prefixedNumber(8, "octal");
    case 'b': return prefixedNumber(2, "binary");
    }
  }
  bool real = false;
  if (at(pos) != '.' && !digits(10))
    return badNumber(begin, "decimal");
  const size_t integerEnd = pos;
  if (at(pos) == '.') {
    real = true;
    ++pos;
    if (isDigit(at(pos)) && !digits(10))
      return badNumber(begin, "decimal");
  }
  if ((at(pos) | 0x20) == 'e') {
    const size_t sign = at(pos + 1) == '+' || at(pos + 1) == '-';
    if (isDigit(at(pos + 1 + sign))) {
      real = true;
      pos += 1 + sign;
      if (!digits(10))
        return badNumber(begin, "decimal");
    }
  }
  if ((at(pos) | 0x20) == 'j') {
    real = true;
    ++pos;
  }
  if (!numberMayEnd())
    return badNumber(begin, "decimal");
  if (!real && at(begin) == '0' && text.substr(begin, integerEnd - begin).find_first_not_of("0_") != std::string_view::npos) {
    report(Diag::LeadingZeros, begin, pos);
    return error(begin);
  }
  return make(Tok::Number, begin);
}

Token Lexer::string(size_t begin, size_t quoteAt, bool) {
  const char quote = text[quoteAt];
  const bool triple = at(quoteAt + 1) == quote && at(quoteAt + 2) == quote;
  pos = quoteAt + (triple ? 3 : 1);
  for (;; ++pos) {
    if (pos >= text.size())
      return unterminatedString(begin, quote, triple);
    const char c = text[pos];
    if (c == quote && (!triple || (at(pos + 1) == quote && at(pos + 2) == quote))) {
      pos += triple ? 3 : 1;
      return make(Tok::String, begin);
    }
    if (c == '\\' && pos + 1 < text.size()) {
      ++pos;
      if (text[pos] == '\r' && at(pos + 1) == '\n')
        ++pos;
    } else if (!triple && lineEndAt(pos)) {
      return unterminatedString(begin, quote, triple);
    }
  }
}

/// In a field of an f-string the quote that was taken for a string's start is rather the end of the f-string.
Token Lexer::unterminatedString(size_t begin, char quote, bool triple) {
  if (!fstrings.empty() && fstrings.back().quote == quote && fstrings.back().triple == triple) {
    const uint32_t open = brackets[fstrings.back().fields.back() - 1].offset;
    report(Diag::UnclosedField, open, open + 1);
    brackets.resize(fstrings.back().outer);
    fstrings.pop_back();
  } else {
    report(triple ? Diag::UnterminatedTripleString : Diag::UnterminatedString, begin, triple ? begin + 3 : pos);
  }
  return error(begin);
}

Token Lexer::startFString(size_t begin, size_t quoteAt, bool raw) {
  const char quote = text[quoteAt];
  const bool triple = at(quoteAt + 1) == quote && at(quoteAt + 2) == quote;
  pos = quoteAt + (triple ? 3 : 1);
  fstrings.push_back({quote, triple, raw, static_cast<uint32_t>(begin), brackets.size(), true, {}});
  return make(Tok::FStringStart, begin);
}

/// A backslash in an f-string's text: takes the character behind it, but never a brace, which counts as such; `\N{...}` goes as a whole.
void Lexer::skipEscape(bool raw) {
  ++pos;
  if (at(pos) == '{' || at(pos) == '}' || pos >= text.size())
    return;
  if (!raw && at(pos) == 'N' && at(pos + 1) == '{') {
    while (at(pos) != '}' && at(pos) != '"' && at(pos) != '\'' && !lineEndAt(pos))
      ++pos;
    pos += at(pos) == '}';
    return;
  }
  if (text[pos] == '\r' && at(pos + 1) == '\n')
    ++pos;
  ++pos;
}

/// The next token in text mode.
Token Lexer::fstringText() {
  FString &string = fstrings.back();
  const bool format = !string.fields.empty();
  const size_t begin = pos;
  auto closesHere = [&] { return at(pos) == string.quote && (!string.triple || (at(pos + 1) == string.quote && at(pos + 2) == string.quote)); };
  for (;;) {
    if (pos >= text.size() || (!string.triple && lineEndAt(pos)) || (format && closesHere())) {
      // A format that runs into the quote or the end of the line lacks its `}`; the f-string ends here all the same.
      const uint32_t open = format ? brackets[string.fields.back() - 1].offset : string.begin;
      report(format          ? Diag::UnclosedField
             : string.triple ? Diag::UnterminatedTripleString
                             : Diag::UnterminatedFString,
             open,
             format          ? open + 1
             : string.triple ? open + 4
                             : pos);
      if (closesHere())
        pos += string.triple ? 3 : 1;
      brackets.resize(string.outer);
      fstrings.pop_back();
      return error(begin);
    }
    const char c = text[pos];
    if (c == '\\') {
      skipEscape(string.raw);
      continue;
    }
    const bool doubled = !format && (c == '{' || c == '}') && at(pos + 1) == c;
    if (doubled || !(c == '{' || c == '}' || closesHere())) {
      pos += doubled ? 2 : 1;
      continue;
    }
    if (pos > begin)
      return make(Tok::FStringMiddle, begin);
    break;
  }
  if (closesHere()) {
    pos += string.triple ? 3 : 1;
    fstrings.pop_back();
    return make(Tok::FStringEnd, begin);
  }
  ++pos;
  if (text[begin] == '{') {
    brackets.push_back({'{', static_cast<uint32_t>(begin)});
    string.fields.push_back(brackets.size());
    string.inText = false;
    return make(Tok::LBrace, begin);
  }
  if (format) {
    brackets.resize(string.fields.back() - 1);
    string.fields.pop_back();
    return make(Tok::RBrace, begin);
  }
  report(Diag::SingleBrace, begin, pos);
  return error(begin);
}

} // namespace tk::lang
