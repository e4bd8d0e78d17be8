// Pointer arithmetic, loads and stores. Every access is checked against the regions; masked-off elements are not accessed.
//
// Bounds: a load takes the element's bound from its region. An uncertain address or mask makes what is loaded uncertain, and what is stored, at the place where this
// execution stores it.
#include "compiler/interpret/Machine.h"
#include "dialects/tt/TT.h"
#include "llvm/ADT/TypeSwitch.h"
#include <algorithm>
#include <fmt/format.h>

using namespace mlir;

namespace tk::interpret {
namespace {

void addPointer(Machine &m, const Instruction &i) {
  const Tile &pointer = m.in(i, 0), &offset = m.in(i, 1);
  Tile &r = m.out(i);
  uint64_t bytes = uint64_t(i.numbers[0]);
  unsigned bits = offset.type.bits;
  for (size_t k = 0, count = r.size(); k < count; ++k)
    r[k].i = pointer[k].i + uint64_t(signExtend(offset[k].i, bits)) * bytes;
  if (!pointer.inexact() && !offset.inexact())
    return;
  r.addErrors();
  for (size_t k = 0; k < r.size(); ++k)
    r.errors[k] = std::max(pointer.error(k), offset.error(k));
  r.dropZeroErrors();
}

void refuse(Machine &m, const Instruction &i, const char *verb, mlir::Type type, uint64_t element, uint64_t address, unsigned bytes) {
  m.fault(i, fmt::format("{}{} in {}: the access of {} byte{} {}", verb, m.elementName(type, element), m.programName(), bytes, bytes == 1 ? "" : "s",
                         m.memory.describe(address, bytes)));
}

void setError(Tile &tile, size_t element, double error) {
  if (error == 0)
    return;
  tile.addErrors();
  tile.errors[element] = error;
}

void load(Machine &m, const Instruction &i) {
  const Tile &pointer = m.in(i, 0);
  const Tile *mask = i.operands.size() > 1 ? &m.in(i, 1) : nullptr, *other = i.operands.size() > 2 ? &m.in(i, 2) : nullptr;
  Tile &r = m.out(i);
  unsigned bytes = r.type.bytes();
  for (size_t k = 0, count = r.size(); k < count; ++k) {
    if (mask && !(*mask)[k].i) {
      r[k] = other ? (*other)[k] : Element{.i = 0};
      setError(r, k, mask->error(k) != 0 ? infinity() : other ? other->error(k) : 0);
      continue;
    }
    uint64_t address = pointer[k].i;
    if (!m.memory.accessible(address, bytes)) {
      refuse(m, i, "load", i.op->getOperand(0).getType(), k, address, bytes);
      return;
    }
    r[k] = fromMemory(r.type, Memory::read(address, bytes));
    double bound = m.memory.boundOf(address, bytes);
    if (bound != 0 && !r.type.isFloat())
      bound = infinity();
    setError(r, k, pointer.error(k) != 0 || (mask && mask->error(k) != 0) ? infinity() : bound);
  }
}

/// Elements of one store that go to one place with different values: which of them stays is not specified. The places become uncertain; where the launch wants to know, it is a fault.
void findConflicts(Machine &m, const Instruction &i, const Tile &pointer, const Tile &value, const Tile *mask) {
  unsigned bytes = value.type.bytes();
  size_t count = value.size();
  auto isOn = [&](size_t k) { return !mask || (*mask)[k].i; };
  // Addresses mostly ascend.
  uint64_t end = 0;
  size_t first = 0;
  for (; first < count; ++first) {
    if (!isOn(first))
      continue;
    if (pointer[first].i < end)
      break;
    end = pointer[first].i + bytes;
  }
  if (first == count)
    return;
  std::vector<std::pair<uint64_t, size_t>> places;
  for (size_t k = 0; k < count; ++k)
    if (isOn(k))
      places.emplace_back(pointer[k].i, k);
  std::sort(places.begin(), places.end());
  for (size_t k = 1; k < places.size(); ++k) {
    auto [before, one] = places[k - 1];
    auto [address, other] = places[k];
    if (address - before >= bytes || (address == before && toMemory(value.type, value[one]) == toMemory(value.type, value[other])))
      continue;
    if (m.launch.reportConflicts) {
      m.fault(i, fmt::format("store{} in {}: another element of the same store writes a different value to the same place, and which of them stays is not specified",
                             m.elementName(i.op->getOperand(0).getType(), other), m.programName()));
      return;
    }
    m.memory.setBound(before, bytes, infinity());
    m.memory.setBound(address, bytes, infinity());
  }
}

void store(Machine &m, const Instruction &i) {
  const Tile &pointer = m.in(i, 0), &value = m.in(i, 1);
  const Tile *mask = i.operands.size() > 2 ? &m.in(i, 2) : nullptr;
  unsigned bytes = value.type.bytes();
  ++m.executed;
  m.operations += value.size();
  for (size_t k = 0, count = value.size(); k < count; ++k) {
    uint64_t address = pointer[k].i;
    bool doubtful = m.task->doubt || pointer.error(k) != 0 || (mask && mask->error(k) != 0);
    if (mask && !(*mask)[k].i) {
      // Another execution may store here.
      if (mask->error(k) != 0 && m.memory.accessible(address, bytes))
        m.memory.setBound(address, bytes, infinity());
      continue;
    }
    if (!m.memory.accessible(address, bytes)) {
      refuse(m, i, "store", i.op->getOperand(0).getType(), k, address, bytes);
      return;
    }
    m.memory.write(address, bytes, toMemory(value.type, value[k]));
    m.memory.setBound(address, bytes, doubtful ? infinity() : value.error(k));
  }
  if (value.size() > 1)
    findConflicts(m, i, pointer, value, mask);
}

} // namespace

Handler selectMemory(Operation *op, Instruction &instruction) {
  if (auto add = dyn_cast<tt::AddPtrOp>(op)) {
    ElementType pointee;
    if (!elementTypeOf(cast<tt::PointerType>(tt::elementType(add.getPtr().getType())).getPointeeType(), pointee))
      return nullptr;
    instruction.numbers = {pointee.bytes()};
    return addPointer;
  }
  return llvm::TypeSwitch<Operation *, Handler>(op)
      .Case<tt::LoadOp>([](auto) { return load; })
      .Case<tt::StoreOp>([](auto) { return store; })
      .Default([](Operation *) -> Handler { return nullptr; });
}

} // namespace tk::interpret
