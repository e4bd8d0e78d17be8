#include "runtime/device/emulated/PtxLexer.h"
#include <bit>
#include <cstdlib>

namespace tk::emulated {

static bool isNameStart(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || c == '%'; }
static bool isDigit(char c) { return c >= '0' && c <= '9'; }
static bool isHex(char c) { return isDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

void PtxLexer::advance() {
  // White space and comments.
  while (position < text.size()) {
    char c = text[position];
    if (c == '\n') {
      ++line;
      ++position;
    } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\0') {
      ++position;
    } else if (text.compare(position, 2, "//") == 0) {
      position = std::min(text.find('\n', position), text.size());
    } else if (text.compare(position, 2, "/*") == 0) {
      size_t end = text.find("*/", position + 2);
      if (end == std::string_view::npos)
        throw PtxError("a comment does not end", line);
      for (; position < end + 2; ++position)
        line += text[position] == '\n';
    } else {
      break;
    }
  }
  token = Token{};
  token.line = line;
  if (position >= text.size())
    return;
  size_t start = position;
  char c = text[position];
  if (isNameStart(c)) {
    token.kind = Token::Kind::Name;
    while (position < text.size() && (isNameStart(text[position]) || isDigit(text[position])))
      ++position;
  } else if (isDigit(c)) {
    lexNumber();
  } else if (c == '"') {
    token.kind = Token::Kind::String;
    ++position;
    while (position < text.size() && text[position] != '"' && text[position] != '\n')
      position += text[position] == '\\' ? 2 : 1;
    if (position >= text.size() || text[position] != '"')
      throw PtxError("a string does not end", line);
    token.text = text.substr(start + 1, position - start - 1);
    ++position;
    return;
  } else {
    token.kind = Token::Kind::Symbol;
    ++position;
  }
  token.text = text.substr(start, position - start);
}

void PtxLexer::lexNumber() {
  // Section 4.5.1 and 4.5.2: 0x, 0b and octal integers with an optional U; 0f and 0d are the bits of a float; else decimal.
  size_t start = position;
  char kind = position + 1 < text.size() && text[position] == '0' ? text[position + 1] : '\0';
  token.kind = Token::Kind::Integer;
  auto digitsFrom = [&](size_t from, int base) {
    uint64_t value = 0;
    position = from;
    while (position < text.size() && (base == 16 ? isHex(text[position]) : isDigit(text[position]))) {
      char c = text[position++];
      int digit = isDigit(c) ? c - '0' : (c | 32) - 'a' + 10;
      if (digit >= base)
        throw PtxError("a digit that its base does not have", line);
      value = value * base + digit;
    }
    return value;
  };
  if (kind == 'f' || kind == 'F' || kind == 'd' || kind == 'D') {
    uint64_t bits = digitsFrom(start + 2, 16);
    size_t digits = position - start - 2;
    token.kind = Token::Kind::Float;
    token.single = kind == 'f' || kind == 'F';
    if (digits != (token.single ? 8u : 16u))
      throw PtxError("a float of the wrong number of digits", line);
    token.integer = bits;
    token.number = token.single ? double(std::bit_cast<float>(uint32_t(bits))) : std::bit_cast<double>(bits);
    return;
  }
  if (kind == 'x' || kind == 'X') {
    token.integer = digitsFrom(start + 2, 16);
  } else if (kind == 'b' || kind == 'B') {
    token.integer = digitsFrom(start + 2, 2);
  } else {
    while (position < text.size() && isDigit(text[position]))
      ++position;
    bool isReal = position + 1 < text.size() && text[position] == '.' && isDigit(text[position + 1]);
    if (isReal || (position < text.size() && (text[position] == 'e' || text[position] == 'E'))) {
      std::string copy(text.substr(start, 64));
      char *end = nullptr;
      token.number = std::strtod(copy.c_str(), &end);
      token.kind = Token::Kind::Float;
      token.integer = std::bit_cast<uint64_t>(token.number);
      position = start + (end - copy.c_str());
      return;
    }
    token.integer = digitsFrom(start, kind >= '0' && kind <= '7' ? 8 : 10);
  }
  if (position < text.size() && (text[position] == 'U' || text[position] == 'u'))
    ++position;
}

std::string_view PtxLexer::word() {
  if (!token.is('.'))
    fail("expected `.`, found `" + std::string(token.text) + "`");
  size_t start = position;
  while (position < text.size() && (isNameStart(text[position]) || isDigit(text[position]) || text[position] == ':'))
    ++position;
  std::string_view result = text.substr(start, position - start);
  if (result.empty())
    fail("a dot without a word");
  advance();
  return result;
}

void PtxLexer::skipBlock() {
  if (!token.is('{'))
    fail("expected `{`");
  int depth = 1;
  bool quoted = false;
  for (; position < text.size() && depth; ++position) {
    char c = text[position];
    line += c == '\n';
    if (c == '"')
      quoted = !quoted;
    else if (!quoted && c == '{')
      ++depth;
    else if (!quoted && c == '}')
      --depth;
  }
  advance();
}

} // namespace tk::emulated
