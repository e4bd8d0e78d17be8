// tkc explain: the source with what the compiler made of each line, then what the kernel takes of the machine.
#include "compiler/Compiler.h"
#include "compiler/target/nvidia/NvidiaTargets.h"
#include "compiler/target/nvidia/Occupancy.h"
#include "runtime/Environment.h"
#include "runtime/device/cuda/Assembler.h"
#include "runtime/device/cuda/CudaDevice.h"
#include "runtime/jit/GpuTarget.h"
#include "tk/error.h"
#include "tools/tkc/Containment.h"
#include "tools/tkc/Failure.h"
#include "tools/tkc/KernelChoice.h"
#include "tools/tkc/Targets.h"
#include "tools/tkc/Verbs.h"
#include "llvm/Support/JSON.h"
#include <algorithm>
#include <cstdio>
#include <fmt/format.h>

namespace tk::tool {

namespace {
struct ExplainOptions {
  std::string file;
  KernelChoice choice;
  bool json = false, help = false;
  compiler::Options compile;
};

Verb verbOf(ExplainOptions &options) {
  return {"explain",
          "explain FILE [options]",
          "shows the source with what the compiler made of each line, and what the kernel takes of the machine",
          "Registers come from `ptxas` (TKC_PTXAS, or the one in PATH), or from the driver where there is a GPU that runs the code; everything else needs "
          "neither.\n"
          "Without --signature the types of an @tk.example are used; of a file with several kernels each is explained.\n",
          {
              {"--kernel", "NAME", "which kernel of the file", [&](const std::string &value) { options.choice.kernel = value; }},
              {"--target", "TARGET", "a GPU as in sm_80, or cuda (the GPU found here); default: sm_90a", [&](const std::string &value) { options.compile.target = value; }},
              {"--signature", "TEXT", "the parameters' types and constants", [&](const std::string &value) { options.choice.signature = value; }},
              {"--example", "N", "take the types of the Nth @tk.example",
               [&](const std::string &value) { options.choice.example = numberOf("--example", value, 1, 1000000); }},
              {"--num-warps", "N", "warps of a program on a GPU: 1, 2, 4 ... 32; default: by the widest tile",
               [&](const std::string &text) { options.compile.numWarps = warpsOf(text); }},
              {"--num-stages", "N", "rounds of a loop that a GPU has under way at once: 1 ... 16 (default 3 from sm_80 on, else 1)",
               [&](const std::string &text) { options.compile.numStages = stagesOf(text); }},
              {"--fp-fusion", "", "allow fused multiply-add", [&](const std::string &) { options.compile.fpFusion = true; }},
              {"--json", "", "print one JSON object", [&](const std::string &) { options.json = true; }},
          }};
}

/// What is known of a kernel's code.
struct Explanation {
  std::string kernel, target, signature;
  compiler::Remarks remarks;
  compiler::CompiledKernel compiled;
  std::optional<cuda::CodeUse> use; // of a GPU's code
  std::string useSource;            // who says so, or why nobody does
  unsigned barriers = 0;            // in the code
  nvidia::Occupancy occupancy;
};

/// Barriers of the whole block that stand in PTX.
unsigned countBarriers(const std::string &ptx) {
  unsigned count = 0;
  for (const char *name : {"\tbar.sync", "\tbarrier.sync"})
    for (size_t at = ptx.find(name); at != std::string::npos; at = ptx.find(name, at + 1))
      ++count;
  return count;
}

void findUse(Explanation &result) {
  const std::string &ptxas = runtime::environment().ptxas;
  if (!ptxas.empty()) {
    cuda::Assembled assembled = cuda::runPtxas(ptxas, result.compiled.object, result.target);
    if (assembled.cubin.empty())
      result.useSource = fmt::format("`{}` can't assemble the code: {}", ptxas, assembled.log);
    else if (!assembled.use)
      result.useSource = fmt::format("`{}` did not report them", ptxas);
    else
      result.use = assembled.use, result.useSource = "ptxas";
    return;
  }
  for (const auto &device : runtime::cudaDevices())
    if (jit::runs(device->properties(), result.target)) {
      auto kernel = jit::makeKernel(*device, result.compiled);
      runtime::GpuKernelUse loaded = device->useOf(*kernel);
      result.use = cuda::CodeUse{unsigned(loaded.registers), unsigned(loaded.spillBytes), 0, 0, 0};
      result.useSource = device->properties().name;
      return;
    }
  result.useSource = "no `ptxas` in PATH and no such GPU here: set TKC_PTXAS to NVIDIA's assembler";
}

Explanation explain(const ExplainOptions &options, const jit::Program &program, const lang::ast::Function &kernel) {
  Explanation result;
  result.kernel = kernel.name, result.target = options.compile.target;
  runtime::LaunchOptions launch;
  std::vector<lang::ParamSpec> specs = specsFor(options.choice, program, kernel, &launch);
  for (size_t i = 0; i < specs.size(); ++i)
    result.signature += fmt::format("{}{}: {}", i ? ", " : "", kernel.params[i].name, lang::describe(specs[i]));
  compiler::Compiler compiler;
  lang::Diagnostics diagnostics;
  compiler::Options compile = options.compile;
  compile.remarks = &result.remarks;
  applyLaunchOptions(launch, compile);
  result.compiled = compiler.compile(program.scope(), kernel.name, specs, compile, diagnostics);
  std::string messages = diagnostics.render();
  if (result.compiled.object.empty())
    throw Failure(Status::Diagnostics, messages.empty() ? fmt::format("internal error: compiling `{}` gave no code and no message", kernel.name) : messages);
  std::fputs(messages.c_str(), stderr);
  result.barriers = countBarriers(result.compiled.object);
  findUse(result);
  const compiler::KernelAbi &abi = result.compiled.abi;
  result.occupancy = nvidia::occupancyOf(nvidia::findTarget(result.target)->sm, abi.threads / 32, abi.sharedBytes, result.use ? result.use->registers : 0);
  return result;
}

// ---- text ----

/// The kernel's lines and every line of a remark, each with its remarks below it.
std::string annotatedSource(const Explanation &result, const lang::SourceFile &file, const lang::ast::Function &kernel) {
  // A function ends where its last statement does, whose range is its own.
  uint32_t first = file.position(kernel.range.begin).line, last = file.position(std::max(kernel.range.begin, kernel.range.end ? kernel.range.end - 1 : 0)).line;
  while (last > first && file.line(last).find_first_not_of(" \t") == std::string_view::npos)
    --last;
  std::vector<bool> shown(file.lineCount() + 2);
  for (uint32_t line = first; line <= last; ++line)
    shown[line] = true;
  auto isShown = [&](const compiler::Remark &remark) { return remark.kind != compiler::RemarkKind::Shared && remark.file == file.name(); };
  for (const compiler::Remark &remark : result.remarks)
    if (isShown(remark) && remark.line < shown.size())
      shown[remark.line] = true;
  std::string text;
  for (uint32_t line = 1, before = 0; line <= file.lineCount(); ++line) {
    if (!shown[line])
      continue;
    if (before && line != before + 1)
      text += "      ...\n";
    before = line;
    text += fmt::format("{:>5} | {}\n", line, file.line(line));
    for (const compiler::Remark &remark : result.remarks)
      if (isShown(remark) && remark.line == line)
        text += fmt::format("      |{}^ {}\n", std::string(std::max(1u, remark.column), ' '), compiler::sentence(remark));
  }
  return text;
}

std::string resources(const Explanation &result) {
  const compiler::KernelAbi &abi = result.compiled.abi;
  const nvidia::Target *gpu = nvidia::findTarget(result.target);
  std::string text;
  if (result.use) {
    text += fmt::format("registers: {} of 255 a thread, ", result.use->registers);
    if (result.use->spillStores || result.use->spillLoads)
      text += fmt::format("{} bytes spilled to memory and {} read back", result.use->spillStores, result.use->spillLoads);
    else
      text += result.use->stackBytes ? fmt::format("{} bytes of local memory", result.use->stackBytes) : std::string("none spilled");
    text += fmt::format(" (says {})\n", result.useSource);
  } else {
    text += fmt::format("registers: not known ({})\n", result.useSource);
  }
  text += fmt::format("shared memory: {} of {} bytes\n", abi.sharedBytes, gpu->maxSharedBytes);
  for (const compiler::Remark &remark : result.remarks)
    if (remark.kind == compiler::RemarkKind::Shared)
      text += fmt::format("  line {}: {} bytes from {} on, for {}{}\n", remark.line, remark.number("bytes"), remark.number("offset"), remark.text("use"),
                          remark.count > 1 ? fmt::format(" ({} times)", remark.count) : "");
  text += fmt::format("barriers: {} in the code\n", result.barriers);
  const nvidia::Occupancy &occupancy = result.occupancy;
  unsigned warps = abi.threads / 32;
  if (!occupancy.blocks)
    return text + fmt::format("occupancy: a multiprocessor can't hold a block of {} warps with so many {}\n", warps, occupancy.bound);
  text += fmt::format("occupancy: {}{} blocks of {} warps on a multiprocessor, {} of {} warps ({} %), bounded by {}\n", result.use ? "" : "at most ",
                      occupancy.blocks, warps, occupancy.warps, occupancy.maxWarps, 100 * occupancy.warps / occupancy.maxWarps, occupancy.bound);
  text += fmt::format("  blocks by each bound: warps {}, blocks {}, shared memory {}, registers {}\n", occupancy.byWarps, occupancy.byBlocks,
                      occupancy.byShared, result.use ? std::to_string(occupancy.byRegisters) : "not known");
  return text;
}

// ---- JSON ----

void writeJson(llvm::json::OStream &json, const Explanation &result) {
  const compiler::KernelAbi &abi = result.compiled.abi;
  json.object([&] {
    json.attribute("kernel", result.kernel);
    json.attribute("target", result.target);
    json.attribute("signature", result.signature);
    json.attributeBegin("remarks");
    json.rawValue(compiler::toJson(result.remarks));
    json.attributeEnd();
    json.attribute("threads", abi.threads);
    json.attribute("sharedBytes", abi.sharedBytes);
    json.attribute("barriers", result.barriers);
    json.attribute("registersFrom", result.useSource);
    if (result.use) {
      json.attribute("registers", result.use->registers);
      json.attribute("localBytes", result.use->stackBytes);
      json.attribute("spillStoreBytes", result.use->spillStores);
      json.attribute("spillLoadBytes", result.use->spillLoads);
    }
    json.attributeObject("occupancy", [&] {
      const nvidia::Occupancy &occupancy = result.occupancy;
      json.attribute("blocks", occupancy.blocks);
      json.attribute("warps", occupancy.warps);
      json.attribute("maxWarps", occupancy.maxWarps);
      json.attribute("bound", occupancy.bound);
      json.attribute("byWarps", occupancy.byWarps);
      json.attribute("byBlocks", occupancy.byBlocks);
      json.attribute("byShared", occupancy.byShared);
      if (result.use)
        json.attribute("byRegisters", occupancy.byRegisters);
    });
  });
}
} // namespace

int explainVerb(const std::vector<std::string> &arguments) {
  ExplainOptions options;
  options.compile.target = "sm_90a";
  Verb verb = verbOf(options);
  std::vector<std::string> left = parseFlags(verb, arguments, options.help);
  if (options.help) {
    std::fputs(helpText(verb).c_str(), stdout);
    return 0;
  }
  if (left.size() != 1)
    throw Failure(Status::Usage, left.empty() ? "no file given: `tkc explain FILE`" : fmt::format("expected one file, found also `{}`", left[1]));
  options.file = left[0];
  if (!isGpuTarget(options.compile.target))
    throw Failure(Status::Usage, fmt::format("`tkc explain` needs a GPU target, as in `--target sm_90a`: `{}` is none", options.compile.target));
  options.compile.target = compileTarget(options.compile.target);
  std::unique_ptr<jit::Program> program = jit::Program::fromFile(options.file);
  setReproducer("tkc explain", std::string(program->scope().file().text()));
  std::fputs(program->remarks().c_str(), stderr);
  std::vector<const lang::ast::Function *> kernels = program->scope().kernels();
  if (!options.choice.kernel.empty() || options.choice.signature || kernels.size() < 2)
    kernels = {&program->kernel(options.choice.kernel)};
  std::vector<Explanation> results;
  for (const lang::ast::Function *kernel : kernels)
    results.push_back(explain(options, *program, *kernel));
  std::string text;
  if (options.json) {
    llvm::raw_string_ostream stream(text);
    llvm::json::OStream json(stream, 2);
    json.object([&] {
      json.attributeArray("kernels", [&] {
        for (const Explanation &result : results)
          writeJson(json, result);
      });
    });
    stream << "\n";
  }
  for (size_t i = 0; i < results.size() && !options.json; ++i) {
    const Explanation &result = results[i];
    std::string block = fmt::format(", {} warps", result.compiled.abi.threads / 32);
    text += fmt::format("{}`{}` for {}{}\n{}\n\n{}\n{}", i ? "\n" : "", result.kernel, result.target, block, result.signature,
                        annotatedSource(result, program->scope().file(), *kernels[i]), resources(result));
  }
  std::fputs(text.c_str(), stdout);
  return 0;
}

} // namespace tk::tool
