// Matrix products, accumulated in a wider type and rounded once.
//
// `inputPrecision` turns each fp32 operand into parts that the matrix units take, and a product into the sum of some products of parts:
//   tf32    a' b'                        a' = a without its lowest 13 mantissa bits
//   tf32x3  a' b' + a' b" + a" b'        a" = (a - a') without its lowest 13 bits
//   bf16x3  a1 b1 + a1 b2 + a2 b1        a1 = bf16(a), a2 = bf16(a - a1), a3 = bf16(a - a1 - a2), to nearest even
//   bf16x6  those and a2 b2 + a1 b3 + a3 b1
// The products after the first are a correction, which counts only where it is finite: an infinite operand has no further parts, but multiplies those of the other one.
#include "compiler/interpret/ErrorBound.h"
#include "dialects/tt/TT.h"

using namespace mlir;

namespace tk::interpret {
namespace {

struct Extents {
  size_t batch = 1, m = 1, n = 1, k = 1;
};

using Values = std::vector<double>;
struct Product {
  unsigned a, b; // indices of parts
};

std::vector<Product> productsOf(tt::InputPrecision precision) {
  switch (precision) {
  case tt::InputPrecision::IEEE: case tt::InputPrecision::TF32: return {{0, 0}};
  case tt::InputPrecision::TF32x3: case tt::InputPrecision::BF16x3: return {{0, 0}, {0, 1}, {1, 0}};
  case tt::InputPrecision::BF16x6: return {{0, 0}, {0, 1}, {1, 0}, {1, 1}, {0, 2}, {2, 0}};
  }
  return {};
}

std::vector<Values> partsOf(const Tile &tile, tt::InputPrecision precision) {
  unsigned count = precision == tt::InputPrecision::BF16x6 ? 3 : precision == tt::InputPrecision::TF32x3 || precision == tt::InputPrecision::BF16x3 ? 2 : 1;
  bool isTf32 = precision == tt::InputPrecision::TF32 || precision == tt::InputPrecision::TF32x3, isIeee = precision == tt::InputPrecision::IEEE;
  std::vector<Values> parts(count, Values(tile.size()));
  for (size_t i = 0; i < tile.size(); ++i) {
    double rest = tile[i].f;
    for (Values &part : parts) {
      part[i] = isIeee ? rest : isTf32 ? truncateToTf32(rest) : roundTo(Format::BF16, rest);
      rest = isFinite(part[i]) ? rest - part[i] : 0;
    }
  }
  return parts;
}

/// Results of one row of d.
template <typename Wide> struct Row {
  std::vector<Wide> sum, correction;
  Values magnitude, propagated;
  explicit Row(size_t n) : sum(n), correction(n), magnitude(n), propagated(n) {}
  void clear() {
    std::fill(sum.begin(), sum.end(), Wide(0));
    std::fill(correction.begin(), correction.end(), Wide(0));
    std::fill(magnitude.begin(), magnitude.end(), 0);
    std::fill(propagated.begin(), propagated.end(), 0);
  }
};

/// Units for bf16 may take what is smaller than 2^-126 for zero, in operands and in sums: an upper bound of what that loses.
double flushed(const Tile &a, const Tile &b, size_t aFirst, size_t bFirst, const Extents &e) {
  double largest = 0;
  for (size_t k = 0; k < e.k; ++k)
    largest = std::max({largest, std::fabs(a[aFirst + k].f), std::fabs(b[bFirst + k * e.n].f)});
  return 0x1p-126 * double(e.k) * (2 + largest);
}

template <typename Wide> void multiply(Machine &m, const Instruction &i, const Extents &e, tt::InputPrecision precision) {
  const Tile &a = m.in(i, 0), &b = m.in(i, 1), &c = m.in(i, 2);
  Tile &d = m.out(i);
  Format format = d.type.format;
  std::vector<Values> aParts = partsOf(a, precision), bParts = partsOf(b, precision);
  std::vector<Product> products = productsOf(precision);
  bool flushes = a.type.format == Format::BF16;
  double roundings = double(products.size() * e.k + 2); // each product, each addition, and this execution's own
  Row<Wide> row(e.n);
  std::vector<int> columnBit(e.n);
  for (size_t batch = 0; batch < e.batch; ++batch) {
    size_t aBase = batch * e.m * e.k, bBase = batch * e.k * e.n;
    std::fill(columnBit.begin(), columnBit.end(), 4096);
    for (size_t k = 0; k < e.k; ++k)
      for (size_t n = 0; n < e.n; ++n)
        columnBit[n] = std::min(columnBit[n], lowestBitOf(bParts.size() == 1 ? bParts[0][bBase + k * e.n + n] : b[bBase + k * e.n + n].f));
    for (size_t r = 0; r < e.m; ++r) {
      row.clear();
      int rowBit = 4096;
      for (size_t k = 0; k < e.k; ++k) {
        size_t aIndex = aBase + r * e.k + k, bIndex = bBase + k * e.n;
        rowBit = std::min(rowBit, lowestBitOf(aParts.size() == 1 ? aParts[0][aIndex] : a[aIndex].f));
        for (Product product : products) {
          Wide x = aParts[product.a][aIndex];
          const double *y = &bParts[product.b][bIndex];
          Wide *sum = product.a + product.b == 0 ? row.sum.data() : row.correction.data();
          for (size_t n = 0; n < e.n; ++n)
            sum[n] += x * Wide(y[n]);
        }
        double size = std::fabs(a[aIndex].f), ea = a.error(aIndex);
        for (size_t n = 0; n < e.n; ++n)
          row.magnitude[n] += size * std::fabs(b[bIndex + n].f);
        if (a.inexact() || b.inexact())
          for (size_t n = 0; n < e.n; ++n) {
            double eb = b.error(bIndex + n);
            row.propagated[n] += (eb == 0 ? 0 : size * eb) + (ea == 0 ? 0 : std::fabs(b[bIndex + n].f) * ea) + (ea == 0 ? 0 : ea * eb);
          }
      }
      for (size_t n = 0; n < e.n; ++n) {
        size_t to = (batch * e.m + r) * e.n + n;
        Wide correction = isFinite(double(row.correction[n])) ? row.correction[n] : Wide(0);
        double sum = double(row.sum[n] + correction + Wide(c[to].f)), magnitude = row.magnitude[n] + std::fabs(c[to].f), propagated = row.propagated[n] + c.error(to);
        d[to].f = roundTo(format, sum);
        int lowestBit = std::min(rowBit + columnBit[n], lowestBitOf(c[to].f));
        double bound;
        if (!isFinite(magnitude)) // an operand is infinite or NaN
          bound = propagated == 0 ? 0 : infinity();
        else if ((bound = boundOfSum(format, sum, roundings, magnitude, propagated, lowestBit)) != 0)
          bound += double(e.k) * infoOf(format).smallestSubnormal() / 2;
        if (flushes && isFinite(magnitude) && std::min({lowestBit, rowBit, columnBit[n]}) < -126)
          bound += flushed(a, b, aBase + r * e.k, bBase + n, e);
        if (bound != 0) {
          d.addErrors();
          d.errors[to] = bound;
        }
      }
    }
  }
}

void multiplyIntegers(Machine &m, const Instruction &i, const Extents &e) {
  const Tile &a = m.in(i, 0), &b = m.in(i, 1), &c = m.in(i, 2);
  Tile &d = m.out(i);
  unsigned bits = a.type.bits;
  for (size_t batch = 0; batch < e.batch; ++batch)
    for (size_t r = 0; r < e.m; ++r)
      for (size_t n = 0; n < e.n; ++n) {
        size_t to = (batch * e.m + r) * e.n + n;
        uint64_t sum = c[to].i;
        bool uncertain = c.error(to) != 0;
        for (size_t k = 0; k < e.k; ++k) {
          size_t x = (batch * e.m + r) * e.k + k, y = (batch * e.k + k) * e.n + n;
          sum += uint64_t(signExtend(a[x].i, bits) * signExtend(b[y].i, bits));
          uncertain |= a.error(x) != 0 || b.error(y) != 0;
        }
        d[to].i = sum & d.type.mask();
        if (uncertain) {
          d.addErrors();
          d.errors[to] = infinity();
        }
      }
}

void dot(Machine &m, const Instruction &i) {
  auto op = cast<tt::DotOp>(i.op);
  ArrayRef<int64_t> aShape = tt::shapeOf(op.getA().getType()), bShape = tt::shapeOf(op.getB().getType());
  size_t rank = aShape.size();
  Extents e;
  for (size_t d = 0; d + 2 < rank; ++d)
    e.batch *= size_t(aShape[d]);
  e.m = size_t(aShape[rank - 2]);
  e.k = size_t(aShape[rank - 1]);
  e.n = size_t(bShape[rank - 1]);
  m.operations += e.batch * e.m * e.n * e.k;
  const Slot &result = m.resultSlot(i);
  if (!result.type.isFloat())
    return multiplyIntegers(m, i, e);
  tt::InputPrecision precision = m.in(i, 0).type.format == Format::F32 ? op.getInputPrecision() : tt::InputPrecision::IEEE;
  if (result.type.format == Format::F64)
    multiply<long double>(m, i, e, precision);
  else
    multiply<double>(m, i, e, precision);
}

} // namespace

Handler selectMatrix(Operation *op, Instruction &instruction) { return isa<tt::DotOp>(op) ? dot : Handler(nullptr); }

} // namespace tk::interpret
