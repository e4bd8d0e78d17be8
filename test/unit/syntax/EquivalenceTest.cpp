// Texts that differ only in what has no meaning have one tree: line ends, comments, spaces, joined lines, redundant parentheses.
#include "Parsing.h"
#include <functional>

using namespace tk::lang;

static const char *const kSample = R"(import triton.language as tl
from math import (log2, pi as PI)

@tk.grid(cdiv(n, BLOCK))
@tk.example(x=randn(fp32, 98432), n=98432)
def kernel(x: ptr[fp32], y, out, /, n: i32, *, BLOCK: constexpr = 1_024, **kw) -> None:
    """Adds block by block."""
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    if n % 16 == 0 and not BLOCK < 8:
        a = load(x + offs, mask=mask, other=-float('inf'))
    elif (m := n // 2) > 3:
        a = x[:, None, 1:2:3] ** -2.5e-3
    else:
        a, (b, *c) = [v for v in (1, 2) if v], f"{n!r:>{BLOCK}} {{}} {x=}" 'tail'
    while True:
        for i in range(0x10, 0b11):
            break
        else: pass; continue
        return lambda p, *q, r=1: p if q else r
    try:
        with open(a) as f, g: del f[0], f.x
    except (A, B) as e:
        raise C from e
    finally:
        x.y[z] |= ~w
    match n:
        case [1, {"k": v, **rest}] | P(a=_) if v > 1:
            yield from v
    store(out + offs, a @ y, *rest, mask=mask, **{'k': {1, 2}})
)";

static std::string treeOf(const std::string &text) {
  Parsed parsed(text);
  INFO(parsed.diagnostics.render());
  REQUIRE_FALSE(parsed.diagnostics.hasErrors());
  return parsed.tree();
}

static std::string replaced(std::string text, const std::string &from, const std::string &to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

TEST_CASE("the tree does not depend on how the text is laid out", "[equivalence]") {
  const std::string expected = treeOf(kSample);
  CHECK(expected.size() > 4000);
  CHECK(treeOf(replaced(kSample, "\n", "\r\n")) == expected);
  CHECK(treeOf(replaced(kSample, "\n", "\r")) == expected);
  CHECK(treeOf("\xEF\xBB\xBF" + std::string(kSample)) == expected);
  CHECK(treeOf(replaced(kSample, "    ", "\t")) == expected);
  CHECK(treeOf(replaced(kSample, "    ", " ")) == expected);
  CHECK(treeOf(replaced(kSample, "\n", "  # comment (\n\n   # another '\n")) == expected);
  CHECK(treeOf(replaced(kSample, " = ", " \\\n =\t")) == expected);
  CHECK(treeOf(replaced(kSample, ", ", ",\t \f ")) == expected);
  CHECK(treeOf(std::string(kSample, std::string(kSample).size() - 1)) == expected); // no line end at the end
  CHECK(treeOf(replaced(replaced(kSample, "(", "(\n\n# c\n"), ")", "\n)")) == expected);
}

TEST_CASE("redundant parentheses leave no trace", "[equivalence]") {
  CHECK(treeOf("x = a + b * c ** -d\n") == treeOf("x = ((a) + ((b) * ((c) ** (-(d)))))\n"));
  CHECK(treeOf("x = a if b else c\n") == treeOf("x = ((a) if (b) else (c))\n"));
  CHECK(treeOf("x = a, b\n") == treeOf("x = (a, b)\n"));
  CHECK(treeOf("a, b = x\n") == treeOf("(a, (b)) = x\n"));
  CHECK(treeOf("for a, b in c, d: pass\n") == treeOf("for (a, b) in (c, d): pass\n"));
  CHECK(treeOf("x = a.b[c](d)\n") == treeOf("x = (((a).b)[(c)])((d))\n"));
}

TEST_CASE("parentheses that group are kept", "[equivalence]") {
  CHECK(treeOf("x = (a + b) * c\n") != treeOf("x = a + b * c\n"));
  CHECK(treeOf("x = (a < b) < c\n") != treeOf("x = a < b < c\n"));
  CHECK(treeOf("x = (a ** b) ** c\n") != treeOf("x = a ** b ** c\n"));
  CHECK(treeOf("x = (a and b) and c\n") != treeOf("x = a and b and c\n"));
}

TEST_CASE("every truncation of a text ends in a tree or a message", "[equivalence]") {
  const std::string sample = kSample;
  unsigned clean = 0;
  for (size_t size = 0; size <= sample.size(); ++size) {
    Parsed parsed(sample.substr(0, size));
    clean += !parsed.diagnostics.hasErrors();
    for (const Message &message : parsed.diagnostics.messages()) {
      REQUIRE(message.place.range.begin <= message.place.range.end);
      REQUIRE(message.place.range.end <= size);
    }
    REQUIRE(parsed.diagnostics.render().size() < 40'000);
    if (!parsed.diagnostics.hasErrors())
      checkRestrictions(parsed.module, parsed.diagnostics);
  }
  CHECK(clean > 100);
  CHECK(clean < sample.size() / 2);
}

TEST_CASE("every byte can be replaced by any other", "[equivalence]") {
  const std::string sample = kSample;
  unsigned wrong = 0, tried = 0;
  for (size_t at = 0; at < sample.size(); ++at) {
    for (const char c : {'(', ')', '{', '\'', '"', '\\', '\n', '\0', '\xFF', ':', ' ', 'f', '\t'}) {
      std::string text = sample;
      text[at] = c;
      Parsed parsed(text);
      checkRestrictions(parsed.module, parsed.diagnostics);
      ++tried;
      wrong += parsed.diagnostics.hasErrors();
    }
  }
  CHECK(wrong > tried / 2);
}
