// Known faults around broadcasting, masks, offsets and alignment.
#include "test/conformance/Areas.h"
#include <cmath>

namespace tk::conformance {

namespace {
void addBroadcasting(Suite &suite) {
  suite.add("A21.one_column", R"(
def k(out):
    i = arange(0, 16)[:, None] * 16 + arange(0, 16)[None, :]
    store(out + i, zeros((16, 16), float32) + (arange(0, 16)[None, :] == 0))
    store(out + 256 + i, zeros((16, 16), float32) + (arange(0, 16)[None, :] == 1))
)").out(generate(DType::F32, 512, [](size_t i) { return i % 16 == i / 256 ? 1.0 : 0.0; }));
  for (unsigned warps : {1, 2, 8})
    suite.add("A22.row_minus_column." + std::to_string(warps), R"(
def k(x, y, out):
    coo = load(x + arange(0, 4))[None, :]
    dist = load(y + arange(0, 4))[:, None]
    store(out + arange(0, 4), tl.sum(coo - dist, 1))
)").in(integers(DType::I32, {2, 3, 4, 5})).in(integers(DType::I32, {1, 2, 3, 4})).out(integers(DType::I32, {10, 6, 2, -2})).withWarps(warps);
  suite.add("A24.stored_and_reloaded", R"(
def k(a, scratch, res, res2):
    n = program_id(0)
    m = program_id(1)
    tile = (m * 2 + n) * 64
    i = arange(0, 8)[:, None] * 8 + arange(0, 8)[None, :]
    data = zeros((8,), int32) + m
    store(scratch + tile + i, data[None, :])
    r = load(scratch + tile + i)
    store(res + tile + i, r)
    store(res2 + tile + i, load(a + tile + i).to(int32))
)").in(generate(DType::I1, 384, [](size_t i) { return i * 7 % 3 == 1; })).checked(filled(DType::I32, 384), nullptr).out(generate(DType::I32, 384, [](size_t i) { return static_cast<double>(i / 128); })).out(generate(DType::I32, 384, [](size_t i) { return i * 7 % 3 == 1; })).programs(2, 3);
}

void addGuards(Suite &suite) {
  for (DType type : {DType::F32, DType::I8, DType::F16, DType::I64})
    for (auto [name, placement] : {std::pair("below", Placement::AgainstLowerPage), std::pair("above", Placement::AgainstUpperPage)}) {
      std::string below = name[0] == 'b' ? "i - 1000" : "i + 24";
      suite
          .add(std::string("A31.") + name + "." + nameOf(type), substitute(R"(
def k(x, out, n):
    i = arange(0, 1024)
    at = $I
    inside = (at >= 0) & (at < n)
    v = load(x + at, mask=inside, other=0)
    store(out + i, v)
    store(x + at, v + 1, mask=inside)
)", {{"I", below}}))
          .inout(counting(type, 100, 1), generate(type, 100, [b = name[0] == 'b'](size_t k) { return static_cast<double>(k + 1 + (b ? k < 24 : k >= 24)); }))
          .at(placement)
          .out(generate(type, 1024, [b = name[0] == 'b'](size_t i) {
            int64_t at = static_cast<int64_t>(i) + (b ? -1000 : 24);
            return at >= 0 && at < 100 ? static_cast<double>(at + 1) : 0.0;
          }))
          .value(int64_t(100));
    }
  suite.add("A31.far_away", R"(
def k(x, out):
    i = arange(0, 256)
    far = i.to(int64) * 1000000007
    store(out + i, load(x + far, mask=i == 0, other=3.0))
    store(x + far, 5.0, mask=i == 0)
)").inout(numbers(DType::F32, {1}), numbers(DType::F32, {5})).at(Placement::AgainstUpperPage).out(generate(DType::F32, 256, [](size_t i) { return i ? 3.0 : 1.0; }));
  suite.add("A31.no_lane", R"(
def k(x, out):
    i = arange(0, 256)
    store(out + i, load(x + i, mask=i < 0, other=4.0))
    store(x + i, 1.0, mask=i > 1000)
)").in(filled(DType::F32, 256)).at(Placement::Forbidden).out(filled(DType::F32, 256, 4));
  suite.add("A31.holes_2d", R"(
def k(x, out, rows, columns):
    r = arange(0, 8)[:, None]
    c = arange(0, 16)[None, :]
    mask = (r < rows) & (c < columns) & ((r + c) % 2 == 0)
    store(out + r * 16 + c, load(x + r * columns + c, mask=mask, other=-1.0))
)").in(counting(DType::F32, 45)).at(Placement::AgainstUpperPage).out(generate(DType::F32, 128, [](size_t i) {
    size_t r = i / 16, c = i % 16;
    return r < 5 && c < 9 && (r + c) % 2 == 0 ? static_cast<double>(r * 9 + c) : -1.0;
  })).value(int64_t(5)).value(int64_t(9));
}

void addOverflow(Suite &suite) {
  suite.add("A33.wraps", R"(
def k(out, stride, pid):
    off = pid * stride
    static_assert(off.dtype == int32)
    store(out, off.to(int64))
    store(out + 1, pid.to(int64) * stride)
    store(out + 2, pid * stride.to(int64))
    store(out + 3 + arange(0, 1), ((arange(0, 1) + pid) * stride).to(int64))
)").out(integers(DType::I64, {-1786249216, 2508718080, 2508718080, -1786249216})).value(int64_t(7864320)).value(int64_t(319));
  suite.add("A33.in_offsets", R"(
def k(x, out, stride, pid):
    wrapped = x + pid * stride
    store(out, (wrapped.to(int64) - x.to(int64)) // 4)
    tile = x + (pid * stride + arange(0, 4))
    store(out + 1 + arange(0, 4), (tile.to(int64) - x.to(int64)) // 4)
    wide = x + (pid.to(int64) * stride + arange(0, 4))
    store(out + 5 + arange(0, 4), (wide.to(int64) - x.to(int64)) // 4)
)").in(filled(DType::F32, 1)).out(integers(DType::I64, {-1786249216, -1786249216, -1786249215, -1786249214, -1786249213, 2508718080, 2508718081, 2508718082, 2508718083})).value(int64_t(7864320)).value(int64_t(319));
  suite.add("A33.increment_is_not_greater", R"(
def k(x, out):
    i = arange(0, 4)
    v = load(x + i)
    store(out + i, v + 1 > v)
    s = load(x + 3)
    store(out + 4, s * 2 // 2 == s)
    store(out + 5, s + 1 > s)
)").in(integers(DType::I32, {5, 2147483647, -2147483648, 2147483647})).out(integers(DType::I8, {1, 0, 1, 0, 0, 0}));
  suite.add("A34.literal", R"(
def k(x, out):
    store(out, ((x + 2257846272).to(int64) - x.to(int64)) // 4)
    store(out + 1 + arange(0, 2), ((x + arange(0, 2) + 2257846272).to(int64) - x.to(int64)) // 4)
)").in(filled(DType::F32, 1)).out(integers(DType::I64, {2257846272, 2257846272, 2257846273}));
  suite.add("A45.many_programs", "def k(out):\n    store(out + program_id(0), program_id(0))\n").out(counting(DType::I32, 72000)).programs(72000);
}

void addAnalysis(Suite &suite) {
  suite.add("A36.gather", R"(
def k(x, out):
    r0 = arange(0, 32)
    cols = arange(0, 16)
    r = r0 % (2 << (r0 // 16))
    store(out + r0[:, None] * 16 + cols[None, :], load(x + r[:, None] + cols[None, :]))
)").in(counting(DType::F32, 32)).out(generate(DType::F32, 512, [](size_t i) {
    size_t row = i / 16;
    return static_cast<double>(row % (size_t(2) << (row / 16)) + i % 16);
  }));
  for (DType type : {DType::I8, DType::I32, DType::I64})
    for (auto [name, op] : {std::pair("div", "//"), std::pair("mod", "%")}) {
      bool divides = name[0] == 'd';
      auto value = [=](size_t i) { return divides ? (static_cast<int64_t>(i) - 64) / 32 : (static_cast<int64_t>(i) - 64) % 32; };
      suite
          .add(std::string("A37.") + name + "." + nameOf(type), substitute(R"(
def k(x, out, loaded):
    i = arange(0, 8)
    q = (i - 64).to($T) $O 32
    store(out + i, q)
    store(loaded + i, load(x + 32 + q))
)", {{"T", nameOf(type)}, {"O", op}}))
          .in(counting(DType::F32, 64))
          .out(generate(type, 8, [=](size_t i) { return static_cast<double>(value(i)); }))
          .out(generate(DType::F32, 8, [=](size_t i) { return static_cast<double>(32 + value(i)); }));
    }
  for (int64_t k : {512, 500})
    suite.add("A39." + std::to_string(k), R"(
def k(a, b, out, K, BK: constexpr):
    m = arange(0, 16)[:, None]
    n = arange(0, 16)[None, :]
    acc = zeros((16, 16), float32)
    for t in range(0, cdiv(K, BK)):
        offs = t * BK + arange(0, BK)
        x = load(a + m * K + offs[None, :], mask=arange(0, BK)[None, :] < K - t * BK, other=0.0)
        y = load(b + offs[:, None] * 16 + n, mask=arange(0, BK)[:, None] < K - t * BK, other=0.0)
        acc += dot(x, y)
    store(out + m * 16 + n, acc)
)").in(filled(DType::F32, static_cast<size_t>(16 * k), 1)).at(Placement::AgainstUpperPage).in(generate(DType::F32, static_cast<size_t>(16 * k), [](size_t i) { return static_cast<double>(i % 16); })).at(Placement::AgainstUpperPage).out(generate(DType::F32, 256, [k](size_t i) { return static_cast<double>(k) * static_cast<double>(i % 16); })).value(k).value(int64_t(16));
  for (unsigned warps : {1, 4, 8})
    suite.add("A40.in_place." + std::to_string(warps), R"(
def k(p):
    row = arange(0, 8)
    x = load(p + row)
    wide = broadcast_to(x[:, None], (8, 16)) + arange(0, 16)[None, :]
    total = tl.sum(wide, 1)
    store(p + row, total)
    again = tl.max(broadcast_to(x[:, None], (8, 4)), 1)
    store(p + 8 + row, again)
)").inout(counting(DType::F32, 16, 1), generate(DType::F32, 16, [](size_t i) { return i < 8 ? static_cast<double>((i + 1) * 16 + 120) : static_cast<double>(i - 7); })).withWarps(warps);
  suite.add("A40.reversed", R"(
def k(p):
    i = arange(0, 64)
    x = load(p + i)
    store(p + 63 - i, x)
)").inout(counting(DType::F32, 64), counting(DType::F32, 64, 63, -1));
  // Whether the addresses overlap is known at run time only.
  for (int64_t shift : {0, 3, 300, 1000}) {
    Values initial = counting(DType::I32, 2048), expected = initial;
    for (size_t i = 0; i < 512; ++i)
      expected.bits[i + static_cast<size_t>(shift)] = i + 1;
    suite.add("A40.shifted." + std::to_string(shift), R"(
def k(p, shift):
    i = arange(0, 512)
    store(p + shift + i, load(p + i) + 1)
)").inout(initial, expected).value(shift);
  }
  suite.add("A40.every_iteration", R"(
def k(p):
    i = arange(0, 256)
    for j in range(3):
        store(p + 255 - i, load(p + i))
        debug_barrier()
)").inout(counting(DType::F32, 256), counting(DType::F32, 256, 255, -1));
  // What an iteration loads is overwritten by the next one.
  suite.add("A40.next_iteration", R"(
def k(p, n):
    i = arange(0, 64)
    v = load(p + i)
    for j in range(n):
        store(p + 64 * j + 63 - i, v)
        v = load(p + 64 * (j + 1) + i)
)").inout(counting(DType::I32, 320), generate(DType::I32, 320, [](size_t i) { return static_cast<double>(i < 256 ? i / 64 * 64 + 63 - i % 64 : i); })).value(int64_t(4));
  suite.add("A40.in_a_branch", R"(
def k(p, flag):
    i = arange(0, 128)
    x = zeros((128,), int32)
    if flag > 2:
        x = load(p + i)
    store(p + 127 - i, x)
)").inout(counting(DType::I32, 128), counting(DType::I32, 128, 127, -1)).value(int64_t(5));
  suite.add("A40.scalar", R"(
def k(p, out):
    i = arange(0, 256)
    x = load(p)
    store(p, x + 1)
    store(out + i, x + i)
)").inout(filled(DType::I32, 1, 5), filled(DType::I32, 1, 6)).out(counting(DType::I32, 256, 5));
  suite.add("A40.transposed", R"(
def k(p, stride):
    r = arange(0, 32)[:, None]
    c = arange(0, 32)[None, :]
    store(p + c * stride + r, load(p + r * stride + c))
)").inout(counting(DType::I32, 1024), generate(DType::I32, 1024, [](size_t i) { return static_cast<double>(i % 32 * 32 + i / 32); })).value(int64_t(32));
  suite.add("A40.atomic", R"(
def k(p):
    i = arange(0, 256)
    atomic_add(p + 255 - i, load(p + i) * 1000, sem="relaxed")
)").inout(counting(DType::I32, 256), generate(DType::I32, 256, [](size_t i) { return static_cast<double>(i + (255 - i) * 1000); }));
  suite.add("A40.gathered", R"(
def k(p, index):
    i = arange(0, 256)
    x = load(p + load(index + i))
    store(p + i, x)
)").inout(counting(DType::I32, 256), generate(DType::I32, 256, [](size_t i) { return static_cast<double>(i * 37 % 256); })).in(generate(DType::I32, 256, [](size_t i) { return static_cast<double>(i * 37 % 256); }));
}

void addHoisting(Suite &suite) {
  for (int64_t n : {0, 3})
    suite.add("A42.zero_trips." + std::to_string(n), R"(
@triton.jit(do_not_specialize=['n'])
def k(q, out, n):
    total = 0
    for i in range(0, n):
        for j in range(0, load(q)):
            total += 1
    store(out, total)
)").in(integers(DType::I32, {4})).at(n ? Placement::Plain : Placement::Forbidden).out(integers(DType::I32, {4 * n})).value(n);
  suite.add("A42.masked_tile", R"(
@triton.jit(do_not_specialize=['n'])
def k(q, out, n):
    i = arange(0, 64)
    acc = zeros((64,), float32)
    for t in range(0, n):
        acc += load(q + i, mask=i < 60, other=1.0)
    store(out + i, acc)
)").in(filled(DType::F32, 64)).at(Placement::Forbidden).out(filled(DType::F32, 64)).value(int64_t(0));
  suite.add("A42.not_across_a_store", R"(
def k(q, out, n):
    total = 0
    for t in range(0, n):
        v = load(q)
        total += v
        store(q, v * 2)
    store(out, total)
)").inout(integers(DType::I32, {1}), integers(DType::I32, {16})).out(integers(DType::I32, {15})).value(int64_t(4));
  // Only the iterations in which it is on.
  suite.add("A42.mask_of_an_iteration", R"(
@triton.jit(do_not_specialize=['n'])
def k(q, out, n, first):
    i = arange(0, 64)
    total = zeros((64,), int32)
    for t in range(0, n):
        device_print("round", t)
        total += load(q + i, mask=(t >= first) & (i < 3), other=1)
    store(out + i, total)
)").in(filled(DType::I32, 64)).at(Placement::Forbidden).out(filled(DType::I32, 64, 3)).value(int64_t(3)).value(int64_t(3)).prints({"round: 0", "round: 1", "round: 2"});
  suite.add("A42.not_across_an_atomic", R"(
def k(q, out, n):
    total = 0
    for t in range(0, n):
        total += load(q)
        atomic_add(q, 1)
    store(out, total)
)").inout(integers(DType::I32, {1}), integers(DType::I32, {5})).out(integers(DType::I32, {10})).value(int64_t(4));
  suite.add("A42.while_never_entered", R"(
@triton.jit(do_not_specialize=['n'])
def k(q, out, n):
    i = 0
    while i < n:
        i += load(q)
    store(out, i)
)").in(integers(DType::I32, {4})).at(Placement::Forbidden).out(integers(DType::I32, {0})).value(int64_t(0));
  for (int64_t trips : {0, 1, 2, 5})
    for (int stages : {1, 2, 5})
      suite.add("A94." + std::to_string(trips) + "." + std::to_string(stages), substitute(R"(
@triton.jit(do_not_specialize=['n'])
def k(lut, data, out, n):
    c = arange(0, 16)
    acc = zeros((16, 16), float32)
    for t in tl.range(0, n, num_stages=$S):
        row = load(lut + t)
        x = load(data + row * 256 + c[:, None] * 16 + c[None, :])
        acc += dot(x, x)
    store(out + c[:, None] * 16 + c[None, :], acc)
)", {{"S", std::to_string(stages)}}))
          .in(generate(DType::I32, static_cast<size_t>(trips), [trips](size_t i) { return static_cast<double>(trips - 1) - static_cast<double>(i); }))
          .at(Placement::AgainstUpperPage)
          .in(filled(DType::F32, static_cast<size_t>(256 * trips), 1))
          .at(Placement::AgainstUpperPage)
          .out(filled(DType::F32, 256, static_cast<double>(16 * trips)))
          .value(trips);
}
} // namespace

void addMemoryFaults(Suite &suite) {
  addBroadcasting(suite);
  addGuards(suite);
  addOverflow(suite);
  addAnalysis(suite);
  addHoisting(suite);
}

} // namespace tk::conformance
