// Rows that begin at odd addresses are worked on from the aligned address before their beginning, so that all but their ends move in vectors of 16 bytes.
//
// A row of 12,345 bf16 elements begins on any multiple of two bytes. The tile's index decides which thread has which element, and nothing else: where all
// that is done with the tile is elementwise, a commutative reduction, or an access, its elements may be dealt out in any other way. So they are rotated by the
// `shift` = 0 .. 7 elements by which the row's first address misses a multiple of 16 bytes: element i is at place (i + shift) mod B.
//
//   %i = tt.make_range {0, B}                      %i = tt.make_range {0, B}
//                                                  %shift = (ptr_to_int %p / 2) & 7
//                                                  scf.if %n <= B - %shift and all accesses agree {
//   %m = cmpi slt %i, splat(%n)                      %m = (%i >= %shift) & (%i < %n + %shift)
//   %v = tt.load splat(%p) + %i, %m          ->      %v = tt.load splat(%p - %shift {16 bytes}) + %i, %m
//   other uses of %i                                 other uses of (%i - %shift) & (B - 1)
//                                                  } else { as before }
//
// This is exact. A rotation is a permutation of the places; the last `shift` elements come to lie before the row's beginning, where they have the address of no
// element of theirs, but all accesses are masked off there, which the condition makes sure of. What may differ is the rounding of sums, as they are formed in
// another order; the order depends on the row's address alone.
//
// Not beside tiles that begin at aligned addresses in every row, as weights do: rotated they would be read by single elements, or by twice as many vectors
// (test/bench/README.md has what that costs).
//
// A second version of the whole row, not of each access: a tile that lies in vectors would have to go through shared memory where it is read by single
// elements, and rows that can't be rotated (4,095 elements in a tile of 4,096) shall be as fast as they were.
#include "compiler/Passes.h"
#include "compiler/RecordRemark.h"
#include "compiler/analysis/MaskEdges.h"
#include "compiler/lower/Scratch.h"
#include "compiler/tile/Uniform.h"
#include "dialects/tt/Facts.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Iterators.h"
#include "mlir/Pass/Pass.h"
#include "llvm/Support/MathExtras.h"

namespace tk::compiler {
#define GEN_PASS_DEF_ALIGNROWSPASS
#include "compiler/Passes.h.inc"
} // namespace tk::compiler

using namespace mlir;
using namespace tk;
using namespace tk::compiler;

static constexpr int64_t kVectorBytes = 16;
// Single elements of 4 bytes already use whole sectors (see AccessLayout.cpp).
static constexpr int64_t kNarrowBytes = 4;

static int64_t bytesOfElement(Operation *access) { return tt::bytesOf(tt::elementType(tt::pointeesOf(access->getOperand(0).getType()))); }

namespace {
/// `i < limit`, or `i <= limit`, for the index i of a row's tile.
struct Bound {
  arith::CmpIOp compare;
  Value limit;       // a tile whose elements are equal
  Value scalarLimit; // the same before `place`, as soon as there is a shift
  bool isSigned = true, isInclusive = false;
};

/// A load or store at `base` + the index.
struct RowAccess {
  Operation *op = nullptr;
  Value base;
  int64_t bytes = 0; // of an element
};

/// What hangs together by the index of one tile: everything whose element at a place must be rotated with all others at that place.
class Row {
public:
  Row(tt::MakeRangeOp index, AxisInfoAnalysis &axes, int64_t threads) : range(index.getResult()), axes(axes), threads(threads) {}

  /// Finds out whether the row can be rotated and whether that pays; changes nothing.
  bool isWorthwhile() { return collect() && findBlock() && findAccesses() && findVector() && findPlace(); }
  void rotate();

private:
  int64_t extent() const { return tt::shapeOf(range.getType()).front(); }
  /// The index itself, in whatever width: it is not negative.
  bool isIndex(Value value) const {
    Operation *op = value.getDefiningOp();
    return value == range || (isa_and_nonnull<arith::ExtSIOp, arith::ExtUIOp>(op) && op->getOperand(0) == range);
  }
  std::optional<Bound> boundOf(Operation *op) const;
  bool collect();
  bool findBlock();
  bool findAccesses();
  bool findVector();
  bool findPlace();
  bool canBeAtPlace(Value value, unsigned depth = 0) const;
  Value atPlace(OpBuilder &builder, Value value);
  int64_t alignmentOf(const RowAccess &access) const { return std::min(kVectorBytes, vector * access.bytes); }
  bool isMoved(Operation *user) const { // between `place` and `end`
    Operation *op = block->findAncestorOpInBlock(*user);
    return op && !op->isBeforeInBlock(place) && op->isBeforeInBlock(end);
  }
  Value makeShift(OpBuilder &builder);
  scf::IfOp makeVersions(OpBuilder &builder, Value suits);
  void rotateBounds(OpBuilder &builder, scf::IfOp versions);
  void rotateIndices(OpBuilder &builder);
  void rotateAccess(const RowAccess &access);

  Value range; // the index
  AxisInfoAnalysis &axes;
  int64_t threads;
  llvm::SetVector<Operation *> members;
  SmallVector<Bound> bounds;
  SmallVector<RowAccess> accesses; // in the order of the program
  const RowAccess *served = nullptr;
  int64_t vector = 1;         // elements
  Block *block = nullptr;     // of everything but the index and its bounds
  Operation *place = nullptr; // the first operation that is to know of the shift
  Operation *end = nullptr;   // the one behind the last
  Value shift;                // i32
};
} // namespace

std::optional<Bound> Row::boundOf(Operation *op) const {
  auto compare = dyn_cast<arith::CmpIOp>(op);
  if (!compare)
    return std::nullopt;
  using Predicate = arith::CmpIPredicate;
  auto [below, atMost, isSigned] = [&]() -> std::tuple<bool, bool, bool> {
    bool left = isIndex(compare.getLhs());
    switch (compare.getPredicate()) {
    case Predicate::slt: return {left, false, true};
    case Predicate::sle: return {left, left, true};
    case Predicate::ult: return {left, false, false};
    case Predicate::ule: return {left, left, false};
    case Predicate::sgt: return {!left, false, true};
    case Predicate::sge: return {!left, !left, true};
    case Predicate::ugt: return {!left, false, false};
    case Predicate::uge: return {!left, !left, false};
    default: return {false, false, false};
    }
  }();
  Value index = isIndex(compare.getLhs()) ? compare.getLhs() : compare.getRhs(), limit = index == compare.getLhs() ? compare.getRhs() : compare.getLhs();
  if (!below || !isIndex(index) || !isUniform(limit))
    return std::nullopt;
  return Bound{compare, limit, Value(), isSigned, atMost};
}

static bool mindsNoRotation(Operation *op) {
  if (tt::hasFacts(op)) // of elements that are neighbours
    return false;
  if (auto load = dyn_cast<tt::LoadOp>(op))
    return !load.getIsVolatile();
  if (auto reduce = dyn_cast<tt::ReduceOp>(op))
    return lower::isCommutative(reduce.getCombineOp());
  return isa<tt::StoreOp, tt::MakeRangeOp>(op) || (op->hasTrait<OpTrait::Elementwise>() && isPure(op));
}

/// Everything that has an element at the index's places, as long as it doesn't mind where these are.
bool Row::collect() {
  SmallVector<Operation *> open{range.getDefiningOp()};
  auto add = [&](Operation *op) {
    if (members.insert(op))
      open.push_back(op);
  };
  members.insert(open.front());
  while (!open.empty()) {
    Operation *op = open.pop_back_val();
    if (!mindsNoRotation(op) || (isa<tt::MakeRangeOp>(op) && op != range.getDefiningOp()))
      return false;
    for (Value operand : op->getOperands()) {
      if (!tt::isTile(operand.getType()) || isUniform(operand))
        continue;
      if (!operand.getDefiningOp() || tt::shapeOf(operand.getType()) != tt::shapeOf(range.getType()))
        return false;
      add(operand.getDefiningOp());
    }
    for (Value result : op->getResults())
      if (tt::isTile(result.getType()))
        llvm::for_each(result.getUsers(), add);
  }
  for (Operation *op : members)
    if (std::optional<Bound> bound = boundOf(op))
      bounds.push_back(*bound);
  return !bounds.empty();
}

/// The index and its bounds may stand before a loop over rows; they are made again inside. All others stand together.
bool Row::findBlock() {
  for (Operation *op : members) {
    if (llvm::any_of(op->getResults(), [&](Value result) { return isIndex(result); }) || boundOf(op))
      continue;
    if (block && op->getBlock() != block)
      return false;
    block = op->getBlock();
  }
  return block;
}

bool Row::findAccesses() {
  for (Operation *op : members) {
    if (!isa<tt::LoadOp, tt::StoreOp>(op))
      continue;
    auto pointers = op->getOperand(0).getDefiningOp<tt::AddPtrOp>();
    Value mask = maskOf(op);
    if (!pointers || tt::hasFacts(pointers) || !isUniform(pointers.getPtr()) || !isIndex(pointers.getOffset()) || !mask ||
        llvm::none_of(conjunctsOf(mask), [&](Value conjunct) { return conjunct.getDefiningOp() && boundOf(conjunct.getDefiningOp()); }))
      return false;
    auto splat = pointers.getPtr().getDefiningOp<tt::SplatOp>();
    if (!splat)
      return false;
    accesses.push_back({op, splat.getSrc(), bytesOfElement(op)});
  }
  llvm::sort(accesses, [](const RowAccess &a, const RowAccess &b) { return a.op->isBeforeInBlock(b.op); });
  return !accesses.empty();
}

/// Which access is served, and how long its vectors are. What begins at an aligned address in every row needs no shift, and would lose its vectors by one.
bool Row::findVector() {
  for (const RowAccess &access : accesses) {
    if (axes.pointerContiguity(access.op->getOperand(0), 0) > 1)
      return false;
    if (!served || access.bytes < served->bytes)
      served = &access;
  }
  vector = std::min(kVectorBytes / served->bytes, std::max<int64_t>(1, extent() / threads));
  return served->bytes < kNarrowBytes && vector * served->bytes >= kNarrowBytes;
}

bool Row::canBeAtPlace(Value value, unsigned depth) const {
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != block || op->isBeforeInBlock(place))
    return true; // it is used in the block, or before
  constexpr unsigned kDeepest = 32;
  return depth < kDeepest && isPure(op) && op->getNumRegions() == 0 &&
         llvm::all_of(op->getOperands(), [&](Value operand) { return canBeAtPlace(operand, depth + 1); });
}

/// Where the versions begin and end. What stands between is there twice then, so it may not be much.
bool Row::findPlace() {
  for (Operation &op : *block) {
    if (!place &&
        llvm::any_of(op.getOperands(), [&](Value operand) { return isIndex(operand) || (operand.getDefiningOp() && boundOf(operand.getDefiningOp())); }))
      place = &op;
    if (place && members.contains(&op))
      end = op.getNextNode();
  }
  constexpr unsigned kMostOperations = 400;
  unsigned operations = 0;
  for (Operation *op = place; op != end; op = op->getNextNode())
    if (++operations > kMostOperations || (op->getNumRegions() && !isa<tt::ReduceOp>(op)) || isa<tt::DotOp>(op))
      return false;
  return llvm::all_of(accesses, [&](const RowAccess &access) { return canBeAtPlace(access.base); }) &&
         llvm::all_of(bounds, [&](const Bound &bound) { return canBeAtPlace(bound.limit); });
}

static Value constant(OpBuilder &builder, Location loc, Type type, int64_t value) {
  return arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(type, value));
}

static Value splat(OpBuilder &builder, Location loc, Value scalar, Type like) {
  return tt::SplatOp::create(builder, loc, tt::withShapeOf(scalar.getType(), like), scalar);
}

/// The value, computed before `place` if need be.
Value Row::atPlace(OpBuilder &builder, Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != block || op->isBeforeInBlock(place))
    return value;
  IRMapping operands;
  for (Value operand : op->getOperands())
    operands.map(operand, atPlace(builder, operand));
  return builder.clone(*op, operands)->getResult(cast<OpResult>(value).getResultNumber());
}

/// The shift, and whether all agree with it and nothing that is in the row is rotated out of the tile.
Value Row::makeShift(OpBuilder &builder) {
  Location loc = served->op->getLoc();
  Type i32 = builder.getI32Type();
  const auto addressOf = [&](Value pointer) {
    return arith::TruncIOp::create(builder, loc, i32, tt::PtrToIntOp::create(builder, loc, builder.getI64Type(), atPlace(builder, pointer))).getResult();
  };
  Value elements = arith::ShRUIOp::create(builder, loc, addressOf(served->base), constant(builder, loc, i32, llvm::Log2_64(served->bytes)));
  shift = arith::AndIOp::create(builder, loc, elements, constant(builder, loc, i32, vector - 1));
  Value suits;
  const auto require = [&](Value condition) { suits = suits ? arith::AndIOp::create(builder, loc, suits, condition).getResult() : condition; };
  for (Bound &bound : bounds) {
    Value limit = bound.scalarLimit = uniformScalar(builder, loc, atPlace(builder, bound.limit));
    Value wide = limit.getType() == i32 ? shift : arith::ExtUIOp::create(builder, loc, limit.getType(), shift).getResult();
    Value last = arith::SubIOp::create(builder, loc, constant(builder, loc, limit.getType(), extent() - bound.isInclusive), wide);
    require(arith::CmpIOp::create(builder, loc, bound.isSigned ? arith::CmpIPredicate::sle : arith::CmpIPredicate::ule, limit, last));
  }
  for (const RowAccess &access : accesses) {
    Value before = arith::MulIOp::create(builder, loc, shift, constant(builder, loc, i32, access.bytes));
    Value rest = arith::AndIOp::create(builder, loc, arith::SubIOp::create(builder, loc, addressOf(access.base), before),
                                       constant(builder, loc, i32, alignmentOf(access) - 1));
    require(arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, rest, constant(builder, loc, i32, 0)));
  }
  return suits;
}

/// Two versions of what is done with the row; the members stay in the first.
scf::IfOp Row::makeVersions(OpBuilder &builder, Value suits) {
  SmallVector<Operation *> moved;
  for (Operation *op = place; op != end; op = op->getNextNode())
    moved.push_back(op);
  SmallVector<Value> results;
  for (Operation *op : moved)
    for (Value result : op->getResults())
      if (llvm::any_of(result.getUsers(), [&](Operation *user) { return !isMoved(user); }))
        results.push_back(result);
  auto versions = scf::IfOp::create(builder, served->op->getLoc(), TypeRange(ValueRange(results)), suits, /*withElseRegion=*/true);
  IRMapping copies;
  OpBuilder original = versions.getElseBodyBuilder();
  for (Operation *op : moved)
    original.clone(*op, copies);
  for (auto [result, joined] : llvm::zip(results, versions.getResults()))
    result.replaceUsesWithIf(joined, [&](OpOperand &use) { return !isMoved(use.getOwner()); });
  // A branch without results has its terminator already.
  Block *rotated = versions.thenBlock();
  for (Operation *op : moved)
    results.empty() ? op->moveBefore(rotated->getTerminator()) : op->moveBefore(rotated, rotated->end());
  if (!results.empty()) {
    SmallVector<Value> others;
    for (Value result : results)
      others.push_back(copies.lookup(result));
    scf::YieldOp::create(original, versions.getLoc(), others);
    OpBuilder last = OpBuilder::atBlockEnd(rotated);
    scf::YieldOp::create(last, versions.getLoc(), results);
  }
  return versions;
}

/// `i < n` becomes `i >= shift and i < n + shift`.
void Row::rotateBounds(OpBuilder &builder, scf::IfOp versions) {
  using Predicate = arith::CmpIPredicate;
  for (Bound &bound : bounds) {
    Location loc = bound.compare.getLoc();
    Value index = range, limit = bound.scalarLimit, more = shift;
    if (limit.getType() != shift.getType()) {
      more = arith::ExtUIOp::create(builder, loc, limit.getType(), more);
      index = arith::ExtUIOp::create(builder, loc, tt::withShapeOf(limit.getType(), index.getType()), index);
    }
    limit = arith::AddIOp::create(builder, loc, limit, more);
    Predicate below = bound.isSigned ? (bound.isInclusive ? Predicate::sle : Predicate::slt) : (bound.isInclusive ? Predicate::ule : Predicate::ult);
    Value begun = arith::CmpIOp::create(builder, loc, Predicate::uge, range, splat(builder, loc, shift, range.getType()));
    Value open = arith::CmpIOp::create(builder, loc, below, index, splat(builder, loc, limit, index.getType()));
    Value both = arith::AndIOp::create(builder, loc, begun, open);
    bound.compare->getResult(0).replaceUsesWithIf(both, [&](OpOperand &use) { return use.getOwner()->getBlock() == versions.thenBlock(); });
  }
}

/// Whoever computes with the index gets the rotated one.
void Row::rotateIndices(OpBuilder &builder) {
  Location loc = range.getLoc();
  Value rotated;
  auto made = [&](Type type) {
    if (!rotated) {
      Value moved = arith::SubIOp::create(builder, loc, range, splat(builder, loc, shift, range.getType()));
      rotated = arith::AndIOp::create(builder, loc, moved, splat(builder, loc, constant(builder, loc, shift.getType(), extent() - 1), range.getType()));
    }
    return rotated.getType() == type ? rotated : arith::ExtUIOp::create(builder, loc, type, rotated).getResult();
  };
  auto isAccess = [&](Operation *op) {
    return llvm::any_of(accesses, [&](const RowAccess &access) { return access.op->getOperand(0).getDefiningOp() == op; });
  };
  for (Operation *op : members) {
    bool isIndexItself = op->getNumResults() == 1 && isIndex(op->getResult(0));
    bool isOnlyAddress = isAccess(op) && llvm::all_of(op->getUsers(), [](Operation *user) { return isa<tt::LoadOp, tt::StoreOp>(user); });
    if (isIndexItself || isOnlyAddress || boundOf(op))
      continue;
    for (OpOperand &operand : op->getOpOperands())
      if (isIndex(operand.get()))
        operand.set(made(operand.get().getType()));
  }
}

void Row::rotateAccess(const RowAccess &access) {
  OpBuilder builder(access.op);
  Location loc = access.op->getLoc();
  Value back = arith::SubIOp::create(builder, loc, constant(builder, loc, shift.getType(), 0), shift);
  auto begin = tt::BitcastOp::create(builder, loc, access.base.getType(), tt::AddPtrOp::create(builder, loc, access.base, back));
  begin->setAttr(tt::kDivisibility, builder.getI32IntegerAttr(alignmentOf(access)));
  Value pointers = splat(builder, loc, begin, range.getType());
  access.op->setOperand(0, tt::AddPtrOp::create(builder, loc, pointers, range));
  if (RecordRemark remark(access.op, RemarkKind::Row); remark)
    remark.fact("operation", isa<tt::StoreOp>(access.op) ? "store" : "load")
        .fact("elements", alignmentOf(access) / access.bytes)
        .fact("bits", 8 * access.bytes);
}

void Row::rotate() {
  OpBuilder builder(place);
  Value suits = makeShift(builder);
  scf::IfOp versions = makeVersions(builder, suits);
  builder.setInsertionPointToStart(versions.thenBlock());
  rotateIndices(builder);
  rotateBounds(builder, versions);
  for (const RowAccess &access : accesses)
    rotateAccess(access);
}

namespace {
class AlignRowsPass : public compiler::impl::AlignRowsPassBase<AlignRowsPass> {
public:
  using AlignRowsPassBase::AlignRowsPassBase;

  void runOnOperation() override {
    SmallVector<tt::MakeRangeOp> ranges;
    getOperation().walk([&](tt::MakeRangeOp range) {
      ArrayRef<int64_t> shape = tt::shapeOf(range.getType());
      if (shape.size() == 1 && llvm::isPowerOf2_64(shape.front()) && range.getStart() == 0)
        ranges.push_back(range);
    });
    for (tt::MakeRangeOp range : ranges) {
      AxisInfoAnalysis axes(getOperation());
      if (Row row(range, axes, int64_t(32) * numWarps); row.isWorthwhile())
        row.rotate();
    }
    getOperation().walk<WalkOrder::PostOrder, ReverseIterator>([](Operation *op) {
      if (isOpTriviallyDead(op))
        op->erase();
    });
  }
};
} // namespace
