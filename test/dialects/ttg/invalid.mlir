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
