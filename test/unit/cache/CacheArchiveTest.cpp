// Export and import: a round trip, a choice, and files that aren't whole.
#include "CacheFixture.h"
#include "tk/error.h"
#include <sys/stat.h>

using namespace tk::test;

namespace {
/// What is thrown, as "user: text" or "device: text".
std::string thrownBy(const std::function<void()> &work) {
  try {
    work();
  } catch (const tk::Error &error) {
    return (error.kind() == tk::ErrorKind::User ? "user: " : error.kind() == tk::ErrorKind::Device ? "device: " : "internal: ") + std::string(error.what());
  }
  return "nothing";
}

bool contains(const std::string &text, const std::string &part) { return text.find(part) != std::string::npos; }

void fill(DiskCache &cache, int count) {
  for (int i = 0; i < count; ++i)
    cache.publish(i % 2 ? "code" : "module", keyOf(i), selfDescribing(static_cast<uint32_t>(i), 100 + i), "number " + std::to_string(i));
}
} // namespace

TEST_CASE("entries travel in one file") {
  TestFolder folder;
  Watched from(folder.path / "from"), to(folder.path / "to"), third(folder.path / "third");
  std::string all = (folder.path / "all").string(), again = (folder.path / "again").string(), some = (folder.path / "some").string();
  fill(from.cache, 20);
  CHECK(from.cache.exportTo(all) == 20);
  CHECK(to.cache.importFrom(all) == 20);
  for (int i = 0; i < 20; ++i)
    CHECK(to.cache.find(i % 2 ? "code" : "module", keyOf(i)) == selfDescribing(static_cast<uint32_t>(i), 100 + i));
  for (const auto &entry : to.cache.list())
    CHECK(contains(entry.label, "number "));
  CHECK(to.cache.importFrom(all) == 0);
  // The same entries give the same bytes, wherever they come from.
  CHECK(to.cache.exportTo(again) == 20);
  CHECK(readWhole(all) == readWhole(again));
  CHECK(from.cache.exportTo(some, [](const DiskCache::Entry &entry) { return entry.kind == "code"; }) == 10);
  CHECK(third.cache.importFrom(some) == 10);
  CHECK(third.cache.importFrom(all) == 10);
  // What is here stays, unless it is damaged.
  third.cache.publish("code", keyOf(1), "own", "");
  writeWhole(fileOf(folder.path / "third", "code", keyOf(3)), "damaged");
  CHECK(third.cache.importFrom(all) == 1);
  CHECK(third.cache.find("code", keyOf(1)) == "own");
  CHECK(Watched(folder.path / "absent").cache.exportTo(some) == 0);
  CHECK(Watched(folder.path / "absent").cache.importFrom(some) == 0);
}

TEST_CASE("a damaged archive changes nothing") {
  TestFolder folder;
  Watched from(folder.path / "from"), to(folder.path / "to");
  std::string file = (folder.path / "archive").string();
  fill(from.cache, 5);
  from.cache.exportTo(file);
  std::string whole = readWhole(file);
  auto refused = [&](const std::string &bytes) {
    writeWhole(file, bytes);
    std::string text = thrownBy([&] { to.cache.importFrom(file); });
    return text.starts_with("user: `" + file + "` ") && !fs::exists(folder.path / "to");
  };
  for (size_t size = 0; size < whole.size(); size += 37)
    CHECK(refused(whole.substr(0, size)));
  CHECK(refused(whole.substr(0, whole.size() - 1)));
  CHECK(refused(whole + "x"));
  for (size_t bit = 0; bit < whole.size() * 8; bit += 21) {
    std::string bytes = whole;
    bytes[bit / 8] ^= static_cast<char>(1 << bit % 8);
    if (!refused(bytes))
      FAIL("bit " << bit);
  }
  writeWhole(file, whole);
  CHECK(to.cache.importFrom(file) == 5);
}

TEST_CASE("files that can't be read or written are named") {
  TestFolder folder;
  Watched watched(folder.path / "cache");
  fill(watched.cache, 2);
  auto importError = [&](const fs::path &file) { return thrownBy([&] { watched.cache.importFrom(file.string()); }); };
  auto exportError = [&](const fs::path &file) { return thrownBy([&] { watched.cache.exportTo(file.string()); }); };
  CHECK(importError(folder.path / "absent") == "device: `" + (folder.path / "absent").string() + "` can't be read: No such file or directory");
  CHECK(contains(importError(folder.path), "user: `" + folder.path.string() + "` is no regular file"));
  CHECK(contains(exportError(folder.path), "user: `" + folder.path.string() + "` is no regular file"));
  CHECK(contains(exportError("/dev/null"), "user: `/dev/null` is no regular file"));
  CHECK(contains(exportError(folder.path / "absent" / "file"), "device: `"));
  writeWhole(folder.path / "text", "something else altogether");
  CHECK(contains(importError(folder.path / "text"), "holds no cache entries"));
  mkfifo((folder.path / "pipe").c_str(), 0600);
  CHECK(contains(importError(folder.path / "pipe"), "is no regular file"));
  // A failure leaves what was there, and no other file.
  size_t files = std::distance(fs::directory_iterator(folder.path), fs::directory_iterator());
  writeWhole(folder.path / "old", "kept");
  CHECK(thrownBy([&] {
          watched.cache.exportTo((folder.path / "old").string(), [](const DiskCache::Entry &) -> bool { throw tk::Error(tk::ErrorKind::User, "no"); });
        }) == "user: no");
  CHECK(readWhole(folder.path / "old") == "kept");
  CHECK(static_cast<size_t>(std::distance(fs::directory_iterator(folder.path), fs::directory_iterator())) == files + 1);
  // The library's warnings are errors here.
  watched.cache.exportTo((folder.path / "good").string());
  Watched small(folder.path / "small", 10);
  CHECK(contains(thrownBy([&] { small.cache.importFrom((folder.path / "good").string()); }),
                 "device: `" + (folder.path / "good").string() + "` can't be imported: cache entry"));
  chmod((folder.path / "cache").c_str(), 0777);
  CHECK(contains(exportError(folder.path / "good"), "device: cache folder `"));
  CHECK(contains(importError(folder.path / "good"), "device: `"));
}

// Hidden: writes the input of test/tools/cache.test.
TEST_CASE("the archive of the command line's test", "[.]") {
  const char *file = std::getenv("TKC_TEST_ARCHIVE");
  REQUIRE(file);
  TestFolder folder;
  Watched watched(folder.path);
  auto key = [](const std::string &digits) {
    std::string text;
    while (text.size() < 32)
      text += digits;
    return text;
  };
  watched.cache.publish("code", key("1a"), selfDescribing(1, 2000), "softmax sm_90a num_warps=4");
  watched.cache.publish("code", key("2b"), selfDescribing(2, 100), "matmul cpu");
  watched.cache.publish("module", key("1a"), selfDescribing(3, 100), "softmax");
  CHECK(watched.cache.exportTo(file) == 3);
}
