// Tokens of PTX: names (with %, $ and _), numbers, strings, and single characters. Comments and white space are skipped, lines counted.
#pragma once
#include "runtime/device/emulated/Ptx.h"

namespace tk::emulated {

struct Token {
  enum class Kind : uint8_t { End, Name, Integer, Float, String, Symbol } kind = Kind::End;
  std::string_view text;
  uint32_t line = 1;
  uint64_t integer = 0;
  double number = 0;
  bool single = false; // 0f...
  bool is(char c) const { return kind == Kind::Symbol && text[0] == c; }
  bool is(std::string_view name) const { return kind == Kind::Name && text == name; }
};

class PtxLexer {
public:
  explicit PtxLexer(std::string_view text) : text(text) { advance(); }
  const Token &peek() const { return token; }
  Token take() {
    Token result = token;
    advance();
    return result;
  }
  /// True when the next token follows the current one at once; a modifier `.x` of a special register is told from `. x` so.
  bool adjacent() const { return position < text.size() && std::string_view(" \t\r\n/").find(text[position]) == std::string_view::npos; }
  bool accept(char c) {
    if (!token.is(c))
      return false;
    advance();
    return true;
  }
  void expect(char c) {
    if (!accept(c))
      fail(std::string("expected `") + c + "`, found `" + std::string(token.text.empty() ? "end of text" : token.text) + "`");
  }
  std::string_view name() {
    if (token.kind != Token::Kind::Name)
      fail("expected a name, found `" + std::string(token.text) + "`");
    return take().text;
  }
  uint64_t integer() {
    if (token.kind != Token::Kind::Integer)
      fail("expected a number, found `" + std::string(token.text) + "`");
    return take().integer;
  }
  [[noreturn]] void fail(std::string message) const { throw PtxError(std::move(message), token.line); }
  /// The current token is a dot: the word behind it, which may begin with a digit and hold `::`.
  std::string_view word();
  /// Skips a `{ ... }` block as raw text (the DWARF sections).
  void skipBlock();

private:
  void advance();
  void lexNumber();

  std::string_view text;
  size_t position = 0;
  uint32_t line = 1;
  Token token;
};

} // namespace tk::emulated
