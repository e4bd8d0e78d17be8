// Loading: variables get their addresses, functions are decoded, and each kernel's shared memory is laid out.
#include "runtime/device/emulated/Decoder.h"
#include <cstring>
#include <set>

namespace tk::emulated {

Module::~Module() {
  for (uint64_t address : addresses)
    if (address)
      device.memory().remove(address);
}

const Function *Module::find(std::string_view name) const {
  for (const Function &function : functions)
    if (function.name == name && function.isDefined)
      return &function;
  return nullptr;
}

std::pair<uint64_t, uint64_t> Module::variable(std::string_view name) const {
  for (size_t k = 0; k < addresses.size(); ++k)
    if (addresses[k] && parsed->variables[k].function < 0 && parsed->variables[k].name == name)
      return {addresses[k], parsed->variables[k].bytes};
  return {0, 0};
}

// The shared variables that a kernel and what it calls can name, in the order of their declaration, then the dynamic part.
static void layOutShared(Module &module, Function &kernel) {
  std::set<int> seen, named;
  std::vector<int> open = {int(&kernel - module.functions.data())};
  bool indirect = false;
  while (!open.empty()) {
    int index = open.back();
    open.pop_back();
    if (!seen.insert(index).second)
      continue;
    const Function &function = module.functions[size_t(index)];
    named.insert(function.sharedVariables.begin(), function.sharedVariables.end());
    open.insert(open.end(), function.callees.begin(), function.callees.end());
    if (function.callsIndirectly && !indirect) {
      indirect = true;
      for (size_t k = 0; k < module.functions.size(); ++k)
        if (!module.functions[k].isEntry)
          open.push_back(int(k));
    }
  }
  uint32_t top = sharedBase, dynamicAlign = 16;
  auto roundUp = [](uint64_t value, uint64_t align) { return uint32_t((value + align - 1) / align * align); };
  for (int index : named) {
    const Variable &variable = module.parsed->variables[size_t(index)];
    if (variable.isExtern) {
      dynamicAlign = std::max(dynamicAlign, uint32_t(variable.align));
      continue;
    }
    top = roundUp(top, variable.align);
    kernel.sharedOffsets[index] = top;
    if (variable.bytes > 1u << 24)
      throw PtxError("`" + variable.name + "` does not fit in shared memory", variable.line);
    top += uint32_t(variable.bytes);
  }
  kernel.staticShared = top - sharedBase;
  kernel.dynamicBase = roundUp(top, dynamicAlign);
}

std::unique_ptr<Module> EmulatedDevice::load(std::string ptx) {
  std::unique_ptr<Module> module(new Module(*this));
  module->parsed = parsePtx(std::move(ptx));
  ParsedModule &parsed = *module->parsed;
  module->addresses.resize(parsed.variables.size());
  for (size_t k = 0; k < parsed.variables.size(); ++k) {
    const Variable &variable = parsed.variables[k];
    if (variable.space != Space::Global && variable.space != Space::Const)
      continue;
    if (variable.isExtern)
      throw PtxError("`" + variable.name + "` is external, and modules are not linked", variable.line);
    uint64_t address = memory().allocate(std::max<uint64_t>(variable.bytes, 1), "the variable `" + variable.name + "`");
    if (!address)
      throw PtxError("no memory for `" + variable.name + "`", variable.line);
    module->addresses[k] = address;
    std::memset(reinterpret_cast<void *>(address), 0, variable.bytes);
    std::memcpy(reinterpret_cast<void *>(address), variable.initial.data(), variable.initial.size());
  }
  for (const ParsedFunction &function : parsed.functions) {
    Function decoded;
    decoded.name = function.name;
    decoded.isEntry = function.isEntry;
    decoded.isDefined = function.hasBody;
    decoded.maxRegisters = function.maxRegisters;
    for (int i = 0; i < 3; ++i) {
      decoded.maxThreads[i] = function.maxThreads[i];
      decoded.requiredThreads[i] = function.requiredThreads[i];
      decoded.requiredCluster[i] = function.requiredCluster[i];
    }
    module->functions.push_back(std::move(decoded));
  }
  for (size_t k = 0; k < parsed.functions.size(); ++k)
    Decoder(*module, int(k)).run();
  for (Function &function : module->functions)
    if (function.isEntry)
      layOutShared(*module, function);
  // Addresses in initial values, now that everything has one.
  for (size_t k = 0; k < parsed.variables.size(); ++k)
    for (const Variable::Reference &reference : parsed.variables[k].references) {
      uint64_t value = 0;
      bool found = false;
      for (size_t other = 0; other < parsed.variables.size() && !found; ++other)
        if (parsed.variables[other].name == reference.symbol && module->addresses[other]) {
          value = module->addresses[other];
          found = true;
        }
      for (size_t f = 0; f < parsed.functions.size() && !found; ++f)
        if (parsed.functions[f].name == reference.symbol) {
          value = functionWindow | f;
          found = true;
        }
      if (!found)
        throw PtxError("unknown name `" + reference.symbol + "` in the initial value of `" + parsed.variables[k].name + "`", parsed.variables[k].line);
      value = (value + uint64_t(reference.addend)) >> reference.shift;
      std::memcpy(reinterpret_cast<void *>(module->addresses[k] + reference.offset), &value, reference.bytes);
    }
  return module;
}

} // namespace tk::emulated
