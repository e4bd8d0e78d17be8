// See Assembler.h.
#include "runtime/device/cuda/Assembler.h"
#include "runtime/Environment.h"
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

extern char **environ;

namespace tk::cuda {

namespace {
/// A folder of its own that goes with the object.
class TemporaryFolder {
public:
  TemporaryFolder() : path(runtime::environment().temporaries + "/tkc-XXXXXX") { made = mkdtemp(path.data()) != nullptr; }
  ~TemporaryFolder() {
    if (!made)
      return;
    for (const char *name : {"kernel.ptx", "kernel.cubin", "log"})
      unlink(file(name).c_str());
    rmdir(path.c_str());
  }
  bool exists() const { return made; }
  std::string file(const char *name) const { return path + "/" + name; }
  const std::string &name() const { return path; }

private:
  std::string path;
  bool made = false;
};

bool writeFile(const std::string &path, const std::string &bytes) {
  FILE *file = std::fopen(path.c_str(), "wb");
  if (!file)
    return false;
  bool good = std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
  return std::fclose(file) == 0 && good;
}

std::string readFile(const std::string &path) {
  std::string bytes;
  FILE *file = std::fopen(path.c_str(), "rb");
  if (!file)
    return bytes;
  std::array<char, 65536> chunk;
  for (size_t count; (count = std::fread(chunk.data(), 1, chunk.size(), file)) > 0;)
    bytes.append(chunk.data(), count);
  std::fclose(file);
  return bytes;
}

/// Runs a program with both outputs in a file. Its wait status, or -1 with errno when it can't start.
int run(const std::vector<std::string> &command, const std::string &output) {
  std::vector<char *> arguments;
  for (const std::string &word : command)
    arguments.push_back(const_cast<char *>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  pid_t child = 0;
  int error = posix_spawn(&child, command[0].c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error) {
    errno = error;
    return -1;
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR)
      return -1;
  return status;
}
} // namespace

std::optional<CodeUse> readUse(const std::string &log) {
  // "Used 38 registers, used 1 barriers, ..." and "8 bytes stack frame, 4 bytes spill stores, 4 bytes spill loads"
  auto before = [&](const char *words) -> std::optional<unsigned> {
    size_t at = log.find(words);
    if (at == std::string::npos)
      return std::nullopt;
    size_t begin = at;
    while (begin > 0 && log[begin - 1] >= '0' && log[begin - 1] <= '9')
      --begin;
    return begin == at ? std::nullopt : std::optional<unsigned>(std::strtoul(log.c_str() + begin, nullptr, 10));
  };
  std::optional<unsigned> registers = before(" registers");
  if (!registers)
    return std::nullopt;
  return CodeUse{*registers, before(" bytes stack frame").value_or(0), before(" bytes spill stores").value_or(0), before(" bytes spill loads").value_or(0),
                 before(" barriers").value_or(0)};
}

Assembled runPtxas(const std::string &program, const std::string &ptx, const std::string &target) {
  Assembled result;
  TemporaryFolder folder;
  if (!folder.exists() || !writeFile(folder.file("kernel.ptx"), ptx)) {
    result.log = fmt::format("a temporary file in `{}` can't be written: {}", folder.name(), std::strerror(errno));
    return result;
  }
  int status =
      run({program, "--gpu-name", target, "-O3", "--verbose", "--output-file", folder.file("kernel.cubin"), folder.file("kernel.ptx")}, folder.file("log"));
  if (status == -1) {
    result.log = fmt::format("`{}` can't be run: {}", program, std::strerror(errno));
    return result;
  }
  result.log = readFile(folder.file("log"));
  if (status == 0)
    result.cubin = readFile(folder.file("kernel.cubin")), result.use = readUse(result.log);
  if (result.cubin.empty() && result.log.empty())
    result.log = fmt::format("`{}` ended with status {} and no message", program, WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
  return result;
}

Assembled linkWithDriver(const Driver &driver, const std::string &ptx, const std::string &source) {
  Assembled result;
  constexpr size_t logBytes = 16384;
  std::string errors(logBytes, '\0'), notes(logBytes, '\0');
  JitOption options[] = {JitOption::ErrorLogBuffer, JitOption::ErrorLogBufferBytes, JitOption::InfoLogBuffer, JitOption::InfoLogBufferBytes};
  void *values[] = {errors.data(), reinterpret_cast<void *>(logBytes), notes.data(), reinterpret_cast<void *>(logBytes)};
  LinkState state = nullptr;
  Result code = driver.linkCreate(4, options, values, &state);
  if (code == Result::Success) {
    std::string text = ptx; // the driver wants the terminating zero counted, and a pointer to changeable text
    void *cubin = nullptr;
    size_t bytes = 0;
    code = driver.linkAddData(state, JitInputType::Ptx, text.data(), text.size() + 1, source.c_str(), 0, nullptr, nullptr);
    if (code == Result::Success)
      code = driver.linkComplete(state, &cubin, &bytes);
    if (code == Result::Success)
      result.cubin.assign(static_cast<const char *>(cubin), bytes);
    driver.linkDestroy(state);
  }
  result.log = std::string(errors.c_str()) + notes.c_str();
  if (code == Result::Success)
    return result;
  int version = 0;
  driver.driverGetVersion(&version);
  result.log = fmt::format("{}{}{}", describe(driver, code), result.log.empty() ? "" : "\n", result.log);
  if (code == Result::UnsupportedPtxVersion)
    result.log +=
        fmt::format("\nthe driver serves CUDA {}.{}: this code needs a newer one, or `ptxas` of a newer CUDA in PATH", version / 1000, version % 1000 / 10);
  return result;
}

std::string targetOf(const std::string &ptx) {
  size_t at = ptx.find("\n.target ");
  if (at == std::string::npos)
    return "";
  at += std::strlen("\n.target ");
  return ptx.substr(at, ptx.find_first_of(", \t\r\n", at) - at);
}

} // namespace tk::cuda
