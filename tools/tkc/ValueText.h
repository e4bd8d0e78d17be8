// NAME=VALUE on the command line, taken apart as text. What the parts mean is ArgumentResolver's business.
#pragma once
#include "tk/dtype.h"
#include <optional>
#include <string>

namespace tk::tool {

struct ValueText {
  enum Form {
    Expression, // EXPR or EXPR:dtype
    File,       // @file.npy or @file.npy:dtype
    Initialised // INIT:dtype[shape]
  } form = Expression;
  std::string text;           // EXPR, the file's path, or INIT
  std::optional<DType> type;
  std::string shape;          // Initialised: with its brackets
  size_t shapeColumn = 0;     // where it stood in the value
};

/// Splits `x=1` at the first `=`. False without one or with an empty name.
bool splitArgument(const std::string &argument, std::string &name, std::string &value);

/// Throws Failure(Usage) for an empty value, an unknown dtype before a shape, or unbalanced brackets in one.
ValueText parseValueText(const std::string &name, const std::string &value);

} // namespace tk::tool
