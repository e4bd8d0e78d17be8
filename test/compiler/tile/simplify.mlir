// RUN: tk-opt %s --tk-simplify | FileCheck %s

// What holds for every element is computed once.
// CHECK-LABEL: @uniform_arithmetic
// CHECK-NEXT: %[[M:.*]] = arith.muli %arg0, %arg1 : i32
// CHECK-NEXT: %[[W:.*]] = arith.extsi %[[M]] : i32 to i64
// CHECK-NEXT: %[[S:.*]] = tt.splat %[[W]] : i64 -> tensor<8x4xi64>
// CHECK-NEXT: tt.return %[[S]]
tt.func private @uniform_arithmetic(%a: i32, %b: i32) -> tensor<8x4xi64> {
  %0 = tt.splat %a : i32 -> tensor<8xi32>
  %1 = tt.splat %b : i32 -> tensor<8xi32>
  %2 = arith.muli %0, %1 : tensor<8xi32>
  %3 = tt.expand_dims %2 {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32>
  %4 = arith.extsi %3 : tensor<8x1xi32> to tensor<8x1xi64>
  %5 = tt.broadcast %4 : tensor<8x1xi64> -> tensor<8x4xi64>
  tt.return %5 : tensor<8x4xi64>
}

// With a scalar condition among tiles; the predicate of a comparison stays.
// CHECK-LABEL: @uniform_select
// CHECK-DAG: %[[C5:.*]] = arith.constant 5 : i32
// CHECK-DAG: %[[L:.*]] = arith.cmpi ult, %arg1, %[[C5]] : i32
// CHECK-DAG: %[[V:.*]] = arith.select %arg0, %arg1, %[[C5]] : i32
// CHECK-DAG: %[[LS:.*]] = tt.splat %[[L]] : i1 -> tensor<8xi1>
// CHECK-DAG: %[[VS:.*]] = tt.splat %[[V]] : i32 -> tensor<8xi32>
// CHECK: tt.return %[[LS]], %[[VS]]
tt.func private @uniform_select(%c: i1, %a: i32) -> (tensor<8xi1>, tensor<8xi32>) {
  %0 = tt.splat %a : i32 -> tensor<8xi32>
  %1 = arith.constant dense<5> : tensor<8xi32>
  %2 = arith.cmpi ult, %0, %1 : tensor<8xi32>
  %3 = arith.select %c, %0, %1 : tensor<8xi32>
  tt.return %2, %3 : tensor<8xi1>, tensor<8xi32>
}

// Pure code leaves a loop, a division too as it never traps; a load and an assumption stay.
// CHECK-LABEL: @invariants
// CHECK: %[[Q:.*]] = arith.divsi %arg2, %arg3 : i32
// CHECK: scf.for
// CHECK-NEXT: %[[V:.*]] = tt.load %arg0
// CHECK-NEXT: tt.assume %arg4
// CHECK-NEXT: arith.addi %[[V]], %[[Q]]
tt.func public @invariants(%p: !tt.ptr<i32>, %q: !tt.ptr<i32>, %x: i32, %y: i32, %c: i1) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %x step %c1 : i32 {
    %v = tt.load %p : !tt.ptr<i32>
    tt.assume %c
    %d = arith.divsi %x, %y : i32
    %s = arith.addi %v, %d : i32
    tt.store %q, %s : !tt.ptr<i32>
  }
  tt.return
}

// Two loads are one while nothing is written between them.
// CHECK-LABEL: @common
// CHECK: %[[A:.*]] = tt.load %arg0
// CHECK-NEXT: tt.store %arg1, %[[A]]
// CHECK-NEXT: %[[B:.*]] = tt.load %arg0
// CHECK-NEXT: tt.store %arg1, %[[B]]
// CHECK-NEXT: tt.return
tt.func public @common(%p: !tt.ptr<i32>, %q: !tt.ptr<i32>) {
  %0 = tt.load %p : !tt.ptr<i32>
  %1 = tt.load %p : !tt.ptr<i32>
  %2 = arith.andi %0, %1 : i32
  tt.store %q, %2 : !tt.ptr<i32>
  %3 = tt.load %p : !tt.ptr<i32>
  tt.store %q, %3 : !tt.ptr<i32>
  tt.return
}

// LLVM issue 219456: one scf.if result reaches scf.condition twice. Both copies must keep the value of the branch taken.
// CHECK-LABEL: @condition_of_one_value_twice
// CHECK: scf.while (%[[X:.*]] = %{{.*}}, %[[B:.*]] = %{{.*}})
// CHECK-NEXT: %[[C:.*]] = arith.cmpi slt, %[[X]], %arg2
// CHECK-NEXT: %[[V:.*]] = scf.if %[[C]]
// CHECK-NEXT:   %[[Y:.*]] = arith.addi %[[X]]
// CHECK-NEXT:   scf.yield %[[Y]]
// CHECK-NEXT: } else {
// CHECK-NEXT:   scf.yield %[[B]]
// CHECK-NEXT: }
// CHECK-NEXT: scf.condition(%[[C]]) %[[V]], %[[V]] : i32, i32
// CHECK: ^bb0(%[[U:.*]]: i32, %[[W:.*]]: i32):
// CHECK-NEXT: tt.store %arg0, %[[U]]
// CHECK-NEXT: tt.store %arg1, %[[W]]
// CHECK-NEXT: scf.yield %[[U]], %[[W]]
tt.func public @condition_of_one_value_twice(%p: !tt.ptr<i32>, %q: !tt.ptr<i32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r:2 = scf.while (%x = %c0, %b = %c0) : (i32, i32) -> (i32, i32) {
    %cond = arith.cmpi slt, %x, %n : i32
    %v = scf.if %cond -> i32 {
      %y = arith.addi %x, %c1 : i32
      scf.yield %y : i32
    } else {
      scf.yield %b : i32
    }
    scf.condition(%cond) %v, %v : i32, i32
  } do {
  ^bb0(%u: i32, %w: i32):
    tt.store %p, %u : !tt.ptr<i32>
    tt.store %q, %w : !tt.ptr<i32>
    scf.yield %u, %w : i32, i32
  }
  tt.store %p, %r#0 : !tt.ptr<i32>
  tt.store %q, %r#1 : !tt.ptr<i32>
  tt.return
}

// A range of more than half the integers is not empty: these loops run five and three times.
// CHECK-LABEL: @wide_ranges
// CHECK-DAG: %[[LO:.*]] = arith.constant -2147483648 : i32
// CHECK-DAG: %[[HI:.*]] = arith.constant 2147483647 : i32
// CHECK-DAG: %[[STEP:.*]] = arith.constant 1000000000 : i32
// CHECK: scf.for %{{.*}} = %[[LO]] to %[[HI]] step %[[STEP]]
// CHECK: scf.for %{{.*}} = %[[LO]] to %[[HI]] step %[[HI]]
tt.func public @wide_ranges(%p: !tt.ptr<i32>) {
  %lo = arith.constant -2147483648 : i32
  %hi = arith.constant 2147483647 : i32
  %step = arith.constant 1000000000 : i32
  scf.for %i = %lo to %hi step %step : i32 {
    tt.store %p, %i : !tt.ptr<i32>
  }
  scf.for %i = %lo to %hi step %hi : i32 {
    tt.store %p, %i : !tt.ptr<i32>
  }
  tt.return
}

// CHECK-LABEL: @trivial_loops
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : i32
// CHECK-DAG: %[[C3:.*]] = arith.constant 3 : i32
// CHECK: tt.store %arg0, %[[C0]] : !tt.ptr<i32>
// CHECK-NEXT: %[[ONE:.*]] = arith.addi %arg1, %[[C3]] : i32
// CHECK-NEXT: %[[ALL:.*]]:2 = scf.for
// CHECK: tt.return %arg1, %arg1, %[[ONE]], %[[ALL]]#0, %[[ALL]]#1
tt.func private @trivial_loops(%p: !tt.ptr<i32>, %x: i32, %n: i32) -> (i32, i32, i32, i32, i32) {
  %c0 = arith.constant 0 : i32
  %c3 = arith.constant 3 : i32
  %c4 = arith.constant 4 : i32
  %m1 = arith.constant -1 : i32
  %none = scf.for %i = %c4 to %c3 step %c4 iter_args(%a = %x) -> i32 : i32 {
    %b = arith.addi %a, %i : i32
    scf.yield %b : i32
  }
  %same = scf.for %i = %n to %n step %c4 iter_args(%a = %x) -> i32 : i32 {
    %b = arith.addi %a, %i : i32
    scf.yield %b : i32
  }
  %one = scf.for %i = %c0 to %c3 step %c3 iter_args(%a = %x) -> i32 : i32 {
    tt.store %p, %i : !tt.ptr<i32>
    %b = arith.addi %a, %c3 : i32
    scf.yield %b : i32
  }
  // As unsigned numbers -1 is the largest.
  %all:2 = scf.for unsigned %i = %c3 to %m1 step %c4 iter_args(%a = %x, %d = %x) -> (i32, i32) : i32 {
    %b = arith.addi %a, %i : i32
    %e = arith.muli %d, %b : i32
    scf.yield %b, %e : i32, i32
  }
  tt.return %none, %same, %one, %all#0, %all#1 : i32, i32, i32, i32, i32
}
