// How messages are collected and shown, and suggestions.
#include "Parsing.h"

using namespace tk::lang;

static std::string rendered(const std::string &text, uint32_t begin, uint32_t end, const std::string &name = "f.tk") {
  SourceFile file(name, text);
  Diagnostics diagnostics;
  diagnostics.report(Diag::UnmatchedBracket, {&file, {begin, end}}, ")");
  return diagnostics.render();
}

TEST_CASE("a message shows its line and underlines the range", "[diagnostic]") {
  CHECK(rendered("one\nsome text here\n", 9, 13) == "f.tk:2:6: error: `)` closes nothing\n"
                                                    "    2 | some text here\n"
                                                    "      |      ^~~~\n");
}

TEST_CASE("an empty range and a range at the end of a line are one caret", "[diagnostic]") {
  CHECK(rendered("abc\n", 1, 1) == "f.tk:1:2: error: `)` closes nothing\n    1 | abc\n      |  ^\n");
  CHECK(rendered("abc\n", 3, 3) == "f.tk:1:4: error: `)` closes nothing\n    1 | abc\n      |    ^\n");
  CHECK(rendered("abc\n", 4, 4) == "f.tk:2:1: error: `)` closes nothing\n    2 | \n      | ^\n");
}

TEST_CASE("a range over several lines is underlined on its first", "[diagnostic]") {
  CHECK(rendered("a (b\n c)\n", 2, 8) == "f.tk:1:3: error: `)` closes nothing\n    1 | a (b\n      |   ^~\n");
}

TEST_CASE("tabs before the range stay tabs below the line", "[diagnostic]") {
  CHECK(rendered("\tx\ty\n", 3, 4) == "f.tk:1:4: error: `)` closes nothing\n    1 | \tx\ty\n      | \t \t^\n");
}

TEST_CASE("wide and combining characters are underlined by what they take", "[diagnostic]") {
  // Two columns each for the two ideographs before the range.
  CHECK(rendered("\xE6\x97\xA5\xE6\x9C\xAC x", 7, 8) == "f.tk:1:4: error: `)` closes nothing\n    1 | \xE6\x97\xA5\xE6\x9C\xAC x\n      |      ^\n");
  CHECK(rendered("\xE6\x97\xA5\xE6\x9C\xAC x", 0, 6) == "f.tk:1:1: error: `)` closes nothing\n    1 | \xE6\x97\xA5\xE6\x9C\xAC x\n      | ^~~~\n");
}

TEST_CASE("what a terminal could obey is escaped", "[diagnostic]") {
  CHECK(rendered("\x1b[31m x", 6, 7) == "f.tk:1:7: error: `)` closes nothing\n    1 | \\x1b[31m x\n      |          ^\n");
  CHECK(rendered("a\xFFz", 2, 3) == "f.tk:1:3: error: `)` closes nothing\n    1 | a\\xffz\n      |      ^\n");
  CHECK(rendered("a\xFFz", 1, 2) == "f.tk:1:2: error: `)` closes nothing\n    1 | a\\xffz\n      |  ^~~~\n");
  CHECK(rendered("\xE2\x80\xAE z", 4, 5).find("\\u{202e} z") != std::string::npos);
  CHECK(rendered("x", 0, 1, "bad\x1bname.tk").substr(0, 17) == "bad\\x1bname.tk:1:");
}

TEST_CASE("a long line is cut around the range", "[diagnostic]") {
  const std::string text = std::string(5'000'000, 'a') + "HERE" + std::string(5'000'000, 'b');
  const std::string out = rendered(text, 5'000'000, 5'000'004);
  CHECK(out == "f.tk:1:5000001: error: `)` closes nothing\n"
               "    1 | ..." +
                   std::string(60, 'a') + "HERE" + std::string(76, 'b') + "...\n      |    " + std::string(60, ' ') + "^~~~\n");
  // A range longer than what is shown is underlined as far as it is shown.
  CHECK(rendered(text, 0, 10'000'000).size() < 400);
  // The start and the end of a long line.
  CHECK(rendered(text, 0, 1).find("    1 | aaa") != std::string::npos);
  CHECK(rendered(text, 10'000'003, 10'000'004).find("bbb\n") != std::string::npos);
}

TEST_CASE("cutting a long line never splits a character", "[diagnostic]") {
  std::string text;
  for (unsigned i = 0; i < 1000; ++i)
    text += "\xE2\x82\xAC";
  const std::string out = rendered(text, 1500, 1503);
  CHECK(out.find("\\x") == std::string::npos);
  CHECK(out.find("    1 | ...\xE2\x82\xAC") != std::string::npos);
}

TEST_CASE("a message without a place is one line", "[diagnostic]") {
  Diagnostics diagnostics;
  diagnostics.report(Diag::InvalidUtf8, {});
  CHECK(diagnostics.render() == "error: invalid UTF-8\n");
}

TEST_CASE("colours surround the severity and the marks only", "[diagnostic]") {
  SourceFile file("f.tk", "abc");
  Diagnostics diagnostics;
  diagnostics.report(Diag::InvalidUtf8, {&file, {1, 2}});
  CHECK(diagnostics.render(true) == "\033[1mf.tk:1:2: \033[1;31merror: \033[0m\033[1minvalid UTF-8\033[0m\n    1 | abc\n      | \033[1;32m ^\033[0m\n");
}

TEST_CASE("errors beyond the limit are counted, and their notes go with them", "[diagnostic]") {
  SourceFile file("f.tk", "abc");
  Diagnostics diagnostics(2);
  for (unsigned i = 0; i < 4; ++i) {
    diagnostics.report(Diag::InvalidUtf8, {&file, {0, 1}});
    diagnostics.report(Diag::OpenedHere, {&file, {1, 2}}, "(");
  }
  CHECK(diagnostics.errorCount() == 4);
  CHECK(diagnostics.hasErrors());
  CHECK(diagnostics.messages().size() == 4);
  CHECK(diagnostics.render().ends_with("\n2 more errors not shown\n"));
  diagnostics.clear();
  CHECK_FALSE(diagnostics.hasErrors());
  diagnostics.report(Diag::InvalidUtf8, {});
  CHECK(diagnostics.messages().size() == 1);
}

TEST_CASE("wrong arguments are shown, never fatal", "[diagnostic]") {
  Diagnostics diagnostics;
  diagnostics.report(Diag::Expected, {}, "one");
  CHECK(diagnostics.messages().back().text == "expected one, found ?");
  diagnostics.report(Diag::Expected, {}, "one", "two", 3);
  CHECK(diagnostics.messages().back().text == "expected one, found two");
  diagnostics.report(Diag::Expected, {}, "{}", "{:x}");
  CHECK(diagnostics.messages().back().text == "expected {}, found {:x}");
  diagnostics.report(Diag::UnmatchedBracket, {}, static_cast<const char *>(nullptr));
  CHECK(diagnostics.messages().back().text == "`?` closes nothing");
  diagnostics.report(static_cast<Diag>(60000), {}, 1);
  CHECK(diagnostics.messages().back().text == "unknown message");
}

TEST_CASE("every message's text is well formed", "[diagnostic]") {
  for (unsigned i = 0; std::string(diagName(static_cast<Diag>(i))) != "Unknown"; ++i) {
    const Diag id = static_cast<Diag>(i);
    const std::string text = diagText(id);
    INFO(diagName(id) << ": " << text);
    CHECK_FALSE(text.empty());
    CHECK(text.back() != '.');
    CHECK_FALSE((text[0] >= 'A' && text[0] <= 'Z'));
    // Fields are {} or {N}, braces are doubled.
    for (size_t k = 0; k < text.size(); ++k) {
      if (text[k] != '{' && text[k] != '}')
        continue;
      if (k + 1 < text.size() && text[k + 1] == text[k]) {
        ++k;
        continue;
      }
      REQUIRE(text[k] == '{');
      for (++k; k < text.size() && text[k] >= '0' && text[k] <= '9';)
        ++k;
      REQUIRE(k < text.size());
      REQUIRE(text[k] == '}');
    }
  }
}

TEST_CASE("the nearest name is suggested when it is near enough", "[diagnostic]") {
  const std::vector<std::string> names = {"load", "store", "program_id", "BLOCK", "num_programs", "x"};
  CHECK(nearest("BLOK", names) == "BLOCK");
  CHECK(nearest("block", names) == "BLOCK");
  CHECK(nearest("laod", names) == "load");
  CHECK(nearest("progam_id", names) == "program_id");
  CHECK(nearest("num_program", names) == "num_programs");
  CHECK(nearest("zebra", names) == "");
  CHECK(nearest("y", names) == "");
  CHECK(nearest("X", names) == "x");
  CHECK(nearest("", names) == "");
  CHECK(nearest("load", {}) == "");
  CHECK(nearest(std::string(1'000'000, 'a'), {std::string(1'000'000, 'b')}) == "");
  // The first of equally near ones, so that the answer doesn't depend on anything else.
  CHECK(nearest("ab1", {"ab2", "ab3"}) == "ab2");
}
