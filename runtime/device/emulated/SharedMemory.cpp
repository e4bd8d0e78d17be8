#include "runtime/device/emulated/SharedMemory.h"
#include "runtime/device/emulated/Block.h"
#include <algorithm>
#include <fmt/format.h>

namespace tk::emulated {

namespace {
constexpr uint64_t validBit = uint64_t(1) << 63;
constexpr uint32_t specialActor = 511; // marks below, told apart by their lane
constexpr uint32_t splitMark = 1, pendingMark = 2, readersMark = 3;
uint32_t lineOf(uint64_t epoch) { return uint32_t(epoch >> 41) & 0x3FFFFF; }
uint32_t laneOf(uint64_t epoch) { return uint32_t(epoch >> 35) & 63; }
uint32_t actorOf(uint64_t epoch) { return uint32_t(epoch >> 26) & 511; }
uint32_t clockOf(uint64_t epoch) { return uint32_t(epoch) & 0x3FFFFFF; }
bool isMark(uint64_t epoch, uint32_t mark) { return epoch && actorOf(epoch) == specialActor && laneOf(epoch) == mark; }
} // namespace

SharedMemory::Epoch SharedMemory::pack(uint32_t line, uint32_t lane, uint32_t actor, uint32_t clock) {
  return validBit | uint64_t(line & 0x3FFFFF) << 41 | uint64_t(lane) << 35 | uint64_t(actor) << 26 | (clock & 0x3FFFFFF);
}

SharedMemory::SharedMemory(uint32_t size, bool tracked) : tracked(tracked), bytes(size) {
  // What nobody has written looks like nothing useful, in floats as in integers.
  for (uint32_t i = 0; i < size; ++i)
    bytes[i] = uint8_t(0xA5 + 29 * i);
  if (tracked)
    words.resize((size + 3) / 4);
}

SharedMemory::Cell *SharedMemory::bytesOfWord(uint32_t word) {
  if (parts.empty())
    parts.resize(words.size() * 4);
  Cell *cells = &parts[size_t(word) * 4];
  if (!isMark(words[word].write, splitMark)) {
    for (int k = 0; k < 4; ++k) {
      cells[k] = words[word];
      if (k && isMark(cells[k].read, readersMark)) {
        // A list of readers has one owner.
        std::vector<Epoch> copy = readers[clockOf(cells[k].read)];
        readers.push_back(std::move(copy));
        cells[k].read = pack(lineOf(cells[k].read), readersMark, specialActor, uint32_t(readers.size() - 1));
      }
    }
    words[word].write = pack(0, splitMark, specialActor, 0);
    words[word].read = 0;
  }
  return cells;
}

/// f(cell, offset of its first byte) over the bytes; `merge`: the cells are about to be overwritten, so that words become whole again after f.
template <typename F> void SharedMemory::forCells(uint32_t offset, uint32_t count, bool merge, F f) {
  uint32_t at = offset - sharedBase, end = at + count;
  while (at < end) {
    uint32_t word = at / 4;
    if (at % 4 == 0 && end - at >= 4) {
      if (!isMark(words[word].write, splitMark)) {
        f(words[word], at + sharedBase);
      } else {
        Cell *cells = &parts[size_t(word) * 4];
        for (int k = 0; k < 4; ++k)
          f(cells[k], at + k + sharedBase);
        if (merge && cells[0].write == cells[1].write && cells[0].write == cells[2].write && cells[0].write == cells[3].write && !cells[0].read &&
            !cells[1].read && !cells[2].read && !cells[3].read)
          words[word] = cells[0];
      }
      at += 4;
    } else {
      f(bytesOfWord(word)[at % 4], at + sharedBase);
      ++at;
    }
  }
}

void SharedMemory::complain(Finding::Kind kind, Epoch other, const char *what, Warp &warp, const Instr &i, uint32_t lane, uint32_t offset) {
  std::string who;
  if (other && actorOf(other) < warp.block.order().asyncActor() && laneOf(other) < 32)
    who = fmt::format(" by thread {} of line {}", actorOf(other) % warp.block.warpCount() * 32 + laneOf(other), lineOf(other));
  else if (other && lineOf(other))
    who = fmt::format(" of line {}", lineOf(other));
  warp.report(kind, i, lane < 32 ? 1u << lane : ~0u, fmt::format("{}{}, at byte {} of shared memory", what, who, offset - sharedBase));
}

void SharedMemory::dropReaders(Cell &cell) {
  if (isMark(cell.read, readersMark))
    freeReaders.push_back(clockOf(cell.read));
  cell.read = 0;
}

void SharedMemory::addReader(Cell &cell, Epoch mine, Order &order, uint32_t actor) {
  if (isMark(cell.read, readersMark)) {
    std::vector<Epoch> &list = readers[clockOf(cell.read)];
    for (Epoch &entry : list)
      if (actorOf(entry) == actor) {
        bool sameMoment = clockOf(entry) == clockOf(mine) && laneOf(entry) != laneOf(mine);
        entry = sameMoment ? pack(lineOf(mine), manyLanes, actor, clockOf(mine)) : mine;
        return;
      }
    list.push_back(mine);
    return;
  }
  if (!cell.read || order.hasSeen(actor, actorOf(cell.read), clockOf(cell.read))) {
    if (cell.read && actorOf(cell.read) == actor && clockOf(cell.read) == clockOf(mine) && laneOf(cell.read) != laneOf(mine))
      mine = pack(lineOf(mine), manyLanes, actor, clockOf(mine));
    cell.read = mine;
    return;
  }
  uint32_t index;
  if (!freeReaders.empty()) {
    index = freeReaders.back();
    freeReaders.pop_back();
    readers[index].clear();
  } else {
    index = uint32_t(readers.size());
    readers.emplace_back();
  }
  readers[index] = {cell.read, mine};
  cell.read = pack(lineOf(mine), readersMark, specialActor, index);
}

bool SharedMemory::isOrdered(Epoch e, Order &order, uint32_t actor, uint32_t lane) const {
  if (clockOf(e) == 0)
    return true;
  if (actorOf(e) == actor)
    return clockOf(e) < order.now(actor) || (laneOf(e) == lane && lane < 32);
  return order.hasSeen(actor, actorOf(e), clockOf(e));
}

/// An access after the write. False when the bytes are under way, and nothing more is to be said.
bool SharedMemory::checkWrite(Epoch write, Warp &warp, const Instr &i, uint32_t lane, uint32_t offset, bool isWrite, bool isAsync) {
  Order &order = warp.block.order();
  uint32_t actor = warp.clockId;
  // An access of the asynchronous proxy needs a proxy fence between it and what ordinary instructions wrote.
  auto fenced = [&](Epoch e) { return clockOf(e) == 0 || actorOf(e) == order.asyncActor() || order.hasFenced(actor, actorOf(e), clockOf(e)); };
  if (isMark(write, pendingMark)) {
    complain(Finding::Kind::AsyncHazard, write, isWrite ? "a write to the target of a transfer under way" : "a read of the target of a transfer under way",
             warp, i, lane, offset);
    return false;
  }
  if (!write) {
    if (!isWrite)
      complain(Finding::Kind::Uninitialised, 0, "a read of shared memory that nothing has written", warp, i, lane, offset);
  } else if (!isOrdered(write, order, actor, lane)) {
    complain(Finding::Kind::Race, write, isWrite ? "a write that no barrier orders after the write" : "a read that no barrier orders after the write", warp, i,
             lane, offset);
  } else if (isAsync && !fenced(write)) {
    complain(Finding::Kind::ProxyFence, write, "an asynchronous access without fence.proxy.async after the write", warp, i, lane, offset);
  }
  return true;
}

void SharedMemory::noteCell(Cell &cell, Warp &warp, const Instr &i, uint32_t lane, uint32_t offset, Access access) {
  Order &order = warp.block.order();
  uint32_t actor = warp.clockId, now = order.now(actor);
  bool isWrite = access == Access::Write || access == Access::StrongWrite || access == Access::AsyncWrite;
  bool isStrong = access == Access::StrongRead || access == Access::StrongWrite;
  bool isAsync = access == Access::AsyncRead || access == Access::AsyncWrite;
  auto ordered = [&](Epoch e) { return isOrdered(e, order, actor, lane); };
  if (!checkWrite(cell.write, warp, i, lane, offset, isWrite, isAsync))
    return;
  if (!isWrite) {
    if (!isStrong)
      addReader(cell, pack(i.line, lane, actor, now), order, actor);
    return;
  }
  if (isMark(cell.read, readersMark)) {
    for (Epoch e : readers[clockOf(cell.read)])
      if (!ordered(e)) {
        complain(Finding::Kind::Race, e, "a write that no barrier orders after the read", warp, i, lane, offset);
        break;
      }
  } else if (cell.read && !ordered(cell.read)) {
    complain(Finding::Kind::Race, cell.read, "a write that no barrier orders after the read", warp, i, lane, offset);
  }
  dropReaders(cell);
  cell.write = isStrong ? pack(i.line, 0, actor, 0) : pack(i.line, lane, actor, now);
}

void SharedMemory::noteTracked(Warp &warp, const Instr &i, uint32_t lane, uint32_t offset, uint32_t count, Access access) {
  bool isWrite = access == Access::Write || access == Access::StrongWrite || access == Access::AsyncWrite;
  if (isWrite && !reading.empty())
    checkReadSets(warp, i, lane, offset, count);
  forCells(offset, count, isWrite, [&](Cell &cell, uint32_t at) { noteCell(cell, warp, i, lane, at, access); });
}

void SharedMemory::beginTransfer(Warp &warp, const Instr &i, uint32_t lane, uint32_t offset, uint32_t count) {
  if (!tracked)
    return;
  Epoch pending = pack(i.line, pendingMark, specialActor, 0);
  forCells(offset, count, true, [&](Cell &cell, uint32_t) { cell.write = pending; });
}

void SharedMemory::endTransfer(Order &order, uint32_t actor, uint32_t lane, uint32_t line, uint32_t offset, uint32_t count) {
  endTransferAt(order.now(actor), actor, lane, line, offset, count);
}

void SharedMemory::endTransferAt(uint32_t clock, uint32_t actor, uint32_t lane, uint32_t line, uint32_t offset, uint32_t count) {
  if (!tracked)
    return;
  Epoch done = pack(line, lane, actor, clock);
  forCells(offset, count, true, [&](Cell &cell, uint32_t) {
    dropReaders(cell);
    cell.write = done;
  });
}

// ---------------------------------------------------------------------------------------------------------------------
// What asynchronous work reads

uint64_t SharedMemory::beginReading(Warp &warp, const Instr &i, uint32_t lane, Ranges ranges) {
  if (!tracked)
    return 0;
  ReadSet set{nextReading++, std::move(ranges), i.line, true, {}, {}};
  // The same bytes are read over and over: what is known of the last time is taken along.
  std::erase_if(reading, [&](ReadSet &old) {
    if (old.isUnderWay || old.ranges != set.ranges)
      return false;
    set.readers = std::move(old.readers);
    return true;
  });
  Epoch last = ~Epoch(0);
  for (auto [begin, end] : set.ranges)
    forCells(begin, end - begin, false, [&](Cell &cell, uint32_t at) {
      if (cell.write == last || std::find(set.writes.begin(), set.writes.end(), cell.write) != set.writes.end())
        return;
      last = cell.write;
      set.writes.push_back(last);
      checkWrite(last, warp, i, lane, at, false, true);
    });
  reading.push_back(std::move(set));
  return reading.back().number;
}

void SharedMemory::joinReading(Warp &warp, const Instr &i, uint32_t lane, uint64_t number) {
  for (const ReadSet &set : reading)
    if (set.number == number)
      for (Epoch write : set.writes)
        if (write && !isMark(write, pendingMark)) // the first has said that
          checkWrite(write, warp, i, lane, set.ranges.front().first, false, true);
}

void SharedMemory::endReading(uint64_t number, Order &order, uint32_t actor, uint32_t lane, bool isLast) {
  for (ReadSet &set : reading)
    if (set.number == number) {
      std::erase_if(set.readers, [&](Epoch e) { return actorOf(e) == actor; });
      set.readers.push_back(pack(set.line, lane, actor, order.now(actor)));
      set.isUnderWay &= !isLast;
      return;
    }
}

uint32_t SharedMemory::lineOfReading() const {
  for (const ReadSet &set : reading)
    if (set.isUnderWay)
      return set.line;
  return 0;
}

void SharedMemory::checkReadSets(Warp &warp, const Instr &i, uint32_t lane, uint32_t offset, uint32_t count) {
  for (const ReadSet &set : reading) {
    if (set.ranges.empty() || offset >= set.ranges.back().second || offset + count <= set.ranges.front().first)
      continue;
    auto after = std::upper_bound(set.ranges.begin(), set.ranges.end(), offset, [](uint32_t at, const auto &range) { return at < range.second; });
    if (after == set.ranges.end() || offset + count <= after->first)
      continue;
    uint32_t at = std::max(offset, after->first);
    if (set.isUnderWay) {
      complain(Finding::Kind::AsyncHazard, pack(set.line, manyLanes, 0, 1), "a write to what asynchronous work under way reads", warp, i, lane, at);
      return;
    }
    for (Epoch e : set.readers)
      if (!isOrdered(e, warp.block.order(), warp.clockId, lane)) {
        complain(Finding::Kind::Race, e, "a write that no barrier orders after the read", warp, i, lane, at);
        return;
      }
  }
}

} // namespace tk::emulated
