// Atomic operations on global memory, once for each distinct element of a tile, or once a program for a scalar.
//
// Threads that hold an element besides the one that updates it get the old value from that one: by a shuffle where they are lanes of its warp, else through
// shared memory. The order that the operation asks for is the program's: what any of its threads wrote comes before an atomic that releases, and what any of
// them reads comes after one that acquires; the barriers say so, and the memory model's causality carries it on.
#include "compiler/lower/GpuEmitter.h"
#include "compiler/lower/GpuRemarks.h"
#include "compiler/lower/Scratch.h"

using namespace llvm;
namespace tk::lower {

namespace {
/// Either operation.
struct Atomic {
  mlir::Value pointer, value, expected, mask;
  tt::MemSemantic sem;
  tt::MemSyncScope scope;
  std::optional<tt::RMWOp> update; // none: compare and swap

  explicit Atomic(mlir::Operation *op) {
    if (auto rmw = mlir::dyn_cast<tt::AtomicRMWOp>(op)) {
      pointer = rmw.getPtr(), value = rmw.getVal(), mask = rmw.getMask();
      sem = rmw.getSem(), scope = rmw.getScope(), update = rmw.getAtomicRmwOp();
    } else {
      auto swap = mlir::cast<tt::AtomicCASOp>(op);
      pointer = swap.getPtr(), value = swap.getVal(), expected = swap.getCmp(), mask = swap.getMask();
      sem = swap.getSem(), scope = swap.getScope();
    }
  }
  bool releases() const { return sem == tt::MemSemantic::RELEASE || sem == tt::MemSemantic::ACQUIRE_RELEASE; }
  bool acquires() const { return sem == tt::MemSemantic::ACQUIRE || sem == tt::MemSemantic::ACQUIRE_RELEASE; }
};
} // namespace

void GpuEmitter::emitAtomic(mlir::Operation *op) {
  Atomic atomic(op);
  mlir::Value result = op->getResult(0);
  mlir::Type element = tt::elementType(result.getType());
  Type *type = valueType(element);
  Registers pointers = registers(atomic.pointer), items = registers(atomic.value), expected, masks;
  if (atomic.expected)
    expected = registers(atomic.expected);
  if (atomic.mask)
    masks = registers(atomic.mask);
  auto perform = [&](unsigned number, Value *predicate) -> Value * {
    AtomicAccess access;
    access.address = pointers[number];
    access.predicate = bothOf(predicate, atomic.mask ? masks[number] : nullptr);
    access.element = element, access.sem = atomic.sem, access.scope = atomic.scope;
    access.usesResult = !op->use_empty();
    std::string problem;
    Value *old = atomic.update ? target.atomicUpdate(b, access, *atomic.update, toBits(items[number]), problem)
                               : target.atomicSwap(b, access, toBits(expected[number]), toBits(items[number]), problem);
    if (!problem.empty())
      fail(op, problem);
    return old && access.usesResult ? fromBits(old, type) : PoisonValue::get(type);
  };

  Sharing sharing = planSharing(op);
  if (atomic.releases())
    barrier();
  if (!tt::isTile(result.getType())) {
    remarkAccess(op, nullptr, 1, 1, *axes);
    if (sharing == Sharing::Memory)
      return define(result, {once(op, type, [&] { return perform(0, nullptr); })});
    return define(result, {perform(0, b.CreateICmpEQ(thread, word(0)))});
  }

  ttg::TileLayout layout = ttg::layoutOf(result.getType());
  Value *owner = isOwner(layout);
  Registers made(layout.registers());
  for (unsigned number = 0; number < layout.registers(); ++number)
    if (!layout.isDuplicateRegister(number))
      made[number] = perform(number, owner);
  remarkAccess(op, &layout, 1, made.size() - llvm::count(made, nullptr), *axes);
  if (sharing == Sharing::Shuffle) {
    Value *from = b.CreateAnd(lane, word(~layout.freeThreadBits()));
    for (Value *&old : made)
      if (old)
        old = byWords(old, [&](Value *item) { return target.shuffleIndex(b, item, from); });
  } else if (sharing == Sharing::Memory) {
    uint64_t base = scratchOffset(op);
    auto address = [&](unsigned number) { return sharedAddress(base, b.CreateMul(elementIndex(layout, number), word(sharedBytesOf(element)))); };
    auto write = [&] {
      for (auto [number, old] : enumerate(made))
        if (old)
          storeShared(address(number), old);
    };
    if (owner)
      ifThen(owner, write);
    else
      write();
    barrier();
    for (auto [number, old] : enumerate(made))
      if (old)
        old = loadShared(address(number), type);
  }
  if (atomic.acquires() && sharing != Sharing::Memory && !op->use_empty())
    barrier();
  for (unsigned number = 0; number < layout.registers(); ++number)
    for (unsigned lower = 0; !made[number] && lower < number; ++lower)
      if (layout.indexOfRegister(lower) == layout.indexOfRegister(number))
        made[number] = made[lower];
  define(result, std::move(made));
}

} // namespace tk::lower
