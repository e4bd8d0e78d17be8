// See Coverage.h. A case covers the requirement whose id is the longest prefix of its own, at a dot.
#include "test/conformance/Coverage.h"
#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>

namespace tk::conformance {

namespace {
struct Requirement {
  std::string id, title;
};
const std::vector<Requirement> &requirements() {
  static const std::vector<Requirement> list = {
#define TK_REQUIREMENT(id, title) {id, title},
#include "test/conformance/Requirements.def"
#undef TK_REQUIREMENT
  };
  return list;
}

const Requirement *covered(const std::string &id) {
  const Requirement *best = nullptr;
  for (const Requirement &one : requirements())
    if ((id == one.id || id.starts_with(one.id + ".")) && (!best || one.id.size() > best->id.size()))
      best = &one;
  return best;
}

std::map<std::string, std::vector<std::string>> casesByRequirement(const Suite &suite) {
  std::map<std::string, std::vector<std::string>> result;
  for (const Case &one : suite.cases)
    if (const Requirement *requirement = covered(one.id))
      result[requirement->id].push_back(one.id);
  return result;
}

/// The ids without their requirement's, as many as a reader wants to see.
std::string listText(const std::string &requirement, const std::vector<std::string> &ids) {
  constexpr size_t shown = 12;
  std::string text;
  for (size_t i = 0; i < std::min(ids.size(), shown); ++i) {
    std::string rest = ids[i] == requirement ? "(itself)" : ids[i].substr(requirement.size() + 1);
    text += fmt::format("{}{}", text.empty() ? "" : ", ", rest);
  }
  return ids.size() > shown ? fmt::format("{}, and {} more", text, ids.size() - shown) : text;
}

void appendTable(std::string &text, const Suite &suite, bool faults) {
  auto cases = casesByRequirement(suite);
  text += "| id | what must hold | cases | their ids after it |\n| --- | --- | ---: | --- |\n";
  for (const Requirement &one : requirements())
    if (one.id.starts_with("A") == faults)
      text += fmt::format("| {} | {} | {} | {} |\n", one.id, one.title, cases[one.id].size(), listText(one.id, cases[one.id]));
}
} // namespace

std::string coverageText(const Suite &suite) {
  std::string text = "# What the conformance suite covers\n\nWritten by `tk-conformance --coverage`; the suite fails when this file differs from what it writes. "
                     "Each case runs in the interpreter and on the CPU target (one that expects an error message is only compiled).\n\n## Numeric rules\n\n";
  appendTable(text, suite, false);
  text += "\n## Known faults of compilers of this kind\n\n";
  appendTable(text, suite, true);
  text += fmt::format("\n{} cases.\n", suite.cases.size());
  return text;
}

std::vector<std::string> coverageProblems(const Suite &suite) {
  std::vector<std::string> problems;
  std::set<std::string> seen;
  for (const Case &one : suite.cases) {
    if (!covered(one.id))
      problems.push_back(fmt::format("case {} belongs to no requirement", one.id));
    if (!seen.insert(one.id).second)
      problems.push_back(fmt::format("case {} is there twice", one.id));
  }
  auto cases = casesByRequirement(suite);
  for (const Requirement &one : requirements())
    if (cases[one.id].empty())
      problems.push_back(fmt::format("requirement {} has no case", one.id));
  return problems;
}

} // namespace tk::conformance
