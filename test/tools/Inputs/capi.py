"""The C API from Python by ctypes: what a binding for another language does. Argument: libtkc_runtime.so. Prints `N passed, N failed`."""
import ctypes as c
import sys
import threading


class Argument(c.Structure):
    _fields_ = [("kind", c.c_uint32), ("typed", c.c_uint32), ("dtype", c.c_uint32), ("memory", c.c_uint32), ("bits", c.c_uint64), ("bytes", c.c_uint64),
                ("device", c.c_void_p), ("name", c.c_char_p), ("text", c.c_char_p), ("elements", c.c_void_p)]


class Device(c.Structure):
    _fields_ = [("implementation", c.c_void_p)]


GRID_FUNCTION = c.CFUNCTYPE(c.c_int, c.c_void_p, c.POINTER(c.c_int64), c.c_void_p, c.POINTER(c.c_void_p))


class Grid(c.Structure):
    _fields_ = [("kind", c.c_uint32), ("reserved", c.c_uint32), ("x", c.c_int64), ("y", c.c_int64), ("z", c.c_int64), ("function", GRID_FUNCTION),
                ("context", c.c_void_p)]


tk = c.CDLL(sys.argv[1])
for name, result, *parameters in [
    ("tk_error_message", c.c_char_p, c.c_void_p), ("tk_error_free", None, c.c_void_p), ("tk_error_kind", c.c_int, c.c_void_p), ("tk_version", c.c_char_p),
    ("tk_abi_version", c.c_uint32), ("tk_pointer", Argument, c.c_int, c.c_void_p), ("tk_int", Argument, c.c_int64), ("tk_meta", Argument, c.c_char_p, c.c_int64),
    ("tk_grid_of", Grid, c.c_int64, c.c_int64, c.c_int64), ("tk_grid_call", Grid, GRID_FUNCTION, c.c_void_p), ("tk_grid_of_kernel", Grid),
    ("tk_kernel_name", c.c_char_p, c.c_void_p), ("tk_device_host", Device), ("tk_module_free", None, c.c_void_p), ("tk_kernel_free", None, c.c_void_p),
    ("tk_stream_free", None, c.c_void_p), ("tk_launch_value", c.c_int, c.c_void_p, c.c_char_p, c.POINTER(c.c_int64), c.POINTER(c.c_void_p)),
    ("tk_array_new", c.c_int, Device, c.c_int, c.POINTER(c.c_int64), c.c_size_t, c.c_void_p, c.c_void_p), ("tk_array_to_dlpack", c.c_int, c.c_void_p, c.c_void_p, c.c_void_p),
    ("tk_array_data", c.c_void_p, c.c_void_p), ("tk_from_dlpack", c.c_int, c.c_void_p, c.POINTER(Argument), c.c_void_p),
    ("tk_kernel_launch", c.c_int, c.c_void_p, c.c_void_p, Grid, c.POINTER(Argument), c.c_size_t, c.c_void_p),
    ("tk_module_from_source", c.c_int, c.c_char_p, c.c_char_p, c.c_void_p, c.c_void_p), ("tk_module_kernel", c.c_int, c.c_void_p, c.c_char_p, c.c_void_p, c.c_void_p),
    ("tk_stream_default", c.c_int, Device, c.c_void_p, c.c_void_p),
]:
    function = getattr(tk, name)
    function.restype, function.argtypes = result, parameters

I32, F32 = 3, 16


class TkError(Exception):
    def __init__(self, kind, text):
        super().__init__(text)
        self.kind = kind


def call(function, *arguments):
    """A call that can fail; gives what the function makes, if its last parameter but one is a place for it."""
    error = c.c_void_p()
    status = function(*arguments, c.byref(error))
    if status:
        text = tk.tk_error_message(error).decode()
        kind = tk.tk_error_kind(error)
        tk.tk_error_free(error)
        raise TkError(kind, text)


def make(function, *arguments):
    result = c.c_void_p()
    call(function, *arguments, c.byref(result))
    return result


passed = failed = 0


def check(condition, what):
    global passed, failed
    passed, failed = passed + bool(condition), failed + (not condition)
    if not condition:
        print("does not hold:", what)


def fails(kind, text, function, *arguments):
    try:
        function(*arguments)
    except TkError as error:
        check(error.kind == kind and text in str(error), f"{kind} with `{text}`, found {error.kind} with `{error}`")
    else:
        check(False, f"fails with `{text}`")


SOURCE = b"""
@tk.grid(cdiv(n, BLOCK))
def vector_add(x, y, out, n, BLOCK: constexpr):
    i = program_id(0) * BLOCK + arange(0, BLOCK)
    mask = i < n
    store(out + i, load(x + i, mask=mask) + load(y + i, mask=mask), mask=mask)
"""

check(tk.tk_abi_version() == 0 and tk.tk_version().count(b".") == 2, "versions")
module = make(tk.tk_module_from_source, SOURCE, b"vector_add.tk")
kernel = make(tk.tk_module_kernel, module, None)
tk.tk_module_free(module)
stream = make(tk.tk_stream_default, tk.tk_device_host())
check(tk.tk_kernel_name(kernel) == b"vector_add", "the kernel's name")


def add(n, block, grid):
    x = (c.c_float * n)(*range(n))
    y = (c.c_float * n)(*(2 * i for i in range(n)))
    out = (c.c_float * n)()
    arguments = (Argument * 5)(tk.tk_pointer(F32, c.addressof(x)), tk.tk_pointer(F32, c.addressof(y)), tk.tk_pointer(F32, c.addressof(out)), tk.tk_int(n),
                               tk.tk_meta(b"BLOCK", block))
    call(tk.tk_kernel_launch, kernel, stream, grid, arguments, 5)
    return list(out) == [3 * i for i in range(n)]


check(add(1000, 256, tk.tk_grid_of(4, 1, 1)), "sums")
check(add(77, 16, tk.tk_grid_of_kernel()), "sums on the kernel's own grid")


@GRID_FUNCTION
def blocks(values, extents, context, error):
    block = c.c_int64()
    status = tk.tk_launch_value(values, b"BLOCK", c.byref(block), error)
    extents[0] = -(-500 // block.value) if not status else 0
    return status


check(add(500, 64, tk.tk_grid_call(blocks, None)), "sums on a grid that is asked for")

fails(1, "wrong.tk:2", lambda: make(tk.tk_module_from_source, b"def f(x):\n  store(x, (1)\n", b"wrong.tk"))
fails(1, "`kernel` is null", lambda: call(tk.tk_kernel_launch, None, stream, tk.tk_grid_of(1, 1, 1), None, 0))
fails(1, "`BLOCK`", lambda: call(tk.tk_kernel_launch, kernel, stream, tk.tk_grid_of(1, 1, 1), (Argument * 4)(*[tk.tk_int(4)] * 4), 4))

# Threads that compile and launch at once.
results = []
threads = [threading.Thread(target=lambda k=k: results.append(all(add(300 + k, 1 << (4 + k % 4), tk.tk_grid_of(20, 1, 1)) for _ in range(10)))) for k in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
check(results == [True] * 8, "threads")

# An array through a DLPack capsule, as Python's libraries hand them to each other.
new, get = c.pythonapi.PyCapsule_New, c.pythonapi.PyCapsule_GetPointer
new.restype, new.argtypes = c.py_object, [c.c_void_p, c.c_char_p, c.c_void_p]
get.restype, get.argtypes = c.c_void_p, [c.py_object, c.c_char_p]
array = make(tk.tk_array_new, tk.tk_device_host(), I32, (c.c_int64 * 1)(6), 1)
(c.c_int32 * 6).from_address(tk.tk_array_data(array))[:] = [1, 2, 3, 4, 5, 6]
capsule = new(make(tk.tk_array_to_dlpack, array).value, b"dltensor", None)
tensor = get(capsule, b"dltensor")
x, out = Argument(), (c.c_int32 * 6)()
call(tk.tk_from_dlpack, tensor, c.byref(x))
call(tk.tk_kernel_launch, kernel, stream, tk.tk_grid_of(1, 1, 1), (Argument * 5)(x, x, tk.tk_pointer(I32, c.addressof(out)), tk.tk_int(6), tk.tk_meta(b"BLOCK", 8)), 5)
check(list(out) == [2, 4, 6, 8, 10, 12], "sums of a DLPack tensor")
c.CFUNCTYPE(None, c.c_void_p)(c.c_void_p.from_address(tensor + 56).value)(tensor)  # its deleter

tk.tk_kernel_free(kernel)
tk.tk_stream_free(stream)
print(f"{passed} passed, {failed} failed")
sys.exit(failed != 0)
