#include "runtime/device/emulated/PtxParser.h"
#include <cstring>

namespace tk::emulated {

namespace {
struct TypeName {
  std::string_view name;
  Type type;
  uint8_t bytes;
};
constexpr TypeName typeNames[] = {
    {"pred", Type::Pred, 0},     {"b8", Type::B8, 1},         {"b16", Type::B16, 2},       {"b32", Type::B32, 4},       {"b64", Type::B64, 8},
    {"b128", Type::B128, 16},    {"u8", Type::U8, 1},         {"u16", Type::U16, 2},       {"u32", Type::U32, 4},       {"u64", Type::U64, 8},
    {"s8", Type::S8, 1},         {"s16", Type::S16, 2},       {"s32", Type::S32, 4},       {"s64", Type::S64, 8},       {"f16", Type::F16, 2},
    {"f16x2", Type::F16x2, 4},   {"bf16", Type::BF16, 2},     {"bf16x2", Type::BF16x2, 4}, {"f32", Type::F32, 4},       {"f32x2", Type::F32x2, 8},
    {"f64", Type::F64, 8},       {"tf32", Type::TF32, 4},     {"e4m3", Type::E4M3, 1},     {"e5m2", Type::E5M2, 1},     {"e4m3x2", Type::E4M3x2, 2},
    {"e5m2x2", Type::E5M2x2, 2}, {"e2m1x2", Type::E2M1x2, 1}, {"e2m3x2", Type::E2M3x2, 2}, {"e3m2x2", Type::E3M2x2, 2}, {"ue8m0x2", Type::UE8M0x2, 2},
    {"u16x2", Type::U16x2, 4},   {"s16x2", Type::S16x2, 4},   {"u4", Type::U4, 1},         {"s4", Type::S4, 1},         {"b1", Type::B1, 1},
};
} // namespace

Type typeOfName(std::string_view name) {
  for (const TypeName &entry : typeNames)
    if (entry.name == name)
      return entry.type;
  return Type::None;
}

int bytesOf(Type type) {
  for (const TypeName &entry : typeNames)
    if (entry.type == type)
      return entry.bytes;
  return 0;
}

bool isFloat(Type type) { return type >= Type::F16 && type <= Type::UE8M0x2; }
bool isSigned(Type type) { return (type >= Type::S8 && type <= Type::S64) || type == Type::S16x2 || type == Type::S4; }

std::unique_ptr<ParsedModule> parsePtx(std::string text) {
  auto module = std::make_unique<ParsedModule>();
  module->text = std::move(text);
  PtxParser(*module).parseModule();
  return module;
}

void PtxParser::parseModule() {
  while (lexer.peek().kind != Token::Kind::End) {
    if (lexer.accept(';'))
      continue;
    if (!lexer.peek().is('.'))
      lexer.fail("expected a directive, found `" + std::string(lexer.peek().text) + "`");
    parseDirective();
  }
}

void PtxParser::parseDirective() {
  bool isExtern = false;
  for (;;) {
    std::string_view word = lexer.word();
    if (word == "extern") {
      isExtern = true;
    } else if (word == "visible" || word == "weak" || word == "common") {
      continue;
    } else if (word == "version") {
      // 8.6 is lexed as one number: take it apart as text.
      std::string_view number = lexer.take().text;
      module.versionMajor = std::atoi(std::string(number).c_str());
      size_t dot = number.find('.');
      module.versionMinor = dot == std::string_view::npos ? 0 : std::atoi(std::string(number.substr(dot + 1)).c_str());
      return;
    } else if (word == "target") {
      module.target = lexer.name();
      while (lexer.accept(','))
        lexer.name();
      return;
    } else if (word == "address_size") {
      module.addressSize = int(lexer.integer());
      if (module.addressSize != 64)
        lexer.fail("only 64-bit addresses are supported");
      return;
    } else if (word == "entry" || word == "func") {
      return parseFunction(word == "entry", isExtern);
    } else if (word == "global" || word == "const" || word == "shared") {
      return parseVariable(word == "global" ? Space::Global : word == "const" ? Space::Const : Space::Shared, isExtern);
    } else if (word == "file") {
      return parseFile();
    } else if (word == "section") {
      lexer.word();
      lexer.skipBlock();
      return;
    } else if (word == "alias") {
      std::string alias(lexer.name());
      lexer.expect(',');
      module.aliases[alias] = lexer.name();
      lexer.expect(';');
      return;
    } else if (word == "pragma") {
      lexer.take();
      lexer.expect(';');
      return;
    } else {
      lexer.fail("unknown directive `." + std::string(word) + "`");
    }
    if (!lexer.peek().is('.'))
      lexer.fail("expected a directive after the linkage");
  }
}

void PtxParser::parseFile() {
  uint32_t number = uint32_t(lexer.integer());
  module.files[number] = lexer.take().text;
  while (lexer.accept(',')) // time stamp and size
    lexer.integer();
}

void PtxParser::parseLoc() {
  SourcePlace where;
  where.file = uint32_t(lexer.integer());
  where.line = uint32_t(lexer.integer());
  where.column = uint32_t(lexer.integer());
  while (lexer.accept(',')) {
    std::string_view key = lexer.name();
    if (key == "function_name") {
      lexer.name();
      if (lexer.accept('+'))
        lexer.integer();
    } else if (key == "inlined_at") {
      where.inlinedFile = uint32_t(lexer.integer());
      where.inlinedLine = uint32_t(lexer.integer());
      lexer.integer();
    }
  }
  place = uint32_t(module.places.size());
  module.places.push_back(where);
}

void PtxParser::parseTriple(uint32_t (&into)[3]) {
  into[0] = uint32_t(lexer.integer());
  into[1] = into[2] = 1;
  for (int i = 1; i < 3 && lexer.accept(','); ++i)
    into[i] = uint32_t(lexer.integer());
}

void PtxParser::parseParameters(ParsedFunction &function, std::vector<int> &into) {
  lexer.expect('(');
  while (!lexer.accept(')')) {
    std::string_view word = lexer.word();
    Variable variable;
    variable.space = Space::Param;
    variable.function = functionIndex;
    if (word == "reg") {
      // A parameter in a register (before PTX 2.0): it is a parameter variable and a register of the name would be; not emitted by anyone today.
      lexer.fail("parameters in registers are not supported");
    }
    if (word != "param")
      lexer.fail("expected `.param`");
    into.push_back(parseDeclarator(variable));
    lexer.accept(',');
  }
}

void PtxParser::parseFunction(bool isEntry, bool isExtern) {
  ParsedFunction function;
  function.isEntry = isEntry;
  function.line = lexer.peek().line;
  functionIndex = int(module.functions.size());
  scopes.emplace_back();
  current = &function;
  if (!isEntry && lexer.peek().is('('))
    parseParameters(function, function.results);
  function.name = lexer.name();
  if (lexer.peek().is('('))
    parseParameters(function, function.parameters);
  while (lexer.peek().is('.')) {
    std::string_view word = lexer.word();
    if (word == "maxntid")
      parseTriple(function.maxThreads);
    else if (word == "reqntid")
      parseTriple(function.requiredThreads);
    else if (word == "reqnctapercluster")
      parseTriple(function.requiredCluster);
    else if (word == "maxnreg")
      function.maxRegisters = uint32_t(lexer.integer());
    else if (word == "minnctapersm" || word == "maxnctapersm" || word == "maxclusterrank")
      lexer.integer();
    else if (word == "pragma") {
      lexer.take();
      lexer.expect(';');
    } else if (word != "noreturn" && word != "explicitcluster" && word != "blocksareclusters" && word != "abi_preserve" && word != "abi_preserve_control")
      lexer.fail("unknown directive `." + std::string(word) + "` of a function");
  }
  if (lexer.peek().is('{')) {
    function.hasBody = true;
    parseBody(function);
  } else {
    lexer.expect(';');
  }
  scopes.resize(1);
  current = nullptr;
  functionIndex = -1;
  place = 0;
  module.functions.push_back(std::move(function));
}

void PtxParser::parseBody(ParsedFunction &function) {
  lexer.expect('{');
  scopes.emplace_back();
  for (;;) {
    const Token &token = lexer.peek();
    if (token.kind == Token::Kind::End)
      lexer.fail("a function does not end");
    if (lexer.accept('}'))
      break;
    if (token.is('{')) {
      if (scopes.size() > 200)
        lexer.fail("blocks are nested too deeply");
      parseBody(function);
    } else if (token.is('.')) {
      parseBodyDirective(function);
    } else if (!lexer.accept(';')) {
      parseStatement(function);
    }
  }
  scopes.pop_back();
}

void PtxParser::parseBodyDirective(ParsedFunction &function) {
  std::string_view word = lexer.word();
  if (word == "reg")
    return parseRegisters(function);
  if (word == "loc")
    return parseLoc();
  if (word == "file")
    return parseFile();
  if (word == "pragma") {
    lexer.take();
    return lexer.expect(';');
  }
  if (word == "extern") {
    lexer.word();
    return parseVariable(Space::Shared, true);
  }
  Space space = word == "local"    ? Space::Local
                : word == "param"  ? Space::Param
                : word == "shared" ? Space::Shared
                : word == "global" ? Space::Global
                : word == "const"  ? Space::Const
                                   : Space::Register;
  if (space == Space::Register)
    lexer.fail("unknown directive `." + std::string(word) + "`");
  parseVariable(space, false);
}

void PtxParser::parseRegisters(ParsedFunction &function) {
  std::string_view word = lexer.word();
  if (word == "v2" || word == "v4")
    lexer.fail("vector registers are not supported");
  Type type = typeOfName(word);
  if (type == Type::None)
    lexer.fail("unknown type `." + std::string(word) + "`");
  do {
    std::string name(lexer.name());
    if (lexer.accept('<')) {
      uint64_t count = lexer.integer();
      lexer.expect('>');
      if (count > 1u << 22)
        lexer.fail("too many registers");
      for (uint64_t i = 0; i < count; ++i) {
        scopes.back().registers[name + std::to_string(i)] = int(function.registers.size());
        function.registers.push_back({name + std::to_string(i), type});
      }
    } else {
      scopes.back().registers[name] = int(function.registers.size());
      function.registers.push_back({name, type});
    }
  } while (lexer.accept(','));
  lexer.expect(';');
}

void PtxParser::parseVariable(Space space, bool isExtern) {
  Variable prototype;
  prototype.space = space;
  prototype.isExtern = isExtern;
  prototype.function = functionIndex;
  for (;;) {
    Variable variable = prototype;
    parseDeclarator(variable);
    if (!lexer.accept(','))
      break;
  }
  lexer.expect(';');
}

int PtxParser::parseDeclarator(Variable variable) {
  variable.line = lexer.peek().line;
  uint64_t vector = 1;
  bool aligned = false;
  while (lexer.peek().is('.')) {
    std::string_view word = lexer.word();
    if (word == "align") {
      variable.align = lexer.integer();
      aligned = true;
      if (variable.align == 0 || (variable.align & (variable.align - 1)))
        lexer.fail("an alignment that is no power of two");
    } else if (word == "v2" || word == "v4" || word == "v8") {
      vector = uint64_t(word[1] - '0');
    } else if (word == "attribute") {
      lexer.expect('(');
      while (!lexer.accept(')'))
        lexer.take();
    } else if (word == "ptr") {
      // .ptr{.space}{.align n} of a kernel parameter only informs.
      while (lexer.peek().is('.')) {
        if (lexer.word() == "align") {
          lexer.integer();
          break;
        }
      }
    } else if (Type type = typeOfName(word); type != Type::None) {
      variable.type = type;
    } else {
      lexer.fail("unknown word `." + std::string(word) + "` in a declaration");
    }
  }
  variable.bytes = uint64_t(bytesOf(variable.type)) * vector;
  if (!aligned)
    variable.align = std::max<uint64_t>(variable.bytes, 1);
  // A prototype may leave names out.
  if (lexer.peek().kind == Token::Kind::Name)
    variable.name = lexer.name();
  while (lexer.accept('[')) {
    variable.isArray = true;
    uint64_t count = lexer.peek().is(']') ? 0 : lexer.integer();
    lexer.expect(']');
    if (count && variable.bytes > (uint64_t(1) << 40) / count)
      lexer.fail("a variable that is too large");
    variable.bytes *= count;
  }
  if (lexer.accept('='))
    parseInitial(variable);
  int index = int(module.variables.size());
  if (!variable.name.empty())
    scopes.back().variables[variable.name] = index;
  module.variables.push_back(std::move(variable));
  return index;
}

void PtxParser::parseInitial(Variable &variable) {
  uint64_t offset = 0;
  if (!lexer.peek().is('{')) {
    parseInitialValue(variable, offset);
  } else {
    int depth = 0;
    do {
      if (lexer.accept('{'))
        ++depth;
      else if (lexer.accept('}'))
        --depth;
      else if (!lexer.accept(','))
        parseInitialValue(variable, offset);
    } while (depth);
  }
  if (variable.bytes == 0)
    variable.bytes = offset;
  if (offset > variable.bytes)
    lexer.fail("more initial values than `" + variable.name + "` has room for");
  variable.initial.resize(variable.bytes);
}

void PtxParser::parseInitialValue(Variable &variable, uint64_t &offset) {
  int bytes = bytesOf(variable.type);
  uint64_t bits = 0;
  bool negative = lexer.accept('-');
  const Token &token = lexer.peek();
  if (token.kind == Token::Kind::Integer) {
    bits = lexer.take().integer;
    if (negative)
      bits = 0 - bits;
  } else if (token.kind == Token::Kind::Float) {
    double number = negative ? -token.number : token.number;
    if (bytes == 4) {
      float narrow = float(number);
      uint32_t word;
      std::memcpy(&word, &narrow, 4);
      bits = word;
      if (token.single && !negative)
        bits = token.integer;
    } else {
      std::memcpy(&bits, &number, 8);
    }
    lexer.take();
  } else {
    // symbol, generic(symbol), 0xFF(symbol) is written mask(symbol): the byte the mask chooses.
    Variable::Reference reference{offset, {}, 0, false, uint8_t(bytes), 0};
    std::string_view name = lexer.name();
    int depth = 0;
    while ((name == "generic" || name == "mask") && lexer.accept('(')) {
      ++depth;
      if (name == "generic") {
        reference.generic = true;
      } else {
        uint64_t mask = lexer.integer();
        while (mask && !(mask & 1)) {
          mask >>= 1;
          ++reference.shift;
        }
        lexer.expect(',');
      }
      name = lexer.name();
    }
    reference.symbol = name;
    while (depth || lexer.peek().is('+') || lexer.peek().is('-')) {
      if (lexer.accept(')')) {
        --depth;
        continue;
      }
      bool minus = lexer.peek().is('-');
      lexer.take();
      int64_t addend = int64_t(lexer.integer());
      reference.addend += minus ? -addend : addend;
    }
    variable.references.push_back(std::move(reference));
  }
  variable.initial.resize(offset + bytes);
  std::memcpy(variable.initial.data() + offset, &bits, size_t(std::min(bytes, 8)));
  offset += uint64_t(bytes);
}

int PtxParser::findRegister(std::string_view name) const {
  for (auto scope = scopes.rbegin(); scope != scopes.rend(); ++scope)
    if (auto found = scope->registers.find(name); found != scope->registers.end())
      return found->second;
  return -1;
}

int PtxParser::findVariable(std::string_view name) const {
  for (auto scope = scopes.rbegin(); scope != scopes.rend(); ++scope)
    if (auto found = scope->variables.find(name); found != scope->variables.end())
      return found->second;
  return -1;
}

} // namespace tk::emulated
