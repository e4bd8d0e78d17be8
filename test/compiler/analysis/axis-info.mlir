// Facts along each axis, as remarks: of operations that are marked `show`, and the elements at once of each access.
// RUN: tk-opt %s --test-axis-info --verify-diagnostics -o %t

// The plain case: 16-byte pointers, an offset that may wrap in 32 bits, a bound that is a multiple of 16.
tt.func public @vector_add(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %n: i32 {tt.divisibility = 16 : i32}, %odd: i32) {
  %c128 = arith.constant 128 : i32
  %p = tt.get_program_id x : i32
  // expected-remark @below {{contiguity [1], divisibility [128], constancy [1]}}
  %s = arith.muli %p, %c128 {show} : i32
  %ss = tt.splat %s : i32 -> tensor<128xi32>
  // expected-remark @below {{contiguity [128], divisibility [all], constancy [1], range [0, 127]}}
  %r = tt.make_range {start = 0 : i32, end = 128 : i32, show} : tensor<128xi32>
  // expected-remark @below {{contiguity [128], divisibility [128], constancy [1]}}
  %o = arith.addi %ss, %r {show} : tensor<128xi32>
  // expected-remark @below {{contiguity [128], divisibility [128], constancy [1]}}
  %wide = arith.extsi %o {show} : tensor<128xi32> to tensor<128xi64>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
  // expected-remark @below {{contiguity [128], divisibility [16], constancy [1]}}
  %a = tt.addptr %xs, %o {show} : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
  %ns = tt.splat %n : i32 -> tensor<128xi32>
  // expected-remark @below {{constancy [16]}}
  %m = arith.cmpi slt, %o, %ns {show} : tensor<128xi32>
  // expected-remark @below {{width [4]}}
  %v = tt.load %a, %m : tensor<128x!tt.ptr<f32>>
  // Two bytes an element: eight at once.
  %ys = tt.splat %y : !tt.ptr<f16> -> tensor<128x!tt.ptr<f16>>
  %b = tt.addptr %ys, %wide : tensor<128x!tt.ptr<f16>>, tensor<128xi64>
  // expected-remark @below {{width [8]}}
  %w = tt.load %b, %m : tensor<128x!tt.ptr<f16>>
  // A bound of which nothing is known.
  %odds = tt.splat %odd : i32 -> tensor<128xi32>
  %modd = arith.cmpi slt, %o, %odds : tensor<128xi32>
  // expected-remark @below {{width [1]}}
  tt.store %a, %v, %modd : tensor<128x!tt.ptr<f32>>
  // expected-remark @below {{width [8]}}
  tt.store %b, %w : tensor<128x!tt.ptr<f16>>
  // expected-remark @below {{width [1]}}
  %scalar = tt.load %x : !tt.ptr<f32>
  tt.return
}

// Which predicates a run and a multiple decide alike for the whole run: `<` and `>=` with the run on the left, mirrored on the right. Two runs always do.
tt.func public @predicates(%n: i32 {tt.divisibility = 16 : i32}, %base: i32 {tt.divisibility = 8 : i32}) {
  %r = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %ns = tt.splat %n : i32 -> tensor<64xi32>
  %bs = tt.splat %base : i32 -> tensor<64xi32>
  %o = arith.addi %bs, %r : tensor<64xi32>
  // expected-remark @below {{constancy [16]}}
  %slt = arith.cmpi slt, %r, %ns {show} : tensor<64xi32>
  // expected-remark @below {{constancy [16]}}
  %sge = arith.cmpi sge, %r, %ns {show} : tensor<64xi32>
  // expected-remark @below {{constancy [16]}}
  %ult = arith.cmpi ult, %r, %ns {show} : tensor<64xi32>
  // expected-remark @below {{constancy [16]}}
  %uge = arith.cmpi uge, %r, %ns {show} : tensor<64xi32>
  // expected-remark @below {{constancy [1]}}
  %sle = arith.cmpi sle, %r, %ns {show} : tensor<64xi32>
  // expected-remark @below {{constancy [1]}}
  %sgt = arith.cmpi sgt, %r, %ns {show} : tensor<64xi32>
  // expected-remark @below {{constancy [1]}}
  %eq = arith.cmpi eq, %r, %ns {show} : tensor<64xi32>
  // expected-remark @below {{constancy [1]}}
  %ne = arith.cmpi ne, %r, %ns {show} : tensor<64xi32>
  // expected-remark @below {{constancy [16]}}
  %rsgt = arith.cmpi sgt, %ns, %r {show} : tensor<64xi32>
  // expected-remark @below {{constancy [16]}}
  %rule = arith.cmpi ule, %ns, %r {show} : tensor<64xi32>
  // expected-remark @below {{constancy [1]}}
  %rslt = arith.cmpi slt, %ns, %r {show} : tensor<64xi32>
  // expected-remark @below {{constancy [8]}}
  %eq2 = arith.cmpi eq, %o, %r {show} : tensor<64xi32>
  // expected-remark @below {{constancy [8]}}
  %sle2 = arith.cmpi sle, %o, %r {show} : tensor<64xi32>
  // What ranges decide is the same for all: a mask that is always true (A39).
  %c64 = arith.constant dense<64> : tensor<64xi32>
  // expected-remark @below {{constancy [64], constant 1}}
  %always = arith.cmpi slt, %r, %c64 {show} : tensor<64xi32>
  %both = arith.andi %always, %slt {show} : tensor<64xi1> // expected-remark {{constancy [16]}}
  tt.return
}

// A39: the bound of a loop over K whose tail is never needed: K - k * BK keeps the multiple of 16.
tt.func public @tail(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %k: i32 {tt.divisibility = 16 : i32}) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c32 = arith.constant 32 : i32
  %r = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32>
  %xs = tt.splat %x : !tt.ptr<f16> -> tensor<32x!tt.ptr<f16>>
  scf.for %i = %c0 to %k step %c1 : i32 {
    %done = arith.muli %i, %c32 : i32
    %left = arith.subi %k, %done : i32
    %lefts = tt.splat %left : i32 -> tensor<32xi32>
    %m = arith.cmpi slt, %r, %lefts : tensor<32xi32>
    %p = tt.addptr %xs, %r : tensor<32x!tt.ptr<f16>>, tensor<32xi32>
    // expected-remark @below {{width [8]}}
    %v = tt.load %p, %m : tensor<32x!tt.ptr<f16>>
  }
  tt.return
}

// A36: the divisor is only equal along 16 elements, and only divisible by 2; what the remainder promises is promised of pairs.
tt.func public @remainder_of_a_shift(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
  %r0 = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32>
  %c16 = arith.constant dense<16> : tensor<32xi32>
  %c2 = arith.constant dense<2> : tensor<32xi32>
  // expected-remark @below {{contiguity [1], divisibility [1], constancy [16], range [0, 1]}}
  %q = arith.divsi %r0, %c16 {show} : tensor<32xi32>
  // expected-remark @below {{contiguity [1], divisibility [2], constancy [16], range [2, 4]}}
  %d = arith.shli %c2, %q {show} : tensor<32xi32>
  // expected-remark @below {{contiguity [2], divisibility [2], constancy [1], range [0, 3]}}
  %r = arith.remsi %r0, %d {show} : tensor<32xi32>
  %cols = tt.make_range {start = 0 : i32, end = 16 : i32} : tensor<16xi32>
  %r1 = tt.expand_dims %r {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
  %r2 = tt.broadcast %r1 : tensor<32x1xi32> -> tensor<32x16xi32>
  %k1 = tt.expand_dims %cols {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
  %k2 = tt.broadcast %k1 : tensor<1x16xi32> -> tensor<32x16xi32>
  // expected-remark @below {{contiguity [2, 16], divisibility [1, 1], constancy [1, 1]}}
  %o = arith.addi %r2, %k2 {show} : tensor<32x16xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<32x16x!tt.ptr<f32>>
  %p = tt.addptr %xs, %o : tensor<32x16x!tt.ptr<f32>>, tensor<32x16xi32>
  // expected-remark @below {{width [1, 1]}}
  %v = tt.load %p : tensor<32x16x!tt.ptr<f32>>
  tt.return
}

// A37: the quotient of a negative run is rounded towards zero, so its first element stands alone; likewise the remainder. Unsigned ones and shifts have no such
// step, and neither has a dividend that is proven not to be negative.
tt.func public @negative_runs(%s: i32 {tt.divisibility = 32 : i32}, %m: i32 {tt.divisibility = 16 : i32}) {
  %r8 = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32>
  %c64 = arith.constant dense<64> : tensor<32xi32>
  %c32 = arith.constant dense<32> : tensor<32xi32>
  %c5 = arith.constant dense<5> : tensor<32xi32>
  %c31 = arith.constant dense<31> : tensor<32xi32>
  %neg = arith.subi %r8, %c64 : tensor<32xi32>
  // expected-remark @below {{contiguity [1], divisibility [1], constancy [1], range [-2, -1]}}
  %q = arith.divsi %neg, %c32 {show} : tensor<32xi32>
  // expected-remark @below {{contiguity [1], divisibility [1], constancy [1], range [-31, 0]}}
  %rem = arith.remsi %neg, %c32 {show} : tensor<32xi32>
  // expected-remark @below {{constancy [32]}}
  %uq = arith.divui %neg, %c32 {show} : tensor<32xi32>
  // expected-remark @below {{contiguity [32], divisibility [32], constancy [1]}}
  %urem = arith.remui %neg, %c32 {show} : tensor<32xi32>
  // expected-remark @below {{constancy [32]}}
  %sh = arith.shrsi %neg, %c5 {show} : tensor<32xi32>
  // expected-remark @below {{contiguity [32], divisibility [64], constancy [1], range [0, 31]}}
  %and = arith.andi %neg, %c31 {show} : tensor<32xi32>
  // The sum may overflow into negative numbers.
  %ss = tt.splat %s : i32 -> tensor<32xi32>
  %o = arith.addi %ss, %r8 : tensor<32xi32>
  %ms = tt.splat %m : i32 -> tensor<32xi32>
  // expected-remark @below {{contiguity [1], divisibility [1], constancy [1]}}
  %wrapped = arith.remsi %o, %ms {show} : tensor<32xi32>
  // expected-remark @below {{contiguity [16], divisibility [16], constancy [1]}}
  %unsigned = arith.remui %o, %ms {show} : tensor<32xi32>
  // expected-remark @below {{contiguity [16], divisibility [16], constancy [1]}}
  %positive = arith.remsi %r8, %ms {show} : tensor<32xi32>
  // Below the divisor: nothing happens.
  // expected-remark @below {{contiguity [32], divisibility [all], constancy [1], range [0, 31]}}
  %same = arith.remsi %r8, %c64 {show} : tensor<32xi32>
  tt.return
}

// The same where dividends are presumed not to be negative; each use is listed.
tt.func public @presumed(%p: i32, %m: i32 {tt.divisibility = 16 : i32}) attributes {presume} {
  %r = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32>
  %c32 = arith.constant 32 : i32
  %s = arith.muli %p, %c32 : i32
  %ss = tt.splat %s : i32 -> tensor<32xi32>
  %o = arith.addi %ss, %r : tensor<32xi32>
  %ms = tt.splat %m : i32 -> tensor<32xi32>
  // expected-remark @below {{contiguity [16], divisibility [16], constancy [1], range [0, 2147483647]; presumed}}
  %rem = arith.remsi %o, %ms {show} : tensor<32xi32>
  // expected-remark @below {{contiguity [16], divisibility [16], constancy [1]}}
  %proven = arith.remsi %r, %ms {show} : tensor<32xi32>
  tt.return
}

// A run that is not aligned may wrap in 32 bits; its aligned parts don't. A range that leaves the wrap out keeps all of it.
tt.func public @wraps(%s: i32, %s4: i32 {tt.divisibility = 4 : i32}) {
  %r = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %ss = tt.splat %s : i32 -> tensor<64xi32>
  %o = arith.addi %ss, %r {show} : tensor<64xi32> // expected-remark {{contiguity [64], divisibility [1], constancy [1]}}
  %wide = arith.extsi %o {show} : tensor<64xi32> to tensor<64xi64> // expected-remark {{contiguity [1], divisibility [1], constancy [1]}}
  %s4s = tt.splat %s4 : i32 -> tensor<64xi32>
  %o4 = arith.addi %s4s, %r : tensor<64xi32>
  %wide4 = arith.extui %o4 {show} : tensor<64xi32> to tensor<64xi64> // expected-remark {{contiguity [4], divisibility [4], constancy [1]}}
  %r3 = tt.make_range {start = 3 : i32, end = 67 : i32} : tensor<64xi32>
  %wide3 = arith.extsi %r3 {show} : tensor<64xi32> to tensor<64xi64> // expected-remark {{contiguity [64], divisibility [1], constancy [1], range [3, 66]}}
  // Eight bits wrap inside a tile: the sign's wrap bounds signed facts, the other one unsigned facts.
  %many = tt.make_range {start = 0 : i32, end = 512 : i32} : tensor<512xi32>
  %i8 = arith.trunci %many : tensor<512xi32> to tensor<512xi8>
  %back = arith.extsi %i8 {show} : tensor<512xi8> to tensor<512xi32> // expected-remark {{contiguity [128], divisibility [128], constancy [1]}}
  %zback = arith.extui %i8 {show} : tensor<512xi8> to tensor<512xi32> // expected-remark {{contiguity [256], divisibility [256], constancy [1]}}
  tt.return
}

// Bits: a mask of low bits keeps runs, one of high bits levels them.
tt.func public @bits(%s: i32 {tt.divisibility = 64 : i32}, %y: i32 {tt.divisibility = 8 : i32}) {
  %r = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %ss = tt.splat %s : i32 -> tensor<64xi32>
  %o = arith.addi %ss, %r : tensor<64xi32>
  %c15 = arith.constant dense<15> : tensor<64xi32>
  %cm16 = arith.constant dense<-16> : tensor<64xi32>
  %c3 = arith.constant dense<3> : tensor<64xi32>
  %ys = tt.splat %y : i32 -> tensor<64xi32>
  %low = arith.andi %o, %c15 {show} : tensor<64xi32> // expected-remark {{contiguity [16], divisibility [16], constancy [1], range [0, 15]}}
  %high = arith.andi %o, %cm16 {show} : tensor<64xi32> // expected-remark {{contiguity [1], divisibility [16], constancy [16]}}
  %or = arith.ori %o, %ys {show} : tensor<64xi32> // expected-remark {{contiguity [8], divisibility [8], constancy [1]}}
  %level = arith.ori %o, %c3 {show} : tensor<64xi32> // expected-remark {{contiguity [1], divisibility [1], constancy [4]}}
  %xor = arith.xori %o, %ys {show} : tensor<64xi32> // expected-remark {{contiguity [8], divisibility [8], constancy [1]}}
  %sh = arith.shrui %o, %c3 {show} : tensor<64xi32> // expected-remark {{contiguity [1], divisibility [1], constancy [8], range [0, 536870911]}}
  tt.return
}

// Shapes.
tt.func public @shapes(%stride: i32 {tt.divisibility = 16 : i32}, %x: !tt.ptr<f16> {tt.divisibility = 16 : i32}) {
  %m = tt.make_range {start = 0 : i32, end = 32 : i32} : tensor<32xi32>
  %k = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %m1 = tt.expand_dims %m {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
  %ss = tt.splat %stride : i32 -> tensor<32x1xi32>
  %rows = arith.muli %m1, %ss : tensor<32x1xi32>
  // expected-remark @below {{contiguity [1, 1], divisibility [16, 16], constancy [1, 64]}}
  %rows2 = tt.broadcast %rows {show} : tensor<32x1xi32> -> tensor<32x64xi32>
  %k1 = tt.expand_dims %k {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
  %k2 = tt.broadcast %k1 : tensor<1x64xi32> -> tensor<32x64xi32>
  // expected-remark @below {{contiguity [1, 64], divisibility [1, 16], constancy [1, 1]}}
  %o = arith.addi %rows2, %k2 {show} : tensor<32x64xi32>
  // expected-remark @below {{contiguity [64, 1], divisibility [16, 1], constancy [1, 1]}}
  %t = tt.trans %o {order = array<i32: 1, 0>, show} : tensor<32x64xi32> -> tensor<64x32xi32>
  // expected-remark @below {{contiguity [16, 1], divisibility [16, 1], constancy [1, 1]}}
  %ext = arith.extsi %t {show} : tensor<64x32xi32> to tensor<64x32xi64>
  // expected-remark @below {{contiguity [1, 1, 16], divisibility [1, 1, 16], constancy [1, 1, 1]}}
  %cut = tt.reshape %o {show} : tensor<32x64xi32> -> tensor<32x4x16xi32>
  // expected-remark @below {{contiguity [1, 1], divisibility [1, 1], constancy [1, 1]}}
  %free = tt.reshape %o allow_reorder {show} : tensor<32x64xi32> -> tensor<64x32xi32>
  // expected-remark @below {{contiguity [32], divisibility [32], constancy [1], range [0, 63]}}
  %cat = tt.cat %m, %k {show} : tensor<32xi32>, tensor<64xi32> -> tensor<96xi32>
  // expected-remark @below {{contiguity [32, 1], divisibility [all, 1], constancy [1, 1], range [0, 31]}}
  %join = tt.join %m, %m {show} : tensor<32xi32> -> tensor<32x2xi32>
  // Pointers that change their pointee keep the alignment, not the step.
  %xs = tt.splat %x : !tt.ptr<f16> -> tensor<32x64x!tt.ptr<f16>>
  // expected-remark @below {{contiguity [1, 16], divisibility [2, 16], constancy [1, 1]}}
  %p = tt.addptr %xs, %o {show} : tensor<32x64x!tt.ptr<f16>>, tensor<32x64xi32>
  // expected-remark @below {{width [1, 8]}}
  %v = tt.load %p : tensor<32x64x!tt.ptr<f16>>
  // expected-remark @below {{contiguity [1, 16], divisibility [2, 16], constancy [1, 1]}}
  %same = tt.bitcast %p {show} : tensor<32x64x!tt.ptr<f16>> -> tensor<32x64x!tt.ptr<bf16>>
  // expected-remark @below {{contiguity [1, 1], divisibility [2, 2], constancy [1, 1]}}
  %other = tt.bitcast %p {show} : tensor<32x64x!tt.ptr<f16>> -> tensor<32x64x!tt.ptr<i32>>
  tt.return
}

// Extents that are no power of two: a run may be cut short at the end, an access may not.
tt.func public @extents(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f16>) {
  %r = tt.make_range {start = 0 : i32, end = 100 : i32, show} : tensor<100xi32> // expected-remark {{contiguity [128], divisibility [all], constancy [1], range [0, 99]}}
  %xs = tt.splat %x : !tt.ptr<f16> -> tensor<100x!tt.ptr<f16>>
  %p = tt.addptr %xs, %r : tensor<100x!tt.ptr<f16>>, tensor<100xi32>
  %v = tt.load %p : tensor<100x!tt.ptr<f16>> // expected-remark {{width [4]}}
  // Nothing is known of the alignment.
  %ys = tt.splat %y : !tt.ptr<f16> -> tensor<100x!tt.ptr<f16>>
  %q = tt.addptr %ys, %r : tensor<100x!tt.ptr<f16>>, tensor<100xi32>
  tt.store %q, %v : tensor<100x!tt.ptr<f16>> // expected-remark {{width [1]}}
  tt.return
}

// Loops: what is carried keeps what the first value and each next one share. The second loop loses its divisibility through the first's result.
tt.func public @loops(%n: i32, %x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %c: i1) {
  %c0 = arith.constant 0 : i32
  %c8 = arith.constant 8 : i32
  %c12 = arith.constant 12 : i32
  %c3 = arith.constant 3 : i32
  %r = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  %bump = arith.constant dense<32> : tensor<64xi32>
  %out:2 = scf.for %i = %c0 to %n step %c8 iter_args(%t = %r, %k = %c0) -> (tensor<64xi32>, i32) : i32 {
    // expected-remark @below {{contiguity [1], divisibility [8], constancy [1]}}
    %twice = arith.addi %i, %i {show} : i32
    // expected-remark @below {{contiguity [64], divisibility [32], constancy [1]}}
    %next = arith.addi %t, %bump {show} : tensor<64xi32>
    %xs = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %p = tt.addptr %xs, %t : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    // expected-remark @below {{width [4]}}
    %v = tt.load %p : tensor<64x!tt.ptr<f32>>
    %k2 = arith.addi %k, %c12 : i32
    scf.yield %next, %k2 : tensor<64xi32>, i32
  }
  // expected-remark @below {{contiguity [1], divisibility [4], constancy [1]}}
  %k4 = arith.addi %out#1, %out#1 {show} : i32
  %w:2 = scf.while (%a = %out#1, %b = %c0) : (i32, i32) -> (i32, i32) {
    %go = arith.cmpi slt, %a, %n : i32
    scf.condition(%go) %a, %b : i32, i32
  } do {
  ^bb0(%a: i32, %b: i32):
    %a2 = arith.addi %a, %c8 {show} : i32 // expected-remark {{contiguity [1], divisibility [4], constancy [1]}}
    %b2 = arith.addi %a, %c3 {show} : i32 // expected-remark {{contiguity [1], divisibility [1], constancy [1]}}
    scf.yield %a2, %b2 : i32, i32
  }
  %branch = scf.if %c -> i32 {
    scf.yield %c12 : i32
  } else {
    scf.yield %c8 : i32
  }
  %b4 = arith.addi %branch, %branch {show} : i32 // expected-remark {{contiguity [1], divisibility [4], constancy [1], range [16, 24]}}
  tt.return
}

// What the user says, on operations and arguments; and assumptions, which hold where nothing with an effect comes before them.
tt.func public @hints(%x: !tt.ptr<f32>, %i: i32, %j: i32, %k: i32) {
  %c0 = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %c7 = arith.constant dense<7> : tensor<64xi32>
  %r = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32>
  // expected-remark @below {{contiguity [16], divisibility [8], constancy [1], range [0, 6]}}
  %h = arith.remsi %r, %c7 {tt.contiguity = array<i32: 16>, tt.divisibility = array<i32: 24>, show} : tensor<64xi32>
  // expected-remark @below {{contiguity [1], divisibility [1], constancy [32]}}
  %e = arith.divsi %r, %c7 {tt.constancy = array<i32: 32>, show} : tensor<64xi32>
  %ge = arith.cmpi sge, %j, %c0 : i32
  tt.assume %ge
  %rest = arith.remsi %k, %c32 : i32
  %whole = arith.cmpi eq, %rest, %c0 : i32
  tt.assume %whole
  %q = arith.divsi %j, %c32 {show} : i32 // expected-remark {{contiguity [1], divisibility [1], constancy [1], range [0, 67108863]}}
  %k2 = arith.addi %k, %k {show} : i32 // expected-remark {{contiguity [1], divisibility [32], constancy [1]}}
  // expected-remark @below {{width [1]}}
  %v = tt.load %x : !tt.ptr<f32>
  // Too late for %i: the load may have been the end.
  %late = arith.cmpi sge, %i, %c0 : i32
  tt.assume %late
  %qi = arith.divsi %i, %c32 {show} : i32 // expected-remark {{contiguity [1], divisibility [1], constancy [1], range [-67108864, 67108863]}}
  tt.return
}
