// A kernel from tt text and arrays to run it on.
#pragma once
#include "Catch.h"
#include "compiler/interpret/FloatFormats.h"
#include "compiler/interpret/Launch.h"
#include <algorithm>
#include <fmt/format.h>
#include <memory>

namespace tk::interpret::test {

/// The function @k of a module (Kernel.cpp, the one file here that sees MLIR).
class Kernel {
public:
  explicit Kernel(const std::string &text, const std::string &fileName = "kernel.mlir");
  ~Kernel();
  Result run(const Launch &launch);

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

/// Memory with bounds.
template <typename T> struct Array {
  std::vector<T> data;
  std::vector<double> bounds;
  std::string name = "x";

  Array(std::vector<T> values, std::string name = "x") : data(std::move(values)), bounds(data.size(), 0), name(std::move(name)) {}
  Region region() { return {data.data(), data.size() * sizeof(T), name, bounds.data(), sizeof(T)}; }
  uint64_t address(size_t element = 0) { return reinterpret_cast<uint64_t>(data.data() + element); }
  T &operator[](size_t i) { return data[i]; }
};

/// A launch of one program on these arrays, each an argument.
template <typename... Arrays> Launch launchOn(Arrays &...arrays) {
  Launch launch;
  (launch.regions.push_back(arrays.region()), ...);
  (launch.arguments.push_back(arrays.address()), ...);
  return launch;
}

/// A kernel that loads `count` elements of each input (%0, %1 ...), computes `body` with the result %r, and stores it. In the body, @T stands for tensor<COUNTxT>: "@f32".
std::string elementwise(const std::vector<std::string> &inputs, const std::string &output, size_t count, std::string body);

/// A kernel over an input of `inputs` and an output of `outputs` elements of any types: %0 is the input's tile, %r the result's.
std::string reshaping(const std::string &input, size_t inputs, const std::string &output, size_t outputs, const std::string &body);

/// Runs it on arrays; the result with its bounds.
template <typename Out, typename... In> Array<Out> compute(const std::vector<std::string> &inputs, const std::string &output, const std::string &body, Array<In>... arrays) {
  size_t count = std::max({arrays.data.size()...});
  Kernel kernel(elementwise(inputs, output, count, body));
  Array<Out> out(std::vector<Out>(count), "out");
  Launch launch = launchOn(arrays..., out);
  Result result = kernel.run(launch);
  INFO(result.message);
  REQUIRE(result.status == Result::Ok);
  return out;
}

template <typename Out, typename In> Array<Out> reshape(const std::string &input, const std::string &output, size_t outputs, const std::string &body, Array<In> in) {
  Kernel kernel(reshaping(input, in.data.size(), output, outputs, body));
  Array<Out> out(std::vector<Out>(outputs), "out");
  Launch launch = launchOn(in, out);
  Result result = kernel.run(launch);
  INFO(result.message);
  REQUIRE(result.status == Result::Ok);
  return out;
}

} // namespace tk::interpret::test
