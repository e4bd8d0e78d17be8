# Files tune in many ways; what only the host can know is no error.
# CHECK-NOT: error
# CHECK: tuning.py: 3 kernels, 0 elaborated for 0 specializations
import itertools
import os

import torch
import triton
import triton.language as tl

WARPS = [4, 8] if os.environ.get("FEWER") is None else [4]
CONFIGS = []
for block, warps in itertools.product([64, 128], WARPS):
    CONFIGS.append(triton.Config({"BLOCK": block}, num_warps=warps))


def is_cuda():
    return triton.runtime.driver.active.get_current_target().backend == "cuda"


def get_configs():
    if is_cuda():
        return CONFIGS + [triton.Config({"BLOCK": 256}, num_warps=8, num_stages=s) for s in (2, 3)]
    return [triton.Config({"BLOCK": 256, "waves_per_eu": 2})]


def keep(configs, named_args, **kwargs):
    return [config for config in configs if config.kwargs["BLOCK"] <= named_args["n"]] or configs[:1]


@triton.autotune(configs=get_configs(), key=["n"], prune_configs_by={"early_config_prune": keep}, reset_to_zero=["y", None])
@triton.heuristics({"EVEN": lambda args: args["n"] % args["BLOCK"] == 0})
@triton.jit
def accumulate(x, y, n, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(y + offsets, tl.load(x + offsets, mask=None if EVEN else offsets < n), mask=offsets < n)


@triton.heuristics({"BLOCK": lambda args: triton.next_power_of_2(args["n"])})
@triton.autotune([triton.Config({}, num_warps=w, pre_hook=lambda args: args["y"].zero_()) for w in WARPS], key=[])
@triton.jit
def by_heuristics(x, y, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(y + offsets, tl.load(x + offsets, mask=offsets < n), mask=offsets < n)


@triton.autotune(configs=[triton.Config({"BLOCK": b}) for b in torch.cuda.get_device_properties(0)], key=["n"])
@triton.jit
def by_host(x, n, BLOCK: tl.constexpr):
    tl.store(x + tl.arange(0, BLOCK), n)
