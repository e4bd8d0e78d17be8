// A barrier stands between a load and a store of other threads to the same place, behind a test where only the run can tell.
// RUN: tk-opt %s --tk-order-memory | FileCheck %s

#each = #ttg.linear<register = [1, 2], lane = [4, 8, 16, 32, 64], warp = [128, 256]>
#copies = #ttg.linear<register = [], lane = [1, 2, 4, 8, 16], warp = [0, 0]>

module {
// Two arrays: a barrier only where they overlap without being the same.
// CHECK-LABEL: tt.func public @arrays
// CHECK: tt.load
// CHECK: %[[APART:.*]] = arith.cmpi ne
// CHECK: arith.andi {{.*}}, %[[APART]]
// CHECK: scf.if
// CHECK-NEXT: ttg.barrier
// CHECK: tt.store
// CHECK: tt.return
tt.func public @arrays(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>) attributes {"ttg.num-warps" = 4 : i32} {
  %i = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32, #each>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>, #each>
  %xp = tt.addptr %xs, %i : tensor<512x!tt.ptr<f32>, #each>, tensor<512xi32, #each>
  %v = tt.load %xp : tensor<512x!tt.ptr<f32>, #each>
  %ys = tt.splat %y : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>, #each>
  %yp = tt.addptr %ys, %i : tensor<512x!tt.ptr<f32>, #each>, tensor<512xi32, #each>
  tt.store %yp, %v : tensor<512x!tt.ptr<f32>, #each>
  tt.return
}

// In place, each thread its own elements: nothing.
// CHECK-LABEL: tt.func public @in_place
// CHECK-NOT: ttg.barrier
// CHECK: tt.return
tt.func public @in_place(%x: !tt.ptr<f32>) attributes {"ttg.num-warps" = 4 : i32} {
  %i = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32, #each>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>, #each>
  %xp = tt.addptr %xs, %i : tensor<512x!tt.ptr<f32>, #each>, tensor<512xi32, #each>
  %v = tt.load %xp : tensor<512x!tt.ptr<f32>, #each>
  tt.store %xp, %v : tensor<512x!tt.ptr<f32>, #each>
  tt.return
}

// Other warps hold copies and load them too.
// CHECK-LABEL: tt.func public @copies
// CHECK: tt.load
// CHECK-NEXT: ttg.barrier
// CHECK-NEXT: tt.store
tt.func public @copies(%x: !tt.ptr<f32>) attributes {"ttg.num-warps" = 4 : i32} {
  %i = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #copies>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<32x!tt.ptr<f32>, #copies>
  %xp = tt.addptr %xs, %i : tensor<32x!tt.ptr<f32>, #copies>, tensor<32xi32, #copies>
  %v = tt.load %xp : tensor<32x!tt.ptr<f32>, #copies>
  tt.store %xp, %v : tensor<32x!tt.ptr<f32>, #copies>
  tt.return
}

// Apart by constants, or with a barrier between them: nothing more. Every thread loads a scalar, one stores it.
// CHECK-LABEL: tt.func public @scalars
// CHECK: tt.load
// CHECK-NEXT: tt.store
// CHECK-NEXT: ttg.barrier
// CHECK-NEXT: tt.store
// CHECK-NEXT: tt.load
// CHECK-NEXT: ttg.barrier
// CHECK-NEXT: tt.store
tt.func public @scalars(%x: !tt.ptr<f32>) attributes {"ttg.num-warps" = 4 : i32} {
  %c1 = arith.constant 1 : i32
  %next = tt.addptr %x, %c1 : !tt.ptr<f32>, i32
  %v = tt.load %x : !tt.ptr<f32>
  tt.store %next, %v : !tt.ptr<f32>
  ttg.barrier
  tt.store %x, %v : !tt.ptr<f32>
  %w = tt.load %x : !tt.ptr<f32>
  tt.store %x, %w : !tt.ptr<f32>
  tt.return
}

// The store of an iteration meets the loads of the one before.
// CHECK-LABEL: tt.func public @loop
// CHECK: scf.for
// CHECK-NEXT: ttg.barrier
// CHECK-NEXT: tt.store
// CHECK-NEXT: tt.load
tt.func public @loop(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %n: i32) attributes {"ttg.num-warps" = 4 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %f = arith.constant 1.0 : f32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%v = %f) -> (f32) : i32 {
    tt.store %y, %v : !tt.ptr<f32>
    %w = tt.load %x : !tt.ptr<f32>
    scf.yield %w : f32
  }
  tt.return
}
}
