// TileLayout as mathematics: laws on random bases, by counting the elements that the threads hold.
#include "Catch.h"
#include "dialects/ttg/TileLayout.h"
#include <map>
#include <random>
#include <set>

using namespace tk::ttg;

namespace {

struct Random {
  std::mt19937_64 engine{1789};
  unsigned below(unsigned n) { return unsigned(engine() % n); }
  /// Any bases: dependent ones, zeros, several bits.
  TileLayout any(unsigned indexBits) {
    TileLayout layout;
    auto fill = [&](llvm::SmallVectorImpl<uint32_t> &bases, unsigned most) {
      for (unsigned i = below(most + 1); i > 0; --i)
        bases.push_back(below(5) == 0 ? 0 : below(1u << indexBits));
    };
    fill(layout.reg, 4), fill(layout.lane, 3), fill(layout.warp, 2);
    return layout;
  }
  /// Each bit of the index once, and some zeros.
  TileLayout permutation(unsigned indexBits) {
    std::vector<uint32_t> bases;
    for (unsigned bit = 0; bit < indexBits; ++bit)
      bases.push_back(1u << bit);
    for (unsigned zeros = below(3); zeros > 0; --zeros)
      bases.push_back(0);
    std::shuffle(bases.begin(), bases.end(), engine);
    TileLayout layout;
    for (uint32_t base : bases) {
      llvm::SmallVector<uint32_t, 8> *groups[] = {&layout.reg, &layout.lane, &layout.warp};
      groups[below(3)]->push_back(base);
    }
    return layout;
  }
};

unsigned threadsOf(const TileLayout &layout) { return 1u << (layout.lane.size() + layout.warp.size()); }
uint32_t indexOf(const TileLayout &layout, unsigned number, unsigned thread) {
  unsigned lanes = 1u << layout.lane.size();
  return layout.indexOf(number, thread % lanes, thread / lanes);
}
std::set<uint32_t> held(const TileLayout &layout) {
  std::set<uint32_t> result;
  for (unsigned thread = 0; thread < threadsOf(layout); ++thread)
    for (unsigned number = 0; number < layout.registers(); ++number)
      result.insert(indexOf(layout, number, thread));
  return result;
}
/// The bits of `index` outside the axis, moved together.
uint32_t without(uint32_t index, AxisBits axis) { return (index & ((1u << axis.begin) - 1)) | (index >> (axis.begin + axis.count)) << axis.begin; }

} // namespace

TEST_CASE("the README's example") {
  TileLayout layout{{1, 2}, {4, 8}, {16}};
  CHECK(layout.indexOf(3, 2, 1) == 27);
  CHECK(held(layout).size() == 32);
  CHECK(layout.isPermutation());
  CHECK(layout.vectorBits() == 2);
  CHECK(layout.freeThreadBits() == 0);
}

TEST_CASE("axes are ranges of index bits, the last one lowest") {
  llvm::SmallVector<AxisBits> axes = axisBitsOf({4, 1, 32, 2});
  CHECK(axes[3].begin == 0);
  CHECK(axes[3].count == 1);
  CHECK(axes[2].mask() == 0b111110);
  CHECK(axes[1].count == 0);
  CHECK(axes[1].mask() == 0);
  CHECK(axes[0].mask() == 0b11000000);
}

TEST_CASE("TileLayout is LinearLayout with its dimensions fixed") {
  Random random;
  for (int round = 0; round < 200; ++round) {
    TileLayout layout = random.any(6);
    tk::layout::LinearLayout linear = layout.toLinear(6);
    for (unsigned thread = 0; thread < threadsOf(layout); ++thread)
      for (unsigned number = 0; number < layout.registers(); ++number)
        REQUIRE(linear.apply(uint64_t(number) | uint64_t(thread) << layout.reg.size()) == indexOf(layout, number, thread));
  }
}

TEST_CASE("owners hold every element exactly once") {
  Random random;
  for (int round = 0; round < 1000; ++round) {
    TileLayout layout = random.any(6);
    uint32_t free = layout.freeThreadBits();
    std::map<uint32_t, unsigned> times;
    for (unsigned thread = 0; thread < threadsOf(layout); ++thread)
      for (unsigned number = 0; number < layout.registers(); ++number)
        if ((thread & free) == 0 && !layout.isDuplicateRegister(number))
          ++times[indexOf(layout, number, thread)];
    REQUIRE(times.size() == held(layout).size());
    for (auto [index, count] : times)
      REQUIRE(count == 1);
  }
}

TEST_CASE("a free bit changes nothing about what a thread holds") {
  Random random;
  for (int round = 0; round < 500; ++round) {
    TileLayout layout = random.any(6);
    uint32_t free = layout.freeThreadBits();
    // With the other free bits chosen to fit, the thread whose free bits are 0 has the same elements.
    std::set<std::set<uint32_t>> owners;
    auto elements = [&](unsigned thread) {
      std::set<uint32_t> result;
      for (unsigned number = 0; number < layout.registers(); ++number)
        result.insert(indexOf(layout, number, thread));
      return result;
    };
    for (unsigned thread = 0; thread < threadsOf(layout); ++thread)
      if ((thread & free) == 0)
        owners.insert(elements(thread));
    for (unsigned thread = 0; thread < threadsOf(layout); ++thread)
      REQUIRE(owners.count(elements(thread)) == 1);
  }
}

TEST_CASE("a duplicate register repeats a lower one") {
  Random random;
  for (int round = 0; round < 500; ++round) {
    TileLayout layout = random.any(5);
    std::set<uint32_t> seen;
    for (unsigned number = 0; number < layout.registers(); ++number)
      REQUIRE(layout.isDuplicateRegister(number) == !seen.insert(layout.indexOfRegister(number)).second);
  }
}

TEST_CASE("isPermutation") {
  Random random;
  for (int round = 0; round < 200; ++round) {
    TileLayout layout = random.permutation(6);
    REQUIRE(layout.isPermutation());
    TileLayout twice = layout;
    twice.lane.push_back(1u << random.below(6));
    REQUIRE(!twice.isPermutation());
    TileLayout mixed = layout;
    mixed.reg.push_back(3);
    REQUIRE(!mixed.isPermutation());
  }
}

TEST_CASE("without an axis: the other coordinates stay") {
  Random random;
  for (int round = 0; round < 500; ++round) {
    TileLayout layout = round % 2 ? random.any(6) : random.permutation(6);
    AxisBits axis{random.below(6), 0};
    axis.count = random.below(7 - axis.begin);
    TileLayout result = layout.withoutAxis(axis);
    REQUIRE(result.lane.size() == layout.lane.size());
    REQUIRE(result.warp.size() == layout.warp.size());
    for (unsigned thread = 0; thread < threadsOf(layout); ++thread) {
      std::set<uint32_t> expected, found;
      for (unsigned number = 0; number < layout.registers(); ++number)
        expected.insert(without(indexOf(layout, number, thread), axis));
      for (unsigned number = 0; number < result.registers(); ++number)
        found.insert(indexOf(result, number, thread));
      REQUIRE(found == expected);
    }
  }
}

TEST_CASE("registers that only count along a lost axis vanish, those that never counted stay") {
  TileLayout layout{{1, 0, 8}, {2}, {4}};
  CHECK(layout.withoutAxis({0, 1}) == TileLayout{{0, 4}, {1}, {2}});
  CHECK(layout.restrictedTo(0b0011) == TileLayout{{1, 0}, {2}, {0}});
}

TEST_CASE("an axis comes and goes") {
  Random random;
  for (int round = 0; round < 500; ++round) {
    TileLayout layout = random.any(5);
    AxisBits axis{random.below(6), random.below(4)};
    TileLayout wider = layout.withAxis(axis);
    for (unsigned thread = 0; thread < threadsOf(layout); ++thread)
      for (unsigned number = 0; number < layout.registers(); ++number) {
        uint32_t index = indexOf(wider, number, thread);
        REQUIRE((index & axis.mask()) == 0);
        REQUIRE(without(index, axis) == indexOf(layout, number, thread));
      }
    REQUIRE(wider.withoutAxis(axis) == layout);
  }
}

TEST_CASE("renumbered index bits") {
  Random random;
  for (int round = 0; round < 200; ++round) {
    TileLayout layout = random.any(6);
    std::vector<unsigned> order{0, 1, 2, 3, 4, 5}, back(6);
    std::shuffle(order.begin(), order.end(), random.engine);
    for (unsigned bit = 0; bit < 6; ++bit)
      back[order[bit]] = bit;
    TileLayout moved = layout.permuted(order);
    for (unsigned thread = 0; thread < threadsOf(layout); ++thread)
      for (unsigned number = 0; number < layout.registers(); ++number)
        for (unsigned bit = 0; bit < 6; ++bit)
          REQUIRE((indexOf(layout, number, thread) >> bit & 1) == (indexOf(moved, number, thread) >> order[bit] & 1));
    REQUIRE(moved.permuted(back) == layout);
  }
}

TEST_CASE("a vector is aligned neighbours in every thread, and the longest such") {
  Random random;
  for (int round = 0; round < 500; ++round) {
    TileLayout layout = round % 2 ? random.any(5) : random.permutation(5);
    auto holds = [&](unsigned bits) {
      if (bits > layout.reg.size())
        return false;
      unsigned length = 1u << bits;
      for (unsigned thread = 0; thread < threadsOf(layout); ++thread)
        for (unsigned number = 0; number < layout.registers(); ++number)
          if (indexOf(layout, number, thread) != (indexOf(layout, number & ~(length - 1), thread) | (number & (length - 1))) || indexOf(layout, number & ~(length - 1), thread) % length)
            return false;
      return true;
    };
    unsigned bits = layout.vectorBits();
    REQUIRE(holds(bits));
    REQUIRE(!holds(bits + 1));
  }
}

TEST_CASE("blocked layouts cover the tile, fastest axis first") {
  Random random;
  for (int round = 0; round < 300; ++round) {
    llvm::SmallVector<int64_t> shape;
    llvm::SmallVector<unsigned> order;
    unsigned total = 0;
    for (unsigned axis = 0, rank = 1 + random.below(4); axis < rank; ++axis) {
      unsigned bits = random.below(4);
      total += bits;
      shape.push_back(int64_t(1) << bits);
      order.push_back(axis);
    }
    std::shuffle(order.begin(), order.end(), random.engine);
    unsigned vector = random.below(3), lanes = random.below(5), warps = random.below(3);
    TileLayout layout = blockedLayout(shape, order, vector, lanes, warps);
    REQUIRE(layout.isPermutation());
    REQUIRE(layout.lane.size() == lanes);
    REQUIRE(layout.warp.size() == warps);
    REQUIRE(held(layout).size() == size_t(1) << total);
    // Reading registers, then lanes, then warps walks along the axes in their order, but for registers beyond a vector.
    AxisBits fastest = axisBitsOf(shape)[order.front()];
    for (unsigned i = 0; i < std::min(vector, fastest.count); ++i)
      REQUIRE(layout.reg[i] == 1u << (fastest.begin + i));
    uint32_t earlier = 0;
    for (unsigned axis : order) {
      uint32_t mask = axisBitsOf(shape)[axis].mask();
      // A lane bit along a slower axis comes only after all of the faster ones are taken by vector and lower lanes.
      uint32_t taken = 0;
      for (unsigned i = 0; i < std::min(vector, fastest.count); ++i)
        taken |= layout.reg[i];
      for (uint32_t base : layout.lane) {
        if (base & mask)
          REQUIRE((taken & earlier) == earlier);
        taken |= base;
      }
      earlier |= mask;
    }
    REQUIRE(defaultLayout(shape, lanes, warps).isPermutation());
  }
}
