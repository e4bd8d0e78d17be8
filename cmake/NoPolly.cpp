// Stands for Polly, which the packaged LLVM's link-time optimizer names and the linker that we call never comes to: it gets no bitcode.
#include <cstdlib>

extern "C" [[noreturn]] void noPolly() __asm__("_Z18getPollyPluginInfov");
extern "C" void noPolly() { std::abort(); }
