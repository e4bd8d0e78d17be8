// What tuning found, as text that people read, sort, merge and ship (README.md says how the file looks and why).
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tk::runtime {

/// Names and values, as texts.
using NamedValues = std::vector<std::pair<std::string, std::string>>;

/// What a configuration was chosen for.
struct TuneIdentity {
  std::string kernel, closure;      // the name, and the hash over its source (KernelDescription)
  std::string device, architecture; // "NVIDIA H200", "sm_90"
  std::vector<std::string> types;   // of the arguments
  NamedValues key;                  // in the order of the kernel's list
  bool operator==(const TuneIdentity &) const = default;
};

struct TuneEntry {
  TuneIdentity identity;
  NamedValues config; // in any order; in what TuneResults gives sorted by name
  double seconds = 0; // of a launch
};

/// One line, without its end. Equal entries give equal lines.
std::string toLine(const TuneEntry &entry);
/// False with what is wrong, for a line that toLine does not write.
bool parseLine(const std::string &line, TuneEntry &entry, std::string &error);

/// The files of results. What is known is kept in memory, files are read when they have changed. Thread-safe; several processes may use one file.
class TuneResults {
public:
  using Warn = std::function<void(const std::string &)>;
  /// `files`: paths; the first is read and written, the others (of products) are read. None: nothing outlives the process. `warn` gets each complaint once.
  TuneResults(std::vector<std::string> files, Warn warn);

  /// Of the configurations that `isKnown` accepts, the one that was measured to be the fastest.
  std::optional<TuneEntry> find(const TuneIdentity &identity, const std::function<bool(const NamedValues &)> &isKnown);
  /// Keeps a result, in memory and in the file; what others wrote meanwhile stays. Of the same configuration's times the least is kept, unless `replaced`
  /// accepts it: configurations that were measured anew, whose older times for this identity go. A file that can't be written costs a warning.
  void add(const TuneEntry &entry, const std::function<bool(const NamedValues &)> &replaced = {});

  const std::vector<std::string> &files() const { return paths; }

private:
  /// A file's content. Entries by their line without the time, so that they are sorted and there once.
  struct Content {
    std::vector<std::string> comments; // lines that begin with #, in order
    std::map<std::string, TuneEntry> entries;
    std::vector<std::string> newer; // lines of later versions, sorted
  };
  struct Stamp {
    int64_t seconds = -1, nanoseconds = 0, bytes = 0;
    uint64_t inode = 0;
    bool operator==(const Stamp &) const = default;
  };
  struct File {
    Content content;
    Stamp stamp;
  };
  static void merge(Content &content, const TuneEntry &entry);
  static std::string textOf(const Content &content);
  static Stamp stampOf(const std::string &path);
  void refresh();
  Content read(const std::string &path);
  std::string write(const TuneEntry &entry, const std::function<bool(const NamedValues &)> &replaced);
  void warnOnce(const std::string &text);

  const std::vector<std::string> paths;
  const Warn warn;
  std::mutex mutex; // guards what follows
  Content own;      // what this process found, which a file may not hold
  std::vector<File> read_;
  std::vector<std::string> warned;
};

} // namespace tk::runtime
