// Random functions over integers, pointers, tiles of them, loops and branches, for the analyses to say something about.
#pragma once
#include "dialects/tt/TT.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <random>

namespace tk::test {

struct RandomKernel {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  tt::FuncOp function;

  RandomKernel(mlir::MLIRContext &context, std::mt19937 &random);
};

} // namespace tk::test
