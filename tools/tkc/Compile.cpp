// tkc compile: the text of any stage, or an object file.
#include "compiler/Compiler.h"
#include "lang/syntax/Parser.h"
#include "runtime/Environment.h"
#include "runtime/device/cuda/Assembler.h"
#include "tools/tkc/CompileObject.h"
#include "tools/tkc/Containment.h"
#include "tools/tkc/Failure.h"
#include "tools/tkc/KernelChoice.h"
#include "tools/tkc/Targets.h"
#include "tools/tkc/Verbs.h"
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fmt/format.h>
#include <unistd.h>

namespace tk::tool {

namespace {
struct CompileOptions {
  std::string file, emit, output;
  bool help = false;
  KernelChoice choice;
  ObjectOptions object;
  std::optional<bool> remarks; // as JSON
  compiler::Options compile;
};

constexpr const char *stageNames[] = {"tokens", "ast", "tt", "tt-opt", "ttg", "llvm", "asm", "bin"};

Verb verbOf(CompileOptions &options) {
  return {"compile",
          "compile FILE [options]",
          "compiles a kernel ahead of time, or shows a stage of it",
          "A signature lists the parameters in order: types with what is known of them (*fp32:16 is a pointer divisible by 16, i32:16 such an integer) and "
          "constants, by place or by name, and may end in launch options (num_warps=8):\n"
          "  --signature '*fp32:16, *fp32:16, i32, i32, i32, BLOCK=1024'\n"
          "Without one the types of an @tk.example are used.\n\n"
          "An object to link into C and C++ programs, with a typed function a kernel and code for several devices:\n"
          "  tkc compile softmax.tk --target sm_80,sm_90a,x86-64-v3 --signature '...' -o softmax.o --header softmax.h\n"
          "It chooses the device's best code and the first signature that fits the arguments, and needs libc alone. Several targets, several --signature, --header, "
          "--name or --grid ask for such an object. --kernel, --name and --grid hold for all signatures, or, where one stands several times, for the signatures "
          "behind it.\n",
          {
              {"--kernel", "NAME", "which kernel of the file",
               [&](const std::string &value) {
                 options.choice.kernel = value;
                 options.object.add(ObjectOption::Kernel, value);
               }},
              {"--target", "TARGETS",
               "cpu (default: this machine), x86-64-v3, x86-64-v4, cuda (the GPU found here) or a GPU as in sm_90a; several, joined by commas, for an object",
               [&](const std::string &value) { options.compile.target = value; }},
              {"--signature", "TEXT", "the parameters' types and constants; several for an object",
               [&](const std::string &value) {
                 options.choice.signature = value;
                 options.object.add(ObjectOption::Signature, value);
               }},
              {"--name", "NAME", "the C function's name; default: the kernel's", [&](const std::string &value) { options.object.add(ObjectOption::Name, value); }},
              {"--grid", "EXPRS", "the grid as one to three expressions over the parameters, as in 'cdiv(n, BLOCK)'; default: @tk.grid, else the function takes it",
               [&](const std::string &value) { options.object.add(ObjectOption::Grid, value); }},
              {"--header", "FILE", "write the C and C++ header of the object there", [&](const std::string &value) { options.object.header = value; }},
              {"--example", "N", "take the types of the Nth @tk.example",
               [&](const std::string &value) { options.choice.example = numberOf("--example", value, 1, 1000000); }},
              {"--emit", "STAGE", "tokens, ast, tt, tt-opt, ttg, llvm, asm, bin; default: bin with -o, else asm",
               [&](const std::string &value) {
                 std::vector<std::string> names(std::begin(stageNames), std::end(stageNames));
                 if (std::find(names.begin(), names.end(), value) == names.end()) {
                   std::string near = lang::nearest(value, names);
                   throw Failure(Status::Usage, fmt::format("unknown stage `{}`{}", value,
                                                            near.empty() ? ": expected tokens, ast, tt, tt-opt, ttg, llvm, asm or bin"
                                                                         : fmt::format("; did you mean `{}`?", near)));
                 }
                 options.emit = value;
               }},
              {"-o", "FILE", "where to write; default: standard output", [&](const std::string &value) { options.output = value; }},
              {"--remarks", "[=json]", "say what the code does and why, line by line: on standard output with -o FILE, else on standard error",
               [&](const std::string &value) {
                 if (!value.empty() && value != "json" && value != "text")
                   throw Failure(Status::Usage, fmt::format("option `--remarks` takes text or json, found `{}`", value));
                 options.remarks = value == "json";
               }},
              {"--fp-fusion", "", "allow fused multiply-add", [&](const std::string &) { options.compile.fpFusion = true; }},
              {"--num-warps", "N", "warps of a program on a GPU: 1, 2, 4 ... 32; default: by the widest tile",
               [&](const std::string &text) { options.compile.numWarps = warpsOf(text); }},
              {"--num-stages", "N", "rounds of a loop that a GPU has under way at once: 1 ... 16 (default 3 from sm_80 on, else 1)",
               [&](const std::string &text) { options.compile.numStages = stagesOf(text); }},
              {"--debug", "", "compile device_assert and overflow checks", [&](const std::string &) { options.compile.debug = true; }},
              {"--strict-triton", "", "note every extension of the language that is used", [&](const std::string &) { options.compile.strictTriton = true; }},
              {"--time-passes", "", "print how long each pass took", [&](const std::string &) { options.compile.timePasses = true; }},
          }};
}

ObjectRequestOptions objectRequest(const CompileOptions &options) {
  if (!options.emit.empty() && options.emit != "bin")
    throw Failure(Status::Usage, fmt::format("`--emit {}` shows one kernel for one target and one signature: it goes with none of several targets, several "
                                             "`--signature`, `--header`, `--name` and `--grid`",
                                             options.emit));
  if (options.remarks)
    throw Failure(Status::Usage, "`--remarks` is about one target and one signature: leave out `--header`, `--name` and `--grid`");
  if (options.output.empty() || options.output == "-")
    throw Failure(Status::Usage, "an object needs `-o FILE`");
  return {options.file, options.output, options.choice.example, options.compile};
}

bool toStandardOutput(const CompileOptions &options) { return options.output.empty() || options.output == "-"; }

void write(const CompileOptions &options, const std::string &text) {
  bool toOutput = toStandardOutput(options);
  if (toOutput && options.emit == "bin" && isatty(STDOUT_FILENO))
    throw Failure(Status::Usage, "object code is not for terminals: give `-o FILE`");
  std::FILE *file = toOutput ? stdout : std::fopen(options.output.c_str(), "wb");
  if (!file)
    throw Failure(Status::Usage, fmt::format("`{}`: {}", options.output, std::strerror(errno)));
  bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  written &= (toOutput ? std::fflush(file) : std::fclose(file)) == 0;
  if (!written)
    throw Failure(Status::Device, fmt::format("`{}`: writing failed: {}", toOutput ? "standard output" : options.output, std::strerror(errno)));
}

/// The stages before there is a kernel; they only need the file.
std::string sourceStage(const CompileOptions &options) {
  std::string error;
  std::shared_ptr<lang::SourceFile> file = lang::SourceFile::read(options.file, error);
  if (!file)
    throw Failure(Status::Diagnostics, fmt::format("`{}`: {}", options.file, error));
  setReproducer("tkc compile --emit " + options.emit, std::string(file->text()));
  lang::Diagnostics diagnostics;
  std::string text;
  if (options.emit == "tokens") {
    text = lang::printTokens(*file, diagnostics);
  } else {
    lang::ast::Module module = lang::parse(file, diagnostics);
    text = lang::ast::print(module);
  }
  if (diagnostics.hasErrors())
    throw Failure(Status::Diagnostics, diagnostics.render());
  return text;
}

compiler::Stage stageOf(const std::string &name) {
  if (name == "tt")
    return compiler::Stage::Tt;
  if (name == "tt-opt")
    return compiler::Stage::TtOpt;
  if (name == "ttg")
    return compiler::Stage::Ttg;
  if (name == "llvm")
    return compiler::Stage::Llvm;
  return name == "asm" ? compiler::Stage::Asm : compiler::Stage::Bin;
}

/// PTX to a cubin.
std::string assemble(const std::string &ptx, const std::string &target) {
  cuda::Assembled assembled = cuda::runPtxas(runtime::environment().ptxas, ptx, target);
  if (assembled.cubin.empty())
    throw Failure(Status::Diagnostics, fmt::format("internal error: `{}` refuses the code:\n{}", runtime::environment().ptxas, assembled.log));
  return assembled.cubin;
}
} // namespace

int compileVerb(const std::vector<std::string> &arguments) {
  CompileOptions options;
  Verb verb = verbOf(options);
  std::vector<std::string> left = parseFlags(verb, arguments, options.help);
  if (options.help) {
    std::fputs(helpText(verb).c_str(), stdout);
    return 0;
  }
  if (left.size() != 1)
    throw Failure(Status::Usage, left.empty() ? "no file given: `tkc compile FILE`" : fmt::format("expected one file, found also `{}`", left[1]));
  options.file = left[0];
  if (options.object.isWanted() || options.compile.target.find(',') != std::string::npos)
    return compileObject(options.object, objectRequest(options));
  if (options.emit.empty())
    options.emit = options.output.empty() ? "asm" : "bin";
  options.compile.target = compileTarget(options.compile.target);
  if (options.emit == "ttg" && !isGpuTarget(options.compile.target))
    throw Failure(Status::Usage, fmt::format("stage `ttg` belongs to GPU targets: `{}` is none", options.compile.target));
  if (options.remarks && !isGpuTarget(options.compile.target))
    throw Failure(Status::Usage, fmt::format("option `--remarks` needs a GPU target, as in `--target sm_90a`: `{}` is none", options.compile.target));
  if (options.emit == "tokens" || options.emit == "ast") {
    write(options, sourceStage(options));
    return 0;
  }
  std::unique_ptr<jit::Program> program = jit::Program::fromFile(options.file);
  setReproducer("tkc compile --emit " + options.emit + (options.choice.signature ? " --signature '" + *options.choice.signature + "'" : ""),
                std::string(program->scope().file().text()));
  const lang::ast::Function &kernel = program->kernel(options.choice.kernel);
  runtime::LaunchOptions launch;
  std::vector<lang::ParamSpec> specs = specsFor(options.choice, *program, kernel, &launch);
  applyLaunchOptions(launch, options.compile);
  compiler::Compiler compiler;
  compiler::Remarks remarks;
  options.compile.remarks = options.remarks ? &remarks : nullptr;
  lang::Diagnostics diagnostics;
  bool assembles = options.emit == "bin" && isGpuTarget(options.compile.target);
  if (assembles && runtime::environment().ptxas.empty())
    throw Failure(Status::Device,
                  "no `ptxas` in PATH: a cubin can't be made without it; set TKC_PTXAS to NVIDIA's assembler, or take the PTX with `--emit asm`");
  std::string text =
      compiler.emit(program->scope(), kernel.name, specs, options.compile, assembles ? compiler::Stage::Asm : stageOf(options.emit), diagnostics);
  std::string messages = program->remarks() + diagnostics.render();
  if (text.empty())
    throw Failure(Status::Diagnostics, messages.empty() ? fmt::format("internal error: compiling `{}` gave no code and no message", kernel.name) : messages);
  std::fputs(messages.c_str(), stderr);
  if (assembles)
    text = assemble(text, options.compile.target);
  write(options, text);
  if (options.remarks) // beside the code, not among it
    std::fputs((*options.remarks ? compiler::toJson(remarks) + "\n" : compiler::toText(remarks)).c_str(), toStandardOutput(options) ? stderr : stdout);
  return 0;
}

} // namespace tk::tool
