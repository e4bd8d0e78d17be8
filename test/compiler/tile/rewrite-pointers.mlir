// RUN: tk-opt %s --tk-rewrite-pointers --cse | FileCheck %s

// Rows by a scalar, columns by a tile.
// CHECK-LABEL: @softmax
// CHECK: %[[O:.*]] = arith.muli %{{.*}}, %arg2 : i32
// CHECK: %[[ROW:.*]] = tt.addptr %arg1, %[[O]] : !tt.ptr<f32>, i32
// CHECK: %[[COLS:.*]] = tt.make_range
// CHECK: %[[S:.*]] = tt.splat %[[ROW]] : !tt.ptr<f32> -> tensor<1000x!tt.ptr<f32>>
// CHECK: %[[P:.*]] = tt.addptr %[[S]], %[[COLS]] : tensor<1000x!tt.ptr<f32>>, tensor<1000xi32>
// CHECK: tt.load %[[P]], %{{.*}} :
// CHECK: %[[OUT:.*]] = tt.addptr %arg0, %[[O]] : !tt.ptr<f32>, i32
// CHECK: %[[T:.*]] = tt.splat %[[OUT]]
// CHECK: %[[Q:.*]] = tt.addptr %[[T]], %[[COLS]] : tensor<1000x!tt.ptr<f32>>, tensor<1000xi32>
// CHECK: tt.store %[[Q]],
tt.func public @softmax(%out: !tt.ptr<f32>, %x: !tt.ptr<f32>, %stride: i32, %n: i32) {
  %pid = tt.get_program_id x : i32
  %o = arith.muli %pid, %stride : i32
  %row = tt.addptr %x, %o : !tt.ptr<f32>, i32
  %cols = tt.make_range {start = 0 : i32, end = 1000 : i32} : tensor<1000xi32>
  %rows = tt.splat %row : !tt.ptr<f32> -> tensor<1000x!tt.ptr<f32>>
  %p = tt.addptr %rows, %cols : tensor<1000x!tt.ptr<f32>>, tensor<1000xi32>
  %ns = tt.splat %n : i32 -> tensor<1000xi32>
  %m = arith.cmpi slt, %cols, %ns : tensor<1000xi32>
  %v = tt.load %p, %m : tensor<1000x!tt.ptr<f32>>
  // A tile of equal offsets first, then the columns.
  %outs = tt.splat %out : !tt.ptr<f32> -> tensor<1000x!tt.ptr<f32>>
  %os = tt.splat %o : i32 -> tensor<1000xi32>
  %q0 = tt.addptr %outs, %os : tensor<1000x!tt.ptr<f32>>, tensor<1000xi32>
  %q = tt.addptr %q0, %cols : tensor<1000x!tt.ptr<f32>>, tensor<1000xi32>
  tt.store %q, %v, %m : tensor<1000x!tt.ptr<f32>>
  tt.return
}

// The pointers of a K loop: a carried scalar and an offset tile that does not change.
// CHECK-LABEL: @matmul
// CHECK-SAME: (%[[A:[^:]*]]: !tt.ptr<f16>, %[[N:[^:]*]]: i32, %[[STEP:[^:]*]]: i32, %[[OFF:[^:]*]]: tensor<16x32xi32>,
// CHECK: %[[R:.*]]:2 = scf.for %{{.*}} iter_args(%[[B:.*]] = %[[A]], %{{.*}} = %{{.*}}) -> (!tt.ptr<f16>, tensor<16x32xf16>) : i32 {
// CHECK-NEXT: %[[BS:.*]] = tt.splat %[[B]]
// CHECK-NEXT: %[[P:.*]] = tt.addptr %[[BS]], %[[OFF]] : tensor<16x32x!tt.ptr<f16>>, tensor<16x32xi32>
// CHECK-NEXT: tt.load %[[P]]
// CHECK: %[[NEXT:.*]] = tt.addptr %[[B]], %[[STEP]] : !tt.ptr<f16>, i32
// CHECK: scf.yield %[[NEXT]], %{{.*}} : !tt.ptr<f16>, tensor<16x32xf16>
// CHECK: } {tt.num_stages = 2 : i32}
// CHECK: %[[ES:.*]] = tt.splat %[[R]]#0
// CHECK: tt.addptr %[[ES]], %[[OFF]]
tt.func public @matmul(%a: !tt.ptr<f16>, %n: i32, %step: i32, %off: tensor<16x32xi32>, %acc0: tensor<16x32xf16>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %as = tt.splat %a : !tt.ptr<f16> -> tensor<16x32x!tt.ptr<f16>>
  %p0 = tt.addptr %as, %off : tensor<16x32x!tt.ptr<f16>>, tensor<16x32xi32>
  %steps = tt.splat %step : i32 -> tensor<16x32xi32>
  %0:2 = scf.for %k = %c0 to %n step %c1 iter_args(%p = %p0, %acc = %acc0) -> (tensor<16x32x!tt.ptr<f16>>, tensor<16x32xf16>) : i32 {
    %v = tt.load %p : tensor<16x32x!tt.ptr<f16>>
    %s = arith.addf %acc, %v : tensor<16x32xf16>
    %q = tt.addptr %p, %steps : tensor<16x32x!tt.ptr<f16>>, tensor<16x32xi32>
    scf.yield %q, %s : tensor<16x32x!tt.ptr<f16>>, tensor<16x32xf16>
  } {tt.num_stages = 2 : i32}
  tt.store %0#0, %0#1 : tensor<16x32x!tt.ptr<f16>>
  tt.return
}

// Rows and columns added one after the other: each offset is sign-extended on its own, and they add up in 64 bits.
// CHECK-LABEL: @rows_then_columns
// CHECK-DAG: %[[ROWS:.*]] = tt.broadcast %arg1 : tensor<16x1xi32> -> tensor<16x32xi32>
// CHECK-DAG: %[[R64:.*]] = arith.extsi %[[ROWS]] : tensor<16x32xi32> to tensor<16x32xi64>
// CHECK-DAG: %[[C64:.*]] = arith.extsi %arg2 : tensor<16x32xi32> to tensor<16x32xi64>
// CHECK: %[[SUM:.*]] = arith.addi %[[R64]], %[[C64]] : tensor<16x32xi64>
// CHECK: %[[S:.*]] = tt.splat %arg0 : !tt.ptr<f32> -> tensor<16x32x!tt.ptr<f32>>
// CHECK: %[[P:.*]] = tt.addptr %[[S]], %[[SUM]] : tensor<16x32x!tt.ptr<f32>>, tensor<16x32xi64>
// CHECK: tt.load %[[P]]
tt.func public @rows_then_columns(%a: !tt.ptr<f32>, %rows: tensor<16x1xi32>, %columns: tensor<16x32xi32>) -> () {
  %as = tt.splat %a : !tt.ptr<f32> -> tensor<16x1x!tt.ptr<f32>>
  %p = tt.addptr %as, %rows : tensor<16x1x!tt.ptr<f32>>, tensor<16x1xi32>
  %q = tt.broadcast %p : tensor<16x1x!tt.ptr<f32>> -> tensor<16x32x!tt.ptr<f32>>
  %r = tt.addptr %q, %columns : tensor<16x32x!tt.ptr<f32>>, tensor<16x32xi32>
  %v = tt.load %r : tensor<16x32x!tt.ptr<f32>>
  tt.store %r, %v : tensor<16x32x!tt.ptr<f32>>
  tt.return
}

// Views go to the offsets; a view of equal pointers is a splat.
// CHECK-LABEL: @views
// CHECK: %[[O0:.*]] = tt.expand_dims %arg1 {axis = 1 : i32} : tensor<6xi16> -> tensor<6x1xi16>
// CHECK: %[[O1:.*]] = tt.broadcast %[[O0]] : tensor<6x1xi16> -> tensor<6x4xi16>
// CHECK: %[[O2:.*]] = tt.trans %[[O1]] {order = array<i32: 1, 0>} : tensor<6x4xi16> -> tensor<4x6xi16>
// CHECK: %[[O3:.*]] = tt.reshape %[[O2]] : tensor<4x6xi16> -> tensor<24xi16>
// CHECK: %[[P:.*]] = tt.addptr %{{.*}}, %[[O3]] : tensor<24x!tt.ptr<f32>>, tensor<24xi16>
// CHECK: tt.load %[[P]]
// CHECK: %[[S:.*]] = tt.splat %arg0 : !tt.ptr<f32> -> tensor<4x6x!tt.ptr<f32>>
// CHECK: tt.load %[[S]]
tt.func public @views(%a: !tt.ptr<f32>, %off: tensor<6xi16>) {
  %0 = tt.splat %a : !tt.ptr<f32> -> tensor<6x!tt.ptr<f32>>
  %1 = tt.addptr %0, %off : tensor<6x!tt.ptr<f32>>, tensor<6xi16>
  %2 = tt.expand_dims %1 {axis = 1 : i32} : tensor<6x!tt.ptr<f32>> -> tensor<6x1x!tt.ptr<f32>>
  %3 = tt.broadcast %2 : tensor<6x1x!tt.ptr<f32>> -> tensor<6x4x!tt.ptr<f32>>
  %4 = tt.trans %3 {order = array<i32: 1, 0>} : tensor<6x4x!tt.ptr<f32>> -> tensor<4x6x!tt.ptr<f32>>
  %5 = tt.reshape %4 : tensor<4x6x!tt.ptr<f32>> -> tensor<24x!tt.ptr<f32>>
  %6 = tt.load %5 {isVolatile = true} : tensor<24x!tt.ptr<f32>>
  %7 = tt.expand_dims %0 {axis = 0 : i32} : tensor<6x!tt.ptr<f32>> -> tensor<1x6x!tt.ptr<f32>>
  %8 = tt.broadcast %7 : tensor<1x6x!tt.ptr<f32>> -> tensor<4x6x!tt.ptr<f32>>
  %9 = tt.load %8 {isVolatile = true} : tensor<4x6x!tt.ptr<f32>>
  tt.return
}

// 64-bit offsets give their uniform summands to the base, forwards and backwards; a 32-bit sum may wrap and stays whole.
// CHECK-LABEL: @wide_offsets
// CHECK-DAG: %[[B0:.*]] = tt.addptr %arg0, %arg2 : !tt.ptr<f32>, i64
// CHECK-DAG: %[[NEG:.*]] = arith.subi %{{.*}}, %arg2 : i64
// CHECK-DAG: %[[B1:.*]] = tt.addptr %arg0, %[[NEG]] : !tt.ptr<f32>, i64
// CHECK-DAG: %[[S0:.*]] = tt.splat %[[B0]]
// CHECK-DAG: %[[P0:.*]] = tt.addptr %[[S0]], %arg1 : tensor<8x!tt.ptr<f32>>, tensor<8xi64>
// CHECK-DAG: %[[S1:.*]] = tt.splat %[[B1]]
// CHECK-DAG: %[[P1:.*]] = tt.addptr %[[S1]], %arg1 : tensor<8x!tt.ptr<f32>>, tensor<8xi64>
// CHECK-DAG: %[[N:.*]] = arith.addi %arg3, %{{.*}} : tensor<8xi32>
// CHECK-DAG: %[[S2:.*]] = tt.splat %arg0 :
// CHECK-DAG: %[[P2:.*]] = tt.addptr %[[S2]], %[[N]] : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
// CHECK: tt.store %[[P0]], %{{.*}}
// CHECK: tt.store %[[P1]], %{{.*}}
// CHECK: tt.store %[[P2]], %{{.*}}
tt.func public @wide_offsets(%a: !tt.ptr<f32>, %off: tensor<8xi64>, %n: i64, %narrow: tensor<8xi32>, %m: i32, %v: tensor<8xf32>) {
  %as = tt.splat %a : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %ns = tt.splat %n : i64 -> tensor<8xi64>
  %o0 = arith.addi %ns, %off : tensor<8xi64>
  %o1 = arith.subi %off, %ns : tensor<8xi64>
  %ms = tt.splat %m : i32 -> tensor<8xi32>
  %o2 = arith.addi %narrow, %ms : tensor<8xi32>
  %p0 = tt.addptr %as, %o0 : tensor<8x!tt.ptr<f32>>, tensor<8xi64>
  %p1 = tt.addptr %as, %o1 : tensor<8x!tt.ptr<f32>>, tensor<8xi64>
  %p2 = tt.addptr %as, %o2 : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  tt.store %p0, %v : tensor<8x!tt.ptr<f32>>
  tt.store %p1, %v : tensor<8x!tt.ptr<f32>>
  tt.store %p2, %v : tensor<8x!tt.ptr<f32>>
  tt.return
}

// CHECK-LABEL: @select
// One array, chosen element by element.
// CHECK: %[[O:.*]] = arith.select %arg3, %arg2, %{{.*}} : tensor<8xi1>, tensor<8xi32>
// CHECK: %[[P:.*]] = tt.addptr %{{.*}}, %[[O]] : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
// CHECK: tt.load %[[P]]
// Two arrays, one for all elements.
// CHECK: %[[B:.*]] = arith.select %arg4, %arg0, %arg1 : !tt.ptr<f32>
// CHECK: %[[S:.*]] = tt.splat %[[B]]
// CHECK: %[[Q:.*]] = tt.addptr %[[S]], %arg2 : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
// CHECK: tt.load %[[Q]]
// Two arrays, chosen element by element: no single base, and so for what is added to it.
// CHECK: %[[R:.*]] = arith.select %arg3, %{{.*}}, %{{.*}} : tensor<8xi1>, tensor<8x!tt.ptr<f32>>
// CHECK: %[[T:.*]] = tt.addptr %[[R]], %arg2
// CHECK: tt.load %[[T]]
tt.func public @select(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %off: tensor<8xi32>, %m: tensor<8xi1>, %c: i1) {
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %ys = tt.splat %y : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %xp = tt.addptr %xs, %off : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %yp = tt.addptr %ys, %off : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %p = arith.select %m, %xp, %xs : tensor<8xi1>, tensor<8x!tt.ptr<f32>>
  %0 = tt.load %p {isVolatile = true} : tensor<8x!tt.ptr<f32>>
  %q = arith.select %c, %xp, %yp : tensor<8x!tt.ptr<f32>>
  %1 = tt.load %q {isVolatile = true} : tensor<8x!tt.ptr<f32>>
  %r = arith.select %m, %xp, %yp : tensor<8xi1>, tensor<8x!tt.ptr<f32>>
  %t = tt.addptr %r, %off : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %2 = tt.load %t {isVolatile = true} : tensor<8x!tt.ptr<f32>>
  tt.return
}

// Pointers that were loaded or made of integers have no base, also where a loop carries them.
// CHECK-LABEL: @no_base
// CHECK: %[[L:.*]] = tt.load %arg0
// CHECK: %[[I:.*]] = tt.int_to_ptr %arg1
// CHECK: scf.for {{.*}} iter_args(%[[P:.*]] = %[[L]], %[[Q:.*]] = %{{.*}}) -> (tensor<8x!tt.ptr<f32>>, tensor<8x!tt.ptr<f32>>)
// CHECK:   %[[V:.*]] = tt.load %[[P]]
// CHECK:   tt.store %[[Q]], %[[V]]
// CHECK:   %[[N:.*]] = tt.addptr %[[P]], %{{.*}} : tensor<8x!tt.ptr<f32>>
// CHECK:   scf.yield %[[N]], %[[I]]
tt.func public @no_base(%table: tensor<8x!tt.ptr<!tt.ptr<f32>>>, %address: tensor<8xi64>, %x: !tt.ptr<f32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %one = arith.constant dense<1> : tensor<8xi32>
  %l = tt.load %table : tensor<8x!tt.ptr<!tt.ptr<f32>>>
  %i = tt.int_to_ptr %address : tensor<8xi64> -> tensor<8x!tt.ptr<f32>>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %0:2 = scf.for %k = %c0 to %n step %c1 iter_args(%p = %l, %q = %xs) -> (tensor<8x!tt.ptr<f32>>, tensor<8x!tt.ptr<f32>>) : i32 {
    %v = tt.load %p : tensor<8x!tt.ptr<f32>>
    tt.store %q, %v : tensor<8x!tt.ptr<f32>>
    %r = tt.addptr %p, %one : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
    scf.yield %r, %i : tensor<8x!tt.ptr<f32>>, tensor<8x!tt.ptr<f32>>
  }
  tt.return
}

// Pointers to bytes count in bytes, and larger elements that a byte pointer stands for have no whole offset.
// CHECK-LABEL: @bitcast
// CHECK: %[[B:.*]] = tt.bitcast %arg0 : !tt.ptr<f32> -> !tt.ptr<i8>
// CHECK: %[[W:.*]] = arith.extsi %arg1 : tensor<8xi32> to tensor<8xi64>
// CHECK: %[[M:.*]] = arith.muli %[[W]], %{{.*}} : tensor<8xi64>
// CHECK: %[[P:.*]] = tt.addptr %{{.*}}, %[[M]] : tensor<8x!tt.ptr<i8>>, tensor<8xi64>
// CHECK: tt.load %[[P]]
// CHECK: %[[C:.*]] = tt.bitcast %arg0 : !tt.ptr<f32> -> !tt.ptr<i32>
// CHECK: %[[CS:.*]] = tt.splat %[[C]]
// CHECK: %[[Q:.*]] = tt.addptr %[[CS]], %arg1 : tensor<8x!tt.ptr<i32>>, tensor<8xi32>
// CHECK: tt.load %[[Q]]
// CHECK: %[[R:.*]] = tt.bitcast %{{.*}} : tensor<8x!tt.ptr<f32>> -> tensor<8x!tt.ptr<f64>>
// CHECK: tt.load %[[R]]
tt.func public @bitcast(%x: !tt.ptr<f32>, %off: tensor<8xi32>) {
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %xp = tt.addptr %xs, %off : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %p = tt.bitcast %xp : tensor<8x!tt.ptr<f32>> -> tensor<8x!tt.ptr<i8>>
  %0 = tt.load %p {isVolatile = true} : tensor<8x!tt.ptr<i8>>
  %q = tt.bitcast %xp : tensor<8x!tt.ptr<f32>> -> tensor<8x!tt.ptr<i32>>
  %1 = tt.load %q {isVolatile = true} : tensor<8x!tt.ptr<i32>>
  %r = tt.bitcast %xp : tensor<8x!tt.ptr<f32>> -> tensor<8x!tt.ptr<f64>>
  %2 = tt.load %r {isVolatile = true} : tensor<8x!tt.ptr<f64>>
  tt.return
}

// One pointer that moves by a scalar, one that moves by a tile and so is carried as 64-bit offsets.
// CHECK-LABEL: @while_loop
// CHECK: %[[W:.*]] = arith.extsi %arg1 : tensor<8xi32> to tensor<8xi64>
// CHECK: %[[R:.*]]:3 = scf.while (%[[I:.*]] = %{{.*}}, %[[B:.*]] = %arg0, %[[O:.*]] = %[[W]]) : (i32, !tt.ptr<f32>, tensor<8xi64>) -> (i32, !tt.ptr<f32>, tensor<8xi64>)
// CHECK: scf.condition(%{{.*}}) %[[I]], %[[B]], %[[O]]
// CHECK: ^bb0(%{{.*}}: i32, %[[BB:.*]]: !tt.ptr<f32>, %[[OO:.*]]: tensor<8xi64>):
// CHECK: %[[NB:.*]] = tt.addptr %[[BB]], %arg3 : !tt.ptr<f32>, i32
// CHECK: %[[NO:.*]] = arith.addi %[[OO]], %[[W2:.*]] : tensor<8xi64>
// CHECK: scf.yield %{{.*}}, %[[NB]], %[[NO]]
// CHECK: tt.splat %[[R]]#1
// CHECK: tt.addptr %{{.*}}, %arg1 : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
// CHECK: tt.addptr %{{.*}}, %[[R]]#2 : tensor<8x!tt.ptr<f32>>, tensor<8xi64>
tt.func public @while_loop(%x: !tt.ptr<f32>, %off: tensor<8xi32>, %n: i32, %step: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %xp = tt.addptr %xs, %off : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %steps = tt.splat %step : i32 -> tensor<8xi32>
  %0:3 = scf.while (%i = %c0, %p = %xp, %q = %xp) : (i32, tensor<8x!tt.ptr<f32>>, tensor<8x!tt.ptr<f32>>) -> (i32, tensor<8x!tt.ptr<f32>>, tensor<8x!tt.ptr<f32>>) {
    %c = arith.cmpi slt, %i, %n : i32
    scf.condition(%c) %i, %p, %q : i32, tensor<8x!tt.ptr<f32>>, tensor<8x!tt.ptr<f32>>
  } do {
  ^bb0(%i: i32, %p: tensor<8x!tt.ptr<f32>>, %q: tensor<8x!tt.ptr<f32>>):
    %v = tt.load %p : tensor<8x!tt.ptr<f32>>
    tt.store %q, %v : tensor<8x!tt.ptr<f32>>
    %j = arith.addi %i, %c1 : i32
    %r = tt.addptr %p, %steps : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
    %s = tt.addptr %q, %off : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
    scf.yield %j, %r, %s : i32, tensor<8x!tt.ptr<f32>>, tensor<8x!tt.ptr<f32>>
  }
  %v = tt.load %0#1 : tensor<8x!tt.ptr<f32>>
  tt.store %0#2, %v : tensor<8x!tt.ptr<f32>>
  tt.return
}

// A pointer computed in the before-region of a while loop reaches the body and the end as its parts.
// CHECK-LABEL: @while_before
// CHECK: scf.while (%[[B:.*]] = %arg0) : (!tt.ptr<f32>) -> (!tt.ptr<f32>, !tt.ptr<f32>, tensor<8xi32>)
// CHECK: %[[F:.*]] = tt.load %{{.*}} {isVolatile = true} : tensor<8x!tt.ptr<i32>>
// CHECK: scf.condition(%{{.*}}) %[[B]], %[[B]], %[[F]] :
// CHECK: ^bb0(%{{.*}}: !tt.ptr<f32>, %[[C:.*]]: !tt.ptr<f32>, %[[G:.*]]: tensor<8xi32>):
// CHECK: %[[S:.*]] = tt.splat %[[C]]
// CHECK: tt.addptr %[[S]], %[[G]] : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
tt.func public @while_before(%x: !tt.ptr<f32>, %table: !tt.ptr<i32>, %step: i32, %v: tensor<8xf32>, %c: i1) {
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %steps = tt.splat %step : i32 -> tensor<8xi32>
  %ts = tt.splat %table : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>>
  %0:2 = scf.while (%p = %xs) : (tensor<8x!tt.ptr<f32>>) -> (tensor<8x!tt.ptr<f32>>, tensor<8x!tt.ptr<f32>>) {
    %f = tt.load %ts {isVolatile = true} : tensor<8x!tt.ptr<i32>>
    %q = tt.addptr %p, %f : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
    scf.condition(%c) %p, %q : tensor<8x!tt.ptr<f32>>, tensor<8x!tt.ptr<f32>>
  } do {
  ^bb0(%p: tensor<8x!tt.ptr<f32>>, %q: tensor<8x!tt.ptr<f32>>):
    tt.store %q, %v : tensor<8x!tt.ptr<f32>>
    %r = tt.addptr %p, %steps : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
    scf.yield %r : tensor<8x!tt.ptr<f32>>
  }
  tt.store %0#1, %v : tensor<8x!tt.ptr<f32>>
  tt.return
}

// Nested loops and a branch: one scalar pointer all the way.
// CHECK-LABEL: @nested
// CHECK: scf.for %{{.*}} iter_args(%[[A:.*]] = %arg0) -> (!tt.ptr<f32>)
// CHECK-NEXT: %[[D:.*]] = scf.for %{{.*}} iter_args(%[[B:.*]] = %[[A]]) -> (!tt.ptr<f32>)
// CHECK:   %[[P:.*]] = tt.addptr %{{.*}}, %arg1 : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
// CHECK:   %[[E:.*]] = scf.if %arg4 -> (!tt.ptr<f32>) {
// CHECK:     tt.store %[[P]], %arg5
// CHECK:     %[[N:.*]] = tt.addptr %[[B]], %arg3
// CHECK:     scf.yield %[[N]]
// CHECK:   } else {
// CHECK:     scf.yield %[[B]]
// CHECK:   }
// CHECK:   scf.yield %[[E]]
// CHECK: }
// CHECK: scf.yield %[[D]]
tt.func public @nested(%x: !tt.ptr<f32>, %off: tensor<8xi32>, %n: i32, %step: i32, %c: i1, %v: tensor<8xf32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %xp = tt.addptr %xs, %off : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %steps = tt.splat %step : i32 -> tensor<8xi32>
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%p = %xp) -> tensor<8x!tt.ptr<f32>> : i32 {
    %1 = scf.for %j = %c0 to %n step %c1 iter_args(%q = %p) -> tensor<8x!tt.ptr<f32>> : i32 {
      %2 = scf.if %c -> tensor<8x!tt.ptr<f32>> {
        tt.store %q, %v : tensor<8x!tt.ptr<f32>>
        %r = tt.addptr %q, %steps : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
        scf.yield %r : tensor<8x!tt.ptr<f32>>
      } else {
        scf.yield %q : tensor<8x!tt.ptr<f32>>
      }
      scf.yield %2 : tensor<8x!tt.ptr<f32>>
    }
    scf.yield %1 : tensor<8x!tt.ptr<f32>>
  }
  tt.return
}

// A branch between two arrays with different offset widths, and one of them with no offset at all.
// CHECK-LABEL: @branch
// CHECK: %[[R:.*]]:3 = scf.if %arg3 -> (!tt.ptr<f32>, tensor<8xi64>, tensor<8xi16>) {
// CHECK-DAG: %[[W:.*]] = arith.extsi %{{.*}} : tensor<8xi16> to tensor<8xi64>
// CHECK:   scf.yield %arg0, %[[W]], %{{.*}} : !tt.ptr<f32>, tensor<8xi64>, tensor<8xi16>
// CHECK: } else {
// CHECK:   %[[Z:.*]] = arith.constant dense<0> : tensor<8xi16>
// CHECK:   scf.yield %arg1, %arg2, %[[Z]] : !tt.ptr<f32>, tensor<8xi64>, tensor<8xi16>
// CHECK: }
// CHECK: tt.splat %[[R]]#0
// CHECK: tt.addptr %{{.*}}, %[[R]]#1 : tensor<8x!tt.ptr<f32>>, tensor<8xi64>
// CHECK: tt.splat %arg0
// CHECK: tt.addptr %{{.*}}, %[[R]]#2 : tensor<8x!tt.ptr<f32>>, tensor<8xi16>
tt.func public @branch(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %wide: tensor<8xi64>, %c: i1, %narrow: tensor<8xi16>, %v: tensor<8xf32>) {
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %ys = tt.splat %y : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %0:2 = scf.if %c -> (tensor<8x!tt.ptr<f32>>, tensor<8x!tt.ptr<f32>>) {
    %1 = tt.addptr %xs, %narrow : tensor<8x!tt.ptr<f32>>, tensor<8xi16>
    scf.yield %1, %1 : tensor<8x!tt.ptr<f32>>, tensor<8x!tt.ptr<f32>>
  } else {
    %1 = tt.addptr %ys, %wide : tensor<8x!tt.ptr<f32>>, tensor<8xi64>
    scf.yield %1, %xs : tensor<8x!tt.ptr<f32>>, tensor<8x!tt.ptr<f32>>
  }
  tt.store %0#0, %v : tensor<8x!tt.ptr<f32>>
  tt.store %0#1, %v : tensor<8x!tt.ptr<f32>>
  tt.return
}
