// Text to tree.
#pragma once
#include "lang/syntax/Ast.h"
#include "lang/syntax/Diagnostic.h"

namespace tk::lang {

/// Parses a whole file: all of Python 3.12's statements and expressions, since host code stands beside kernels. Errors are
/// reported and parsing goes on at the next statement, so that independent errors appear in one run; the tree holds what
/// was understood. Never recurses deeper than ast::kMaxNesting levels (reported as an error beyond).
ast::Module parse(std::shared_ptr<const SourceFile> file, Diagnostics &diagnostics);

/// Parses a text that is one expression, as on a command line; null after an error.
ast::ExprPtr parseExpression(const SourceFile &file, Diagnostics &diagnostics);

/// The tokens of a file as text, one a line (`--emit tokens`).
std::string printTokens(const SourceFile &file, Diagnostics &diagnostics);

/// Whether a function of a module is kernel code. In a .tk file: each one, unless a decorator says otherwise (`constexpr_function`, `host`, or one
/// that isn't known here on a function without `jit`). In a .py file: those with a decorator whose dotted name ends in `jit`.
bool isCompiled(const ast::Function &function, bool isPython);

/// Reports the constructs that no kernel may contain (FEATURES 2.1 and 2.2) in every function of the module that is compiled: in a .tk file
/// each `def` that is not host code, in a .py file those with a jit decorator.
void checkRestrictions(const ast::Module &module, Diagnostics &diagnostics);

} // namespace tk::lang
