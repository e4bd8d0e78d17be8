// The linker's code starts every target of the LLVM that it was built for, as linking of bitcode may need them; we give it objects only. These functions take
// the place of the start of each target that tkc has no code generator for: they would not be there in a static binary, and where LLVM is shared they would
// change its list of targets while other threads read it. A target that is missing here shows as an undefined symbol (static) or costs nothing (shared).
#define OTHER_TARGET(name)                              \
  extern "C" void LLVMInitialize##name##TargetInfo();   \
  extern "C" void LLVMInitialize##name##Target();       \
  extern "C" void LLVMInitialize##name##TargetMC();     \
  extern "C" void LLVMInitialize##name##AsmPrinter();   \
  extern "C" void LLVMInitialize##name##AsmParser();    \
  extern "C" void LLVMInitialize##name##TargetInfo() {} \
  extern "C" void LLVMInitialize##name##Target() {}     \
  extern "C" void LLVMInitialize##name##TargetMC() {}   \
  extern "C" void LLVMInitialize##name##AsmPrinter() {} \
  extern "C" void LLVMInitialize##name##AsmParser() {}

OTHER_TARGET(AArch64)
OTHER_TARGET(ARM)
OTHER_TARGET(AVR)
OTHER_TARGET(BPF)
OTHER_TARGET(Hexagon)
OTHER_TARGET(Lanai)
OTHER_TARGET(LoongArch)
OTHER_TARGET(M68k)
OTHER_TARGET(MSP430)
OTHER_TARGET(Mips)
OTHER_TARGET(PowerPC)
OTHER_TARGET(RISCV)
OTHER_TARGET(SPIRV)
OTHER_TARGET(Sparc)
OTHER_TARGET(SystemZ)
OTHER_TARGET(VE)
OTHER_TARGET(WebAssembly)
OTHER_TARGET(XCore)
OTHER_TARGET(Xtensa)
