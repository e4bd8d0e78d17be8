# Calls a function of a shared library by its name: python3 ctypes_call.py LIBRARY
import ctypes
import sys


class Stream(ctypes.Structure):
    _fields_ = [("device", ctypes.c_int), ("handle", ctypes.c_void_p)]


library = ctypes.CDLL(sys.argv[1])
library.tk_aot_last_error.restype = ctypes.c_char_p
numbers = (ctypes.c_float * 100)(*range(100))
scale = library.first
scale.argtypes = [Stream, ctypes.c_void_p, ctypes.c_int32, ctypes.c_float]
print(scale(Stream(1, None), numbers, 100, 2.0), numbers[99])
print(scale(Stream(1, None), ctypes.addressof(numbers) + 1, 100, 2.0), library.tk_aot_last_error().decode())
