// RUN: tk-opt %s --split-input-file --verify-diagnostics --tk-inline="max-operations=20 max-depth=2"

// Doubling at every level is caught before it fills the memory.
tt.func private @f0(%x: i32) -> i32 {
  %0 = arith.addi %x, %x : i32
  %1 = arith.addi %0, %x : i32
  %2 = arith.addi %1, %x : i32
  %3 = arith.addi %2, %x : i32
  tt.return %3 : i32
}

tt.func public @too_large(%p: !tt.ptr<i32>, %x: i32) {
  %0 = tt.call @f0(%x) : (i32) -> i32
  %1 = tt.call @f0(%0) : (i32) -> i32
  // expected-error @below {{inlining makes `too_large` larger than 20 operations}}
  %2 = tt.call @f0(%1) : (i32) -> i32
  tt.return
}

// -----

tt.func public @too_deep(%x: i32) {
  tt.call @g1(%x) : (i32) -> ()
  tt.return
}

tt.func private @g1(%x: i32) {
  tt.call @g2(%x) : (i32) -> ()
  tt.return
}

// expected-error @below {{calls nest deeper than 2}}
tt.func private @g2(%x: i32) {
  tt.return
}
