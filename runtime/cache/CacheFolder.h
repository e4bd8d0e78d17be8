// A cache's folder on the disk: who may write it, what lies in it, and how files get into it and out again.
//
//   FOLDER/ab/abcdef....KIND   entries, in 256 folders by the first two digits of their key
//   FOLDER/tmp/                files that are being written; a file gets its name in ab/ by rename(2) when it is whole
//   FOLDER/written             the sizes of what was published since the cap was last looked at
//
// Everything is opened relative to the folder's descriptor, which has been checked, and never through a link.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tk::runtime {

/// A file descriptor, closed at the end.
class Descriptor {
public:
  explicit Descriptor(int number = -1) : number(number) {}
  Descriptor(Descriptor &&other) noexcept : number(std::exchange(other.number, -1)) {}
  Descriptor &operator=(Descriptor &&other) noexcept {
    std::swap(number, other.number);
    return *this;
  }
  ~Descriptor();
  int get() const { return number; }
  explicit operator bool() const { return number >= 0; }
  int release() { return std::exchange(number, -1); }
  /// Closes it; what a network's file system says about earlier writes. False with errno.
  bool close();

private:
  int number;
};

/// Whom files may belong to.
enum class Owner {
  User,      // this user
  UserOrRoot // for layers
};

/// Opens the cache's folder. When it can't be used: empty, and `why`, a complete message; `why` stays empty when there is none.
Descriptor openFolder(const std::string &path, Owner owner, std::string &why);
/// The same, making it and its parents for this user alone when missing.
Descriptor makeFolder(const std::string &path, std::string &why);
/// A folder inside. `make` makes it when missing, and in place of what isn't a folder. `why` as above, but a clause: "it belongs to another user".
Descriptor openInner(int folder, const std::string &name, Owner owner, bool make, std::string &why);

struct FileContent {
  enum class State { Missing, Refused, Read } state = State::Missing; // what can't be read for a passing reason is as good as missing
  std::string bytes, why;                                             // why it must not be trusted, a clause
  uint64_t inode = 0;                                                 // 0: unknown
  int64_t lastUse = 0;                                                // seconds since 1970
};
FileContent readFile(int folder, const std::string &name, Owner owner);

/// Reads or writes all of it. False with errno.
bool writeAll(int file, std::string_view bytes);
/// Into `bytes`, from the present place on; what is short of its size at the end of the file is cut off. False with errno.
bool readAll(int file, std::string &bytes);

struct FoundFile {
  std::string inner, name; // "ab", "abcdef....code"
  uint64_t bytes = 0;
  int64_t lastUse = 0; // nanoseconds since 1970
  std::string_view key() const { return std::string_view(name).substr(0, name.find('.')); }
  std::string_view kind() const { return std::string_view(name).substr(name.find('.') + 1); }
};
/// What is named as an entry, sorted by name. Other files are left alone.
std::vector<FoundFile> entryFiles(int folder, Owner owner);
/// The names in a folder, sorted; empty when it can't be read.
std::vector<std::string> namesIn(int folder);
std::string entryName(std::string_view kind, std::string_view key);

/// A name for a file in `tmp`: no other thread, process or machine has it.
std::string temporaryName();
/// Removes temporaries whose process is gone, or that are an hour old.
void removeStaleTemporaries(int temporaries);
/// Removes a file, or an empty folder in its place; with an inode only what has it, so that what somebody else has just put there stays.
bool removeFile(int folder, const std::string &name, uint64_t inode = 0);
/// Notes that a file is used now. Failures don't matter.
void touch(int folder, const std::string &name);

} // namespace tk::runtime
