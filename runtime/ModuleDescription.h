// What a launch has to know of a kernel file, without its source: parameters, what their defaults are, the grid, heuristics and configurations to tune over.
//
// The front end makes it (runtime/Frontend.h); as text it is the manifest that the disk cache keeps for the bytes of a file, so that a process which finds
// everything in the cache never loads the front end. Nothing in it is absolute: no path, no address.
#pragma once
#include "runtime/Specialization.h"
#include "runtime/StackProgram.h"
#include <optional>
#include <string>
#include <vector>

namespace tk::runtime {

/// An argument that owns its text.
class StoredArgument {
public:
  StoredArgument() = default;
  explicit StoredArgument(const Argument &argument) : value(argument), text(argument.text ? argument.text : "") {}
  /// Valid as long as this object is, and stays where it is.
  Argument get() const {
    Argument result = value;
    result.name = nullptr, result.text = text.c_str();
    return result;
  }

private:
  Argument value;
  std::string text;
};

struct ParameterDescription : ParameterRule {
  std::optional<StoredArgument> defaultValue; // where there is one that an argument can express
};

/// `@heuristics({"EVEN_K": lambda args: ...})`: the parameter's value follows from the other arguments. They run in order, each seeing the ones before.
struct Heuristic {
  unsigned parameter = 0;
  StackProgram program; // empty: the function is not expressible as a program; the front end evaluates it (Frontend::evaluate)
};

/// One way to run a kernel.
struct TuneConfig {
  std::vector<std::pair<unsigned, StoredArgument>> values; // parameter, value
  LaunchOptions options;
};

/// `@autotune(configs, key, ...)`.
struct TuneDescription {
  std::vector<TuneConfig> configs;
  std::vector<unsigned> key;          // parameters whose values choose
  std::vector<unsigned> resetToZero;  // pointer parameters, zeroed before each trial
  std::vector<unsigned> restoreValue; // pointer parameters, restored after each trial
  double warmupMs = 25, repMs = 100;
  std::string problem; // why the configurations are not known: "line 12: ...". Then there are none, and launches give the values themselves
  bool prunes = false; // has early_config_prune or perf_model: asks Frontend::prune
};

struct KernelDescription {
  std::string name;
  std::string closure; // hash over the text of the kernel and of everything of the file that it reaches, constants by value; hex
  unsigned line = 0;
  std::vector<ParameterDescription> parameters;
  std::vector<StackProgram> grid; // of @tk.grid, one to three; empty: none, or not expressible
  bool hasGrid = false;           // there is an @tk.grid, perhaps one that only the front end can evaluate
  std::vector<Heuristic> heuristics;
  std::optional<TuneDescription> tune;
  std::string problem; // what is wrong in its decorators and annotations, so that it can't be launched: "line 12: ...", several lines. Empty: nothing
};

/// Where a function of the file stands, so that lines inside code can be kept relative to it.
struct FunctionLines {
  std::string name;
  std::string closure; // as of a kernel: what an argument that names this function means
  unsigned first = 0, last = 0;
};

struct ModuleDescription {
  std::vector<KernelDescription> kernels;
  std::vector<FunctionLines> functions; // all of the file, kernels included
};

/// As StackProgram::run, with errors that name the parameters: "needs `n`, which is not given".
std::optional<Argument> run(const StackProgram &program, const std::vector<ParameterDescription> &parameters, const Argument *const *arguments, size_t count,
                            std::string &error);

/// Equal descriptions give equal text.
std::string toText(const ModuleDescription &module);
/// False with a message for anything that toText does not write.
bool parseModuleDescription(const std::string &text, ModuleDescription &module, std::string &error);

} // namespace tk::runtime
