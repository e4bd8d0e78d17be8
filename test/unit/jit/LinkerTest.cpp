// Compiled kernels as shared objects that dlopen takes from memory, and what the linker refuses.
#include "runtime/jit/Linker.h"
#include "Catch.h"
#include "compiler/Compiler.h"
#include "lang/sema/ParamSpecs.h"
#include "runtime/jit/Program.h"
#include "test/unit/runtime/Thrown.h"
#include <dlfcn.h>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>

using namespace tk;

namespace {
using Entry = void (*)(const uint64_t *slots, const int32_t grid[3], uint64_t begin, uint64_t end, void *arena, const void *services);

/// Adds `addend` to each of `count` numbers.
std::string compiled(const std::string &name, int addend) {
  std::string text = "def " + name + "(x, BLOCK: constexpr):\n  at = arange(0, BLOCK)\n  store(x + at, load(x + at) + " + std::to_string(addend) + ")\n";
  std::unique_ptr<jit::Program> program = jit::Program::fromText(text, "input.tk");
  lang::Diagnostics diagnostics;
  auto signature = std::make_shared<lang::SourceFile>("signature", "*i32, 16");
  auto specs = lang::parseSignature(program->scope(), program->kernel(name), *signature, diagnostics);
  REQUIRE(specs);
  compiler::Compiler compiler;
  compiler::Options options;
  options.target = "x86-64-v3";
  compiler::CompiledKernel kernel = compiler.compile(program->scope(), name, *specs, options, diagnostics);
  INFO(diagnostics.render());
  REQUIRE_FALSE(kernel.object.empty());
  REQUIRE(kernel.abi.arenaBytes == 0);
  return kernel.object;
}

/// A shared object from memory. Its file stays open as long as it is loaded, so that no other one gets the path: dlopen gives what it has under a path.
class Loaded {
public:
  explicit Loaded(const std::string &bytes) {
    file = memfd_create("kernel", MFD_CLOEXEC);
    bool written = write(file, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size());
    handle = written ? dlopen(("/proc/self/fd/" + std::to_string(file)).c_str(), RTLD_NOW | RTLD_LOCAL) : nullptr;
    const char *why = handle ? nullptr : dlerror();
    problem = why ? why : "";
  }
  ~Loaded() {
    if (handle)
      dlclose(handle);
    close(file);
  }
  Entry entry(const char *name) const { return reinterpret_cast<Entry>(dlsym(handle, name)); }
  std::string problem;

private:
  int file = -1;
  void *handle = nullptr;
};

bool adds(Entry entry, int addend) {
  std::vector<int32_t> numbers(16);
  for (int i = 0; i < 16; ++i)
    numbers[static_cast<size_t>(i)] = 100 * i;
  uint64_t slot = reinterpret_cast<uint64_t>(numbers.data());
  const int32_t grid[3] = {1, 1, 1};
  entry(&slot, grid, 0, 1, nullptr, nullptr);
  for (int i = 0; i < 16; ++i)
    if (numbers[static_cast<size_t>(i)] != 100 * i + addend)
      return false;
  return true;
}

bool hostRuns() { return __builtin_cpu_supports("x86-64-v3"); }
} // namespace

TEST_CASE("a compiled kernel becomes a shared object that dlopen takes from memory") {
  std::string object = compiled("add", 7), shared = jit::linkShared({object}, "libadd.so");
  CHECK(shared == jit::linkShared({object}, "libadd.so"));
  Loaded loaded(shared);
  INFO(loaded.problem);
  REQUIRE(loaded.entry("add"));
  if (hostRuns())
    CHECK(adds(loaded.entry("add"), 7));
}

TEST_CASE("several objects become one") {
  std::string joined = jit::linkRelocatable({compiled("first", 1), compiled("second", 2)});
  Loaded loaded(jit::linkShared({joined}));
  INFO(loaded.problem);
  REQUIRE(loaded.entry("first"));
  REQUIRE(loaded.entry("second"));
  if (hostRuns()) {
    CHECK(adds(loaded.entry("first"), 1));
    CHECK(adds(loaded.entry("second"), 2));
  }
}

TEST_CASE("several threads link at once") {
  constexpr int threads = 4, rounds = 8;
  std::vector<std::string> objects;
  for (int i = 0; i < threads; ++i)
    objects.push_back(compiled("add", i));
  std::atomic<int> right{0};
  std::vector<std::thread> running;
  for (int i = 0; i < threads; ++i)
    running.emplace_back([&, i] {
      for (int round = 0; round < rounds; ++round) {
        Loaded loaded(jit::linkShared({objects[static_cast<size_t>(i)]}));
        Entry entry = loaded.problem.empty() ? loaded.entry("add") : nullptr;
        right += entry && (!hostRuns() || adds(entry, i));
      }
    });
  for (std::thread &thread : running)
    thread.join();
  CHECK(right == threads * rounds);
}

TEST_CASE("what the linker refuses is an error, after which it goes on") {
  std::string object = compiled("add", 3), damaged = object;
  CHECK(contains(thrown(ErrorKind::Internal, [&] { jit::linkRelocatable({object, object}); }), "duplicate symbol: add"));
  CHECK(contains(thrown(ErrorKind::Internal, [&] { jit::linkShared({"no object at all"}); }), "linking failed: "));
  CHECK(contains(thrown(ErrorKind::Internal, [&] { jit::linkShared({""}); }), "linking failed: "));
  damaged[40] = '\x7f', damaged[45] = '\x7f'; // where the section headers are: what the linker calls fatal
  for (int round = 0; round < 3; ++round) {
    std::string message = thrown(ErrorKind::Internal, [&] { jit::linkShared({damaged}); });
    INFO(message);
    CHECK(contains(message, "linking failed: "));
    CHECK_FALSE(contains(message, "no reason"));
  }
  Loaded loaded(jit::linkShared({object}));
  REQUIRE(loaded.entry("add"));
}
