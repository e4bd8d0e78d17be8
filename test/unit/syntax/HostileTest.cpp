// Inputs made to hurt: huge lines, deep nesting of every kind, bytes that are no text. Each ends in a tree or in few messages, in linear time.
#include "Parsing.h"
#include <ctime>

using namespace tk::lang;

static std::string repeated(const std::string &text, size_t count) {
  std::string out;
  out.reserve(text.size() * count);
  for (size_t i = 0; i < count; ++i)
    out += text;
  return out;
}

TEST_CASE("every file of one byte", "[hostile]") {
  for (unsigned c = 0; c < 256; ++c) {
    const std::string text(1, static_cast<char>(c));
    Parsed parsed(text);
    const bool fine = std::isalpha(static_cast<int>(c)) && c < 128;
    const bool blank = text.find_first_of(" \t\f\r\n#_") == 0 || (c >= '0' && c <= '9');
    INFO("byte " << c << "\n" << parsed.diagnostics.render());
    CHECK(parsed.diagnostics.hasErrors() == !(fine || blank));
    CHECK(parsed.diagnostics.errorCount() <= 1);
    SourceFile file("f", text);
    Diagnostics diagnostics;
    printTokens(file, diagnostics);
    parseExpression(file, diagnostics);
  }
}

TEST_CASE("every file of two bytes of interest", "[hostile]") {
  const std::string bytes = "()[]{}'\"\\\n\r\t #:;,.=+-*/%@!~<>&|^fbr0x1e_jaN\xC3\xA9\xFF" + std::string(1, '\0');
  for (char a : bytes)
    for (char b : bytes)
      for (char c : bytes) {
        Parsed parsed(std::string{a, b, c});
        REQUIRE(parsed.diagnostics.errorCount() <= 6);
      }
}

TEST_CASE("deep nesting of every kind is one message", "[hostile]") {
  static const struct {
    const char *open, *close;
  } kKinds[] = {{"(", ")"},    {"[", "]"},  {"{", "}"},    {"{1: ", "}"},   {"{**", "}"},     {"f(", ")"},           {"f(k=", ")"},       {"f(*", ")"},
                {"f(**", ")"}, {"x[", "]"}, {"x[::", "]"}, {"(y := ", ")"}, {"(yield ", ")"}, {"[x for x in ", "]"}, {"f'{", "}'"},       {"f'{x:{", "}}'"},
                {"- ", ""},    {"~", ""},   {"not ", ""},  {"2 ** ", ""},   {"lambda: ", ""}, {"lambda x=", ""},     {"1 if 1 else ", ""}};
  for (const auto &kind : kKinds)
    for (size_t depth : {250, 10'000}) {
      INFO(kind.open << " " << depth);
      Parsed parsed("def f():\n  x = " + repeated(kind.open, depth) + "1" + repeated(kind.close, depth) + "\n  y = +\n");
      CHECK(parsed.diagnostics.errorCount() == 2);
      CHECK(parsed.diagnostics.messages()[0].text == "nesting deeper than 200 levels");
      CHECK(parsed.summary().ends_with("3:8 Expected\n"));
    }
}

TEST_CASE("nesting below the limit is accepted", "[hostile]") {
  for (const char *open : {"(", "[", "f(", "x["})
    CHECK_FALSE(
        Parsed("x = " + repeated(open, 200) + "1" + repeated(std::string(1, std::string(open).back() == '(' ? ')' : ']'), 200)).diagnostics.hasErrors());
  CHECK_FALSE(Parsed("x = " + repeated("-", 200) + "1").diagnostics.hasErrors());
}

TEST_CASE("deep patterns are one message", "[hostile]") {
  for (const char *open : {"(", "[", "{1: ", "P("}) {
    const char *close = std::string(open) == "[" ? "]" : std::string(open) == "{1: " ? "}" : ")";
    Parsed parsed("match x:\n  case " + repeated(open, 10'000) + "1" + repeated(close, 10'000) + ": pass\ny = +\n");
    CHECK(parsed.diagnostics.errorCount() == 2);
    CHECK(parsed.diagnostics.messages()[0].text == "nesting deeper than 200 levels");
  }
}

TEST_CASE("deep blocks are one message", "[hostile]") {
  for (const std::string head : {"if 1:", "while 1:", "for x in y:", "def f():", "class A:", "with a:", "async def f():", "match x:\n"}) {
    std::string text, indent;
    for (unsigned i = 0; i < 2000; ++i) {
      text += indent + head;
      if (head.back() == '\n')
        text += indent + " case 1:", indent += ' ';
      text += '\n';
      indent += ' ';
    }
    text += indent + "pass\ny = +\n";
    INFO(head);
    Parsed parsed(text);
    CHECK(parsed.diagnostics.errorCount() == 2);
    CHECK(parsed.diagnostics.messages()[0].text == "nesting deeper than 200 levels");
    checkRestrictions(parsed.module, parsed.diagnostics);
  }
}

TEST_CASE("long chains are one message, whatever they chain", "[hostile]") {
  for (const std::string link : {" + 1", ".a", "()", "[0]", " * 2 - 1"}) {
    Parsed parsed("x = a" + repeated(link, 100'000) + "\ny = +\n");
    INFO(link);
    CHECK(parsed.diagnostics.errorCount() == 2);
    CHECK(parsed.diagnostics.messages()[0].text == "expression of more than 1000 chained operations; split it with a variable");
  }
  Parsed elifs("if a: pass\n" + repeated("elif a: pass\n", 100'000) + "else: pass\ny = +\n");
  CHECK(elifs.diagnostics.errorCount() == 2);
  CHECK(elifs.diagnostics.messages()[0].text == "more than 1000 chained `elif`");
}

TEST_CASE("chains inside nesting stay within the limit of height", "[hostile]") {
  Parsed parsed("x = " + repeated("(" + repeated("1+", 800), 150) + "1" + repeated(")", 150) + "\n");
  CHECK_FALSE(parsed.diagnostics.hasErrors()); // 1+(1+...: the sums lean left, the parentheses right
  Parsed left("x = " + repeated("(", 150) + "1" + repeated(repeated("+1", 900) + ")", 150) + "\n");
  CHECK(left.diagnostics.errorCount() == 1);
}

TEST_CASE("flat lists may be long", "[hostile]") {
  CHECK_FALSE(Parsed("x = [" + repeated("1, ", 100'000) + "]\n").diagnostics.hasErrors());
  CHECK_FALSE(Parsed("x = a" + repeated(" and a", 100'000) + "\n").diagnostics.hasErrors());
  CHECK_FALSE(Parsed("x = 'a'" + repeated(" 'a'", 100'000) + "\n").diagnostics.hasErrors());
  CHECK_FALSE(Parsed(repeated("x = 1\n", 100'000)).diagnostics.hasErrors());
  CHECK_FALSE(Parsed(repeated("a = ", 100'000) + "1\n").diagnostics.hasErrors());
  CHECK_FALSE(Parsed("x = f'" + repeated("{a}b", 100'000) + "'\n").diagnostics.hasErrors());
}

TEST_CASE("a line of ten megabytes", "[hostile]") {
  constexpr size_t kSize = 10'000'000;
  // The text, and the most errors it may give.
  const std::pair<std::string, unsigned> kTexts[] = {
      {"#" + std::string(kSize, 'x'), 0},
      {"x = '" + std::string(kSize, 'x') + "'", 0},
      {std::string(kSize, 'x'), 0},
      {std::string(kSize, ' ') + "\n", 0},
      {"x = " + std::string(kSize, '1'), 1},
      {"x = 0x" + std::string(kSize, 'f'), 1},
      {"x = 1." + std::string(kSize, '1'), 0},
      {"x = '" + std::string(kSize, 'x'), 1},
      {"x = f'" + std::string(kSize, '{'), 1},
      {std::string(kSize, '('), 1},
      {std::string(kSize, ')'), 1},
      {std::string(kSize / 2, '(') + std::string(kSize / 2, ']'), 1},
      {"x = " + repeated("1+", kSize / 2) + "1", 1},
      {"x = 1 2;" + repeated("$;", kSize / 2), 1},
      {repeated("f'{", kSize / 3), 1},
      {std::string(kSize, '\xFF'), 1},
      {std::string(kSize, '\0'), 1},
      {repeated("\xC3\xA9 ", kSize / 3) + "$", 1},
      {repeated("\xFF\n", kSize / 2), kSize},
      {repeated("(\n", kSize / 2), 1000},
      {repeated("else:\n", kSize / 6), 1},
  };
  for (const auto &[text, most] : kTexts) {
    INFO(text.substr(0, 20));
    const std::clock_t begin = std::clock(); // of the processor: other processes don't count
    Parsed parsed(text);
    const std::string out = parsed.diagnostics.render();
    const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    CHECK(parsed.diagnostics.errorCount() <= most);
    CHECK((parsed.diagnostics.errorCount() > 0) == (most > 0));
    CHECK(out.size() < 20'000);
    CHECK(seconds < 10); // far more than needed; what is quadratic takes hours
  }
}
