// See Launch.h.
#include "tools/tkc/Launch.h"
#include "runtime/FloatBits.h"
#include "tools/tkc/Failure.h"
#include <algorithm>
#include <fmt/format.h>

namespace tk::tool {

static const lang::ConstValue &valueOf(const compiler::ArgumentSlot &slot, const std::vector<ResolvedArgument> &arguments) {
  const lang::ConstValue *value = &arguments.at(slot.param).value;
  for (unsigned index : slot.path) {
    const lang::TupleValue *tuple = value->asTuple();
    if (!tuple || index >= tuple->elements.size())
      throw Failure(Status::Diagnostics, fmt::format("internal error: slot `{}` does not match its argument", slot.name));
    value = &tuple->elements[index];
  }
  return *value;
}

const ArrayArgument *arrayOf(const compiler::ArgumentSlot &slot, const std::vector<ResolvedArgument> &arguments) {
  const lang::ArrayValue *array = valueOf(slot, arguments).asArray();
  return array ? static_cast<const ArrayArgument *>(array->handle.get()) : nullptr;
}

std::vector<uint64_t> slotBits(const std::vector<compiler::ArgumentSlot> &slots, const std::vector<ResolvedArgument> &arguments,
                               const std::function<uint64_t(const ArrayArgument &)> &address) {
  std::vector<uint64_t> bits;
  for (const compiler::ArgumentSlot &slot : slots) {
    if (slot.isHidden())
      continue;
    if (const ArrayArgument *array = arrayOf(slot, arguments)) {
      bits.push_back(address(*array));
      continue;
    }
    const lang::ConstValue &value = valueOf(slot, arguments);
    std::optional<uint64_t> scalar = lang::scalarBits(value, slot.pointerDepth ? DType::U64 : slot.dtype);
    if (!scalar && !slot.pointerDepth && slot.dtype == DType::F8E4B15 && value.asDouble())
      scalar = encodeNumber(slot.dtype, *value.asDouble());
    if (!scalar)
      throw Failure(Status::Usage, fmt::format("argument `{}`: {} can't be passed as {}", slot.name, value.repr(), spelling(slot.dtype)));
    bits.push_back(*scalar);
  }
  return bits;
}

compiler::CompiledKernel compileKernel(compiler::Compiler &compiler, const jit::Program &program, const std::string &kernel, const std::vector<lang::ParamSpec> &specs,
                                       const compiler::Options &options) {
  lang::Diagnostics diagnostics;
  compiler::CompiledKernel compiled = compiler.compile(program.scope(), kernel, specs, options, diagnostics);
  std::string messages = diagnostics.render();
  if (compiled.object.empty())
    throw Failure(Status::Diagnostics, messages.empty() ? fmt::format("internal error: compiling `{}` gave no code and no message", kernel) : messages);
  std::fputs(messages.c_str(), stderr);
  return compiled;
}

compiler::Options withLaunchOptions(compiler::Options compile, const runtime::LaunchOptions &launch) {
  if (!compile.numWarps)
    compile.numWarps = launch.numWarps;
  if (!compile.numStages)
    compile.numStages = launch.numStages;
  compile.fpFusion |= launch.fpFusion;
  return compile;
}

uint64_t bytesMoved(const std::vector<compiler::ArgumentSlot> &slots, const std::vector<ResolvedArgument> &arguments) {
  uint64_t bytes = 0;
  for (const compiler::ArgumentSlot &slot : slots)
    if (const ArrayArgument *array = slot.isHidden() ? nullptr : arrayOf(slot, arguments))
      bytes += array->array.bytes() * (static_cast<uint64_t>(slot.read) + static_cast<uint64_t>(slot.written));
  return bytes;
}

Snapshot::Snapshot(const std::vector<compiler::ArgumentSlot> &slots, const std::vector<ResolvedArgument> &arguments) {
  for (const compiler::ArgumentSlot &slot : slots)
    if (const ArrayArgument *array = !slot.isHidden() && slot.read && slot.written ? arrayOf(slot, arguments) : nullptr) {
      const char *data = static_cast<const char *>(array->array.data());
      arrays.emplace_back(array, std::vector<char>(data, data + array->array.bytes()));
    }
}

void Snapshot::restore() const {
  for (const auto &[array, bytes] : arrays)
    std::copy(bytes.begin(), bytes.end(), static_cast<char *>(array->array.data()));
}

bool Snapshot::holds(const ArrayArgument &array) const {
  return std::any_of(arrays.begin(), arrays.end(), [&](const auto &entry) { return entry.first == &array; });
}

} // namespace tk::tool
