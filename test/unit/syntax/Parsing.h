// A text, parsed: the tree, the messages, and both as text. What every test here starts from.
#pragma once
#include "Catch.h"
#include "lang/syntax/Parser.h"

namespace tk::lang {

struct Parsed {
  std::shared_ptr<SourceFile> file;
  Diagnostics diagnostics;
  ast::Module module;

  explicit Parsed(std::string text, std::string name = "a.tk", unsigned limit = 20)
      : file(std::make_shared<SourceFile>(std::move(name), std::move(text))), diagnostics(limit) {
    module = parse(file, diagnostics);
  }
  std::string tree() const { return print(module); }
  /// "line:column Name" of each message, one a line.
  std::string summary() const {
    std::string out;
    for (const Message &message : diagnostics.messages()) {
      const LineColumn at = file->position(message.place.range.begin);
      out += fmt::format("{}:{} {}\n", at.line, at.column, diagName(message.id));
    }
    return out;
  }
};

/// The tree of an expression as text, or the messages.
inline std::string parsedExpression(const std::string &text) {
  SourceFile file("expression", text);
  Diagnostics diagnostics;
  const ast::ExprPtr expr = parseExpression(file, diagnostics);
  return expr ? print(*expr) : diagnostics.render();
}

} // namespace tk::lang
