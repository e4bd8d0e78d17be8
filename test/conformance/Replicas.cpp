// Tiles that several threads hold copies of, and what must happen once all the same: fewer elements than threads, rows and columns, results of reductions,
// scans and products, scalars; with one, four and eight warps.
//
// What a replica holds is seen in two ways: through another layout, each element repeated in a row of a matrix, and by what every thread makes of its own
// copies, the largest and the smallest element.
#include "test/conformance/Areas.h"
#include <algorithm>

namespace tk::conformance {

namespace {
/// Kernel text that makes `i`, the numbers from 0 to count - 1 in row-major order.
struct Source {
  const char *name, *text;
  size_t count;
  const char *shape; // of a one-dimensional tile with the elements of a value `r`
  std::function<Values()> table;
};

Values ofRows(size_t rows, size_t columns, bool byColumn) {
  return generate(DType::I32, rows * columns, [=](size_t at) { return static_cast<double>(byColumn ? at % columns : at / columns); });
}

const std::vector<Source> &sources() {
  auto none = [] { return filled(DType::I32, 1); };
  static const std::vector<Source> list = {
      {"scalar", "i = load(table)", 1, "zeros((1,), $.dtype) + $", none},
      {"one", "i = arange(0, 1)", 1, "$", none},
      {"few", "i = arange(0, 8)", 8, "$", none},
      {"row", "i = arange(0, 16)[None, :]", 16, "reshape($, (16,))", none},
      {"column", "i = arange(0, 16)[:, None]", 16, "reshape($, (16,))", none},
      {"reduced", "i = tl.max(load(table + arange(0, 16)[:, None] * 64 + arange(0, 64)[None, :]), 1)", 16, "$", [] { return ofRows(16, 64, false); }},
      {"reduced_columns", "i = tl.max(load(table + arange(0, 64)[:, None] * 16 + arange(0, 16)[None, :]), 0)", 16, "$", [] { return ofRows(64, 16, true); }},
      {"scanned", "i = tl.cumsum(load(table + arange(0, 32))) - 1", 32, "$", [] { return filled(DType::I32, 32, 1); }},
      // Row number and column number as products: 16 r + c.
      {"product", R"(row = arange(0, 16)[:, None]
    column = arange(0, 16)[None, :]
    left = where(column == 0, row * 16, where(column == 1, 1, 0)) + load(table)
    right = where(row == 0, 1, where(row == 1, column, 0))
    i = dot(left.to(float16), right.to(float16)).to(int32))",
       256, "reshape($, (256,))", none},
  };
  return list;
}

size_t widthOf(const Source &source) { return source.count > 32 ? 4 : 32; }

/// Kernel text that shows what every replica of `r` holds: `seen` gets each element in a row of its own.
std::string kernel(const Source &source, const std::string &body) {
  std::string text = substitute(body, {{"MAKE", source.text},
                                       {"ROWS", "at[:, None] * $W + arange(0, $W)[None, :]"},
                                       {"WIDE", "broadcast_to(flat[:, None], ($N, $W))"},
                                       {"W", std::to_string(widthOf(source))},
                                       {"N", std::to_string(source.count)}});
  auto flat = [&](const std::string &name) { return substitute(source.shape, {{"", name}}); };
  return substitute(text, {{"FLAT_R", flat("r")}, {"FLAT_I", flat("i")}});
}

Values widened(const Values &values, const Source &source) {
  Values result(values.dtype, {});
  for (uint64_t bits : values.bits)
    result.bits.insert(result.bits.end(), widthOf(source), bits);
  return result;
}

/// The largest and the smallest, as 256 threads know them.
Values endsOf(const Values &values) {
  std::vector<double> ends;
  for (size_t k = 0; k < values.size(); ++k)
    ends.push_back(values.number(k));
  auto [low, high] = std::minmax_element(ends.begin(), ends.end());
  return concat({filled(values.dtype, 256, *high), filled(values.dtype, 256, *low)});
}

/// The operations, on the numbers 5 k + 2 in memory and operands 7 k + 1.
struct Operation {
  const char *name;
  double (*after)(int64_t old, int64_t value);
  std::vector<DType> types;
};

const std::vector<DType> kWords = {DType::I32, DType::I64, DType::U32, DType::U64},
                         kNumbers = {DType::I32, DType::I64, DType::U32, DType::U64, DType::F32, DType::F64};
const std::vector<Operation> kOperations = {
    {"add",
     [](int64_t a, int64_t b) { return static_cast<double>(a + b); },
     {DType::I32, DType::I64, DType::U32, DType::U64, DType::F16, DType::BF16, DType::F32, DType::F64}},
    {"max", [](int64_t a, int64_t b) { return static_cast<double>(std::max(a, b)); }, kNumbers},
    {"min", [](int64_t a, int64_t b) { return static_cast<double>(std::min(a, b)); }, kNumbers},
    {"and", [](int64_t a, int64_t b) { return static_cast<double>(a & b); }, kWords},
    {"or", [](int64_t a, int64_t b) { return static_cast<double>(a | b); }, kWords},
    {"xor", [](int64_t a, int64_t b) { return static_cast<double>(a ^ b); }, kWords},
    {"xchg", [](int64_t, int64_t b) { return static_cast<double>(b); }, kNumbers},
    {"cas",
     [](int64_t a, int64_t b) { return static_cast<double>(a % 2 ? a : b); },
     {DType::I16, DType::U16, DType::F16, DType::BF16, DType::I32, DType::U32, DType::F32, DType::I64, DType::U64, DType::F64}}};

Values initialOf(DType type, size_t count) { return counting(type, count, 2, 5); }

Values afterOf(const Operation &operation, DType type, size_t count, const std::function<bool(size_t)> &isOff = nullptr) {
  return generate(type, count, [&](size_t k) {
    int64_t old = static_cast<int64_t>(5 * k + 2);
    return isOff && isOff(k) ? static_cast<double>(old) : operation.after(old, static_cast<int64_t>(7 * k + 1));
  });
}

/// A call; compare and swap finds what it expects where that is even.
std::string callOf(const Operation &operation, const std::string &more = "") {
  if (std::string(operation.name) == "cas")
    return "atomic_cas(x + i, where(i % 2 == 0, i * 5 + 2, 1).to(t), v)";
  return std::string("atomic_") + operation.name + "(x + i, v" + more + ")";
}

/// What an atomic has returned, as every replica has it: through another layout, and as extremes.
const std::string kReturned = R"(
def k(x, table, seen, ends):
    t = x.dtype.element_ty
    $MAKE
    v = (i * 7 + 1).to(t)
    r = $RETURNED
    at = $FLAT_I
    flat = $FLAT_R
    store(seen + $ROWS, $WIDE)
    store(ends + arange(0, 256), tl.max(flat))
    store(ends + 256 + arange(0, 256), tl.min(flat))
)";

void addReturned(Suite &suite) {
  auto add = [&](const std::string &id, const Operation &operation, DType type, const Source &source, unsigned warps) {
    suite.add("N11.replicated." + id, kernel(source, substitute(kReturned, {{"RETURNED", callOf(operation)}})))
        .inout(initialOf(type, source.count), afterOf(operation, type, source.count))
        .in(source.table())
        .out(widened(initialOf(type, source.count), source))
        .out(endsOf(initialOf(type, source.count)))
        .withWarps(warps);
  };
  for (const Operation &operation : kOperations) {
    for (const Source &source : sources())
      for (unsigned warps : {1, 4, 8})
        add(std::string(operation.name) + "." + source.name + "." + std::to_string(warps), operation, DType::I32, source, warps);
    for (DType type : operation.types)
      for (size_t source : {0, 2, 5})
        if (type != DType::I32)
          add(std::string(operation.name) + "." + sources()[source].name + "." + nameOf(type), operation, type, sources()[source], 4);
  }
}

void addMaskedAndUnread(Suite &suite) {
  // Lanes that are off keep their memory; what they return is anything.
  for (const Operation &operation : kOperations)
    for (const Source &source : sources())
      if (std::string(operation.name) != "cas" && source.count > 1 && source.count < 100) {
        Values seen = generate(DType::I32, source.count, [](size_t k) { return k % 3 == 1 ? 77.0 : static_cast<double>(5 * k + 2); });
        suite
            .add(std::string("N11.replicated.masked.") + operation.name + "." + source.name,
                 kernel(source, substitute(kReturned, {{"RETURNED", "where(i % 3 != 1, " + callOf(operation, ", mask=i % 3 != 1") + ", 77)"}})))
            .inout(initialOf(DType::I32, source.count), afterOf(operation, DType::I32, source.count, [](size_t k) { return k % 3 == 1; }))
            .in(source.table())
            .out(widened(seen, source))
            .out(endsOf(seen))
            .withWarps(8);
      }
  // Nobody reads what they return: another instruction. A second update shows in sums and exclusive ors.
  for (const Operation &operation : kOperations)
    for (const Source &source : sources())
      if (std::string(operation.name) == "add" || std::string(operation.name) == "xor")
        for (unsigned warps : {1, 8})
          suite
              .add(std::string("N11.replicated.unread.") + operation.name + "." + source.name + "." + std::to_string(warps),
                   kernel(source, substitute("def k(x, table):\n    t = x.dtype.element_ty\n    $MAKE\n    v = (i * 7 + 1).to(t)\n    $CALL\n",
                                             {{"CALL", callOf(operation)}})))
              .inout(initialOf(DType::I32, source.count), afterOf(operation, DType::I32, source.count))
              .in(source.table())
              .withWarps(warps);
  // What a scalar returns decides which way all threads go, and is there for each of them.
  for (unsigned warps : {1, 4, 8})
    suite
        .add("N11.replicated.decides." + std::to_string(warps), R"(
def k(x, out):
    i = arange(0, 256)
    ticket = atomic_add(x, 1)
    if ticket % 2 == 0:
        store(out + ticket * 256 + i, ticket + i)
    else:
        store(out + ticket * 256 + 255 - i, tl.sum(load(x + 1 + arange(0, 4))) + i)
    for j in range(0, ticket):
        atomic_add(x + 5, 1)
)")
        .inout(integers(DType::I32, {0, 1, 2, 3, 4, 0}), integers(DType::I32, {4, 1, 2, 3, 4, 6}))
        .out(generate(DType::I32, 1024, [](size_t k) { return static_cast<double>(k / 256 % 2 == 0 ? k / 256 + k % 256 : 10 + 255 - k % 256); }))
        .programs(4)
        .withWarps(warps);
}

void addStores(Suite &suite) {
  // In each round all replicas have the value from before its store, whoever makes that.
  const char *rounds = R"(
def k(x, table, seen, ends):
    $MAKE
    at = $FLAT_I
    for j in range(0, 3):
        r = load(x + i)
        store(x + i, r * 3 + 1)
        flat = $FLAT_R
        store(seen + j * $N * $W + $ROWS, $WIDE)
        store(ends + j * 512 + arange(0, 256), tl.max(flat))
        store(ends + j * 512 + 256 + arange(0, 256), tl.min(flat))
        debug_barrier()
)";
  for (const Source &source : sources()) {
    Values x = initialOf(DType::I32, source.count), seen(DType::I32, {}), ends(DType::I32, {});
    for (int round = 0; round < 3; ++round) {
      seen = concat({seen, widened(x, source)});
      ends = concat({ends, endsOf(x)});
      x = mapIntegers(DType::I32, x, [](__int128 value) { return value * 3 + 1; });
    }
    for (unsigned warps : {1, 4, 8})
      suite.add(std::string("N10.replicated.") + source.name + "." + std::to_string(warps), kernel(source, rounds))
          .inout(initialOf(DType::I32, source.count), x)
          .in(source.table())
          .out(seen)
          .out(ends)
          .withWarps(warps);
  }
  // What many threads hold is counted once.
  for (unsigned warps : {1, 4, 8})
    suite
        .add("A63.replicated." + std::to_string(warps), R"(
def k(x, counts, winners, one):
    v = load(x + arange(0, 64)[:, None] * 16 + arange(0, 16)[None, :])
    store(counts + arange(0, 16), histogram(tl.argmax(v, 1), 16))
    store(winners + arange(0, 64), histogram(tl.argmax(v, 0), 64))
    store(one + arange(0, 4), histogram(load(x + arange(0, 1)).to(int32) + 2, 4))
)")
        .in(generate(DType::F32, 1024, [](size_t k) { return k % 16 == k / 16 * 5 % 16 ? static_cast<double>(k / 16) : 0.0; }))
        .out(filled(DType::I32, 16, 4))
        .out(generate(DType::I32, 64, [](size_t row) { return row >= 48 ? 1.0 : 0.0; }))
        .out(integers(DType::I32, {0, 0, 1, 0}))
        .withWarps(warps);
}

void addReports(Suite &suite) {
  for (const Source &source : sources())
    for (unsigned warps : {1, 4, 8}) {
      std::string end = std::string(source.name) + "." + std::to_string(warps);
      std::vector<std::string> lines;
      for (size_t k = 0; k < source.count; ++k)
        lines.push_back("value: " + std::to_string(1000 + k));
      suite.add("A115.replicated." + end, kernel(source, "def k(table):\n    $MAKE\n    device_print(\"value\", i + 1000)\n"))
          .in(source.table())
          .prints(lines)
          .withWarps(warps);
      std::string asserted = substitute("def k(table):\n    $MAKE\n    device_assert(i $L, \"beyond\")\n", {{"L", "< " + std::to_string(source.count - 1)}});
      suite.add("A117.replicated.fails." + end, kernel(source, asserted)).in(source.table()).withDebug().fails("beyond").withWarps(warps);
      asserted = substitute("def k(table):\n    $MAKE\n    device_assert(i $L, \"beyond\")\n", {{"L", "< " + std::to_string(source.count)}});
      suite.add("A117.replicated.holds." + end, kernel(source, asserted)).in(source.table()).withDebug().withWarps(warps);
    }
}
} // namespace

void addReplicas(Suite &suite) {
  addReturned(suite);
  addMaskedAndUnread(suite);
  addStores(suite);
  addReports(suite);
}

} // namespace tk::conformance
