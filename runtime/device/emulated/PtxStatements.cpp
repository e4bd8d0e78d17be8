// Instructions and operands of PTX.
#include "runtime/device/emulated/PtxParser.h"
#include <bit>

namespace tk::emulated {

void PtxParser::parseStatement(ParsedFunction &function) {
  Statement statement;
  statement.line = lexer.peek().line;
  if (lexer.accept('@')) {
    statement.guardNegated = lexer.accept('!');
    std::string_view name = lexer.name();
    statement.guard = findRegister(name);
    if (statement.guard < 0 || function.registers[statement.guard].type != Type::Pred)
      lexer.fail("`" + std::string(name) + "` is no predicate register");
  }
  statement.opcode = lexer.name();
  if (statement.guard < 0 && lexer.accept(':')) {
    parseLabelled(function, statement.opcode);
    return;
  }
  while (lexer.peek().is('.'))
    statement.modifiers.push_back(lexer.word());
  while (!lexer.accept(';')) {
    statement.operands.push_back(parseOperand());
    if (!lexer.peek().is(';'))
      lexer.expect(',');
  }
  statement.place = place;
  function.statements.push_back(std::move(statement));
}

// A label: of the next statement, of a list of targets, or of a prototype of an indirect call.
void PtxParser::parseLabelled(ParsedFunction &function, std::string_view label) {
  if (lexer.peek().is('.')) {
    PtxLexer saved = lexer;
    std::string_view word = lexer.word();
    if (word == "branchtargets" || word == "calltargets") {
      std::vector<std::string_view> &targets = function.branchTargets[std::string(label)];
      do
        targets.push_back(lexer.name());
      while (lexer.accept(','));
      lexer.expect(';');
      return;
    }
    if (word == "callprototype") {
      while (!lexer.accept(';')) {
        if (lexer.peek().kind == Token::Kind::End)
          lexer.fail("a prototype does not end");
        lexer.take();
      }
      return;
    }
    lexer = saved;
  }
  if (!function.labels.emplace(label, uint32_t(function.statements.size())).second)
    lexer.fail("label `" + std::string(label) + "` stands twice");
}

std::vector<Operand> PtxParser::parseList(char open, char close) {
  std::vector<Operand> parts;
  lexer.expect(open);
  while (!lexer.accept(close)) {
    parts.push_back(parseOperand());
    if (!lexer.peek().is(close))
      lexer.expect(',');
  }
  return parts;
}

Operand PtxParser::parseOperand() {
  Operand operand;
  const Token &token = lexer.peek();
  if (token.is('{')) {
    operand.kind = Operand::Kind::Vector;
    operand.parts = parseList('{', '}');
    return operand;
  }
  if (token.is('(')) {
    operand.kind = Operand::Kind::List;
    operand.parts = parseList('(', ')');
    return operand;
  }
  if (token.is('['))
    return parseAddress();
  if (lexer.accept('!')) {
    operand = parseName();
    operand.negated = true;
    return operand;
  }
  if (lexer.accept('-')) {
    if (lexer.peek().kind == Token::Kind::Name) {
      operand = parseName();
      operand.negated = true;
      return operand;
    }
    return parseNumber(true);
  }
  if (token.kind == Token::Kind::Integer || token.kind == Token::Kind::Float)
    return parseNumber(false);
  operand = parseName();
  if (lexer.accept('|')) {
    Operand pair;
    pair.kind = Operand::Kind::Pair;
    pair.parts.push_back(std::move(operand));
    pair.parts.push_back(parseName());
    return pair;
  }
  return operand;
}

Operand PtxParser::parseNumber(bool negative) {
  Operand operand;
  Token token = lexer.take();
  if (token.kind == Token::Kind::Float) {
    operand.kind = Operand::Kind::Float;
    operand.number = negative ? -token.number : token.number;
    operand.single = token.single;
    operand.integer = int64_t(token.integer);
    if (negative)
      operand.integer = int64_t(token.single ? uint64_t(std::bit_cast<uint32_t>(float(operand.number))) : std::bit_cast<uint64_t>(operand.number));
    return operand;
  }
  if (token.kind != Token::Kind::Integer)
    lexer.fail("expected a number, found `" + std::string(token.text) + "`");
  operand.kind = Operand::Kind::Integer;
  operand.integer = int64_t(negative ? 0 - token.integer : token.integer);
  return operand;
}

Operand PtxParser::parseName() {
  Operand operand;
  std::string_view name = lexer.name();
  operand.name = name;
  if (name == "_")
    return operand;
  operand.index = findRegister(name);
  if (operand.index >= 0) {
    operand.kind = Operand::Kind::Register;
    return operand;
  }
  if (name[0] == '%') {
    operand.kind = Operand::Kind::Special;
    if (lexer.peek().is('.')) {
      std::string_view word = lexer.word();
      size_t which = word.size() == 1 ? std::string_view("xyzw").find(word[0]) : std::string_view::npos;
      if (which == std::string_view::npos)
        lexer.fail("unknown part `." + std::string(word) + "` of a register");
      operand.lane = uint8_t(which);
    }
    return operand;
  }
  operand.symbol = findVariable(name);
  operand.kind = Operand::Kind::Symbol; // a variable, a function or a label: the decoder knows
  bool minus = lexer.peek().is('-');
  if (minus || lexer.peek().is('+')) {
    lexer.take();
    int64_t addend = int64_t(lexer.integer());
    operand.integer = minus ? -addend : addend;
  }
  return operand;
}

// [base], [base+offset], [offset], and [map, {coordinates}] of tensor copies.
Operand PtxParser::parseAddress() {
  Operand operand;
  operand.kind = Operand::Kind::Address;
  lexer.expect('[');
  bool minus = lexer.accept('-');
  if (lexer.peek().kind == Token::Kind::Integer) {
    operand.integer = int64_t(lexer.take().integer);
    if (minus)
      operand.integer = -operand.integer;
  } else {
    operand.name = lexer.name();
    operand.index = findRegister(operand.name);
    if (operand.index < 0) {
      operand.symbol = findVariable(operand.name);
      if (operand.symbol < 0)
        lexer.fail("unknown name `" + std::string(operand.name) + "` in an address");
    }
  }
  while (lexer.peek().is('+') || lexer.peek().is('-')) {
    bool less = lexer.take().text == "-";
    bool negative = lexer.accept('-');
    int64_t addend = int64_t(lexer.integer());
    operand.integer += less != negative ? -addend : addend;
  }
  while (lexer.accept(','))
    operand.parts.push_back(parseOperand());
  lexer.expect(']');
  return operand;
}

} // namespace tk::emulated
