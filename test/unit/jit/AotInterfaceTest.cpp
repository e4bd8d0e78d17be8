// Several signatures as one C function: types of its parameters, conditions of its variants, and what can't be one.
#include "Catch.h"
#include "runtime/jit/Program.h"
#include "runtime/jit/aot/Interface.h"
#include "runtime/jit/aot/Object.h"
#include "test/unit/runtime/Thrown.h"
#include <fmt/format.h>

using namespace tk;
using namespace tk::jit::aot;

namespace {
const char *kSource = R"(
def gelu(v):
  return v

def relu(v):
  return v

def k(x, n, m, MODE: constexpr, F: constexpr):
  store(x, n + m + MODE)
)";

std::vector<Signature> signaturesOf(const std::vector<std::string> &texts) {
  static std::unique_ptr<jit::Program> program = jit::Program::fromText(kSource, "input.tk");
  std::vector<Signature> signatures;
  for (const std::string &text : texts) {
    lang::SourceFile file("signature", text);
    lang::Diagnostics diagnostics;
    auto specs = lang::parseSignature(program->scope(), program->kernel("k"), file, diagnostics);
    INFO(diagnostics.render());
    REQUIRE(specs);
    signatures.push_back({text, *specs, {}});
  }
  return signatures;
}

/// Parameters as "name:kind:bytes", the passed ones alone, and variants in their order as the text of the signature with its conditions.
std::string shown(const std::vector<std::string> &texts) {
  const char *kinds[] = {"baked", "pointer", "signed", "unsigned", "bool", "float", "double", "bits"};
  const char *tests[] = {"=", "%16", "!null", "fits-signed", "fits-unsigned"};
  std::vector<Signature> signatures = signaturesOf(texts);
  Interface interface = interfaceOf("k", {"x", "n", "m", "MODE", "F"}, signatures);
  std::string text;
  for (const Parameter &parameter : interface.parameters)
    if (parameter.kind != TkAotBaked)
      text += fmt::format("{}:{}:{} ", parameter.name, kinds[parameter.kind], parameter.bytes);
  for (const Variant &variant : interface.variants) {
    text += fmt::format("| {} ->", variant.signature - signatures.data());
    for (const Condition &condition : variant.conditions)
      text += fmt::format(" {}{}{}", interface.parameters[condition.parameter].name, tests[condition.test],
                          condition.test == TkAotEquals       ? std::to_string(condition.value)
                          : condition.test >= TkAotFitsSigned ? std::to_string(condition.bytes)
                                                              : "");
  }
  return text;
}
} // namespace

TEST_CASE("one signature has no conditions but what it promises") {
  CHECK(shown({"*fp32, i32, fp32, 1, gelu"}) == "x:pointer:8 n:signed:4 m:float:4 | 0 ->");
  CHECK(shown({"*fp32:16, i32:16, 1, 1, gelu"}) == "x:pointer:8 n:signed:4 | 0 -> x%16 n%16");
}

TEST_CASE("what differs is passed and compared, the strongest variant first") {
  CHECK(shown({"*fp32, i32, i32, 1, gelu", "*fp32:16, i32:16, i32, 1, gelu"}) == "x:pointer:8 n:signed:4 m:signed:4 | 1 -> x%16 n%16| 0 ->");
  CHECK(shown({"*fp32, i32, i32, 1, gelu", "*fp32, i32, 1, 1, gelu"}) == "x:pointer:8 n:signed:4 m:signed:4 | 1 -> m=1| 0 ->");
  CHECK(shown({"*fp32, i32, i32, 1024, gelu", "*fp32, i32, i32, 2048, gelu"}) ==
        "x:pointer:8 n:signed:4 m:signed:4 MODE:signed:4 | 0 -> MODE=1024| 1 -> MODE=2048");
  CHECK(shown({"*fp32, i32, i32, 1, gelu", "*fp32, i32, i32, 1 << 40, gelu"}) ==
        "x:pointer:8 n:signed:4 m:signed:4 MODE:signed:8 | 0 -> MODE=1| 1 -> MODE=1099511627776");
  CHECK(shown({"*fp32, i32, i32, True, gelu", "*fp32, i32, i32, False, gelu"}) == "x:pointer:8 n:signed:4 m:signed:4 MODE:bool:1 | 0 -> MODE=1| 1 -> MODE=0");
  CHECK(shown({"*fp32, i32, i32, 0.5, gelu", "*fp32, i32, i32, 2.0, gelu"}) ==
        "x:pointer:8 n:signed:4 m:signed:4 MODE:double:8 | 0 -> MODE=4602678819172646912| 1 -> MODE=4611686018427387904");
  CHECK(shown({"None, i32, i32, 1, gelu", "*fp32, i32, i32, 1, gelu"}) == "x:pointer:8 n:signed:4 m:signed:4 | 0 -> x=0| 1 -> x!null");
}

TEST_CASE("integers of several widths become the widest") {
  CHECK(shown({"*fp32, i32, i32, 1, gelu", "*fp32, i64, i32, 1, gelu"}) == "x:pointer:8 n:signed:8 m:signed:4 | 0 -> nfits-signed4| 1 ->");
  CHECK(shown({"*fp32, u32, i32, 1, gelu", "*fp32, i64, i32, 1, gelu"}) == "x:pointer:8 n:signed:8 m:signed:4 | 0 -> nfits-unsigned4| 1 ->");
}

TEST_CASE("what can't be one function") {
  auto problem = [](const std::vector<std::string> &texts) { return thrown(ErrorKind::User, [&] { shown(texts); }); };
  CHECK(contains(problem({"*fp32, i32, i32, 1, gelu", "*fp32, i32, i32, 1, relu"}), "parameter `F` of `k`"));
  CHECK(contains(problem({"*fp32, i32, i32, 1, gelu", "*fp32, i32, i32, 1, relu"}),
                 "a call can choose between integers, between floats and between booleans alone"));
  CHECK(contains(problem({"*fp32, i32, i32, 1, gelu", "*fp32, i32, i32, True, gelu"}), "a call can choose between"));
  CHECK(contains(problem({"*fp32, i32, i32, 1, gelu", "**fp32, i32, i32, 1, gelu"}), "one C parameter can't point to both"));
  CHECK(contains(problem({"*fp32, i32, i32, 1, gelu", "i64, i32, i32, 1, gelu"}), "one C parameter can't be both"));
  CHECK(contains(problem({"*fp32, i32, i32, 1, gelu", "*fp32, fp32, i32, 1, gelu"}), "no C type holds both"));
  CHECK(contains(problem({"*fp32, i8, i32, 1, gelu", "*fp32, 1000, i32, 1, gelu"}), "a value of i8 can't be compared with it"));
  CHECK(contains(problem({"*fp32, i32, i32, 1, gelu", "*fp32, i32, i32, 1, gelu"}), "are for the same arguments"));
}

TEST_CASE("lists of targets") {
  CHECK(targetsOf("sm_80, x86-64-v4") == std::vector<std::string>{"sm_80", "x86-64-v4"});
  CHECK(contains(thrown(ErrorKind::User, [] { targetsOf(""); }), "has an empty name"));
  CHECK(contains(thrown(ErrorKind::User, [] { targetsOf("sm_80,"); }), "has an empty name"));
  CHECK(contains(thrown(ErrorKind::User, [] { targetsOf("sm_80,sm_80"); }), "stands twice"));
  if (__builtin_cpu_supports("x86-64-v3")) {
    REQUIRE(targetsOf("cpu").size() == 1);
    CHECK(targetsOf("cpu")[0].starts_with("x86-64-v"));
  }
}
