// From a launch's arguments to the key of the code that serves them, and to the bits that this code receives.
//
// The key holds, for every parameter, what compiled code may depend on: its type, whether an integer is 1, whether an integer or an address is divisible by 16,
// and the whole value of compile-time parameters. Two launches with equal keys run the same code. Rules of typing proper live in the front end
// (lang/sema/ParamSpecs.h); the key only has to be at least as fine as they are.
#pragma once
#include "runtime/LaunchKey.h"
#include "runtime/LaunchOptions.h"
#include "tk/argument.h"
#include <iterator>
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

/// One parameter's part of the key is four bytes - kind, type, what is known of the value - of which the highest bit says whether more follow, as the values of
/// compile-time parameters do. No part is a prefix of another.
namespace key {
constexpr uint32_t one = uint32_t(1) << 18, aligned = uint32_t(1) << 19, more = uint32_t(1) << 31;

/// What an argument's kind means for its head.
struct KindFacts {
  uint32_t head;    // what all have
  uint32_t could;   // have, if the value is so and the parameter's rule allows it
  uint32_t untyped; // stands for the type, unless the argument is typed
  bool isInteger = false;
};
constexpr uint32_t anyType = 0xff00;
constexpr KindFacts kinds[] = {
    {0, 0, anyType},                          // None
    {1, one | aligned | more, anyType, true}, // Bool
    {2, one | aligned | more, anyType, true}, // Int
    {2, one | aligned | more, anyType, true}, // UInt: the sign of the C++ type doesn't matter
    {4, more, anyType},                       // Float
    {5, aligned, 0},                          // Pointer
    {6, 0, 0},                                // Type
    {7 | more, 0, anyType},                   // String
    {8 | more, 0, anyType},                   // Function
    {9 | more, 0, anyType},                   // Tuple
    {10 | more, 0, 0}                         // Descriptor
};
static_assert(std::size(kinds) == static_cast<size_t>(Argument::Kind::Descriptor) + 1);
} // namespace key

/// Which facts a parameter's rule lets into its head.
inline uint32_t keyMask(const ParameterRule &rule) {
  return (rule.isConstexpr ? key::more : rule.specialize && rule.foldOne ? key::one : 0) | (rule.specialize && rule.alignment ? key::aligned : 0);
}
/// Without a branch on kinds and values, since launches with many arguments spend their time here.
inline uint32_t keyHead(uint32_t mask, const Argument *argument) {
  using Kind = Argument::Kind;
  if (!argument)
    return 0xff;
  const key::KindFacts &kind = key::kinds[static_cast<size_t>(argument->kind)];
  const auto value = static_cast<int64_t>(argument->bits);
  const uint32_t isHuge = argument->kind == Kind::UInt && value < 0; // beyond i64
  const uint32_t width = isHuge ? 2 : value != static_cast<int32_t>(value);
  const uint32_t known = static_cast<uint32_t>(value == 1) * key::one | static_cast<uint32_t>(value % 16 == 0) * key::aligned | key::more;
  const uint32_t type = static_cast<uint32_t>(argument->type) << 8 | (argument->typed ? 0 : kind.untyped);
  const uint32_t head = kind.head | type | (kind.isInteger ? width << 16 : 0) | (known & kind.could & mask);
  return argument->kind == Kind::Descriptor ? head | argument->descriptor->rank << 16 : head;
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
