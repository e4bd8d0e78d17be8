// See CompileObject.h.
#include "tools/tkc/CompileObject.h"
#include "lang/sema/HostPrograms.h"
#include "lang/syntax/Parser.h"
#include "runtime/Environment.h"
#include "runtime/jit/aot/Object.h"
#include "tk/error.h"
#include "tools/tkc/Containment.h"
#include "tools/tkc/Failure.h"
#include "tools/tkc/KernelChoice.h"
#include "tools/tkc/Targets.h"
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tk::tool {

namespace {
constexpr const char *optionNames[] = {"--kernel", "--name", "--grid", "--signature"};

/// One signature with what goes with it.
struct Wanted {
  std::string kernel, name;
  std::optional<std::string> grid, signature;
};

/// The value of an option for the signature at `end`: the only one there is, or of several the last before it.
std::optional<std::string> valueFor(const ObjectOptions &options, ObjectOption option, size_t end) {
  std::optional<std::string> value;
  bool single = options.count(option) == 1;
  for (size_t i = 0; i < options.given.size(); ++i)
    if (options.given[i].first == option && (single || i < end))
      value = options.given[i].second;
  if (!value && options.count(option) > 1)
    throw Failure(Status::Usage,
                  fmt::format("`{0}` stands several times, so each holds for the signatures behind it; put the first before the first `--signature`",
                              optionNames[static_cast<size_t>(option)]));
  return value;
}

std::vector<Wanted> wantedOf(const ObjectOptions &options) {
  std::vector<Wanted> all;
  auto add = [&](size_t at, std::optional<std::string> signature) {
    all.push_back({valueFor(options, ObjectOption::Kernel, at).value_or(""), valueFor(options, ObjectOption::Name, at).value_or(""),
                   valueFor(options, ObjectOption::Grid, at), std::move(signature)});
  };
  for (size_t i = 0; i < options.given.size(); ++i)
    if (options.given[i].first == ObjectOption::Signature)
      add(i, options.given[i].second);
  if (all.empty())
    add(options.given.size(), std::nullopt);
  return all;
}

/// The source text of an expression of the file.
std::string textOf(const lang::ast::Expr &expr, const lang::SourceFile &file) {
  return std::string(file.text().substr(expr.range.begin, expr.range.end - expr.range.begin));
}

/// The grid of `--grid`, else of @tk.grid where that needs no more than what a C function gets.
void findGrid(jit::aot::FunctionRequest &function, const std::optional<std::string> &given, const jit::Program &program, const lang::ast::Function &kernel) {
  lang::Diagnostics diagnostics;
  std::optional<std::vector<std::string>> programs;
  if (given) {
    auto file = std::make_shared<lang::SourceFile>("option `--grid`", *given);
    lang::ast::ExprPtr expr = lang::parseExpression(*file, diagnostics);
    if (!expr)
      throw Failure(Status::Usage, diagnostics.render());
    programs = lang::compileHostResults(program.scope(), kernel, *expr);
    if (!programs)
      throw Failure(Status::Usage,
                    fmt::format("option `--grid`: `{}` is no expression of the numbers that `{}` is called with, its parameters' shapes are not known", *given,
                                kernel.name));
    function.gridText = *given;
  } else {
    lang::KernelDecorators decorators = lang::decoratorsOf(program.scope(), kernel, diagnostics);
    if (diagnostics.hasErrors())
      throw Failure(Status::Diagnostics, diagnostics.render());
    if (!decorators.hasGrid)
      return;
    if (decorators.grid.size() == 1)
      programs = lang::compileHostResults(program.scope(), kernel, *decorators.grid[0]);
    for (size_t i = 0; decorators.grid.size() > 1 && i < decorators.grid.size() && (programs || i == 0); ++i) {
      std::optional<std::string> extent = lang::compileHostValue(program.scope(), kernel, *decorators.grid[i]);
      if (!extent)
        programs.reset();
      else if (i == 0)
        programs = {*extent};
      else
        programs->push_back(*extent);
    }
    for (const lang::ast::Expr *expr : decorators.grid)
      function.gridText += (function.gridText.empty() ? "" : ", ") + textOf(*expr, program.scope().file());
    if (!programs) {
      fmt::print(stderr,
                 "tkc: note: `{}` takes its grid from the caller: @tk.grid({}) needs more than the numbers that a C function gets; `--grid` can give another\n",
                 function.name, function.gridText);
      return;
    }
  }
  if (programs->empty() || programs->size() > 3)
    throw Failure(Status::Usage, fmt::format("the grid of `{}` has one to three extents, found {}", function.name, programs->size()));
  function.grid = std::move(*programs);
}

std::string signatureText(const std::vector<lang::ParamSpec> &specs, const lang::ast::Function &kernel) {
  std::string text;
  for (size_t i = 0; i < specs.size(); ++i) {
    std::string spec = lang::describe(specs[i]);
    text += fmt::format("{}{}", i ? ", " : "", spec.starts_with('=') ? kernel.params[i].name + spec : spec);
  }
  return text;
}

/// The signatures that share a name become one function.
std::vector<jit::aot::FunctionRequest> functionsOf(const ObjectOptions &options, const ObjectRequestOptions &request, const jit::Program &program) {
  std::vector<jit::aot::FunctionRequest> functions;
  std::vector<std::optional<std::string>> grids;
  for (const Wanted &wanted : wantedOf(options)) {
    const lang::ast::Function &kernel = program.kernel(wanted.kernel);
    std::string name = wanted.name.empty() ? kernel.name : wanted.name;
    auto function = std::find_if(functions.begin(), functions.end(), [&](const jit::aot::FunctionRequest &other) { return other.name == name; });
    if (function == functions.end()) {
      function = functions.insert(functions.end(), {name, kernel.name, {}, {}, ""});
      grids.push_back(wanted.grid);
      findGrid(*function, wanted.grid, program, kernel);
    }
    if (function->kernel != kernel.name)
      throw Failure(Status::Usage,
                    fmt::format("the C function `{}` can't be both `{}` and `{}`: give names with `--name`", name, function->kernel, kernel.name));
    if (grids[static_cast<size_t>(function - functions.begin())] != wanted.grid)
      throw Failure(Status::Usage, fmt::format("the C function `{}` has one grid: `--grid` must be the same for all its signatures", name));
    jit::aot::Signature signature;
    signature.specs = specsFor({wanted.kernel, wanted.signature, request.example}, program, kernel, &signature.options);
    signature.text = wanted.signature ? *wanted.signature : signatureText(signature.specs, kernel);
    function->signatures.push_back(std::move(signature));
  }
  return functions;
}

std::vector<std::string> targetList(const std::string &list) {
  try {
    std::vector<std::string> targets = jit::aot::targetsOf(list);
    for (std::string &target : targets)
      target = compileTarget(target);
    return targets;
  } catch (const Error &error) {
    throw Failure(Status::Usage, error.what());
  }
}

void writeFile(const std::string &path, const std::string &bytes) {
  std::FILE *file = std::fopen(path.c_str(), "wb");
  if (!file)
    throw Failure(Status::Usage, fmt::format("`{}`: {}", path, std::strerror(errno)));
  bool written = std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
  written &= std::fclose(file) == 0;
  if (!written) {
    int reason = errno;
    struct stat state = {};
    if (lstat(path.c_str(), &state) == 0 && S_ISREG(state.st_mode))
      unlink(path.c_str()); // what a build would take for the whole
    throw Failure(Status::Device, fmt::format("`{}`: writing failed: {}", path, std::strerror(reason)));
  }
}
} // namespace

unsigned ObjectOptions::count(ObjectOption option) const {
  return static_cast<unsigned>(std::count_if(given.begin(), given.end(), [&](const auto &entry) { return entry.first == option; }));
}

int compileObject(const ObjectOptions &options, const ObjectRequestOptions &wanted) {
  std::vector<std::string> targets = targetList(wanted.compile.target);
  std::unique_ptr<jit::Program> program = jit::Program::fromFile(wanted.file);
  setReproducer("tkc compile --target " + wanted.compile.target + " -o FILE", std::string(program->scope().file().text()));
  jit::aot::ObjectRequest request{program.get(),  functionsOf(options, wanted, *program), std::move(targets),
                                  wanted.compile, runtime::environment().ptxas,           TKC_VERSION};
  lang::Diagnostics diagnostics;
  jit::aot::Object object = jit::aot::makeObject(request, diagnostics);
  std::fputs((program->remarks() + diagnostics.render()).c_str(), stderr);
  for (const std::string &note : object.notes)
    fmt::print(stderr, "tkc: note: {}\n", note);
  writeFile(wanted.output, object.bytes);
  if (!options.header.empty())
    writeFile(options.header, object.header);
  return 0;
}

} // namespace tk::tool
