// Arguments as the file of results writes them.
#pragma once
#include "tk/argument.h"
#include <string>

namespace tk::runtime {

/// "512", "0.5", "true", "fp16", "none", the text of a string, "*fp32", "(1, 2)".
std::string valueText(const Argument *argument);
/// "*fp32", "i32", "i64", "(*fp32, i32)"; empty for what has no type of an element: none, types, strings, functions.
std::string typeText(const Argument *argument);

} // namespace tk::runtime
