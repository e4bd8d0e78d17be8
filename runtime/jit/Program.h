// A kernel file that has been parsed and checked, and the choice of a kernel in it.
#pragma once
#include "lang/sema/ConstValue.h"
#include <memory>
#include <string>

namespace tk::jit {

class Program {
public:
  /// A path ending in `.py` is Python: names need their imports. Throws Error(User) with the rendered diagnostics, or when the file can't be read.
  static std::unique_ptr<Program> fromFile(const std::string &path);
  static std::unique_ptr<Program> fromText(const std::string &text, const std::string &name);

  const lang::ModuleScope &scope() const { return *moduleScope; }
  /// Warnings and notes of parsing, rendered; mostly empty.
  const std::string &remarks() const { return remarkText; }
  /// The kernel of this name, or for an empty name the only one. Throws Error(User) that lists what there is.
  const lang::ast::Function &kernel(const std::string &name) const;

private:
  static std::unique_ptr<Program> parse(std::shared_ptr<const lang::SourceFile> file);
  std::unique_ptr<lang::ModuleScope> moduleScope;
  std::string remarkText;
};

} // namespace tk::jit
