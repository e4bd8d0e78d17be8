// N6: how exact the mathematical functions are, against extended precision.
#include "test/conformance/Areas.h"
#include <cmath>

namespace tk::conformance {

namespace {
using Reference = long double (*)(long double);
struct Function {
  const char *name;
  Reference reference;
  double low, high; // where it is sampled
  double ulp;
  bool hardware = false; // fp32 on GPUs is the machine's exp2 of the rounded product with log2(e): further |x| * 2^-23
};
constexpr long double kTwo = 2;
const Function kFunctions[] = {
    {"exp", [](long double x) { return std::exp(x); }, -80, 80, 2, true},
    {"exp2", [](long double x) { return std::pow(kTwo, x); }, -120, 120, 2},
    {"log", [](long double x) { return std::log(x); }, 1e-3, 1e3, 2},
    {"log2", [](long double x) { return std::log2(x); }, 1e-3, 1e3, 2},
    {"sin", [](long double x) { return std::sin(x); }, -131071, 131071, 2},
    {"cos", [](long double x) { return std::cos(x); }, -131071, 131071, 2},
    {"sqrt", [](long double x) { return std::sqrt(x); }, 0, 1e4, 0},
    {"rsqrt", [](long double x) { return 1 / std::sqrt(x); }, 1e-3, 1e4, 2},
    {"erf", [](long double x) { return std::erf(x); }, -4, 4, 2},
    {"floor", [](long double x) { return std::floor(x); }, -1e4, 1e4, 0},
    {"ceil", [](long double x) { return std::ceil(x); }, -1e4, 1e4, 0},
    {"libdevice.exp", [](long double x) { return std::exp(x); }, -80, 80, 2},
    {"libdevice.exp2", [](long double x) { return std::pow(kTwo, x); }, -120, 120, 2},
    {"libdevice.rsqrt", [](long double x) { return 1 / std::sqrt(x); }, 1e-3, 1e4, 2},
};

uint64_t roundOnce(DType type, long double value) { return encode(type, type == DType::F32 ? static_cast<double>(static_cast<float>(value)) : static_cast<double>(value)); }

/// Samples over the range, near zero and one, and at the ends.
Values samples(const Function &function, DType type) {
  Values x = scattered(type, 4000, function.low, function.high, 21);
  Values middle = scattered(type, 1000, std::max(function.low, -2.0), std::min(function.high, 2.0), 22);
  x.bits.insert(x.bits.end(), middle.bits.begin(), middle.bits.end());
  for (double value : std::vector<double>{0, -0.0, 1, 0.5, 2, 4, 10, INFINITY, NAN, -INFINITY, -1, 1e-30, 1e30, 0.999, 1.001})
    x.bits.push_back(encode(type, value));
  while (x.size() < 5120)
    x.bits.push_back(encode(type, 1));
  return x;
}

void addGates(Suite &suite) {
  for (const Function &function : kFunctions)
    for (DType type : {DType::F32, DType::F64}) {
      Values x = samples(function, type), expected(type, {});
      for (size_t i = 0; i < x.size(); ++i) {
        bool periodic = std::string(function.name) == "sin" || std::string(function.name) == "cos";
        if (periodic && std::isfinite(x.number(i)) && std::fabs(x.number(i)) > 131072) // the gate ends here
          x.bits[i] = encode(type, 3);
        expected.bits.push_back(roundOnce(type, function.reference(x.number(i))));
      }
      std::string id = function.name;
      if (size_t dot = id.find('.'); dot != std::string::npos)
        id[dot] = '_';
      Case &made = suite
                       .add("N6.gate." + id + "." + nameOf(type), substitute(R"(
def k(x, out):
    i = program_id(0) * 1024 + arange(0, 1024)
    r = $F(load(x + i))
    static_assert(r.dtype == $T)
    store(out + i, r)
)",
                                                                             {{"F", function.name}, {"T", nameOf(type)}}))
                       .in(x)
                       .out(expected, {.ulp = function.ulp})
                       .programs(5);
      if (std::string(function.name) == "sqrt")
        made.approximateOnGpus();
      if (function.hardware && type == DType::F32) {
        std::vector<double> wider;
        for (size_t i = 0; i < x.size(); ++i)
          wider.push_back(std::isfinite(x.number(i)) ? std::fabs(x.number(i)) * 0x1p-23 : 0);
        made.widerOnGpus(wider);
      }
    }
  for (const Function &function : kFunctions)
    for (DType type : {DType::F16, DType::BF16, DType::I32})
      if (std::string(function.name).find('.') == std::string::npos)
        suite.add(std::string("N6.types.") + function.name + "." + nameOf(type), substitute("def k(x, out):\n    store(out, $F(load(x)))\n", {{"F", function.name}})).in(filled(type, 1)).out(filled(type, 1)).error("fp32 or fp64");
}

void addCompositions(Suite &suite) {
  Values x = scattered(DType::F32, 256, -20, 20, 5);
  suite.add("N6.sigmoid", "def k(x, out):\n    i = arange(0, 256)\n    store(out + i, sigmoid(load(x + i)))\n").in(x).out(map(DType::F32, x, [](double v) { return 1 / (1 + std::exp(-v)); }), {.relative = 1e-6});
  Values soft(DType::F32, {});
  for (size_t row = 0; row < 4; ++row) {
    double largest = -INFINITY, total = 0;
    for (size_t i = 0; i < 64; ++i)
      largest = std::max(largest, x.number(row * 64 + i));
    for (size_t i = 0; i < 64; ++i)
      total += std::exp(x.number(row * 64 + i) - largest);
    for (size_t i = 0; i < 64; ++i)
      soft.bits.push_back(encode(DType::F32, std::exp(x.number(row * 64 + i) - largest) / total));
  }
  suite.add("N6.softmax", R"(
def k(x, out):
    i = program_id(0) * 64 + arange(0, 64)
    store(out + i, softmax(load(x + i)))
)").in(x).out(soft, {.relative = 1e-5}).programs(4);
}
} // namespace

void addMathGates(Suite &suite) {
  addGates(suite);
  addCompositions(suite);
}

} // namespace tk::conformance
