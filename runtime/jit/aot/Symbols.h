// Names in object files: what a linker sees of an object and under which name. LLVM's objcopy in memory; no LLVM type appears here.
#pragma once
#include <map>
#include <set>
#include <string>

namespace tk::jit::aot {

struct SymbolChange {
  std::map<std::string, std::string> rename;
  std::set<std::string> keepGlobal; // by their new names; every other defined symbol becomes local
  std::set<std::string> weaken;     // by their new names
};

/// A relocatable ELF object with the changes made. Throws Error(Internal).
std::string changeSymbols(const std::string &object, const SymbolChange &change);

} // namespace tk::jit::aot
