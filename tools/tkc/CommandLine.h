// Flags of a verb as a table: parsing, near-miss suggestions and the help text come from it.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace tk::tool {

struct Flag {
  std::string name;  // "--target"
  std::string value; // what the help calls its value, empty for a switch; `[=json]`: may be left out, and is joined by `=` when it is there
  std::string help;
  std::function<void(const std::string &value)> apply;
};

struct Verb {
  std::string name, usage, summary, details; // usage without "tkc"; details: lines shown below the flags
  std::vector<Flag> flags;
};

/// Takes the flags out of `arguments` (`--flag value`, `--flag=value`), applies them in order and returns what is left. After `--` everything is left.
/// Throws Failure(Usage). `--help` sets `help` and stops.
std::vector<std::string> parseFlags(const Verb &verb, const std::vector<std::string> &arguments, bool &help);

std::string helpText(const Verb &verb);

/// A flag's value as a number in [least, most]. Throws Failure(Usage).
int64_t numberOf(const std::string &flag, const std::string &value, int64_t least, int64_t most);

} // namespace tk::tool
