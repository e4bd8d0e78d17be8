// N4: conversions among integers, floats and pointers, with their roundings.
#include "test/conformance/Areas.h"
#include <bit>
#include <cmath>

namespace tk::conformance {

namespace {
const DType kFloats[] = {DType::F16, DType::BF16, DType::F32, DType::F64};

/// x.to(T) of every element, in tiles of 1024.
Case &cast(Suite &suite, const std::string &id, const Values &x, Values expected, const std::string &arguments = "", Tolerance tolerance = {}) {
  return suite
      .add(id, substitute(R"(
def k(x, out, n):
    i = program_id(0) * 1024 + arange(0, 1024)
    v = load(x + i, mask=i < n).to($T$A)
    static_assert(v.dtype == $T)
    store(out + i, v, mask=i < n)
)", {{"A", arguments}, {"T", nameOf(expected.dtype)}}))
      .in(x)
      .out(expected, tolerance)
      .value(static_cast<int64_t>(x.size()))
      .programs(static_cast<int64_t>((x.size() + 1023) / 1024));
}

Values ends(DType type) {
  __int128 high = decodeInteger(type, isUnsigned(type) ? ~uint64_t(0) : (uint64_t(1) << (bitsOf(type) - 1)) - 1), low = isUnsigned(type) ? 0 : -high - 1;
  std::vector<__int128> values = {low, low + 1, 0, 1, 2, 100, 127, high - 1, high, high / 2, high / 3};
  if (isSigned(type))
    values.insert(values.end(), {-1, -2, -100, low / 3});
  if (bitsOf(type) >= 32) // ties and near ties of fp32, fp16 and bf16
    values.insert(values.end(), {16777217, 16777219, 33554433, 1077936129, 1077936128, 65519, 65520, 2049, 2051, 257, 259, 65535, 65536, 99999});
  return integers(type, values);
}

void addIntegers(Suite &suite) {
  std::vector<DType> types = kIntegerTypes;
  types.push_back(DType::I1);
  for (DType from : types) {
    Values x = from == DType::I1 ? integers(from, {0, 1, 1, 0}) : ends(from);
    for (DType to : types)
      cast(suite, "N4.integers." + nameOf(from) + "." + nameOf(to), x, to == DType::I1 ? mapIntegers(to, x, [](__int128 v) { return v != 0; }) : mapIntegers(to, x, [](__int128 v) { return v; }));
    for (DType to : kFloats)
      cast(suite, "N4.integer_to_float." + nameOf(from) + "." + nameOf(to), x, mapIntegers(to, x, [](__int128 v) { return v; }));
  }
  cast(suite, "N4.integer_to_float.one_rounding", integers(DType::I32, {1077936129, -1077936129}), numbers(DType::BF16, {1082130432, -1082130432}));
  cast(suite, "N4.integer_to_float.one_rounding_int64", integers(DType::I64, {(__int128(1) << 60) + (__int128(1) << 52) + 1, (__int128(1) << 60) + (__int128(1) << 52)}), numbers(DType::BF16, {0x1.02p60, 0x1p60}));
}

void addFloatsToIntegers(Suite &suite) {
  std::vector<DType> types = kIntegerTypes;
  types.push_back(DType::I1);
  for (DType from : kFloats) {
    Values x = numbers(from, {0, -0.0, 0.5, -0.5, 0.99, -0.99, 1, -1, 1.5, -1.5, 126.9, 127.9, 128, -128, -128.9, -129, 255.9, 256, 32767, 32768, -32768, -32769, 65504, 65535, 65536, 2147483647.0,
                              2147483648.0, -2147483648.0, -2147483649.0, 4294967295.0, 4294967296.0, 9.2e18, 9223372036854775808.0, -9223372036854775808.0, 1.8e19, 18446744073709551616.0, 1e30, -1e30,
                              INFINITY, -INFINITY, NAN, 1e-40, -1e-40});
    for (DType to : types)
      cast(suite, "N4.float_to_integer." + nameOf(from) + "." + nameOf(to), x, map(to, x, [](double v) { return v; }));
  }
}

void addFloats(Suite &suite) {
  // Values about every midpoint of the narrow type: the midpoint and its two neighbours in the wide type, with either sign.
  auto about = [](DType wide, DType narrow, uint64_t step) {
    Values x(wide, {});
    uint64_t last = narrow == DType::F16 ? 0x7c00 : 0x7f80;
    for (uint64_t code = 0; code < last; code += step) {
      double low = decode(narrow, code), high = code + 1 == last ? 2 * low - decode(narrow, code - 1) : decode(narrow, code + 1);
      uint64_t middle = encode(wide, (low + high) / 2), sign = code / step % 2 ? uint64_t(1) << (bitsOf(wide) - 1) : 0;
      for (uint64_t bits : {middle - 1, middle, middle + 1})
        x.bits.push_back(bits | sign);
    }
    return x;
  };
  auto narrow = [&](DType wide, DType to, uint64_t step) {
    Values x = about(wide, to, step);
    cast(suite, "N4.narrow.midpoints." + nameOf(wide) + "." + nameOf(to), x, map(to, x, [](double v) { return v; }));
    Values truncated(to, {});
    for (size_t i = 0; i < x.size(); ++i)
      truncated.bits.push_back(encode(to, x.number(i), Rounding::TowardZero));
    cast(suite, "N4.rtz.midpoints." + nameOf(wide) + "." + nameOf(to), x, truncated, ", fp_downcast_rounding='rtz'");
  };
  narrow(DType::F32, DType::F16, 1);
  narrow(DType::F32, DType::BF16, 1);
  narrow(DType::F64, DType::F16, 7);
  narrow(DType::F64, DType::BF16, 7);
  Values doubles = scattered(DType::F64, 4096, -1e3, 1e3);
  for (double special : std::vector<double>{0.0, -0.0, 1e300, -1e300, 1e-300, 0x1.fffffefp127, 0x1.ffffffp127, 1e-40, 0x1p-150, 0x1.8p-149, INFINITY, -INFINITY, NAN, 0x1.000001p0, 0x1.0000010000001p0, 0x1.000003p0})
    doubles.bits.push_back(encode(DType::F64, special));
  cast(suite, "N4.narrow.float64.float32", doubles, map(DType::F32, doubles, [](double v) { return v; }));
  Values truncated(DType::F32, {});
  for (size_t i = 0; i < doubles.size(); ++i)
    truncated.bits.push_back(encode(DType::F32, doubles.number(i), Rounding::TowardZero));
  cast(suite, "N4.rtz.float64.float32", doubles, truncated, ", fp_downcast_rounding='rtz'");

  Values all16(DType::F16, {}), allB16(DType::BF16, {});
  for (uint64_t code = 0; code < 65536; ++code)
    all16.bits.push_back(code), allB16.bits.push_back(code);
  auto same = [](double v) { return v; };
  cast(suite, "N4.widen.float16.float32", all16, map(DType::F32, all16, same));
  cast(suite, "N4.widen.float16.float64", all16, map(DType::F64, all16, same));
  cast(suite, "N4.widen.bfloat16.float32", allB16, map(DType::F32, allB16, same));
  cast(suite, "N4.widen.bfloat16.float64", allB16, map(DType::F64, allB16, same));
  cast(suite, "N4.half.float16.bfloat16", all16, map(DType::BF16, all16, same));
  cast(suite, "N4.half.bfloat16.float16", allB16, map(DType::F16, allB16, same));
  for (const Values &all : {all16, allB16})
    suite
        .add("N4.round_trip." + nameOf(all.dtype), substitute(R"(
def k(x, out):
    i = program_id(0) * 1024 + arange(0, 1024)
    store(out + i, load(x + i).to(float32).to($T))
)", {{"T", nameOf(all.dtype)}}))
        .in(all)
        .out(all)
        .programs(64);
  Values floats = scattered(DType::F32, 4000, -1e6, 1e6);
  cast(suite, "N4.widen.float32.float64", floats, map(DType::F64, floats, same));
}

void addKnownRoundings(Suite &suite) {
  cast(suite, "N4.known.bfloat16", Values(DType::F32, {0x3f808000, 0x3f818000, 0x3f808001, 0x7f7fffff, 0x00008000, 0x00018000, 0x80008001}), Values(DType::BF16, {0x3f80, 0x3f82, 0x3f81, 0x7f80, 0, 2, 0x8001}));
  suite.add("N4.known.bfloat16_signaling_nan", "def k(x, out):\n    store(out, load(x).to(bfloat16))\n").in(Values(DType::F32, {0x7f800001})).checked(filled(DType::BF16, 1), [](const Values &found) {
    return isNan(DType::BF16, found.bits[0]) ? std::string() : std::string("expected a NaN found none");
  });
  cast(suite, "N4.known.bfloat16_rtz", Values(DType::F32, {0x3f80ffff, 0x7f7fffff}), Values(DType::BF16, {0x3f80, 0x7f7f}), ", fp_downcast_rounding='rtz'");
  Values x = numbers(DType::F32, {65504, 65519.996, 65520, 0x1p-25, 0x1p-25 * (1 + 0x1p-20), 0x1p-24});
  cast(suite, "N4.known.float16", x, Values(DType::F16, {0x7bff, 0x7bff, 0x7c00, 0, 1, 1}));
  cast(suite, "N4.known.float16_rtz", numbers(DType::F32, {65535}), Values(DType::F16, {0x7bff}), ", fp_downcast_rounding='rtz'");
  Values ones = filled(DType::F16, 8, 1);
  cast(suite, "N4.rounding_argument.widening", ones, filled(DType::F32, 8, 1), ", fp_downcast_rounding='rtz'").error("fp_downcast_rounding");
  cast(suite, "N4.rounding_argument.to_integer", ones, filled(DType::I8, 8, 1), ", fp_downcast_rounding='rtz'").error("fp_downcast_rounding");
  cast(suite, "N4.rounding_argument.unknown", filled(DType::F32, 8, 1), ones, ", fp_downcast_rounding='up'").error("fp_downcast_rounding");
}

void addBitcasts(Suite &suite) {
  const std::vector<std::vector<DType>> widths = {{DType::I8, DType::U8, DType::F8E4M3FN, DType::F8E5M2, DType::F8E4M3FNUZ, DType::F8E5M2FNUZ},
                                                  {DType::I16, DType::U16, DType::F16, DType::BF16},
                                                  {DType::I32, DType::U32, DType::F32},
                                                  {DType::I64, DType::U64, DType::F64}};
  for (const std::vector<DType> &types : widths)
    for (DType from : types)
      for (DType to : types) {
        if (from == to)
          continue;
        Values x(from, {}), y(to, {});
        for (uint64_t i = 0; i < 256; ++i) {
          uint64_t bits = bitsOf(from) == 8 ? i : (i * 0x9E3779B97F4A7C15u + i * i) >> (64 - bitsOf(from));
          if (!isNan(from, bits) && !isNan(to, bits))
            x.bits.push_back(bits), y.bits.push_back(bits);
        }
        cast(suite, "N4.bitcast." + nameOf(from) + "." + nameOf(to), x, y, ", bitcast=True", {.payload = true});
      }
  cast(suite, "N4.bitcast.width_is_an_error", filled(DType::F32, 8), filled(DType::I16, 8), ", bitcast=True").error("different widths");
  suite.add("N4.bitcast.pointer", R"(
def k(x, out):
    p = x.to(pointer_type(int32), bitcast=True)
    i = arange(0, 4)
    store(out + i, load(p + i))
)").in(numbers(DType::F32, {1, -2, 0, 0.5})).out(Values(DType::I32, {0x3f800000, 0xc0000000, 0, 0x3f000000}));
}

void addPointers(Suite &suite) {
  suite.add("N4.pointer.to_integer_and_back", R"(
def k(x, out, differences):
    address = x.to(int64)
    static_assert(address.dtype == int64)
    again = (address + 8).to(pointer_type(float32))
    store(out, load(again))
    i = arange(0, 4)
    store(differences + i, (x + i * 3).to(int64) - address)
)").in(numbers(DType::F32, {1, 2, 3, 4})).out(numbers(DType::F32, {3})).out(integers(DType::I64, {0, 12, 24, 36}));
  suite.add("N4.pointer.to_int1", R"(
def k(x, out):
    store(out, x.to(int1))
    null = (x.to(int64) * 0).to(pointer_type(float32))
    store(out + 1, null.to(int1))
)").in(numbers(DType::F32, {1})).out(integers(DType::I1, {1, 0}));
  suite.add("N4.pointer.to_int32_is_an_error", "def k(x, out):\n    store(out, x.to(int32))\n").in(filled(DType::F32, 1)).out(filled(DType::I32, 1)).error("no cast");
  suite.add("N4.same_type", R"(
def k(x, out):
    i = arange(0, 4)
    v = load(x + i)
    static_assert(v.to(float16).dtype == float16)
    store(out + i, v.to(float16))
)").in(Values(DType::F16, {0x3c01, 0x8000, 0xfc00, 0x0001})).out(Values(DType::F16, {0x3c01, 0x8000, 0xfc00, 0x0001}), {.payload = true});
}
} // namespace

void addCasts(Suite &suite) {
  addIntegers(suite);
  addFloatsToIntegers(suite);
  addFloats(suite);
  addKnownRoundings(suite);
  addBitcasts(suite);
  addPointers(suite);
}

} // namespace tk::conformance
