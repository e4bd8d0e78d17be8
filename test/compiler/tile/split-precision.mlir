// RUN: tk-opt %s --tk-split-precision | FileCheck %s

// Two parts of bf16, three products: the correction first, on its own; c last.
// CHECK-LABEL: @bf16x3
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<16x16xf32>, %[[B:[a-z0-9]+]]: tensor<16x16xf32>, %[[C:[a-z0-9]+]]: tensor<16x16xf32>
// CHECK: %[[A1:.*]] = arith.truncf %[[A]] : tensor<16x16xf32> to tensor<16x16xbf16>
// CHECK: %[[WIDE:.*]] = arith.extf %[[A1]]
// CHECK: %[[REST:.*]] = arith.subf %[[A]], %[[WIDE]]
// CHECK: %[[SIZE:.*]] = math.absf %[[WIDE]]
// CHECK: %[[FINITE:.*]] = arith.cmpf olt, %[[SIZE]], %{{.*}}
// CHECK: %[[KEPT:.*]] = arith.select %[[FINITE]], %[[REST]], %{{.*}}
// CHECK: %[[A2:.*]] = arith.truncf %[[KEPT]]
// CHECK: %[[B1:.*]] = arith.truncf %[[B]]
// CHECK: %[[B2:.*]] = arith.truncf
// CHECK: %[[S1:.*]] = tt.dot %[[A2]], %[[B1]], %{{.*}} : tensor<16x16xbf16> * tensor<16x16xbf16> -> tensor<16x16xf32>
// CHECK: %[[S2:.*]] = tt.dot %[[A1]], %[[B2]], %[[S1]] :
// CHECK: %[[S:.*]] = arith.select %{{.*}}, %[[S2]], %{{.*}}
// CHECK: %[[P:.*]] = tt.dot %[[A1]], %[[B1]], %[[S]] :
// CHECK-NOT: tt.dot
// CHECK: %[[D:.*]] = arith.addf %[[P]], %[[C]]
// CHECK: tt.return %[[D]]
tt.func private @bf16x3(%a: tensor<16x16xf32>, %b: tensor<16x16xf32>, %c: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %d = tt.dot %a, %b, %c, inputPrecision = bf16x3 : tensor<16x16xf32> * tensor<16x16xf32> -> tensor<16x16xf32>
  tt.return %d : tensor<16x16xf32>
}

// Three parts, six products: those of parts (3, 1), (2, 2), (1, 3) before those of (2, 1), (1, 2).
// CHECK-LABEL: @bf16x6
// CHECK-COUNT-6: tt.dot {{.*}} : tensor<16x16xbf16> * tensor<16x16xbf16> -> tensor<16x16xf32>
// CHECK-NOT: tt.dot
tt.func private @bf16x6(%a: tensor<16x16xf32>, %b: tensor<16x16xf32>, %c: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %d = tt.dot %a, %b, %c, inputPrecision = bf16x6 : tensor<16x16xf32> * tensor<16x16xf32> -> tensor<16x16xf32>
  tt.return %d : tensor<16x16xf32>
}

// The product itself drops what tf32 does not take; only the rest needs the part.
// CHECK-LABEL: @tf32x3
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<2x16x16xf32>, %[[B:[a-z0-9]+]]: tensor<2x16x16xf32>
// CHECK: %[[BITS:.*]] = tt.bitcast %[[A]]
// CHECK: %[[CUT:.*]] = arith.andi %[[BITS]], %{{.*}}
// CHECK: %[[TAKEN:.*]] = tt.bitcast %[[CUT]]
// CHECK: arith.subf %[[A]], %[[TAKEN]]
// CHECK: %[[S:.*]] = tt.dot %{{.*}}, %[[B]], %{{.*}}, inputPrecision = tf32
// CHECK: tt.dot %[[A]], %{{.*}}, %[[S]], inputPrecision = tf32
// CHECK: tt.dot %[[A]], %[[B]], %{{.*}}, inputPrecision = tf32
tt.func private @tf32x3(%a: tensor<2x16x16xf32>, %b: tensor<2x16x16xf32>, %c: tensor<2x16x16xf32>) -> tensor<2x16x16xf32> {
  %d = tt.dot %a, %b, %c, inputPrecision = tf32x3 : tensor<2x16x16xf32> * tensor<2x16x16xf32> -> tensor<2x16x16xf32>
  tt.return %d : tensor<2x16x16xf32>
}

// Nothing to split.
// CHECK-LABEL: @as_it_is
// CHECK: tt.dot %arg0, %arg1, %arg2, inputPrecision = tf32
// CHECK: tt.dot %arg0, %arg1
// CHECK-NOT: tt.dot
tt.func private @as_it_is(%a: tensor<16x16xf32>, %b: tensor<16x16xf32>, %c: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %d = tt.dot %a, %b, %c, inputPrecision = tf32 : tensor<16x16xf32> * tensor<16x16xf32> -> tensor<16x16xf32>
  %e = tt.dot %a, %b, %d : tensor<16x16xf32> * tensor<16x16xf32> -> tensor<16x16xf32>
  tt.return %e : tensor<16x16xf32>
}
