"""The peers of bench-gpu: Triton kernels and PyTorch's calls, measured on request.

Requests come as lines on standard input, answers go out as lines, `ok ...` or `error TEXT`:
  versions                                    what is installed, in words
  work sets=2 launches=10 kind=... dtype=...  makes the buffers of a row
  prepare SIDE NAME=VALUE ...                 compiles and records the launches with a configuration
  time SIDE REPLAYS                           median seconds of a launch
  check SIDE                                  relative error against float64
  done                                        frees everything of the row
The kernels are of the plain kind, one tile a program and pointers. Values of inputs are those of Values.h.
"""
import math
import statistics
import sys

import torch
import triton
import triton.language as tl

DTYPES = {"fp32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}


@triton.jit
def add_kernel(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    tl.store(out + i, tl.load(x + i, mask=inside) + tl.load(y + i, mask=inside), mask=inside)


@triton.jit
def softmax_kernel(out, x, out_stride, x_stride, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    inside = i < cols
    v = tl.load(x + row * x_stride + i, mask=inside, other=-float("inf")).to(tl.float32)
    e = tl.exp(v - tl.max(v, axis=0))
    tl.store(out + row * out_stride + i, e / tl.sum(e, axis=0), mask=inside)


@triton.jit
def layer_norm_kernel(x, out, weight, bias, stride, cols, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    inside = i < cols
    v = tl.load(x + row * stride + i, mask=inside, other=0.0).to(tl.float32)
    mean = tl.sum(v, axis=0) / cols
    d = tl.where(inside, v - mean, 0.0)
    rstd = 1 / tl.sqrt(tl.sum(d * d, axis=0) / cols + eps)
    w = tl.load(weight + i, mask=inside).to(tl.float32)
    b = tl.load(bias + i, mask=inside).to(tl.float32)
    tl.store(out + row * stride + i, d * rstd * w + b, mask=inside)


@triton.jit
def matmul_kernel(a, b, c, M, N, K, sam, sak, sbk, sbn, scm, scn, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP: tl.constexpr):
    pid = tl.program_id(0)
    tiles_m = tl.cdiv(M, BLOCK_M)
    tiles_n = tl.cdiv(N, BLOCK_N)
    per_group = GROUP * tiles_n
    first = (pid // per_group) * GROUP
    height = min(tiles_m - first, GROUP)
    tile_m = first + (pid % per_group) % height
    tile_n = (pid % per_group) // height
    m = (tile_m * BLOCK_M + tl.arange(0, BLOCK_M)) % M
    n = (tile_n * BLOCK_N + tl.arange(0, BLOCK_N)) % N
    k = tl.arange(0, BLOCK_K)
    pa = a + m[:, None] * sam + k[None, :] * sak
    pb = b + k[:, None] * sbk + n[None, :] * sbn
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for step in range(0, tl.cdiv(K, BLOCK_K)):
        left = K - step * BLOCK_K
        ta = tl.load(pa, mask=k[None, :] < left, other=0.0)
        tb = tl.load(pb, mask=k[:, None] < left, other=0.0)
        acc = tl.dot(ta, tb, acc)
        pa += BLOCK_K * sak
        pb += BLOCK_K * sbk
    om = tile_m * BLOCK_M + tl.arange(0, BLOCK_M)
    on = tile_n * BLOCK_N + tl.arange(0, BLOCK_N)
    tl.store(c + om[:, None] * scm + on[None, :] * scn, acc.to(c.dtype.element_ty), mask=(om[:, None] < M) & (on[None, :] < N))


@triton.jit
def attend(acc, total, top, q, pk, pv, stride, lo, hi, m, scale, N, D: tl.constexpr, BLOCK_N: tl.constexpr, MASK: tl.constexpr):
    n = tl.arange(0, BLOCK_N)
    d = tl.arange(0, D)
    for start in range(lo, hi, BLOCK_N):
        start = tl.multiple_of(start, BLOCK_N)
        key = tl.load(pk + (start + n)[None, :] * stride + d[:, None])
        s = tl.dot(q, key)
        if MASK:
            s = tl.where(m[:, None] >= (start + n)[None, :], s * scale, -1.0e6)
            new = tl.maximum(top, tl.max(s, 1))
            p = tl.math.exp2(s - new[:, None])
        else:
            new = tl.maximum(top, tl.max(s, 1) * scale)
            p = tl.math.exp2(s * scale - new[:, None])
        fade = tl.math.exp2(top - new)
        total = total * fade + tl.sum(p, 1)
        acc = acc * fade[:, None]
        value = tl.load(pv + (start + n)[:, None] * stride + d[None, :])
        acc = tl.dot(p.to(value.dtype), value, acc)
        top = new
    return acc, total, top


@triton.jit
def attention_kernel(q, k, v, out, scale, stride, N, D: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, CAUSAL: tl.constexpr):
    # N is a multiple of both block sizes; scale includes log2(e).
    first = tl.program_id(0) * BLOCK_M
    base = tl.program_id(1).to(tl.int64) * N * D
    m = first + tl.arange(0, BLOCK_M)
    d = tl.arange(0, D)
    tq = tl.load(q + base + m[:, None] * stride + d[None, :])
    top = tl.full([BLOCK_M], -float("inf"), tl.float32)
    total = tl.zeros([BLOCK_M], tl.float32)
    acc = tl.zeros([BLOCK_M, D], tl.float32)
    if CAUSAL:
        acc, total, top = attend(acc, total, top, tq, k + base, v + base, stride, 0, first, m, scale, N, D, BLOCK_N, False)
        acc, total, top = attend(acc, total, top, tq, k + base, v + base, stride, first, first + BLOCK_M, m, scale, N, D, BLOCK_N, True)
    else:
        acc, total, top = attend(acc, total, top, tq, k + base, v + base, stride, 0, N, m, scale, N, D, BLOCK_N, False)
    tl.store(out + base + m[:, None] * stride + d[None, :], (acc / total[:, None]).to(out.dtype.element_ty))


def values(shape, seed, dtype):
    low = 0xFFFFFFFF
    flat = torch.empty(math.prod(shape), dtype=dtype, device="cuda")
    step = 1 << 25
    for begin in range(0, flat.numel(), step):
        h = torch.arange(begin, min(begin + step, flat.numel()), dtype=torch.int64, device="cuda")
        h = (h * 0x9E3779B9 + seed * 0x85EBCA6B) & low
        h = ((h ^ (h >> 16)) * 0x7FEB352D) & low
        h = ((h ^ (h >> 15)) * 0x846CA68B) & low
        h = h ^ (h >> 16)
        total = (h & 255) + ((h >> 8) & 255) + ((h >> 16) & 255) + (h >> 24)
        flat[begin : begin + h.numel()] = ((total - 510).to(torch.float32) / 128).to(dtype)
    return flat.view(shape)


class Row:
    """The buffers of a row, and what each side launches on one set of them."""

    def __init__(self, settings):
        self.s = s = settings
        self.sets = int(s["sets"])
        self.launches = int(s["launches"])
        self.dtype = t = DTYPES[s["dtype"]]
        self.sides = {}
        kind = s["kind"]
        if kind == "vector_add":
            shapes = [(self.n("n"),)] * 2, (self.n("n"),)
        elif kind == "softmax":
            shapes = [(self.n("rows"), self.n("cols"))], (self.n("rows"), self.n("cols"))
        elif kind == "layer_norm":
            shapes = [(self.n("rows"), self.n("cols")), (self.n("cols"),), (self.n("cols"),)], (self.n("rows"), self.n("cols"))
        elif kind == "matmul":
            shapes = [(self.n("M"), self.n("K")), (self.n("K"), self.n("N"))], (self.n("M"), self.n("N"))
        else:
            shape = (self.n("batch"), self.n("heads"), self.n("length"), self.n("D"))
            shapes = [shape] * 3, shape
        first = [values(shape, i + 1, t) for i, shape in enumerate(shapes[0])]
        self.inputs = [first] + [[x.clone() for x in first] for _ in range(self.sets - 1)]
        self.outputs = [torch.full(shapes[1], math.nan, dtype=t, device="cuda") for _ in range(self.sets)]

    def n(self, name):
        return int(self.s[name])

    def launcher(self, side, config):
        """A function of the inputs and the output of one set."""
        kind = self.s["kind"]
        F = torch.nn.functional
        if side == "triton":
            meta = {name: int(value) for name, value in config.items()}
            if kind == "vector_add":
                n = self.n("n")
                return lambda i, o: add_kernel[(triton.cdiv(n, meta["BLOCK"]),)](i[0], i[1], o, n, **meta)
            if kind in ("softmax", "layer_norm"):
                rows, cols = self.n("rows"), self.n("cols")
                block = triton.next_power_of_2(cols)
                if kind == "softmax":
                    return lambda i, o: softmax_kernel[(rows,)](o, i[0], cols, cols, cols, BLOCK=block, **meta)
                return lambda i, o: layer_norm_kernel[(rows,)](i[0], o, i[1], i[2], cols, cols, 1e-5, BLOCK=block, **meta)
            if kind == "matmul":
                M, N, K = self.n("M"), self.n("N"), self.n("K")
                grid = (triton.cdiv(M, meta["BLOCK_M"]) * triton.cdiv(N, meta["BLOCK_N"]),)
                return lambda i, o: matmul_kernel[grid](i[0], i[1], o, M, N, K, K, 1, N, 1, N, 1, GROUP=8, **meta)
            length, D, causal = self.n("length"), self.n("D"), self.n("causal") != 0
            grid = (length // meta["BLOCK_M"], self.n("batch") * self.n("heads"))
            scale = math.log2(math.e) / math.sqrt(D)
            return lambda i, o: attention_kernel[grid](*i, o, scale, D, length, D, CAUSAL=causal, **meta)
        if kind == "vector_add":
            return lambda i, o: torch.add(i[0], i[1], out=o)
        if kind == "softmax":
            return lambda i, o: torch.softmax(i[0], dim=-1, out=o)
        if kind == "layer_norm":
            return lambda i, o: F.layer_norm(i[0], (self.n("cols"),), i[1], i[2], 1e-5)
        if kind == "matmul":
            torch.backends.cuda.matmul.allow_tf32 = True
            return lambda i, o: torch.matmul(i[0], i[1], out=o)
        from torch.nn.attention import SDPBackend, sdpa_kernel

        backend = {"cudnn": SDPBackend.CUDNN_ATTENTION, "flash": SDPBackend.FLASH_ATTENTION}[side]

        def attention(i, o):
            with sdpa_kernel(backend):
                return F.scaled_dot_product_attention(*i, is_causal=self.n("causal") != 0)

        return attention

    def prepare(self, side, config):
        self.sides.pop(side, None)
        launch = self.launcher(side, config)
        stream = torch.cuda.Stream()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.stream(stream):
            for _ in range(2):
                launch(self.inputs[0], self.outputs[0])
        torch.cuda.synchronize()
        with torch.cuda.graph(graph, stream=stream):
            for k in range(self.launches):
                launch(self.inputs[k % self.sets], self.outputs[k % self.sets])
        self.sides[side] = launch, graph
        return ""

    def time(self, side, replays):
        graph = self.sides[side][1]
        start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        times = []
        graph.replay()
        torch.cuda.synchronize()
        for _ in range(replays):
            graph.replay()
            start.record()
            graph.replay()
            stop.record()
            torch.cuda.synchronize()
            times.append(start.elapsed_time(stop) / 1000 / self.launches)
        return repr(statistics.median(times))

    def check(self, side):
        inputs, out = self.inputs[-1], self.outputs[-1]
        out.fill_(math.nan)
        result = self.sides[side][0](inputs, out)
        if isinstance(result, torch.Tensor):
            out = result
        torch.cuda.synchronize()
        kind = self.s["kind"]
        x = inputs[0]
        wide = torch.float64
        if kind == "vector_add":
            some = torch.linspace(0, x.numel() - 1, 4096, dtype=torch.float64, device="cuda").long()
            got, right = out[some], x[some].to(wide) + inputs[1][some].to(wide)
        elif kind in ("softmax", "layer_norm"):
            some = torch.linspace(0, x.shape[0] - 1, 8, dtype=torch.float64, device="cuda").long()
            got, rows = out[some], x[some].to(wide)
            if kind == "softmax":
                right = torch.softmax(rows, -1)
            else:
                right = torch.nn.functional.layer_norm(rows, rows.shape[-1:], inputs[1].to(wide), inputs[2].to(wide), 1e-5)
        elif kind == "matmul":
            some = torch.linspace(0, x.shape[0] - 1, 16, dtype=torch.float64, device="cuda").long()
            got, right = out[some], x[some].to(wide) @ inputs[1].to(wide)
        else:
            q, k, v = (t.flatten(0, 1) for t in inputs)
            some = torch.linspace(0, q.shape[1] - 1, 12, dtype=torch.float64, device="cuda").long()
            got = out.flatten(0, 1)[-1][some]
            score = q[-1][some].to(wide) @ k[-1].to(wide).T / math.sqrt(q.shape[-1])
            if self.n("causal"):
                score.masked_fill_(torch.arange(q.shape[1], device="cuda")[None, :] > some[:, None], -math.inf)
            right = torch.softmax(score, -1) @ v[-1].to(wide)
        return repr((torch.linalg.norm(got.to(wide) - right) / torch.linalg.norm(right)).item())


def answer(words, row):
    if words[0] == "versions":
        cudnn = torch.backends.cudnn.version()
        return row, f"Triton {triton.__version__}, PyTorch {torch.__version__} (CUDA {torch.version.cuda}, cuDNN {cudnn}), {torch.cuda.get_device_name()}"
    if words[0] == "work":
        return Row(dict(word.split("=", 1) for word in words[1:])), ""
    if words[0] == "done":
        row = None
        torch.cuda.empty_cache()
        return None, ""
    if words[0] == "prepare":
        return row, row.prepare(words[1], dict(word.split("=", 1) for word in words[2:]))
    if words[0] == "time":
        return row, row.time(words[1], int(words[2]))
    return row, row.check(words[1])


def main():
    row = None
    for line in sys.stdin:
        try:
            if line.startswith("done"):
                row = None
            row, text = answer(line.split(), row)
            text = f"ok {text}"
        except Exception as error:  # one side of one row fails, not the run
            text = "error " + " ".join(f"{type(error).__name__}: {error}".split())[:300]
        print(text, flush=True)


main()
