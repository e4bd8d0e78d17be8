// See Report.h.
#include "tools/tkc/Report.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <fmt/format.h>

namespace tk::tool {

std::string durationText(double value) {
  if (value < 1e-3)
    return fmt::format("{:.2f} us", value * 1e6);
  return value < 1 ? fmt::format("{:.3f} ms", value * 1e3) : fmt::format("{:.3f} s", value);
}

std::string gridText(const std::array<int64_t, 3> &grid) {
  if (grid[2] != 1)
    return fmt::format("{}x{}x{}", grid[0], grid[1], grid[2]);
  return grid[1] != 1 ? fmt::format("{}x{}", grid[0], grid[1]) : fmt::format("{}", grid[0]);
}

namespace {
std::string verificationLines(const Verification &verification) {
  std::string sample = verification.programsRun < verification.programs ? fmt::format("; {} of {} programs were interpreted", verification.programsRun, verification.programs) : "";
  std::string text;
  switch (verification.outcome) {
  case Verification::Skipped: return fmt::format("not verified: {}\n", verification.message);
  case Verification::Faulted: return fmt::format("verification failed: the interpreter stopped: {}\n", verification.message);
  default: break;
  }
  if (verification.programs == 0)
    return "verified: the grid is empty, nothing was run\n";
  if (verification.arrays.empty())
    return fmt::format("verified: the kernel writes no array; the interpreter found no fault{}\n", sample);
  for (const VerifiedArray &array : verification.arrays) {
    bool right = array.agreeing == array.compared;
    text += fmt::format("{}: {} of {} elements of {} agree with the interpreter", right ? "verified" : "verification failed", array.agreeing, array.compared, array.name);
    if (array.worst > 0)
      text += fmt::format(" (max error {:.2g} of the bound)", array.worst);
    if (array.unbounded)
      text += fmt::format("; {} of them depend on the order of execution and were not compared", array.unbounded);
    text += sample + "\n";
    for (const std::string &difference : array.differences)
      text += "  " + difference + "\n";
  }
  return text;
}
} // namespace

std::string titleLine(const RunReport &report) { return fmt::format("{}: {}, grid {}, target {}\n", report.kernel, report.arguments, gridText(report.grid), report.target); }

std::string resultLines(const RunReport &report) {
  std::string text;
  if (report.verification)
    text += verificationLines(*report.verification);
  for (const Count &count : report.counts)
    text += fmt::format("  {:<34} {:>14}\n", count.name, count.value);
  if (report.timing) {
    const BenchmarkResult &timing = *report.timing;
    text += fmt::format("time: median {}, min {}, p95 {} of {} runs on {}\n", durationText(timing.median), durationText(timing.minimum),
                        durationText(timing.p95), timing.runs, report.place);
    if (report.bytes)
      text += fmt::format("rate: {:.3f} GB/s ({} bytes)\n", static_cast<double>(report.bytes) / timing.median * 1e-9, report.bytes);
  }
  return text;
}

std::string toJson(const std::vector<RunReport> &reports) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::json::OStream json(stream, 2);
  json.object([&] {
    json.attributeArray("runs", [&] {
      for (const RunReport &report : reports)
        json.object([&] {
          json.attribute("kernel", report.kernel);
          json.attribute("target", report.target);
          json.attribute("arguments", report.arguments);
          json.attributeArray("grid", [&] {
            for (int64_t extent : report.grid)
              json.value(extent);
          });
          json.attribute("place", report.place);
          if (report.verification) {
            const Verification &verification = *report.verification;
            static constexpr const char *outcomes[] = {"agrees", "differs", "faulted", "skipped"};
            json.attributeObject("verification", [&] {
              json.attribute("outcome", outcomes[verification.outcome]);
              if (!verification.message.empty())
                json.attribute("message", llvm::json::fixUTF8(verification.message));
              json.attribute("programs", static_cast<int64_t>(verification.programs));
              json.attribute("programs_interpreted", static_cast<int64_t>(verification.programsRun));
              json.attributeArray("arrays", [&] {
                for (const VerifiedArray &array : verification.arrays)
                  json.object([&] {
                    json.attribute("name", array.name);
                    json.attribute("compared", static_cast<int64_t>(array.compared));
                    json.attribute("agreeing", static_cast<int64_t>(array.agreeing));
                    json.attribute("not_comparable", static_cast<int64_t>(array.unbounded));
                    json.attribute("max_error_of_bound", array.worst);
                  });
              });
            });
          }
          if (!report.counts.empty())
            json.attributeObject("counts", [&] {
              for (const Count &count : report.counts)
                json.attribute(count.name, static_cast<int64_t>(count.value));
            });
          if (report.timing) {
            json.attributeObject("seconds", [&] {
              json.attribute("median", report.timing->median);
              json.attribute("min", report.timing->minimum);
              json.attribute("p95", report.timing->p95);
              json.attribute("runs", report.timing->runs);
            });
            json.attribute("bytes", static_cast<int64_t>(report.bytes));
            json.attribute("bytes_per_second", static_cast<double>(report.bytes) / report.timing->median);
          }
        });
    });
  });
  return text + "\n";
}

namespace {
constexpr int64_t longestAxis = 8, edge = 3;

void appendElements(std::string &text, const Array &array, size_t axis, int64_t offset, int64_t stride) {
  if (axis == array.shape().size()) {
    if (isInteger(array.dtype()))
      text += array.dtype() == DType::U64 ? fmt::format("{}", static_cast<uint64_t>(array.getInteger(offset))) : fmt::format("{}", array.getInteger(offset));
    else
      text += fmt::format("{:.{}g}", array.get(offset), array.dtype() == DType::F64 ? 17 : bitsOf(array.dtype()) == 32 ? 9 : 5);
    return;
  }
  int64_t extent = array.shape()[axis];
  stride = extent ? stride / extent : 0;
  text += "[";
  for (int64_t i = 0; i < extent; ++i) {
    if (i)
      text += axis + 1 == array.shape().size() ? ", " : ",\n" + std::string(axis + 1, ' ');
    if (extent > longestAxis && i == edge)
      text += "...", i = extent - edge - 1;
    else
      appendElements(text, array, axis + 1, offset + i * stride, stride);
  }
  text += "]";
}
} // namespace

std::string elementsText(const Array &array) {
  std::string text;
  appendElements(text, array, 0, 0, array.size());
  return text;
}

} // namespace tk::tool
