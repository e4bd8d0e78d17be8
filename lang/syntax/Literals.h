// What the text of a number or a string stands for.
#pragma once
#include "lang/syntax/Ast.h"
#include "lang/syntax/Diagnostic.h"

namespace tk::lang {

constexpr size_t kMaxDecimalDigits = 1250;

/// 0-9, a-z and A-Z as digits of up to base 36; 36 for anything else.
inline unsigned digitValue(char c) {
  if (c >= '0' && c <= '9')
    return static_cast<unsigned>(c - '0');
  c = static_cast<char>(c | 0x20);
  return c >= 'a' && c <= 'z' ? static_cast<unsigned>(c - 'a') + 10 : 36;
}

/// The value of a Number token, which is well formed. False after an error (too long), which is reported.
bool decodeNumber(Place place, ast::Constant &constant, Diagnostics &diagnostics);

/// The prefix and the quotes of a String or FStringStart token's text.
struct StringForm {
  bool raw = false, bytes = false;
  size_t prefix = 0; // letters before the quote
  size_t quotes = 1; // or 3
};
StringForm stringForm(std::string_view text);

/// Appends the decoded value of a String token. False after an error (a malformed escape), which is reported.
bool decodeString(Place place, const StringForm &form, std::string &out, Diagnostics &diagnostics);

/// Likewise for the literal text of an f-string, where `{{` and `}}` stand for the braces.
bool decodeFStringText(Place place, bool raw, std::string &out, Diagnostics &diagnostics);

} // namespace tk::lang
