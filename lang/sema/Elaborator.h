// The elaborator: walks a kernel's tree once for one specialization and emits tt. One class, cut by area into files:
//
//   Elaborator.cpp  entry points, places, reporting        Expressions.cpp  names, constants, displays          Operators.cpp, Promotion.cpp, Casts.cpp, Broadcasting.cpp
//   Statements.cpp  statements and assignment              Branches.cpp     if, early exits, merging of values  Loops.cpp, Ranges.cpp  for and while
//   Calls.cpp       binding, inlining, noinline            Attributes.cpp   attributes and methods              Builtins*.cpp  the builtin functions
//
// Control flow is structured. Code that is being elaborated is a Strand: a chain of blocks in which an `if` one of whose sides has already ended (returned, left the loop) stays open, so that
// what follows is emitted into its other side; the scf.if ops are created when the strand ends and their results are known (Branches.cpp).
#pragma once
#include "dialects/tt/TT.h"
#include "lang/sema/Elaborate.h"
#include "lang/sema/Value.h"
#include "llvm/ADT/StringSet.h"
#include "mlir/IR/Builders.h"
#include <set>

namespace tk::lang {

struct BuiltinInfo;

/// A variable of a function: its value, or why it has none.
struct Binding {
  Value value;
  SourceRange range;              // where it got its value
  std::optional<Diag> undefined;  // set: reading it is an error with this message and a note at `range`
  std::string detail;             // argument of that message
  bool isConstexpr = false;       // annotated: may not be assigned again with another value
};
using Environment = std::map<std::string, Binding>;

/// The ways code can end.
enum Exit : unsigned { Falls = 1, Breaks = 2, Continues = 4, Returns = 8 };

/// How a piece of code ends: the exits it can take, which of them it took (i32, one of the Exit values; null when there is one only), the variables and the returned value.
struct Ending {
  unsigned exits = Falls;
  mlir::Value code;
  Environment env;
  Value returned;
};

/// An `if` of which one side has ended; code goes on in the other.
struct OpenIf {
  mlir::Location loc;
  mlir::Value condition;
  mlir::Block *parent;
  std::unique_ptr<mlir::Region> ended, open;
  Ending ending;
  bool endedIsThen;
  SourceRange range;
};

/// Code under elaboration.
struct Strand {
  std::vector<OpenIf> open;
  unsigned exits = Falls; // of the innermost open code
  mlir::Value code;
  Value returned;
  bool live() const { return exits & Falls; }
};

struct Frame {
  const ModuleScope *scope = nullptr;
  const SourceFile *file = nullptr;
  std::string name;
  const void *function = nullptr; // the ast node, for recursion
  Environment env;
  Strand *strand = nullptr;
  Frame *caller = nullptr;
  SourceRange callRange;                      // in the caller's file
  std::optional<mlir::Location> callLocation;
  std::string target;                         // the variable being assigned, for locations
  unsigned loopDepth = 0;                     // loops around the statement, in this function
};

/// An argument as written.
struct Argument {
  Value value;
  SourceRange range;
  std::string name; // keyword, or empty
};

/// A builtin's arguments, one per parameter (the default where none was given); starred ones in `rest`.
struct BoundCall {
  const BuiltinInfo *info = nullptr;
  std::vector<Argument> values;
  std::vector<bool> given;
  std::vector<Argument> rest;
  SourceRange range;
  const Value &operator[](size_t i) const { return values[i].value; }
};

/// Whether a value is defined in a region or in one nested in it; regions that no operation owns yet included.
bool isInside(mlir::Value value, mlir::Region &outer);

/// How an operator treats its operands' types (NUMERICS 2).
enum class Arithmetic { Ordinary, Divide, Modulo, FloorDivide };

class Elaborator {
public:
  /// `stackLimit`: bytes of stack that recursion may use, counted from here.
  Elaborator(mlir::MLIRContext &context, const ElaborateOptions &options, unsigned stackLimit);

  // ---- state that the area files share ----
  mlir::MLIRContext &context;
  mlir::OpBuilder builder;
  const ElaborateOptions &options;
  Frame *frame = nullptr;
  mlir::ModuleOp module;
  /// Marks an fp32 quotient or root as one that a GPU may approximate within 2 ulp (NUMERICS 6), unless the library asks for it, whose functions count on exact
  /// ones.
  mlir::Value approximable(mlir::Value result) const;
  std::vector<std::string> printed;

  // ---- places and messages (Elaborator.cpp) ----
  Place place(SourceRange range) const { return {frame->file, range}; }
  /// The place, or inside the standard library the call that led into it.
  Place userPlace(SourceRange range) const;
  mlir::Location loc(SourceRange range);
  template <typename... Args> Value error(SourceRange range, Diag id, const Args &...args) {
    report(id, userPlace(range), args...);
    noteCallers();
    return Value();
  }
  template <typename... Args> void note(SourceRange range, Diag id, const Args &...args) { report(id, place(range), args...); }
  template <typename... Args> void report(Diag id, Place at, const Args &...args) {
    errors += diagSeverity(id) == Severity::Error;
    log.push_back([=](Diagnostics &out) { out.report(id, at, std::decay_t<const Args &>(args)...); });
  }
  /// Notes an extension of Triton's language with options.strictTriton.
  void extension(SourceRange range, const char *what);
  void noteCallers();
  void flush(Diagnostics &diagnostics);
  /// Counts a compile-time step; false, with one message, when there are none left, the kernel is too large or the recursion too deep.
  bool step(SourceRange range);

  // ---- values ----
  mlir::Type mlirType(const TypeValue &type);
  mlir::Type mlirType(const TypeValue &type, llvm::ArrayRef<int64_t> shape);
  /// A dtype that this compiler has; reports fp8e4b15 and the like.
  bool checkType(const TypeValue &type, SourceRange range);
  bool checkShape(llvm::ArrayRef<int64_t> shape, SourceRange range);
  mlir::Value constantInt(int64_t value, unsigned bits, mlir::Location at);
  /// A number as a scalar of a dtype (wrapped integers, rounded floats).
  Runtime materialize(const ConstValue &value, DType type, SourceRange range);
  /// A compile-time number as a scalar of its literal type; reports what has none.
  std::optional<Runtime> toRuntime(const Value &value, SourceRange range);
  /// Zero of a type, as a placeholder on paths where a value is not defined.
  mlir::Value placeholder(mlir::Type type, mlir::Location at);

  // ---- expressions (Expressions.cpp, Attributes.cpp) ----
  Value expr(const ast::Expr &node);
  Value lookup(const std::string &name, SourceRange range);
  Value attribute(const Value &object, const std::string &name, SourceRange range);
  bool hasAttribute(const Value &object, const std::string &name);
  Value subscript(const Value &object, const ast::Expr &index, SourceRange range);

  // ---- operators (Operators.cpp, Promotion.cpp, Casts.cpp, Broadcasting.cpp) ----
  Value binary(ast::BinaryOp op, const Value &lhs, const Value &rhs, SourceRange range, bool checkOverflow = true);
  Value unary(ast::UnaryOp op, const Value &operand, SourceRange range);
  Value compare(ast::CompareOp op, const Value &lhs, const Value &rhs, SourceRange range);
  Value logical(bool isAnd, const Value &lhs, const Value &rhs, SourceRange range);
  Value addPointer(const Value &pointer, const Value &offset, bool negate, SourceRange range);
  Value addPointer(const Runtime &pointer, const Runtime &offset, SourceRange range);
  /// Both operands as run-time values of one type and shape; empty after a report.
  std::optional<std::pair<Runtime, Runtime>> promote(const Value &lhs, const Value &rhs, Arithmetic kind, const std::string &what, SourceRange range);
  std::optional<DType> commonType(const Value &lhs, const Value &rhs, Arithmetic kind, const std::string &what, SourceRange range);
  /// A scalar condition as i1; a tile of several elements is an error.
  mlir::Value condition(const Value &value, SourceRange range);
  /// != 0, in the value's shape.
  Runtime toBool(const Runtime &value, SourceRange range);
  std::optional<Runtime> cast(const Value &value, const TypeValue &type, SourceRange range, std::optional<tt::RoundingMode> rounding = {}, bool bitcast = false);
  Runtime convert(const Runtime &value, DType type, mlir::Location at, std::optional<tt::RoundingMode> rounding = {});
  std::optional<llvm::SmallVector<int64_t>> broadcastShape(llvm::ArrayRef<int64_t> a, llvm::ArrayRef<int64_t> b);
  /// To a shape that it is known to broadcast to.
  Runtime broadcastTo(Runtime value, llvm::ArrayRef<int64_t> shape, mlir::Location at);
  /// All to their common shape; false after a report.
  bool broadcastAll(llvm::MutableArrayRef<Runtime> values, const std::string &what, SourceRange range);
  Runtime reshape(const Runtime &value, llvm::ArrayRef<int64_t> shape, mlir::Location at, bool canReorder = false);

  // ---- statements and control flow (Statements.cpp, Branches.cpp, Loops.cpp, Ranges.cpp) ----
  void block(const ast::Block &statements);
  void statement(const ast::Stmt &node);
  void assign(const ast::Expr &target, const Value &value, bool isConstexpr = false);
  void bindName(const std::string &name, const Value &value, SourceRange range, bool isConstexpr = false);
  void dynamicIf(mlir::Value condition, const std::function<void()> &then, const std::function<void()> &orelse, SourceRange range);
  /// A value that is one of two, by a run-time condition.
  Value choose(mlir::Value condition, const std::function<Value()> &then, const std::function<Value()> &orelse, SourceRange range);
  /// Ends the strand: closes its open ifs and says how it ended. `fallsTo`: what falling off the end means.
  Ending finish(Strand &strand, Exit fallsTo, SourceRange range);
  Ending merge(mlir::Location at, mlir::Value condition, std::unique_ptr<mlir::Region> then, Ending thenEnding, std::unique_ptr<mlir::Region> orelse, Ending elseEnding, SourceRange range);
  /// What follows an ending of several exits: goes on where `goOn` was taken, the other exits being left to the current strand.
  void goOnIf(Ending ending, Exit goOn, SourceRange range);
  /// i1: the ending's exit is `exit`.
  mlir::Value took(const Ending &ending, Exit exit, mlir::Location at);
  /// The type that two values of one variable share: a pattern for both. Empty when there is none.
  std::optional<Value> unify(const Value &a, const Value &b);
  /// A value that stands for its type only (never for a definition): what unify gives.
  Value pattern(const TypeValue &type, llvm::ArrayRef<int64_t> shape);
  /// `value` as the pattern's type; the pattern is what unify gave.
  Value conform(const Value &value, const Value &pattern, SourceRange range);
  void forLoop(const ast::For &node);
  void staticLoop(const ast::For &node, uint64_t count, const std::function<Value(uint64_t)> &value);
  void whileLoop(const ast::While &node);
  const std::set<std::string> &assignedIn(const ast::Block &body);

  // ---- calls (Calls.cpp) ----
  Value call(const Value &callee, std::vector<Argument> arguments, SourceRange range);
  Value callNode(const ast::Call &node);
  bool arguments(const ast::Call &node, std::vector<Argument> &out);
  Value callFunction(const FunctionValue &function, const std::vector<Argument> &arguments, SourceRange range);
  Value callBuiltin(const BuiltinValue &builtin, const std::vector<Argument> &arguments, SourceRange range);
  Value callMethod(const Value &self, const std::string &name, std::vector<Argument> arguments, SourceRange range);
  Value callLibrary(const std::string &name, std::vector<Argument> arguments, SourceRange range);
  Value callNoInline(const FunctionValue &function, Frame &callee, const std::vector<Argument> &bound, SourceRange range);
  bool bindParameters(const FunctionValue &function, const std::vector<Argument> &arguments, SourceRange range, Frame &callee, std::vector<Argument> &bound);
  /// Runs the body in the callee's frame; the returned value.
  Value inlineBody(const FunctionValue &function, Frame &callee, SourceRange range);
  /// Emits a combine region for n operands of the given types: 2n arguments in, n results out. False after a report.
  bool combineRegion(mlir::Region &region, const Value &function, llvm::ArrayRef<TypeValue> types, bool isScan, SourceRange range);

  /// The kernel itself, and library functions for passes.
  mlir::OwningOpRef<mlir::ModuleOp> elaborateKernel(const ModuleScope &scope, const ast::Function &kernel, const std::vector<ParamSpec> &params, std::vector<KernelArgument> &arguments);
  mlir::Operation *elaborateFunction(mlir::ModuleOp into, const FunctionValue &function, llvm::ArrayRef<mlir::Type> types, const std::string &symbol);

  // ---- speculation: loops are elaborated under an assumption and again when it was wrong ----
  struct Mark {
    size_t log, printed;
    unsigned errors;
  };
  Mark mark() const { return {log.size(), printed.size(), errors}; }
  void rollback(const Mark &mark);
  unsigned errors = 0;

private:
  std::vector<std::function<void(Diagnostics &)>> log;
  uint64_t steps = 0, operations = 0;
  bool exhausted = false;
  struct {
    const SourceFile *file = nullptr;
    uint32_t offset = 0, lineBegin = 0, lineEnd = 0;
    LineColumn at;
  } lastPosition; // columns are counted from the last one, so that a line of any length costs little
  LineColumn position(uint32_t offset);
  uintptr_t stackBase;
  unsigned stackLimit;
  unsigned callDepth = 0;
  std::map<const ast::Block *, std::set<std::string>> assignedNames;
  struct NoInlineFunction {
    mlir::Operation *function = nullptr;
    Value returned; // pattern of the results
  };
  std::map<std::string, NoInlineFunction> noInlineFunctions;
  mlir::Block scratch; // owns the values of patterns, as arguments
  llvm::DenseMap<mlir::Type, mlir::Value> scratchValues;
  struct Counter : mlir::OpBuilder::Listener {
    uint64_t count = 0;
    void notifyOperationInserted(mlir::Operation *, mlir::OpBuilder::InsertPoint) override { ++count; }
  } counter;

  // Expressions.cpp
  Value constant(const ast::Constant &node);
  Value format(const ast::FString &node);
  Value display(const std::vector<ast::ExprPtr> &elements, bool isList, SourceRange range);
  Value comprehension(const ast::Comprehension &node);
  bool comprehend(const ast::Comprehension &node, size_t clause, std::vector<Value> &out);
  Value boolean(const ast::Bool &node);
  Value conditional(const ast::Conditional &node);
  Value comparison(const ast::Compare &node);
  Value unknownName(const std::string &name, SourceRange range);
  // Statements.cpp
  void ifStatement(const ast::If &node);
  void returnStatement(const ast::Return &node);
  void augmented(const ast::AugAssign &node);
  void annotated(const ast::AnnAssign &node);
  void expression(const ast::ExprStmt &node);
  void assertion(const ast::Assert &node);
  // Loops.cpp, Ranges.cpp
  void rangeLoop(const ast::For &node, const RangeValue &range);
  std::optional<struct LoopBounds> loopBounds(const RangeValue &range, SourceRange at);
  friend struct BuiltinHandlers;
};

} // namespace tk::lang
