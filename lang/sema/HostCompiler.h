// The machinery behind HostPrograms.h: expressions (HostPrograms.cpp) and calls, whose functions are inlined (HostProgramCalls.cpp).
#pragma once
#include "lang/sema/ConstValue.h"
#include "runtime/program/Program.h"
#include <map>
#include <optional>

namespace tk::lang {

/// What a name stands for while a function is inlined.
struct Local {
  bool isArguments = false; // all the arguments by name: `meta` of a grid's lambda
  unsigned slot = 0;        // else where the value is, from the bottom of the stack
};

struct Frame {
  const ModuleScope *scope = nullptr;
  bool seesParameters = false; // the kernel's parameters are names here, as in a decorator and its lambdas
  unsigned depth = 0;
  std::map<std::string, Local> locals = {};
};

using Statements = std::vector<const ast::Stmt *>;

class HostCompiler {
public:
  HostCompiler(const ModuleScope &scope, const ast::Function &kernel) : scope(scope), kernel(kernel) {}

  /// Compiles the results of an expression, or of the function that it is; all of them, or the one that `select` says.
  std::optional<std::string> compile(const ast::Expr &expr, bool single, int select);
  std::optional<std::string> compile(const FunctionValue &function);
  unsigned count = 0; // of results

private:
  bool expr(const ast::Expr &node, Frame &frame);
  bool structural(const ast::Expr &node, Frame &frame);
  bool name(const ast::Name &node, Frame &frame);
  bool binary(ast::BinaryOp which, const ast::Expr &lhs, const ast::Expr &rhs, Frame &frame);
  bool boolean(const ast::Bool &node, Frame &frame);
  bool compare(const ast::Compare &node, Frame &frame);
  bool oneOf(const ast::Compare &node, Frame &frame);
  bool conditional(const ast::Conditional &node, Frame &frame);
  bool call(const ast::Call &node, Frame &frame);
  bool builtin(const std::string &name, const ast::Call &node, Frame &frame);
  bool argumentOf(const ast::Subscript &node, Frame &frame);
  bool inlined(const FunctionValue &function, const ast::Call *node, Frame &frame, unsigned &results);
  bool bind(const std::vector<ast::Parameter> &params, const ast::Call *node, Frame &caller, Frame &inner);
  bool block(Statements statements, Frame &frame, unsigned base, unsigned &results, std::vector<size_t> &ends);
  bool assign(const ast::Expr &target, const ast::Expr &value, Frame &frame);
  bool results(const ast::Expr &node, Frame &frame, unsigned &results);

  bool isLocal(const std::string &name, const Frame &frame) const { return frame.locals.count(name) || (frame.seesParameters && parameter(name) >= 0); }
  bool isClosed(const ast::Expr &node, const Frame &frame) const;
  std::optional<ConstValue> evaluate(const ast::Expr &node, const Frame &frame);
  std::optional<FunctionValue> functionOf(const ast::Expr &node, const Frame &frame);
  bool isArguments(const ast::Expr &node, const Frame &frame) const;
  bool constant(const ConstValue &value);
  int parameter(const std::string &name) const;

  // ---- code ----
  void byte(unsigned value) { code += static_cast<char>(value); }
  void half(size_t value) { byte(value & 255), byte(value >> 8 & 255); }
  bool op(TkProgramOp op, int change) {
    byte(op);
    depth += static_cast<unsigned>(change);
    return depth <= TK_PROGRAM_STACK && code.size() + 16 <= TK_PROGRAM_CODE;
  }
  bool word(TkProgramOp op, uint64_t bits) {
    bool ok = this->op(op, 1);
    for (unsigned i = 0; i < 64; i += 8)
      byte(bits >> i & 255);
    return ok;
  }
  /// A jump whose target comes later.
  size_t jump(TkProgramOp op, int change) {
    this->op(op, change);
    half(0);
    return code.size() - 2;
  }
  void land(size_t jump) { code[jump] = static_cast<char>(code.size() & 255), code[jump + 1] = static_cast<char>(code.size() >> 8); }
  /// Removes what lies between `base` and the `kept` topmost values.
  bool slide(unsigned base, unsigned kept) {
    unsigned removed = depth - base - kept;
    if (removed == 0)
      return true;
    bool ok = op(TkOpSlide, -static_cast<int>(removed));
    byte(removed), byte(kept);
    return ok;
  }
  std::optional<std::string> finished();
  unsigned pushed(unsigned results) const { return select >= 0 || results == 0 ? 1 : results; }

  const ModuleScope &scope;
  const ast::Function &kernel;
  std::string code = std::string(1, TK_PROGRAM_VERSION);
  unsigned depth = 0;
  int select = -1;
  bool hopeless = false; // something could not even be evaluated
};

} // namespace tk::lang
