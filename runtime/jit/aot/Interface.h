// What several signatures of a kernel have in common as one C function, and what sets them apart: the conditions by which a call finds its variant.
//
// A parameter that is the same constant in every signature is not passed. One that is a number in some signatures and a constant in others, or different
// numbers in each, is passed and compared. For kernel(x, n, BLOCK) and the signatures
//
//     *fp32:16, i32:16, BLOCK=1024        float *x, int32_t n, int32_t BLOCK:   x and n divisible by 16, BLOCK = 1024
//     *fp32,    i32,    BLOCK=1024                                              BLOCK = 1024
//     *fp32,    i64,    BLOCK=2048        (then n is an int64_t, and the first two need one that fits 32 bits)
//
// Variants are tried from the strongest, which says most, to the weakest.
#pragma once
#include "lang/sema/ParamSpecs.h"
#include "runtime/LaunchOptions.h"
#include "runtime/aot/Tables.h"
#include <string>
#include <vector>

namespace tk::jit::aot {

/// What a kernel is compiled for.
struct Signature {
  std::string text; // as the user wrote it, for messages
  std::vector<lang::ParamSpec> specs;
  runtime::LaunchOptions options;
};

/// A parameter of the kernel. `kind`, `bytes` and `element` are those of TkAotParameter.
struct Parameter {
  std::string name; // in the kernel
  TkAotKind kind = TkAotBaked;
  unsigned bytes = 0, element = 0;
  DType dtype = DType::I32; // of the number, or of what the pointer points to
  unsigned pointerDepth = 0;
};

struct Condition {
  unsigned parameter = 0;
  TkAotTest test = TkAotEquals;
  unsigned bytes = 0; // of TkAotFits...
  int64_t value = 0;  // of TkAotEquals
  bool operator==(const Condition &) const = default;
};

struct Variant {
  const Signature *signature = nullptr;
  std::vector<Condition> conditions;
  std::vector<TkProgramValue> constants; // one a parameter; Missing: passed
};

struct Interface {
  std::vector<Parameter> parameters;
  std::vector<Variant> variants; // the strongest first
};

/// `signatures` outlive the result. Throws Error(User) for signatures that one C function can't serve: types that differ, constants that are no numbers and
/// differ, two signatures for the same arguments.
Interface interfaceOf(const std::string &function, const std::vector<std::string> &parameters, const std::vector<Signature> &signatures);

} // namespace tk::jit::aot
