// Creation of tiles and movement of elements: every operation is a walk over the result with one stride per axis into a source, or no work at all.
//
//   trans of 2x3 (strides 3, 1) by order [1, 0]: extents [3, 2], strides [1, 3]        broadcast of 1x3 to 2x3: extents [2, 3], strides [0, 1]
#include "compiler/interpret/Machine.h"
#include "dialects/tt/TT.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tk::interpret {
namespace {

/// Row-major strides of a shape, in elements.
SmallVector<int64_t> stridesOf(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size());
  int64_t stride = 1;
  for (size_t d = shape.size(); d-- > 0;) {
    strides[d] = stride;
    stride *= shape[d];
  }
  return strides;
}

/// Calls body(offset of a row in the source) for every row along the last axis of `extents`, in order.
template <typename Body> void forEachRow(ArrayRef<int64_t> extents, ArrayRef<int64_t> strides, Body body) {
  size_t outer = extents.empty() ? 0 : extents.size() - 1;
  SmallVector<int64_t> index(outer, 0);
  int64_t offset = 0;
  while (true) {
    body(offset);
    size_t d = outer;
    while (d-- > 0) {
      offset += strides[d];
      if (++index[d] < extents[d])
        break;
      offset -= strides[d] * extents[d];
      index[d] = 0;
    }
    if (d == size_t(-1))
      return;
  }
}

/// numbers: extents, then strides.
void strided(Machine &m, const Instruction &i) {
  const Tile &a = m.in(i, 0);
  Tile &r = m.out(i);
  size_t rank = i.numbers.size() / 2;
  ArrayRef<int64_t> extents(i.numbers.data(), rank), strides(i.numbers.data() + rank, rank);
  auto walk = [&](const auto *from, auto *to) {
    int64_t count = extents.back(), stride = strides.back();
    forEachRow(extents, strides, [&](int64_t offset) {
      for (int64_t k = 0; k < count; ++k)
        *to++ = from[offset + k * stride];
    });
  };
  walk(a.elements.data(), r.elements.data());
  if (a.inexact()) {
    r.addErrors();
    walk(a.errors.data(), r.errors.data());
  }
}

void splat(Machine &m, const Instruction &i) {
  const Tile &a = m.in(i, 0);
  Tile &r = m.out(i);
  std::fill(r.elements.begin(), r.elements.end(), a[0]);
  if (a.inexact())
    r.errors.assign(r.size(), a.errors[0]);
}

/// Operations that keep the row-major order.
void keep(Machine &m, const Instruction &i) {
  m.operations += m.in(i, 0).size();
  m.share(i, 0);
}

void join(Machine &m, const Instruction &i) {
  const Tile &a = m.in(i, 0), &b = m.in(i, 1);
  Tile &r = m.out(i);
  for (size_t k = 0; k < a.size(); ++k) {
    r[2 * k] = a[k];
    r[2 * k + 1] = b[k];
  }
  if (!a.inexact() && !b.inexact())
    return;
  r.addErrors();
  for (size_t k = 0; k < a.size(); ++k) {
    r.errors[2 * k] = a.error(k);
    r.errors[2 * k + 1] = b.error(k);
  }
}

void split(Machine &m, const Instruction &i) {
  const Tile &a = m.in(i, 0);
  for (unsigned half : {0u, 1u}) {
    Tile &r = m.out(i, half);
    for (size_t k = 0; k < r.size(); ++k)
      r[k] = a[2 * k + half];
    if (!a.inexact())
      continue;
    r.addErrors();
    for (size_t k = 0; k < r.size(); ++k)
      r.errors[k] = a.errors[2 * k + half];
  }
}

void concatenate(Machine &m, const Instruction &i) {
  const Tile &a = m.in(i, 0), &b = m.in(i, 1);
  Tile &r = m.out(i);
  std::copy(b.elements.begin(), b.elements.end(), std::copy(a.elements.begin(), a.elements.end(), r.elements.begin()));
  if (!a.inexact() && !b.inexact())
    return;
  r.addErrors();
  for (size_t k = 0; k < r.size(); ++k)
    r.errors[k] = k < a.size() ? a.error(k) : b.error(k - a.size());
}

/// Indices outside the axis are clamped; an uncertain index gives an uncertain element.
void gather(Machine &m, const Instruction &i) {
  const Tile &a = m.in(i, 0), &indices = m.in(i, 1);
  Tile &r = m.out(i);
  auto op = cast<tt::GatherOp>(i.op);
  ArrayRef<int64_t> shape = tt::shapeOf(op.getSrc().getType()), resultShape = tt::shapeOf(op.getResult().getType());
  size_t axis = op.getAxis();
  SmallVector<int64_t> strides = stridesOf(shape), index(shape.size(), 0);
  for (size_t k = 0; k < r.size(); ++k) {
    int64_t along = std::clamp<int64_t>(signExtend(indices[k].i, indices.type.bits), 0, shape[axis] - 1), offset = 0;
    for (size_t d = 0; d < shape.size(); ++d)
      offset += (d == axis ? along : index[d]) * strides[d];
    r[k] = a[offset];
    double e = indices.error(k) != 0 ? infinity() : a.error(offset);
    if (e != 0) {
      r.addErrors();
      r.errors[k] = e;
    }
    for (size_t d = shape.size(); d-- > 0 && ++index[d] == resultShape[d];)
      index[d] = 0;
  }
}

void setWalk(Instruction &i, ArrayRef<int64_t> extents, ArrayRef<int64_t> strides) {
  i.numbers.assign(extents.begin(), extents.end());
  i.numbers.append(strides.begin(), strides.end());
}

} // namespace

Handler selectShape(Operation *op, Instruction &instruction) {
  if (auto trans = dyn_cast<tt::TransOp>(op)) {
    SmallVector<int64_t> strides = stridesOf(tt::shapeOf(trans.getSrc().getType())), permuted;
    for (int32_t axis : trans.getOrder())
      permuted.push_back(strides[axis]);
    setWalk(instruction, tt::shapeOf(trans.getResult().getType()), permuted);
    return strided;
  }
  if (auto broadcast = dyn_cast<tt::BroadcastOp>(op)) {
    ArrayRef<int64_t> from = tt::shapeOf(broadcast.getSrc().getType()), to = tt::shapeOf(broadcast.getResult().getType());
    SmallVector<int64_t> strides = stridesOf(from);
    for (size_t d = 0; d < from.size(); ++d)
      strides[d] = from[d] == 1 ? 0 : strides[d];
    setWalk(instruction, to, strides);
    return from.empty() ? splat : strided;
  }
  return llvm::TypeSwitch<Operation *, Handler>(op)
      .Case<tt::SplatOp>([](auto) { return splat; })
      .Case<tt::UnsplatOp, tt::ReshapeOp, tt::ExpandDimsOp>([](auto) { return keep; })
      .Case<tt::JoinOp>([](auto) { return join; })
      .Case<tt::SplitOp>([](auto) { return split; })
      .Case<tt::CatOp>([](auto) { return concatenate; })
      .Case<tt::GatherOp>([](auto) { return gather; })
      .Default([](Operation *) -> Handler { return nullptr; });
}

} // namespace tk::interpret
