// `@autotune` and `@heuristics` above a kernel, whatever way they are imported and in whatever order they stand.
//
// Their arguments are evaluated as Python by the front end's own evaluator (HostEvaluator). What only host code knows (devices' properties, other packages) leaves the
// configurations unknown, which is no error until a launch needs them.
#pragma once
#include "lang/sema/HostArguments.h"
#include "runtime/ModuleDescription.h"

namespace tk::lang {

/// Fills `heuristics` and `tune`. Mistakes are reported; where the configurations can't be known, `tune` has none, and a `problem`.
void describeTuning(const ModuleScope &scope, const ast::Function &kernel, runtime::KernelDescription &description, Diagnostics &diagnostics);

/// What `early_config_prune` and `perf_model` leave of the configurations, as their indices in the description, in the order to try. Empty after errors, which are reported.
std::optional<std::vector<unsigned>> prune(const ModuleScope &scope, const ast::Function &kernel, const NamedArguments &arguments, Diagnostics &diagnostics);

/// The values of what no program expresses: the extents of the grid for `which` "grid", else the heuristic of the parameter `which`. Empty after errors, which are reported.
std::optional<std::vector<runtime::StoredArgument>> evaluateDecorator(const ModuleScope &scope, const ast::Function &kernel, const std::string &which,
                                                                      const NamedArguments &arguments, Diagnostics &diagnostics);

} // namespace tk::lang
