// Rows that begin anywhere and end anywhere: GPUs move all but their ends in vectors, from the aligned address before the beginning (compiler/tile/AlignRows.cpp),
// and vectors whose mask ends inside element by element (compiler/lower/LowerEdges.cpp). Every beginning relative to 16 bytes meets every kind of length, from
// nothing to all of the tile, and what lies beside a row is neither read (the pages beside the buffers are forbidden) nor written.
#include "test/conformance/Areas.h"

namespace tk::conformance {

namespace {
constexpr size_t kBlock = 512, kGap = 600; // places of a tile; elements from a row to the next, a little more or less

/// One row a program: where it begins in the input and in the output, and how long it is.
struct Rows {
  std::vector<size_t> from, to, length;
  size_t size() const { return length.size(); }
};

/// `apart`: how much further from an aligned address rows of the output begin than those of the input.
Rows rowsOf(size_t vector, size_t apart) {
  Rows rows;
  for (size_t length : {size_t(0), size_t(1), vector - 1, vector, vector + 1, size_t(333), kBlock - vector, kBlock - vector + 1, kBlock - 1, kBlock})
    for (size_t shift = 0; shift < vector; ++shift) {
      rows.from.push_back(rows.size() * kGap / 16 * 16 + shift);
      rows.to.push_back(rows.size() * kGap / 16 * 16 + (shift + apart) % vector);
      rows.length.push_back(length);
    }
  return rows;
}

/// Ends with the last row, so that the page behind it is near.
size_t extentOf(const std::vector<size_t> &begin, const Rows &rows) {
  size_t extent = 0;
  for (size_t r = 0; r < rows.size(); ++r)
    extent = std::max(extent, begin[r] + rows.length[r]);
  return extent;
}

Values numbersOf(const std::vector<size_t> &list) {
  return generate(DType::I32, list.size(), [&](size_t r) { return static_cast<double>(list[r]); });
}

Values memory(DType type, size_t count) {
  return generate(type, count, [](size_t i) { return static_cast<double>(i * 7 % 31); });
}

double weight(size_t i) { return static_cast<double>(i % 5) + 1; }

/// The output after the launch, where `element` makes element i of a row from what was read.
Values stored(DType type, const Rows &rows, const Values &x, const std::function<double(double, size_t)> &element) {
  Values result = filled(type, extentOf(rows.to, rows), 5);
  for (size_t r = 0; r < rows.size(); ++r)
    for (size_t i = 0; i < rows.length[r]; ++i)
      result.bits[rows.to[r] + i] = numbers(type, {element(x.number(rows.from[r] + i), i)}).bits.front();
  return result;
}

Values summed(const Rows &rows, const std::function<double(size_t, size_t)> &element) {
  return generate(DType::I32, rows.size(), [&](size_t r) {
    double sum = 0;
    for (size_t i = 0; i < rows.length[r]; ++i)
      sum += element(r, i);
    return sum;
  });
}

const char *const kHead = R"(
def k(x, out, sums, from_, to, length$MORE):
    row = program_id(0)
    x += load(from_ + row)
    out += load(to + row)
    n = load(length + row)
    i = arange(0, 512)
)";

Case &rowsCase(Suite &suite, const std::string &id, const std::string &body, const Rows &rows, const Values &x, const Values &out, const Values &sums,
               const std::string &more = "") {
  return suite.add(id, substitute(kHead, {{"MORE", more}}) + body)
      .in(x)
      .at(Placement::AgainstUpperPage)
      .inout(filled(out.dtype, out.size(), 5), out)
      .at(Placement::AgainstUpperPage)
      .out(sums)
      .in(numbersOf(rows.from))
      .in(numbersOf(rows.to))
      .in(numbersOf(rows.length))
      .programs(static_cast<int64_t>(rows.size()))
      .withWarps(1);
}

size_t vectorOf(DType type) { return 128 / bitsOf(type); }

/// The annotation of a pointer that promises alignment.
std::string aligned(DType type) {
  return std::string("\"*") + (type == DType::I8 ? "i8" : type == DType::I16 ? "i16" : type == DType::BF16 ? "bf16" : "fp32") + ":16\"";
}

/// Copies, sums, and what depends on an element's place in its row.
void addTypes(Suite &suite) {
  for (DType type : {DType::I8, DType::U8, DType::I16, DType::F16, DType::BF16, DType::I32, DType::F32, DType::I64, DType::F64})
    for (size_t apart : {size_t(0), size_t(1)}) {
      Rows rows = rowsOf(vectorOf(type), apart);
      Values x = memory(type, extentOf(rows.from, rows));
      rowsCase(suite, std::string("N7.odd_rows.") + nameOf(type) + (apart ? ".apart" : ""), R"(
    v = load(x + i, mask=i < n, other=1)
    store(out + i, v + (i % 4).to(v.dtype), mask=i < n)
    store(sums + row, tl.sum(where(i < n, v.to(int32) * (i + 1), 0)))
)",
               rows, x, stored(type, rows, x, [](double value, size_t i) { return value + static_cast<double>(i % 4); }),
               summed(rows, [&](size_t r, size_t i) { return x.number(rows.from[r] + i) * static_cast<double>(i + 1); }));
    }
}

void addForms(Suite &suite) {
  Rows rows = rowsOf(8, 0);
  Values x = memory(DType::I16, extentOf(rows.from, rows));
  auto plusOne = [](double value, size_t) { return value + 1; };
  auto inRow = [&](size_t r, size_t i) { return x.number(rows.from[r] + i); };
  Values counted = summed(rows, [](size_t, size_t) { return 1; }), total = summed(rows, inRow);
  const char *const kCopy = R"(
    v = load(x + $INDEX, mask=$MASK, other=0)
    store(out + $INDEX, v + 1, mask=$MASK)
    store(sums + row, tl.sum(v.to(int32)))
)";
  const std::vector<std::array<const char *, 3>> forms = {{"wide_index", "i.to(int64)", "i.to(int64) < n"}, {"turned", "i", "n > i"},
                                                          {"inclusive", "i", "i <= n - 1"},                 {"unsigned", "i", "i.to(uint32) < n.to(uint32)"},
                                                          {"two_masks", "i", "(i < n) & (row >= 0)"},       {"two_bounds", "i", "(i < n) & (i <= 511)"},
                                                          {"from_below", "i", "(i < n) & (i >= 0)"}};
  for (auto [name, index, mask] : forms)
    rowsCase(suite, std::string("N7.odd_rows.form.") + name, substitute(kCopy, {{"INDEX", index}, {"MASK", mask}}), rows, x,
             stored(DType::I16, rows, x, plusOne), total);
  rowsCase(suite, "N7.odd_rows.narrow_to_wide", substitute(kCopy, {{"INDEX", "i"}, {"MASK", "i < n"}}), rows, x, stored(DType::I32, rows, x, plusOne), total);
  // Bounds that no row has: nothing is in it, or all of the tile.
  const std::vector<std::array<const char *, 2>> nothing = {{"negative", "i < n - 1000"}, {"negative_inclusive", "i <= -1 - n"}, {"least", "i < -2147483647 - 1 + n * 0"}, {"least_64", "i.to(int64) < n.to(int64) - (1 << 62)"}};
  for (auto [name, mask] : nothing) {
    Rows none = rows;
    none.length.assign(rows.size(), 0);
    rowsCase(suite, std::string("N7.odd_rows.nothing.") + name, substitute(kCopy, {{"INDEX", "i"}, {"MASK", mask}}), rows, x,
             filled(DType::I16, extentOf(rows.to, rows), 5), summed(none, inRow));
  }
  Rows full = rows;
  for (size_t r = 0; r < full.size(); ++r)
    full.from[r] = full.to[r] = r * kGap / 16 * 16 + r % 8, full.length[r] = kBlock;
  Values more = memory(DType::I16, extentOf(full.from, full));
  const std::vector<std::array<const char *, 2>> all = {{"greater", "i < n + 1"},           {"greatest", "i < 2147483647 + n * 0"},
                                                        {"inclusive", "i <= n + 7"},         {"greatest_unsigned", "i.to(uint32) <= (n * 0 - 1).to(uint32)"},
                                                        {"wide", "i.to(int64) < n.to(int64) + (1 << 32)"}, {"wide_unsigned", "i.to(uint64) < (n.to(int64) * 0 - 1).to(uint64)"}};
  for (auto [name, mask] : all)
    rowsCase(suite, std::string("N7.odd_rows.all.") + name, substitute(kCopy, {{"INDEX", "i"}, {"MASK", mask}}), full, more,
             stored(DType::I16, full, more, plusOne), summed(full, [&](size_t r, size_t i) { return more.number(full.from[r] + i); }));
  // What minds the order of elements.
  rowsCase(suite, "N7.odd_rows.first_of_equal", R"(
    v = load(x + i, mask=i < n, other=-1)
    store(out + i, v + 1, mask=i < n)
    store(sums + row, tl.argmax(v, axis=0))
)",
           rows, x, stored(DType::I16, rows, x, plusOne), generate(DType::I32, rows.size(), [&](size_t r) {
             size_t best = 0;
             for (size_t i = 1; i < rows.length[r]; ++i)
               best = inRow(r, i) > inRow(r, best) ? i : best;
             return static_cast<double>(best);
           }));
  rowsCase(suite, "N7.odd_rows.scan", R"(
    v = load(x + i, mask=i < n, other=0)
    store(out + i, tl.cumsum(where(i < n, 1, 0)).to(int16), mask=i < n)
    store(sums + row, tl.sum(v.to(int32)))
)",
           rows, x, stored(DType::I16, rows, x, [](double, size_t i) { return static_cast<double>(i + 1); }), total);
  rowsCase(suite, "N7.odd_rows.view", R"(
    v = load(x + i, mask=i < n, other=0)
    store(out + i, v + 1, mask=i < n)
    first = tl.sum(where(arange(0, 128) == 0, tl.sum(reshape(v, (128, 4)).to(int32), 1), 0))
    store(sums + row, first)
)",
           rows, x, stored(DType::I16, rows, x, plusOne), generate(DType::I32, rows.size(), [&](size_t r) {
             double sum = 0;
             for (size_t i = 0; i < std::min<size_t>(4, rows.length[r]); ++i)
               sum += inRow(r, i);
             return sum;
           }));
  // A place that is asked for by its number, without a mask, and elements that are read at places of their own.
  rowsCase(suite, "N7.odd_rows.place", R"(
    v = load(x + i, mask=i < n, other=0)
    store(out + i, v + 1, mask=i < n)
    store(sums + row, tl.sum(where(i == 511, 1, 0) + where((i >= 508) & (i < n), v.to(int32), 0)))
)",
           rows, x, stored(DType::I16, rows, x, plusOne), generate(DType::I32, rows.size(), [&](size_t r) {
             double sum = 1;
             for (size_t i = 508; i < rows.length[r]; ++i)
               sum += inRow(r, i);
             return sum;
           }));
}

/// Tiles that begin at an aligned address in every row, beside others that don't; with vectors of 16 and of 8 bytes a thread.
void addWeights(Suite &suite) {
  for (auto [type, weightType] : {std::pair(DType::I8, DType::I8), std::pair(DType::I16, DType::I16), std::pair(DType::BF16, DType::BF16), std::pair(DType::BF16, DType::F32), std::pair(DType::I16, DType::I8)})
    for (const char *other : {"", ", other=3"})
      for (int64_t warps : {1, 4}) {
        Rows rows = rowsOf(vectorOf(type), 0);
        Values x = memory(type, extentOf(rows.from, rows)), weights = generate(weightType, kBlock, weight);
        double outside = *other ? 3 : 0;
        rowsCase(suite, std::string("N7.odd_rows.weights.") + nameOf(type) + "." + nameOf(weightType) + (*other ? ".other" : "") + (warps > 1 ? ".warps" : ""),
                 substitute(R"(
    v = load(x + i, mask=i < n, other=0)
    w = load(weights + i, mask=i < n$OTHER)
    store(out + i, w, mask=i < n)
    store(sums + row, tl.sum(v.to(int32) * w.to(int32)) + tl.sum(w.to(int32)))
)",
                            {{"OTHER", other}}),
                 rows, x, stored(type, rows, x, [](double, size_t i) { return weight(i); }), generate(DType::I32, rows.size(), [&](size_t r) {
                   double sum = outside * static_cast<double>(kBlock - rows.length[r]);
                   for (size_t i = 0; i < rows.length[r]; ++i)
                     sum += (x.number(rows.from[r] + i) + 1) * weight(i);
                   return sum;
                 }),
                 std::string(", weights: ") + aligned(weightType))
            .in(weights)
            .at(Placement::AgainstUpperPage)
            .withWarps(warps);
      }
}

/// A program for several rows, and a row over which its result is written.
void addLoops(Suite &suite) {
  Values x = memory(DType::BF16, 37 * 333);
  suite
      .add("N7.odd_rows.loop", R"(
def k(x, rows, n, sums):
    i = arange(0, 512)
    for row in range(tl.program_id(0), rows, tl.num_programs(0)):
        v = load(x + row * n + i, mask=i < n, other=0.0)
        store(sums + row, tl.sum(v.to(float32)))
        store(x + row * n + i, (v + 1).to(v.dtype), mask=i < n)
)")
      .inout(x, map(DType::BF16, x, [](double value) { return value + 1; }))
      .at(Placement::AgainstUpperPage)
      .value(int64_t(37))
      .value(int64_t(333))
      .out(generate(DType::F32, 37,
                    [&](size_t r) {
                      double sum = 0;
                      for (size_t i = 0; i < 333; ++i)
                        sum += x.number(r * 333 + i);
                      return sum;
                    }))
      .programs(5)
      .withWarps(1);
}

/// Aligned addresses with masks of all kinds of edges: of rows of a matrix, from both sides, and none at all.
void addEdges(Suite &suite) {
  const size_t rows = 16, columns = 64;
  struct Mask {
    const char *name, *text;
    std::function<bool(size_t, size_t)> holds;
  };
  const std::vector<Mask> masks = {{"above", "j < 61", [](size_t, size_t j) { return j < 61; }},
                                   {"below", "j > 2", [](size_t, size_t j) { return j > 2; }},
                                   {"between", "(j >= 3) & (n > j)", [](size_t, size_t j) { return j >= 3 && j < 53; }},
                                   {"inside_one", "(j >= 9) & (j < 13)", [](size_t, size_t j) { return j >= 9 && j < 13; }},
                                   {"nowhere", "(j >= 13) & (j < 9)", [](size_t, size_t) { return false; }},
                                   {"triangle", "j <= i", [](size_t i, size_t j) { return j <= i; }},
                                   {"band", "(j <= i + 9) & (j + 3 >= i)", [](size_t i, size_t j) { return j <= i + 9 && j + 3 >= i; }},
                                   {"corner", "(i < 11) & (j < n)", [](size_t i, size_t j) { return i < 11 && j < 53; }},
                                   {"either", "(j < 3) | (j > n)", [](size_t, size_t j) { return j < 3 || j > 53; }},
                                   // Numbers that wrap inside a vector: as unsigned ones at 3, as signed ones at 4.
                                   {"wraps_unsigned", "(j - 3).to(uint32) < n.to(uint32)", [](size_t, size_t j) { return j >= 3 && j < 56; }},
                                   {"wraps_signed", "j + 2147483644 < n", [](size_t, size_t j) { return j >= 4; }},
                                   {"wraps_signed_up", "j + 2147483644 > n", [](size_t, size_t j) { return j < 4; }},
                                   {"alternating", "j % 2 == 0", [](size_t, size_t j) { return j % 2 == 0; }},
                                   {"all_but_one", "j != n", [](size_t, size_t j) { return j != 53; }}};
  for (DType type : {DType::I8, DType::BF16, DType::F32})
    for (const Mask &mask : masks) {
      Values x = memory(type, rows * columns);
      suite
          .add(std::string("N7.odd_rows.edge.") + mask.name + "." + nameOf(type), substitute(R"(
def k(x: $ALIGNED, y: $ALIGNED, out: $ALIGNED, n):
    i = arange(0, 16)[:, None]
    j = arange(0, 64)[None, :]
    v = load(x + i * 64 + j, mask=$MASK, other=9)
    store(y + i * 64 + j, v)
    store(out + i * 64 + j, v + 1, mask=$MASK)
)",
                                                                                            {{"MASK", mask.text}, {"ALIGNED", aligned(type)}}))
          .in(x)
          .out(generate(type, x.size(), [&](size_t at) { return mask.holds(at / columns, at % columns) ? x.number(at) : 9; }))
          .inout(filled(type, x.size(), 5), generate(type, x.size(), [&](size_t at) { return mask.holds(at / columns, at % columns) ? x.number(at) + 1 : 5; }))
          .value(int64_t(53))
          .withWarps(2);
    }
}
} // namespace

void addOddRows(Suite &suite) {
  addTypes(suite);
  addForms(suite);
  addWeights(suite);
  addLoops(suite);
  addEdges(suite);
}

} // namespace tk::conformance
