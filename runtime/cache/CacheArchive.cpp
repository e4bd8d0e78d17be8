// Many entries in one file: "tkcpack", a byte of the version, then for each entry the length of its file (8 bytes, little-endian) and its bytes, sorted by key,
// then the length 0. The entries' own checksums cover what they hold; the last length shows that none is missing.
#include "runtime/cache/CacheFolder.h"
#include "runtime/cache/DiskCache.h"
#include "runtime/cache/EntryFile.h"
#include "tk/error.h"
#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tk::runtime {

namespace {
constexpr std::string_view magic("tkcpack\x01", 8);

[[noreturn]] void cannot(const char *what, const std::string &file, int error) {
  throw Error(ErrorKind::Device, fmt::format("`{}` can't be {}: {}", file, what, std::strerror(error)));
}

std::array<char, 8> lengthBytes(uint64_t length) {
  std::array<char, 8> bytes;
  for (int i = 0; i < 8; ++i)
    bytes[i] = static_cast<char>(length >> (8 * i));
  return bytes;
}

/// A file that gets its name when it is whole, and is removed when it doesn't become so.
class NewFile {
public:
  explicit NewFile(const std::string &path) : path(path), temporary(path + "." + temporaryName()) {
    struct stat facts = {};
    if (stat(path.c_str(), &facts) == 0 && !S_ISREG(facts.st_mode))
      throw Error(ErrorKind::User, fmt::format("`{}` is no regular file: expected the name of the file to write", path));
    file = Descriptor(open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    if (!file)
      cannot("written", path, errno);
  }
  ~NewFile() {
    if (!temporary.empty())
      unlink(temporary.c_str());
  }
  NewFile(const NewFile &) = delete;
  NewFile &operator=(const NewFile &) = delete;
  void write(std::string_view bytes) {
    if (!writeAll(file.get(), bytes))
      cannot("written", path, errno);
  }
  void finish() {
    if (!file.close() || rename(temporary.c_str(), path.c_str()) != 0)
      cannot("written", path, errno);
    temporary.clear();
  }

private:
  std::string path, temporary;
  Descriptor file;
};

/// Reads an archive's entries one by one and checks all of it.
void readArchive(const std::string &path, const std::function<void(const EntryView &)> &entry) {
  auto wrong = [&](const std::string &what) { throw Error(ErrorKind::User, fmt::format("`{}` is damaged, nothing is taken from it: {}", path, what)); };
  Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat facts = {};
  if (!file || fstat(file.get(), &facts) != 0)
    cannot("read", path, errno);
  if (!S_ISREG(facts.st_mode))
    throw Error(ErrorKind::User, fmt::format("`{}` is no regular file: expected one that `tkc cache export` has written", path));
  uint64_t left = static_cast<uint64_t>(facts.st_size);
  std::string bytes;
  auto take = [&](uint64_t count) {
    bytes.resize(std::min(count, left));
    if (!readAll(file.get(), bytes))
      cannot("read", path, errno);
    left -= bytes.size();
    return bytes.size() == count;
  };
  if (!take(magic.size()) || bytes != magic)
    throw Error(ErrorKind::User, fmt::format("`{}` holds no cache entries: expected a file that `tkc cache export` of this version has written", path));
  for (size_t number = 1;; ++number) {
    if (!take(8))
      wrong(fmt::format("it ends before entry {}", number));
    uint64_t length = 0;
    for (int i = 0; i < 8; ++i)
      length |= uint64_t(static_cast<unsigned char>(bytes[i])) << (8 * i);
    if (length == 0)
      break;
    if (!take(length))
      wrong(fmt::format("it ends within entry {}", number));
    std::string why;
    std::optional<EntryView> view = readEntry(bytes, why);
    if (!view)
      wrong(fmt::format("entry {}: {}", number, why.empty() ? "it is of another version of tkc" : why));
    entry(*view);
  }
  if (left != 0)
    wrong(fmt::format("{} bytes follow its end", left));
}
} // namespace

size_t DiskCache::exportTo(const std::string &file, const std::function<bool(const Entry &)> &wanted) {
  std::string why;
  Descriptor folder = openFolder(options.folder, Owner::User, why);
  if (!why.empty())
    throw Error(ErrorKind::Device, why);
  NewFile archive(file);
  archive.write(magic);
  size_t count = 0;
  auto add = [&](const Entry &entry, const std::string &bytes) {
    if (wanted && !wanted(entry))
      return;
    auto length = lengthBytes(bytes.size());
    archive.write({length.data(), length.size()});
    archive.write(bytes);
    ++count;
  };
  if (folder)
    forEach(folder.get(), add);
  auto end = lengthBytes(0);
  archive.write({end.data(), end.size()});
  archive.finish();
  return count;
}

size_t DiskCache::importFrom(const std::string &file) {
  readArchive(file, [](const EntryView &) {});
  size_t count = 0;
  readArchive(file, [&](const EntryView &entry) {
    if (findIn(options.folder, true, entry.kind, entry.key))
      return;
    if (std::string why = write(entry.kind, entry.key, entry.payload, entry.label); !why.empty())
      throw Error(ErrorKind::Device, fmt::format("`{}` can't be imported: {}", file, why));
    ++count;
  });
  return count;
}

} // namespace tk::runtime
