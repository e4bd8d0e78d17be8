// See TestFrontend.h.
#include "TestFrontend.h"
#include "runtime/Frontend.h"
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <iterator>

namespace tk::test {

using namespace runtime;

namespace {
enum Parameter { Out, N, V };

ModuleDescription describeAdd() {
  KernelDescription kernel;
  kernel.name = "add", kernel.closure = "add", kernel.line = 1;
  for (const char *name : {"out", "n", "V"}) {
    ParameterDescription &parameter = kernel.parameters.emplace_back();
    parameter.name = name, parameter.specialize = false;
  }
  kernel.parameters[V].isConstexpr = true, kernel.parameters[V].hasDefault = true;
  kernel.parameters[V].defaultValue = StoredArgument(Argument(0));
  ModuleDescription module;
  module.kernels.push_back(std::move(kernel));
  module.functions.push_back({"add", "add", 1, 2});
  return module;
}

std::string kernelLibrary() {
  std::ifstream stream(TKC_THREADS_KERNELS, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

class TestModule : public FrontendModule {
public:
  const ModuleDescription &describe() override { return description; }

  CompiledCode compile(const CompileRequest &request) override {
    static const std::string library = kernelLibrary();
    ++asked().compiled;
    std::this_thread::sleep_for(std::chrono::milliseconds(2)); // others come meanwhile
    const auto value = static_cast<int64_t>(request.arguments[V]->bits);
    if (value < 0)
      throw Error(ErrorKind::User, fmt::format("V is {}", value));
    CompiledCode code;
    code.bytes = library;
    code.abi.entry = fmt::format("add{}", value % 4);
    ArgumentSlot &out = code.abi.slots.emplace_back();
    out.name = "out", out.param = Out, out.dtype = DType::I64, out.pointerDepth = 1, out.read = out.written = true, out.kind = ArgumentSlot::Kind::Pointer;
    ArgumentSlot &n = code.abi.slots.emplace_back();
    n.name = "n", n.param = N;
    return code;
  }
  std::vector<unsigned> prune(const std::string &, const Argument *const *, size_t) override { return {}; }
  std::vector<StoredArgument> evaluate(const std::string &, const std::string &, const Argument *const *, size_t) override { return {}; }

private:
  const ModuleDescription description = describeAdd();
};

class TestFrontend : public Frontend {
public:
  std::unique_ptr<FrontendModule> open(const std::string &, const std::string &) override {
    ++asked().opened;
    return std::make_unique<TestModule>();
  }
};

/// Of this process, and gone with it.
struct CacheFolder {
  CacheFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "tkc-threads-XXXXXX").string();
    path = mkdtemp(name.data());
    setenv("TKC_CACHE_DIR", path.c_str(), 1);
  }
  ~CacheFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  std::string path;
};
} // namespace

Asked &asked() {
  static Asked counts;
  return counts;
}

Module moduleOf(const std::string &name) { return Module::fromSource("# " + name + "\ndef add(out, n, V: constexpr = 0):\n    ...\n", name + ".tk"); }

void useTestFrontend() {
  static const CacheFolder folder;
  static TestFrontend frontend;
  registerFrontend(frontend);
}

} // namespace tk::test
