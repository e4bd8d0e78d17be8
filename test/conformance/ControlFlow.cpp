// N12: where, conditions, loops, and what they carry.
#include "test/conformance/Areas.h"
#include <cmath>

namespace tk::conformance {

namespace {
void addWhere(Suite &suite) {
  suite.add("N12.where.broadcast", R"(
def k(x, out):
    row = arange(0, 4)[:, None]
    column = arange(0, 8)[None, :]
    r = where(row > 1, load(x + column), -1.0)
    static_assert(r.shape == (4, 8) and r.dtype == float32)
    store(out + row * 8 + column, r)
    s = where(load(x) == 0, column, row)
    store(out + 32 + row * 8 + column, s)
)").in(counting(DType::F32, 8)).out(generate(DType::F32, 64, [](size_t i) { return i < 32 ? (i / 8 > 1 ? static_cast<double>(i % 8) : -1.0) : static_cast<double>(i % 8); }));
  suite.add("N12.where.pointers", R"(
def k(x, y, out):
    i = arange(0, 8)
    store(out + i, load(where(i % 2 == 0, x + i, y + 7 - i)))
)").in(counting(DType::F32, 8)).in(counting(DType::F32, 8, 100)).out(numbers(DType::F32, {0, 106, 2, 104, 4, 102, 6, 100}));
  suite.add("N12.where.both_sides_are_evaluated", R"(
def k(x, y, out):
    i = arange(0, 8)
    d = load(y + i)
    store(out + i, where(d == 0, 7, load(x + i) // d))
)").in(counting(DType::I32, 8, 10)).in(integers(DType::I32, {1, 0, 2, 0, 3, 0, 4, 0})).out(integers(DType::I32, {10, 7, 6, 7, 4, 7, 4, 7}));
  suite.add("N12.where.condition_not_bool", R"(
def k(x, out):
    i = arange(0, 4)
    store(out + i, where(load(x + i), 1, 2))
)").in(integers(DType::I32, {0, 1, 256, -1})).out(integers(DType::I32, {2, 1, 1, 1}));
}

void addConditions(Suite &suite) {
  suite.add("N12.if.merged", R"(
def k(n, out):
    if n > 3:
        a = n * 2
        b = 1.5
    elif n == 2:
        a = 7
        b = 2.5
    else:
        a = n
        b = 0.0
    store(out, a + b)
)").value(int64_t(2)).out(numbers(DType::F32, {9.5}));
  suite.add("N12.if.types_differ", "def k(n, out):\n    if n > 3:\n        a = n\n    else:\n        a = n * 1.5\n    store(out, a)\n").value(int64_t(2)).out(filled(DType::F32, 1)).error("no single type");
  suite.add("N12.if.shapes_differ", "def k(n, out):\n    a = arange(0, 4)\n    if n > 3:\n        a = arange(0, 8)\n    store(out + tl.sum(a), 1.0)\n").value(int64_t(2)).out(filled(DType::F32, 1)).error("no single type");
  suite.add("N12.if.constexpr_becomes_run_time", R"(
def k(n, out):
    a = 3
    if n > 1:
        a = 5
    store(out, a)
    store(out + 1, a * n)
)").value(int64_t(2)).out(integers(DType::I32, {5, 10}));
  suite.add("N12.if.tile_condition", "def k(out):\n    if arange(0, 4) > 2:\n        store(out, 1)\n").out(filled(DType::I32, 1)).error("must be a scalar");
  for (const char *id : {"N12.if.scalar_and_constexpr", "A28.scalar_condition"})
    suite.add(id, R"(
def k(x, out, FLAG: constexpr, OFF: constexpr):
    m = load(x)
    largest = tl.max(load(x + arange(0, 8)))
    if FLAG and largest > m:
        store(out, largest)
    if OFF and load(x + 1000000000) > 0:
        store(out + 1, 1.0)
    if not OFF and largest > 6.5:
        store(out + 2, 2.0)
)").in(counting(DType::F32, 8)).out(numbers(DType::F32, {7, 0, 2})).value(true).value(false);
  suite.add("N12.ternary", R"(
def k(n, out):
    store(out, n * 2 if n > 3 else n - 1)
    store(out + 1, 1.0 if n < 3 else 2.0)
)").value(int64_t(5)).out(numbers(DType::F32, {10, 2}));
}

void addLoops(Suite &suite) {
  struct Bounds {
    int64_t start, stop, step;
  };
  for (Bounds b : {Bounds{0, 10, 1}, Bounds{0, 10, 3}, Bounds{5, 5, 1}, Bounds{7, 3, 1}, Bounds{88, -1, -8}, Bounds{10, 0, -3}, Bounds{5, 10, -3}, Bounds{-5, 6, 4}, Bounds{3, -4, -1}, Bounds{0, 1, 100}, Bounds{20, 10, -100}}) {
    double sum = 0;
    int64_t count = 0, last = -999;
    for (int64_t i = b.start; b.step > 0 ? i < b.stop : i > b.stop; i += b.step)
      sum += static_cast<double>(i), ++count, last = i;
    std::string name = std::to_string(b.start) + "_" + std::to_string(b.stop) + "_" + std::to_string(b.step);
    for (auto &c : name)
      c = c == '-' ? 'm' : c;
    std::string body = R"(
    total = 0
    count = 0
    last = -999
    for i in $R:
        total += i
        count += 1
        last = i
    store(out, total)
    store(out + 1, count)
    store(out + 2, last)
)";
    Values expected = numbers(DType::I32, {sum, static_cast<double>(count), static_cast<double>(last)});
    suite.add("N12.range.run_time." + name, substitute("@triton.jit(do_not_specialize=['a', 'b', 'c'])\ndef k(a, b, c, out):" + body, {{"R", "tl.range(a, b, c)"}})).value(b.start).value(b.stop).value(b.step).out(expected);
    suite.add("N12.range.constexpr_step." + name, substitute("@triton.jit(do_not_specialize=['a', 'b'])\ndef k(a, b, out):" + body, {{"R", "range(a, b, " + std::to_string(b.step) + ")"}})).value(b.start).value(b.stop).out(expected);
    suite.add("N12.range.constexpr." + name, substitute("def k(out):" + body, {{"R", "range(" + std::to_string(b.start) + ", " + std::to_string(b.stop) + ", " + std::to_string(b.step) + ")"}})).out(expected);
  }
  suite.add("N12.range.int64", R"(
def k(n: i64, out):
    total = n * 0
    for i in range(n, n + 3):
        static_assert(i.dtype == int64)
        total += i
    store(out, total)
)").value(int64_t(5000000000)).out(integers(DType::I64, {15000000003}));
  suite.add("N12.range.int32", R"(
def k(n, out):
    for i in range(0, n):
        static_assert(i.dtype == int32)
        store(out + i, i)
)").value(int64_t(4)).out(counting(DType::I32, 4));
  suite.add("N12.range.ends_at_the_largest", R"(
def k(a, b, out):
    count = 0
    for i in range(a, b, 2):
        count += 1
    store(out, count)
)").value(int64_t(2147483640)).value(int64_t(2147483647)).out(integers(DType::I32, {4}));
  suite.add("N12.range.step_zero", "def k(out):\n    for i in range(0, 4, 0):\n        store(out, i)\n").out(filled(DType::I32, 1)).error("step 0");
  suite.add("N12.range.float_bound", "def k(out, n):\n    for i in range(0, n):\n        store(out, i)\n").out(filled(DType::I32, 1)).value(2.5).error("integer");
  suite.add("N12.induction_assigned", R"(
def k(n, out):
    for i in range(0, n):
        j = i
        i = i * 10
        store(out + j, i)
)").value(int64_t(5)).out(counting(DType::I32, 5, 0, 10));
  suite.add("N12.carried.type_changes", "def k(n, out):\n    a = n\n    for i in range(0, n):\n        a = a + 0.5\n    store(out, a)\n").value(int64_t(5)).out(filled(DType::F32, 1)).error("changes its type");
  suite.add("N12.carried.constexpr_becomes_run_time", R"(
def k(n, out):
    a = 1
    b = 7
    for i in range(0, n):
        a = a * 2
    static_assert(b == 7)
    store(out, a)
)").value(int64_t(5)).out(integers(DType::I32, {32}));
  suite.add("N12.carried.swapped", R"(
def k(x, y, out, n):
    i = arange(0, 64)
    a = load(x + i)
    b = load(y + i)
    for t in range(n):
        a, b = b, a + b
    store(out + i, a)
    store(out + 64 + i, b)
)").in(filled(DType::F32, 64, 1)).in(filled(DType::F32, 64, 1)).out(generate(DType::F32, 128, [](size_t i) { return i < 64 ? 13.0 : 21.0; })).value(int64_t(6));
  suite.add("N12.static_range", R"(
def k(out):
    total: constexpr = 0
    for i in static_range(1, 8, 2):
        static_assert(i % 2 == 1)
        store(out + i // 2, i)
)").out(integers(DType::I32, {1, 3, 5, 7}));
  suite.add("N12.while.carried", R"(
def k(n, out):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    store(out, steps)
)").value(int64_t(27)).out(integers(DType::I32, {111}));
  suite.add("N12.break_and_continue", R"(
def k(x, out, n):
    total = 0.0
    for i in range(0, n):
        v = load(x + i)
        if v < 0:
            continue
        if v > 50:
            break
        total += v
    store(out, total)
)").in(numbers(DType::F32, {1, 2, -5, 3, 60, 7, 8})).out(numbers(DType::F32, {6})).value(int64_t(7));
  suite.add("N12.early_return", R"(
def k(out, stop):
    p = program_id(0)
    if p >= stop:
        return
    store(out + p, p + 1)
)").out(numbers(DType::I32, {1, 2, 3, 0, 0, 0})).value(int64_t(3)).programs(6);
}
/// Calls that stay calls in the IR.
void addNoinline(Suite &suite) {
  suite.add("N12.noinline.scalars", R"(
@jit(noinline=True)
def collatz(n):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps

@jit(noinline=True)
def both(a, b):
    if a > b:
        return a - b, collatz(a)
    return b - a, collatz(b)

def k(n, out):
    for i in range(1, n):
        d, s = both(i, n)
        e, t = both(n, i)
        store(out + 2 * i, d + e)
        store(out + 2 * i + 1, s + t)
)").value(int64_t(6)).out(integers(DType::I32, {0, 0, 10, 16, 8, 16, 6, 16, 4, 16, 2, 16}));
  suite.add("N12.noinline.pointers", R"(
@jit(noinline=True)
def add_into(p, v, n):
    i = arange(0, 16)
    store(p + i, load(p + i, mask=i < n) + v, mask=i < n)

def k(out, n):
    add_into(out, 1.5, n)
    debug_barrier()
    add_into(out + 4, 2, n)
    debug_barrier()
    add_into(out, 1.5, n - 1)
)").inout(filled(DType::F32, 12, 1), numbers(DType::F32, {4, 4, 4, 4, 6, 4.5, 3, 3, 3, 3, 1, 1})).value(int64_t(6));
}
} // namespace

void addControlFlow(Suite &suite) {
  addWhere(suite);
  addConditions(suite);
  addLoops(suite);
  addNoinline(suite);
}

} // namespace tk::conformance
