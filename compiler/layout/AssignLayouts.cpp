// Gives every tile a layout: tt without layouts becomes ttg.
//
// Anchors decide: memory accesses want neighbouring threads at neighbouring addresses, matrix products want the fragments of their instruction, scans want
// their axis in order. From there a layout is the *home* of what is computed from loaded, multiplied or carried values. Everything that is cheap to compute
// again (ranges, splats, constants and arithmetic on them: mostly offsets and masks) has no home: it is made anew in whichever layout it is needed in. Views
// and repetitions of a value are made from the value in the layout that they need, so that a conversion moves the smaller tile.
//
//   %o = tt.make_range {..} : tensor<1024xi32>                     %o = tt.make_range {..} : tensor<1024xi32, #L>
//   %p = tt.splat %x : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>   %p = tt.splat %x : .. -> tensor<1024x!tt.ptr<f32>, #L>
//   %a = tt.addptr %p, %o                                    ->    %a = tt.addptr %p, %o
//   %v = tt.load %a                                                %v = tt.load %a : tensor<1024x!tt.ptr<f32>, #L>
//   %s = "tt.reduce"(%v) ..                                        %s = "tt.reduce"(%v) ..        where #L: 4 neighbours a thread
#include "compiler/Passes.h"
#include "compiler/layout/AccessLayout.h"
#include "compiler/layout/LayoutRules.h"
#include "compiler/layout/MatrixChoice.h"
#include "compiler/layout/PlainLayouts.h"
#include "compiler/layout/RemarkMatrix.h"
#include "compiler/lower/Scratch.h"
#include "mlir/IR/Iterators.h"
#include "mlir/Pass/Pass.h"
#include <bit>

namespace tk::compiler {
#define GEN_PASS_DEF_ASSIGNLAYOUTSPASS
#include "compiler/Passes.h.inc"
} // namespace tk::compiler

using namespace mlir;
using namespace tk;
using namespace tk::ttg;
using namespace tk::compiler;

namespace {
bool isElementwise(Operation *op) { return op->hasTrait<OpTrait::Elementwise>() && op->getNumResults() == 1 && tt::isTile(op->getResult(0).getType()); }
bool isTileOperand(OpOperand &operand) { return tt::isTile(operand.get().getType()); }

class Assignment {
public:
  Assignment(tt::FuncOp function, const nvidia::Target &target, BlockShape block)
      : function(function), target(target), block(block), context(function.getContext()), axes(function) {}

  void run() {
    for (Block &body : function.getBody())
      decide(body);
    for (Block &body : function.getBody())
      rewrite(body);
    remarkRecomputed();
    // What was cheap and is in nobody's layout has no user left but others of its kind.
    function.walk<WalkOrder::PostOrder, ReverseIterator>([](Operation *op) {
      if (isOpTriviallyDead(op))
        op->erase();
    });
  }

private:
  // ---- what is cheap ----

  /// Computed again wherever it is needed.
  bool isCheap(Value value) {
    if (!tt::isTile(value.getType()))
      return true;
    auto [slot, fresh] = cheap.try_emplace(value, false);
    if (!fresh)
      return slot->second;
    Operation *op = value.getDefiningOp();
    bool result = op && (isa<tt::SplatOp, tt::MakeRangeOp>(op) || isSplatConstant(op) ||
                         ((isView(op) || isElementwise(op)) && llvm::all_of(op->getOperands(), [&](Value operand) { return isCheap(operand); })));
    return cheap[value] = result && costOf(op) <= kCheapCost;
  }
  static bool isSplatConstant(Operation *op) {
    auto constant = dyn_cast<arith::ConstantOp>(op);
    return constant && isa<SplatElementsAttr>(constant.getValue());
  }
  /// One instruction an element, whose operand is narrower: the operand moves instead of the result. (8-bit floats take more to decode than that.)
  static bool isWideningCast(Operation *op) {
    return isa<arith::ExtFOp, arith::ExtSIOp, arith::ExtUIOp, arith::SIToFPOp, arith::UIToFPOp>(op) && isElementwise(op) &&
           tt::elementType(op->getOperand(0).getType()).getIntOrFloatBitWidth() < tt::elementType(op->getResult(0).getType()).getIntOrFloatBitWidth();
  }
  /// More threads hold an element of the tile in `layout` than in `other`.
  bool repeatsMore(Type tile, Attribute layout, Attribute other) {
    return std::popcount(map(layout, tile).freeThreadBits()) > std::popcount(map(other, tile).freeThreadBits());
  }
  /// Rough work of an element, to keep long chains (random numbers, divisions) from being made several times.
  unsigned costOf(Operation *op) {
    auto [slot, fresh] = costs.try_emplace(op, 0);
    if (!fresh)
      return slot->second;
    unsigned cost = isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp, arith::DivFOp>(op) ? 8 : isElementwise(op) ? 1 : 0;
    if (op->getDialect()->getNamespace() == "math")
      cost += 8;
    for (Value operand : op->getOperands())
      if (Operation *source = operand.getDefiningOp(); source && tt::isTile(operand.getType()))
        cost += costOf(source);
    return costs[op] = std::min(cost, 1000u);
  }
  static constexpr unsigned kCheapCost = 48;

  /// What is made in several layouts and is not free.
  void remarkRecomputed() {
    llvm::MapVector<Operation *, unsigned> layouts;
    for (auto &[key, made] : versions)
      if (Operation *op = key.first.getDefiningOp(); op && isCheap(key.first) && made && !made.use_empty())
        ++layouts[op];
    function.walk([&](Operation *op) { // in the order of the program
      unsigned count = layouts.lookup(op), cost = costOf(op);
      if (count < 2 || cost < kNotableCost)
        return;
      if (llvm::any_of(op->getUsers(), [&](Operation *user) { return layouts.lookup(user) == count; }))
        return; // the last of a chain speaks for all of it
      if (RecordRemark remark(op, RemarkKind::Recomputed); remark)
        remark.fact("operation", op->getName().getStringRef().split('.').second).fact("layouts", count).fact("cost", cost);
    });
  }
  static constexpr unsigned kNotableCost = 8;

  // ---- homes ----

  Attribute attribute(const TileLayout &layout) { return LinearAttr::get(context, layout); }
  TileLayout map(Attribute layout, Type tile) { return cast<LayoutAttr>(layout).toTileLayout(tt::shapeOf(tile)); }

  /// The layout in which a value is there for nothing; null when any will do.
  Attribute hint(Value value) {
    if (!tt::isTile(value.getType()) || isCheap(value))
      return {};
    if (Attribute home = homes.lookup(value))
      return home;
    Operation *op = value.getDefiningOp();
    if (!op || !isView(op))
      return {};
    Attribute source = hint(op->getOperand(0));
    if (!source)
      return {};
    std::optional<TileLayout> layout = resultLayout(op, map(source, op->getOperand(0).getType()));
    return layout ? attribute(*layout) : Attribute();
  }
  Attribute hintOf(ValueRange values) {
    for (Value value : values) // accumulators are the dearest to move
      if (Attribute found = hint(value); isa_and_nonnull<MmaAttr>(found))
        return found;
    for (Value value : values)
      if (Attribute found = hint(value))
        return found;
    return {};
  }
  Attribute orDefault(Attribute layout, Type tile) { return layout ? layout : attribute(plainLayout(block, tile)); }
  /// The layout that an access takes its pointers in. A store takes the value where it is when that wastes no memory traffic.
  Attribute accessLayout(Operation *access, ValueRange values) {
    TileLayout best = coalescedLayout(access, axes, block);
    if (Attribute home = hintOf(values)) {
      TileLayout found = map(home, access->getOperand(0).getType());
      if (found == best || (sectorUse(access, found, axes) >= 0.999 * sectorUse(access, best, axes) && found.freeThreadBits() == best.freeThreadBits()))
        return home;
    }
    return attribute(best);
  }

  bool setHome(Value value, Attribute layout) {
    if (!layout || homes.lookup(value) == layout)
      return false;
    homes[value] = layout;
    return true;
  }

  /// With the number of warps that execute each.
  void forEachRegion(WarpSpecializeOp division, function_ref<void(Block &)> visit) {
    visit(division.getDefaultRegion().front());
    for (WarpPartitionOp partition : division.partitions()) {
      BlockShape outer = std::exchange(block, BlockShape{block.laneBits, log2Of(warpsOf(partition))});
      visit(partition.getBody().front());
      block = outer;
    }
  }

  // ---- first walk: decide ----

  void decide(Block &body) {
    for (Operation &op : body)
      decide(&op);
  }

  void decide(Operation *op) {
    if (auto loop = dyn_cast<scf::ForOp>(op))
      return decideFor(loop);
    if (auto loop = dyn_cast<scf::WhileOp>(op))
      return decideWhile(loop);
    if (auto branch = dyn_cast<scf::IfOp>(op)) {
      for (Region &region : branch->getRegions())
        for (Block &body : region)
          decide(body);
      for (OpResult result : branch.getResults())
        if (tt::isTile(result.getType())) {
          unsigned i = result.getResultNumber();
          setHome(result, orDefault(hintOf({branch.thenYield().getOperand(i), branch.elseYield().getOperand(i)}), result.getType()));
        }
      return;
    }
    if (auto division = dyn_cast<WarpSpecializeOp>(op)) {
      forEachRegion(division, [&](Block &body) { decide(body); });
      for (auto [result, yielded] : llvm::zip(division.getResults(), division.yield().getOperands()))
        if (tt::isTile(result.getType()))
          setHome(result, orDefault(hint(yielded), result.getType()));
      return;
    }
    if (auto load = dyn_cast<tt::LoadOp>(op); load && tt::isTile(load.getType())) {
      setHome(load.getResult(), attribute(coalescedLayout(op, axes, block)));
    } else if (auto atomic = dyn_cast<tt::AtomicRMWOp>(op); atomic && tt::isTile(atomic.getType())) {
      setHome(atomic.getResult(), accessLayout(op, {atomic.getVal()}));
    } else if (auto swap = dyn_cast<tt::AtomicCASOp>(op); swap && tt::isTile(swap.getType())) {
      setHome(swap.getResult(), accessLayout(op, {swap.getVal(), swap.getCmp()}));
    } else if (auto dot = dyn_cast<tt::DotOp>(op)) {
      std::string reason;
      MmaAttr unit = chooseMatrixUnit(dot, target, 1u << block.warpBits, placesOf(dot), reason);
      setHome(dot.getResult(), unit ? Attribute(unit) : attribute(multiplyAddLayout(block, dot.getType())));
    } else if (auto reduce = dyn_cast<tt::ReduceOp>(op)) {
      Attribute source = reductionSource(reduce);
      sources[op] = source;
      AxisBits axis = axisBitsOf(tt::shapeOf(reduce.getSrcs()[0].getType()))[reduce.getAxis()];
      for (Value result : reduce.getResult())
        if (tt::isTile(result.getType()))
          setHome(result, attribute(map(source, reduce.getSrcs()[0].getType()).withoutAxis(axis)));
    } else if (auto scan = dyn_cast<tt::ScanOp>(op)) {
      for (Value result : scan.getResult())
        setHome(result, attribute(scanLayout(block, result.getType(), scan.getAxis())));
    } else if (auto histogram = dyn_cast<tt::HistogramOp>(op)) {
      sources[op] = orDefault(hint(histogram.getSrc()), histogram.getSrc().getType());
      setHome(histogram.getResult(), attribute(plainLayout(block, histogram.getType())));
    } else if (auto gather = dyn_cast<tt::GatherOp>(op)) {
      sources[op] = orDefault(hint(gather.getSrc()), gather.getSrc().getType());
      setHome(gather.getResult(), orDefault(hint(gather.getIndices()), gather.getType()));
    } else if (auto join = dyn_cast<tt::JoinOp>(op)) {
      Attribute source = orDefault(hintOf(op->getOperands()), join.getLhs().getType());
      sources[op] = source;
      TileLayout layout = map(source, join.getLhs().getType()).withAxis({0, 1});
      layout.reg.insert(layout.reg.begin(), 1);
      setHome(join.getResult(), attribute(layout));
    } else if (auto split = dyn_cast<tt::SplitOp>(op)) {
      Attribute source = splitSource(split);
      sources[op] = source;
      for (Value result : op->getResults())
        setHome(result, attribute(map(source, split.getSrc().getType()).restrictedTo(~uint32_t(1))));
    } else if (auto cat = dyn_cast<tt::CatOp>(op)) {
      Attribute source = orDefault(hintOf(op->getOperands()), cat.getLhs().getType());
      sources[op] = source;
      TileLayout layout = map(source, cat.getLhs().getType());
      layout.reg.push_back(uint32_t(ShapedType::getNumElements(tt::shapeOf(cat.getLhs().getType()))));
      setHome(cat.getResult(), attribute(layout));
    } else if (isElementwise(op) && !isCheap(op->getResult(0))) {
      setHome(op->getResult(0), orDefault(hintOf(op->getOperands()), op->getResult(0).getType()));
    } else if (isa<arith::ConstantOp, tt::SplatOp, tt::MakeRangeOp>(op) && tt::isTile(op->getResult(0).getType()) && !isCheap(op->getResult(0))) {
      setHome(op->getResult(0), attribute(plainLayout(block, op->getResult(0).getType())));
    }
  }

  Attribute reductionSource(tt::ReduceOp reduce) {
    Type tile = reduce.getSrcs()[0].getType();
    if (Attribute source = hintOf(reduce.getSrcs())) {
      TileLayout layout = map(source, tile);
      AxisBits axis = axisBitsOf(tt::shapeOf(tile))[reduce.getAxis()];
      if (layout.isPermutation() && lower::planReduction(layout, axis, lower::isCommutative(reduce.getCombineOp())).endsWithWarps())
        return source;
    }
    return attribute(plainLayout(block, tile));
  }

  /// The last axis in a register, on its own.
  Attribute splitSource(tt::SplitOp split) {
    Type tile = split.getSrc().getType();
    if (Attribute source = hint(split.getSrc())) {
      TileLayout layout = map(source, tile);
      uint32_t others = 0;
      unsigned owners = 0;
      for (uint32_t base : layout.reg)
        base == 1 ? void(++owners) : void(others |= base);
      for (auto *group : {&layout.lane, &layout.warp})
        for (uint32_t base : *group)
          others |= base;
      if (owners == 1 && !(others & 1))
        return source;
    }
    TileLayout half = plainLayout(block, split.getOutLHS().getType()).withAxis({0, 1});
    half.reg.insert(half.reg.begin(), 1);
    return attribute(half);
  }

  /// Carried values live where the body leaves them, else where they start; deciding the body again then settles what depends on them.
  void decideFor(scf::ForOp loop) {
    bool carriesTiles = llvm::any_of(loop.getRegionIterArgs(), [](Value value) { return tt::isTile(value.getType()); });
    for (unsigned round = 0; round < 4; ++round) {
      decide(*loop.getBody());
      bool changed = false;
      for (auto [argument, init, next] : llvm::zip(loop.getRegionIterArgs(), loop.getInitArgs(), loop.getBody()->getTerminator()->getOperands())) {
        if (!tt::isTile(argument.getType()))
          continue;
        Attribute layout = hintOf({next, init});
        changed |= setHome(argument, layout || round == 0 ? layout : attribute(plainLayout(block, argument.getType())));
      }
      if (!carriesTiles || (!changed && round > 0))
        break;
    }
    for (auto [argument, result] : llvm::zip(loop.getRegionIterArgs(), loop.getResults()))
      if (tt::isTile(argument.getType())) {
        setHome(argument, orDefault(homes.lookup(argument), argument.getType()));
        setHome(result, homes.lookup(argument));
      }
  }

  void decideWhile(scf::WhileOp loop) {
    for (unsigned round = 0; round < 4; ++round) {
      bool changed = false;
      for (auto [argument, init, next] : llvm::zip(loop.getBeforeArguments(), loop.getInits(), loop.getYieldOp().getOperands()))
        if (tt::isTile(argument.getType()))
          changed |= setHome(argument, orDefault(hintOf({next, init}), argument.getType()));
      decide(*loop.getBeforeBody());
      for (auto [argument, result, passed] : llvm::zip(loop.getAfterArguments(), loop.getResults(), loop.getConditionOp().getArgs()))
        if (tt::isTile(argument.getType())) {
          changed |= setHome(argument, orDefault(hint(passed), argument.getType()));
          setHome(result, homes.lookup(argument));
        }
      decide(*loop.getAfterBody());
      if (!changed)
        break;
    }
  }

  // ---- second walk: rewrite ----

  /// `value` in a layout, made after its definition when it is not there yet.
  Value get(Value value, Attribute layout) {
    if (Attribute home = homes.lookup(value); home && !isCheap(value)) {
      if (home == layout)
        return value;
      if (Operation *op = value.getDefiningOp(); op && isWideningCast(op) && !repeatsMore(value.getType(), layout, home))
        return computed(value, layout);
      auto [slot, fresh] = versions.try_emplace({value, layout}, Value());
      if (!fresh)
        return slot->second;
      OpBuilder builder = after(value);
      Value converted = ConvertLayoutOp::create(builder, value.getLoc(), withLayout(value.getType(), layout), value);
      return versions[{value, layout}] = converted;
    }
    return computed(value, layout);
  }
  /// `value` computed again from its operands in a layout.
  Value computed(Value value, Attribute layout) {
    auto [slot, fresh] = versions.try_emplace({value, layout}, Value());
    if (!fresh)
      return slot->second;
    Operation *op = value.getDefiningOp();
    TileLayout wanted = map(layout, value.getType());
    SmallVector<Value> operands;
    for (OpOperand &operand : op->getOpOperands())
      operands.push_back(isTileOperand(operand) ? get(operand.get(), isElementwise(op) ? layout : attribute(operandLayout(op, wanted))) : operand.get());
    OpBuilder builder = after(value);
    for (Value operand : operands) // a conversion of an operand may stand behind the original
      if (Operation *source = operand.getDefiningOp();
          source && source->getBlock() == builder.getInsertionBlock() && !source->isBeforeInBlock(&*builder.getInsertionPoint()))
        builder.setInsertionPointAfter(source);
    Operation *copy = builder.clone(*op);
    copy->setOperands(operands);
    setLayout(copy->getResult(0), layout);
    return versions[{value, layout}] = copy->getResult(0);
  }
  static OpBuilder after(Value value) {
    OpBuilder builder(value.getContext());
    builder.setInsertionPointAfterValue(value);
    return builder;
  }
  static void setLayout(Value value, Attribute layout) {
    value.setType(withLayout(value.getType(), layout));
    if (auto constant = value.getDefiningOp<arith::ConstantOp>())
      constant.setValueAttr(cast<DenseElementsAttr>(constant.getValue()).reshape(cast<ShapedType>(value.getType())));
  }

  void rewrite(Block &body) {
    for (Operation &op : llvm::make_early_inc_range(body))
      if (!isa<ConvertLayoutOp>(op))
        rewrite(&op);
  }

  void demand(Operation *op, Attribute layout) {
    for (OpOperand &operand : op->getOpOperands())
      if (isTileOperand(operand))
        operand.set(get(operand.get(), layout));
  }
  void place(ValueRange values) {
    for (Value value : values)
      if (tt::isTile(value.getType()))
        setLayout(value, homes.lookup(value));
  }
  /// Terminators and initial values: operand i takes the home of owner i.
  void demandHomes(MutableArrayRef<OpOperand> operands, ValueRange owners) {
    for (auto [operand, owner] : llvm::zip(operands, owners))
      if (tt::isTile(operand.get().getType()))
        operand.set(get(operand.get(), homes.lookup(owner)));
  }

  void rewrite(Operation *op) {
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      demandHomes(loop.getInitArgsMutable(), loop.getRegionIterArgs());
      place(loop.getRegionIterArgs());
      place(loop.getResults());
      rewrite(*loop.getBody());
      demandHomes(loop.getBody()->getTerminator()->getOpOperands(), loop.getRegionIterArgs());
    } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
      demandHomes(loop.getInitsMutable(), loop.getBeforeArguments());
      place(loop.getBeforeArguments());
      place(loop.getAfterArguments());
      place(loop.getResults());
      rewrite(*loop.getBeforeBody());
      demandHomes(loop.getConditionOp().getArgsMutable(), loop.getAfterArguments());
      rewrite(*loop.getAfterBody());
      demandHomes(loop.getYieldOp()->getOpOperands(), loop.getBeforeArguments());
    } else if (auto branch = dyn_cast<scf::IfOp>(op)) {
      place(branch.getResults());
      for (Region &region : branch->getRegions())
        for (Block &body : region) {
          rewrite(body);
          demandHomes(body.getTerminator()->getOpOperands(), branch.getResults());
        }
    } else if (auto division = dyn_cast<WarpSpecializeOp>(op)) {
      place(division.getResults());
      forEachRegion(division, [&](Block &body) { rewrite(body); });
      demandHomes(division.yield()->getOpOperands(), division.getResults());
    } else if (isa<tt::LoadOp, tt::AtomicRMWOp, tt::AtomicCASOp>(op)) {
      if (!tt::isTile(op->getResult(0).getType()))
        return;
      demand(op, homes.lookup(op->getResult(0)));
      place(op->getResults());
    } else if (auto store = dyn_cast<tt::StoreOp>(op)) {
      if (tt::isTile(store.getPtr().getType()))
        demand(op, accessLayout(op, {store.getValue()}));
    } else if (auto dot = dyn_cast<tt::DotOp>(op)) {
      rewriteDot(dot);
    } else if (isa<tt::ReduceOp, tt::HistogramOp, tt::JoinOp, tt::SplitOp, tt::CatOp>(op)) {
      demand(op, sources.lookup(op));
      place(op->getResults());
    } else if (isa<tt::ScanOp>(op)) {
      demand(op, homes.lookup(op->getResult(0)));
      place(op->getResults());
    } else if (auto gather = dyn_cast<tt::GatherOp>(op)) {
      gather.getSrcMutable().assign(get(gather.getSrc(), sources.lookup(op)));
      gather.getIndicesMutable().assign(get(gather.getIndices(), homes.lookup(gather.getResult())));
      place(op->getResults());
    } else if (isa<tt::UnsplatOp, tt::PrintOp, tt::AssertOp>(op)) {
      for (OpOperand &operand : op->getOpOperands())
        if (isTileOperand(operand))
          operand.set(get(operand.get(), orDefault(hint(operand.get()), operand.get().getType())));
    } else if (op->getNumResults() == 1 && homes.contains(op->getResult(0)) && !isCheap(op->getResult(0))) {
      demand(op, homes.lookup(op->getResult(0)));
      place(op->getResults());
    }
  }

  /// The axis of a matrix along which a thread has neighbours; `otherwise` for what is made in any layout.
  unsigned fastAxisOf(Value matrix, unsigned otherwise) {
    Attribute home = hint(matrix);
    ArrayRef<int64_t> shape = tt::shapeOf(matrix.getType());
    if (!home || shape.size() != 2)
      return otherwise;
    TileLayout layout = map(home, matrix.getType());
    AxisBits columns = axisBitsOf(shape)[1];
    for (auto *group : {&layout.reg, &layout.lane})
      for (uint32_t base : *group)
        if (base)
          return base & columns.mask() ? 1 : 0;
    return otherwise;
  }
  OperandPlaces placesOf(tt::DotOp dot) { return {fastAxisOf(dot.getA(), 1), fastAxisOf(dot.getB(), 0)}; }

  /// The operand in shared memory, as wgmma reads it.
  Value inSharedMemory(Value operand, unsigned depthAxis) {
    MLIRContext *context = operand.getContext();
    Type element = tt::elementType(operand.getType());
    unsigned bytes = tt::bytesOf(element), fast = bytes == 2 ? fastAxisOf(operand, depthAxis) : depthAxis;
    ArrayRef<int64_t> shape = tt::shapeOf(operand.getType());
    SharedAttr layout = swizzledLayout(context, shape, fast, bytes);
    if (!layout)
      layout = swizzledLayout(context, shape, depthAxis, bytes);
    auto [slot, fresh] = versions.try_emplace({operand, layout}, Value());
    if (!fresh)
      return slot->second;
    Value tile = get(operand, orDefault(hint(operand), operand.getType()));
    OpBuilder builder = after(tile);
    Value memory = LocalAllocOp::create(builder, operand.getLoc(), MemDescType::get(context, shape, element, layout, 1, /*isMutable=*/false), tile);
    return versions[{operand, layout}] = memory;
  }

  /// Is the operand a loaded tile, or a view of one? Then it goes to shared memory without passing through registers.
  static bool isLoaded(Value operand) {
    Operation *op = operand.getDefiningOp();
    while (op && isa<tt::TransOp>(op))
      op = op->getOperand(0).getDefiningOp();
    return isa_and_nonnull<tt::LoadOp>(op);
  }

  /// As it stands here the product is waited for at once; `OverlapProducts` looks for more to do meanwhile.
  void rewriteWarpgroups(tt::DotOp dot, MmaAttr unit) {
    Value a = dot.getA(), sum = get(dot.getC(), unit);
    bool isLeftInRegisters = !isLoaded(a) && tt::bytesOf(tt::elementType(a.getType())) <= 4;
    if (isLeftInRegisters)
      a = get(a, attribute(matrixLayout(unit, MatrixOperand::A, tt::shapeOf(a.getType()), 4 / tt::bytesOf(tt::elementType(a.getType())))));
    else
      a = inSharedMemory(a, 1);
    Value b = inSharedMemory(dot.getB(), 0);
    OpBuilder builder(dot);
    Value product = WarpgroupDotOp::create(builder, dot.getLoc(), sum.getType(), a, b, sum, dot.getMaxNumImpreciseAcc());
    Value done = WarpgroupWaitOp::create(builder, dot.getLoc(), product, 0).getResult(0);
    homes[done] = unit;
    dot.replaceAllUsesWith(done); // and goes with the dead
  }

  void rewriteDot(tt::DotOp dot) {
    Attribute home = homes.lookup(dot.getResult());
    if (auto unit = dyn_cast<MmaAttr>(home); unit && unit.getUnit() == MatrixUnit::Wgmma)
      return rewriteWarpgroups(dot, unit);
    dot.getCMutable().assign(get(dot.getC(), home));
    if (auto unit = dyn_cast<MmaAttr>(home)) {
      unsigned packed = std::max(1u, 32 / tt::elementType(dot.getA().getType()).getIntOrFloatBitWidth());
      Type a = dot.getA().getType(), b = dot.getB().getType();
      dot.getAMutable().assign(get(dot.getA(), attribute(matrixLayout(unit, MatrixOperand::A, tt::shapeOf(a), packed))));
      dot.getBMutable().assign(get(dot.getB(), attribute(matrixLayout(unit, MatrixOperand::B, tt::shapeOf(b), packed))));
    } else {
      if (RecordRemark remark(dot, RemarkKind::Matrix); remark) {
        std::string reason;
        chooseMatrixUnit(dot, target, 1u << block.warpBits, placesOf(dot), reason);
        describeProduct(remark, dot, "multiply-adds");
        remark.fact("reason", reason);
      }
      // The lowering reads both from shared memory, from whatever layout they are in.
      dot.getAMutable().assign(get(dot.getA(), orDefault(hint(dot.getA()), dot.getA().getType())));
      dot.getBMutable().assign(get(dot.getB(), orDefault(hint(dot.getB()), dot.getB().getType())));
    }
    place({dot.getResult()});
  }

  tt::FuncOp function;
  const nvidia::Target &target;
  BlockShape block;
  MLIRContext *context;
  AxisInfoAnalysis axes;
  DenseMap<Value, bool> cheap;
  DenseMap<Operation *, unsigned> costs;
  DenseMap<Value, Attribute> homes;
  DenseMap<Operation *, Attribute> sources; // layout of the operands where it is not that of the result
  DenseMap<std::pair<Value, Attribute>, Value> versions;
};

class AssignLayoutsPass : public compiler::impl::AssignLayoutsPassBase<AssignLayoutsPass> {
public:
  using AssignLayoutsPassBase::AssignLayoutsPassBase;

  void runOnOperation() override {
    tt::FuncOp function = getOperation();
    const nvidia::Target *found = nvidia::findTarget(target);
    if (!found || numWarps == 0 || (numWarps & (numWarps - 1))) {
      function.emitError() << "needs a target and a power of two of warps, found `" << target << "` and " << numWarps;
      return signalPassFailure();
    }
    Assignment(function, *found, BlockShape{5, log2Of(numWarps)}).run();
    Builder builder(&getContext());
    function->setAttr(kNumWarpsName, builder.getI32IntegerAttr(numWarps));
  }
};
} // namespace
