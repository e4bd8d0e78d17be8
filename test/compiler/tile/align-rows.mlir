// RUN: tk-opt %s --tk-align-rows="num-warps=1" --split-input-file | FileCheck %s

// A row at any address: both versions, the rotated one with aligned addresses and a mask that begins at the shift.
// CHECK-LABEL: @row
// CHECK: %[[P:.*]] = tt.addptr %arg0, %arg2
// CHECK: %[[A:.*]] = tt.ptr_to_int %[[P]]
// CHECK: %[[W:.*]] = arith.trunci %[[A]]
// CHECK: %[[E:.*]] = arith.shrui %[[W]], %{{.*}}
// CHECK: %[[C7:.*]] = arith.constant 7 : i32
// CHECK: %[[SHIFT:.*]] = arith.andi %[[E]], %[[C7]] : i32
// The row leaves room for it in the tile.
// CHECK: %[[C512:.*]] = arith.constant 512 : i32
// CHECK: %[[ROOM:.*]] = arith.subi %[[C512]], %[[SHIFT]]
// CHECK: arith.cmpi sle, %arg3, %[[ROOM]]
// CHECK: scf.if
// The bound and what computes with the index.
// CHECK: %[[S:.*]] = tt.splat %[[SHIFT]] : i32 -> tensor<512xi32>
// CHECK: arith.subi %[[I:.*]], %[[S]] : tensor<512xi32>
// CHECK: %[[ROTATED:.*]] = arith.andi %{{.*}} : tensor<512xi32>
// CHECK: %[[BEGUN:.*]] = arith.cmpi uge, %[[I]], %{{.*}} : tensor<512xi32>
// CHECK: %[[OPEN:.*]] = arith.cmpi slt, %[[I]], %{{.*}} : tensor<512xi32>
// CHECK: %[[M:.*]] = arith.andi %[[BEGUN]], %[[OPEN]]
// CHECK: tt.bitcast %{{.*}} {tt.divisibility = 16 : i32}
// CHECK: %[[V:.*]] = tt.load %{{.*}}, %[[M]]
// CHECK: %[[T:.*]] = arith.trunci %[[ROTATED]] : tensor<512xi32> to tensor<512xi16>
// CHECK: %[[R:.*]] = arith.addi %[[V]], %[[T]]
// CHECK: tt.bitcast %{{.*}} {tt.divisibility = 16 : i32}
// CHECK: tt.store %{{.*}}, %[[R]], %[[M]]
// CHECK: } else {
// CHECK-NOT: tt.bitcast
// CHECK: tt.load
// CHECK: tt.store
// CHECK: }
tt.func public @row(%x: !tt.ptr<i16> {tt.divisibility = 16 : i32}, %y: !tt.ptr<i16> {tt.divisibility = 16 : i32}, %s: i32, %n: i32) {
  %i = tt.make_range {start = 0 : i32, end = 512 : i32} : tensor<512xi32>
  %limit = tt.splat %n : i32 -> tensor<512xi32>
  %m = arith.cmpi slt, %i, %limit : tensor<512xi32>
  %px = tt.addptr %x, %s : !tt.ptr<i16>, i32
  %bx = tt.splat %px : !tt.ptr<i16> -> tensor<512x!tt.ptr<i16>>
  %ax = tt.addptr %bx, %i : tensor<512x!tt.ptr<i16>>, tensor<512xi32>
  %v = tt.load %ax, %m : tensor<512x!tt.ptr<i16>>
  %t = arith.trunci %i : tensor<512xi32> to tensor<512xi16>
  %r = arith.addi %v, %t : tensor<512xi16>
  %py = tt.addptr %y, %s : !tt.ptr<i16>, i32
  %by = tt.splat %py : !tt.ptr<i16> -> tensor<512x!tt.ptr<i16>>
  %ay = tt.addptr %by, %i : tensor<512x!tt.ptr<i16>>, tensor<512xi32>
  tt.store %ay, %r, %m : tensor<512x!tt.ptr<i16>>
  tt.return
}

// -----

// A sum leaves the versions.
// CHECK-LABEL: @sum
// CHECK: %[[SUM:.*]] = scf.if %{{.*}} -> (i32) {
// CHECK: tt.bitcast
// CHECK: scf.yield
// CHECK: } else {
// CHECK: scf.yield
// CHECK: tt.return %[[SUM]]
tt.func private @sum(%x: !tt.ptr<i16>, %n: i32) -> i32 {
  %i = tt.make_range {start = 0 : i32, end = 512 : i32} : tensor<512xi32>
  %limit = tt.splat %n : i32 -> tensor<512xi32>
  %m = arith.cmpi sgt, %limit, %i : tensor<512xi32>
  %bx = tt.splat %x : !tt.ptr<i16> -> tensor<512x!tt.ptr<i16>>
  %ax = tt.addptr %bx, %i : tensor<512x!tt.ptr<i16>>, tensor<512xi32>
  %zero = arith.constant dense<0> : tensor<512xi16>
  %v = tt.load %ax, %m, %zero : tensor<512x!tt.ptr<i16>>
  %w = arith.extsi %v : tensor<512xi16> to tensor<512xi32>
  %sum = "tt.reduce"(%w) <{axis = 0 : i32}> ({
  ^bb0(%a: i32, %b: i32):
    %c = arith.addi %a, %b : i32
    tt.reduce.return %c : i32
  }) : (tensor<512xi32>) -> i32
  tt.return %sum : i32
}

// -----

// The order of elements matters to a scan.
// CHECK-LABEL: @scan
// CHECK-NOT: scf.if
tt.func public @scan(%x: !tt.ptr<i16>, %n: i32) {
  %i = tt.make_range {start = 0 : i32, end = 512 : i32} : tensor<512xi32>
  %limit = tt.splat %n : i32 -> tensor<512xi32>
  %m = arith.cmpi slt, %i, %limit : tensor<512xi32>
  %bx = tt.splat %x : !tt.ptr<i16> -> tensor<512x!tt.ptr<i16>>
  %ax = tt.addptr %bx, %i : tensor<512x!tt.ptr<i16>>, tensor<512xi32>
  %v = tt.load %ax, %m : tensor<512x!tt.ptr<i16>>
  %s = "tt.scan"(%v) <{axis = 0 : i32, reverse = false}> ({
  ^bb0(%a: i16, %b: i16):
    %c = arith.addi %a, %b : i16
    tt.scan.return %c : i16
  }) : (tensor<512xi16>) -> tensor<512xi16>
  tt.store %ax, %s, %m : tensor<512x!tt.ptr<i16>>
  tt.return
}

// -----

// One access has no mask.
// CHECK-LABEL: @unmasked
// CHECK-NOT: scf.if
tt.func public @unmasked(%x: !tt.ptr<i16>, %n: i32) {
  %i = tt.make_range {start = 0 : i32, end = 512 : i32} : tensor<512xi32>
  %limit = tt.splat %n : i32 -> tensor<512xi32>
  %m = arith.cmpi slt, %i, %limit : tensor<512xi32>
  %bx = tt.splat %x : !tt.ptr<i16> -> tensor<512x!tt.ptr<i16>>
  %ax = tt.addptr %bx, %i : tensor<512x!tt.ptr<i16>>, tensor<512xi32>
  %v = tt.load %ax : tensor<512x!tt.ptr<i16>>
  tt.store %ax, %v, %m : tensor<512x!tt.ptr<i16>>
  tt.return
}

// -----

// Rows whose beginning is aligned, or whose elements are wide enough, stay as they are, as do those beside a tile that is aligned.
// CHECK-LABEL: @aligned
// CHECK-NOT: scf.if
tt.func public @aligned(%x: !tt.ptr<i16> {tt.divisibility = 16 : i32}, %y: !tt.ptr<i32>, %s: i32, %n: i32) {
  %i = tt.make_range {start = 0 : i32, end = 512 : i32} : tensor<512xi32>
  %limit = tt.splat %n : i32 -> tensor<512xi32>
  %m = arith.cmpi slt, %i, %limit : tensor<512xi32>
  %bx = tt.splat %x : !tt.ptr<i16> -> tensor<512x!tt.ptr<i16>>
  %ax = tt.addptr %bx, %i : tensor<512x!tt.ptr<i16>>, tensor<512xi32>
  %v = tt.load %ax, %m : tensor<512x!tt.ptr<i16>>
  %px = tt.addptr %x, %s : !tt.ptr<i16>, i32
  %bo = tt.splat %px : !tt.ptr<i16> -> tensor<512x!tt.ptr<i16>>
  %ao = tt.addptr %bo, %i : tensor<512x!tt.ptr<i16>>, tensor<512xi32>
  tt.store %ao, %v, %m : tensor<512x!tt.ptr<i16>>
  %j = tt.make_range {start = 0 : i32, end = 256 : i32} : tensor<256xi32>
  %limits = tt.splat %n : i32 -> tensor<256xi32>
  %k = arith.cmpi slt, %j, %limits : tensor<256xi32>
  %by = tt.splat %y : !tt.ptr<i32> -> tensor<256x!tt.ptr<i32>>
  %ay = tt.addptr %by, %j : tensor<256x!tt.ptr<i32>>, tensor<256xi32>
  tt.store %ay, %j, %k : tensor<256x!tt.ptr<i32>>
  tt.return
}
