"""tkc and another LLVM in one process, for each other version that is installed. Argument: libtkc_runtime.so."""
import ctypes as c
import glob
import re
import subprocess
import sys

others = {}
for path in sorted(glob.glob("/usr/lib/*/libLLVM*.so*")):
    if (found := re.search(r"/libLLVM[-.](?:so\.)?([0-9]+)[^/]*$", path)) and found[1] != "22":
        others[int(found[1])] = path
if len(sys.argv) == 2:
    if not others:
        print("skipped: no other version of LLVM is installed here (Debian: libllvm15)")
    sys.exit(max([subprocess.run([sys.executable, __file__, sys.argv[1], str(version)]).returncode for version in sorted(others)], default=0))
version = int(sys.argv[2])
llvm = c.CDLL(others[version], mode=c.RTLD_GLOBAL)


def useLlvm():
    """Makes a module with a function, prints it, frees it: contexts, types, options and streams of the other LLVM."""
    for name in ("LLVMContextCreate", "LLVMModuleCreateWithNameInContext", "LLVMInt32TypeInContext", "LLVMFunctionType", "LLVMAddFunction", "LLVMPrintModuleToString"):
        getattr(llvm, name).restype = c.c_void_p
    llvm.LLVMInitializeX86TargetInfo(), llvm.LLVMInitializeX86Target(), llvm.LLVMInitializeX86TargetMC()
    context = c.c_void_p(llvm.LLVMContextCreate())
    module = c.c_void_p(llvm.LLVMModuleCreateWithNameInContext(b"other", context))
    integer = c.c_void_p(llvm.LLVMInt32TypeInContext(context))
    llvm.LLVMAddFunction(module, b"answer", c.c_void_p(llvm.LLVMFunctionType(integer, None, 0, 0)))
    text = c.cast(c.c_void_p(llvm.LLVMPrintModuleToString(module)), c.c_char_p).value
    llvm.LLVMDisposeModule(module)
    llvm.LLVMContextDispose(context)
    return b"declare i32 @answer()" in text


class Argument(c.Structure):
    _fields_ = [("kind", c.c_uint32), ("typed", c.c_uint32), ("dtype", c.c_uint32), ("memory", c.c_uint32), ("bits", c.c_uint64), ("bytes", c.c_uint64),
                ("device", c.c_void_p), ("name", c.c_char_p), ("text", c.c_char_p), ("elements", c.c_void_p)]


class Grid(c.Structure):
    _fields_ = [("kind", c.c_uint32), ("reserved", c.c_uint32), ("extents", c.c_int64 * 3), ("function", c.c_void_p), ("context", c.c_void_p)]


assert useLlvm()
tk = c.CDLL(sys.argv[1])
tk.tk_pointer.restype = tk.tk_int.restype = Argument
tk.tk_grid_of.restype = Grid
tk.tk_error_message.restype = c.c_char_p
error = c.c_void_p()


def call(function, *arguments):
    if function(*arguments, c.byref(error)):
        sys.exit(tk.tk_error_message(error).decode())


module, kernel, stream, out = c.c_void_p(), c.c_void_p(), c.c_void_p(), c.c_int32()
call(tk.tk_module_from_source, b"def f(out, x):\n    store(out, x * 3)\n", b"f.tk", c.byref(module))
call(tk.tk_module_kernel, module, None, c.byref(kernel))
call(tk.tk_stream_default, c.c_void_p(), c.byref(stream))
one = c.c_int64(1)
call(tk.tk_kernel_launch, kernel, stream, tk.tk_grid_of(one, one, one), (Argument * 2)(tk.tk_pointer(3, c.c_void_p(c.addressof(out))), tk.tk_int(c.c_int64(14))), c.c_size_t(2))
assert useLlvm()
print(f"LLVM {version} and tkc in one process: {out.value}, and LLVM still works")
