// RUN: tk-opt %s --tk-pad-tiles --split-input-file | FileCheck %s

// What has powers of two already stays as it is.
// CHECK-LABEL: @untouched
// CHECK-NEXT: %[[V:.*]] = tt.load %arg0 : tensor<8x!tt.ptr<f32>>
// CHECK-NEXT: %[[R:.*]] = tt.reshape %[[V]]
// CHECK-NEXT: tt.return %[[R]]
tt.func private @untouched(%p: tensor<8x!tt.ptr<f32>>) -> tensor<2x4xf32> {
  %v = tt.load %p : tensor<8x!tt.ptr<f32>>
  %r = tt.reshape %v : tensor<8xf32> -> tensor<2x4xf32>
  tt.return %r : tensor<2x4xf32>
}

// Accesses are masked off, with and without a mask of their own.
// CHECK-LABEL: @accesses
// CHECK-SAME: %[[P:.*]]: tensor<4x8x!tt.ptr<f32>>, %[[M:.*]]: tensor<4x8xi1>
// CHECK: %[[R0:.*]] = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
// CHECK: %[[C0:.*]] = arith.cmpi slt, %[[R0]], %{{.*}} : tensor<4xi32>
// CHECK: %[[R1:.*]] = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
// CHECK: %[[C1:.*]] = arith.cmpi slt, %[[R1]], %{{.*}} : tensor<8xi32>
// CHECK: %[[IN:.*]] = arith.andi %{{.*}}, %{{.*}} : tensor<4x8xi1>
// CHECK: %[[V:.*]] = tt.load %[[P]], %[[IN]] : tensor<4x8x!tt.ptr<f32>>
// CHECK: %[[BOTH:.*]] = arith.andi %[[M]], %{{.*}} : tensor<4x8xi1>
// CHECK: tt.store %[[P]], %[[V]], %[[BOTH]] : tensor<4x8x!tt.ptr<f32>>
// CHECK: tt.atomic_rmw fadd, relaxed, gpu, %[[P]], %[[V]], %{{.*}} : (tensor<4x8x!tt.ptr<f32>>, tensor<4x8xf32>, tensor<4x8xi1>) -> tensor<4x8xf32>
// CHECK: tt.atomic_cas relaxed, gpu, %[[P]], %[[V]], %[[V]], %{{.*}} : (tensor<4x8x!tt.ptr<f32>>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xi1>) -> tensor<4x8xf32>
tt.func private @accesses(%p: tensor<3x5x!tt.ptr<f32>>, %m: tensor<3x5xi1>) {
  %v = tt.load %p : tensor<3x5x!tt.ptr<f32>>
  tt.store %p, %v, %m : tensor<3x5x!tt.ptr<f32>>
  %a = tt.atomic_rmw fadd, relaxed, gpu, %p, %v : (tensor<3x5x!tt.ptr<f32>>, tensor<3x5xf32>) -> tensor<3x5xf32>
  %c = tt.atomic_cas relaxed, gpu, %p, %v, %v : (tensor<3x5x!tt.ptr<f32>>, tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x5xf32>
  tt.return
}

// An axis that is a power of two needs no guard.
// CHECK-LABEL: @one_axis
// CHECK-COUNT-1: arith.cmpi
// CHECK-NOT: arith.andi
// CHECK: tt.load
tt.func private @one_axis(%p: tensor<4x5x!tt.ptr<f32>>) -> tensor<4x5xf32> {
  %v = tt.load %p : tensor<4x5x!tt.ptr<f32>>
  tt.return %v : tensor<4x5xf32>
}

// Ranges, constants of one value and of several.
// CHECK-LABEL: @creation
// CHECK-DAG: tt.make_range {end = 11 : i32, start = 3 : i32} : tensor<8xi32>
// CHECK-DAG: arith.constant dense<7> : tensor<8xi32>
// CHECK-DAG: arith.constant dense<[1, 2, 3, 1]> : tensor<4xi32>
// CHECK-DAG: arith.constant dense<{{\[}}[1, 2, 3, 1], [4, 5, 6, 1]]> : tensor<2x4xi32>
// CHECK-DAG: tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
// CHECK-DAG: arith.constant dense<2147483644> : tensor<4xi32>
tt.func private @creation() -> (tensor<5xi32>, tensor<5xi32>, tensor<3xi32>, tensor<2x3xi32>, tensor<3xi32>) {
  %r = tt.make_range {start = 3 : i32, end = 8 : i32} : tensor<5xi32>
  %s = arith.constant dense<7> : tensor<5xi32>
  %d = arith.constant dense<[1, 2, 3]> : tensor<3xi32>
  %e = arith.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %l = tt.make_range {start = 2147483644 : i32, end = 2147483647 : i32} : tensor<3xi32>
  tt.return %r, %s, %d, %e, %l : tensor<5xi32>, tensor<5xi32>, tensor<3xi32>, tensor<2x3xi32>, tensor<3xi32>
}

// A neutral element instead of padding; -0.0 for sums, which +0.0 would change.
// CHECK-LABEL: @neutral
// CHECK: %[[N:.*]] = arith.constant dense<-0.000000e+00> : tensor<4x8xf32>
// CHECK: %[[S:.*]] = arith.select %{{.*}}, %arg0, %[[N]] : tensor<4x8xi1>, tensor<4x8xf32>
// CHECK: "tt.reduce"(%[[S]])
// CHECK: (tensor<4x8xf32>) -> tensor<4xf32>
tt.func private @neutral(%x: tensor<3x7xf32>) -> tensor<3xf32> {
  %s = "tt.reduce"(%x) <{axis = 1 : i32}> ({
  ^bb0(%l: f32, %r: f32):
    %c = arith.addf %l, %r : f32
    "tt.reduce.return"(%c) : (f32) -> ()
  }) : (tensor<3x7xf32>) -> tensor<3xf32>
  tt.return %s : tensor<3xf32>
}

// Along an axis that is a power of two, padding is combined with padding alone.
// CHECK-LABEL: @other_axis
// CHECK-NEXT: "tt.reduce"(%arg0)
tt.func private @other_axis(%x: tensor<4x7xf32>) -> tensor<7xf32> {
  %s = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%l: f32, %r: f32):
    %c = arith.subf %l, %r : f32
    "tt.reduce.return"(%c) : (f32) -> ()
  }) : (tensor<4x7xf32>) -> tensor<7xf32>
  tt.return %s : tensor<7xf32>
}

// Any other function gets a flag with each element.
// CHECK-LABEL: @flagged
// CHECK: "tt.reduce"(%arg0, %arg1, %{{.*}})
// CHECK-NEXT: ^bb0(%[[L:.*]]: f32, %[[LI:.*]]: i32, %[[LT:.*]]: i1, %[[R:.*]]: f32, %[[RI:.*]]: i32, %[[RT:.*]]: i1):
// CHECK: %[[C:.*]] = arith.subf %[[L]], %[[R]]
// CHECK: %[[I:.*]] = arith.subi %[[LI]], %[[RI]]
// CHECK: %[[V:.*]] = arith.select %[[RT]], %[[C]], %[[L]]
// CHECK: %[[W:.*]] = arith.select %[[RT]], %[[I]], %[[LI]]
// CHECK: tt.reduce.return %[[V]], %[[W]], %[[LT]] : f32, i32, i1
tt.func private @flagged(%x: tensor<7xf32>, %i: tensor<7xi32>) -> (f32, i32) {
  %s:2 = "tt.reduce"(%x, %i) <{axis = 0 : i32}> ({
  ^bb0(%l: f32, %li: i32, %r: f32, %ri: i32):
    %c = arith.subf %l, %r : f32
    %d = arith.subi %li, %ri : i32
    "tt.reduce.return"(%c, %d) : (f32, i32) -> ()
  }) : (tensor<7xf32>, tensor<7xi32>) -> (f32, i32)
  tt.return %s#0, %s#1 : f32, i32
}

// A function that might not end, or asserts, isn't run on padding at all.
// CHECK-LABEL: @jumped_over
// CHECK: "tt.reduce"(%arg0, %{{.*}})
// CHECK-NEXT: ^bb0(%[[L:.*]]: f32, %[[LT:.*]]: i1, %[[R:.*]]: f32, %[[RT:.*]]: i1):
// CHECK: %[[V:.*]] = scf.if %[[RT]] -> (f32)
// CHECK: tt.assert
// CHECK: scf.yield
// CHECK: else
// CHECK: scf.yield %[[L]]
// CHECK: tt.reduce.return %[[V]], %[[LT]] : f32, i1
tt.func private @jumped_over(%x: tensor<4x7xf32>) -> tensor<7xf32> {
  %s = "tt.reduce"(%x) <{axis = 0 : i32}> ({
  ^bb0(%l: f32, %r: f32):
    %ok = arith.cmpf olt, %l, %r : f32
    tt.assert %ok, "order" : i1
    %c = arith.maximumf %l, %r : f32
    "tt.reduce.return"(%c) : (f32) -> ()
  }) : (tensor<4x7xf32>) -> tensor<7xf32>
  tt.return %s : tensor<7xf32>
}

// Forwards, a scan comes to padding last; in reverse it starts there.
// CHECK-LABEL: @scans
// CHECK-NOT: arith.select
// CHECK: "tt.scan"(%arg0) <{axis = 0 : i32, reverse = false}>
// CHECK: "tt.scan"(%arg0, %{{.*}}) <{axis = 0 : i32, reverse = true}>
// CHECK-NEXT: ^bb0(%[[L:.*]]: f32, %[[LT:.*]]: i1, %[[R:.*]]: f32, %[[RT:.*]]: i1):
// CHECK: %[[C:.*]] = arith.subf %[[L]], %[[R]]
// CHECK: %[[V:.*]] = arith.select %[[LT]], %[[C]], %[[R]]
// CHECK: tt.scan.return %[[V]], %[[RT]] : f32, i1
tt.func private @scans(%x: tensor<7xf32>) -> (tensor<7xf32>, tensor<7xf32>) {
  %f = "tt.scan"(%x) <{axis = 0 : i32, reverse = false}> ({
  ^bb0(%l: f32, %r: f32):
    %c = arith.subf %l, %r : f32
    "tt.scan.return"(%c) : (f32) -> ()
  }) : (tensor<7xf32>) -> tensor<7xf32>
  %b = "tt.scan"(%x) <{axis = 0 : i32, reverse = true}> ({
  ^bb0(%l: f32, %r: f32):
    %c = arith.subf %l, %r : f32
    "tt.scan.return"(%c) : (f32) -> ()
  }) : (tensor<7xf32>) -> tensor<7xf32>
  tt.return %f, %b : tensor<7xf32>, tensor<7xf32>
}

// Only along K, and only where there may be anything but zeros.
// CHECK-LABEL: @products
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<32x16xf32>, %[[P:[a-z0-9]+]]: tensor<16x32x!tt.ptr<f16>>
// CHECK: %[[B:.*]] = tt.load %[[P]]
// CHECK: %[[BE:.*]] = arith.extf %[[B]]
// CHECK: %[[K:.*]] = tt.broadcast %{{.*}} : tensor<1x16xi1> -> tensor<32x16xi1>
// CHECK: %[[AZ:.*]] = arith.select %[[K]], %[[A]], %{{.*}}
// CHECK: tt.dot %[[AZ]], %[[BE]], %{{.*}} : tensor<32x16xf32> * tensor<16x32xf32> -> tensor<32x32xf32>
tt.func private @products(%a: tensor<20x12xf32>, %p: tensor<12x24x!tt.ptr<f16>>, %c: tensor<20x24xf32>) -> tensor<20x24xf32> {
  %b = tt.load %p : tensor<12x24x!tt.ptr<f16>>
  %be = arith.extf %b : tensor<12x24xf16> to tensor<12x24xf32>
  %d = tt.dot %a, %be, %c : tensor<20x12xf32> * tensor<12x24xf32> -> tensor<20x24xf32>
  tt.return %d : tensor<20x24xf32>
}

// A reshape stays one where no place changes: padding between the same true elements.
// CHECK-LABEL: @reshapes
// CHECK: tt.reshape %arg0 : tensor<4x8x2xf32> -> tensor<4x16xf32>
// CHECK: %[[FLAT:.*]] = tt.reshape %arg0 : tensor<4x8x2xf32> -> tensor<64xf32>
// CHECK: %[[G:.*]] = tt.gather %[[FLAT]][%{{.*}}] {axis = 0 : i32} : (tensor<64xf32>, tensor<64xi32>) -> tensor<64xf32>
// CHECK: tt.return %{{.*}}, %[[G]]
tt.func private @reshapes(%x: tensor<3x6x2xf32>) -> (tensor<3x12xf32>, tensor<36xf32>) {
  %a = tt.reshape %x : tensor<3x6x2xf32> -> tensor<3x12xf32>
  %b = tt.reshape %x : tensor<3x6x2xf32> -> tensor<36xf32>
  tt.return %a, %b : tensor<3x12xf32>, tensor<36xf32>
}

// All elements of a tile need not move to be reduced.
// CHECK-LABEL: @flat
// CHECK-NOT: tt.gather
// CHECK: %[[S:.*]] = arith.select %{{.*}}, %arg0, %{{.*}} : tensor<4x8xi1>, tensor<4x8xi32>
// CHECK: %[[F:.*]] = tt.reshape %[[S]] : tensor<4x8xi32> -> tensor<32xi32>
// CHECK: "tt.reduce"(%[[F]])
tt.func private @flat(%x: tensor<3x5xi32>) -> i32 {
  %f = tt.reshape %x : tensor<3x5xi32> -> tensor<15xi32>
  %s = "tt.reduce"(%f) <{axis = 0 : i32}> ({
  ^bb0(%l: i32, %r: i32):
    %c = arith.maxsi %l, %r : i32
    "tt.reduce.return"(%c) : (i32) -> ()
  }) : (tensor<15xi32>) -> i32
  tt.return %s : i32
}

// Halves that begin at powers of two stay halves.
// CHECK-LABEL: @cats
// CHECK: tt.cat %arg0, %arg0 : tensor<4x4xf32> -> tensor<8x4xf32>
// CHECK-COUNT-2: tt.gather %arg1[{{.*}}] {axis = 0 : i32} : (tensor<4xf32>, tensor<8xi32>) -> tensor<8xf32>
// CHECK: arith.select
tt.func private @cats(%x: tensor<4x3xf32>, %y: tensor<3xf32>) -> (tensor<8x3xf32>, tensor<6xf32>) {
  %a = tt.cat %x, %x : tensor<4x3xf32> -> tensor<8x3xf32>
  %b = tt.cat %y, %y : tensor<3xf32> -> tensor<6xf32>
  tt.return %a, %b : tensor<8x3xf32>, tensor<6xf32>
}

// Indices stop at the last true element, where their type can go beyond it.
// CHECK-LABEL: @gathers
// CHECK: %[[I:.*]] = arith.minsi %arg1, %{{.*}} : tensor<4xi32>
// CHECK: tt.gather %arg0[%[[I]]]
// CHECK: tt.gather %arg0[%arg2]
tt.func private @gathers(%x: tensor<200xf32>, %i: tensor<3xi32>, %j: tensor<3xi8>) -> (tensor<3xf32>, tensor<3xf32>) {
  %a = tt.gather %x[%i] {axis = 0 : i32} : (tensor<200xf32>, tensor<3xi32>) -> tensor<3xf32>
  %b = tt.gather %x[%j] {axis = 0 : i32} : (tensor<200xf32>, tensor<3xi8>) -> tensor<3xf32>
  tt.return %a, %b : tensor<3xf32>, tensor<3xf32>
}

// CHECK-LABEL: @counts
// CHECK: tt.histogram %arg0, %{{.*}} : tensor<8xi32> -> tensor<4xi32>
tt.func private @counts(%x: tensor<5xi32>) -> tensor<3xi32> {
  %h = tt.histogram %x : tensor<5xi32> -> tensor<3xi32>
  tt.return %h : tensor<3xi32>
}

// CHECK-LABEL: @debug
// CHECK: tt.print "x" {{.*}}tk.shape = [array<i64: 3>, array<i64>, array<i64>]
// CHECK: tt.assert {{.*}} {tk.shape = [array<i64: 3>]}
tt.func private @debug(%x: tensor<3xi32>, %s: i32, %y: tensor<4xi32>, %c: tensor<3xi1>) {
  tt.print "x" {hex = false, isSigned = array<i32: 1, 1, 1>} : %x, %s, %y : tensor<3xi32>, i32, tensor<4xi32>
  tt.assert %c, "holds" : tensor<3xi1>
  tt.return
}

// What control flow carries, joins and views have new types and nothing else.
// CHECK-LABEL: @carried
// CHECK: scf.for {{.*}} -> (tensor<4xf32>)
// CHECK: scf.if {{.*}} -> (tensor<4xf32>)
// CHECK: tt.join {{.*}} : tensor<4xf32> -> tensor<4x2xf32>
// CHECK: tt.trans {{.*}} : tensor<4x2xf32> -> tensor<2x4xf32>
// CHECK-NOT: cmpi
tt.func private @carried(%x: tensor<3xf32>, %n: i32, %c: i1) -> tensor<2x3xf32> {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %y = scf.for %i = %zero to %n step %one iter_args(%a = %x) -> (tensor<3xf32>) : i32 {
    %b = scf.if %c -> (tensor<3xf32>) {
      %d = arith.addf %a, %x : tensor<3xf32>
      scf.yield %d : tensor<3xf32>
    } else {
      scf.yield %a : tensor<3xf32>
    }
    scf.yield %b : tensor<3xf32>
  }
  %j = tt.join %y, %x : tensor<3xf32> -> tensor<3x2xf32>
  %t = tt.trans %j {order = array<i32: 1, 0>} : tensor<3x2xf32> -> tensor<2x3xf32>
  tt.return %t : tensor<2x3xf32>
}
