// A barrier stands between a load and a store of other threads to the same place, and between a store and a load of the same element by a thread that holds a
// copy of it, behind a test where only the run can tell.
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
// CHECK-NEXT: ttg.barrier
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

// The store of an iteration meets the loads of the one before, and its own load where both are of one place.
// CHECK-LABEL: tt.func public @loop
// CHECK: scf.for
// CHECK-NEXT: ttg.barrier
// CHECK-NEXT: tt.store
// CHECK: %[[SAME:.*]] = arith.cmpi eq
// CHECK-NEXT: scf.if %[[SAME]]
// CHECK-NEXT: ttg.barrier
// CHECK: tt.load
// CHECK-NOT: ttg.barrier
// CHECK: tt.return
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

// A thread loads what it has stored itself.
// CHECK-LABEL: tt.func public @own_element
// CHECK-NOT: ttg.barrier
// CHECK: tt.return
tt.func public @own_element(%x: !tt.ptr<f32>, %v: tensor<512xf32, #each>) attributes {"ttg.num-warps" = 4 : i32} {
  %i = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32, #each>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>, #each>
  %xp = tt.addptr %xs, %i : tensor<512x!tt.ptr<f32>, #each>, tensor<512xi32, #each>
  tt.store %xp, %v : tensor<512x!tt.ptr<f32>, #each>
  %w = tt.load %xp : tensor<512x!tt.ptr<f32>, #each>
  tt.return
}

// Other warps load what the first one has stored, be the addresses known or not. One that stores twice is in order.
// CHECK-LABEL: tt.func public @element_with_copies
// CHECK: tt.store
// CHECK-NEXT: tt.store
// CHECK-NEXT: ttg.barrier
// CHECK-NEXT: tt.load
// CHECK-NEXT: ttg.barrier
// CHECK-NEXT: tt.store
// CHECK-NEXT: ttg.barrier
// CHECK-NEXT: tt.load
tt.func public @element_with_copies(%x: !tt.ptr<f32>, %v: tensor<32xf32, #copies>, %any: tensor<32x!tt.ptr<f32>, #copies>) attributes {"ttg.num-warps" = 4 : i32} {
  %i = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #copies>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<32x!tt.ptr<f32>, #copies>
  %xp = tt.addptr %xs, %i : tensor<32x!tt.ptr<f32>, #copies>, tensor<32xi32, #copies>
  tt.store %xp, %v : tensor<32x!tt.ptr<f32>, #copies>
  tt.store %xp, %v : tensor<32x!tt.ptr<f32>, #copies>
  %w = tt.load %xp : tensor<32x!tt.ptr<f32>, #copies>
  tt.store %any, %w : tensor<32x!tt.ptr<f32>, #copies>
  %z = tt.load %any : tensor<32x!tt.ptr<f32>, #copies>
  tt.return
}

// Each iteration loads the scalar that the one before has stored, though under another name; elements of other indexes are the program's own business.
// CHECK-LABEL: tt.func public @next_iteration
// CHECK: scf.for
// CHECK: ttg.barrier
// CHECK-NEXT: tt.load
// CHECK-NOT: ttg.barrier
// CHECK: tt.return
tt.func public @next_iteration(%x: !tt.ptr<f32>, %n: i32) attributes {"ttg.num-warps" = 4 : i32} {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %i = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #copies>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<32x!tt.ptr<f32>, #copies>
  %xp = tt.addptr %xs, %i : tensor<32x!tt.ptr<f32>, #copies>, tensor<32xi32, #copies>
  scf.for %k = %c0 to %n step %c1 : i32 {
    %at = tt.addptr %x, %k : !tt.ptr<f32>, i32
    %v = tt.load %at : !tt.ptr<f32>
    %w = arith.addf %v, %v : f32
    %next = tt.addptr %at, %c1 : !tt.ptr<f32>, i32
    tt.store %next, %w : !tt.ptr<f32>
  }
  %all = tt.load %xp : tensor<32x!tt.ptr<f32>, #copies>
  tt.return
}
}
