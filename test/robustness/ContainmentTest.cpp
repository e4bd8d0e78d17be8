// The library in somebody's process: programs that exhaust the compiler, and errors that LLVM considers fatal, are exceptions.
#include "runtime/jit/Containment.h"
#include "Catch.h"
#include "tk/tk.h"
#include "llvm/Support/ErrorHandling.h"
#include <atomic>
#include <thread>
#include <vector>

namespace {
/// Uses `frames` kilobytes of the stack.
__attribute__((noinline)) unsigned descend(unsigned frames) {
  volatile char frame[1024];
  frame[frames % sizeof frame] = 1;
  return frames ? descend(frames - 1) + frame[frames % sizeof frame] : 0;
}

tk::ErrorKind kindOf(const std::function<void()> &work, std::string &text) {
  try {
    work();
  } catch (const tk::Error &error) {
    text = error.what();
    return error.kind();
  }
  FAIL("nothing was thrown");
  return {};
}
} // namespace

TEST_CASE("a fatal error of LLVM is thrown, again and again and on several threads") {
  std::atomic<int> right = 0;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([&] {
      for (int round = 0; round < 20; ++round)
        try {
          tk::jit::contained([] { llvm::report_fatal_error("no such register"); });
        } catch (const tk::Error &error) {
          right += error.kind() == tk::ErrorKind::Internal && std::string(error.what()) == "internal error: no such register";
        }
    });
  for (std::thread &thread : threads)
    thread.join();
  CHECK(right == 80);
}

TEST_CASE("other exceptions pass, and compilations nest") {
  int reached = 0;
  CHECK_THROWS_AS(tk::jit::contained([&] { tk::jit::contained([&] { ++reached; }), throw 5; }), int);
  CHECK(reached == 1);
}

TEST_CASE("a compilation has a large stack of its own") {
  unsigned depth = 0;
  tk::jit::contained([&] { depth = descend(64 << 10); }); // 64 MiB
  CHECK(depth == 64 << 10);
}

TEST_CASE("programs that are too deep, too large or endless are errors of the user's") {
  std::string sum = "n", nested, text;
  for (int i = 0; i < 900; ++i)
    sum += " + n";
  for (int i = 0; i < 90; ++i)
    nested += std::string(static_cast<size_t>(i) + 1, ' ') + "if n > " + std::to_string(i) + ":\n";
  nested += std::string(91, ' ') + "store(x, n)\n";
  int out = 0;
  tk::Module::fromSource("@jit(do_not_specialize=['n'])\ndef k(x, n):\n    store(x, " + sum + ")\n").kernel("k").launch({}, tk::grid(1), &out, 2);
  CHECK(out == 1802);
  tk::Module::fromSource("@jit(do_not_specialize=['n'])\ndef k(x, n):\n" + nested).kernel("k").launch({}, tk::grid(1), &out, 1000);
  CHECK(out == 1000);
  auto launch = [&](const std::string &source) { return [&out, source] { tk::Module::fromSource(source).kernel("k").launch({}, tk::grid(1), &out); }; };
  CHECK(kindOf(launch("def f(a):\n    return f(a)\n\ndef k(x):\n    f(x)\n"), text) == tk::ErrorKind::User);
  CHECK(text.find("nested deeper") != std::string::npos);
  CHECK(kindOf(launch("def k(x):\n    for i in static_range(1000000000):\n        store(x, i)\n"), text) == tk::ErrorKind::User);
  CHECK(text.find("kernel too large") != std::string::npos);
}
