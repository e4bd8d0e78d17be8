// The process's hooks, for those who call them.
#pragma once
#include "tk/hooks.h"

namespace tk::runtime {

/// Null when none are set, which is one read. What it points to stays valid.
const Hooks *currentHooks();

} // namespace tk::runtime
