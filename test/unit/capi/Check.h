// What the C tests need of a test framework: cases that are listed in Cases.def, checks that count, and the same last line as the other unit tests have.
#ifndef TKC_TEST_CAPI_CHECK_H
#define TKC_TEST_CAPI_CHECK_H
#include <tk/capi.h>

// Counts, and says where and what when it does not hold.
void check(int holds, const char *what, const char *file, int line);
#define CHECK(condition) check((condition) != 0, #condition, __FILE__, __LINE__)

// That a call succeeded, with its message where it did not. Takes the error.
void checkOk(tk_status status, tk_error *error, const char *what, const char *file, int line);
#define OK(call) checkOk((call), error, #call, __FILE__, __LINE__)

// That a call failed in this way with a message that holds `text`. Takes the error, and sets it to NULL.
void checkFails(tk_status status, tk_status expected, tk_error **error, const char *text, const char *what, const char *file, int line);
#define FAILS(call, kind, text) checkFails((call), (kind), &error, (text), #call, __FILE__, __LINE__)

// A kernel of one of the sources below, whose module is freed already.
tk_kernel *kernelOf(const char *source, const char *name);
tk_stream *hostStream(void);

extern const char vectorAdd[];

#define CASE(name) void name(void);
#include "Cases.def"
#undef CASE

#endif
