// Defaults of the sanitizers, part of every program of the `asan` preset.
//
// LLVM's allocators poison what they have not handed out, from code in headers; the other half of that code is in the shared LLVM, which is not instrumented and so
// never takes the poison away. Without that, memory of LLVM and of our own is checked as usual, but not memory inside those allocators.
extern "C" const char *__asan_default_options();
extern "C" const char *__asan_default_options() { return "allow_user_poisoning=0:detect_leaks=0:detect_stack_use_after_return=0:allocator_may_return_null=1"; }
extern "C" const char *__ubsan_default_options();
extern "C" const char *__ubsan_default_options() { return "print_stacktrace=1"; }
