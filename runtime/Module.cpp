// tk::Module: a kernel file, known by its description. The first level of the disk cache keeps that description for the file's very bytes, so that a process
// which finds it and its code there (CodeStore.h) never parses anything.
#include "runtime/KernelImpl.h"
#include "runtime/SourceText.h"
#include "runtime/cache/DiskCache.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tk {

using namespace runtime;

static bool isPython(const std::string &name) { return name.size() > 3 && name.compare(name.size() - 3, 3, ".py") == 0; }

FrontendModule &Module::Impl::front() {
  std::lock_guard lock(opening);
  if (!opened)
    opened = frontend().open(text, name);
  return *opened;
}

/// What the file is: from the disk cache, else from the front end.
static ModuleDescription describe(Module::Impl &module) {
  DiskCache *cache = DiskCache::process();
  std::string key;
  if (cache) {
    ContentHash hash;
    hash.add(compilerIdentity()), hash.add(isPython(module.name)), hash.add(module.text);
    key = hash.hex();
    ModuleDescription description;
    std::string error;
    if (std::optional<std::string> found = cache->find("module", key))
      if (parseModuleDescription(*found, description, error))
        return description;
  }
  ModuleDescription description = module.front().describe();
  if (cache) {
    std::vector<std::string> names;
    for (const KernelDescription &kernel : description.kernels)
      names.push_back(kernel.name);
    cache->publish("module", key, toText(description), fmt::format("{}", fmt::join(names, " ")));
  }
  return description;
}

Module Module::fromSource(const std::string &text, const std::string &name) {
  auto impl = std::make_shared<Impl>();
  impl->name = name, impl->text = text;
  impl->description = describe(*impl);
  return Module(std::move(impl));
}

Module Module::fromFile(const std::string &path) {
  std::string text, error;
  if (!readSource(path, text, error))
    throw Error(ErrorKind::User, error);
  return fromSource(text, path);
}

std::vector<std::string> Module::kernelNames() const {
  std::vector<std::string> names;
  for (const KernelDescription &kernel : impl->description.kernels)
    names.push_back(kernel.name);
  return names;
}

Kernel Module::kernel(const std::string &name) const {
  const std::vector<KernelDescription> &kernels = impl->description.kernels;
  for (const KernelDescription &kernel : kernels)
    if (kernel.name == name || (name.empty() && kernels.size() == 1)) {
      if (!kernel.problem.empty())
        throw Error(ErrorKind::User, fmt::format("`{}` of `{}` can't be launched: {}", kernel.name, impl->name, kernel.problem));
      return Kernel(std::make_shared<Kernel::Impl>(impl, kernel));
    }
  std::vector<std::string> names = kernelNames();
  throw Error(ErrorKind::User, names.empty() ? fmt::format("`{}` holds no kernel", impl->name)
                                             : fmt::format("`{}` holds no kernel `{}`: it has {}", impl->name, name, fmt::join(names, ", ")));
}

} // namespace tk
