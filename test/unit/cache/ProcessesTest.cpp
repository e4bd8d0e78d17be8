// The disk cache with many processes and threads at once, some of them killed: every find gives nothing or exactly what somebody published.
#include "CacheFixture.h"
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

using namespace tk::test;

namespace {
constexpr int processes = 8, variants = 8, rounds = 50;

/// Looks and publishes as compilations do, each process with bytes of its own. 0, or what went wrong.
int useCache(DiskCache &cache, uint32_t who) {
  for (int round = 0; round < rounds; ++round)
    for (int variant = 0; variant < variants; ++variant) {
      auto found = cache.find("code", keyOf(variant));
      if (found && !isWhole(*found))
        return 1;
      if (!found || round % 10 == 0)
        cache.publish("code", keyOf(variant), selfDescribing(who * 1000 + round, 1000 + 3000 * variant), "variant");
      if (round % 8 == 7 && variant == 0)
        for (const DiskCache::Entry &entry : cache.list())
          if (entry.label != "variant")
            return 2;
    }
  return 0;
}
} // namespace

TEST_CASE("processes that publish, prune and clear at once") {
  TestFolder folder;
  fs::path place = folder.path / "fresh";
  Watched watched(place);
  std::vector<pid_t> children;
  for (uint32_t i = 0; i < processes; ++i)
    children.push_back(startChild([&] {
      int status = useCache(watched.cache, i);
      return status == 0 && !watched.warnings.empty() ? (std::fprintf(stderr, "%s\n", watched.warnings[0].c_str()), 3) : status;
    }));
  pid_t remover = startChild([&] {
    Watched own(place);
    for (int i = 0;; ++i) {
      i % 5 == 4 ? own.cache.clear() : own.cache.prune(i % 3 * 20'000);
      if (!own.warnings.empty())
        return 1;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
  for (pid_t child : children)
    CHECK(waitFor(child) == 0);
  kill(remover, SIGKILL);
  CHECK(waitFor(remover) == -SIGKILL); // it had nothing to warn of
  CHECK(useCache(watched.cache, 99) == 0);
  for (int variant = 0; variant < variants; ++variant)
    CHECK(watched.cache.find("code", keyOf(variant)));
  auto stats = watched.cache.stats();
  CHECK(stats.entries == variants);
  CHECK(stats.damaged == 0);
  CHECK(stats.temporaries == 0);
  CHECK(watched.warnings.empty());
}

TEST_CASE("a small cap with many processes") {
  TestFolder folder;
  Watched watched(folder.path, 100'000);
  std::vector<pid_t> children;
  for (uint32_t i = 0; i < processes; ++i)
    children.push_back(startChild([&] { return useCache(watched.cache, i); }));
  for (pid_t child : children)
    CHECK(waitFor(child) == 0);
  CHECK(watched.cache.stats().bytes <= 100'000 + processes * 25'000);
  CHECK(watched.cache.stats().damaged == 0);
}

TEST_CASE("processes killed while they publish") {
  TestFolder folder;
  Watched watched(folder.path);
  std::minstd_rand random(5);
  std::vector<std::string> payloads;
  for (uint32_t seed = 0; seed < 4; ++seed)
    payloads.push_back(selfDescribing(seed, 300'000));
  size_t leftOver = 0;
  for (int i = 0; i < 200; ++i) {
    pid_t child = startChild([&] {
      for (size_t round = 0;; ++round)
        watched.cache.publish("code", keyOf(round % 4), payloads[round % 4], "big");
      return 0;
    });
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 12'000));
    kill(child, SIGKILL);
    REQUIRE(waitFor(child) == -SIGKILL);
    leftOver += watched.cache.stats().temporaries;
    for (size_t variant = 0; variant < 4; ++variant)
      if (auto found = watched.cache.find("code", keyOf(variant)))
        CHECK((*found == payloads[variant]));
  }
  CHECK(leftOver > 0); // some were killed in the middle of it
  watched.cache.prune(1 << 30);
  auto stats = watched.cache.stats();
  CHECK(stats.temporaries == 0);
  CHECK(stats.damaged == 0);
  CHECK(stats.entries == 4);
  CHECK(watched.warnings.empty());
}

TEST_CASE("threads, and children forked from among them") {
  TestFolder folder;
  Watched watched(folder.path);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (uint32_t i = 0; i < 8; ++i)
    threads.emplace_back([&, i] { wrong += useCache(watched.cache, i); });
  for (int i = 0; i < 20; ++i)
    CHECK(waitFor(startChild([&] {
            watched.cache.publish("module", keyOf(i), "of a child", "variant");
            return watched.cache.find("module", keyOf(i)) == "of a child" ? 0 : 1;
          })) == 0);
  for (std::thread &thread : threads)
    thread.join();
  CHECK(wrong == 0);
  for (int i = 0; i < 20; ++i)
    CHECK(watched.cache.find("module", keyOf(i)) == "of a child");
  CHECK(watched.cache.stats().temporaries == 0);
  CHECK(watched.warnings.empty());
}
