// Kernels that are tuned, on the host and on emulated GPUs: what their trials leave alone, what is remembered, what is refused.
#include "Catch.h"
#include "runtime/device/GpuDevice.h"
#include "test/unit/runtime/Thrown.h"
#include "tk/tk.h"
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <set>
#include <thread>
#include <unistd.h>

using namespace tk;

namespace {
constexpr const char *source = R"(
def copy(x, out, n, BLOCK: constexpr):
    i = program_id(0) * BLOCK + arange(0, BLOCK)
    store(out + i, load(x + i, mask=i < n), mask=i < n)

def increment(x, n, BLOCK: constexpr):
    i = program_id(0) * BLOCK + arange(0, BLOCK)
    store(x + i, load(x + i, mask=i < n) + 1, mask=i < n)

def total(x, out, n, BLOCK: constexpr):
    i = program_id(0) * BLOCK + arange(0, BLOCK)
    atomic_add(out, sum(load(x + i, mask=i < n, other=0.0), axis=0))

def wrong(out, n, BLOCK: constexpr):
    i = program_id(0) * BLOCK + arange(0, BLOCK)
    store(out + i, i + (BLOCK == 32), mask=i < n)

def refuse(out, n, BLOCK: constexpr):
    static_assert(BLOCK != 32, "32 is not wanted")
    static_assert(BLOCK != 64, "64 is not wanted")
    store(out, n)
)";

Kernel kernelOf(const std::string &name) { return Module::fromSource(source, "kernels.tk").kernel(name); }

/// A file of results of its own, and no lines on the screen.
struct Fixture {
  Fixture() {
    std::string name = (std::filesystem::temp_directory_path() / "tkc-tuning-XXXXXX").string();
    folder = mkdtemp(name.data());
    options.file = folder + "/tuned.txt", options.progress = false;
    setTuneOptions(options);
  }
  ~Fixture() {
    setTuneOptions(TuneOptions());
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
  }
  std::string lines() const {
    std::ifstream stream(options.file);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  std::string folder;
  TuneOptions options;
};

Tuning blocks(std::vector<int64_t> sizes, std::vector<std::string> key = {"n"}) {
  Tuning tuning;
  for (int64_t size : sizes)
    tuning.configs.push_back({{"BLOCK", size}});
  tuning.key = std::move(key), tuning.warmupMs = 0.1, tuning.repMs = 0.5;
  return tuning;
}

const auto byBlock = [](const Meta &meta) { return grid(cdiv(meta["n"], meta["BLOCK"])); };

Array ones(int64_t count) {
  Array array(DType::F32, {count});
  for (int64_t i = 0; i < count; ++i)
    array.set(i, 1);
  return array;
}

/// Every device that is here without hardware.
std::vector<Device> devices() { return {Device(), Device::emulated("sm_90a")}; }
} // namespace

TEST_CASE_METHOD(Fixture, "a tuned kernel works in place, and adds one with each launch") {
  for (const Device &device : devices()) {
    Kernel kernel = kernelOf("increment");
    kernel.tune(blocks({32, 64, 128}));
    Stream stream = device.newStream();
    DeviceArray x(device, ones(100));
    for (int launch = 1; launch <= 3; ++launch) {
      kernel.launch(stream, byBlock, x, 100);
      stream.synchronize();
      Array now = x.toHost(stream);
      for (int64_t i = 0; i < 100; ++i)
        REQUIRE(now.get(i) == 1 + launch);
    }
  }
}

TEST_CASE_METHOD(Fixture, "in place by two pointers to the same memory") {
  Kernel kernel = kernelOf("copy");
  kernel.tune(blocks({32, 64}));
  Array x = ones(100), before = x.clone();
  std::vector<float> shifted(128, 0);
  std::memcpy(shifted.data(), x.data(), 400);
  kernel.launch({}, byBlock, x, x, 100);
  CHECK(std::memcmp(x.data(), before.data(), 400) == 0);
  // One that each run moves on by one element: right only when it runs once.
  Kernel move =
      Module::fromSource("def move(x, out, n, BLOCK: constexpr):\n    i = arange(0, BLOCK)\n    store(out + i, load(x + i, mask=i < n), mask=i < n)\n")
          .kernel("move");
  move.tune(blocks({128, 256}));
  Array line(DType::I32, {100});
  for (int i = 0; i < 100; ++i)
    line.set(i, i);
  ArrayView all = line.view(), rest = all;
  rest.data = line.as<int32_t>() + 1, rest.shape = {99};
  move.launch({}, grid(1), all, rest, 99);
  for (int64_t i = 0; i < 100; ++i)
    CHECK(line.getInteger(i) == std::max<int64_t>(i - 1, 0));
}

TEST_CASE_METHOD(Fixture, "what accumulates starts from zero at every launch") {
  for (const Device &device : devices()) {
    Kernel kernel = kernelOf("total");
    Tuning tuning = blocks({32, 64});
    tuning.resetToZero = {"out"};
    kernel.tune(tuning);
    Stream stream = device.newStream();
    DeviceArray x(device, ones(100)), out(device, DType::F32, {1});
    for (int launch = 0; launch < 3; ++launch) {
      kernel.launch(stream, byBlock, x, out, 100);
      stream.synchronize();
      CHECK(out.toHost(stream).get(0) == 100);
    }
    Launcher launcher = kernel.launcher(stream, x, out, 100);
    for (int launch = 0; launch < 2; ++launch) {
      launcher.launch(grid(4));
      stream.synchronize();
      CHECK(out.toHost(stream).get(0) == 100);
    }
  }
}

TEST_CASE_METHOD(Fixture, "what is set to zero or put back must have a length") {
  Kernel kernel = kernelOf("increment");
  kernel.tune(blocks({32, 64}));
  float x[100] = {};
  std::string error = thrown(ErrorKind::User, [&] { kernel.launch({}, byBlock, x, 100); });
  CHECK(error ==
        "no configuration of `increment` works: parameter `x` is read and written by the kernel, so that trials change what the launch must find, but how "
        "long its array is is not known from a bare pointer: pass a tk::Array, tk::ArrayView or tk::DeviceArray");
  CHECK(x[0] == 0);
  // A GPU's driver knows.
  Device device = Device::emulated("sm_90a");
  DeviceArray y(device, ones(100));
  kernel.launch(device.stream(), byBlock, static_cast<float *>(y.data()), 100);
  device.stream().synchronize();
  CHECK(y.toHost().get(99) == 2);
  Kernel sums = kernelOf("total");
  Tuning tuning = blocks({32, 64});
  tuning.resetToZero = {"out"};
  sums.tune(tuning);
  DeviceArray out(device, DType::F32, {1});
  CHECK(contains(thrown(ErrorKind::User, [&] { sums.launch(device.stream(), byBlock, y, static_cast<float *>(out.data()), 100); }),
                 "`out` is set to zero before each"));
  // None is nothing.
  Kernel optional =
      Module::fromSource("def maybe(x, out, n, BLOCK: constexpr):\n    if x is not None:\n        store(x, 1.0)\n    store(out, n)\n").kernel("maybe");
  tuning.resetToZero = {"x"}, tuning.restoreValue = {"x"};
  optional.tune(tuning);
  int32_t result = 0;
  for (int launch = 0; launch < 2; ++launch)
    optional.launch({}, grid(1), nullptr, &result, 7);
  CHECK(result == 7);
}

TEST_CASE_METHOD(Fixture, "the report says what was tried, and the file keeps the choice for the next kernel") {
  Array x = ones(1000), out(DType::F32, {1000});
  Kernel kernel = kernelOf("copy");
  kernel.tune(blocks({16, 256, 1024}));
  TuneReport report = kernel.tuned({}, byBlock, x, out, 1000);
  CHECK(report.kernel == "copy");
  CHECK(contains(report.device, "threads"));
  CHECK(report.key == std::vector<std::pair<std::string, std::string>>{{"n", "1000"}});
  CHECK_FALSE(report.fromFile);
  REQUIRE(report.trials.size() == 3);
  for (const TuneReport::Trial &trial : report.trials) {
    CHECK(std::isfinite(trial.seconds));
    CHECK(trial.failure.empty());
  }
  CHECK(report.trials[1].text == "BLOCK=256");
  CHECK(report.trials[1].config == Config{{"BLOCK", 256}});
  CHECK(kernel.compiledCount() <= 3);

  Kernel next = kernelOf("copy");
  next.tune(blocks({2048, 1024, 256, 16})); // in another order, and with one more
  TuneReport found = next.tuned({}, byBlock, x, out, 1000);
  CHECK(found.fromFile);
  CHECK(found.trials.at(found.best).text == report.trials.at(report.best).text);
  CHECK(found.trials.at(found.best).seconds == Approx(report.trials.at(report.best).seconds).epsilon(0.001));
  next.launch({}, byBlock, x, out, 1000);
  CHECK(out.get(999) == 1);

  // Measured again, whatever is known; the new result takes the old one's place.
  options.again = true;
  setTuneOptions(options);
  CHECK_FALSE(next.tuned({}, byBlock, x, out, 1000).fromFile);
  std::string text = lines();
  CHECK(std::count(text.begin(), text.end(), '\n') == 1);
  options.again = false;
  setTuneOptions(options);

  // None of the configurations is in the file: they are measured.
  Kernel other = kernelOf("copy");
  other.tune(blocks({32, 64}));
  CHECK_FALSE(other.tuned({}, byBlock, x, out, 1000).fromFile);
}

TEST_CASE_METHOD(Fixture, "values of the key, and types, choose apart; other values don't") {
  Kernel kernel = kernelOf("copy");
  kernel.tune(blocks({32, 64}));
  Array x = ones(1000), out(DType::F32, {1000}), narrow(DType::F16, {1000}), narrowOut(DType::F16, {1000});
  auto results = [&] {
    std::string text = lines();
    return std::count(text.begin(), text.end(), '\n');
  };
  kernel.launch({}, byBlock, x, out, 1000);
  CHECK(results() == 1);
  kernel.launch({}, byBlock, x, out, 1000), kernel.launch({}, byBlock, out, x, 1000);
  CHECK(results() == 1);
  kernel.launch({}, byBlock, x, out, 999);
  CHECK(results() == 2);
  kernel.launch({}, byBlock, narrow, narrowOut, 999);
  CHECK(results() == 3);
  kernel.tune(blocks({32, 64}, {}));
  kernel.launch({}, byBlock, x, out, 998), kernel.launch({}, byBlock, x, out, 997);
  CHECK(results() == 4);
}

TEST_CASE_METHOD(Fixture, "pinned: what is known is used, what isn't is refused") {
  Kernel kernel = kernelOf("copy");
  kernel.tune(blocks({32, 64}));
  Array x = ones(100), out(DType::F32, {100});
  kernel.launch({}, byBlock, x, out, 100);
  options.mode = TuneOptions::Mode::Pin;
  setTuneOptions(options);
  Kernel pinned = kernelOf("copy");
  pinned.tune(blocks({32, 64}));
  CHECK(pinned.tuned({}, byBlock, x, out, 100).fromFile);
  std::string error = thrown(ErrorKind::User, [&] { pinned.launch({}, byBlock, x, out, 50); });
  CHECK(contains(error, "nothing is known for `copy` for n=50 on "));
  CHECK(contains(error, "(`" + options.file + "`), and they are pinned"));
}

TEST_CASE_METHOD(Fixture, "checked: configurations that compute something else are named") {
  options.mode = TuneOptions::Mode::Check, options.compileThreads = 1; // one after another, also on a GPU, which measures while others are compiled
  setTuneOptions(options);
  for (const Device &device : devices()) {
    Kernel kernel = kernelOf("wrong");
    kernel.tune(blocks({16, 32}));
    Stream stream = device.newStream();
    DeviceArray out(device, DType::I32, {64});
    std::string error = thrown(ErrorKind::User, [&] { kernel.launch(stream, byBlock, out, 64); });
    CHECK(contains(error, "the configurations of `wrong` give different results: BLOCK=16 and BLOCK=32: `out`[0] is 0 and 1; 64 of 64 elements differ"));
    kernel.tune(blocks({16, 64}));
    kernel.launch(stream, byBlock, out, 64);
    // Sums in another order are no difference.
    Kernel sums = kernelOf("total");
    Tuning tuning = blocks({16, 32, 128});
    tuning.resetToZero = {"out"};
    sums.tune(tuning);
    Array values(DType::F32, {1000});
    for (int64_t i = 0; i < 1000; ++i)
      values.set(i, std::sin(static_cast<double>(i)) * 1000);
    DeviceArray x(device, values), sum(device, DType::F32, {1});
    sums.launch(stream, byBlock, x, sum, 1000);
    stream.synchronize();
  }
}

TEST_CASE_METHOD(Fixture, "configurations that don't work are dropped; when none does the reasons are told") {
  Kernel kernel = kernelOf("refuse");
  kernel.tune(blocks({32, 16, 64, 128}));
  int32_t out = 0;
  TuneReport report = kernel.tuned({}, grid(1), &out, 5);
  CHECK(contains(report.trials[0].failure, "32 is not wanted"));
  CHECK(contains(report.trials[2].failure, "64 is not wanted"));
  CHECK((report.best == 1 || report.best == 3));
  kernel.tune(blocks({32, 64}));
  std::string error = thrown(ErrorKind::User, [&] { kernel.launch({}, grid(1), &out, 6); });
  CHECK(contains(error, "no configuration of `refuse` works:\n  BLOCK=32: "));
  CHECK(contains(error, "64 is not wanted"));
}

TEST_CASE_METHOD(Fixture, "mistakes in a tuning") {
  Kernel kernel = kernelOf("copy");
  Array x = ones(100), out(DType::F32, {100});
  CHECK(contains(thrown(ErrorKind::User, [&] { kernel.tuned({}, byBlock, x, out, 100); }), "`copy` has no configurations"));
  CHECK(contains(thrown(ErrorKind::User, [&] { kernel.tune({}); }), "needs one configuration at least"));
  CHECK(contains(thrown(ErrorKind::User, [&] { kernel.tune(blocks({1}, {"m"})); }), "has no parameter `m`"));
  Tuning tuning = blocks({32});
  tuning.configs[0].push_back({"num_warps", 3});
  CHECK(contains(thrown(ErrorKind::User, [&] { kernel.tune(tuning); }), "`num_warps` of a configuration must be 1, 2, 4, 8, 16 or 32, found 3"));
  tuning.configs[0].back() = {"BLOCK", 3};
  CHECK(contains(thrown(ErrorKind::User, [&] { kernel.tune(tuning); }), "gives `BLOCK` twice"));
  tuning.configs[0].back() = {"BLOK", 3};
  CHECK(contains(thrown(ErrorKind::User, [&] { kernel.tune(tuning); }), "has no parameter `BLOK`"));
  kernel.tune(blocks({32, 64}));
  CHECK(contains(thrown(ErrorKind::User, [&] { kernel.launch({}, byBlock, x, out, 100, meta("BLOCK", 64)); }),
                 "`BLOCK` is given, but a tuned configuration chooses it"));
  CHECK(contains(thrown(ErrorKind::User, [&] { kernel.prepare({}, x, out, 100); }), "for which its grid is needed: call Kernel::tuned()"));
  kernel.launch({}, byBlock, x, out, 100);
  kernel.prepare({}, x, out, 100); // known by now
  CHECK(contains(thrown(ErrorKind::User, [&] { kernel.launch({}, byBlock, x, 100); }), "no configuration of `copy` works: "));
  TuneOptions wrong = options;
  wrong.budgetSeconds = 0;
  CHECK(contains(thrown(ErrorKind::User, [&] { setTuneOptions(wrong); }), "must be more than 0 seconds"));
}

TEST_CASE_METHOD(Fixture, "a capture can't be interrupted by a tuning") {
  Device device = Device::emulated("sm_90a");
  Stream stream = device.newStream();
  Kernel kernel = kernelOf("copy");
  kernel.tune(blocks({32, 64}));
  DeviceArray x(device, ones(100)), out(device, DType::F32, {100});
  auto record = [&] { return device.implementation()->capture(stream.handle(), [&] { kernel.launch(stream, byBlock, x, out, 100); }); };
  CHECK(contains(thrown(ErrorKind::User, record), "must be tuned, which is not possible while the stream is being captured"));
  kernel.tuned(stream, byBlock, x, out, 100);
  kernel.prepare(stream, x, out, 100);
  record()->launch(stream.handle());
  stream.synchronize();
  CHECK(out.toHost(stream).get(99) == 1);
}

TEST_CASE_METHOD(Fixture, "threads that launch first together tune once, and get the same") {
  Kernel kernel = kernelOf("copy");
  kernel.tune(blocks({32, 64, 128}));
  std::vector<std::thread> threads;
  std::atomic<int> failed{0};
  for (int t = 0; t < 6; ++t)
    threads.emplace_back([&] {
      try {
        Array x = ones(500), out(DType::F32, {500});
        kernel.launch({}, byBlock, x, out, 500);
        failed += out.get(499) != 1;
      } catch (const Error &) {
        ++failed;
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  CHECK(failed == 0);
  std::string text = lines();
  CHECK(std::count(text.begin(), text.end(), '\n') == 1);
}

namespace {
/// What the process below does, with the options of its environment.
TuneReport tuneMatmul() {
  Kernel kernel = Module::fromFile(TKC_SOURCE_DIR "/samples/matmul.tk").kernel("matmul");
  Tuning tuning;
  for (int64_t m : {32, 64})
    for (int64_t n : {32, 64})
      for (int64_t k : {32, 64})
        tuning.configs.push_back({{"BLOCK_M", m}, {"BLOCK_N", n}, {"BLOCK_K", k}, {"GROUP_M", 4}});
  tuning.key = {"M", "N", "K"}, tuning.warmupMs = 1, tuning.repMs = 10;
  kernel.tune(tuning);
  constexpr int64_t size = 128;
  Array a = ones(size * size), b = ones(size * size), c(DType::F32, {size, size});
  TuneReport report = kernel.tuned({}, autoGrid(), a, b, c, size, size, size, size, 1, size, 1, size, 1);
  kernel.launch({}, autoGrid(), a, b, c, size, size, size, size, 1, size, 1, size, 1);
  CHECK(c.get(size * size - 1) == size);
  CHECK(kernel.compiledCount() == (report.fromFile ? 1 : 8));
  return report;
}
} // namespace

TEST_CASE("a process that tunes", "[.process]") {
  TuneReport report = tuneMatmul();
  std::ofstream(std::string(std::getenv("TUNE_TEST_OUTCOME"))) << report.fromFile << " " << report.trials.at(report.best).text;
}

TEST_CASE_METHOD(Fixture, "a later process reads what an earlier one measured") {
  auto process = [&](const char *mode, const std::string &files) {
    const std::string outcome = folder + "/outcome";
    std::filesystem::remove(outcome);
    const std::string program = std::filesystem::read_symlink("/proc/self/exe").string();
    const int status = std::system(
        fmt::format("TKC_TUNE={} TKC_TUNE_FILE='{}' TUNE_TEST_OUTCOME='{}' '{}' 'a process that tunes' >'{}/log' 2>&1", mode, files, outcome, program, folder)
            .c_str());
    std::ifstream stream(outcome);
    std::string text{std::istreambuf_iterator<char>(stream), {}};
    return status == 0 ? text : "failed";
  };
  const std::string first = process("on", options.file);
  REQUIRE(first.substr(0, 2) == "0 ");
  CHECK(process("on", options.file) == "1" + first.substr(1));
  CHECK(process("pin", folder + "/none.txt:" + options.file) == "1" + first.substr(1)); // a product's file
  CHECK(process("pin", folder + "/none.txt") == "failed");
  CHECK(process("sometimes", options.file) == "failed");
  CHECK(process("check", options.file).substr(0, 2) == "0 ");
}
