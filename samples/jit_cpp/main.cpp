// Loads a kernel file, launches its kernel on the best device of this machine, checks what came out, and chooses a configuration by measuring.
//
//   jit_cpp samples/softmax.tk
#include <cmath>
#include <cstdio>
#include <tk/tk.h>

/// Softmax of each row; the device, the stream and the arrays are what a program that launches many kernels would keep.
static bool softmax(const std::string &file, const tk::Stream &stream) {
  const int64_t rows = 128, columns = 1000;
  tk::Array host(tk::DType::F32, {rows, columns});
  for (int64_t i = 0; i < host.size(); ++i)
    host.as<float>()[i] = static_cast<float>(i % 17);
  tk::DeviceArray x(stream.device(), host), out(stream.device(), tk::DType::F32, {rows, columns});

  tk::Kernel kernel = tk::Module::fromFile(file).kernel("softmax");
  // Strides and extents are plain integers; BLOCK is a compile-time constant, so each value is code of its own.
  kernel.launch(stream, tk::grid(rows), out, x, columns, columns, columns, tk::meta("BLOCK", 1024));
  tk::Array result = out.toHost(stream); // waits

  for (int64_t row = 0; row < rows; ++row) {
    double sum = 0;
    for (int64_t column = 0; column < columns; ++column)
      sum += result.as<float>()[row * columns + column];
    if (std::fabs(sum - 1) > 1e-5) {
      std::printf("row %lld sums to %g\n", static_cast<long long>(row), sum);
      return false;
    }
  }
  std::printf("softmax: %lld rows that sum to 1\n", static_cast<long long>(rows));
  return true;
}

/// A kernel from a string, launched with the block that is fastest here.
static bool tuned(const tk::Stream &stream) {
  tk::Kernel scale = tk::Module::fromSource("def scale(x, out, n, BLOCK: constexpr):\n"
                                            "    i = program_id(0) * BLOCK + arange(0, BLOCK)\n"
                                            "    store(out + i, load(x + i, mask=i < n) * 2, mask=i < n)\n",
                                            "scale.tk")
                         .kernel("scale");
  const int64_t n = 1 << 20;
  tk::Array ones(tk::DType::F32, {n});
  for (int64_t i = 0; i < n; ++i)
    ones.as<float>()[i] = 1;
  tk::DeviceArray x(stream.device(), ones), out(stream.device(), tk::DType::F32, {n});

  tk::Tuning tuning;
  tuning.configs = {{{"BLOCK", 256}}, {{"BLOCK", 1024}}, {{"BLOCK", 4096}}};
  tuning.key = {"n"}; // measured once for each n, and remembered from process to process
  tuning.warmupMs = 2, tuning.repMs = 10;
  scale.tune(tuning);
  scale.launch(stream, [&](const tk::Meta &meta) { return tk::grid(tk::cdiv(n, meta["BLOCK"])); }, x, out, n);
  tk::Array result = out.toHost(stream);
  for (int64_t i = 0; i < n; ++i)
    if (result.as<float>()[i] != 2) {
      std::printf("scale: element %lld is %g\n", static_cast<long long>(i), result.as<float>()[i]);
      return false;
    }
  std::printf("scale: %lld elements are right\n", static_cast<long long>(n));
  return true;
}

int main(int argc, char **argv) {
  try {
    tk::Stream stream = tk::Device::best().stream();
    std::printf("device: %s\n", stream.device().name().c_str());
    bool right = softmax(argc > 1 ? argv[1] : "softmax.tk", stream);
    return tuned(stream) && right ? 0 : 1;
  } catch (const tk::Error &error) { // one type for everything; its text is complete
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
