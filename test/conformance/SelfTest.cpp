// See SelfTest.h.
#include "test/conformance/SelfTest.h"
#include <cmath>

namespace tk::conformance {

namespace {
const char *kCopy = "def k(x, out):\n    i = arange(0, 4)\n    store(out + i, load(x + i))\n";

void addWrong(Suite &suite) {
  Values x = numbers(DType::F32, {1, 2, 3, 4}), nan = numbers(DType::F32, {1, 2, 3, NAN});
  suite.add("value", kCopy).in(x).out(numbers(DType::F32, {1, 2, 3, 4.0000005}));
  suite.add("past_tolerance", kCopy).in(x).out(numbers(DType::F32, {1, 2, 3, 4.1}), {.ulp = 2, .relative = 1e-3});
  suite.add("nan_for_number", kCopy).in(x).out(nan);
  suite.add("number_for_nan", kCopy).in(nan).out(x);
  suite.add("sign_of_zero", kCopy).in(filled(DType::F32, 4)).out(numbers(DType::F32, {0, 0, 0, -0.0}));
  suite.add("nan_payload", kCopy).in(Values(DType::F32, {0x7fc00001, 0, 0, 0})).out(Values(DType::F32, {0x7fc00002, 0, 0, 0}), {.payload = true});
  suite.add("only_some_unspecified", kCopy).in(x).out(filled(DType::F32, 4)).anyWhere([](size_t i) { return i > 1; });
  suite.add("input_changed", "def k(x):\n    store(x, 5.0)\n").in(x);
  suite.add("beside_the_buffer", "def k(x):\n    store(x + 5, 5.0)\n").in(x);
  suite.add("forbidden_memory", "def k(x, out):\n    store(out, load(x))\n").in(x).at(Placement::Forbidden).out(filled(DType::F32, 1));
  suite.add("check", kCopy).in(x).checked(filled(DType::F32, 4), [](const Values &found) { return found.bits[0] ? std::string("not zero") : std::string(); });
  suite.add("no_error", kCopy).in(x).out(x).error("float");
  suite.add("another_error", "def k(x):\n    store(x, y)\n").in(x).error("no common type");
  suite.add("warning_is_an_error", "def k(x):\n    store(x, y)\n").in(x).warning("unknown name");
  suite.add("unexpected_error", "def k(x):\n    store(x, y)\n").in(x);
  suite.add("no_failure", kCopy).in(x).out(x).fails("overflow");
  suite.add("another_failure", "def k(x):\n    device_assert(load(x) < 0, \"small\")\n").in(x).withDebug().fails("large");
  suite.add("unexpected_failure", "def k(x):\n    device_assert(load(x) < 0, \"small\")\n").in(x).withDebug();
  suite.add("print_missing", "def k(x):\n    pass\n").in(x).prints({"1"});
  suite.add("print_unexpected", "def k(x):\n    device_print(\"v\", load(x))\n").in(x).prints({});
  suite.add("print_differs", "def k(x):\n    device_print(\"v\", load(x))\n").in(x).prints({"7"});
  suite.add("argument_count", kCopy).in(x);
}
} // namespace

std::vector<std::string> selfTestProblems() {
  Suite suite;
  addWrong(suite);
  std::vector<size_t> indices;
  for (size_t i = 0; i < suite.cases.size(); ++i)
    indices.push_back(i);
  std::vector<std::string> problems;
  size_t reported = 0;
  runCases(suite, indices, {}, [&](const Report &report) {
    ++reported;
    for (const Outcome &outcome : report.outcomes)
      if (outcome.problem.empty())
        problems.push_back("the wrong expectation `" + suite.cases[report.index].id + "` passed (" + outcome.execution + ")");
    if (report.outcomes.empty())
      problems.push_back("the wrong expectation `" + suite.cases[report.index].id + "` was not executed");
  });
  if (reported != suite.cases.size())
    problems.push_back("some wrong expectations were not reported");
  return problems;
}

} // namespace tk::conformance
