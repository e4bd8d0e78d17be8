// Messages that `tkc` never shows for a file: those of the elaborator for trees that the restrictions would have refused, and those of the compiler as a
// library.
#include "Catch.h"
#include "compiler/Compiler.h"
#include "lang/sema/ParamSpecs.h"
#include "lang/syntax/Parser.h"
#include "mlir/IR/MLIRContext.h"

using namespace tk;
using namespace tk::lang;

namespace {
struct Case {
  Diag id;
  const char *source;
  unsigned line, column;
  const char *message;
};

/// The body of a kernel with a pointer `x`, a scalar `n` and a tile `v`, from line 3 on.
const Case kElaboratorCases[] = {
    {Diag::NotInKernel, "  a = {1: 2}\n", 3, 7, "a kernel can't contain a dict"},
    {Diag::NotInKernel, "  a = {1}\n", 3, 7, "a kernel can't contain a set"},
    {Diag::NotInKernel, "  a = {b for b in (1, 2)}\n", 3, 7, "a kernel can't contain a dict or set comprehension"},
    {Diag::MatMulOperator, "  a = v @ v\n", 3, 7, "`@` is not an operator of kernels; use `tl.dot`"},
    {Diag::ChainedComparison, "  a = 0 < n < 3\n", 3, 7, "chained comparison of run-time values; join the comparisons with `&` or `and`"},
    {Diag::MembershipAtRunTime, "  a = n in (1, 2)\n", 3, 7, "`in` needs compile-time values"},
    {Diag::ItemAssignment, "  v[0] = 1\n", 3, 3, "elements of tiles can't be assigned; use `tl.where` or `tl.store`"},
    {Diag::ItemAssignment, "  v[0] += 1\n", 3, 3, "elements of tiles can't be assigned; use `tl.where` or `tl.store`"},
    {Diag::AttributeAssignment, "  v.a = 1\n", 3, 3, "attributes can't be assigned in a kernel"},
    {Diag::BadTarget, "  a, *b = 1, 2\n", 3, 6, "this can't be assigned"},
};

/// Messages whose words come from elsewhere; whole files with a kernel `k(x, n)`.
const Case kRelayedCases[] = {
    {Diag::ConstEvaluation, "def k(x, n):\n  store(x, (1, 2)[3])\n", 2, 12, "index 3 is out of range for 2 elements"},
    {Diag::RelayedError, "@constexpr_function\ndef size(n):\n  assert n < 10, 'too many'\n  return n\n\ndef k(x, n):\n  store(x, size(20))\n", 3, 3,
     "assertion failed: too many"},
    {Diag::TargetCannot, "def power(a, b):\n  for i in range(3):\n    a = a * b\n  return a\n\ndef k(x, n):\n  store(x, reduce(arange(0, 8), 0, power))\n", 2,
     3, "`scf.for` in a combine function is not supported on the CPU yet"},
};

std::unique_ptr<ModuleScope> parsed(const std::string &text) {
  static std::vector<std::shared_ptr<SourceFile>> files; // messages point into them
  files.push_back(std::make_shared<SourceFile>("input.tk", text));
  Diagnostics diagnostics;
  ast::Module module = parse(files.back(), diagnostics);
  REQUIRE_FALSE(diagnostics.hasErrors());
  return std::make_unique<ModuleScope>(std::move(module), false);
}

std::vector<ParamSpec> pointerAndScalar() {
  ParamSpec x, n;
  x.kind = ParamSpec::Pointer, x.type = {DType::F32, 0, false};
  n.kind = ParamSpec::Scalar, n.type = {DType::I32, 0, false};
  return {x, n};
}

void checkFirst(const Diagnostics &diagnostics, Diag id, const std::string &message) {
  INFO(diagnostics.render());
  REQUIRE_FALSE(diagnostics.messages().empty());
  CHECK(std::string(diagName(diagnostics.messages()[0].id)) == diagName(id));
  CHECK(diagnostics.messages()[0].text == message);
}
} // namespace

TEST_CASE("messages of the elaborator for what the restrictions refuse", "[message]") {
  for (const Case &expected : kElaboratorCases) {
    INFO(expected.source);
    auto scope = parsed(std::string("def k(x, n):\n  v = arange(0, 4)\n") + expected.source);
    Diagnostics diagnostics;
    compiler::Compiler compiler;
    CHECK(compiler.elaborate(*scope, "k", pointerAndScalar(), {}, diagnostics) == nullptr);
    checkFirst(diagnostics, expected.id, expected.message);
    LineColumn at = scope->file().position(diagnostics.messages()[0].place.range.begin);
    CHECK(at.line == expected.line);
    CHECK(at.column == expected.column);
    CHECK(diagnostics.errorCount() == 1);
  }
}

TEST_CASE("messages with words from elsewhere", "[message]") {
  for (const Case &expected : kRelayedCases) {
    INFO(expected.source);
    auto scope = parsed(expected.source);
    Diagnostics diagnostics;
    compiler::Compiler compiler;
    CHECK(compiler.compile(*scope, "k", pointerAndScalar(), {}, diagnostics).object.empty());
    checkFirst(diagnostics, expected.id, expected.message);
    LineColumn at = scope->file().position(diagnostics.messages()[0].place.range.begin);
    CHECK(at.line == expected.line);
    CHECK(at.column == expected.column);
    if (expected.id == Diag::RelayedError) { // and the way there
      REQUIRE(diagnostics.messages().size() > 1);
      CHECK((diagnostics.messages()[1].id == Diag::RelayedNote || diagnostics.messages()[1].id == Diag::CalledHere));
    }
  }
}

TEST_CASE("messages of the compiler as a library", "[message]") {
  auto scope = parsed("def k(x, n):\n  store(x, n)\n");
  compiler::Compiler compiler;
  {
    Diagnostics diagnostics;
    CHECK(compiler.elaborate(*scope, "k", {}, {}, diagnostics) == nullptr);
    checkFirst(diagnostics, Diag::ParameterCount, "kernel `k` has 2 parameters, 0 given");
  }
  {
    Diagnostics diagnostics;
    CHECK(compiler.compile(*scope, "j", pointerAndScalar(), {}, diagnostics).object.empty());
    checkFirst(diagnostics, Diag::UnknownKernel, "no kernel is called `j` in this file");
  }
  {
    Diagnostics diagnostics;
    compiler::Options options;
    options.target = "z80";
    CHECK(compiler.compile(*scope, "k", pointerAndScalar(), options, diagnostics).object.empty());
    checkFirst(diagnostics, Diag::UnknownTarget, std::string(diagText(Diag::UnknownTarget)).replace(1, 2, "z80"));
    CHECK(compiler.emit(*scope, "k", pointerAndScalar(), options, compiler::Stage::Asm, diagnostics).empty());
    CHECK(diagnostics.errorCount() == 2);
  }
  {
    Diagnostics diagnostics;
    CHECK(compiler.emit(*scope, "k", pointerAndScalar(), {}, compiler::Stage::Ttg, diagnostics).empty());
    checkFirst(diagnostics, Diag::StageUnavailable, "stage `ttg` does not exist for target `cpu`");
  }
  for (unsigned warps : {3u, 6u, 48u, 64u, ~0u}) {
    Diagnostics diagnostics;
    compiler::Options options;
    options.target = "sm_80", options.numWarps = warps;
    CHECK(compiler.compile(*scope, "k", pointerAndScalar(), options, diagnostics).object.empty());
    checkFirst(diagnostics, Diag::BadNumWarps, "`num_warps` is " + std::to_string(warps) + ": a program has 1, 2, 4, 8, 16 or 32 warps");
  }
}
