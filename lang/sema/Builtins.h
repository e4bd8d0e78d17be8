// The table of builtin functions: Builtins.def as data, and the handlers behind it.
#pragma once
#include "lang/sema/Elaborator.h"

namespace tk::lang {

struct BuiltinParameter {
  std::string name;
  bool isStar = false, keywordOnly = false, hasDefault = false;
  ConstValue defaultValue;
};

using BuiltinHandler = Value (*)(Elaborator &, const BoundCall &);

struct BuiltinInfo {
  std::string name;    // as Builtins.def has it
  std::string display; // for messages: tl.load, max
  BuiltinHandler handler = nullptr;
  std::vector<BuiltinParameter> params;
};

/// By canonical name ("load", "python.max"); null when there is none.
const BuiltinInfo *findBuiltin(const std::string &canonical);

/// The handlers. Each is defined in the Builtins*.cpp of its family.
struct BuiltinHandlers {
#define TK_HANDLER(handler) static Value handler(Elaborator &e, const BoundCall &call);
  TK_HANDLER(programId) TK_HANDLER(numPrograms) TK_HANDLER(arange) TK_HANDLER(full) TK_HANDLER(toTensor) TK_HANDLER(cast) TK_HANDLER(constexprBox) TK_HANDLER(pointerType)
  TK_HANDLER(load) TK_HANDLER(store) TK_HANDLER(atomicAdd) TK_HANDLER(atomicMax) TK_HANDLER(atomicMin) TK_HANDLER(atomicAnd) TK_HANDLER(atomicOr) TK_HANDLER(atomicXor)
  TK_HANDLER(atomicXchg) TK_HANDLER(atomicCas) TK_HANDLER(debugBarrier) TK_HANDLER(makeBlockPtr) TK_HANDLER(advance)
  TK_HANDLER(broadcast) TK_HANDLER(broadcastTo) TK_HANDLER(expandDims) TK_HANDLER(reshape) TK_HANDLER(view) TK_HANDLER(trans) TK_HANDLER(permute) TK_HANDLER(join) TK_HANDLER(split)
  TK_HANDLER(cat) TK_HANDLER(item) TK_HANDLER(gather) TK_HANDLER(where)
  TK_HANDLER(add) TK_HANDLER(sub) TK_HANDLER(mul) TK_HANDLER(abs) TK_HANDLER(maximum) TK_HANDLER(minimum) TK_HANDLER(clamp) TK_HANDLER(fma) TK_HANDLER(fdiv) TK_HANDLER(divRn)
  TK_HANDLER(sqrtRn) TK_HANDLER(umulhi) TK_HANDLER(unaryMath)
  TK_HANDLER(reduce) TK_HANDLER(associativeScan) TK_HANDLER(histogram) TK_HANDLER(dot)
  TK_HANDLER(tlRange) TK_HANDLER(staticRange) TK_HANDLER(condition) TK_HANDLER(assume) TK_HANDLER(multipleOf) TK_HANDLER(maxContiguous) TK_HANDLER(maxConstancy)
  TK_HANDLER(staticPrint) TK_HANDLER(staticAssert) TK_HANDLER(devicePrint) TK_HANDLER(deviceAssert)
  TK_HANDLER(pythonPrint) TK_HANDLER(pythonRange) TK_HANDLER(pythonMin) TK_HANDLER(pythonMax) TK_HANDLER(pythonLen) TK_HANDLER(pythonFloat) TK_HANDLER(pythonInt) TK_HANDLER(pythonBool)
  TK_HANDLER(pythonStr) TK_HANDLER(pythonTuple) TK_HANDLER(pythonIsInstance) TK_HANDLER(pythonGetAttr) TK_HANDLER(pythonHasAttr) TK_HANDLER(pythonZip) TK_HANDLER(pythonEnumerate) TK_HANDLER(pythonReversed)
#undef TK_HANDLER
};

// ---- what handlers share (Builtins.cpp) ----
/// A compile-time integer, bool, string; empty after a report.
std::optional<int64_t> constantInteger(Elaborator &e, const BoundCall &call, size_t index);
std::optional<bool> constantBool(Elaborator &e, const BoundCall &call, size_t index);
std::optional<std::string> constantString(Elaborator &e, const BoundCall &call, size_t index);
/// Extents or axes: from one tuple or from separate arguments.
std::optional<llvm::SmallVector<int64_t>> constantIntegers(Elaborator &e, const std::vector<Argument> &arguments, const BoundCall &call, const char *what);
/// A tile or scalar operand.
std::optional<Runtime> runtimeOperand(Elaborator &e, const BoundCall &call, size_t index);
/// An axis of a rank, negative ones counted from the end.
std::optional<unsigned> normalizedAxis(Elaborator &e, const BoundCall &call, int64_t axis, size_t rank);
/// Functions of libdevice and tl.math, Python's math on run-time values.
Value callLibdevice(Elaborator &e, const std::string &name, const std::vector<Argument> &arguments, SourceRange range);
/// A unary function of the math dialect on a float operand; null when the dialect has none by this name.
mlir::Value unaryMathOp(Elaborator &e, const std::string &name, mlir::Value x, mlir::Location at);
/// Loads and stores through a block pointer.
Value loadBlock(Elaborator &e, const BlockPointer &pointer, const BoundCall &call);
Value storeBlock(Elaborator &e, const BlockPointer &pointer, const BoundCall &call);
std::optional<tt::CacheModifier> cacheModifier(Elaborator &e, const BoundCall &call, size_t index, bool isStore);
std::optional<tt::EvictionPolicy> evictionPolicy(Elaborator &e, const BoundCall &call, size_t index);
/// Stores through a pointer, value and mask already of its shape; casts the value to the element type.
Value storeThrough(Elaborator &e, const Runtime &pointer, const Value &value, std::optional<Runtime> mask, tt::CacheModifier cache, tt::EvictionPolicy evict, SourceRange range);
Value addSubMul(Elaborator &e, ast::BinaryOp op, const BoundCall &call);

} // namespace tk::lang
