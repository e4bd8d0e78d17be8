// What the fuzzers share: bytes to a parsed file, and plausible arguments for each of its functions.
#pragma once
#include "lang/sema/Elaborate.h"
#include "lang/sema/ModuleScope.h"
#include "lang/sema/ParamSpecs.h"
#include <cstdint>

namespace tk::fuzz {

/// The file as it would be compiled; null when it has errors. All bytes are accepted.
std::unique_ptr<lang::ModuleScope> scopeOf(const uint8_t *data, size_t size);

/// For each of the first four kernels: its parameters as a caller might give them, by annotation, else by the first letter of the name.
void forEachKernel(const lang::ModuleScope &scope, llvm::function_ref<void(const lang::ast::Function &, const std::vector<lang::ParamSpec> &)> visit);

/// Ends the process when an internal error was reported, or when there was no result and no error either.
void expectReason(const lang::Diagnostics &diagnostics, bool result);

} // namespace tk::fuzz
