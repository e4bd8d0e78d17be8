// Every message of the lexer, the parser and the restrictions, each provoked: where it points, what it says, and that it comes alone.
#include "Parsing.h"
#include <set>

using namespace tk::lang;

namespace {
struct Case {
  Diag id;
  const char *source;
  unsigned line, column;
  const char *underlined; // the range's text
  const char *message;
};
} // namespace

static const Case kSyntaxCases[] = {
    {Diag::InvalidUtf8, "x = 'a\xFF'\n", 1, 7, "\xFF", "invalid UTF-8"},
    {Diag::InvalidCharacter, "x = $\n", 1, 5, "$", "invalid character `$`"},
    {Diag::InvalidCharacter, "x = 2 \xC3\x97 3\n", 1, 7, "\xC3\x97", "invalid character `\xC3\x97` (U+00D7)"},
    {Diag::InvalidCharacter, "x = 2\xC2\xA0\n", 1, 6, "\xC2\xA0", "invalid character U+00A0"},
    {Diag::InvalidCharacter, "x = \x01\n", 1, 5, "\x01", "invalid character U+0001"},
    {Diag::InconsistentIndentation, "if x:\n\ty\n        z\n", 3, 1, "        ", "inconsistent use of tabs and spaces in indentation"},
    {Diag::UnindentMismatch, "if x:\n    y\n  z\n", 3, 1, "  ", "unindent does not match any outer indentation level"},
    {Diag::StrayBackslash, "x = 1 \\ + 2\n", 1, 7, "\\", "`\\` joins lines only at the end of a line"},
    {Diag::BackslashAtEnd, "x = 1 \\", 1, 7, "\\", "the file ends after `\\`, which joins lines"},
    {Diag::UnclosedBracket, "x = (1 + 2", 1, 5, "(", "`(` was never closed"},
    {Diag::UnclosedBracket, "x = f(1,\ny = 2\n", 1, 6, "(", "`(` was never closed"},
    {Diag::UnclosedBracket, "x = [1,\ndef f(): pass\n", 1, 5, "[", "`[` was never closed"},
    {Diag::UnmatchedBracket, "x = 1)\n", 1, 6, ")", "`)` closes nothing"},
    {Diag::MismatchedBracket, "x = (1]\n", 1, 7, "]", "`]` does not match `(`"},
    {Diag::InvalidNumber, "x = 1_\n", 1, 5, "1_", "invalid decimal literal"},
    {Diag::InvalidNumber, "x = 0xg\n", 1, 5, "0xg", "invalid hexadecimal literal"},
    {Diag::InvalidNumber, "x = 1abc\n", 1, 5, "1abc", "invalid decimal literal"},
    {Diag::InvalidDigit, "x = 0b102\n", 1, 9, "2", "invalid digit `2` in binary literal"},
    {Diag::InvalidDigit, "x = 0o78\n", 1, 8, "8", "invalid digit `8` in octal literal"},
    {Diag::LeadingZeros, "x = 0123\n", 1, 5, "0123", "decimal integer with leading zeros; octal integers start with `0o`"},
    {Diag::UnterminatedString, "x = 'abc\n", 1, 5, "'abc", "string without its closing quote on this line"},
    {Diag::UnterminatedTripleString, "x = '''abc\n", 1, 5, "'''", "triple-quoted string is never closed"},
    {Diag::UnterminatedTripleString, "x = f\"\"\"abc\n", 1, 5, "f\"\"\"", "triple-quoted string is never closed"},
    {Diag::UnterminatedFString, "x = f'abc\n", 1, 5, "f'abc", "f-string without its closing quote on this line"},
    {Diag::UnclosedField, "x = f'{a'\n", 1, 7, "{", "`{` in an f-string was never closed"},
    {Diag::UnclosedField, "x = f'{a:>4'\n", 1, 7, "{", "`{` in an f-string was never closed"},
    {Diag::SingleBrace, "x = f'a}'\n", 1, 8, "}", "single `}` in an f-string; the character itself is written `}}`"},
    {Diag::MalformedEscape, "x = '\\x4'\n", 1, 6, "\\x4", "`\\x` must be followed by 2 hexadecimal digits"},
    {Diag::MalformedEscape, "x = f'\\u12{a}'\n", 1, 7, "\\u12", "`\\u` must be followed by 4 hexadecimal digits"},
    {Diag::EscapeTooLarge, "x = '\\U00110000'\n", 1, 6, "\\U00110000", "`\\U00110000` is beyond the last code point, U+10FFFF"},
    {Diag::NonAsciiBytes, "x = b'a\xC3\xA9'\n", 1, 8, "\xC3\xA9", "bytes literal with a character outside ASCII"},
    {Diag::MixedStrings, "x = 'a' b'b'\n", 1, 5, "'a' b'b'", "bytes and text literals can't be joined"},
    {Diag::EmptyField, "x = f'{}'\n", 1, 7, "{}", "field of an f-string without an expression"},
    {Diag::BadConversion, "x = f'{a!x}'\n", 1, 9, "!x", "a conversion in an f-string is `!r`, `!s` or `!a`"},
    {Diag::Expected, "x = 1 +\n", 1, 8, "\n", "expected an expression, found the end of the line"},
    {Diag::Expected, "x = f(a b)\n", 1, 9, "b", "expected `,` or `)`, found `b`"},
    {Diag::Expected, "def 1(): pass\n", 1, 5, "1", "expected a name, found `1`"},
    {Diag::Expected, "for x on y: pass\n", 1, 7, "on", "expected `in`, found `on`"},
    {Diag::Expected, "x = a if b\n", 1, 11, "\n", "expected `else`, found the end of the line"},
    {Diag::Expected, "x = 1 2\n", 1, 7, "2", "expected the end of the statement, found `2`"},
    {Diag::Expected, "if x pass\n", 1, 6, "pass", "expected `:`, found `pass`"},
    {Diag::Expected, "match x:\n  pass\n", 2, 3, "pass", "expected `case`, found `pass`"},
    {Diag::Expected, "@a\nx = 1\n", 2, 1, "x", "expected `def` or `class` after the decorator, found `x`"},
    {Diag::ExpectedBlock, "if x:\ny = 1\n", 2, 1, "y", "expected an indented block after `if`"},
    {Diag::ExpectedBlock, "def f():", 1, 9, "", "expected an indented block after `def`"},
    {Diag::UnexpectedIndent, "x = 1\n  y = 2\n", 2, 1, "  ", "unexpected indent"},
    {Diag::ClauseAlone, "x = 1\nelse:\n  y = 2\n", 2, 1, "else", "`else` without a statement that it belongs to"},
    {Diag::EqualInCondition, "if x = 1:\n  y = 2\n", 1, 6, "=", "expected `:`, found `=`; a comparison is written `==`"},
    {Diag::StarAlone, "x = *y\n", 1, 5, "*y", "a starred expression must stand in a tuple, a list, a set or a call"},
    {Diag::StarAlone, "x = (*y)\n", 1, 6, "*y", "a starred expression must stand in a tuple, a list, a set or a call"},
    {Diag::StarInComprehension, "x = [*y for y in z]\n", 1, 6, "*y", "a comprehension can't unpack its element"},
    {Diag::BareTupleElement, "x = [a, b for a in c]\n", 1, 6, "a, b", "a tuple as the element of a comprehension needs parentheses"},
    {Diag::BareGenerator, "f(x for x in y, 1)\n", 1, 3, "x for x in y", "a generator expression beside other arguments needs parentheses"},
    {Diag::WalrusTarget, "(a.b := 1)\n", 1, 2, "a.b", "only a name can stand before `:=`"},
    {Diag::BareWalrus, "x := 1\n", 1, 3, ":=", "`:=` needs parentheses here"},
    {Diag::KeywordNotName, "f(a.b=1)\n", 1, 3, "a.b", "the left side of `=` in a call must be a parameter's name; a comparison is written `==`"},
    {Diag::RepeatedKeyword, "f(a=1, a=2)\n", 1, 8, "a", "argument `a` is given twice"},
    {Diag::PositionalAfterKeyword, "f(a=1, b)\n", 1, 8, "b", "positional argument after a keyword argument"},
    {Diag::PositionalAfterUnpacking, "f(**a, b)\n", 1, 8, "b", "positional argument after `**`"},
    {Diag::CannotAssign, "f(x) = 1\n", 1, 1, "f(x)", "can't assign to the result of a call"},
    {Diag::CannotAssign, "a, None = 1\n", 1, 4, "None", "can't assign to a literal"},
    {Diag::CannotAssign, "for x + 1 in y: pass\n", 1, 5, "x + 1", "can't assign to the result of an operator"},
    {Diag::CannotAssignComparison, "a < b = 1\n", 1, 1, "a < b", "can't assign to a comparison"},
    {Diag::CannotAugment, "a, b += 1\n", 1, 1, "a, b", "`+=` needs a name, an attribute or an item on its left, not a tuple"},
    {Diag::CannotAnnotate, "[a]: int = 1\n", 1, 1, "[a]", "only a name, an attribute or an item can have an annotation, not a list"},
    {Diag::CannotDelete, "del f()\n", 1, 5, "f()", "can't delete the result of a call"},
    {Diag::StarTargetAlone, "*a = b\n", 1, 1, "*a", "a starred target must stand in a tuple or a list"},
    {Diag::TwoStarTargets, "*a, *b = c\n", 1, 5, "*b", "second starred target in one assignment"},
    {Diag::CallWithoutParentheses, "print x\n", 1, 1, "print", "`print` is a function: its arguments need parentheses"},
    {Diag::OutsideFunction, "return 1\n", 1, 1, "return", "`return` outside a function"},
    {Diag::OutsideFunction, "class A:\n  x = yield\n", 2, 7, "yield", "`yield` outside a function"},
    {Diag::OutsideLoop, "if x:\n  break\n", 2, 3, "break", "`break` outside a loop"},
    {Diag::OutsideLoop, "while x:\n  def f():\n    continue\n", 3, 5, "continue", "`continue` outside a loop"},
    {Diag::BareExceptNotLast, "try: x\nexcept: y\nexcept A: z\n", 3, 1, "except", "an `except` without a type must be the last one"},
    {Diag::MixedExcepts, "try: x\nexcept A: y\nexcept* B: z\n", 3, 1, "except", "`except` and `except*` in one `try`"},
    {Diag::ExceptNeedsParentheses, "try: x\nexcept A, B: y\n", 2, 9, ",", "several types after `except` need parentheses"},
    {Diag::TryAlone, "try:\n  x\ny\n", 1, 1, "try", "`try` without `except` or `finally`"},
    {Diag::RepeatedParameter, "def f(a, a): pass\n", 1, 10, "a", "parameter `a` is declared twice"},
    {Diag::DefaultMissing, "def f(a=1, b): pass\n", 1, 12, "b", "parameter `b` without a default follows one with a default"},
    {Diag::DefaultNotAllowed, "def f(*a=1): pass\n", 1, 8, "a", "parameter `a` collects arguments and can't have a default"},
    {Diag::ParameterAfterKeywords, "def f(**a, b): pass\n", 1, 12, "b", "nothing may follow the `**` parameter"},
    {Diag::MisplacedSlash, "def f(/, a): pass\n", 1, 7, "/", "`/` must follow a parameter and stand once, before any `*`"},
    {Diag::SecondStar, "def f(*a, *b): pass\n", 1, 11, "*", "second `*` among the parameters"},
    {Diag::StarWithoutName, "def f(a, *): pass\n", 1, 10, "*", "no parameter follows `*`"},
};

/// Restrictions: the source is the body of a kernel, from line 2 on.
static const Case kRestrictionCases[] = {
    {Diag::NoNestedFunction, "  def g(): pass\n", 2, 7, "g", "function `g` inside a kernel; define it at the top level of the file"},
    {Diag::NoNestedDecorator, "  @jit\n  def g(): pass\n", 2, 4, "jit", "decorated function inside a kernel; define it at the top level of the file"},
    {Diag::NoClass, "  class A: pass\n", 2, 3, "class", "`class` inside a kernel; pass the values as a tuple"},
    {Diag::NoTry, "  try: x\n  except: y\n", 2, 3, "try", "`try` in a kernel; kernels have no exceptions, test the condition with `if`"},
    {Diag::NoRaise, "  raise x\n", 2, 3, "raise", "`raise` in a kernel; use `static_assert` for compile-time values, `device_assert` for others"},
    {Diag::NoImport, "  import a\n", 2, 3, "import", "`import` inside a kernel; import at the top level of the file"},
    {Diag::NoImport, "  from a import b\n", 2, 3, "from", "`import` inside a kernel; import at the top level of the file"},
    {Diag::NoGlobal, "  global a\n", 2, 3, "global", "`global` in a kernel; store the result through a pointer argument"},
    {Diag::NoNonlocal, "  nonlocal a\n", 2, 3, "nonlocal", "`nonlocal` in a kernel; return the new value"},
    {Diag::NoDelete, "  del a\n", 2, 3, "del", "`del` in a kernel; leave it out, values need no deletion"},
    {Diag::NoMatch, "  match a:\n    case 1: pass\n", 2, 3, "match", "`match` in a kernel; use `if` and `elif`"},
    {Diag::NoWith, "  with a: pass\n", 2, 3, "with", "`with` in a kernel; write the statements without it"},
    {Diag::NoAsync, "  async for a in b: pass\n", 2, 3, "async", "`async` in a kernel; kernels run to their end, leave it out"},
    {Diag::NoAsync, "  async with a: pass\n", 2, 3, "async", "`async` in a kernel; kernels run to their end, leave it out"},
    {Diag::LoopTarget, "  for a, b in c: pass\n", 2, 7, "a, b", "a loop in a kernel has one name as its target; unpack in the body"},
    {Diag::NoWhileElse, "  while a: pass\n  else: pass\n", 2, 3, "while", "`else` of a `while` loop in a kernel; put it behind the loop, under an `if`"},
    {Diag::NoChainedAssignment, "  a = b = 1\n", 2, 3, "a = b = 1", "assignment to several targets in a kernel; write one assignment each"},
    {Diag::NoItemTarget, "  a[i] = 1\n", 2, 3, "a[i]", "assignment to an item; tiles can't be changed in place, use `where`, or `store` for memory"},
    {Diag::NoItemTarget, "  a[i] += 1\n", 2, 3, "a[i]", "assignment to an item; tiles can't be changed in place, use `where`, or `store` for memory"},
    {Diag::NoAttributeTarget, "  b, a.x = 1, 2\n", 2, 6, "a.x", "assignment to attribute `x`; values can't be changed in place, assign to a name"},
    {Diag::NoStarTarget, "  a, *b = c\n", 2, 6, "*b", "starred target in a kernel; name each element"},
    {Diag::NoStarElement, "  a = (b, *c)\n", 2, 11, "*c", "`*` in a tuple or list of a kernel; join tuples with `+`"},
    {Diag::NoDict, "  a = {1: 2}\n", 2, 7, "{1: 2}", "dict in a kernel; use names or a tuple"},
    {Diag::NoDict, "  a = {b: b for b in c}\n", 2, 7, "{b: b for b in c}", "dict in a kernel; use names or a tuple"},
    {Diag::NoSet, "  a = {1}\n", 2, 7, "{1}", "set in a kernel; use a tuple"},
    {Diag::NoSet, "  a = {b for b in c}\n", 2, 7, "{b for b in c}", "set in a kernel; use a tuple"},
    {Diag::NoGenerator, "  a = f((b for b in c))\n", 2, 9, "(b for b in c)", "generator expression in a kernel; use a list comprehension"},
    {Diag::OneComprehensionClause, "  a = [b for c in d for b in c]\n", 2, 25, "b", "second `for` in a list comprehension; nest two list comprehensions"},
    {Diag::NoKeywordUnpacking, "  f(**a)\n", 2, 5, "**a", "`**` in a call of a kernel; name each argument"},
    {Diag::NoLambda, "  a = lambda x: x\n", 2, 7, "lambda", "`lambda` in a kernel; define a function at the top level of the file"},
    {Diag::NoYield, "  yield a\n", 2, 3, "yield a", "`yield` in a kernel; return a tuple, or store the values"},
    {Diag::NoAwait, "  a = await b\n", 2, 7, "await b", "`await` in a kernel; call the function without it"},
    {Diag::NoChainedComparison, "  a = b < c < d\n", 2, 7, "b < c < d", "chained comparison in a kernel; write `(a < b) & (b < c)`"},
    {Diag::NoMembership, "  a = b in c\n", 2, 7, "b in c", "`in` in a kernel; compare with each element"},
    {Diag::NoMembership, "  if not (b not in c): pass\n", 2, 11, "b not in c", "`not in` in a kernel; compare with each element"},
    {Diag::NoMatMul, "  a = b @ c\n", 2, 9, "@", "`@` on tiles; use `dot`"},
    {Diag::NoComplex, "  a = b + 2j\n", 2, 11, "2j", "complex number in a kernel; keep the real and the imaginary part in two values"},
    {Diag::NoBytes, "  a = b'x'\n", 2, 7, "b'x'", "bytes literal in a kernel; use a text literal"},
};

static void check(const Case &expected, const Parsed &parsed) {
  INFO(expected.source << "\n" << parsed.diagnostics.render());
  const auto &messages = parsed.diagnostics.messages();
  REQUIRE_FALSE(messages.empty());
  CHECK(std::string(diagName(messages[0].id)) == diagName(expected.id));
  CHECK(messages[0].text == expected.message);
  const LineColumn at = parsed.file->position(messages[0].place.range.begin);
  CHECK(at.line == expected.line);
  CHECK(at.column == expected.column);
  CHECK(std::string(parsed.file->text(messages[0].place.range)) == expected.underlined);
  CHECK(parsed.diagnostics.errorCount() == 1);
}

TEST_CASE("messages of the lexer and the parser", "[message]") {
  for (const Case &expected : kSyntaxCases)
    check(expected, Parsed(expected.source));
}

TEST_CASE("messages of the restrictions", "[message]") {
  for (const Case &expected : kRestrictionCases) {
    Parsed parsed(std::string("def kernel(x, y):\n") + expected.source);
    INFO(parsed.diagnostics.render());
    REQUIRE_FALSE(parsed.diagnostics.hasErrors());
    checkRestrictions(parsed.module, parsed.diagnostics);
    check(expected, parsed);
  }
}

TEST_CASE("notes point at the other party", "[message]") {
  Parsed parsed("x = (1]\n");
  REQUIRE(parsed.diagnostics.messages().size() == 2);
  CHECK(parsed.diagnostics.messages()[1].text == "`(` is opened here");
  CHECK(parsed.diagnostics.messages()[1].place.range.begin == 4);
}

// What the tables can't hold: sources that are long or hold a NUL byte.
TEST_CASE("messages with limits", "[message]") {
  auto only = [](const std::string &text, Diag id, const std::string &message) {
    Parsed parsed(text);
    REQUIRE(parsed.diagnostics.errorCount() == 1);
    CHECK(parsed.diagnostics.messages()[0].id == id);
    CHECK(parsed.diagnostics.messages()[0].text == message);
  };
  only(std::string("x = 1\0\n", 7), Diag::NulByte, "the source has a NUL byte");
  only("x = " + std::string(1300, '1'), Diag::NumberTooLong, "integer literal of more than 1250 decimal digits");
  only("x = " + std::string(300, '(') + "1" + std::string(300, ')'), Diag::NestingTooDeep, "nesting deeper than 200 levels");
  std::string sum = "x = 1", elifs = "if a: pass\n";
  for (unsigned i = 0; i < 1001; ++i)
    sum += " + 1", elifs += "elif b: pass\n";
  only(sum, Diag::ExpressionTooHigh, "expression of more than 1000 chained operations; split it with a variable");
  only(elifs, Diag::TooManyElifs, "more than 1000 chained `elif`");
  std::string many = "x = [";
  for (unsigned i = 0; i < 10'000'001; ++i)
    many += "1,";
  only(many + "]", Diag::TooManyTokens, "the source has more than 20000000 tokens");
}

TEST_CASE("parameters of kernels", "[message]") {
  Parsed parsed("def f(a, **k): pass\nasync def g(): pass\n");
  checkRestrictions(parsed.module, parsed.diagnostics);
  CHECK(parsed.summary() == "1:10 NoKeywordParameter\n2:1 NoAsync\n");
}

TEST_CASE("every message of the syntax has its test", "[message]") {
  std::set<Diag> tested = {Diag::OpenedHere,        Diag::NulByte,      Diag::NumberTooLong, Diag::NestingTooDeep,
                           Diag::ExpressionTooHigh, Diag::TooManyElifs, Diag::TooManyTokens, Diag::NoKeywordParameter};
  for (const Case &expected : kSyntaxCases)
    tested.insert(expected.id);
  for (const Case &expected : kRestrictionCases)
    tested.insert(expected.id);
#define TK_DIAGNOSTIC(name, severity, text) \
  if (!tested.count(Diag::name))            \
    FAIL_CHECK("no test provokes " #name);
#include "lang/syntax/SyntaxDiagnostics.def"
#undef TK_DIAGNOSTIC
}
