// The disk cache with one process: what is published is found, the longest unused goes, layers are only read, and the folder may move.
#include "CacheFixture.h"
#include <ctime>
#include <fcntl.h>
#include <set>
#include <sys/stat.h>

using namespace tk::test;

namespace {
void setLastUse(const fs::path &file, int64_t seconds) {
  struct timespec times[2] = {{seconds, 0}, {seconds, 0}};
  REQUIRE(utimensat(AT_FDCWD, file.c_str(), times, 0) == 0);
}

int64_t lastUse(const fs::path &file) {
  struct stat facts = {};
  REQUIRE(stat(file.c_str(), &facts) == 0);
  return facts.st_mtim.tv_sec;
}

unsigned modeOf(const fs::path &path) {
  struct stat facts = {};
  REQUIRE(stat(path.c_str(), &facts) == 0);
  return facts.st_mode & 07777;
}
} // namespace

TEST_CASE("a content hash tells sequences apart") {
  std::set<std::string> seen;
  auto addOf = [&](const std::function<void(tk::runtime::ContentHash &)> &fill) {
    tk::runtime::ContentHash hash;
    fill(hash);
    CHECK(hash.hex().size() == 32);
    CHECK(hash.hex() == hash.hex());
    CHECK(seen.insert(hash.hex()).second);
  };
  addOf([](auto &hash) {});
  addOf([](auto &hash) { hash.add(""); });
  addOf([](auto &hash) { hash.add("ab"); });
  addOf([](auto &hash) { hash.add("a"), hash.add("b"); });
  addOf([](auto &hash) { hash.add("b"), hash.add("a"); });
  addOf([](auto &hash) { hash.add(uint64_t(1)); });
  addOf([](auto &hash) { hash.add(std::string_view("\1\0\0\0\0\0\0\0", 8)); });
  addOf([](auto &hash) { hash.add(uint64_t(1) << 32); });
  // The published XXH3-128 of nothing: keys stay the same from machine to machine.
  CHECK(tk::runtime::hashOf("") == "99aa06d3014798d86001c324468d497f");
}

TEST_CASE("what is published is found, by another object as well") {
  TestFolder folder;
  fs::path place = folder.path / "missing" / "parents" / "cache";
  Watched one(place);
  CHECK(!one.cache.find("code", keyOf(1)));
  CHECK(one.cache.list().empty());
  CHECK(!fs::exists(folder.path / "missing"));
  std::string binary("a\0b\n", 4);
  one.cache.publish("code", keyOf(1), binary, "first\nline\tand \x1b[31m more");
  one.cache.publish("code", keyOf(2), "", "");
  one.cache.publish("module", keyOf(1), "other kind", std::string(1000, 'x'));
  CHECK(modeOf(place) == 0700);
  CHECK(modeOf(fileOf(place, "code", keyOf(1))) == 0600);

  Watched two(place.string() + "//");
  CHECK(two.cache.find("code", keyOf(1)) == binary);
  CHECK(two.cache.find("code", keyOf(2)) == "");
  CHECK(two.cache.find("module", keyOf(1)) == "other kind");
  CHECK(!two.cache.find("module", keyOf(2)));
  two.cache.publish("code", keyOf(1), "newer", "second");
  CHECK(one.cache.find("code", keyOf(1)) == "newer");

  auto entries = two.cache.list();
  REQUIRE(entries.size() == 3);
  std::set<std::string> labels;
  for (const auto &entry : entries) {
    labels.insert(entry.label);
    CHECK(entry.bytes == fs::file_size(fileOf(place, entry.kind, entry.key)));
    CHECK(std::abs(entry.lastUse - std::time(nullptr)) < 60);
  }
  CHECK(labels == std::set<std::string>{"second", "", std::string(256, 'x')});
  CHECK(two.cache.stats().entries == 3);
  CHECK(two.cache.stats().temporaries == 0);
  CHECK(one.warnings.empty());
  CHECK(two.warnings.empty());
}

TEST_CASE("a label is one line and whole characters") {
  TestFolder folder;
  Watched watched(folder.path / "cache");
  watched.cache.publish("code", keyOf(1), "x", "a\nb\x1b[0m\x7f");
  watched.cache.publish("code", keyOf(2), "x", std::string(255, 'a') + "\xc3\xa9");
  for (const auto &entry : watched.cache.list())
    CHECK(entry.label == (entry.key == keyOf(1) ? "a b [0m " : std::string(255, 'a')));
}

TEST_CASE("kinds and keys can't name other files") {
  TestFolder folder;
  Watched watched(folder.path / "cache");
  for (const char *kind : {"", "..", "Code", "co/de", "seventeenletterss", "code."})
    watched.cache.publish(kind, keyOf(1), "x", "");
  for (const char *key : {"", "..", "../../../../etc", "ABCDEF0123456789", "abcdefg012345678", "abc"}) {
    watched.cache.publish("code", key, "x", "");
    CHECK(!watched.cache.find("code", key));
  }
  CHECK(watched.warnedOnceOf("expected a kind of 1 to 16 letters"));
  CHECK(!fs::exists(folder.path / "cache"));
}

TEST_CASE("the folder may move, and vanish") {
  TestFolder folder;
  Watched before(folder.path / "before");
  before.cache.publish("code", keyOf(1), "x", "");
  fs::rename(folder.path / "before", folder.path / "after");
  CHECK(!before.cache.find("code", keyOf(1)));
  CHECK(Watched(folder.path / "after").cache.find("code", keyOf(1)) == "x");
  before.cache.publish("code", keyOf(2), "y", "");
  CHECK(before.cache.find("code", keyOf(2)) == "y");
  fs::create_directory_symlink(folder.path / "after", folder.path / "link");
  Watched linked(folder.path / "link");
  CHECK(linked.cache.find("code", keyOf(1)) == "x");
  CHECK(linked.warnings.empty());
}

TEST_CASE("a relative folder stays where it was") {
  TestFolder folder;
  fs::path start = fs::current_path();
  fs::current_path(folder.path);
  DiskCache cache({.folder = "relative"});
  fs::current_path(start);
  cache.publish("code", keyOf(1), "x", "");
  CHECK(cache.find("code", keyOf(1)) == "x");
  CHECK(fs::exists(folder.path / "relative"));
}

TEST_CASE("prune removes what is old, then the longest unused") {
  TestFolder folder;
  Watched watched(folder.path);
  int64_t now = std::time(nullptr);
  for (int i = 0; i < 10; ++i) {
    watched.cache.publish("code", keyOf(i), std::string(10000, 'x'), "");
    setLastUse(fileOf(folder.path, "code", keyOf(i)), now - i * 86400 - 60);
  }
  CHECK(watched.cache.prune(1 << 20) == 0);
  CHECK(watched.cache.prune(1 << 20, 7 * 86400) == 3); // 7, 8, 9 days and a minute
  CHECK(watched.cache.prune(45000) == 3);              // 4, 5, 6
  auto entries = watched.cache.list();
  REQUIRE(entries.size() == 4);
  for (int i = 0; i < 4; ++i)
    CHECK(entries[i].key == keyOf(i)); // newest use first
  CHECK(watched.cache.clear() == 4);
  CHECK(fs::is_empty(folder.path));
  CHECK(watched.cache.clear() == 0);
}

TEST_CASE("other files in the folder are left alone") {
  TestFolder folder;
  Watched watched(folder.path);
  watched.cache.publish("code", keyOf(1), "x", "");
  fs::path strange = folder.path / keyOf(1).substr(0, 2) / "notes.txt";
  writeWhole(strange, "mine");
  writeWhole(folder.path / "readme", "mine");
  CHECK(watched.cache.prune(0) == 1);
  CHECK(watched.cache.clear() == 0);
  CHECK(fs::exists(strange));
  CHECK(fs::exists(folder.path / "readme"));
}

TEST_CASE("use is noted once an hour") {
  TestFolder folder;
  Watched watched(folder.path);
  watched.cache.publish("code", keyOf(1), "x", "");
  fs::path file = fileOf(folder.path, "code", keyOf(1));
  int64_t now = std::time(nullptr);
  for (auto [given, noted] : {std::pair{now - 600, false}, {now - 3000, false}, {now - 7200, true}, {now + 86400, true}}) {
    setLastUse(file, given);
    CHECK(watched.cache.find("code", keyOf(1)));
    CHECK((lastUse(file) != given) == noted);
  }
}

TEST_CASE("publishing keeps below the cap and keeps what was used last") {
  TestFolder folder;
  constexpr uint64_t cap = 1 << 20, size = 50'000;
  Watched watched(folder.path, cap);
  for (int i = 0; i < 100; ++i) {
    watched.cache.publish("code", keyOf(i), std::string(size, static_cast<char>(i)), "");
    setLastUse(fileOf(folder.path, "code", keyOf(i)), 1'000'000'000 + i);
    auto stats = watched.cache.stats();
    CHECK(stats.bytes <= cap + cap / 16 + size + 1000);
    // 90 % of the cap, and never less than that by more than one entry.
    if (i > 30)
      CHECK(stats.bytes >= cap / 10 * 9 - size - 1000);
  }
  CHECK(watched.cache.find("code", keyOf(99)));
  CHECK(watched.cache.find("code", keyOf(85)));
  CHECK(!watched.cache.find("code", keyOf(70)));
  CHECK(watched.warnings.empty());
  // Small entries are counted, too: the cap is looked at after 64 of them at the latest.
  Watched small(folder.path, 200'000);
  for (int i = 0; i < 64; ++i)
    small.cache.publish("code", keyOf(1000 + i), "x", "");
  CHECK(small.cache.stats().bytes <= 200'000);
  // What would drive all else out is not kept.
  small.cache.publish("code", keyOf(1), std::string(150'000, 'x'), "");
  CHECK(!small.cache.find("code", keyOf(1)));
  CHECK(small.warnedOnceOf("larger than half of the cache"));
  Watched nothing(folder.path, 0);
  nothing.cache.publish("code", keyOf(1), "x", "");
  CHECK(!nothing.cache.find("code", keyOf(1)));
  CHECK(nothing.warnings.empty());
}

TEST_CASE("layers are read and never written") {
  TestFolder folder;
  fs::path layer = folder.path / "layer", other = folder.path / "other", own = folder.path / "own";
  Watched(layer).cache.publish("code", keyOf(1), "of the layer", "");
  Watched(layer).cache.publish("code", keyOf(3), "damaged", "");
  Watched(other).cache.publish("code", keyOf(1), "of the second", "");
  Watched(other).cache.publish("code", keyOf(2), "of the second", "");
  fs::path damaged = fileOf(layer, "code", keyOf(3));
  std::string bytes = readWhole(damaged);
  bytes.back() ^= 1;
  writeWhole(damaged, bytes);
  fs::remove(layer / "written");
  for (int64_t days : {0, 1})
    for (int i : {1, 3})
      setLastUse(fileOf(layer, "code", keyOf(i)), 1'000'000'000 + days);
  chmod(layer.c_str(), 0755); // others may read

  Watched watched(own, 1 << 20, {(folder.path / "absent").string(), layer.string(), other.string()});
  CHECK(watched.cache.find("code", keyOf(1)) == "of the layer");
  CHECK(watched.cache.find("code", keyOf(2)) == "of the second");
  CHECK(!fs::exists(own));
  CHECK(watched.warnings.empty());
  CHECK(!watched.cache.find("code", keyOf(3)));
  CHECK(watched.warnedOnceOf("its checksum is wrong"));
  CHECK(readWhole(damaged) == bytes);
  watched.cache.publish("code", keyOf(1), "own", "");
  watched.cache.publish("code", keyOf(3), "own", "");
  CHECK(watched.cache.find("code", keyOf(1)) == "own");
  CHECK(watched.cache.find("code", keyOf(3)) == "own");
  CHECK(watched.cache.clear() == 2);
  CHECK(watched.cache.find("code", keyOf(1)) == "of the layer");
  CHECK(lastUse(fileOf(layer, "code", keyOf(1))) == 1'000'000'001);
  std::set<std::string> files;
  for (const auto &file : fs::recursive_directory_iterator(layer))
    if (file.is_regular_file())
      files.insert(file.path().filename());
  CHECK(files == std::set<std::string>{keyOf(1) + ".code", keyOf(3) + ".code"});
}

TEST_CASE("left-over temporaries go with the next publish") {
  TestFolder folder;
  Watched watched(folder.path);
  watched.cache.publish("code", keyOf(1), "x", "");
  pid_t gone = startChild([] { return 0; });
  REQUIRE(waitFor(gone) == 0);
  // A temporary of a process that still runs shows how they are named here.
  pid_t writer = startChild([&] {
    for (;;)
      watched.cache.publish("code", keyOf(2), std::string(1 << 20, 'x'), "");
    return 0;
  });
  std::string name;
  for (int64_t start = std::time(nullptr); name.empty() && std::time(nullptr) < start + 20;)
    for (const auto &file : fs::directory_iterator(folder.path / "tmp"))
      name = file.path().filename();
  kill(writer, SIGKILL);
  waitFor(writer);
  REQUIRE(!name.empty());
  std::string here = name.substr(0, name.find('-'));
  auto temporary = [&](const std::string &file, int64_t age) {
    writeWhole(folder.path / "tmp" / file, "half");
    setLastUse(folder.path / "tmp" / file, std::time(nullptr) - age);
  };
  temporary(here + "-" + std::to_string(gone) + "-0-0", 0);
  temporary(here + "-" + std::to_string(getpid()) + "-0-0", 0);
  temporary(here + "-" + std::to_string(getpid()) + "-1-0", 4000);
  temporary("elsewhere-" + std::to_string(gone) + "-0-0", 0);
  temporary("elsewhere-" + std::to_string(gone) + "-1-0", 4000);
  watched.cache.publish("code", keyOf(3), "x", "");
  std::set<std::string> left;
  for (const auto &file : fs::directory_iterator(folder.path / "tmp"))
    left.insert(file.path().filename());
  CHECK(left == std::set<std::string>{here + "-" + std::to_string(getpid()) + "-0-0", "elsewhere-" + std::to_string(gone) + "-0-0"});
  CHECK(watched.cache.stats().temporaries == 2);
}
