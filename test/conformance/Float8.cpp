// N5: the small float formats, code by code.
#include "test/conformance/Areas.h"
#include <bit>
#include <cmath>

namespace tk::conformance {

namespace {
const DType kKinds[] = {DType::F8E4M3FN, DType::F8E5M2, DType::F8E4M3FNUZ, DType::F8E5M2FNUZ};

Case &convert(Suite &suite, const std::string &id, const Values &x, Values expected, const std::string &arguments = "") {
  return suite
      .add(id, substitute(R"(
def k(x, out, n):
    i = program_id(0) * 1024 + arange(0, 1024)
    store(out + i, load(x + i, mask=i < n).to($T$A), mask=i < n)
)", {{"A", arguments}, {"T", nameOf(expected.dtype)}}))
      .in(x)
      .out(expected)
      .value(static_cast<int64_t>(x.size()))
      .programs(static_cast<int64_t>((x.size() + 1023) / 1024));
}

Values codes(DType type) {
  Values all(type, {});
  for (uint64_t code = 0; code < (uint64_t(1) << bitsOf(type)); ++code)
    all.bits.push_back(code);
  return all;
}

double same(double v) { return v; }

/// Values of `wide` about every midpoint of `narrow`, the ends of its range, and what no number is.
Values about(DType wide, DType narrow) {
  Values x(wide, {});
  auto add = [&](uint64_t bits) {
    x.bits.push_back(bits);
    x.bits.push_back(bits | uint64_t(1) << (bitsOf(wide) - 1));
  };
  double before = 0;
  for (uint64_t code = 0; code < 128; ++code) {
    double value = decode(narrow, code);
    if (!std::isfinite(value))
      break;
    for (uint64_t bits : {encode(wide, value), encode(wide, (before + value) / 2)}) {
      add(bits), add(bits + 1);
      if (bits)
        add(bits - 1);
    }
    before = value;
  }
  for (double value : {before * 1.05, before * 1.2, before * 2, 1e30, static_cast<double>(INFINITY), static_cast<double>(NAN)})
    add(encode(wide, value));
  return x;
}

void addKnown(Suite &suite) {
  struct Row {
    double value;
    uint64_t e4m3, e5m2;
  };
  const Row rows[] = {{1.0, 0x38, 0x3c},         {1.0625, 0x38, 0x3c},     {1.06250012, 0x39, 0x3c},  {1.125, 0x39, 0x3c},    {1.1875, 0x3a, 0x3d},      {1.25, 0x3a, 0x3d},        {1.375, 0x3b, 0x3e},
                      {0x1p-9, 0x01, 0x18},      {0x1p-10, 0x00, 0x14},    {1.5 * 0x1p-10, 0x01, 0x16}, {0x1p-10 * 1.0001, 0x01, 0x14}, {0.017578125, 0x09, 0x24}, {240, 0x77, 0x5c}, {256, 0x78, 0x5c},
                      {448, 0x7e, 0x5f},         {464, 0x7e, 0x5f},        {465, 0x7e, 0x5f},         {480, 0x7e, 0x60},      {57344, 0x7e, 0x7b},       {61440, 0x7e, 0x7b},       {65535, 0x7e, 0x7b},
                      {1e30, 0x7e, 0x7b},        {0x1p-16, 0x00, 0x01},    {0x1p-17, 0x00, 0x00},     {1.5 * 0x1p-17, 0x00, 0x01}, {3 * 0x1p-17, 0x00, 0x02}};
  Values x(DType::F32, {}), e4m3(DType::F8E4M3FN, {}), e5m2(DType::F8E5M2, {});
  for (const Row &row : rows) {
    x.bits.push_back(encode(DType::F32, row.value));
    e4m3.bits.push_back(row.e4m3);
    e5m2.bits.push_back(row.e5m2);
  }
  convert(suite, "N5.known.float8e4nv", x, e4m3);
  convert(suite, "N5.known.float8e5", x, e5m2);
  struct End {
    DType type;
    double largest, smallestNormal, smallest;
    uint64_t code;
  };
  for (End end : {End{DType::F8E4M3FN, 448, 0x1p-6, 0x1p-9, 0x7e}, End{DType::F8E5M2, 57344, 0x1p-14, 0x1p-16, 0x7b}, End{DType::F8E4M3FNUZ, 240, 0x1p-7, 0x1p-10, 0x7f},
                  End{DType::F8E5M2FNUZ, 57344, 0x1p-15, 0x1p-17, 0x7f}}) {
    uint64_t normal = uint64_t(1) << (end.type == DType::F8E4M3FN || end.type == DType::F8E4M3FNUZ ? 3 : 2);
    convert(suite, "N5.ends." + nameOf(end.type), Values(end.type, {end.code, normal, 1, end.code | 0x80}), numbers(DType::F32, {end.largest, end.smallestNormal, end.smallest, -end.largest}));
  }
}

void addConversions(Suite &suite) {
  for (DType kind : kKinds) {
    Values all = codes(kind);
    for (DType wide : {DType::F16, DType::BF16, DType::F32, DType::F64}) {
      convert(suite, "N5.upcast." + nameOf(kind) + "." + nameOf(wide), all, map(wide, all, same));
      Values x = wide == DType::F16 || wide == DType::BF16 ? codes(wide) : about(wide, kind);
      convert(suite, "N5.downcast." + nameOf(wide) + "." + nameOf(kind), x, map(kind, x, same));
    }
    for (DType other : kKinds)
      if (other != kind)
        convert(suite, "N5.between." + nameOf(kind) + "." + nameOf(other), all, map(other, all, same));
  }
  for (DType wide : {DType::F32, DType::F16}) {
    Values x = wide == DType::F16 ? codes(wide) : about(wide, DType::F8E5M2), truncated(DType::F8E5M2, {});
    for (size_t i = 0; i < x.size(); ++i)
      truncated.bits.push_back(encode(DType::F8E5M2, x.number(i), Rounding::TowardZero));
    convert(suite, "N5.rtz." + nameOf(wide), x, truncated, ", fp_downcast_rounding='rtz'");
  }
}

/// The legacy kind: the source is truncated to fp16, its magnitude clamped to 1.75, and what is dropped rounds half up.
uint64_t encodeB15(double value) {
  uint64_t half = encode(DType::F16, value, Rounding::TowardZero), sign = half >> 8 & 0x80, magnitude = std::min<uint64_t>(half & 0x7fff, 0x3f00);
  return sign | (magnitude + 0x40) >> 7;
}

void addLegacy(Suite &suite) {
  const DType kind = DType::F8E4B15;
  Values all = codes(kind);
  convert(suite, "N5.legacy.upcast.float32", all, map(DType::F32, all, same)).anyWhere([](size_t i) { return i % 128 == 127; });
  Values x = scattered(DType::F32, 1000, -2.2, 2.2), expected(kind, {});
  for (size_t i = 0; i < x.size(); ++i)
    expected.bits.push_back(encodeB15(x.number(i)));
  convert(suite, "N5.legacy.downcast.float32", x, expected);
}

void addExpressions(Suite &suite) {
  for (DType kind : kKinds) {
    Values x = codes(kind), y(kind, {}), sum(kind, {}), product(kind, {}), magnitude(kind, {}), less(DType::I8, {});
    for (size_t i = 0; i < 256; ++i) {
      y.bits.push_back(i * 37 % 256);
      sum.bits.push_back(encode(kind, x.number(i) + y.number(i)));
      product.bits.push_back(encode(kind, x.number(i) * y.number(i)));
      magnitude.bits.push_back(encode(kind, std::fabs(x.number(i))));
      less.bits.push_back(x.number(i) < y.number(i));
    }
    suite
        .add("N5.expressions." + nameOf(kind), R"(
def k(x, y, sum, product, magnitude, less):
    i = arange(0, 256)
    a = load(x + i)
    b = load(y + i)
    store(sum + i, a + b)
    store(product + i, a * b)
    store(magnitude + i, abs(a))
    store(less + i, a < b)
)")
        .in(x)
        .in(y)
        .out(sum)
        .out(product)
        .out(magnitude)
        .out(less);
  }
}

void addFaults(Suite &suite) {
  for (DType wide : {DType::F16, DType::F32, DType::BF16}) {
    Values x = numbers(wide, {INFINITY, -INFINITY, 1e30, -1e30, 60000, 500, NAN});
    convert(suite, "A102.float8e5." + nameOf(wide), x, Values(DType::F8E5M2, {0x7b, 0xfb, 0x7b, 0xfb, encode(DType::F8E5M2, x.number(4)), encode(DType::F8E5M2, x.number(5)), 0x7f}));
    convert(suite, "A102.float8e4nv." + nameOf(wide), x, Values(DType::F8E4M3FN, {0x7e, 0xfe, 0x7e, 0xfe, 0x7e, 0x7e, 0x7f}));
    convert(suite, "A103.tie." + nameOf(wide), numbers(wide, {1.125, -1.125, 1.375}), numbers(DType::F8E5M2, {1.0, -1.0, 1.5}));
    Values kinds = codes(DType::F8E4M3FN);
    for (DType kind : kKinds) {
      Values all = codes(kind);
      convert(suite, "A105." + nameOf(kind) + "." + nameOf(wide), all, map(wide, all, same));
    }
  }
  convert(suite, "A103.double_rounding", numbers(DType::F32, {1.0625001, -1.0625001, 1.0624999}), numbers(DType::F8E4M3FN, {1.125, -1.125, 1.0}));
  Values x = codes(DType::F16);
  convert(suite, "A106.every_float16", x, map(DType::F8E5M2, x, same));
}
} // namespace

void addFloat8(Suite &suite) {
  addKnown(suite);
  addConversions(suite);
  addLegacy(suite);
  addExpressions(suite);
  addFaults(suite);
}

} // namespace tk::conformance
