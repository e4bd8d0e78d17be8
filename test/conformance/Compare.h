// Found against expected, and how a difference reads.
#pragma once
#include "test/conformance/Case.h"

namespace tk::conformance {

/// An element for people: "0x7e (448)", "-3".
std::string elementText(DType type, uint64_t bits);
/// What is wrong with the final contents of a buffer, or nothing.
std::string compare(const std::string &name, const Argument &argument, const Values &found, bool onGpu = false);

} // namespace tk::conformance
