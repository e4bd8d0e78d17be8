// Arguments: how C++ values become them, which launches share code, and the bits that code receives.
#include "runtime/Specialization.h"
#include "Catch.h"
#include "Thrown.h"
#include "runtime/SeenLaunch.h"
#include "tk/error.h"
#include "tk/tk.h"
#include <set>

using namespace tk;
using namespace tk::runtime;

namespace {
std::string keyOf(const Argument &argument, ParameterRule rule = {}) {
  LaunchKey key;
  appendKey(key, rule, &argument);
  return std::string(key.view());
}
} // namespace

TEST_CASE("C++ values as arguments", "[specialization]") {
  float numbers[4] = {};
  const int8_t bytes[4] = {};
  CHECK(Argument(numbers).kind == Argument::Kind::Pointer);
  CHECK(Argument(numbers).type == DType::F32);
  CHECK(Argument(bytes).type == DType::I8);
  CHECK(Argument(static_cast<uint64_t *>(nullptr)).type == DType::U64);
  CHECK(ptr<BF16>(numbers).type == DType::BF16);
  CHECK(Argument(1.5f).number() == 1.5);
  CHECK(Argument(true).kind == Argument::Kind::Bool);
  CHECK(Argument(7u).kind == Argument::Kind::UInt);
  CHECK(Argument("relu").text == std::string("relu"));
  CHECK(Argument(nullptr).kind == Argument::Kind::None);
  CHECK(f64(2).typed);
  CHECK(meta("BLOCK", 1024).name == std::string("BLOCK"));
  CHECK(scalar(DType::U8, int64_t(3)).kind == Argument::Kind::UInt);
  Array array(DType::F16, {2});
  CHECK(Argument(array).type == DType::F16);
  CHECK(Argument(array).bits == reinterpret_cast<uintptr_t>(array.data()));
}

TEST_CASE("launches share code exactly when nothing that code depends on differs", "[specialization]") {
  CHECK(keyOf(2) == keyOf(3));
  CHECK(keyOf(2) == keyOf(int64_t(3)));
  CHECK(keyOf(2) == keyOf(3u));
  CHECK(keyOf(1) != keyOf(3));
  CHECK(keyOf(16) != keyOf(3));
  CHECK(keyOf(16) == keyOf(32));
  CHECK(keyOf(3) != keyOf(int64_t(1) << 33 | 1));
  CHECK(keyOf(int64_t(1) << 33 | 1) != keyOf(UINT64_MAX));
  CHECK(keyOf(3) != keyOf(i64(3)));
  CHECK(keyOf(3) != keyOf(true));
  CHECK(keyOf(0.5) == keyOf(0.25f));
  CHECK(keyOf(0.5) != keyOf(f64(0.5)));
  CHECK(keyOf(ptr<F32>(reinterpret_cast<void *>(64))) == keyOf(ptr<F32>(reinterpret_cast<void *>(128))));
  CHECK(keyOf(ptr<F32>(reinterpret_cast<void *>(64))) != keyOf(ptr<F32>(reinterpret_cast<void *>(68))));
  CHECK(keyOf(ptr<F32>(reinterpret_cast<void *>(64))) != keyOf(ptr<I32>(reinterpret_cast<void *>(64))));
  CHECK(keyOf("a") != keyOf("b"));
  CHECK(keyOf(function("a")) != keyOf("a"));
  CHECK(keyOf(tuple(1, 2)) == keyOf(tuple(1, 3)));
  CHECK(keyOf(tuple(1, 2)) != keyOf(tuple(2, 1)));
  CHECK(keyOf(tuple(1, tuple(2, 3))) != keyOf(tuple(1, 2, 3)));
  ParameterRule unfolded;
  unfolded.foldOne = false;
  CHECK(keyOf(1, unfolded) == keyOf(3, unfolded));
  CHECK(keyOf(16, unfolded) != keyOf(3, unfolded));
  ParameterRule constant, plain, unaligned;
  constant.isConstexpr = true, plain.specialize = false, unaligned.alignment = false;
  CHECK(keyOf(2, constant) != keyOf(3, constant));
  CHECK(keyOf(0.5, constant) != keyOf(0.25, constant));
  CHECK(keyOf(1, plain) == keyOf(3, plain));
  CHECK(keyOf(16, plain) == keyOf(3, plain));
  CHECK(keyOf(16, unaligned) == keyOf(3, unaligned));
  CHECK(keyOf(1, unaligned) != keyOf(3, unaligned));
}

TEST_CASE("a launch is taken for the one before only if their keys are equal, and mostly then", "[specialization]") {
  const std::vector<Argument> values = {0,
                                        1,
                                        2,
                                        16,
                                        32,
                                        -1,
                                        -16,
                                        INT64_MAX,
                                        UINT64_MAX,
                                        UINT64_MAX - 15,
                                        i64(1),
                                        i64(16),
                                        i64(17),
                                        scalar(DType::U8, int64_t(16)),
                                        true,
                                        false,
                                        0.5,
                                        0.25,
                                        1.0f,
                                        f64(0.5),
                                        "a",
                                        "b",
                                        function("a"),
                                        nullptr,
                                        DType::F16,
                                        DType::F32,
                                        ptr<F32>(reinterpret_cast<void *>(64)),
                                        ptr<F32>(reinterpret_cast<void *>(68)),
                                        ptr<I32>(reinterpret_cast<void *>(64)),
                                        ptr<F32>(nullptr)};
  std::vector<ParameterRule> rules(5);
  rules[1].isConstexpr = true, rules[2].specialize = false, rules[3].alignment = false, rules[4].foldOne = false;
  const std::vector<std::optional<Argument>> none(1);
  size_t recognized = 0, alike = 0;
  for (const ParameterRule &rule : rules)
    for (const Argument &before : values)
      for (const Argument &now : values) {
        const std::vector<uint32_t> masks = {keyMask(rule)};
        const Argument *first = &before, *second = &now;
        const bool isAgain = SeenLaunch(nullptr, {}, masks, 0, &first, none).isAgain(nullptr, {}, masks, 0, &second, none);
        const bool isSame = keyOf(before, rule) == keyOf(now, rule);
        INFO(describe(before) << " and " << describe(now) << ", rule " << &rule - rules.data());
        CHECK((!isAgain || isSame));
        recognized += isAgain, alike += isSame;
      }
  CHECK(recognized > alike * 3 / 4);

  // What else there is: device, options, defaults, policies.
  auto *device = reinterpret_cast<GpuDevice *>(64), *other = reinterpret_cast<GpuDevice *>(128);
  const std::vector<uint32_t> masks = {keyMask(rules[0]), keyMask(rules[0])};
  const std::vector<std::optional<Argument>> defaults = {std::nullopt, Argument(7)};
  Argument array = ptr<F32>(reinterpret_cast<void *>(64)), elsewhere = array, seven = 7;
  array.memory = elsewhere.memory = Argument::Memory::Device, array.device = device, elsewhere.device = other;
  LaunchOptions eight;
  eight.numWarps = 8;
  const Argument *given[] = {&array, &*defaults[1]};
  const SeenLaunch seen(device, eight, masks, 3, given, defaults);
  auto again = [&](GpuDevice *where, const LaunchOptions &options, unsigned policy, const Argument *first, const Argument *second) {
    const Argument *now[] = {first, second};
    const bool is = seen.isAgain(where, options, masks, policy, now, defaults);
    CHECK((!is || now[1] == &*defaults[1]));
    return is;
  };
  CHECK(again(device, eight, 3, &array, nullptr));
  CHECK(again(device, eight, 3, &array, &*defaults[1]));
  CHECK_FALSE(again(device, eight, 3, &array, &seven));
  CHECK_FALSE(again(device, eight, 3, &elsewhere, nullptr));
  CHECK_FALSE(again(device, eight, 3, nullptr, nullptr));
  CHECK_FALSE(again(other, eight, 3, &elsewhere, nullptr));
  CHECK_FALSE(again(other, eight, 3, &array, nullptr));
  CHECK_FALSE(again(device, {}, 3, &array, nullptr));
  CHECK_FALSE(again(device, eight, 4, &array, nullptr));
  CHECK_FALSE(SeenLaunch().isAgain(nullptr, {}, {}, 0, nullptr, {}));
}

TEST_CASE("a length that changes with every launch is compiled a few times", "[specialization]") {
  std::set<std::string> keys;
  for (int64_t n = 1; n <= 1000; ++n)
    keys.insert(keyOf(n));
  CHECK(keys.size() == 3); // 1, multiples of 16, the others
  for (int64_t n = 1; n <= 1000; ++n)
    keys.insert(keyOf(n + (int64_t(1) << 32)));
  CHECK(keys.size() == 5); // those of 64 bits
}

TEST_CASE("binding of arguments to parameters", "[specialization]") {
  std::vector<ParameterRule> rules(3);
  rules[0].name = "x", rules[1].name = "n", rules[2].name = "BLOCK", rules[2].hasDefault = true;
  LaunchOptions options;
  auto bind = [&](std::vector<Argument> arguments) {
    std::vector<int64_t> values;
    options = {};
    std::vector<const Argument *> bound(rules.size());
    bindArguments("k", rules, arguments.data(), arguments.size(), bound.data(), options);
    checkComplete("k", rules, bound.data());
    for (const Argument *argument : bound)
      values.push_back(argument ? static_cast<int64_t>(argument->bits) : -1);
    return values;
  };
  CHECK(bind({5, 6, 7}) == std::vector<int64_t>{5, 6, 7});
  CHECK(bind({5, 6}) == std::vector<int64_t>{5, 6, -1});
  CHECK(bind({5, meta("BLOCK", 9), meta("n", 8)}) == std::vector<int64_t>{5, 8, 9});
  // Launch options are no parameters.
  CHECK(bind({5, 6, meta("num_warps", 8), meta("BLOCK", 9), meta("enable_fp_fusion", true)}) == std::vector<int64_t>{5, 6, 9});
  CHECK((options.numWarps == 8 && options.numStages == 0 && options.fpFusion));
  auto keyOfOptions = [](const LaunchOptions &options) {
    LaunchKey key;
    options.appendKey(key);
    return std::string(key.view());
  };
  std::string plain = keyOfOptions({}), eight = keyOfOptions(options);
  options.fpFusion = false;
  std::string fused = keyOfOptions(options);
  CHECK((plain != eight && eight != fused && fused != plain));
  CHECK(contains(thrown([&] { bind({5, 6, meta("num_warps", 3)}); }), "launch option `num_warps` must be 1, 2, 4, 8, 16 or 32, found 3"));
  CHECK(contains(thrown([&] { bind({5, 6, meta("num_stages", 0)}); }), "launch option `num_stages` must lie between 1 and 16, found 0"));
  CHECK(contains(thrown([&] { bind({5, 6, meta("num_warps", 2.0)}); }), "launch option `num_warps` must be an integer, found 2"));
  rules[2].name = "num_warps"; // a parameter hides the option
  CHECK(bind({5, 6, meta("num_warps", 3)}) == std::vector<int64_t>{5, 6, 3});
  CHECK(options.numWarps == 0);
  rules[2].name = "BLOCK";
  CHECK(contains(thrown([&] { bind({5}); }), "parameter `n` is missing"));
  CHECK(contains(thrown([&] { bind({5, 6, 7, 8}); }), "takes 3 arguments"));
  CHECK(contains(thrown([&] { bind({5, 6, meta("x", 1)}); }), "`x` is given twice"));
  CHECK(contains(thrown([&] { bind({5, 6, meta("BLOK", 1)}); }), "no parameter `BLOK`; it has x, n, BLOCK"));
  CHECK(contains(thrown([&] { bind({meta("x", 1), 6}); }), "follows one given by name"));
}

TEST_CASE("the bits that code receives", "[specialization]") {
  CHECK(slotBits(-1, DType::I32, false, "n") == 0xffffffff);
  CHECK(slotBits(-1, DType::I64, false, "n") == UINT64_MAX);
  CHECK(slotBits(UINT64_MAX, DType::U64, false, "n") == UINT64_MAX);
  CHECK(slotBits(0.1, DType::F32, false, "a") == 0x3dcccccd);
  CHECK(slotBits(3, DType::F32, false, "a") == 0x40400000);
  CHECK(slotBits(65500, DType::F16, false, "a") == 0x7bff);
  CHECK(slotBits(true, DType::I1, false, "b") == 1);
  CHECK(slotBits(ptr<F32>(reinterpret_cast<void *>(64)), DType::F32, true, "x") == 64);
  CHECK(thrown([&] { slotBits(int64_t(1) << 31, DType::I32, false, "n"); }) == "parameter `n`: 2147483648 is out of range of i32");
  CHECK_THROWS_AS(slotBits(-1, DType::U32, false, "n"), Error);
  CHECK_THROWS_AS(slotBits(UINT64_MAX, DType::I64, false, "n"), Error);
  CHECK_THROWS_AS(slotBits(0.5, DType::I32, false, "n"), Error);
  CHECK(thrown([&] { slotBits(ptr<F32>(nullptr), DType::F16, true, "x"); }) == "parameter `x` is a pointer to fp16, but a pointer to fp32 is given");
  CHECK_THROWS_AS(slotBits(3, DType::F32, true, "x"), Error);
}

TEST_CASE("spellings of types", "[specialization]") {
  DType type;
  CHECK((parseDType("bf16", type) && type == DType::BF16));
  CHECK((parseDType("float8_e4m3fn", type) && type == DType::F8E4M3FN));
  CHECK((parseDType("bool", type) && type == DType::I1));
  CHECK_FALSE(parseDType("fp31", type));
  CHECK_FALSE(parseDType("", type));
}
