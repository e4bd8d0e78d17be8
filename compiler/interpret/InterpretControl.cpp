// Jumps, loops, calls and moves.
//
// Doubt: where a branch is decided by an uncertain value, what it decides is uncertain too. The program then stores with infinite bounds until the paths join, and the
// results of the control operation are uncertain. (What the path that was not taken would have stored is not known; its targets keep their bounds.)
#include "compiler/interpret/Machine.h"
#include "dialects/tt/TT.h"

namespace tk::interpret {
namespace {

/// Enters doubt once per control operation; `reg` remembers.
void doubtIf(Machine &m, uint32_t reg, bool uncertain) {
  if (!uncertain || m.frame->registers[reg])
    return;
  m.frame->registers[reg] = 1;
  ++m.task->doubt;
}

bool sameElements(const Tile &a, const Tile &b) {
  return a.size() == b.size() && std::equal(a.elements.begin(), a.elements.end(), b.elements.begin(), [](Element x, Element y) { return x.i == y.i; });
}

} // namespace

void runConstant(Machine &m, const Instruction &i) {
  if (m.frame->lanes == 1) {
    m.frame->slots[i.results[0]] = i.constant;
    return;
  }
  Tile &r = m.out(i);
  std::fill(r.elements.begin(), r.elements.end(), (*i.constant)[0]);
  if (i.constant->inexact())
    r.errors.assign(r.size(), i.constant->errors[0]);
}

void runMove(Machine &m, const Instruction &i) {
  auto &slots = m.frame->slots;
  if (i.operands.size() == 1) {
    slots[i.results[0]] = slots[i.operands[0]];
    return;
  }
  llvm::SmallVector<TileRef, 8> values; // all are read before any is written: a loop may swap two
  for (uint32_t slot : i.operands)
    values.push_back(slots[slot]);
  for (size_t k = 0; k < values.size(); ++k)
    slots[i.results[k]] = std::move(values[k]);
}

void runJump(Machine &m, const Instruction &i) { m.frame->pc = i.target; }

void runBranch(Machine &m, const Instruction &i) {
  const Tile &condition = m.in(i, 0);
  m.frame->registers[i.reg] = 0;
  doubtIf(m, i.reg, condition.error(0) != 0);
  if (!condition[0].i)
    m.frame->pc = i.target;
}

void runSwitch(Machine &m, const Instruction &i) {
  const Tile &value = m.in(i, 0);
  m.frame->registers[i.reg] = 0;
  doubtIf(m, i.reg, value.error(0) != 0);
  auto found = std::find(i.numbers.begin(), i.numbers.end(), int64_t(value[0].i));
  m.frame->pc = i.targets[found - i.numbers.begin()];
}

void runJoin(Machine &m, const Instruction &i) {
  if (!m.frame->registers[i.reg])
    return;
  m.frame->registers[i.reg] = 0;
  --m.task->doubt;
  for (uint32_t slot : i.results) {
    TileRef marked(new Tile(*m.frame->slots[slot]));
    marked->errors.assign(marked->size(), infinity());
    m.frame->slots[slot] = marked;
  }
}

// ---- for: registers are trips left, induction variable, step, doubt ----

void runForBegin(Machine &m, const Instruction &i) {
  const Tile &lower = m.in(i, 0), &upper = m.in(i, 1), &step = m.in(i, 2);
  bool isUnsigned = mlir::cast<mlir::scf::ForOp>(i.op).getUnsignedCmp();
  auto wide = [&](const Tile &tile) { return isUnsigned ? __int128(tile[0].i) : __int128(signExtend(tile[0].i, tile.type.bits)); };
  if (wide(step) <= 0) {
    m.fault(i, "the step of a loop is not positive");
    return;
  }
  __int128 distance = wide(upper) - wide(lower);
  uint64_t *registers = &m.frame->registers[i.reg];
  registers[0] = distance <= 0 ? 0 : uint64_t((distance + wide(step) - 1) / wide(step));
  registers[1] = lower[0].i;
  registers[2] = step[0].i;
  registers[3] = 0;
  doubtIf(m, i.reg + 3, lower.error(0) != 0 || upper.error(0) != 0 || step.error(0) != 0);
}

void runForTest(Machine &m, const Instruction &i) {
  uint64_t *registers = &m.frame->registers[i.reg];
  if (!registers[0]) {
    m.frame->pc = i.target;
    return;
  }
  --registers[0];
  Tile &induction = m.out(i);
  induction[0].i = registers[1] & induction.type.mask();
  if (registers[3])
    induction.errors.assign(1, infinity());
}

void runForNext(Machine &m, const Instruction &i) {
  uint64_t *registers = &m.frame->registers[i.reg];
  registers[1] += registers[2];
  m.frame->pc = i.target;
}

// ---- while ----

void runEnter(Machine &m, const Instruction &i) { m.frame->registers[i.reg] = 0; }

void runCondition(Machine &m, const Instruction &i) {
  const Tile &condition = m.in(i, 0);
  doubtIf(m, i.reg, condition.error(0) != 0);
  if (!condition[0].i)
    m.frame->pc = i.target;
}

void runBackEdge(Machine &m, const Instruction &i) {
  bool changed = false;
  for (auto [from, to] : llvm::zip(i.operands, i.results))
    changed = changed || !sameElements(*m.frame->slots[from], *m.frame->slots[to]);
  if (!i.operands.empty())
    runMove(m, i);
  m.frame->pc = i.target;
  ++m.operations;
  m.backEdge(changed, i.waits);
}

// ---- calls ----

void runCall(Machine &m, const Instruction &i) { m.enterCall(i); }
void runReturn(Machine &m, const Instruction &i) { m.leave(i); }

// ---- the launch grid ----

static void programId(Machine &m, const Instruction &i) { m.out(i)[0].i = uint32_t(m.task->id[i.detail]); }
static void programCount(Machine &m, const Instruction &i) { m.out(i)[0].i = uint32_t(m.launch.grid[i.detail]); }

Handler selectGrid(mlir::Operation *op, Instruction &instruction) {
  if (auto id = mlir::dyn_cast<tt::GetProgramIdOp>(op)) {
    instruction.detail = uint32_t(id.getAxis());
    return programId;
  }
  if (auto count = mlir::dyn_cast<tt::GetNumProgramsOp>(op)) {
    instruction.detail = uint32_t(count.getAxis());
    return programCount;
  }
  return nullptr;
}

} // namespace tk::interpret
