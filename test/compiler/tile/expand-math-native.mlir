// Where the machine has a function of its own, only what may be approximate (afn: tl's exp, not libdevice's) is left to it.
// RUN: tk-opt %s --tk-expand-math=keep-native | FileCheck %s

// CHECK-LABEL: tt.func public @k
// CHECK: math.exp {{.*}} fastmath<afn>
// CHECK: math.rsqrt {{.*}} fastmath<afn>
// CHECK-NOT: math.exp
// CHECK-NOT: math.rsqrt
// CHECK: tt.return
tt.func public @k(%p: tensor<8x!tt.ptr<f32>>, %x: tensor<8xf32>) {
  %0 = math.exp %x fastmath<afn> : tensor<8xf32>
  %1 = math.rsqrt %0 fastmath<afn> : tensor<8xf32>
  %2 = math.exp %1 : tensor<8xf32>
  %3 = math.rsqrt %2 : tensor<8xf32>
  tt.store %p, %3 : tensor<8x!tt.ptr<f32>>
  tt.return
}
