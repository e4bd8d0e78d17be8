// The manifest of a kernel file: what is written is read back, whatever it holds, and nothing else is taken for one.
#include "runtime/ModuleDescription.h"
#include "Catch.h"
#include "runtime/program/Program.h"
#include <random>

using namespace tk;
using namespace tk::runtime;

namespace {
std::string anyText(std::mt19937_64 &random) {
  std::string text;
  for (size_t n = random() % 12; n > 0; --n)
    text += static_cast<char>(1 + random() % 255); // an argument's text ends at a zero
  return text;
}

/// `argument i`, or a constant.
StackProgram anyProgram(std::mt19937_64 &random) {
  std::string code(1, TK_PROGRAM_VERSION);
  if (random() % 2) {
    code += {TkOpArgument, static_cast<char>(random()), static_cast<char>(random() % 16)};
  } else {
    code += TkOpInt;
    for (int i = 0; i < 8; ++i)
      code += static_cast<char>(random());
  }
  return StackProgram(code + std::string{TkOpReturn, 1});
}

StoredArgument anyArgument(std::mt19937_64 &random) {
  std::string text = anyText(random);
  switch (random() % 10) {
  case 0: return StoredArgument(Argument(random() % 2 == 0));
  case 1: return StoredArgument(Argument(static_cast<int64_t>(random())));
  case 2: return StoredArgument(Argument(static_cast<uint64_t>(random())));
  case 3: return StoredArgument(Argument(static_cast<double>(random()) / 7));
  case 4: return StoredArgument(Argument(static_cast<DType>(random() % 18)));
  case 5: return StoredArgument(Argument(text));
  case 6: return StoredArgument(function(text.c_str()));
  case 7: return StoredArgument(f64(static_cast<double>(random()) / 3));
  case 8: return StoredArgument(scalar(static_cast<DType>(random() % 9), static_cast<int64_t>(random())));
  default: return StoredArgument(Argument());
  }
}

std::vector<unsigned> anyIndices(std::mt19937_64 &random, size_t below) {
  std::vector<unsigned> result;
  for (size_t n = below ? random() % 4 : 0; n > 0; --n)
    result.push_back(static_cast<unsigned>(random() % below));
  return result;
}

TuneDescription anyTune(std::mt19937_64 &random, size_t parameters) {
  TuneDescription tune;
  tune.warmupMs = static_cast<double>(random() % 100) / 7, tune.repMs = static_cast<double>(random() % 100);
  tune.prunes = random() % 2;
  if (random() % 4 == 0)
    tune.problem = anyText(random);
  tune.key = anyIndices(random, parameters), tune.resetToZero = anyIndices(random, parameters), tune.restoreValue = anyIndices(random, parameters);
  for (size_t n = random() % 4; n > 0; --n) {
    TuneConfig &config = tune.configs.emplace_back();
    for (unsigned index : anyIndices(random, parameters))
      config.values.emplace_back(index, anyArgument(random));
    if (random() % 2)
      config.options.numWarps = 1u << random() % 6;
    if (random() % 2)
      config.options.numStages = 1 + static_cast<unsigned>(random() % 8);
    config.options.fpFusion = random() % 2;
  }
  return tune;
}

ModuleDescription anyModule(std::mt19937_64 &random) {
  ModuleDescription module;
  for (size_t n = random() % 4; n > 0; --n) {
    KernelDescription &kernel = module.kernels.emplace_back();
    kernel.name = anyText(random), kernel.closure = anyText(random), kernel.line = static_cast<unsigned>(random());
    if (random() % 4 == 0)
      kernel.problem = anyText(random);
    for (size_t p = random() % 6; p > 0; --p) {
      ParameterDescription &parameter = kernel.parameters.emplace_back();
      parameter.name = anyText(random);
      parameter.isConstexpr = random() % 2, parameter.hasDefault = random() % 2, parameter.specialize = random() % 2, parameter.alignment = random() % 2;
      if (random() % 2)
        parameter.defaultValue = anyArgument(random);
    }
    kernel.hasGrid = random() % 2;
    for (size_t g = kernel.hasGrid ? random() % 4 : 0; g > 0; --g)
      kernel.grid.push_back(anyProgram(random));
    for (unsigned index : anyIndices(random, kernel.parameters.size()))
      kernel.heuristics.push_back({index, random() % 2 ? anyProgram(random) : StackProgram()});
    if (random() % 2)
      kernel.tune = anyTune(random, kernel.parameters.size());
  }
  for (size_t n = random() % 4; n > 0; --n)
    module.functions.push_back({anyText(random), anyText(random), static_cast<unsigned>(random()), static_cast<unsigned>(random())});
  return module;
}
} // namespace

TEST_CASE("a module's description reads back") {
  std::mt19937_64 random(1);
  for (int i = 0; i < 2000; ++i) {
    ModuleDescription module = anyModule(random), read;
    std::string text = toText(module), error;
    INFO(text);
    bool parsed = parseModuleDescription(text, read, error);
    INFO(error);
    REQUIRE(parsed);
    REQUIRE(toText(read) == text);
    REQUIRE(read.kernels.size() == module.kernels.size());
    for (size_t k = 0; k < read.kernels.size(); ++k) {
      const KernelDescription &a = module.kernels[k], &b = read.kernels[k];
      REQUIRE(a.name == b.name);
      REQUIRE(a.closure == b.closure);
      REQUIRE(a.problem == b.problem);
      REQUIRE(a.line == b.line);
      REQUIRE(a.hasGrid == b.hasGrid);
      REQUIRE(a.grid.size() == b.grid.size());
      REQUIRE(a.parameters.size() == b.parameters.size());
      for (size_t p = 0; p < a.parameters.size(); ++p) {
        REQUIRE(a.parameters[p].name == b.parameters[p].name);
        REQUIRE(a.parameters[p].isConstexpr == b.parameters[p].isConstexpr);
        REQUIRE(a.parameters[p].hasDefault == b.parameters[p].hasDefault);
        REQUIRE(a.parameters[p].specialize == b.parameters[p].specialize);
        REQUIRE(a.parameters[p].alignment == b.parameters[p].alignment);
        REQUIRE(a.parameters[p].defaultValue.has_value() == b.parameters[p].defaultValue.has_value());
        if (a.parameters[p].defaultValue) {
          Argument x = a.parameters[p].defaultValue->get(), y = b.parameters[p].defaultValue->get();
          REQUIRE(describe(x) == describe(y));
          REQUIRE(x.typed == y.typed);
          if (x.typed)
            REQUIRE(x.type == y.type);
        }
      }
      for (size_t h = 0; h < a.heuristics.size(); ++h)
        REQUIRE(a.heuristics[h].program.code() == b.heuristics.at(h).program.code());
      REQUIRE(a.tune.has_value() == b.tune.has_value());
      if (!a.tune)
        continue;
      REQUIRE(a.tune->key == b.tune->key);
      REQUIRE(a.tune->problem == b.tune->problem);
      REQUIRE(a.tune->resetToZero == b.tune->resetToZero);
      REQUIRE(a.tune->restoreValue == b.tune->restoreValue);
      REQUIRE(a.tune->warmupMs == b.tune->warmupMs);
      REQUIRE(a.tune->repMs == b.tune->repMs);
      REQUIRE(a.tune->prunes == b.tune->prunes);
      REQUIRE(a.tune->configs.size() == b.tune->configs.size());
      for (size_t c = 0; c < a.tune->configs.size(); ++c) {
        REQUIRE(a.tune->configs[c].options.numWarps == b.tune->configs[c].options.numWarps);
        REQUIRE(a.tune->configs[c].options.numStages == b.tune->configs[c].options.numStages);
        REQUIRE(a.tune->configs[c].options.fpFusion == b.tune->configs[c].options.fpFusion);
        REQUIRE(a.tune->configs[c].values.size() == b.tune->configs[c].values.size());
      }
    }
  }
}

TEST_CASE("a module's description that was cut off or damaged is refused or means what it says") {
  std::mt19937_64 random(2);
  for (int i = 0; i < 300; ++i) {
    std::string text = toText(anyModule(random)), error;
    ModuleDescription read;
    for (size_t length = 0; length < text.size(); ++length)
      if (parseModuleDescription(text.substr(0, length), read, error))
        REQUIRE(toText(read) == text.substr(0, length)); // cut between two facts
      else
        REQUIRE(!error.empty());
    for (int change = 0; change < 200 && !text.empty(); ++change) {
      std::string damaged = text;
      for (size_t n = 1 + random() % 3; n > 0; --n)
        damaged[random() % damaged.size()] = static_cast<char>(random());
      if (parseModuleDescription(damaged, read, error))
        REQUIRE(toText(read) == damaged);
    }
  }
}

TEST_CASE("random bytes are no module's description") {
  std::mt19937_64 random(3);
  const char *words[] = {"kernel ", "\"a\" ", "1 ",   "parameter ", "cd ",  "default ",   "int ", "tune ",
                         "config ", "value ", "grid", "\n",         "key ", "heuristic ", "0 ",   "\""};
  ModuleDescription read;
  std::string error;
  for (int i = 0; i < 100000; ++i) {
    std::string text = random() % 8 ? "tkc-module 1\n" : "";
    for (size_t n = random() % 30; n > 0; --n)
      text += random() % 8 ? words[random() % std::size(words)] : std::string(1, static_cast<char>(random()));
    if (parseModuleDescription(text, read, error))
      REQUIRE(toText(read) == text);
  }
  CHECK_FALSE(parseModuleDescription("", read, error));
  CHECK_FALSE(parseModuleDescription("tkc-module 2\n", read, error));
  CHECK(error == "expected `tkc-module 1`, found `tkc-module 2`");
  std::string kernel = "tkc-module 1\nkernel \"k\" 1 \"c\"\nparameter sa \"n\"\n";
  REQUIRE(parseModuleDescription(kernel, read, error));
  for (const char *line : {"heuristic 1", "tune 0 0 both", "value 0 int 1", "config num_warps 4", "grid \"\\x01\"", "parameter x \"y\"", "default int",
                           "default fp32 string \"a\"", "default float 12", "default bool maybe", "heuristic 0 \"\\x01\\x00\\x2d\\x01\" 1", "bogus"}) {
    INFO(line);
    CHECK_FALSE(parseModuleDescription(kernel + line + "\n", read, error));
    CHECK(!error.empty());
  }
  CHECK(parseModuleDescription(kernel + "grid \"\\x01\\x00-\\x01\"\n", read, error));
  CHECK(read.kernels.at(0).grid.size() == 1);
}
