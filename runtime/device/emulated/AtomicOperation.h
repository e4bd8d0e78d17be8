// What atomics, reductions of bulk copies and red.async do to an element of memory.
#pragma once
#include "runtime/device/emulated/Ptx.h"

namespace tk::emulated {

enum class AtomicOperation : uint8_t { And, Or, Xor, Exch, Cas, Add, Inc, Dec, Min, Max };

/// Atomic among all host threads; elements of at most 8 bytes. Returns what was there.
uint64_t updateAtomically(AtomicOperation operation, Type type, uint8_t *memory, uint64_t value);

} // namespace tk::emulated
