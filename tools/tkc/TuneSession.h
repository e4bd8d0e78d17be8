// A kernel of a file and its configurations: which of them some arguments get. What the runtime measures and keeps is what launches of other programs find.
#pragma once
#include "lang/sema/ParamSpecs.h"
#include "runtime/ModuleDescription.h"
#include "tk/kernel.h"
#include "tools/tkc/ArgumentResolver.h"
#include "tools/tkc/Targets.h"

namespace tk::tool {

class TuneSession {
public:
  /// Everything given must outlive the session.
  TuneSession(const jit::Program &program, const lang::ast::Function &kernel, const lang::KernelDecorators &decorators, const Place &place);

  /// Takes the place of the file's configurations; empty names and values: what the file says. Throws Failure.
  void setConfigs(const std::vector<Config> &configs, const std::vector<std::string> &key);
  bool hasConfigs() const { return !chosen.empty() || optionsOnly; }
  /// The parameters that configurations give.
  const std::vector<std::string> &parameters() const { return chosen; }
  /// Whether a launch with these arguments needs a configuration: one of its parameters has no other value.
  bool isNeeded(const std::vector<std::pair<std::string, std::string>> &given, const lang::ast::Call *example) const;

  struct Result {
    TuneReport report;
    std::string arguments; // of the launch, for people
  };
  /// Measures, or finds a result, as tk::tuneOptions() says. Throws Failure, Error.
  Result choose(const std::vector<std::pair<std::string, std::string>> &given, const lang::ast::Call *example, const std::string &gridText);
  /// The values of the report's best configuration, as arguments of a command line. On an emulated GPU, whose time says nothing, those of the first one.
  std::vector<std::pair<std::string, std::string>> chooseValues(const std::vector<std::pair<std::string, std::string>> &given, const lang::ast::Call *example,
                                                                const std::string &gridText);

private:
  std::vector<std::string> openParameters() const;

  const jit::Program &program;
  const lang::ast::Function &function;
  const lang::KernelDecorators &decorators;
  const Place &place;
  Kernel kernel;
  runtime::KernelDescription description;
  std::vector<std::string> chosen;
  bool optionsOnly = false; // there are configurations, of launch options alone
};

/// The arguments given, and where a parameter has no value and configurations give one, the values of the one that is chosen. Throws Failure, Error.
std::vector<std::pair<std::string, std::string>> withConfiguration(const jit::Program &program, const lang::ast::Function &kernel,
                                                                   const lang::KernelDecorators &decorators, const Place &place,
                                                                   const std::vector<std::pair<std::string, std::string>> &given,
                                                                   const lang::ast::Call *example, const std::string &gridText);

} // namespace tk::tool
