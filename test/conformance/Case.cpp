// See Case.h.
#include "test/conformance/Case.h"
#include <algorithm>

namespace tk::conformance {

const std::vector<DType> kIntegerTypes = {DType::I8, DType::I16, DType::I32, DType::I64, DType::U8, DType::U16, DType::U32, DType::U64};
const std::vector<DType> kStandardTypes = {DType::I8,  DType::I16, DType::I32, DType::I64,  DType::U8,  DType::U16,
                                           DType::U32, DType::U64, DType::F16, DType::BF16, DType::F32, DType::F64};

Values numbers(DType dtype, const std::vector<double> &values) {
  return generate(dtype, values.size(), [&](size_t i) { return values[i]; });
}

Values integers(DType dtype, const std::vector<__int128> &values) {
  Values result(dtype, {});
  for (__int128 value : values)
    result.bits.push_back(encodeInteger(dtype, value));
  return result;
}

Values filled(DType dtype, size_t count, double value) { return Values(dtype, std::vector<uint64_t>(count, encode(dtype, value))); }

Values counting(DType dtype, size_t count, double first, double step) {
  return generate(dtype, count, [&](size_t i) { return first + step * static_cast<double>(i); });
}

Values scattered(DType dtype, size_t count, double low, double high, uint64_t seed) {
  uint64_t state = seed * 0x9E3779B97F4A7C15u + 1;
  return generate(dtype, count, [&](size_t) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return low + (high - low) * (static_cast<double>(state >> 11) * 0x1p-53);
  });
}

Values generate(DType dtype, size_t count, const std::function<double(size_t)> &f) {
  Values result(dtype, {});
  for (size_t i = 0; i < count; ++i)
    result.bits.push_back(encode(dtype, f(i)));
  return result;
}

Values map(DType dtype, const Values &x, const std::function<double(double)> &f) {
  return generate(dtype, x.size(), [&](size_t i) { return f(x.number(i)); });
}

Values mapIntegers(DType dtype, const Values &x, const std::function<__int128(__int128)> &f) {
  Values result(dtype, {});
  for (size_t i = 0; i < x.size(); ++i)
    result.bits.push_back(encodeInteger(dtype, f(x.integer(i))));
  return result;
}

Values concat(const std::vector<Values> &parts) {
  Values result(parts.front().dtype, {});
  for (const Values &part : parts)
    result.bits.insert(result.bits.end(), part.bits.begin(), part.bits.end());
  return result;
}

Case &Case::in(Values values) {
  Argument argument;
  argument.isBuffer = true;
  argument.expected = values; // an input must stay as it is
  argument.tolerance.payload = true;
  argument.initial = std::move(values);
  arguments.push_back(std::move(argument));
  return *this;
}

Case &Case::out(Values expected, Tolerance tolerance) {
  Values zeros(expected.dtype, std::vector<uint64_t>(expected.size(), 0));
  return inout(std::move(zeros), std::move(expected), tolerance);
}

Case &Case::inout(Values initial, Values expected, Tolerance tolerance) {
  in(std::move(initial));
  arguments.back().expected = std::move(expected);
  arguments.back().tolerance = tolerance;
  return *this;
}

Case &Case::checked(Values initial, std::function<std::string(const Values &)> check) {
  in(std::move(initial));
  arguments.back().expected.reset();
  arguments.back().check = std::move(check);
  return *this;
}

Case &Case::anyWhere(const std::function<bool(size_t)> &isUnspecified) {
  Argument &last = arguments.back();
  last.unspecified.resize(last.initial.size());
  for (size_t i = 0; i < last.initial.size(); ++i)
    last.unspecified[i] = isUnspecified(i);
  return *this;
}

Case &Case::widerOnGpus(std::vector<double> relative) { return arguments.back().onGpus = std::move(relative), *this; }
Case &Case::at(Placement placement) { return arguments.back().placement = placement, *this; }
Case &Case::offset(int64_t elements) { return arguments.back().offset = elements, *this; }
Case &Case::programs(int64_t x, int64_t y, int64_t z) { return grid = {x, y, z}, *this; }
Case &Case::error(std::string part) { return diagnostic = std::move(part), *this; }
Case &Case::warning(std::string part) { return diagnostic = std::move(part), isWarning = true, *this; }
Case &Case::fails(std::string part) { return failure = std::move(part), *this; }
Case &Case::prints(std::vector<std::string> lines) { return printed = std::move(lines), printsChecked = true, *this; }
Case &Case::printsStatic(std::vector<std::string> lines) { return staticPrinted = std::move(lines), *this; }
Case &Case::withDebug() { return debug = true, *this; }
Case &Case::withWarps(unsigned count) { return warps = count, *this; }
Case &Case::onTargets(std::vector<std::string> names) { return targets = std::move(names), *this; }

Case &Case::value(HostValue value) {
  arguments.emplace_back().value = std::move(value);
  return *this;
}

Case &Suite::add(std::string id, std::string source) {
  Case &made = cases.emplace_back();
  made.id = std::move(id), made.source = std::move(source);
  return made;
}

std::string substitute(std::string text, const std::vector<std::pair<std::string, std::string>> &names) {
  for (const auto &[name, replacement] : names)
    for (size_t at = text.find("$" + name); at != std::string::npos; at = text.find("$" + name, at + replacement.size()))
      text.replace(at, name.size() + 1, replacement);
  return text;
}

std::string nameOf(DType type) {
  switch (type) {
  case DType::I1: return "int1";
  case DType::I8: return "int8";
  case DType::I16: return "int16";
  case DType::I32: return "int32";
  case DType::I64: return "int64";
  case DType::U8: return "uint8";
  case DType::U16: return "uint16";
  case DType::U32: return "uint32";
  case DType::U64: return "uint64";
  case DType::F8E4M3FN: return "float8e4nv";
  case DType::F8E5M2: return "float8e5";
  case DType::F8E4M3FNUZ: return "float8e4b8";
  case DType::F8E5M2FNUZ: return "float8e5b16";
  case DType::F8E4B15: return "float8e4b15";
  case DType::F16: return "float16";
  case DType::BF16: return "bfloat16";
  case DType::F32: return "float32";
  case DType::F64: return "float64";
  }
  return "";
}

} // namespace tk::conformance
