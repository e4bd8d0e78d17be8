// RUN: tk-opt %s --tk-inline | FileCheck %s
// RUN: tk-opt %s --tk-inline=noinline-too | FileCheck %s --check-prefix=ALL
// RUN: tk-opt %s --tk-inline --mlir-print-debuginfo | FileCheck %s --check-prefix=LOCATION

// A helper that calls a helper, with control flow and several results. Values of the caller take the place of the arguments.
// CHECK-LABEL: tt.func public @kernel(
// CHECK-SAME: %[[P:.*]]: !tt.ptr<i32>, %[[X:.*]]: i32, %[[C:.*]]: i1)
// CHECK-NEXT: %[[D0:.*]] = arith.addi %[[X]], %[[X]] : i32
// CHECK-NEXT: %[[S:.*]] = scf.if %[[C]] -> (i32) {
// CHECK-NEXT:   %[[D1:.*]] = arith.addi %[[D0]], %[[D0]] : i32
// CHECK-NEXT:   scf.yield %[[D1]] : i32
// CHECK-NEXT: } else {
// CHECK-NEXT:   scf.yield %[[D0]] : i32
// CHECK-NEXT: }
// CHECK-NEXT: tt.store %[[P]], %[[S]]
// CHECK-NEXT: tt.store %[[P]], %[[D0]]
// `even` calls itself in a circle and `kept` asks not to be inlined: both stay calls.
// CHECK-NEXT: tt.call @even(%[[P]])
// CHECK-NEXT: tt.call @kept(%[[P]])
// CHECK-NEXT: tt.call @elsewhere(%[[P]])
// CHECK-NEXT: tt.return

// ALL: tt.call @even
// ALL-NOT: @kept
// ALL: tt.store %{{.*}}, %c0
// ALL: tt.call @elsewhere

// LOCATION-LABEL: tt.func public @kernel
// LOCATION: arith.addi {{.*}} loc(#[[INLINED:.*]])
// LOCATION: #[[INLINED]] = loc(callsite(
tt.func public @kernel(%p: !tt.ptr<i32>, %x: i32, %c: i1) {
  %0:2 = tt.call @both(%x, %c) : (i32, i1) -> (i32, i32)
  tt.store %p, %0#0 : !tt.ptr<i32>
  tt.store %p, %0#1 : !tt.ptr<i32>
  tt.call @even(%p) : (!tt.ptr<i32>) -> ()
  tt.call @kept(%p) : (!tt.ptr<i32>) -> ()
  tt.call @elsewhere(%p) : (!tt.ptr<i32>) -> ()
  tt.return
}

// CHECK-NOT: @both
// CHECK-NOT: @twice
tt.func private @both(%x: i32, %c: i1) -> (i32, i32) {
  %0 = tt.call @twice(%x) : (i32) -> i32
  %1 = scf.if %c -> i32 {
    %2 = tt.call @twice(%0) : (i32) -> i32
    scf.yield %2 : i32
  } else {
    scf.yield %0 : i32
  }
  tt.return %1, %0 : i32, i32
}

tt.func private @twice(%x: i32) -> i32 {
  %0 = arith.addi %x, %x : i32
  tt.return %0 : i32
}

// CHECK: tt.func private @even
tt.func private @even(%p: !tt.ptr<i32>) {
  tt.call @odd(%p) : (!tt.ptr<i32>) -> ()
  tt.return
}

tt.func private @odd(%p: !tt.ptr<i32>) {
  tt.call @even(%p) : (!tt.ptr<i32>) -> ()
  tt.return
}

// CHECK: tt.func private @kept
// CHECK-NEXT: arith.constant
// CHECK-NEXT: tt.store
tt.func private @kept(%p: !tt.ptr<i32>) attributes {noinline = true} {
  tt.call @write(%p) : (!tt.ptr<i32>) -> ()
  tt.return
}

// CHECK: tt.func private @elsewhere
tt.func private @elsewhere(!tt.ptr<i32>)

// Nothing calls these any more.
// CHECK-NOT: tt.func
tt.func private @write(%p: !tt.ptr<i32>) {
  %c0 = arith.constant 0 : i32
  tt.store %p, %c0 : !tt.ptr<i32>
  tt.return
}

tt.func private @alone(%p: !tt.ptr<i32>) {
  tt.call @alone(%p) : (!tt.ptr<i32>) -> ()
  tt.return
}
