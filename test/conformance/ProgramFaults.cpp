// Known faults in control flow, sums, roundings, wide casts, printing and assertions.
#include "test/conformance/Areas.h"
#include <cmath>

namespace tk::conformance {

namespace {
void addControl(Suite &suite) {
  suite.add("A87.ragged_vectors", R"(
def k(starts, x, y, out, num_vec):
    pid = program_id(0)
    lo = 0
    i = 0
    while i < num_vec:
        hi = load(starts + i)
        while pid >= lo and pid < hi:
            offs = pid * 16 + arange(0, 16)
            store(out + offs, load(x + offs) + load(y + offs))
            pid += num_programs(0)
        lo = hi
        i += 1
)").in(integers(DType::I32, {3, 3, 8, 9, 20})).in(counting(DType::F32, 320)).in(counting(DType::F32, 320, 1000)).out(generate(DType::F32, 320, [](size_t i) { return 1000.0 + 2 * static_cast<double>(i); })).value(int64_t(5)).programs(4);
  suite.add("A88.double_loop", R"(
def k(x, w, out, Q, K):
    m = arange(0, 16)[:, None]
    n = arange(0, 16)[None, :]
    acc = zeros((16, 16), float32)
    for q in range(0, Q):
        part = zeros((16, 16), float32)
        for t in range(0, K, 16):
            i = q * K + t + arange(0, 16)
            part = dot(load(x + m * (Q * K) + i[None, :]), load(w + i[:, None] * 16 + n), part)
        acc += part * (q + 1)
    store(out + m * 16 + n, acc)
)").in(filled(DType::F32, 16 * 96, 1)).in(generate(DType::F32, 96 * 16, [](size_t i) { return static_cast<double>(i % 16); })).out(generate(DType::F32, 256, [](size_t i) { return 32.0 * (1 + 2 + 3) * static_cast<double>(i % 16); })).value(int64_t(3)).value(int64_t(32));
  suite.add("A89.same_value_twice", R"(
def k(x, out, limit):
    a = load(x)
    b = load(x + 1)
    n = 0
    while n < limit:
        v = a + 1 if a < b else b
        a = v
        b = v
        store(out + n, a * 100 + b)
        n += 1
    store(out + 8, a)
    store(out + 9, b)
)").in(integers(DType::I32, {3, 10})).out(integers(DType::I32, {404, 404, 404, 404, 0, 0, 0, 0, 4, 4})).value(int64_t(4));
  suite.add("A89.condition_uses_it", R"(
def k(x, out):
    a = load(x)
    b = load(x + 1)
    go = True
    while go:
        v = a + 1 if a < 5 else b
        a = v
        b = v
        go = v < 5
    store(out, a)
    store(out + 1, b)
)").in(integers(DType::I32, {0, 50})).out(integers(DType::I32, {5, 5}));
  // The main work wrapped in conditions that are always true, with dead code beside it that must stay dead.
  const char *wrapped = R"(
def k(x, facts, out, bad):
    zero = load(facts)
    one = load(facts + 1)
    i = arange(0, 64)
    v = load(x + i)
    if one > zero:
        if zero == 0:
            if one * 2 == one + one:
                store(out + i, v * 2.0)
            else:
                store(bad + i, 1.0)
                return
    if one < zero:
        $D
    store(out + 64 + i, v + 1.0)
)";
  for (auto [name, dead] : {std::pair("return", "return"), std::pair("store", "store(out + i, -1.0)"), std::pair("assume", "assume(zero == 1)"), std::pair("far_store", "store(bad + 1000000000 + i, v)"),
                            std::pair("far_load", "store(out + i, load(bad + 1000000000 + i))"), std::pair("loop", "for t in range(0, 1000000000):\n            store(out + i, v * t)"),
                            std::pair("assume_bound", "assume(program_id(0) > 5)")})
    suite.add(std::string("A91.") + name, substitute(wrapped, {{"D", dead}})).in(counting(DType::F32, 64)).in(integers(DType::I32, {0, 1})).out(generate(DType::F32, 128, [](size_t i) { return i < 64 ? 2.0 * static_cast<double>(i) : static_cast<double>(i - 63); })).in(filled(DType::F32, 64)).at(Placement::Forbidden);
  for (const char *type : {"arange(0, 1)", "0"})
    suite.add(std::string("A93.") + (type[0] == 'a' ? "tile" : "scalar"), substitute(R"(
def k(ar, out, flag, N):
    for i in tl.range(0, N, num_stages=2):
        o = load(ar + i + $T)
        if flag > 0:
            store(out + o, i + 1)
)", {{"T", type}})).in(counting(DType::I32, 20)).out(counting(DType::I32, 20, 1)).value(int64_t(7)).value(int64_t(20));
  suite.add("A96.flatten", R"(
def k(out, n):
    total = 0
    for i in tl.range(0, n, flatten=True):
        t = i
        while t > 0:
            t -= 2
            total += 1
        for j in range(0, i):
            total += t
    store(out, total)
)").out(integers(DType::I32, {2})).value(int64_t(5));
}

void addNumerics(Suite &suite) {
  suite.add("A58.sum_of_ones", R"(
def k(out, narrow):
    v = full((32, 32), 1, int1)
    r = tl.sum(v)
    static_assert(r.dtype == uint32)
    store(out, r)
    s = tl.sum(v, dtype=int1)
    static_assert(s.dtype == int1)
    store(out + 1, s)
    store(narrow, tl.sum(full((32, 32), 7, int8), dtype=int8))
)").out(integers(DType::I32, {1024, 0})).out(integers(DType::I8, {0}));
  for (unsigned warps : {1, 4, 8})
    suite.add("A66.rows_identical." + std::to_string(warps), R"(
def k(x, out):
    i = arange(0, 16)[:, None]
    j = arange(0, 64)[None, :]
    v = load(x + i * 64 + j)
    s = tl.sum(v * v, 1)
    wide = broadcast_to(s[:, None], (16, 32)) + zeros((16, 32), float32)
    store(out + i * 32 + arange(0, 32)[None, :], wide)
)").in(scattered(DType::F32, 1024, -3, 3, 8)).checked(filled(DType::F32, 512), [](const Values &found) {
    for (size_t i = 0; i < 512; ++i)
      if (found.bits[i] != found.bits[i / 32 * 32] || found.number(i) == 0)
        return "expected equal bits in a row found others at index " + std::to_string(i);
    return std::string();
  }).withWarps(warps);
  suite.add("A100.product_minus_itself", R"(
def k(x, out, s):
    i = arange(0, 8)
    v = load(x + i)
    m = v * s
    store(out + i, exp(m - v * s))
)").in(numbers(DType::F32, {1134139801600, 1134139801600, 3, 0.1, 7e20, -5, 1e-3, 12345.678})).out(filled(DType::F32, 8, 1)).value(0.180336877703666687);
  Values x = scattered(DType::F32, 64, -1, 1, 3), y = scattered(DType::F32, 64, -1, 1, 4);
  // GPUs: 2 ulp of each quotient, relative to the sum.
  std::vector<double> quotientErrors;
  for (size_t i = 0; i < 64; ++i)
    quotientErrors.push_back(0x1p-22 * (std::fabs(x.number(i)) + std::fabs(y.number(i))) / std::fabs(x.number(i) + y.number(i)));
  suite.add("A100.quotients", R"(
def k(x, y, out):
    i = arange(0, 64)
    store(out + i, load(x + i) / 1e-6 + load(y + i) / 1e-6)
)").in(x).in(y).out(generate(DType::F32, 64, [&](size_t i) {
    float scale = 1e-6f, a = static_cast<float>(x.number(i)) / scale, b = static_cast<float>(y.number(i)) / scale;
    return static_cast<double>(a + b);
  })).widerOnGpus(quotientErrors);
  suite.add("A108.negate_abs", R"(
def k(x, out):
    i = arange(0, 4)
    store(out + i, abs(-(load(x + i).to(float32))))
)").in(filled(DType::I64, 4, 1)).out(filled(DType::F32, 4, 1));
  Values wild = numbers(DType::F32, {300, -300, 127.5, -129, 1e20, -1e20, NAN, 255});
  suite.add("A109.scalar_and_tile_agree", R"(
def k(x, tile, scalar):
    i = arange(0, 8)
    store(tile + i, load(x + i).to(int8).to(uint8))
    for t in range(0, 8):
        store(scalar + t, load(x + t).to(int8).to(uint8))
)").in(wild).out(Values(DType::U8, {127, 128, 127, 128, 127, 128, 0, 127})).out(Values(DType::U8, {127, 128, 127, 128, 127, 128, 0, 127}));
  for (size_t lanes : {1024, 2048, 4096})
    for (DType to : {DType::F16, DType::BF16}) {
      Values wide = scattered(DType::F32, lanes, -70000, 70000, lanes), back = map(to, wide, [](double v) { return v; });
      suite
          .add("A112." + nameOf(to) + "." + std::to_string(lanes), substitute(R"(
def k(x, narrow, wide):
    i = arange(0, $N)
    v = load(x + i).to($T)
    store(narrow + i, v)
    store(wide + i, v.to(float32))
)", {{"N", std::to_string(lanes)}, {"T", nameOf(to)}}))
          .in(wide)
          .out(back)
          .out(map(DType::F32, back, [](double v) { return v; }))
          .onTargets({"cpu", "x86-64-v3", "x86-64-v4"});
    }
}

void addPrinting(Suite &suite) {
  suite.add("A115.signed", "def k(x):\n    device_print(\"value\", load(x))\n").in(integers(DType::I32, {-1})).prints({"-1"});
  suite.add("A115.unsigned", "def k(x):\n    device_print(\"value\", load(x))\n").in(Values(DType::U32, {0xffffffff})).prints({"4294967295"});
  suite.add("A115.int8_tile", "def k(x):\n    device_print(\"value\", load(x + arange(0, 2)))\n").in(integers(DType::I8, {-128, 5})).prints({"-128", "5"});
  suite.add("A115.uint64", "def k(x):\n    device_print(\"value\", load(x))\n").in(Values(DType::U64, {~uint64_t(0)})).prints({"18446744073709551615"});
  const char *asserted = "def k(x, out):\n    v = load(x)\n    device_assert(v < 3, \"too large\")\n    store(out, v)\n";
  suite.add("A117.off", asserted).in(integers(DType::I32, {7})).out(integers(DType::I32, {7}));
  suite.add("A117.on", asserted).in(integers(DType::I32, {7})).out(integers(DType::I32, {7})).withDebug().fails("too large");
  suite.add("A117.on_and_holds", asserted).in(integers(DType::I32, {2})).out(integers(DType::I32, {2})).withDebug();
  suite.add("A117.place", asserted).in(integers(DType::I32, {7})).out(integers(DType::I32, {7})).withDebug().fails(".tk:3");
  suite.add("A117.masked", "def k(x, out):\n    i = arange(0, 4)\n    v = load(x + i)\n    device_assert(v < 3, \"too large\", mask=i != 2)\n    store(out + i, v)\n")
      .in(integers(DType::I32, {1, 2, 9, 0})).out(integers(DType::I32, {1, 2, 9, 0})).withDebug();
  suite.add("A118.assert_in_combine", R"(
def bounded(a, b):
    device_assert(a + b < 1000, "sum too large")
    return a + b

def k(x, out, running):
    i = arange(0, 16)
    store(out, reduce(load(x + i), 0, bounded))
    store(running + i, associative_scan(load(x + i), 0, bounded))
)")
      .in(filled(DType::I32, 16, 2))
      .out(integers(DType::I32, {32}))
      .out(counting(DType::I32, 16, 2, 2))
      .withDebug();
  // A line for each combination that is made: one fewer than there are elements, whoever makes them and however many threads hold copies. The CPU target
  // refuses it.
  for (auto [count, warps] : {std::pair(2, 4u), {8, 1u}, {8, 4u}, {8, 8u}, {64, 4u}, {64, 8u}, {512, 1u}, {512, 4u}, {512, 8u}}) {
    std::string size = std::to_string(count);
    suite
        .add("A118.print_in_combine." + size + "." + std::to_string(warps), substitute(R"(
def noted(a, b):
    device_print("combined")
    return a + b

def k(x, out):
    store(out, reduce(load(x + arange(0, $N)), 0, noted))
)",
                                                         {{"N", size}}))
        .in(filled(DType::I32, size_t(count), 2))
        .out(filled(DType::I32, 1, 2 * count))
        .prints(std::vector<std::string>(size_t(count - 1), "combined"))
        .onTargets({});
  }
  suite
      .add("A118.print_in_scan", R"(
def noted(a, b):
    device_print("combined", a)
    return a + b

def k(x, out):
    i = arange(0, 2)
    store(out + i, associative_scan(load(x + i), 0, noted))
)")
      .in(integers(DType::I32, {3, 4}))
      .out(integers(DType::I32, {3, 7}))
      .onTargets({}); // how many combinations a scan makes is its own affair
  suite.add("A132.return_in_kernel", "def k(x, out):\n    if load(x) > 0:\n        return\n    store(out, 5)\n")
      .in(integers(DType::I32, {1}))
      .out(integers(DType::I32, {0}));
  suite
      .add("A132.half_reduce_then_divide", R"(
def k(x, out):
    i = arange(0, 32)
    v = load(x + i)
    s = tl.sum(v, 0)
    store(out, s / 32)
    store(out + 1, s - 1.0)
)").in(filled(DType::F16, 32, 3)).out(numbers(DType::F16, {3, 95}));
}

void addCompileTime(Suite &suite) {
  // A wide tile and a heavy function must stay affordable; the suite's time limit is the gate.
  suite.add("A131.wide_tile", R"(
def k(x, out):
    r = arange(0, 4)[:, None]
    c = arange(0, 65536)[None, :]
    i = r * 65536 + c
    store(out + i, load(x + i) + load(x + c) * load(x + r))
)").in(counting(DType::F32, 262144, 0, 0.5)).out(generate(DType::F32, 262144, [](size_t i) { return 0.5 * static_cast<double>(i) + 0.5 * static_cast<double>(i % 65536) * (0.5 * static_cast<double>(i / 65536)); }));
  Values x = scattered(DType::F64, 8192, -100, 100);
  suite.add("A131.double_sines", R"(
def k(x, out):
    i = arange(0, 64)[:, None] * 128 + arange(0, 128)[None, :]
    v = load(x + i)
    store(out + i, sin(v) + cos(v) * 2.0)
)").in(x).out(map(DType::F64, x, [](double v) { return std::sin(v) + 2 * std::cos(v); }), {.absolute = 1e-15});
}
} // namespace

void addProgramFaults(Suite &suite) {
  addControl(suite);
  addNumerics(suite);
  addPrinting(suite);
  addCompileTime(suite);
}

} // namespace tk::conformance
