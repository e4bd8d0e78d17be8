// What is known of a kernel file without compiling it: parameters, defaults, grids, and closures that change exactly when code would.
#include "lang/sema/Describe.h"
#include "ModuleText.h"
#include "lang/sema/Closure.h"
#include <filesystem>
#include <fstream>

using namespace tk;
using namespace tk::lang;

namespace {
runtime::ModuleDescription described(const std::string &text, const std::string &name = "a.tk") {
  ModuleText module(text, name);
  return describe(module.scope, module.diagnostics);
}
std::string closure(const std::string &text, const std::string &function = "k", const std::string &name = "a.tk") {
  ModuleText module(text, name);
  return Closures().of(module.scope, module.function(function));
}

constexpr const char *text = R"(
import math
N = 4
SCALE = tl.constexpr(2.0)
TABLE = {"a": (1, N)}
HOST = torch.device("cuda")

def leaf(x):
    return x * SCALE

def combine(a, b):
    return a + leaf(b)

@triton.constexpr_function
def size(n):
    return n * N

chosen = leaf

def apply(x, FN: constexpr = combine):
    return FN(x, 1)

@tk.grid(cdiv(n, 64))
@tk.example(x=randn(fp32, 64), n=64)
@jit
def k(x, n, FN: constexpr = leaf):
    cols = tl.arange(0, 64)  # a comment
    v = load(x + cols, mask=cols < n)
    s = tl.reduce(v, 0, combine)
    store(x, FN(v) + s + size(2) + TABLE["a"][0])

def other(y):
    return y
)";

std::string replaced(const std::string &from, const std::string &to) {
  std::string result = text;
  size_t at = result.find(from);
  INFO(from);
  REQUIRE(at != std::string::npos);
  return result.replace(at, from.size(), to);
}
} // namespace

TEST_CASE("a closure changes with what the kernel reaches") {
  std::string base = closure(text);
  CHECK(base.size() == 32);
  CHECK(closure(replaced("x * SCALE", "x - SCALE")) != base);           // a helper, through a default and a combine function
  CHECK(closure(replaced("constexpr(2.0)", "constexpr(3.0)")) != base); // a constant that a helper reads
  CHECK(closure(replaced("N = 4", "N = 5")) != base);                   // one that a constexpr_function and a table read
  CHECK(closure(replaced("n * N", "n + N")) != base);                   // the constexpr_function
  CHECK(closure(replaced("a + leaf(b)", "a - leaf(b)")) != base);       // the combine function
  CHECK(closure(replaced("(1, N)", "(2, N)")) != base);                 // the table
  CHECK(closure(replaced("FN: constexpr = leaf", "FN: constexpr = other")) != base);
  CHECK(closure(replaced("cols < n)", "cols <= n)")) != base); // the kernel
  CHECK(closure(replaced("@jit", "@jit(do_not_specialize=[\"n\"])")) != base);
  CHECK(closure(replaced("    v = load", "\n    v = load")) != base); // lines within the function
  CHECK(closure(text, "k", "a.py") != base);                          // the other dialect
}

TEST_CASE("a closure keeps what does not matter") {
  std::string base = closure(text);
  CHECK(closure(replaced("return y", "return y + 1")) == base); // another function
  CHECK(closure(replaced("# a comment", "# another")) == base);
  CHECK(closure(replaced("\nimport math", "\n# comment\n\nimport math\nimport torch\n")) == base);
  CHECK(closure(replaced("N = 4", "N = 2 + 2")) == base);          // constants count by value
  CHECK(closure(replaced("cdiv(n, 64)", "cdiv(n, 128)")) == base); // launches
  CHECK(closure(replaced("randn(fp32, 64)", "zeros(fp32, 64)")) == base);
  CHECK(closure(replaced("\"cuda\"", "\"cpu\"")) == base); // not reached
  CHECK(closure(replaced("FN: constexpr = combine", "FN: constexpr = other")) == base);
  // Everything in another order.
  std::string moved = replaced("def leaf(x):\n    return x * SCALE\n", "");
  CHECK(closure(moved + "\ndef leaf(x):\n    return x * SCALE\n") == base);
}

TEST_CASE("closures of the functions that arguments name") {
  CHECK(closure(text, "combine") != closure(replaced("x * SCALE", "x - SCALE"), "combine"));
  CHECK(closure(text, "other") == closure(replaced("x * SCALE", "x - SCALE"), "other"));
  CHECK(closure("def f(x): return g(x)\ndef g(x): return f(x)\n", "f") != closure("def f(x): return g(x)\ndef g(x): return f(x) + 1\n", "f")); // recursion ends
}

TEST_CASE("closures of less usual references") {
  auto differ = [](const std::string &before, const std::string &after) {
    INFO(before << "\n" << after);
    return closure(before) != closure(after);
  };
  CHECK(differ("alias = f\ndef f(x): return x\ndef k(x): store(x, alias(1))\n", "alias = f\ndef f(x): return -x\ndef k(x): store(x, alias(1))\n"));
  CHECK(differ("f = lambda x: x\ndef k(x): store(x, f(1))\n", "f = lambda x: x + 1\ndef k(x): store(x, f(1))\n"));
  CHECK(differ("C = 1\nf = lambda x: x + C\ndef k(x): store(x, f(1))\n", "C = 2\nf = lambda x: x + C\ndef k(x): store(x, f(1))\n"));
  CHECK(differ("FS = (f, 1)\ndef f(x): return x\ndef k(x): store(x, FS[0](1))\n", "FS = (f, 1)\ndef f(x): return -x\ndef k(x): store(x, FS[0](1))\n"));
  CHECK(differ("H = torch.size(1)\ndef k(x): store(x, H)\n", "H = torch.size(2)\ndef k(x): store(x, H)\n")); // by text
  CHECK(differ("M = 1\nH = torch.size(M)\ndef k(x): store(x, H)\n", "M = 2\nH = torch.size(M)\ndef k(x): store(x, H)\n"));
  CHECK(differ("class C:\n    v = 1\ndef k(x): store(x, C.v)\n", "class C:\n    v = 2\ndef k(x): store(x, C.v)\n"));
  CHECK(differ("from triton.language import exp as f\ndef k(x): store(x, f(1.0))\n", "from triton.language import log as f\ndef k(x): store(x, f(1.0))\n"));
  CHECK(differ("C = 1\ndef k(x): static_print(f'{C}')\n", "C = 2\ndef k(x): static_print(f'{C}')\n"));
  CHECK(differ("C = 1\ndef k(x, n: constexpr = C): store(x, n)\n", "C = 2\ndef k(x, n: constexpr = C): store(x, n)\n"));
  CHECK(differ("T = tl.float32\ndef k(x: T): store(x, 1)\n", "T = tl.float16\ndef k(x: T): store(x, 1)\n"));
  CHECK(differ("C = 1.0\ndef k(x): store(x, C)\n", "C = 1\ndef k(x): store(x, C)\n"));
  CHECK(differ("C = 0.0\ndef k(x): store(x, C)\n", "C = -0.0\ndef k(x): store(x, C)\n"));
  CHECK(differ("C = 4\ndef k(x): store(x, C)\n", "C = tl.constexpr(4)\ndef k(x): store(x, C)\n"));
  // A local variable is none of the module's, unless it may be unset.
  CHECK_FALSE(differ("v = 1\ndef k(x):\n    v = 3\n    store(x, v)\n", "v = 2\ndef k(x):\n    v = 3\n    store(x, v)\n"));
  CHECK_FALSE(differ("x = 1\ndef k(x):\n    store(x, 1)\n", "x = 2\ndef k(x):\n    store(x, 1)\n"));
  CHECK_FALSE(differ("i = 1\ndef k(x):\n    for i in range(3):\n        store(x, i)\n", "i = 2\ndef k(x):\n    for i in range(3):\n        store(x, i)\n"));
  CHECK(
      differ("v = 1\ndef k(x):\n    if x is None:\n        v = 3\n    store(x, v)\n", "v = 2\ndef k(x):\n    if x is None:\n        v = 3\n    store(x, v)\n"));
  CHECK(differ("v = 1\ndef k(x):\n    v = v + 1\n    store(x, v)\n", "v = 2\ndef k(x):\n    v = v + 1\n    store(x, v)\n"));
}

TEST_CASE("closures reach into imported files") {
  std::filesystem::path folder = std::filesystem::temp_directory_path() / "tkc-describe-test";
  std::filesystem::create_directories(folder);
  auto with = [&](const std::string &helper) {
    std::ofstream(folder / "helper_of_k.tk") << helper;
    return closure("from helper_of_k import f\ndef k(x): store(x, f(1))\n", "k", (folder / "a.tk").string());
  };
  std::string base = with("C = 1\ndef f(x): return x + C\ndef g(x): return x\n");
  CHECK(with("C = 2\ndef f(x): return x + C\ndef g(x): return x\n") != base);
  CHECK(with("C = 1\ndef f(x): return x - C\ndef g(x): return x\n") != base);
  CHECK(with("def g(x): return -x\n# moved\nC = 1\ndef f(x): return x + C\n") == base);
  std::filesystem::remove_all(folder);
}

TEST_CASE("parameters, defaults and grids") {
  runtime::ModuleDescription module = described(R"(
def act(x):
    return x

@tk.grid(cdiv(n, BLOCK), 2)
@jit(do_not_specialize=["n"], do_not_specialize_on_alignment=["y"])
def k(x, y: "*fp32", n, a=1.5, b=None, t: constexpr = tl.float16, ACT: constexpr = act, big=1 << 63, huge=1 << 64, s="text", h=torch.size(), BLOCK: constexpr = 128):
    pass

@tk.grid(x.shape[0])
def rows(x):
    pass
)");
  REQUIRE(module.kernels.size() == 2);
  const runtime::KernelDescription &k = module.kernels[0];
  CHECK(k.name == "k");
  CHECK(k.line == 7);
  CHECK(k.problem.empty());
  std::string shown;
  for (const runtime::ParameterDescription &p : k.parameters)
    shown += fmt::format("{}{}{}{}{}{} ", p.name, p.isConstexpr ? "!" : "", p.specialize ? "" : "~", p.alignment ? "" : "-", p.hasDefault ? "=" : "",
                         p.defaultValue ? runtime::describe(p.defaultValue->get()) : "");
  CHECK(shown == "x y- n~ a=1.5 b=none t!=the type fp16 ACT!=the function `act` big=9223372036854775808 huge= s=the string `text` h= BLOCK!=128 ");
  CHECK(k.hasGrid);
  REQUIRE(k.grid.size() == 2);
  Argument n(1000), block(128);
  std::vector<const Argument *> arguments(k.parameters.size(), nullptr);
  arguments[2] = &n, arguments[11] = &block;
  std::string error;
  CHECK(runtime::describe(*k.grid[0].run(arguments.data(), arguments.size(), error)) == "8");
  CHECK(module.kernels[1].hasGrid);
  CHECK(module.kernels[1].grid.empty());
  REQUIRE(module.functions.size() == 3);
  CHECK(module.functions[0].name == "act");
  CHECK(module.functions[0].first == 2);
  CHECK(module.functions[0].last == 3);
  CHECK(module.functions[1].closure == k.closure);
  CHECK(module.functions[1].first == 7);
  CHECK(module.functions[1].last == 8);
  runtime::ModuleDescription read;
  REQUIRE(runtime::parseModuleDescription(runtime::toText(module), read, error));
}

TEST_CASE("what is wrong with one kernel is its own affair") {
  ModuleText module("def bad(x: \"*fp33\"): pass\ndef good(x): pass\n");
  runtime::ModuleDescription described = describe(module.scope, module.diagnostics);
  REQUIRE(described.kernels.size() == 2);
  CHECK(described.kernels[0].problem.starts_with("line 1: "));
  CHECK(described.kernels[1].problem.empty());
  CHECK(module.diagnostics.hasErrors());
}

TEST_CASE("every sample is described, the same way each time") {
  for (const auto &entry : std::filesystem::directory_iterator(TKC_SOURCE_DIR "/samples")) {
    if (entry.path().extension() != ".tk")
      continue;
    std::string error;
    std::shared_ptr<SourceFile> file = SourceFile::read(entry.path().string(), error);
    REQUIRE(file);
    runtime::ModuleDescription first = described(std::string(file->text()), file->name()), second = described("\n" + std::string(file->text()), "elsewhere.tk"),
                               read;
    REQUIRE(first.kernels.size() == second.kernels.size());
    CHECK(!first.kernels.empty());
    for (size_t i = 0; i < first.kernels.size(); ++i) {
      CHECK(first.kernels[i].closure == second.kernels[i].closure);
      CHECK(first.kernels[i].line + 1 == second.kernels[i].line);
    }
    REQUIRE(runtime::parseModuleDescription(runtime::toText(first), read, error));
  }
}
