// What the disk cache must refuse: files and folders that are damaged, misplaced, or somebody else's. It is never returned, warned of once at most, and
// replaced by the next publish; where nothing can be written, that is warned of once and costs nothing else.
#include "CacheFixture.h"
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

using namespace tk::test;

namespace {
const std::string payload = selfDescribing(7, 300);

/// Publishes, spoils the file, looks, and publishes again. `spoil` gets the entry's file; `warning` is what the one warning must say, empty for none.
void checkReplaced(const std::string &warning, const std::function<void(const fs::path &)> &spoil) {
  TestFolder folder;
  Watched watched(folder.path);
  watched.cache.publish("code", keyOf(1), payload, "label");
  fs::path file = fileOf(folder.path, "code", keyOf(1));
  spoil(file);
  if (fs::symlink_status(file).type() != fs::file_type::not_found)
    CHECK(watched.cache.stats().entries == 0);
  CHECK(!watched.cache.find("code", keyOf(1)));
  CHECK(!watched.cache.find("code", keyOf(1)));
  if (warning.empty())
    CHECK(watched.warnings.empty());
  else
    CHECK(watched.warnedOnceOf(warning));
  watched.cache.publish("code", keyOf(1), payload, "label");
  CHECK(watched.cache.find("code", keyOf(1)) == payload);
  CHECK(watched.warnings.size() <= 1);
  CHECK(watched.cache.stats().damaged == 0);
}

/// In a child without root's rights, in a folder that is its own. Its exit status.
int asNobody(const std::function<int(const fs::path &)> &work) {
  TestFolder folder;
  if (geteuid() == 0)
    REQUIRE(chown(folder.path.c_str(), nobody, nobody) == 0);
  return waitFor(startChild([&] {
    if (geteuid() == 0 && setresuid(nobody, nobody, nobody) != 0)
      return 99;
    int status = work(folder.path);
    chmod(folder.path.c_str(), 0700);
    return status;
  }));
}

/// Publishes and looks twice; nothing may come of it but one warning. 0 when so.
int onlyWarns(const fs::path &folder, const std::string &text) {
  Watched watched(folder);
  for (int i = 0; i < 2; ++i) {
    watched.cache.publish("code", keyOf(1), payload, "");
    if (watched.cache.find("code", keyOf(1)))
      return 1;
  }
  if (watched.warnedOnceOf(text))
    return 0;
  for (const std::string &warning : watched.warnings)
    std::fprintf(stderr, "expected `%s`, warned: %s\n", text.c_str(), warning.c_str());
  return 2;
}
} // namespace

TEST_CASE("an entry cut off anywhere is refused") {
  TestFolder folder;
  Watched watched(folder.path);
  watched.cache.publish("code", keyOf(1), payload, "label");
  fs::path file = fileOf(folder.path, "code", keyOf(1));
  std::string whole = readWhole(file);
  REQUIRE(whole.size() > payload.size());
  for (size_t size = 0; size < whole.size(); size += 7) {
    writeWhole(file, whole.substr(0, size));
    CHECK(watched.cache.stats().damaged == 1);
    CHECK(watched.cache.list().empty());
    CHECK(!watched.cache.find("code", keyOf(1)));
    CHECK(!fs::exists(file));
  }
  writeWhole(file, whole + "x");
  CHECK(!watched.cache.find("code", keyOf(1)));
  CHECK(watched.warnings.size() == 1);
  writeWhole(file, whole);
  CHECK(watched.cache.find("code", keyOf(1)) == payload);
}

TEST_CASE("an entry with any bit flipped is refused") {
  TestFolder folder;
  Watched watched(folder.path);
  watched.cache.publish("code", keyOf(1), payload, "label");
  fs::path file = fileOf(folder.path, "code", keyOf(1));
  std::string whole = readWhole(file);
  for (size_t bit = 0; bit < whole.size() * 8; ++bit) {
    std::string bytes = whole;
    bytes[bit / 8] ^= static_cast<char>(1 << bit % 8);
    writeWhole(file, bytes);
    if (watched.cache.find("code", keyOf(1)) || fs::exists(file))
      FAIL("bit " << bit << " of " << whole.size() * 8);
  }
  CHECK(watched.warnings.size() == 1);
}

TEST_CASE("what isn't a file of this user is refused and replaced") {
  checkReplaced("it is empty", [](const fs::path &file) { fs::resize_file(file, 0); });
  checkReplaced("", [](const fs::path &file) { fs::remove(file); });
  checkReplaced("it holds another entry", [](const fs::path &file) {
    DiskCache({.folder = file.parent_path().parent_path().string()}).publish("code", keyOf(2), payload, "");
    fs::rename(fileOf(file.parent_path().parent_path(), "code", keyOf(2)), file);
  });
  checkReplaced("it holds another entry", [](const fs::path &file) {
    std::string key = file.stem().string();
    DiskCache({.folder = file.parent_path().parent_path().string()}).publish("module", key, payload, "");
    fs::rename(fileOf(file.parent_path().parent_path(), "module", key), file);
  });
  checkReplaced("others can write to it (mode 0666)", [](const fs::path &file) { chmod(file.c_str(), 0666); });
  checkReplaced("others can write to it (mode 0620)", [](const fs::path &file) { chmod(file.c_str(), 0620); });
  checkReplaced("it is a link", [](const fs::path &file) {
    fs::rename(file, file.string() + "-real");
    fs::create_symlink(file.string() + "-real", file);
  });
  checkReplaced("it is a link", [](const fs::path &file) {
    fs::remove(file);
    fs::create_symlink("nowhere", file);
  });
  checkReplaced("it is no regular file", [](const fs::path &file) {
    fs::remove(file);
    fs::create_directory(file);
  });
  checkReplaced("it is no regular file", [](const fs::path &file) { // opening it would wait for a writer
    fs::remove(file);
    REQUIRE(mkfifo(file.c_str(), 0600) == 0);
  });
  checkReplaced("it is no regular file", [](const fs::path &file) {
    fs::remove(file);
    int socketFile = socket(AF_UNIX, SOCK_STREAM, 0);
    struct sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    REQUIRE(file.string().copy(address.sun_path, sizeof address.sun_path - 1) == file.string().size());
    REQUIRE(bind(socketFile, reinterpret_cast<sockaddr *>(&address), sizeof address) == 0);
    close(socketFile);
  });
  checkReplaced("it is too long", [](const fs::path &file) { fs::resize_file(file, uint64_t(1) << 32); }); // a hole: no memory is taken for it
  checkReplaced("", [](const fs::path &file) {                                                             // another version's
    std::string bytes = readWhole(file);
    bytes[8] = 2;
    writeWhole(file, bytes);
  });
  if (isRoot("giving a file to another user"))
    checkReplaced("it belongs to another user (uid 65534, expected 0)", [](const fs::path &file) { REQUIRE(chown(file.c_str(), nobody, nobody) == 0); });
}

TEST_CASE("a folder that holds something stands in an entry's place") {
  TestFolder folder;
  fs::path file = fileOf(folder.path, "code", keyOf(1));
  fs::create_directories(file);
  fs::permissions(file.parent_path(), fs::perms::owner_all);
  writeWhole(file / "something", "x");
  CHECK(onlyWarns(folder.path, "Is a directory") == 0);
  CHECK(fs::exists(file / "something")); // not the cache's
}

TEST_CASE("what stands in the place of a folder inside is replaced") {
  for (const std::string &name : {keyOf(1).substr(0, 2), std::string("tmp")}) {
    TestFolder folder, elsewhere;
    Watched watched(folder.path);
    writeWhole(folder.path / name, "a file");
    watched.cache.publish("code", keyOf(1), payload, "");
    CHECK(watched.cache.find("code", keyOf(1)) == payload);
    fs::remove_all(folder.path / name);
    fs::create_directory_symlink(elsewhere.path, folder.path / name);
    watched.cache.publish("code", keyOf(1), payload, "");
    CHECK(watched.cache.find("code", keyOf(1)) == payload);
    CHECK(fs::is_empty(elsewhere.path));
    CHECK(watched.warnings.empty());
    fs::permissions(folder.path / name, fs::perms::all);
    CHECK(onlyWarns(folder.path, "others can write to it (mode 0777)") == (name == "tmp" ? 1 : 0)); // an entry that is there is found without `tmp`
  }
}

TEST_CASE("a folder that others can write is not used") {
  for (unsigned mode : {0770, 0707, 01777}) {
    TestFolder folder;
    Watched(folder.path).cache.publish("code", keyOf(1), payload, "");
    REQUIRE(chmod(folder.path.c_str(), mode) == 0);
    CHECK(onlyWarns(folder.path, "`chmod go-w` mends that") == 0);
    Watched watched(folder.path);
    CHECK(watched.cache.problem().find("others can write to it") != std::string::npos);
    CHECK(watched.cache.list().empty());
    CHECK(watched.cache.stats().entries == 0);
    CHECK(watched.cache.clear() == 0);
    CHECK(watched.cache.prune(0) == 0);
    CHECK(watched.warnings.size() == 1);
    REQUIRE(chmod(folder.path.c_str(), 0755) == 0);
    CHECK(watched.cache.find("code", keyOf(1)) == payload); // mended while it is in use
  }
}

TEST_CASE("another user's folder is not used") {
  if (!isRoot("giving a folder to another user"))
    return;
  TestFolder folder;
  fs::path cache = folder.path / "cache", link = folder.path / "link";
  Watched(cache).cache.publish("code", keyOf(1), payload, "");
  REQUIRE(chown(cache.c_str(), nobody, nobody) == 0);
  CHECK(onlyWarns(cache, "it belongs to another user (uid 65534, expected 0); set TKC_CACHE_DIR to a folder of your own, or to `none`") == 0);
  Watched layered(folder.path / "own", 1 << 20, {cache.string()});
  CHECK(!layered.cache.find("code", keyOf(1)));
  CHECK(layered.warnedOnceOf("it belongs to another user (uid 65534, expected 0 or 0); check TKC_CACHE_LAYERS"));
  REQUIRE(chown(cache.c_str(), 0, 0) == 0);
  fs::create_directory_symlink(cache, link);
  REQUIRE(lchown(link.c_str(), nobody, nobody) == 0);
  CHECK(onlyWarns(link, "it is a link of another user (uid 65534)") == 0);
  REQUIRE(lchown(link.c_str(), 0, 0) == 0);
  fs::path inner = fileOf(cache, "code", keyOf(1)).parent_path();
  REQUIRE(chown(inner.c_str(), nobody, nobody) == 0);
  CHECK(onlyWarns(cache, "it belongs to another user") == 0);
}

TEST_CASE("a layer may be root's") {
  if (!isRoot("a layer of root's"))
    return;
  TestFolder folder;
  chmod(folder.path.c_str(), 0755);
  fs::path layer = folder.path / "layer";
  Watched(layer).cache.publish("code", keyOf(1), payload, "");
  chmod(layer.c_str(), 0755);
  chmod(fileOf(layer, "code", keyOf(1)).parent_path().c_str(), 0755);
  chmod(fileOf(layer, "code", keyOf(1)).c_str(), 0644);
  CHECK(asNobody([&](const fs::path &own) {
          Watched watched(own / "cache", 1 << 20, {layer.string()});
          bool found = watched.cache.find("code", keyOf(1)) == payload;
          watched.cache.publish("code", keyOf(2), payload, "");
          return found && watched.cache.find("code", keyOf(2)) && watched.warnings.empty() && onlyWarns(layer, "another user") == 0 ? 0 : 1;
        }) == 0);
}

TEST_CASE("a folder that can't be written only warns") {
  CHECK(asNobody([](const fs::path &folder) {
          chmod(folder.c_str(), 0500);
          return onlyWarns(folder, "can't be written: `tmp`: it can't be made: Permission denied");
        }) == 0);
  CHECK(asNobody([](const fs::path &folder) { // entries that are there are found
          Watched watched(folder);
          watched.cache.publish("code", keyOf(1), payload, "");
          chmod(folder.c_str(), 0500);
          chmod((folder / "tmp").c_str(), 0500);
          watched.cache.publish("code", keyOf(2), payload, "");
          return watched.cache.find("code", keyOf(1)) == payload && watched.warnings.size() == 1 ? 0 : 1;
        }) == 0);
  CHECK(asNobody([](const fs::path &folder) {
          chmod(folder.c_str(), 0500);
          return onlyWarns(folder / "cache", "can't be made: Permission denied; set TKC_CACHE_DIR");
        }) == 0);
  CHECK(asNobody([](const fs::path &folder) {
          chmod(folder.c_str(), 0);
          return onlyWarns(folder, "isn't used: Permission denied");
        }) == 0);
  TestFolder folder;
  writeWhole(folder.path / "file", "x");
  CHECK(onlyWarns(folder.path / "file", "isn't used: Not a directory") == 0);
  CHECK(onlyWarns(folder.path / "file" / "cache", "Not a directory") == 0);
  CHECK(onlyWarns("", "can't be made") == 0);
  CHECK(onlyWarns(folder.path / std::string(300, 'x'), "File name too long") == 0);
  fs::create_directory_symlink("loop", folder.path / "loop");
  CHECK(onlyWarns(folder.path / "loop", "isn't used") == 0);
  fs::create_directory_symlink("nowhere", folder.path / "dangling");
  CHECK(onlyWarns(folder.path / "dangling", "isn't used") == 0);
}

TEST_CASE("a full disk only warns") {
  if (!isRoot("mounting a small file system"))
    return;
  TestFolder folder;
  int status = waitFor(startChild([&] { // in a name space of its own, which goes with the child
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        mount("tmpfs", folder.path.c_str(), "tmpfs", 0, "size=256k,mode=0700") != 0)
      return 77;
    Watched watched(folder.path);
    watched.cache.publish("code", keyOf(1), payload, "");
    watched.cache.publish("code", keyOf(2), std::string(1 << 20, 'x'), ""); // doesn't fit
    if (!watched.warnedOnceOf("No space left on device") || watched.cache.find("code", keyOf(2)) || watched.cache.find("code", keyOf(1)) != payload)
      return 1;
    for (int i = 10; i < 200; ++i)
      watched.cache.publish("code", keyOf(i), selfDescribing(static_cast<uint32_t>(i), 20'000), "");
    for (int i = 10; i < 200; ++i)
      if (auto found = watched.cache.find("code", keyOf(i)); found && !isWhole(*found))
        return 2;
    auto stats = watched.cache.stats();
    return stats.damaged || stats.temporaries || watched.warnings.size() != 1 ? 3 : 0;
  }));
  if (status == 77)
    WARN("skipped: a full disk needs the right to mount");
  else
    CHECK(status == 0);
}

TEST_CASE("limits of the process only warn") {
  TestFolder folder;
  CHECK(waitFor(startChild([&] {
          struct rlimit limit = {1000, 1000};
          setrlimit(RLIMIT_FSIZE, &limit);
          Watched watched(folder.path);
          watched.cache.publish("code", keyOf(1), std::string(2000, 'x'), "");
          watched.cache.publish("code", keyOf(2), payload, "");
          return watched.warnedOnceOf("ulimit -f") && watched.cache.find("code", keyOf(2)) == payload ? 0 : 1;
        })) == 0);
  CHECK(waitFor(startChild([&] {
          Watched watched(folder.path);
          struct rlimit limit = {4, 4}; // no descriptor for the entry: nothing is refused or removed for that
          setrlimit(RLIMIT_NOFILE, &limit);
          return watched.cache.find("code", keyOf(2)) || !fs::exists(fileOf(folder.path, "code", keyOf(2))) ? 1 : 0;
        })) == 0);
  CHECK(waitFor(startChild([&] {
          umask(0277);
          Watched watched(folder.path / "masked");
          watched.cache.publish("code", keyOf(1), payload, "");
          return geteuid() != 0 || watched.cache.find("code", keyOf(1)) == payload ? 0 : 1;
        })) == 0);
  Watched watched(folder.path);
  CHECK(watched.cache.find("code", keyOf(2)) == payload);
}
