// Which functions are kernel code, and what kernels may contain.
#include "Parsing.h"

using namespace tk::lang;

/// The messages about `text`, by line and name.
static std::string restrictions(const std::string &text, const std::string &name = "a.tk") {
  Parsed parsed(text, name);
  INFO(parsed.diagnostics.render());
  REQUIRE_FALSE(parsed.diagnostics.hasErrors());
  checkRestrictions(parsed.module, parsed.diagnostics);
  return parsed.summary();
}

TEST_CASE("what kernels may contain", "[restriction]") {
  CHECK(restrictions(R"(
@tk.grid(lambda n: {1: 2}[1])
@tk.example(x=randn(fp32, 8), n=8, **extra)
def f(x: ptr[fp32], n: {1}, *rest, k=lambda: 1, m: constexpr = 4) -> {}:
  """doc"""
  a, (b, c) = 1, (2, 3)
  d: {1: 2} = 4
  a += 1
  while True:
    if a > 3:
      break
    elif b is not None and not c:
      continue
    return
  for i in tl.static_range(4):
    pass
  else:
    pass
  e = [v + 1 for v in (1, 2) if v]
  (g := 3)
  assert a, f"{b=}"
  h = a if b else c
  p = x[:, None] + (~a | -b) ** 2
  store(x, *rest, mask=a < b)
  return a, b
)") == "");
}

TEST_CASE("only kernel code is restricted in a .tk file", "[restriction]") {
  CHECK(restrictions("class A:\n  def f(self): raise x\n\nx = [lambda: 1, {1}]\nimport a\nfor i, j in x: pass\n") == "");
  CHECK(restrictions("def f(): raise x\n") == "1:10 NoRaise\n");
  CHECK(restrictions("@triton.jit\ndef f(): raise x\n") == "2:10 NoRaise\n");
  CHECK(restrictions("@jit(debug=True)\ndef f(): raise x\n") == "2:10 NoRaise\n");
  CHECK(restrictions("@triton.autotune([], key=[])\n@triton.heuristics({})\n@tk.example()\ndef f(): raise x\n") == "4:10 NoRaise\n");
  CHECK(restrictions("@libentry()\n@triton.jit\ndef f(): raise x\n") == "3:10 NoRaise\n");
  for (const char *decorator :
       {"@triton.constexpr_function", "@constexpr_function", "@tk.host", "@pytest.fixture", "@pytest.mark.parametrize('a', [1])", "@cache", "@a[0]"})
    CHECK(restrictions(std::string(decorator) + "\ndef f(): raise x\n") == "");
  CHECK(restrictions("if a:\n  def f(): raise x\nelse:\n  def g(): del x\n") == "2:12 NoRaise\n4:12 NoDelete\n");
}

TEST_CASE("only jit functions are restricted in a .py file", "[restriction]") {
  CHECK(restrictions("def f(): raise x\n", "a.py") == "");
  CHECK(restrictions("@triton.jit\ndef f(): raise x\n@jit\ndef g(): raise x\n@triton.autotune()\ndef h(): raise x\n", "a.py") ==
        "2:10 NoRaise\n4:10 NoRaise\n");
  CHECK(restrictions("try:\n  @triton.jit\n  def f(): raise x\nexcept: pass\n", "a.py") == "3:12 NoRaise\n");
}

TEST_CASE("each restriction is found wherever it stands", "[restriction]") {
  CHECK(restrictions("def f(x):\n  if (lambda: 1)():\n    while {1}:\n      for i in range(a @ b):\n        return g(x[{2: 3}], k=a < b < c)\n") ==
        "2:7 NoLambda\n3:11 NoSet\n4:24 NoMatMul\n5:20 NoDict\n5:31 NoChainedComparison\n");
  CHECK(restrictions("def f(x):\n  a[lambda: 1] = 1\n") == "2:3 NoItemTarget\n2:5 NoLambda\n");
  CHECK(restrictions("def f(x):\n  return [[(yield) for a in b] for c in {1}]\n") == "2:13 NoYield\n2:41 NoSet\n");
  // What a refused statement holds isn't looked at.
  CHECK(restrictions("def f(x):\n  with a:\n    raise x\n  try:\n    del x\n  finally:\n    pass\n") == "2:3 NoWith\n4:3 NoTry\n");
}
