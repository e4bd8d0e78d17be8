// What a function means, as a hash: over its own text and all of the file that it reaches. Code compiled from functions of equal closures is equal.
#pragma once
#include "lang/sema/ConstValue.h"
#include <memory>
#include <string>

namespace tk::lang {

/// A function reaches the module-level names in its body, defaults, annotations and those decorators that say how it is compiled (`jit`, not `grid`, `example`, `autotune` and
/// `heuristics`): functions with all that they reach in turn, constants by their values, or by their text where only host code knows the value, imports by what they bring.
/// Text is hashed token by token with each token's line within its function and its column: comments, and where in the file a function stands, change nothing.
/// The standard library is not in it. The hash is 32 hexadecimal digits.
///
/// One object serves any number of functions, and remembers the files that it has read. The scopes must outlive it.
class Closures {
public:
  Closures();
  ~Closures();
  std::string of(const ModuleScope &scope, const ast::Function &function);

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

} // namespace tk::lang
