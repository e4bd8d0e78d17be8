// A front end whose compiler hands out code that was compiled with the test, and counts; and threads that begin together.
#pragma once
#include "tk/tk.h"
#include <atomic>
#include <barrier>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace tk::test {

/// How often the front end was asked, in this process.
struct Asked {
  std::atomic<int> opened{0}, compiled{0};
};
Asked &asked();

/// A module of one kernel, `add(out, n, V: constexpr = 0)`: program i adds n + V % 4 to out[i], an array of i64. A negative V does not compile. `name` makes it
/// a text of its own.
Module moduleOf(const std::string &name);

/// Makes the front end known and gives the process a folder for its disk cache. Before anything else of each test.
void useTestFrontend();

/// Runs `work(number)` on so many threads at once; gives back what they threw.
template <typename Work> std::vector<std::string> onThreads(int count, const Work &work) {
  std::barrier start(count);
  std::mutex mutex;
  std::vector<std::string> errors;
  std::vector<std::thread> threads;
  for (int number = 0; number < count; ++number)
    threads.emplace_back([&, number] {
      start.arrive_and_wait();
      try {
        work(number);
      } catch (const std::exception &error) {
        std::lock_guard lock(mutex);
        errors.push_back(error.what());
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  return errors;
}

} // namespace tk::test
