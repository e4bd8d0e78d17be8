// The tables of cases, by area. Main.cpp runs them in this order.
#pragma once
#include "test/conformance/Case.h"

namespace tk::conformance {

#define TK_CONFORMANCE_AREAS(X) X(Promotion) X(Random)

#define TK_AREA(name) void add##name(Suite &suite);
TK_CONFORMANCE_AREAS(TK_AREA)
#undef TK_AREA

} // namespace tk::conformance
