// Each elementary function becomes the library's arithmetic: nothing that needs a libm is left, in fp32 and fp64, on scalars and tiles, also inside a
// reduction. What processors do themselves stays.
// RUN: tk-opt %s --tk-expand-math | FileCheck %s --implicit-check-not='{{tt\.call|math\.(exp|log|sin|cos|tan|asin|acos|atan|erf|cbrt|pow|rsqrt)}}'

// CHECK-LABEL: tt.func public @unary_f32
// CHECK: math.fma
// CHECK: tt.return
tt.func public @unary_f32(%p: tensor<8x!tt.ptr<f32>>, %x: tensor<8xf32>) {
  %0 = math.exp %x : tensor<8xf32>
  %1 = math.exp2 %0 : tensor<8xf32>
  %2 = math.expm1 %1 : tensor<8xf32>
  %3 = math.log %2 : tensor<8xf32>
  %4 = math.log2 %3 : tensor<8xf32>
  %5 = math.log10 %4 : tensor<8xf32>
  %6 = math.log1p %5 : tensor<8xf32>
  %7 = math.sin %6 : tensor<8xf32>
  %8 = math.cos %7 : tensor<8xf32>
  %9 = math.tan %8 : tensor<8xf32>
  %10 = math.asin %9 : tensor<8xf32>
  %11 = math.acos %10 : tensor<8xf32>
  %12 = math.atan %11 : tensor<8xf32>
  %13 = math.sinh %12 : tensor<8xf32>
  %14 = math.cosh %13 : tensor<8xf32>
  %15 = math.tanh %14 : tensor<8xf32>
  %16 = math.asinh %15 : tensor<8xf32>
  %17 = math.acosh %16 : tensor<8xf32>
  %18 = math.atanh %17 : tensor<8xf32>
  %19 = math.erf %18 : tensor<8xf32>
  %20 = math.cbrt %19 : tensor<8xf32>
  %21 = math.rsqrt %20 : tensor<8xf32>
  tt.store %p, %21 : tensor<8x!tt.ptr<f32>>
  tt.return
}

// CHECK-LABEL: tt.func public @binary_f32
// CHECK: tt.return
tt.func public @binary_f32(%p: !tt.ptr<f32>, %x: f32, %y: f32) {
  %0 = math.powf %x, %y : f32
  %1 = math.atan2 %0, %y : f32
  tt.store %p, %1 : !tt.ptr<f32>
  tt.return
}

// CHECK-LABEL: tt.func public @f64
// CHECK: math.sqrt
// CHECK: tt.return
tt.func public @f64(%p: !tt.ptr<f64>, %x: f64) {
  %0 = math.exp %x : f64
  %1 = math.sqrt %0 : f64
  %2 = math.sin %1 : f64
  tt.store %p, %2 : !tt.ptr<f64>
  tt.return
}

// CHECK-LABEL: tt.func public @reduction
// CHECK: "tt.reduce"
// CHECK: math.fma
// CHECK: tt.reduce.return
tt.func public @reduction(%p: !tt.ptr<f32>, %x: tensor<8xf32>) {
  %0 = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%a: f32, %b: f32):
    %1 = arith.addf %a, %b : f32
    %2 = math.exp %1 : f32
    tt.reduce.return %2 : f32
  }) : (tensor<8xf32>) -> f32
  tt.store %p, %0 : !tt.ptr<f32>
  tt.return
}

// CHECK-LABEL: tt.func public @native
// CHECK-NEXT: math.floor
// CHECK-NEXT: math.absf
// CHECK-NEXT: math.fma
// CHECK-NEXT: tt.store
// CHECK-NEXT: tt.return
tt.func public @native(%p: !tt.ptr<f32>, %x: f32) {
  %0 = math.floor %x : f32
  %1 = math.absf %0 : f32
  %2 = math.fma %1, %x, %x : f32
  tt.store %p, %2 : !tt.ptr<f32>
  tt.return
}
// CHECK-NOT: tt.func
