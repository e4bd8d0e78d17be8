// What can be done with compile-time values beyond arithmetic: calls of host functions, attributes, methods, subscripts. Used by the host evaluator and by the elaborator alike.
// Every function is empty after an error, with `error` worded for a diagnostic.
#pragma once
#include "lang/sema/ConstValue.h"

namespace tk::lang {

struct ConstKeyword {
  std::string name;
  ConstValue value;
};
struct ConstCall {
  std::vector<ConstValue> args;
  std::vector<ConstKeyword> keywords;
  const ConstValue *keyword(const std::string &name) const {
    for (const ConstKeyword &k : keywords)
      if (k.name == name)
        return &k.value;
    return nullptr;
  }
};

/// Whether a canonical name is a function that HostBuiltins can evaluate (`triton.cdiv`, `math.log2`, `python.max`, `init.randn` ...).
bool isHostBuiltin(const std::string &name);
std::optional<ConstValue> callHostBuiltin(const std::string &name, const ConstCall &call, std::string &error);
bool isInitialiser(const std::string &name);
/// The function of Python's math module called `name` (without "math."), on numbers.
std::optional<ConstValue> callMath(const std::string &name, const ConstCall &call, std::string &error);

/// A data attribute: `x.shape`, `dtype.name`, `t.field`, `c.value`.
std::optional<ConstValue> constAttribute(const ConstValue &object, const std::string &name, std::string &error);
/// Whether `name` is a method of the value (then constMethod calls it).
bool hasConstMethod(const ConstValue &object, const std::string &name);
std::optional<ConstValue> constMethod(const ConstValue &object, const std::string &name, const ConstCall &call, std::string &error);
std::optional<ConstValue> constSubscript(const ConstValue &object, const ConstValue &index, std::string &error);
/// Python's slice; absent bounds are None.
std::optional<ConstValue> constSlice(const ConstValue &object, const ConstValue &lower, const ConstValue &upper, const ConstValue &step, std::string &error);
/// The values that iteration gives: elements of tuples and lists, keys of dicts, characters of strings.
std::optional<std::vector<ConstValue>> constElements(const ConstValue &object, std::string &error);

/// `Config({"BLOCK": 64}, num_warps=4)` is a named tuple: kwargs, num_warps, num_stages, num_ctas, maxnreg, pre_hook, and a dict of the options that were written.
bool isConfig(const ConstValue &value);
constexpr size_t kConfigHook = 5, kConfigGiven = 6;
std::optional<ConstValue> makeConfig(const ConstCall &call, std::string &error);

/// Levels of nested tuples and dicts.
unsigned nestingOf(const ConstValue &value);
constexpr unsigned kMaxConstNesting = 100;

/// The type of a literal: i32, u32, i64 or u64 by value for an integer, fp32 or fp64 for a float, i1 for a bool; empty when there is none.
std::optional<DType> literalType(const ConstValue &value);

} // namespace tk::lang
