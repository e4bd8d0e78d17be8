// The machine behind HostEvaluator: runs Python expressions and statements over compile-time values. Cut into expressions (HostEvaluator.cpp), statements (HostStatements.cpp)
// and those functions and methods that call back or change a variable (HostLibrary.cpp).
#pragma once
#include "lang/sema/ConstOperations.h"
#include "lang/sema/ConstValue.h"
#include "llvm/Support/ProgramStack.h"

namespace tk::lang {

using HostLocals = std::function<std::optional<ConstValue>(const std::string &)>;

/// State shared by all frames of one evaluation.
struct HostState {
  Diagnostics &diagnostics;
  uint64_t &steps;
  unsigned depth = 0;
  uintptr_t stackBase = llvm::getStackPointer();
  bool stepsReported = false;
};

/// Functions of Python's that only host code may call: `sorted`, `any`, `itertools.product` ...
bool isHostLibrary(const std::string &name);
/// The canonical name of one that no import is needed for; empty when there is none.
std::string hostLibraryName(const std::string &name);
void setItem(ConstValue::Dict &dict, const ConstValue &key, const ConstValue &value);

/// One function's frame.
class HostRun {
public:
  HostRun(HostState &state, const ModuleScope *scope, const SourceFile &file, HostLocals outer) : state(state), scope(scope), file(file), outer(std::move(outer)) {}
  using Result = std::optional<ConstValue>;
  enum class Flow { Next, Break, Continue, Return, Error };

  Result expr(const ast::Expr &node);
  Result callFunction(const FunctionValue &function, const ConstCall &call, Place place);
  Result callValue(const ConstValue &callee, const ConstCall &call, Place place);
  Flow statement(const ast::Stmt &node);
  std::map<std::string, ConstValue> variables;

private:
  Result name(const ast::Name &node);
  Result constant(const ast::Constant &node);
  Result format(const ast::FString &node);
  Result elements(const std::vector<ast::ExprPtr> &list, bool isList);
  Result dict(const ast::Dict &node);
  Result comprehension(const ast::Comprehension &node);
  bool comprehend(const ast::Comprehension &node, size_t clause, std::vector<ConstValue> &out, ConstValue::Dict &dictOut);
  Result boolean(const ast::Bool &node);
  Result compare(const ast::Compare &node);
  Result call(const ast::Call &node);
  bool arguments(const ast::Call &node, ConstCall &call);
  Result subscript(const ast::Subscript &node);
  Result decorated(const FunctionValue &function, const ConstCall &call, Place place);
  bool bind(const std::vector<ast::Parameter> &params, const std::string &name, const ConstCall &call, Place place, HostRun &frame);

  Flow block(const ast::Block &statements);
  FunctionValue madeHere(const ast::Function *function, const ast::Lambda *lambda) const;
  Flow loop(const ast::For &node);
  Flow loop(const ast::While &node);
  bool assign(const ast::Expr &target, const ConstValue &value);
  // HostLibrary.cpp
  Result library(const std::string &name, const ConstCall &call, Place place);
  Result sorted(const ConstCall &call, Place place);
  std::optional<std::vector<ConstValue>> sortedElements(std::vector<ConstValue> elements, const ConstCall &call, Place place);
  Result mutate(const ast::Call &node, bool &handled);
  Result mutateList(std::vector<ConstValue> elements, const std::string &method, const ConstCall &call, const ast::Call &node, ConstValue &returned);
  Result mutateDict(ConstValue::Dict dict, const std::string &method, const ConstCall &call, const ast::Call &node, ConstValue &returned);
  Result fail(Place place, const std::string &text);

  /// Counts a step; false (reported once) when there are none left or the recursion is too deep.
  bool step(SourceRange range);
  Result fail(SourceRange range, const std::string &text);
  Place at(SourceRange range) const { return {&file, range}; }

  HostState &state;
  const ModuleScope *scope;
  const SourceFile &file;
  HostLocals outer;
  ConstValue returned;
};

} // namespace tk::lang
