// Matrix products.
#ifndef TK_TT_MATRIX_OPS_TD
#define TK_TT_MATRIX_OPS_TD

include "dialects/tt/TTOpBase.td"

def TT_DotOp : TT_PureOp<"dot", [AllTypesMatch<["c", "d"]>]> {
  let summary = "d = a * b + c over the last two axes; leading axes are a batch";
  let description = [{
    Products and sums are those of the result's element type, in any order, fused or not. `inputPrecision` says how fp32 operands are
    taken; the front end resolves it from the target, and every execution honours it. Of bf16 operands and their sums, what is below 2^-126 may count as zero.

    D1. Ranks are equal and at least 2. D2. a is [.., M, K], b is [.., K, N], c and d are [.., M, N]. D3. Operand element types are
    equal, or both are 8-bit floats. D4. int8 gives i32; fp64 gives f64; bf16 and fp32 give f32; fp16 and 8-bit floats give f32 or f16.
  }];
  let arguments = (ins TT_Tile:$a, TT_Tile:$b, TT_Tile:$c, DefaultValuedAttr<TT_InputPrecision, "::tk::tt::InputPrecision::IEEE">:$inputPrecision,
                       DefaultValuedAttr<I32Attr, "0">:$maxNumImpreciseAcc);
  let results = (outs TT_Tile:$d);
  let assemblyFormat = "$a `,` $b `,` $c (`,` `inputPrecision` `=` $inputPrecision^)? attr-dict `:` type($a) `*` type($b) `->` type($d)";
  let hasVerifier = 1;
}

#endif
