// Which requirement each case covers: COVERAGE.md, and what is wrong with the relation.
#pragma once
#include "test/conformance/Case.h"

namespace tk::conformance {

/// COVERAGE.md.
std::string coverageText(const Suite &suite);
/// Cases without a requirement, requirements without a case, and doubled ids: one line each.
std::vector<std::string> coverageProblems(const Suite &suite);

} // namespace tk::conformance
