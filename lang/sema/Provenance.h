// Which kernel arguments are read and written: pointers are followed back to where they come from.
#pragma once
#include "dialects/tt/TT.h"
#include "lang/sema/Elaborate.h"

namespace tk::lang {

/// Fills `read` and `written`. A pointer that was loaded from memory counts for the argument that it was loaded through (a pointer table).
void findAccesses(tt::FuncOp function, std::vector<KernelArgument> &arguments);

} // namespace tk::lang
