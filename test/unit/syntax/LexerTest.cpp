// Tokens, by `printTokens`.
#include "Parsing.h"

using namespace tk::lang;

/// The kinds (and texts) of the tokens, on one line; the messages after a bar.
static std::string tokens(const std::string &text) {
  SourceFile file("f.tk", text);
  Diagnostics diagnostics;
  const std::string all = printTokens(file, diagnostics);
  std::string out;
  for (size_t begin = 0; begin < all.size();) {
    const size_t end = all.find('\n', begin), space = all.find(' ', begin);
    out += (out.empty() ? "" : " ") + all.substr(space + 1, end - space - 1);
    begin = end + 1;
  }
  for (const Message &message : diagnostics.messages())
    out += std::string(" | ") + diagName(message.id);
  return out;
}

TEST_CASE("positions of tokens", "[lexer]") {
  SourceFile file("f.tk", "if x:\n  y\n");
  Diagnostics diagnostics;
  CHECK(printTokens(file, diagnostics) == "1:1-1:3 KwIf\n1:4-1:5 Name \"x\"\n1:5-1:6 Colon\n1:6-2:1 Newline\n2:1-2:3 Indent\n2:3-2:4 Name \"y\"\n2:4-3:1 "
                                          "Newline\n3:1-3:1 Dedent\n3:1-3:1 EndOfFile\n");
}

TEST_CASE("empty files and blank lines", "[lexer]") {
  CHECK(tokens("") == "EndOfFile");
  CHECK(tokens("\n\n  \n\t\n# comment\n   # another") == "EndOfFile");
  CHECK(tokens("x") == "Name \"x\" Newline EndOfFile");
  CHECK(tokens("x # c\n\n\n") == "Name \"x\" Newline EndOfFile");
}

TEST_CASE("indentation", "[lexer]") {
  CHECK(tokens("a\n  b\n\n    # c\n  c\nd\n") == "Name \"a\" Newline Indent Name \"b\" Newline Name \"c\" Newline Dedent Name \"d\" Newline EndOfFile");
  CHECK(tokens("a\n b\n  c") == "Name \"a\" Newline Indent Name \"b\" Newline Indent Name \"c\" Newline Dedent Dedent EndOfFile");
  CHECK(tokens("a\n\tb\n\tc\n") == "Name \"a\" Newline Indent Name \"b\" Newline Name \"c\" Newline Dedent EndOfFile");
  // A tab reaches the next multiple of eight, but must not be what makes two lines agree or differ.
  CHECK(tokens("a\n\tb\n        c\n") == "Name \"a\" Newline Indent Name \"b\" Newline Name \"c\" Newline Dedent EndOfFile | InconsistentIndentation");
  CHECK(tokens("a\n        b\n\tc\n") == "Name \"a\" Newline Indent Name \"b\" Newline Name \"c\" Newline Dedent EndOfFile | InconsistentIndentation");
  CHECK(tokens("a\n  \tb\n  \tc\n") == "Name \"a\" Newline Indent Name \"b\" Newline Name \"c\" Newline Dedent EndOfFile");
  CHECK(tokens("a\n    b\n  c\n") == "Name \"a\" Newline Indent Name \"b\" Newline Dedent Name \"c\" Newline EndOfFile | UnindentMismatch");
  // A form feed starts the indentation anew.
  CHECK(tokens("a\n    \fb\n") == "Name \"a\" Newline Name \"b\" Newline EndOfFile");
}

TEST_CASE("lines are joined in brackets and by a backslash", "[lexer]") {
  CHECK(tokens("(a,\n  # c\n\n b)\nc") == "LParen Name \"a\" Comma Name \"b\" RParen Newline Name \"c\" Newline EndOfFile");
  CHECK(tokens("a \\\n   b\n") == "Name \"a\" Name \"b\" Newline EndOfFile");
  CHECK(tokens("a \\\r\n   b\r\n") == "Name \"a\" Name \"b\" Newline EndOfFile");
  CHECK(tokens("if a:\n  \\\n    b\n  c\n") == "KwIf Name \"a\" Colon Newline Indent Name \"b\" Newline Name \"c\" Newline Dedent EndOfFile");
  CHECK(tokens("a \\ b\n") == "Name \"a\" Error Name \"b\" Newline EndOfFile | StrayBackslash");
  CHECK(tokens("a \\") == "Name \"a\" Error Newline EndOfFile | BackslashAtEnd");
}

TEST_CASE("line ends of every kind", "[lexer]") {
  const std::string expected = "KwIf Name \"a\" Colon Newline Indent Name \"b\" Newline Dedent Name \"c\" Newline EndOfFile";
  CHECK(tokens("if a:\n  b\nc\n") == expected);
  CHECK(tokens("if a:\r\n  b\r\nc\r\n") == expected);
  CHECK(tokens("if a:\r  b\rc\r") == expected);
  CHECK(tokens("\xEF\xBB\xBFif a:\n  b\nc") == expected);
}

TEST_CASE("operators take the longest spelling", "[lexer]") {
  CHECK(tokens("**=**//=//>>=>>->-=:=: ==") ==
        "StarStarEqual StarStar SlashSlashEqual SlashSlash RShiftEqual RShift Arrow MinusEqual Walrus Colon EqEqual Newline EndOfFile");
  CHECK(tokens("... .. .") == "Ellipsis Dot Dot Dot Newline EndOfFile");
  CHECK(tokens("<=<<<<=<!=@=@") == "LessEqual LShift LShiftEqual Less NotEqual AtEqual At Newline EndOfFile");
  CHECK(tokens("a ! b") == "Name \"a\" Error Name \"b\" Newline EndOfFile | InvalidCharacter");
}

TEST_CASE("names and keywords", "[lexer]") {
  CHECK(tokens("If iff _ match case None") == "Name \"If\" Name \"iff\" Name \"_\" Name \"match\" Name \"case\" KwNone Newline EndOfFile");
  CHECK(tokens("\xCE\xB1\xCE\xB2 = \xE6\x97\xA5") == "Name \"\xCE\xB1\xCE\xB2\" Equal Name \"\xE6\x97\xA5\" Newline EndOfFile");
  // A no-break space, curly quotes and the like are no letters.
  CHECK(tokens("a\xC2\xA0"
               "b") == "Name \"a\" Error Name \"b\" Newline EndOfFile | InvalidCharacter");
  CHECK(tokens("\xE2\x80\x9Chi\xE2\x80\x9D") == "Error Name \"hi\" Error Newline EndOfFile | InvalidCharacter | InvalidCharacter");
}

TEST_CASE("tokens of numbers", "[lexer]") {
  for (const char *text : {"0",      "00",   "0_0",          "1",      "1_000", "0x1F", "0X_f", "0o17", "0b1_0", "1.", ".5",
                           "1.5e-3", "1e10", "1_0.0_1e+1_0", "0777.5", "0e0",   "1j",   "1.5J", "09.1", "0_7j"})
    CHECK(tokens(text) == "Number \"" + std::string(text) + "\" Newline EndOfFile");
  CHECK(tokens("1if x else 2") == "Number \"1\" KwIf Name \"x\" KwElse Number \"2\" Newline EndOfFile");
  CHECK(tokens("0xfor x") == "Number \"0xf\" KwOr Name \"x\" Newline EndOfFile");
  CHECK(tokens("1..real") == "Number \"1.\" Dot Name \"real\" Newline EndOfFile");
  CHECK(tokens("x.5") == "Name \"x\" Number \".5\" Newline EndOfFile");
  for (const char *text :
       {"1_", "1__0", "0x", "0xg", "0b", "0b_", "0o_", "1abc", "1_.5", "1._5", "1e", "1e+", "1e5_", "0x_", "0_x1", "1.5ab", "12\xC3\xA9", "1jj"})
    CHECK((tokens(text).starts_with("Error ") && tokens(text).ends_with(" | InvalidNumber")));
  CHECK(tokens("0b12") == "Error Newline EndOfFile | InvalidDigit");
  CHECK(tokens("0o8") == "Error Newline EndOfFile | InvalidDigit");
  CHECK(tokens("0123") == "Error Newline EndOfFile | LeadingZeros");
}

TEST_CASE("tokens of strings", "[lexer]") {
  for (const char *text :
       {"''", "'a'", "\"a'b\"", "r'\\'", "b'a'", "u'a'", "Rb'a'", "bR'a'", "'''a\n'b'''", "\"\"\"a\"\"\"", "'\\''", "r'\\''", "'a\\\nb'", "'a\\\r\nb'"})
    CHECK(tokens(text).substr(0, 7) == std::string(text == std::string("r'\\'") ? "Error N" : "String "));
  CHECK(tokens("'abc\nx") == "Error Newline Name \"x\" Newline EndOfFile | UnterminatedString");
  CHECK(tokens("'''abc\nx") == "Error Newline EndOfFile | UnterminatedTripleString");
  CHECK(tokens("ub'a'") == "Name \"ub\" String \"'a'\" Newline EndOfFile");
  CHECK(tokens("bb'a'") == "Name \"bb\" String \"'a'\" Newline EndOfFile");
  CHECK(tokens("'a' 'b'") == "String \"'a'\" String \"'b'\" Newline EndOfFile");
}

TEST_CASE("tokens of f-strings", "[lexer]") {
  CHECK(tokens("f''") == "FStringStart \"f'\" FStringEnd Newline EndOfFile");
  CHECK(tokens("f'a{b}c'") == "FStringStart \"f'\" FStringMiddle \"a\" LBrace Name \"b\" RBrace FStringMiddle \"c\" FStringEnd Newline EndOfFile");
  CHECK(tokens("f'{{a}}'") == "FStringStart \"f'\" FStringMiddle \"{{a}}\" FStringEnd Newline EndOfFile");
  CHECK(tokens("rf'\\{a}'") == "FStringStart \"rf'\" FStringMiddle \"\\\\\" LBrace Name \"a\" RBrace FStringEnd Newline EndOfFile");
  CHECK(tokens("f'{a!r:>{w}}'") ==
        "FStringStart \"f'\" LBrace Name \"a\" Exclaim Name \"r\" Colon FStringMiddle \">\" LBrace Name \"w\" RBrace RBrace FStringEnd Newline EndOfFile");
  CHECK(tokens("f'{a != b}'") == "FStringStart \"f'\" LBrace Name \"a\" NotEqual Name \"b\" RBrace FStringEnd Newline EndOfFile");
  CHECK(tokens("f'{a:=5}'") == "FStringStart \"f'\" LBrace Name \"a\" Colon FStringMiddle \"=5\" RBrace FStringEnd Newline EndOfFile");
  CHECK(tokens("f'{(a:=5)}'") == "FStringStart \"f'\" LBrace LParen Name \"a\" Walrus Number \"5\" RParen RBrace FStringEnd Newline EndOfFile");
  CHECK(tokens("f'{d[1:2]}'") == "FStringStart \"f'\" LBrace Name \"d\" LBracket Number \"1\" Colon Number \"2\" RBracket RBrace FStringEnd Newline EndOfFile");
  // The same quotes inside a field, and lines and comments in it.
  CHECK(tokens("f'{f'{1}'}'") == "FStringStart \"f'\" LBrace FStringStart \"f'\" LBrace Number \"1\" RBrace FStringEnd RBrace FStringEnd Newline EndOfFile");
  CHECK(tokens("f'{\n a # c }\n}'") == "FStringStart \"f'\" LBrace Name \"a\" RBrace FStringEnd Newline EndOfFile");
  CHECK(tokens("f'''{\na}\n'''") == "FStringStart \"f'''\" LBrace Name \"a\" RBrace FStringMiddle \"\\n\" FStringEnd Newline EndOfFile");
  CHECK(tokens("f'\\N{BULLET}{a}'") == "FStringStart \"f'\" FStringMiddle \"\\\\N{BULLET}\" LBrace Name \"a\" RBrace FStringEnd Newline EndOfFile");
  CHECK(tokens("f'abc\nx") == "FStringStart \"f'\" Error Newline Name \"x\" Newline EndOfFile | UnterminatedFString");
  CHECK(tokens("f'}'") == "FStringStart \"f'\" Error FStringEnd Newline EndOfFile | SingleBrace");
  CHECK(tokens("f'{a'\nx").find("| UnclosedField") != std::string::npos);
  CHECK(tokens("f'{a:b'\nx").find("Newline Name \"x\" Newline EndOfFile | UnclosedField") != std::string::npos);
}

TEST_CASE("brackets that don't match", "[lexer]") {
  CHECK(tokens(")") == "Error Newline EndOfFile | UnmatchedBracket");
  CHECK(tokens("(]") == "LParen Error Error Newline EndOfFile | MismatchedBracket | OpenedHere | UnclosedBracket");
  CHECK(tokens("([)\nx") == "LParen LBracket Error Newline Name \"x\" Newline EndOfFile | MismatchedBracket | OpenedHere");
  CHECK(tokens("(") == "LParen Error Newline EndOfFile | UnclosedBracket");
  // A line that starts with a word that no expression holds ends the bracket.
  CHECK(tokens("f(1,\ndef g(): x\n") ==
        "Name \"f\" LParen Number \"1\" Comma Error Newline KwDef Name \"g\" LParen RParen Colon Name \"x\" Newline EndOfFile | UnclosedBracket");
  CHECK(tokens("f(1,\ndefine)\n") == "Name \"f\" LParen Number \"1\" Comma Name \"define\" RParen Newline EndOfFile");
}

TEST_CASE("bytes that are no text are reported once a line", "[lexer]") {
  CHECK(tokens("a\xFF\xFE b\n\xC0\x80\nc").ends_with(" | InvalidUtf8 | InvalidUtf8"));
  CHECK(tokens(std::string("\0\0a\nb\0\n\0c", 9)) == "Name \"a\" Newline Name \"b\" Newline Name \"c\" Newline EndOfFile | NulByte | NulByte | NulByte");
  // Overlong forms, surrogates, values past the last code point, a character cut off.
  for (const char *text : {"'\xC0\xAF'", "'\xED\xA0\x80'", "'\xF4\x90\x80\x80'", "'\xE2\x82'", "# \x80"})
    CHECK(tokens(text).ends_with(" | InvalidUtf8"));
}
