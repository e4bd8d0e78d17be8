// Every operation and type of tt in text, printed and read again.
// RUN: tk-opt %s | tk-opt | FileCheck %s
// RUN: tk-opt %s --mlir-print-op-generic | tk-opt | FileCheck %s

// CHECK-LABEL: tt.func public @add(%arg0: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %arg1: i32) attributes {noinline = false} {
tt.func public @add(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) attributes {noinline = false} {
  // CHECK-NEXT: tt.return
  tt.return
}

// CHECK-LABEL: tt.func @unmarked_is_public()
tt.func @unmarked_is_public() {
  tt.return
}

// CHECK-LABEL: tt.func private @declared(f32, tensor<4xf32>) -> (f32 {tt.note = 1 : i32}, i32)
tt.func private @declared(f32, tensor<4xf32>) -> (f32 {tt.note = 1 : i32}, i32)

// CHECK-LABEL: tt.func private @helper(
// CHECK-SAME: tensor<4x!tt.ptr<i1>>, %{{.*}}: !tt.ptr<!tt.ptr<bf16, 3>>) -> (tensor<4x!tt.ptr<i1>>, !tt.ptr<!tt.ptr<bf16, 3>>)
tt.func private @helper(%a: tensor<4x!tt.ptr<i1>>, %b: !tt.ptr<!tt.ptr<bf16, 3>, 1>) -> (tensor<4x!tt.ptr<i1>>, !tt.ptr<!tt.ptr<bf16, 3>>) {
  // CHECK: tt.return %{{.*}}, %{{.*}} : tensor<4x!tt.ptr<i1>>, !tt.ptr<!tt.ptr<bf16, 3>>
  tt.return %a, %b : tensor<4x!tt.ptr<i1>>, !tt.ptr<!tt.ptr<bf16, 3>>
}

// CHECK-LABEL: @functions
tt.func private @functions(%f: f32, %t: tensor<4xf32>) -> i32 {
  // CHECK: tt.call @declared(%{{.*}}, %{{.*}}) : (f32, tensor<4xf32>) -> (f32, i32)
  %c:2 = tt.call @declared(%f, %t) : (f32, tensor<4xf32>) -> (f32, i32)
  // CHECK: tt.get_program_id x : i32
  // CHECK: tt.get_program_id y : i32
  // CHECK: tt.get_num_programs z : i32
  %x = tt.get_program_id x : i32
  %y = tt.get_program_id y : i32
  %z = tt.get_num_programs z : i32
  tt.return %c#1 : i32
}

// CHECK-LABEL: @memory
tt.func public @memory(%p: !tt.ptr<f32>, %o: tensor<8xi32>, %m: tensor<8xi1>, %v: tensor<8xf32>, %sm: i1, %sv: f32) {
  // CHECK: tt.splat %{{.*}} : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %b = tt.splat %p : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  // CHECK: tt.addptr %{{.*}}, %{{.*}} : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %q = tt.addptr %b, %o : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  // CHECK: tt.load %{{.*}} : !tt.ptr<f32>
  %l0 = tt.load %p : !tt.ptr<f32>
  // CHECK: tt.load %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}} : !tt.ptr<f32>
  %l1 = tt.load %p, %sm, %sv : !tt.ptr<f32>
  // CHECK: tt.load %{{[^,]*}} : tensor<8x!tt.ptr<f32>>
  %l2 = tt.load %q : tensor<8x!tt.ptr<f32>>
  // CHECK: tt.load %{{[^,]*}}, %{{[^,]*}} : tensor<8x!tt.ptr<f32>>
  %l3 = tt.load %q, %m : tensor<8x!tt.ptr<f32>>
  // CHECK: tt.load %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}} cacheModifier = ca evictionPolicy = evict_last {isVolatile = true} : tensor<8x!tt.ptr<f32>>
  %l4 = tt.load %q, %m, %v evictionPolicy = evict_last cacheModifier = ca {isVolatile = true} : tensor<8x!tt.ptr<f32>>
  // CHECK: tt.store %{{[^,]*}}, %{{[^,]*}} : tensor<8x!tt.ptr<f32>>
  tt.store %q, %l2 : tensor<8x!tt.ptr<f32>>
  // CHECK: tt.store %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}} cacheModifier = wt : tensor<8x!tt.ptr<f32>>
  tt.store %q, %l3, %m cacheModifier = wt : tensor<8x!tt.ptr<f32>>
  // CHECK: tt.store %{{[^,]*}}, %{{[^,]*}} evictionPolicy = evict_first : !tt.ptr<f32>
  tt.store %p, %l1 evictionPolicy = evict_first : !tt.ptr<f32>
  // CHECK: tt.atomic_rmw fadd, acq_rel, gpu, %{{.*}}, %{{.*}}, %{{.*}} : (tensor<8x!tt.ptr<f32>>, tensor<8xf32>, tensor<8xi1>) -> tensor<8xf32>
  %a0 = tt.atomic_rmw fadd, acq_rel, gpu, %q, %v, %m : (tensor<8x!tt.ptr<f32>>, tensor<8xf32>, tensor<8xi1>) -> tensor<8xf32>
  // CHECK: tt.atomic_rmw exch, relaxed, sys, %{{.*}}, %{{.*}} : (!tt.ptr<f32>, f32) -> f32
  %a1 = tt.atomic_rmw exch, relaxed, sys, %p, %sv : (!tt.ptr<f32>, f32) -> f32
  // CHECK: tt.atomic_cas acquire, cta, %{{.*}}, %{{.*}}, %{{.*}} : (!tt.ptr<f32>, f32, f32) -> f32
  %a2 = tt.atomic_cas acquire, cta, %p, %sv, %a1 : (!tt.ptr<f32>, f32, f32) -> f32
  // CHECK: tt.atomic_cas acquire, cta, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : (!tt.ptr<f32>, f32, f32, i1) -> f32
  %a3 = tt.atomic_cas acquire, cta, %p, %sv, %a1, %sm : (!tt.ptr<f32>, f32, f32, i1) -> f32
  // CHECK: tt.ptr_to_int %{{.*}} : tensor<8x!tt.ptr<f32>> -> tensor<8xi64>
  %i = tt.ptr_to_int %q : tensor<8x!tt.ptr<f32>> -> tensor<8xi64>
  // CHECK: tt.int_to_ptr %{{.*}} : tensor<8xi64> -> tensor<8x!tt.ptr<i8>>
  %j = tt.int_to_ptr %i : tensor<8xi64> -> tensor<8x!tt.ptr<i8>>
  // CHECK: tt.bitcast %{{.*}} : tensor<8x!tt.ptr<i8>> -> tensor<8x!tt.ptr<i16>>
  %k = tt.bitcast %j : tensor<8x!tt.ptr<i8>> -> tensor<8x!tt.ptr<i16>>
  // CHECK: tt.bitcast %{{.*}} : tensor<8xf32> -> tensor<8xi32>
  %h = tt.bitcast %v : tensor<8xf32> -> tensor<8xi32>
  tt.return
}

// CHECK-LABEL: @shapes
tt.func private @shapes(%s: f16, %i: tensor<2x4xi32>) {
  // CHECK: tt.make_range {end = 4 : i32, start = -4 : i32} : tensor<8xi32>
  %r = tt.make_range {end = 4 : i32, start = -4 : i32} : tensor<8xi32>
  // CHECK: tt.splat %{{.*}} : f16 -> tensor<1x1xf16>
  %0 = tt.splat %s : f16 -> tensor<1x1xf16>
  // CHECK: tt.unsplat %{{.*}} : tensor<1x1xf16>
  %1 = tt.unsplat %0 : tensor<1x1xf16>
  // CHECK: tt.expand_dims %{{.*}} {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32>
  %2 = tt.expand_dims %r {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32>
  // CHECK: tt.broadcast %{{.*}} : tensor<8x1xi32> -> tensor<8x3xi32>
  %3 = tt.broadcast %2 : tensor<8x1xi32> -> tensor<8x3xi32>
  // CHECK: tt.reshape %{{.*}} : tensor<8x3xi32> -> tensor<24xi32>
  %4 = tt.reshape %3 : tensor<8x3xi32> -> tensor<24xi32>
  // CHECK: tt.reshape %{{.*}} allow_reorder efficient_layout : tensor<24xi32> -> tensor<2x12xi32>
  %5 = tt.reshape %4 allow_reorder efficient_layout : tensor<24xi32> -> tensor<2x12xi32>
  // CHECK: tt.trans %{{.*}} {order = array<i32: 1, 0>} : tensor<2x12xi32> -> tensor<12x2xi32>
  %6 = tt.trans %5 {order = array<i32: 1, 0>} : tensor<2x12xi32> -> tensor<12x2xi32>
  // CHECK: tt.join %{{.*}}, %{{.*}} : tensor<8x3xi32> -> tensor<8x3x2xi32>
  %7 = tt.join %3, %3 : tensor<8x3xi32> -> tensor<8x3x2xi32>
  // CHECK: tt.split %{{.*}} : tensor<8x3x2xi32> -> tensor<8x3xi32>
  %8, %9 = tt.split %7 : tensor<8x3x2xi32> -> tensor<8x3xi32>
  // CHECK: tt.cat %{{.*}}, %{{.*}} : tensor<8x3xi32> -> tensor<16x3xi32>
  %10 = tt.cat %8, %9 : tensor<8x3xi32> -> tensor<16x3xi32>
  // CHECK: tt.cat %{{.*}}, %{{.*}} : tensor<16x3xi32>, tensor<8x3xi32> -> tensor<24x3xi32>
  %11 = tt.cat %10, %9 : tensor<16x3xi32>, tensor<8x3xi32> -> tensor<24x3xi32>
  // CHECK: tt.gather %{{.*}}[%{{.*}}] {axis = 1 : i32} : (tensor<2x12xi32>, tensor<2x4xi32>) -> tensor<2x4xi32>
  %12 = tt.gather %5[%i] {axis = 1 : i32} : (tensor<2x12xi32>, tensor<2x4xi32>) -> tensor<2x4xi32>
  tt.return
}

// CHECK-LABEL: @arithmetic
tt.func private @arithmetic(%f: tensor<4xf32>, %i: tensor<4xi64>, %s: f64) {
  // CHECK: tt.fp_to_fp %{{[^,]*}}, rounding = rtne : tensor<4xf32> -> tensor<4xf8E5M2>
  %0 = tt.fp_to_fp %f, rounding = rtne : tensor<4xf32> -> tensor<4xf8E5M2>
  // CHECK: tt.fp_to_fp %{{[^,]*}} : tensor<4xf8E5M2> -> tensor<4xf16>
  %1 = tt.fp_to_fp %0 : tensor<4xf8E5M2> -> tensor<4xf16>
  // CHECK: tt.clampf %{{.*}}, %{{.*}}, %{{.*}}, propagateNan = all : tensor<4xf32>
  %2 = tt.clampf %f, %f, %f, propagateNan = all : tensor<4xf32>
  // CHECK: tt.precise_sqrt %{{.*}} : f64
  %3 = tt.precise_sqrt %s : f64
  // CHECK: tt.precise_divf %{{.*}}, %{{.*}} : tensor<4xf32>
  %4 = tt.precise_divf %f, %2 : tensor<4xf32>
  // CHECK: tt.mulhiui %{{.*}}, %{{.*}} : tensor<4xi64>
  %5 = tt.mulhiui %i, %i : tensor<4xi64>
  tt.return
}

// CHECK-LABEL: @reductions
tt.func private @reductions(%f: tensor<4x8xf32>, %i: tensor<4x8xi64>, %n: tensor<8xi32>, %m: tensor<8xi1>) {
  // CHECK: "tt.reduce"(%{{.*}}, %{{.*}}) <{axis = 1 : i32}>
  // CHECK: tt.reduce.return %{{.*}}, %{{.*}} : f32, i64
  // CHECK: }) : (tensor<4x8xf32>, tensor<4x8xi64>) -> (tensor<4xf32>, tensor<4xi64>)
  %0:2 = "tt.reduce"(%f, %i) <{axis = 1 : i32}> ({
  ^bb0(%a: f32, %b: i64, %c: f32, %d: i64):
    tt.reduce.return %a, %d : f32, i64
  }) : (tensor<4x8xf32>, tensor<4x8xi64>) -> (tensor<4xf32>, tensor<4xi64>)
  // CHECK: -> i32
  %1 = "tt.reduce"(%n) <{axis = 0 : i32}> ({
  ^bb0(%a: i32, %b: i32):
    %s = arith.addi %a, %b : i32
    tt.reduce.return %s : i32
  }) : (tensor<8xi32>) -> i32
  // CHECK: "tt.scan"(%{{.*}}) <{axis = 0 : i32, reverse = true}>
  // CHECK: tt.scan.return %{{.*}} : f32
  %2 = "tt.scan"(%f) <{axis = 0 : i32, reverse = true}> ({
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    tt.scan.return %s : f32
  }) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: tt.histogram %{{[^,]*}} : tensor<8xi32> -> tensor<16xi32>
  %3 = tt.histogram %n : tensor<8xi32> -> tensor<16xi32>
  // CHECK: tt.histogram %{{[^,]*}}, %{{[^,]*}} : tensor<8xi32> -> tensor<16xi32>
  %4 = tt.histogram %n, %m : tensor<8xi32> -> tensor<16xi32>
  tt.return
}

// CHECK-LABEL: @matrices
tt.func private @matrices(%a: tensor<4x8xf32>, %b: tensor<8x6xf32>, %c: tensor<4x6xf32>, %e: tensor<2x4x8xf8E5M2>, %f: tensor<2x8x6xf8E4M3FN>, %g: tensor<2x4x6xf32>) {
  // CHECK: tt.dot %{{.*}}, %{{.*}}, %{{[^,]*}} : tensor<4x8xf32> * tensor<8x6xf32> -> tensor<4x6xf32>
  %0 = tt.dot %a, %b, %c : tensor<4x8xf32> * tensor<8x6xf32> -> tensor<4x6xf32>
  // CHECK: tt.dot %{{.*}}, %{{.*}}, %{{.*}}, inputPrecision = tf32 {maxNumImpreciseAcc = 32 : i32} : tensor<4x8xf32> * tensor<8x6xf32> -> tensor<4x6xf32>
  %1 = tt.dot %a, %b, %0, inputPrecision = tf32 {maxNumImpreciseAcc = 32 : i32} : tensor<4x8xf32> * tensor<8x6xf32> -> tensor<4x6xf32>
  // CHECK: tt.dot %{{.*}} : tensor<2x4x8xf8E5M2> * tensor<2x8x6xf8E4M3FN> -> tensor<2x4x6xf32>
  %2 = tt.dot %e, %f, %g : tensor<2x4x8xf8E5M2> * tensor<2x8x6xf8E4M3FN> -> tensor<2x4x6xf32>
  tt.return
}

// CHECK-LABEL: @debug
tt.func private @debug(%t: tensor<4xi32>, %f: f32, %m: tensor<4xi1>, %c: i1) {
  // CHECK: tt.print "nothing" {hex = false, isSigned = array<i32>}
  tt.print "nothing" {hex = false, isSigned = array<i32>}
  // CHECK: tt.print "x: " {hex = true, isSigned = array<i32: 1, 0>} : %{{.*}}, %{{.*}} : tensor<4xi32>, f32
  tt.print "x: " {hex = true, isSigned = array<i32: 1, 0>} : %t, %f : tensor<4xi32>, f32
  // CHECK: tt.assert %{{.*}}, "out of range" : tensor<4xi1>
  tt.assert %m, "out of range" : tensor<4xi1>
  // CHECK: tt.barrier
  tt.barrier
  // CHECK: tt.assume %{{.*}}
  tt.assume %c
  tt.return
}
