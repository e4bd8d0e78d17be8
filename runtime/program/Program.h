/* The machine that runs a kernel file's host expressions: a grid, a heuristic, a predicate of a launch.
 *
 * A program is a string of bytes that computes with Python's meaning on a stack of values: None, booleans, integers and floats. Integers are 64 bits wide and
 * never wrap around: a result beyond them is an error, since Python's integers would go on. Jumps only go forward, so every program ends, and everything is
 * checked before the first instruction runs, so no string of bytes can do harm. Plain C with nothing but memory in it: precompiled objects carry this file too.
 *
 * The bytes: a version, then instructions of one byte each with their operands, little-endian, without padding:
 *
 *     n, BLOCK -> cdiv(n, BLOCK)       01  04 0000  04 0100  21  2d 01
 *                                      version, argument 0, argument 1, cdiv, return 1
 *
 * All functions are thread-safe and allocate nothing.
 */
#ifndef TK_RUNTIME_PROGRAM_PROGRAM_H
#define TK_RUNTIME_PROGRAM_PROGRAM_H
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
  TK_PROGRAM_VERSION = 1,
  TK_PROGRAM_STACK = 64,      /* values */
  TK_PROGRAM_CODE = 8192,     /* bytes of the longest program */
  TK_PROGRAM_ARGUMENTS = 4096 /* the highest argument's index lies below */
};

/* TK_PROGRAM_OP(name, values taken, values left, bytes of operands). `pick`, `slide` and `return` take more than stands here, see Program.c. */
#define TK_PROGRAM_OPS(OP)                                                                      \
  OP(None, 0, 1, 0)      /* push None */                                                        \
  OP(Bool, 0, 1, 1)      /* push a boolean: 0 or 1 */                                           \
  OP(Int, 0, 1, 8)       /* push an integer */                                                  \
  OP(Float, 0, 1, 8)     /* push a float, its bits */                                           \
  OP(Argument, 0, 1, 2)  /* push the argument of this index */                                  \
  OP(Pick, 0, 1, 1)      /* push a copy of the value so many below the top; 0 is the top */     \
  OP(Slide, 0, 0, 2)     /* remove so many values (1st byte) below the so many topmost (2nd) */ \
  OP(Jump, 0, 0, 2)      /* go on at this byte of the program */                                \
  OP(JumpIfNot, 1, 0, 2) /* take a value; jump when it is false */                              \
  OP(JumpAnd, 1, 0, 2)   /* jump when the top is false and keep it, else take it: `and` */      \
  OP(JumpOr, 1, 0, 2)    /* jump when the top is true and keep it, else take it: `or` */        \
  OP(Add, 2, 1, 0)                                                                              \
  OP(Sub, 2, 1, 0)                                                                              \
  OP(Mul, 2, 1, 0)                                                                              \
  OP(Div, 2, 1, 0) /* a float, rounded once */                                                  \
  OP(FloorDiv, 2, 1, 0)                                                                         \
  OP(Mod, 2, 1, 0) /* has the sign of the divisor */                                            \
  OP(Pow, 2, 1, 0) /* of integers, to no negative power */                                      \
  OP(LShift, 2, 1, 0)                                                                           \
  OP(RShift, 2, 1, 0)                                                                           \
  OP(BitAnd, 2, 1, 0)                                                                           \
  OP(BitOr, 2, 1, 0)                                                                            \
  OP(BitXor, 2, 1, 0)                                                                           \
  OP(Eq, 2, 1, 0)                                                                               \
  OP(NotEq, 2, 1, 0)                                                                            \
  OP(Lt, 2, 1, 0)                                                                               \
  OP(LtE, 2, 1, 0)                                                                              \
  OP(Gt, 2, 1, 0)                                                                               \
  OP(GtE, 2, 1, 0)                                                                              \
  OP(Is, 2, 1, 0) /* same kind and same value */                                                \
  OP(IsNot, 2, 1, 0)                                                                            \
  OP(Min, 2, 1, 0)  /* of two: the second when it is less */                                    \
  OP(Max, 2, 1, 0)  /* of two: the second when it is greater */                                 \
  OP(Cdiv, 2, 1, 0) /* (a + b - 1) // b */                                                      \
  OP(Neg, 1, 1, 0)                                                                              \
  OP(Plus, 1, 1, 0)                                                                             \
  OP(Invert, 1, 1, 0)                                                                           \
  OP(Not, 1, 1, 0)                                                                              \
  OP(Abs, 1, 1, 0)                                                                              \
  OP(NextPowerOf2, 1, 1, 0) /* 1 for what is below */                                           \
  OP(ToInt, 1, 1, 0)        /* towards zero */                                                  \
  OP(ToFloat, 1, 1, 0)                                                                          \
  OP(ToBool, 1, 1, 0)                                                                           \
  OP(Floor, 1, 1, 0)  /* an integer */                                                          \
  OP(Ceil, 1, 1, 0)   /* an integer */                                                          \
  OP(Return, 0, 0, 1) /* end with so many results, the topmost values */

enum TkProgramOp {
#define OP(name, taken, left, operands) TkOp##name,
  TK_PROGRAM_OPS(OP)
#undef OP
      TkOpCount
};

typedef enum TkProgramKind {
  TkValueMissing, /* an argument that is not known: an error where it is used */
  TkValueNone,
  TkValueBool,
  TkValueInt,
  TkValueFloat,
  TkValueOther, /* an array, a dtype, a function: true and not None, and nothing else can be done with it */
  TkValueText   /* a string or tuple: not None, and nothing else can be done with it */
} TkProgramKind;

typedef struct TkProgramValue {
  TkProgramKind kind;
  int64_t integer; /* Bool: 0 or 1; Int; Other and Text: the index of the argument, filled in by the machine */
  double number;   /* Float */
} TkProgramValue;

typedef enum TkProgramStatus {
  TkProgramOk,
  TkProgramInvalid,         /* these bytes are no program */
  TkProgramMissingArgument, /* `argument` is used and not known */
  TkProgramBadArgument,     /* `argument` is no number and is used as one */
  TkProgramBadOperand,      /* None or a float where there can be none */
  TkProgramDivisionByZero,
  TkProgramOverflow,  /* an integer beyond 64 bits */
  TkProgramShift,     /* by a negative count */
  TkProgramPower,     /* of a float, or to a negative power: left to the front end */
  TkProgramNotFinite, /* an integer from infinity or NaN */
  TkProgramTooMany    /* more results than asked for */
} TkProgramStatus;

typedef struct TkProgramResult {
  TkProgramStatus status;
  unsigned argument; /* of MissingArgument, BadArgument */
  unsigned count;    /* how many results there are */
} TkProgramResult;

/* Whether the bytes are a program, run on whatever arguments: TkProgramOk or TkProgramInvalid. `results` (may be null) gets the number of results. */
TkProgramStatus tkProgramValidate(const uint8_t *code, size_t size, unsigned *results);

/* Runs a program on `argumentCount` arguments; those beyond are missing. At most `resultCount` results are written. */
TkProgramResult tkProgramRun(const uint8_t *code, size_t size, const TkProgramValue *arguments, size_t argumentCount, TkProgramValue *results,
                             size_t resultCount);

/* Likewise with arguments that are fetched when the program needs them; `fetch` must be callable for every index below TK_PROGRAM_ARGUMENTS. */
typedef TkProgramValue (*TkProgramFetch)(const void *context, unsigned index);
TkProgramResult tkProgramRunFetching(const uint8_t *code, size_t size, TkProgramFetch fetch, const void *context, TkProgramValue *results, size_t resultCount);

#ifdef __cplusplus
}
#endif
#endif
