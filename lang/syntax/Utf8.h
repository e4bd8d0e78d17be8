// Reading UTF-8 one code point at a time, safe on any bytes.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace tk::lang {

struct Utf8Char {
  char32_t value = 0;
  uint8_t length = 1; // bytes taken; 1 for an invalid byte
  bool valid = false;
};

/// The code point at `i` (which must be inside). Overlong forms, surrogates and values past U+10FFFF are invalid.
inline Utf8Char decodeUtf8(std::string_view text, size_t i) {
  auto byte = [&](size_t at) { return static_cast<unsigned char>(text[at]); };
  const unsigned char lead = byte(i);
  if (lead < 0x80)
    return {lead, 1, true};
  const unsigned length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || i + length > text.size())
    return {};
  char32_t value = lead & (0x7F >> length);
  for (unsigned k = 1; k < length; ++k) {
    if ((byte(i + k) & 0xC0) != 0x80)
      return {};
    value = value << 6 | (byte(i + k) & 0x3F);
  }
  static constexpr char32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  if (value < kLeast[length] || value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF))
    return {};
  return {value, static_cast<uint8_t>(length), true};
}

/// The start of the code point (or invalid byte) that ends before `i`, which is greater than 0.
inline size_t previousUtf8(std::string_view text, size_t i) {
  size_t start = i - 1;
  for (unsigned n = 0; n < 3 && start > 0 && (static_cast<unsigned char>(text[start]) & 0xC0) == 0x80; ++n)
    --start;
  return start + decodeUtf8(text, start).length == i ? start : i - 1;
}

/// Appends `value`, which must be at most U+10FFFF. A surrogate becomes U+FFFD, which keeps the text valid.
inline void appendUtf8(std::string &out, char32_t value) {
  if (value >= 0xD800 && value <= 0xDFFF)
    value = 0xFFFD;
  if (value < 0x80) {
    out += static_cast<char>(value);
  } else if (value < 0x800) {
    out += static_cast<char>(0xC0 | value >> 6);
    out += static_cast<char>(0x80 | (value & 0x3F));
  } else {
    if (value < 0x10000) {
      out += static_cast<char>(0xE0 | value >> 12);
    } else {
      out += static_cast<char>(0xF0 | value >> 18);
      out += static_cast<char>(0x80 | (value >> 12 & 0x3F));
    }
    out += static_cast<char>(0x80 | (value >> 6 & 0x3F));
    out += static_cast<char>(0x80 | (value & 0x3F));
  }
}

/// Marks, embeddings and isolates that reorder the text around them, and the separators of lines and paragraphs.
inline bool changesDirection(char32_t c) { return c == 0x200E || c == 0x200F || c == 0x061C || (c >= 0x2028 && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069); }

/// Whether a character outside ASCII can be in a name: all but those that look like spaces, quotes or operators.
inline bool canBeInName(char32_t c) {
  bool never = (c >= 0x80 && c <= 0xA9) || (c >= 0xAB && c <= 0xB4) || c == 0xB6 || c == 0xB8 || (c >= 0xBB && c <= 0xBF) || c == 0xD7 || c == 0xF7 ||
               (c >= 0x2000 && c <= 0x203E) || (c >= 0x2041 && c <= 0x2053) || (c >= 0x2055 && c <= 0x2070) || (c >= 0x20A0 && c <= 0x20CF) ||
               (c >= 0x2190 && c <= 0x2BFF) || (c >= 0x3000 && c <= 0x3004) || (c >= 0x3008 && c <= 0x3020) || c == 0xFEFF || (c >= 0xFF01 && c <= 0xFF0F);
  return !never;
}

/// Columns on a terminal: 2 for the wide scripts and emoji, 0 for combining marks, else 1.
inline unsigned displayWidth(char32_t c) {
  if ((c >= 0x300 && c <= 0x36F) || (c >= 0x200B && c <= 0x200D) || (c >= 0x20D0 && c <= 0x20FF) || (c >= 0xFE00 && c <= 0xFE0F) || c == 0xFEFF)
    return 0;
  bool wide = (c >= 0x1100 && c <= 0x115F) || (c >= 0x2E80 && c <= 0x303E) || (c >= 0x3041 && c <= 0xA4CF) || (c >= 0xAC00 && c <= 0xD7A3) ||
              (c >= 0xF900 && c <= 0xFAFF) || (c >= 0xFE30 && c <= 0xFE6F) || (c >= 0xFF00 && c <= 0xFF60) || (c >= 0xFFE0 && c <= 0xFFE6) ||
              (c >= 0x1F300 && c <= 0x1F64F) || (c >= 0x1F900 && c <= 0x1F9FF) || (c >= 0x20000 && c <= 0x3FFFD);
  return wide ? 2 : 1;
}

} // namespace tk::lang
