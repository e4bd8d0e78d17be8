// Creation of tiles and movement of their elements. Nothing here computes a new element.
#ifndef TK_TT_SHAPE_OPS_TD
#define TK_TT_SHAPE_OPS_TD

include "dialects/tt/TTOpBase.td"

def TT_MakeRangeOp : TT_PureOp<"make_range"> {
  let summary = "start, start + 1, ... end - 1";
  let description = "MR1. end > start. MR2. The result is a rank-1 i32 tile of extent end - start.";
  let arguments = (ins I32Attr:$start, I32Attr:$end);
  let results = (outs TT_TileOf<[I32]>:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
  let hasFolder = 1;
  let hasVerifier = 1;
}

def TT_SplatOp : TT_PureOp<"splat"> {
  let summary = "one scalar in every element";
  let description = "SP1. The result's element type is the operand's type.";
  let arguments = (ins TT_Scalar:$src);
  let results = (outs TT_Tile:$result);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
  let hasFolder = 1;
  let hasVerifier = 1;
}

def TT_UnsplatOp : TT_PureOp<"unsplat", [DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "the element of a tile that has exactly one";
  let description = "US1. The operand has one element. US2. The result is its element type.";
  let arguments = (ins TT_Tile:$src);
  let results = (outs TT_Scalar:$result);
  let assemblyFormat = "$src attr-dict `:` type($src)";
  let hasFolder = 1;
  let hasVerifier = 1;
}

def TT_ExpandDimsOp : TT_PureOp<"expand_dims"> {
  let summary = "a new axis of extent 1";
  let description = "ED1. 0 <= axis <= rank. ED2. The result is the operand's shape with 1 inserted at axis.";
  let arguments = (ins TT_Tile:$src, I32Attr:$axis);
  let results = (outs TT_Tile:$result);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
  let hasFolder = 1;
  let hasCanonicalizer = 1;
  let hasVerifier = 1;
}

def TT_BroadcastOp : TT_PureOp<"broadcast"> {
  let summary = "repetition along axes of extent 1";
  let description = "BC1. Equal ranks and element types. BC2. Each source extent is 1 or the result's.";
  let arguments = (ins TT_Tile:$src);
  let results = (outs TT_Tile:$result);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
  let hasFolder = 1;
  let hasCanonicalizer = 1;
  let hasVerifier = 1;
}

def TT_ReshapeOp : TT_PureOp<"reshape"> {
  let summary = "the same elements in row-major order under another shape";
  let description = "With `allow_reorder` the order is free. RS1. Equal element counts and types.";
  let arguments = (ins TT_Tile:$src, UnitAttr:$allow_reorder, UnitAttr:$efficient_layout);
  let results = (outs TT_Tile:$result);
  let assemblyFormat = "$src (`allow_reorder` $allow_reorder^)? (`efficient_layout` $efficient_layout^)? attr-dict `:` type($src) `->` type($result)";
  let hasFolder = 1;
  let hasCanonicalizer = 1;
  let hasVerifier = 1;
}

def TT_TransOp : TT_PureOp<"trans"> {
  let summary = "permutation of the axes: result axis i is source axis order[i]";
  let description = "T1. order is a permutation of the axes. T2. The result's shape is the permuted one.";
  let arguments = (ins TT_Tile:$src, DenseI32ArrayAttr:$order);
  let results = (outs TT_Tile:$result);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
  let hasFolder = 1;
  let hasCanonicalizer = 1;
  let hasVerifier = 1;
}

def TT_JoinOp : TT_PureOp<"join", [AllTypesMatch<["lhs", "rhs"]>]> {
  let summary = "two tiles along a new last axis of extent 2";
  let description = "J1. The result's shape is the operands' with 2 appended.";
  let arguments = (ins TT_Tile:$lhs, TT_Tile:$rhs);
  let results = (outs TT_Tile:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs) `->` type($result)";
  let hasVerifier = 1;
}

def TT_SplitOp : TT_PureOp<"split", [AllTypesMatch<["outLHS", "outRHS"]>]> {
  let summary = "the two halves of a last axis of extent 2";
  let description = "SL1. The operand's last extent is 2. SL2. The results have its shape without the last axis.";
  let arguments = (ins TT_Tile:$src);
  let results = (outs TT_Tile:$outLHS, TT_Tile:$outRHS);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($outLHS)";
  let hasVerifier = 1;
}

def TT_CatOp : TT_PureOp<"cat"> {
  let summary = "one tile after the other along axis 0";
  let description = "One type stands for both operands when they are equal. CT1. Equal shapes and element types but for the extents of axis 0, which add up.";
  let arguments = (ins TT_Tile:$lhs, TT_Tile:$rhs);
  let results = (outs TT_Tile:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` custom<CatTypes>(type($lhs), type($rhs)) `->` type($result)";
  let hasVerifier = 1;
}

def TT_GatherOp : TT_PureOp<"gather"> {
  let summary = "elements of a tile picked by index along one axis";
  let description = "An index out of range is clamped. G1. Equal ranks; extents agree except on axis. G2. The result has the indices' shape and the source's element type.";
  let arguments = (ins TT_Tile:$src, TT_TileOf<[TT_Int]>:$indices, I32Attr:$axis);
  let results = (outs TT_Tile:$result);
  let assemblyFormat = "$src `[` $indices `]` attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

#endif
