// A process that forks after it has compiled and launched: the child does both as well, with as many threads, and ends.
#include "Catch.h"
#include "runtime/device/cpu/ThreadPool.h"
#include "tk/tk.h"
#include <csignal>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <set>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace {
const char *source = R"(
def k(x, out, n, BLOCK: constexpr):
    i = program_id(0) * BLOCK + arange(0, BLOCK)
    store(out + i, load(x + i, mask=i < n) * 2 + BLOCK, mask=i < n)
)";

bool launches(const tk::Kernel &kernel, int64_t block) {
  std::vector<float> x(100000, 3), out(x.size());
  kernel.launch({}, tk::grid((static_cast<int64_t>(x.size()) + block - 1) / block), x.data(), out.data(), static_cast<int64_t>(x.size()), tk::meta("BLOCK", block));
  for (float value : out)
    if (value != static_cast<float>(6 + block))
      return false;
  return true;
}

/// The exit status of a child that runs `work` and ends normally, destructors of globals included; -1 when it hangs or dies.
int statusOfChild(const std::function<int()> &work) {
  pid_t child = fork();
  if (child == 0) {
    alarm(60); // a hang ends by a signal
    std::exit(work());
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}
} // namespace

TEST_CASE("kernels compile and launch in a child process") {
  tk::Kernel kernel = tk::Module::fromSource(source).kernel("k");
  REQUIRE(launches(kernel, 256));
  for (int round = 0; round < 3; ++round)
    CHECK(statusOfChild([&] { return launches(kernel, 256) && launches(kernel, 512) && launches(tk::Module::fromSource(source).kernel("k"), 1024) ? 0 : 1; }) == 0);
  CHECK(statusOfChild([&] { return statusOfChild([&] { return launches(kernel, 128) ? 0 : 1; }) || !launches(kernel, 64); }) == 0); // a grandchild before the child's first launch
  CHECK(statusOfChild([] { return 0; }) == 0); // one that launches nothing
  CHECK(launches(kernel, 2048));
}

TEST_CASE("a child process has as many threads as its parent") {
  tk::runtime::ThreadPool pool(4);
  pool.run(4, [](unsigned) {});
  CHECK(statusOfChild([&] {
          std::mutex mutex;
          std::set<std::thread::id> seen;
          pool.run(4, [&](unsigned) {
            std::lock_guard lock(mutex);
            seen.insert(std::this_thread::get_id());
          });
          return seen.size() == 4 ? 0 : 1;
        }) == 0);
}
