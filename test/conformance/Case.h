// A conformance case: a kernel, its arguments, and what must come of it. Every execution (the interpreter, the CPU target, later the GPUs) runs the same description.
//
// Expected values come from tables of the numeric rules or from plain C++ in the test program, never from an execution of tk.
//
//   suite.add("N3.floordiv.int8", "def k(x, y, out): ...").in(x).in(y).out(expected);
#pragma once
#include "test/conformance/Formats.h"
#include <array>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace tk::conformance {

/// Elements by their bits.
struct Values {
  DType dtype = DType::F32;
  std::vector<uint64_t> bits;

  Values() = default;
  Values(DType dtype, std::vector<uint64_t> bits) : dtype(dtype), bits(std::move(bits)) {}
  size_t size() const { return bits.size(); }
  double number(size_t i) const { return decode(dtype, bits[i]); }
  __int128 integer(size_t i) const { return decodeInteger(dtype, bits[i]); }
};
Values numbers(DType dtype, const std::vector<double> &values);
Values integers(DType dtype, const std::vector<__int128> &values);
Values filled(DType dtype, size_t count, double value = 0);
/// 0, 1, 2 ... times `step`.
Values counting(DType dtype, size_t count, double first = 0, double step = 1);
/// Reproducible numbers in [low, high); integers for integer types.
Values scattered(DType dtype, size_t count, double low, double high, uint64_t seed = 1);
/// `f` of each index, or of each element, converted with one rounding.
Values generate(DType dtype, size_t count, const std::function<double(size_t)> &f);
Values map(DType dtype, const Values &x, const std::function<double(double)> &f);
Values mapIntegers(DType dtype, const Values &x, const std::function<__int128(__int128)> &f);
Values concat(const std::vector<Values> &parts);

/// How far an element may be from the expected one. Without any tolerance the bits must be equal, except that NaN equals NaN.
struct Tolerance {
  double ulp = 0, relative = 0, absolute = 0;
  bool payload = false; // NaNs must have the same bits
};

enum class Placement { Plain, AgainstLowerPage, AgainstUpperPage, Forbidden }; // the pages beside guarded memory, and forbidden memory itself, can't be accessed

struct Nothing {};
struct PowerOfTwo {
  unsigned exponent; // for integers that no C++ type holds
};
using HostValue = std::variant<Nothing, bool, int64_t, uint64_t, double, DType, std::string, PowerOfTwo>; // a string is the name of a function of the kernel's file

struct Argument {
  bool isBuffer = false;
  HostValue value;
  // of a buffer
  Values initial;
  int64_t offset = 0; // the pointer passed, in elements from the first
  Placement placement = Placement::Plain;
  std::optional<Values> expected;
  Tolerance tolerance;
  std::vector<double> onGpus;    // relative errors that GPUs may add, one an element; empty: none
  double ulpOnGpus = 0;          // units in the last place that GPUs may add in fp32
  std::vector<bool> unspecified; // elements with any value
  /// Says what is wrong with the final contents, or nothing.
  std::function<std::string(const Values &)> check;
};

struct Case {
  std::string id, source;
  std::vector<Argument> arguments;
  std::array<int64_t, 3> grid = {1, 1, 1};
  std::string diagnostic; // a part of the message that compilation must give: an error, unless
  bool isWarning = false; // it is a warning beside which it succeeds
  std::string failure;    // a part of the message with which the launch must fail
  std::vector<std::string> printed, staticPrinted; // parts of the lines, in order
  bool debug = false, printsChecked = false;
  unsigned warps = 0; // of a GPU's program; 0: as many as the compiler takes
  std::vector<std::string> targets = {"cpu"};

  Case &in(Values values);
  /// An output, zero before the launch.
  Case &out(Values expected, Tolerance tolerance = {});
  Case &inout(Values initial, Values expected, Tolerance tolerance = {});
  Case &checked(Values initial, std::function<std::string(const Values &)> check);
  /// Elements of the last buffer that may have any value.
  Case &anyWhere(const std::function<bool(size_t)> &isUnspecified);
  /// Relative errors that GPUs may add to the tolerance of the last buffer, one an element.
  Case &widerOnGpus(std::vector<double> relative);
  /// GPUs may approximate the quotients or roots in fp32 of the last buffer within 2 ulp (NUMERICS 6).
  Case &approximateOnGpus() { return arguments.back().ulpOnGpus = 2, *this; }
  Case &at(Placement placement);
  Case &offset(int64_t elements);
  Case &value(HostValue value);
  Case &programs(int64_t x, int64_t y = 1, int64_t z = 1);
  Case &error(std::string part);
  Case &warning(std::string part);
  Case &fails(std::string part);
  Case &prints(std::vector<std::string> lines);
  Case &printsStatic(std::vector<std::string> lines);
  Case &withDebug();
  /// Warps of a program on GPUs, a power of two; the others have none.
  Case &withWarps(unsigned count);
  Case &onTargets(std::vector<std::string> names);
};

class Suite {
public:
  Case &add(std::string id, std::string source);
  std::vector<Case> cases;
};

/// Replaces each `$NAME` of a kernel's text.
std::string substitute(std::string text, const std::vector<std::pair<std::string, std::string>> &names);
/// The name in the language: int8, uint16, float8e4nv ...
std::string nameOf(DType type);

extern const std::vector<DType> kIntegerTypes, kStandardTypes; // without i1; integers, fp16, bf16, fp32, fp64

} // namespace tk::conformance
