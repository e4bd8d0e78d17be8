// A43: offsets of 64 bits. What is far away is reached from a base as far away on the other side, so that no buffer has to be large. The base is made in steps
// that 32 bits hold, so that no two mistakes cancel.
#include "test/conformance/Areas.h"

namespace tk::conformance {

namespace {
constexpr int64_t kFar = 3000000000; // elements: no offset of 32 bits, and four bytes each no unsigned one

void addDistances(Suite &suite) {
  struct Row {
    const char *name, *pointer;
    std::function<int64_t(int64_t)> offset; // in elements
  };
  for (const Row &row :
       {Row{"scalar_and_tile", "x + pid.to(int64) * 1000000000 + i * 500000000", [](int64_t i) { return 3000000000 + i * 500000000; }},
        Row{"narrow_and_wide_tiles", "x + (i.to(int64) * 1000000000 + i * 500000000)", [](int64_t i) { return i * 1500000000; }},
        Row{"wide_then_narrow", "x + i.to(int64) * 1000000000 + i * 500000000", [](int64_t i) { return i * 1500000000; }},
        Row{"narrow_then_wide", "x + i * 500000000 + i.to(int64) * 1000000000", [](int64_t i) { return i * 1500000000; }},
        Row{"unsigned_and_signed", "x + (zeros((4,), uint32) + 3000000000) + i * 500000000", [](int64_t i) { return 3000000000 + i * 500000000; }},
        Row{"subtracted", "x + i - far * 3 + pid", [](int64_t i) { return i - 9000000000 + 3; }},
        Row{"two_narrow_in_turn", "x + pid * 700000000 + i * 500000000", [](int64_t i) { return 2100000000 + i * 500000000; }},
        Row{"two_narrow_at_once", "x + (pid * 700000000 + i * 500000000)",
            [](int64_t i) { return static_cast<int64_t>(static_cast<int32_t>(2100000000 + i * 500000000)); }}})
    for (DType type : {DType::F16, DType::I64})
      suite
          .add(std::string("A43.") + row.name + "." + nameOf(type), substitute(R"(
def k(x, out, far, pid):
    i = arange(0, 4)
    p = $P
    store(out + i, (p.to(int64) - x.to(int64)) // $B)
)",
                                                                               {{"P", row.pointer}, {"B", std::to_string(bytesOf(type))}}))
          .in(filled(type, 1))
          .out(generate(DType::I64, 4, [&](size_t i) { return static_cast<double>(row.offset(static_cast<int64_t>(i))); }))
          .value(kFar)
          .value(int64_t(3));
  suite
      .add("A43.carried", R"(
def k(x, out, n, step):
    i = arange(0, 4)
    p = x + i
    q = x
    wide = i.to(int64)
    narrow = i
    for j in range(0, n):
        p += step
        q += step
        wide += step
        narrow += step
    store(out + i, (p.to(int64) - x.to(int64)) // 4)
    store(out + 4, (q.to(int64) - x.to(int64)) // 4)
    store(out + 5 + i, ((x + wide).to(int64) - x.to(int64)) // 4)
    store(out + 9 + i, ((x + narrow).to(int64) - x.to(int64)) // 4)
)")
      .in(filled(DType::F32, 1))
      .out(integers(DType::I64, {4500000000, 4500000001, 4500000002, 4500000003, 4500000000, 4500000000, 4500000001, 4500000002, 4500000003, 205032704,
                                 205032705, 205032706, 205032707}))
      .value(int64_t(3))
      .value(int64_t(1500000000));
}

void addAccesses(Suite &suite) {
  for (DType type : {DType::I8, DType::F16, DType::F32, DType::I64}) {
    Values x = counting(type, 64);
    suite
        .add("A43.loads." + nameOf(type), R"(
def k(x, out, far, three):
    i = arange(0, 16)
    r = arange(0, 4)
    base = x - far // 2 - far // 2
    store(out + i, load(base + three.to(int64) * 1000000000 + i))
    store(out + 16 + i, load(base + (i + far), mask=i < 15, other=1))
    # (r + 1) far - r (far - 4) = far + 4 r
    p = base + ((r.to(int64) + 1) * far)[:, None] + r[None, :] - (r * (far - 4))[:, None]
    store(out + 32 + r[:, None] * 4 + r[None, :], load(p))
    third = three * 333333333 + 1
    q = base + i
    for j in range(0, three):
        q += third
    store(out + 48 + i, load(q))
)")
        .in(x)
        .at(Placement::AgainstUpperPage)
        .out(generate(type, 64, [](size_t i) { return i == 31 ? 1.0 : static_cast<double>(i % 16); }))
        .value(kFar)
        .value(int64_t(3));
    suite
        .add("A43.stores." + nameOf(type), R"(
def k(x, far, three):
    i = arange(0, 16)
    base = x - far // 2 - far // 2
    store(base + three.to(int64) * 1000000000 + i, i)
    store(base + (i + (far + 16)), i + 1, mask=i != 3)
    offset = i.to(int64) + 32
    for j in range(0, three):
        offset += three * 333333333 + 1
    store(base + offset, i + 2)
)")
        .inout(filled(type, 48, 9), generate(type, 48, [](size_t i) { return i == 19 ? 9.0 : static_cast<double>(i % 16 + i / 16); }))
        .at(Placement::AgainstUpperPage)
        .value(kFar)
        .value(int64_t(3));
  }
  // Rows farther apart than 32 bits count, of which only one is there.
  for (const char *option : {"zero", "nan"})
    suite
        .add(std::string("A43.block_pointer.") + option, substitute(R"(
def k(x, out, far, two):
    base = x
    for j in range(0, two * 2):
        base -= far // 2
    p = make_block_ptr(base, shape=(two + 1, 20), strides=(far, 1), offsets=(two, 8), block_shape=(1, 16), order=(1, 0))
    i = arange(0, 16)[None, :]
    store(out + i, load(p, boundary_check=(1,), padding_option="$O"))
    p = advance(p, (-1, -8))
    p = advance(p, (1, 4))
    store(out + 16 + i, load(p))
    p = advance(p, (1, 0))
    store(out + 32 + i, load(p, boundary_check=(0, 1), padding_option="zero"))
)",
                                                                    {{"O", option}}))
        .in(counting(DType::F32, 20))
        .at(Placement::AgainstUpperPage)
        .out(generate(
            DType::F32, 48,
            [&](size_t i) {
              return i < 12 ? static_cast<double>(8 + i) : i < 16 ? (option[0] == 'z' ? 0.0 : __builtin_nan("")) : i < 32 ? static_cast<double>(i - 12) : 0.0;
            }))
        .value(kFar)
        .value(int64_t(2));
}
} // namespace

void addOffsetFaults(Suite &suite) {
  addDistances(suite);
  addAccesses(suite);
}

} // namespace tk::conformance
