// Folders and canonicalizations of tt, one function for each identity.
// RUN: tk-opt %s --canonicalize | FileCheck %s

// CHECK-LABEL: @addptr_zero
// CHECK-NEXT: tt.return %arg0, %arg1 : !tt.ptr<f32>, tensor<4x!tt.ptr<f32>>
tt.func private @addptr_zero(%p: !tt.ptr<f32>, %t: tensor<4x!tt.ptr<f32>>) -> (!tt.ptr<f32>, tensor<4x!tt.ptr<f32>>) {
  %z = arith.constant 0 : i64
  %zs = arith.constant dense<0> : tensor<4xi32>
  %0 = tt.addptr %p, %z : !tt.ptr<f32>, i64
  %1 = tt.addptr %t, %zs : tensor<4x!tt.ptr<f32>>, tensor<4xi32>
  tt.return %0, %1 : !tt.ptr<f32>, tensor<4x!tt.ptr<f32>>
}

// CHECK-LABEL: @views_of_constants
// CHECK-DAG: %[[I:.*]] = arith.constant dense<7> : tensor<3x4xi32>
// CHECK-DAG: %[[F:.*]] = arith.constant dense<1.500000e+00> : tensor<4x3xf16>
// CHECK-NOT: tt.splat
// CHECK: tt.return %[[I]], %[[F]]
tt.func private @views_of_constants() -> (tensor<3x4xi32>, tensor<4x3xf16>) {
  %c = arith.constant 7 : i32
  %0 = tt.splat %c : i32 -> tensor<3xi32>
  %1 = tt.expand_dims %0 {axis = 1 : i32} : tensor<3xi32> -> tensor<3x1xi32>
  %2 = tt.broadcast %1 : tensor<3x1xi32> -> tensor<3x4xi32>
  %f = arith.constant 1.5 : f16
  %3 = tt.splat %f : f16 -> tensor<12xf16>
  %4 = tt.reshape %3 : tensor<12xf16> -> tensor<3x4xf16>
  %5 = tt.trans %4 {order = array<i32: 1, 0>} : tensor<3x4xf16> -> tensor<4x3xf16>
  tt.return %2, %5 : tensor<3x4xi32>, tensor<4x3xf16>
}

// CHECK-LABEL: @views_of_splats
// CHECK-NEXT: %[[S:.*]] = tt.splat %arg0 : !tt.ptr<f32> -> tensor<4x3x!tt.ptr<f32>>
// CHECK-NEXT: tt.return %[[S]]
tt.func private @views_of_splats(%p: !tt.ptr<f32>) -> tensor<4x3x!tt.ptr<f32>> {
  %0 = tt.splat %p : !tt.ptr<f32> -> tensor<3x!tt.ptr<f32>>
  %1 = tt.expand_dims %0 {axis = 0 : i32} : tensor<3x!tt.ptr<f32>> -> tensor<1x3x!tt.ptr<f32>>
  %2 = tt.broadcast %1 : tensor<1x3x!tt.ptr<f32>> -> tensor<4x3x!tt.ptr<f32>>
  %3 = tt.reshape %2 : tensor<4x3x!tt.ptr<f32>> -> tensor<3x4x!tt.ptr<f32>>
  %4 = tt.trans %3 {order = array<i32: 1, 0>} : tensor<3x4x!tt.ptr<f32>> -> tensor<4x3x!tt.ptr<f32>>
  tt.return %4 : tensor<4x3x!tt.ptr<f32>>
}

// CHECK-LABEL: @a_tile_that_varies_stays
// CHECK: tt.reshape {{.*}} : tensor<2x2xi32> -> tensor<4xi32>
tt.func private @a_tile_that_varies_stays() -> tensor<4xi32> {
  %c = arith.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
  %0 = tt.reshape %c : tensor<2x2xi32> -> tensor<4xi32>
  tt.return %0 : tensor<4xi32>
}

// CHECK-LABEL: @views_of_views
// CHECK-DAG: %[[B:.*]] = tt.broadcast %arg0 : tensor<1x1x4xf32> -> tensor<2x3x4xf32>
// CHECK-DAG: %[[R:.*]] = tt.reshape %arg0 : tensor<1x1x4xf32> -> tensor<2x2xf32>
// CHECK-DAG: %[[A:.*]] = tt.reshape %arg0 allow_reorder : tensor<1x1x4xf32> -> tensor<2x1x2xf32>
// CHECK-DAG: %[[T:.*]] = tt.trans %arg1 {order = array<i32: 2, 0, 1>} : tensor<2x3x4xf32> -> tensor<4x2x3xf32>
// CHECK: tt.return %[[B]], %[[R]], %[[A]], %[[T]], %arg1 :
tt.func private @views_of_views(%x: tensor<1x1x4xf32>, %y: tensor<2x3x4xf32>)
    -> (tensor<2x3x4xf32>, tensor<2x2xf32>, tensor<2x1x2xf32>, tensor<4x2x3xf32>, tensor<2x3x4xf32>) {
  %0 = tt.broadcast %x : tensor<1x1x4xf32> -> tensor<2x1x4xf32>
  %1 = tt.broadcast %0 : tensor<2x1x4xf32> -> tensor<2x3x4xf32>
  %2 = tt.reshape %x : tensor<1x1x4xf32> -> tensor<4xf32>
  %3 = tt.reshape %2 : tensor<4xf32> -> tensor<2x2xf32>
  %4 = tt.reshape %2 allow_reorder : tensor<4xf32> -> tensor<2x1x2xf32>
  %5 = tt.trans %y {order = array<i32: 1, 2, 0>} : tensor<2x3x4xf32> -> tensor<3x4x2xf32>
  %6 = tt.trans %5 {order = array<i32: 1, 2, 0>} : tensor<3x4x2xf32> -> tensor<4x2x3xf32>
  %7 = tt.trans %6 {order = array<i32: 1, 2, 0>} : tensor<4x2x3xf32> -> tensor<2x3x4xf32>
  tt.return %1, %3, %4, %6, %7 : tensor<2x3x4xf32>, tensor<2x2xf32>, tensor<2x1x2xf32>, tensor<4x2x3xf32>, tensor<2x3x4xf32>
}

// CHECK-LABEL: @views_without_effect
// CHECK-NEXT: tt.return %arg0, %arg0, %arg0
tt.func private @views_without_effect(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) {
  %0 = tt.broadcast %x : tensor<2x3xf32> -> tensor<2x3xf32>
  %1 = tt.reshape %x : tensor<2x3xf32> -> tensor<2x3xf32>
  %2 = tt.trans %x {order = array<i32: 0, 1>} : tensor<2x3xf32> -> tensor<2x3xf32>
  tt.return %0, %1, %2 : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>
}

// CHECK-LABEL: @unsplat
// CHECK-DAG: %[[C:.*]] = arith.constant 3 : i32
// CHECK: tt.return %arg0, %[[C]]
tt.func private @unsplat(%p: !tt.ptr<f32>) -> (!tt.ptr<f32>, i32) {
  %0 = tt.splat %p : !tt.ptr<f32> -> tensor<1x1x!tt.ptr<f32>>
  %1 = tt.unsplat %0 : tensor<1x1x!tt.ptr<f32>>
  %r = tt.make_range {start = 3 : i32, end = 4 : i32} : tensor<1xi32>
  %2 = tt.unsplat %r : tensor<1xi32>
  tt.return %1, %2 : !tt.ptr<f32>, i32
}

// CHECK-LABEL: @bitcast
// CHECK-DAG: %[[I:.*]] = arith.constant 1065353216 : i32
// CHECK-DAG: %[[F:.*]] = arith.constant dense<1.000000e+00> : tensor<4xf32>
// CHECK-DAG: %[[P:.*]] = tt.bitcast %arg0 : !tt.ptr<f32> -> !tt.ptr<f64>
// CHECK: tt.return %[[I]], %[[F]], %arg0, %[[P]]
tt.func private @bitcast(%p: !tt.ptr<f32>) -> (i32, tensor<4xf32>, !tt.ptr<f32>, !tt.ptr<f64>) {
  %c = arith.constant 1.0 : f32
  %0 = tt.bitcast %c : f32 -> i32
  %d = arith.constant dense<1065353216> : tensor<4xi32>
  %1 = tt.bitcast %d : tensor<4xi32> -> tensor<4xf32>
  %2 = tt.bitcast %p : !tt.ptr<f32> -> !tt.ptr<i8>
  %3 = tt.bitcast %2 : !tt.ptr<i8> -> !tt.ptr<f32>
  %4 = tt.bitcast %2 : !tt.ptr<i8> -> !tt.ptr<f64>
  tt.return %0, %1, %3, %4 : i32, tensor<4xf32>, !tt.ptr<f32>, !tt.ptr<f64>
}

// CHECK-LABEL: @fp_to_fp
// CHECK-DAG: %[[EXACT:.*]] = arith.constant 4.480000e+02 : f32
// CHECK-DAG: %[[ROUNDED:.*]] = arith.constant dense<1.000000e+00> : tensor<4xbf16>
// CHECK-DAG: %[[SATURATES:.*]] = tt.fp_to_fp %{{.*}}, rounding = rtne : f32 -> f8E4M3FN
// CHECK-DAG: %[[CUT:.*]] = tt.fp_to_fp %{{.*}}, rounding = rtz : f32 -> f16
// CHECK: tt.return %[[EXACT]], %[[ROUNDED]], %[[SATURATES]], %[[CUT]], %arg0
tt.func private @fp_to_fp(%x: f32) -> (f32, tensor<4xbf16>, f8E4M3FN, f16, f32) {
  %a = arith.constant 448.0 : f8E4M3FN
  %0 = tt.fp_to_fp %a : f8E4M3FN -> f32
  %b = arith.constant dense<1.00390625> : tensor<4xf32>
  %1 = tt.fp_to_fp %b, rounding = rtne : tensor<4xf32> -> tensor<4xbf16>
  %c = arith.constant 1.0e+06 : f32
  %2 = tt.fp_to_fp %c, rounding = rtne : f32 -> f8E4M3FN
  %3 = tt.fp_to_fp %c, rounding = rtz : f32 -> f16
  %4 = tt.fp_to_fp %x : f32 -> f32
  tt.return %0, %1, %2, %3, %4 : f32, tensor<4xbf16>, f8E4M3FN, f16, f32
}

// CHECK-LABEL: @load_mask_true
// CHECK-NEXT: %[[V:.*]] = tt.load %arg0 cacheModifier = cg {isVolatile = true} : tensor<4x!tt.ptr<f32>>
// CHECK-NEXT: tt.return %[[V]]
tt.func private @load_mask_true(%p: tensor<4x!tt.ptr<f32>>, %o: tensor<4xf32>) -> tensor<4xf32> {
  %m = arith.constant dense<true> : tensor<4xi1>
  %0 = tt.load %p, %m, %o cacheModifier = cg {isVolatile = true} : tensor<4x!tt.ptr<f32>>
  tt.return %0 : tensor<4xf32>
}

// CHECK-LABEL: @load_mask_false
// CHECK-DAG: %[[Z:.*]] = arith.constant dense<0.000000e+00> : tensor<4xf32>
// CHECK-DAG: %[[A:.*]] = arith.constant 0 : i64
// CHECK-DAG: %[[N:.*]] = tt.int_to_ptr %[[A]] : i64 -> !tt.ptr<i8>
// CHECK-NOT: tt.load
// CHECK: tt.return %arg1, %[[Z]], %[[N]]
tt.func private @load_mask_false(%p: tensor<4x!tt.ptr<f32>>, %o: tensor<4xf32>, %q: !tt.ptr<!tt.ptr<i8>>) -> (tensor<4xf32>, tensor<4xf32>, !tt.ptr<i8>) {
  %m = arith.constant dense<false> : tensor<4xi1>
  %s = arith.constant false
  %0 = tt.load %p, %m, %o : tensor<4x!tt.ptr<f32>>
  %1 = tt.load %p, %m {isVolatile = true} : tensor<4x!tt.ptr<f32>>
  %2 = tt.load %q, %s : !tt.ptr<!tt.ptr<i8>>
  tt.return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, !tt.ptr<i8>
}

// CHECK-LABEL: @store_mask
// CHECK-NEXT: tt.store %arg0, %arg1 cacheModifier = wt : tensor<4x!tt.ptr<f32>>
// CHECK-NEXT: tt.return
tt.func public @store_mask(%p: tensor<4x!tt.ptr<f32>>, %v: tensor<4xf32>) {
  %t = arith.constant dense<true> : tensor<4xi1>
  %f = arith.constant dense<false> : tensor<4xi1>
  tt.store %p, %v, %t cacheModifier = wt : tensor<4x!tt.ptr<f32>>
  tt.store %p, %v, %f : tensor<4x!tt.ptr<f32>>
  tt.return
}

// A load that nobody reads goes, a volatile one stays.
// CHECK-LABEL: @unused_loads
// CHECK-NEXT: tt.load %arg0 {isVolatile = true} : !tt.ptr<f32>
// CHECK-NEXT: tt.return
tt.func public @unused_loads(%p: !tt.ptr<f32>) {
  %0 = tt.load %p : !tt.ptr<f32>
  %1 = tt.load %p {isVolatile = true} : !tt.ptr<f32>
  tt.return
}
