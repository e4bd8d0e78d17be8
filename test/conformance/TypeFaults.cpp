// Known faults of front ends: types of operands and arguments, specialization, control flow of the source.
#include "test/conformance/Areas.h"
#include <cmath>

namespace tk::conformance {

namespace {
void addNegativeSteps(Suite &suite) {
  const char *source = R"(
@triton.jit(do_not_specialize=['start', 'stop', 'step'])
def k(x, out, start, stop, step):
    acc = 0.0
    for i in tl.range(start, stop, step):
        acc += load(x + i)
    store(out, acc)
)";
  Values x = counting(DType::F32, 96, 1);
  suite.add("A01.descending", source).in(x).out(numbers(DType::F32, {540})).value(int64_t(88)).value(int64_t(-1)).value(int64_t(-8));
  suite.add("A01.no_iteration", source).in(x).at(Placement::AgainstUpperPage).offset(96).out(numbers(DType::F32, {0})).value(int64_t(5)).value(int64_t(10)).value(int64_t(-3));
  suite.add("A01.ascending", source).in(x).out(numbers(DType::F32, {1 + 4 + 7})).value(int64_t(0)).value(int64_t(8)).value(int64_t(3));
}

void addOffsets(Suite &suite) {
  suite.add("A03.uint8", R"(
def k(x, out):
    i = arange(0, 256)
    index = i.to(uint8)
    store(out + i, load(x + index, mask=index < 192, other=-1.0))
)").in(counting(DType::F32, 1024)).offset(512).out(generate(DType::F32, 256, [](size_t i) { return i < 192 ? static_cast<double>(512 + i) : -1.0; }));
  suite.add("A03.uint16", R"(
def k(x, out):
    i = arange(0, 256)
    index = (i * 256).to(uint16)
    store(out + i, load(x + index))
)").in(generate(DType::I8, 32768 + 65536, [](size_t i) { return static_cast<double>(i / 256 % 100); })).offset(32768).out(generate(DType::I8, 256, [](size_t i) { return static_cast<double>((32768 + i * 256) / 256 % 100); }));
  suite.add("A03.uint32", R"(
def k(x, out):
    i = arange(0, 8)
    index = i.to(uint32) + 4294967288
    near = x - 4294967288
    store(out + i, load(near + index))
    store(out + 8 + i, ((x + index).to(int64) - x.to(int64)) // 4)
)").in(counting(DType::F32, 8, 1)).out(numbers(DType::F32, {1, 2, 3, 4, 5, 6, 7, 8, 4294967288.0, 4294967289.0, 4294967290.0, 4294967291.0, 4294967292.0, 4294967293.0, 4294967294.0, 4294967295.0}));
  suite.add("A03.scalar_uint8", R"(
def k(x, index, out):
    store(out, load(x + load(index)))
    store(out + 1, load(load(index + 1) + x))
)").in(counting(DType::F32, 512)).offset(256).in(integers(DType::U8, {200, 255})).out(numbers(DType::F32, {456, 511}));
}

void addLiteralOperands(Suite &suite) {
  for (DType type : {DType::U32, DType::U8, DType::I8, DType::U16, DType::I16, DType::U64}) {
    Values x = counting(type, 100);
    suite
        .add("A04." + nameOf(type), substitute(R"(
def k(out):
    i = arange(0, 100)
    v = i.to($T)
    static_assert((v % 2).dtype == $T)
    static_assert((v // 3).dtype == $T)
    static_assert((v << 2).dtype == $T)
    store(out + i, v % 2)
    store(out + 100 + i, v // 3)
    store(out + 200 + i, v << 2)
)", {{"T", nameOf(type)}}))
        .out(generate(type, 300, [](size_t i) { return 0.0 * static_cast<double>(i); }));
    Argument &out = suite.cases.back().arguments.back();
    for (size_t i = 0; i < 100; ++i) {
      out.expected->bits[i] = encodeInteger(type, static_cast<__int128>(i % 2));
      out.expected->bits[100 + i] = encodeInteger(type, static_cast<__int128>(i / 3));
      out.expected->bits[200 + i] = encodeInteger(type, static_cast<__int128>(i << 2));
    }
  }
  suite.add("A04.float16", R"(
def k(out):
    i = arange(0, 16)
    v = i.to(float16)
    static_assert((v * 3).dtype == float16 and (v + 2).dtype == float16)
    store(out + i, v * 3 + 2)
)").out(generate(DType::F16, 16, [](size_t i) { return static_cast<double>(3 * i + 2); }));
  for (DType type : {DType::I8, DType::I16, DType::I32, DType::I64}) {
    Values x = integers(type, {-7, -7, 7, 7, -100, 99, 1, -1}), y = integers(type, {2, -2, 2, -2, 7, -10, 3, 3});
    suite
        .add("A07." + nameOf(type), R"(
def k(x, y, quotient, remainder):
    i = arange(0, 8)
    store(quotient + i, load(x + i) // load(y + i))
    store(remainder + i, load(x + i) % load(y + i))
    static_assert(-7 // 2 == -4 and -7 % 2 == 1)
)")
        .in(x)
        .in(y)
        .out(integers(type, {-3, 3, 3, -3, -14, -9, 0, 0}))
        .out(integers(type, {-1, -1, 1, 1, -2, 9, 1, -1}));
  }
}

void addDivisionByZero(Suite &suite) {
  for (DType type : {DType::I8, DType::I16, DType::I32, DType::I64, DType::U8, DType::U32, DType::U64})
    for (auto [name, body] : {std::pair("div", "    store(out + i, a // b)\n"), std::pair("mod", "    store(out + i, a % b)\n"), std::pair("both", "    store(out + i, a // b + a % b)\n")}) {
      __int128 low = isSigned(type) ? -(__int128(1) << (bitsOf(type) - 1)) : 5;
      Values x = integers(type, {2, 100, 0, low, 7, 1, low, 9}), y = integers(type, {0, 0, 0, isSigned(type) ? -1 : 0, 2, 1, 0, 4});
      std::string which = name;
      suite
          .add("A09." + which + "." + nameOf(type), std::string("def k(x, y, out):\n    i = arange(0, 8)\n    a = load(x + i)\n    b = load(y + i)\n") + body)
          .in(x)
          .in(y)
          .out(integers(type, {0, 0, 0, 0, which == "div" ? 3 : which == "mod" ? 1 : 4, which == "mod" ? 0 : 1, 0, which == "div" ? 2 : which == "mod" ? 1 : 3}))
          .anyWhere([](size_t i) { return i < 4 || i == 6; });
      suite
          .add("A09.scalar." + which + "." + nameOf(type), std::string("def k(x, y, out):\n  for i in range(0, 8):\n    a = load(x + i)\n    b = load(y + i)\n") + body)
          .in(x)
          .in(y)
          .out(integers(type, {0, 0, 0, 0, which == "div" ? 3 : which == "mod" ? 1 : 4, which == "mod" ? 0 : 1, 0, which == "div" ? 2 : which == "mod" ? 1 : 3}))
          .anyWhere([](size_t i) { return i < 4 || i == 6; });
    }
  suite.add("A09.masked_off_lanes", R"(
def k(x, y, out, n):
    i = arange(0, 16)
    a = load(x + i, mask=i < n, other=-2147483648)
    b = load(y + i, mask=i < n)
    store(out + i, a // b + a % b, mask=i < n)
)").in(counting(DType::I32, 13, 20)).in(filled(DType::I32, 13, 7)).out(generate(DType::I32, 13, [](size_t i) { return static_cast<double>((20 + i) / 7 + (20 + i) % 7); })).value(int64_t(13));
}

void addArguments(Suite &suite) {
  for (int64_t factor : {42, 1})
    suite.add("A10." + std::to_string(factor), "def k(x, out, factor):\n    store(out, load(x) * factor.to(int64))\n").in(integers(DType::I32, {1})).out(integers(DType::I64, {factor})).value(factor);
  suite.add("A12.all_widths", "def k(p, a: fp16, b: fp32, c: fp64, out):\n    store(out, load(p) + a + b + c)\n").in(integers(DType::I64, {0})).value(1.0).value(1.0).value(1.0).out(integers(DType::I64, {3}));
  struct Row {
    const char *name, *type;
    double given, expected;
  };
  for (Row row : {Row{"42", "fp16", 42, 42}, Row{"65500", "fp16", 65500, 65504}, Row{"minus_65500", "fp16", -65500, -65504}, Row{"bf16", "bf16", 1.00390625, 1}, Row{"fp64", "fp64", 0.1, 0.1}})
    suite.add(std::string("A12.") + row.name, substitute("def k(a: $T, out):\n    store(out, a)\n", {{"T", row.type}})).value(row.given).out(numbers(DType::F64, {row.expected}));
  const char *optional = "def k(out, maybe):\n    if maybe is None:\n        store(out, 1)\n    else:\n        store(out, load(maybe))\n";
  suite.add("A13.none", optional).out(integers(DType::I32, {1})).value(Nothing{});
  suite.add("A13.pointer", optional).out(integers(DType::I32, {9})).in(integers(DType::I32, {9}));
  suite.add("A13.none_again", optional).out(integers(DType::I32, {1})).value(Nothing{});
}

void addSource(Suite &suite) {
  suite.add("A15.diagnosed", R"(
def k(x, out):
    acc = zeros([8, 8], float16)
    i = arange(0, 8)[:, None] * 8 + arange(0, 8)[None, :]
    for t in range(0, 32):
        acc += load(x + i)
    store(out + i, acc)
)").in(filled(DType::F32, 64)).out(filled(DType::F32, 64)).error("`acc` changes its type in the loop");
  suite.add("A16.return_in_for", "def first(pid):\n    for _ in range(3):\n        return pid\n    return pid * 0\n\ndef k(out):\n    store(out + program_id(0), first(program_id(0)))\n").out(counting(DType::I32, 8)).programs(8);
  suite.add("A16.return_in_while", R"(
def climb(pid):
    while pid < 5:
        pid += 1
        return pid
    return pid

def k(out):
    store(out + program_id(0), climb(program_id(0)))
)").out(integers(DType::I32, {1, 2, 3, 4, 5, 5, 6, 7})).programs(8);
  for (bool flag : {true, false})
    suite.add(std::string("A18.constexpr_return.") + (flag ? "true" : "false"), R"(
def choose(x, C: constexpr):
    if C:
        return x.to(float32) + 0.5
    return x

def k(x, out, C: constexpr):
    r = choose(load(x), C)
    static_assert(r.dtype == (float32 if C else int32))
    store(out, r)
)").in(integers(DType::I32, {3})).out(numbers(DType::F32, {flag ? 3.5 : 3.0})).value(flag);
  suite.add("A18.both_arms", R"(
def magnitude(x):
    if x < 0:
        return -x
    else:
        return x

def mark(out, value):
    store(out, value)

def k(x, out):
    v = load(x + program_id(0))
    if v > 2:
        mark(out + program_id(0), magnitude(v))
    else:
        mark(out + program_id(0), magnitude(v) + 10)
)").in(integers(DType::I32, {3, -7, 1})).out(integers(DType::I32, {3, 17, 11})).programs(3);
  suite.add("A19.pointer_is_an_error", "def k(x, out):\n    i = arange(0, 8)\n    store(out + arange(0, 16), interleave(load(x + i), x + i))\n").in(filled(DType::F32, 8)).out(filled(DType::F32, 16)).error("join");
  suite.add("A19.interleave", "def k(x, y, out):\n    i = arange(0, 8)\n    store(out + arange(0, 16), interleave(load(x + i), load(y + i)))\n")
      .in(counting(DType::F32, 8)).in(counting(DType::F32, 8, 100)).out(generate(DType::F32, 16, [](size_t i) { return static_cast<double>(i / 2) + (i % 2 ? 100.0 : 0.0); }));
}
} // namespace

void addTypeFaults(Suite &suite) {
  addNegativeSteps(suite);
  addOffsets(suite);
  addLiteralOperands(suite);
  addDivisionByZero(suite);
  addArguments(suite);
  addSource(suite);
}

} // namespace tk::conformance
