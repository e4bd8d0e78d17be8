// The grammar of PTX. Recursive descent in two files: directives and functions (PtxParser.cpp), instructions and operands (PtxStatements.cpp).
#pragma once
#include "runtime/device/emulated/PtxLexer.h"

namespace tk::emulated {

class PtxParser {
public:
  explicit PtxParser(ParsedModule &module) : module(module), lexer(module.text) {}
  void parseModule();

private:
  // One `{ ... }` of a function: names declared in it hide those outside.
  struct Scope {
    std::map<std::string, int, std::less<>> registers, variables;
  };

  void parseDirective();
  void parseFunction(bool isEntry, bool isExtern);
  void parseParameters(ParsedFunction &function, std::vector<int> &into);
  void parseBody(ParsedFunction &function);
  void parseBodyDirective(ParsedFunction &function);
  void parseRegisters(ParsedFunction &function);
  void parseVariable(Space space, bool isExtern);
  int parseDeclarator(Variable prototype);
  void parseInitial(Variable &variable);
  void parseInitialValue(Variable &variable, uint64_t &offset);
  void parseTriple(uint32_t (&into)[3]);
  void parseFile();
  void parseLoc();
  void parseLabelled(ParsedFunction &function, std::string_view label);
  void parseStatement(ParsedFunction &function);
  Operand parseOperand();
  Operand parseAddress();
  Operand parseName();
  Operand parseNumber(bool negative);
  std::vector<Operand> parseList(char open, char close);
  int findRegister(std::string_view name) const;
  int findVariable(std::string_view name) const;

  ParsedModule &module;
  PtxLexer lexer;
  std::vector<Scope> scopes = {Scope{}};
  ParsedFunction *current = nullptr;
  int functionIndex = -1;
  uint32_t place = 0;
};

} // namespace tk::emulated
