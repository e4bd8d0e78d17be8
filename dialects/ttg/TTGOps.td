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

// ---- shared memory ----

def TTG_LocalAllocOp : TTG_Op<"local_alloc"> {
  let summary = "room for tiles in shared memory, for as long as something refers to it";
  let description = [{
    With an operand, the tile is written there, and the result need not be mutable.

    LA1. Without an operand the result is mutable. LA2. An operand has the result's shape and element type, and there is one slot.
  }];
  let arguments = (ins Optional<TT_Tile>:$src);
  let results = (outs Res<TTG_MemDescType, "", [MemAlloc<SharedMemory>, MemWrite<SharedMemory>]>:$result);
  let assemblyFormat = "(`of` $src^ `:` type($src))? attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def TTG_MemDescIndexOp : TTG_Op<"memdesc_index", [Pure]> {
  let summary = "one of several slots";
  let description = [{
    The slot `(slot + ahead) mod slots`, where 0 <= slot < slots. Two views with the same `slot` and different `ahead` are known to be disjoint.

    MI1. The result has the operand's tile and one slot. MI2. `ahead` is less than the number of slots.
  }];
  let arguments = (ins TTG_MemDescType:$src, I32:$slot, DefaultValuedAttr<I32Attr, "0">:$ahead);
  let results = (outs TTG_MemDescType:$result);
  let assemblyFormat = "$src `[` $slot (`+` $ahead^)? `]` attr-dict `:` type($src) `->` type($result)";
  let hasVerifier = 1;
}

def TTG_LocalLoadOp : TTG_Op<"local_load"> {
  let summary = "a tile from shared memory";
  let description = [{
    `token`: what has been waited for, when the tile was written asynchronously.

    LL1. The descriptor has one slot, the result its shape and element type, and a layout.
  }];
  let arguments = (ins Arg<TTG_MemDescType, "", [MemRead<SharedMemory>]>:$src, Optional<TTG_TokenType>:$token);
  let results = (outs TT_Tile:$result);
  let assemblyFormat = "$src (`,` $token^)? attr-dict `:` type($src) `->` type($result)";
  let hasVerifier = 1;
}

def TTG_LocalStoreOp : TTG_Op<"local_store"> {
  let summary = "a tile to shared memory";
  let description = "LS1. The descriptor is mutable and has one slot, and the tile's shape and element type; the tile has a layout.";
  let arguments = (ins TT_Tile:$value, Arg<TTG_MemDescType, "", [MemWrite<SharedMemory>]>:$dst);
  let assemblyFormat = "$value `,` $dst attr-dict `:` type($value) `->` type($dst)";
  let hasVerifier = 1;
}

def TTG_AsyncCopyOp : TTG_Op<"async_copy", [AttrSizedOperandSegments]> {
  let summary = "global memory to shared memory, without the registers between";
  let description = [{
    Masked-off elements are not read, and zero in shared memory. Where `pred` is false nothing is read and the slot's content is unspecified. `contiguity` elements of each thread
    that are neighbours in memory, aligned, with one mask, move at once.

    AC1. The descriptor is mutable, has one slot, and the shape and element type of the pointers; these have a layout. AC2. `contiguity` elements are 4, 8 or 16 bytes, which the
    thread's registers and the descriptor have side by side. AC3. `mask` has the pointers' shape and layout.
  }];
  let arguments = (ins Arg<TT_Tile, "", [MemRead<GlobalMemory>]>:$ptr, Arg<TTG_MemDescType, "", [MemWrite<SharedMemory>]>:$dst, Optional<TT_I1Like>:$mask, Optional<I1>:$pred,
                       I32Attr:$contiguity);
  let results = (outs TTG_TokenType:$token);
  let assemblyFormat = "$ptr `,` $dst (`mask` $mask^)? (`if` $pred^)? attr-dict `:` type($ptr) (`,` type($mask)^)? `->` type($dst)";
  let hasVerifier = 1;
  /// AC2: whether so many elements can move at once.
  let extraClassDeclaration = "static bool moves(uint64_t elements, const ::tk::ttg::TileLayout &from, ::tk::ttg::MemDescType to);";
}

def TTG_AsyncCommitOp : TTG_Op<"async_commit", [MemoryEffects<[MemWrite<SharedMemory>]>]> {
  let summary = "the thread's copies since the last commit become one group";
  let arguments = (ins Variadic<TTG_TokenType>:$copies);
  let results = (outs TTG_TokenType:$token);
  let assemblyFormat = "$copies attr-dict";
}

def TTG_AsyncWaitOp : TTG_Op<"async_wait", [MemoryEffects<[MemRead<SharedMemory>, MemWrite<SharedMemory>]>]> {
  let summary = "until all groups but the last `pending` ones have arrived";
  let description = "Each thread waits for its own copies; a barrier makes them known to the others (the allocation of shared memory sees to it).";
  let arguments = (ins Variadic<TTG_TokenType>:$groups, I32Attr:$pending);
  let results = (outs TTG_TokenType:$token);
  let assemblyFormat = "$groups attr-dict";
  let hasVerifier = 1;
}

def TTG_MemDescTransOp : TTG_Op<"memdesc_trans", [Pure]> {
  let summary = "the same memory, its tile with permuted axes";
  let description = "MT1. `order` is a permutation of the axes. MT2. The result has the permuted shape and layout, and all else of the operand.";
  let arguments = (ins TTG_MemDescType:$src, DenseI32ArrayAttr:$order);
  let results = (outs TTG_MemDescType:$result);
  let assemblyFormat = "$src $order attr-dict `:` type($src) `->` type($result)";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    static ::tk::ttg::MemDescType resultType(::tk::ttg::MemDescType from, ::llvm::ArrayRef<int32_t> order);
  }];
}

// ---- products of warp groups ----

def TTG_WarpgroupDotOp : TTG_Op<"warpgroup_dot", [AllTypesMatch<["c", "d"]>]> {
  let summary = "d = a * b + c by wgmma, which goes on by itself";
  let description = [{
    The result, and the memory that is read, belong to the product until a `ttg.warpgroup_wait` has waited for it; before that the result may only be the sum of another product, be
    carried by a loop, or be waited for. `c` ends here. Each product is a group of its own for waits.

    WD1. c and d have the layout `#ttg.mma<wgmma>`, with 64 rows and 8 columns for each group at least. WD2. b is a descriptor of one slot of [K, N] in a layout of `swizzledLayout`; a is one of [M, K], or a tile in the fragments of
    the instruction. WD3. Element types are the same (or both 8-bit floats) and have an instruction; K is a whole number of instructions. WD4. What is not 16 bits wide has K as its fast axis.
  }];
  let arguments = (ins AnyTypeOf<[TTG_MemDescType, TT_Tile]>:$a, Arg<TTG_MemDescType, "", [MemRead<SharedMemory>]>:$b, TT_Tile:$c,
      DefaultValuedAttr<I32Attr, "0">:$maxNumImpreciseAcc);
  let results = (outs TT_Tile:$d);
  let assemblyFormat = "$a `,` $b `,` $c attr-dict `:` type($a) `*` type($b) `->` type($d)";
  let hasVerifier = 1;
  /// Elements of K in one instruction.
  let extraClassDeclaration = "unsigned depth();";
}

def TTG_WarpgroupWaitOp
    : TTG_Op<"warpgroup_wait", [MemoryEffects<[MemRead<SharedMemory>, MemWrite<SharedMemory>]>,
                                RangedTypesMatchWith<"the results have the types of the sums", "sums", "results", "::llvm::to_vector($_self)">]> {
  let summary = "until all products but the last `pending` ones are done";
  let description = "Of the region's warps, each waits for its group's products. WW1. The results have the types of the operands, which are sums of products. "
                    "WW2. `pending` is 0 to 7.";
  let arguments = (ins Variadic<TT_Tile>:$sums, I32Attr:$pending);
  let results = (outs Variadic<TT_Tile>:$results);
  let assemblyFormat = "($sums^ `:` type($sums))? attr-dict";
  let builders = [OpBuilder<(ins "::mlir::ValueRange":$sums, "int32_t":$pending), [{ build($_builder, $_state, sums.getTypes(), sums, pending); }]>];
  let hasVerifier = 1;
}

def TTG_ProxyFenceOp : TTG_Op<"proxy_fence", [MemoryEffects<[MemRead<SharedMemory>, MemWrite<SharedMemory>]>]> {
  let summary = "what the thread has written to shared memory becomes visible to units that read it by themselves, after the next barrier";
  let assemblyFormat = "attr-dict";
}

// ---- warp regions ----

def TTG_WarpSpecializeOp : TTG_Op<"warp_specialize", [SingleBlock, NoTerminator]> {
  let summary = "regions that warps of one block execute at the same time";
  let description = [{
        %r = ttg.warp_specialize -> f32 {
          ...                                            // the default region: the function's own warps
          ttg.warp_yield %x : f32
        } partitions {
          ttg.warp_partition num_warps(4) (..) {..}      // further warps, each region its own ones
          ttg.warp_partition num_warps(1) registers(24) (..) {..}
        }

    The default region may use values from above. Everything before the operation comes before every region, and every region before everything behind the operation; between
    the regions only barriers in shared memory order anything.

    WS1. The default region ends with `ttg.warp_yield`, whose operands have the types of the results. WS2. There is at least one partition, and nothing besides. WS3. The
    operation is in a function, and in no other one of its kind. WS4. No result is a memory descriptor: memory of a region is its own. WS5. The two regions have no arguments.
  }];
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region AnyRegion:$defaultRegion, AnyRegion:$partitionRegion);
  let assemblyFormat = "(`->` type($results)^)? $defaultRegion `partitions` $partitionRegion attr-dict";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::llvm::SmallVector<::tk::ttg::WarpPartitionOp> partitions();
    ::tk::ttg::WarpYieldOp yield();
  }];
}

def TTG_WarpPartitionOp : TTG_Op<"warp_partition", [IsolatedFromAbove, SingleBlock, HasParent<"WarpSpecializeOp">]> {
  let summary = "what some warps do, with values that are named one by one";
  let description = [{
    `ttg.warp_partition num_warps(4) registers(40) (%inside = %outside : i32) {..}`. `registers`: how many each thread should have, where the target can give warps different numbers; a wish.

    WP1. The number of warps is a power of two. WP2. Captures are scalars, pointers and memory descriptors: the layout of a tile is for the warps outside. WP3. The region has an
    argument for each capture, of its type. WP4. Registers are a multiple of 8 from 24 to 256. WP5. The region ends with `ttg.warp_return`. WP6. Layouts inside are for so many warps.
  }];
  let arguments = (ins Variadic<AnyType>:$captures, I32Attr:$numWarps, OptionalAttr<I32Attr>:$registers);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def TTG_WarpYieldOp : TTG_Op<"warp_yield", [Pure, Terminator, HasParent<"WarpSpecializeOp">]> {
  let summary = "the end of a default region, and the results of its operation";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

def TTG_WarpReturnOp : TTG_Op<"warp_return", [Pure, Terminator, HasParent<"WarpPartitionOp">]> {
  let summary = "the end of a partition";
  let assemblyFormat = "attr-dict";
}

// ---- barriers between warp regions ----

class TTG_MbarrierOp<string mnemonic, list<MemoryEffect> effects> : TTG_Op<"mbarrier_"#mnemonic> {
  dag barrier = (ins Arg<TTG_MemDescType, "", effects>:$barrier);
  let arguments = barrier;
  let assemblyFormat = "$barrier attr-dict `:` type($barrier)";
  let hasVerifier = 1;
}

def TTG_MbarrierInitOp : TTG_MbarrierOp<"init", [MemWrite<SharedMemory>]> {
  let summary = "makes a word of shared memory a barrier for so many arrivals a phase";
  let description = [{
    Once, before the regions begin that use it; nothing else uses its memory until `ttg.mbarrier_inval`. Its first phase, of parity 0, begins here.

    MB1. The descriptor is mutable and has one slot of one i64. MB2. 1 to 2^20 - 1 arrivals.
  }];
  let arguments = !con(barrier, (ins I32Attr:$count));
  let assemblyFormat = "$barrier `,` $count attr-dict `:` type($barrier)";
}

def TTG_MbarrierInvalOp : TTG_MbarrierOp<"inval", [MemWrite<SharedMemory>]> {
  let summary = "the barrier's memory is memory again";
  let description = "When nobody arrives or waits any more. MB1.";
}

def TTG_MbarrierArriveOp : TTG_MbarrierOp<"arrive", [MemRead<SharedMemory>, MemWrite<SharedMemory>]> {
  let summary = "one arrival, for all warps of the region together";
  let description =
      "What any of them has read or written comes before whatever a wait for this phase lets go on. A barrier of the region's own threads is part of it. MB1.";
}

def TTG_MbarrierWaitOp : TTG_MbarrierOp<"wait", [MemRead<SharedMemory>, MemWrite<SharedMemory>]> {
  let summary = "until the phase of this parity is complete";
  let description = "The phase before the first one counts as complete, so that a wait for parity 1 of a fresh barrier goes on at once. MB1.";
  let arguments = !con(barrier, (ins I32:$phase));
  let assemblyFormat = "$barrier `,` $phase attr-dict `:` type($barrier)";
}

#endif
