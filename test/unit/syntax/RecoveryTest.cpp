// Independent errors appear in one run, and one error does not cause others.
#include "Parsing.h"

using namespace tk::lang;

static std::string errors(const std::string &text) { return Parsed(text).summary(); }

TEST_CASE("errors of separate statements are all reported", "[recovery]") {
  CHECK(errors("x = 1 +\ny = 2 3\nz = $\nok = 1\nw = )\n") == "1:8 Expected\n2:7 Expected\n3:5 InvalidCharacter\n5:5 UnmatchedBracket\n");
  CHECK(errors("def f():\n  a = 1 +\n  b = (2\n  c = 3\n  return d e\n\ndef g():\n  +\n") ==
        "2:10 Expected\n3:7 UnclosedBracket\n5:12 Expected\n8:4 Expected\n");
}

TEST_CASE("after a wrong header its block is still parsed", "[recovery]") {
  CHECK(errors("if x = 1:\n  y = +\n  z = 2\nw = *\n") == "1:6 EqualInCondition\n2:8 Expected\n4:6 Expected\n");
  CHECK(errors("def f(a, a):\n  return 1\n  break\n  yield\n") == "1:10 RepeatedParameter\n");
  CHECK(errors("while x y:\n  break\n") == "1:9 Expected\n");
  CHECK(errors("for x in:\n  continue\nelse:\n  z\n") == "1:9 Expected\n");
}

TEST_CASE("the clauses of a wrong statement are not reported again", "[recovery]") {
  CHECK(errors("if x y:\n  a\nelif z:\n  b\nelse:\n  c\nd = 1\n") == "1:6 Expected\n");
  CHECK(errors("try x:\n  a\nexcept:\n  b\nfinally:\n  c\n") == "1:5 Expected\n");
  CHECK(errors("if x:\n  a\nelse y:\n  b = +\nelse:\n  c\n") == "3:6 Expected\n4:8 Expected\n");
  // Unrelated to any failure, it is.
  CHECK(errors("if x y:\n  a\nb\nelse:\n  c\n") == "1:6 Expected\n4:1 ClauseAlone\n");
}

TEST_CASE("an open bracket ends at the next statement", "[recovery]") {
  CHECK(errors("a = f(1,\n      2\nb = 3 4\n") == "1:6 UnclosedBracket\n3:7 Expected\n");
  CHECK(errors("a = [1,\n     2,\nreturn_value = 5\nb = 3 4\n") == "1:5 UnclosedBracket\n4:7 Expected\n");
  CHECK(errors("def f():\n  x = load(p,\n  y = 1\n  return x\n\ndef g(:\n  pass\n") == "2:11 UnclosedBracket\n6:7 Expected\n");
  CHECK(errors("x = (\n\ndef f():\n  return $\n") == "1:5 UnclosedBracket\n4:10 InvalidCharacter\n");
  CHECK(errors("x = {'a': 1\nimport b\nc d\n") == "1:5 UnclosedBracket\n3:3 Expected\n");
  // A closing bracket at the margin belongs to the statement.
  CHECK(errors("a = f(\n  1 2\n)\nb = 1\n") == "2:5 Expected\n");
}

TEST_CASE("an unclosed string ends with its line", "[recovery]") {
  CHECK(errors("x = f('abc)\ny = 1 2\n") == "1:7 UnterminatedString\n2:7 Expected\n");
  CHECK(errors("x = f'{a + 'b'}\ny = 1 2\n").ends_with("2:7 Expected\n"));
  CHECK(errors("x = f'{a:{b}'\ny = 1 2\n") == "1:7 UnclosedField\n2:7 Expected\n");
}

TEST_CASE("unexpected indents are one error each", "[recovery]") {
  CHECK(errors("x = 1\n    y = 2\n    z = 3\nw = 4\n") == "2:1 UnexpectedIndent\n");
  CHECK(errors("def f():\n  x\n    y\n  z\nw 1\n") == "3:1 UnexpectedIndent\n5:3 Expected\n");
  CHECK(errors("if x:\n      y\n   z\n   w\nv 1\n") == "3:1 UnindentMismatch\n5:3 Expected\n");
}

TEST_CASE("what was understood stays in the tree", "[recovery]") {
  Parsed parsed("a = 1\nb = \ndef f():\n  c = 2\n  d = +\n  e = 3\n");
  CHECK(parsed.tree() == "Module\n  Assign\n    target: Name a\n    Int 1\n  Function f\n    body\n      Assign\n        target: Name c\n        Int 2\n      "
                         "Assign\n        target: Name e\n        Int 3\n");
  CHECK(parsed.diagnostics.errorCount() == 2);
}

TEST_CASE("a match goes on at its next case", "[recovery]") {
  CHECK(errors("match x:\n  case 1 2:\n    y = +\n  case z:\n    w = +\n") == "2:10 Expected\n3:10 Expected\n5:10 Expected\n");
}
