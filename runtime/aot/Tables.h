/* What tkc writes into an object for each C function, and the launcher (Launcher.c) reads: constant tables in the C layout of x86-64. The writer is
 * runtime/jit/aot/ObjectWriter.cpp; a change here is a change there. An object carries the launcher that goes with its tables, so neither needs a version.
 *
 * A function is one kernel of a source file with one list of C parameters. Its variants are what it was compiled for: a signature each, the strongest first. A variant
 * has code for one or more targets.
 */
#ifndef TK_RUNTIME_AOT_TABLES_H
#define TK_RUNTIME_AOT_TABLES_H
#include "runtime/aot/Types.h"
#include "runtime/program/Program.h"

enum { TK_AOT_PARAMETERS = 256 }; /* the most that a kernel may have */

/* How a parameter is passed in C. Values are 64 bits: integers and bits zero-extended, floats as their bits. */
enum TkAotKind {
  TkAotBaked, /* not passed: a constant in every variant */
  TkAotPointer,
  TkAotSigned,
  TkAotUnsigned,
  TkAotBool,
  TkAotFloat,
  TkAotDouble,
  TkAotBits /* a narrow float, by its bits */
};

/* One parameter of the kernel, passed or not. */
typedef struct TkAotParameter {
  const char *name;
  uint8_t kind;
  uint8_t bytes;   /* of the value in C */
  uint8_t element; /* Pointer: bytes of what it points to, of which the address must be a multiple */
  uint8_t unused[5];
} TkAotParameter;

enum TkAotTest {
  TkAotEquals,       /* the value is `value`, extended as the parameter's kind says */
  TkAotDivisibleBy16,
  TkAotNotNull,      /* where another variant is for a null pointer, the kernel's None */
  TkAotFitsSigned,   /* the value fits into `bytes` bytes */
  TkAotFitsUnsigned
};
typedef struct TkAotCondition {
  uint16_t parameter;
  uint8_t test;
  uint8_t bytes;
  uint32_t unused;
  int64_t value;
} TkAotCondition;

/* One slot of the entry point (runtime/KernelAbi.h). */
typedef struct TkAotSlot {
  uint16_t parameter;
  uint16_t bytes; /* of the value: the rest of the slot is zero */
} TkAotSlot;

/* What the CPU must have, as bits of TkAotCode.needs. */
enum TkAotCpuNeed { TkAotCpuV3 = 1, TkAotCpuV4 = 2, TkAotCpuAvxVnni = 4, TkAotCpuAvx512Vnni = 8, TkAotCpuAvx512Bf16 = 16 };

typedef struct TkAotCode {
  const char *target; /* "sm_90a" */
  const void *image;  /* CPU: the entry point; CUDA: a cubin, or PTX with a zero behind it */
  const char *entry;  /* CUDA: the entry point's name */
  const TkAotSlot *slots;
  uint64_t arenaBytes; /* CPU */
  uint32_t slotCount;
  uint32_t needs;                         /* CPU: TkAotCpuNeed; CUDA: ten times the compute capability */
  uint32_t threads, cluster, sharedBytes; /* CUDA */
  uint8_t device;                         /* tk_aot_device */
  uint8_t isExact;                        /* CUDA: for this compute capability alone */
  uint8_t isPtx;
  uint8_t spins; /* CPU */
} TkAotCode;

typedef struct TkAotVariant {
  const char *text; /* the signature */
  const TkAotCondition *conditions;
  const TkProgramValue *constants; /* one a parameter, for the grid's program; Missing: the value that is passed */
  const TkAotCode *codes;          /* better ones before others of the same device */
  void **loaded;                   /* the launcher's, null at first */
  uint32_t conditionCount, codeCount;
} TkAotVariant;

/* A program over the kernel's parameters (runtime/program/Program.h) that gives one number. */
typedef struct TkAotProgram {
  const uint8_t *code;
  uint64_t bytes;
} TkAotProgram;

typedef struct TkAotKernel {
  const char *name; /* of the C function */
  const TkAotParameter *parameters;
  const TkAotVariant *variants;
  const TkAotProgram *grid; /* of one to three extents; none: the caller gives them */
  uint32_t parameterCount, variantCount, gridCount, unused;
} TkAotKernel;

/* What the typed functions call. `grid` has three extents or is null where the table has programs. `values` has one a parameter. */
tk_aot_status tk_aot_launch(const TkAotKernel *kernel, uint32_t device, void *handle, const uint32_t *grid, const uint64_t *values);
tk_aot_status tk_aot_prepare(const TkAotKernel *kernel, uint32_t device, void *handle);
tk_aot_status tk_aot_unload(const TkAotKernel *kernel);

#endif
