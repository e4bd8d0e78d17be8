// The operations of tt, one file per family; this file is what TableGen reads.
#ifndef TK_TT_OPS_TD
#define TK_TT_OPS_TD

include "dialects/tt/TTDialect.td"
include "dialects/tt/TTOpBase.td"
include "dialects/tt/FunctionOps.td"
include "dialects/tt/MemoryOps.td"
include "dialects/tt/ShapeOps.td"
include "dialects/tt/ArithmeticOps.td"
include "dialects/tt/ReductionOps.td"
include "dialects/tt/MatrixOps.td"
include "dialects/tt/DebugOps.td"

#endif
