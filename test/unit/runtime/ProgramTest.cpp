// The machine of host expressions: Python's arithmetic in 64 bits, errors where Python's integers would go on, and no bytes that do harm.
#include "runtime/program/Program.h"
#include "Catch.h"
#include "runtime/ModuleDescription.h"
#include "runtime/StackProgram.h"
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <random>

using namespace tk;
using namespace tk::runtime;

namespace {
/// Writes programs.
struct Code {
  std::string bytes = std::string(1, TK_PROGRAM_VERSION);
  Code &op(TkProgramOp op) { return bytes += static_cast<char>(op), *this; }
  Code &byte(unsigned value) { return bytes += static_cast<char>(value), *this; }
  Code &half(unsigned value) { return byte(value & 255).byte(value >> 8); }
  Code &word(uint64_t value) {
    for (int i = 0; i < 8; ++i)
      byte(static_cast<unsigned>(value >> (8 * i)) & 255);
    return *this;
  }
  Code &integer(int64_t value) { return op(TkOpInt).word(static_cast<uint64_t>(value)); }
  Code &number(double value) {
    uint64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return op(TkOpFloat).word(bits);
  }
  Code &argument(unsigned index) { return op(TkOpArgument).half(index); }
  Code &push(const TkProgramValue &v) {
    switch (v.kind) {
    case TkValueBool: return op(TkOpBool).byte(v.integer != 0);
    case TkValueInt: return integer(v.integer);
    case TkValueFloat: return number(v.number);
    default: return op(TkOpNone);
    }
  }
  Code &give(unsigned count = 1) { return op(TkOpReturn).byte(count); }
  const uint8_t *data() const { return reinterpret_cast<const uint8_t *>(bytes.data()); }
  TkProgramResult run(TkProgramValue *results, size_t count = 1) const { return tkProgramRun(data(), bytes.size(), nullptr, 0, results, count); }
  bool valid() const { return tkProgramValidate(data(), bytes.size(), nullptr) == TkProgramOk; }
};

TkProgramValue none() { return {TkValueNone, 0, 0}; }
TkProgramValue flag(bool value) { return {TkValueBool, value, 0}; }
TkProgramValue whole(int64_t value) { return {TkValueInt, value, 0}; }
TkProgramValue real(double value) { return {TkValueFloat, 0, value}; }

std::string shown(const TkProgramValue &v) {
  switch (v.kind) {
  case TkValueNone: return "None";
  case TkValueBool: return v.integer ? "True" : "False";
  case TkValueInt: return fmt::format("{}", v.integer);
  case TkValueFloat: return std::isnan(v.number) ? "nan" : fmt::format("{:a}", v.number);
  default: return "?";
  }
}

/// What an operation gives, or its error.
std::string of(TkProgramOp op, const TkProgramValue &a) {
  TkProgramValue value;
  TkProgramResult result = Code().push(a).op(op).give().run(&value);
  return result.status == TkProgramOk ? shown(value) : fmt::format("error {}", static_cast<int>(result.status));
}
std::string of(TkProgramOp op, const TkProgramValue &a, const TkProgramValue &b) {
  TkProgramValue value;
  TkProgramResult result = Code().push(a).push(b).op(op).give().run(&value);
  return result.status == TkProgramOk ? shown(value) : fmt::format("error {}", static_cast<int>(result.status));
}
std::string error(TkProgramStatus status) { return fmt::format("error {}", static_cast<int>(status)); }

constexpr int64_t kMin = INT64_MIN, kMax = INT64_MAX;

/// Integers where it matters.
int64_t anyInteger(std::mt19937_64 &random) {
  switch (random() % 4) {
  case 0: return static_cast<int64_t>(random() % 41) - 20;
  case 1: return static_cast<int64_t>(random());
  case 2: return static_cast<int64_t>((uint64_t(1) << random() % 64) + random() % 3 - 1);
  default: return static_cast<int64_t>(random()) >> random() % 64;
  }
}

using Wide = __int128;
std::string fitted(Wide value) { return value < kMin || value > kMax ? error(TkProgramOverflow) : fmt::format("{}", static_cast<int64_t>(value)); }
Wide floored(Wide a, Wide b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }
} // namespace

TEST_CASE("arithmetic is Python's") {
  CHECK(of(TkOpAdd, whole(2), whole(3)) == "5");
  CHECK(of(TkOpAdd, flag(true), flag(true)) == "2");
  CHECK(of(TkOpSub, whole(2), real(0.5)) == shown(real(1.5)));
  CHECK(of(TkOpDiv, whole(7), whole(2)) == shown(real(3.5)));
  CHECK(of(TkOpDiv, whole(0), whole(-5)) == shown(real(-0.0)));
  CHECK(of(TkOpFloorDiv, whole(-7), whole(2)) == "-4");
  CHECK(of(TkOpFloorDiv, whole(7), whole(-2)) == "-4");
  CHECK(of(TkOpMod, whole(-7), whole(3)) == "2");
  CHECK(of(TkOpMod, whole(7), whole(-3)) == "-2");
  CHECK(of(TkOpMod, whole(kMin), whole(-1)) == "0");
  CHECK(of(TkOpFloorDiv, real(-7.5), real(2)) == shown(real(-4)));
  CHECK(of(TkOpMod, real(-7.5), real(2)) == shown(real(0.5)));
  CHECK(of(TkOpMod, real(1e300), real(7e-300)) == shown(real(std::fmod(1e300, 7e-300))));
  CHECK(of(TkOpMod, real(6), real(-3)) == shown(real(-0.0)));
  CHECK(of(TkOpPow, whole(-2), whole(63)) == fmt::format("{}", kMin));
  CHECK(of(TkOpPow, whole(3), whole(39)) == "4052555153018976267");
  CHECK(of(TkOpPow, whole(0), whole(0)) == "1");
  CHECK(of(TkOpPow, whole(-1), whole(kMax)) == "-1");
  CHECK(of(TkOpLShift, whole(-1), whole(63)) == fmt::format("{}", kMin));
  CHECK(of(TkOpLShift, whole(0), whole(kMax)) == "0");
  CHECK(of(TkOpRShift, whole(-5), whole(1)) == "-3");
  CHECK(of(TkOpRShift, whole(-5), whole(100)) == "-1");
  CHECK(of(TkOpBitAnd, flag(true), flag(false)) == "False");
  CHECK(of(TkOpBitXor, flag(true), whole(3)) == "2");
  CHECK(of(TkOpInvert, flag(true)) == "-2");
  CHECK(of(TkOpNeg, flag(true)) == "-1");
  CHECK(of(TkOpAbs, whole(-3)) == "3");
  CHECK(of(TkOpAbs, real(-0.0)) == shown(real(0.0)));
  CHECK(of(TkOpNot, none()) == "True");
  CHECK(of(TkOpToBool, real(std::nan(""))) == "True");
  CHECK(of(TkOpToInt, real(-2.9)) == "-2");
  CHECK(of(TkOpFloor, real(-2.1)) == "-3");
  CHECK(of(TkOpCeil, real(-2.9)) == "-2");
  CHECK(of(TkOpCeil, real(2.1)) == "3");
  CHECK(of(TkOpCeil, whole(5)) == "5");
  CHECK(of(TkOpNextPowerOf2, whole(-3)) == "1");
  CHECK(of(TkOpNextPowerOf2, whole(1000)) == "1024");
  CHECK(of(TkOpNextPowerOf2, whole(1024)) == "1024");
  CHECK(of(TkOpCdiv, whole(10), whole(3)) == "4");
  CHECK(of(TkOpCdiv, whole(10), whole(-3)) == "-2"); // (10 - 3 - 1) // -3
  CHECK(of(TkOpCdiv, whole(kMax), whole(2)) == fmt::format("{}", kMax / 2 + 1));
  CHECK(of(TkOpCdiv, real(10), whole(4)) == shown(real(3)));
}

TEST_CASE("comparisons are Python's, exact between integers and floats") {
  CHECK(of(TkOpLt, whole((int64_t(1) << 53) + 1), real(0x1p53)) == "False");
  CHECK(of(TkOpGt, whole((int64_t(1) << 53) + 1), real(0x1p53)) == "True");
  CHECK(of(TkOpEq, real(0x1p63), whole(kMax)) == "False");
  CHECK(of(TkOpGt, real(0x1p63), whole(kMax)) == "True");
  CHECK(of(TkOpEq, whole(kMin), real(-0x1p63)) == "True");
  CHECK(of(TkOpEq, whole(1), flag(true)) == "True");
  CHECK(of(TkOpIs, whole(1), flag(true)) == "False");
  CHECK(of(TkOpIs, none(), none()) == "True");
  CHECK(of(TkOpIsNot, whole(0), none()) == "True");
  CHECK(of(TkOpEq, none(), whole(0)) == "False");
  for (TkProgramOp op : {TkOpLt, TkOpLtE, TkOpGt, TkOpGtE, TkOpEq})
    CHECK(of(op, real(std::nan("")), whole(1)) == "False");
  CHECK(of(TkOpNotEq, real(std::nan("")), real(std::nan(""))) == "True");
  CHECK(of(TkOpMax, whole(1), real(1)) == "1");
  CHECK(of(TkOpMax, whole(1), real(2)) == shown(real(2)));
  CHECK(of(TkOpMin, flag(false), whole(0)) == "False");
}

TEST_CASE("what has no result is an error") {
  CHECK(of(TkOpAdd, whole(kMax), whole(1)) == error(TkProgramOverflow));
  CHECK(of(TkOpNeg, whole(kMin)) == error(TkProgramOverflow));
  CHECK(of(TkOpFloorDiv, whole(kMin), whole(-1)) == error(TkProgramOverflow));
  CHECK(of(TkOpPow, whole(2), whole(63)) == error(TkProgramOverflow));
  CHECK(of(TkOpLShift, whole(1), whole(63)) == error(TkProgramOverflow));
  CHECK(of(TkOpLShift, whole(1), whole(kMax)) == error(TkProgramOverflow));
  CHECK(of(TkOpNextPowerOf2, whole((int64_t(1) << 62) + 1)) == error(TkProgramOverflow));
  CHECK(of(TkOpToInt, real(0x1p63)) == error(TkProgramOverflow));
  CHECK(of(TkOpToInt, real(INFINITY)) == error(TkProgramNotFinite));
  for (TkProgramOp op : {TkOpDiv, TkOpFloorDiv, TkOpMod, TkOpCdiv}) {
    CHECK(of(op, whole(1), whole(0)) == error(TkProgramDivisionByZero));
    CHECK(of(op, real(1), real(-0.0)) == error(TkProgramDivisionByZero));
  }
  CHECK(of(TkOpLShift, whole(1), whole(-1)) == error(TkProgramShift));
  CHECK(of(TkOpPow, whole(2), whole(-1)) == error(TkProgramPower));
  CHECK(of(TkOpBitOr, whole(2), real(1)) == error(TkProgramBadOperand));
  CHECK(of(TkOpAdd, none(), whole(1)) == error(TkProgramBadOperand));
  CHECK(of(TkOpLt, none(), whole(1)) == error(TkProgramBadOperand));
  CHECK(of(TkOpNextPowerOf2, flag(true)) == error(TkProgramBadOperand));
}

TEST_CASE("integers agree with 128 bits") {
  std::mt19937_64 random(1);
  for (int i = 0; i < 200000; ++i) {
    int64_t x = anyInteger(random), y = anyInteger(random);
    Wide a = x, b = y;
    INFO(x << " and " << y);
    REQUIRE(of(TkOpAdd, whole(x), whole(y)) == fitted(a + b));
    REQUIRE(of(TkOpSub, whole(x), whole(y)) == fitted(a - b));
    REQUIRE(of(TkOpMul, whole(x), whole(y)) == fitted(a * b));
    if (y == 0)
      continue;
    REQUIRE(of(TkOpFloorDiv, whole(x), whole(y)) == fitted(floored(a, b)));
    REQUIRE(of(TkOpMod, whole(x), whole(y)) == fitted(a - floored(a, b) * b));
    std::string rounded = of(TkOpCdiv, whole(x), whole(y));
    REQUIRE((rounded == fitted(floored(a + b - 1, b)) || (x == kMin && y < 0)));
    // 64 bits of mantissa hold both operands exactly, and the quotient's error there is below what the second rounding could turn, save near ties.
    TkProgramValue quotient;
    REQUIRE(Code().integer(x).integer(y).op(TkOpDiv).give().run(&quotient).status == TkProgramOk);
    long double exact = static_cast<long double>(x) / static_cast<long double>(y);
    long double distance = std::fabs(static_cast<long double>(quotient.number) - exact);
    double up = std::nextafter(quotient.number, INFINITY), down = std::nextafter(quotient.number, -INFINITY);
    REQUIRE(distance <= std::fabs(static_cast<long double>(up) - exact));
    REQUIRE(distance <= std::fabs(static_cast<long double>(down) - exact));
  }
}

TEST_CASE("float remainders agree with libm") {
  std::mt19937_64 random(2);
  auto any = [&] {
    uint64_t bits = random();
    if (random() % 4 == 0)
      bits &= (uint64_t(1) << 63) | ((uint64_t(1) << 54) - 1); // among the smallest
    double value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  };
  for (int i = 0; i < 200000; ++i) {
    double a = any(), b = any();
    if (b == 0 || std::isnan(a) || std::isnan(b))
      continue;
    double expected = std::fmod(a, b);
    if (expected != 0 && (expected < 0) != (b < 0))
      expected += b;
    else if (expected == 0)
      expected = std::copysign(0.0, b);
    INFO(fmt::format("{:a} % {:a}", a, b));
    REQUIRE(of(TkOpMod, real(a), real(b)) == shown(real(expected)));
  }
}

TEST_CASE("jumps, copies and several results") {
  // n if n > 3 else -n, as a program over argument 0
  Code choice;
  choice.argument(0).integer(3).op(TkOpGt).op(TkOpJumpIfNot).half(23).argument(0).op(TkOpJump).half(27).argument(0).op(TkOpNeg).give();
  REQUIRE(choice.valid());
  for (int64_t n : {5, 2}) {
    TkProgramValue in = whole(n), out;
    REQUIRE(tkProgramRun(choice.data(), choice.bytes.size(), &in, 1, &out, 1).status == TkProgramOk);
    CHECK(shown(out) == (n > 3 ? "5" : "-2"));
  }
  TkProgramValue out[3];
  Code several; // 1 2 3 -> slide one below two -> 2 3, copy the lower: 2 3 2
  several.integer(1).integer(2).integer(3).op(TkOpSlide).byte(1).byte(2).op(TkOpPick).byte(1).give(3);
  REQUIRE(several.run(out, 3).status == TkProgramOk);
  CHECK(shown(out[0]) + shown(out[1]) + shown(out[2]) == "232");
  CHECK(several.run(out, 2).status == TkProgramTooMany);
}

TEST_CASE("arguments are taken as they are, and named in errors") {
  Argument n(7), big(UINT64_MAX), text("fast");
  float value = 0;
  Argument array(&value);
  n.name = "n";
  const Argument *list[] = {&n, &big, &text, &array, nullptr};
  std::vector<ParameterDescription> parameters(5);
  for (size_t i = 0; i < 5; ++i)
    parameters[i].name = std::string(1, "nbtap"[i]);
  std::string why;
  auto eval = [&](const Code &code) {
    std::optional<Argument> result = run(StackProgram(code.bytes), parameters, list, 5, why);
    return result ? describe(*result) : why;
  };
  CHECK(eval(Code().argument(0).integer(2).op(TkOpMul).give()) == "14");
  CHECK(eval(Code().argument(1).integer(2).op(TkOpMul).give()) == "cannot compute with `b`, which is 18446744073709551615");
  CHECK(eval(Code().argument(2).op(TkOpNeg).give()) == "cannot compute with `t`, which is the string `fast`");
  CHECK(eval(Code().argument(2).give()) == "the string `fast`");
  CHECK(eval(Code().argument(3).op(TkOpNone).op(TkOpIsNot).give()) == "true");
  CHECK(eval(Code().argument(3).op(TkOpToBool).give()) == "true");
  CHECK(eval(Code().integer(1).argument(3).op(TkOpLt).give()) == "cannot compute with `a`, which is a pointer to fp32");
  CHECK(eval(Code().argument(4).give()) == "needs `p`, which is not given");
  CHECK(eval(Code().argument(400).give()) == "needs an argument, which is not given");
  CHECK(eval(Code().argument(0).integer(0).op(TkOpMod).give()) == "divides by zero");
  CHECK(eval(Code().argument(0).argument(0).give(2)) == "gives 2 values instead of one");
  CHECK(eval(Code()) == "is no valid program");
  StackProgram twice(Code().argument(0).integer(kMax).op(TkOpMul).give().bytes), other(Code().argument(4).give().bytes);
  CHECK(!twice.run(list, 5, why));
  CHECK(why == "gives an integer beyond 64 bits");
  CHECK(!other.run(list, 4, why));
  CHECK(why == "needs argument 5, which is not given");
}

TEST_CASE("what is no program is refused") {
  CHECK(Code().integer(1).give().valid());
  CHECK_FALSE(Code().valid());                                                 // ends nowhere
  CHECK_FALSE(Code().integer(1).valid());                                      // likewise
  CHECK_FALSE(Code().give(0).valid());                                         // gives nothing
  CHECK_FALSE(Code().give().valid());                                          // nothing there
  CHECK_FALSE(Code().integer(1).op(TkOpAdd).give().valid());                   // too few
  CHECK_FALSE(Code().integer(1).op(TkOpPick).byte(1).give().valid());          // below the bottom
  CHECK_FALSE(Code().integer(1).op(TkOpSlide).byte(1).byte(1).give().valid()); // likewise
  CHECK_FALSE(Code().op(TkOpBool).byte(2).give().valid());                     // neither
  CHECK_FALSE(Code().argument(TK_PROGRAM_ARGUMENTS).give().valid());           // beyond
  CHECK_FALSE(Code().op(TkOpCount).give().valid());                            // no instruction
  CHECK_FALSE(Code().integer(1).give().integer(1).give().valid());             // never reached
  CHECK_FALSE(Code().integer(1).op(TkOpJump).half(1).give().valid());          // backwards
  CHECK_FALSE(Code().integer(1).op(TkOpJump).half(10).give().valid());         // to itself
  CHECK_FALSE(Code().integer(1).op(TkOpJump).half(14).give().valid());         // into an instruction
  CHECK_FALSE(Code().integer(1).op(TkOpJump).half(15).give().valid());         // to the end
  CHECK(Code().integer(1).op(TkOpJump).half(13).give().valid());
  CHECK_FALSE(Code().integer(1).integer(1).op(TkOpJumpIfNot).half(23).op(TkOpNone).give().valid()); // depths differ
  CHECK_FALSE(Code().op(TkOpBool).byte(1).op(TkOpJumpIfNot).half(9).op(TkOpNone).give(1).op(TkOpNone).op(TkOpNone).give(2).valid());
  Code deep;
  for (int i = 0; i < TK_PROGRAM_STACK; ++i)
    deep.op(TkOpNone);
  CHECK(Code(deep).give().valid());
  CHECK_FALSE(deep.op(TkOpNone).give().valid());
  std::string longest(TK_PROGRAM_CODE + 1, '\0');
  CHECK(tkProgramValidate(reinterpret_cast<const uint8_t *>(longest.data()), longest.size(), nullptr) == TkProgramInvalid);
  CHECK(tkProgramValidate(nullptr, 0, nullptr) == TkProgramInvalid);
}

namespace {
TkProgramValue anyArgument(std::mt19937_64 &random) {
  TkProgramValue value{static_cast<TkProgramKind>(random() % (TkValueText + 1)), anyInteger(random), 0};
  if (value.kind == TkValueBool)
    value.integer &= 1;
  uint64_t bits = random();
  std::memcpy(&value.number, &bits, sizeof bits);
  return value;
}
} // namespace

TEST_CASE("random bytes do no harm") {
  std::mt19937_64 random(3);
  uint64_t ran = 0, finished = 0;
  for (int i = 0; i < 1000000; ++i) {
    // Bytes that are mostly instructions, so that some of them are programs.
    std::string code(1, TK_PROGRAM_VERSION);
    for (size_t n = random() % 24; n > 0; --n)
      code += static_cast<char>(random() % 8 ? random() % (TkOpCount + 1) : random() % 256);
    if (random() % 2)
      code += {static_cast<char>(TkOpReturn), 1};
    std::vector<uint8_t> exact(code.begin(), code.end()); // on the heap, so that reads past the end are found
    TkProgramValue arguments[3] = {anyArgument(random), anyArgument(random), anyArgument(random)}, results[4];
    TkProgramResult result = tkProgramRun(exact.data(), exact.size(), arguments, 3, results, 4);
    ran += result.status != TkProgramInvalid, finished += result.status == TkProgramOk;
  }
  CHECK(ran > 1000);
  CHECK(finished > 100);
}

TEST_CASE("random programs end") {
  std::mt19937_64 random(4);
  uint64_t finished = 0;
  for (int i = 0; i < 1000000; ++i) {
    Code code;
    unsigned depth = 0;
    static const unsigned taken[] = {
#define OP(name, taken, left, operands) taken,
        TK_PROGRAM_OPS(OP)
#undef OP
    };
    for (size_t n = 1 + random() % 30; n > 0; --n) {
      auto op = static_cast<TkProgramOp>(random() % TkOpReturn);
      if (op == TkOpArgument) {
        code.argument(static_cast<unsigned>(random() % 4)), ++depth;
      } else if (depth < taken[op] + 1u || op <= TkOpFloat) {
        code.push(random() % 3 ? whole(anyInteger(random)) : anyArgument(random)), ++depth;
      } else if (op == TkOpPick) {
        code.op(op).byte(static_cast<unsigned>(random() % depth)), ++depth;
      } else if (op == TkOpSlide) {
        unsigned removed = static_cast<unsigned>(random() % depth);
        code.op(op).byte(removed).byte(static_cast<unsigned>(random() % (depth - removed + 1))), depth -= removed;
      } else if (op == TkOpJumpAnd || op == TkOpJumpOr) { // over one instruction that restores the depth
        code.op(op).half(static_cast<unsigned>(code.bytes.size()) + 3).op(TkOpNone);
      } else if (op == TkOpJumpIfNot) { // over one that leaves it
        code.op(op).half(static_cast<unsigned>(code.bytes.size()) + 3).op(TkOpNot), --depth;
      } else if (op == TkOpJump) {
        code.op(op).half(static_cast<unsigned>(code.bytes.size()) + 2);
      } else {
        code.op(op), depth -= taken[op] - 1u;
      }
    }
    code.give(static_cast<unsigned>(1 + random() % depth));
    TkProgramValue arguments[4], results[TK_PROGRAM_STACK];
    for (TkProgramValue &argument : arguments)
      argument = anyArgument(random);
    REQUIRE(code.valid());
    finished += tkProgramRun(code.data(), code.bytes.size(), arguments, 4, results, TK_PROGRAM_STACK).status == TkProgramOk;
  }
  CHECK(finished > 10000);
}
