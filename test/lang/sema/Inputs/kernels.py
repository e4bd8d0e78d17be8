# A file of host code with kernels in it.
import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice

try:
    import triton_extension as extension
except ImportError:
    extension = None

DEVICE = torch.device("cuda")
LOG2E = tl.constexpr(1.44269504)
WIDTH = 4


def configurations():
    return [triton.Config({"BLOCK": block}, num_warps=warps) for block in (64, 128) for warps in (4, 8)]


@triton.jit
def activation(x):
    return libdevice.tanh(x) * LOG2E


@triton.autotune(configs=configurations(), key=["n"])
@triton.heuristics({"EVEN": lambda args: args["n"] % args["BLOCK"] == 0})
@triton.jit(do_not_specialize=["n"])
def kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr, EVEN: tl.constexpr, ACTIVATION: tl.constexpr = activation):
    """Documentation."""
    offsets = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    if EVEN:
        x = tl.load(x_ptr + offsets)
    else:
        x = tl.load(x_ptr + offsets, mask=offsets < n, other=0.0)
    y = ACTIVATION(x.to(tl.float32))
    if y_ptr.dtype.element_ty == tl.float16:
        y = y.to(tl.float16)
    tl.store(y_ptr + offsets, y, mask=offsets < n)


@triton.jit
def wrong(x_ptr: "*fp32"):
    tl.store(x_ptr, WIDTH)
    tl.store(x_ptr, DEVICE)
    x = load(x_ptr)


def launch(x):
    y = torch.empty_like(x)
    kernel[lambda meta: (triton.cdiv(x.numel(), meta["BLOCK"]),)](x, y, x.numel(), **{})
    return y


if __name__ == "__main__":
    launch(torch.randn(1000, device=DEVICE))
