// Runs passes over IR in text form, for the lit tests. Reads any mixture of tt, arith, math, scf and ub.
#include "compiler/Passes.h"
#include "dialects/tt/TT.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"
#include "tools/tk-opt/TestPasses.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registry.insert<tk::tt::TTDialect, mlir::arith::ArithDialect, mlir::math::MathDialect, mlir::scf::SCFDialect, mlir::ub::UBDialect>();
  tk::compiler::registerCompilerPasses();
  tk::test::registerTestAccessForm();
  mlir::registerCanonicalizerPass();
  mlir::registerCSEPass();
  mlir::registerInlinerPass();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "tile IR optimizer", registry));
}
