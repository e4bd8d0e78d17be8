// Reductions, scans and histograms.
//
// A combine region is evaluated in order along the axis, one step for all other elements at once when it is made of elementwise operations, else element by element. Since the
// bracketing is free, every rounding in it counts for the bound. Single operations need no region: selections and integer operations fold directly, and a sum of floats
// is computed in a wider type, rounded once, and bounded by what any order of additions can give.
#include "compiler/interpret/ErrorBound.h"
#include "dialects/tt/TT.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tk::interpret {
namespace {

/// The operand's shape around the axis: [outer, length, inner].
struct Extents {
  size_t outer = 1, length = 1, inner = 1;
  size_t lanes() const { return outer * inner; }
  size_t first(size_t lane) const { return lane / inner * length * inner + lane % inner; }
};

Extents extentsOf(ArrayRef<int64_t> shape, size_t axis) {
  Extents e;
  for (size_t d = 0; d < shape.size(); ++d)
    (d < axis ? e.outer : d == axis ? e.length : e.inner) *= size_t(shape[d]);
  return e;
}

// ---- sums ----

/// A running sum in a wider type, with what its bound needs.
struct Sum {
  long double value = 0;
  double magnitude = 0, propagated = 0;
  int lowestBit = 4096;
  size_t count = 0;
  bool special = false; // an infinity or a NaN among the addends

  void add(double x, double e) {
    value = count ? value + (long double)(x) : (long double)(x);
    magnitude += std::fabs(x);
    propagated += e;
    lowestBit = std::min(lowestBit, lowestBitOf(x));
    special |= !isFinite(x);
    ++count;
  }
  double rounded(Format format) const { return count == 1 ? double(value) : format == Format::F64 ? double(value) : roundResult(format, double(value)); }
  double bound(Format format) const {
    if (count == 1)
      return propagated;
    if (special)
      return propagated == infinity() ? infinity() : 0;
    return count == 2 && propagated == 0 ? 0 : boundOfSum(format, double(value), double(count), magnitude, propagated, lowestBit);
  }
};

void setBound(Tile &tile, size_t element, double bound) {
  if (bound == 0)
    return;
  tile.addErrors();
  tile.errors[element] = bound;
}

// ---- folds of one operation ----

using FloatFold = double (*)(double, double);
using IntFold = uint64_t (*)(uint64_t, uint64_t, unsigned);

FloatFold floatFold(Operation *op) {
  return llvm::TypeSwitch<Operation *, FloatFold>(op)
      .Case<arith::MaximumFOp>([](auto) { return maximum; })
      .Case<arith::MinimumFOp>([](auto) { return minimum; })
      .Case<arith::MaxNumFOp>([](auto) { return maxNumber; })
      .Case<arith::MinNumFOp>([](auto) { return minNumber; })
      .Default([](Operation *) -> FloatFold { return nullptr; });
}

IntFold intFold(Operation *op) {
#define FOLD(Op, expression) .Case<Op>([](auto) -> IntFold { return [](uint64_t a, uint64_t b, unsigned bits) -> uint64_t { (void)bits; return expression; }; })
  return llvm::TypeSwitch<Operation *, IntFold>(op)
      FOLD(arith::AddIOp, a + b) FOLD(arith::MulIOp, a * b) FOLD(arith::AndIOp, a & b) FOLD(arith::OrIOp, a | b) FOLD(arith::XOrIOp, a ^ b)
      FOLD(arith::MaxSIOp, signExtend(a, bits) > signExtend(b, bits) ? a : b) FOLD(arith::MinSIOp, signExtend(a, bits) < signExtend(b, bits) ? a : b)
      FOLD(arith::MaxUIOp, a > b ? a : b) FOLD(arith::MinUIOp, a < b ? a : b)
      .Default([](Operation *) -> IntFold { return nullptr; });
#undef FOLD
}

/// Walks each lane from its first to its last element, or backwards; `emit(lane, index along the axis)` follows each step.
template <typename Step, typename Emit> void walk(const Extents &e, bool reverse, Step step, Emit emit) {
  for (size_t lane = 0; lane < e.lanes(); ++lane)
    for (size_t j = 0; j < e.length; ++j) {
      size_t along = reverse ? e.length - 1 - j : j, element = e.first(lane) + along * e.inner;
      step(lane, j, element);
      emit(lane, j, element);
    }
}

/// False when the region is no single operation known here. `scans`: every step is a result; else the last one is.
bool foldSingle(Machine &m, const Instruction &i, const Extents &e, bool scans, bool reverse) {
  if (!i.code->single || i.operands.size() != 1)
    return false;
  const Tile &a = m.in(i, 0);
  Format format = a.type.format;
  bool sums = isa<arith::AddFOp>(i.code->single);
  FloatFold pick = floatFold(i.code->single);
  IntFold combine = intFold(i.code->single);
  if (!sums && !pick && !combine)
    return false;
  m.operations += a.size();
  Tile &r = m.out(i);
  auto place = [&](size_t lane, size_t j, size_t element) -> size_t { return scans ? element : j + 1 == e.length ? lane : SIZE_MAX; };
  if (sums) {
    Sum sum;
    walk(
        e, reverse,
        [&](size_t, size_t j, size_t element) {
          if (j == 0)
            sum = {};
          sum.add(a[element].f, a.error(element));
        },
        [&](size_t lane, size_t j, size_t element) {
          if (size_t to = place(lane, j, element); to != SIZE_MAX) {
            r[to].f = sum.rounded(format);
            setBound(r, to, sum.bound(format));
          }
        });
    return true;
  }
  Element value{.i = 0};
  double bound = 0;
  walk(
      e, reverse,
      [&](size_t, size_t j, size_t element) {
        double error = a.error(element);
        if (j == 0)
          value = a[element];
        else if (pick)
          value.f = pick(value.f, a[element].f);
        else
          value.i = combine(value.i, a[element].i, a.type.bits) & a.type.mask();
        bound = j == 0 ? error : std::fmax(bound, error);
      },
      [&](size_t lane, size_t j, size_t element) {
        if (size_t to = place(lane, j, element); to != SIZE_MAX) {
          r[to] = value;
          setBound(r, to, bound);
        }
      });
  return true;
}

// ---- any region ----

/// Elements `first` to `first + lanes` of the slice at `along`, as one tile.
TileRef sliceOf(Machine &m, const Tile &a, const Extents &e, size_t firstLane, size_t lanes, size_t along) {
  TileRef slice = m.fresh(a.type, lanes);
  if (a.inexact())
    slice->addErrors();
  for (size_t k = 0; k < lanes; ++k) {
    size_t element = e.first(firstLane + k) + along * e.inner;
    (*slice)[k] = a[element];
    if (a.inexact())
      slice->errors[k] = a.errors[element];
  }
  return slice;
}

/// Combines `lanes` lanes from firstLane on, and gives the accumulated values after each step to `emit(j, values)`.
template <typename Emit> bool combineLanes(Machine &m, const Instruction &i, const Extents &e, size_t firstLane, size_t lanes, bool reverse, Frame &inner, Emit emit) {
  size_t operands = i.operands.size();
  SmallVector<TileRef, 4> values(operands), arguments(2 * operands);
  for (size_t j = 0; j < e.length; ++j) {
    size_t along = reverse ? e.length - 1 - j : j;
    for (size_t n = 0; n < operands; ++n) {
      arguments[n] = std::move(values[n]);
      arguments[operands + n] = sliceOf(m, m.in(i, n), e, firstLane, lanes, along);
    }
    if (j == 0) {
      for (size_t n = 0; n < operands; ++n)
        values[n] = std::move(arguments[operands + n]);
    } else {
      if (!m.runRegion(inner, arguments))
        return false;
      for (size_t n = 0; n < operands; ++n)
        values[n] = inner.returned[n];
      inner.returned.clear();
      for (TileRef &argument : arguments)
        m.release(argument);
    }
    emit(along, values);
  }
  return true;
}

void combine(Machine &m, const Instruction &i, const Extents &e, bool scans, bool reverse) {
  if (foldSingle(m, i, e, scans, reverse))
    return;
  size_t operands = i.operands.size(), lanes = i.code->laneable ? e.lanes() : 1;
  SmallVector<Tile *, 4> results;
  for (size_t n = 0; n < operands; ++n)
    results.push_back(&m.out(i, n));
  Frame inner;
  m.enterRegion(inner, *i.code, lanes);
  bool outerRounding = m.freeRounding;
  m.freeRounding = outerRounding || e.length > 2;
  for (size_t first = 0; first < e.lanes(); first += lanes) {
    bool done = combineLanes(m, i, e, first, lanes, reverse, inner, [&](size_t along, ArrayRef<TileRef> values) {
      if (!scans && along + 1 != e.length)
        return;
      for (size_t n = 0; n < operands; ++n)
        for (size_t k = 0; k < lanes; ++k) {
          size_t to = scans ? e.first(first + k) + along * e.inner : first + k;
          (*results[n])[to] = (*values[n])[k];
          setBound(*results[n], to, values[n]->error(k));
        }
    });
    if (!done)
      break;
  }
  m.freeRounding = outerRounding;
  for (TileRef &slot : inner.slots)
    m.release(slot);
}

void reduce(Machine &m, const Instruction &i) {
  auto op = cast<tt::ReduceOp>(i.op);
  combine(m, i, extentsOf(tt::shapeOf(op.getSrcs()[0].getType()), op.getAxis()), false, false);
}

void scan(Machine &m, const Instruction &i) {
  auto op = cast<tt::ScanOp>(i.op);
  combine(m, i, extentsOf(tt::shapeOf(op.getSrcs()[0].getType()), op.getAxis()), true, op.getReverse());
}

void histogram(Machine &m, const Instruction &i) {
  const Tile &a = m.in(i, 0);
  const Tile *mask = i.operands.size() > 1 ? &m.in(i, 1) : nullptr;
  Tile &r = m.out(i);
  m.operations += a.size();
  for (size_t k = 0; k < r.size(); ++k)
    r[k].i = 0;
  bool certain = true;
  for (size_t k = 0; k < a.size(); ++k) {
    certain &= mask && mask->error(k) == 0 && !(*mask)[k].i ? true : a.error(k) == 0 && (!mask || mask->error(k) == 0);
    int64_t value = signExtend(a[k].i, a.type.bits);
    if ((!mask || (*mask)[k].i) && value >= 0 && uint64_t(value) < r.size())
      ++r[size_t(value)].i;
  }
  if (!certain)
    r.errors.assign(r.size(), infinity());
}

} // namespace

Handler selectReduction(Operation *op, Instruction &instruction) {
  return llvm::TypeSwitch<Operation *, Handler>(op)
      .Case<tt::ReduceOp>([](auto) { return reduce; })
      .Case<tt::ScanOp>([](auto) { return scan; })
      .Case<tt::HistogramOp>([](auto) { return histogram; })
      .Default([](Operation *) -> Handler { return nullptr; });
}

} // namespace tk::interpret
