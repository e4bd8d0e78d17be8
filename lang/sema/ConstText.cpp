// Compile-time values as text (Python's repr, str and format) and conversions of unbounded integers.
#include "lang/sema/ConstText.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

namespace tk::lang {

std::string toString(const BigInt &value) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << value;
  return text;
}

BigInt fromAPInt(const llvm::APInt &value) {
  if (value.getSignificantBits() <= 64)
    return BigInt(value.getSExtValue());
  return BigInt(value);
}

BigInt parseBigInt(const std::string &digits) {
  if (digits.empty())
    return BigInt(0);
  if (digits.size() <= 18)
    return BigInt(static_cast<int64_t>(std::strtoll(digits.c_str(), nullptr, 10)));
  unsigned bits = static_cast<unsigned>(digits.size()) * 4 + 2;
  return fromAPInt(llvm::APInt(bits, digits, 10));
}

static bool fitsInt64(const BigInt &value) { return value >= BigInt(std::numeric_limits<int64_t>::min()) && value <= BigInt(std::numeric_limits<int64_t>::max()); }

/// Wide enough for any value: signed two's complement.
static llvm::APInt wide(const BigInt &value) {
  if (fitsInt64(value))
    return llvm::APInt(64, static_cast<uint64_t>(static_cast<int64_t>(value)), /*isSigned=*/true);
  std::string text = toString(value);
  return llvm::APInt(static_cast<unsigned>(text.size()) * 4 + 2, text, 10);
}

unsigned bitLength(const BigInt &value) { return wide(value).abs().getActiveBits(); }

llvm::APInt toAPInt(const BigInt &value, unsigned bits) { return wide(value).sextOrTrunc(bits); }

double toDouble(const BigInt &value) {
  llvm::APFloat number(llvm::APFloat::IEEEdouble());
  number.convertFromAPInt(wide(value), /*IsSigned=*/true, llvm::APFloat::rmNearestTiesToEven);
  return number.convertToDouble();
}

BigInt truncateToBigInt(double value) {
  llvm::APFloat number(std::trunc(value));
  llvm::APSInt result(1100, /*isUnsigned=*/false);
  bool exact = true;
  number.convertToInteger(result, llvm::APFloat::rmTowardZero, &exact);
  return fromAPInt(result);
}

std::string floatText(double value) {
  if (std::isnan(value))
    return "nan";
  if (std::isinf(value))
    return value < 0 ? "-inf" : "inf";
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".en") == std::string::npos)
    text += ".0";
  return text;
}

std::string typeText(const TypeValue &type) {
  std::string text;
  for (unsigned i = 0; i < type.pointerDepth; ++i)
    text += '*';
  if (type.isConst && type.pointerDepth)
    text += 'k';
  return text + std::string(spelling(type.dtype));
}

static std::string quoted(const std::string &text) {
  char quote = text.find('\'') != std::string::npos && text.find('"') == std::string::npos ? '"' : '\'';
  std::string out(1, quote);
  for (char c : text) {
    if (c == quote || c == '\\')
      out += '\\', out += c;
    else if (c == '\n')
      out += "\\n";
    else if (c == '\t')
      out += "\\t";
    else if (c == '\r')
      out += "\\r";
    else if (static_cast<unsigned char>(c) < 0x20)
      out += fmt::format("\\x{:02x}", static_cast<unsigned>(c));
    else
      out += c;
  }
  return out + quote;
}

static std::string numbers(const std::vector<int64_t> &values) {
  std::string text = "[";
  for (size_t i = 0; i < values.size(); ++i)
    text += (i ? ", " : "") + std::to_string(values[i]);
  return text + "]";
}

std::string reprOf(const ConstValue &value, unsigned depth) {
  if (depth > 20)
    return "...";
  if (value.isNone())
    return "None";
  if (value.get<EllipsisValue>())
    return "Ellipsis";
  if (auto *b = value.get<bool>())
    return *b ? "True" : "False";
  if (auto *i = value.get<BigInt>())
    return toString(*i);
  if (auto *d = value.get<double>())
    return floatText(*d);
  if (auto *s = value.asString())
    return quoted(*s);
  if (auto *t = value.get<TypeValue>())
    return typeText(*t);
  if (auto *f = value.get<FunctionValue>())
    return f->function ? f->function->name : "<lambda>";
  if (auto *b = value.get<BuiltinValue>())
    return b->name;
  if (auto *t = value.asTuple()) {
    std::string text = t->isList ? "[" : "(";
    for (size_t i = 0; i < t->elements.size(); ++i)
      text += (i ? ", " : "") + (i < t->fields.size() ? t->fields[i] + "=" : std::string()) + reprOf(t->elements[i], depth + 1);
    if (t->elements.size() == 1 && !t->isList)
      text += ",";
    return text + (t->isList ? "]" : ")");
  }
  if (auto *d = value.asDict()) {
    std::string text = "{";
    for (size_t i = 0; i < d->size(); ++i)
      text += (i ? ", " : "") + reprOf((*d)[i].first, depth + 1) + ": " + reprOf((*d)[i].second, depth + 1);
    return text + "}";
  }
  if (auto *a = value.asArray())
    return fmt::format("{}{}", spelling(a->dtype), numbers(a->shape));
  if (auto *i = value.asInit())
    return i->hasShape ? fmt::format("{}:{}{}", i->kind, spelling(i->dtype), numbers(i->shape)) : i->kind;
  return "?";
}

std::string strOf(const ConstValue &value) {
  auto *s = value.asString();
  return s ? *s : value.repr();
}

namespace {
/// [[fill]align][sign][#][0][width][,][.precision][type]
struct Spec {
  std::string fill = " ";
  char align = 0, sign = '-', grouping = 0, type = 0;
  bool alternate = false;
  unsigned width = 0;
  int precision = -1;
};
} // namespace

static bool parseSpec(const std::string &text, Spec &spec) {
  size_t i = 0;
  auto isAlign = [](char c) { return c == '<' || c == '>' || c == '^' || c == '='; };
  if (text.size() >= 2 && isAlign(text[1]))
    spec.fill = text[0], spec.align = text[1], i = 2;
  else if (!text.empty() && isAlign(text[0]))
    spec.align = text[0], i = 1;
  if (i < text.size() && (text[i] == '+' || text[i] == '-' || text[i] == ' '))
    spec.sign = text[i++];
  if (i < text.size() && text[i] == '#')
    spec.alternate = true, ++i;
  if (i < text.size() && text[i] == '0') {
    if (!spec.align)
      spec.fill = "0", spec.align = '=';
    ++i;
  }
  for (; i < text.size() && llvm::isDigit(text[i]); ++i)
    if ((spec.width = spec.width * 10 + (text[i] - '0')) > 10000)
      return false;
  if (i < text.size() && (text[i] == ',' || text[i] == '_'))
    spec.grouping = text[i++];
  if (i < text.size() && text[i] == '.') {
    spec.precision = 0;
    size_t first = ++i;
    for (; i < text.size() && llvm::isDigit(text[i]); ++i)
      if ((spec.precision = spec.precision * 10 + (text[i] - '0')) > 1000)
        return false;
    if (i == first)
      return false;
  }
  if (i < text.size())
    spec.type = text[i++];
  return i == text.size();
}

static std::string grouped(std::string digits, char separator, unsigned every) {
  size_t end = std::min(digits.size(), digits.find_first_not_of("0123456789abcdefABCDEF"));
  for (size_t at = end; at > every; at -= every)
    digits.insert(at - every, 1, separator);
  return digits;
}

static std::string padded(const Spec &spec, const std::string &prefix, const std::string &body, char defaultAlign) {
  size_t length = prefix.size() + body.size();
  if (length >= spec.width)
    return prefix + body;
  size_t missing = spec.width - length;
  auto fill = [&](size_t n) {
    std::string text;
    while (n--)
      text += spec.fill;
    return text;
  };
  switch (spec.align ? spec.align : defaultAlign) {
  case '<': return prefix + body + fill(missing);
  case '^': return fill(missing / 2) + prefix + body + fill(missing - missing / 2);
  case '=': return prefix + fill(missing) + body;
  default: return fill(missing) + prefix + body;
  }
}

std::optional<std::string> formatValue(const ConstValue &value, const std::string &text, std::string &error) {
  if (text.empty())
    return strOf(value);
  Spec spec;
  auto bad = [&]() -> std::optional<std::string> {
    error = fmt::format("invalid format `{}` for {}", text, value.kindName());
    return std::nullopt;
  };
  if (!parseSpec(text, spec))
    return bad();
  bool isInt = value.get<BigInt>() || value.get<bool>();
  if (isInt && (spec.type == 0 || std::string("dbxXon").find(spec.type) != std::string::npos) && spec.precision < 0) {
    BigInt number = value.get<bool>() ? BigInt(*value.get<bool>()) : *value.get<BigInt>();
    if (value.get<bool>() && spec.type == 0)
      return padded(spec, "", value.repr(), '<');
    unsigned base = spec.type == 'b' ? 2 : spec.type == 'o' ? 8 : spec.type == 'x' || spec.type == 'X' ? 16 : 10;
    llvm::SmallString<64> digits;
    wide(number).abs().toString(digits, base, /*Signed=*/false, /*formatAsCLiteral=*/false, /*UpperCase=*/spec.type == 'X');
    std::string body(digits);
    if (spec.grouping)
      body = grouped(body, spec.grouping, base == 10 ? 3 : 4);
    std::string prefix = number < BigInt(0) ? "-" : spec.sign == '-' ? "" : std::string(1, spec.sign);
    if (spec.alternate && base != 10)
      prefix += std::string("0") + spec.type;
    return padded(spec, prefix, body, '>');
  }
  if (isInt || value.get<double>()) {
    double number = *value.asDouble();
    std::string body;
    double magnitude = std::fabs(number);
    int precision = spec.precision < 0 ? 6 : spec.precision;
    switch (spec.type) {
    case 'f': case 'F': body = fmt::format("{:.{}f}", magnitude, precision); break;
    case 'e': body = fmt::format("{:.{}e}", magnitude, precision); break;
    case 'E': body = fmt::format("{:.{}E}", magnitude, precision); break;
    case 'g': body = fmt::format("{:.{}g}", magnitude, precision); break;
    case '%': body = fmt::format("{:.{}f}%", magnitude * 100, precision); break;
    case 0: body = spec.precision < 0 ? floatText(magnitude) : fmt::format("{:.{}g}", magnitude, precision); break;
    default: return bad();
    }
    if (spec.grouping)
      body = grouped(body, spec.grouping, 3);
    return padded(spec, std::signbit(number) ? "-" : spec.sign == '-' ? "" : std::string(1, spec.sign), body, '>');
  }
  if (spec.type != 0 && spec.type != 's')
    return bad();
  std::string body = strOf(value);
  if (spec.precision >= 0)
    body = body.substr(0, static_cast<size_t>(spec.precision));
  return padded(spec, "", body, '<');
}

} // namespace tk::lang
