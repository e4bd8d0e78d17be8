// PTX text as parsed: what is declared and which instructions stand where, without meaning. PTX ISA 9.0, sections 4 (syntax), 5 (state spaces) and 11
// (directives).
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace tk::emulated {

/// The fundamental types of section 5.2 and the packed and narrow ones that only appear as modifiers.
enum class Type : uint8_t {
  None,
  Pred,
  B8,
  B16,
  B32,
  B64,
  B128,
  U8,
  U16,
  U32,
  U64,
  S8,
  S16,
  S32,
  S64,
  F16,
  F16x2,
  BF16,
  BF16x2,
  F32,
  F32x2,
  F64,
  TF32,
  E4M3,
  E5M2,
  E4M3x2,
  E5M2x2,
  E2M1x2,
  E2M3x2,
  E3M2x2,
  UE8M0x2,
  U16x2,
  S16x2,
  U4,
  S4,
  B1
};
Type typeOfName(std::string_view name); // without the dot; None when it is no type
int bytesOf(Type type);                 // of one value in memory; 0 for predicates
bool isFloat(Type type);
bool isSigned(Type type);

enum class Space : uint8_t { Generic, Register, Param, Global, Shared, SharedCluster, Local, Const };

/// A fault in the text.
struct PtxError : std::runtime_error {
  PtxError(std::string message, uint32_t line) : std::runtime_error(std::move(message)), line(line) {}
  uint32_t line;
};

/// Where an instruction comes from: `.loc`, with the site it was inlined at (0: nowhere).
struct SourcePlace {
  uint32_t file = 0, line = 0, column = 0;
  uint32_t inlinedFile = 0, inlinedLine = 0;
};

struct Register {
  std::string name;
  Type type;
};

/// A variable in memory: module level, shared, local, or a parameter.
struct Variable {
  std::string name;
  Space space = Space::Global;
  Type type = Type::B8;
  uint64_t align = 1, bytes = 0;
  bool isExtern = false; // without a size: dynamic shared memory
  bool isArray = false;
  std::vector<uint8_t> initial;
  struct Reference { // bytes of `initial` that hold an address
    uint64_t offset;
    std::string symbol;
    int64_t addend;
    bool generic;
    uint8_t bytes, shift; // (address >> shift), of these many bytes
  };
  std::vector<Reference> references;
  uint32_t line = 0;
  int function = -1; // the function it stands in, or -1
};

struct Operand {
  enum class Kind : uint8_t { Register, Special, Integer, Float, Symbol, Label, Address, Vector, Sink, Pair, List } kind = Kind::Sink;
  bool negated = false;       // !p or -x
  uint8_t lane = 0;           // of a special register: 0..3 for .x .y .z .w
  int index = -1;             // register, or variable of the module; of Address: the base register or -1
  int symbol = -1;            // of Symbol and Address: the variable, or -1
  int64_t integer = 0;        // of Integer; of Address and Symbol: the addend
  double number = 0;          // of Float
  bool single = false;        // of Float: written as 0f...
  std::string_view name;      // of Symbol, Label, Special
  std::vector<Operand> parts; // of Vector {a,b}, Pair p|q, List (a,b); of Address: the second bracket part of a tensor copy
};

struct Statement {
  std::string_view opcode;
  std::vector<std::string_view> modifiers;
  std::vector<Operand> operands;
  int guard = -1;
  bool guardNegated = false;
  uint32_t line = 0, place = 0;
};

struct ParsedFunction {
  std::string name;
  bool isEntry = false, hasBody = false;
  std::vector<int> parameters, results; // variables
  std::vector<Register> registers;
  std::vector<Statement> statements;
  std::map<std::string, uint32_t, std::less<>> labels; // to the index of a statement
  std::map<std::string, std::vector<std::string_view>, std::less<>> branchTargets;
  uint32_t maxThreads[3] = {0, 0, 0}, requiredThreads[3] = {0, 0, 0}, requiredCluster[3] = {0, 0, 0};
  uint32_t maxRegisters = 0; // .maxnreg; 0: not given
  uint32_t line = 0;
};

struct ParsedModule {
  std::string text; // owns what the string_views show
  std::string target;
  int versionMajor = 0, versionMinor = 0;
  int addressSize = 64;
  std::vector<Variable> variables;
  std::vector<ParsedFunction> functions;
  std::vector<SourcePlace> places = {{}};
  std::map<uint32_t, std::string> files;
  std::map<std::string, std::string, std::less<>> aliases;
};

/// Throws PtxError.
std::unique_ptr<ParsedModule> parsePtx(std::string text);

} // namespace tk::emulated
