// Atomic operations, one element after another in row-major order, returning the old values.
//
// Programs run in order here; another execution may interleave them otherwise. Integer results are taken as they come. A sum of floats is bounded by what any
// order of its addends can give (AtomicSum); a value returned by such an addition is uncertain once the order is free.
#include "compiler/interpret/ErrorBound.h"
#include "dialects/tt/TT.h"
#include "llvm/ADT/TypeSwitch.h"
#include <fmt/format.h>

using namespace mlir;

namespace tk::interpret {
namespace {

bool accessibleAtomic(Machine &m, const Instruction &i, mlir::Type type, size_t element, uint64_t address, unsigned bytes) {
  std::string where;
  if (!m.memory.accessible(address, bytes))
    where = fmt::format("the access of {} bytes {}", bytes, m.memory.describe(address, bytes));
  else if (address % bytes)
    where = fmt::format("the address {:#x} is not aligned to {} bytes", address, bytes);
  else
    return true;
  m.fault(i, fmt::format("atomic{} in {}: {}", m.elementName(type, element), m.programName(), where));
  return false;
}

/// Floats are ordered as their codes are: by sign, then magnitude, NaN outermost.
int64_t orderOf(Format format, double value) {
  int64_t code = signExtend(encode(format, value), infoOf(format).bits);
  return code < 0 ? code ^ INT64_MAX : code;
}

Element combineInt(tt::RMWOp kind, ElementType type, Element old, Element value) {
  int64_t a = signExtend(old.i, type.bits), b = signExtend(value.i, type.bits);
  uint64_t result = 0;
  switch (kind) {
  case tt::RMWOp::AND: result = old.i & value.i; break;
  case tt::RMWOp::OR: result = old.i | value.i; break;
  case tt::RMWOp::XOR: result = old.i ^ value.i; break;
  case tt::RMWOp::ADD:
  case tt::RMWOp::FADD: result = old.i + value.i; break;
  case tt::RMWOp::MAX: result = a > b ? old.i : value.i; break;
  case tt::RMWOp::MIN: result = a < b ? old.i : value.i; break;
  case tt::RMWOp::UMAX: result = std::max(old.i, value.i); break;
  case tt::RMWOp::UMIN: result = std::min(old.i, value.i); break;
  case tt::RMWOp::XCHG: result = value.i; break;
  }
  return Element{.i = result & type.mask()};
}

bool combineFloat(tt::RMWOp kind, Format format, double old, double value, double &result) {
  switch (kind) {
  case tt::RMWOp::ADD:
  case tt::RMWOp::FADD: result = roundResult(format, old + value); return true;
  case tt::RMWOp::MAX:
  case tt::RMWOp::UMAX: result = orderOf(format, old) > orderOf(format, value) ? old : value; return true;
  case tt::RMWOp::MIN:
  case tt::RMWOp::UMIN: result = orderOf(format, old) < orderOf(format, value) ? old : value; return true;
  case tt::RMWOp::XCHG: result = value; return true;
  default: return false;
  }
}

/// Notes an addition and returns the sum's bound; `oldBound` becomes that of the returned value.
double noteAddition(Machine &m, Format format, uint64_t address, double old, double value, double valueBound, double &oldBound) {
  auto [place, isNew] = m.memory.sums.try_emplace(address);
  AtomicSum &sum = place->second;
  if (isNew) {
    sum.magnitude = std::fabs(old);
    sum.propagated = sum.orderedBound = oldBound;
    sum.lowestBit = lowestBitOf(old);
  } else if (sum.program != m.task->linear || sum.operation == m.executed) {
    sum.ordered = false;
  }
  ++sum.count;
  sum.magnitude += std::fabs(value);
  sum.propagated += valueBound;
  sum.lowestBit = std::min(sum.lowestBit, lowestBitOf(value));
  sum.program = m.task->linear;
  sum.operation = m.executed;
  double result = old + value;
  sum.orderedBound = boundAfterRounding(format, result, sum.orderedBound + valueBound);
  if (sum.ordered)
    return sum.orderedBound;
  oldBound = infinity();
  return boundOfSum(format, result, double(sum.count), sum.magnitude, sum.propagated, sum.lowestBit);
}

void atomicUpdate(Machine &m, const Instruction &i) {
  auto op = cast<tt::AtomicRMWOp>(i.op);
  tt::RMWOp kind = op.getAtomicRmwOp();
  const Tile &pointer = m.in(i, 0), &value = m.in(i, 1);
  const Tile *mask = i.operands.size() > 2 ? &m.in(i, 2) : nullptr;
  Tile &r = m.out(i);
  unsigned bytes = r.type.bytes();
  bool isFloat = r.type.isFloat(), adds = isFloat && (kind == tt::RMWOp::ADD || kind == tt::RMWOp::FADD);
  ++m.executed;
  for (size_t k = 0, count = r.size(); k < count; ++k) {
    r[k].i = 0;
    bool doubtful = m.task->doubt || pointer.error(k) != 0 || (mask && mask->error(k) != 0);
    if (mask && !(*mask)[k].i)
      continue;
    uint64_t address = pointer[k].i;
    if (!accessibleAtomic(m, i, op.getPtr().getType(), k, address, bytes))
      return;
    Element old = fromMemory(r.type, Memory::read(address, bytes)), updated;
    double oldBound = m.memory.boundOf(address, bytes), bound = kind == tt::RMWOp::XCHG ? value.error(k) : std::fmax(oldBound, value.error(k));
    if (!isFloat) {
      updated = combineInt(kind, r.type, old, value[k]);
    } else if (!combineFloat(kind, r.type.format, old.f, value[k].f, updated.f)) {
      m.fault(i, "this atomic operation is not defined for floats");
      return;
    }
    m.memory.write(address, bytes, toMemory(r.type, updated));
    if (adds) {
      bound = noteAddition(m, r.type.format, address, old.f, value[k].f, value.error(k), oldBound);
      AtomicSum kept = m.memory.sums.lookup(address);
      m.memory.setBound(address, bytes, doubtful ? infinity() : bound);
      m.memory.sums.try_emplace(address, kept);
    } else {
      m.memory.setBound(address, bytes, doubtful ? infinity() : bound);
    }
    r[k] = old;
    if (double e = doubtful ? infinity() : oldBound; e != 0) {
      r.addErrors();
      r.errors[k] = isFloat ? e : infinity();
    }
  }
}

void compareAndSwap(Machine &m, const Instruction &i) {
  auto op = cast<tt::AtomicCASOp>(i.op);
  const Tile &pointer = m.in(i, 0), &expected = m.in(i, 1), &value = m.in(i, 2);
  const Tile *mask = i.operands.size() > 3 ? &m.in(i, 3) : nullptr;
  Tile &r = m.out(i);
  unsigned bytes = r.type.bytes();
  ++m.executed;
  for (size_t k = 0, count = r.size(); k < count; ++k) {
    r[k].i = 0;
    if (mask && !(*mask)[k].i)
      continue;
    uint64_t address = pointer[k].i;
    if (!accessibleAtomic(m, i, op.getPtr().getType(), k, address, bytes))
      return;
    uint64_t old = Memory::read(address, bytes);
    r[k] = fromMemory(r.type, old);
    double oldBound = m.memory.boundOf(address, bytes);
    bool doubtful = m.task->doubt || pointer.error(k) != 0 || expected.error(k) != 0 || (mask && mask->error(k) != 0) || oldBound != 0;
    if (old == toMemory(r.type, expected[k])) {
      m.memory.write(address, bytes, toMemory(r.type, value[k]));
      m.memory.setBound(address, bytes, doubtful ? infinity() : value.error(k));
    } else if (doubtful) {
      m.memory.setBound(address, bytes, infinity());
    }
    if (doubtful) {
      r.addErrors();
      r.errors[k] = infinity();
    }
  }
}

} // namespace

Handler selectAtomic(Operation *op, Instruction &instruction) {
  return llvm::TypeSwitch<Operation *, Handler>(op)
      .Case<tt::AtomicRMWOp>([](auto) { return atomicUpdate; })
      .Case<tt::AtomicCASOp>([](auto) { return compareAndSwap; })
      .Default([](Operation *) -> Handler { return nullptr; });
}

} // namespace tk::interpret
