// What a launch takes: values by type, pointers by element type, and named compile-time parameters.
//
//   kernel.launch(stream, tk::grid(rows), out, x, n, 0.5, tk::meta("BLOCK", 1024));
//
// Integers are typed by value as Triton does (1 folds into the code, else i32, i64 or u64 by what holds the value), a float or double is fp32 unless
// tk::f64(x) says otherwise, a bool is i1. An annotation of the parameter wins over all of this. Arguments don't own what they point to.
#pragma once
#include "tk/descriptor.h"
#include "tk/device.h"
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>

namespace tk {

/// tk::BF16 and so on, for tk::ptr<tk::BF16>(p).
#define TK_DTYPE(name, spelling, bits, bytes) inline constexpr DType name = DType::name;
TK_DTYPES(TK_DTYPE)
#undef TK_DTYPE

/// One argument. Plain data that owns nothing, so that a launch allocates nothing: what `name`, `text` and pointers refer to must live until the call returns,
/// which literals and temporaries of the call do.
struct Argument {
  enum class Kind : uint8_t { None, Bool, Int, UInt, Float, Pointer, Type, String, Function, Tuple, Descriptor };
  Kind kind = Kind::None;
  bool typed = false;       // `type` fixes the scalar's type: it is neither folded nor narrowed
  DType type = DType::I32;  // of a typed scalar, of what a pointer points to, the value of a Type
  enum class Memory : uint8_t { Unknown, Host, Device };
  Memory memory = Memory::Unknown; // of a Pointer
  uint64_t bits = 0;        // Bool, Int, UInt: the value; Float: the double's bits; Pointer: the address; Tuple: how many elements
  uint64_t bytes = 0;       // of a Pointer: how much memory there is, from the address on; 0: unknown
  runtime::GpuDevice *device = nullptr;  // that owns Device memory
  const char *name = nullptr; // of the parameter, when given by name (tk::meta)
  const char *text = nullptr; // String: the value; Function: its name in the kernel's file
  const Argument *elements = nullptr; // of a Tuple
  const TensorDescriptor *descriptor = nullptr;

  Argument() = default;
  Argument(std::nullptr_t) {}
  Argument(const char *value) : kind(Kind::String), text(value) {}
  Argument(const std::string &value) : kind(Kind::String), text(value.c_str()) {}
  Argument(DType value) : kind(Kind::Type), type(value) {}
  Argument(const Array &array) : Argument(pointer(array.data(), array.dtype())) { memory = Memory::Host, bytes = array.bytes(); }
  Argument(const DeviceArray &array) : Argument(pointer(array.data(), array.dtype())) {
    bytes = array.bytes();
    device = array.device().implementation();
    memory = device ? Memory::Device : Memory::Host;
  }
  Argument(const ArrayView &array);
  Argument(const TensorDescriptor &tensor) : kind(Kind::Descriptor), type(tensor.dtype), descriptor(&tensor) {}
  template <typename T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0> Argument(T value) {
    if constexpr (std::is_same_v<T, bool>)
      kind = Kind::Bool, bits = value;
    else if constexpr (std::is_floating_point_v<T>)
      kind = Kind::Float, bits = bitsOf(static_cast<double>(value));
    else if constexpr (std::is_signed_v<T>)
      kind = Kind::Int, bits = static_cast<uint64_t>(static_cast<int64_t>(value));
    else
      kind = Kind::UInt, bits = value;
  }
  template <typename T, std::enable_if_t<std::is_arithmetic_v<T>, int> = 0> Argument(T *pointer) : Argument(Argument::pointer(pointer, dtypeOf<std::remove_const_t<T>>())) {}

  static Argument pointer(const void *address, DType type) {
    Argument result;
    result.kind = Kind::Pointer, result.type = type, result.bits = reinterpret_cast<uintptr_t>(address);
    return result;
  }
  /// The element type that a C++ type stands for.
  template <typename T> static constexpr DType dtypeOf() {
    if constexpr (std::is_same_v<T, bool>)
      return DType::I1;
    else if constexpr (std::is_floating_point_v<T>)
      return sizeof(T) == 8 ? DType::F64 : DType::F32;
    else if constexpr (sizeof(T) == 1)
      return std::is_signed_v<T> ? DType::I8 : DType::U8;
    else if constexpr (sizeof(T) == 2)
      return std::is_signed_v<T> ? DType::I16 : DType::U16;
    else if constexpr (sizeof(T) == 4)
      return std::is_signed_v<T> ? DType::I32 : DType::U32;
    else
      return std::is_signed_v<T> ? DType::I64 : DType::U64;
  }
  /// A Float's value.
  double number() const;

private:
  static uint64_t bitsOf(double value) {
    uint64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
  }
};

/// A pointer to elements that C++ has no type for (fp16, bf16, fp8), or to untyped memory.
template <DType Type> Argument ptr(const void *address) { return Argument::pointer(address, Type); }

/// A scalar of exactly this type.
Argument scalar(DType type, double value);
Argument scalar(DType type, int64_t value);
inline Argument f64(double value) { return scalar(DType::F64, value); }
inline Argument i64(int64_t value) { return scalar(DType::I64, value); }

/// A parameter by name: mostly compile-time ones.
template <typename T> Argument meta(const char *name, const T &value) {
  Argument result(value);
  result.name = name;
  return result;
}
/// A tuple: `kernel.launch(stream, grid, tk::tuple(x, y), n)`. Elements may be tuples.
template <size_t Count> struct TupleArgument {
  std::array<Argument, Count> values;
  operator Argument() const {
    Argument result;
    result.kind = Argument::Kind::Tuple, result.bits = Count, result.elements = values.data();
    return result;
  }
};
template <typename... Args> TupleArgument<sizeof...(Args)> tuple(const Args &...args) { return {{Argument(args)...}}; }

/// A function of the kernel's file as a compile-time value.
inline Argument function(const char *name) {
  Argument result;
  result.kind = Argument::Kind::Function, result.text = name;
  return result;
}

} // namespace tk
