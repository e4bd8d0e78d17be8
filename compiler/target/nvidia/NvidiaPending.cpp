// Instructions that are being written.
#include "compiler/target/nvidia/NvidiaInstructions.h"
using namespace llvm;
namespace tk::nvidia {
Value *Instructions::atomicUpdate(IRBuilder<> &, const lower::AtomicAccess &, tt::RMWOp, Value *, std::string &error) { return error = "no atomics yet", nullptr; }
Value *Instructions::atomicSwap(IRBuilder<> &, const lower::AtomicAccess &, Value *, Value *, std::string &error) { return error = "no atomics yet", nullptr; }
} // namespace tk::nvidia
