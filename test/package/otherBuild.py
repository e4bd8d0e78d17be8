"""The runtime beside a libtkc_jit of another build: refused each time it is asked for. Arguments: the libraries' folder, the header with the build's identity, a folder."""
import ctypes as c
import os
import re
import shutil
import sys

libraries, header, folder = sys.argv[1:]
identity = re.search(r'"(.+)"', open(header).read())[1].encode()
os.makedirs(folder, exist_ok=True)
shutil.copy(f"{libraries}/libtkc_jit.so.0", folder)
code = open(f"{libraries}/libtkc_runtime.so.0", "rb").read()
assert identity in code
open(f"{folder}/libtkc_runtime.so.0", "wb").write(code.replace(identity, identity[::-1]))

tk = c.CDLL(f"{folder}/libtkc_runtime.so.0")
tk.tk_error_message.restype = c.c_char_p
for _ in range(2):
    error, module = c.c_void_p(), c.c_void_p()
    status = tk.tk_module_from_source(b"def f(x):\n    store(x, (1)\n", b"f.tk", c.byref(module), c.byref(error))
    print(status, tk.tk_error_message(error).decode())
