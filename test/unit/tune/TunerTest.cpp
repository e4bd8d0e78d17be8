// Which configuration a tuning chooses, what it spends on the others, and what it says of those that fail: with trials whose time is made up.
#include "runtime/tune/Tuner.h"
#include "Catch.h"
#include "test/unit/runtime/Thrown.h"
#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>
#include <thread>
#include <utility>

using namespace tk;
using namespace tk::runtime;

namespace {
struct FakeTrial : Trial {
  std::string name, compileError, runError;
  double compileSeconds = 0.01, runSeconds = 0.001, noise = 0; // noise: how much longer some runs take
  unsigned failsAfter = 0;                                     // runs that work before runError
  std::string results = "same";
  std::atomic<double> *clock = nullptr;
  std::atomic<unsigned> *compiling = nullptr, *mostCompiling = nullptr;
  std::atomic<unsigned> compiled{0};
  unsigned runs = 0;

  void compile() override {
    ++compiled;
    if (compiling) { // really takes time, so that threads meet
      unsigned now = ++*compiling, most = mostCompiling->load();
      while (now > most && !mostCompiling->compare_exchange_weak(most, now)) {
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      --*compiling;
    }
    clock->fetch_add(compileSeconds);
    if (!compileError.empty())
      throw Error(ErrorKind::User, compileError);
  }
  void run() override { ++runs; }
  std::string text() const override { return name; }
};

struct FakeMeasurement : Measurement {
  std::atomic<double> clock{100};
  std::string lostTo, reference;
  bool hasReference = false;
  FakeTrial *latest = nullptr;
  double now() override { return clock; }
  std::vector<double> run(Trial &trial, unsigned count) override {
    auto &fake = static_cast<FakeTrial &>(trial);
    latest = &fake;
    std::vector<double> seconds;
    for (unsigned i = 0; i < count; ++i) {
      if (!fake.runError.empty() && fake.runs >= fake.failsAfter)
        throw Error(ErrorKind::Device, fake.runError);
      fake.run();
      double one = fake.runSeconds * (1 + fake.noise * (fake.runs * 7 % 10) / 10);
      clock.fetch_add(one);
      seconds.push_back(one);
    }
    return seconds;
  }
  std::string lost() override { return lostTo; }
  std::string difference() override {
    if (!std::exchange(hasReference, true))
      reference = latest->results;
    return latest->results == reference ? "" : "`out`[3] is " + reference + " and " + latest->results;
  }
};

struct Fixture {
  FakeMeasurement measurement;
  std::vector<std::unique_ptr<FakeTrial>> trials;
  TunerOptions options;
  Fixture() { options.what = "`k`"; }
  FakeTrial &add(const std::string &name, double runSeconds) {
    trials.push_back(std::make_unique<FakeTrial>());
    trials.back()->name = name, trials.back()->runSeconds = runSeconds, trials.back()->clock = &measurement.clock;
    return *trials.back();
  }
  TunerResult tune() {
    std::vector<Trial *> list;
    for (auto &trial : trials)
      list.push_back(trial.get());
    return runtime::tune(list, measurement, options);
  }
};
} // namespace

TEST_CASE_METHOD(Fixture, "the fastest wins, and each is compiled once") {
  options.measuresWhileCompiling = GENERATE(false, true);
  options.compileThreads = GENERATE(1u, 4u);
  add("a", 0.003), add("b", 0.001), add("c", 0.002);
  TunerResult result = tune();
  CHECK(result.best == 1);
  REQUIRE(result.outcomes.size() == 3);
  for (size_t i = 0; i < 3; ++i) {
    CHECK(result.outcomes[i].seconds == trials[i]->runSeconds);
    CHECK(result.outcomes[i].failure.empty());
    CHECK(trials[i]->compiled == 1);
  }
}

TEST_CASE_METHOD(Fixture, "little time is spent on what is clearly slower") {
  add("fast", 0.001), add("slow", 0.0015), add("hopeless", 0.1);
  TunerResult result = tune();
  CHECK(result.best == 0);
  CHECK(trials[2]->runs == 1);
  CHECK(result.outcomes[2].runs == 1);
  CHECK(trials[1]->runs <= 40); // its warm-up and one round
  CHECK(trials[0]->runs >= 10);
}

TEST_CASE_METHOD(Fixture, "of many, those that may win get the time") {
  for (int i = 0; i < 64; ++i)
    add("c" + std::to_string(i), 0.001 * (1 + 0.002 * ((i * 37) % 64)));
  options.budgetSeconds = 1000;
  TunerResult result = tune();
  CHECK(trials[result.best]->runSeconds <= 0.001 * 1.006);
  unsigned runs = 0;
  for (auto &trial : trials)
    runs += trial->runs;
  CHECK(runs < 64 * 60); // 125 runs of each would be its whole time
  CHECK(std::count_if(trials.begin(), trials.end(), [](auto &trial) { return trial->runs > 80; }) <= 8);
}

TEST_CASE_METHOD(Fixture, "among equals the first one configured wins") {
  SECTION("within half a percent") { add("a", 0.001003), add("b", 0.001), add("c", 0.0010001); }
  SECTION("within the noise") {
    add("a", 0.00101).noise = 0.2;
    add("b", 0.001).noise = 0.2;
  }
  CHECK(tune().best == 0);
}

TEST_CASE_METHOD(Fixture, "a difference that is no noise decides") {
  add("a", 0.00102), add("b", 0.001), add("c", 0.001);
  CHECK(tune().best == 1);
}

TEST_CASE_METHOD(Fixture, "what fails is dropped with its reason") {
  add("wrong", 0.001).compileError = "needs 300000 bytes of shared memory";
  add("crashes", 0.0001).runError = "can't be launched: too many resources";
  add("later", 0.0002).runError = "ended in the 10th run";
  trials.back()->failsAfter = 10;
  add("works", 0.004);
  options.measuresWhileCompiling = GENERATE(false, true);
  TunerResult result = tune();
  CHECK(result.best == 3);
  CHECK(result.outcomes[0].failure == "needs 300000 bytes of shared memory");
  CHECK(result.outcomes[1].failure == "can't be launched: too many resources");
  CHECK(result.outcomes[2].failure == "ended in the 10th run");
  CHECK(std::isinf(result.outcomes[2].seconds));
  CHECK(trials[0]->runs == 0);
}

TEST_CASE_METHOD(Fixture, "when all fail, every reason is told") {
  add("BLOCK=1", 1).compileError = "no such tile";
  add("BLOCK=2", 1).runError = "out of memory";
  CHECK(thrown(ErrorKind::User, [&] { tune(); }) == "no configuration of `k` works:\n  BLOCK=1: no such tile\n  BLOCK=2: out of memory");
  trials.clear();
  CHECK(thrown(ErrorKind::User, [&] { tune(); }) == "there is no configuration of `k` to try");
}

TEST_CASE_METHOD(Fixture, "a lost device ends the tuning") {
  add("good", 0.001), add("bad", 0.001).runError = "kernel `k` failed: illegal address", add("unreached", 0.001);
  options.measuresWhileCompiling = GENERATE(false, true);
  measurement.lostTo = "the context is gone";
  CHECK(thrown(ErrorKind::Device, [&] { tune(); }) ==
        "tuning `k` ended at configuration bad: kernel `k` failed: illegal address; the device can't be used any more: the context is gone");
  CHECK(trials[2]->runs == 0);
}

TEST_CASE_METHOD(Fixture, "the budget ends a tuning, compilation included") {
  for (int i = 0; i < 10; ++i)
    add("c" + std::to_string(i), 0.01).compileSeconds = 1;
  options.budgetSeconds = 5;
  double start = measurement.now();
  TunerResult result = tune();
  CHECK(measurement.now() - start < 6.2);
  CHECK(std::count_if(trials.begin(), trials.end(), [](auto &trial) { return trial->compiled == 1; }) == 3);
  CHECK(result.outcomes[9].failure == "not tried: the time was up");
  CHECK(result.outcomes[result.best].failure.empty());
  SECTION("measured is one at least") {
    options.budgetSeconds = 1e-9;
    for (auto &trial : trials)
      trial->compiled = 0, trial->runs = 0;
    trials[0]->compileError = "not this one";
    result = tune();
    CHECK(result.best == 1);
    CHECK(trials[1]->runs >= 1);
    CHECK(trials[2]->compiled == 0);
  }
}

TEST_CASE_METHOD(Fixture, "a slow kernel is not run for longer than needed") {
  add("a", 10), add("b", 9), add("c", 40);
  options.budgetSeconds = 100;
  double start = measurement.now();
  CHECK(tune().best == 1);
  CHECK(measurement.now() - start < 130);
}

TEST_CASE_METHOD(Fixture, "compilation uses the threads it is given") {
  std::atomic<unsigned> compiling{0}, most{0};
  for (int i = 0; i < 8; ++i) {
    FakeTrial &trial = add("c" + std::to_string(i), 0.001);
    trial.compiling = &compiling, trial.mostCompiling = &most;
  }
  options.compileThreads = 3;
  tune();
  CHECK(most == 3);
}

TEST_CASE_METHOD(Fixture, "a check names the two configurations that differ") {
  add("BLOCK=1", 0.002).results = "1";
  add("BLOCK=2", 0.001).results = "1";
  options.check = true;
  CHECK(tune().best == 1);
  add("BLOCK=4", 0.003).results = "2";
  measurement.hasReference = false;
  CHECK(thrown(ErrorKind::User, [&] { tune(); }) == "the configurations of `k` give different results: BLOCK=1 and BLOCK=4: `out`[3] is 1 and 2");
}

TEST_CASE_METHOD(Fixture, "progress is told until all is compiled and measured") {
  add("a", 0.001), add("b", 0.002).compileError = "no";
  std::vector<TuneProgress> told;
  options.progress = [&](const TuneProgress &progress) { told.push_back(progress); };
  tune();
  REQUIRE(!told.empty());
  CHECK(told.front().compiled == 0);
  CHECK(told.back().compiled == 2);
  CHECK(told.back().measured == 2);
  CHECK(told.back().trials == 2);
  CHECK(told.back().best == trials[0].get());
  CHECK(std::is_sorted(told.begin(), told.end(), [](auto &a, auto &b) { return a.compiled + a.measured < b.compiled + b.measured; }));
}
