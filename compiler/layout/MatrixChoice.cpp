// See MatrixChoice.h. Sources: PTX ISA, "mma" (shapes and types by target).
#include "compiler/layout/MatrixChoice.h"
#include <fmt/format.h>

using namespace mlir;
using namespace tk;
using namespace tk::ttg;

static bool isEightBitFloat(Type type) { return isa<FloatType>(type) && type.getIntOrFloatBitWidth() == 8; }

/// The shape whose fragments the operands take. The target may make it of several instructions (NvidiaMatrix.cpp): 8-bit floats of any kind are at least products of fp16.
static std::optional<MatrixUnit> unitFor(tt::DotOp dot, const nvidia::Target &target, std::string &reason) {
  Type operand = tt::elementType(dot.getA().getType());
  bool modern = target.has(nvidia::Bf16Mma);
  if (operand.isF16() || (operand.isBF16() && modern))
    return tt::shapeOf(dot.getA().getType()).back() < 16 ? MatrixUnit::M16N8K8 : MatrixUnit::M16N8K16;
  if (operand.isF32() && dot.getInputPrecision() == tt::InputPrecision::TF32 && modern)
    return MatrixUnit::M16N8K8;
  if (operand.isInteger(8) || isEightBitFloat(operand))
    return MatrixUnit::M16N8K32;
  if (operand.isF64() && modern)
    return MatrixUnit::M8N8K4;
  if (operand.isF32() && dot.getInputPrecision() == tt::InputPrecision::IEEE)
    reason = "fp32 operands at the precision `ieee` have no matrix instruction";
  else
    reason = fmt::format("{} has no matrix instruction for operands of {}", target.name, operand.isF32() ? "tf32" : operand.isBF16() ? "bf16" : "fp64");
  return std::nullopt;
}

/// Whether the product goes on into the first operand of another dot of the block, or comes from one: then the warps share rows only, so that no row leaves its warp.
static bool isChained(tt::DotOp dot) {
  SmallVector<Operation *> work{dot};
  SmallPtrSet<Operation *, 32> seen;
  while (!work.empty() && seen.size() < 256) {
    Operation *op = work.pop_back_val();
    for (Operation *user : op->getUsers()) {
      if (user->getBlock() != dot->getBlock() || !seen.insert(user).second)
        continue;
      if (auto next = dyn_cast<tt::DotOp>(user)) {
        if (next.getC().getDefiningOp() != op || seen.contains(next.getA().getDefiningOp()))
          return true;
        continue;
      }
      if (user->hasTrait<OpTrait::Elementwise>() || isa<tt::ReshapeOp, tt::TransOp, tt::BroadcastOp, tt::ExpandDimsOp>(user))
        work.push_back(user);
    }
  }
  // Backwards from the first operand.
  SmallVector<Value> values{dot.getA()};
  SmallPtrSet<Operation *, 32> before;
  while (!values.empty() && before.size() < 256) {
    Operation *op = values.pop_back_val().getDefiningOp();
    if (!op || op->getBlock() != dot->getBlock() || !before.insert(op).second)
      continue;
    if (isa<tt::DotOp>(op))
      return true;
    if (op->hasTrait<OpTrait::Elementwise>())
      llvm::append_range(values, op->getOperands());
  }
  return false;
}

/// wgmma, where four warps and the tile are enough for one. `reason` stays empty where the target has no such unit.
static MmaAttr chooseWarpgroups(tt::DotOp dot, const nvidia::Target &target, unsigned warps, compiler::OperandPlaces places, std::string &reason) {
  if (!target.has(nvidia::Wgmma))
    return {};
  Type a = tt::elementType(dot.getA().getType()), b = tt::elementType(dot.getB().getType()), sum = tt::elementType(dot.getType());
  bool isTf32 = a.isF32() && dot.getInputPrecision() == tt::InputPrecision::TF32;
  if (a != b || !(a.isF16() || a.isBF16() || isTf32 || a.isInteger(8)) || !(sum.isF32() || sum.isInteger(32) || sum.isF16()))
    return {};
  ArrayRef<int64_t> tile = tt::shapeOf(dot.getType());
  unsigned bytes = tt::bytesOf(a);
  int64_t m = tile[tile.size() - 2], n = tile.back(), k = tt::shapeOf(dot.getA().getType()).back();
  if (tile.size() != 2 || m < 64 || n < 8 || k * bytes < 32) {
    reason = fmt::format("wgmma has 64 rows, 8 columns and a depth of {} at least, and no batch", 32 / bytes);
    return {};
  }
  if (warps % 4) {
    reason = fmt::format("wgmma takes four warps, the program has {}", warps);
    return {};
  }
  if (bytes != 2 && (places.aFast != 1 || places.bFast != 0)) {
    reason = "wgmma reads operands that are not 16 bits wide along the depth only";
    return {};
  }
  // Rows first: who shares columns reads the right operand again. What is left of the warps does the same work again.
  unsigned warpsM = 4, warpsN = 1;
  while (warpsM * warpsN < warps)
    if (m >= 16 * 2 * warpsM)
      warpsM *= 2;
    else if (n >= 16 * warpsN)
      warpsN *= 2;
    else
      return {};
  return MmaAttr::get(dot.getContext(), MatrixUnit::Wgmma, warpsM, warpsN);
}

MmaAttr compiler::chooseMatrixUnit(tt::DotOp dot, const nvidia::Target &target, unsigned warps, OperandPlaces places, std::string &reason) {
  if (MmaAttr groups = chooseWarpgroups(dot, target, warps, places, reason))
    return groups;
  std::optional<MatrixUnit> unit = unitFor(dot, target, reason);
  if (!unit)
    return {};
  MatrixShape shape = ttg::shapeOf(*unit);
  ArrayRef<int64_t> tile = tt::shapeOf(dot.getType());
  int64_t m = tile[tile.size() - 2], n = tile.back(), k = tt::shapeOf(dot.getA().getType()).back();
  // Rows and columns that the tile lacks are there several times; with both lacking, too little of an instruction is of use. Depth can't be repeated.
  if ((m < shape.m && n < shape.n) || k < shape.k) {
    reason = fmt::format("the tile {0}x{1}x{2} is smaller than the instruction's {3}x{4}x{5}", m, n, k, shape.m, shape.n, shape.k);
    return {};
  }
  unsigned warpsM = 1, warpsN = 1;
  bool rowsOnly = isChained(dot);
  while (warpsM * warpsN < warps) {
    int64_t rows = m / (shape.m * warpsM), columns = n / (shape.n * warpsN); // instructions that a warp has along each axis
    // Square-ish pieces load the fewest operands; pieces that don't exist are computed by several warps.
    bool alongM = rowsOnly ? rows > 1 || columns <= 1 : rows > 1 && (m / warpsM >= n / warpsN || columns <= 1);
    if (!alongM && columns <= 1)
      alongM = true;
    (alongM ? warpsM : warpsN) *= 2;
  }
  return MmaAttr::get(dot.getContext(), *unit, warpsM, warpsN);
}
