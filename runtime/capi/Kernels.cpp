// The C API: modules, kernels, launchers.
#include "runtime/capi/Boundary.h"

using namespace tk;
using namespace tk::capi;

static_assert(static_cast<int>(Kernel::Specialization::Full) == TK_SPECIALIZE_FULL &&
              static_cast<int>(Kernel::Specialization::Divisibility) == TK_SPECIALIZE_DIVISIBILITY &&
              static_cast<int>(Kernel::Specialization::None) == TK_SPECIALIZE_NONE);

static tk_module *handleOf(Module module) {
  std::vector<std::string> names = module.kernelNames();
  return new tk_module{std::move(module), std::move(names)};
}

extern "C" {

tk_status tk_module_from_file(const char *path, tk_module **module, tk_error **error) {
  return made(module, error, [&] { return handleOf(Module::fromFile(checkedText(path, "path"))); });
}
tk_status tk_module_from_source(const char *text, const char *name, tk_module **module, tk_error **error) {
  return made(module, error, [&] { return handleOf(Module::fromSource(checkedText(text, "text"), name ? name : "<source>")); });
}
void tk_module_free(tk_module *module) { delete module; }
size_t tk_module_kernel_count(const tk_module *module) { return module ? module->kernelNames.size() : 0; }
const char *tk_module_kernel_name(const tk_module *module, size_t index) {
  return index < tk_module_kernel_count(module) ? module->kernelNames[index].c_str() : nullptr;
}
tk_status tk_module_kernel(const tk_module *module, const char *name, tk_kernel **kernel, tk_error **error) {
  return made(kernel, error, [&] { return new tk_kernel{checked(module, "module").value.kernel(name ? name : "")}; });
}

void tk_kernel_free(tk_kernel *kernel) { delete kernel; }
const char *tk_kernel_name(const tk_kernel *kernel) { return kernel ? kernel->value.name().c_str() : nullptr; }
size_t tk_kernel_parameter_count(const tk_kernel *kernel) { return kernel ? kernel->value.parameters().size() : 0; }
const char *tk_kernel_parameter_name(const tk_kernel *kernel, size_t index) {
  return index < tk_kernel_parameter_count(kernel) ? kernel->value.parameters()[index].c_str() : nullptr;
}
size_t tk_kernel_compiled_count(const tk_kernel *kernel) { return kernel ? kernel->value.compiledCount() : 0; }

tk_status tk_kernel_launch(const tk_kernel *kernel, const tk_stream *stream, tk_grid grid, const tk_argument *arguments, size_t count, tk_error **error) {
  return guarded(error, [&] {
    ArgumentList list(arguments, count);
    checked(kernel, "kernel").value.launchList(checked(stream, "stream").value, gridOf(grid), list.data(), list.size());
  });
}

tk_status tk_kernel_prepare(const tk_kernel *kernel, const tk_stream *stream, const tk_argument *arguments, size_t count, tk_error **error) {
  return guarded(error, [&] {
    ArgumentList list(arguments, count);
    checked(kernel, "kernel").value.prepareList(checked(stream, "stream").value, list.data(), list.size());
  });
}

tk_status tk_kernel_resources(const tk_kernel *kernel, const tk_stream *stream, const tk_argument *arguments, size_t count, tk_resources *resources,
                              tk_error **error) {
  return guarded(error, [&] {
    ArgumentList list(arguments, count);
    checked(resources, "resources");
    KernelResources found = checked(kernel, "kernel").value.resourcesList(checked(stream, "stream").value, list.data(), list.size());
    writeSized(resources, tk_resources{0, found.registers, found.spillBytes, found.sharedBytes, found.threads, found.programsPerMultiprocessor}, "resources");
  });
}

tk_status tk_kernel_specialize(const tk_kernel *kernel, const char *parameter, tk_specialization policy, tk_error **error) {
  return guarded(error, [&] {
    const Kernel &given = checked(kernel, "kernel").value;
    auto chosen = checkedEnum<Kernel::Specialization>(policy, TK_SPECIALIZE_NONE + 1, "policy");
    parameter ? given.specialize(std::string(parameter), chosen) : given.specialize(chosen);
  });
}

tk_status tk_kernel_launcher(const tk_kernel *kernel, const tk_stream *stream, const tk_argument *arguments, size_t count, tk_launcher **launcher,
                             tk_error **error) {
  return made(launcher, error, [&] {
    ArgumentList list(arguments, count);
    return new tk_launcher{checked(kernel, "kernel").value.launcherList(checked(stream, "stream").value, list.data(), list.size())};
  });
}
void tk_launcher_free(tk_launcher *launcher) { delete launcher; }
tk_status tk_launcher_launch(const tk_launcher *launcher, tk_grid grid, tk_error **error) {
  return guarded(error, [&] { checked(launcher, "launcher").value.launch(gridOf(grid)); });
}
tk_status tk_launcher_set(tk_launcher *launcher, const char *parameter, tk_argument value, tk_error **error) {
  return guarded(error, [&] { checked(launcher, "launcher").value.set(checkedText(parameter, "parameter"), *ArgumentList(value).data()); });
}
tk_status tk_launcher_set_index(tk_launcher *launcher, size_t parameter, tk_argument value, tk_error **error) {
  return guarded(error, [&] { checked(launcher, "launcher").value.set(parameter, *ArgumentList(value).data()); });
}

} // extern "C"
