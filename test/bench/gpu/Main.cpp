// bench-gpu: measures our GPU code beside Triton's and PyTorch's on this machine, prints a table, and on request writes JSON.
//
// For every row of rows.txt both sides make the same inputs, record their launches into graphs and check a result; then they replay in turn. Times are the
// device's, by events around a graph, while the device is kept busy, so that no host time is in them. The README says how and why.
#include "test/bench/ChildProcess.h"
#include "test/bench/Table.h"
#include "test/bench/gpu/Peer.h"
#include "test/bench/gpu/Work.h"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <unistd.h>

using namespace tk;
using namespace tk::bench;

namespace {
struct Options {
  std::string rows, json, python = "python3", folder, samples, rowsFile;
  bool emulate = false, tiny = false, retune = false, peers = true;
  double budget = 330; // seconds for all rows; those that would start later are left out, and said to be
};

struct SideResult {
  std::string name, error;
  Settings config;
  std::vector<double> times; // seconds of a launch, one for each round
  double difference = 0;     // against float64
  KernelResources use;       // of ours
  double time() const { return median(times); }
};

struct RowResult {
  GpuRow row;
  std::vector<SideResult> sides; // ours first
};

const char *const help = "bench-gpu [--rows TEXT,TEXT] [--json FILE] [--retune] [--no-peers] [--python PATH] [--emulate --scale tiny] [--budget SECONDS]\n"
                         "  --rows     rows whose names contain one of the texts\n"
                         "  --retune   tries the configurations of the `tune` lines for every side of the chosen rows and writes the best ones to rows.txt\n"
                         "  --emulate  on the emulated device: shows that the program works; times mean nothing\n";

Options parse(int argc, char **argv) {
  Options options;
  const std::filesystem::path program = std::filesystem::canonical("/proc/self/exe").parent_path();
  // In a bundle the files lie beside the program's folder.
  const bool bundled = std::filesystem::exists(program / "../bench/rows.txt");
  options.folder = bundled ? (program / "../bench").string() : TKC_SOURCE_DIR "/test/bench/gpu";
  options.samples = bundled ? (program / "../samples").string() : TKC_SOURCE_DIR "/samples";
  options.rowsFile = options.folder + "/rows.txt";
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const auto value = [&]() -> std::string {
      if (i + 1 >= argc)
        throw Error(ErrorKind::User, fmt::format("`{}` needs a value\n{}", argument, help));
      return argv[++i];
    };
    if (argument == "--rows")
      options.rows = value();
    else if (argument == "--json")
      options.json = value();
    else if (argument == "--python")
      options.python = value();
    else if (argument == "--configs")
      options.rowsFile = value();
    else if (argument == "--budget")
      options.budget = std::strtod(value().c_str(), nullptr);
    else if (argument == "--tkc")
      value(); // what every program of test/bench is given
    else if (argument == "--emulate")
      options.emulate = true;
    else if (argument == "--scale")
      options.tiny = value() == "tiny";
    else if (argument == "--retune")
      options.retune = true;
    else if (argument == "--no-peers")
      options.peers = false;
    else
      throw Error(ErrorKind::User, fmt::format("unknown argument `{}`\n{}", argument, help));
  }
  return options;
}

bool chosen(const std::string &name, const std::string &texts) {
  bool any = texts.empty();
  for (size_t begin = 0; begin < texts.size() && !any;) {
    const size_t end = std::min(texts.find(',', begin), texts.size());
    any = name.find(texts.substr(begin, end - begin)) != std::string::npos;
    begin = end + 1;
  }
  return any;
}

/// How wrong a result may be by its storage and arithmetic (tf32 for fp32 matrix products).
double tolerance(const Settings &work) {
  if (work.text("dtype") != "fp32")
    return work.text("kind") == "attention" ? 1e-2 : 5e-3;
  return work.text("kind") == "matmul" ? 1e-3 : 1e-5;
}

Repeats repeatsFor(const Settings &work, const Options &options, uint64_t l2Bytes) {
  Repeats repeats;
  if (options.emulate)
    return {2, 2, 1};
  const double bytes = tk::bench::bytesOf(work);
  repeats.sets = static_cast<unsigned>(std::clamp(std::ceil(2.0 * static_cast<double>(l2Bytes) / bytes), 1.0, 64.0));
  // Graphs of about 2 ms: what happens at their ends weighs little.
  const double floor = std::max(bytes / 4.5e12, operationsOf(work) / 8e14);
  const double launches = std::clamp(std::ceil(2e-3 / floor), 10.0, 500.0);
  repeats.launches = static_cast<unsigned>(std::ceil(launches / repeats.sets)) * repeats.sets;
  return repeats;
}

class Bench {
public:
  Bench(const Options &options, Device device, Peer *peer) : options(options), device(device), peer(peer) {}
  RowResult measure(const GpuRow &row);
  void retune(GpuRow &row, const GpuRows &rows);

private:
  template <typename F> static void attempt(SideResult &side, F work) {
    if (!side.error.empty())
      return;
    try {
      work();
    } catch (const std::exception &error) {
      side.error = error.what();
    }
  }
  std::string workLine(const GpuRow &row, const Repeats &repeats) const {
    return fmt::format("work sets={} launches={} {}", repeats.sets, repeats.launches, row.work.line());
  }
  void checkError(SideResult &side, const GpuRow &row) const {
    if (!(side.difference <= tolerance(row.work)))
      side.error = fmt::format("wrong: relative error {:.2e}", side.difference);
  }

  const Options &options;
  Device device;
  Peer *peer;
};

RowResult Bench::measure(const GpuRow &row) {
  RowResult result;
  result.row = row;
  const Repeats repeats = repeatsFor(row.work, options, device.implementation()->properties().l2Bytes);
  std::unique_ptr<Work> work;
  SideResult ours{"ours", "", row.ours.config, {}, 0, {}};
  attempt(ours, [&] {
    work = std::make_unique<Work>(row, device, options.samples, repeats);
    work->prepare(row.ours.config);
    ours.use = work->resources();
    ours.difference = work->error();
    checkError(ours, row);
  });
  result.sides.push_back(ours);
  std::string noBuffers;
  if (peer)
    try {
      peer->ask(workLine(row, repeats));
    } catch (const Error &error) {
      noBuffers = error.what();
    }
  for (const Side &side : row.peers) {
    SideResult other{side.name, peer ? noBuffers : "not measured", side.config, {}, 0, {}};
    attempt(other, [&] {
      peer->ask(fmt::format("prepare {} {}", side.name, side.config.line()));
      other.difference = std::strtod(peer->ask("check " + side.name).c_str(), nullptr);
      checkError(other, row);
    });
    result.sides.push_back(other);
  }
  for (unsigned round = 0; round < (options.emulate ? 1 : 3); ++round)
    for (SideResult &side : result.sides)
      attempt(side, [&] {
        // A launch that takes long needs fewer repetitions.
        unsigned replays = repeats.replays;
        if (!side.times.empty())
          replays = static_cast<unsigned>(std::clamp(1.5 / (2 * side.times[0] * repeats.launches), 3.0, static_cast<double>(replays)));
        else if (!options.emulate)
          replays = 5; // the first round warms up and says how long a launch takes; it does not count
        const double time = side.name == "ours" ? work->time(replays) : std::strtod(peer->ask(fmt::format("time {} {}", side.name, replays)).c_str(), nullptr);
        side.times.push_back(time);
      });
  if (!options.emulate)
    for (SideResult &side : result.sides)
      attempt(side, [&] {
        const auto replays = static_cast<unsigned>(std::clamp(1.5 / (2 * side.times[0] * repeats.launches), 3.0, static_cast<double>(repeats.replays)));
        side.times.push_back(side.name == "ours" ? work->time(replays)
                                                 : std::strtod(peer->ask(fmt::format("time {} {}", side.name, replays)).c_str(), nullptr));
        side.times.erase(side.times.begin());
      });
  if (peer)
    peer->ask("done");
  return result;
}

void Bench::retune(GpuRow &row, const GpuRows &rows) {
  Repeats repeats = repeatsFor(row.work, options, device.implementation()->properties().l2Bytes);
  const auto search = [&](Side &side, const std::function<void(const Settings &)> &prepare, const std::function<double()> &time) {
    double best = INFINITY;
    Settings winner = side.config;
    for (const Settings &config : rows.candidates(row, side.name)) {
      double seconds = INFINITY;
      std::string problem;
      try {
        prepare(config);
        seconds = time();
      } catch (const std::exception &error) {
        problem = error.what();
        problem = problem.substr(0, problem.find('\n'));
      }
      fmt::print("  {} {}: {}\n", side.name, config.line(), problem.empty() ? fmt::format("{:.2f} us", seconds * 1e6) : problem);
      std::fflush(stdout);
      if (seconds < best)
        best = seconds, winner = config;
    }
    side.config = winner;
  };
  {
    Work work(row, device, options.samples, repeats);
    search(row.ours, [&](const Settings &config) { work.prepare(config); }, [&] { return work.time(options.emulate ? 1 : 5); });
  }
  if (!peer)
    return;
  peer->ask(workLine(row, repeats));
  for (Side &side : row.peers)
    search(
        side, [&](const Settings &config) { peer->ask(fmt::format("prepare {} {}", side.name, config.line())); },
        [&] { return std::strtod(peer->ask(fmt::format("time {} 5", side.name)).c_str(), nullptr); });
  peer->ask("done");
}

std::string rate(const GpuRow &row, double seconds) {
  const double operations = operationsOf(row.work);
  return operations > 0 ? fmt::format("{:.0f} TFLOP/s", operations / seconds * 1e-12)
                        : fmt::format("{:.2f} TB/s", tk::bench::bytesOf(row.work) / seconds * 1e-12);
}

void print(const RowResult &result) {
  const SideResult &ours = result.sides[0];
  fmt::print("{}  [{}]\n", result.row.name, result.row.work.line());
  for (const SideResult &side : result.sides) {
    std::string line = fmt::format("  {:<8} ", side.name);
    if (!side.error.empty())
      line += side.error.substr(0, side.error.find('\n'));
    else
      line += fmt::format("{:>10.2f} us  {:>12}", side.time() * 1e6, rate(result.row, side.time()));
    if (&side != &ours && side.error.empty() && ours.error.empty())
      line += fmt::format("  ratio {:.3f}{}", side.time() / ours.time(),
                          &side == &result.sides[1] && result.row.wanted > 0
                              ? fmt::format(" (wanted {:.2f}{})", result.row.wanted, side.time() / ours.time() < result.row.wanted ? ", MISSED" : "")
                              : "");
    if (&side == &ours && ours.use.threads)
      line += fmt::format("  {} threads, {} registers, {} bytes spilled, {} bytes shared, {} programs a multiprocessor", ours.use.threads, ours.use.registers,
                          ours.use.spillBytes, ours.use.sharedBytes, ours.use.programsPerMultiprocessor);
    fmt::print("{}  {}  error {:.1e}\n", line, side.config.line(), side.difference);
  }
  std::fflush(stdout);
}

std::string quoted(const std::string &text) {
  std::string result = "\"";
  for (char c : text)
    if (c == '"' || c == '\\')
      result += {'\\', c};
    else
      result += static_cast<unsigned char>(c) < 32 ? ' ' : c;
  return result + '"';
}

std::string toJson(const std::vector<RowResult> &results, const std::string &deviceName, const std::string &versions, const std::string &before,
                   const std::string &after) {
  std::string text = fmt::format("{{\"device\": {}, \"machine\": {}, \"peers\": {}, \"before\": {}, \"after\": {}, \"rows\": [", quoted(deviceName),
                                 quoted(machine()), quoted(versions), quoted(before), quoted(after));
  for (const RowResult &result : results) {
    text += fmt::format("{}\n  {{\"name\": {}, \"work\": {}, \"wanted\": {}, \"sides\": [", &result == &results[0] ? "" : ",", quoted(result.row.name),
                        quoted(result.row.work.line()), result.row.wanted);
    for (const SideResult &side : result.sides) {
      text += fmt::format("{}\n    {{\"name\": {}, \"config\": {}", &side == &result.sides[0] ? "" : ",", quoted(side.name), quoted(side.config.line()));
      if (side.error.empty())
        text += fmt::format(", \"microseconds\": {:.4f}, \"rate\": {}, \"relativeError\": {:.3e}, \"ratio\": {:.4f}", side.time() * 1e6,
                            quoted(rate(result.row, side.time())), side.difference, result.sides[0].error.empty() ? side.time() / result.sides[0].time() : 0);
      else
        text += fmt::format(", \"error\": {}", quoted(side.error));
      if (side.use.threads)
        text += fmt::format(", \"threads\": {}, \"registers\": {}, \"spillBytes\": {}, \"sharedBytes\": {}, \"programsPerMultiprocessor\": {}",
                            side.use.threads, side.use.registers, side.use.spillBytes, side.use.sharedBytes, side.use.programsPerMultiprocessor);
      text += "}";
    }
    text += "]}";
  }
  return text + "\n]}\n";
}

/// Clocks, temperature and power as the driver's tool tells them.
std::string state() {
  Finished tool = runProgram({"nvidia-smi", "--query-gpu=driver_version,clocks.sm,clocks.mem,temperature.gpu,power.draw", "--format=csv,noheader"}, {}, false);
  return tool.status == 0 ? tool.output.substr(0, tool.output.find('\n')) : "unknown";
}

int run(const Options &options) {
  GpuRows rows = GpuRows::read(options.rowsFile);
  Device device = options.emulate ? Device::emulated("sm_90a") : Device::cuda();
  std::unique_ptr<Peer> peer;
  std::string versions = "none";
  if (options.peers && !options.emulate)
    try {
      peer = std::make_unique<Peer>(options.python, options.folder + "/peers.py");
      versions = peer->ask("versions");
    } catch (const Error &error) {
      fmt::print(stderr, "bench-gpu: no peers: {}\n", error.what());
      peer.reset();
    }
  const std::string before = options.emulate ? "emulated" : state();
  fmt::print("{}; peers: {}\ndriver, clocks, temperature, power before: {}\n\n", device.name(), versions, before);
  Bench bench(options, device, peer.get());
  std::vector<RowResult> results;
  const double start = seconds();
  int status = 0;
  for (GpuRow &row : rows.rows) {
    if (!chosen(row.name, options.rows))
      continue;
    if (seconds() - start > options.budget) {
      fmt::print("{}: left out, the time is up\n", row.name);
      status = 1;
      continue;
    }
    if (options.tiny)
      shrink(row);
    if (options.retune) {
      fmt::print("{}\n", row.name);
      bench.retune(row, rows);
      if (!options.tiny)
        rows.write(options.rowsFile);
    }
    results.push_back(bench.measure(row));
    print(results.back());
    const std::vector<SideResult> &sides = results.back().sides;
    const bool reached = row.wanted == 0 || sides.size() < 2 || !sides[1].error.empty() || sides[1].time() / sides[0].time() >= row.wanted;
    if (!sides[0].error.empty() || (!options.emulate && !reached))
      status = 1;
  }
  const std::string after = options.emulate ? "emulated" : state();
  fmt::print("\nafter: {}; {:.0f} s\n", after, seconds() - start);
  if (!options.json.empty())
    std::ofstream(options.json) << toJson(results, device.name(), versions, before, after);
  return status;
}
} // namespace

int main(int argc, char **argv) {
  if (argc == 2 && std::strcmp(argv[1], "--help") == 0) {
    std::fputs(help, stdout);
    return 0;
  }
  try {
    return run(parse(argc, argv));
  } catch (const std::exception &error) {
    fmt::print(stderr, "bench-gpu: {}\n", error.what());
    return 2;
  }
}
