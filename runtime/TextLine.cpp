// See TextLine.h.
#include "runtime/TextLine.h"
#include <algorithm>
#include <fmt/format.h>

namespace tk::runtime {

std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\')
      result += '\\', result += c;
    else if (c == '\n')
      result += "\\n";
    else if (static_cast<unsigned char>(c) < 32)
      result += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    else
      result += c;
  }
  return result + '"';
}

std::string_view TextLine::word() {
  size_t end = std::min(rest.find(' '), rest.size());
  std::string_view result = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  good &= !result.empty();
  return result;
}

void TextLine::hex(uint64_t &value) {
  std::string_view text = word();
  auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  good &= code == std::errc() && end == text.data() + text.size();
}

bool TextLine::choice(std::string_view first, std::string_view second) {
  std::string_view found = word();
  good &= found == first || found == second;
  return found == first;
}

void TextLine::dtype(DType &value) {
  std::string_view found = word();
  good &= parseDType(found, value) && spelling(value) == found;
}

void TextLine::parameter(unsigned &number, std::vector<unsigned> &path) {
  std::string_view text = word();
  for (bool first = true; good; first = false) {
    size_t dot = std::min(text.find('.'), text.size());
    unsigned step = 0;
    readNumber(text.substr(0, dot), step);
    if (first)
      number = step;
    else
      path.push_back(step);
    if (dot == text.size())
      return;
    text.remove_prefix(dot + 1);
  }
}

void TextLine::string(std::string &value) {
  value.clear();
  good &= rest.starts_with('"');
  for (size_t i = 1; good && i < rest.size(); ++i) {
    char c = rest[i];
    if (c == '"') {
      rest.remove_prefix(i + 1);
      good &= rest.empty() || rest[0] == ' ';
      rest.remove_prefix(std::min<size_t>(1, rest.size()));
      return;
    }
    if (c != '\\') {
      value += c;
      continue;
    }
    char escaped = ++i < rest.size() ? rest[i] : '\0';
    unsigned code = 0;
    if (escaped == '"' || escaped == '\\')
      value += escaped;
    else if (escaped == 'n')
      value += '\n';
    else if (escaped == 'x' && i + 2 < rest.size() && std::from_chars(&rest[i + 1], &rest[i + 1] + 2, code, 16).ptr == &rest[i + 1] + 2)
      value += static_cast<char>(code), i += 2;
    else
      good = false;
  }
  good = false; // no closing quote
}

} // namespace tk::runtime
