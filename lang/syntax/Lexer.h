// Text to tokens, one at a time.
//
// Tokens are Python 3.12's: indentation becomes Indent and Dedent, lines are joined in brackets and after a backslash, an
// f-string is FStringStart, then FStringMiddle (literal text or the text of a format) and the tokens of its fields in turn, then
// FStringEnd. What can't be read is reported and becomes an Error token, once per cause; the lexer goes on behind it.
// Time is linear in the text; nothing recurses.
#pragma once
#include "lang/syntax/Diagnostic.h"
#include <optional>

namespace tk::lang {

enum class Tok : uint8_t {
#define TK_TOKEN(name, description) name,
#define TK_KEYWORD(name, spelling) Kw##name,
#define TK_PUNCTUATION(name, spelling) name,
#include "lang/syntax/Tokens.def"
};

/// "`(`", "`if`", "a name": how messages call a token.
const char *tokenDescription(Tok kind);
const char *tokenName(Tok kind);
inline bool isKeyword(Tok kind) { return kind >= Tok::KwFalse && kind <= Tok::KwYield; }

struct Token {
  Tok kind = Tok::EndOfFile;
  bool startsLine = false; // the first token of a line of the file, also inside brackets
  SourceRange range;
};

/// Reports bytes that are not UTF-8 and NUL bytes, once per line. False when there were any.
bool checkEncoding(const SourceFile &file, Diagnostics &diagnostics);

class Lexer {
public:
  /// `expression`: the text is one expression, its first line has no indentation.
  Lexer(const SourceFile &file, Diagnostics &diagnostics, bool expression = false);

  Token next();
  /// Goes on at the line of `offset`, as if no bracket or string were open there.
  void restartAt(uint32_t offset);
  /// While quiet, nothing is reported: the parser skips the rest of a statement that is wrong already.
  void setQuiet(bool on) { quiet = on; }

private:
  struct Bracket {
    char opener;
    uint32_t offset;
  };
  /// An f-string that is being read. The `{` of an open field is among the brackets, too.
  struct FString {
    char quote;
    bool triple, raw;
    uint32_t begin;             // of the prefix
    size_t outer;               // brackets that were open before it
    bool inText = true;         // reading literal text or a format, not the tokens of a field
    std::vector<size_t> fields; // for each open field (they nest through formats): the brackets open inside its `{`
  };
  struct Level {
    unsigned column, alternative; // of an indentation: with tabs to 8 columns, and to 1
  };

  char at(size_t index) const { return index < text.size() ? text[index] : '\0'; }
  bool lineEndAt(size_t index) const { return index >= text.size() || text[index] == '\n' || text[index] == '\r'; }
  void skipLineEnd();
  template <typename... Args> bool report(Diag id, size_t begin, size_t end, const Args &...args);
  Token make(Tok kind, size_t begin);
  Token error(size_t begin);

  bool startLine(Token &token);
  bool indent(unsigned column, unsigned alternative, size_t begin, Token &token);
  bool skipSpace(Token &token);
  bool continueLine(Token &token);
  bool startsStatement() const;
  Token unclosed();
  Token endOfFile();
  Token nameOrString();
  Token invalidCharacter();
  Token operatorOrBracket();
  Token closeBracket(char closer);

  // LexLiterals.cpp
  Token number();
  Token prefixedNumber(unsigned base, const char *kind);
  bool digits(unsigned base);
  Token badNumber(size_t begin, const char *kind);
  bool numberMayEnd() const;
  Token string(size_t begin, size_t quoteAt, bool raw);
  Token unterminatedString(size_t begin, char quote, bool triple);
  Token startFString(size_t begin, size_t quoteAt, bool raw);
  Token fstringText();
  void skipEscape(bool raw);

  const SourceFile &file;
  Diagnostics &diagnostics;
  std::string_view text;
  size_t pos = 0, reportedTo = 0; // errors before reportedTo have been reported already
  bool quiet = false;
  bool atLineStart, firstOfLine = true, pendingNewline = false;
  bool lastWasNewline = true; // no token since the last logical line
  unsigned pendingDedents = 0;
  std::optional<unsigned> misaligned; // the column of lines whose indentation is wrong, until one is right
  std::vector<Level> levels{{0, 0}};
  std::vector<Bracket> brackets;
  std::vector<FString> fstrings;
};

/// Reports unless the lexer is quiet or has been here before. True when it did.
template <typename... Args> bool Lexer::report(Diag id, size_t begin, size_t end, const Args &...args) {
  if (quiet || begin < reportedTo)
    return false;
  diagnostics.report(id, {&file, {static_cast<uint32_t>(begin), static_cast<uint32_t>(end)}}, args...);
  return true;
}

} // namespace tk::lang
