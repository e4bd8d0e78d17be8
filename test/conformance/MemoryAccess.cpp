// N10: loads and stores: masks, `other`, broadcasting, conversion, bool memory, block pointers, order.
#include "test/conformance/Areas.h"
#include <cmath>

namespace tk::conformance {

namespace {
void addLoads(Suite &suite) {
  for (DType type : {DType::I8, DType::U8, DType::I16, DType::I32, DType::I64, DType::F16, DType::BF16, DType::F32, DType::F64, DType::I1, DType::F8E4M3FN, DType::F8E5M2}) {
    Values x = type == DType::I1 ? filled(type, 13, 1) : counting(type, 13, 1);
    auto expect = [&](double other) { return generate(type, 16, [&](size_t i) { return i < 13 ? x.number(i) : other; }); };
    suite
        .add("N10.masked_load." + nameOf(type), R"(
def k(x, none, zero, three):
    i = arange(0, 16)
    store(none + i, load(x + i, mask=i < 13))
    store(zero + i, load(x + i, mask=i < 13, other=0))
    store(three + i, load(x + i, mask=i < 13, other=1))
)")
        .in(x)
        .at(Placement::AgainstUpperPage)
        .out(expect(0))
        .out(expect(0))
        .out(expect(1));
    suite
        .add("A30." + nameOf(type), R"(
def k(x, out, n):
    i = arange(0, 64)
    store(out + i, load(x + i, mask=i < n, other=0), mask=i < n)
)")
        .in(x)
        .at(Placement::AgainstUpperPage)
        .out(x)
        .at(Placement::AgainstUpperPage)
        .value(int64_t(13));
  }
  suite.add("N10.other.cast_to_element", R"(
def k(x, y, small, wide):
    i = arange(0, 8)
    store(small + i, load(x + i, mask=i < 4, other=2.75))
    store(wide + i, load(y + i, mask=i < 4, other=i * 300))
)").in(counting(DType::I32, 8)).in(counting(DType::I8, 8)).out(integers(DType::I32, {0, 1, 2, 3, 2, 2, 2, 2})).out(integers(DType::I8, {0, 1, 2, 3, 4 * 300, 5 * 300, 6 * 300, 7 * 300}));
  suite.add("N10.other.tile", R"(
def k(x, out):
    i = arange(0, 8)
    store(out + i, load(x + i, mask=i % 2 == 0, other=-i.to(float32)))
)").in(counting(DType::F32, 8, 10)).out(numbers(DType::F32, {10, -1, 12, -3, 14, -5, 16, -7}));
  suite.add("N10.other.without_mask", "def k(x, out):\n    i = arange(0, 8)\n    store(out + i, load(x + i, other=0.0))\n").in(filled(DType::F32, 8)).out(filled(DType::F32, 8)).error("without `mask`");
  suite.add("N10.broadcast.load", R"(
def k(x, out):
    row = arange(0, 4)[:, None]
    column = arange(0, 8)[None, :]
    i = row * 8 + column
    a = load(x + i, mask=row < 3, other=100.0)
    b = load(x + row * 8, mask=column < 5, other=-1.0)
    static_assert(b.shape == (4, 8))
    store(out + i, a)
    store(out + 32 + i, b)
)").in(counting(DType::F32, 32)).out(generate(DType::F32, 64, [](size_t i) {
    if (i < 32)
      return i < 24 ? static_cast<double>(i) : 100.0;
    return i % 8 < 5 ? static_cast<double>((i - 32) / 8 * 8) : -1.0;
  }));
  suite.add("N10.broadcast.store", R"(
def k(x, out):
    row = arange(0, 4)[:, None]
    column = arange(0, 8)[None, :]
    i = row * 8 + column
    store(out + i, load(x + column), mask=row != 1)
    store(out + 32 + i, 7.0, mask=column < 3)
)").in(counting(DType::F32, 8)).out(generate(DType::F32, 64, [](size_t i) {
    if (i < 32)
      return i / 8 != 1 ? static_cast<double>(i % 8) : 0.0;
    return i % 8 < 3 ? 7.0 : 0.0;
  }));
  suite.add("N10.scalar.masked", R"(
def k(x, out, n):
    store(out, load(x, mask=n > 3, other=5.0))
    store(out + 1, load(x + 100000000, mask=n < 3, other=6.0))
    store(out + 2, 1.0, mask=n < 3)
    store(out + 100000000, 1.0, mask=n < 3)
)").in(numbers(DType::F32, {9})).out(numbers(DType::F32, {9, 6, 0})).value(int64_t(7));
}

void addErrors(Suite &suite) {
  Values x = filled(DType::F32, 8);
  suite.add("N10.error.scalar_pointer_tile_mask", "def k(x, out):\n    store(out, load(x, mask=arange(0, 4) < 2))\n").in(x).out(x).error("must be a scalar");
  suite.add("N10.error.store_through_const", "def k(x: '*kfp32', out):\n    store(x, load(out))\n").in(x).in(x).error("const pointer");
  suite.add("N10.error.store_shape", "def k(x, out):\n    store(out + arange(0, 4)[:, None], zeros((4, 8), float32))\n").in(x).out(x).error("not broadcast");
  suite.add("N10.error.mask_type", "def k(x, out):\n    i = arange(0, 4)\n    store(out + i, load(x + i), mask=i)\n").in(x).out(x).error("mask must be int1");
  suite.add("N10.error.integer_pointer", "def k(x, out):\n    store(out, load(3))\n").in(x).out(x).error("needs a pointer");
  suite.add("A27.scalar_store_tile_mask", "def k(out):\n    store(out, 1.0, mask=(arange(0, 1) < 1)[None, :])\n").out(x).error("scalar");
}

void addStores(Suite &suite) {
  Values x = integers(DType::I32, {256, 257, 300, -1, 65535, -129, 1 << 20, 127});
  for (DType type : {DType::I8, DType::U8, DType::I16, DType::U16, DType::I64, DType::F32, DType::F16, DType::BF16})
    suite.add("N10.store_converts.int32." + nameOf(type), "def k(x, out):\n    i = arange(0, 8)\n    store(out + i, load(x + i))\n").in(x).out(mapIntegers(type, x, [](__int128 v) { return v; }));
  Values f = numbers(DType::F32, {1.5, -2.7, 0x1.004p0, 65520, 0.1, -0.0, 3e38, 127.9});
  for (DType type : {DType::F16, DType::BF16, DType::F64, DType::I32, DType::I16, DType::F8E4M3FN, DType::F8E5M2})
    suite.add("N10.store_converts.float32." + nameOf(type), "def k(x, out):\n    i = arange(0, 8)\n    store(out + i, load(x + i))\n").in(f).out(map(type, f, [](double v) { return v; }));
  // Memory of bool: any byte that is not zero is true; stores write 0 or 1.
  Values bytes(DType::U8, {0, 1, 2, 128, 255, 0, 7, 16});
  suite.add("N10.bool.load", R"(
def k(x, out):
    i = arange(0, 8)
    b = load(x.to(pointer_type(int1), bitcast=True) + i)
    static_assert(b.dtype == int1)
    store(out + i, b.to(int32))
)").in(bytes).out(integers(DType::I32, {0, 1, 1, 1, 1, 0, 1, 1}));
  suite.add("N10.bool.store", R"(
def k(x, y, out):
    i = arange(0, 8)
    p = out.to(pointer_type(int1), bitcast=True)
    store(p + i, load(x + i))
    store(p + 8 + i, load(y + i))
)").in(integers(DType::I32, {0, 256, 1, -1, 65536, 0, 2, 512})).in(numbers(DType::F32, {0, -0.0, 0.5, NAN, 256, 1e-40, INFINITY, 0})).out(Values(DType::U8, {0, 1, 1, 1, 1, 0, 1, 1, 0, 0, 1, 1, 1, 1, 1, 0}));
  for (size_t n : {2, 128, 512, 1000}) {
    Values flags = filled(DType::I1, 128 * n, 1);
    if (n <= 512)
      suite
          .add("A06.bool_sums." + std::to_string(n), substitute(R"(
def k(x, rows, columns, all):
    r = arange(0, 128)
    c = arange(0, $N)
    v = load(x + r[:, None] * $N + c[None, :])
    store(rows + r, tl.sum(v, axis=1))
    store(columns + c, tl.sum(v, axis=0))
    store(all, tl.sum(v))
)", {{"N", std::to_string(n)}}))
          .in(flags)
          .out(filled(DType::I1, 128, 1))
          .out(filled(DType::I1, n, 1))
          .out(integers(DType::I32, {static_cast<__int128>(128 * n)}));
  }
  suite.add("A06.controls", R"(
def k(x, small, flags):
    i = arange(0, 4)
    v = load(x + i)
    store(small + i, v)
    store(flags + i, v)
)").in(integers(DType::I32, {256, 257, 300, -1})).out(integers(DType::I8, {0, 1, 44, -1})).out(filled(DType::I1, 4, 1));
  suite.add("N10.same_address", R"(
def k(out):
    i = arange(0, 64)
    store(out + i // 8, i)
)").checked(filled(DType::I32, 8), [](const Values &found) {
    for (size_t i = 0; i < 8; ++i)
      if (found.bits[i] / 8 != i)
        return "expected one of the eight values stored to element " + std::to_string(i) + " found " + std::to_string(found.bits[i]);
    return std::string();
  });
  suite.add("N10.program_order", R"(
def k(x, out):
    i = arange(0, 16)
    store(x + i, i)
    debug_barrier()
    a = load(x + 15 - i)
    store(x + 15 - i, a * 10 + i)
    debug_barrier()
    store(out + i, load(x + i))
)").inout(filled(DType::I32, 16, 9), generate(DType::I32, 16, [](size_t i) { return static_cast<double>(i * 10 + 15 - i); })).out(generate(DType::I32, 16, [](size_t i) { return static_cast<double>(i * 10 + 15 - i); }));
  // What an element has stored, it loads without a barrier, whoever holds copies of it.
  suite.add("N10.program_order.elements", R"(
def k(x, out):
    i = arange(0, 16)
    store(x + i, i + 1)
    total = tl.sum(load(x + i))
    for n in range(3):
        store(x + 20, total + n)
        total = load(x + 20)
        if n < 2:
            store(x + 21 + n, total)
    last = load(x + 22)
    j = arange(0, 256)
    store(out + j, total + last + j)
)").inout(filled(DType::I32, 24), integers(DType::I32, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 0, 0, 0, 0, 139, 136, 137, 0})).out(counting(DType::I32, 256, 276));
}

void addBlockPointers(Suite &suite) {
  Values x = counting(DType::F32, 5 * 7, 1);
  auto expect = [&](int64_t top, int64_t left, bool rowChecked, bool columnChecked, double padding) {
    return generate(DType::F32, 64, [&](size_t i) {
      int64_t row = top + static_cast<int64_t>(i / 8), column = left + static_cast<int64_t>(i % 8);
      bool inside = (!rowChecked || (row >= 0 && row < 5)) && (!columnChecked || (column >= 0 && column < 7));
      return inside ? static_cast<double>(row * 7 + column + 1) : padding;
    });
  };
  const char *source = R"(
def k(x, out, $P):
    p = make_block_ptr(x, shape=(5, 7), strides=(7, 1), offsets=($T, $L), block_shape=(8, 8), order=(1, 0))
    v = load(p, boundary_check=(0, 1), padding_option='$O')
    store(out + arange(0, 8)[:, None] * 8 + arange(0, 8)[None, :], v)
)";
  for (const char *option : {"zero", "nan", ""})
    for (auto [top, left] : {std::pair(-3, -2), std::pair(0, 0), std::pair(3, 5), std::pair(-8, 0), std::pair(2, -1)}) {
      std::string id = std::string("A46.padding.") + (*option ? option : "none") + "." + (top < 0 ? "m" : "") + std::to_string(std::abs(top)) + "_" + (left < 0 ? "m" : "") + std::to_string(std::abs(left));
      double padding = std::string(option) == "nan" ? NAN : 0;
      Case &made = suite.add(id, substitute(source, {{"P", "unused"}, {"T", std::to_string(top)}, {"L", std::to_string(left)}, {"O", option}})).in(x).out(expect(top, left, true, true, padding));
      if (!*option) {
        Values expected = *made.arguments.back().expected;
        made.anyWhere([expected, top = top, left = left](size_t i) {
          int64_t row = top + static_cast<int64_t>(i / 8), column = left + static_cast<int64_t>(i % 8);
          return row < 0 || row >= 5 || column < 0 || column >= 7;
        });
      }
      made.value(Nothing{});
    }
  suite.add("A46.one_axis", R"(
def k(x, out):
    p = make_block_ptr(x, shape=(5, 7), strides=(7, 1), offsets=(-2, 1), block_shape=(8, 4), order=(1, 0))
    v = load(p, boundary_check=(0,), padding_option='zero')
    store(out + arange(0, 8)[:, None] * 4 + arange(0, 4)[None, :], v)
)").in(x).out(generate(DType::F32, 32, [](size_t i) {
    int64_t row = static_cast<int64_t>(i / 4) - 2;
    return row >= 0 && row < 5 ? static_cast<double>(row * 7 + static_cast<int64_t>(i % 4) + 2) : 0.0;
  }));
  suite.add("A46.stride_0", R"(
def k(x, out):
    p = make_block_ptr(x, shape=(3, 7), strides=(0, 1), offsets=(1, 0), block_shape=(4, 8), order=(1, 0))
    v = load(p, boundary_check=(0, 1), padding_option='zero')
    store(out + arange(0, 4)[:, None] * 8 + arange(0, 8)[None, :], v)
)").in(x).out(generate(DType::F32, 32, [](size_t i) { return i / 8 < 2 && i % 8 < 7 ? static_cast<double>(i % 8 + 1) : 0.0; }));
  suite.add("A46.advance_in_loop", R"(
def k(x, out, n):
    p = make_block_ptr(x, shape=(35,), strides=(1,), offsets=(0,), block_shape=(4,), order=(0,))
    total = zeros((4,), float32)
    for i in range(0, n):
        p = advance(p, (i,))
        total += load(p, boundary_check=(0,), padding_option='zero')
    store(out + arange(0, 4), total)
)").in(x).out(generate(DType::F32, 4, [](size_t lane) {
    double total = 0;
    for (size_t i = 0; i < 10; ++i)
      if (i * (i + 1) / 2 + lane < 35)
        total += static_cast<double>(i * (i + 1) / 2 + lane + 1);
    return total;
  })).value(int64_t(10));
  suite.add("A46.store_drops", R"(
def k(out):
    p = make_block_ptr(out, shape=(5, 7), strides=(7, 1), offsets=(3, 4), block_shape=(4, 8), order=(1, 0))
    p = advance(p, (-1, 1))
    store(p, full((4, 8), 2.0, float32), boundary_check=(0, 1))
)").out(generate(DType::F32, 35, [](size_t i) { return i / 7 >= 2 && i % 7 >= 5 ? 2.0 : 0.0; })).at(Placement::AgainstUpperPage);
  Values integers = filled(DType::I32, 64);
  suite.add("A48.nan_padding_of_integers", substitute(source, {{"P", "unused"}, {"T", "0"}, {"L", "0"}, {"O", "nan"}})).in(integers).out(integers).value(Nothing{}).error("NaN");
  suite.add("N10.block_pointer.mask_is_an_error", R"(
def k(x, out):
    p = make_block_ptr(x, shape=(5, 7), strides=(7, 1), offsets=(0, 0), block_shape=(4, 4), order=(1, 0))
    v = load(p, mask=arange(0, 4)[:, None] < 2)
    store(out + arange(0, 4)[:, None] * 4 + arange(0, 4)[None, :], v)
)").in(x).out(filled(DType::F32, 16)).error("boundary_check");
  suite.add("N10.block_pointer.boundary_check_on_pointer", "def k(x, out):\n    store(out, load(x, boundary_check=(0,)))\n").in(x).out(filled(DType::F32, 1)).error("block pointer");
}
/// Not there yet, which has to be said by name.
void addDescriptors(Suite &suite) {
  for (const char *name : {"make_tensor_descriptor", "load_tensor_descriptor", "store_tensor_descriptor"})
    suite.add(std::string("N10.descriptor.") + name, substitute("def k(x):\n    d = $N(x, [4, 16], [16, 1], [4, 16])\n", {{"N", name}})).in(filled(DType::F32, 64)).error("is not supported yet");
}
} // namespace

void addMemoryAccess(Suite &suite) {
  addLoads(suite);
  addErrors(suite);
  addStores(suite);
  addBlockPointers(suite);
  addDescriptors(suite);
}

} // namespace tk::conformance
