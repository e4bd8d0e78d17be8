// Execution and scheduling.
//
// Programs run in order, each to its end. A while loop whose iteration changed neither its carried values nor memory can only be ended by another program: the program is set
// aside, and the others run. When every program that is left is in such a state and memory has not changed since, none can ever go on: a deadlock, which is reported. A loop
// with an atomic or a volatile load is set aside after many iterations too, since it may count them while it waits.
#include "compiler/interpret/Machine.h"
#include "dialects/tt/TT.h"
#include <fmt/format.h>

namespace tk::interpret {
namespace {
constexpr uint64_t backEdgesBeforeSwitch = 10'000;   // of a waiting loop that does change something
constexpr uint64_t edgesBeforeGivingUp = 50'000'000; // without a change of memory
constexpr size_t callDepthLimit = 1000;
} // namespace

void Frame::enter(const Code &entered) {
  code = &entered;
  pc = 0;
  lanes = 1;
  call = nullptr;
  slots.assign(entered.slots.size(), nullptr);
  registers.assign(entered.registers, 0);
  returned.clear();
}

Machine::Machine(const Launch &launch, Image &image) : launch(launch), memory(launch.regions, launch.checkRegions), image(image) {}

TileRef Machine::fresh(ElementType type, uint64_t count) {
  auto &pool = count == 1 ? scalarPool : tilePool;
  TileRef tile;
  if (pool.empty()) {
    tile = TileRef(new Tile);
  } else {
    tile = std::move(pool.back());
    pool.pop_back();
  }
  tile->type = type;
  tile->elements.resize_for_overwrite(count);
  tile->errors.clear();
  return tile;
}

void Machine::release(TileRef &tile) {
  if (tile && tile->UseCount() == 1) {
    auto &pool = tile->size() == 1 ? scalarPool : tilePool;
    if (pool.size() < 64)
      pool.push_back(std::move(tile));
  }
  tile.reset();
}

Tile &Machine::out(const Instruction &i, unsigned result) {
  TileRef &place = frame->slots[i.results[result]];
  const Slot &slot = frame->code->slots[i.results[result]];
  uint64_t count = frame->lanes == 1 ? slot.count : frame->lanes;
  release(place);
  place = fresh(slot.type, count);
  operations += count;
  return *place;
}

Machine::Outcome Machine::execute(size_t floor) {
  frame = task->stack.back();
  while (true) {
    Frame *current = frame;
    const Instruction &instruction = current->code->instructions[current->pc++];
    instruction.run(*this, instruction);
    if (task->stack.size() == floor)
      return Outcome::Finished;
    for (uint32_t slot : instruction.releases)
      release(current->slots[slot]);
    if (operations > launch.operationLimit && !stopped())
      stop(Result::LimitReached, fmt::format("stopped after {} operations", operations));
    if (stopped())
      return Outcome::Stopped;
    if (suspend) {
      suspend = false;
      return Outcome::Suspended;
    }
  }
}

// ---- frames ----

Frame *Machine::newFrame(const Code &code) {
  if (freeFrames.empty()) {
    frames.push_back(std::make_unique<Frame>());
    freeFrames.push_back(frames.back().get());
  }
  Frame *taken = freeFrames.back();
  freeFrames.pop_back();
  taken->enter(code);
  return taken;
}

void Machine::dropFrame(Frame *dropped) {
  for (TileRef &slot : dropped->slots)
    release(slot);
  freeFrames.push_back(dropped);
}

void Machine::enterCall(const Instruction &call) {
  if (task->stack.size() >= callDepthLimit) {
    fault(call, fmt::format("calls are nested more than {} deep", callDepthLimit));
    return;
  }
  Frame *callee = newFrame(*call.code);
  callee->call = &call;
  callee->lanes = frame->lanes;
  for (auto [i, slot] : llvm::enumerate(call.operands))
    callee->slots[i] = frame->slots[slot];
  task->stack.push_back(callee);
  frame = callee;
}

void Machine::leave(const Instruction &ret) {
  Frame *left = frame;
  task->stack.pop_back();
  frame = task->stack.empty() ? nullptr : task->stack.back();
  if (left->call) {
    for (auto [slot, place] : llvm::zip(ret.operands, left->call->results))
      frame->slots[place] = left->slots[slot];
    dropFrame(left);
    return;
  }
  if (!frame) {
    dropFrame(left);
    return;
  }
  for (uint32_t slot : ret.operands)
    left->returned.push_back(left->slots[slot]);
}

void Machine::enterRegion(Frame &inner, const Code &code, uint64_t lanes) {
  inner.enter(code);
  inner.lanes = lanes;
  for (auto [outside, inside] : code.captures) {
    TileRef value = frame->slots[outside];
    if (lanes != 1 && value->size() == 1) {
      TileRef splat = fresh(value->type, lanes);
      std::fill(splat->elements.begin(), splat->elements.end(), (*value)[0]);
      if (value->inexact())
        splat->errors.assign(lanes, value->errors[0]);
      value = splat;
    }
    inner.slots[inside] = value;
  }
}

bool Machine::runRegion(Frame &inner, llvm::ArrayRef<TileRef> arguments) {
  Frame *outer = frame;
  inner.pc = 0;
  inner.returned.clear();
  for (auto [i, argument] : llvm::enumerate(arguments))
    inner.slots[i] = argument;
  task->stack.push_back(&inner);
  ++task->nested;
  Outcome outcome = execute(task->stack.size() - 1);
  --task->nested;
  frame = outer;
  return outcome == Outcome::Finished;
}

// ---- faults ----

void Machine::stop(Result::Status status, std::string message) {
  if (stopped())
    return;
  result.status = status;
  result.message = std::move(message);
  if (task)
    result.program = task->id;
}

std::string Machine::programName() const { return fmt::format("program ({}, {}, {})", task->id[0], task->id[1], task->id[2]); }

void Machine::fault(const Instruction &i, std::string text) {
  stop(Result::Fault, fmt::format("{}: {}", i.op ? placeOf(i.op->getLoc()) : "unknown", text));
}

std::string Machine::elementName(mlir::Type type, uint64_t element) const {
  llvm::ArrayRef<int64_t> shape = tt::shapeOf(type);
  if (shape.empty())
    return "";
  std::string text;
  for (int64_t extent : llvm::reverse(shape)) {
    text = fmt::format("{}{}{}", element % extent, text.empty() ? "" : ", ", text);
    element /= extent;
  }
  return fmt::format(" of element [{}]", text);
}

// ---- scheduling ----

/// A back edge of a while loop. When neither the carried values nor memory changed since the previous one, the next iteration is the same again: only another program can
/// end the loop, so this one gives way at once. A loop that `waits` gives way now and then whatever changes, as it may count while it waits.
void Machine::backEdge(bool changed, bool waits) {
  edgesWithoutChange = memory.version != edgeVersion ? 0 : edgesWithoutChange + waits;
  edgeVersion = memory.version;
  bool idle = !changed && memory.version == task->seenVersion;
  task->seenVersion = memory.version;
  if (edgesWithoutChange > edgesBeforeGivingUp || (idle && task->nested)) {
    stop(Result::Fault, fmt::format("{} waits in a loop for memory that nobody changes any more", programName()));
    return;
  }
  task->backEdges += waits;
  if (!task->nested && (idle || task->backEdges >= backEdgesBeforeSwitch)) {
    task->stuck = idle;
    suspend = true;
  }
}

void Machine::start(Task &started) {
  uint64_t linear = launch.programs.empty() ? nextProgram : launch.programs[nextProgram];
  ++nextProgram;
  started.linear = linear;
  uint64_t x = uint64_t(launch.grid[0]), y = uint64_t(launch.grid[1]);
  started.id = {int32_t(linear % x), int32_t(linear / x % y), int32_t(linear / x / y)};
  Frame *first = newFrame(*image.kernel);
  for (uint32_t i = 0; i < image.kernel->arguments; ++i) {
    const Slot &slot = image.kernel->slots[i];
    TileRef value = fresh(slot.type, 1);
    (*value)[0] = slot.type.isFloat() ? Element{.f = decode(slot.type.format, launch.arguments[i] & slot.type.mask())} : Element{.i = launch.arguments[i] & slot.type.mask()};
    first->slots[i] = value;
  }
  started.stack.push_back(first);
}

/// Whose turn it is: the program that waits longest, when memory has changed since; else a new one; else the former all the same. False at the end of the launch.
bool Machine::nextTask(std::deque<std::unique_ptr<Task>> &waiting, std::unique_ptr<Task> &current) {
  current.reset();
  bool changed = !waiting.empty() && waiting.front()->seenVersion != memory.version;
  if (nextProgram < programCount && !changed) {
    current = std::make_unique<Task>();
    start(*current);
    return true;
  }
  if (waiting.empty())
    return false;
  current = std::move(waiting.front());
  waiting.pop_front();
  return true;
}

Result Machine::runAll() {
  if (launch.arguments.size() != image.kernel->arguments) {
    stop(Result::Fault, fmt::format("the kernel has {} run-time arguments, {} were given", image.kernel->arguments, launch.arguments.size()));
    return result;
  }
  for (uint32_t i = 0; i < image.kernel->arguments; ++i)
    if (!image.kernel->slots[i].shape.empty()) {
      stop(Result::Fault, fmt::format("argument {} of the kernel is a tile", i));
      return result;
    }
  uint64_t all = uint64_t(std::max(0, launch.grid[0])) * uint64_t(std::max(0, launch.grid[1])) * uint64_t(std::max(0, launch.grid[2]));
  programCount = launch.programs.empty() ? all : launch.programs.size();
  for (uint64_t program : launch.programs)
    if (program >= all) {
      stop(Result::Fault, fmt::format("program {} is outside the grid of {}", program, all));
      return result;
    }
  std::deque<std::unique_ptr<Task>> waiting;
  std::unique_ptr<Task> current;
  while (!stopped() && nextTask(waiting, current)) {
    task = current.get();
    task->backEdges = 0;
    Outcome outcome = execute(0);
    if (outcome == Outcome::Finished)
      continue;
    if (outcome == Outcome::Stopped)
      break;
    waiting.push_back(std::move(current));
    bool allStuck = nextProgram == programCount;
    for (auto &other : waiting)
      allStuck &= other->stuck && other->seenVersion == memory.version;
    if (allStuck)
      stop(Result::Fault, fmt::format("deadlock: {} repeats a loop for ever, since nobody changes memory any more{}", programName(),
                                      waiting.size() > 1 ? fmt::format(", and so do {} other programs", waiting.size() - 1) : ""));
  }
  result.operations = operations;
  for (const Region &region : launch.regions)
    if (region.bounds && region.elementBytes)
      for (uint64_t i = 0; i < region.bytes / region.elementBytes; ++i)
        result.uncertain += region.bounds[i] == infinity();
  return result;
}

} // namespace tk::interpret
