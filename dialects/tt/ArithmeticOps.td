// Elementwise arithmetic that arith and math don't have.
#ifndef TK_TT_ARITHMETIC_OPS_TD
#define TK_TT_ARITHMETIC_OPS_TD

include "dialects/tt/TTOpBase.td"

def TT_FpToFpOp : TT_ElementwiseOp<"fp_to_fp"> {
  let summary = "conversion between floating-point types";
  let description = [{
    One rounding from the source precision. Conversions to 8-bit kinds saturate to the largest finite value; NaN stays NaN.
    FP1. `rounding` stands exactly when the result is narrower.
  }];
  let arguments = (ins TT_FloatLike:$src, OptionalAttr<TT_RoundingMode>:$rounding);
  let results = (outs TT_FloatLike:$result);
  let assemblyFormat = "$src attr-dict (`,` `rounding` `=` $rounding^)? `:` type($src) `->` type($result)";
  let hasFolder = 1;
  let hasVerifier = 1;
}

def TT_ClampFOp : TT_ElementwiseOp<"clampf", [AllTypesMatch<["x", "min", "max", "result"]>]> {
  let summary = "min(max(x, min), max)";
  let arguments = (ins TT_FloatLike:$x, TT_FloatLike:$min, TT_FloatLike:$max, TT_PropagateNan:$propagateNan);
  let results = (outs TT_FloatLike:$result);
  let assemblyFormat = "$x `,` $min `,` $max `,` `propagateNan` `=` $propagateNan attr-dict `:` type($result)";
}

def TT_PreciseSqrtOp : TT_SameTypeOp<"precise_sqrt"> {
  let summary = "correctly rounded square root";
  let arguments = (ins TT_FloatLike:$x);
  let results = (outs TT_FloatLike:$result);
  let assemblyFormat = "$x attr-dict `:` type($x)";
}

def TT_PreciseDivFOp : TT_SameTypeOp<"precise_divf"> {
  let summary = "correctly rounded division";
  let arguments = (ins TT_FloatLike:$x, TT_FloatLike:$y);
  let results = (outs TT_FloatLike:$result);
  let assemblyFormat = "$x `,` $y attr-dict `:` type($x)";
}

def TT_MulhiUIOp : TT_SameTypeOp<"mulhiui"> {
  let summary = "high half of the product of unsigned bit patterns";
  let arguments = (ins TT_IntLike:$x, TT_IntLike:$y);
  let results = (outs TT_IntLike:$result);
  let assemblyFormat = "$x `,` $y attr-dict `:` type($x)";
}

#endif
