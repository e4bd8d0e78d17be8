// A folder of its own for each test, and what several of them do with a cache.
#pragma once
#include "Catch.h"
#include "runtime/cache/DiskCache.h"
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <random>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

namespace tk::test {

namespace fs = std::filesystem;
using runtime::DiskCache;

constexpr unsigned nobody = 65534;

/// Removed with all that is in it.
class TestFolder {
public:
  TestFolder() {
    std::string pattern = (fs::temp_directory_path() / "tkc-cache-test-XXXXXX").string();
    REQUIRE(mkdtemp(pattern.data()));
    path = pattern;
  }
  ~TestFolder() {
    std::error_code error;
    fs::remove_all(path, error);
  }
  fs::path path;
};

/// Collects the warnings of a cache.
struct Watched {
  explicit Watched(const fs::path &folder, uint64_t capBytes = uint64_t(1) << 30, std::vector<std::string> layers = {})
      : cache({folder.string(), capBytes, std::move(layers), [this](const std::string &text) { warnings.push_back(text); }}) {}
  std::vector<std::string> warnings;
  DiskCache cache;
  bool warnedOnceOf(const std::string &text) const { return warnings.size() == 1 && warnings[0].find(text) != std::string::npos; }
};

inline std::string keyOf(uint64_t number) {
  runtime::ContentHash hash;
  hash.add(number);
  return hash.hex();
}

inline fs::path fileOf(const fs::path &folder, const std::string &kind, const std::string &key) { return folder / key.substr(0, 2) / (key + "." + kind); }

inline std::string readWhole(const fs::path &path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

inline void writeWhole(const fs::path &path, const std::string &bytes) { std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes; }

/// Bytes that tell by themselves whether they are right: a seed, then what it makes.
inline std::string selfDescribing(uint32_t seed, size_t size) {
  std::minstd_rand random(seed + 1);
  std::string bytes(reinterpret_cast<const char *>(&seed), sizeof seed);
  bytes.append(reinterpret_cast<const char *>(&size), sizeof size);
  while (bytes.size() < size)
    bytes.push_back(static_cast<char>(random() >> 8));
  return bytes;
}

inline bool isWhole(const std::string &bytes) {
  uint32_t seed = 0;
  size_t size = 0;
  if (bytes.size() < sizeof seed + sizeof size)
    return false;
  bytes.copy(reinterpret_cast<char *>(&seed), sizeof seed);
  bytes.copy(reinterpret_cast<char *>(&size), sizeof size, sizeof seed);
  return size == bytes.size() && bytes == selfDescribing(seed, size);
}

/// The child's number; it runs `work`, and ends with what that returns.
inline pid_t startChild(const std::function<int()> &work) {
  std::fflush(nullptr);
  pid_t child = fork();
  if (child == 0) {
    alarm(120); // a hang ends by a signal
    _exit(work());
  }
  return child;
}

/// The exit status, or the signal's negative number.
inline int waitFor(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

inline bool isRoot(const char *skipped) {
  if (geteuid() == 0)
    return true;
  WARN("skipped: " << skipped << " needs root");
  return false;
}

} // namespace tk::test
