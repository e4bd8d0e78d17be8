// The tables of cases, by area. Main.cpp runs them in this order.
#pragma once
#include "test/conformance/Case.h"

namespace tk::conformance {

#define TK_CONFORMANCE_AREAS(X)                                                                                                                        \
  X(Promotion)                                                                                                                                         \
  X(Literals) X(IntegerArithmetic) X(Casts) X(Float8) X(FloatOperators) X(MathGates) X(Reductions) X(Scans) X(Movement) X(OddExtents) X(OddRows) X(Dot) X(WideProducts) X(Random) \
      X(MemoryAccess) X(Atomics) X(Replicas) X(ControlFlow) X(TypeFaults) X(MemoryFaults) X(OffsetFaults) X(LoopFaults) X(ProgramFaults)

#define TK_AREA(name) void add##name(Suite &suite);
TK_CONFORMANCE_AREAS(TK_AREA)
#undef TK_AREA

} // namespace tk::conformance
