// LinearLayout as mathematics: the example of its header, then laws on random maps.
#include "Catch.h"
#include "dialects/layout/LinearLayout.h"
#include <bit>
#include <random>
#include <set>

using namespace tk::layout;

namespace {

/// The header's example: a 4 x 8 tile on 2 warps of 4 lanes with 4 registers.
LinearLayout example() {
  // Outputs (row 2 bits, column 3 bits): row is low.
  auto at = [](uint64_t row, uint64_t column) { return row | column << 2; };
  return LinearLayout({{"register", 2}, {"lane", 2}, {"warp", 1}}, {{"row", 2}, {"column", 3}}, {at(0, 1), at(0, 2), at(0, 4), at(1, 0), at(2, 0)});
}

struct Random {
  std::mt19937_64 engine{20240611};
  unsigned below(unsigned n) { return unsigned(engine() % n); }
  LinearLayout map(unsigned in, unsigned out) {
    std::vector<uint64_t> bases;
    for (unsigned i = 0; i < in; ++i)
      bases.push_back(out == 0 ? 0 : engine() & ((uint64_t(1) << out) - 1));
    unsigned a = below(in + 1), b = below(out + 1);
    return LinearLayout({{"r", a}, {"l", in - a}}, {{"x", b}, {"y", out - b}}, bases);
  }
  LinearLayout bijection(unsigned bits) {
    for (;;) {
      LinearLayout candidate = map(bits, bits);
      if (candidate.isBijective())
        return candidate;
    }
  }
};

} // namespace

TEST_CASE("the worked example places every element once") {
  LinearLayout layout = example();
  CHECK(layout.apply(Coordinates{{"register", 3}, {"lane", 2}, {"warp", 1}}) == Coordinates{{"row", 3}, {"column", 3}});
  std::set<uint64_t> seen;
  for (uint64_t place = 0; place < 32; ++place)
    seen.insert(layout.apply(place));
  CHECK(seen.size() == 32);
  CHECK(layout.isBijective());
  CHECK(layout.contiguousBits("register", "column") == 2);
  CHECK(layout.contiguousBits("lane", "column") == 0);
}

TEST_CASE("a map is linear") {
  Random random;
  for (int round = 0; round < 200; ++round) {
    LinearLayout map = random.map(random.below(10), random.below(10));
    uint64_t x = random.engine() & ((uint64_t(1) << map.totalInBits()) - 1), y = random.engine() & ((uint64_t(1) << map.totalInBits()) - 1);
    CHECK(map.apply(x ^ y) == (map.apply(x) ^ map.apply(y)));
    CHECK(map.apply(uint64_t(0)) == 0);
  }
}

TEST_CASE("the inverse undoes a bijection") {
  Random random;
  for (unsigned bits = 0; bits < 9; ++bits)
    for (int round = 0; round < 20; ++round) {
      LinearLayout map = random.bijection(bits), back = map.invert();
      for (uint64_t x = 0; x < (uint64_t(1) << bits); ++x)
        REQUIRE(back.apply(map.apply(x)) == x);
    }
}

TEST_CASE("composition is function composition and is associative") {
  Random random;
  for (int round = 0; round < 100; ++round) {
    LinearLayout f = random.map(6, 7), g0 = random.map(7, 5), h0 = random.map(5, 6);
    LinearLayout g(f.outs(), g0.outs(), g0.matrix()), h(g.outs(), h0.outs(), h0.matrix());
    LinearLayout left = f.compose(g).compose(h), right = f.compose(g.compose(h));
    CHECK(left == right);
    for (uint64_t x = 0; x < 64; ++x)
      REQUIRE(left.apply(x) == h.apply(g.apply(f.apply(x))));
  }
}

TEST_CASE("invertAndCompose finds who holds an element") {
  Random random;
  for (int round = 0; round < 200; ++round) {
    // The holder covers everything, some of it several times; the reader is arbitrary.
    LinearLayout holder = random.map(9, 5);
    if (!holder.isSurjective())
      continue;
    LinearLayout any = random.map(6, 5);
    LinearLayout reader(any.ins(), holder.outs(), any.matrix());
    LinearLayout from = reader.invertAndCompose(holder);
    for (uint64_t x = 0; x < 64; ++x) {
      REQUIRE(holder.apply(from.apply(x)) == reader.apply(x));
      REQUIRE((from.apply(x) & holder.freeBits()) == 0);
    }
  }
}

TEST_CASE("the product stacks bits and the quotient takes them off again") {
  Random random;
  for (int round = 0; round < 200; ++round) {
    LinearLayout low = random.map(random.below(5), random.below(5)), high = random.map(random.below(5), random.below(5));
    LinearLayout product = low * high;
    REQUIRE(product.totalInBits() == low.totalInBits() + high.totalInBits());
    for (const Dimension &dim : low.ins())
      for (unsigned bit = 0; bit < dim.bits; ++bit)
        for (const Dimension &out : low.outs())
          REQUIRE(product.basis(dim.name, bit, out.name) == low.basis(dim.name, bit, out.name));
    auto quotient = product.divideLeft(low);
    REQUIRE(quotient.has_value());
    CHECK(*quotient == high);
  }
  CHECK(example().divideLeft(LinearLayout::identity("register", "column", 2)).has_value());
  CHECK_FALSE(example().divideLeft(LinearLayout::identity("register", "row", 1)).has_value());
  CHECK_FALSE(example().divideLeft(LinearLayout::identity("register", "column", 3)).has_value());
}

TEST_CASE("free bits are replication") {
  // Lane bit 1 repeats what lane bit 0 and the register give together; warps hold copies.
  LinearLayout layout({{"register", 1}, {"lane", 2}, {"warp", 1}}, {{"x", 2}}, {1, 2, 3, 0});
  CHECK(layout.rank() == 2);
  CHECK(layout.freeBits("register") == 0);
  CHECK(layout.freeBits("lane") == 2);
  CHECK(layout.freeBits("warp") == 1);
  CHECK(layout.isSurjective());
  CHECK_FALSE(layout.isInjective());
  Random random;
  for (int round = 0; round < 200; ++round) {
    LinearLayout map = random.map(random.below(9), random.below(7));
    std::set<uint64_t> images, kept;
    for (uint64_t x = 0; x < (uint64_t(1) << map.totalInBits()); ++x) {
      images.insert(map.apply(x));
      if (!(x & map.freeBits()))
        REQUIRE(kept.insert(map.apply(x)).second); // without the free bits nothing repeats
    }
    CHECK(images == kept);
    CHECK(images.size() == uint64_t(1) << map.rank());
  }
}

TEST_CASE("a vector needs its output bits for itself") {
  // Register bits 0 and 1 run along x, but lane bit 0 also moves x by 1: not aligned, so no vector of 2.
  LinearLayout overlapping({{"register", 2}, {"lane", 1}}, {{"x", 2}, {"y", 1}}, {1, 2, 1 | 4});
  CHECK(overlapping.contiguousBits("register", "x") == 0);
  LinearLayout second({{"register", 2}, {"lane", 1}}, {{"x", 2}, {"y", 1}}, {1, 2, 2 | 4});
  CHECK(second.contiguousBits("register", "x") == 1);
}

TEST_CASE("reordering names does not change the function") {
  LinearLayout layout = example(), other = layout.transposeIns({"warp", "register", "lane"}).transposeOuts({"column", "row"});
  for (uint32_t reg = 0; reg < 4; ++reg)
    for (uint32_t lane = 0; lane < 4; ++lane)
      for (uint32_t warp = 0; warp < 2; ++warp) {
        Coordinates a = layout.apply(Coordinates{{"register", reg}, {"lane", lane}, {"warp", warp}});
        Coordinates b = other.apply(Coordinates{{"lane", lane}, {"warp", warp}, {"register", reg}});
        REQUIRE(a == Coordinates{b[1], b[0]});
      }
  CHECK(other.transposeIns({"register", "lane", "warp"}).transposeOuts({"row", "column"}) == layout);
  CHECK(layout.restrictOuts({"column"}).basis("lane", 1, "column") == 0);
  CHECK(layout.restrictIns({"lane"}).totalInBits() == 2);
}
