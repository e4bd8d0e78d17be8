// Statements, by the printed tree.
#include "Parsing.h"

using namespace tk::lang;
using namespace tk::lang::ast;

static std::string tree(const std::string &text) {
  Parsed parsed(text);
  return parsed.diagnostics.hasErrors() ? parsed.diagnostics.render() : parsed.tree();
}
static bool accepted(const std::string &text) {
  Parsed parsed(text);
  INFO(parsed.diagnostics.render());
  CHECK_FALSE(parsed.diagnostics.hasErrors());
  return !parsed.diagnostics.hasErrors();
}

TEST_CASE("a function with everything", "[statement]") {
  CHECK(tree("@triton.jit(debug=True)\n@other\ndef f(a, /, b: int = 1, *args, c, d=2, **kw) -> T:\n  return a\n") == R"(Module
  Function f
    decorator: Call
      callee: Attribute jit
        Name triton
      debug= True
    decorator: Name other
    param a
    param b
      annotation: Name int
      default: Int 1
    param *args
    keyword-only c
    keyword-only d
      default: Int 2
    param **kw
    returns: Name T
    body
      Return
        Name a
)");
}

TEST_CASE("assignments", "[statement]") {
  CHECK(tree("a = b = c, d\nx.y[0] @= 1\nz: int = 3\nw: 'T'\n(v): int\n*p, q = r\n") == R"(Module
  Assign
    target: Name a
    target: Name b
    Tuple
      Name c
      Name d
  AugAssign @=
    Subscript
      Attribute y
        Name x
      Int 0
    Int 1
  AnnAssign
    target: Name z
    annotation: Name int
    Int 3
  AnnAssign
    target: Name w
    annotation: String "T"
  AnnAssign
    target: Name v
    annotation: Name int
  Assign
    target: Tuple
      Starred
        Name p
      Name q
    Name r
)");
}

TEST_CASE("every augmented assignment", "[statement]") {
  const char *ops[] = {"+", "-", "*", "@", "/", "//", "%", "**", "<<", ">>", "&", "|", "^"};
  for (unsigned i = 0; i < 13; ++i) {
    Parsed parsed(std::string("a ") + ops[i] + "= b");
    REQUIRE(parsed.module.body.size() == 1);
    CHECK(as<AugAssign>(*parsed.module.body[0]).op == static_cast<BinaryOp>(i));
    CHECK(std::string(spelling(static_cast<BinaryOp>(i))) == ops[i]);
  }
}

TEST_CASE("if, elif, else", "[statement]") {
  CHECK(tree("if a:\n  b\nelif c: d; e\nelse:\n  f\n") == R"(Module
  If
    Name a
    then
      ExprStmt
        Name b
    else
      If
        Name c
        then
          ExprStmt
            Name d
          ExprStmt
            Name e
        else
          ExprStmt
            Name f
)");
}

TEST_CASE("loops", "[statement]") {
  CHECK(tree("for i, (j, k) in a, b:\n  continue\nelse:\n  pass\nwhile x := f():\n  break\n") == R"(Module
  For
    target: Tuple
      Name i
      Tuple
        Name j
        Name k
    in: Tuple
      Name a
      Name b
    body
      Continue
    else
      Pass
  While
    Walrus
      Name x
      Call
        callee: Name f
    body
      Break
)");
}

TEST_CASE("imports", "[statement]") {
  CHECK(tree("import a.b as c, d\nfrom .. import x\nfrom ...m.n import (y as z, w,)\nfrom m import *\n") == R"(Module
  Import
    a.b as c
    d
  ImportFrom ..
    x
  ImportFrom ...m.n
    y as z
    w
  ImportFrom m
    *
)");
}

TEST_CASE("host statements", "[statement]") {
  CHECK(tree("try:\n  a\nexcept (B, C) as e:\n  raise\nexcept:\n  raise D from e\nelse:\n  pass\nfinally:\n  del x, (y, z)\n") == R"(Module
  Try
    body
      ExprStmt
        Name a
    except as e
      type: Tuple
        Name B
        Name C
      body
        Raise
    except
      body
        Raise
          Name D
          from: Name e
    else
      Pass
    finally
      Delete
        Name x
        Tuple
          Name y
          Name z
)");
  CHECK(tree("class A(B, metaclass=M):\n  async def f(self):\n    global g, h\n    async with a as b, c: await d\n") == R"(Module
  Class A
    base: Name B
    metaclass= Name M
    body
      async Function f
        param self
        body
          Global g h
          async With
            Name a
            as: Name b
            Name c
            body
              ExprStmt
                Await
                  Name d
)");
}

TEST_CASE("with and its parentheses", "[statement]") {
  auto items = [](const std::string &text) {
    Parsed parsed(text + ": pass\n");
    INFO(parsed.diagnostics.render());
    REQUIRE_FALSE(parsed.diagnostics.hasErrors());
    return as<With>(*parsed.module.body[0]).items.size();
  };
  CHECK(items("with a") == 1);
  CHECK(items("with a, b as c") == 2);
  CHECK(items("with (a)") == 1);
  CHECK(items("with (a, b)") == 2);
  CHECK(items("with (a as b, c as d,)") == 2);
  CHECK(items("with (\n  a as b,\n  c\n)") == 2);
  CHECK(items("with (a, b) as c") == 1);
  CHECK(items("with (a).b as c, d") == 2);
  CHECK(items("with (a := b, c)") == 1);
  CHECK(items("with (x for x in y)") == 1);
  CHECK(items("with f((a, b) if c else d) as e") == 1);
  CHECK(items("with ()") == 1);
}

TEST_CASE("match is a statement only where it can be one", "[statement]") {
  auto kind = [](const std::string &text) {
    Parsed parsed(text);
    INFO(parsed.diagnostics.render());
    REQUIRE_FALSE(parsed.diagnostics.hasErrors());
    return parsed.module.body[0]->kind;
  };
  const std::string body = "\n  case _: pass\n";
  for (const char *head : {"match x:", "match (x):", "match x, y:", "match -x:", "match [x]:", "match {1: 2}:", "match *a, b:", "match not x:", "match 'a':",
                           "match ...:", "match (x)[1:2]:"})
    CHECK(kind(head + body) == StmtKind::Match);
  for (const char *text :
       {"match = 1", "match(x)", "match[x]", "match[1:2]", "match -x", "match.y", "match * x", "match in x", "match not in x", "match, y = z", "match"})
    CHECK(kind(text) != StmtKind::Match);
  CHECK(kind("match: int = 1") == StmtKind::AnnAssign);
  CHECK(kind("match[a:b]: int = 1") == StmtKind::AnnAssign);
}

TEST_CASE("patterns", "[statement]") {
  std::string text = "match x:\n";
  for (const char *pattern : {"1",
                              "-1.5",
                              "1 - 2j",
                              "'a' 'b'",
                              "None",
                              "a",
                              "_",
                              "a.b.c",
                              "a | b.c | 1",
                              "(a)",
                              "()",
                              "(a,)",
                              "[a, *_, b]",
                              "a, *b",
                              "*a,",
                              "{}",
                              "{1: a, 'k': [b], x.y: _, **rest}",
                              "P()",
                              "P(1, a, k=b, m=Q(c) as d)",
                              "(1 | 2) as z",
                              "[P() as p, (q)]",
                              "a if b > 1",
                              "{-1: x}"})
    text += std::string("  case ") + pattern + ":\n    pass\n";
  Parsed parsed(text);
  CHECK(parsed.diagnostics.render() == "");
  const auto &node = as<Match>(*parsed.module.body[0]);
  CHECK(node.cases.size() == 23);
  CHECK(parsed.file->text(node.cases[16].pattern) == "{1: a, 'k': [b], x.y: _, **rest}");
  CHECK(node.cases[21].guard);
}

TEST_CASE("comprehensions", "[statement]") {
  CHECK(tree("[f(x) for x, y in z if x if y for w in v]\n{k: v for k in d}\n{a async for a in b}\ng(x for x in y)\n") == R"(Module
  ExprStmt
    Comprehension list
      Call
        callee: Name f
        Name x
      for
        Tuple
          Name x
          Name y
        in: Name z
        if: Name x
        if: Name y
      for
        Name w
        in: Name v
  ExprStmt
    Comprehension dict
      key: Name k
      value: Name v
      for
        Name k
        in: Name d
  ExprStmt
    Comprehension set
      Name a
      async for
        Name a
        in: Name b
  ExprStmt
    Call
      callee: Name g
      Comprehension generator
        Name x
        for
          Name x
          in: Name y
)");
}

TEST_CASE("lambdas, dicts, yields and conditionals", "[statement]") {
  CHECK(tree("def f():\n  x = yield\n  y = yield from g\n  return lambda a, *b, c=1, **d: (yield a)\nz = {1: 2, **e} if p else {}\n") == R"(Module
  Function f
    body
      Assign
        target: Name x
        Yield
      Assign
        target: Name y
        Yield from
          Name g
      Return
        Lambda
          param a
          param *b
          keyword-only c
            default: Int 1
          param **d
          Yield
            Name a
  Assign
    target: Name z
    Conditional
      if: Name p
      then: Dict
        key: Int 1
        value: Int 2
        **: Name e
      else: Dict
)");
}

TEST_CASE("type parameters and aliases of host code", "[statement]") {
  CHECK(accepted("def f[T, U: int, *Ts, **P](x: T) -> U: pass\nclass A[T](B): pass\ntype X = int\ntype Y[T] = list[T]\n"));
  CHECK(accepted("type = 1\nprint(type)\ntype(x)\ntype.a = type\n"));
}

TEST_CASE("ranges of statements", "[statement]") {
  Parsed parsed("@jit\ndef f(x: int = 1):\n  if x:\n    y = 2\n  elif z:\n    pass\n\nq = 1; r = 2\n");
  REQUIRE(parsed.module.body.size() == 3);
  auto textOf = [&](const Stmt &stmt) { return std::string(parsed.file->text(stmt.range)); };
  const auto &function = as<Function>(*parsed.module.body[0]);
  CHECK(textOf(function).substr(0, 5) == "def f");
  CHECK(parsed.file->text(function.nameRange) == "f");
  CHECK(parsed.file->text(function.params[0].range) == "x: int = 1");
  CHECK(parsed.file->text(function.params[0].nameRange) == "x");
  CHECK(textOf(*as<If>(*function.body[0]).then[0]) == "y = 2");
  CHECK(textOf(*parsed.module.body[1]) == "q = 1");
  CHECK(textOf(*parsed.module.body[2]) == "r = 2");
}
