// Whether the harness itself sees what it should: cases with wrong expectations, each of which must fail in every execution.
#pragma once
#include "test/conformance/Worker.h"

namespace tk::conformance {

/// One line for each wrong expectation that passed.
std::vector<std::string> selfTestProblems();

} // namespace tk::conformance
