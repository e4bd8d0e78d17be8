/* See Program.h. Nothing of libm is used, so that objects which carry this file link with libc alone. */
#include "runtime/program/Program.h"
#include <string.h>

typedef TkProgramValue Value;
typedef TkProgramStatus Status;

static const uint8_t taken[TkOpCount] = {
#define OP(name, taken, left, operands) taken,
    TK_PROGRAM_OPS(OP)
#undef OP
};
static const uint8_t left[TkOpCount] = {
#define OP(name, taken, left, operands) left,
    TK_PROGRAM_OPS(OP)
#undef OP
};
static const uint8_t operands[TkOpCount] = {
#define OP(name, taken, left, operands) operands,
    TK_PROGRAM_OPS(OP)
#undef OP
};

static unsigned read16(const uint8_t *at) { return (unsigned)at[0] | (unsigned)at[1] << 8; }
static uint64_t read64(const uint8_t *at) {
  uint64_t value = 0;
  for (int i = 7; i >= 0; --i)
    value = value << 8 | at[i];
  return value;
}

/* ---- validation ---- */

/* How many values one instruction needs on the stack, and how many are there after it when it doesn't jump; 0 for operands that can't be. */
static int effect(const uint8_t *at, unsigned depth, unsigned *needed, unsigned *after) {
  const uint8_t *operand = at + 1;
  *needed = taken[*at];
  *after = depth - taken[*at] + left[*at];
  switch (*at) {
  case TkOpBool: return operand[0] <= 1;
  case TkOpArgument: return read16(operand) < TK_PROGRAM_ARGUMENTS;
  case TkOpPick: *needed = operand[0] + 1u; return 1;
  case TkOpSlide:
    *needed = (unsigned)operand[0] + operand[1];
    *after = depth - operand[0];
    return 1;
  case TkOpReturn: *needed = operand[0]; return operand[0] > 0;
  default: return 1;
  }
}

TkProgramStatus tkProgramValidate(const uint8_t *code, size_t size, unsigned *results) {
  enum { Unseen = 0xff };
  uint8_t expected[TK_PROGRAM_CODE]; /* the depth with which a jump arrives at a byte */
  size_t at = 1, waiting = 0;        /* `waiting`: bytes that jumps lead to and that no instruction has started at yet */
  unsigned depth = 0, count = 0;
  int reached = 1;
  if (!code || size < 1 || size > TK_PROGRAM_CODE || code[0] != TK_PROGRAM_VERSION)
    return TkProgramInvalid;
  memset(expected, Unseen, size);
  while (at < size) {
    unsigned op = code[at], needed, after;
    if (op >= TkOpCount || size - at <= operands[op])
      return TkProgramInvalid;
    if (expected[at] != Unseen) {
      if (reached && depth != expected[at])
        return TkProgramInvalid;
      depth = expected[at], reached = 1, --waiting;
    }
    if (!reached || !effect(code + at, depth, &needed, &after) || needed > depth || after > TK_PROGRAM_STACK)
      return TkProgramInvalid;
    if (op == TkOpJump || op == TkOpJumpIfNot || op == TkOpJumpAnd || op == TkOpJumpOr) {
      unsigned target = read16(code + at + 1), arriving = op == TkOpJumpAnd || op == TkOpJumpOr ? depth : after;
      if (target <= at + 2 || target >= size)
        return TkProgramInvalid;
      waiting += expected[target] == Unseen;
      if (expected[target] != Unseen && expected[target] != arriving)
        return TkProgramInvalid;
      expected[target] = (uint8_t)arriving;
    } else if (op == TkOpReturn) {
      if (count && count != code[at + 1])
        return TkProgramInvalid;
      count = code[at + 1];
    }
    reached = op != TkOpJump && op != TkOpReturn;
    depth = after;
    at += 1u + operands[op];
  }
  if (reached || waiting)
    return TkProgramInvalid;
  if (results)
    *results = count;
  return TkProgramOk;
}

/* ---- Python's arithmetic ---- */

static Value none(void) { return (Value){TkValueNone, 0, 0}; }
static Value boolean(int value) { return (Value){TkValueBool, value != 0, 0}; }
static Value integer(int64_t value) { return (Value){TkValueInt, value, 0}; }
static Value real(double value) { return (Value){TkValueFloat, 0, value}; }
static int isInteger(Value v) { return v.kind == TkValueBool || v.kind == TkValueInt; }
static int isNumber(Value v) { return isInteger(v) || v.kind == TkValueFloat; }
static int isOpaque(Value v) { return v.kind == TkValueOther || v.kind == TkValueText; }
static double doubleOf(Value v) { return v.kind == TkValueFloat ? v.number : (double)v.integer; }
static uint64_t bitsOf(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}
static double fromBits(uint64_t bits) {
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}
static int isNegative(double value) { return bitsOf(value) >> 63 != 0; }
static double absolute(double value) { return fromBits(bitsOf(value) & ~(UINT64_C(1) << 63)); }
static int isFinite(double value) { return (bitsOf(value) >> 52 & 0x7ff) != 0x7ff; }
static double zeroLike(double value) { return isNegative(value) ? -0.0 : 0.0; }

static double floorOf(double value) {
  double whole;
  if (!(absolute(value) < 0x1p52)) /* whole already, or NaN */
    return value;
  whole = (double)(int64_t)value;
  return whole > value ? whole - 1 : whole;
}

static Status toInteger(double value, Value *result) {
  if (!isFinite(value))
    return TkProgramNotFinite;
  if (!(value >= -0x1p63 && value < 0x1p63))
    return TkProgramOverflow;
  *result = integer((int64_t)value);
  return TkProgramOk;
}

/* Whether a value counts as true. */
static Status truth(Value v, int *result) {
  switch (v.kind) {
  case TkValueNone: *result = 0; return TkProgramOk;
  case TkValueFloat: *result = v.number != 0; return TkProgramOk;
  case TkValueOther: *result = 1; return TkProgramOk;
  case TkValueText:
  case TkValueMissing: return TkProgramBadArgument;
  default: *result = v.integer != 0; return TkProgramOk;
  }
}

static uint64_t magnitude(int64_t value) { return value < 0 ? 0 - (uint64_t)value : (uint64_t)value; }

/* a / b rounded once: where a double doesn't hold both exactly, 63 or 64 bits of the quotient and a sticky bit are. */
static double divide(int64_t a, int64_t b) {
  uint64_t n = magnitude(a), d = magnitude(b), quotient, rest;
  double result, scale = 1;
  if (n <= UINT64_C(1) << 53 && d <= UINT64_C(1) << 53)
    return (double)a / (double)b;
  quotient = n / d, rest = n % d;
  while (n && quotient < UINT64_C(1) << 62) {
    int carry = rest >= d - rest;
    rest = carry ? rest - (d - rest) : rest + rest;
    quotient = quotient << 1 | (uint64_t)carry;
    scale *= 0.5;
  }
  result = (double)(quotient | (rest != 0)) * scale;
  return (a < 0) != (b < 0) ? -result : result;
}

static Status floorDivide(int64_t a, int64_t b, int64_t *quotient, int64_t *remainder) {
  if (b == 0)
    return TkProgramDivisionByZero;
  if (b == -1) { /* INT64_MIN / -1 has no place, its remainder does */
    *remainder = 0;
    return __builtin_sub_overflow((int64_t)0, a, quotient) ? TkProgramOverflow : TkProgramOk;
  }
  *quotient = a / b, *remainder = a % b;
  if (*remainder && (a < 0) != (b < 0))
    --*quotient, *remainder += b;
  return TkProgramOk;
}

/* The 53 bits of a number's mantissa; the exponent of those below the normal ones goes below 1. */
static uint64_t normalised(uint64_t bits, int *exponent) {
  const uint64_t top = UINT64_C(1) << 52;
  if (*exponent)
    return (bits & (top - 1)) | top;
  for (*exponent = 1; bits < top; --*exponent)
    bits <<= 1;
  return bits;
}

/* C's fmod of |x| and |y|, exactly; y is not 0. */
static double remainderOf(double x, double y) {
  uint64_t a = bitsOf(absolute(x)), b = bitsOf(absolute(y)), mask = (UINT64_C(1) << 52) - 1;
  int exponentA = (int)(a >> 52), exponentB = (int)(b >> 52);
  if (!isFinite(x) || y != y)
    return fromBits(UINT64_C(0x7ff8) << 48);
  if (a < b)
    return fromBits(a);
  a = normalised(a, &exponentA), b = normalised(b, &exponentB);
  for (; exponentA > exponentB; --exponentA) {
    a = a >= b ? a - b : a;
    a <<= 1;
  }
  a = a >= b ? a - b : a;
  if (a == 0)
    return 0;
  for (; a <= mask; --exponentA)
    a <<= 1;
  return fromBits(exponentA > 0 ? (a & mask) | (uint64_t)exponentA << 52 : a >> (1 - exponentA));
}

static Status floatDivision(unsigned op, double a, double b, Value *result) {
  double remainder, quotient, whole;
  if (b == 0)
    return TkProgramDivisionByZero;
  remainder = remainderOf(a, b);
  remainder = isNegative(a) ? -remainder : remainder;
  quotient = (a - remainder) / b;
  if (remainder != 0 && (remainder < 0) != (b < 0))
    remainder += b, quotient -= 1;
  else if (remainder == 0)
    remainder = zeroLike(b);
  whole = floorOf(quotient); /* `quotient` is nearly whole already */
  if (quotient - whole > 0.5)
    whole += 1;
  *result = real(op == TkOpMod ? remainder : quotient == 0 ? zeroLike(a / b) : whole);
  return TkProgramOk;
}

static Status power(int64_t base, int64_t exponent, Value *result) {
  int64_t product = 1;
  if (exponent < 0)
    return TkProgramPower;
  if (base == 0 || base == 1 || base == -1) {
    *result = integer(exponent == 0 ? 1 : base < 0 && exponent % 2 == 0 ? 1 : base);
    return TkProgramOk;
  }
  while (exponent) {
    if ((exponent & 1) && __builtin_mul_overflow(product, base, &product))
      return TkProgramOverflow;
    exponent >>= 1;
    if (exponent && __builtin_mul_overflow(base, base, &base))
      return TkProgramOverflow;
  }
  *result = integer(product);
  return TkProgramOk;
}

static Status shift(unsigned op, int64_t value, int64_t count, Value *result) {
  int64_t shifted;
  if (count < 0)
    return TkProgramShift;
  if (op == TkOpRShift) {
    *result = integer(value >> (count > 63 ? 63 : count));
    return TkProgramOk;
  }
  if (value != 0 && count > 63)
    return TkProgramOverflow;
  shifted = value == 0 ? 0 : (int64_t)((uint64_t)value << count);
  if (value != 0 && shifted >> count != value)
    return TkProgramOverflow;
  *result = integer(shifted);
  return TkProgramOk;
}

static Status integerBinary(unsigned op, int64_t a, int64_t b, Value *result) {
  int64_t value = 0, rest = 0;
  Status status = TkProgramOk;
  switch (op) {
  case TkOpAdd: status = __builtin_add_overflow(a, b, &value) ? TkProgramOverflow : TkProgramOk; break;
  case TkOpSub: status = __builtin_sub_overflow(a, b, &value) ? TkProgramOverflow : TkProgramOk; break;
  case TkOpMul: status = __builtin_mul_overflow(a, b, &value) ? TkProgramOverflow : TkProgramOk; break;
  case TkOpDiv:
    if (b == 0)
      return TkProgramDivisionByZero;
    *result = real(divide(a, b));
    return TkProgramOk;
  case TkOpFloorDiv: status = floorDivide(a, b, &value, &rest); break;
  case TkOpMod:
    status = floorDivide(a, b, &rest, &value);
    status = status == TkProgramOverflow ? TkProgramOk : status;
    break;
  case TkOpCdiv: /* rounds up for b > 0; for b < 0 it is floor((a - 1) / b) + 1 */
    if (b < 0 && __builtin_sub_overflow(a, (int64_t)1, &a))
      return TkProgramOverflow;
    status = floorDivide(a, b, &value, &rest);
    if (status == TkProgramOk && (b < 0 || rest) && __builtin_add_overflow(value, (int64_t)1, &value))
      status = TkProgramOverflow;
    break;
  case TkOpPow: return power(a, b, result);
  case TkOpLShift:
  case TkOpRShift: return shift(op, a, b, result);
  case TkOpBitAnd: value = a & b; break;
  case TkOpBitOr: value = a | b; break;
  case TkOpBitXor: value = a ^ b; break;
  default: return TkProgramBadOperand;
  }
  *result = integer(value);
  return status;
}

static Status arithmetic(unsigned op, Value a, Value b, Value *result) {
  double x, y;
  Status status;
  if (isInteger(a) && isInteger(b)) {
    status = integerBinary(op, a.integer, b.integer, result);
    if (a.kind == TkValueBool && b.kind == TkValueBool && (op == TkOpBitAnd || op == TkOpBitOr || op == TkOpBitXor))
      result->kind = TkValueBool;
    return status;
  }
  if (!isNumber(a) || !isNumber(b))
    return TkProgramBadOperand;
  x = doubleOf(a), y = doubleOf(b);
  switch (op) {
  case TkOpAdd: *result = real(x + y); return TkProgramOk;
  case TkOpSub: *result = real(x - y); return TkProgramOk;
  case TkOpMul: *result = real(x * y); return TkProgramOk;
  case TkOpDiv: *result = real(y == 0 ? 0 : x / y); return y == 0 ? TkProgramDivisionByZero : TkProgramOk;
  case TkOpFloorDiv:
  case TkOpMod: return floatDivision(op, x, y, result);
  case TkOpCdiv:
    status = arithmetic(TkOpAdd, a, b, result);
    if (status == TkProgramOk)
      status = arithmetic(TkOpSub, *result, integer(1), result);
    return status == TkProgramOk ? arithmetic(TkOpFloorDiv, *result, b, result) : status;
  case TkOpPow: return TkProgramPower;
  default: return TkProgramBadOperand;
  }
}

/* ---- comparisons ---- */

static int order64(int64_t a, int64_t b) { return (a > b) - (a < b); }

/* -1, 0, 1, or 2 where there is no order; exact, also between integers and floats. */
static int orderNumbers(Value a, Value b) {
  double y;
  int result;
  if (isInteger(a) && isInteger(b))
    return order64(a.integer, b.integer);
  if (a.kind == TkValueFloat && b.kind == TkValueFloat)
    return a.number < b.number ? -1 : a.number > b.number ? 1 : a.number == b.number ? 0 : 2;
  if (a.kind == TkValueFloat) {
    result = orderNumbers(b, a);
    return result == 2 ? 2 : -result;
  }
  y = b.number;
  if (y != y)
    return 2;
  if (y >= 0x1p63 || y < -0x1p63)
    return y > 0 ? -1 : 1;
  result = order64(a.integer, (int64_t)y);
  y -= (double)(int64_t)y;
  return result ? result : y > 0 ? -1 : y < 0;
}

static Status equality(unsigned op, Value a, Value b, int *result) {
  int exact = op == TkOpIs || op == TkOpIsNot;
  if (isOpaque(a) && isOpaque(b)) {
    *result = op == TkOpEq || op == TkOpIs;
    return a.integer == b.integer ? TkProgramOk : TkProgramBadArgument; /* two arguments may be the same thing or not */
  }
  if (!exact && isNumber(a) && isNumber(b))
    *result = orderNumbers(a, b) == 0;
  else if (a.kind != b.kind)
    *result = 0;
  else
    *result = a.kind == TkValueFloat ? bitsOf(a.number) == bitsOf(b.number) : a.integer == b.integer;
  *result ^= op == TkOpNotEq || op == TkOpIsNot;
  return TkProgramOk;
}

static Status compare(unsigned op, Value a, Value b, Value *result) {
  int holds = 0, order;
  if (op == TkOpEq || op == TkOpNotEq || op == TkOpIs || op == TkOpIsNot) {
    Status status = equality(op, a, b, &holds);
    *result = boolean(holds);
    return status;
  }
  if (!isNumber(a) || !isNumber(b))
    return TkProgramBadOperand;
  order = orderNumbers(a, b);
  switch (op) {
  case TkOpMin: *result = orderNumbers(b, a) == -1 ? b : a; return TkProgramOk;
  case TkOpMax: *result = orderNumbers(b, a) == 1 ? b : a; return TkProgramOk;
  case TkOpLt: holds = order == -1; break;
  case TkOpLtE: holds = order == -1 || order == 0; break;
  case TkOpGt: holds = order == 1; break;
  default: holds = order == 1 || order == 0; break;
  }
  *result = boolean(holds);
  return TkProgramOk;
}

/* ---- one operand ---- */

static Status unary(unsigned op, Value v, Value *result) {
  int64_t value = 0;
  int holds = 0;
  Status status;
  if (op == TkOpNot || op == TkOpToBool) {
    status = truth(v, &holds);
    *result = boolean(op == TkOpNot ? !holds : holds);
    return status;
  }
  if (!isNumber(v))
    return TkProgramBadOperand;
  if (v.kind == TkValueFloat)
    switch (op) {
    case TkOpNeg: *result = real(-v.number); return TkProgramOk;
    case TkOpPlus:
    case TkOpToFloat: *result = v; return TkProgramOk;
    case TkOpAbs: *result = real(absolute(v.number)); return TkProgramOk;
    case TkOpToInt: return toInteger(v.number, result);
    case TkOpFloor: return toInteger(floorOf(v.number), result);
    case TkOpCeil: return toInteger(-floorOf(-v.number), result);
    default: return TkProgramBadOperand;
    }
  value = v.integer;
  switch (op) {
  case TkOpNeg:
  case TkOpAbs:
    if ((op == TkOpNeg || value < 0) && __builtin_sub_overflow((int64_t)0, value, &value))
      return TkProgramOverflow;
    break;
  case TkOpInvert: value = ~value; break;
  case TkOpToFloat: *result = real((double)value); return TkProgramOk;
  case TkOpNextPowerOf2: {
    uint64_t next = 1;
    if (v.kind == TkValueBool)
      return TkProgramBadOperand;
    while (value > 0 && next < (uint64_t)value)
      next <<= 1;
    if (next > INT64_MAX)
      return TkProgramOverflow;
    value = (int64_t)next;
    break;
  }
  default: break; /* plus, int, floor, ceil */
  }
  *result = integer(value);
  return TkProgramOk;
}

/* ---- running ---- */

static TkProgramResult failed(Status status, Value a, Value b) {
  TkProgramResult result = {status, 0, 0};
  int opaque = isOpaque(a) || isOpaque(b);
  if ((status == TkProgramBadOperand || status == TkProgramBadArgument) && opaque) {
    result.status = TkProgramBadArgument;
    result.argument = (unsigned)(isOpaque(a) ? a.integer : b.integer);
  }
  return result;
}

static TkProgramResult finish(const Value *top, unsigned count, TkProgramValue *results, size_t resultCount) {
  TkProgramResult result = {TkProgramOk, 0, count};
  if (count > resultCount)
    result.status = TkProgramTooMany;
  else
    memcpy(results, top - count, count * sizeof *results);
  return result;
}

TkProgramResult tkProgramRunFetching(const uint8_t *code, size_t size, TkProgramFetch fetch, const void *context, TkProgramValue *results, size_t resultCount) {
  Value stack[TK_PROGRAM_STACK];
  Value *top = stack; /* one past the topmost value */
  const uint8_t *at = code + 1;
  TkProgramResult wrong = {tkProgramValidate(code, size, NULL), 0, 0};
  if (wrong.status != TkProgramOk)
    return wrong;
  for (;;) {
    unsigned op = *at;
    const uint8_t *operand = at + 1, *next = operand + operands[op];
    Status status = TkProgramOk;
    int holds = 0;
    switch (op) {
    case TkOpNone: *top++ = none(); break;
    case TkOpBool: *top++ = boolean(operand[0]); break;
    case TkOpInt: *top++ = integer((int64_t)read64(operand)); break;
    case TkOpFloat: *top++ = real(fromBits(read64(operand))); break;
    case TkOpArgument:
      *top = fetch(context, read16(operand));
      if (top->kind == TkValueMissing) {
        wrong.status = TkProgramMissingArgument, wrong.argument = read16(operand);
        return wrong;
      }
      if (isOpaque(*top))
        top->integer = read16(operand);
      ++top;
      break;
    case TkOpPick:
      *top = top[-1 - operand[0]];
      ++top;
      break;
    case TkOpSlide:
      memmove(top - operand[0] - operand[1], top - operand[1], operand[1] * sizeof *top);
      top -= operand[0];
      break;
    case TkOpJump: next = code + read16(operand); break;
    case TkOpJumpIfNot:
    case TkOpJumpAnd:
    case TkOpJumpOr:
      status = truth(top[-1], &holds);
      if (status != TkProgramOk)
        return failed(status, top[-1], top[-1]);
      if (op == TkOpJumpIfNot) {
        --top;
        next = holds ? next : code + read16(operand);
      } else if (holds == (op == TkOpJumpOr)) {
        next = code + read16(operand);
      } else {
        --top;
      }
      break;
    case TkOpReturn: return finish(top, operand[0], results, resultCount);
    default:
      if (taken[op] == 1) {
        Value v = top[-1];
        status = unary(op, v, top - 1);
        if (status != TkProgramOk)
          return failed(status, v, v);
      } else {
        Value a = top[-2], b = top[-1];
        int compares = (op >= TkOpEq && op <= TkOpIsNot) || op == TkOpMin || op == TkOpMax;
        status = compares ? compare(op, a, b, top - 2) : arithmetic(op, a, b, top - 2);
        if (status != TkProgramOk)
          return failed(status, a, b);
        --top;
      }
    }
    at = next;
  }
}

typedef struct {
  const TkProgramValue *values;
  size_t count;
} Arguments;

static TkProgramValue fetchArgument(const void *context, unsigned index) {
  const Arguments *arguments = context;
  TkProgramValue missing = {TkValueMissing, 0, 0};
  return index < arguments->count ? arguments->values[index] : missing;
}

TkProgramResult tkProgramRun(const uint8_t *code, size_t size, const TkProgramValue *arguments, size_t argumentCount, TkProgramValue *results,
                             size_t resultCount) {
  Arguments all = {arguments, argumentCount};
  return tkProgramRunFetching(code, size, fetchArgument, &all, results, resultCount);
}
