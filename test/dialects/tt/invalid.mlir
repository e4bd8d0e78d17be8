// One violation of each numbered constraint of tt; the message names it. Shapes that a trait compares have no number.
// RUN: tk-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{the pointee must be a tt scalar, found 'tensor<4xf32>' [P1]}}
tt.func private @P1(!tt.ptr<tensor<4xf32>>)

// -----

// expected-error @below {{the address space must be at least 0, found -1 [P2]}}
tt.func private @P2(!tt.ptr<f32, -1>)

// -----

// expected-error @below {{pointers nest deeper than 16}}
tt.func private @nesting(!tt.ptr<!tt.ptr<!tt.ptr<!tt.ptr<!tt.ptr<!tt.ptr<!tt.ptr<!tt.ptr<!tt.ptr<!tt.ptr<!tt.ptr<!tt.ptr<!tt.ptr<!tt.ptr<!tt.ptr<!tt.ptr<!tt.ptr<i8>>>>>>>>>>>>>>>>>)

// -----

// expected-error @below {{is public and must return nothing, found 1 results [F1]}}
tt.func public @F1(%x: f32) -> f32 {
  tt.return %x : f32
}

// -----

// expected-error @below {{argument 1 must be a tt scalar or tile, found 'index' [F2]}}
tt.func private @F2(f32, index)

// -----

// expected-error @below {{argument 0 must be a tt scalar or tile, found 'tensor<4x0xf32>' [F2]}}
tt.func private @F2_empty_tile(tensor<4x0xf32>)

// -----

// expected-error @below {{argument 0 must be a tt scalar or tile, found 'tensor<65536x65536xf32>' [F2]}}
tt.func private @F2_huge_tile(tensor<65536x65536xf32>)

// -----

// expected-note @below {{the function is here}}
tt.func private @R1(%x: f32) -> f32 {
  // expected-error @below {{must return the function's result types ('f32'), found () [R1]}}
  tt.return
}

// -----

tt.func private @C1(%x: f32) {
  // expected-error @below {{callee `nobody` is not a tt.func of this module [C1]}}
  tt.call @nobody(%x) : (f32) -> ()
  tt.return
}

// -----

// expected-note @below {{the callee is here}}
tt.func private @callee(f32) -> i32

tt.func private @C2(%x: f64) {
  // expected-error @below {{must have the callee's type '(f32) -> i32', found '(f64) -> i32' [C2]}}
  %0 = tt.call @callee(%x) : (f64) -> i32
  tt.return
}

// -----

tt.func private @addptr_shapes(%p: tensor<4x!tt.ptr<f32>>, %o: tensor<8xi32>) {
  // expected-error @below {{all non-scalar operands/results must have the same shape and base type}}
  %0 = tt.addptr %p, %o : tensor<4x!tt.ptr<f32>>, tensor<8xi32>
  tt.return
}

// -----

tt.func private @addptr_of_scalar_and_tile(%p: !tt.ptr<f32>, %o: tensor<8xi32>) {
  // expected-error @below {{if an operand is non-scalar, then there must be at least one non-scalar result}}
  %0 = tt.addptr %p, %o : !tt.ptr<f32>, tensor<8xi32>
  tt.return
}

// -----

tt.func private @B1(%x: f32) {
  // expected-error @below {{needs element types of equal bit width, or pointers on both sides, found 'f32' -> 'i64' [B1]}}
  %0 = tt.bitcast %x : f32 -> i64
  tt.return
}

// -----

tt.func private @B1_pointer(%x: !tt.ptr<f32>) {
  // expected-error @below {{[B1]}}
  %0 = tt.bitcast %x : !tt.ptr<f32> -> i64
  tt.return
}

// -----

tt.func private @L1(%p: tensor<4x!tt.ptr<f32>>) {
  // expected-error @below {{`result` must be 'tensor<4xf32>', found 'tensor<4xf16>' [L1]}}
  %0 = "tt.load"(%p) <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (tensor<4x!tt.ptr<f32>>) -> tensor<4xf16>
  tt.return
}

// -----

tt.func private @L2(%p: tensor<4x!tt.ptr<f32>>, %m: tensor<8xi1>) {
  // expected-error @below {{`mask` must be 'tensor<4xi1>', found 'tensor<8xi1>' [L2]}}
  %0 = "tt.load"(%p, %m) <{operandSegmentSizes = array<i32: 1, 1, 0>}> : (tensor<4x!tt.ptr<f32>>, tensor<8xi1>) -> tensor<4xf32>
  tt.return
}

// -----

tt.func private @L3(%p: !tt.ptr<f32>, %m: i1, %o: i32) {
  // expected-error @below {{`other` must be 'f32', found 'i32' [L3]}}
  %0 = "tt.load"(%p, %m, %o) <{operandSegmentSizes = array<i32: 1, 1, 1>}> : (!tt.ptr<f32>, i1, i32) -> f32
  tt.return
}

// -----

tt.func private @L4(%p: !tt.ptr<f32>, %o: f32) {
  // expected-error @below {{has `other` without `mask` [L4]}}
  %0 = "tt.load"(%p, %o) <{operandSegmentSizes = array<i32: 1, 0, 1>}> : (!tt.ptr<f32>, f32) -> f32
  tt.return
}

// -----

tt.func private @load_of_a_number(%p: f32, %m: i1, %o: f32) {
  // expected-error @below {{'ptr' must be pointer scalar or tile, but got 'f32'}}
  %0 = tt.load %p, %m, %o : f32
  tt.return
}

// -----

tt.func private @S1(%p: !tt.ptr<f32>, %v: f64) {
  // expected-error @below {{`value` must be 'f32', found 'f64' [S1]}}
  "tt.store"(%p, %v) : (!tt.ptr<f32>, f64) -> ()
  tt.return
}

// -----

tt.func private @S2(%p: !tt.ptr<f32>, %v: f32, %m: tensor<1xi1>) {
  // expected-error @below {{`mask` must be 'i1', found 'tensor<1xi1>' [S2]}}
  "tt.store"(%p, %v, %m) : (!tt.ptr<f32>, f32, tensor<1xi1>) -> ()
  tt.return
}

// -----

tt.func private @RMW1(%p: !tt.ptr<f32>, %v: i32) {
  // expected-error @below {{`val` must be 'f32', found 'i32' [RMW1]}}
  %0 = tt.atomic_rmw add, relaxed, gpu, %p, %v : (!tt.ptr<f32>, i32) -> i32
  tt.return
}

// -----

tt.func private @RMW2(%p: tensor<4x!tt.ptr<f32>>, %v: tensor<4xf32>, %m: i1) {
  // expected-error @below {{`mask` must be 'tensor<4xi1>', found 'i1' [RMW2]}}
  %0 = tt.atomic_rmw fadd, relaxed, gpu, %p, %v, %m : (tensor<4x!tt.ptr<f32>>, tensor<4xf32>, i1) -> tensor<4xf32>
  tt.return
}

// -----

tt.func private @CAS1(%p: !tt.ptr<i32>, %v: i32, %w: i64) {
  // expected-error @below {{`cmp` must be 'i32', found 'i64' [CAS1]}}
  %0 = tt.atomic_cas acq_rel, gpu, %p, %w, %v : (!tt.ptr<i32>, i64, i32) -> i32
  tt.return
}

// -----

tt.func private @CAS2(%p: tensor<4x!tt.ptr<i32>>, %v: tensor<4xi32>, %m: i1) {
  // expected-error @below {{`mask` must be 'tensor<4xi1>', found 'i1' [CAS2]}}
  %0 = tt.atomic_cas relaxed, gpu, %p, %v, %v, %m : (tensor<4x!tt.ptr<i32>>, tensor<4xi32>, tensor<4xi32>, i1) -> tensor<4xi32>
  tt.return
}

// -----

tt.func private @MR1() {
  // expected-error @below {{end must be greater than start, found [4, 4) [MR1]}}
  %0 = tt.make_range {start = 4 : i32, end = 4 : i32} : tensor<4xi32>
  tt.return
}

// -----

tt.func private @MR2() {
  // expected-error @below {{must give a rank-1 tile of extent 4294967295, found 'tensor<4xi32>' [MR2]}}
  %0 = tt.make_range {start = -2147483648 : i32, end = 2147483647 : i32} : tensor<4xi32>
  tt.return
}

// -----

tt.func private @SP1(%x: f32) {
  // expected-error @below {{must give a tile of 'f32', found 'tensor<4xi32>' [SP1]}}
  %0 = tt.splat %x : f32 -> tensor<4xi32>
  tt.return
}

// -----

tt.func private @US1(%x: tensor<2xf32>) {
  // expected-error @below {{needs a tile of one element, found 'tensor<2xf32>' [US1]}}
  %0 = tt.unsplat %x : tensor<2xf32>
  tt.return
}

// -----

tt.func private @US2(%x: tensor<1xf32>) {
  // expected-error @below {{must give 'f32', found 'i32' [US2]}}
  %0 = "tt.unsplat"(%x) : (tensor<1xf32>) -> i32
  tt.return
}

// -----

tt.func private @ED1(%x: tensor<4xf32>) {
  // expected-error @below {{axis must be in [0, 1], found -1 [ED1]}}
  %0 = tt.expand_dims %x {axis = -1 : i32} : tensor<4xf32> -> tensor<1x4xf32>
  tt.return
}

// -----

tt.func private @ED2(%x: tensor<4xf32>) {
  // expected-error @below {{must give 'tensor<4x1xf32>', found 'tensor<1x4xf32>' [ED2]}}
  %0 = tt.expand_dims %x {axis = 1 : i32} : tensor<4xf32> -> tensor<1x4xf32>
  tt.return
}

// -----

tt.func private @BC1(%x: tensor<4xf32>) {
  // expected-error @below {{must keep the rank, found 'tensor<4xf32>' -> 'tensor<4x4xf32>' [BC1]}}
  %0 = tt.broadcast %x : tensor<4xf32> -> tensor<4x4xf32>
  tt.return
}

// -----

tt.func private @BC1_elements(%x: tensor<1xf32>) {
  // expected-error @below {{must keep the element type 'f32', found 'f16' [BC1]}}
  %0 = tt.broadcast %x : tensor<1xf32> -> tensor<4xf16>
  tt.return
}

// -----

tt.func private @BC2(%x: tensor<1x2xf32>) {
  // expected-error @below {{cannot repeat extent 2 to 4 on axis 1 [BC2]}}
  %0 = tt.broadcast %x : tensor<1x2xf32> -> tensor<4x4xf32>
  tt.return
}

// -----

tt.func private @RS1(%x: tensor<4xf32>) {
  // expected-error @below {{must keep the number of elements, found 'tensor<4xf32>' -> 'tensor<2x3xf32>' [RS1]}}
  %0 = tt.reshape %x : tensor<4xf32> -> tensor<2x3xf32>
  tt.return
}

// -----

tt.func private @RS1_elements(%x: tensor<4xf32>) {
  // expected-error @below {{must keep the element type 'f32', found 'i32' [RS1]}}
  %0 = tt.reshape %x : tensor<4xf32> -> tensor<2x2xi32>
  tt.return
}

// -----

tt.func private @T1(%x: tensor<4x2xf32>) {
  // expected-error @below {{order must be a permutation of the 2 axes, found [0, 2] [T1]}}
  %0 = tt.trans %x {order = array<i32: 0, 2>} : tensor<4x2xf32> -> tensor<4x2xf32>
  tt.return
}

// -----

tt.func private @T2(%x: tensor<4x2xf32>) {
  // expected-error @below {{must give 'tensor<2x4xf32>', found 'tensor<4x2xf32>' [T2]}}
  %0 = tt.trans %x {order = array<i32: 1, 0>} : tensor<4x2xf32> -> tensor<4x2xf32>
  tt.return
}

// -----

tt.func private @J1(%x: tensor<4xf32>) {
  // expected-error @below {{must give 'tensor<4x2xf32>', found 'tensor<2x4xf32>' [J1]}}
  %0 = tt.join %x, %x : tensor<4xf32> -> tensor<2x4xf32>
  tt.return
}

// -----

tt.func private @SL1(%x: tensor<2x4xf32>) {
  // expected-error @below {{needs a tile of rank 2 or more with a last extent of 2, found 'tensor<2x4xf32>' [SL1]}}
  %0, %1 = tt.split %x : tensor<2x4xf32> -> tensor<4xf32>
  tt.return
}

// -----

tt.func private @SL2(%x: tensor<4x2xf32>) {
  // expected-error @below {{must give 'tensor<4xf32>', found 'tensor<2xf32>' [SL2]}}
  %0, %1 = tt.split %x : tensor<4x2xf32> -> tensor<2xf32>
  tt.return
}

// -----

tt.func private @CT1(%x: tensor<4x2xf32>, %y: tensor<4x3xf32>) {
  // expected-error @below {{needs shapes that agree but for axis 0, whose extents add up, found 'tensor<4x2xf32>', 'tensor<4x3xf32>' -> 'tensor<8x2xf32>' [CT1]}}
  %0 = tt.cat %x, %y : tensor<4x2xf32>, tensor<4x3xf32> -> tensor<8x2xf32>
  tt.return
}

// -----

tt.func private @G1(%x: tensor<4x2xf32>, %i: tensor<3x2xi32>) {
  // expected-error @below {{needs a source and indices of one shape except on axis 1, found 'tensor<4x2xf32>' and 'tensor<3x2xi32>' [G1]}}
  %0 = tt.gather %x[%i] {axis = 1 : i32} : (tensor<4x2xf32>, tensor<3x2xi32>) -> tensor<3x2xf32>
  tt.return
}

// -----

tt.func private @G2(%x: tensor<4x2xf32>, %i: tensor<3x2xi32>) {
  // expected-error @below {{must give 'tensor<3x2xf32>', found 'tensor<4x2xf32>' [G2]}}
  %0 = tt.gather %x[%i] {axis = 0 : i32} : (tensor<4x2xf32>, tensor<3x2xi32>) -> tensor<4x2xf32>
  tt.return
}

// -----

tt.func private @FP1(%x: f32) {
  // expected-error @below {{narrows and needs `rounding`, found 'f32' -> 'f16' [FP1]}}
  %0 = tt.fp_to_fp %x : f32 -> f16
  tt.return
}

// -----

tt.func private @FP1_widening(%x: f32) {
  // expected-error @below {{does not narrow and must not have `rounding`, found 'f32' -> 'f64' [FP1]}}
  %0 = tt.fp_to_fp %x, rounding = rtz : f32 -> f64
  tt.return
}

// -----

tt.func private @RD1(%x: tensor<4xf32>) {
  // expected-error @below {{axis must be in [0, 1), found 1 [RD1]}}
  %0 = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    tt.reduce.return %a : f32
  }) : (tensor<4xf32>) -> f32
  tt.return
}

// -----

tt.func private @RD2(%x: tensor<4x2xf32>) {
  // expected-error @below {{must give 'tensor<4xf32>' for 'tensor<4x2xf32>', found 'tensor<2xf32>' [RD2]}}
  %0 = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    tt.reduce.return %a : f32
  }) : (tensor<4x2xf32>) -> tensor<2xf32>
  tt.return
}

// -----

tt.func private @RD3(%x: tensor<4xf32>) {
  // expected-error @below {{the combine region must take ('f32', 'f32'), found ('f32') [RD3]}}
  %0 = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a: f32):
    tt.reduce.return %a : f32
  }) : (tensor<4xf32>) -> f32
  tt.return
}

// -----

tt.func private @RD3_return(%x: tensor<4xf32>) {
  // expected-error @below {{the combine region must return ('f32'), found ('i32') [RD3]}}
  %0 = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %c = arith.constant 0 : i32
    tt.reduce.return %c : i32
  }) : (tensor<4xf32>) -> f32
  tt.return
}

// -----

tt.func private @SC1(%x: tensor<4xf32>) {
  // expected-error @below {{axis must be in [0, 1), found -1 [SC1]}}
  %0 = "tt.scan"(%x) <{axis = -1 : i32, reverse = false}> ({
  ^bb0(%a: f32, %b: f32):
    tt.scan.return %a : f32
  }) : (tensor<4xf32>) -> tensor<4xf32>
  tt.return
}

// -----

tt.func private @SC2(%x: tensor<4xf32>) {
  // expected-error @below {{must give the operands' types ('tensor<4xf32>'), found ('tensor<4xf64>') [SC2]}}
  %0 = "tt.scan"(%x) <{axis = 0 : i32, reverse = false}> ({
  ^bb0(%a: f32, %b: f32):
    tt.scan.return %a : f32
  }) : (tensor<4xf32>) -> tensor<4xf64>
  tt.return
}

// -----

tt.func private @SC3(%x: tensor<4xf32>) {
  // expected-error @below {{the combine region must return ('f32'), found ('f32', 'f32') [SC3]}}
  %0 = "tt.scan"(%x) <{axis = 0 : i32, reverse = false}> ({
  ^bb0(%a: f32, %b: f32):
    tt.scan.return %a, %b : f32, f32
  }) : (tensor<4xf32>) -> tensor<4xf32>
  tt.return
}

// -----

tt.func private @H1(%x: tensor<4x4xi32>) {
  // expected-error @below {{needs a rank-1 tile of i32, found 'tensor<4x4xi32>' [H1]}}
  %0 = tt.histogram %x : tensor<4x4xi32> -> tensor<8xi32>
  tt.return
}

// -----

tt.func private @H2(%x: tensor<4xi32>) {
  // expected-error @below {{must give a rank-1 tile of i32, found 'tensor<8xi64>' [H2]}}
  %0 = tt.histogram %x : tensor<4xi32> -> tensor<8xi64>
  tt.return
}

// -----

tt.func private @H3(%x: tensor<4xi32>, %m: tensor<8xi1>) {
  // expected-error @below {{the mask must be 'tensor<4xi1>', found 'tensor<8xi1>' [H3]}}
  %0 = "tt.histogram"(%x, %m) : (tensor<4xi32>, tensor<8xi1>) -> tensor<8xi32>
  tt.return
}

// -----

tt.func private @D1(%a: tensor<4xf32>) {
  // expected-error @below {{needs operands of one rank of at least 2, found 'tensor<4xf32>' * 'tensor<4xf32>' -> 'tensor<4xf32>' [D1]}}
  %0 = tt.dot %a, %a, %a : tensor<4xf32> * tensor<4xf32> -> tensor<4xf32>
  tt.return
}

// -----

tt.func private @D2(%a: tensor<4x8xf32>, %c: tensor<4x4xf32>) {
  // expected-error @below {{needs shapes [.., M, K] * [.., K, N] -> [.., M, N], found 'tensor<4x8xf32>' * 'tensor<4x8xf32>' -> 'tensor<4x4xf32>' [D2]}}
  %0 = tt.dot %a, %a, %c : tensor<4x8xf32> * tensor<4x8xf32> -> tensor<4x4xf32>
  tt.return
}

// -----

tt.func private @D3(%a: tensor<4x4xf16>, %b: tensor<4x4xbf16>, %c: tensor<4x4xf32>) {
  // expected-error @below {{needs operands of one element type or two 8-bit floats, found 'f16' and 'bf16' [D3]}}
  %0 = tt.dot %a, %b, %c : tensor<4x4xf16> * tensor<4x4xbf16> -> tensor<4x4xf32>
  tt.return
}

// -----

tt.func private @D4(%a: tensor<4x4xf64>, %c: tensor<4x4xf32>) {
  // expected-error @below {{cannot sum products of 'f64' in 'f32' [D4]}}
  %0 = tt.dot %a, %a, %c : tensor<4x4xf64> * tensor<4x4xf64> -> tensor<4x4xf32>
  tt.return
}

// -----

tt.func private @PR1(%x: f32) {
  // expected-error @below {{needs one `isSigned` entry per operand, found 0 for 1 operands [PR1]}}
  tt.print "x" {hex = false, isSigned = array<i32>} : %x : f32
  tt.return
}
