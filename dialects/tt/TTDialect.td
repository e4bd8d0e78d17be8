// The tt dialect, its pointer type and its enumerations. Names and text follow the published form of Triton's TTIR, so that .ttir files can be read.
#ifndef TK_TT_DIALECT_TD
#define TK_TT_DIALECT_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/AttrTypeBase.td"

def TT_Dialect : Dialect {
  let name = "tt";
  let cppNamespace = "::tk::tt";
  let summary = "tile IR: one program's view of a kernel, with tiles as builtin tensors of static shape and no layouts";
  let description = [{
    A value is a scalar or a tile (a ranked tensor of static shape). Integers are signless; whether an operation is
    signed is in the operation. Tiles have their true extents, powers of two or not.

    Arithmetic is `arith` and `math`, control flow is `scf`. Where those leave behaviour open, tt fixes it:
    integer arithmetic wraps; a shift by at least the width gives 0 (or the sign for `arith.shrsi`);
    division by zero and INT_MIN / -1 give an unspecified value and never trap; `arith.fptosi`/`fptoui` saturate and
    turn NaN into 0; floating-point operations are never contracted or reassociated outside `tt.dot` and `tt.reduce`.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::scf::SCFDialect", "::mlir::ub::UBDialect"];
  let useDefaultTypePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let extraClassDeclaration = "void registerTypes();";
}

class TT_Type<string name, string typeMnemonic> : TypeDef<TT_Dialect, name> { let mnemonic = typeMnemonic; }

def TT_PointerType : TT_Type<"Pointer", "ptr"> {
  let summary = "address of one element of a type in an address space";
  let description = [{
    Prints as `!tt.ptr<f32>` or `!tt.ptr<f32, 3>`; address space 1 (global memory) is the default.
    P1. The pointee is a tt scalar. P2. The address space is at least 0.
  }];
  let parameters = (ins "::mlir::Type":$pointeeType, "int":$addressSpace);
  let builders = [TypeBuilderWithInferredContext<(ins "::mlir::Type":$pointeeType, CArg<"int", "1">:$addressSpace), [{
    return $_get(pointeeType.getContext(), pointeeType, addressSpace);
  }]>];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

// ---- what a value may be ----
def TT_Float : AnyTypeOf<[F8E4M3FN, F8E4M3FNUZ, F8E5M2, F8E5M2FNUZ, F16, BF16, F32, F64], "floating-point">;
def TT_Int : AnyTypeOf<[I1, I8, I16, I32, I64], "integer">;
def TT_TileShapePred : CPred<"::tk::tt::isTileShape(::llvm::cast<::mlir::RankedTensorType>($_self).getShape())">;
class TT_TileOf<list<Type> elements> : RankedTensorOf<elements, [TT_TileShapePred], "tile">;
def TT_Scalar : AnyTypeOf<[TT_Float, TT_Int, TT_PointerType], "scalar">;
def TT_Tile : TT_TileOf<[TT_Float, TT_Int, TT_PointerType]>;
def TT_Value : AnyTypeOf<[TT_Scalar, TT_Tile], "scalar or tile">;
def TT_FloatLike : AnyTypeOf<[TT_Float, TT_TileOf<[TT_Float]>], "floating-point scalar or tile">;
def TT_IntLike : AnyTypeOf<[TT_Int, TT_TileOf<[TT_Int]>], "integer scalar or tile">;
def TT_I1Like : AnyTypeOf<[I1, TT_TileOf<[I1]>], "i1 scalar or tile">;
def TT_I32Like : AnyTypeOf<[I32, TT_TileOf<[I32]>], "i32 scalar or tile">;
def TT_I64Like : AnyTypeOf<[I64, TT_TileOf<[I64]>], "i64 scalar or tile">;
def TT_PtrLike : AnyTypeOf<[TT_PointerType, TT_TileOf<[TT_PointerType]>], "pointer scalar or tile">;

// ---- enumerations ----
class TT_I32Enum<string name, string summary, list<I32EnumAttrCase> cases> : I32EnumAttr<name, summary, cases> { let cppNamespace = "::tk::tt"; }

def TT_ProgramDim : TT_I32Enum<"ProgramDim", "axis of the launch grid", [I32EnumAttrCase<"X", 0, "x">, I32EnumAttrCase<"Y", 1, "y">, I32EnumAttrCase<"Z", 2, "z">]>;
def TT_CacheModifier : TT_I32Enum<"CacheModifier", "cache operator of an access", [
  I32EnumAttrCase<"NONE", 1, "none">, I32EnumAttrCase<"CA", 2, "ca">, I32EnumAttrCase<"CG", 3, "cg">, I32EnumAttrCase<"WB", 4, "wb">,
  I32EnumAttrCase<"CS", 5, "cs">, I32EnumAttrCase<"WT", 6, "wt">, I32EnumAttrCase<"CV", 7, "cv">]>;
def TT_EvictionPolicy : TT_I32Enum<"EvictionPolicy", "eviction priority of an access", [
  I32EnumAttrCase<"NORMAL", 1, "evict_normal">, I32EnumAttrCase<"EVICT_FIRST", 2, "evict_first">, I32EnumAttrCase<"EVICT_LAST", 3, "evict_last">]>;
def TT_RoundingMode : TT_I32Enum<"RoundingMode", "rounding of a narrowing conversion", [I32EnumAttrCase<"RTZ", 0, "rtz">, I32EnumAttrCase<"RTNE", 1, "rtne">]>;
def TT_InputPrecision : TT_I32Enum<"InputPrecision", "precision of fp32 dot operands", [
  I32EnumAttrCase<"TF32", 0, "tf32">, I32EnumAttrCase<"TF32x3", 1, "tf32x3">, I32EnumAttrCase<"IEEE", 2, "ieee">,
  I32EnumAttrCase<"BF16x3", 3, "bf16x3">, I32EnumAttrCase<"BF16x6", 4, "bf16x6">]>;
def TT_PropagateNan : TT_I32Enum<"PropagateNan", "what a NaN does in clampf", [I32EnumAttrCase<"NONE", 0, "none">, I32EnumAttrCase<"ALL", 0xFFFF, "all">]>;
def TT_RMWOp : TT_I32Enum<"RMWOp", "atomic read-modify-write operation", [
  I32EnumAttrCase<"AND", 1, "and">, I32EnumAttrCase<"OR", 2, "or">, I32EnumAttrCase<"XOR", 3, "xor">, I32EnumAttrCase<"ADD", 4, "add">,
  I32EnumAttrCase<"FADD", 5, "fadd">, I32EnumAttrCase<"MAX", 6, "max">, I32EnumAttrCase<"MIN", 7, "min">, I32EnumAttrCase<"UMAX", 8, "umax">,
  I32EnumAttrCase<"UMIN", 9, "umin">, I32EnumAttrCase<"XCHG", 10, "exch">]>;
def TT_MemSemantic : TT_I32Enum<"MemSemantic", "order of an atomic", [
  I32EnumAttrCase<"RELAXED", 1, "relaxed">, I32EnumAttrCase<"ACQUIRE", 2, "acquire">, I32EnumAttrCase<"RELEASE", 3, "release">, I32EnumAttrCase<"ACQUIRE_RELEASE", 4, "acq_rel">]>;
def TT_MemSyncScope : TT_I32Enum<"MemSyncScope", "scope of an atomic", [I32EnumAttrCase<"GPU", 1, "gpu">, I32EnumAttrCase<"CTA", 2, "cta">, I32EnumAttrCase<"SYSTEM", 3, "sys">]>;

#endif
