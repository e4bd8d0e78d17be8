// What the threads of a cluster have read and written of global memory since they last met, which tells races between them.
//
// A record is one execution of an instruction by a warp. Memory that is touched has cells, as wide as the accesses to it are (1 to 16 bytes), in pieces of 256
// bytes that a hash table finds; a cell names its last write and its last reads by record and lane. Where all threads of the block have met at a barrier, what
// was before is ordered before all that comes, and forgotten: the history is no larger than what happens between two barriers, and at most kMostCells.
//
//   st.global [a]   record 7: line 40, warp 0, clock 3        cell of a: written by 7, lane 5
//   ld.global [a]   record 8: line 41, warp 0, clock 3        lane 5: the same thread; lane 6: a race, as warp 0's clock has not advanced
#pragma once
#include "runtime/device/emulated/Order.h"
#include "runtime/device/emulated/SharedMemory.h"
#include <array>

namespace tk::emulated {

class AccessHistory {
public:
  /// `actors` as in Order.
  explicit AccessHistory(uint32_t actors) : actors(actors) { forget(); }

  /// Whether what the lane is about to store differs from what is there.
  using Changes = bool (*)(Warp &, const Instr &, int lane, const uint8_t *memory);
  /// Notes accesses of the lanes, of `bytes` (a power of two, and aligned to it) each, and reports one that races. `times`: how often the warp has come to the
  /// instruction, which tells one execution of a statement from another.
  void note(Warp &warp, const Instr &i, uint32_t mask, const uint64_t *addresses, uint32_t bytes, Access access, uint32_t times = 0, Changes changes = nullptr);
  /// The same of any bytes for one lane. `moment`: the warp's clock that tells others of the access; 0: that of now.
  using Ranges = std::vector<std::pair<uint64_t, uint64_t>>; // address, bytes
  void noteRanges(Warp &warp, const Instr &i, uint32_t lane, const Ranges &ranges, Access access, uint32_t moment = 0);
  /// An asynchronous read (of which AsyncRead was noted when it began) has come to its end, and the asynchronous actor's clock tells others of it.
  void endAsyncRead(Warp &warp, const Instr &i, uint32_t lane, const Ranges &ranges);
  /// All threads have met, and know what `actor` knows.
  void allMet(const Order &order, uint32_t actor) {
    if (!asyncClock || order.hasSeen(actor, order.asyncActor(), asyncClock))
      forget();
  }

private:
  static constexpr uint32_t kManyLanes = 63;                  // as the lane of a read
  static constexpr uint32_t kReadersMark = uint32_t(1) << 31; // the rest is the number of a list, of a word for each actor
  static constexpr uint32_t kMostRecords = 1 << 25, kMostCells = 1 << 24;
  static constexpr uint32_t kPieceBits = 8;
  struct Record {
    const Instr *instr;
    uint32_t clock, times, actor;
    bool isStrong;
  };
  struct Cell {
    uint32_t write = 0, read = 0; // record << 6 | lane; 0: none
  };
  struct Piece {
    uint32_t firstCell = 0, shift = 0; // of cells of 1 << shift bytes
  };
  struct Slot {
    uint64_t key = 0;
    uint32_t generation = 0, piece = 0;
  };
  enum class Standing : uint8_t { Ordered, SameMoment, Unordered }; // SameMoment: in order for the same lane alone
  /// One access on its way through the cells, and the first race that was found.
  struct Accessing {
    Warp *warp;
    const Instr *instr;
    const Order *order;
    uint32_t actor, now, record, lane;
    bool isWrite, isStrong, isRecorded;
    Changes changes;
    uint32_t other = 0; // what it races with, as in a cell
    uint32_t otherLanes = 0;
    const char *what = nullptr;
    uint64_t address = 0;
    // Of the cell before.
    uint64_t key = ~uint64_t(0);
    Piece piece;
    uint32_t asked = 0; // a record
    Standing standing = Standing::Ordered;
  };
  void forget();
  Accessing begin(Warp &warp, const Instr &i, Access access, uint32_t times, Changes changes);
  template <typename F> void forCells(Accessing &a, uint64_t address, uint64_t bytes, uint32_t shift, F f);
  uint32_t pieceOf(uint64_t key, uint32_t shift);
  void split(Piece &piece, uint32_t shift);
  void grow();
  void noteCell(Cell &cell, Accessing &a, uint64_t address);
  void addReader(Cell &cell, Accessing &a);
  Standing standingOf(uint32_t word, Accessing &a) const;
  bool isOrdered(uint32_t word, Accessing &a) const;
  bool isOneStatement(uint32_t word, const Accessing &a) const;
  void complain(const Accessing &a);
  uint32_t newList();

  const uint32_t actors;
  std::vector<Slot> slots; // those of this generation count
  uint32_t generation = 0;
  std::vector<Piece> pieces;
  std::vector<Cell> cells;
  std::vector<Record> records;
  std::vector<uint32_t> lists, freeLists; // readers of cells that several warps have read
  uint32_t asyncClock = 0;                // of the last asynchronous read
};

} // namespace tk::emulated
