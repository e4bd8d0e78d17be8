// The form of each access, as a remark: base, offset in 64 bits with the conditions for it, mask. In `%t[i0, *]` the opaque tile %t varies along axis 0 only.
// RUN: tk-opt %s --test-access-form --verify-diagnostics -o %t

tt.func public @vector_add(%x: !tt.ptr<f32>, %n: i32) {
  %c1024 = arith.constant 1024 : i32
  %p = tt.get_program_id x : i32
  %s = arith.muli %p, %c1024 : i32
  %ss = tt.splat %s : i32 -> tensor<1024xi32>
  %r = tt.make_range {start = 0 : i32, end = 1024 : i32} : tensor<1024xi32>
  %o = arith.addi %ss, %r : tensor<1024xi32>
  %ns = tt.splat %n : i32 -> tensor<1024xi32>
  %m = arith.cmpi slt, %o, %ns : tensor<1024xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<1024x!tt.ptr<f32>>
  %a = tt.addptr %xs, %o : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
  // expected-remark @below {{base %arg0, offset sext(1024*%0) + i0 if signed i32 holds 1024*%0 + i0; mask: 1024*%0 + i0 slt %arg1 along i0}}
  %v = tt.load %a, %m : tensor<1024x!tt.ptr<f32>>
  // The limit on the left, unsigned.
  %u = arith.cmpi ule, %ns, %r : tensor<1024xi32>
  // expected-remark @below {{base %arg0, offset 0; mask: i0 uge %arg1 along i0}}
  tt.store %xs, %v, %u : tensor<1024x!tt.ptr<f32>>
  // expected-remark @below {{base %arg0, offset 0}}
  %w = tt.load %x : !tt.ptr<f32>
  // A range that fits by itself needs no condition.
  %b = tt.addptr %xs, %r : tensor<1024x!tt.ptr<f32>>, tensor<1024xi32>
  // expected-remark @below {{base %arg0, offset i0}}
  tt.store %b, %v : tensor<1024x!tt.ptr<f32>>
  tt.return
}

// Rows times a stride plus columns, in one 32-bit sum and as a 64-bit sum of extensions.
tt.func public @two_axes(%x: !tt.ptr<f32>, %stride: i32, %n: i32, %c: i1) {
  %rm = tt.make_range {start = 0 : i32, end = 16 : i32} : tensor<16xi32>
  %rk = tt.make_range {start = 8 : i32, end = 40 : i32} : tensor<32xi32>
  %rm1 = tt.expand_dims %rm {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
  %rk1 = tt.expand_dims %rk {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %s = tt.splat %stride : i32 -> tensor<16x1xi32>
  %m0 = arith.muli %rm1, %s : tensor<16x1xi32>
  %m1 = tt.broadcast %m0 : tensor<16x1xi32> -> tensor<16x32xi32>
  %k1 = tt.broadcast %rk1 : tensor<1x32xi32> -> tensor<16x32xi32>
  %off = arith.addi %m1, %k1 : tensor<16x32xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<16x32x!tt.ptr<f32>>
  %p = tt.addptr %xs, %off : tensor<16x32x!tt.ptr<f32>>, tensor<16x32xi32>
  // A bound along each axis and a scalar.
  %n0 = tt.splat %n : i32 -> tensor<16x1xi32>
  %lm = arith.cmpi slt, %rm1, %n0 : tensor<16x1xi32>
  %n1 = tt.splat %n : i32 -> tensor<1x32xi32>
  %lk = arith.cmpi sgt, %n1, %rk1 : tensor<1x32xi32>
  %lm1 = tt.broadcast %lm : tensor<16x1xi1> -> tensor<16x32xi1>
  %lk1 = tt.broadcast %lk : tensor<1x32xi1> -> tensor<16x32xi1>
  %cs = tt.splat %c : i1 -> tensor<16x32xi1>
  %l0 = arith.andi %lm1, %lk1 : tensor<16x32xi1>
  %l1 = arith.andi %l0, %cs : tensor<16x32xi1>
  // expected-remark @below {{base %arg0, offset 8 + sext(%arg1)*i0 + i1 if signed i32 holds 8 + %arg1*i0 + i1; mask: i0 slt %arg2 along i0 and 8 + i1 slt %arg2 along i1 and %arg3}}
  %v = tt.load %p, %l1 : tensor<16x32x!tt.ptr<f32>>

  %m64 = arith.extsi %m1 : tensor<16x32xi32> to tensor<16x32xi64>
  %k64 = arith.extsi %k1 : tensor<16x32xi32> to tensor<16x32xi64>
  %off64 = arith.addi %m64, %k64 : tensor<16x32xi64>
  %q = tt.addptr %xs, %off64 : tensor<16x32x!tt.ptr<f32>>, tensor<16x32xi64>
  // expected-remark @below {{base %arg0, offset 8 + sext(%arg1)*i0 + i1 if signed i32 holds %arg1*i0}}
  tt.store %q, %v : tensor<16x32x!tt.ptr<f32>>

  %t = tt.trans %off64 {order = array<i32: 1, 0>} : tensor<16x32xi64> -> tensor<32x16xi64>
  %ts = tt.splat %x : !tt.ptr<f32> -> tensor<32x16x!tt.ptr<f32>>
  %tp = tt.addptr %ts, %t : tensor<32x16x!tt.ptr<f32>>, tensor<32x16xi64>
  // expected-remark @below {{base %arg0, offset 8 + i0 + sext(%arg1)*i1 if signed i32 holds %arg1*i0}}
  %w = tt.load %tp : tensor<32x16x!tt.ptr<f32>>
  tt.return
}

// A remainder says nothing of its neighbours, whatever divides it; no run of constants is claimed. Along the other axis the columns still step by one.
tt.func public @remainder(%x: !tt.ptr<f32>, %n: i32) {
  %r0 = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32>
  %c16 = arith.constant dense<16> : tensor<32xi32>
  %c2 = arith.constant dense<2> : tensor<32xi32>
  %d = arith.divsi %r0, %c16 : tensor<32xi32>
  %e = arith.shli %c2, %d : tensor<32xi32>
  %r = arith.remsi %r0, %e : tensor<32xi32>
  %rows = tt.expand_dims %r {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
  %rows1 = tt.broadcast %rows : tensor<32x1xi32> -> tensor<32x16xi32>
  %cols = tt.make_range {start = 0 : i32, end = 16 : i32} : tensor<16xi32>
  %cols0 = tt.expand_dims %cols {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
  %cols1 = tt.broadcast %cols0 : tensor<1x16xi32> -> tensor<32x16xi32>
  %off = arith.addi %rows1, %cols1 : tensor<32x16xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<32x16x!tt.ptr<f32>>
  %p = tt.addptr %xs, %off : tensor<32x16x!tt.ptr<f32>>, tensor<32x16xi32>
  // expected-remark @below {{base %arg0, offset i1 + sext %3[i0, *] if signed i32 holds i1 + %3[i0, *]}}
  %v = tt.load %p : tensor<32x16x!tt.ptr<f32>>

  // The same with a scalar divisor, times a stride, computed on the broadcast tile: it still varies along its own axis only.
  %ns = tt.splat %n : i32 -> tensor<32x16xi32>
  %wide = tt.expand_dims %r0 {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
  %wide1 = tt.broadcast %wide : tensor<32x1xi32> -> tensor<32x16xi32>
  %q = arith.remui %wide1, %ns : tensor<32x16xi32>
  %q4 = arith.muli %q, %ns : tensor<32x16xi32>
  %off2 = arith.addi %q4, %cols1 : tensor<32x16xi32>
  %p2 = tt.addptr %xs, %off2 : tensor<32x16x!tt.ptr<f32>>, tensor<32x16xi32>
  // expected-remark @below {{base %arg0, offset i1 + (sext(%arg1))*sext %16[i0, *] if signed i32 holds i1 + (%arg1)*%16[i0, *]}}
  tt.store %p2, %v : tensor<32x16x!tt.ptr<f32>>
  tt.return
}

// The quotient of a negative run: opaque in its only axis.
tt.func public @quotient(%x: !tt.ptr<f32>) {
  %r = tt.make_range {start = -64 : i32, end = -56 : i32} : tensor<8xi32>
  %c = arith.constant dense<32> : tensor<8xi32>
  %q = arith.divsi %r, %c : tensor<8xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %p = tt.addptr %xs, %q : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  // expected-remark @below {{base %arg0, offset sext %1[i0]}}
  %v = tt.load %p : tensor<8x!tt.ptr<f32>>
  %u = arith.divui %r, %c : tensor<8xi32>
  %s = tt.addptr %xs, %u : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  // expected-remark @below {{base %arg0, offset sext %5[i0]}}
  tt.store %s, %v : tensor<8x!tt.ptr<f32>>
  tt.return
}

// Arithmetic in the value's own width: sums cancel, products and shifts scale, what is shifted out is gone.
tt.func public @arithmetic(%x: !tt.ptr<f32>, %a: i32, %b: i32) {
  %r = tt.make_range {start = 0 : i32, end = 8 : i32} : tensor<8xi32>
  %as = tt.splat %a : i32 -> tensor<8xi32>
  %ab = arith.muli %a, %b : i32
  %abs = tt.splat %ab : i32 -> tensor<8xi32>
  %bs = tt.splat %b : i32 -> tensor<8xi32>
  %t0 = arith.addi %r, %as : tensor<8xi32>
  %t1 = arith.muli %bs, %t0 : tensor<8xi32>
  // (r + a) * b - a * b = b * r
  %t2 = arith.subi %t1, %abs : tensor<8xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %p0 = tt.addptr %xs, %t2 : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  // expected-remark @below {{base %arg0, offset sext(%arg2)*i0 if signed i32 holds %arg2*i0}}
  %v = tt.load %p0 : tensor<8x!tt.ptr<f32>>

  %c3 = arith.constant dense<3> : tensor<8xi32>
  %t3 = arith.shli %r, %c3 : tensor<8xi32>
  %c7 = arith.constant dense<7> : tensor<8xi32>
  %t4 = arith.subi %c7, %t3 : tensor<8xi32>
  %p1 = tt.addptr %xs, %t4 : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  // expected-remark @below {{base %arg0, offset 7 + -8*i0}}
  tt.store %p1, %v : tensor<8x!tt.ptr<f32>>

  %c32 = arith.constant dense<32> : tensor<8xi32>
  %t5 = arith.shli %t0, %c32 : tensor<8xi32>
  %p2 = tt.addptr %xs, %t5 : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  // expected-remark @below {{base %arg0, offset 0}}
  tt.store %p2, %v : tensor<8x!tt.ptr<f32>>

  // The start of this range does not fit: 32-bit arithmetic wraps at its fourth element.
  %max = arith.constant dense<2147483644> : tensor<8xi32>
  %t6 = arith.addi %r, %max : tensor<8xi32>
  %p3 = tt.addptr %xs, %t6 : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  // expected-remark @below {{base %arg0, offset 2147483644 + i0 if signed i32 holds 2147483644 + i0}}
  tt.store %p3, %v : tensor<8x!tt.ptr<f32>>

  // A product of two tiles.
  %t7 = arith.muli %r, %t0 : tensor<8xi32>
  %p4 = tt.addptr %xs, %t7 : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  // expected-remark @below {{base %arg0, offset sext %18[i0]}}
  tt.store %p4, %v : tensor<8x!tt.ptr<f32>>

  // Unsigned widening of a sum, then the sum goes on in 64 bits.
  %t8 = arith.extui %t0 : tensor<8xi32> to tensor<8xi64>
  %k = arith.constant dense<100> : tensor<8xi64>
  %t9 = arith.addi %t8, %k : tensor<8xi64>
  %p5 = tt.addptr %xs, %t9 : tensor<8x!tt.ptr<f32>>, tensor<8xi64>
  // expected-remark @below {{base %arg0, offset zext(%arg1) + 100 + i0 if unsigned i32 holds %arg1 + i0}}
  tt.store %p5, %v : tensor<8x!tt.ptr<f32>>
  tt.return
}

// Loaded indices are opaque along their axis; a sign extension after a zero extension keeps the zeros, the other way round it is another tile.
tt.func public @gather(%x: !tt.ptr<f32>, %index: !tt.ptr<i8>, %n: i32) {
  %r = tt.make_range {start = 0 : i32, end = 8 : i32} : tensor<8xi32>
  %is = tt.splat %index : !tt.ptr<i8> -> tensor<8x!tt.ptr<i8>>
  %ip = tt.addptr %is, %r : tensor<8x!tt.ptr<i8>>, tensor<8xi32>
  %ns = tt.splat %n : i32 -> tensor<8xi32>
  %m = arith.cmpi slt, %r, %ns : tensor<8xi32>
  // expected-remark @below {{base %arg1, offset i0; mask: i0 slt %arg2 along i0}}
  %i = tt.load %ip, %m : tensor<8x!tt.ptr<i8>>
  %z = arith.extui %i : tensor<8xi8> to tensor<8xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %p = tt.addptr %xs, %z : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  // What is compared is no index but a loaded number: the mask stays a tile.
  %m1 = arith.cmpi slt, %z, %ns : tensor<8xi32>
  // expected-remark @below {{base %arg0, offset zext %5[i0]; mask: %9[i0]}}
  %v = tt.load %p, %m1 : tensor<8x!tt.ptr<f32>>
  %s = arith.extsi %i : tensor<8xi8> to tensor<8xi16>
  %sz = arith.extui %s : tensor<8xi16> to tensor<8xi64>
  %q = tt.addptr %xs, %sz : tensor<8x!tt.ptr<f32>>, tensor<8xi64>
  // expected-remark @below {{base %arg0, offset %12[i0]}}
  tt.store %q, %v : tensor<8x!tt.ptr<f32>>
  tt.return
}

tt.func public @masks(%x: !tt.ptr<f32>, %v: tensor<1x8xf32>, %n: i32, %some: tensor<8xi1>, %carry: tensor<8xi32>) {
  %r = tt.make_range {start = 0 : i32, end = 8 : i32} : tensor<8xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<1x8x!tt.ptr<f32>>
  %t = arith.constant dense<true> : tensor<1x8xi1>
  %f = arith.constant dense<false> : tensor<1x8xi1>
  // expected-remark @below {{base %arg0, offset 0}}
  tt.store %xs, %v, %t : tensor<1x8x!tt.ptr<f32>>
  // expected-remark @below {{base %arg0, offset 0; mask: never}}
  tt.store %xs, %v, %f : tensor<1x8x!tt.ptr<f32>>
  // An equality and a tile from elsewhere are no bounds. The reshape only adds an axis.
  %ns = tt.splat %n : i32 -> tensor<8xi32>
  %e = arith.cmpi eq, %r, %ns : tensor<8xi32>
  %a = arith.andi %e, %some : tensor<8xi1>
  %g = arith.cmpi sge, %r, %ns : tensor<8xi32>
  %b = arith.andi %a, %g : tensor<8xi1>
  %b1 = tt.reshape %b : tensor<8xi1> -> tensor<1x8xi1>
  // expected-remark @below {{base %arg0, offset 0; mask: i1 sge %arg2 along i1 and %3[*, i0] and %arg3[*, i0]}}
  tt.store %xs, %v, %b1 : tensor<1x8x!tt.ptr<f32>>
  // Two tiles compared with each other.
  %h = arith.cmpi slt, %r, %carry : tensor<8xi32>
  %h1 = tt.expand_dims %h {axis = 0 : i32} : tensor<8xi1> -> tensor<1x8xi1>
  // expected-remark @below {{base %arg0, offset 0; mask: %8[*, i0]}}
  tt.store %xs, %v, %h1 : tensor<1x8x!tt.ptr<f32>>
  // A sum that may have wrapped before it was widened.
  %o = arith.addi %r, %ns : tensor<8xi32>
  %o64 = arith.extsi %o : tensor<8xi32> to tensor<8xi64>
  %l = arith.constant dense<1000> : tensor<8xi64>
  %w = arith.cmpi ult, %o64, %l : tensor<8xi64>
  %w1 = tt.expand_dims %w {axis = 0 : i32} : tensor<8xi1> -> tensor<1x8xi1>
  // expected-remark @below {{base %arg0, offset 0; mask: sext(%arg2) + i1 ult 1000 along i1 unless wrapped}}
  tt.store %xs, %v, %w1 : tensor<1x8x!tt.ptr<f32>>
  tt.return
}

// Atomics too; a pointer that is not in normal form is unknown.
tt.func public @others(%x: !tt.ptr<i32>, %p: tensor<4x!tt.ptr<i32>>, %v: tensor<4xi32>, %m: i1, %s: i32) {
  %r = tt.make_range {start = 0 : i32, end = 4 : i32} : tensor<4xi32>
  %xs = tt.splat %x : !tt.ptr<i32> -> tensor<4x!tt.ptr<i32>>
  %q = tt.addptr %xs, %r : tensor<4x!tt.ptr<i32>>, tensor<4xi32>
  // expected-remark @below {{base %arg0, offset i0}}
  %0 = tt.atomic_rmw add, relaxed, gpu, %q, %v : (tensor<4x!tt.ptr<i32>>, tensor<4xi32>) -> tensor<4xi32>
  // expected-remark @below {{base %arg0, offset 0; mask: %arg3}}
  %1 = tt.atomic_rmw add, relaxed, gpu, %x, %s, %m : (!tt.ptr<i32>, i32, i1) -> i32
  // expected-remark @below {{base %arg0, offset i0}}
  %2 = tt.atomic_cas acq_rel, gpu, %q, %v, %v : (tensor<4x!tt.ptr<i32>>, tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  // expected-remark @below {{unknown}}
  tt.store %p, %v : tensor<4x!tt.ptr<i32>>
  tt.return
}
