// See DiskCache.h.
#include "runtime/cache/DiskCache.h"
#include "runtime/Environment.h"
#include "runtime/cache/CacheFolder.h"
#include "runtime/cache/EntryFile.h"
#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <tuple>
#include <unistd.h>

namespace tk::runtime {

namespace {
constexpr int64_t touchAfterSeconds = 3600;
/// The cap is looked at after so many entries, or so many bytes: a part of the cap, by which it may be exceeded.
constexpr size_t entriesBetweenLooks = 64;
constexpr uint64_t capPartBetweenLooks = 16;

std::string innerOf(std::string_view key) { return std::string(key.substr(0, 2)); }

/// How many of them went.
size_t removeFiles(int folder, const std::vector<FoundFile> &files) {
  size_t removed = 0;
  std::string why;
  for (const FoundFile &file : files)
    if (Descriptor inner = openInner(folder, file.inner, Owner::User, false, why))
      removed += removeFile(inner.get(), file.name);
  return removed;
}

/// Removes the longest unused files until the rest has at most so many bytes. How many went.
size_t removeLongestUnused(int folder, std::vector<FoundFile> files, uint64_t capBytes) {
  std::sort(files.begin(), files.end(), [](const FoundFile &a, const FoundFile &b) { return std::tie(a.lastUse, a.name) > std::tie(b.lastUse, b.name); });
  uint64_t kept = 0;
  auto first = std::find_if(files.begin(), files.end(), [&](const FoundFile &file) { return (kept += file.bytes) > capBytes; });
  return removeFiles(folder, {first, files.end()});
}

void removeOldTemporaries(int folder) {
  std::string why;
  if (Descriptor temporaries = openInner(folder, "tmp", Owner::User, false, why))
    removeStaleTemporaries(temporaries.get());
}
} // namespace

DiskCache::DiskCache(Options given) : options(std::move(given)) {
  auto absolute = [](std::string &path) {
    std::error_code error;
    if (auto full = std::filesystem::absolute(path, error); !path.empty() && !error)
      path = full.string();
    while (path.size() > 1 && path.back() == '/')
      path.pop_back();
  };
  absolute(options.folder);
  for (std::string &layer : options.readOnlyLayers)
    absolute(layer);
}

DiskCache *DiskCache::process() {
  static DiskCache *const cache = []() -> DiskCache * {
    const Environment &environment = runtime::environment();
    if (environment.cacheFolder.empty())
      return nullptr;
    Options options = {.folder = environment.cacheFolder, .readOnlyLayers = environment.cacheLayers};
    const std::string &size = environment.cacheMebibytes;
    uint64_t mebibytes = 0;
    auto [end, error] = std::from_chars(size.data(), size.data() + size.size(), mebibytes);
    bool right = error == std::errc() && end == size.data() + size.size() && mebibytes <= UINT64_MAX >> 20;
    if (right)
      options.capBytes = mebibytes << 20;
    // Never destroyed: other threads may use it while the process ends.
    auto *made = new DiskCache(std::move(options));
    if (!right && !size.empty())
      made->warnOnce(fmt::format("TKC_CACHE_SIZE is a number of MiB, found `{}`: {} is used", size, made->options.capBytes >> 20));
    return made;
  }();
  return cache;
}

void DiskCache::warnOnce(const std::string &text) noexcept {
  if (warned.exchange(true))
    return;
  try {
    if (options.warn)
      options.warn(text);
    else
      std::fprintf(stderr, "tkc: warning: %s\n", text.c_str());
  } catch (...) {
  }
}

std::string DiskCache::problem() const {
  std::string why;
  openFolder(options.folder, Owner::User, why);
  return why;
}

// ---------------------------------------------------------------------------------------------------------------------
// Find

std::optional<std::string> DiskCache::findIn(const std::string &path, bool ours, std::string_view kind, std::string_view key) {
  Owner owner = ours ? Owner::User : Owner::UserOrRoot;
  std::string why, inner = innerOf(key), name = entryName(kind, key);
  Descriptor folder = openFolder(path, owner, why);
  if (!why.empty())
    warnOnce(why);
  if (!folder)
    return std::nullopt;
  Descriptor open = openInner(folder.get(), inner, owner, false, why);
  if (!open) {
    if (!why.empty())
      warnOnce(fmt::format("cache folder `{}/{}` isn't used: {}", path, inner, why));
    return std::nullopt;
  }
  FileContent content = readFile(open.get(), name, owner);
  if (content.state == FileContent::State::Missing)
    return std::nullopt;
  std::optional<EntryView> view;
  if (content.state == FileContent::State::Read)
    view = readEntry(content.bytes, content.why);
  if (view && (view->kind != kind || view->key != key)) {
    content.why = "it holds another entry";
    view.reset();
  }
  if (!view) {
    if (ours)
      removeFile(open.get(), name, content.inode);
    if (!content.why.empty())
      warnOnce(fmt::format("cache entry `{}/{}/{}` is {}: {}", path, inner, name, ours ? "made anew" : "not used", content.why));
    return std::nullopt;
  }
  if (ours && std::abs(std::time(nullptr) - content.lastUse) > touchAfterSeconds)
    touch(open.get(), name);
  content.bytes.erase(0, content.bytes.size() - view->payload.size());
  return std::move(content.bytes);
}

std::optional<std::string> DiskCache::find(std::string_view kind, std::string_view key) noexcept {
  try {
    if (!isKind(kind) || !isKey(key))
      return std::nullopt;
    if (auto bytes = findIn(options.folder, true, kind, key))
      return bytes;
    for (const std::string &layer : options.readOnlyLayers)
      if (auto bytes = findIn(layer, false, kind, key))
        return bytes;
  } catch (...) { // no memory: as good as not found
  }
  return std::nullopt;
}

// ---------------------------------------------------------------------------------------------------------------------
// Publish

void DiskCache::publish(std::string_view kind, std::string_view key, std::string_view bytes, std::string_view label) noexcept {
  try {
    if (options.capBytes == 0)
      return;
    if (std::string why = write(kind, key, bytes, label); !why.empty())
      warnOnce(why);
  } catch (...) { // no memory: it is made again next time
  }
}

std::string DiskCache::write(std::string_view kind, std::string_view key, std::string_view bytes, std::string_view label) {
  if (!isKind(kind) || !isKey(key))
    return fmt::format("cache entry `{}` of kind `{}` isn't written: expected a kind of 1 to 16 letters a-z and a key of 8 to 64 digits 0-9a-f", key, kind);
  if (bytes.size() > std::min(mostPayloadBytes, options.capBytes / 2))
    return fmt::format("cache entry `{}` of {} bytes isn't written: it is larger than half of the cache (TKC_CACHE_SIZE, now {} MiB) or than 1 GiB", key,
                       bytes.size(), options.capBytes >> 20);
  std::string head = entryHead(kind, key, label, bytes);
  // Writing past the process's limit would end it by a signal.
  struct rlimit limit = {};
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < head.size() + bytes.size())
    return fmt::format("cache entry `{}` isn't written: this process may only write files of {} bytes (ulimit -f)", key, limit.rlim_cur);
  // Somebody else may remove the folders meanwhile; one who always does has his way.
  for (int attempt = 0; attempt < 5; ++attempt) {
    bool gone = false;
    if (std::string why = writeOnce(kind, key, head, bytes, gone); !gone)
      return why;
  }
  return "";
}

std::string DiskCache::writeOnce(std::string_view kind, std::string_view key, std::string_view head, std::string_view bytes, bool &gone) {
  std::string why, inner = innerOf(key), name = entryName(kind, key), temporary = temporaryName();
  Descriptor folder = makeFolder(options.folder, why);
  if (!folder) {
    gone = why.empty();
    return why;
  }
  auto failed = [&](const std::string &what, const std::string &reason) {
    return fmt::format("cache folder `{}` can't be written: {}: {}; compilations are repeated until that is mended", options.folder, what, reason);
  };
  auto failedByNumber = [&](const std::string &what, int error) {
    gone = error == ENOENT || error == ESTALE || error == EBUSY;
    return gone ? "" : failed(what, std::strerror(error));
  };
  std::array<Descriptor, 2> inside;
  std::array<std::string, 2> names = {"tmp", inner};
  for (size_t i = 0; i < 2; ++i) {
    inside[i] = openInner(folder.get(), names[i], Owner::User, true, why);
    if (!inside[i]) {
      gone = why.empty();
      return gone ? "" : failed("`" + names[i] + "`", why);
    }
  }
  int temporaries = inside[0].get(), place = inside[1].get();
  removeStaleTemporaries(temporaries);

  Descriptor file(openat(temporaries, temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file)
    return failedByNumber("a new file in `tmp`", errno);
  fchmod(file.get(), 0600); // whatever the umask
  int error = 0;
  if (!writeAll(file.get(), head) || !writeAll(file.get(), bytes))
    error = errno;
  if (!file.close() && error == 0 && errno != EINTR)
    error = errno;
  if (error == 0 && renameat(temporaries, temporary.c_str(), place, name.c_str()) != 0) {
    error = errno;
    // A folder in its place: an empty one goes.
    if (error == EISDIR && removeFile(place, name))
      error = renameat(temporaries, temporary.c_str(), place, name.c_str()) == 0 ? 0 : errno;
  }
  if (error != 0) {
    unlinkat(temporaries, temporary.c_str(), 0);
    return failedByNumber("`" + inner + "/" + name + "`", error);
  }
  keepBelowCap(folder.get(), head.size() + bytes.size());
  return "";
}

/// Looking at all files takes long, so what is published is summed up in a file; who takes that file away is the one that looks.
void DiskCache::keepBelowCap(int folder, uint64_t added) {
  const char *name = "written";
  std::array<uint64_t, entriesBetweenLooks> sizes = {}; // of this machine's byte order; a sum that is wrong only means an early or a late look
  uint64_t sum = 0, entries = entriesBetweenLooks;
  if (Descriptor file(openat(folder, name, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600)); file) {
    struct stat facts = {};
    writeAll(file.get(), std::string_view(reinterpret_cast<const char *>(&added), sizeof added));
    if (fstat(file.get(), &facts) == 0 && S_ISREG(facts.st_mode) && pread(file.get(), sizes.data(), sizeof sizes, 0) >= 0) {
      entries = static_cast<uint64_t>(facts.st_size) / sizeof added;
      for (uint64_t size : sizes)
        sum += size;
    }
  }
  if ((entries < entriesBetweenLooks && sum <= options.capBytes / capPartBetweenLooks) || !removeFile(folder, name))
    return;
  std::vector<FoundFile> files = entryFiles(folder, Owner::User);
  uint64_t total = 0;
  for (const FoundFile &file : files)
    total += file.bytes;
  if (total > options.capBytes)
    removeLongestUnused(folder, std::move(files), options.capBytes / 10 * 9);
}

// ---------------------------------------------------------------------------------------------------------------------
// All entries

Descriptor DiskCache::openOrWarn() {
  std::string why;
  Descriptor folder = openFolder(options.folder, Owner::User, why);
  if (!why.empty())
    warnOnce(why);
  return folder;
}

void DiskCache::forEach(int folder, const std::function<void(const Entry &, const std::string &bytes)> &entry, uint64_t *damaged) {
  for (const FoundFile &file : entryFiles(folder, Owner::User)) {
    std::string why;
    Descriptor inner = openInner(folder, file.inner, Owner::User, false, why);
    FileContent content = inner ? readFile(inner.get(), file.name, Owner::User) : FileContent();
    std::optional<EntryView> view;
    if (content.state == FileContent::State::Read)
      view = readEntry(content.bytes, content.why);
    if (view && view->kind == file.kind() && view->key == file.key())
      entry({std::string(view->kind), std::string(view->key), std::string(view->label), content.bytes.size(), content.lastUse}, content.bytes);
    else if (damaged && (view || !content.why.empty()))
      ++*damaged;
  }
}

std::vector<DiskCache::Entry> DiskCache::list() {
  std::vector<Entry> entries;
  if (Descriptor folder = openOrWarn())
    forEach(folder.get(), [&](const Entry &entry, const std::string &) { entries.push_back(entry); });
  std::sort(entries.begin(), entries.end(),
            [](const Entry &a, const Entry &b) { return std::tie(b.lastUse, a.kind, a.key) < std::tie(a.lastUse, b.kind, b.key); });
  return entries;
}

DiskCache::Stats DiskCache::stats() {
  Stats stats;
  Descriptor folder = openOrWarn();
  if (!folder)
    return stats;
  forEach(
      folder.get(),
      [&](const Entry &entry, const std::string &) {
        ++stats.entries;
        stats.bytes += entry.bytes;
      },
      &stats.damaged);
  std::string why;
  if (Descriptor temporaries = openInner(folder.get(), "tmp", Owner::User, false, why))
    stats.temporaries = namesIn(temporaries.get()).size();
  return stats;
}

size_t DiskCache::prune(uint64_t capBytes, int64_t olderThanSeconds) {
  Descriptor folder = openOrWarn();
  if (!folder)
    return 0;
  removeOldTemporaries(folder.get());
  std::vector<FoundFile> files = entryFiles(folder.get(), Owner::User), old, young;
  int64_t now = std::time(nullptr);
  for (FoundFile &file : files)
    (olderThanSeconds >= 0 && now - file.lastUse / 1'000'000'000 > olderThanSeconds ? old : young).push_back(std::move(file));
  size_t removed = removeFiles(folder.get(), old);
  return removed + removeLongestUnused(folder.get(), std::move(young), capBytes);
}

size_t DiskCache::clear() {
  Descriptor folder = openOrWarn();
  if (!folder)
    return 0;
  size_t removed = removeFiles(folder.get(), entryFiles(folder.get(), Owner::User));
  removeOldTemporaries(folder.get());
  removeFile(folder.get(), "written");
  for (const std::string &inner : namesIn(folder.get()))
    if (inner == "tmp" || (inner.size() == 2 && isKey(inner + "000000")))
      unlinkat(folder.get(), inner.c_str(), AT_REMOVEDIR); // unless somebody publishes into it
  return removed;
}

} // namespace tk::runtime
