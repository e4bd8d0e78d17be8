// tkc run: arguments, compilation, verification, launch, results, time. One round per example, or one for the arguments given.
#include "tk/error.h"
#include "tools/tkc/Containment.h"
#include "tools/tkc/Execution.h"
#include "tools/tkc/Failure.h"
#include "tools/tkc/KernelChoice.h"
#include "tools/tkc/Report.h"
#include "tools/tkc/Targets.h"
#include "tools/tkc/TuneSession.h"
#include "tools/tkc/ValueText.h"
#include "tools/tkc/Verbs.h"
#include <cstdio>
#include <fmt/format.h>

namespace tk::tool {

namespace {
struct RunOptions {
  std::string file, kernel, grid;
  std::vector<std::pair<std::string, std::string>> arguments, saves;
  std::vector<std::string> prints;
  compiler::Options compile;
  std::string target; // empty: the best there is
  bool verify = true, time = true, json = false, help = false, emulate = false, flushL2 = false;
  std::string transfers; // of an emulated GPU: late or early
  int64_t example = 0;   // 0: not chosen
  int64_t threads = 0;
  uint64_t verifyLimit = uint64_t(1) << 28;
  double budget = 0.5;
};

Verb verbOf(RunOptions &options) {
  return {
      "run",
      "run FILE [NAME=VALUE ...] [options]",
      "compiles a kernel, launches it, checks the result and measures the time",
      "A value is a number (3, 0.5, 1:i64), true, false, none, a string, a dtype, a function of the file, a tuple (1,2), an array from a file (@x.npy, "
      "@x.npy:bf16) or a new\n"
      "array INIT:dtype[shape] with INIT one of zeros, ones, rand, randn, arange, randint(lo,hi), full(value), and seed=N inside the brackets. Values may use "
      "the\n"
      "names of other arguments, x.shape[0], x.stride(0) and x.numel(). What is not given comes from the first @tk.example, then from the parameter's "
      "default.\n"
      "Without arguments every @tk.example is run. Exit status: 0 right, 1 errors in the program, 2 usage, 3 verification failed, 4 device.\n",
      {
          {"--kernel", "NAME", "which kernel of the file", [&](const std::string &value) { options.kernel = value; }},
          {"--target", "TARGET", "cpu, x86-64-v3, x86-64-v4, cuda (the GPU found here) or a GPU as in sm_90a; default: the GPU found here, else cpu",
           [&](const std::string &value) { options.target = value; }},
          {"--emulate", "", "execute GPU code without a GPU; with --time, count what it does", [&](const std::string &) { options.emulate = true; }},
          {"--transfers", "WHEN", "when asynchronous copies and matrix products of an emulated GPU happen: as `late` as is legal (default) or as `early`",
           [&](const std::string &value) {
             if (value != "late" && value != "early")
               throw Failure(Status::Usage, fmt::format("option `--transfers` needs late or early, found `{}`", value));
             options.transfers = value;
           }},
          {"--example", "N", "run the Nth @tk.example alone", [&](const std::string &value) { options.example = numberOf("--example", value, 1, 1000000); }},
          {"--grid", "EXPRS", "one to three extents, as in 'cdiv(n,BLOCK)', instead of @tk.grid", [&](const std::string &value) { options.grid = value; }},
          {"--save", "NAME=FILE", "write an array argument to an .npy file afterwards",
           [&](const std::string &value) {
             std::string name, file;
             if (!splitArgument(value, name, file) || file.empty())
               throw Failure(Status::Usage, fmt::format("option `--save` needs NAME=FILE, found `{}`", value));
             options.saves.emplace_back(name, file);
           }},
          {"--print", "NAME", "print an array argument afterwards", [&](const std::string &value) { options.prints.push_back(value); }},
          {"--verify", "", "compare with the interpreter (default)", [&](const std::string &) { options.verify = true; }},
          {"--no-verify", "", "don't", [&](const std::string &) { options.verify = false; }},
          {"--verify-limit", "N", "operations that the interpreter may take before a sample of programs is checked instead",
           [&](const std::string &value) { options.verifyLimit = static_cast<uint64_t>(numberOf("--verify-limit", value, 1, INT64_MAX / 16)); }},
          {"--time", "", "measure for longer", [&](const std::string &) { options.budget = 2; }},
          {"--flush-l2", "", "empty the GPU's cache before each measured launch", [&](const std::string &) { options.flushL2 = true; }},
          {"--no-time", "", "launch once, don't measure", [&](const std::string &) { options.time = false; }},
          {"--json", "", "print one JSON object", [&](const std::string &) { options.json = true; }},
          {"--threads", "N", "threads of the CPU device; default: the cores that this process may use",
           [&](const std::string &value) { options.threads = numberOf("--threads", value, 1, 4096); }},
          {"--fp-fusion", "", "allow fused multiply-add", [&](const std::string &) { options.compile.fpFusion = true; }},
          {"--num-warps", "N", "warps of a program on a GPU: 1, 2, 4 ... 32; default: by the widest tile",
           [&](const std::string &text) { options.compile.numWarps = warpsOf(text); }},
          {"--num-stages", "N", "rounds of a loop that a GPU has under way at once: 1 ... 16 (default 3 from sm_80 on, else 1)",
           [&](const std::string &text) { options.compile.numStages = stagesOf(text); }},
          {"--debug", "", "compile device_assert and overflow checks; report stores of several values to one place",
           [&](const std::string &) { options.compile.debug = true; }},
          {"--strict-triton", "", "note every extension of the language that is used", [&](const std::string &) { options.compile.strictTriton = true; }},
      }};
}

RunOptions parse(const std::vector<std::string> &arguments) {
  RunOptions options;
  Verb verb = verbOf(options);
  std::vector<std::string> left = parseFlags(verb, arguments, options.help);
  if (options.help) {
    std::fputs(helpText(verb).c_str(), stdout);
    return options;
  }
  if (left.empty())
    throw Failure(Status::Usage, "no file given: `tkc run FILE [NAME=VALUE ...]`");
  options.file = left[0];
  for (size_t i = 1; i < left.size(); ++i) {
    std::string name, value;
    if (!splitArgument(left[i], name, value))
      throw Failure(Status::Usage, fmt::format("expected NAME=VALUE, found `{}`", left[i]));
    options.arguments.emplace_back(name, value);
  }
  return options;
}

/// The session: what all rounds share.
class Runner {
public:
  Runner(const RunOptions &options, const compiler::Options &compile, const Place &place, Execution &execution, const jit::Program &program,
         const lang::ast::Function &kernel, const lang::KernelDecorators &decorators)
      : options(options), compile(compile), place(place), execution(execution), program(program), kernel(kernel), decorators(decorators) {}

  RunReport run(const lang::ast::Call *example);

private:
  const ArrayArgument &arrayNamed(const ArgumentResolver &resolver, const std::vector<ResolvedArgument> &arguments, const std::string &name,
                                  const char *flag) const;

  const RunOptions &options;
  const compiler::Options compile; // what the command line says; examples may add
  const Place &place;
  Execution &execution;
  const jit::Program &program;
  const lang::ast::Function &kernel;
  const lang::KernelDecorators &decorators;
  compiler::Compiler compiler;
};

const ArrayArgument &Runner::arrayNamed(const ArgumentResolver &resolver, const std::vector<ResolvedArgument> &arguments, const std::string &name,
                                        const char *flag) const {
  std::vector<std::string> names;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const lang::ArrayValue *array = arguments[i].value.asArray();
    if (array && kernel.params[i].name == name)
      return *static_cast<const ArrayArgument *>(array->handle.get());
    if (array)
      names.push_back(kernel.params[i].name);
  }
  for (const auto &array : resolver.arrays())
    if (array->name == name)
      return *array; // inside a tuple
  std::string near = lang::nearest(name, names);
  throw Failure(Status::Usage, fmt::format("option `{}`: `{}` has no array argument `{}`{}", flag, kernel.name, name,
                                           near.empty() ? "" : fmt::format("; did you mean `{}`?", near)));
}

RunReport Runner::run(const lang::ast::Call *example) {
  ArgumentResolver resolver(program, kernel, withConfiguration(program, kernel, decorators, place, options.arguments, example, options.grid), example);
  const std::vector<ResolvedArgument> &arguments = resolver.resolve();
  RunReport report;
  compiler::Options compile = withLaunchOptions(this->compile, resolver.launchOptions());
  report.kernel = kernel.name, report.target = compile.target, report.place = execution.place();
  report.arguments = resolver.describe();
  report.grid = resolver.grid(options.grid, decorators);
  for (const auto &[name, file] : options.saves)
    arrayNamed(resolver, arguments, name, "--save");
  for (const std::string &name : options.prints)
    arrayNamed(resolver, arguments, name, "--print");
  std::vector<lang::ParamSpec> specs = specsOf(program, kernel, decorators, arguments);
  if (!options.json)
    std::fputs(titleLine(report).c_str(), stdout);

  compiler::CompiledKernel compiled = compileKernel(compiler, program, kernel.name, specs, compile);
  for (const std::string &line : compiled.printed)
    fmt::print(options.json ? stderr : stdout, "{}\n", line);
  std::unique_ptr<Executable> executable = execution.load(std::move(compiled));
  for (const auto &array : resolver.arrays())
    array->allocate(&execution.pool());

  if (options.verify) {
    report.verification = verify({compiler, program, kernel.name, specs, compile, arguments, resolver.arrays(), report.grid, *executable, options.verifyLimit});
    if (report.verification->outcome == Verification::Faulted)
      return report; // the kernel would do to this process what the interpreter refused
  }
  HostArrays arrays{arguments, [](const ArrayArgument &array) { return array.array.data(); }};
  Snapshot before(executable->abi().slots, arguments);
  executable->run(arrays, report.grid);
  for (const auto &[name, file] : options.saves)
    arrayNamed(resolver, arguments, name, "--save").array.save(file);
  for (const std::string &name : options.prints)
    fmt::print(options.json ? stderr : stdout, "{} = {}\n", name, elementsText(arrayNamed(resolver, arguments, name, "--print").array));
  if (options.time) {
    BenchmarkOptions timing;
    timing.warmupMs = 5, timing.repMs = 1e3 * options.budget, timing.flushCache = options.flushL2;
    report.bytes = bytesMoved(executable->abi().slots, arguments);
    report.counts = executable->count(arrays, report.grid, before);
    if (report.counts.empty())
      report.timing = executable->measure(arrays, report.grid, before, timing);
  }
  return report;
}
} // namespace

/// Runs a kernel's examples, or the arguments given. False when a verification failed.
static bool runKernel(const RunOptions &options, const compiler::Options &compile, const Place &place, Execution &execution, const jit::Program &program,
                      const lang::ast::Function &kernel, std::vector<RunReport> &reports) {
  lang::Diagnostics diagnostics;
  lang::KernelDecorators decorators = lang::decoratorsOf(program.scope(), kernel, diagnostics);
  if (diagnostics.hasErrors())
    throw Failure(Status::Diagnostics, diagnostics.render());

  std::vector<const lang::ast::Call *> examples = examplesToRun(kernel, decorators, options.example, !options.arguments.empty());
  Runner runner(options, compile, place, execution, program, kernel, decorators);
  bool right = true;
  for (const lang::ast::Call *example : examples) {
    reports.push_back(runner.run(example));
    const auto &verification = reports.back().verification;
    right &= !verification || verification->outcome == Verification::Agrees || verification->outcome == Verification::Skipped;
    if (!options.json)
      std::fputs(resultLines(reports.back()).c_str(), stdout);
  }
  return right;
}

int runVerb(const std::vector<std::string> &arguments) {
  RunOptions options = parse(arguments);
  if (options.help)
    return 0;
  Place place = choosePlace(options.target, options.emulate);
  options.compile.target = place.target;
  if (!options.transfers.empty()) {
    if (!options.emulate)
      throw Failure(Status::Usage, "option `--transfers` is for `--emulate`");
    setEmulatedTransfers(options.transfers == "early");
  }
  std::unique_ptr<jit::Program> program = jit::Program::fromFile(options.file);
  setReproducer("tkc run", std::string(program->scope().file().text()));
  std::fputs(program->remarks().c_str(), stderr);
  std::unique_ptr<Execution> execution = place.device ? makeGpuExecution(place.device, printer(options.json))
                                                      : makeCpuExecution(static_cast<unsigned>(options.threads), options.compile.debug, printer(options.json));
  std::vector<RunReport> reports;
  bool right = true;
  const bool nothingGiven = options.arguments.empty() && options.grid.empty() && !options.example;
  for (const lang::ast::Function *kernel : kernelsToRun(*program, options.kernel, nothingGiven))
    right &= runKernel(options, options.compile, place, *execution, *program, *kernel, reports);
  if (options.json)
    std::fputs(toJson(reports).c_str(), stdout);
  return static_cast<int>(right ? Status::Right : Status::VerificationFailed);
}

} // namespace tk::tool
