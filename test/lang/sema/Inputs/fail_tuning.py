# What can be wrong in @autotune and @heuristics, one a kernel.
import triton
import triton.language as tl


# CHECK: fail_tuning.py:[[@LINE+1]]:26: error: `configs` needs a list of `Config`, found int
@triton.autotune(configs=3, key=["n"])
@triton.jit
def no_list(x, n, BLOCK: tl.constexpr):
    pass


# CHECK: error: `BLOK` in a configuration is neither a parameter of `unknown_name` nor a launch option; did you mean `BLOCK`?
@triton.autotune(configs=[triton.Config({"BLOK": 64})], key=["n"])
@triton.jit
def unknown_name(x, n, BLOCK: tl.constexpr):
    pass


# CHECK: error: launch option `num_warps` of a configuration must be 1, 2, 4, 8, 16 or 32, found 3
@triton.autotune(configs=[triton.Config({"BLOCK": 64}, num_warps=3)], key=["n"])
@triton.jit
def option(x, n, BLOCK: tl.constexpr):
    pass


# CHECK: error: `BLOCK` of a configuration must be a number, a string, a type or a function of this file, found [1, 2]
@triton.autotune(configs=[triton.Config({"BLOCK": [1, 2]})], key=["n"])
@triton.jit
def value(x, n, BLOCK: tl.constexpr):
    pass


# CHECK: error: `reset_to_zero` needs names of parameters, found 1
@triton.autotune(configs=[triton.Config({"BLOCK": 64})], key=["n"], reset_to_zero=[1])
@triton.jit
def no_name(x, n, BLOCK: tl.constexpr):
    pass


# CHECK: error: `restore_value` names `y`, which is no parameter of `no_parameter`
@triton.autotune(configs=[triton.Config({"BLOCK": 64})], key=["n"], restore_value=["y"])
@triton.jit
def no_parameter(x, n, BLOCK: tl.constexpr):
    pass


# CHECK: warning: `pre_hook` is a hook in Python, which only Python can run
@triton.autotune(configs=[triton.Config({"BLOCK": 64}, pre_hook=lambda args: print(args))], key=["n"])
@triton.jit
def hook(x, n, BLOCK: tl.constexpr):
    pass


# CHECK: error: `heuristics` needs a dict of functions by parameter, found 64
@triton.heuristics({"BLOCK": 64})
@triton.jit
def no_function(x, n, BLOCK: tl.constexpr):
    pass
