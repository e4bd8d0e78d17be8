// What compilations leave on the disk for the next process. The store knows bytes, kinds and keys; what they mean is its users' affair.
//
// Every function may be called from any thread and any number of processes at once, after fork too: nothing is held between calls but the options.
#pragma once
#include "runtime/cache/ContentHash.h"
#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tk::runtime {

class Descriptor;

class DiskCache {
public:
  struct Options {
    std::string folder;
    uint64_t capBytes = uint64_t(1) << 30;              // of all entries together; an entry may take half of it. 0: nothing is published
    std::vector<std::string> readOnlyLayers = {};       // folders that are read after `folder` and never written: a product's shipped cache
    std::function<void(const std::string &)> warn = {}; // takes the one warning; unset: stderr
  };

  /// Creates nothing yet; the folder comes with the first publish. A relative folder is one of the present working directory.
  explicit DiskCache(Options);

  /// The cache that the environment names (TKC_CACHE_DIR, TKC_CACHE_SIZE, TKC_CACHE_LAYERS; see Environment.h), null when it is off. Lives as long as the
  /// process.
  static DiskCache *process();

  /// The bytes published under (kind, key), or nothing. kind: a word of 1 to 16 lower-case letters ("module", "code", "tuned"); key: a ContentHash's digits.
  /// What isn't a regular file of this user (in layers: or of root), can be written by others, or isn't whole, is never returned, and removed from `folder`.
  std::optional<std::string> find(std::string_view kind, std::string_view key) noexcept;

  /// Others see all of it or nothing, and the last one wins. What fails only costs time: one warning for this object, then quiet.
  /// label: one line for those who list the cache ("softmax sm_90a num_warps=4").
  void publish(std::string_view kind, std::string_view key, std::string_view bytes, std::string_view label) noexcept;

  // What follows is about `folder` alone, not about the layers, and may throw std::bad_alloc.

  struct Entry {
    std::string kind, key, label;
    uint64_t bytes = 0;  // of the file
    int64_t lastUse = 0; // seconds since 1970, exact to the hour
  };
  /// Reads and checks every file. Newest use first; what is damaged is left out.
  std::vector<Entry> list();

  struct Stats {
    uint64_t entries = 0, bytes = 0; // whole ones
    uint64_t damaged = 0;            // files that find would refuse
    uint64_t temporaries = 0;        // of processes that write, or were ended while they did
  };
  /// Reads and checks every file.
  Stats stats();

  /// Removes entries that weren't used for so many seconds (none for a negative number), then the longest unused ones until the rest fits, and what ended
  /// processes left. How many entries went.
  size_t prune(uint64_t capBytes, int64_t olderThanSeconds = -1);
  /// Removes every entry. How many.
  size_t clear();

  /// Writes one file with the chosen entries, all by default; the same entries give the same bytes. How many.
  /// Throws Error(Device) when the file can't be written.
  size_t exportTo(const std::string &file, const std::function<bool(const Entry &)> &wanted = {});
  /// Adds a file's entries that aren't here yet. How many. Everything in the file is checked before anything is added.
  /// Beyond the cap, the first ones go again.
  /// Throws Error(User) for a file that isn't whole or isn't such a file, Error(Device) when it can't be read or the entries can't be written.
  size_t importFrom(const std::string &file);

  const std::string &folder() const { return options.folder; }
  uint64_t capBytes() const { return options.capBytes; }
  /// Why the folder can't be used, empty when it can or isn't there yet.
  std::string problem() const;

private:
  void warnOnce(const std::string &text) noexcept;
  std::optional<std::string> findIn(const std::string &path, bool ours, std::string_view kind, std::string_view key);
  /// Why it failed, else empty. `gone`: somebody has removed the folders meanwhile.
  std::string write(std::string_view kind, std::string_view key, std::string_view bytes, std::string_view label);
  std::string writeOnce(std::string_view kind, std::string_view key, std::string_view head, std::string_view bytes, bool &gone);
  void keepBelowCap(int folder, uint64_t added);
  Descriptor openOrWarn();
  /// Every whole entry, with its file's bytes, sorted by key; counts the others.
  void forEach(int folder, const std::function<void(const Entry &, const std::string &bytes)> &entry, uint64_t *damaged = nullptr);

  Options options;
  std::atomic<bool> warned{false};
};

} // namespace tk::runtime
