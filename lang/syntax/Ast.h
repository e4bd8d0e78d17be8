// The syntax tree of a .tk file: Python's, as plain data.
//
// Every node has a kind and a range. Nodes are owned by their parents through unique_ptr; a Module owns everything and
// refers to the SourceFile that it was parsed from. `as<T>(node)` casts with a check of the kind, `dyn<T>(node)` gives
// null for another kind. The parser limits nesting (kMaxNesting) and the height of every tree (kMaxHeight, reached by chains
// such as 1+1+1+... or elif), so recursion over a tree is safe: an expression has at most kMaxHeight levels, the statements
// around it at most kMaxHeight more.
#pragma once
#include "lang/syntax/Source.h"
#include <cassert>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tk::lang::ast {

constexpr unsigned kMaxNesting = 200;
constexpr unsigned kMaxHeight = 1000;

enum class ExprKind : uint8_t {
  Name, Constant, FString, Tuple, List, Set, Dict, Comprehension, Binary, Unary, Bool, Compare, Conditional, Call,
  Attribute, Subscript, Slice, Starred, Lambda, Walrus, Yield, Await
};

struct Expr {
  const ExprKind kind;
  uint16_t height = 1; // levels of the tree from here down, at most kMaxHeight
  SourceRange range;   // without the parentheses around it, except for a Tuple or a generator
  virtual ~Expr() = default;

protected:
  explicit Expr(ExprKind kind) : kind(kind) {}
};
using ExprPtr = std::unique_ptr<Expr>;

template <ExprKind K> struct ExprOf : Expr {
  static constexpr ExprKind theKind = K;
  ExprOf() : Expr(K) {}
};

struct Name : ExprOf<ExprKind::Name> { std::string id; };

struct Constant : ExprOf<ExprKind::Constant> {
  enum Type { None, True, False, Ellipsis, Int, Float, Imaginary, String, Bytes } type = None;
  std::string text;   // Int: decimal digits of the value, any length (`_` and prefixes resolved). String/Bytes: the decoded value, UTF-8; adjacent literals joined
  double number = 0;  // Float, Imaginary
};

/// f"..": literal text and fields in turn.
struct FString : ExprOf<ExprKind::FString> {
  struct Part {
    std::string text;            // a literal part when `field` is null
    ExprPtr field;               // {field!conversion:format}
    char conversion = 0;         // 'r', 's', 'a' or 0
    std::string format;          // the format's source text
    bool selfDocumenting = false; // {x=}: `text` then holds "x="
  };
  std::vector<Part> parts;
};

struct Tuple : ExprOf<ExprKind::Tuple> { std::vector<ExprPtr> elements; };
struct List : ExprOf<ExprKind::List> { std::vector<ExprPtr> elements; };
struct Set : ExprOf<ExprKind::Set> { std::vector<ExprPtr> elements; };
struct Dict : ExprOf<ExprKind::Dict> { std::vector<std::pair<ExprPtr, ExprPtr>> items; }; // a null key is `**value`

struct Comprehension : ExprOf<ExprKind::Comprehension> {
  enum Type { List, Set, Dict, Generator } type = List;
  struct Clause {
    ExprPtr target, iterable;
    std::vector<ExprPtr> conditions;
    bool isAsync = false;
  };
  ExprPtr element, value; // value: Dict only
  std::vector<Clause> clauses;
};

enum class BinaryOp : uint8_t { Add, Sub, Mul, MatMul, Div, FloorDiv, Mod, Pow, LShift, RShift, BitAnd, BitOr, BitXor };
enum class UnaryOp : uint8_t { Plus, Minus, Invert, Not };
enum class CompareOp : uint8_t { Eq, NotEq, Lt, LtE, Gt, GtE, Is, IsNot, In, NotIn };
const char *spelling(BinaryOp op);
const char *spelling(UnaryOp op);
const char *spelling(CompareOp op);

struct Binary : ExprOf<ExprKind::Binary> { BinaryOp op; ExprPtr lhs, rhs; SourceRange opRange; };
struct Unary : ExprOf<ExprKind::Unary> { UnaryOp op; ExprPtr operand; };
struct Bool : ExprOf<ExprKind::Bool> { bool isAnd = true; std::vector<ExprPtr> values; };           // a and b and c: one node, three values
struct Compare : ExprOf<ExprKind::Compare> { ExprPtr first; std::vector<CompareOp> ops; std::vector<ExprPtr> rest; }; // chained when ops.size() > 1
struct Conditional : ExprOf<ExprKind::Conditional> { ExprPtr condition, then, otherwise; };

struct Keyword {
  std::string name; // empty for **value
  ExprPtr value;
  SourceRange nameRange;
};
struct Call : ExprOf<ExprKind::Call> {
  ExprPtr callee;
  std::vector<ExprPtr> args; // Starred for *value
  std::vector<Keyword> keywords;
};

struct Attribute : ExprOf<ExprKind::Attribute> { ExprPtr value; std::string attr; SourceRange attrRange; };
struct Subscript : ExprOf<ExprKind::Subscript> { ExprPtr value, index; };                           // x[a, b]: index is a Tuple
struct Slice : ExprOf<ExprKind::Slice> { ExprPtr lower, upper, step; };                             // each may be null
struct Starred : ExprOf<ExprKind::Starred> { ExprPtr value; };
struct Walrus : ExprOf<ExprKind::Walrus> { ExprPtr target, value; };
struct Yield : ExprOf<ExprKind::Yield> { ExprPtr value; bool from = false; };
struct Await : ExprOf<ExprKind::Await> { ExprPtr value; };

struct Parameter {
  enum Kind { Positional, KeywordOnly, VarArgs, VarKeywords } kind = Positional;
  std::string name;
  ExprPtr annotation, defaultValue; // each may be null
  SourceRange range, nameRange;
};
struct Lambda : ExprOf<ExprKind::Lambda> { std::vector<Parameter> params; ExprPtr body; };

enum class StmtKind : uint8_t {
  Function, Class, Return, Assign, AugAssign, AnnAssign, For, While, If, With, Assert, ExprStmt, Pass, Break, Continue,
  Import, ImportFrom, Global, Nonlocal, Delete, Raise, Try, Match
};

struct Stmt {
  const StmtKind kind;
  SourceRange range; // of a compound statement: header and body
  virtual ~Stmt() = default;

protected:
  explicit Stmt(StmtKind kind) : kind(kind) {}
};
using StmtPtr = std::unique_ptr<Stmt>;
using Block = std::vector<StmtPtr>;

template <StmtKind K> struct StmtOf : Stmt {
  static constexpr StmtKind theKind = K;
  StmtOf() : Stmt(K) {}
};

struct Function : StmtOf<StmtKind::Function> {
  std::string name;
  SourceRange nameRange;
  std::vector<Parameter> params;
  ExprPtr returns; // may be null
  std::vector<ExprPtr> decorators;
  Block body;
  bool isAsync = false;
};
struct Class : StmtOf<StmtKind::Class> {
  std::string name;
  SourceRange nameRange;
  std::vector<ExprPtr> bases;
  std::vector<Keyword> keywords;
  std::vector<ExprPtr> decorators;
  Block body;
};
struct Return : StmtOf<StmtKind::Return> { ExprPtr value; };                                        // may be null
struct Assign : StmtOf<StmtKind::Assign> { std::vector<ExprPtr> targets; ExprPtr value; };          // a = b = c: two targets
struct AugAssign : StmtOf<StmtKind::AugAssign> { ExprPtr target; BinaryOp op; ExprPtr value; };
struct AnnAssign : StmtOf<StmtKind::AnnAssign> { ExprPtr target, annotation, value; };              // value may be null
struct For : StmtOf<StmtKind::For> { ExprPtr target, iterable; Block body, orelse; bool isAsync = false; };
struct While : StmtOf<StmtKind::While> { ExprPtr condition; Block body, orelse; };
struct If : StmtOf<StmtKind::If> { ExprPtr condition; Block then, orelse; };                        // elif: an If alone in orelse
struct With : StmtOf<StmtKind::With> { std::vector<std::pair<ExprPtr, ExprPtr>> items; Block body; bool isAsync = false; }; // (context, target or null)
struct Assert : StmtOf<StmtKind::Assert> { ExprPtr condition, message; };                           // message may be null
struct ExprStmt : StmtOf<StmtKind::ExprStmt> { ExprPtr value; };
struct Pass : StmtOf<StmtKind::Pass> {};
struct Break : StmtOf<StmtKind::Break> {};
struct Continue : StmtOf<StmtKind::Continue> {};
struct ImportedName {
  std::string name, asName; // dotted name; asName empty without `as`
  SourceRange range;
};
struct Import : StmtOf<StmtKind::Import> { std::vector<ImportedName> names; };
struct ImportFrom : StmtOf<StmtKind::ImportFrom> { std::string module; unsigned level = 0; std::vector<ImportedName> names; }; // name "*" for a star import
struct Global : StmtOf<StmtKind::Global> { std::vector<std::string> names; };
struct Nonlocal : StmtOf<StmtKind::Nonlocal> { std::vector<std::string> names; };
struct Delete : StmtOf<StmtKind::Delete> { std::vector<ExprPtr> targets; };
struct Raise : StmtOf<StmtKind::Raise> { ExprPtr value, cause; };
struct Try : StmtOf<StmtKind::Try> {
  struct Handler { ExprPtr type; std::string name; Block body; };
  Block body, orelse, finally;
  std::vector<Handler> handlers;
};
/// `match`: the subject and the bodies; patterns are kept as text only, no kernel may use them.
struct Match : StmtOf<StmtKind::Match> {
  struct Case { SourceRange pattern; ExprPtr guard; Block body; };
  ExprPtr subject;
  std::vector<Case> cases;
};

struct Module {
  std::shared_ptr<const SourceFile> file;
  Block body;
};

template <typename T> const T &as(const Expr &node) { assert(node.kind == T::theKind); return static_cast<const T &>(node); }
template <typename T> const T &as(const Stmt &node) { assert(node.kind == T::theKind); return static_cast<const T &>(node); }
template <typename T> const T *dyn(const Expr *node) { return node && node->kind == T::theKind ? static_cast<const T *>(node) : nullptr; }
template <typename T> const T *dyn(const Stmt *node) { return node && node->kind == T::theKind ? static_cast<const T *>(node) : nullptr; }

/// Indented text of a tree, for `--emit ast`.
std::string print(const Module &module);
std::string print(const Expr &expr);

} // namespace tk::lang::ast
