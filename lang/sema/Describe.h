// What a launch has to know of a kernel file: lang's part of runtime/ModuleDescription.h.
#pragma once
#include "lang/sema/ConstValue.h"
#include "runtime/ModuleDescription.h"

namespace tk::lang {

/// Kernels with their parameters, defaults, grids, heuristics and configurations; every function with its lines and its closure. What a kernel's decorators and annotations have
/// wrong is reported, and in KernelDescription::problem; the other kernels are described all the same.
/// A default that no argument can express, or that only host code can evaluate, is left out (ParameterRule::hasDefault stays true): compiling evaluates it again.
runtime::ModuleDescription describe(const ModuleScope &scope, Diagnostics &diagnostics);

/// Likewise of one function, whether it is among ModuleScope::kernels() or not.
runtime::KernelDescription describe(const ModuleScope &scope, const ast::Function &kernel, Diagnostics &diagnostics);

/// The errors among the messages, one a line, as "line 12: ...": without the file's name and its text, so that they can be kept for a file that is moved.
std::string problemText(const Diagnostics &diagnostics);

} // namespace tk::lang
