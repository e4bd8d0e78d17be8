// The C API: arguments and grids, which are plain structs on the C side.
#include "runtime/capi/Boundary.h"
#include "tk/dlpack.h"

using namespace tk;
using namespace tk::capi;

namespace {
tk_argument invalid(const char *why) {
  tk_argument result = {};
  result.kind = TK_ARGUMENT_INVALID, result.text = why;
  return result;
}
constexpr unsigned deepestTuple = 32;

bool isType(tk_dtype dtype) { return dtype >= TK_I1 && dtype <= TK_F64; }

Grid callGrid(const void *callable, const Meta &meta) {
  const auto &grid = *static_cast<const tk_grid *>(callable);
  int64_t extents[3] = {1, 1, 1};
  tk_error *error = nullptr;
  tk_status status = grid.function(reinterpret_cast<const tk_launch_values *>(&meta), extents, grid.context, &error);
  passOn(status, error, "the grid's function");
  return Grid(extents[0], extents[1], extents[2]);
}
} // namespace

#define SAME(a, b) static_assert(static_cast<int>(Argument::a) == TK_##b)
SAME(Kind::None, ARGUMENT_NONE);
SAME(Kind::Bool, ARGUMENT_BOOL);
SAME(Kind::Int, ARGUMENT_INT);
SAME(Kind::UInt, ARGUMENT_UINT);
SAME(Kind::Float, ARGUMENT_FLOAT);
SAME(Kind::Pointer, ARGUMENT_POINTER);
SAME(Kind::Type, ARGUMENT_TYPE);
SAME(Kind::String, ARGUMENT_STRING);
SAME(Kind::Function, ARGUMENT_FUNCTION);
SAME(Kind::Tuple, ARGUMENT_TUPLE);
SAME(Memory::Unknown, MEMORY_UNKNOWN);
SAME(Memory::Host, MEMORY_HOST);
SAME(Memory::Device, MEMORY_DEVICE);
#undef SAME

namespace tk::capi {

/// `position`: in the list, for messages.
Argument ArgumentList::convert(const tk_argument &argument, size_t position, unsigned depth) {
  auto refuse = [&](const char *why) {
    return Error(ErrorKind::User, argument.name ? fmt::format("argument `{}`: {}", argument.name, why) : fmt::format("argument {}: {}", position, why));
  };
  if (argument.kind == TK_ARGUMENT_INVALID)
    throw refuse(argument.text ? argument.text : "invalid");
  if (argument.kind > TK_ARGUMENT_TUPLE || argument.dtype > TK_F64 || argument.memory > TK_MEMORY_DEVICE)
    throw refuse("not made by a function of tk's: kind, dtype or memory has no meaning");
  Argument result;
  result.kind = static_cast<Argument::Kind>(argument.kind);
  if ((result.kind == Argument::Kind::String || result.kind == Argument::Kind::Function) && !argument.text)
    throw refuse("the text is null");
  result.memory = static_cast<Argument::Memory>(argument.memory);
  if (result.memory == Argument::Memory::Device && !argument.device)
    throw refuse("memory of a device, but the device is null");
  result.typed = argument.typed != 0, result.type = static_cast<DType>(argument.dtype);
  result.bits = argument.bits, result.bytes = argument.bytes;
  if (result.kind == Argument::Kind::Bool)
    result.bits = result.bits != 0;
  if (result.memory == Argument::Memory::Device)
    result.device = static_cast<runtime::GpuDevice *>(const_cast<void *>(argument.device));
  result.name = argument.name, result.text = argument.text;
  if (result.kind != Argument::Kind::Tuple)
    return result;
  if (depth == deepestTuple)
    throw refuse("tuples nested deeper than 32");
  if (result.bits && !argument.elements)
    throw refuse("the tuple's elements are null");
  if (result.bits > elementsLeft)
    throw refuse("tuples of more than 65536 elements in all");
  elementsLeft -= result.bits;
  Argument *elements = tuples.emplace_back(new Argument[result.bits]).get();
  for (size_t i = 0; i < result.bits; ++i)
    elements[i] = convert(argument.elements[i], position, depth + 1);
  result.elements = elements;
  return result;
}

tk_argument handleOf(const Argument &argument) {
  tk_argument result = {};
  result.kind = static_cast<uint32_t>(argument.kind), result.typed = argument.typed, result.dtype = static_cast<uint32_t>(argument.type);
  result.memory = static_cast<uint32_t>(argument.memory), result.bits = argument.bits, result.bytes = argument.bytes, result.device = argument.device;
  result.name = argument.name, result.text = argument.text;
  return result;
}

ArgumentList::ArgumentList(const tk_argument *arguments, size_t count) : count(count) {
  if (count)
    checked(arguments, "arguments");
  if (count > std::size(few))
    many.resize(count);
  Argument *place = many.empty() ? few : many.data();
  for (size_t i = 0; i < count; ++i)
    place[i] = convert(arguments[i], i, 0);
}

Grid gridOf(const tk_grid &grid) {
  switch (checkedEnum<tk_grid_kind>(grid.kind, TK_GRID_KERNEL + 1, "grid.kind")) {
  case TK_GRID_NUMBERS: return Grid(grid.x, grid.y, grid.z);
  case TK_GRID_KERNEL: return autoGrid();
  case TK_GRID_FUNCTION: break;
  }
  if (!grid.function)
    throw Error(ErrorKind::User, "`grid.function` is null");
  Grid result;
  result.function = callGrid, result.callable = &grid;
  return result;
}

} // namespace tk::capi

extern "C" {

tk_argument tk_none(void) { return handleOf(Argument()); }
tk_argument tk_bool(int value) { return handleOf(Argument(value != 0)); }
tk_argument tk_int(int64_t value) { return handleOf(Argument(value)); }
tk_argument tk_uint(uint64_t value) { return handleOf(Argument(value)); }
tk_argument tk_float(double value) { return handleOf(Argument(value)); }
tk_argument tk_scalar_int(tk_dtype dtype, int64_t value) {
  return isType(dtype) ? handleOf(scalar(static_cast<DType>(dtype), value)) : invalid("a scalar of an unknown type");
}
tk_argument tk_scalar_float(tk_dtype dtype, double value) {
  return isType(dtype) ? handleOf(scalar(static_cast<DType>(dtype), value)) : invalid("a scalar of an unknown type");
}
tk_argument tk_i32(int32_t value) { return tk_scalar_int(TK_I32, value); }
tk_argument tk_i64(int64_t value) { return tk_scalar_int(TK_I64, value); }
tk_argument tk_f64(double value) { return tk_scalar_float(TK_F64, value); }

tk_argument tk_pointer(tk_dtype dtype, const void *address) {
  return isType(dtype) ? handleOf(Argument::pointer(address, static_cast<DType>(dtype))) : invalid("a pointer to an unknown type");
}
tk_argument tk_pointer_to(tk_dtype dtype, const void *address, uint64_t bytes, tk_memory memory) {
  if (memory != TK_MEMORY_UNKNOWN && memory != TK_MEMORY_HOST)
    return invalid("a pointer to a device's memory says which device: use an array or a DLPack tensor, or TK_MEMORY_UNKNOWN");
  tk_argument result = tk_pointer(dtype, address);
  if (result.kind == TK_ARGUMENT_POINTER)
    result.bytes = bytes, result.memory = memory;
  return result;
}
tk_argument tk_array_argument(const tk_array *array) { return array ? handleOf(Argument(array->value)) : invalid("the array is null"); }
tk_argument tk_string(const char *text) { return text ? handleOf(Argument(text)) : invalid("the string is null"); }
tk_argument tk_type(tk_dtype dtype) { return isType(dtype) ? handleOf(Argument(static_cast<DType>(dtype))) : invalid("an unknown type"); }
tk_argument tk_function(const char *name) { return name ? handleOf(function(name)) : invalid("the function's name is null"); }
tk_argument tk_tuple(const tk_argument *elements, size_t count) {
  tk_argument result = {};
  result.kind = TK_ARGUMENT_TUPLE, result.bits = count, result.elements = elements;
  return result;
}
tk_argument tk_named(const char *name, tk_argument value) {
  if (!name)
    return invalid("the parameter's name is null");
  value.name = name;
  return value;
}
tk_argument tk_meta(const char *name, int64_t value) { return tk_named(name, tk_int(value)); }

tk_status tk_from_dlpack(const DLManagedTensor *tensor, tk_argument *argument, tk_error **error) {
  return guarded(error,
                 [&] { checked(argument, "argument") = handleOf(fromDLPack(&checked(reinterpret_cast<const dlpack::ManagedTensor *>(tensor), "tensor"))); });
}
tk_status tk_from_dlpack_versioned(const DLManagedTensorVersioned *tensor, tk_argument *argument, tk_error **error) {
  return guarded(error, [&] {
    checked(argument, "argument") = handleOf(fromDLPack(&checked(reinterpret_cast<const dlpack::ManagedTensorVersioned *>(tensor), "tensor")));
  });
}

tk_status tk_launch_value(const tk_launch_values *values, const char *parameter, int64_t *value, tk_error **error) {
  return guarded(error, [&] {
    const Meta &meta = checked(reinterpret_cast<const Meta *>(values), "values");
    checked(value, "value") = meta[checkedText(parameter, "parameter")];
  });
}

tk_grid tk_grid_of(int64_t x, int64_t y, int64_t z) {
  tk_grid result = {};
  result.x = x, result.y = y, result.z = z;
  return result;
}
tk_grid tk_grid_call(tk_grid_function function, void *context) {
  tk_grid result = {};
  result.kind = TK_GRID_FUNCTION, result.function = function, result.context = context;
  return result;
}
tk_grid tk_grid_of_kernel(void) {
  tk_grid result = {};
  result.kind = TK_GRID_KERNEL;
  return result;
}

} // extern "C"
