// The operations of ttg.
#ifndef TK_TTG_OPS_TD
#define TK_TTG_OPS_TD

include "dialects/ttg/TTGDialect.td"
include "dialects/tt/TTOpBase.td"

class TTG_Op<string mnemonic, list<Trait> traits = []> : Op<TTG_Dialect, mnemonic, traits>;

def TTG_ConvertLayoutOp : TTG_Op<"convert_layout", [Pure, SameOperandsAndResultShape, SameOperandsAndResultElementType]> {
  let summary = "the same tile in another layout";
  let description = "CL1. Both types have a layout.";
  let arguments = (ins TT_Tile:$src);
  let results = (outs TT_Tile:$result);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
  let hasVerifier = 1;
}

def SharedMemory : Resource<"::tk::ttg::SharedMemory">;

def TTG_BarrierOp : TTG_Op<"barrier", [MemoryEffects<[MemRead<SharedMemory>, MemWrite<SharedMemory>]>]> {
  let summary = "every thread of the enclosing warps arrives before any goes on; orders shared memory";
  let assemblyFormat = "attr-dict";
}

#endif
