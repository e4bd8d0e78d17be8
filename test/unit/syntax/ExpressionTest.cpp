// Expressions: precedence, literals, displays, calls, f-strings, and their ranges.
#include "Parsing.h"

using namespace tk::lang;
using namespace tk::lang::ast;

/// An expression's shape on one line: (op a b), with names and numbers as they are.
static std::string shape(const Expr &expr);
static std::string shapes(const std::vector<ExprPtr> &list) {
  std::string out;
  for (const ExprPtr &item : list)
    out += " " + shape(*item);
  return out;
}
static std::string shape(const Expr &expr) {
  if (auto *node = dyn<Name>(&expr))
    return node->id;
  if (auto *node = dyn<Constant>(&expr))
    return node->type == Constant::Int ? node->text : node->type == Constant::String ? "'" + node->text + "'" : node->type == Constant::None ? "None" : "?";
  if (auto *node = dyn<Binary>(&expr))
    return fmt::format("({} {} {})", spelling(node->op), shape(*node->lhs), shape(*node->rhs));
  if (auto *node = dyn<Unary>(&expr))
    return fmt::format("({} {})", spelling(node->op), shape(*node->operand));
  if (auto *node = dyn<Bool>(&expr))
    return fmt::format("({}{})", node->isAnd ? "and" : "or", shapes(node->values));
  if (auto *node = dyn<Compare>(&expr)) {
    std::string out = "(cmp " + shape(*node->first);
    for (size_t i = 0; i < node->ops.size(); ++i)
      out += fmt::format(" {} {}", spelling(node->ops[i]), shape(*node->rest[i]));
    return out + ")";
  }
  if (auto *node = dyn<Conditional>(&expr))
    return fmt::format("(if {} {} {})", shape(*node->condition), shape(*node->then), shape(*node->otherwise));
  if (auto *node = dyn<Tuple>(&expr))
    return fmt::format("(tuple{})", shapes(node->elements));
  if (auto *node = dyn<List>(&expr))
    return fmt::format("(list{})", shapes(node->elements));
  if (auto *node = dyn<Set>(&expr))
    return fmt::format("(set{})", shapes(node->elements));
  if (auto *node = dyn<Starred>(&expr))
    return "(* " + shape(*node->value) + ")";
  if (auto *node = dyn<Walrus>(&expr))
    return fmt::format("(:= {} {})", shape(*node->target), shape(*node->value));
  if (auto *node = dyn<Attribute>(&expr))
    return fmt::format("(. {} {})", shape(*node->value), node->attr);
  if (auto *node = dyn<Subscript>(&expr))
    return fmt::format("([] {} {})", shape(*node->value), shape(*node->index));
  if (auto *node = dyn<Slice>(&expr))
    return fmt::format("(: {} {} {})", node->lower ? shape(*node->lower) : "-", node->upper ? shape(*node->upper) : "-", node->step ? shape(*node->step) : "-");
  if (auto *node = dyn<Call>(&expr)) {
    std::string out = "(call " + shape(*node->callee) + shapes(node->args);
    for (const Keyword &keyword : node->keywords)
      out += fmt::format(" {}={}", keyword.name.empty() ? "**" : keyword.name, shape(*keyword.value));
    return out + ")";
  }
  return "?";
}

static std::string shape(const std::string &text) {
  SourceFile file("expression", text);
  Diagnostics diagnostics;
  const ExprPtr expr = parseExpression(file, diagnostics);
  return expr ? shape(*expr) : diagnostics.render();
}

TEST_CASE("precedence and associativity", "[expression]") {
  CHECK(shape("a + b * c - d") == "(- (+ a (* b c)) d)");
  CHECK(shape("a | b ^ c & d << e + f * -g ** h") == "(| a (^ b (& c (<< d (+ e (* f (- (** g h))))))))");
  CHECK(shape("a ** b ** c") == "(** a (** b c))");
  CHECK(shape("-a ** -b") == "(- (** a (- b)))");
  CHECK(shape("a - b - c") == "(- (- a b) c)");
  CHECK(shape("a // b % c @ d / e") == "(/ (@ (% (// a b) c) d) e)");
  CHECK(shape("not a == b") == "(not (cmp a == b))");
  CHECK(shape("not a and b or not c") == "(or (and (not a) b) (not c))");
  CHECK(shape("a and b and c or d or e") == "(or (and a b c) d e)");
  CHECK(shape("a < b <= c is not d not in e in f is g") == "(cmp a < b <= c is not d not in e in f is g)");
  CHECK(shape("a if b else c if d else e") == "(if b a (if d c e))");
  CHECK(shape("(a + b) * c") == "(* (+ a b) c)");
  CHECK(shape("a << b < c >> d") == "(cmp (<< a b) < (>> c d))");
  CHECK(shape("~a.b[c](d)") == "(~ (call ([] (. a b) c) d))");
  CHECK(shape("a & b == c") == "(cmp (& a b) == c)");
}

TEST_CASE("tuples, lists and sets", "[expression]") {
  CHECK(shape("()") == "(tuple)");
  CHECK(shape("(a)") == "a");
  CHECK(shape("(a,)") == "(tuple a)");
  CHECK(shape("a,") == "(tuple a)");
  CHECK(shape("a, *b") == "(tuple a (* b))");
  CHECK(shape("(a, (b, c), [d, *e,])") == "(tuple a (tuple b c) (list d (* e)))");
  CHECK(shape("[]") == "(list)");
  CHECK(shape("{a, b,}") == "(set a b)");
  CHECK(shape("(a := 1, b)") == "(tuple (:= a 1) b)");
}

TEST_CASE("calls and subscripts", "[expression]") {
  CHECK(shape("f()") == "(call f)");
  CHECK(shape("f(a, *b, c, k=1, *d, **e, m=2)") == "(call f a (* b) c (* d) k=1 **=e m=2)");
  CHECK(shape("f(a := 1)") == "(call f (:= a 1))");
  CHECK(shape("x[a]") == "([] x a)");
  CHECK(shape("x[a, b]") == "([] x (tuple a b))");
  CHECK(shape("x[a,]") == "([] x (tuple a))");
  CHECK(shape("x[:, None]") == "([] x (tuple (: - - -) None))");
  CHECK(shape("x[a:b:c, ::d, e:]") == "([] x (tuple (: a b c) (: - - d) (: e - -)))");
  CHECK(shape("x[*a]") == "([] x (tuple (* a)))");
  CHECK(shape("x[(a, b)]") == "([] x (tuple a b))");
}

TEST_CASE("integers of any length", "[expression]") {
  CHECK(shape("0") == "0");
  CHECK(shape("00_0") == "0");
  CHECK(shape("1_000_000") == "1000000");
  CHECK(shape("0xFF") == "255");
  CHECK(shape("0b1010_1010") == "170");
  CHECK(shape("0o777") == "511");
  CHECK(shape("0xFFFFFFFFFFFFFFFF") == "18446744073709551615");
  CHECK(shape("0x1_0000_0000_0000_0000_0000_0000_0000_0000") == "340282366920938463463374607431768211456");
  CHECK(shape("0b1" + std::string(130, '0')) == "1361129467683753853853498429727072845824");
  CHECK(shape("0o" + std::string(40, '7')) == "1329227995784915872903807060280344575");
  CHECK(shape(std::string(1250, '9')) == std::string(1250, '9'));
  CHECK(shape("0x" + std::string(1000, '0') + "1") == "1");
  CHECK(shape(std::string(1251, '9')).find("more than 1250 decimal digits") != std::string::npos);
  CHECK(shape("0x" + std::string(1039, 'f')).find("more than 1250 decimal digits") != std::string::npos);
  CHECK(shape("0x" + std::string(1038, 'f')).size() == 1250);
}

static double number(const std::string &text) {
  SourceFile file("expression", text);
  Diagnostics diagnostics;
  const ExprPtr expr = parseExpression(file, diagnostics);
  REQUIRE(expr);
  REQUIRE(as<Constant>(*expr).type == (text.back() == 'j' ? Constant::Imaginary : Constant::Float));
  return as<Constant>(*expr).number;
}

TEST_CASE("floats are the nearest double", "[expression]") {
  CHECK(number("1.") == 1.0);
  CHECK(number(".5") == 0.5);
  CHECK(number("1_0.2_5") == 10.25);
  CHECK(number("1e3") == 1000.0);
  CHECK(number("0.1") == 0.1);
  CHECK(number("1.7976931348623157e308") == 1.7976931348623157e308);
  CHECK(number("5e-324") == 5e-324);
  CHECK(number("2.5j") == 2.5);
  CHECK(number("1e400") == std::numeric_limits<double>::infinity());
  CHECK(number("1e99999999999999999999") == std::numeric_limits<double>::infinity());
  CHECK(number("1e-400") == 0.0);
  CHECK(number("0.0e99999999999") == 0.0);
  CHECK(number("0." + std::string(400, '0') + "1e400") == 0.1);
  CHECK(number(std::string(400, '9') + ".") == std::numeric_limits<double>::infinity());
  CHECK(number("0." + std::string(400, '0') + "1") == 0.0);
}

static std::string text(const std::string &source) {
  SourceFile file("expression", source);
  Diagnostics diagnostics;
  const ExprPtr expr = parseExpression(file, diagnostics);
  return expr && expr->kind == ExprKind::Constant ? as<Constant>(*expr).text : diagnostics.render();
}

TEST_CASE("strings are decoded and joined", "[expression]") {
  CHECK(text("'a' \"b\" '''c'''") == "abc");
  CHECK(text("'\\n\\t\\\\\\'\\\"\\a\\b\\f\\v\\r'") == "\n\t\\'\"\a\b\f\v\r");
  CHECK(text("'\\x41\\101\\u00e9\\U0001F600\\0'") == std::string("AA\xC3\xA9\xF0\x9F\x98\x80\0", 9));
  CHECK(text("'\\x80\\777'") == "\xC2\x80\xC7\xBF");
  CHECK(text("b'\\x80\\377\\u00e9'") == "\x80\xFF\\u00e9");
  CHECK(text("r'\\n\\''") == "\\n\\'");
  CHECK(text("'a\\\nb'") == "ab");
  CHECK(text("'a\\\r\nb'") == "ab");
  CHECK(text("'''a\r\nb\rc\nd'''") == "a\nb\nc\nd");
  CHECK(text("'\\q\\N{BULLET}'") == "\\q\\N{BULLET}");
  CHECK(text("'\\\xC3\xA9'") == "\\\xC3\xA9");
  CHECK(text("'\\ud800'") == "\xEF\xBF\xBD");
  CHECK(text("u'x'") == "x");
}

static std::string parts(const std::string &source) {
  SourceFile file("expression", source);
  Diagnostics diagnostics;
  const ExprPtr expr = parseExpression(file, diagnostics);
  if (!expr)
    return diagnostics.render();
  std::string out;
  for (const FString::Part &part : as<FString>(*expr).parts) {
    out += part.field ? fmt::format("<{}|{}|{}|{}|{}>", shape(*part.field), part.conversion ? part.conversion : '-', part.format,
                                    part.selfDocumenting ? "=" : "", part.text)
                      : "[" + part.text + "]";
  }
  return out;
}

TEST_CASE("f-strings", "[expression]") {
  CHECK(parts("f''") == "");
  CHECK(parts("f'a{b}c'") == "[a]<b|-|||>[c]");
  CHECK(parts("f'{{}}' 'x{y}' f'{z}'") == "[{}x{y}]<z|-|||>");
  CHECK(parts("f'{a!r}{b!s:>4}{c:{d}.{e}}'") == "<a|r|||><b|s|>4||><c|-|{d}.{e}||>");
  CHECK(parts("f'{a=}{b = }{c=:x}{d=!s}'") == "<a|r||=|a=><b|r||=|b = ><c|-|x|=|c=><d|s||=|d=>");
  CHECK(parts("f'{a, b}{ (c) }'") == "<(tuple a b)|-|||><c|-|||>");
  CHECK(parts("f'\\n{a}\\{b}'") == "[\n]<a|-|||>[\\]<b|-|||>");
  CHECK(parts("rf'\\n{a}'") == "[\\n]<a|-|||>");
  CHECK(parts("f'{x if y else z}'") == "<(if y x z)|-|||>");
  CHECK(parts("f\"{d['k']}\"") == "<([] d 'k')|-|||>");
}

TEST_CASE("ranges", "[expression]") {
  const std::string source = "foo(a, key=b.c)[1:2] + (-x ** 2, y)";
  SourceFile file("expression", source);
  Diagnostics diagnostics;
  const ExprPtr expr = parseExpression(file, diagnostics);
  REQUIRE(expr);
  auto textOf = [&](const Expr &node) { return std::string(file.text(node.range)); };
  const auto &sum = as<Binary>(*expr);
  CHECK(textOf(sum) == source);
  CHECK(file.text(sum.opRange) == "+");
  CHECK(textOf(*sum.lhs) == "foo(a, key=b.c)[1:2]");
  CHECK(textOf(*sum.rhs) == "(-x ** 2, y)");
  const auto &item = as<Subscript>(*sum.lhs);
  CHECK(textOf(*item.value) == "foo(a, key=b.c)");
  CHECK(textOf(*item.index) == "1:2");
  const auto &call = as<Call>(*item.value);
  CHECK(file.text(call.keywords[0].nameRange) == "key");
  CHECK(textOf(*call.keywords[0].value) == "b.c");
  CHECK(file.text(as<Attribute>(*call.keywords[0].value).attrRange) == "c");
  CHECK(textOf(*as<Tuple>(*sum.rhs).elements[0]) == "-x ** 2");
  CHECK(sum.height == 5);
}

TEST_CASE("an expression's text must be one expression", "[expression]") {
  CHECK(shape("  cdiv(n, BLOCK)  ") == "(call cdiv n BLOCK)");
  CHECK(shape("1, 2, 3") == "(tuple 1 2 3)");
  CHECK(shape("") == "expression:1:1: error: expected an expression, found the end of the file\n    1 | \n      | ^\n");
  CHECK(shape("a b") == "expression:1:3: error: expected the end of the expression, found `b`\n    1 | a b\n      |   ^\n");
  CHECK(shape("a\nb").find("2:1: error: expected the end of the expression, found `b`") != std::string::npos);
  CHECK(shape("a = b").find("1:3: error: expected the end of the expression, found `=`") != std::string::npos);
  CHECK(shape("(a").find("1:1: error: `(` was never closed") != std::string::npos);
  CHECK(shape("'\xFF'").find("invalid UTF-8") != std::string::npos);
  CHECK(shape("a +").find("1:4: error: expected an expression, found the end of the line") != std::string::npos);
}
