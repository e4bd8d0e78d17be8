// What is measured and how each side is set up: rows.txt, read and written.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tk::bench {

/// NAME=VALUE pairs in the order of the file.
class Settings {
public:
  bool has(const std::string &name) const;
  std::string text(const std::string &name, const std::string &otherwise = "") const;
  int64_t number(const std::string &name, int64_t otherwise = 0) const;
  void set(const std::string &name, const std::string &value);
  std::string line() const; // "BLOCK=1024 num_warps=4"
  const std::vector<std::pair<std::string, std::string>> &pairs() const { return entries; }

private:
  std::vector<std::pair<std::string, std::string>> entries;
};

/// One way to do a row's work: `ours`, or a peer by name; with the configuration that was best when last tuned.
struct Side {
  std::string name;
  Settings config;
};

struct GpuRow {
  std::string name;
  Settings work; // kind=softmax dtype=fp32 rows=16384 cols=1024
  double wanted = 0;
  Side ours;
  std::vector<Side> peers; // the first is the one that `wanted` refers to
};

struct GpuRows {
  std::vector<std::string> comments;                    // the lines before the first row
  std::vector<std::pair<std::string, Settings>> tuning; // kind or kind/side: values to try, separated by commas
  std::vector<GpuRow> rows;

  /// Throws Error(User) with the line that can't be read.
  static GpuRows read(const std::string &path);
  void write(const std::string &path) const;
  /// The configurations to try for a side of a row: all combinations.
  std::vector<Settings> candidates(const GpuRow &row, const std::string &side) const;
};

/// The same work at sizes that an emulated device can do in no time; odd sizes stay odd.
void shrink(GpuRow &row);
/// Bytes that must be moved, or operations that must be done; the larger time of the two is the floor.
double bytesOf(const Settings &work);
double operationsOf(const Settings &work);

} // namespace tk::bench
