// bench-cpu: measures our CPU code beside the peers on this machine, prints a table, and on request writes JSON.
//
//   bench-cpu --tkc PATH [--json FILE] [elementwise] [matrix] [compile]
//
// Without names all groups run. The status is 0 when every ratio asked for is reached, 1 when not.
#include "test/bench/Benches.h"
#include "test/bench/Peers.h"
#include "tk/error.h"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <fstream>

using namespace tk::bench;

/// The peer's exponential is a fair one only when it is right.
static bool peerIsRight() {
  for (float x = -80; x < 80; x += 0.37f)
    if (std::fabs(expOnce(x) - std::exp(static_cast<double>(x))) > 4e-7 * std::exp(static_cast<double>(x)))
      return false;
  return true;
}

int main(int argc, char **argv) {
  if (argc == 6 && std::strcmp(argv[1], "--matrix-child") == 0)
    return matrixChild(argv[2], std::atoi(argv[3]), argv[4][0] == '1', std::atoi(argv[5]));
  std::string tkc = "tkc", json;
  std::vector<std::string> groups;
  for (int i = 1; i < argc; ++i)
    if (std::strcmp(argv[i], "--tkc") == 0 && i + 1 < argc)
      tkc = argv[++i];
    else if (std::strcmp(argv[i], "--json") == 0 && i + 1 < argc)
      json = argv[++i];
    else
      groups.push_back(argv[i]);
  const auto wanted = [&](const char *name) { return groups.empty() || std::find(groups.begin(), groups.end(), name) != groups.end(); };
  if (!peerIsRight()) {
    fmt::print(stderr, "bench-cpu: the peer's exponential is wrong\n");
    return 1;
  }
  std::vector<Row> rows;
  int status = 0;
  const auto run = [&](const char *name, auto &&group) {
    if (!wanted(name))
      return;
    const size_t first = rows.size();
    try {
      group();
    } catch (const std::exception &error) {
      fmt::print(stderr, "bench-cpu: {}: {}\n", name, error.what());
      status = 1;
    }
    printRows(rows, first);
  };
  printHeader();
  run("elementwise", [&] { benchElementwise(rows); });
  run("matrix", [&] { benchMatrix(rows, "/proc/self/exe"); });
  run("compile", [&] { benchCompile(rows, tkc); });
  if (!json.empty())
    std::ofstream(json) << toJson(rows);
  for (const Row &row : rows)
    if (row.wanted > 0 && row.ratio < row.wanted)
      status = 1;
  return status;
}
