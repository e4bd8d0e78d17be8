// Lines, columns and reading of files.
#include "lang/syntax/Source.h"
#include "Catch.h"
#include <cstdio>

using namespace tk::lang;

static void checkAt(const SourceFile &file, uint32_t offset, uint32_t line, uint32_t column) {
  const LineColumn at = file.position(offset);
  INFO("offset " << offset);
  CHECK(at.line == line);
  CHECK(at.column == column);
}

TEST_CASE("lines end at LF, CRLF and a lone CR", "[source]") {
  SourceFile file("f", "ab\ncd\r\nef\rgh");
  REQUIRE(file.lineCount() == 4);
  CHECK(file.line(1) == "ab");
  CHECK(file.line(2) == "cd");
  CHECK(file.line(3) == "ef");
  CHECK(file.line(4) == "gh");
  CHECK(file.line(5) == "");
  CHECK(file.line(0) == "");
  checkAt(file, 0, 1, 1);
  checkAt(file, 2, 1, 3);
  checkAt(file, 3, 2, 1);
  checkAt(file, 6, 2, 4); // the LF of CRLF still belongs to its line
  checkAt(file, 7, 3, 1);
  checkAt(file, 11, 4, 2);
  checkAt(file, 1000, 4, 3); // past the end: the end
}

TEST_CASE("an empty file has one empty line", "[source]") {
  SourceFile file("f", "");
  CHECK(file.lineCount() == 1);
  CHECK(file.line(1) == "");
  checkAt(file, 0, 1, 1);
}

TEST_CASE("a byte-order mark is no part of the text", "[source]") {
  SourceFile file("f", "\xEF\xBB\xBFx");
  CHECK(file.text() == "x");
  checkAt(file, 0, 1, 1);
}

TEST_CASE("columns count code points", "[source]") {
  SourceFile file("f", "a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80z\nx");
  checkAt(file, 1, 1, 2);  // é
  checkAt(file, 3, 1, 3);  // €
  checkAt(file, 6, 1, 4);  // an emoji
  checkAt(file, 10, 1, 5); // z
  checkAt(file, 12, 2, 1);
}

TEST_CASE("columns are right far along a line", "[source]") {
  std::string text = "x\n";
  for (unsigned i = 0; i < 5000; ++i)
    text += i % 3 ? "\xC3\xA9" : "a";
  SourceFile file("f", text);
  uint32_t offset = 2;
  for (unsigned i = 0; i < 5000; ++i) {
    const LineColumn at = file.position(offset);
    REQUIRE(at.line == 2);
    REQUIRE(at.column == i + 1);
    offset += i % 3 ? 2 : 1;
  }
}

TEST_CASE("reading reports why it can't", "[source]") {
  std::string error;
  CHECK(SourceFile::read("no/such/file.tk", error) == nullptr);
  CHECK(error == "can't read `no/such/file.tk`: No such file or directory");
  CHECK(SourceFile::read(".", error) == nullptr);
  CHECK(error == "can't read `.`: it is a directory");
  error.clear();
  auto file = SourceFile::read(TKC_SOURCE_DIR "/lang/syntax/Tokens.def", error);
  REQUIRE(file);
  CHECK(error.empty());
  CHECK(file->text().find("TK_KEYWORD(While, \"while\")") != std::string_view::npos);
}
