// Tensor copies in tile mode: boxes of every rank, out of bounds on all sides, swizzles, element strides, stores, reductions and multicast.
#include "Machine.h"
#include "runtime/device/emulated/EmulatedDriver.h"

using namespace tk;
using namespace tk::emulated;
using cuda::TensorMap;

namespace {

constexpr int sharedBytes = 16 * 1024;

struct Tensor {
  std::vector<uint64_t> dims;
  std::vector<uint32_t> box, steps;
  int elementBytes = 2;
  int swizzle = 0; // bytes
  bool nan = false;
  std::vector<uint64_t> pitches = {}; // bytes, of dimension 1 and up
};

TensorMap encode(Tensor &t, void *base) {
  uint64_t pitch = (t.dims[0] * uint64_t(t.elementBytes) + 15) / 16 * 16 + 32;
  t.pitches.clear();
  for (size_t d = 1; d < t.dims.size(); ++d) {
    t.pitches.push_back(pitch);
    pitch = pitch * t.dims[d] + 16;
  }
  t.steps.resize(t.dims.size(), 1);
  TensorMap map;
  using Swizzle = cuda::TensorMapSwizzle;
  Swizzle swizzle = t.swizzle == 128 ? Swizzle::Bytes128 : t.swizzle == 64 ? Swizzle::Bytes64 : t.swizzle == 32 ? Swizzle::Bytes32 : Swizzle::None;
  cuda::TensorMapDataType type = t.elementBytes == 2   ? cuda::TensorMapDataType::F16
                                 : t.elementBytes == 4 ? cuda::TensorMapDataType::F32
                                 : t.elementBytes == 8 ? cuda::TensorMapDataType::F64
                                                       : cuda::TensorMapDataType::U8;
  REQUIRE(getEmulatedDriver().tensorMapEncodeTiled(&map, type, uint32_t(t.dims.size()), base, t.dims.data(), t.pitches.data(), t.box.data(), t.steps.data(),
                                                   cuda::TensorMapInterleave::None, swizzle, cuda::TensorMapL2Promotion::None,
                                                   t.nan ? cuda::TensorMapFill::NanRequestZeroFma : cuda::TensorMapFill::Zero) == cuda::Result::Success);
  return map;
}
/// Calls f(place in shared memory, offset in the tensor or -1) for each byte of the box.
template <typename F> void forBox(const Tensor &t, const std::vector<int> &at, F f) {
  size_t rank = t.dims.size();
  int rows = 1, width = int(t.box[0]) * t.elementBytes, pitch = t.swizzle ? t.swizzle : width;
  auto count = [&](size_t d) { return (int(t.box[d]) + int(t.steps[d]) - 1) / int(t.steps[d]); };
  for (size_t d = 1; d < rank; ++d)
    rows *= count(d);
  for (int row = 0; row < rows; ++row) {
    int64_t offset = 0;
    bool inside = true;
    for (size_t d = 1, rest = size_t(row); d < rank; rest /= size_t(count(d)), ++d) {
      int64_t index = at[d] + int64_t(rest % size_t(count(d))) * t.steps[d];
      inside &= index >= 0 && index < int64_t(t.dims[d]);
      offset += index * int64_t(t.pitches[d - 1]);
    }
    for (int x = 0; x < width; ++x) {
      int64_t column = at[0] + x / t.elementBytes;
      int place = row * pitch + x, line = place / 128, chunk = place / 16 % 8;
      chunk ^= t.swizzle == 128 ? line % 8 : t.swizzle == 64 ? line % 4 : t.swizzle == 32 ? line % 2 : 0;
      place = line * 128 + chunk * 16 + place % 16;
      bool in = inside && column >= 0 && column < int64_t(t.dims[0]);
      f(place, in ? offset + column * t.elementBytes + x % t.elementBytes : -1, x % t.elementBytes);
    }
  }
}

std::string coordinates(size_t rank) {
  std::string text;
  for (size_t d = 0; d < rank; ++d)
    text += fmt::format("{}%c{}", d ? ", " : "", d);
  return text;
}

/// Thread 0 moves one box. `move` has the copy; %r2 is shared memory, %r3 the mbarrier, %c0 to %c4 the coordinates.
std::string kernel(std::string_view move, bool stores) {
  std::string loadCoordinates;
  for (int d = 0; d < 5; ++d)
    loadCoordinates += fmt::format("ld.param.u32 %c{}, [p{}]; ", d, d);
  std::string loop = stores ? "ld.global.b32 %r5, [%rd2]; st.shared.b32 [%r4], %r5;" : "ld.shared.b32 %r5, [%r4]; st.global.b32 [%rd2], %r5;";
  std::string walk = fmt::format(R"(
  mad.lo.u32 %r4, %r1, 4, %r2; mad.wide.u32 %rd2, %r1, 4, %rd1; mov.u32 %r6, %r1;
walk: {} add.u32 %r4, %r4, 128; add.u64 %rd2, %rd2, 128; add.u32 %r6, %r6, 32; setp.lt.u32 %p2, %r6, %r7; @%p2 bra walk;)",
                                 loop);
  return fmt::format(
      R"(
.shared .align 1024 .b8 tile[{}];
.shared .align 8 .b64 bar;
.visible .entry k(.param .align 64 .b8 map[128], .param .u64 po, .param .u32 words, .param .u32 bytes,
                  .param .u32 p0, .param .u32 p1, .param .u32 p2, .param .u32 p3, .param .u32 p4) {{
  .reg .pred %p<4>; .reg .b32 %r<16>; .reg .b32 %c<5>; .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [po]; ld.param.u32 %r7, [words]; ld.param.u32 %r8, [bytes]; {}
  mov.u64 %rd3, map;
  mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 0;
  mov.u32 %r2, tile; mov.u32 %r3, bar;
{}
  ret; }})",
      sharedBytes, loadCoordinates,
      stores ? walk + "\n fence.proxy.async; bar.sync 0; @!%p1 bra done;" + std::string(move) + " cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; done:"
             : "@%p1 mbarrier.init.shared.b64 [%r3], 1; fence.mbarrier_init.release.cluster; bar.sync 0; @!%p1 bra wait;" + std::string(move) +
                   " mbarrier.arrive.expect_tx.shared.b64 _, [%r3], %r8; wait: mbarrier.try_wait.parity.shared.b64 %p3, [%r3], 0; @!%p3 bra wait;" + walk);
}

std::vector<uint8_t> tensorData() {
  std::vector<uint8_t> data(65536);
  for (size_t i = 0; i < data.size(); ++i)
    data[i] = uint8_t(i * 7 + i / 256 * 13 + 1);
  return data;
}

/// Bytes of shared memory, to whole periods of a swizzle.
int extentOf(const Tensor &t) {
  int last = 0;
  forBox(t, std::vector<int>(5, 0), [&](int place, int64_t, int) { last = std::max(last, place + 1); });
  bool hasGaps = t.swizzle && int(t.box[0]) * t.elementBytes != t.swizzle;
  return hasGaps ? (last + 127) / 128 * 128 : (last + 3) / 4 * 4;
}
int copied(const Tensor &t) {
  int bytes = 0;
  forBox(t, std::vector<int>(5, 0), [&](int, int64_t, int) { ++bytes; });
  return bytes;
}

void check(Tensor t, std::vector<int> at, AsyncTiming timing) {
  at.resize(5);
  size_t rank = t.dims.size();
  INFO(fmt::format("rank {} swizzle {} element {} at {} {} {}", rank, t.swizzle, t.elementBytes, at[0], at[1], at[2]));
  // A load.
  {
    Machine machine(kernel(
        fmt::format("cp.async.bulk.tensor.{}d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r2], [%rd3, {{{}}}], [%r3];", rank, coordinates(rank)),
        false));
    std::vector<uint8_t> data = tensorData();
    uint8_t *memory = machine.array(data);
    TensorMap map = encode(t, memory);
    int extent = extentOf(t), width = int(t.box[0]) * t.elementBytes;
    uint8_t *out = machine.zeros<uint8_t>(sharedBytes);
    LaunchResult result =
        machine.launch("k", {.block = {32, 1, 1}, .threads = 1, .timing = timing}, map, out, extent / 4, copied(t), at[0], at[1], at[2], at[3], at[4]);
    if (!t.swizzle || width == t.swizzle) // else there are gaps that are read
      REQUIRE(result.text() == "");
    int wrong = 0;
    forBox(t, at, [&](int place, int64_t from, int byte) {
      uint8_t fill = !t.nan ? 0 : byte == t.elementBytes - 1 ? 0x7F : 0xFF;
      wrong += out[place] != (from < 0 ? fill : data[size_t(from)]);
    });
    CHECK(wrong == 0);
    CHECK(result.statistics.asyncBytes == uint64_t(copied(t)));
  }
  // A store, which leaves alone what is not of the box.
  {
    Machine machine(kernel(fmt::format("cp.async.bulk.tensor.{}d.global.shared::cta.tile.bulk_group [%rd3, {{{}}}], [%r2];", rank, coordinates(rank)), true));
    std::vector<uint8_t> before(65536, 0x55), image = tensorData();
    image.resize(sharedBytes);
    uint8_t *memory = machine.array(before), *in = machine.array(image);
    TensorMap map = encode(t, memory);
    LaunchResult result =
        machine.launch("k", {.block = {32, 1, 1}, .threads = 1, .timing = timing}, map, in, extentOf(t) / 4, 0, at[0], at[1], at[2], at[3], at[4]);
    REQUIRE(result.text() == "");
    std::vector<uint8_t> expected = before;
    forBox(t, at, [&](int place, int64_t to, int) {
      if (to >= 0)
        expected[size_t(to)] = image[size_t(place)];
    });
    CHECK(std::memcmp(memory, expected.data(), expected.size()) == 0);
  }
}
} // namespace

TEST_CASE("tensor copies of every rank, inside and out of bounds") {
  for (AsyncTiming timing : {AsyncTiming::Late, AsyncTiming::Early}) {
    check({.dims = {100}, .box = {32}, .steps = {}, .elementBytes = 4}, {17}, timing);
    for (int x : {0, -5, 70, 100, -40})
      check({.dims = {100}, .box = {32}, .steps = {}, .elementBytes = 4, .nan = true}, {x}, timing);
    for (int y : {-3, 0, 5, 27})
      for (int x : {-9, 0, 3, 50})
        check({.dims = {60, 30}, .box = {16, 8}, .steps = {}}, {x, y}, timing);
    check({.dims = {20, 7, 6}, .box = {16, 3, 2}, .steps = {}}, {8, 5, -1}, timing);
    check({.dims = {20, 5, 4, 3}, .box = {16, 3, 2, 2}, .steps = {}}, {-2, 1, 3, 0}, timing);
    check({.dims = {9, 5, 4, 3, 2}, .box = {8, 2, 3, 2, 2}, .steps = {}}, {1, 4, 2, 1, 1}, timing);
    check({.dims = {40, 5, 4}, .box = {32, 2, 2}, .steps = {}, .elementBytes = 1}, {16, 0, 3}, timing);
    check({.dims = {12, 5}, .box = {8, 4}, .steps = {}, .elementBytes = 8, .nan = false}, {6, 2}, timing);
  }
}

TEST_CASE("tensor copies with swizzles and element strides") {
  for (int swizzle : {32, 64, 128})
    for (int narrow : {1, 2})
      for (int y : {-1, 3})
        check({.dims = {90, 40}, .box = {uint32_t(swizzle / 2 / narrow), 19}, .steps = {}, .swizzle = swizzle}, {7, y}, AsyncTiming::Late);
  check({.dims = {90, 10, 5}, .box = {64, 4, 3}, .steps = {}, .swizzle = 128, .nan = true}, {50, 8, 3}, AsyncTiming::Late);
  check({.dims = {40, 30}, .box = {16, 12}, .steps = {1, 3}}, {3, 22}, AsyncTiming::Late);
  check({.dims = {40, 9, 9}, .box = {16, 5, 4}, .steps = {1, 2, 3}}, {-4, 1, 2}, AsyncTiming::Late);
}

TEST_CASE("tensor reductions") {
  Tensor t{.dims = {20, 6}, .box = {8, 4}, .steps = {}, .elementBytes = 4};
  for (const char *operation : {"add"}) {
    Machine machine(kernel(fmt::format("cp.reduce.async.bulk.tensor.2d.global.shared::cta.{}.tile.bulk_group [%rd3, {{%c0, %c1}}], [%r2];", operation), true));
    std::vector<float> before(4096), image(4096);
    for (size_t i = 0; i < 4096; ++i) {
      before[i] = float(i);
      image[i] = 0.25f * float(int(i % 17) - 8);
    }
    float *memory = machine.array(before), *in = machine.array(image);
    TensorMap map = encode(t, memory);
    REQUIRE(machine.launch("k", {.block = {32, 1, 1}, .threads = 1}, map, in, 32, 0, 14, -1, 0, 0, 0).text() == "");
    int wrong = 0;
    std::vector<float> expected = before;
    for (int row = 1; row < 4; ++row)
      for (int x = 0; x < 6; ++x)
        expected[size_t((row - 1) * int(t.pitches[0]) / 4 + 14 + x)] += image[size_t(row * 8 + x)];
    for (size_t i = 0; i < 4096; ++i)
      wrong += memory[i] != expected[i];
    CHECK(wrong == 0);
  }
}

TEST_CASE("a tensor copy to several blocks of a cluster") {
  for (AsyncTiming timing : {AsyncTiming::Late, AsyncTiming::Early}) {
    // Block 1 of four fetches for blocks 0, 1 and 3; block 2 gets nothing and waits for nothing.
    Machine machine(R"(
.shared .align 1024 .b8 tile[1024];
.shared .align 8 .b64 bar;
.visible .entry k(.param .align 64 .b8 map[128], .param .u64 po) .reqnctapercluster 4, 1, 1 {
  .reg .pred %p<8>; .reg .b16 %h<2>; .reg .b32 %r<16>; .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [po]; mov.u64 %rd3, map;
  mov.u32 %r1, %tid.x; mov.u32 %r9, %cluster_ctarank; setp.eq.u32 %p1, %r1, 0;
  mov.u32 %r2, tile; mov.u32 %r3, bar;
  @%p1 mbarrier.init.shared.b64 [%r3], 1; @%p1 fence.mbarrier_init.release.cluster;
  barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
  @%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r3], 256;
  setp.eq.and.u32 %p2, %r9, 1, %p1;
  mov.b16 %h1, 11; mov.u32 %r10, 2; mov.u32 %r11, 1;
  @%p2 cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r2], [%rd3, {%r10, %r11}], [%r3], %h1;
  setp.eq.u32 %p3, %r9, 2; @%p3 bra done;
wait: mbarrier.try_wait.parity.shared.b64 %p4, [%r3], 0; @!%p4 bra wait;
  mad.lo.u32 %r4, %r1, 8, %r2; ld.shared.b64 %rd4, [%r4];
  mad.lo.u32 %r5, %r9, 32, %r1; mad.wide.u32 %rd1, %r5, 8, %rd1; st.global.b64 [%rd1], %rd4;
done: barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
  ret; })");
    Tensor t{.dims = {20, 12}, .box = {16, 8}, .steps = {}};
    std::vector<uint8_t> data = tensorData();
    uint8_t *memory = machine.array(data), *out = machine.zeros<uint8_t>(1024);
    TensorMap map = encode(t, memory);
    REQUIRE(machine.launch("k", {.grid = {4, 1, 1}, .block = {32, 1, 1}, .threads = 1, .timing = timing}, map, out).text() == "");
    int wrong = 0;
    for (int rank : {0, 1, 3})
      forBox(t, {2, 1}, [&](int place, int64_t from, int) { wrong += out[rank * 256 + place] != data[size_t(from)]; });
    CHECK(wrong == 0);
  }
}

TEST_CASE("tensor copies: what is wrong with them") {
  Tensor t{.dims = {60, 30}, .box = {16, 8}, .steps = {}};
  auto run = [&](std::string_view move, uint64_t shift, int words) {
    Machine machine(kernel(move, false));
    uint8_t *memory = machine.array(tensorData()), *out = machine.zeros<uint8_t>(sharedBytes);
    TensorMap map = encode(t, memory + shift);
    return machine.launch("k", {.block = {32, 1, 1}, .threads = 1}, map, out, words, 256, 0, 0, 0, 0, 0).text();
  };
  std::string start = "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes ";
  CHECK(run(start + "[%r2], [%rd3, {%c0, %c1}], [%r3];", 0, 64) == "");
  CHECK(run(start + "[%r2+64], [%rd3, {%c0, %c1}], [%r3];", 0, 64).find("not aligned to 128 bytes") != std::string::npos);
  CHECK(run(start + "[%r2], [%rd1, {%c0, %c1}], [%r3];", 0, 64).find("no tensor map") != std::string::npos);
  CHECK(run(start + "[%r2], [%rd3, {%c0, %c1}], [%r2+512];", 0, 64).find("no mbarrier") != std::string::npos);
  CHECK(run("cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd3, {%c0}], [%r3];", 0, 64).find("2 dimensions") !=
        std::string::npos);
  // The tensor is longer than its allocation.
  CHECK(run(start + "[%r2], [%rd3, {%c0, %c1}], [%r3];", 65536 - 64, 64).find("behind the end of an allocation") != std::string::npos);
  // Read before the wait.
  CHECK(run(start + "[%r2], [%rd3, {%c0, %c1}], [%r3]; ld.shared.b32 %r9, [%r2+4];", 0, 64).find("target of a transfer under way") != std::string::npos);
  // Fewer bytes are expected than come: the phase never ends.
  CHECK(run(start + "[%r2], [%rd3, {%c0, %c1}], [%r3]; sub.u32 %r8, %r8, 16;", 0, 64).find("deadlock") != std::string::npos);
}
