// RUN: tk-opt %s --tk-split-carried-tiles --cse | FileCheck %s

// The offsets of a K loop: a tile that only moves on becomes the scalar it moved by.
// CHECK-LABEL: @for_loop
// CHECK: %[[R:.*]] = tt.make_range
// CHECK: %[[D:.*]] = scf.for %{{.*}} iter_args(%[[A:.*]] = %c0_i32) -> (i32) : i32 {
// CHECK-NEXT: %[[AS:.*]] = tt.splat %[[A]] : i32 -> tensor<8xi32>
// CHECK-NEXT: %[[T:.*]] = arith.addi %[[R]], %[[AS]] : tensor<8xi32>
// CHECK-NEXT: tt.print "t" {{.*}} : %[[T]]
// CHECK-NEXT: %[[N:.*]] = arith.addi %[[A]], %arg1 : i32
// CHECK-NEXT: scf.yield %[[N]] : i32
// CHECK-NEXT: } {tt.num_stages = 3 : i32}
// CHECK-NEXT: %[[DS:.*]] = tt.splat %[[D]]
// CHECK-NEXT: arith.addi %[[R]], %[[DS]]
tt.func private @for_loop(%n: i32, %step: i32) -> tensor<8xi32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = tt.make_range {start = 0 : i32, end = 8 : i32} : tensor<8xi32>
  %s = tt.splat %step : i32 -> tensor<8xi32>
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%t = %r) -> tensor<8xi32> : i32 {
    tt.print "t" {hex = false, isSigned = array<i32: 1>} : %t : tensor<8xi32>
    %u = arith.addi %s, %t : tensor<8xi32>
    scf.yield %u : tensor<8xi32>
  } {tt.num_stages = 3 : i32}
  tt.return %0 : tensor<8xi32>
}

// Two moves, one of them backwards, in a width where they wrap.
// CHECK-LABEL: @subtraction
// CHECK: scf.for %{{.*}} iter_args(%[[A:.*]] = %c0_i8) -> (i8)
// CHECK: %[[U:.*]] = arith.addi %[[A]], %arg2 : i8
// CHECK: %[[V:.*]] = arith.subi %[[U]], %c100_i8 : i8
// CHECK: scf.yield %[[V]] : i8
tt.func private @subtraction(%n: i32, %t0: tensor<8xi8>, %step: i8) -> tensor<8xi8> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %s = tt.splat %step : i8 -> tensor<8xi8>
  %k = arith.constant dense<100> : tensor<8xi8>
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%t = %t0) -> tensor<8xi8> : i32 {
    %u = arith.addi %t, %s : tensor<8xi8>
    %v = arith.subi %u, %k : tensor<8xi8>
    scf.yield %v : tensor<8xi8>
  }
  tt.return %0 : tensor<8xi8>
}

// Anything else keeps the tile: a product, a difference the other way round, another tile.
// CHECK-LABEL: @not_a_move
// CHECK: scf.for %{{.*}} -> (tensor<8xi32>, tensor<8xi32>, tensor<8xi32>)
tt.func private @not_a_move(%n: i32, %t0: tensor<8xi32>, %step: i32) -> (tensor<8xi32>, tensor<8xi32>, tensor<8xi32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %s = tt.splat %step : i32 -> tensor<8xi32>
  %0:3 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %t0, %b = %t0, %c = %t0) -> (tensor<8xi32>, tensor<8xi32>, tensor<8xi32>) : i32 {
    %u = arith.muli %a, %s : tensor<8xi32>
    %v = arith.subi %s, %b : tensor<8xi32>
    %w = arith.addi %c, %t0 : tensor<8xi32>
    scf.yield %u, %v, %w : tensor<8xi32>, tensor<8xi32>, tensor<8xi32>
  }
  tt.return %0#0, %0#1, %0#2 : tensor<8xi32>, tensor<8xi32>, tensor<8xi32>
}

// Two tiles that swap places move by no scalar.
// CHECK-LABEL: @swapped
// CHECK: scf.for %{{.*}} -> (tensor<8xi32>, tensor<8xi32>)
tt.func private @swapped(%n: i32, %a0: tensor<8xi32>, %b0: tensor<8xi32>, %step: i32) -> (tensor<8xi32>, tensor<8xi32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %s = tt.splat %step : i32 -> tensor<8xi32>
  %0:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %a0, %b = %b0) -> (tensor<8xi32>, tensor<8xi32>) : i32 {
    %u = arith.addi %a, %s : tensor<8xi32>
    scf.yield %b, %u : tensor<8xi32>, tensor<8xi32>
  }
  tt.return %0#0, %0#1 : tensor<8xi32>, tensor<8xi32>
}

// Through a nested loop and a branch: one scalar all the way.
// CHECK-LABEL: @nested
// CHECK: %[[R:.*]] = tt.make_range
// CHECK: scf.for %{{.*}} iter_args(%[[A:.*]] = %c0_i32) -> (i32)
// CHECK-NEXT: %[[D:.*]] = scf.for %{{.*}} iter_args(%[[B:.*]] = %[[A]]) -> (i32)
// CHECK:        %[[E:.*]] = scf.if %arg2 -> (i32) {
// CHECK-NEXT:     %[[N:.*]] = arith.addi %[[B]], %arg1
// CHECK-NEXT:     scf.yield %[[N]] : i32
// CHECK-NEXT:   } else {
// CHECK-NEXT:     scf.yield %[[B]] : i32
// CHECK-NEXT:   }
// CHECK-NEXT:   scf.yield %[[E]] : i32
// CHECK-NEXT: }
// CHECK-NEXT: scf.yield %[[D]] : i32
tt.func private @nested(%n: i32, %step: i32, %c: i1) -> tensor<8xi32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = tt.make_range {start = 0 : i32, end = 8 : i32} : tensor<8xi32>
  %s = tt.splat %step : i32 -> tensor<8xi32>
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%t = %r) -> tensor<8xi32> : i32 {
    %1 = scf.for %j = %c0 to %n step %c1 iter_args(%u = %t) -> tensor<8xi32> : i32 {
      tt.print "u" {hex = false, isSigned = array<i32: 1>} : %u : tensor<8xi32>
      %2 = scf.if %c -> tensor<8xi32> {
        %v = arith.addi %u, %s : tensor<8xi32>
        scf.yield %v : tensor<8xi32>
      } else {
        scf.yield %u : tensor<8xi32>
      }
      scf.yield %2 : tensor<8xi32>
    }
    scf.yield %1 : tensor<8xi32>
  }
  tt.return %0 : tensor<8xi32>
}

// The outer loop changes the tile itself; the inner one starts from it and only moves.
// CHECK-LABEL: @inner_only
// CHECK: scf.for %{{.*}} iter_args(%[[T:.*]] = %arg2, %[[G:.*]] = %c0_i32) -> (tensor<8xi32>, i32)
// CHECK:   %[[D:.*]] = scf.for %{{.*}} iter_args(%[[B:.*]] = %c0_i32) -> (i32)
// CHECK:   %[[DS:.*]] = tt.splat %[[D]]
// CHECK:   %[[W:.*]] = arith.addi %[[T]], %[[DS]]
// CHECK:   arith.muli %[[W]], %[[W]]
tt.func private @inner_only(%n: i32, %step: i32, %t0: tensor<8xi32>, %g0: tensor<8xi32>) -> (tensor<8xi32>, tensor<8xi32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %s = tt.splat %step : i32 -> tensor<8xi32>
  %0:2 = scf.for %i = %c0 to %n step %c1 iter_args(%t = %t0, %g = %g0) -> (tensor<8xi32>, tensor<8xi32>) : i32 {
    %1 = scf.for %j = %c0 to %n step %c1 iter_args(%u = %t) -> tensor<8xi32> : i32 {
      %v = arith.addi %u, %s : tensor<8xi32>
      scf.yield %v : tensor<8xi32>
    }
    %w = arith.muli %1, %1 : tensor<8xi32>
    %h = arith.addi %g, %s : tensor<8xi32>
    scf.yield %w, %h : tensor<8xi32>, tensor<8xi32>
  }
  tt.return %0#0, %0#1 : tensor<8xi32>, tensor<8xi32>
}

// A while loop, moving in both of its regions.
// CHECK-LABEL: @while_loop
// CHECK: %[[R:.*]] = tt.make_range
// CHECK: %[[W:.*]]:2 = scf.while (%[[I:.*]] = %c0_i32, %[[A:.*]] = %c0_i32) : (i32, i32) -> (i32, i32)
// CHECK:   %[[B:.*]] = arith.addi %[[A]], %arg1 : i32
// CHECK:   scf.condition(%{{.*}}) %[[I]], %[[B]] : i32, i32
// CHECK: ^bb0(%{{.*}}: i32, %[[C:.*]]: i32):
// CHECK:   %[[D:.*]] = arith.addi %[[C]], %c7_i32 : i32
// CHECK:   scf.yield %{{.*}}, %[[D]] : i32, i32
// CHECK: %[[S:.*]] = tt.splat %[[W]]#1
// CHECK: arith.addi %[[R]], %[[S]]
tt.func private @while_loop(%n: i32, %step: i32) -> tensor<8xi32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = tt.make_range {start = 0 : i32, end = 8 : i32} : tensor<8xi32>
  %s = tt.splat %step : i32 -> tensor<8xi32>
  %k = arith.constant dense<7> : tensor<8xi32>
  %0:2 = scf.while (%i = %c0, %t = %r) : (i32, tensor<8xi32>) -> (i32, tensor<8xi32>) {
    %u = arith.addi %t, %s : tensor<8xi32>
    %c = arith.cmpi slt, %i, %n : i32
    scf.condition(%c) %i, %u : i32, tensor<8xi32>
  } do {
  ^bb0(%i: i32, %t: tensor<8xi32>):
    %j = arith.addi %i, %c1 : i32
    %v = arith.addi %t, %k : tensor<8xi32>
    scf.yield %j, %v : i32, tensor<8xi32>
  }
  tt.return %0#1 : tensor<8xi32>
}

// A tile that a loop passes on unchanged is not carried at all.
// CHECK-LABEL: @unchanged
// CHECK: scf.for %{{.*}} = %{{.*}} to %arg0 step %{{[^ ]*}} : i32 {
// CHECK-NEXT: tt.print "t" {{.*}} : %arg1
// CHECK: tt.return %arg1
tt.func private @unchanged(%n: i32, %t0: tensor<8xi32>) -> tensor<8xi32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %0 = scf.for %i = %c0 to %n step %c1 iter_args(%t = %t0) -> tensor<8xi32> : i32 {
    tt.print "t" {hex = false, isSigned = array<i32: 1>} : %t : tensor<8xi32>
    scf.yield %t : tensor<8xi32>
  }
  tt.return %0 : tensor<8xi32>
}

// The body yields a constant tile that is a moved range, as the initial one is: not carried, and read after the loop where the tile itself stands.
// CHECK-LABEL: @constant_move
// CHECK: %[[R:.*]] = tt.make_range
// CHECK: %[[M:.*]] = arith.addi %[[R]], %{{.*}} : tensor<8xi32>
// CHECK: scf.while (%{{.*}} = %c0_i32) : (i32) -> i32
// CHECK:   tt.print "t" {{.*}} : %[[M]]
// CHECK: tt.return %[[M]]
tt.func private @constant_move(%n: i32) -> tensor<8xi32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = tt.make_range {start = 0 : i32, end = 8 : i32} : tensor<8xi32>
  %k = arith.constant dense<-4> : tensor<8xi32>
  %m = arith.addi %r, %k : tensor<8xi32>
  %0:2 = scf.while (%i = %c0, %t = %m) : (i32, tensor<8xi32>) -> (i32, tensor<8xi32>) {
    %c = arith.cmpi slt, %i, %n : i32
    scf.condition(%c) %i, %t : i32, tensor<8xi32>
  } do {
  ^bb0(%i: i32, %t: tensor<8xi32>):
    tt.print "t" {hex = false, isSigned = array<i32: 1>} : %t : tensor<8xi32>
    %j = arith.addi %i, %c1 : i32
    scf.yield %j, %m : i32, tensor<8xi32>
  }
  tt.return %0#1 : tensor<8xi32>
}
