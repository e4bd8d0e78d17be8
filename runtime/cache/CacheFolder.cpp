// See CacheFolder.h.
#include "runtime/cache/CacheFolder.h"
#include "runtime/cache/ContentHash.h"
#include "runtime/cache/EntryFile.h"
#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <ctime>
#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <memory>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

namespace tk::runtime {

namespace {
constexpr int64_t hour = 3600;
constexpr int asFolder = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
constexpr mode_t writableByOthers = S_IWGRP | S_IWOTH;

bool isMissing(int error) { return error == ENOENT || error == ESTALE; }

bool mayOwn(Owner owner, uid_t user) { return user == geteuid() || (owner == Owner::UserOrRoot && user == 0); }

/// Why a file or folder must not be trusted, a clause, or nothing.
std::string distrust(const struct stat &facts, Owner owner) {
  if (!mayOwn(owner, facts.st_uid))
    return fmt::format("it belongs to another user (uid {}, expected {}{})", facts.st_uid, geteuid(), owner == Owner::UserOrRoot ? " or 0" : "");
  if (facts.st_mode & writableByOthers)
    return fmt::format("others can write to it (mode {:04o})", facts.st_mode & 07777);
  return "";
}

/// Makes a folder and what is missing above it. False with errno.
bool makePath(const std::string &path) {
  if (mkdir(path.c_str(), 0700) == 0 || errno == EEXIST)
    return true;
  size_t slash = path.find_last_of('/');
  if (errno != ENOENT || slash == std::string::npos || slash == 0 || !makePath(path.substr(0, slash)))
    return false;
  return mkdir(path.c_str(), 0700) == 0 || errno == EEXIST;
}

/// Process numbers mean something within one boot of one machine, and within one container.
std::string machine() {
  ContentHash hash;
  struct utsname names = {};
  if (uname(&names) == 0)
    hash.add(names.nodename);
  std::array<char, 64> text;
  Descriptor boot(open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC));
  if (ssize_t size = boot ? read(boot.get(), text.data(), text.size()) : 0; size > 0)
    hash.add(std::string_view(text.data(), static_cast<size_t>(size)));
  if (ssize_t size = readlink("/proc/self/ns/pid", text.data(), text.size()); size > 0)
    hash.add(std::string_view(text.data(), static_cast<size_t>(size)));
  return hash.hex().substr(0, 8);
}

/// Whether a temporary's name tells that the process which wrote it has ended.
bool writerIsGone(std::string_view name, const std::string &here) {
  if (!name.starts_with(here + "-"))
    return false;
  std::string_view rest = name.substr(here.size() + 1);
  pid_t process = 0;
  auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), process);
  return error == std::errc() && process > 0 && end != rest.data() + rest.size() && *end == '-' && kill(process, 0) != 0 && errno == ESRCH;
}
} // namespace

Descriptor::~Descriptor() {
  if (number >= 0)
    ::close(number);
}

bool Descriptor::close() { return ::close(std::exchange(number, -1)) == 0; }

Descriptor openFolder(const std::string &path, Owner owner, std::string &why) {
  why.clear();
  struct stat facts = {};
  const char *advice = owner == Owner::User ? "set TKC_CACHE_DIR to a folder of your own, or to `none`" : "check TKC_CACHE_LAYERS";
  auto refuse = [&](const std::string &reason) {
    why = fmt::format("cache folder `{}` isn't used: {}; {}", path, reason, advice);
    return Descriptor();
  };
  // The folder may be a link, but not one that somebody else has laid.
  if (lstat(path.c_str(), &facts) != 0)
    return isMissing(errno) ? Descriptor() : refuse(std::strerror(errno));
  if (S_ISLNK(facts.st_mode) && !mayOwn(Owner::UserOrRoot, facts.st_uid))
    return refuse(fmt::format("it is a link of another user (uid {})", facts.st_uid));
  Descriptor folder(open(path.c_str(), asFolder));
  if (!folder)
    return isMissing(errno) && !S_ISLNK(facts.st_mode) ? Descriptor() : refuse(std::strerror(errno));
  if (fstat(folder.get(), &facts) != 0)
    return refuse(std::strerror(errno));
  std::string reason = distrust(facts, owner);
  if (reason.empty())
    return folder;
  if (mayOwn(owner, facts.st_uid))
    advice = "`chmod go-w` mends that";
  return refuse(reason);
}

Descriptor makeFolder(const std::string &path, std::string &why) {
  Descriptor folder = openFolder(path, Owner::User, why);
  if (folder || !why.empty())
    return folder;
  if (makePath(path))
    return openFolder(path, Owner::User, why);
  why = fmt::format("cache folder `{}` can't be made: {}; set TKC_CACHE_DIR to a folder that can be written, or to `none`", path, std::strerror(errno));
  return Descriptor();
}

Descriptor openInner(int folder, const std::string &name, Owner owner, bool make, std::string &why) {
  why.clear();
  // Others make and remove it at the same time.
  for (int attempt = 0; attempt < 4; ++attempt) {
    Descriptor inner(openat(folder, name.c_str(), asFolder | O_NOFOLLOW));
    int error = errno;
    if (inner) {
      struct stat facts = {};
      if (fstat(inner.get(), &facts) == 0)
        why = distrust(facts, owner);
      else
        why = std::strerror(errno);
      return why.empty() ? std::move(inner) : Descriptor();
    }
    bool noFolder = error == ENOTDIR || error == ELOOP;
    if (!make || (!noFolder && !isMissing(error))) {
      if (!isMissing(error))
        why = noFolder ? "it is no folder" : std::strerror(error);
      return Descriptor();
    }
    if (noFolder)
      unlinkat(folder, name.c_str(), 0);
    if (mkdirat(folder, name.c_str(), 0700) != 0 && errno != EEXIST) {
      if (!isMissing(errno))
        why = fmt::format("it can't be made: {}", std::strerror(errno));
      return Descriptor();
    }
  }
  return Descriptor();
}

FileContent readFile(int folder, const std::string &name, Owner owner) {
  FileContent content;
  auto refuse = [&](std::string why) {
    content.state = FileContent::State::Refused;
    content.why = std::move(why);
    return content;
  };
  // Without O_NONBLOCK, opening a pipe would wait for its writer.
  Descriptor file(openat(folder, name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file)
    return errno == ELOOP ? refuse("it is a link") : errno == ENXIO ? refuse("it is no regular file") : content;
  struct stat facts = {};
  if (fstat(file.get(), &facts) != 0)
    return content;
  content.inode = facts.st_ino;
  content.lastUse = facts.st_mtim.tv_sec;
  if (!S_ISREG(facts.st_mode))
    return refuse("it is no regular file");
  if (std::string why = distrust(facts, owner); !why.empty())
    return refuse(why);
  if (static_cast<uint64_t>(facts.st_size) > mostPayloadBytes + entryHeadBytes + 4096)
    return refuse("it is too long");
  content.bytes.resize(static_cast<size_t>(facts.st_size));
  if (readAll(file.get(), content.bytes))
    content.state = FileContent::State::Read;
  return content;
}

bool writeAll(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t count = write(file, bytes.data(), bytes.size());
    if (count > 0)
      bytes.remove_prefix(static_cast<size_t>(count));
    else if (count == 0)
      return errno = ENOSPC, false;
    else if (errno != EINTR)
      return false;
  }
  return true;
}

bool readAll(int file, std::string &bytes) {
  for (size_t at = 0; at < bytes.size();) {
    ssize_t count = read(file, bytes.data() + at, bytes.size() - at);
    if (count > 0)
      at += static_cast<size_t>(count);
    else if (count == 0)
      bytes.resize(at);
    else if (errno != EINTR)
      return false;
  }
  return true;
}

std::vector<std::string> namesIn(int folder) {
  std::vector<std::string> names;
  // A descriptor of its own, since the place in the list belongs to the open file.
  Descriptor own(openat(folder, ".", asFolder));
  std::unique_ptr<DIR, int (*)(DIR *)> list(own ? fdopendir(own.get()) : nullptr, closedir);
  if (!list)
    return names;
  own.release(); // belongs to the list
  while (dirent *entry = readdir(list.get()))
    names.emplace_back(entry->d_name);
  std::erase_if(names, [](const std::string &name) { return name == "." || name == ".."; });
  std::sort(names.begin(), names.end());
  return names;
}

std::string entryName(std::string_view kind, std::string_view key) { return std::string(key).append(".").append(kind); }

std::vector<FoundFile> entryFiles(int folder, Owner owner) {
  std::vector<FoundFile> files;
  std::string why;
  for (const std::string &inner : namesIn(folder)) {
    if (inner.size() != 2 || !isKey(inner + "000000"))
      continue;
    Descriptor open = openInner(folder, inner, owner, false, why);
    if (!open)
      continue;
    for (std::string &name : namesIn(open.get())) {
      FoundFile file = {inner, std::move(name)};
      struct stat facts = {};
      if (!file.name.starts_with(inner) || !isKey(file.key()) || !isKind(file.kind()) ||
          fstatat(open.get(), file.name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) != 0)
        continue;
      file.bytes = S_ISREG(facts.st_mode) ? static_cast<uint64_t>(facts.st_size) : 0;
      file.lastUse = int64_t(facts.st_mtim.tv_sec) * 1'000'000'000 + facts.st_mtim.tv_nsec;
      files.push_back(std::move(file));
    }
  }
  return files;
}

std::string temporaryName() {
  static std::atomic<uint64_t> counter{0};
  uint64_t random = 0;
  if (getrandom(&random, sizeof random, GRND_NONBLOCK) < 0)
    random = static_cast<uint64_t>(std::time(nullptr));
  return fmt::format("{}-{}-{}-{:016x}", machine(), getpid(), counter.fetch_add(1), random);
}

void removeStaleTemporaries(int temporaries) {
  std::vector<std::string> names = namesIn(temporaries);
  if (names.empty())
    return;
  std::string here = machine();
  int64_t now = std::time(nullptr);
  for (const std::string &name : names) {
    struct stat facts = {};
    if (writerIsGone(name, here) || (fstatat(temporaries, name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) == 0 && now - facts.st_mtim.tv_sec > hour))
      removeFile(temporaries, name);
  }
}

bool removeFile(int folder, const std::string &name, uint64_t inode) {
  struct stat facts = {};
  if (inode != 0 && (fstatat(folder, name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) != 0 || facts.st_ino != inode))
    return false;
  return unlinkat(folder, name.c_str(), 0) == 0 || (errno == EISDIR && unlinkat(folder, name.c_str(), AT_REMOVEDIR) == 0);
}

void touch(int folder, const std::string &name) {
  std::array<timespec, 2> now = {{{0, UTIME_OMIT}, {0, UTIME_NOW}}};
  utimensat(folder, name.c_str(), now.data(), AT_SYMLINK_NOFOLLOW);
}

} // namespace tk::runtime
