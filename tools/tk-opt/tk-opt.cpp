// Runs passes over IR in text form, for the lit tests. Reads any mixture of tt, arith, math, scf and ub.
#include "compiler/Passes.h"
#include "dialects/ttg/TTG.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"
#include "tools/tk-opt/TestPasses.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;

// MLIR's parser recurses for each level of nesting.
static constexpr unsigned kMaxNesting = 256;

/// The line on which brackets of any kind nest too deep; 0 when they don't. Strings and comments don't count.
static unsigned lineOfDeepNesting(StringRef text) {
  unsigned depth = 0, line = 1;
  bool string = false, comment = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '\n') {
      ++line;
      string = comment = false;
    } else if (comment) {
      continue;
    } else if (string) {
      i += c == '\\';
      string = c != '"';
    } else if (c == '"') {
      string = true;
    } else if (text.substr(i, 2) == "//") {
      comment = true;
    } else if (text.substr(i, 2) == "->") {
      ++i;
    } else if (StringRef("{([<").contains(c) && ++depth > kMaxNesting) {
      return line;
    } else if (StringRef("})]>").contains(c) && depth > 0) {
      --depth;
    }
  }
  return 0;
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  DialectRegistry registry;
  registry.insert<tk::tt::TTDialect, tk::ttg::TTGDialect, arith::ArithDialect, math::MathDialect, scf::SCFDialect, ub::UBDialect>();
  tk::compiler::registerCompilerPasses();
  tk::test::registerTestAccessForm();
  tk::test::registerTestAxisInfo();
  registerCanonicalizerPass();
  registerCSEPass();
  registerInlinerPass();

  auto [inputName, outputName] = registerAndParseCLIOptions(argc, argv, "tile IR optimizer", registry);
  std::string message;
  std::unique_ptr<llvm::MemoryBuffer> input = openInputFile(inputName, &message);
  std::unique_ptr<llvm::ToolOutputFile> output = input ? openOutputFile(outputName, &message) : nullptr;
  if (!output) {
    llvm::errs() << message << "\n";
    return 1;
  }
  if (unsigned line = lineOfDeepNesting(input->getBuffer())) {
    llvm::errs() << inputName << ":" << line << ": error: brackets nest deeper than " << kMaxNesting << "\n";
    return 1;
  }
  if (failed(MlirOptMain(output->os(), std::move(input), registry, MlirOptMainConfig::createFromCLOptions())))
    return 1;
  output->keep();
  return 0;
}
