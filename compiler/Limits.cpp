// See Limits.h.
#include "compiler/Limits.h"
#include "dialects/ttg/TTG.h"
#include "lang/sema/ModuleScope.h"
#include <fmt/format.h>
#include <set>

using namespace mlir;
namespace tk::compiler {

static constexpr unsigned kMostWarps = 32; // of a block, on every NVIDIA GPU: 1024 threads
static constexpr size_t kShownAllocations = 8;

static lang::Place placeOf(const LimitedKernel &kernel) { return {&kernel.scope.file(), kernel.function.nameRange}; }

bool checkWarps(unsigned numWarps, const LimitedKernel &kernel, lang::Diagnostics &diagnostics) {
  if (numWarps != 0 && (numWarps & (numWarps - 1)) == 0 && numWarps <= kMostWarps)
    return true;
  diagnostics.report(lang::Diag::BadNumWarps, placeOf(kernel), numWarps);
  return false;
}

/// Compile-time integers of the signature that some tile has as an extent: making them smaller makes tiles smaller.
static std::string sizesOfTiles(ModuleOp module, const LimitedKernel &kernel) {
  std::set<int64_t> extents;
  module.walk([&](Operation *op) {
    for (Type type : op->getResultTypes())
      extents.insert(tt::shapeOf(type).begin(), tt::shapeOf(type).end());
  });
  std::string names;
  for (size_t i = 0; i < kernel.params.size() && i < kernel.function.params.size(); ++i) {
    const lang::ParamSpec &spec = kernel.params[i];
    std::optional<int64_t> value = spec.kind == lang::ParamSpec::Constant ? spec.value.asInt64() : std::nullopt;
    if (value && *value > 1 && extents.count(*value))
      names += fmt::format("{}`{}` ({} now)", names.empty() ? "" : ", ", kernel.function.params[i].name, *value);
  }
  return names;
}

bool checkSharedMemory(ModuleOp module, const Remarks &remarks, const nvidia::Target &target, const LimitedKernel &kernel, lang::Diagnostics &diagnostics) {
  uint64_t bytes = 0;
  for (auto function : module.getOps<tt::FuncOp>())
    if (auto shared = function->getAttrOfType<IntegerAttr>(ttg::kSharedName))
      bytes = std::max<uint64_t>(bytes, shared.getInt());
  if (bytes <= target.maxSharedBytes)
    return true;
  std::string sizes = sizesOfTiles(module, kernel);
  std::string advice = sizes.empty() ? "make the tiles smaller" : fmt::format("make the tiles smaller: {}", sizes);
  diagnostics.report(lang::Diag::TooMuchShared, placeOf(kernel), kernel.function.name, bytes, target.name, target.maxSharedBytes, advice);
  Remarks largest;
  for (const Remark &remark : remarks)
    if (remark.kind == RemarkKind::Shared)
      largest.push_back(remark);
  settle(largest);
  std::stable_sort(largest.begin(), largest.end(), [](const Remark &a, const Remark &b) { return a.number("bytes") > b.number("bytes"); });
  for (size_t i = 0; i < std::min(largest.size(), kShownAllocations); ++i) {
    const Remark &use = largest[i];
    lang::Place place = placeOf(kernel);
    if (use.file == kernel.scope.file().name() && use.line != 0)
      place.range.begin = kernel.scope.file().offset({use.line, use.column}), place.range.end = place.range.begin + 1;
    diagnostics.report(lang::Diag::SharedHere, place, use.number("bytes"), use.text("use"), use.number("offset"));
  }
  if (largest.size() > kShownAllocations)
    diagnostics.report(lang::Diag::SharedRest, placeOf(kernel), largest.size() - kShownAllocations);
  return false;
}

} // namespace tk::compiler
