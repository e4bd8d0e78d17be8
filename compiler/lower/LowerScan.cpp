// Inclusive scans with any associative combine region.
//
// The bits of the axis are taken from the lowest up, in runs that lie in one kind of place. A run in registers is scanned one after the other, a run in lanes by shuffles of
// doubling distance, a run in warps through shared memory. Only the first run touches every element: from then on a thread carries the total of its block of
// neighbours and the combination of all that stands before the block (the prefix), which is combined with each element at the very end.
//
//   8 elements, 2 a thread, 4 lanes:     a ab | c cd | e ef | g gh      first run
//   totals scanned over lanes, moved up:   -     ab    abcd   abcdef    prefix, not there in the first lane
//
// The combine function need not be commutative and has no neutral element, so a prefix comes with the predicate that there is one. A scan in reverse is the same with
// positions counted from the end.
#include "compiler/lower/GpuEmitter.h"
#include "compiler/lower/Scratch.h"

using namespace llvm;
namespace tk::lower {

struct GpuEmitter::Scan {
  using Item = SmallVector<Value *, 2>; // a value for each operand
  enum class Place { Register, Lane, Warp };
  /// Neighbouring bits of the axis in places of one kind; `bits[i]` is the bit of the place's number, neighbours themselves in lanes.
  struct Run {
    Place place;
    unsigned begin; // bit of the index
    SmallVector<unsigned> bits;
    unsigned size() const { return 1u << bits.size(); }
    /// The number's bits of the element at `position` in order of the scan.
    unsigned at(unsigned position, bool reverse) const {
      position = reverse ? size() - 1 - position : position;
      unsigned number = 0;
      for (auto [i, bit] : enumerate(bits))
        number |= (position >> i & 1) << bit;
      return number;
    }
    unsigned mask() const { return at(size() - 1, false); }
  };
  struct Prefix {
    Item value;              // empty: nothing stands before
    Value *exists = nullptr; // null: always
  };

  Scan(GpuEmitter &emitter, tt::ScanOp op)
      : e(emitter), b(emitter.b), op(op), reverse(op.getReverse()), hasEffects(!mlir::isMemoryEffectFree(op)), layout(ttg::layoutOf(op.getSrcs()[0].getType())),
        axis(ttg::axisBitsOf(tt::shapeOf(op.getSrcs()[0].getType()))[op.getAxis()]) {
    for (auto [bit, basis] : enumerate(layout.reg))
      repeated |= basis ? 0 : 1u << bit;
  }

  void emit() {
    if (!findRuns())
      return e.fail(op, "internal error: the layout of a scan does not hold its axis in order");
    unsigned next = 0;
    if (!runs.empty() && runs[0].place == Place::Register)
      first = runs[next++].mask();
    scanFirst();
    done = first | repeated;
    for (; next < runs.size() && e.error.empty(); ++next) {
      const Run &run = runs[next];
      bool isLast = next + 1 == runs.size();
      if (run.place == Place::Register)
        scanRegisters(run);
      else if (run.place == Place::Lane)
        scanLanes(run, isLast || runs[next + 1].place == Place::Warp);
      else
        scanWarps(run, isLast);
    }
    finish();
  }

private:
  bool findRuns() {
    if (!layout.isPermutation())
      return false;
    for (unsigned bit = axis.begin; bit < axis.begin + axis.count; ++bit) {
      bool found = false;
      auto look = [&](Place place, ArrayRef<uint32_t> bases) {
        auto basis = llvm::find(bases, 1u << bit);
        if (basis == bases.end())
          return;
        found = true;
        unsigned number = basis - bases.begin();
        bool goesOn = !runs.empty() && runs.back().place == place && (place != Place::Lane || runs.back().bits.back() + 1 == number);
        if (!goesOn)
          runs.push_back({place, bit, {}});
        runs.back().bits.push_back(number);
      };
      look(Place::Register, layout.reg);
      look(Place::Lane, layout.lane);
      look(Place::Warp, layout.warp);
      if (!found)
        return false;
    }
    return true;
  }

  /// All register numbers in which the bits of `without` are 0.
  template <typename Function> void forEachRegister(unsigned without, Function function) {
    for (unsigned number = 0; number < layout.registers(); ++number)
      if (!(number & without))
        function(number);
  }

  // ---- combination ----

  static Item itemOf(ArrayRef<Value *> values) { return Item(values.begin(), values.end()); }

  /// combine(left, right), or `otherwise` where `when` is false. An assertion in the region is only for real elements, so that such a region is jumped over.
  /// `ofTotals`: threads along the axis that know the same totals combine the same.
  Item combine(const Item &left, const Item &right, Value *when = nullptr, const Item &otherwise = {}, bool ofTotals = false) {
    uint32_t free = layout.freeThreadBits(), laneMask = (1u << layout.lane.size()) - 1;
    Value *owner = hasEffects ? e.areZero((free & laneMask) | (ofTotals ? doneLanes : 0), free >> layout.lane.size() | (ofTotals ? doneWarps : 0)) : nullptr;
    SmallVector<Value *> operands(left.begin(), left.end());
    operands.append(right.begin(), right.end());
    if (!when)
      return itemOf(e.combine(op.getCombineOp(), operands, owner));
    Item result;
    if (!hasEffects) {
      for (auto [now, other] : zip(e.combine(op.getCombineOp(), operands, owner), otherwise))
        result.push_back(b.CreateSelect(when, now, other));
      return result;
    }
    BasicBlock *from = b.GetInsertBlock(), *yes = BasicBlock::Create(e.context, "combine", e.function), *after = BasicBlock::Create(e.context, "combined", e.function);
    b.CreateCondBr(when, yes, after);
    b.SetInsertPoint(yes);
    SmallVector<Value *> made = e.combine(op.getCombineOp(), operands, owner);
    BasicBlock *end = b.GetInsertBlock();
    b.CreateBr(after);
    b.SetInsertPoint(after);
    for (auto [now, other] : zip(made, otherwise)) {
      PHINode *phi = b.CreatePHI(now->getType(), 2);
      phi->addIncoming(now, end);
      phi->addIncoming(other, from);
      result.push_back(phi);
    }
    return result;
  }
  Item select(Value *condition, const Item &yes, const Item &no) {
    Item result;
    for (auto [left, right] : zip(yes, no))
      result.push_back(b.CreateSelect(condition, left, right));
    return result;
  }
  /// `before` stands before what `prefix` holds.
  void prepend(const Prefix &before, Prefix &prefix) {
    if (prefix.value.empty()) {
      prefix = before;
    } else if (!before.exists) {
      prefix = {combine(before.value, prefix.value, prefix.exists, before.value), nullptr};
    } else if (!prefix.exists) {
      prefix.value = combine(before.value, prefix.value, before.exists, prefix.value);
    } else {
      Item either = select(before.exists, before.value, prefix.value);
      prefix = {combine(before.value, prefix.value, b.CreateAnd(before.exists, prefix.exists), either), b.CreateOr(before.exists, prefix.exists)};
    }
  }
  /// The same for the prefixes of all elements of the block that register `block` stands for.
  void prependToBlock(const Prefix &before, unsigned block) {
    forEachRegister(first | repeated, [&](unsigned number) {
      if ((number & ~done) == block)
        prepend(before, prefixes[number]);
    });
  }
  Item shuffled(const Item &item, function_ref<Value *(Value *)> move) {
    Item result;
    for (Value *value : item)
      result.push_back(e.byWords(value, move));
    return result;
  }

  // ---- runs ----

  void scanFirst() {
    locals.resize(layout.registers());
    totals.resize(layout.registers());
    prefixes.resize(layout.registers());
    std::vector<Registers> sources; // copies, since combining defines values
    for (mlir::Value source : op.getSrcs())
      sources.push_back(e.registers(source));
    unsigned count = first ? runs[0].size() : 1;
    forEachRegister(first | repeated, [&](unsigned block) {
      Item running;
      for (unsigned position = 0; position < count; ++position) {
        unsigned number = block | (first ? runs[0].at(position, reverse) : 0);
        Item own;
        for (const Registers &source : sources)
          own.push_back(source[number]);
        running = position ? combine(running, own) : own;
        locals[number] = running;
      }
      totals[block] = running;
    });
  }

  void scanRegisters(const Run &run) {
    forEachRegister(done | run.mask(), [&](unsigned block) {
      Item running = totals[block | run.at(0, reverse)];
      for (unsigned position = 1; position < run.size(); ++position) {
        unsigned part = block | run.at(position, reverse);
        prependToBlock({running, nullptr}, part);
        running = combine(running, totals[part], nullptr, {}, true);
      }
      totals[block] = running;
    });
    done |= run.mask();
  }

  /// `onlyLast`: nothing but the write to shared memory, from the last lane, needs the total of the run.
  void scanLanes(const Run &run, bool onlyLast) {
    unsigned low = run.bits[0];
    SmallVector<uint32_t> bases(layout.lane.size(), 0);
    for (auto [i, bit] : enumerate(run.bits))
      bases[bit] = 1u << i;
    Value *position = e.threadIndex(bases, {});
    auto hasLaneBefore = [&](unsigned distance) {
      return reverse ? b.CreateICmpULT(position, e.word(run.size() - distance)) : b.CreateICmpUGE(position, e.word(distance));
    };
    auto fromBefore = [&](const Item &item, unsigned distance) {
      unsigned lanes = distance << low;
      return shuffled(item, [&](Value *value) { return reverse ? e.target.shuffleIndex(b, value, b.CreateAnd(b.CreateAdd(e.lane, e.word(lanes)), e.target.lanes() - 1)) : e.target.shuffleUp(b, value, lanes); });
    };
    forEachRegister(done, [&](unsigned block) {
      Item inclusive = totals[block];
      for (unsigned distance = 1; distance < run.size(); distance *= 2) {
        Item before = fromBefore(inclusive, distance);
        inclusive = combine(before, inclusive, hasLaneBefore(distance), inclusive, true);
      }
      prependToBlock({fromBefore(inclusive, 1), hasLaneBefore(1)}, block);
      if (!onlyLast) {
        Value *last = reverse ? b.CreateAnd(e.lane, e.word(~run.mask())) : b.CreateOr(e.lane, e.word(run.mask()));
        inclusive = shuffled(inclusive, [&](Value *value) { return e.target.shuffleIndex(b, value, last); });
      }
      totals[block] = inclusive;
    });
    doneLanes |= run.mask();
    if (onlyLast && !reverse)
      writingLanes = run.mask();
  }

  void scanWarps(const Run &run, bool isLast) {
    // A total's place is the index without the bits of the axis that lie below the run.
    uint32_t below = ttg::AxisBits{axis.begin, run.begin - axis.begin}.mask();
    ttg::TileLayout slots = layout.restrictedTo(~below), line = slots;
    for (unsigned bit : run.bits)
      line.warp[bit] = 0;
    auto placeOf = [&](uint32_t index) {
      ttg::TileLayout single;
      single.lane = {index};
      return single.restrictedTo(~below).lane.front();
    };
    auto placeOfWarp = [&](unsigned position) {
      return ttg::TileLayout::apply(slots.warp, run.at(position, reverse));
    };
    SmallVector<uint64_t> offsets;
    uint64_t bytes = e.scratchOffset(op);
    for (mlir::Value source : op.getSrcs()) {
      offsets.push_back(bytes);
      bytes += scanTotalsBytes(source.getType(), run.begin - axis.begin);
    }
    // The thread's part and the register's share no bits.
    auto address = [&](unsigned operand, Value *base, uint32_t place) {
      unsigned size = sharedBytesOf(tt::elementType(op.getSrcs()[operand].getType()));
      return e.sharedAddress(offsets[operand] + uint64_t(place) * size, b.CreateMul(base, e.word(size), "", true, true));
    };

    if (sharesScratch)
      e.barrier();
    sharesScratch = true;
    // One thread of those that know a total writes it.
    unsigned free = layout.freeThreadBits(), laneMask = doneLanes | (free & ((1u << layout.lane.size()) - 1)), warpMask = doneWarps | free >> layout.lane.size();
    Value *writes = laneMask ? b.CreateICmpEQ(b.CreateAnd(e.lane, e.word(laneMask)), e.word(writingLanes)) : nullptr;
    if (warpMask)
      writes = e.bothOf(writes, b.CreateICmpEQ(b.CreateAnd(e.warp, e.word(warpMask)), e.word(0)));
    auto write = [&] {
      Value *base = e.threadIndex(slots.lane, slots.warp);
      forEachRegister(done, [&](unsigned block) {
        for (auto [operand, value] : enumerate(totals[block]))
          e.storeShared(address(operand, base, placeOf(layout.indexOfRegister(block))), value);
      });
    };
    writes ? e.ifThen(writes, write) : write();
    e.barrier();

    SmallVector<uint32_t> bases(layout.warp.size(), 0);
    for (auto [i, bit] : enumerate(run.bits))
      bases[bit] = 1u << i;
    Value *position = e.threadIndex({}, bases), *base = e.threadIndex(line.lane, line.warp);
    if (reverse)
      position = b.CreateXor(position, run.size() - 1);
    unsigned known = run.size() - (isLast ? 1 : 0);
    doneWarps |= run.mask();
    forEachRegister(done, [&](unsigned block) {
      Item running, before;
      for (unsigned k = 0; k < known; ++k) {
        Item total;
        for (unsigned operand = 0; operand < op.getSrcs().size(); ++operand)
          total.push_back(e.loadShared(address(operand, base, placeOf(layout.indexOfRegister(block)) ^ placeOfWarp(k)), totals[block][operand]->getType()));
        running = k ? combine(running, total, nullptr, {}, true) : total;
        if (k + 1 < run.size())
          before = k ? select(b.CreateICmpUGT(position, e.word(k)), running, before) : running;
      }
      prependToBlock({before, b.CreateICmpNE(position, e.word(0))}, block);
      totals[block] = running;
    });
    writingLanes = 0;
  }

  void finish() {
    SmallVector<Registers> results(op.getSrcs().size(), Registers(layout.registers()));
    for (unsigned number = 0; number < layout.registers() && e.error.empty(); ++number) {
      if (!(number & repeated)) {
        const Prefix &prefix = prefixes[number & ~first];
        if (!prefix.value.empty())
          locals[number] = combine(prefix.value, locals[number], prefix.exists, locals[number]);
      }
      for (auto [result, value] : zip(results, locals[number & ~repeated]))
        result[number] = value;
    }
    if (e.error.empty())
      for (auto [result, made] : zip(op.getResult(), results))
        e.define(result, std::move(made));
  }

  GpuEmitter &e;
  IRBuilder<> &b;
  tt::ScanOp op;
  bool reverse, hasEffects;
  ttg::TileLayout layout;
  ttg::AxisBits axis;
  SmallVector<Run> runs;
  unsigned repeated = 0;                                // register bits that don't matter
  unsigned first = 0;                                   // register bits of the first run
  unsigned done = 0;                                    // register bits that the totals have been made over, and those that don't matter
  unsigned doneLanes = 0, doneWarps = 0;                // the same for lanes and warps
  unsigned writingLanes = 0;                            // value of the done lane bits in a lane that has the totals
  bool sharesScratch = false;
  std::vector<Item> locals, totals;                     // by register; totals by those with the done bits 0
  std::vector<Prefix> prefixes;                         // by register with the bits of the first run 0
};

void GpuEmitter::emitScan(tt::ScanOp op) { Scan(*this, op).emit(); }

} // namespace tk::lower
