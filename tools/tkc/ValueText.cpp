// See ValueText.h.
#include "tools/tkc/ValueText.h"
#include "lang/syntax/Diagnostic.h"
#include "tools/tkc/Failure.h"
#include <fmt/format.h>

namespace tk::tool {

bool splitArgument(const std::string &argument, std::string &name, std::string &value) {
  size_t equals = argument.find('=');
  if (equals == std::string::npos || equals == 0)
    return false;
  name = argument.substr(0, equals), value = argument.substr(equals + 1);
  return true;
}

namespace {
/// The last colon outside brackets and quotes, npos without one.
size_t lastColon(const std::string &text) {
  size_t found = std::string::npos;
  int depth = 0;
  char quote = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (quote) {
      if (c == '\\')
        ++i;
      else if (c == quote)
        quote = 0;
    } else if (c == '\'' || c == '"') {
      quote = c;
    } else if (c == '(' || c == '[' || c == '{') {
      ++depth;
    } else if (c == ')' || c == ']' || c == '}') {
      --depth;
    } else if (c == ':' && depth == 0) {
      found = i;
    }
  }
  return found;
}

[[noreturn]] void unknownType(const std::string &name, const std::string &spelled) {
  std::vector<std::string> names;
  for (unsigned i = 0; i <= static_cast<unsigned>(DType::F64); ++i)
    names.emplace_back(spelling(static_cast<DType>(i)));
  std::string near = lang::nearest(spelled, names);
  throw Failure(Status::Usage, fmt::format("argument `{}`: unknown dtype `{}`{}", name, spelled, near.empty() ? "" : fmt::format("; did you mean `{}`?", near)));
}
} // namespace

ValueText parseValueText(const std::string &name, const std::string &value) {
  ValueText result;
  result.text = value;
  if (value.empty())
    throw Failure(Status::Usage, fmt::format("argument `{}` has no value", name));
  DType type;
  if (value[0] == '@') {
    result.form = ValueText::File;
    result.text = value.substr(1);
    size_t colon = result.text.rfind(':');
    if (colon != std::string::npos && parseDType(std::string_view(result.text).substr(colon + 1), type))
      result.type = type, result.text.resize(colon);
    if (result.text.empty())
      throw Failure(Status::Usage, fmt::format("argument `{}`: `@` needs a file name", name));
    return result;
  }
  size_t colon = lastColon(value);
  if (colon == std::string::npos)
    return result;
  std::string suffix = value.substr(colon + 1);
  size_t bracket = suffix.find('[');
  std::string spelled = suffix.substr(0, bracket);
  while (!spelled.empty() && spelled.back() == ' ')
    spelled.pop_back();
  if (!parseDType(spelled, type)) {
    if (bracket != std::string::npos)
      unknownType(name, spelled);
    // `1:i46` is a misspelled type, `lambda x: x` is an expression.
    if (value.compare(0, 6, "lambda") != 0)
      unknownType(name, spelled);
    return result;
  }
  result.text = value.substr(0, colon);
  result.type = type;
  if (result.text.empty())
    throw Failure(Status::Usage, fmt::format("argument `{}`: expected a value before `:{}`", name, suffix));
  if (bracket == std::string::npos)
    return result;
  if (suffix.back() != ']')
    throw Failure(Status::Usage, fmt::format("argument `{}`: expected `]` at the end of `{}`", name, suffix));
  result.form = ValueText::Initialised;
  result.shape = suffix.substr(bracket);
  result.shapeColumn = colon + 1 + bracket;
  return result;
}

} // namespace tk::tool
