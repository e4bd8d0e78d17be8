// N11: atomic operations: the values they return, the types they take, and programs that wait for each other.
#include "test/conformance/Areas.h"
#include <algorithm>
#include <cmath>

namespace tk::conformance {

namespace {
/// A multiset of old values: {0 ... n-1} in some order.
std::function<std::string(const Values &)> permutationOf(size_t n) {
  return [n](const Values &found) {
    std::vector<bool> seen(n);
    for (size_t i = 0; i < n; ++i) {
      double value = found.number(i);
      if (!(value >= 0 && value < static_cast<double>(n)) || seen[static_cast<size_t>(value)])
        return "expected each old value from 0 to " + std::to_string(n - 1) + " once found " + std::to_string(value) + " at index " + std::to_string(i) + " again or out of range";
      seen[static_cast<size_t>(value)] = true;
    }
    return std::string();
  };
}

void addAdds(Suite &suite) {
  for (DType type : {DType::I32, DType::I64, DType::U32, DType::U64, DType::F16, DType::BF16, DType::F32, DType::F64}) {
    suite
        .add("N11.add.old_values." + nameOf(type), R"(
def k(counter, old):
    i = program_id(0) * 32 + arange(0, 32)
    r = atomic_add(counter + i * 0, 1)
    static_assert(r.dtype == load(counter).dtype)
    store(old + i, r)
)")
        .inout(filled(type, 1), filled(type, 1, 128))
        .checked(filled(type, 128), permutationOf(128))
        .programs(4);
    Values x = counting(type, 16), expected = generate(type, 16, [](size_t i) { return i % 3 ? static_cast<double>(i) + static_cast<double>(2 * i) : static_cast<double>(i); });
    suite
        .add("N11.add.masked." + nameOf(type), R"(
def k(x, old):
    i = arange(0, 16)
    r = atomic_add(x + i, (2 * i).to(x.dtype.element_ty), mask=i % 3 != 0)
    store(old + i, r, mask=i % 3 != 0)
)")
        .inout(x, expected)
        .out(generate(type, 16, [](size_t i) { return i % 3 ? static_cast<double>(i) : 0.0; }));
  }
  suite.add("N11.add.value_is_cast", "def k(x):\n    atomic_add(x, 2.75)\n    atomic_add(x + 1, 300)\n").inout(integers(DType::I32, {1, 1}), integers(DType::I32, {3, 301}));
}

void addBitwiseAndExtremes(Suite &suite) {
  for (DType type : {DType::I32, DType::I64, DType::U32, DType::U64}) {
    Values x = integers(type, {5, -1, 100, -100, 0x7fffffff, 0, 3, 77}), y = integers(type, {3, 1, -7, 100, -1, 5, 3, -77});
    auto each = [&](auto f) {
      Values result(type, {});
      for (size_t i = 0; i < 8; ++i)
        result.bits.push_back(encodeInteger(type, f(x.integer(i), y.integer(i))));
      return result;
    };
    auto add = [&](const std::string &op, Values expected) {
      suite.add("N11." + op + "." + nameOf(type), substitute(R"(
def k(x, y, old):
    i = arange(0, 8)
    r = atomic_$O(x + i, load(y + i))
    static_assert(r.dtype == load(y).dtype)
    store(old + i, r)
)", {{"O", op}})).inout(x, expected).in(y).out(x);
    };
    add("max", each([](__int128 a, __int128 b) { return std::max(a, b); }));
    add("min", each([](__int128 a, __int128 b) { return std::min(a, b); }));
    add("and", each([](__int128 a, __int128 b) { return a & b; }));
    add("or", each([](__int128 a, __int128 b) { return a | b; }));
    add("xor", each([](__int128 a, __int128 b) { return a ^ b; }));
    add("xchg", y);
  }
  for (DType type : {DType::F32, DType::F64}) {
    double largest = type == DType::F32 ? 3.4028234663852886e38 : 1.7976931348623157e308;
    // Through the order of the integers: -0.0 counts as negative, a positive NaN is above all.
    Values x = numbers(type, {1, -1, -largest, 0.0, 5, -INFINITY, 2, NAN}), y = numbers(type, {2, -2, -0.0, -0.0, NAN, INFINITY, 2, 1});
    Values high = numbers(type, {2, -1, -0.0, 0.0, NAN, INFINITY, 2, NAN}), low = numbers(type, {1, -2, -largest, -0.0, 5, -INFINITY, 2, 1});
    for (auto [op, expected] : {std::pair("max", high), std::pair("min", low), std::pair("xchg", y)})
      suite.add(std::string("N11.") + op + "." + nameOf(type), substitute(R"(
def k(x, y, old):
    i = arange(0, 8)
    store(old + i, atomic_$O(x + i, load(y + i)))
)", {{"O", op}})).inout(x, expected).in(y).out(x);
  }
}

void addCompareAndSwap(Suite &suite) {
  for (DType type : {DType::I16, DType::U16, DType::F16, DType::BF16, DType::I32, DType::U32, DType::F32, DType::I64, DType::U64, DType::F64}) {
    Values x = generate(type, 8, [](size_t i) { return static_cast<double>(i % 3); }), expected = generate(type, 8, [](size_t i) { return i % 3 == 1 ? 9.0 : static_cast<double>(i % 3); });
    suite
        .add("N11.cas." + nameOf(type), R"(
def k(x, old):
    i = arange(0, 8)
    t = x.dtype.element_ty
    r = atomic_cas(x + i, full((8,), 1, t), full((8,), 9, t))
    static_assert(r.dtype == t)
    store(old + i, r)
)")
        .inout(x, expected)
        .out(x);
  }
  // Bit for bit: -0.0 is not 0.0, and a NaN equals itself.
  suite.add("N11.cas.bitwise", R"(
def k(x, old):
    store(old, atomic_cas(x, to_tensor(0.0), to_tensor(1.0)))
    n = load(x + 1)
    store(old + 1, atomic_cas(x + 1, n, to_tensor(2.0)))
)").inout(numbers(DType::F32, {-0.0, NAN}), numbers(DType::F32, {-0.0, 2})).out(numbers(DType::F32, {-0.0, NAN}));
  Values wide(DType::I64, {0x100000005, 0x200000005, 5, 0xffffffff00000005});
  for (DType type : {DType::I64, DType::U64, DType::F64})
    suite
        .add("A72." + nameOf(type), R"(
def k(x, expected, old):
    i = arange(0, 4)
    t = x.dtype.element_ty
    store(old + i, atomic_cas(x + i, load(expected) + zeros((4,), t), full((4,), 1, t)))
)")
        .inout(Values(type, wide.bits), Values(type, {0x100000005, encode(type, 1), 5, 0xffffffff00000005}))
        .in(Values(type, {0x200000005}))
        .out(Values(type, wide.bits));
  suite.add("N11.cas.wrong_type", "def k(x):\n    atomic_cas(x, 1, load(x).to(fp32))\n").inout(integers(DType::I32, {1}), integers(DType::I32, {1})).error("operand of type");
}

void addErrors(Suite &suite) {
  auto refused = [&](DType type, const std::string &op) {
    suite.add("N11.error." + op + "." + nameOf(type), substitute("def k(x):\n    i = arange(0, 4)\n    atomic_$O(x + i, load(x + i))\n", {{"O", op}})).inout(filled(type, 4), filled(type, 4)).error("atomic_" + op);
  };
  for (DType type : {DType::I8, DType::I16, DType::U8, DType::U16, DType::F8E4M3FN, DType::F8E5M2, DType::I1})
    refused(type, "add");
  for (DType type : {DType::F16, DType::BF16})
    for (const char *op : {"max", "min", "and", "xchg"})
      refused(type, op);
  for (DType type : {DType::F32, DType::F64})
    for (const char *op : {"and", "or", "xor"})
      refused(type, op);
  suite.add("N11.order.unknown", "def k(x):\n    atomic_add(x, 1, sem='strong')\n").inout(filled(DType::I32, 1), filled(DType::I32, 1)).error("sem");
  suite.add("N11.scope.unknown", "def k(x):\n    atomic_add(x, 1, scope='world')\n").inout(filled(DType::I32, 1), filled(DType::I32, 1)).error("scope");
  for (const char *sem : {"acquire", "release", "acq_rel", "relaxed"})
    for (const char *scope : {"gpu", "cta", "sys"})
      suite.add(std::string("N11.order.") + sem + "." + scope, substitute("def k(x):\n    atomic_add(x, 1, sem='$S', scope='$C')\n", {{"S", sem}, {"C", scope}})).inout(filled(DType::I32, 1), filled(DType::I32, 1, 64)).programs(64);
}

void addReplication(Suite &suite) {
  suite.add("N11.replicated.one_lane", R"(
def k(counter, old):
    r = atomic_add(counter + arange(0, 1), 1)
    wide = broadcast_to(r, (16,))
    store(old + arange(0, 16), wide)
)").inout(integers(DType::I32, {41}), integers(DType::I32, {42})).out(filled(DType::I32, 16, 41));
  for (size_t n : {1, 4, 16})
    suite.add("A69." + std::to_string(n), substitute(R"(
def k(x, old):
    i = arange(0, $N)
    r = atomic_cas(x + i, zeros(($N,), int32), i + 7)
    store(old + i[:, None] * 4 + arange(0, 4)[None, :], broadcast_to(r[:, None], ($N, 4)))
)", {{"N", std::to_string(n)}})).inout(filled(DType::I32, n), counting(DType::I32, n, 7)).out(filled(DType::I32, 4 * n));
  suite.add("A69.broadcast_pointer", R"(
def k(x, old):
    p = broadcast_to(x, (8,))
    store(old + arange(0, 8), atomic_cas(p, zeros((8,), int32), full((8,), 1, int32)))
)").inout(integers(DType::I32, {0}), integers(DType::I32, {1})).checked(filled(DType::I32, 8, 5), [](const Values &found) {
    size_t zeros = 0;
    for (uint64_t bits : found.bits)
      zeros += bits == 0;
    return zeros == 1 || zeros == 8 ? std::string() : "expected one lane, or every replica, with the old value 0 found " + std::to_string(zeros);
  });
  suite.add("A25.value_and_mask_broadcast", R"(
def k(x, y):
    row = arange(0, 4)[:, None]
    column = arange(0, 8)[None, :]
    p = x + row * 8 + column
    atomic_add(p, row.to(float32), mask=column < 5)
    atomic_max(y + row * 8 + column, column, mask=row > 1)
)").inout(filled(DType::F32, 32, 1), generate(DType::F32, 32, [](size_t i) { return 1 + (i % 8 < 5 ? static_cast<double>(i / 8) : 0.0); })).inout(filled(DType::I32, 32, 3), generate(DType::I32, 32, [](size_t i) { return i / 8 > 1 ? std::max(3.0, static_cast<double>(i % 8)) : 3.0; }));
  // Every operation: a column of values, a row in the mask.
  for (auto [op, f] : {std::pair("add", +[](int64_t a, int64_t b) { return a + b; }), std::pair("max", +[](int64_t a, int64_t b) { return std::max(a, b); }),
                       std::pair("min", +[](int64_t a, int64_t b) { return std::min(a, b); }), std::pair("and", +[](int64_t a, int64_t b) { return a & b; }),
                       std::pair("or", +[](int64_t a, int64_t b) { return a | b; }), std::pair("xor", +[](int64_t a, int64_t b) { return a ^ b; }),
                       std::pair("xchg", +[](int64_t, int64_t b) { return b; })}) {
    suite
        .add(std::string("A25.two_way.") + op, substitute(R"(
def k(x, old):
    row = arange(0, 4)[:, None]
    column = arange(0, 8)[None, :]
    r = atomic_$O(x + row * 8 + column, row * 3 + 1, mask=column < 5)
    static_assert(r.shape == (4, 8))
    store(old + row * 8 + column, r, mask=column < 5)
)", {{"O", op}}))
        .inout(counting(DType::I32, 32), generate(DType::I32, 32, [f](size_t i) { return static_cast<double>(i % 8 < 5 ? f(static_cast<int64_t>(i), static_cast<int64_t>(i / 8 * 3 + 1)) : static_cast<int64_t>(i)); }))
        .out(generate(DType::I32, 32, [](size_t i) { return i % 8 < 5 ? static_cast<double>(i) : 0.0; }));
    suite.add(std::string("A25.pointer_is_not_broadcast.") + op, substitute("def k(x):\n    atomic_$O(x + arange(0, 8)[None, :], full((4, 8), 1, int32))\n", {{"O", op}})).inout(filled(DType::I32, 8), filled(DType::I32, 8)).error("not broadcast");
  }
  suite.add("A25.pointer_is_not_broadcast.cas", "def k(x):\n    atomic_cas(x + arange(0, 8)[None, :], full((4, 8), 1, int32), full((4, 8), 2, int32))\n").inout(filled(DType::I32, 8), filled(DType::I32, 8)).error("not broadcast");
  suite.add("A25.pointer_is_not_broadcast.mask", "def k(x):\n    atomic_add(x + arange(0, 8)[None, :], 1, mask=arange(0, 4)[:, None] < 2)\n").inout(filled(DType::I32, 8), filled(DType::I32, 8)).error("not broadcast");
  suite.add("A25.pointer_is_not_broadcast", "def k(x):\n    atomic_add(x + arange(0, 8)[None, :], full((4, 8), 1.0, float32))\n").inout(filled(DType::F32, 8), filled(DType::F32, 8)).error("not broadcast");
  for (DType type : {DType::F16, DType::BF16}) {
    Values x = counting(type, 40), expected = x;
    for (size_t i = 1; i < 34; ++i)
      if (i % 4 != 2)
        expected.bits[i] = encode(type, x.number(i) + 1);
    suite.add("A73.odd_offsets." + nameOf(type), R"(
def k(x, n):
    i = arange(0, 64)
    atomic_add(x + 1 + i, 1.0, mask=(i < n) & (i % 4 != 1))
)").inout(x, expected).value(int64_t(33));
    suite.add("A73.duplicates." + nameOf(type), R"(
def k(x):
    i = arange(0, 64)
    atomic_add(x + 1 + i % 3, 1.0)
)").inout(filled(type, 5), numbers(type, {0, 22, 21, 21, 0}));
  }
}

void addWaiting(Suite &suite) {
  // Every program takes the lock, changes what it guards without an atomic, and gives it back.
  for (auto [name, pointer] : {std::pair("scalar", "lock"), std::pair("tile", "lock + arange(0, 1)")}) {
    std::string taken = std::string(name) == "scalar" ? "atomic_cas(lock, 0, 1, sem='acquire') == 1" : "tl.sum(atomic_cas(lock + arange(0, 1), zeros((1,), int32), full((1,), 1, int32), sem='acquire')) == 1";
    suite.add(std::string("A70.lock.") + name, substitute(R"(
def k(lock, value):
    while $T:
        pass
    i = arange(0, 16)
    store(value + i, load(value + i, volatile=True) + 1)
    debug_barrier()
    atomic_xchg($P, 0, sem="release")
)", {{"T", taken}, {"P", pointer}})).inout(filled(DType::I32, 1), filled(DType::I32, 1)).inout(filled(DType::I32, 16), filled(DType::I32, 16, 200)).programs(200);
  }
  suite.add("A70.consumer_before_producer", R"(
def k(flag, data, out):
    n = num_programs(0)
    p = program_id(0)
    if p < n - 1:
        while atomic_add(flag, 0, sem="acquire") != 1:
            pass
        store(out + p, load(data, volatile=True))
    else:
        store(data, 42)
        debug_barrier()
        atomic_xchg(flag, 1, sem="release")
)").inout(filled(DType::I32, 1), filled(DType::I32, 1, 1)).inout(filled(DType::I32, 1), filled(DType::I32, 1, 42)).out(filled(DType::I32, 99, 42)).programs(100);
  suite.add("A70.turns", R"(
def k(turn, order):
    n = num_programs(0)
    p = n - 1 - program_id(0)
    while atomic_add(turn, 0) != p:
        pass
    store(order + p, p * 3)
    atomic_add(turn, 1)
)").inout(filled(DType::I32, 1), filled(DType::I32, 1, 64)).out(counting(DType::I32, 64, 0, 3)).programs(64);
  suite.add("N11.poll", "def k(x, out):\n    store(out, atomic_poll(x, 1))\n").inout(filled(DType::I32, 1), filled(DType::I32, 1)).out(filled(DType::I1, 1)).error("is not supported yet");
  suite.add("N11.lock.thousands_of_programs", R"(
def k(lock, value):
    while atomic_cas(lock, 0, 1, sem="acquire") == 1:
        pass
    store(value, load(value, volatile=True) + 1)
    debug_barrier()
    atomic_xchg(lock, 0, sem="release")
)").inout(filled(DType::I32, 1), filled(DType::I32, 1)).inout(filled(DType::I32, 1), filled(DType::I32, 1, 4000)).programs(4000);
}
} // namespace

void addAtomics(Suite &suite) {
  addAdds(suite);
  addBitwiseAndExtremes(suite);
  addCompareAndSwap(suite);
  addErrors(suite);
  addReplication(suite);
  addWaiting(suite);
}

} // namespace tk::conformance
