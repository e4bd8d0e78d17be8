// Shared memory of a block with its history: who wrote and read each byte last, which tells races and reads of what was never written.
//
// History is kept per word of 4 bytes; a word that is accessed in parts is split into its bytes until it is written whole again.
#pragma once
#include "runtime/device/emulated/Order.h"
#include "runtime/device/emulated/Report.h"

namespace tk::emulated {

enum class Access : uint8_t {
  Read,
  Write,
  StrongRead,
  StrongWrite, // volatile, relaxed, acquire, release and atomic ones do not race with each other
  AsyncRead,
  AsyncWrite // by the asynchronous proxy, for the thread that started them
};

class SharedMemory {
public:
  SharedMemory(uint32_t bytes, bool tracked);
  uint8_t *data() { return bytes.data(); }
  uint32_t size() const { return uint32_t(bytes.size()); }
  uint8_t *at(uint32_t offset) { return bytes.data() + (offset - sharedBase); }
  bool contains(uint32_t offset, uint32_t count) const { return offset >= sharedBase && offset - sharedBase + uint64_t(count) <= bytes.size(); }

  /// Notes an access of `lane` (manyLanes: of the warp as a whole) and reports what is wrong with it.
  void note(Warp &warp, const Instr &i, uint32_t lane, uint32_t offset, uint32_t count, Access access) {
    if (tracked)
      noteTracked(warp, i, lane, offset, count, access);
  }
  /// Bytes that an asynchronous transfer will write: nobody may touch them until it is complete.
  void beginTransfer(Warp &warp, const Instr &i, uint32_t lane, uint32_t offset, uint32_t count);
  /// The transfer is complete; `actor` and `lane` are who those that come after must have waited for.
  void endTransfer(Order &order, uint32_t actor, uint32_t lane, uint32_t line, uint32_t offset, uint32_t count);
  /// The same with the moment given as the actor's clock.
  void endTransferAt(uint32_t clock, uint32_t actor, uint32_t lane, uint32_t line, uint32_t offset, uint32_t count);

  /// Sorted ranges of bytes that asynchronous work reads until it is complete: nobody may write them. Reports what is wrong with reading them now, and returns
  /// a number for the calls below.
  using Ranges = std::vector<std::pair<uint32_t, uint32_t>>;
  uint64_t beginReading(Warp &warp, const Instr &i, uint32_t lane, Ranges ranges);
  /// Another warp has the same work done together with the first one.
  void joinReading(Warp &warp, const Instr &i, uint32_t lane, uint64_t number);
  /// `actor` knows that the work is complete; `isLast`: all do that began it.
  void endReading(uint64_t number, Order &order, uint32_t actor, uint32_t lane, bool isLast);
  /// The line of some work that still reads; 0 when there is none.
  uint32_t lineOfReading() const;

  static constexpr uint32_t manyLanes = 63;

private:
  // valid:1 line:22 lane:6 actor:9 clock:26
  using Epoch = uint64_t;
  struct Cell {
    Epoch write = 0, read = 0;
  };
  static Epoch pack(uint32_t line, uint32_t lane, uint32_t actor, uint32_t clock);
  void noteTracked(Warp &warp, const Instr &i, uint32_t lane, uint32_t offset, uint32_t count, Access access);
  void noteCell(Cell &cell, Warp &warp, const Instr &i, uint32_t lane, uint32_t offset, Access access);
  Cell *bytesOfWord(uint32_t word);
  template <typename F> void forCells(uint32_t offset, uint32_t count, bool merge, F f);
  void complain(Finding::Kind kind, Epoch other, const char *what, Warp &warp, const Instr &i, uint32_t lane, uint32_t offset);
  void addReader(Cell &cell, Epoch mine, Order &order, uint32_t actor);
  void dropReaders(Cell &cell);

  struct ReadSet {
    uint64_t number;
    Ranges ranges;
    uint32_t line;
    bool isUnderWay;
    std::vector<Epoch> writes;  // that it reads, each once
    std::vector<Epoch> readers; // those who know that it was complete
  };
  bool isOrdered(Epoch e, Order &order, uint32_t actor, uint32_t lane) const;
  bool checkWrite(Epoch write, Warp &warp, const Instr &i, uint32_t lane, uint32_t offset, bool isWrite, bool isAsync);
  void checkReadSets(Warp &warp, const Instr &i, uint32_t lane, uint32_t offset, uint32_t count);
  bool tracked;
  std::vector<uint8_t> bytes;
  std::vector<Cell> words, parts;          // parts: of split words, allocated when the first word is split
  std::vector<std::vector<Epoch>> readers; // of words that several warps have read
  std::vector<uint32_t> freeReaders;
  std::vector<ReadSet> reading; // one for each set of ranges, and more while they are under way
  uint64_t nextReading = 1;
};

} // namespace tk::emulated
