// Decoding of numbers and strings.
#include "lang/syntax/Literals.h"
#include "lang/syntax/Utf8.h"
#include <charconv>
#include <limits>

namespace tk::lang {

/// Digits in a power-of-two base to decimal: limbs of nine decimal digits, least first. The caller has limited the length.
static std::string toDecimal(std::string_view digits, unsigned base) {
  std::vector<uint32_t> limbs;
  for (size_t i = 0; i < digits.size();) {
    uint64_t carry = 0, scale = 1;
    for (; i < digits.size() && scale < (uint64_t(1) << 28); ++i, scale *= base)
      carry = carry * base + digitValue(digits[i]);
    for (uint32_t &limb : limbs) {
      uint64_t value = limb * scale + carry;
      limb = static_cast<uint32_t>(value % 1'000'000'000);
      carry = value / 1'000'000'000;
    }
    for (; carry; carry /= 1'000'000'000)
      limbs.push_back(static_cast<uint32_t>(carry % 1'000'000'000));
  }
  if (limbs.empty())
    return "0";
  std::string out = std::to_string(limbs.back());
  for (size_t i = limbs.size() - 1; i-- > 0;)
    out += fmt::format("{:09}", limbs[i]);
  return out;
}

static bool decodeInteger(Place place, std::string_view digits, unsigned base, ast::Constant &constant, Diagnostics &diagnostics) {
  constant.type = ast::Constant::Int;
  size_t first = digits.find_first_not_of('0');
  digits = first == std::string_view::npos ? std::string_view("0") : digits.substr(first);
  // Four bits make more than 1.2 decimal digits, one bit at least 0.3: enough to refuse before converting.
  const double perDigit = base == 10 ? 1 : base == 16 ? 1.2041 : base == 8 ? 0.9030 : 0.3010;
  bool tooLong = static_cast<double>(digits.size() - 1) * perDigit > static_cast<double>(kMaxDecimalDigits);
  if (!tooLong) {
    constant.text = base == 10 ? std::string(digits) : toDecimal(digits, base);
    tooLong = constant.text.size() > kMaxDecimalDigits;
  }
  if (tooLong)
    diagnostics.report(Diag::NumberTooLong, place, kMaxDecimalDigits);
  return !tooLong;
}

/// A decimal text beyond double's range is infinity or zero: whichever its leading digit's place says.
static double outOfRange(std::string_view text) {
  const size_t exponentAt = std::min(text.find_first_of("eE"), text.size());
  long exponent = 0;
  if (exponentAt < text.size()) {
    const bool minus = text[exponentAt + 1] == '-';
    for (char c : text.substr(exponentAt + 1))
      if (c >= '0' && c <= '9')
        exponent = std::min(exponent * 10 + (c - '0'), 1'000'000'000L);
    exponent = minus ? -exponent : exponent;
  }
  const std::string_view mantissa = text.substr(0, exponentAt);
  const long point = static_cast<long>(std::min(mantissa.find('.'), mantissa.size()));
  const size_t leading = mantissa.find_first_not_of("0.");
  if (leading == std::string_view::npos)
    return 0;
  return point - static_cast<long>(leading) + exponent > 0 ? std::numeric_limits<double>::infinity() : 0;
}

bool decodeNumber(Place place, ast::Constant &constant, Diagnostics &diagnostics) {
  std::string text;
  for (char c : place.file->text(place.range))
    if (c != '_')
      text += c;
  if (text.size() > 2 && text[0] == '0') {
    const char kind = static_cast<char>(text[1] | 0x20);
    if (kind == 'x' || kind == 'o' || kind == 'b')
      return decodeInteger(place, std::string_view(text).substr(2), kind == 'x' ? 16 : kind == 'o' ? 8 : 2, constant, diagnostics);
  }
  if (text.find_first_of(".eEjJ") == std::string::npos)
    return decodeInteger(place, text, 10, constant, diagnostics);
  constant.type = ast::Constant::Float;
  if ((text.back() | 0x20) == 'j') {
    constant.type = ast::Constant::Imaginary;
    text.pop_back();
  }
  auto result = std::from_chars(text.data(), text.data() + text.size(), constant.number);
  if (result.ec == std::errc::result_out_of_range)
    constant.number = outOfRange(text);
  return true;
}

StringForm stringForm(std::string_view text) {
  StringForm form;
  for (; text[form.prefix] != '"' && text[form.prefix] != '\''; ++form.prefix) {
    form.raw |= (text[form.prefix] | 0x20) == 'r';
    form.bytes |= (text[form.prefix] | 0x20) == 'b';
  }
  const char quote = text[form.prefix];
  if (text.size() >= form.prefix + 3 && text[form.prefix + 1] == quote && text[form.prefix + 2] == quote)
    form.quotes = 3;
  return form;
}

namespace {
/// Decodes the text between the quotes.
class StringDecoder {
public:
  StringDecoder(const SourceFile &file, SourceRange range, std::string &out, Diagnostics &diagnostics)
      : file(file), begin(range.begin), text(file.text(range)), out(out), diagnostics(diagnostics) {}
  bool raw = false, bytes = false, braces = false;

  bool run() {
    bool good = true;
    while (i < text.size()) {
      const size_t plain = std::min(text.find_first_of(braces ? "\\\r{}" : "\\\r", i), text.size());
      good &= append(i, plain);
      i = plain;
      if (i == text.size())
        break;
      const char c = text[i];
      if (c == '\r') { // a line end is \n, whatever it is in the file
        out += '\n';
        i += i + 1 < text.size() && text[i + 1] == '\n' ? 2 : 1;
      } else if (c == '\\' && !raw && i + 1 < text.size()) {
        good &= escape();
      } else {
        out += c;
        i += c != '\\' && i + 1 < text.size() && text[i + 1] == c ? 2 : 1;
      }
    }
    return good;
  }

private:
  bool append(size_t from, size_t to) {
    out.append(text.substr(from, to - from));
    if (!bytes)
      return true;
    for (size_t k = from; k < to; ++k)
      if (static_cast<signed char>(text[k]) < 0)
        return fail(Diag::NonAsciiBytes, k, k + decodeUtf8(text, k).length);
    return true;
  }

  template <typename... Args> bool fail(Diag id, size_t from, size_t to, const Args &...args) {
    diagnostics.report(id, {&file, {begin + static_cast<uint32_t>(from), begin + static_cast<uint32_t>(to)}}, args...);
    return false;
  }

  bool escape() {
    const size_t start = i;
    const char c = text[i + 1];
    i += 2;
    static constexpr std::string_view kLetters = "\\'\"abfnrtv", kValues = "\\'\"\a\b\f\n\r\t\v";
    if (size_t k = kLetters.find(c); k != std::string_view::npos) {
      out += kValues[k];
      return true;
    }
    switch (c) {
    case '\n': return true;
    case '\r': i += i < text.size() && text[i] == '\n'; return true;
    case 'x': return hexadecimal(start, 2);
    case 'u':
    case 'U':
      if (!bytes)
        return hexadecimal(start, c == 'u' ? 4 : 8);
      break;
    }
    if (c >= '0' && c <= '7') {
      unsigned value = static_cast<unsigned>(c - '0');
      for (unsigned n = 0; n < 2 && i < text.size() && text[i] >= '0' && text[i] <= '7'; ++n, ++i)
        value = value * 8 + static_cast<unsigned>(text[i] - '0');
      put(value);
      return true;
    }
    // Unknown escapes, and names of characters (\N{...}), stay as they are written.
    const bool named = c == 'N' && !bytes && i < text.size() && text[i] == '{';
    const size_t close = named ? text.find('}', i) : std::string_view::npos;
    if (close != std::string_view::npos)
      i = close + 1;
    else
      --i; // what follows the backslash may be a brace or a character of several bytes
    out.append(text.substr(start, i - start));
    return true;
  }

  bool hexadecimal(size_t start, unsigned count) {
    char32_t value = 0;
    for (unsigned n = 0; n < count; ++n, ++i) {
      if (i >= text.size() || digitValue(text[i]) >= 16)
        return fail(Diag::MalformedEscape, start, i, text.substr(start, 2), count);
      value = value * 16 + digitValue(text[i]);
    }
    if (value > 0x10FFFF)
      return fail(Diag::EscapeTooLarge, start, i, text.substr(start, i - start));
    put(value);
    return true;
  }

  void put(char32_t value) {
    if (bytes)
      out += static_cast<char>(value);
    else
      appendUtf8(out, value);
  }

  const SourceFile &file;
  const uint32_t begin;
  const std::string_view text;
  std::string &out;
  Diagnostics &diagnostics;
  size_t i = 0;
};
} // namespace

bool decodeString(Place place, const StringForm &form, std::string &out, Diagnostics &diagnostics) {
  SourceRange inside = {place.range.begin + static_cast<uint32_t>(form.prefix + form.quotes), place.range.end - static_cast<uint32_t>(form.quotes)};
  StringDecoder decoder(*place.file, inside, out, diagnostics);
  decoder.raw = form.raw;
  decoder.bytes = form.bytes;
  return decoder.run();
}

bool decodeFStringText(Place place, bool raw, std::string &out, Diagnostics &diagnostics) {
  StringDecoder decoder(*place.file, place.range, out, diagnostics);
  decoder.raw = raw;
  decoder.braces = true;
  return decoder.run();
}

} // namespace tk::lang
