// The disk cache as launches use it: processes that find everything there, edits that must and must not compile again, damage, forks. Each step is a process of
// its own: this program, started again for one hidden test.
#include "Catch.h"
#include "test/unit/runtime/Thrown.h"
#include "tk/tk.h"
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <random>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace tk;
namespace fs = std::filesystem;

extern char **environ;

namespace {
/// A folder that goes with the test.
struct Folder {
  fs::path path;
  Folder() {
    std::string name = (fs::temp_directory_path() / "tkc-launch-XXXXXX").string();
    path = mkdtemp(name.data());
  }
  ~Folder() { fs::remove_all(path); }
};

void write(const fs::path &file, const std::string &text) { std::ofstream(file) << text; }

/// Starts this program for the hidden test; its environment says what to do.
pid_t start(const Folder &folder, const std::string &file, const std::string &kernel, const std::string &argument = "") {
  std::vector<std::string> variables = {"LAUNCH_TEST_CACHE=" + (folder.path / "cache").string(), "LAUNCH_TEST_FILE=" + (folder.path / file).string(),
                                        "LAUNCH_TEST_KERNEL=" + kernel, "LAUNCH_TEST_FUNCTION=" + argument};
  std::vector<char *> environment;
  for (std::string &variable : variables)
    environment.push_back(variable.data());
  for (char **each = environ; *each; ++each)
    environment.push_back(*each);
  environment.push_back(nullptr);
  char program[] = "/proc/self/exe", test[] = "a process that launches";
  char *arguments[] = {program, test, nullptr};
  pid_t child = -1;
  posix_spawn_file_actions_t quiet; // its summary is not this program's
  posix_spawn_file_actions_init(&quiet);
  posix_spawn_file_actions_addopen(&quiet, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  int failure = posix_spawn(&child, program, &quiet, nullptr, arguments, environment.data());
  posix_spawn_file_actions_destroy(&quiet);
  REQUIRE(failure == 0);
  return child;
}

/// What the process wrote: "result compiled"; "failed" when it ended badly.
struct Outcome {
  float result = -1;
  int compiled = -1;
  std::string error;
};
Outcome wait(pid_t child, const Folder &folder) {
  int status = 0;
  waitpid(child, &status, 0);
  Outcome outcome;
  fs::path file = folder.path / ("outcome." + std::to_string(child));
  std::ifstream in(file);
  in >> outcome.result >> outcome.compiled;
  in.ignore(1);
  std::getline(in, outcome.error, '\0');
  fs::remove(file);
  return outcome;
}
Outcome run(const Folder &folder, const std::string &file, const std::string &kernel, const std::string &argument = "") {
  return wait(start(folder, file, kernel, argument), folder);
}

/// Applies the kernel `k(x, n)` to one number.
constexpr const char *helpers = R"(
SCALE = tl.constexpr(2)

def inner(v):
    return v + 1

def outer(v):
    return inner(v) * SCALE

def other(v):
    return v * 100

def joined(a, b):
    return a + b

@triton.jit
def k(x, n):
    store(x, outer(load(x)) + n)

@triton.jit
def chosen(x, n, FN: constexpr = other):
    store(x, FN(load(x)) + n)

@triton.jit
def reduced(x, n):
    v = zeros((4,), float32) + load(x)
    store(x, reduce(v, 0, joined) + n)

@triton.jit
def unrelated(x, n):
    store(x, n)
)";

std::string replaced(std::string text, const std::string &from, const std::string &to) {
  size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}
} // namespace

TEST_CASE("a process that launches", "[.]") {
  if (!std::getenv("LAUNCH_TEST_CACHE"))
    return; // not started by another test
  setenv("TKC_CACHE_DIR", std::getenv("LAUNCH_TEST_CACHE"), 1);
  std::string file = std::getenv("LAUNCH_TEST_FILE"), function = std::getenv("LAUNCH_TEST_FUNCTION");
  std::ofstream out(fs::path(std::getenv("LAUNCH_TEST_CACHE")).parent_path() / ("outcome." + std::to_string(getpid())));
  float x = 3;
  try {
    Kernel kernel = Module::fromFile(file).kernel(std::getenv("LAUNCH_TEST_KERNEL"));
    if (function.empty())
      kernel.launch({}, grid(1), &x, 5, meta("debug", true));
    else
      kernel.launch({}, grid(1), &x, 5, meta("FN", tk::function(function.c_str())), meta("debug", true));
    out << x << " " << kernel.compiledCount() << "\n";
  } catch (const Error &error) {
    out << "-2 -2\n" << error.what();
  }
}

TEST_CASE("the second process finds what the first one compiled", "[cache]") {
  Folder folder;
  write(folder.path / "k.tk", helpers);
  Outcome first = run(folder, "k.tk", "k");
  CHECK(first.error.empty());
  CHECK((first.result == 13 && first.compiled == 1));
  Outcome second = run(folder, "k.tk", "k");
  CHECK((second.result == 13 && second.compiled == 0));
  SECTION("wherever the file and the cache lie") {
    fs::create_directory(folder.path / "elsewhere");
    fs::rename(folder.path / "k.tk", folder.path / "elsewhere/renamed.tk");
    CHECK(run(folder, "elsewhere/renamed.tk", "k").compiled == 0);
    Folder another;
    fs::rename(folder.path / "cache", another.path / "cache");
    fs::rename(folder.path / "elsewhere/renamed.tk", another.path / "k.tk");
    CHECK(run(another, "k.tk", "k").compiled == 0);
  }
  SECTION("and compiles again what is damaged there") {
    for (const auto &entry : fs::recursive_directory_iterator(folder.path / "cache"))
      if (entry.is_regular_file())
        fs::resize_file(entry.path(), entry.file_size() - 1);
    Outcome third = run(folder, "k.tk", "k");
    CHECK((third.result == 13 && third.compiled == 1));
    CHECK(run(folder, "k.tk", "k").compiled == 0);
  }
}

TEST_CASE("A120 and A121: edits that change a kernel compile it again, others don't", "[cache]") {
  Folder folder;
  auto after = [&](const std::string &text, const std::string &kernel, const std::string &argument = "") {
    write(folder.path / "k.tk", text);
    Outcome outcome = run(folder, "k.tk", kernel, argument);
    CHECK(outcome.error.empty());
    return outcome;
  };
  std::string base = helpers;
  CHECK(after(base, "k").compiled == 1);
  CHECK(after(base, "chosen").result == 305);
  CHECK(after(base, "chosen", "inner").result == 9);
  CHECK(after(base, "reduced").result == 17);
  // A constant, a helper, a helper's helper, a default function, a function that is passed, a combine function.
  Outcome outcome = after(replaced(base, "SCALE = tl.constexpr(2)", "SCALE = tl.constexpr(10)"), "k");
  CHECK((outcome.compiled == 1 && outcome.result == 45));
  outcome = after(replaced(base, "inner(v) * SCALE", "inner(v) - SCALE"), "k");
  CHECK((outcome.compiled == 1 && outcome.result == 7));
  outcome = after(replaced(base, "v + 1", "v + 2"), "k");
  CHECK((outcome.compiled == 1 && outcome.result == 15));
  outcome = after(replaced(base, "v * 100", "v * 200"), "chosen");
  CHECK((outcome.compiled == 1 && outcome.result == 605));
  outcome = after(replaced(base, "v + 1", "v + 2"), "chosen", "inner");
  CHECK((outcome.compiled == 1 && outcome.result == 10));
  outcome = after(replaced(base, "a + b", "a * b"), "reduced");
  CHECK((outcome.compiled == 1 && outcome.result == 86));
  // Back, and what touches none of it.
  CHECK(after(base, "k").compiled == 0);
  CHECK(after("# a comment above\n\n\n" + base, "k").compiled == 0);
  CHECK(after(replaced(base, "store(x, n)\n", "store(x, n + 1)\n"), "k").compiled == 0);
  CHECK(after(replaced(base, "v * 100", "v * 300"), "k").compiled == 0);
  CHECK(after(base + "\ndef one_more(v):\n    return v\n", "reduced").compiled == 0);
}

TEST_CASE("a message names the line where its function stands now", "[cache]") {
  Folder folder;
  std::string text = "@triton.jit\ndef k(x, n):\n    device_assert(load(x) > n, \"too small\")\n";
  write(folder.path / "k.tk", text);
  CHECK(contains(run(folder, "k.tk", "k").error, "k.tk:3: too small"));
  write(folder.path / "k.tk", "# one\n# two\n" + text);
  CHECK(contains(run(folder, "k.tk", "k").error, "k.tk:5: too small"));
  fs::rename(folder.path / "k.tk", folder.path / "new.tk");
  CHECK(contains(run(folder, "new.tk", "k").error, "new.tk:5: too small"));
}

TEST_CASE("A123: many processes and one cache", "[cache]") {
  Folder folder;
  for (int variant = 0; variant < 4; ++variant)
    write(folder.path / (std::to_string(variant) + ".tk"), "@triton.jit\ndef k(x, n):\n    store(x, load(x) + n + " + std::to_string(variant) + ")\n");
  for (int round = 0; round < 3; ++round) {
    std::vector<pid_t> children;
    for (int i = 0; i < 8; ++i)
      children.push_back(start(folder, std::to_string(i % 4) + ".tk", "k"));
    for (int i = 0; i < 8; ++i) {
      Outcome outcome = wait(children[static_cast<size_t>(i)], folder);
      CHECK(outcome.result == static_cast<float>(8 + i % 4));
      CHECK(outcome.error.empty());
      if (round > 0)
        CHECK(outcome.compiled == 0);
    }
  }
}

TEST_CASE("processes that are killed at any moment break nothing", "[cache][slow]") {
  Folder folder;
  std::mt19937 random(7);
  for (int round = 0; round < 15; ++round) {
    write(folder.path / "k.tk", "@triton.jit\ndef k(x, n):\n    store(x, load(x) + n + " + std::to_string(round) + ")\n");
    pid_t child = start(folder, "k.tk", "k");
    usleep(random() % 60000);
    kill(child, SIGKILL);
    wait(child, folder);
    Outcome outcome = run(folder, "k.tk", "k");
    CHECK((outcome.result == static_cast<float>(8 + round) && outcome.error.empty()));
    CHECK(run(folder, "k.tk", "k").compiled == 0);
  }
}
