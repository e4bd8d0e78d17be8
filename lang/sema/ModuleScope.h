// Facts about a module's names that only this folder needs (ModuleScope itself is in ConstValue.h).
#pragma once
#include "lang/sema/ConstValue.h"

namespace tk::lang {

/// Whether a module-level name is a plain constant (`N = 4`), neither `tl.constexpr(4)` nor annotated as constexpr.
bool isPlainConstant(const ModuleScope &scope, const std::string &name);
/// Where a module-level name is defined; empty when it isn't.
SourceRange definitionRange(const ModuleScope &scope, const std::string &name);

/// What a module-level name is bound by in this file.
struct Definition {
  const ast::Function *function = nullptr;
  const ast::Class *classNode = nullptr;
  const ast::Expr *value = nullptr; // of a constant
};
/// Empty for imports and for names that are not defined.
Definition definitionOf(const ModuleScope &scope, const std::string &name);

/// The last component of a decorator's name: "jit" for `@triton.jit(noinline=True)`.
std::string decoratorName(const ast::Expr &decorator);
bool hasDecorator(const ast::Function &function, const std::string &name);
/// Whether it stands below `@triton.jit(NAME=True)`.
bool hasJitFlag(const ast::Function &function, const std::string &name);

} // namespace tk::lang
