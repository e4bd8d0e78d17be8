// Measurements: medians of interleaved repetitions, rows of a table, and the same as JSON.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace tk::bench {

/// One comparison. `ours` and `peer` are in `unit`; `ratio` is how much better ours is (above 1: faster), whatever the unit's direction.
struct Row {
  std::string work, unit, detail;
  double ours = 0, peer = 0, ratio = 0;
  double wanted = 0; // the ratio asked for; 0: none
};

struct Medians {
  double ours = 0, peer = 0; // seconds
  double ratio = 0;          // median of the rounds' peer / ours: slow changes of the machine's speed cancel in each round
};

struct Repetition {
  unsigned rounds = 20;
  /// The peer's idle threads spin for a while: each timed run follows an untimed one of its own side, and a pause comes before each change of sides.
  bool settle = false;
};
/// Runs both alternately, after two rounds that are not counted: what disturbs the machine disturbs both.
Medians measure(const std::function<void()> &ours, const std::function<void()> &peer, Repetition repetition = {});
double median(std::vector<double> values);
double seconds();

void printHeader();
/// The rows from index `first` on; groups print when they are done.
void printRows(const std::vector<Row> &rows, size_t first);
/// One JSON object: machine and rows.
std::string toJson(const std::vector<Row> &rows);
/// Processor, cores that may be used, and the like, in words.
std::string machine();

} // namespace tk::bench
