// See CommandLine.h.
#include "tools/tkc/CommandLine.h"
#include "lang/syntax/Diagnostic.h"
#include "tools/tkc/Failure.h"
#include <algorithm>
#include <charconv>
#include <fmt/format.h>

namespace tk::tool {

std::vector<std::string> parseFlags(const Verb &verb, const std::vector<std::string> &arguments, bool &help) {
  std::vector<std::string> left;
  help = false;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string &argument = arguments[i];
    if (argument == "--") {
      left.insert(left.end(), arguments.begin() + static_cast<ptrdiff_t>(i) + 1, arguments.end());
      break;
    }
    if (argument.size() < 2 || argument[0] != '-') {
      left.push_back(argument);
      continue;
    }
    if (argument == "--help" || argument == "-h") {
      help = true;
      return left;
    }
    size_t equals = argument.starts_with("--") ? argument.find('=') : std::string::npos;
    std::string name = argument.substr(0, equals);
    auto flag = std::find_if(verb.flags.begin(), verb.flags.end(), [&](const Flag &candidate) { return candidate.name == name; });
    if (flag == verb.flags.end()) {
      std::vector<std::string> names;
      for (const Flag &candidate : verb.flags)
        names.push_back(candidate.name);
      std::string near = lang::nearest(name, names);
      throw Failure(Status::Usage,
                    fmt::format("unknown option `{}`{}", name,
                                near.empty() ? fmt::format("; `tkc {} --help` lists the options", verb.name) : fmt::format("; did you mean `{}`?", near)));
    }
    if (flag->value.starts_with("[=")) {
      flag->apply(equals == std::string::npos ? "" : argument.substr(equals + 1));
    } else if (flag->value.empty()) {
      if (equals != std::string::npos)
        throw Failure(Status::Usage, fmt::format("option `{}` takes no value", name));
      flag->apply("");
    } else if (equals != std::string::npos) {
      flag->apply(argument.substr(equals + 1));
    } else {
      if (++i == arguments.size())
        throw Failure(Status::Usage, fmt::format("option `{}` needs a value: `{} {}`", name, name, flag->value));
      flag->apply(arguments[i]);
    }
  }
  return left;
}

std::string helpText(const Verb &verb) {
  std::string text = fmt::format("tkc {}: {}\n\nusage: tkc {}\n\noptions:\n", verb.name, verb.summary, verb.usage);
  size_t width = 0;
  auto title = [](const Flag &flag) { return flag.value.empty() || flag.value.starts_with("[=") ? flag.name + flag.value : flag.name + " " + flag.value; };
  for (const Flag &flag : verb.flags)
    width = std::max(width, title(flag).size());
  for (const Flag &flag : verb.flags)
    text += fmt::format("  {:<{}}  {}\n", title(flag), width, flag.help);
  text += fmt::format("  {:<{}}  {}\n", "--help", width, "this text");
  return verb.details.empty() ? text : text + "\n" + verb.details;
}

int64_t numberOf(const std::string &flag, const std::string &value, int64_t least, int64_t most) {
  int64_t number = 0;
  auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc() || end != value.data() + value.size() || number < least || number > most)
    throw Failure(Status::Usage, fmt::format("option `{}` needs a number from {} to {}, found `{}`", flag, least, most, value));
  return number;
}

} // namespace tk::tool
