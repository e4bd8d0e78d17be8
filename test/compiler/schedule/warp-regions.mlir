// Regions of warps run at the same time: their memory is apart, whatever the order in the text; barriers are placed in each by itself, and all threads meet in
// front and behind.
// RUN: tk-opt %s --tk-hoist-loads --tk-allocate-shared --tk-order-memory | FileCheck %s

#tile = #ttg.linear<register = [], lane = [1, 2, 4, 8, 16], warp = [32, 64]>
#two = #ttg.linear<register = [1], lane = [2, 4, 8, 16, 32], warp = [64]>
#shared = #ttg.shared<offset = [1, 2, 4, 8, 16, 32, 64]>

module {
// The number of the division, what is handed over, the descriptor of all, the one of the second region, and the scratch of each: seven places without common bytes.
// CHECK-LABEL: tt.func public @apart
// CHECK-SAME: ttg.offset = 0 : i64
// CHECK-SAME: ttg.shared = 1568 : i64
// CHECK: ttg.local_alloc {ttg.offset = 128 : i64}
// CHECK: ttg.warp_specialize
// CHECK: "tt.reduce"
// CHECK: ttg.offset = 1280 : i64
// CHECK: ttg.local_alloc {ttg.offset = 768 : i64}
// CHECK: "tt.reduce"
// CHECK: ttg.offset = 1408 : i64
// CHECK: "tt.reduce"
// CHECK: ttg.offset = 1536 : i64
// CHECK: } {ttg.offset = 640 : i64}
tt.func public @apart(%p: !tt.ptr<f32>, %v: tensor<128xf32, #tile>) attributes {"ttg.num-warps" = 4 : i32} {
  %program = tt.get_program_id x : i32
  %all = ttg.local_alloc : !ttg.memdesc<128xf32, #shared, mutable>
  ttg.warp_specialize {
    %a = "tt.reduce"(%v) <{axis = 0 : i32}> ({
    ^bb0(%x: f32, %y: f32):
      %t = arith.addf %x, %y : f32
      tt.reduce.return %t : f32
    }) : (tensor<128xf32, #tile>) -> f32
    tt.store %p, %a : !tt.ptr<f32>
    ttg.warp_yield
  } partitions {
    ttg.warp_partition num_warps(2) (%m = %all : !ttg.memdesc<128xf32, #shared, mutable>, %n = %program : i32, %q = %p : !tt.ptr<f32>) {
      %own = ttg.local_alloc : !ttg.memdesc<128xf32, #shared, mutable>
      %s = ttg.local_load %m : !ttg.memdesc<128xf32, #shared, mutable> -> tensor<128xf32, #two>
      ttg.local_store %s, %own : tensor<128xf32, #two> -> !ttg.memdesc<128xf32, #shared, mutable>
      %a = "tt.reduce"(%s) <{axis = 0 : i32}> ({
      ^bb0(%x: f32, %y: f32):
        %t = arith.addf %x, %y : f32
        tt.reduce.return %t : f32
      }) : (tensor<128xf32, #two>) -> f32
      tt.store %q, %a : !tt.ptr<f32>
      ttg.warp_return
    }
    ttg.warp_partition num_warps(4) (%q = %p : !tt.ptr<f32>) {
      %s = arith.constant dense<1.0> : tensor<128xf32, #tile>
      %a = "tt.reduce"(%s) <{axis = 0 : i32}> ({
      ^bb0(%x: f32, %y: f32):
        %t = arith.addf %x, %y : f32
        tt.reduce.return %t : f32
      }) : (tensor<128xf32, #tile>) -> f32
      tt.store %q, %a : !tt.ptr<f32>
      ttg.warp_return
    }
  }
  tt.return
}

// What is written before the regions needs no barrier in them; what one of them writes needs one before its own reads, and none behind.
// CHECK-LABEL: tt.func public @barriers
// CHECK: ttg.local_store
// CHECK-NEXT: ttg.warp_specialize
// CHECK-NEXT: ttg.local_load
// CHECK-NEXT: ttg.barrier
// CHECK-NEXT: ttg.local_store
// CHECK-NEXT: ttg.warp_yield
// CHECK: ttg.warp_partition
// CHECK-NEXT: ttg.local_load
// CHECK-NEXT: ttg.warp_return
// CHECK: ttg.local_load
// CHECK-NEXT: tt.return
tt.func public @barriers(%v: tensor<128xf32, #tile>) attributes {"ttg.num-warps" = 4 : i32} {
  %all = ttg.local_alloc : !ttg.memdesc<128xf32, #shared, mutable>
  ttg.local_store %v, %all : tensor<128xf32, #tile> -> !ttg.memdesc<128xf32, #shared, mutable>
  ttg.warp_specialize {
    %r = ttg.local_load %all : !ttg.memdesc<128xf32, #shared, mutable> -> tensor<128xf32, #tile>
    ttg.local_store %r, %all : tensor<128xf32, #tile> -> !ttg.memdesc<128xf32, #shared, mutable>
    ttg.warp_yield
  } partitions {
    ttg.warp_partition num_warps(2) (%m = %all : !ttg.memdesc<128xf32, #shared, mutable>) {
      %r = ttg.local_load %m : !ttg.memdesc<128xf32, #shared, mutable> -> tensor<128xf32, #two>
      ttg.warp_return
    }
  }
  %r = ttg.local_load %all : !ttg.memdesc<128xf32, #shared, mutable> -> tensor<128xf32, #tile>
  tt.return
}

// No load goes over the regions, which may write what it reads; a load before them and a store behind them need no barrier, and those in a region do.
// CHECK-LABEL: tt.func public @memory
// CHECK: ttg.warp_specialize
// CHECK: ttg.warp_partition
// CHECK: tt.load
// CHECK: scf.if
// CHECK-NEXT: ttg.barrier
// CHECK: tt.store
// CHECK: ttg.warp_return
// CHECK: tt.load
tt.func public @memory(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>) attributes {"ttg.num-warps" = 4 : i32} {
  ttg.warp_specialize {
    ttg.warp_yield
  } partitions {
    ttg.warp_partition num_warps(2) (%px = %x : !tt.ptr<f32>, %py = %y : !tt.ptr<f32>) {
      %i = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #two>
      %xs = tt.splat %px : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>, #two>
      %xp = tt.addptr %xs, %i : tensor<128x!tt.ptr<f32>, #two>, tensor<128xi32, #two>
      %v = tt.load %xp : tensor<128x!tt.ptr<f32>, #two>
      %ys = tt.splat %py : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>, #two>
      %yp = tt.addptr %ys, %i : tensor<128x!tt.ptr<f32>, #two>, tensor<128xi32, #two>
      tt.store %yp, %v : tensor<128x!tt.ptr<f32>, #two>
      ttg.warp_return
    }
  }
  %i = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32, #tile>
  %ys = tt.splat %y : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>, #tile>
  %yp = tt.addptr %ys, %i : tensor<128x!tt.ptr<f32>, #tile>, tensor<128xi32, #tile>
  %v = tt.load %yp : tensor<128x!tt.ptr<f32>, #tile>
  tt.store %yp, %v : tensor<128x!tt.ptr<f32>, #tile>
  tt.return
}
}
