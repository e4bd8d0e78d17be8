// The build's own hash over what compiled code depends on.
#include "CompilerIdentity.h"
#include "runtime/Frontend.h"

namespace tk::runtime {

const char *compilerIdentity() { return TKC_COMPILER_IDENTITY; }

} // namespace tk::runtime
