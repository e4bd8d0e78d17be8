// From a launch's arguments to the key of the code that serves them, and to the bits that this code receives.
//
// The key holds, for every parameter, what compiled code may depend on: its type, whether an integer is 1, whether an integer or an address is divisible by 16,
// and the whole value of compile-time parameters. Two launches with equal keys run the same code. Rules of typing proper live in the front end
// (lang/sema/ParamSpecs.h); the key only has to be at least as fine as they are.
#pragma once
#include "runtime/LaunchKey.h"
#include "runtime/LaunchOptions.h"
#include "tk/argument.h"
#include <optional>
#include <string>
#include <vector>

namespace tk::runtime {

/// What a kernel says of one parameter.
struct ParameterRule {
  std::string name;
  bool isConstexpr = false;
  bool hasDefault = false;
  bool specialize = true; // 1 is folded and divisibility noted
  bool alignment = true;  // divisibility is noted
  bool foldOne = true;    // 1 is folded, where `specialize` allows it
};

/// For each parameter its argument, null where none is given; `options` gets the launch options among the arguments. `bound` has room for one per rule.
/// Throws Error(User) for too many, unknown and doubled arguments, and for values that an option can't have.
void bindArguments(const std::string &kernel, const std::vector<ParameterRule> &rules, const Argument *arguments, size_t count, const Argument **bound,
                   LaunchOptions &options);
/// Error(User) for a parameter that has neither an argument nor a default.
void checkComplete(const std::string &kernel, const std::vector<ParameterRule> &rules, const Argument *const *bound);

/// One parameter's part of the key: four bytes - kind, type, what is known of the value - of which the highest bit says whether more follow, as the values of
/// compile-time parameters do. No part is a prefix of another. Launches with many arguments spend most of their time here.
inline uint32_t keyHead(const ParameterRule &rule, const Argument *argument) {
  using Kind = Argument::Kind;
  constexpr uint32_t untyped = 0xff00, more = uint32_t(1) << 31;
  if (!argument)
    return 0xff;
  const Kind kind = argument->kind;
  const uint32_t type = static_cast<uint32_t>(argument->type) << 8;
  const bool isAligned = argument->bits % 16 == 0;
  switch (kind) {
  case Kind::Pointer: return static_cast<uint32_t>(kind) | type | static_cast<uint32_t>(rule.specialize & rule.alignment & isAligned) << 19;
  case Kind::Bool:
  case Kind::Int:
  case Kind::UInt: { // the sign of the C++ type doesn't matter
    const auto value = static_cast<int64_t>(argument->bits);
    const bool isHuge = kind == Kind::UInt && value < 0; // beyond i64
    const uint32_t width = isHuge ? 2 : value != static_cast<int32_t>(value);
    const uint32_t head = static_cast<uint32_t>(kind == Kind::UInt ? Kind::Int : kind) | (argument->typed ? type : untyped) | width << 16;
    if (rule.isConstexpr)
      return head | more;
    return head | static_cast<uint32_t>(rule.specialize & rule.foldOne & (value == 1)) << 18 |
           static_cast<uint32_t>(rule.specialize & rule.alignment & isAligned) << 19;
  }
  case Kind::Float: return static_cast<uint32_t>(kind) | (argument->typed ? type : untyped) | (rule.isConstexpr ? more : 0);
  case Kind::None: return static_cast<uint32_t>(kind) | (argument->typed ? type : untyped);
  case Kind::Type: return static_cast<uint32_t>(kind) | type;
  case Kind::Descriptor: return static_cast<uint32_t>(kind) | type | argument->descriptor->rank << 16 | more;
  case Kind::String:
  case Kind::Function:
  case Kind::Tuple: return static_cast<uint32_t>(kind) | (argument->typed ? type : untyped) | more;
  }
  return 0xff;
}
/// What follows a head.
inline bool keyHasRest(uint32_t head) { return head >> 31; }
void appendKeyRest(LaunchKey &key, const ParameterRule &rule, const Argument *argument);
/// Both.
void appendKey(LaunchKey &key, const ParameterRule &rule, const Argument *argument);

/// The argument as the code receives it: a scalar of `type` or an address, zero-extended. Throws Error(User) that names `parameter` when it can't be one or
/// does not fit.
uint64_t slotBits(const Argument &argument, DType type, bool isPointer, const std::string &parameter);

/// "*fp32:16, i32, BLOCK=1024, num_warps=4": what the key of a launch says, for people.
std::string specializationText(const std::vector<ParameterRule> &rules, const Argument *const *arguments, const LaunchOptions &options);

/// How an argument reads in a message: "1024", "a pointer to fp32".
std::string describe(const Argument &argument);

} // namespace tk::runtime
