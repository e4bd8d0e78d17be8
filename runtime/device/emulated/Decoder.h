// From parsed statements to what the warps execute. Decoder holds a function's registers, constants and variables; Decoding is one instruction on its way,
// handed to the decode function of its family (Opcodes.def), which must use up every modifier: one that nobody asks for is an error.
#pragma once
#include "runtime/device/emulated/EmulatedDevice.h"
#include <initializer_list>
#include <span>

namespace tk::emulated {

class Decoder {
public:
  Decoder(Module &module, int function);
  void run();

private:
  friend class Decoding;
  void layOutVariables();
  void noteTouches();
  int32_t allocate(uint32_t bytes, uint32_t align);
  int32_t constant(Constant constant);
  uint32_t label(std::string_view name, uint32_t line) const;

  Module &module;
  const ParsedFunction &parsed;
  Function &function;
  std::vector<int32_t> registerOffsets;
  std::map<int, uint32_t> localOffsets; // of variables
  std::map<int, uint32_t> kernelOffsets;
  std::map<decltype(Constant().key()), int32_t> constants;
  uint32_t frameBytes = 0;
  int32_t carryRegister = -1;
};

class Decoding {
public:
  Decoding(Decoder &decoder, const Statement &statement, Instr &i) : i(i), statement(statement), decoder(decoder) {}

  // Modifiers.
  bool take(std::string_view modifier);
  /// The index of the one that is there, or -1.
  int takeOneOf(std::initializer_list<std::string_view> modifiers);
  Type tryType();
  Type takeType();
  std::string_view takeAny(); // the next that is left; empty when there is none
  void finish();              // fails when one is left

  // Operands.
  size_t operands() const { return statement.operands.size(); }
  const Operand &operand(size_t index) const;
  bool isRegister(size_t index) const { return operand(index).kind == Operand::Kind::Register; }
  /// A register, immediate, address or special register as a value of the type.
  int32_t source(const Operand &operand, Type type);
  int32_t source(size_t index, Type type) { return source(operand(index), type); }
  /// The same when the register may be wider or narrower than the type; says how many bytes a lane has.
  int32_t sourceOfAnyWidth(const Operand &operand, Type type, int &bytes);
  int32_t destination(const Operand &operand, Type type);
  int32_t destination(size_t index, Type type) { return destination(operand(index), type); }
  int32_t destinationOfAnyWidth(const Operand &operand, Type type, int &bytes);
  /// A predicate that is read; `negated` tells of a `!`.
  int32_t predicate(const Operand &operand, bool &negated);
  Type registerType(const Operand &operand) const;
  /// An immediate.
  int64_t integer(size_t index) const;
  /// i.<base>, and i.imm the offset; flags get addressWide when the base has 64 bits.
  int32_t address(const Operand &operand, Space &space);
  int32_t bits(uint64_t value, uint8_t bytes);
  int32_t scratch(uint32_t bytes) { return decoder.allocate(bytes, bytes <= 4 ? 4 : 64); }
  int32_t carryFlag(); // CC.CF, one for the function
  void list(std::span<const int32_t> offsets);
  uint32_t label(std::string_view name) const { return decoder.label(name, statement.line); }
  uint32_t branchTable(std::string_view name);
  void expectOperands(size_t least, size_t most);
  /// A destination and `count` (1 to 3) sources, all of one type: what most arithmetic has.
  void takeOperands(Class kind, Type type, size_t count);
  /// The function named, or -1; -2 when the operand is a register.
  int functionNamed(const Operand &operand) const;
  uint32_t localOffsetOf(const Operand &operand) const;
  Function &function() { return decoder.function; }
  Module &module() { return decoder.module; }
  int versionTimes10() const { return decoder.module.parsed->versionMajor * 10 + decoder.module.parsed->versionMinor; }
  [[noreturn]] void fail(std::string message) const;

  Instr &i;
  const Statement &statement;

private:
  Decoder &decoder;
  uint64_t used = 0;
};

// AsyncOps.cpp: forms of st and red that the asynchronous units execute.
void decodeStAsync(Decoding &d);
void decodeStBulk(Decoding &d);
void decodeRedAsync(Decoding &d);

/// Bytes of a lane in the register file: 0 for predicates.
int registerBytes(Type type);

/// In Instr::flags of memory instructions: the address register has 64 bits.
constexpr uint32_t addressWide = 1u << 30;

#define OPCODE(NAME, DECODE) void DECODE(Decoding &);
#include "runtime/device/emulated/Opcodes.def"
#undef OPCODE

} // namespace tk::emulated
