// Pointers, loads, stores and atomics.
#ifndef TK_TT_MEMORY_OPS_TD
#define TK_TT_MEMORY_OPS_TD

include "dialects/tt/TTOpBase.td"

def TT_AddPtrOp : TT_ElementwiseOp<"addptr", [AllTypesMatch<["result", "ptr"]>]> {
  let summary = "pointer plus an offset in elements";
  let description = "The offset is signed (the front end widens unsigned ones).";
  let arguments = (ins TT_PtrLike:$ptr, TT_IntLike:$offset);
  let results = (outs TT_PtrLike:$result);
  let assemblyFormat = "$ptr `,` $offset attr-dict `:` type($result) `,` type($offset)";
  let hasFolder = 1;
}

def TT_PtrToIntOp : TT_ElementwiseOp<"ptr_to_int"> {
  let summary = "the address";
  let arguments = (ins TT_PtrLike:$src);
  let results = (outs TT_I64Like:$result);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
}

def TT_IntToPtrOp : TT_ElementwiseOp<"int_to_ptr"> {
  let summary = "a pointer from an address";
  let arguments = (ins TT_I64Like:$src);
  let results = (outs TT_PtrLike:$result);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
}

def TT_BitcastOp : TT_ElementwiseOp<"bitcast"> {
  let summary = "the same bits as another type; pointers may change their pointee";
  let description = "B1. Equal bit widths, or pointers on both sides.";
  let arguments = (ins TT_Value:$src);
  let results = (outs TT_Value:$result);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
  let hasFolder = 1;
  let hasVerifier = 1;
}

def TT_LoadOp : TT_Op<"load", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>, DeclareOpInterfaceMethods<InferTypeOpInterface>, AttrSizedOperandSegments,
                               TT_MaskOf<"ptr">, TT_PointeesOf<"ptr", "other">]> {
  let summary = "read through a pointer or a tile of pointers";
  let description = [{
    Masked-off elements are not accessed; their value is `other`, or zero without it. An i1 element is a byte that is
    tested against zero.

    L1. The result has the pointer's shape and pointee. L2. `mask` has the result's shape and element type i1.
    L3. `other` has the result's type. L4. `other` needs `mask`.
  }];
  let arguments = (ins TT_PtrLike:$ptr, Optional<TT_I1Like>:$mask, Optional<TT_Value>:$other,
                       DefaultValuedAttr<TT_CacheModifier, "::tk::tt::CacheModifier::NONE">:$cache,
                       DefaultValuedAttr<TT_EvictionPolicy, "::tk::tt::EvictionPolicy::NORMAL">:$evict,
                       DefaultValuedAttr<BoolAttr, "false">:$isVolatile);
  let results = (outs TT_Value:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$ptr)>, OpBuilder<(ins "::mlir::Value":$ptr, "::mlir::Value":$mask)>];
  let assemblyFormat = [{
    $ptr (`,` $mask^)? (`,` $other^)? oilist(`cacheModifier` `=` $cache | `evictionPolicy` `=` $evict) attr-dict `:` type($ptr)
  }];
  let hasCanonicalizer = 1;
  let hasVerifier = 1;
}

def TT_StoreOp : TT_Op<"store", [TT_PointeesOf<"ptr", "value">, TT_MaskOf<"ptr">]> {
  let summary = "write through a pointer or a tile of pointers";
  let description = [{
    Masked-off elements are not accessed. An i1 value is stored as the byte 0 or 1.

    S1. `value` has the pointer's shape and pointee. S2. `mask` has that shape and element type i1.
  }];
  let arguments = (ins Arg<TT_PtrLike, "", [MemWrite<GlobalMemory>]>:$ptr, TT_Value:$value, Optional<TT_I1Like>:$mask,
                       DefaultValuedAttr<TT_CacheModifier, "::tk::tt::CacheModifier::NONE">:$cache,
                       DefaultValuedAttr<TT_EvictionPolicy, "::tk::tt::EvictionPolicy::NORMAL">:$evict);
  let builders = [OpBuilder<(ins "::mlir::Value":$ptr, "::mlir::Value":$value)>];
  let assemblyFormat = [{
    $ptr `,` $value (`,` $mask^)? oilist(`cacheModifier` `=` $cache | `evictionPolicy` `=` $evict) attr-dict `:` type($ptr)
  }];
  let hasCanonicalizer = 1;
  let hasVerifier = 1;
}

def TT_AtomicRMWOp : TT_Op<"atomic_rmw"> {
  let summary = "atomic read-modify-write; the result is the old value";
  let description = [{
    `tt.atomic_rmw fadd, acq_rel, gpu, %p, %v, %m : (tensor<8x!tt.ptr<f32>>, tensor<8xf32>, tensor<8xi1>) -> tensor<8xf32>`
    RMW1. `val` and the result have the pointer's shape and pointee. RMW2. `mask` has that shape and element type i1.
  }];
  let arguments = (ins TT_RMWOp:$atomic_rmw_op, Arg<TT_PtrLike, "", [MemRead<GlobalMemory>, MemWrite<GlobalMemory>]>:$ptr, TT_Value:$val,
                       Optional<TT_I1Like>:$mask, TT_MemSemantic:$sem, TT_MemSyncScope:$scope);
  let results = (outs TT_Value:$result);
  let assemblyFormat = [{
    $atomic_rmw_op `,` $sem `,` $scope `,` $ptr `,` $val (`,` $mask^)? attr-dict `:` functional-type(operands, $result)
  }];
  let hasVerifier = 1;
}

def TT_AtomicCASOp : TT_Op<"atomic_cas"> {
  let summary = "atomic compare and swap; the result is the old value";
  let description = [{
    The comparison is of bits. CAS1. `cmp`, `val` and the result have the pointer's shape and pointee. CAS2. `mask` has that shape and element type i1.
  }];
  let arguments = (ins Arg<TT_PtrLike, "", [MemRead<GlobalMemory>, MemWrite<GlobalMemory>]>:$ptr, TT_Value:$cmp, TT_Value:$val,
                       Optional<TT_I1Like>:$mask, TT_MemSemantic:$sem, TT_MemSyncScope:$scope);
  let results = (outs TT_Value:$result);
  let assemblyFormat = "$sem `,` $scope `,` $ptr `,` $cmp `,` $val (`,` $mask^)? attr-dict `:` functional-type(operands, $result)";
  let hasVerifier = 1;
}

#endif
