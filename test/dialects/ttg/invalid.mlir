// RUN: tk-opt %s --split-input-file --verify-diagnostics

// expected-error@+1 {{give some element no place, or two elements the same [SH1]}}
#shared = #ttg.shared<offset = [1, 2, 3]>
tt.func @f() { tt.return }

// -----

// expected-error@+1 {{give some element no place, or two elements the same [SH1]}}
#shared = #ttg.shared<offset = [1, 4]>
tt.func @f() { tt.return }

// -----

#shared = #ttg.shared<offset = [1, 2]>
// expected-error@+1 {{the extent 3 is not a power of two [MD1]}}
tt.func private @f(!ttg.memdesc<3xf32, #shared>)

// -----

#shared = #ttg.shared<offset = [1, 2]>
// expected-error@+1 {{a tile with 3 bits of index needs as many bits of offset, found 2 [MD2]}}
tt.func private @f(!ttg.memdesc<8xf32, #shared>)

// -----

#shared = #ttg.shared<offset = [1, 2]>
// expected-error@+1 {{a descriptor has at least one slot [MD3]}}
tt.func private @f(!ttg.memdesc<4xf32, #shared, slots = 0>)

// -----

#shared = #ttg.shared<offset = [1, 2]>
tt.func @f() {
  // expected-error@+1 {{without an operand the result must be mutable [LA1]}}
  %0 = ttg.local_alloc : !ttg.memdesc<4xf32, #shared>
  tt.return
}

// -----

#tile = #ttg.linear<register = [1, 2], lane = [0, 0, 0, 0, 0], warp = []>
#shared = #ttg.shared<offset = [1, 2]>
tt.func @f(%v: tensor<4xi32, #tile>) {
  // expected-error@+1 {{expected a tile of the shape and element type of}}
  %0 = ttg.local_alloc of %v : tensor<4xi32, #tile> : !ttg.memdesc<4xf32, #shared>
  tt.return
}

// -----

#shared = #ttg.shared<offset = [1, 2]>
tt.func @f(%i: i32) {
  %m = ttg.local_alloc : !ttg.memdesc<4xf32, #shared, slots = 2, mutable>
  // expected-error@+1 {{[MI1]}}
  %0 = ttg.memdesc_index %m[%i] : !ttg.memdesc<4xf32, #shared, slots = 2, mutable> -> !ttg.memdesc<4xf32, #shared>
  tt.return
}

// -----

#shared = #ttg.shared<offset = [1, 2]>
tt.func @f(%i: i32) {
  %m = ttg.local_alloc : !ttg.memdesc<4xf32, #shared, slots = 2, mutable>
  // expected-error@+1 {{goes 2 slots ahead of 2 [MI2]}}
  %0 = ttg.memdesc_index %m[%i + 2] : !ttg.memdesc<4xf32, #shared, slots = 2, mutable> -> !ttg.memdesc<4xf32, #shared, mutable>
  tt.return
}

// -----

#full = #ttg.linear<register = [1, 2], lane = [0, 0, 0, 0, 0], warp = []>
#shared = #ttg.shared<offset = [1, 2]>
tt.func @f() {
  %start = ub.poison : tensor<4xf32, #full>
  %m = ttg.local_alloc of %start : tensor<4xf32, #full> : !ttg.memdesc<4xf32, #shared>
  // expected-error@+1 {{needs a tile with a layout, found 'tensor<4xf32>' [LL1]}}
  %0 = ttg.local_load %m : !ttg.memdesc<4xf32, #shared> -> tensor<4xf32>
  tt.return
}

// -----

#tile = #ttg.linear<register = [1, 2], lane = [0, 0, 0, 0, 0], warp = []>
#full = #ttg.linear<register = [1, 2], lane = [0, 0, 0, 0, 0], warp = []>
#shared = #ttg.shared<offset = [1, 2]>
tt.func @f(%v: tensor<4xf32, #tile>) {
  %start = ub.poison : tensor<4xf32, #full>
  %m = ttg.local_alloc of %start : tensor<4xf32, #full> : !ttg.memdesc<4xf32, #shared>
  // expected-error@+1 {{which is not mutable [LS1]}}
  ttg.local_store %v, %m : tensor<4xf32, #tile> -> !ttg.memdesc<4xf32, #shared>
  tt.return
}

// -----

#tile = #ttg.linear<register = [1, 2], lane = [0, 0, 0, 0, 0], warp = []>
#shared = #ttg.shared<offset = [1, 2]>
tt.func @f(%v: tensor<4xf32, #tile>) {
  %m = ttg.local_alloc : !ttg.memdesc<4xf32, #shared, mutable>
  // expected-error@+1 {{copies from pointers, found 'tensor<4xf32}}
  %0 = ttg.async_copy %v, %m {contiguity = 1 : i32} : tensor<4xf32, #tile> -> !ttg.memdesc<4xf32, #shared, mutable>
  tt.return
}

// -----

#tile = #ttg.linear<register = [1, 2], lane = [0, 0, 0, 0, 0], warp = []>
#shared = #ttg.shared<offset = [2, 1]>
tt.func @f(%p: tensor<4x!tt.ptr<f32>, #tile>) {
  %m = ttg.local_alloc : !ttg.memdesc<4xf32, #shared, mutable>
  // expected-error@+1 {{can't move 4 elements at once}}
  %0 = ttg.async_copy %p, %m {contiguity = 4 : i32} : tensor<4x!tt.ptr<f32>, #tile> -> !ttg.memdesc<4xf32, #shared, mutable>
  tt.return
}

// -----

#tile = #ttg.linear<register = [1, 2], lane = [0, 0, 0, 0, 0], warp = []>
#shared = #ttg.shared<offset = [1, 2]>
tt.func @f(%p: tensor<4x!tt.ptr<f32>, #tile>, %mask: i1) {
  %m = ttg.local_alloc : !ttg.memdesc<4xf32, #shared, mutable>
  // expected-error@+1 {{expected a mask of the shape and layout of}}
  %0 = ttg.async_copy %p, %m mask %mask {contiguity = 4 : i32} : tensor<4x!tt.ptr<f32>, #tile>, i1 -> !ttg.memdesc<4xf32, #shared, mutable>
  tt.return
}

// -----

tt.func @f() {
  // expected-error@+1 {{can't leave -1 groups pending}}
  %0 = ttg.async_wait {pending = -1 : i32}
  tt.return
}

// -----

tt.func @f() {
  // expected-error@+1 {{expected the default region to end with `ttg.warp_yield` [WS1]}}
  ttg.warp_specialize {
  } partitions {
    ttg.warp_partition num_warps(1) () {
      ttg.warp_return
    }
  }
  tt.return
}

// -----

tt.func @f(%n: i32) {
  // expected-error@+1 {{has results of other types than what the default region yields [WS1]}}
  %r = ttg.warp_specialize -> i64 {
    // expected-note@+1 {{yielded here}}
    ttg.warp_yield %n : i32
  } partitions {
    ttg.warp_partition num_warps(1) () {
      ttg.warp_return
    }
  }
  tt.return
}

// -----

tt.func @f() {
  // expected-error@+1 {{expected at least one partition [WS2]}}
  ttg.warp_specialize {
    ttg.warp_yield
  } partitions {
  }
  tt.return
}

// -----

tt.func @f() {
  // expected-error@+1 {{expected nothing but `ttg.warp_partition` behind `partitions` [WS2]}}
  ttg.warp_specialize {
    ttg.warp_yield
  } partitions {
    ttg.warp_partition num_warps(1) () {
      ttg.warp_return
    }
    // expected-note@+1 {{found this}}
    ttg.barrier
  }
  tt.return
}

// -----

tt.func @f() {
  // expected-note@+1 {{here}}
  ttg.warp_specialize {
    ttg.warp_yield
  } partitions {
    ttg.warp_partition num_warps(2) () {
      // expected-error@+1 {{divides warps that are already divided [WS3]}}
      ttg.warp_specialize {
        ttg.warp_yield
      } partitions {
        ttg.warp_partition num_warps(1) () {
          ttg.warp_return
        }
      }
      ttg.warp_return
    }
  }
  tt.return
}

// -----

// expected-error@+1 {{is outside of a function, whose warps it would divide [WS3]}}
ttg.warp_specialize {
  ttg.warp_yield
} partitions {
  ttg.warp_partition num_warps(1) () {
    ttg.warp_return
  }
}

// -----

#shared = #ttg.shared<offset = [1, 2]>
tt.func @f() {
  // expected-error@+1 {{what outlives a region is allocated in front of the operation [WS4]}}
  %r = ttg.warp_specialize -> !ttg.memdesc<4xf32, #shared, mutable> {
    %m = ttg.local_alloc : !ttg.memdesc<4xf32, #shared, mutable>
    ttg.warp_yield %m : !ttg.memdesc<4xf32, #shared, mutable>
  } partitions {
    ttg.warp_partition num_warps(1) () {
      ttg.warp_return
    }
  }
  tt.return
}

// -----

tt.func @f() {
  // expected-error@+1 {{expected regions without arguments, found 1 [WS5]}}
  "ttg.warp_specialize"() ({
  ^bb0(%n: i32):
    "ttg.warp_yield"() : () -> ()
  }, {
    "ttg.warp_partition"() <{numWarps = 1 : i32}> ({
      "ttg.warp_return"() : () -> ()
    }) : () -> ()
  }) : () -> ()
  tt.return
}

// -----

tt.func @f() {
  ttg.warp_specialize {
    ttg.warp_yield
  } partitions {
    // expected-error@+1 {{expected a power of two of warps, found 3 [WP1]}}
    ttg.warp_partition num_warps(3) () {
      ttg.warp_return
    }
  }
  tt.return
}

// -----

tt.func @f() {
  ttg.warp_specialize {
    ttg.warp_yield
  } partitions {
    // expected-error@+1 {{expected a power of two of warps, found -4 [WP1]}}
    ttg.warp_partition num_warps(-4) () {
      ttg.warp_return
    }
  }
  tt.return
}

// -----

#tile = #ttg.linear<register = [1, 2], lane = [0, 0, 0, 0, 0], warp = []>
tt.func @f(%v: tensor<4xf32, #tile>) {
  ttg.warp_specialize {
    ttg.warp_yield
  } partitions {
    // expected-error@+1 {{only scalars, pointers and memory descriptors mean the same to other warps [WP2]}}
    ttg.warp_partition num_warps(1) (%w = %v : tensor<4xf32, #tile>) {
      ttg.warp_return
    }
  }
  tt.return
}

// -----

tt.func @f(%n: i32) {
  ttg.warp_specialize {
    ttg.warp_yield
  } partitions {
    // expected-error@+1 {{expected an argument of the region for each capture, and of its type [WP3]}}
    "ttg.warp_partition"(%n) <{numWarps = 1 : i32}> ({
    ^bb0(%m: i64):
      ttg.warp_return
    }) : (i32) -> ()
  }
  tt.return
}

// -----

tt.func @f(%n: i32) {
  ttg.warp_specialize {
    ttg.warp_yield
  } partitions {
    // expected-error@+1 {{expected an argument of the region for each capture, and of its type [WP3]}}
    "ttg.warp_partition"(%n) <{numWarps = 1 : i32}> ({
      ttg.warp_return
    }) : (i32) -> ()
  }
  tt.return
}

// -----

tt.func @f() {
  ttg.warp_specialize {
    ttg.warp_yield
  } partitions {
    // expected-error@+1 {{expected a multiple of 8 from 24 to 256 for the registers of a thread, found 44 [WP4]}}
    ttg.warp_partition num_warps(4) registers(44) () {
      ttg.warp_return
    }
  }
  tt.return
}

// -----

tt.func @f() {
  ttg.warp_specialize {
    ttg.warp_yield
  } partitions {
    // expected-error@+1 {{expected a multiple of 8 from 24 to 256 for the registers of a thread, found 264 [WP4]}}
    ttg.warp_partition num_warps(4) registers(264) () {
      ttg.warp_return
    }
  }
  tt.return
}

// -----

tt.func @f() {
  ttg.warp_specialize {
    ttg.warp_yield
  } partitions {
    // expected-error@+1 {{expected the region to end with `ttg.warp_return` [WP5]}}
    ttg.warp_partition num_warps(4) () {
      ub.unreachable
    }
  }
  tt.return
}

// -----

#tile = #ttg.linear<register = [], lane = [1, 2, 4, 8, 16], warp = [32]>
tt.func @f() {
  ttg.warp_specialize {
    ttg.warp_yield
  } partitions {
    // expected-error@+1 {{has 4 warps and a tile whose layout is for 2 [WP6]}}
    ttg.warp_partition num_warps(4) () {
      // expected-note@+1 {{here}}
      %v = ub.poison : tensor<64xf32, #tile>
      ttg.warp_return
    }
  }
  tt.return
}

// -----

tt.func @f(%n: i32) {
  ttg.warp_specialize {
    ttg.warp_yield
  } partitions {
    ttg.warp_partition num_warps(4) () {
      // expected-error@+1 {{use of undeclared SSA value name}}
      %v = arith.addi %n, %n : i32
      ttg.warp_return
    }
  }
  tt.return
}

// -----

#bar = #ttg.shared<offset = []>
tt.func @f() {
  %b = ttg.local_alloc : !ttg.memdesc<1xi64, #bar, slots = 2, mutable>
  // expected-error@+1 {{expected a mutable descriptor with one slot of one i64}}
  ttg.mbarrier_arrive %b : !ttg.memdesc<1xi64, #bar, slots = 2, mutable>
  tt.return
}

// -----

#bar = #ttg.shared<offset = []>
tt.func @f(%n: i32) {
  %b = ttg.local_alloc : !ttg.memdesc<1xi32, #bar, mutable>
  // expected-error@+1 {{expected a mutable descriptor with one slot of one i64}}
  ttg.mbarrier_wait %b, %n : !ttg.memdesc<1xi32, #bar, mutable>
  tt.return
}

// -----

#bar = #ttg.shared<offset = []>
tt.func @f() {
  %b = ttg.local_alloc : !ttg.memdesc<1xi64, #bar, mutable>
  // expected-error@+1 {{expected 1 to 1048575 arrivals, found 0 [MB2]}}
  ttg.mbarrier_init %b, 0 : !ttg.memdesc<1xi64, #bar, mutable>
  tt.return
}

// -----

#left = #ttg.shared<offset = [1, 2, 4, 8, 16, 32, 72, 144, 256, 512, 1024]>
#right = #ttg.shared<offset = [8, 16, 32, 64, 128, 1, 66, 132]>
#sum = #ttg.mma<m16n8k16, warps = 4x1>
tt.func @f(%c : tensor<64x8xf32, #sum>) {
  %a = ttg.local_alloc : !ttg.memdesc<64x32xbf16, #left, mutable>
  %b = ttg.local_alloc : !ttg.memdesc<32x8xbf16, #right, mutable>
  // expected-error@+1 {{expected a sum of two axes in `#ttg.mma<wgmma>`}}
  %d = ttg.warpgroup_dot %a, %b, %c : !ttg.memdesc<64x32xbf16, #left, mutable> * <32x8xbf16, #right, mutable> -> tensor<64x8xf32, #sum>
  tt.return
}

// -----

#left = #ttg.shared<offset = [1, 2, 4, 8, 16, 32, 72, 144, 256, 512, 1024]>
#right = #ttg.shared<offset = [8, 16, 32, 64, 128, 1, 66, 132]>
#mma = #ttg.mma<wgmma, warps = 8x1>
tt.func @f(%c : tensor<64x8xf32, #mma>) {
  %a = ttg.local_alloc : !ttg.memdesc<64x32xbf16, #left, mutable>
  %b = ttg.local_alloc : !ttg.memdesc<32x8xbf16, #right, mutable>
  // expected-error@+1 {{has less than an instruction's rows and columns for each group of warps}}
  %d = ttg.warpgroup_dot %a, %b, %c : !ttg.memdesc<64x32xbf16, #left, mutable> * <32x8xbf16, #right, mutable> -> tensor<64x8xf32, #mma>
  tt.return
}

// -----

#left = #ttg.shared<offset = [1, 2, 4, 8, 16, 32, 72, 144, 256, 512, 1024]>
#right = #ttg.shared<offset = [8, 16, 32, 64, 128, 1, 66, 132]>
#mma = #ttg.mma<wgmma, warps = 4x1>
#any = #ttg.shared<offset = [1, 2, 4, 8, 16, 32, 64, 128, 256]>
tt.func @f(%c : tensor<64x8xf32, #mma>) {
  %a = ttg.local_alloc : !ttg.memdesc<64x32xbf16, #left, mutable>
  %b = ttg.local_alloc : !ttg.memdesc<64x8xbf16, #any, mutable>
  // expected-error@+1 {{expected [M, K] and [K, N] for a sum of [M, N]}}
  %d = ttg.warpgroup_dot %a, %b, %c : !ttg.memdesc<64x32xbf16, #left, mutable> * <64x8xbf16, #any, mutable> -> tensor<64x8xf32, #mma>
  tt.return
}

// -----

#left = #ttg.shared<offset = [1, 2, 4, 8, 16, 32, 72, 144, 256, 512, 1024]>
#right = #ttg.shared<offset = [8, 16, 32, 64, 128, 1, 66, 132]>
#mma = #ttg.mma<wgmma, warps = 4x1>
#any = #ttg.shared<offset = [1, 2, 4, 8, 16, 32, 64, 128]>
tt.func @f(%c : tensor<64x8xf32, #mma>) {
  %a = ttg.local_alloc : !ttg.memdesc<64x32xbf16, #left, mutable>
  %b = ttg.local_alloc : !ttg.memdesc<32x8xbf16, #any, mutable>
  // expected-error@+1 {{expected descriptors of one slot whose tile lies as the instruction reads it}}
  %d = ttg.warpgroup_dot %a, %b, %c : !ttg.memdesc<64x32xbf16, #left, mutable> * <32x8xbf16, #any, mutable> -> tensor<64x8xf32, #mma>
  tt.return
}

// -----

#left = #ttg.shared<offset = [1, 2, 4, 8, 16, 32, 72, 144, 256, 512, 1024]>
#right = #ttg.shared<offset = [8, 16, 32, 64, 128, 1, 66, 132]>
#mma = #ttg.mma<wgmma, warps = 4x1>
tt.func @f(%c : tensor<64x8xi32, #mma>) {
  %a = ttg.local_alloc : !ttg.memdesc<64x32xi16, #left, mutable>
  %b = ttg.local_alloc : !ttg.memdesc<32x8xi16, #right, mutable>
  // expected-error@+1 {{has no instruction for these types or this depth [WD3]}}
  %d = ttg.warpgroup_dot %a, %b, %c : !ttg.memdesc<64x32xi16, #left, mutable> * <32x8xi16, #right, mutable> -> tensor<64x8xi32, #mma>
  tt.return
}

// -----

#left = #ttg.shared<offset = [1, 2, 4, 8, 16, 32, 72, 144, 256, 512, 1024]>
#right = #ttg.shared<offset = [8, 16, 32, 64, 128, 1, 66, 132]>
#mma = #ttg.mma<wgmma, warps = 4x1>
#any = #ttg.linear<register = [1, 2, 4, 8], lane = [16, 32, 64, 128, 256], warp = [512, 1024]>
tt.func @f(%a : tensor<64x32xbf16, #any>, %c : tensor<64x8xf32, #mma>) {
  %b = ttg.local_alloc : !ttg.memdesc<32x8xbf16, #right, mutable>
  // expected-error@+1 {{expected the fragments of the instruction}}
  %d = ttg.warpgroup_dot %a, %b, %c : tensor<64x32xbf16, #any> * <32x8xbf16, #right, mutable> -> tensor<64x8xf32, #mma>
  tt.return
}

// -----

#left = #ttg.shared<offset = [1, 2, 4, 8, 16, 32, 72, 144, 256, 512, 1024]>
#right = #ttg.shared<offset = [8, 16, 32, 64, 128, 1, 66, 132]>
#mma = #ttg.mma<wgmma, warps = 4x1>
tt.func @f(%c : tensor<64x8xf32, #mma>) {
  // expected-error@+1 {{can't leave 8 products pending [WW2]}}
  %d = ttg.warpgroup_wait %c : tensor<64x8xf32, #mma> {pending = 8 : i32}
  tt.return
}

// -----
#any = #ttg.linear<register = [1, 2], lane = [4, 8, 16, 32, 64], warp = [128, 256]>
tt.func @f(%c : tensor<64x8xf32, #any>) {
  // expected-error@+1 {{waits for sums of products}}
  %d = ttg.warpgroup_wait %c : tensor<64x8xf32, #any> {pending = 0 : i32}
  tt.return
}

// -----

#left = #ttg.shared<offset = [1, 2, 4, 8, 16, 32, 72, 144, 256, 512, 1024]>
#right = #ttg.shared<offset = [8, 16, 32, 64, 128, 1, 66, 132]>
#mma = #ttg.mma<wgmma, warps = 4x1>
tt.func @f() {
  %a = ttg.local_alloc : !ttg.memdesc<64x32xbf16, #left, mutable>
  // expected-error@+1 {{expected a permutation of the axes}}
  %b = ttg.memdesc_trans %a [1, 1] : <64x32xbf16, #left, mutable> -> <32x64xbf16, #left, mutable>
  tt.return
}

// -----

#left = #ttg.shared<offset = [1, 2, 4, 8, 16, 32, 72, 144, 256, 512, 1024]>
#right = #ttg.shared<offset = [8, 16, 32, 64, 128, 1, 66, 132]>
#mma = #ttg.mma<wgmma, warps = 4x1>
tt.func @f() {
  %a = ttg.local_alloc : !ttg.memdesc<64x32xbf16, #left, mutable>
  // expected-error@+1 {{expected the result}}
  %b = ttg.memdesc_trans %a [1, 0] : <64x32xbf16, #left, mutable> -> <32x64xbf16, #left, mutable>
  tt.return
}

// -----

#mma = #ttg.mma<wgmma, warps = 2x2>
// expected-error@+1 {{four warps execute wgmma, each for its rows}}
tt.func @f() { tt.return }
