// The loop nest of a group. All dimensions but the lane dimension are plain loops; the lane dimension of each row is a loop over vectors:
//
//   row:  bound, addresses at lane 0, "exact"          (EmitMemory.cpp)
//   if exact:  for j in [0, bound / L * L) step L      no masks        BodyMode::Full
//              for j in [.., extent)       step L      with masks      BodyMode::Masked
//   else:      for j in [0, extent)        step 1      one element     BodyMode::Single
//
// A reduction along the lane dimension keeps a vector of partial results per row; along another dimension it accumulates in its result's buffer.
#include "compiler/target/cpu/Emitter.h"
#include "llvm/ADT/ScopeExit.h"

using namespace llvm;
namespace tk::cpu {

/// The dimension whose neighbours are neighbours in memory for most accesses; the last one that has an extent when nothing is known.
int Emitter::chooseLaneDim(const Step &step) {
  int best = -1;
  for (int dim = 0; dim < int(step.shape.size()); ++dim)
    if (step.shape[dim] > 1)
      best = dim;
  if (step.shape.size() < 2 || best < 0)
    return best;
  SmallVector<int> votes(step.shape.size());
  bool voted = false;
  for (mlir::Operation *op : step.ops) {
    mlir::Value pointer;
    if (auto load = mlir::dyn_cast<tt::LoadOp>(op))
      pointer = load.getPtr();
    else if (auto store = mlir::dyn_cast<tt::StoreOp>(op))
      pointer = store.getPtr();
    mlir::Value base, offset;
    if (!pointer || !tileAddress(pointer, base, offset) || !offset)
      continue;
    for (int dim = 0; dim < int(step.shape.size()); ++dim)
      if (step.shape[dim] > 1 && laneStride(offset, dim) == 1)
        ++votes[dim], voted = true;
  }
  if (!voted)
    return best;
  for (int dim = 0; dim < int(votes.size()); ++dim)
    if (votes[dim] > votes[best])
      best = dim;
  return best;
}

/// Lanes of one body: up to four machine vectors of 32-bit elements when it is light, fewer when it has much arithmetic, wide elements or scattered accesses.
unsigned Emitter::chooseLanes(const Group &group) {
  if (group.laneDim < 0)
    return 1;
  unsigned vector = facts.vectorBytes / 4, work = 0;
  bool wide = false, scattered = false;
  for (mlir::Operation *op : group.ops) {
    if (mlir::isa<tt::AtomicRMWOp, tt::AtomicCASOp, tt::AssertOp>(op))
      return 1;
    if (auto reduce = mlir::dyn_cast<tt::ReduceOp>(op)) {
      if (!mlir::isMemoryEffectFree(op))
        return 1; // an assertion in the combine function is for real elements only
      // Any combine region runs on vectors across rows; along the lanes only those that may be reordered do.
      if (int(reduce.getAxis()) == group.laneDim && !isReorderable(reduce))
        return 1;
    }
    mlir::Value pointer;
    if (auto load = mlir::dyn_cast<tt::LoadOp>(op)) {
      if (load.getIsVolatile())
        return 1;
      pointer = load.getPtr();
    } else if (auto store = mlir::dyn_cast<tt::StoreOp>(op)) {
      pointer = store.getPtr();
    }
    if (pointer) {
      mlir::Value base, offset;
      if (!tileAddress(pointer, base, offset) || (offset && laneStride(offset, group.laneDim) != 1))
        scattered = true;
    } else {
      ++work;
    }
    for (mlir::Type type : op->getResultTypes())
      wide |= tt::bytesOf(tt::elementType(type)) == 8;
  }
  unsigned lanes = scattered ? vector : work <= 6 ? 4 * vector : 2 * vector;
  if (wide && !scattered)
    lanes /= 2;
  while (lanes > group.shape[group.laneDim] && lanes > 1)
    lanes /= 2;
  return lanes;
}

void Emitter::emitGroup(const Step &step, ArrayRef<GroupOut> outs, ArrayRef<Prefetch> prefetches) {
  Group group;
  group.ops = step.ops;
  group.shape = step.shape;
  group.outs.assign(outs.begin(), outs.end());
  group.prefetches.assign(prefetches.begin(), prefetches.end());
  group.laneDim = chooseLaneDim(step);
  group.lanes = chooseLanes(group);
  std::optional<Value *> together = overlapTest(step);
  if (together && !*together) {
    emitGroupLoops(group);
    return defineReduced(step);
  }

  // Loads and stores can't be told apart here: with a test both forms are made, without one only the staged form.
  auto staged = [&] {
    uint64_t mark = arenaTop;
    Group loads = group;
    SmallVector<mlir::Operation *> first, stores;
    for (mlir::Operation *op : group.ops)
      (mlir::isa<tt::StoreOp>(op) ? stores : first).push_back(op);
    DenseSet<mlir::Value> temporary;
    llvm::MapVector<mlir::Value, Buffer> old;
    for (mlir::Operation *store : stores)
      for (mlir::Value operand : store->getOperands())
        visitLeaves(operand, true, [&](mlir::Value leaf, bool) {
          if (leaf.getDefiningOp() && llvm::is_contained(first, leaf.getDefiningOp()) && !buffers.count(leaf)) {
            buffers[leaf] = allocate(leaf.getType(), group.laneDim);
            loads.outs.push_back({leaf, buffers[leaf]});
            temporary.insert(leaf);
          }
          // A carried tile that the loads' loop replaces: the stores still mean the old one.
          auto carried = mlir::isa<mlir::BlockArgument>(leaf) ? buffers.find(leaf) : buffers.end();
          if (carried != buffers.end() && !old.count(leaf) &&
              llvm::any_of(group.outs, [&](const GroupOut &out) { return out.buffer.base == carried->second.base; })) {
            old.insert({leaf, allocate(leaf.getType(), group.laneDim)});
            loads.outs.push_back({leaf, old[leaf]});
          }
        });
    loads.ops = first;
    loads.lanes = chooseLanes(loads);
    emitGroupLoops(loads);
    for (auto &[tile, buffer] : old)
      std::swap(buffers[tile], buffer);
    for (mlir::Operation *store : stores) {
      Group one = group;
      one.ops = store;
      one.outs.clear();
      one.prefetches.clear();
      one.lanes = chooseLanes(one);
      emitGroupLoops(one);
    }
    for (auto &[tile, buffer] : old)
      std::swap(buffers[tile], buffer);
    for (mlir::Value value : temporary)
      buffers.erase(value);
    arenaTop = mark;
  };
  if (together)
    ifThen(*together, [&] { emitGroupLoops(group); }, staged);
  else
    staged();
  defineReduced(step);
}

void Emitter::emitGroupLoops(Group &group) {
  // What the group itself makes is computed in registers, whether or not a buffer for it exists.
  DenseMap<mlir::Value, Buffer> hidden;
  for (mlir::Operation *op : group.ops)
    for (mlir::Value result : op->getResults())
      if (!mlir::isa<tt::ReduceOp>(op))
        if (auto it = buffers.find(result); it != buffers.end())
          hidden[result] = it->second, buffers.erase(it);
  Point point;
  point.index.assign(group.shape.size(), i64(0));
  emitNest(group, 0, point);
  for (auto &[value, buffer] : hidden)
    buffers[value] = buffer;
}

/// The scalars that full reductions of a group give are read from their slots once, after all of its code.
void Emitter::defineReduced(const Step &step) {
  for (mlir::Operation *op : step.ops)
    for (mlir::Value result : op->getResults())
      if (auto slot = scalarResults.find(result); slot != scalarResults.end())
        scalars[result] = b.CreateLoad(registerType(result.getType()), slot->second);
}

void Emitter::emitNest(Group &group, unsigned dim, Point &point) {
  if (dim == group.shape.size())
    return emitRow(group, point);
  if (int(dim) == group.laneDim)
    return emitNest(group, dim + 1, point);
  forLoop(i64(0), i64(group.shape[dim]), 1, "row", [&](Value *index) {
    point.index[dim] = index;
    emitNest(group, dim + 1, point);
  });
}

void Emitter::emitRow(Group &group, Point point) {
  MemoScope scope(*this);
  int64_t extent = group.laneDim < 0 ? 1 : group.shape[group.laneDim];
  Row row = beginRow(group, point);
  if (group.lanes > 1)
    beginPrefetches(group, row, point);
  auto vectors = [&] {
    beginReductions(group, group.lanes);
    if (group.lanes == 1) {
      emitLanes(group, row, point, 1, i64(0), i64(extent), BodyMode::Single);
    } else {
      int64_t whole = extent - extent % group.lanes;
      Value *full = row.bound ? b.CreateAnd(row.bound, i64(-int64_t(group.lanes)), "full") : i64(whole);
      emitLanes(group, row, point, group.lanes, i64(0), full, BodyMode::Full);
      emitLanes(group, row, point, group.lanes, full, i64(extent), BodyMode::Masked);
    }
    finishReductions(group, point, group.lanes);
  };
  auto elements = [&] {
    beginReductions(group, 1);
    emitLanes(group, row, point, 1, i64(0), i64(extent), BodyMode::Single);
    finishReductions(group, point, 1);
  };
  if (row.exact && group.lanes > 1)
    ifThen(row.exact, vectors, elements);
  else
    vectors();
}

void Emitter::emitLanes(Group &group, const Row &row, Point point, unsigned lanes, Value *begin, Value *end, BodyMode mode) {
  forLoop(begin, end, lanes, "lane", [&](Value *index) {
    if (group.laneDim >= 0) {
      point.index[group.laneDim] = index;
      point.laneDim = lanes > 1 ? group.laneDim : -1;
      point.lanes = lanes > 1 ? lanes : 0;
    }
    emitBody(group, row, point, mode);
  });
}

void Emitter::emitBody(Group &group, const Row &row, Point point, BodyMode mode) {
  // Lanes past the extent exist only in the last, masked vector of a row.
  Value *valid = nullptr;
  int64_t extent = group.laneDim < 0 ? 1 : group.shape[group.laneDim];
  if (mode == BodyMode::Masked && extent % point.lanes != 0)
    valid = b.CreateICmpSLT(b.CreateAdd(b.CreateVectorSplat(point.lanes, point.index[group.laneDim]), laneIndices(point.lanes, b.getInt64Ty())),
                            b.CreateVectorSplat(point.lanes, i64(extent)), "valid");
  for (mlir::Operation *op : group.ops) {
    setLocation(op);
    if (auto load = mlir::dyn_cast<tt::LoadOp>(op))
      remember(load, point, emitLoad(load, row, point, valid, mode));
    else if (auto store = mlir::dyn_cast<tt::StoreOp>(op))
      emitStore(store, row, point, valid, mode);
    else if (auto reduce = mlir::dyn_cast<tt::ReduceOp>(op))
      accumulate(reduce, point, valid, mode);
    else if (mlir::isa<tt::AtomicRMWOp, tt::AtomicCASOp>(op))
      emitAtomic(op, point);
    else if (auto check = mlir::dyn_cast<tt::AssertOp>(op))
      emitAssert(check, evalScalar(check.getCondition(), point));
  }
  if (mode == BodyMode::Full)
    emitPrefetches(row, point);
  // All values before the first write: a carried tile may be read and replaced at one point.
  SmallVector<LaneValue> values;
  for (const GroupOut &out : group.outs)
    values.push_back(eval(out.value, point));
  for (auto [out, value] : llvm::zip(group.outs, values))
    storeBuffer(out.buffer, tt::elementType(out.value.getType()), point, value, valid);
}

// ---- reductions ----

/// The single operation of a combine region on its two arguments, if that is all it does.
static mlir::Operation *soleCombine(tt::ReduceOp op) {
  mlir::Block &block = op.getCombineOp().front();
  if (op.getSrcs().size() != 1 || !llvm::hasNItems(block, 2))
    return nullptr;
  mlir::Operation *first = &block.front();
  if (first->getNumOperands() != 2 || first->getNumResults() != 1 || block.getTerminator()->getOperand(0) != first->getResult(0))
    return nullptr;
  mlir::Value x = block.getArgument(0), y = block.getArgument(1);
  if (!((first->getOperand(0) == x && first->getOperand(1) == y) || (first->getOperand(0) == y && first->getOperand(1) == x)))
    return nullptr;
  return first;
}

/// The value that changes nothing, for the operations that may be reordered.
static Constant *identityOf(mlir::Operation *op, Type *type) {
  using namespace mlir::arith;
  unsigned bits = type->isIntegerTy() ? type->getIntegerBitWidth() : 0;
  if (mlir::isa<AddFOp>(op))
    return ConstantFP::getNegativeZero(type);
  if (mlir::isa<MulFOp>(op))
    return ConstantFP::get(type, 1.0);
  if (mlir::isa<MaxNumFOp, MinNumFOp>(op))
    return ConstantFP::getNaN(type);
  if (mlir::isa<MaximumFOp>(op))
    return ConstantFP::getInfinity(type, true);
  if (mlir::isa<MinimumFOp>(op))
    return ConstantFP::getInfinity(type, false);
  if (mlir::isa<AddIOp, OrIOp, XOrIOp, MaxUIOp>(op))
    return ConstantInt::get(type, 0);
  if (mlir::isa<MulIOp>(op))
    return ConstantInt::get(type, 1);
  if (mlir::isa<AndIOp, MinUIOp>(op))
    return Constant::getAllOnesValue(type);
  if (mlir::isa<MaxSIOp>(op))
    return ConstantInt::get(type, APInt::getSignedMinValue(bits));
  if (mlir::isa<MinSIOp>(op))
    return ConstantInt::get(type, APInt::getSignedMaxValue(bits));
  return nullptr;
}

bool Emitter::isReorderable(tt::ReduceOp op) {
  mlir::Operation *combine = soleCombine(op);
  return combine && identityOf(combine, registerType(combine->getResult(0).getType()));
}

/// Evaluates a combine region; values from outside the region are scalars.
SmallVector<LaneValue> Emitter::combine(mlir::Region &region, ArrayRef<LaneValue> operands) {
  DenseMap<mlir::Value, LaneValue> values;
  mlir::Block &block = region.front();
  for (auto [argument, operand] : llvm::zip(block.getArguments(), operands))
    values[argument] = operand;
  unsigned lanes = 0;
  for (LaneValue operand : operands)
    if (operand.isVector)
      lanes = cast<FixedVectorType>(operand.value->getType())->getNumElements();
  return combineBlock(block, values, lanes, {});
}

/// The values that the block's terminator hands on. An `if` is both of its sides and a choice, since lanes go different ways; `guard`: the condition under
/// which this block counts.
SmallVector<LaneValue> Emitter::combineBlock(mlir::Block &block, DenseMap<mlir::Value, LaneValue> &values, unsigned lanes, LaneValue guard) {
  auto find = [&](mlir::Value value) -> LaneValue {
    auto it = values.find(value);
    return it != values.end() ? it->second : LaneValue{scalar(value), false};
  };
  auto both = [&](LaneValue lhs, LaneValue rhs) -> LaneValue {
    unsigned width = lhs.isVector || rhs.isVector ? lanes : 0;
    return lhs.value ? LaneValue{b.CreateAnd(vectorize(lhs, width), vectorize(rhs, width)), width != 0} : rhs;
  };
  for (mlir::Operation &op : block.without_terminator()) {
    if (mlir::isa<mlir::arith::ConstantOp>(op))
      continue;
    if (auto check = mlir::dyn_cast<tt::AssertOp>(op)) { // such a combination runs on single elements
      Value *holds = find(check.getCondition()).value;
      emitAssert(check, guard.value ? b.CreateOr(holds, b.CreateNot(guard.value)) : holds);
      continue;
    }
    if (auto branch = mlir::dyn_cast<mlir::scf::IfOp>(op)) {
      LaneValue condition = find(branch.getCondition()), otherwise{b.CreateNot(condition.value), condition.isVector};
      SmallVector<LaneValue> yes = combineBlock(branch.getThenRegion().front(), values, lanes, both(guard, condition)), no;
      if (!branch.getElseRegion().empty())
        no = combineBlock(branch.getElseRegion().front(), values, lanes, both(guard, otherwise));
      if (!error.empty())
        break;
      for (auto [result, first, second] : llvm::zip(branch.getResults(), yes, no)) {
        unsigned width = condition.isVector || first.isVector || second.isVector ? lanes : 0;
        values[result] = {b.CreateSelect(vectorize(condition, width), vectorize(first, width), vectorize(second, width)), width != 0};
      }
      continue;
    }
    if (!isElementwise(&op)) {
      fail(&op, "`" + op.getName().getStringRef() + "` in a combine function is not supported on the CPU yet");
      break;
    }
    SmallVector<LaneValue> inputs;
    for (mlir::Value operand : op.getOperands())
      inputs.push_back(find(operand));
    values[op.getResult(0)] = evalElementwise(&op, inputs, lanes);
  }
  SmallVector<LaneValue> results;
  if (error.empty())
    for (mlir::Value result : block.getTerminator()->getOperands())
      results.push_back(find(result));
  return results;
}

/// Partial results of the reductions along the lanes, one slot each: identities for vectors, anything for a single element (its first value replaces it).
void Emitter::beginReductions(Group &group, unsigned lanes) {
  for (mlir::Operation *op : group.ops) {
    auto reduce = mlir::dyn_cast<tt::ReduceOp>(op);
    if (!reduce || reduce->use_empty() || (group.laneDim >= 0 && int(reduce.getAxis()) != group.laneDim))
      continue;
    SmallVector<Value *> slots;
    for (mlir::Value source : reduce.getSrcs()) {
      Type *element = registerType(tt::elementType(source.getType()));
      Type *type = lanes > 1 ? FixedVectorType::get(element, lanes) : element;
      slots.push_back(local(type, "partial"));
      Constant *start = lanes > 1 ? identityOf(soleCombine(reduce), element) : Constant::getNullValue(element);
      b.CreateStore(lanes > 1 ? ConstantVector::getSplat(ElementCount::getFixed(lanes), start) : start, slots.back());
    }
    accumulators[reduce.getResult()[0]] = slots;
  }
}

void Emitter::accumulate(tt::ReduceOp op, const Point &point, Value *valid, BodyMode mode) {
  if (op->use_empty())
    return;
  SmallVector<LaneValue> operands;
  for (mlir::Value source : op.getSrcs())
    operands.push_back(eval(source, point));
  int axis = op.getAxis();
  auto slots = accumulators.find(op.getResult()[0]);
  if (slots == accumulators.end()) {
    // Along a row loop: the result's buffer holds what came before.
    Point place = point;
    Value *index = place.index[axis];
    place.index.erase(place.index.begin() + axis);
    if (place.laneDim > axis)
      --place.laneDim;
    SmallVector<LaneValue> sides;
    for (mlir::Value result : op.getResult())
      sides.push_back(loadBuffer(buffers[result], tt::elementType(result.getType()), place));
    SmallVector<Value *> values = combineAfterFirst(op.getCombineOp(), b.CreateICmpEQ(index, i64(0)), sides, operands, point.lanes);
    for (auto [result, value] : llvm::zip(op.getResult(), values))
      storeBuffer(buffers[result], tt::elementType(result.getType()), place, {value, point.lanes > 0}, valid);
    return;
  }
  SmallVector<LaneValue> sides;
  bool isVector = point.lanes > 0;
  for (auto [slot, source] : llvm::zip(slots->second, op.getSrcs())) {
    Type *element = registerType(tt::elementType(source.getType()));
    sides.push_back({b.CreateLoad(isVector ? (Type *)FixedVectorType::get(element, point.lanes) : element, slot), isVector});
  }
  if (!isVector) {
    SmallVector<Value *> values = combineAfterFirst(op.getCombineOp(), b.CreateICmpEQ(point.index[axis], i64(0)), sides, operands, 0);
    for (auto [slot, value] : llvm::zip(slots->second, values))
      b.CreateStore(value, slot);
    return;
  }
  SmallVector<LaneValue> all(sides);
  for (LaneValue operand : operands)
    all.push_back({vectorize(operand, point.lanes), true});
  SmallVector<LaneValue> combined = combine(op.getCombineOp(), all);
  for (unsigned i = 0; i < combined.size(); ++i)
    b.CreateStore(valid ? b.CreateSelect(valid, combined[i].value, sides[i].value) : combined[i].value, slots->second[i]);
}

/// The combination of what came before with an element, or the element itself when it is the first: nothing came before it then.
SmallVector<Value *> Emitter::combineAfterFirst(mlir::Region &region, Value *isFirst, ArrayRef<LaneValue> before, ArrayRef<LaneValue> element, unsigned lanes) {
  SmallVector<LaneValue> sides(before);
  sides.append(element.begin(), element.end());
  SmallVector<Value *> results;
  bool hasEffects = region.walk([](tt::AssertOp) { return mlir::WalkResult::interrupt(); }).wasInterrupted();
  if (!hasEffects) {
    for (auto [now, first] : llvm::zip(combine(region, sides), element))
      results.push_back(b.CreateSelect(isFirst, vectorize(first, lanes), vectorize(now, lanes)));
    return results;
  }
  SmallVector<Value *> slots;
  for (LaneValue first : element) {
    slots.push_back(local(first.value->getType(), "combined"));
    b.CreateStore(first.value, slots.back());
  }
  ifThen(b.CreateNot(isFirst), [&] {
    for (auto [slot, now] : llvm::zip(slots, combine(region, sides)))
      b.CreateStore(now.value, slot);
  });
  for (auto [slot, first] : llvm::zip(slots, element))
    results.push_back(b.CreateLoad(first.value->getType(), slot));
  return results;
}

void Emitter::finishReductions(Group &group, Point point, unsigned lanes) {
  for (mlir::Operation *op : group.ops) {
    auto reduce = mlir::dyn_cast<tt::ReduceOp>(op);
    auto slots = reduce ? accumulators.find(reduce.getResult()[0]) : accumulators.end();
    if (slots == accumulators.end())
      continue;
    for (auto [position, result] : llvm::enumerate(reduce.getResult())) {
      Type *element = registerType(tt::elementType(result.getType()));
      Value *value = b.CreateLoad(lanes > 1 ? (Type *)FixedVectorType::get(element, lanes) : element, slots->second[position]);
      // Halves are combined until one lane is left.
      for (unsigned width = lanes / 2; width >= 1; width /= 2) {
        SmallVector<int> low, high;
        for (unsigned i = 0; i < width; ++i)
          low.push_back(i), high.push_back(i + width);
        Value *left = width == 1 ? b.CreateExtractElement(value, uint64_t(0)) : b.CreateShuffleVector(value, low);
        Value *right = width == 1 ? b.CreateExtractElement(value, uint64_t(1)) : b.CreateShuffleVector(value, high);
        SmallVector<LaneValue> combined = combine(reduce.getCombineOp(), {{left, width > 1}, {right, width > 1}});
        value = combined.empty() ? PoisonValue::get(element) : combined[0].value;
      }
      if (tt::isTile(result.getType())) {
        Point place;
        place.index = point.index;
        place.index.erase(place.index.begin() + reduce.getAxis());
        storeBuffer(buffers[result], tt::elementType(result.getType()), place, {value, false}, nullptr);
      } else {
        // Two forms of a row or group may both define it: a slot joins them.
        Value *&slot = scalarResults[result];
        if (!slot)
          slot = local(element, "reduced");
        b.CreateStore(value, slot);
      }
    }
    accumulators.erase(slots);
  }
}

} // namespace tk::cpu
