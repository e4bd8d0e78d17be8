// RUN: tk-opt %s | tk-opt | FileCheck %s

#tile = #ttg.linear<register = [1, 2, 4], lane = [8, 16, 32, 64, 128], warp = []>
#shared = #ttg.shared<offset = [1, 2, 4, 72, 144, 32, 64, 128]>

// CHECK-DAG: #[[TILE:.*]] = #ttg.linear<register = [1, 2, 4], lane = [8, 16, 32, 64, 128], warp = []>
// CHECK-DAG: #[[SHARED:.*]] = #ttg.shared<offset = [1, 2, 4, 72, 144, 32, 64, 128]>

// CHECK-LABEL: @shared_memory
tt.func @shared_memory(%p: tensor<8x32x!tt.ptr<bf16>, #tile>, %m: tensor<8x32xi1, #tile>, %slot: i32, %more: i1) {
  // CHECK: %[[ALL:.*]] = ttg.local_alloc : <8x32xbf16, #[[SHARED]], slots = 3, mutable>
  %all = ttg.local_alloc : !ttg.memdesc<8x32xbf16, #shared, slots = 3, mutable>
  // CHECK: ttg.memdesc_index %[[ALL]][%{{.*}} + 2] : <8x32xbf16, #[[SHARED]], slots = 3, mutable> -> <8x32xbf16, #[[SHARED]], mutable>
  %next = ttg.memdesc_index %all[%slot + 2] : !ttg.memdesc<8x32xbf16, #shared, slots = 3, mutable> -> !ttg.memdesc<8x32xbf16, #shared, mutable>
  // CHECK: ttg.memdesc_index %[[ALL]][%{{[^+]*}}] :
  %one = ttg.memdesc_index %all[%slot] : !ttg.memdesc<8x32xbf16, #shared, slots = 3, mutable> -> !ttg.memdesc<8x32xbf16, #shared, mutable>
  // CHECK: ttg.async_copy %{{.*}}, %{{.*}} mask %{{.*}} if %{{.*}} {contiguity = 8 : i32}
  %c = ttg.async_copy %p, %next mask %m if %more {contiguity = 8 : i32} : tensor<8x32x!tt.ptr<bf16>, #tile>, tensor<8x32xi1, #tile> -> !ttg.memdesc<8x32xbf16, #shared, mutable>
  // CHECK: ttg.async_commit
  %t = ttg.async_commit %c
  // CHECK: ttg.async_wait %{{.*}} {pending = 1 : i32}
  %w = ttg.async_wait %t {pending = 1 : i32}
  // CHECK: ttg.local_load %{{.*}}, %{{.*}} : <8x32xbf16, #[[SHARED]], mutable> -> tensor<8x32xbf16, #[[TILE]]>
  %v = ttg.local_load %one, %w : !ttg.memdesc<8x32xbf16, #shared, mutable> -> tensor<8x32xbf16, #tile>
  // CHECK: ttg.local_store
  ttg.local_store %v, %next : tensor<8x32xbf16, #tile> -> !ttg.memdesc<8x32xbf16, #shared, mutable>
  // CHECK: ttg.local_alloc of %{{.*}} : tensor<8x32xbf16, #[[TILE]]> : <8x32xbf16, #[[SHARED]]>
  %fixed = ttg.local_alloc of %v : tensor<8x32xbf16, #tile> : !ttg.memdesc<8x32xbf16, #shared>
  // CHECK: ttg.local_load %{{[0-9]+}} : <8x32xbf16, #[[SHARED]]> ->
  %r = ttg.local_load %fixed : !ttg.memdesc<8x32xbf16, #shared> -> tensor<8x32xbf16, #tile>
  tt.return
}

#bar = #ttg.shared<offset = []>
#wide = #ttg.linear<register = [], lane = [1, 2, 4, 8, 16], warp = [32, 64]>
#narrow = #ttg.linear<register = [1, 2], lane = [4, 8, 16, 32, 64], warp = []>

// CHECK-LABEL: @warp_regions
tt.func @warp_regions(%p: !tt.ptr<f32>, %n: i32, %t: tensor<128xf32, #wide>) attributes {"ttg.num-warps" = 4 : i32} {
  // CHECK: %[[BARS:.*]] = ttg.local_alloc
  %bars = ttg.local_alloc : !ttg.memdesc<1xi64, #bar, mutable>
  // CHECK: ttg.mbarrier_init %[[BARS]], 2 : <1xi64, #{{.*}}, mutable>
  ttg.mbarrier_init %bars, 2 : !ttg.memdesc<1xi64, #bar, mutable>
  // CHECK: %{{.*}}:2 = ttg.warp_specialize -> tensor<128xf32, #{{.*}}>, i32 {
  %r:2 = ttg.warp_specialize -> tensor<128xf32, #wide>, i32 {
    // CHECK: ttg.mbarrier_wait %[[BARS]], %{{.*}} : <1xi64
    ttg.mbarrier_wait %bars, %n : !ttg.memdesc<1xi64, #bar, mutable>
    // CHECK: ttg.warp_yield %{{.*}}, %{{.*}} : tensor<128xf32, #{{.*}}>, i32
    ttg.warp_yield %t, %n : tensor<128xf32, #wide>, i32
  // CHECK-NEXT: } partitions {
  } partitions {
    // CHECK-NEXT: ttg.warp_partition num_warps(1) registers(24) (%[[Q:.*]] = %{{.*}} : !tt.ptr<f32>, %[[B:.*]] = %[[BARS]] : !ttg.memdesc<1xi64, #{{.*}}, mutable>) {
    ttg.warp_partition num_warps(1) registers(24) (%q = %p : !tt.ptr<f32>, %b = %bars : !ttg.memdesc<1xi64, #bar, mutable>) {
      %v = ub.poison : tensor<128xf32, #narrow>
      // CHECK: ttg.mbarrier_arrive %[[B]] : <1xi64
      ttg.mbarrier_arrive %b : !ttg.memdesc<1xi64, #bar, mutable>
      // CHECK-NEXT: ttg.warp_return
      ttg.warp_return
    }
    // CHECK: ttg.warp_partition num_warps(2) () {
    ttg.warp_partition num_warps(2) () {
      ttg.warp_return
    // CHECK: } attributes {some.name = 1 : i32}
    } attributes {some.name = 1 : i32}
  }
  // CHECK: ttg.mbarrier_inval %[[BARS]] : <1xi64
  ttg.mbarrier_inval %bars : !ttg.memdesc<1xi64, #bar, mutable>
  tt.return
}

// A of 64 x 32 with rows of 64 bytes, its chunks exchanged; B is the transposed view of such a matrix.
#left = #ttg.shared<offset = [1, 2, 4, 8, 16, 32, 72, 144, 256, 512, 1024]>
#rows = #ttg.shared<offset = [1, 2, 4, 8, 16, 32, 72, 144]>
#columns = #ttg.shared<offset = [8, 16, 32, 64, 128, 1, 66, 132]>
#mma = #ttg.mma<wgmma, warps = 4x1>
// CHECK-LABEL: tt.func @products
tt.func @products(%c : tensor<64x8xf32, #mma>) {
  %a = ttg.local_alloc : !ttg.memdesc<64x32xbf16, #left, mutable>
  %t = ttg.local_alloc : !ttg.memdesc<8x32xbf16, #rows, mutable>
  // CHECK: %[[B:.*]] = ttg.memdesc_trans %{{.*}} [1, 0] : <8x32xbf16, #{{.*}}, mutable> -> <32x8xbf16, #{{.*}}, mutable>
  %b = ttg.memdesc_trans %t [1, 0] : <8x32xbf16, #rows, mutable> -> <32x8xbf16, #columns, mutable>
  // CHECK: ttg.proxy_fence
  ttg.proxy_fence
  // CHECK: %[[D:.*]] = ttg.warpgroup_dot %{{.*}}, %[[B]], %{{.*}} : !ttg.memdesc<64x32xbf16, #{{.*}}, mutable> * <32x8xbf16, #{{.*}}, mutable> -> tensor<64x8xf32, #{{.*}}>
  %d = ttg.warpgroup_dot %a, %b, %c : !ttg.memdesc<64x32xbf16, #left, mutable> * <32x8xbf16, #columns, mutable> -> tensor<64x8xf32, #mma>
  // CHECK: ttg.warpgroup_wait {pending = 1 : i32}
  ttg.warpgroup_wait {pending = 1 : i32}
  // CHECK: %{{.*}} = ttg.warpgroup_wait %[[D]] : tensor<64x8xf32, #{{.*}}> {pending = 0 : i32}
  %e = ttg.warpgroup_wait %d : tensor<64x8xf32, #mma> {pending = 0 : i32}
  tt.return
}
