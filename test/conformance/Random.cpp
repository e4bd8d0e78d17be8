// N9: Philox, bit for bit, and what is made of its words.
#include "test/conformance/Areas.h"
#include <cmath>

namespace tk::conformance {

namespace {
struct Answer {
  const char *name;
  int64_t seed, offset;
  uint32_t words[4];
  double uniform;
  bool wideOffset = false;
};

constexpr Answer kAnswers[] = {
    {"seed_0_offset_0", 0, 0, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}, 0.798092902},
    {"seed_0_offset_1", 0, 1, {0xf8e4cca4, 0x5cb200db, 0xb1a574eb, 0x097eff67}, 0.0555175915},
    {"seed_0_offset_2", 0, 2, {0x04faa329, 0x51c732a6, 0x241513ad, 0x459135e4}, 0.0388988405},
    {"seed_0_offset_1023", 0, 1023, {0x1b5060c9, 0x36ad1fe2, 0x6db42ecb, 0x6953d418}, 0.213390425},
    {"seed_0_offset_minus_1", 0, -1, {0xc5b20a9d, 0x4434ec4e, 0x11bbe4fb, 0x2a1ef7a5}, 0.45550409},
    {"seed_0_offset_2p32", 0, int64_t(1) << 32, {0x6ad0c5ec, 0xea236249, 0x73a459f5, 0x074944b3}, 0.8344962, true},
    {"seed_0_offset_2p40_5", 0, (int64_t(1) << 40) + 5, {0x9ec02c5c, 0x3e3005ff, 0x99a709ab, 0xfc7ed9d4}, 0.759760261, true},
    {"seed_42_offset_0", 42, 0, {0x9ceaf053, 0x77f5493b, 0x12bf50ad, 0x5742b3d7}, 0.774080157},
    {"seed_42_offset_1", 42, 1, {0xfcdb2127, 0x53ba6cfd, 0x838f5a6e, 0x744e06fb}, 0.024562696},
    {"seed_42_offset_1023", 42, 1023, {0x4f9cb0c5, 0x208466e3, 0xdbf5ee28, 0x7c84355c}, 0.621969283},
    {"seed_0xffffffff", 0xffffffff, 0, {0xf60ba7e1, 0xfb0bd7a0, 0xc70cbd2d, 0x7dad399c}, 0.0777692869},
    {"seed_0xfcafeb0ba_offset_0", 0xfcafeb0ba, 0, {0xf219fb5b, 0xbe9182a4, 0xf573a172, 0x3952307c}, 0.108582087},
    {"seed_0xfcafeb0ba_offset_1", 0xfcafeb0ba, 1, {0xeeced75e, 0x021efe62, 0xa9c0c1a0, 0xce25abd8}, 0.134312689},
    {"seed_minus_1", -1, 0, {0x72a47709, 0x15474739, 0x9f41b01f, 0x22799a5a}, 0.895644009},
};

/// The published algorithm, for tables larger than the known answers.
std::array<uint32_t, 4> philox(uint64_t seed, uint64_t offset, unsigned rounds = 10) {
  std::array<uint32_t, 4> c = {static_cast<uint32_t>(offset), static_cast<uint32_t>(offset >> 32), 0, 0};
  uint32_t k0 = static_cast<uint32_t>(seed), k1 = static_cast<uint32_t>(seed >> 32);
  for (unsigned round = 0; round < rounds; ++round) {
    uint64_t a = uint64_t(0xD2511F53) * c[0], b = uint64_t(0xCD9E8D57) * c[2];
    c = {static_cast<uint32_t>(b >> 32) ^ c[1] ^ k0, static_cast<uint32_t>(b), static_cast<uint32_t>(a >> 32) ^ c[3] ^ k1, static_cast<uint32_t>(a)};
    k0 += 0x9E3779B9, k1 += 0xBB67AE85;
  }
  return c;
}

std::array<uint64_t, 4> philox64(uint64_t key, uint64_t offset) {
  std::array<uint64_t, 4> c = {offset, 0, 0, 0};
  uint64_t k0 = key, k1 = 0;
  for (unsigned round = 0; round < 10; ++round) {
    unsigned __int128 a = static_cast<unsigned __int128>(0xD2E7470EE14C6C93u) * c[0], b = static_cast<unsigned __int128>(0xCA5A826395121157u) * c[2];
    c = {static_cast<uint64_t>(b >> 64) ^ c[1] ^ k0, static_cast<uint64_t>(b), static_cast<uint64_t>(a >> 64) ^ c[3] ^ k1, static_cast<uint64_t>(a)};
    k0 += 0x9E3779B97F4A7C15u, k1 += 0xBB67AE8584CAA73Bu;
  }
  return c;
}

float uniformOf(uint32_t word) {
  int32_t value = static_cast<int32_t>(word);
  return static_cast<float>(value < 0 ? ~value : value) * 0x1.fffffep-32f;
}

void addKnownAnswers(Suite &suite) {
  for (const Answer &answer : kAnswers) {
    std::string type = answer.wideOffset ? "i64" : "i32";
    Values words(DType::U32, {answer.words[0], answer.words[1], answer.words[2], answer.words[3]});
    suite
        .add(std::string("N9.philox.") + answer.name, substitute(R"(
def k(seed, offset: $T, words, uniform):
    a, b, c, d = randint4x(seed, offset + zeros((4,), int32).to($W))
    i = arange(0, 4)
    static_assert(a.dtype == uint32)
    store(words + i, where(i == 0, a, where(i == 1, b, where(i == 2, c, d))))
    store(uniform, rand(seed, offset))
    store(uniform + 1, randint(seed, offset).to(int32, bitcast=True).to(float32))
)", {{"T", type}, {"W", answer.wideOffset ? "int64" : "int32"}}))
        .value(answer.seed)
        .value(answer.offset)
        .out(words)
        .out(numbers(DType::F32, {answer.uniform, static_cast<double>(static_cast<int32_t>(answer.words[0]))}), {.absolute = 1e-9});
  }
}

void addTables(Suite &suite) {
  Values rounds4(DType::U32, {}), tile(DType::U32, {}), uniform(DType::F32, {});
  for (uint64_t i = 0; i < 256; ++i) {
    tile.bits.push_back(philox(7, i * 3)[i % 4]);
    rounds4.bits.push_back(philox(7, i, 4)[0]);
    uniform.bits.push_back(encode(DType::F32, uniformOf(philox(7, i)[i % 4])));
  }
  suite.add("N9.randint4x.tile", R"(
def k(seed, out):
    i = arange(0, 256)
    a, b, c, d = randint4x(seed, i * 3)
    r = i % 4
    store(out + i, where(r == 0, a, where(r == 1, b, where(r == 2, c, d))))
)").value(int64_t(7)).out(tile);
  suite.add("N9.randint.rounds", R"(
def k(seed, out):
    i = arange(0, 256)
    store(out + i, randint(seed, i, n_rounds=4))
)").value(int64_t(7)).out(rounds4);
  suite.add("N9.rand4x", R"(
def k(seed, out):
    i = arange(0, 256)
    a, b, c, d = rand4x(seed, i)
    r = i % 4
    store(out + i, where(r == 0, a, where(r == 1, b, where(r == 2, c, d))))
)").value(int64_t(7)).out(uniform);
  Values wide(DType::U64, {});
  for (uint64_t i = 0; i < 64; ++i)
    wide.bits.push_back(philox64(1234567890123456789u, i)[i % 4]);
  suite.add("N9.philox64", R"(
def k(seed, out):
    i = arange(0, 64)
    z = i.to(uint64) * 0
    a, b, c, d = philox(seed, i.to(uint64), z, z, z)
    static_assert(a.dtype == uint64)
    r = i % 4
    store(out + i, where(r == 0, a, where(r == 1, b, where(r == 2, c, d))))
)").value(int64_t(1234567890123456789)).out(wide);
}

void addUniform(Suite &suite) {
  // The largest and the smallest word map to the same largest value; nothing reaches 1.
  Values words(DType::U32, {0x7fffffff, 0x80000000, 0, 0xffffffff, 1, 0x80000001, 0x40000000, 0xc0000000});
  Values expected(DType::F32, {});
  for (uint64_t word : words.bits)
    expected.bits.push_back(encode(DType::F32, uniformOf(static_cast<uint32_t>(word))));
  expected.bits[0] = expected.bits[1] = encode(DType::F32, 0.99999994);
  for (const char *id : {"N9.uniform.corners", "A111.int_min"})
    suite.add(id, R"(
def k(x, out):
    i = arange(0, 8)
    store(out + i, uint_to_uniform_float(load(x + i)))
)").in(words).out(expected);
  Values big(DType::U64, {0x7fffffffffffffff, 0x8000000000000000, 0, 0xffffffffffffffff}), unit = numbers(DType::F32, {1.0, 1.0, 0, 0});
  unit.bits[0] = unit.bits[1] = encode(DType::F32, static_cast<double>(static_cast<float>(0x7fffffffffffffff) * static_cast<float>(1.0842020432385337e-19)));
  suite.add("N9.uniform.words64", R"(
def k(x, out):
    i = arange(0, 4)
    store(out + i, uint_to_uniform_float(load(x + i)))
)").in(big).out(unit);
}

void addNormal(Suite &suite) {
  suite.add("N9.randn.known", R"(
def k(zero, fortytwo, out):
    store(out, randn(zero, 0))
    store(out + 1, randn(zero, 1))
    store(out + 2, randn(fortytwo, 0))
    store(out + 3, randn(fortytwo, 7))
)").value(int64_t(0)).value(int64_t(42)).out(numbers(DType::F32, {0.0465515, -0.3883614, 0.6606133, 0.3296443}), {.absolute = 1e-5});
  Values four(DType::F32, {});
  for (uint64_t i = 0; i < 128; ++i) {
    auto words = philox(99, i);
    unsigned pair = i % 4 / 2 * 2;
    double radius = std::sqrt(-2 * std::log(std::max(1e-7, static_cast<double>(uniformOf(words[pair]))))), angle = 6.283185307179586 * uniformOf(words[pair + 1]);
    four.bits.push_back(encode(DType::F32, radius * (i % 2 ? std::sin(angle) : std::cos(angle))));
  }
  suite.add("N9.randn.four", R"(
def k(seed, out):
    i = arange(0, 128)
    a, b, c, d = randn4x(seed, i)
    r = i % 4
    store(out + i, where(r == 0, a, where(r == 1, b, where(r == 2, c, d))))
)").value(int64_t(99)).out(four, {.absolute = 1e-5});
  suite.add("N9.seed.float_is_an_error", "def k(out, seed):\n    i = arange(0, 16)\n    store(out + i, rand(seed, i))\n").out(filled(DType::F32, 16)).value(0.5).error("seed");
}
} // namespace

void addRandom(Suite &suite) {
  addKnownAnswers(suite);
  addTables(suite);
  addUniform(suite);
  addNormal(suite);
  Values high(DType::U32, {});
  for (uint64_t i = 0; i < 64; ++i)
    high.bits.push_back(philox(5, (uint64_t(1) << 33) + i * 17)[i % 4]);
  suite.add("A111.wide_offsets", R"(
def k(seed, out):
    i = arange(0, 64)
    offset = i.to(int64) * 17 + 8589934592
    a, b, c, d = randint4x(seed, offset)
    r = i % 4
    store(out + i, where(r == 0, a, where(r == 1, b, where(r == 2, c, d))))
)").value(int64_t(5)).out(high);
}

} // namespace tk::conformance
