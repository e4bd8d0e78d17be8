// What an expression of a kernel evaluates to while it is elaborated.
//
// A value is either known at compile time (ConstValue) or stands for an SSA value (Runtime: a scalar or a tile, with the front end's element type, which knows signedness).
// The rest are aggregates and things that only the elaborator handles: tuples with run-time elements, methods bound to an object, ranges, block pointers.
// An Error value silences every message that would follow from it.
#pragma once
#include "lang/sema/ConstValue.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"

namespace tk::lang {

struct ErrorValue {};

/// A scalar, or a tile when the SSA value's type is a tensor.
struct Runtime {
  mlir::Value ssa;
  TypeValue type; // of the element
  bool isTile() const { return mlir::isa<mlir::RankedTensorType>(ssa.getType()); }
  llvm::ArrayRef<int64_t> shape() const {
    auto tensor = mlir::dyn_cast<mlir::RankedTensorType>(ssa.getType());
    return tensor ? tensor.getShape() : llvm::ArrayRef<int64_t>();
  }
  bool isPointer() const { return type.pointerDepth != 0; }
};

struct SequenceValue;
struct MethodValue;
struct RangeValue;
struct BlockPointer;

/// The type of a tile as a value (`x.type`).
struct TileTypeValue {
  TypeValue element;
  std::vector<int64_t> shape;
};

class Value {
public:
  std::variant<ErrorValue, ConstValue, Runtime, TileTypeValue, std::shared_ptr<const SequenceValue>, std::shared_ptr<const MethodValue>, std::shared_ptr<const RangeValue>, std::shared_ptr<const BlockPointer>> data;

  Value() = default; // an error
  Value(ConstValue value) : data(std::move(value)) {}
  Value(Runtime value) : data(std::move(value)) {}
  Value(TileTypeValue value) : data(std::move(value)) {}
  template <typename T> Value(std::shared_ptr<const T> value) : data(std::move(value)) {}
  static Value none() { return Value(ConstValue()); }
  static Value integer(int64_t value) { return Value(ConstValue::integer(value)); }
  static Value tuple(std::vector<Value> elements, std::vector<std::string> fields = {}, bool isList = false);

  bool isError() const { return std::holds_alternative<ErrorValue>(data); }
  const ConstValue *asConst() const { return std::get_if<ConstValue>(&data); }
  const Runtime *asRuntime() const { return std::get_if<Runtime>(&data); }
  bool isNone() const { return asConst() && asConst()->isNone(); }
  template <typename T> const T *as() const {
    auto *pointer = std::get_if<std::shared_ptr<const T>>(&data);
    return pointer ? pointer->get() : nullptr;
  }
  /// The elements of a tuple or list, compile-time or not; empty for another value.
  std::optional<std::vector<Value>> elements() const;
  /// Of the type for messages: "fp32[16, 32]", "i32", "int 3", "tuple".
  std::string describe() const;
};

/// A tuple or list with at least one element that is not a ConstValue.
struct SequenceValue {
  std::vector<Value> elements;
  std::vector<std::string> fields;
  bool isList = false;
  unsigned depth = 1;
};

/// `x.sum`, not called yet.
struct MethodValue {
  Value self;
  std::string name;
};

/// What range, tl.range and static_range give: something to loop over.
struct RangeValue {
  Value lower, upper, step;
  bool isStatic = false;
  llvm::SmallVector<std::pair<std::string, int64_t>> attributes; // tt.num_stages ...: 1 for flags
};

/// make_block_ptr's value: a base, and per axis an extent, a stride (both i64) and an offset (i32).
struct BlockPointer {
  Runtime base;
  std::vector<Runtime> shape, strides, offsets;
  std::vector<int64_t> blockShape;
};

/// "fp32[16, 32]" or "fp32".
std::string typeText(const Runtime &value);
std::string typeText(const TypeValue &element, llvm::ArrayRef<int64_t> shape);

// ---- run-time parts of aggregates ----
/// The SSA values in a value, in order.
void flatten(const Value &value, llvm::SmallVectorImpl<mlir::Value> &parts);
/// The same structure with other SSA values, taken from the front of `parts`.
Value rebuild(const Value &pattern, llvm::ArrayRef<mlir::Value> &parts);
/// Equal constants, equal types, equal structure: may differ in SSA values only.
bool sameShape(const Value &a, const Value &b);
/// sameShape and the same SSA values.
bool sameValue(const Value &a, const Value &b);

} // namespace tk::lang
