// Printing, assertions, barriers and facts.
#ifndef TK_TT_DEBUG_OPS_TD
#define TK_TT_DEBUG_OPS_TD

include "dialects/tt/TTOpBase.td"

def TT_PrintOp : TT_Op<"print", [MemoryEffects<[MemWrite<GlobalMemory>]>]> {
  let summary = "one line per element, with the program's ids and the element's index";
  let description = "PR1. `isSigned` has one entry per operand.";
  let arguments = (ins StrAttr:$prefix, BoolAttr:$hex, Variadic<TT_Value>:$args, DenseI32ArrayAttr:$isSigned);
  let assemblyFormat = "$prefix attr-dict (`:` $args^ `:` type($args))?";
  let hasVerifier = 1;
}

def TT_AssertOp : TT_Op<"assert", [MemoryEffects<[MemWrite<GlobalMemory>]>]> {
  let summary = "ends the launch with a message when an element is false";
  let arguments = (ins TT_I1Like:$condition, StrAttr:$message);
  let assemblyFormat = "$condition `,` $message attr-dict `:` type($condition)";
}

def TT_BarrierOp : TT_Op<"barrier", [MemoryEffects<[MemRead<GlobalMemory>, MemWrite<GlobalMemory>]>]> {
  let summary = "orders memory among the threads of one program";
  let assemblyFormat = "attr-dict";
}

def TT_AssumeOp : TT_Op<"assume", [MemoryEffects<[MemWrite<GlobalMemory>]>]> {
  let summary = "a fact about a scalar, true where it stands";
  let description = "Never hoisted out of the branch it stands in. False is undefined behaviour.";
  let arguments = (ins I1:$condition);
  let assemblyFormat = "$condition attr-dict";
}

#endif
