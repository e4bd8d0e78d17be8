// The parser's state and its productions, one source file per area of the grammar.
//
//   Parser.cpp            tokens, errors, recovery, blocks, the entry points
//   ParseStatements.cpp   simple statements: assignments, imports, del ...
//   ParseCompound.cpp     if, for, while, try, with, def, class, decorators
//   ParsePatterns.cpp     match
//   ParseExpressions.cpp  operators from the conditional down to calls and subscripts
//   ParseAtoms.cpp        names, literals, f-strings, displays and comprehensions
//
// A production that fails has reported why and returns null or false; its caller does likewise, up to the statement, which skips
// the rest of its line and, after a header, still parses the block below it. What recurses holds a Nest.
#pragma once
#include "lang/syntax/Ast.h"
#include "lang/syntax/Diagnostic.h"
#include "lang/syntax/Lexer.h"
#include <deque>
#include <unordered_set>

namespace tk::lang {

class Parser {
public:
  Parser(const SourceFile &file, Diagnostics &diagnostics, bool expression = false);
  ast::Block module();
  ast::ExprPtr wholeExpression();

private:
  /// What a production that fails returns: false, or a null node.
  struct Failure {
    operator bool() const { return false; }
    template <typename T> operator std::unique_ptr<T>() const { return nullptr; }
  };
  /// One level of nesting, and the bracket that opened it if one did.
  class Nest {
  public:
    explicit Nest(Parser &parser, const Token *bracket = nullptr);
    ~Nest();
    Nest(const Nest &) = delete;
    /// False when the nesting is too deep, which has been reported.
    explicit operator bool() const { return fits; }

  private:
    Parser &parser;
    bool fits, isBracket;
  };
  /// What the statements being parsed stand in.
  struct Context {
    bool inFunction = false, inLoop = false;
  };

  // Parser.cpp: tokens
  void advance();
  void take();
  const Token &peek(size_t ahead);
  bool at(Tok kind) const { return tok.kind == kind; }
  bool atWord(std::string_view word) const { return at(Tok::Name) && file.text(tok.range) == word; }
  bool accept(Tok kind);
  bool expect(Tok kind);
  bool expectName(std::string &name, SourceRange &range);
  std::string textOf(const Token &token) const { return std::string(file.text(token.range)); }
  std::string found() const;
  uint32_t columnOf(const Token &token) const;

  // Parser.cpp: errors
  template <typename... Args> Failure error(Diag id, SourceRange range, const Args &...args) {
    diagnostics.report(id, {&file, range}, args...);
    return {};
  }
  bool lineIsNextStatement() const;
  bool blameBracket();
  Failure unexpected(std::string_view expected);
  void skipStatement();
  void skipBlock();
  void recover();

  // Parser.cpp: nodes
  template <typename T> ast::ExprPtr finish(std::unique_ptr<T> node, uint32_t begin) { return setRange(std::move(node), begin); }
  ast::ExprPtr setRange(ast::ExprPtr node, uint32_t begin);
  template <typename T> ast::StmtPtr finishStmt(std::unique_ptr<T> node, uint32_t begin) {
    node->range = {begin, previousEnd};
    return node;
  }

  // Parser.cpp: blocks
  void statements(ast::Block &out);
  bool statement(ast::Block &out);
  bool block(ast::Block &out, const char *owner);
  bool block(ast::Block &out, const char *owner, Context inside);

  // ParseStatements.cpp
  bool simpleStatements(ast::Block &out);
  ast::StmtPtr simpleStatement();
  ast::StmtPtr expressionStatement();
  ast::StmtPtr annotated(ast::ExprPtr target, uint32_t begin);
  ast::StmtPtr typeAlias();
  ast::StmtPtr import();
  ast::StmtPtr importFrom();
  bool dottedName(std::string &name);
  bool importedName(ast::ImportedName &name, bool dotted);
  ast::StmtPtr raise();
  ast::StmtPtr assertion();
  ast::StmtPtr deletion();
  bool nameList(std::vector<std::string> &names);
  static const char *describe(const ast::Expr &expr);
  bool checkTarget(const ast::Expr &target, bool inTuple = false);
  bool checkDeleted(const ast::Expr &target);

  // ParseCompound.cpp
  bool atCompound();
  ast::StmtPtr compoundStatement();
  ast::StmtPtr decorated();
  ast::StmtPtr asyncStatement(std::vector<ast::ExprPtr> decorators);
  ast::StmtPtr function(uint32_t begin, std::vector<ast::ExprPtr> decorators, bool isAsync);
  ast::StmtPtr classDefinition(uint32_t begin, std::vector<ast::ExprPtr> decorators);
  bool typeParameters();
  bool parameters(std::vector<ast::Parameter> &params, Tok closer);
  bool parameter(ast::Parameter &param, bool annotated);
  ast::StmtPtr ifStatement();
  ast::StmtPtr whileStatement();
  ast::StmtPtr forStatement(uint32_t begin, bool isAsync);
  ast::StmtPtr withStatement(uint32_t begin, bool isAsync);
  bool withItems(ast::With &node);
  bool withItem(ast::With &node);
  bool parenthesizedWithItems();
  ast::StmtPtr tryStatement();
  bool handler(ast::Try &node, bool &isGroup);

  // ParsePatterns.cpp
  bool atMatch();
  ast::StmtPtr matchStatement();
  bool matchCase(ast::Match &node);
  bool openPattern();
  bool pattern();
  bool closedPattern();
  bool numberPattern();
  bool patternSequence(Tok closer);
  bool mappingPattern();
  bool classPattern();

  // ParseExpressions.cpp
  bool startsExpression() const;
  ast::ExprPtr starExpressions();
  ast::ExprPtr tupleOf(ast::ExprPtr (Parser::*production)());
  ast::ExprPtr yieldOrStarExpressions();
  ast::ExprPtr targets();
  ast::ExprPtr starred();
  ast::ExprPtr namedExpression();
  ast::ExprPtr expression();
  ast::ExprPtr lambda();
  ast::ExprPtr yield();
  ast::ExprPtr boolean(Tok keyword, ast::ExprPtr (Parser::*operand)());
  ast::ExprPtr disjunction();
  ast::ExprPtr conjunction();
  ast::ExprPtr inversion();
  ast::ExprPtr comparison();
  ast::ExprPtr bitwiseOr() { return binary(1); }
  ast::ExprPtr binary(unsigned least);
  ast::ExprPtr unary();
  ast::ExprPtr power();
  ast::ExprPtr postfix();
  bool arguments(std::vector<ast::ExprPtr> &args, std::vector<ast::Keyword> &keywords);
  bool keywordArgument(std::vector<ast::Keyword> &keywords, std::unordered_set<std::string> &names, const ast::Expr &name, uint32_t begin);
  ast::ExprPtr subscript();
  ast::ExprPtr sliceOrExpression();

  // ParseAtoms.cpp
  /// What stands between the brackets of a display.
  struct Display {
    std::vector<ast::ExprPtr> elements;
    bool comma = false;         // at least one
    ast::ExprPtr comprehension; // instead of the elements
  };
  ast::ExprPtr atom();
  ast::ExprPtr constant(ast::Constant::Type type);
  ast::ExprPtr number();
  ast::ExprPtr strings();
  bool fstring(std::vector<ast::FString::Part> &parts, std::string &text);
  bool fstringField(ast::FString::Part &part);
  bool fieldFormat(ast::FString::Part &part);
  bool display(Display &out, ast::Comprehension::Type type, Tok closer, uint32_t begin, ast::ExprPtr first = nullptr);
  ast::ExprPtr parenthesized();
  ast::ExprPtr listDisplay();
  ast::ExprPtr braceDisplay();
  ast::ExprPtr dictDisplay(uint32_t begin, ast::ExprPtr key);
  bool atComprehension();
  ast::ExprPtr comprehension(ast::Comprehension::Type type, ast::ExprPtr element, ast::ExprPtr value, uint32_t begin);

  const SourceFile &file;
  Diagnostics &diagnostics;
  Lexer lexer;
  Token tok;
  Token lineStart; // the last one that started a line of the file
  std::deque<Token> ahead;
  uint32_t previousEnd = 0; // of the last token taken
  uint64_t tokenCount = 0;
  const unsigned errorsBefore;
  unsigned nesting = 0;
  unsigned statementHeight = 0; // levels of statements around this one
  std::vector<Token> open;      // brackets
  uint32_t statementBegin = 0, statementColumn = 0;
  bool afterFailure = false; // the statement before was wrong: its `else` may stand alone
  Context context;
};

} // namespace tk::lang
