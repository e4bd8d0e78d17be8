// Reductions, scans and histograms.
#ifndef TK_TT_REDUCTION_OPS_TD
#define TK_TT_REDUCTION_OPS_TD

include "dialects/tt/TTOpBase.td"

def TT_ReduceOp : TT_Op<"reduce", [SameOperandsShape, RecursiveMemoryEffects, RecursivelySpeculatable, SingleBlock]> {
  let summary = "reduction of one or more tiles along one axis with a combine region";
  let description = [{
    The region takes 2n scalars (n left, n right) and returns n. It is associative; it need not be commutative: elements
    are combined in order along the axis, with free bracketing.

    RD1. 0 <= axis < rank. RD2. Result i is operand i's shape without the axis (its element type when nothing is left).
    RD3. The region has 2n arguments and returns n values, each of its operand's element type.
  }];
  let arguments = (ins Variadic<TT_Tile>:$srcs, I32Attr:$axis);
  let results = (outs Variadic<TT_Value>:$result);
  let regions = (region SizedRegion<1>:$combineOp);
  let builders = [OpBuilder<(ins "::mlir::ValueRange":$srcs, "int":$axis)>];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def TT_ReduceReturnOp : TT_Op<"reduce.return", [HasParent<"ReduceOp">, Pure, Terminator, ReturnLike]> {
  let summary = "end of a reduction's combine region";
  let arguments = (ins Variadic<AnyType>:$result);
  let assemblyFormat = "$result attr-dict `:` type($result)";
}

def TT_ScanOp : TT_Op<"scan", [SameOperandsShape, RecursiveMemoryEffects, RecursivelySpeculatable, SingleBlock]> {
  let summary = "inclusive scan of one or more tiles along one axis with a combine region";
  let description = [{
    result[i] combines elements 0..i in order; with `reverse` it combines n-1..i, the accumulated value first.

    SC1. 0 <= axis < rank. SC2. The result types are the operands'. SC3. As RD3.
  }];
  let arguments = (ins Variadic<TT_Tile>:$srcs, I32Attr:$axis, BoolAttr:$reverse);
  let results = (outs Variadic<TT_Tile>:$result);
  let regions = (region SizedRegion<1>:$combineOp);
  let builders = [OpBuilder<(ins "::mlir::ValueRange":$srcs, "int":$axis, "bool":$reverse)>];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def TT_ScanReturnOp : TT_Op<"scan.return", [HasParent<"ScanOp">, Pure, Terminator, ReturnLike]> {
  let summary = "end of a scan's combine region";
  let arguments = (ins Variadic<AnyType>:$result);
  let assemblyFormat = "$result attr-dict `:` type($result)";
}

def TT_HistogramOp : TT_PureOp<"histogram", [TT_MaskOf<"src">]> {
  let summary = "count of each value 0 <= v < n in a rank-1 i32 tile; other values are dropped";
  let description = "H1. The operand is rank 1 of i32. H2. The result is rank 1 of i32. H3. The mask has the operand's shape.";
  let arguments = (ins TT_TileOf<[TT_Int]>:$src, Optional<TT_I1Like>:$mask);
  let results = (outs TT_TileOf<[TT_Int]>:$result);
  let assemblyFormat = "$src (`,` $mask^)? attr-dict `:` type($src) `->` type($result)";
  let hasVerifier = 1;
}

#endif
