// N3: integer operators over the ends of their types.
#include "test/conformance/Areas.h"
#include <cmath>

namespace tk::conformance {

namespace {
__int128 highest(DType type) { return decodeInteger(type, isUnsigned(type) ? ~uint64_t(0) : (uint64_t(1) << (bitsOf(type) - 1)) - 1); }
__int128 lowest(DType type) { return isUnsigned(type) ? 0 : -highest(type) - 1; }

/// The ends and small numbers, each with each.
struct Grid {
  Values x, y;
  explicit Grid(DType type) : x(type, {}), y(type, {}) {
    std::vector<__int128> values = {lowest(type), lowest(type) + 1, 0, 1, 2, 3, 7, 100, highest(type) - 1, highest(type)};
    if (isSigned(type))
      values.insert(values.end(), {-1, -2, -3, -7, -100, -128});
    else
      values.insert(values.end(), {4, 5, 10, 64, 127, 128});
    for (__int128 a : values)
      for (__int128 b : values) {
        x.bits.push_back(encodeInteger(type, a));
        y.bits.push_back(encodeInteger(type, b));
      }
  }
  Values apply(DType type, const std::function<__int128(__int128, __int128)> &f) const {
    Values result(type, {});
    for (size_t i = 0; i < x.size(); ++i)
      result.bits.push_back(encodeInteger(type, f(x.integer(i), y.integer(i))));
    return result;
  }
};

Case &binary(Suite &suite, const std::string &id, const Grid &grid, const std::string &expression, Values expected) {
  return suite.add(id, substitute(R"(
def k(x, y, out):
    i = arange(0, 256)
    a = load(x + i)
    b = load(y + i)
    r = $E
    static_assert(r.dtype == $R)
    store(out + i, r)
)", {{"E", expression}, {"R", nameOf(expected.dtype)}})).in(grid.x).in(grid.y).out(expected);
}

void addGrids(Suite &suite) {
  for (DType type : kIntegerTypes) {
    Grid grid(type);
    std::string name = nameOf(type);
    auto divides = [&](__int128 b) { return b != 0; };
    auto unspecified = [grid, type](size_t i) { return grid.y.integer(i) == 0 || (isSigned(type) && grid.x.integer(i) == lowest(type) && grid.y.integer(i) == -1); };
    binary(suite, "N3.wrap.add." + name, grid, "a + b", grid.apply(type, [](__int128 a, __int128 b) { return a + b; }));
    binary(suite, "N3.wrap.sub." + name, grid, "a - b", grid.apply(type, [](__int128 a, __int128 b) { return a - b; }));
    binary(suite, "N3.wrap.mul." + name, grid, "a * b",
           grid.apply(type, [](__int128 a, __int128 b) { return static_cast<__int128>(static_cast<unsigned __int128>(a) * static_cast<unsigned __int128>(b)); }));
    binary(suite, "N3.floordiv." + name, grid, "a // b", grid.apply(type, [&](__int128 a, __int128 b) { return divides(b) ? a / b : 0; })).anyWhere(unspecified);
    binary(suite, "N3.mod." + name, grid, "a % b", grid.apply(type, [&](__int128 a, __int128 b) { return divides(b) ? a % b : 0; })).anyWhere(unspecified);
    binary(suite, "N3.bitwise." + name, grid, "((a & b) ^ (a | b)) | ~a", grid.apply(type, [](__int128 a, __int128 b) { return ((a & b) ^ (a | b)) | ~a; }));
    unsigned bits = bitsOf(type);
    binary(suite, "N3.shift.left." + name, grid, substitute("a << (b & $M)", {{"M", std::to_string(bits - 1)}}),
           grid.apply(type, [&](__int128 a, __int128 b) { return static_cast<__int128>(static_cast<unsigned __int128>(a) << (b & (bits - 1))); }));
    binary(suite, "N3.shift.right." + name, grid, substitute("a >> (b & $M)", {{"M", std::to_string(bits - 1)}}), grid.apply(type, [&](__int128 a, __int128 b) { return a >> (b & (bits - 1)); }));
    binary(suite, "N3.unary.negate." + name, grid, "-a", grid.apply(type, [](__int128 a, __int128) { return -a; }));
    binary(suite, "N3.unary.invert." + name, grid, "~a", grid.apply(type, [](__int128 a, __int128) { return ~a; }));
    binary(suite, "N3.unary.abs." + name, grid, "abs(a)", grid.apply(type, [](__int128 a, __int128) { return a < 0 ? -a : a; })).anyWhere([=](size_t i) {
      return isSigned(type) && grid.x.integer(i) == lowest(type);
    });
    binary(suite, "N3.extremes." + name, grid, "maximum(a, b) - minimum(a, b)", grid.apply(type, [](__int128 a, __int128 b) { return a > b ? a - b : b - a; }));
    binary(suite, "N3.cdiv." + name, grid, "cdiv(a, b)", grid.apply(type, [&](__int128 a, __int128 b) {
      if (!divides(b))
        return __int128(0);
      return decodeInteger(type, encodeInteger(type, a + (b - 1))) / b;
    })).anyWhere([=](size_t i) { return grid.y.integer(i) == 0 || (isSigned(type) && grid.y.integer(i) == -1); });
    Values order(DType::I8, {});
    for (size_t i = 0; i < grid.x.size(); ++i) {
      __int128 a = grid.x.integer(i), b = grid.y.integer(i);
      order.bits.push_back(static_cast<uint64_t>((a < b) + 2 * (a <= b) + 4 * (a == b) + 8 * (a != b) + 16 * (a > b) + 32 * (a >= b)));
    }
    suite
        .add("N3.compare." + name, R"(
def k(x, y, out):
    i = arange(0, 256)
    a = load(x + i)
    b = load(y + i)
    r = (a < b).to(int8) + 2 * (a <= b).to(int8) + 4 * (a == b).to(int8) + 8 * (a != b).to(int8) + 16 * (a > b).to(int8) + 32 * (a >= b).to(int8)
    store(out + i, r)
)")
        .in(grid.x)
        .in(grid.y)
        .out(order);
  }
}

void addMixedShifts(Suite &suite) {
  struct Row {
    DType left, right, result;
  };
  for (Row row : {Row{DType::I8, DType::U16, DType::U16}, Row{DType::I32, DType::U32, DType::U32}, Row{DType::I16, DType::U64, DType::U64}, Row{DType::U8, DType::I16, DType::I16},
                  Row{DType::U32, DType::I64, DType::I64}, Row{DType::I8, DType::I32, DType::I32}}) {
    Values x = integers(row.left, {-100, -1, 100, 127, -128, 5, -7, 64}), y = integers(row.right, {1, 3, 2, 6, 4, 0, 7, 5}), expected(row.result, {});
    for (size_t i = 0; i < 8; ++i) {
      // The left operand in the promoted type, then arithmetic when its own type is signed.
      uint64_t promoted = encodeInteger(row.result, x.integer(i));
      unsigned unused = 64 - bitsOf(row.result), amount = static_cast<unsigned>(y.bits[i]);
      __int128 value = isSigned(row.left) ? static_cast<int64_t>(promoted << unused) >> unused : static_cast<__int128>(promoted);
      expected.bits.push_back(encodeInteger(row.result, value >> amount));
    }
    suite
        .add("N3.shift.mixed." + nameOf(row.left) + "." + nameOf(row.right), substitute(R"(
def k(x, y, out):
    i = arange(0, 8)
    r = load(x + i) >> load(y + i)
    static_assert(r.dtype == $R)
    store(out + i, r)
)", {{"R", nameOf(row.result)}}))
        .in(x)
        .in(y)
        .out(expected);
  }
  // What an amount past the width gives is open, but a scalar and a tile must give the same.
  for (DType type : {DType::I32, DType::U8, DType::I64})
    suite
        .add("N3.shift.past_width." + nameOf(type), R"(
def k(x, y, out):
    i = arange(0, 8)
    a = load(x + i)
    b = load(y + i)
    store(out + i, a << b)
    store(out + 16 + i, a >> b)
    for n in range(0, 8):
        store(out + 8 + n, load(x + n) << load(y + n))
        store(out + 24 + n, load(x + n) >> load(y + n))
)")
        .in(integers(type, {1, -1, 5, 100, -100, 7, 127, 3}))
        .in(integers(type, {8, 32, 64, 100, 33, 127, 31, 65}))
        .checked(filled(type, 32), [](const Values &found) {
          for (size_t i = 0; i < 8; ++i)
            if (found.bits[i] != found.bits[i + 8] || found.bits[i + 16] != found.bits[i + 24])
              return std::string("expected the same from a scalar and from a tile found two values at index ") + std::to_string(i);
          return std::string();
        });
  suite.add("N3.shift.constant_past_width", "def k(x, out):\n    i = arange(0, 8)\n    store(out + i, load(x + i) << 9)\n").in(filled(DType::I8, 8)).out(filled(DType::I8, 8)).warning("shift");
}

void addHighProducts(Suite &suite) {
  for (DType type : {DType::I32, DType::U32, DType::I64, DType::U64}) {
    Grid grid(type);
    unsigned bits = bitsOf(type);
    Values expected(type, {});
    for (size_t i = 0; i < grid.x.size(); ++i)
      expected.bits.push_back(encodeInteger(type, static_cast<__int128>(static_cast<unsigned __int128>(grid.x.bits[i]) * grid.y.bits[i] >> bits)));
    binary(suite, "N3.umulhi." + nameOf(type), grid, "umulhi(a, b)", expected);
  }
  suite.add("N3.umulhi.known", R"(
def k(x, out):
    i = arange(0, 2)
    store(out + i, umulhi(load(x + i), load(x + i)))
)").in(Values(DType::I32, {0xffffffff, 0x80000000})).out(integers(DType::I32, {-2, 0x40000000}));
  suite.add("N3.umulhi.int16_is_an_error", "def k(x, out):\n    store(out, umulhi(load(x), load(x)))\n").in(filled(DType::I16, 1)).out(filled(DType::I16, 1)).error("umulhi");
}

void addRest(Suite &suite) {
  Values big = integers(DType::I64, {9007199254740993, -9223372036854775807, 1000000007, -3, 0, 123456789012345678}), divisor = integers(DType::I64, {3, 1000000007, -7, 2, 5, 11});
  suite.add("N3.true_division.int64", R"(
def k(x, y, out):
    i = arange(0, 6)
    r = load(x + i) / load(y + i)
    static_assert(r.dtype == float32)
    store(out + i, r)
)").in(big).in(divisor).out(generate(DType::F32, 6, [&](size_t i) {
    return static_cast<double>(static_cast<float>(static_cast<int64_t>(big.bits[i])) / static_cast<float>(static_cast<int64_t>(divisor.bits[i])));
  })).approximateOnGpus();
  suite.add("N3.float.floordiv_is_an_error", "def k(x, out):\n    store(out, load(x) // load(x))\n").in(filled(DType::F32, 1)).out(filled(DType::F32, 1)).error("needs integers");
  suite.add("N3.float.bitwise_is_an_error", "def k(x, out):\n    store(out, load(x) & load(x))\n").in(filled(DType::F32, 1)).out(filled(DType::F32, 1)).error("needs integers");
  for (DType type : {DType::F16, DType::BF16, DType::F32, DType::F64}) {
    DType result = type == DType::F64 ? type : DType::F32;
    Values x = numbers(type, {7.5, -7.5, 7.5, -7.5, 1e4, 0.5, INFINITY, 3, 5, NAN, 0, -0.0}), y = numbers(type, {2, 2, -2, -2, 0.375, 3, 2, INFINITY, 0, 1, 2, 2});
    suite
        .add("N3.float.mod." + nameOf(type), substitute(R"(
def k(x, y, out):
    i = arange(0, 12)
    r = load(x + i) % load(y + i)
    static_assert(r.dtype == $R)
    store(out + i, r)
)", {{"R", nameOf(result)}}))
        .in(x)
        .in(y)
        .out(generate(result, 12, [&](size_t i) { return std::fmod(x.number(i), y.number(i)); }));
  }
  // Any bits at all: quotients of every size, subnormals, infinities.
  for (DType type : {DType::F32, DType::F64}) {
    Values x(type, {}), y(type, {});
    uint64_t state = 99;
    auto next = [&] {
      state ^= state << 13, state ^= state >> 7, state ^= state << 17;
      return type == DType::F32 ? state >> 32 : state;
    };
    for (int i = 0; i < 1024; ++i) {
      x.bits.push_back(next());
      y.bits.push_back(i % 3 ? next() : i % 2 ? next() >> 12 : x.bits.back() ^ (next() & 0xff)); // subnormal divisors, and nearly equal numbers
    }
    suite.add("N3.float.mod.bits." + nameOf(type), "def k(x, y, out):\n    i = arange(0, 1024)\n    store(out + i, load(x + i) % load(y + i))\n")
        .in(x)
        .in(y)
        .out(generate(type, 1024, [&](size_t i) { return std::fmod(x.number(i), y.number(i)); }));
  }
  suite
      .add("N3.logical.int1", R"(
def k(x, y, out):
    i = arange(0, 4)
    a = load(x + i) != 0
    b = load(y + i) != 0
    store(out + i, (a and b).to(int8) + 2 * (a or b).to(int8) + 4 * (not a).to(int8))
)").in(integers(DType::I32, {0, 0, 5, 5})).in(integers(DType::I32, {0, 9, 0, 9})).out(integers(DType::I8, {4, 6, 2, 3}));
  for (const char *op : {"a and a", "a or a", "not a"})
    suite.add(std::string("N3.logical.error.") + (op[0] == 'n' ? "not" : op[2] == 'a' ? "and" : "or"), substitute("def k(x, out):\n    i = arange(0, 4)\n    a = load(x + i)\n    r = $E\n    store(out + i, r)\n", {{"E", op}}))
        .in(filled(DType::I32, 4)).out(filled(DType::I32, 4)).error("int1");
  // Only with debug on are sums, differences and products of less than 64 bits checked.
  for (auto [name, op] : {std::pair("add", "+"), std::pair("sub", "-"), std::pair("mul", "*")}) {
    std::string source = substitute("def k(x, y, out):\n    i = arange(0, 4)\n    store(out + i, load(x + i) $O load(y + i))\n", {{"O", op}});
    Values x = integers(DType::I32, {1, 2, op[0] == '-' ? -2147483647 : 2147483647, 4}), y = integers(DType::I32, {1, 2, 2, 4}), wrapped(DType::I32, {});
    for (size_t i = 0; i < 4; ++i)
      wrapped.bits.push_back(encodeInteger(DType::I32, op[0] == '+' ? x.integer(i) + y.integer(i) : op[0] == '-' ? x.integer(i) - y.integer(i) : x.integer(i) * y.integer(i)));
    suite.add(std::string("N3.overflow_check.on.") + name, source).in(x).in(y).out(wrapped).withDebug().fails("overflow");
    suite.add(std::string("N3.overflow_check.off.") + name, source).in(x).in(y).out(wrapped);
    suite.add(std::string("N3.overflow_check.fits.") + name, source).in(y).in(y).out(op[0] == '+' ? integers(DType::I32, {2, 4, 4, 8}) : op[0] == '-' ? filled(DType::I32, 4) : integers(DType::I32, {1, 4, 4, 16})).withDebug();
  }
  suite.add("N3.overflow_check.int64_is_not_checked", "def k(x, out):\n    store(out, load(x) + load(x))\n").in(integers(DType::I64, {INT64_MAX})).out(integers(DType::I64, {-2})).withDebug();
  suite.add("N3.overflow_check.opted_out", "def k(x, out):\n    store(out, add(load(x), load(x), sanitize_overflow=False))\n").in(integers(DType::I32, {INT32_MAX})).out(integers(DType::I32, {-2})).withDebug();
}
} // namespace

void addIntegerArithmetic(Suite &suite) {
  addGrids(suite);
  addMixedShifts(suite);
  addHighProducts(suite);
  addRest(suite);
}

} // namespace tk::conformance
