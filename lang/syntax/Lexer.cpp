// Lines, indentation, names, operators and brackets; numbers and strings are in LexLiterals.cpp.
//
// Inside brackets lines are joined. A bracket that is never closed would swallow the rest of the file, so a line there that starts with
// a word no expression can hold (`def`, `return`, ...) ends the statement: the bracket is reported and reading goes on at that line.
#include "lang/syntax/Lexer.h"
#include "lang/syntax/Utf8.h"
#include <algorithm>
#include <cstring>

namespace tk::lang {

static constexpr const char *kDescriptions[] = {
#define TK_TOKEN(name, description) description,
#define TK_KEYWORD(name, spelling) "`" spelling "`",
#define TK_PUNCTUATION(name, spelling) "`" spelling "`",
#include "lang/syntax/Tokens.def"
};
static constexpr const char *kNames[] = {
#define TK_TOKEN(name, description) #name,
#define TK_KEYWORD(name, spelling) "Kw" #name,
#define TK_PUNCTUATION(name, spelling) #name,
#include "lang/syntax/Tokens.def"
};
static constexpr std::string_view kKeywords[] = {
#define TK_KEYWORD(name, spelling) spelling,
#include "lang/syntax/Tokens.def"
};

const char *tokenDescription(Tok kind) { return kDescriptions[static_cast<size_t>(kind)]; }
const char *tokenName(Tok kind) { return kNames[static_cast<size_t>(kind)]; }

static bool isDigit(char c) { return c >= '0' && c <= '9'; }
static bool isIdentifierByte(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || isDigit(c) || c == '_' || static_cast<signed char>(c) < 0; }

bool checkEncoding(const SourceFile &file, Diagnostics &diagnostics) {
  const std::string_view text = file.text();
  bool good = true, reportedUtf8 = false, reportedNul = false; // on this line
  for (size_t i = 0; i < text.size();) {
    uint64_t word; // eight plain characters at once: none zero, none with the top bit set
    if (i + 8 <= text.size() && (std::memcpy(&word, text.data() + i, 8), !((word | (word - 0x0101010101010101u)) & 0x8080808080808080u))) {
      if (reportedUtf8 || reportedNul)
        for (size_t k = i; k < i + 8; ++k)
          if (text[k] == '\n' || text[k] == '\r')
            reportedUtf8 = reportedNul = false;
      i += 8;
      continue;
    }
    Utf8Char c = decodeUtf8(text, i);
    if (c.value == '\n' || c.value == '\r')
      reportedUtf8 = reportedNul = false;
    bool nul = c.valid && c.value == 0;
    bool &reported = nul ? reportedNul : reportedUtf8;
    if ((nul || !c.valid) && !reported) {
      diagnostics.report(nul ? Diag::NulByte : Diag::InvalidUtf8, {&file, {static_cast<uint32_t>(i), static_cast<uint32_t>(i + 1)}});
      reported = true;
      good = false;
    }
    i += c.length;
  }
  return good;
}

Lexer::Lexer(const SourceFile &file, Diagnostics &diagnostics, bool expression)
    : file(file), diagnostics(diagnostics), text(file.text()), atLineStart(!expression) {}

Token Lexer::make(Tok kind, size_t begin) {
  Token token{kind, firstOfLine, {static_cast<uint32_t>(begin), static_cast<uint32_t>(pos)}};
  firstOfLine = false;
  lastWasNewline = kind == Tok::Newline || kind == Tok::Indent || kind == Tok::Dedent;
  return token;
}

Token Lexer::error(size_t begin) { return make(Tok::Error, begin); }

void Lexer::skipLineEnd() {
  if (at(pos) == '\r' && at(pos + 1) == '\n')
    ++pos;
  ++pos;
  firstOfLine = true;
}

void Lexer::restartAt(uint32_t offset) {
  reportedTo = std::max(reportedTo, pos);
  pos = file.lineStart(file.position(offset).line);
  brackets.clear();
  fstrings.clear();
  pendingDedents = 0;
  pendingNewline = false;
  atLineStart = firstOfLine = lastWasNewline = true;
}

Token Lexer::next() {
  if (pendingNewline) {
    pendingNewline = false;
    atLineStart = true;
    return make(Tok::Newline, pos);
  }
  if (pendingDedents) {
    --pendingDedents;
    return make(Tok::Dedent, pos);
  }
  Token token;
  if (atLineStart && startLine(token))
    return token;
  if (!fstrings.empty() && fstrings.back().inText)
    return fstringText();
  if (skipSpace(token))
    return token;
  const char c = at(pos);
  if (isDigit(c) || (c == '.' && isDigit(at(pos + 1))))
    return number();
  if (c == '"' || c == '\'')
    return string(pos, pos, false);
  if (isIdentifierByte(c))
    return nameOrString();
  return operatorOrBracket();
}

/// Skips blank lines and measures the indentation of the next one. True with an Indent or Dedent.
bool Lexer::startLine(Token &token) {
  atLineStart = false;
  size_t begin = pos;
  unsigned column = 0, alternative = 0, continued = 0, continuedAlternative = 0;
  for (;;) {
    char c = at(pos);
    if (c == ' ') {
      ++column, ++alternative, ++pos;
    } else if (c == '\t') {
      column = (column / 8 + 1) * 8, ++alternative, ++pos;
    } else if (c == '\f') {
      column = alternative = 0, ++pos;
    } else if (c == '\\' && pos + 1 < text.size() && lineEndAt(pos + 1)) {
      // Indentation goes on behind a backslash, but what stands before the first one counts, unless that is nothing.
      if (!continued)
        continued = column, continuedAlternative = alternative;
      ++pos;
      skipLineEnd();
    } else if (pos < text.size() && c == '\0') {
      ++pos;
    } else if (c == '#') {
      while (!lineEndAt(pos))
        ++pos;
    } else if (pos < text.size() && lineEndAt(pos)) {
      skipLineEnd();
      begin = pos;
      column = alternative = continued = continuedAlternative = 0;
    } else {
      break;
    }
  }
  if (pos >= text.size())
    return false;
  return indent(continued ? continued : column, continued ? continuedAlternative : alternative, begin, token);
}

bool Lexer::indent(unsigned column, unsigned alternative, size_t begin, Token &token) {
  // A line that agrees with no level is reported once and taken for one of the innermost level that is left; so are the lines below it that agree with it.
  auto complain = [&](Diag id) {
    if (!misaligned)
      report(id, begin, pos);
    misaligned = column;
  };
  const bool again = misaligned && column == *misaligned;
  if (column > levels.back().column && !again) {
    if (alternative <= levels.back().alternative)
      complain(Diag::InconsistentIndentation);
    levels.push_back({column, alternative});
    token = make(Tok::Indent, begin);
    firstOfLine = true;
    return true;
  }
  while (column < levels.back().column) {
    levels.pop_back();
    ++pendingDedents;
  }
  if (column != levels.back().column)
    complain(Diag::UnindentMismatch);
  else if (alternative != levels.back().alternative)
    complain(Diag::InconsistentIndentation);
  else
    misaligned.reset();
  if (pendingDedents == 0)
    return false;
  --pendingDedents;
  token = make(Tok::Dedent, pos);
  firstOfLine = true;
  return true;
}

/// Skips to the next token. True with a token that the way there gave: Newline, Error or the end of the file.
bool Lexer::skipSpace(Token &token) {
  for (;;) {
    if (pos >= text.size()) {
      token = endOfFile();
      return true;
    }
    switch (text[pos]) {
    case ' ':
    case '\t':
    case '\f':
    case '\0': ++pos; break;
    case '#':
      while (!lineEndAt(pos))
        ++pos;
      break;
    case '\\':
      if (continueLine(token))
        return true;
      break;
    case '\n':
    case '\r':
      if (brackets.empty()) {
        size_t begin = pos;
        skipLineEnd();
        bool blank = lastWasNewline;
        atLineStart = true;
        if (blank) {
          if (startLine(token))
            return true;
          break;
        }
        token = make(Tok::Newline, begin);
        firstOfLine = true;
        return true;
      }
      skipLineEnd();
      if (startsStatement()) {
        token = unclosed();
        return true;
      }
      break;
    default: return false;
    }
  }
}

/// A backslash that joins lines. True with an Error token when it can't.
bool Lexer::continueLine(Token &token) {
  const size_t begin = pos++;
  if (pos >= text.size()) {
    report(Diag::BackslashAtEnd, begin, pos);
  } else if (lineEndAt(pos)) {
    bool first = firstOfLine;
    skipLineEnd();
    firstOfLine = first;
    if (pos < text.size())
      return false;
    report(Diag::BackslashAtEnd, begin, begin + 1);
  } else {
    report(Diag::StrayBackslash, begin, pos);
  }
  token = error(begin);
  return true;
}

/// Whether the line at `pos` starts with a keyword that no expression holds.
bool Lexer::startsStatement() const {
  size_t begin = pos;
  while (at(begin) == ' ' || at(begin) == '\t')
    ++begin;
  size_t end = begin;
  while (end < begin + 9 && at(end) >= 'a' && at(end) <= 'z')
    ++end;
  if (end - begin < 3 || isIdentifierByte(at(end)))
    return false;
  static constexpr std::string_view kWords[] = {"assert",   "break", "class", "continue", "def", "del",   "global", "import",
                                                "nonlocal", "pass",  "raise", "return",   "try", "while", "with"};
  return std::binary_search(std::begin(kWords), std::end(kWords), text.substr(begin, end - begin));
}

/// The innermost open bracket is never closed: reports it and forgets all that is open.
Token Lexer::unclosed() {
  const Bracket &open = brackets.back();
  bool field = !fstrings.empty() && !fstrings.back().fields.empty() && fstrings.back().fields.back() == brackets.size();
  if (field)
    report(Diag::UnclosedField, open.offset, open.offset + 1);
  else
    report(Diag::UnclosedBracket, open.offset, open.offset + 1, open.opener);
  brackets.clear();
  fstrings.clear();
  Token token = error(pos);
  pendingNewline = true;
  return token;
}

Token Lexer::endOfFile() {
  if (!brackets.empty()) {
    Token token = unclosed();
    pendingNewline = false;
    return token;
  }
  if (!lastWasNewline)
    return make(Tok::Newline, pos);
  if (levels.size() > 1) {
    levels.pop_back();
    return make(Tok::Dedent, pos);
  }
  return make(Tok::EndOfFile, pos);
}

Token Lexer::nameOrString() {
  const size_t begin = pos;
  while (isIdentifierByte(at(pos))) {
    if (static_cast<signed char>(text[pos]) >= 0) {
      ++pos;
      continue;
    }
    Utf8Char c = decodeUtf8(text, pos);
    if (c.valid && !canBeInName(c.value))
      break;
    pos += c.length;
  }
  if (pos == begin)
    return invalidCharacter();
  const std::string_view word = text.substr(begin, pos - begin);
  if ((at(pos) == '"' || at(pos) == '\'') && word.size() <= 2) {
    auto lower = [&](size_t i) { return i < word.size() ? static_cast<char>(word[i] | 0x20) : '\0'; };
    const char a = lower(0), b = lower(1);
    const bool raw = a == 'r' || b == 'r';
    if (word.size() == 1 ? a == 'r' || a == 'b' || a == 'u' || a == 'f' : raw && (a != b) && (a == 'b' || b == 'b' || a == 'f' || b == 'f'))
      return a == 'f' || b == 'f' ? startFString(begin, pos, raw) : string(begin, pos, raw);
  }
  if (word.size() >= 2 && word.size() <= 8) {
    auto found = std::lower_bound(std::begin(kKeywords), std::end(kKeywords), word);
    if (found != std::end(kKeywords) && *found == word)
      return make(static_cast<Tok>(static_cast<size_t>(Tok::KwFalse) + static_cast<size_t>(found - std::begin(kKeywords))), begin);
  }
  return make(Tok::Name, begin);
}

Token Lexer::invalidCharacter() {
  const size_t begin = pos;
  Utf8Char c = decodeUtf8(text, pos);
  pos += c.length;
  std::string shown = c.value > 0x20 && c.value < 0x7F ? fmt::format("`{}`", text.substr(begin, 1)) : fmt::format("U+{:04X}", static_cast<unsigned>(c.value));
  if (c.value >= 0xA1 && !changesDirection(c.value) && displayWidth(c.value) && c.value < 0x10000)
    shown = fmt::format("`{}` ({})", text.substr(begin, c.length), shown);
  report(Diag::InvalidCharacter, begin, pos, shown);
  return error(begin);
}

Token Lexer::operatorOrBracket() {
  const size_t begin = pos;
  const char c = text[pos], d = at(pos + 1), e = at(pos + 2);
  auto take = [&](size_t length, Tok kind) {
    pos += length;
    return make(kind, begin);
  };
  auto withEqual = [&](Tok plain, Tok equal) { return d == '=' ? take(2, equal) : take(1, plain); };
  auto doubled = [&](Tok plain, Tok equal, Tok twice, Tok twiceEqual) {
    if (d == c)
      return e == '=' ? take(3, twiceEqual) : take(2, twice);
    return withEqual(plain, equal);
  };
  const bool fieldLevel = !fstrings.empty() && fstrings.back().fields.back() == brackets.size();
  switch (c) {
  case '(':
  case '[':
  case '{': brackets.push_back({c, static_cast<uint32_t>(pos)}); return take(1, c == '(' ? Tok::LParen : c == '[' ? Tok::LBracket : Tok::LBrace);
  case ')':
  case ']':
  case '}': return closeBracket(c);
  case ',': return take(1, Tok::Comma);
  case ';': return take(1, Tok::Semicolon);
  case '~': return take(1, Tok::Tilde);
  case '.': return d == '.' && e == '.' ? take(3, Tok::Ellipsis) : take(1, Tok::Dot);
  case ':':
    if (fieldLevel) {
      fstrings.back().inText = true;
      return take(1, Tok::Colon);
    }
    return withEqual(Tok::Colon, Tok::Walrus);
  case '=': return withEqual(Tok::Equal, Tok::EqEqual);
  case '!':
    if (d == '=')
      return take(2, Tok::NotEqual);
    return fieldLevel ? take(1, Tok::Exclaim) : invalidCharacter();
  case '+': return withEqual(Tok::Plus, Tok::PlusEqual);
  case '-': return d == '>' ? take(2, Tok::Arrow) : withEqual(Tok::Minus, Tok::MinusEqual);
  case '*': return doubled(Tok::Star, Tok::StarEqual, Tok::StarStar, Tok::StarStarEqual);
  case '/': return doubled(Tok::Slash, Tok::SlashEqual, Tok::SlashSlash, Tok::SlashSlashEqual);
  case '<': return doubled(Tok::Less, Tok::LessEqual, Tok::LShift, Tok::LShiftEqual);
  case '>': return doubled(Tok::Greater, Tok::GreaterEqual, Tok::RShift, Tok::RShiftEqual);
  case '%': return withEqual(Tok::Percent, Tok::PercentEqual);
  case '&': return withEqual(Tok::Ampersand, Tok::AmpersandEqual);
  case '|': return withEqual(Tok::Pipe, Tok::PipeEqual);
  case '^': return withEqual(Tok::Caret, Tok::CaretEqual);
  case '@': return withEqual(Tok::At, Tok::AtEqual);
  default: return invalidCharacter();
  }
}

Token Lexer::closeBracket(char closer) {
  const size_t begin = pos++;
  const char opener = closer == ')' ? '(' : closer == ']' ? '[' : '{';
  if (brackets.empty()) {
    report(Diag::UnmatchedBracket, begin, pos, closer);
    return error(begin);
  }
  const size_t floor = fstrings.empty() ? 0 : fstrings.back().fields.back() - 1; // the `{` of the innermost field
  size_t match = brackets.size() - 1;
  const bool matches = brackets[match].opener == opener;
  if (!matches) {
    const Bracket open = brackets.back();
    if (report(Diag::MismatchedBracket, begin, pos, closer, open.opener))
      diagnostics.report(Diag::OpenedHere, {&file, {open.offset, open.offset + 1}}, open.opener);
    for (unsigned n = 0; n < 8 && match > floor && brackets[match].opener != opener; ++n)
      --match;
    if (brackets[match].opener != opener)
      return error(begin);
  }
  brackets.resize(match);
  if (!fstrings.empty() && match == floor) {
    fstrings.back().fields.pop_back();
    fstrings.back().inText = true;
  }
  return make(!matches ? Tok::Error : closer == ')' ? Tok::RParen : closer == ']' ? Tok::RBracket : Tok::RBrace, begin);
}

} // namespace tk::lang
