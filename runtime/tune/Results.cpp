// See Results.h.
#include "runtime/tune/Results.h"
#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tk::runtime {

namespace {
/// A descriptor that closes itself, and with it gives up its lock.
class Descriptor {
public:
  explicit Descriptor(int number) : number(number) {}
  ~Descriptor() {
    if (number >= 0)
      close(number);
  }
  Descriptor(const Descriptor &) = delete;
  Descriptor &operator=(const Descriptor &) = delete;
  int get() const { return number; }
  explicit operator bool() const { return number >= 0; }

private:
  int number;
};

constexpr size_t mostBytes = size_t(64) << 20; // of a file: more is no file of results

/// False with errno for a file that can't be read; a missing one is empty.
bool readAll(const std::string &path, std::string &text) {
  Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file)
    return errno == ENOENT;
  struct stat facts = {};
  if (fstat(file.get(), &facts) != 0)
    return false;
  if (!S_ISREG(facts.st_mode) || static_cast<size_t>(facts.st_size) > mostBytes) {
    errno = S_ISREG(facts.st_mode) ? EFBIG : EINVAL;
    return false;
  }
  char buffer[65536];
  for (ssize_t got = 0; (got = ::read(file.get(), buffer, sizeof buffer)) != 0;) {
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return false;
    text.append(buffer, static_cast<size_t>(got));
  }
  return true;
}

bool writeAll(int file, const std::string &text) {
  for (size_t done = 0; done < text.size();) {
    ssize_t put = ::write(file, text.data() + done, text.size() - done);
    if (put < 0 && errno != EINTR)
      return false;
    done += put > 0 ? static_cast<size_t>(put) : 0;
  }
  return true;
}

/// The folders above a file, as far as they are missing, for this user alone.
bool makeFolders(const std::string &path) {
  for (size_t slash = path.find('/', 1); slash != std::string::npos; slash = path.find('/', slash + 1))
    if (mkdir(path.substr(0, slash).c_str(), 0700) != 0 && errno != EEXIST && access(path.substr(0, slash).c_str(), X_OK) != 0)
      return false;
  return true;
}

/// Where a link leads, so that the file behind it is replaced and not the link.
std::string target(const std::string &path) {
  std::unique_ptr<char, void (*)(void *)> resolved(realpath(path.c_str(), nullptr), std::free);
  return resolved ? resolved.get() : path;
}

/// The line without its time.
std::string nameOf(const TuneEntry &entry) {
  std::string line = toLine(entry);
  return line.substr(0, line.rfind(" : "));
}
} // namespace

TuneResults::TuneResults(std::vector<std::string> files, Warn warn) : paths(std::move(files)), warn(std::move(warn)), read_(paths.size()) {}

void TuneResults::warnOnce(const std::string &text) {
  if (std::find(warned.begin(), warned.end(), text) != warned.end())
    return;
  warned.push_back(text);
  if (warn)
    warn(text);
}

void TuneResults::merge(Content &content, const TuneEntry &entry) {
  auto [it, isNew] = content.entries.emplace(nameOf(entry), entry);
  if (isNew)
    std::sort(it->second.config.begin(), it->second.config.end());
  else
    it->second.seconds = std::min(it->second.seconds, entry.seconds);
}

std::string TuneResults::textOf(const Content &content) {
  std::string text;
  for (const std::string &line : content.comments)
    text += line + "\n";
  for (const auto &[name, entry] : content.entries)
    text += toLine(entry) + "\n";
  for (const std::string &line : content.newer)
    text += line + "\n";
  return text;
}

TuneResults::Content TuneResults::read(const std::string &path) {
  Content content;
  std::string text;
  if (!readAll(path, text)) {
    warnOnce(fmt::format("the tuning results of `{}` can't be read: {}", path, std::strerror(errno)));
    return content;
  }
  size_t number = 0, damaged = 0, firstDamaged = 0;
  std::string why;
  for (size_t begin = 0; begin < text.size();) {
    size_t end = std::min(text.find('\n', begin), text.size());
    std::string line = text.substr(begin, end - begin);
    begin = end + 1, ++number;
    if (!line.empty() && line.back() == '\r')
      line.pop_back();
    if (line.empty())
      continue;
    size_t digits = std::min(line.find_first_not_of("0123456789"), line.size());
    TuneEntry entry;
    std::string error;
    if (line[0] == '#') {
      content.comments.push_back(line);
    } else if (digits && digits < line.size() && line[digits] == ' ' && !(digits == 1 && line[0] <= '1')) {
      content.newer.push_back(line);
    } else if (parseLine(line, entry, error)) {
      merge(content, entry);
    } else if (!damaged++) {
      firstDamaged = number, why = error;
    }
  }
  std::sort(content.newer.begin(), content.newer.end());
  content.newer.erase(std::unique(content.newer.begin(), content.newer.end()), content.newer.end());
  if (damaged)
    warnOnce(fmt::format("`{}`, line {}: this is no tuning result, {}; {} line{} skipped", path, firstDamaged, why, damaged, damaged == 1 ? " is" : "s are"));
  return content;
}

TuneResults::Stamp TuneResults::stampOf(const std::string &path) {
  struct stat facts = {};
  if (stat(path.c_str(), &facts) != 0)
    return {};
  return {facts.st_mtim.tv_sec, facts.st_mtim.tv_nsec, facts.st_size, facts.st_ino};
}

void TuneResults::refresh() {
  for (size_t i = 0; i < paths.size(); ++i) {
    Stamp stamp = stampOf(paths[i]);
    if (stamp == read_[i].stamp)
      continue;
    read_[i] = {read(paths[i]), stamp};
  }
}

std::optional<TuneEntry> TuneResults::find(const TuneIdentity &identity, const std::function<bool(const NamedValues &)> &isKnown) {
  std::lock_guard lock(mutex);
  refresh();
  std::optional<TuneEntry> best;
  auto look = [&](const Content &content) {
    // Entries of one identity stand together: their names begin alike.
    std::string begin = nameOf({identity, {}, 0});
    for (auto it = content.entries.lower_bound(begin); it != content.entries.end() && it->first.starts_with(begin); ++it)
      if (it->second.identity == identity && isKnown(it->second.config) && (!best || it->second.seconds < best->seconds))
        best = it->second;
  };
  look(own);
  for (const File &file : read_)
    look(file.content);
  return best;
}

/// Forgets the times of what has been measured anew.
static void forget(std::map<std::string, TuneEntry> &entries, const TuneIdentity &identity, const std::function<bool(const NamedValues &)> &replaced) {
  if (replaced)
    std::erase_if(entries, [&](const auto &known) { return known.second.identity == identity && replaced(known.second.config); });
}

void TuneResults::add(const TuneEntry &entry, const std::function<bool(const NamedValues &)> &replaced) {
  std::lock_guard lock(mutex);
  forget(own.entries, entry.identity, replaced);
  merge(own, entry);
  if (paths.empty())
    return;
  if (std::string problem = write(entry, replaced); !problem.empty())
    warnOnce(fmt::format("tuning results can't be written to `{}`, they are kept for this process alone: {}", paths[0], problem));
}

/// What went wrong, or nothing.
std::string TuneResults::write(const TuneEntry &entry, const std::function<bool(const NamedValues &)> &replaced) {
  auto reason = [] { return std::string(std::strerror(errno)); };
  const std::string path = target(paths[0]);
  if (!makeFolders(path))
    return reason();
  // The lock has a file of its own, since the other one is replaced.
  Descriptor lock(open((path + ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!lock)
    return reason();
  while (flock(lock.get(), LOCK_EX) != 0)
    if (errno != EINTR)
      break; // a file system without locks: the rename is atomic anyway
  struct stat facts = {};
  const bool isThere = stat(path.c_str(), &facts) == 0;
  if (isThere && access(path.c_str(), W_OK) != 0)
    return reason();
  std::string ignored;
  if (isThere && !readAll(path, ignored)) // it must not be replaced by less than it holds
    return reason();
  Content content = read(path);
  forget(content.entries, entry.identity, replaced);
  merge(content, entry);
  std::string temporary = path + ".XXXXXX";
  Descriptor file(mkostemp(temporary.data(), O_CLOEXEC));
  if (!file)
    return reason();
  if (!writeAll(file.get(), textOf(content)) || fchmod(file.get(), isThere ? facts.st_mode & 07777 : 0644) != 0 || fsync(file.get()) != 0 ||
      rename(temporary.c_str(), path.c_str()) != 0) {
    std::string why = reason();
    unlink(temporary.c_str());
    return why;
  }
  read_[0] = {std::move(content), stampOf(paths[0])};
  return "";
}

} // namespace tk::runtime
