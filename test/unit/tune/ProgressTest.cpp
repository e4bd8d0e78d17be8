// What a tuning shows on a terminal and elsewhere.
#include "runtime/tune/Progress.h"
#include "Catch.h"

using namespace tk::runtime;

namespace {
struct Named : Trial {
  void compile() override {}
  void run() override {}
  std::string text() const override { return "BLOCK=64"; }
};

struct Shown {
  std::string text;
  double time = 5;
  TuneProgressLine::Options options(bool isTerminal, size_t columns = 200) {
    return {"`k` for n=3", isTerminal, columns, [this](const std::string &more) { text += more; }, [this] { return time; }};
  }
};
} // namespace

TEST_CASE("on a terminal one line is rewritten, and removed in the end") {
  Shown shown;
  Named trial;
  {
    TuneProgressLine line(shown.options(true));
    line.update({8, 1, 0});
    CHECK(shown.text.empty()); // what is over at once is not shown
    shown.time += 1.1;
    line.update({8, 4, 0});
    CHECK(shown.text == "\r\rtuning [#####...............] 4/8 compiled, 0 measured: `k` for n=3");
    shown.text.clear();
    line.update({8, 5, 0});
    CHECK(shown.text.empty()); // ten times a second is enough
    shown.time += 0.2;
    line.update({8, 8, 4, 0.00125, &trial});
    const std::string before = "tuning [#####...............] 4/8 compiled, 0 measured: `k` for n=3";
    CHECK(shown.text == "\r" + std::string(before.size(), ' ') + "\rtuning [###############.....] 8/8 compiled, 4 measured, best 1.25 ms: `k` for n=3");
    shown.text.clear();
    line.finish({8, 8, 8, 0.00125, &trial});
  }
  CHECK(shown.text.ends_with("\rtkc: tuned `k` for n=3 in 1.30 s: BLOCK=64 takes 1.25 ms\n"));
  shown.text.clear();
  {
    TuneProgressLine line(shown.options(true, 20)); // a narrow one
    shown.time += 2;
    line.update({8, 4, 0});
    CHECK(shown.text == "\r\rtuning [#####......");
    shown.text.clear();
  }
  CHECK(shown.text == "\r" + std::string(19, ' ') + "\r"); // a tuning that fails leaves no half line
}

TEST_CASE("elsewhere there are two lines, and none for what is over at once") {
  Shown shown;
  Named trial;
  {
    TuneProgressLine line(shown.options(false));
    line.update({8, 1, 0});
    shown.time += 0.9;
    line.finish({8, 8, 8, 0.1, &trial});
  }
  CHECK(shown.text.empty());
  {
    TuneProgressLine line(shown.options(false));
    for (size_t i = 0; i < 8; ++i)
      shown.time += 0.5, line.update({8, i, 0});
    line.finish({8, 8, 8, 12.5e-6, &trial});
  }
  CHECK(shown.text == "tkc: tuning `k` for n=3: 8 configurations\ntkc: tuned `k` for n=3 in 4.00 s: BLOCK=64 takes 12.5 us\n");
}

TEST_CASE("durations have three digits") {
  CHECK(durationText(1.5) == "1.50 s");
  CHECK(durationText(0.0123) == "12.3 ms");
  CHECK(durationText(123e-6) == "123 us");
  CHECK(durationText(1.5e-9) == "1.50 ns");
  CHECK(durationText(0) == "0.00 ns");
}
