// One object for the disk cache, and two over one folder, in many threads.
#include "Catch.h"
#include "TestFrontend.h"
#include "runtime/cache/DiskCache.h"
#include "test/unit/cache/CacheFixture.h"

using namespace tk::test;

TEST_CASE("threads publish, find, list, prune and clear") {
  TestFolder folder;
  Watched one(folder.path / "cache", 1 << 20), two(folder.path / "cache", 1 << 20);
  std::atomic<int> found{0}, wrong{0};
  CHECK(onThreads(8, [&](int thread) {
          for (int round = 0; round < 60; ++round) {
            DiskCache &cache = (thread + round) % 2 ? one.cache : two.cache;
            const auto number = static_cast<uint32_t>((thread * 7 + round) % 20);
            cache.publish("code", keyOf(number), selfDescribing(number, 1000 + number * 500), "number");
            if (std::optional<std::string> bytes = cache.find("code", keyOf((number + 3) % 20)))
              ++found, wrong += !isWhole(*bytes);
            if (round % 15 == thread)
              cache.list();
            if (round % 30 == thread)
              cache.prune(1 << 14);
            if (round == 29 && thread == 3)
              cache.clear();
          }
        }).empty());
  CHECK(found > 0);
  CHECK(wrong == 0);
  CHECK(one.warnings.empty());
  CHECK(two.warnings.empty());
}

TEST_CASE("a cache that can't be written warns one of its threads, once") {
  TestFolder folder;
  writeWhole(folder.path / "file", "no folder");
  std::atomic<int> warnings{0};
  DiskCache cache({.folder = (folder.path / "file" / "cache").string(), .warn = [&](const std::string &) { ++warnings; }});
  CHECK(onThreads(8, [&](int thread) {
          for (int round = 0; round < 10; ++round)
            cache.publish("code", keyOf(static_cast<uint64_t>(thread)), "x", ""), cache.find("code", keyOf(1));
        }).empty());
  CHECK(warnings == 1);
}
