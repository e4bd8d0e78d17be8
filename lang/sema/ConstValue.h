// Compile-time values: what a constexpr, a literal, a decorator's argument or a `tkc run` argument evaluates to.
//
// Integers are unbounded and arithmetic is Python's (floor division, sign of % from the divisor, / gives a float). Values
// are immutable and cheap to copy (strings, tuples and dicts are shared). Not thread-safe to modify, safe to share.
#pragma once
#include "lang/syntax/Ast.h"
#include "lang/syntax/Diagnostic.h"
#include "tk/dtype.h"
#include "llvm/ADT/DynamicAPInt.h"
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace tk::lang {

class ModuleScope;
class ConstValue;
struct ConstCall;

using BigInt = llvm::DynamicAPInt;

struct NoneValue {};
struct EllipsisValue {};

/// A type as a value: a dtype, or a pointer to one (`tl.pointer_type(tl.float32)`, `ptr[fp32]`, "*fp32").
struct TypeValue {
  DType dtype = DType::F32;
  unsigned pointerDepth = 0; // 1: pointer to dtype, 2: pointer to pointer ...
  bool isConst = false;
  bool operator==(const TypeValue &) const = default;
};

/// A function of a module, or a lambda.
struct FunctionValue {
  const ModuleScope *scope = nullptr;
  const ast::Function *function = nullptr;
  const ast::Lambda *lambda = nullptr;
  std::shared_ptr<const std::map<std::string, ConstValue>> captured = nullptr; // of one made while a function ran: that function's variables, as they were then
};

/// A name of the language itself (`tl.load`, `triton.cdiv`, `math.log2`, `float`), by its canonical dotted name without `tl.`; or a module ("tl").
struct BuiltinValue {
  std::string name;
  bool isModule = false;
};

struct TupleValue {
  std::vector<ConstValue> elements;
  bool isList = false;
  std::vector<std::string> fields; // named tuples
  unsigned depth = 1;              // levels of nesting, filled by ConstValue::tuple
};

/// Something with a shape on the host: an array argument. `x.shape[0]`, `x.stride(0)`, `x.numel()` and `x.dtype` read it.
struct ArrayValue {
  DType dtype = DType::F32;
  std::vector<int64_t> shape, strides; // strides in elements
  bool hasShape = true; // false: a bare pointer, of which only the type is known
  std::string name;
  std::shared_ptr<void> handle; // whatever the evaluator's user attaches
};

/// `randn(seed=3)`, `zeros`, `full(v)` ... before a dtype and a shape are known, and with them.
struct InitValue {
  std::string kind; // zeros ones rand randn arange randint full
  std::vector<double> parameters;
  int64_t seed = -1; // -1: derived from the argument's name
  bool hasShape = false;
  DType dtype = DType::F32;
  std::vector<int64_t> shape;
};

class ConstValue {
public:
  using Dict = std::vector<std::pair<ConstValue, ConstValue>>;
  std::variant<NoneValue, EllipsisValue, bool, BigInt, double, std::shared_ptr<const std::string>, TypeValue, FunctionValue, BuiltinValue, std::shared_ptr<const TupleValue>,
               std::shared_ptr<const Dict>, std::shared_ptr<const ArrayValue>, std::shared_ptr<const InitValue>>
      data;

  ConstValue() = default;
  template <typename T> explicit ConstValue(T value) : data(std::move(value)) {}
  static ConstValue integer(int64_t value) { return ConstValue(BigInt(value)); }
  static ConstValue string(std::string text) { return ConstValue(std::make_shared<const std::string>(std::move(text))); }
  static ConstValue tuple(std::vector<ConstValue> elements, bool isList = false);

  template <typename T> const T *get() const { return std::get_if<T>(&data); }
  bool isNone() const { return get<NoneValue>(); }
  const std::string *asString() const { auto *s = get<std::shared_ptr<const std::string>>(); return s ? s->get() : nullptr; }
  const TupleValue *asTuple() const { auto *t = get<std::shared_ptr<const TupleValue>>(); return t ? t->get() : nullptr; }
  const Dict *asDict() const { auto *d = get<std::shared_ptr<const Dict>>(); return d ? d->get() : nullptr; }
  const ArrayValue *asArray() const { auto *a = get<std::shared_ptr<const ArrayValue>>(); return a ? a->get() : nullptr; }
  const InitValue *asInit() const { auto *i = get<std::shared_ptr<const InitValue>>(); return i ? i->get() : nullptr; }
  /// bool and integers as a 64-bit integer when they fit.
  std::optional<int64_t> asInt64() const;
  /// bool, integers and floats as a double.
  std::optional<double> asDouble() const;
  /// Python's truth.
  bool truth() const;
  /// Python's repr, as static_print and messages show it. Types print by spelling (fp32).
  std::string repr() const;
  /// "int", "float", "tuple" ...: the word for messages.
  std::string kindName() const;
  /// Equality of value and kind (1 and True and 1.0 differ): what a specialization key needs.
  bool identical(const ConstValue &other) const;
};

/// Python's arithmetic. On a type error or a division by zero the result is empty and `error` says why in the wording of a diagnostic.
/// Results longer than 4096 bits are an error.
std::optional<ConstValue> evalBinary(ast::BinaryOp op, const ConstValue &lhs, const ConstValue &rhs, std::string &error);
std::optional<ConstValue> evalUnary(ast::UnaryOp op, const ConstValue &operand, std::string &error);
std::optional<ConstValue> evalCompare(ast::CompareOp op, const ConstValue &lhs, const ConstValue &rhs, std::string &error);

/// The names of one parsed file, resolved lazily: its functions, imports, constants (module-level `N = tl.constexpr(4)`, `N = 4`, `N: tl.constexpr = 4`).
/// Owns the tree. Not thread-safe.
class ModuleScope {
public:
  /// `isPython`: a .py file, where names need their imports and plain constants are refused in kernels.
  ModuleScope(ast::Module module, bool isPython);
  ~ModuleScope();
  const ast::Module &ast() const { return module; }
  const SourceFile &file() const { return *module.file; }
  bool isPython() const { return python; }
  /// What a module-level name stands for; empty when it has none here (then the language's builtins are looked up).
  std::optional<ConstValue> lookup(const std::string &name, Diagnostics &diagnostics) const;
  /// Every module-level name, for suggestions.
  std::vector<std::string> names() const;
  const ast::Function *function(const std::string &name) const;
  /// The functions that can be launched, in order: those with a jit, grid or example decorator; without any such, those that no other function calls.
  std::vector<const ast::Function *> kernels() const;
  struct Impl;
  Impl &impl() const { return *state; }

private:
  ast::Module module;
  bool python;
  std::unique_ptr<Impl> state;
};

/// Evaluates host-side expressions: decorators, grids, defaults, command-line arguments.
/// `locals` is asked first, then the module, then the language's host names (cdiv, next_power_of_2, min, max, abs, len, int, float, math.*, dtypes,
/// and the initialisers zeros ones rand randn arange randint full). Functions and lambdas of the module are run (loops included) within `steps`.
class HostEvaluator {
public:
  HostEvaluator(const ModuleScope *scope, Diagnostics &diagnostics, uint64_t steps = 10'000'000);
  std::function<std::optional<ConstValue>(const std::string &)> locals;
  /// Empty after an error, which has been reported.
  std::optional<ConstValue> evaluate(const ast::Expr &expr, const SourceFile &file);
  std::optional<ConstValue> call(const ConstValue &callee, const std::vector<ConstValue> &args, Place place);
  std::optional<ConstValue> callWith(const ConstValue &callee, const ConstCall &call, Place place);
  /// Runs statements of the module in order and gives what `name` stands for then.
  std::optional<ConstValue> run(const std::vector<const ast::Stmt *> &statements, const std::string &name, const SourceFile &file);

private:
  const ModuleScope *scope;
  Diagnostics &diagnostics;
  uint64_t steps;
};

} // namespace tk::lang
