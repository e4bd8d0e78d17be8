#include "runtime/device/emulated/Decoder.h"
#include <bit>
#include <cstring>
#include <fmt/format.h>
#include <unordered_map>

namespace tk::emulated {

using DecodeFunction = void (*)(Decoding &);
static DecodeFunction decodeFunctionOf(std::string_view opcode) {
  static const std::unordered_map<std::string_view, DecodeFunction> table = {
#define OPCODE(NAME, DECODE) {NAME, DECODE},
#include "runtime/device/emulated/Opcodes.def"
#undef OPCODE
  };
  auto found = table.find(opcode);
  return found == table.end() ? nullptr : found->second;
}

int registerBytes(Type type) {
  int bytes = bytesOf(type);
  return bytes == 0 ? 0 : bytes <= 4 ? 4 : bytes;
}

Decoder::Decoder(Module &module, int index) : module(module), parsed(module.parsed->functions[size_t(index)]), function(module.functions[size_t(index)]) {
  for (const Register &reg : parsed.registers) {
    int bytes = registerBytes(reg.type);
    registerOffsets.push_back(bytes ? allocate(uint32_t(bytes) * 32, 64) : allocate(4, 4));
  }
  layOutVariables();
}

static uint32_t roundUp(uint64_t value, uint64_t align) { return uint32_t((value + align - 1) / align * align); }

void Decoder::layOutVariables() {
  const std::vector<Variable> &variables = module.parsed->variables;
  auto place = [&](const std::vector<int> &list, std::vector<ParameterPlace> &into, bool kernel) {
    for (int index : list) {
      const Variable &variable = variables[size_t(index)];
      uint32_t &top = kernel ? function.parameterBytes : function.localBytes;
      top = roundUp(top, variable.align);
      into.push_back({top, uint32_t(variable.bytes), uint32_t(variable.align)});
      (kernel ? kernelOffsets : localOffsets)[index] = top;
      top += uint32_t(variable.bytes);
    }
  };
  place(parsed.results, function.results, false);
  place(parsed.parameters, function.parameters, parsed.isEntry);
  int self = int(&parsed - module.parsed->functions.data());
  for (size_t k = 0; k < variables.size(); ++k) {
    const Variable &variable = variables[k];
    if (variable.function != self || (variable.space != Space::Local && variable.space != Space::Param) || localOffsets.count(int(k)) ||
        kernelOffsets.count(int(k)))
      continue;
    function.localBytes = roundUp(function.localBytes, variable.align);
    localOffsets[int(k)] = function.localBytes;
    function.localBytes += uint32_t(variable.bytes);
  }
}

int32_t Decoder::allocate(uint32_t bytes, uint32_t align) {
  frameBytes = roundUp(frameBytes, align);
  int32_t offset = int32_t(frameBytes);
  frameBytes += bytes;
  if (frameBytes > 1u << 30)
    throw PtxError("too many registers", parsed.line);
  return offset;
}

int32_t Decoder::constant(Constant wanted) {
  auto [entry, isNew] = constants.emplace(wanted.key(), 0);
  if (isNew) {
    wanted.offset = entry->second = allocate(uint32_t(wanted.bytes) * 32, 64);
    function.constants.push_back(wanted);
  }
  return entry->second;
}

uint32_t Decoder::label(std::string_view name, uint32_t line) const {
  auto found = parsed.labels.find(name);
  if (found == parsed.labels.end())
    throw PtxError("there is no label `" + std::string(name) + "`", line);
  return found->second;
}

void Decoder::run() {
  function.code.reserve(parsed.statements.size() + 1);
  for (const Statement &statement : parsed.statements) {
    DecodeFunction decode = decodeFunctionOf(statement.opcode);
    if (!decode)
      throw PtxError("unknown instruction `" + std::string(statement.opcode) + "`", statement.line);
    Instr i;
    i.line = statement.line;
    i.place = statement.place;
    if (statement.guard >= 0) {
      i.guard = registerOffsets[size_t(statement.guard)];
      i.guardNegated = statement.guardNegated;
    }
    Decoding decoding(*this, statement, i);
    decode(decoding);
    decoding.finish();
    if (!i.run && !i.control && !i.isCollective)
      decoding.fail("this combination of types and modifiers is not supported");
    function.code.push_back(i);
  }
  noteTouches();
  // Falling off the end returns.
  Statement end;
  end.opcode = "ret";
  end.line = parsed.statements.empty() ? parsed.line : parsed.statements.back().line;
  Instr i;
  i.line = end.line;
  Decoding decoding(*this, end, i);
  decodeRet(decoding);
  function.code.push_back(i);
  function.frameBytes = roundUp(frameBytes, 64);
}

// Which instructions other than wgmma name registers that a wgmma has.
void Decoder::noteTouches() {
  if (function.wgmmaRegisters.empty())
    return;
  std::vector<uint32_t> found;
  auto add = [&](auto &self, const Operand &operand) -> void {
    if ((operand.kind == Operand::Kind::Register || operand.kind == Operand::Kind::Address) && operand.index >= 0)
      if (auto entry = function.wgmmaRegisters.find(registerOffsets[size_t(operand.index)]); entry != function.wgmmaRegisters.end())
        found.push_back(entry->second);
    for (const Operand &part : operand.parts)
      self(self, part);
  };
  for (size_t k = 0; k < parsed.statements.size(); ++k) {
    const Statement &statement = parsed.statements[k];
    if (statement.opcode == "wgmma")
      continue;
    found.clear();
    for (const Operand &operand : statement.operands)
      add(add, operand);
    if (found.empty())
      continue;
    function.code[k].touches = uint32_t(function.touched.size());
    function.touched.push_back(uint32_t(found.size()));
    function.touched.insert(function.touched.end(), found.begin(), found.end());
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// Modifiers

bool Decoding::take(std::string_view modifier) {
  for (size_t k = 0; k < statement.modifiers.size(); ++k)
    if (!(used >> k & 1) && statement.modifiers[k] == modifier) {
      used |= uint64_t(1) << k;
      return true;
    }
  return false;
}

int Decoding::takeOneOf(std::initializer_list<std::string_view> modifiers) {
  int index = 0;
  for (std::string_view modifier : modifiers) {
    if (take(modifier))
      return index;
    ++index;
  }
  return -1;
}

Type Decoding::tryType() {
  for (size_t k = 0; k < statement.modifiers.size(); ++k)
    if (!(used >> k & 1))
      if (Type type = typeOfName(statement.modifiers[k]); type != Type::None) {
        used |= uint64_t(1) << k;
        return type;
      }
  return Type::None;
}

Type Decoding::takeType() {
  Type type = tryType();
  if (type == Type::None)
    fail("a type is missing");
  return type;
}

std::string_view Decoding::takeAny() {
  for (size_t k = 0; k < statement.modifiers.size(); ++k)
    if (!(used >> k & 1)) {
      used |= uint64_t(1) << k;
      return statement.modifiers[k];
    }
  return {};
}

void Decoding::finish() {
  if (std::string_view left = takeAny(); !left.empty())
    fail("unknown modifier `." + std::string(left) + "`");
}

void Decoding::fail(std::string message) const {
  std::string text(statement.opcode);
  for (std::string_view modifier : statement.modifiers)
    text += "." + std::string(modifier);
  throw PtxError("`" + text + "`: " + message, statement.line);
}

// ---------------------------------------------------------------------------------------------------------------------
// Operands

const Operand &Decoding::operand(size_t index) const {
  if (index >= statement.operands.size())
    fail(fmt::format("operand {} is missing", index + 1));
  return statement.operands[index];
}

void Decoding::takeOperands(Class kind, Type type, size_t count) {
  expectOperands(count + 1, count + 1);
  i.kind = kind;
  i.d = destination(0, type);
  i.a = source(1, type);
  if (count > 1)
    i.b = source(2, type);
  if (count > 2)
    i.c = source(3, type);
}

void Decoding::expectOperands(size_t least, size_t most) {
  if (operands() < least || operands() > most)
    fail(fmt::format("{} operands, where {} belong", operands(), least == most ? std::to_string(least) : fmt::format("{} to {}", least, most)));
}

Type Decoding::registerType(const Operand &operand) const {
  if (operand.kind != Operand::Kind::Register)
    return Type::None;
  return decoder.parsed.registers[size_t(operand.index)].type;
}

int32_t Decoding::bits(uint64_t value, uint8_t bytes) {
  Constant constant;
  constant.bytes = bytes;
  constant.value = value;
  return decoder.constant(constant);
}

struct SpecialRegister {
  std::string_view name;
  Constant::Kind kind;
  int part; // -1: what .x .y .z says
};
static constexpr SpecialRegister specialRegisters[] = {
    {"%tid", Constant::Kind::ThreadId, -1},
    {"%ntid", Constant::Kind::BlockThreads, -1},
    {"%ctaid", Constant::Kind::BlockId, -1},
    {"%nctaid", Constant::Kind::GridBlocks, -1},
    {"%laneid", Constant::Kind::LaneId, 0},
    {"%warpid", Constant::Kind::WarpId, 0},
    {"%nwarpid", Constant::Kind::Warps, 0},
    {"%smid", Constant::Kind::SmId, 0},
    {"%nsmid", Constant::Kind::Sms, 0},
    {"%gridid", Constant::Kind::GridId, 0},
    {"%lanemask_eq", Constant::Kind::LaneMask, 0},
    {"%lanemask_le", Constant::Kind::LaneMask, 1},
    {"%lanemask_lt", Constant::Kind::LaneMask, 2},
    {"%lanemask_ge", Constant::Kind::LaneMask, 3},
    {"%lanemask_gt", Constant::Kind::LaneMask, 4},
    {"%clusterid", Constant::Kind::ClusterId, -1},
    {"%nclusterid", Constant::Kind::Clusters, -1},
    {"%cluster_ctaid", Constant::Kind::ClusterBlockId, -1},
    {"%cluster_nctaid", Constant::Kind::ClusterBlocks, -1},
    {"%cluster_ctarank", Constant::Kind::ClusterRank, 0},
    {"%cluster_nctarank", Constant::Kind::ClusterSize, 0},
    {"%is_explicit_cluster", Constant::Kind::ClusterExplicit, 0},
    {"%dynamic_smem_size", Constant::Kind::DynamicShared, 0},
    {"%total_smem_size", Constant::Kind::TotalShared, 0},
};

int32_t Decoding::sourceOfAnyWidth(const Operand &operand, Type type, int &bytes) {
  Constant constant;
  bytes = std::max(registerBytes(type), 4);
  constant.bytes = uint8_t(bytes);
  switch (operand.kind) {
  case Operand::Kind::Register: {
    Type actual = registerType(operand);
    if (actual == Type::Pred)
      fail("`" + std::string(operand.name) + "` is a predicate");
    if (operand.negated)
      fail("a register can't be negated here");
    bytes = registerBytes(actual);
    return decoder.registerOffsets[size_t(operand.index)];
  }
  case Operand::Kind::Integer: {
    uint64_t value = uint64_t(operand.integer);
    if (type == Type::F32 || type == Type::F64 || type == Type::F16 || type == Type::BF16)
      fail("an integer where a float belongs");
    int valueBytes = bytesOf(type);
    if (valueBytes && valueBytes < 8)
      value &= (uint64_t(1) << (valueBytes * 8)) - 1;
    constant.value = value;
    constant.high = bytes == 16 && operand.integer < 0 ? ~uint64_t(0) : 0;
    return decoder.constant(constant);
  }
  case Operand::Kind::Float:
    if (type == Type::F16 || type == Type::BF16 || type == Type::F16x2 || type == Type::BF16x2)
      fail("a float constant of 32 or 64 bits for a half type");
    if (bytes == 8)
      constant.value = std::bit_cast<uint64_t>(operand.number);
    else if (operand.single)
      constant.value = uint32_t(operand.integer);
    else
      constant.value = std::bit_cast<uint32_t>(float(operand.number));
    return decoder.constant(constant);
  case Operand::Kind::Symbol: {
    if (operand.symbol < 0) {
      int index = functionNamed(operand);
      if (index < 0)
        fail("unknown name `" + std::string(operand.name) + "`");
      constant.value = functionWindow | uint64_t(index);
      function().callsIndirectly = true;
      return decoder.constant(constant);
    }
    const Variable &variable = module().parsed->variables[size_t(operand.symbol)];
    constant.value = uint64_t(operand.integer);
    if (variable.space == Space::Global || variable.space == Space::Const) {
      constant.value += module().addresses[size_t(operand.symbol)];
    } else if (variable.space == Space::Shared) {
      constant.kind = Constant::Kind::SharedVariable;
      constant.part = operand.symbol;
      function().sharedVariables.push_back(operand.symbol);
    } else if (auto kernel = decoder.kernelOffsets.find(operand.symbol); kernel != decoder.kernelOffsets.end()) {
      constant.kind = Constant::Kind::KernelParam;
      constant.value += kernel->second;
    } else {
      constant.kind = Constant::Kind::LocalVariable;
      constant.value += decoder.localOffsets.at(operand.symbol);
    }
    return decoder.constant(constant);
  }
  case Operand::Kind::Special:
    for (const SpecialRegister &special : specialRegisters)
      if (special.name == operand.name) {
        constant.kind = special.kind;
        constant.part = special.part < 0 ? operand.lane : special.part;
        return decoder.constant(constant);
      }
    fail("unknown special register `" + std::string(operand.name) + "`");
  default: fail("a register or a constant belongs here");
  }
}

int32_t Decoding::source(const Operand &operand, Type type) {
  int bytes;
  int32_t offset = sourceOfAnyWidth(operand, type, bytes);
  if (bytes != std::max(registerBytes(type), 4))
    fail(fmt::format("`{}` has the wrong size for the type", operand.name));
  return offset;
}

int32_t Decoding::destinationOfAnyWidth(const Operand &operand, Type type, int &bytes) {
  if (operand.kind == Operand::Kind::Sink) {
    bytes = std::max(registerBytes(type), 4);
    return scratch(uint32_t(bytes) * 32);
  }
  if (operand.kind != Operand::Kind::Register)
    fail("a register belongs here");
  Type actual = registerType(operand);
  if (actual == Type::Pred)
    fail("`" + std::string(operand.name) + "` is a predicate");
  bytes = registerBytes(actual);
  return decoder.registerOffsets[size_t(operand.index)];
}

int32_t Decoding::destination(const Operand &operand, Type type) {
  if (type == Type::Pred) {
    if (operand.kind == Operand::Kind::Sink)
      return scratch(4);
    if (registerType(operand) != Type::Pred)
      fail("a predicate register belongs here");
    return decoder.registerOffsets[size_t(operand.index)];
  }
  int bytes;
  int32_t offset = destinationOfAnyWidth(operand, type, bytes);
  if (bytes != std::max(registerBytes(type), 4))
    fail(fmt::format("`{}` has the wrong size for the type", operand.name));
  return offset;
}

int32_t Decoding::predicate(const Operand &operand, bool &negated) {
  negated = operand.negated;
  if (operand.kind == Operand::Kind::Integer) {
    int32_t offset = bits(0, 4);
    negated = operand.integer != 0;
    return offset;
  }
  if (registerType(operand) != Type::Pred)
    fail("a predicate register belongs here");
  return decoder.registerOffsets[size_t(operand.index)];
}

int64_t Decoding::integer(size_t index) const {
  if (operand(index).kind != Operand::Kind::Integer)
    fail(fmt::format("operand {} must be an integer constant", index + 1));
  return operand(index).integer;
}

int32_t Decoding::address(const Operand &operand, Space &space) {
  if (operand.kind != Operand::Kind::Address)
    fail("an address in brackets belongs here");
  if (operand.index >= 0) {
    int bytes = registerBytes(decoder.parsed.registers[size_t(operand.index)].type);
    if (bytes != 4 && bytes != 8)
      fail("an address must have 32 or 64 bits");
    i.imm = operand.integer;
    i.flags |= bytes == 8 ? addressWide : 0;
    if (space == Space::Param)
      space = decoder.parsed.isEntry ? Space::Generic : Space::Local;
    return decoder.registerOffsets[size_t(operand.index)];
  }
  i.imm = 0;
  i.flags |= addressWide;
  if (operand.symbol < 0)
    return bits(uint64_t(operand.integer), 8);
  Operand symbol;
  symbol.kind = Operand::Kind::Symbol;
  symbol.symbol = operand.symbol;
  symbol.integer = operand.integer;
  Space actual = module().parsed->variables[size_t(operand.symbol)].space;
  if (space == Space::Generic)
    space = actual; // a name says where it is
  if (space == Space::Param || actual == Space::Param)
    space = decoder.kernelOffsets.count(operand.symbol) ? Space::Const : Space::Local;
  return source(symbol, Type::U64);
}

int32_t Decoding::carryFlag() {
  if (decoder.carryRegister < 0)
    decoder.carryRegister = decoder.allocate(4, 4);
  return decoder.carryRegister;
}

void Decoding::list(std::span<const int32_t> offsets) {
  i.list = uint32_t(function().lists.size());
  i.count = uint16_t(offsets.size());
  function().lists.insert(function().lists.end(), offsets.begin(), offsets.end());
}

uint32_t Decoding::branchTable(std::string_view name) {
  auto found = decoder.parsed.branchTargets.find(name);
  if (found == decoder.parsed.branchTargets.end())
    fail("there is no list of targets `" + std::string(name) + "`");
  std::vector<uint32_t> targets;
  for (std::string_view target : found->second)
    targets.push_back(label(target));
  function().branchTables.push_back(std::move(targets));
  return uint32_t(function().branchTables.size() - 1);
}

int Decoding::functionNamed(const Operand &operand) const {
  if (operand.kind == Operand::Kind::Register)
    return -2;
  std::string_view name = operand.name;
  const ParsedModule &parsed = *decoder.module.parsed;
  if (auto alias = parsed.aliases.find(name); alias != parsed.aliases.end())
    name = alias->second;
  int declared = -1;
  for (size_t k = 0; k < parsed.functions.size(); ++k)
    if (parsed.functions[k].name == name) {
      if (parsed.functions[k].hasBody)
        return int(k);
      declared = int(k);
    }
  return declared;
}

uint32_t Decoding::localOffsetOf(const Operand &operand) const {
  auto found = decoder.localOffsets.find(operand.symbol);
  if (found == decoder.localOffsets.end())
    fail("a .param variable belongs here");
  return found->second + uint32_t(operand.integer);
}

} // namespace tk::emulated
