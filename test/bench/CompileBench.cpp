// Whole processes of tkc: start, read, compile, write, exit. Compile time must not grow with the tile.
#include "test/bench/Benches.h"
#include "test/bench/ChildProcess.h"
#include "tk/error.h"
#include <fmt/format.h>

namespace tk::bench {

static double compileMilliseconds(const std::string &tkc, const std::string &sample, const std::string &signature, const std::string &stage) {
  const std::vector<std::string> command = {tkc, "compile", TKC_SOURCE_DIR "/samples/" + sample, "--signature", signature, "--emit", stage, "-o", "/dev/null"};
  std::vector<double> times;
  for (int i = 0; i < 22; ++i) {
    const Finished done = runProgram(command);
    if (done.status != 0)
      throw Error(ErrorKind::User, fmt::format("tkc compile {} ended with status {}", sample, done.status));
    if (i >= 2)
      times.push_back(done.seconds);
  }
  return median(times) * 1e3;
}

void benchCompile(std::vector<Row> &rows, const std::string &tkc) {
  const std::string add = "*fp32:16, *fp32:16, *fp32:16, i32, BLOCK=", softmax = "*fp32:16, *fp32:16, i32, i32, i32, BLOCK=";
  const double small = compileMilliseconds(tkc, "vector_add.tk", add + "1024", "bin"), large = compileMilliseconds(tkc, "vector_add.tk", add + "65536", "bin");
  const double wide = compileMilliseconds(tkc, "softmax.tk", softmax + "32768", "bin"), text = compileMilliseconds(tkc, "vector_add.tk", add + "1024", "asm");
  // The "peer" is the time allowed.
  rows.push_back({"compile vector_add 65536 : 1024", "ms", "1.5 times the small one's time is allowed", large, 1.5 * small, 1.5 * small / large, 1.0});
  rows.push_back({"compile softmax 32768", "ms", "a second is allowed", wide, 1000, 1000 / wide, 1.0});
  rows.push_back({"compile vector_add to assembly", "ms", "60 ms are allowed", text, 60, 60 / text, 1.0});
}

} // namespace tk::bench
