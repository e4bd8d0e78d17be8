// The C++ API from an installed package.
#include "scale.h"
#include <cstdio>
#include <string>
#include <tk/tk.h>
#include <vector>

extern "C" int plainC(void);

static int failures = 0;
static void check(bool holds, const char *what) {
  if (!holds)
    std::printf("does not hold: %s\n", what), ++failures;
}

int main() {
  const int n = 1000;
  std::vector<float> x(n, 1.5f), out(n);
  tk::Kernel kernel = tk::Module::fromSource("def twice(x, out, n, BLOCK: constexpr):\n"
                                             "    i = program_id(0) * BLOCK + arange(0, BLOCK)\n"
                                             "    store(out + i, load(x + i, mask=i < n) * 2, mask=i < n)\n",
                                             "twice.tk")
                          .kernel("twice");
  kernel.launch({}, tk::grid(tk::cdiv(n, 256)), x.data(), out.data(), n, tk::meta("BLOCK", 256));
  check(out == std::vector<float>(n, 3.0f), "a launch");

  // An exception made inside of libtkc_jit, caught here, where everything is compiled with hidden visibility.
  bool caught = false;
  try {
    tk::Module::fromSource("def f(x):\n    store(x, nothing)\n", "wrong.tk").kernel("f").launch({}, tk::grid(1), x.data());
  } catch (const tk::Error &error) {
    caught = error.kind() == tk::ErrorKind::User && std::string(error.what()).find("wrong.tk:2") != std::string::npos;
  }
  check(caught, "an error of the compiler's is a tk::Error");
  caught = false;
  try {
    tk::Device::emulated("sm_0");
  } catch (const std::runtime_error &) {
    caught = true;
  }
  check(caught, "a tk::Error is a std::runtime_error");

  check(scale(tk_aot_cpu(), out.data(), n, 0.5f) == TK_AOT_OK && out == std::vector<float>(n, 1.5f), "a kernel compiled into the program");
  check(plainC() == 0, "the C API");
  std::printf("consumer: %d failed\n", failures);
  return failures != 0;
}
