// A load stands before a reduction that it doesn't need, with its address; what writes, waits or says something is not passed.
// RUN: tk-opt %s --tk-hoist-loads | FileCheck %s

#each = #ttg.linear<register = [1, 2], lane = [4, 8, 16, 32, 64], warp = [128, 256]>
#wide = #ttg.linear<register = [1, 2, 4, 8, 16, 32], lane = [64, 128, 256, 512, 1024], warp = [2048, 4096]>

module {
// CHECK-LABEL: tt.func public @weights
// CHECK: tt.load
// CHECK-NEXT: %[[AT:.*]] = tt.addptr
// CHECK-NEXT: %[[W:.*]] = tt.load %[[AT]]
// CHECK-NEXT: %[[SUM:.*]] = "tt.reduce"
// CHECK: tt.splat %[[SUM]]
tt.func public @weights(%x: !tt.ptr<f32>, %w: !tt.ptr<f32>, %y: !tt.ptr<f32>) attributes {"ttg.num-warps" = 4 : i32} {
  %i = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32, #each>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>, #each>
  %ws = tt.splat %w : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>, #each>
  %ys = tt.splat %y : !tt.ptr<f32> -> tensor<512x!tt.ptr<f32>, #each>
  %xp = tt.addptr %xs, %i : tensor<512x!tt.ptr<f32>, #each>, tensor<512xi32, #each>
  %v = tt.load %xp : tensor<512x!tt.ptr<f32>, #each>
  %s = "tt.reduce"(%v) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tt.reduce.return %c : f32
  }) : (tensor<512xf32, #each>) -> f32
  %wp = tt.addptr %ws, %i : tensor<512x!tt.ptr<f32>, #each>, tensor<512xi32, #each>
  %u = tt.load %wp : tensor<512x!tt.ptr<f32>, #each>
  %all = tt.splat %s : f32 -> tensor<512xf32, #each>
  %r = arith.mulf %all, %u : tensor<512xf32, #each>
  %yp = tt.addptr %ys, %i : tensor<512x!tt.ptr<f32>, #each>, tensor<512xi32, #each>
  tt.store %yp, %r : tensor<512x!tt.ptr<f32>, #each>
  tt.return
}

// CHECK-LABEL: tt.func public @after_store
// CHECK: "tt.reduce"
// CHECK: tt.store
// CHECK: "tt.reduce"
// CHECK: tt.load
// CHECK: tt.return
tt.func public @after_store(%v: tensor<512xf32, #each>, %p: tensor<512x!tt.ptr<f32>, #each>, %q: !tt.ptr<f32>) attributes {"ttg.num-warps" = 4 : i32} {
  %s = "tt.reduce"(%v) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tt.reduce.return %c : f32
  }) : (tensor<512xf32, #each>) -> f32
  tt.store %q, %s : !tt.ptr<f32>
  %m = "tt.reduce"(%v) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %c = arith.mulf %a, %b : f32
    tt.reduce.return %c : f32
  }) : (tensor<512xf32, #each>) -> f32
  tt.barrier
  %u = tt.load %p : tensor<512x!tt.ptr<f32>, #each>
  tt.store %q, %m : !tt.ptr<f32>
  tt.store %p, %u : tensor<512x!tt.ptr<f32>, #each>
  tt.return
}

// 64 registers a thread are too many to be kept over the reduction.
// CHECK-LABEL: tt.func public @too_wide
// CHECK: "tt.reduce"
// CHECK: tt.load
// CHECK: tt.return
tt.func public @too_wide(%v: tensor<8192xf32, #wide>, %p: tensor<8192x!tt.ptr<f32>, #wide>, %q: !tt.ptr<f32>) attributes {"ttg.num-warps" = 4 : i32} {
  %s = "tt.reduce"(%v) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tt.reduce.return %c : f32
  }) : (tensor<8192xf32, #wide>) -> f32
  %u = tt.load %p : tensor<8192x!tt.ptr<f32>, #wide>
  tt.store %q, %s : !tt.ptr<f32>
  tt.store %p, %u : tensor<8192x!tt.ptr<f32>, #wide>
  tt.return
}

// What runs only under a condition stays there.
// CHECK-LABEL: tt.func public @conditional
// CHECK: "tt.reduce"
// CHECK: scf.if
// CHECK-NEXT: tt.load
tt.func public @conditional(%v: tensor<512xf32, #each>, %p: tensor<512x!tt.ptr<f32>, #each>, %q: !tt.ptr<f32>, %on: i1) attributes {"ttg.num-warps" = 4 : i32} {
  %s = "tt.reduce"(%v) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tt.reduce.return %c : f32
  }) : (tensor<512xf32, #each>) -> f32
  scf.if %on {
    %u = tt.load %p : tensor<512x!tt.ptr<f32>, #each>
    tt.store %p, %u : tensor<512x!tt.ptr<f32>, #each>
  }
  tt.store %q, %s : !tt.ptr<f32>
  tt.return
}
}
