// See Verify.h.
#include "tools/tkc/Verify.h"
#include "compiler/interpret/Oracle.h"
#include "runtime/FloatBits.h"
#include "tools/tkc/Failure.h"
#include "tools/tkc/Targets.h"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <set>

namespace tk::tool {

namespace {
using Oracle = std::vector<interpret::OracleArray>;

class Verifier {
public:
  explicit Verifier(const VerifyRequest &request) : request(request) {
    lang::Diagnostics diagnostics;
    elaboration = request.compiler.elaborate(request.program.scope(), request.kernel, request.specs, request.options, diagnostics);
    if (!elaboration)
      throw Failure(Status::Diagnostics, diagnostics.render());
    for (const compiler::ArgumentSlot &slot : interpret::slotsOf(*elaboration))
      if (slot.written)
        if (const ArrayArgument *array = arrayOf(slot, request.arguments))
          written.insert(array);
  }

  Verification run();

private:
  /// Copies of the arrays that are written, with their first contents; the others are shared.
  struct Memory {
    std::vector<Array> copies;                      // by index in request.arrays, empty where shared
    void *address(const VerifyRequest &request, const ArrayArgument &array) const;
  };
  Memory copyArrays() const;
  interpret::OracleResult interpretPrograms(const std::vector<uint64_t> &programs, uint64_t limit, Memory &memory, Oracle &oracle);
  bool choosePrograms(Verification &result, std::vector<uint64_t> &programs);
  /// What a sample of programs may be judged by.
  enum class Scope : uint8_t { All, ChangedByEither, ChangedByInterpreter };
  bool programsAreIndependent() const;
  VerifiedArray compare(const ArrayArgument &array, const interpret::OracleArray &expected, const Array &found, Scope scope) const;

  const VerifyRequest &request;
  std::shared_ptr<compiler::Compiler::Elaboration> elaboration;
  std::set<const ArrayArgument *> written;
};

void *Verifier::Memory::address(const VerifyRequest &request, const ArrayArgument &array) const {
  for (size_t i = 0; i < request.arrays.size(); ++i)
    if (request.arrays[i].get() == &array && copies[i].data())
      return copies[i].data();
  return array.array.data();
}

Verifier::Memory Verifier::copyArrays() const {
  Memory memory;
  for (const auto &array : request.arrays)
    memory.copies.push_back(written.count(array.get()) ? array->array.clone() : Array());
  return memory;
}

interpret::OracleResult Verifier::interpretPrograms(const std::vector<uint64_t> &programs, uint64_t limit, Memory &memory, Oracle &oracle) {
  oracle.clear();
  for (const auto &array : request.arrays) {
    interpret::OracleArray entry;
    entry.data = memory.address(request, *array), entry.bytes = array->array.bytes(), entry.dtype = array->dtype, entry.name = array->name;
    oracle.push_back(std::move(entry));
  }
  interpret::OracleLaunch launch;
  for (size_t axis = 0; axis < 3; ++axis)
    launch.grid[axis] = static_cast<int32_t>(request.grid[axis]);
  launch.arguments = slotBits(interpret::slotsOf(*elaboration), request.arguments, [&](const ArrayArgument &array) { return reinterpret_cast<uintptr_t>(memory.address(request, array)); });
  launch.arrays = &oracle;
  launch.programs = programs;
  launch.operationLimit = limit;
  launch.reportConflicts = request.options.debug;
  launch.tolerances.contraction = request.options.fpFusion;
  if (isGpuTarget(request.options.target)) // NUMERICS 6: the machine's own quotients, roots and exponentials
    launch.tolerances.divUlp = 2, launch.tolerances.hardwareExp = true;
  return interpret::runOracle(*elaboration, launch);
}

/// Leaves `programs` empty for all of them. False when not even one can be interpreted within the limit.
bool Verifier::choosePrograms(Verification &result, std::vector<uint64_t> &programs) {
  result.programsRun = result.programs;
  if (result.programs == 1)
    return true;
  Memory memory = copyArrays();
  Oracle oracle;
  interpret::OracleResult probe = interpretPrograms({result.programs / 2}, request.operationLimit, memory, oracle);
  if (probe.limitReached)
    return false;
  uint64_t affordable = request.operationLimit / std::max<uint64_t>(1, probe.operations);
  if (affordable >= result.programs)
    return true;
  uint64_t count = std::max<uint64_t>(affordable, 2);
  for (uint64_t i = 0; i < count; ++i)
    programs.push_back(static_cast<uint64_t>(static_cast<unsigned __int128>(i) * (result.programs - 1) / (count - 1)));
  result.programsRun = count;
  return true;
}

std::string indexText(int64_t linear, const std::vector<int64_t> &shape) {
  std::vector<int64_t> index(shape.size());
  for (size_t axis = shape.size(); axis-- > 0;)
    index[axis] = linear % shape[axis], linear /= shape[axis];
  return fmt::format("[{}]", fmt::join(index, ", "));
}

/// Whether no program can see what another one writes: no array is both read and written, through one parameter or two.
bool Verifier::programsAreIndependent() const {
  std::set<const ArrayArgument *> read;
  for (const compiler::ArgumentSlot &slot : interpret::slotsOf(*elaboration))
    if (const ArrayArgument *array = slot.read ? arrayOf(slot, request.arguments) : nullptr)
      read.insert(array);
  return std::none_of(written.begin(), written.end(), [&](const ArrayArgument *array) { return read.count(array) > 0; });
}

VerifiedArray Verifier::compare(const ArrayArgument &array, const interpret::OracleArray &expected, const Array &found, Scope scope) const {
  constexpr size_t maxDifferences = 3;
  VerifiedArray result;
  result.name = array.name;
  DType type = array.dtype;
  for (int64_t i = 0, n = found.size(); i < n; ++i) {
    uint64_t want = loadBits(type, expected.data, i), got = loadBits(type, found.data(), i);
    if (scope != Scope::All) {
      uint64_t before = loadBits(type, array.array.data(), i);
      if (want == before && (got == before || scope == Scope::ChangedByInterpreter))
        continue;
    }
    ++result.compared;
    double bound = static_cast<size_t>(i) < expected.bounds.size() ? expected.bounds[static_cast<size_t>(i)] : 0;
    bool agrees = want == got;
    if (!std::isfinite(bound)) {
      ++result.unbounded;
      agrees = true;
    } else if (!agrees) {
      double wanted = decodeNumber(type, want), gotten = decodeNumber(type, got), error = std::fabs(wanted - gotten);
      if (isFloat(type))
        agrees = (std::isnan(wanted) && std::isnan(gotten)) || wanted == gotten || error <= bound;
      else
        agrees = bound > 0 && error <= bound;
      if (agrees && bound > 0 && error > 0)
        result.worst = std::max(result.worst, error / bound);
      if (!agrees && result.differences.size() < maxDifferences) {
        std::string index = indexText(i, array.shape);
        if (isFloat(type))
          result.differences.push_back(fmt::format("{}{} is {:.9g}, the interpreter computes {:.9g} with an error of at most {:.3g}", array.name, index, gotten, wanted, bound));
        else
          result.differences.push_back(fmt::format("{}{} is {}, the interpreter computes {}", array.name, index, decodeInteger(type, got), decodeInteger(type, want)));
      }
    }
    result.agreeing += agrees;
  }
  return result;
}

Verification Verifier::run() {
  Verification result;
  result.programs = static_cast<uint64_t>(request.grid[0]) * static_cast<uint64_t>(request.grid[1]) * static_cast<uint64_t>(request.grid[2]);
  if (result.programs == 0)
    return result;
  std::vector<uint64_t> programs;
  auto skip = [&] {
    result.outcome = Verification::Skipped;
    result.message = fmt::format("one program alone takes the interpreter more than {} operations; raise `--verify-limit` to check it", request.operationLimit);
    return result;
  };
  if (!choosePrograms(result, programs))
    return skip();
  bool sampled = !programs.empty();
  if (sampled && !request.executable.runsSamples() && !programsAreIndependent()) {
    result.outcome = Verification::Skipped;
    result.message = fmt::format("{} programs take the interpreter more than {} operations, and a sample can't stand for them, since they may read what others write; raise `--verify-limit` to check it",
                                 result.programs, request.operationLimit);
    return result;
  }
  Memory interpreted = copyArrays(), compiled = copyArrays();
  Oracle oracle;
  // A sample may cost more than its share; it is small enough not to be cut off.
  interpret::OracleResult outcome = interpretPrograms(programs, programs.empty() && result.programs > 1 ? request.operationLimit * 4 : request.operationLimit * 8, interpreted, oracle);
  if (outcome.limitReached)
    return skip();
  if (!outcome.ok) {
    result.outcome = Verification::Faulted;
    result.message = outcome.message;
    return result;
  }
  HostArrays arrays{request.arguments, [&](const ArrayArgument &array) { return compiled.address(request, array); }};
  request.executable.run(arrays, request.grid, sampled ? &programs : nullptr);
  Scope scope = !sampled ? Scope::All : request.executable.runsSamples() ? Scope::ChangedByEither : Scope::ChangedByInterpreter;
  for (size_t i = 0; i < request.arrays.size(); ++i) {
    if (!written.count(request.arrays[i].get()))
      continue;
    result.arrays.push_back(compare(*request.arrays[i], oracle[i], compiled.copies[i], scope));
    if (result.arrays.back().agreeing != result.arrays.back().compared)
      result.outcome = Verification::Differs;
  }
  return result;
}
} // namespace

Verification verify(const VerifyRequest &request) { return Verifier(request).run(); }

} // namespace tk::tool
