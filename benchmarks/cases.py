"""The one table of benchmark cases, shared by pytest-benchmark, `compare.py` and the smoke test.

A case is a statement for each contender, timed as `timeit` times one: small operations take less time than a call of a
Python function would add. `a`, `b`, `c` are the inputs; the other names are those of `contenders.py`.
"""

from dataclasses import replace

import numpy as np

from benchmarks.case import M4, SQUARE, Arg, Case
from benchmarks.layer_cases import LAYERS

M16 = 1 << 24
SMALL = (Arg((8,)), Arg((8,)))
SMALL_FLAGS = (Arg((8,)), Arg((8,)), Arg((8,), "bool"))
SMALL_MATRIX = (Arg((2, 4)), Arg((4, 2)))
SMALL_INDEX = (Arg((8,)), Arg((4,), "", below=8))
TRACKED = tuple(replace(arg, tracked=True) for arg in SMALL)
EQUAL = Arg((2048, 2048), low=0, high=0)
BIG = Arg((4096, 4096))  # 64 MB
FLAGS = Arg((M4,), "bool")
INDEX = Arg((2048, 2048), "", below=2048)
INDEX64 = replace(INDEX, dtype="int64")


def binary(name, symbol, size, ratio):
    """Two inputs of one size, one operator."""
    statement = f"a {symbol} b"
    args = (Arg((size,)), Arg((size,)))
    return Case(f"{name} 2^{size.bit_length() - 1}", "elementwise", args, *[statement] * 3, ratio, memory=12 * size)


def unary(op, ratio=None, torch=None, numpy="", low=-1.0, high=1.0, dtype="float32", burn=None):
    """One operation on 2^22 elements."""
    return Case(
        f"{op} 2^22{'' if dtype == 'float32' else ' ' + dtype}",
        "elementwise",
        (Arg((M4,), dtype, low, high),),
        burn=burn or (f"activation.{op}(a)" if op in ("gelu", "silu", "sigmoid", "relu", "mish") else f"a.{op}()"),
        torch=torch or f"torch.{op}(a)",
        numpy=numpy,
        ratio=ratio,
        memory=2 * M4 * np.dtype(dtype).itemsize,
    )


def small(name, burn, torch, args=SMALL, ratio=4):
    """One operation of one kernel on 8 elements: what a call costs."""
    return Case(f"{name} 8", "small", args, burn, torch, ratio=ratio)


def of_dtype(name, burn, torch, *dtypes, ratio=1.1, size=2):
    """An operation on 2^22 elements of other dtypes."""
    args = tuple(Arg((M4,), dtype, 1, 100) for dtype in dtypes)
    return Case(f"{name} 2^22 {dtypes[0]}", "elementwise", args, burn, torch, ratio=ratio, memory=size * M4)


def half(name, statement, torch, args, of, family="elementwise", ratio=None):
    """An operation in bf16, held against our own time in f32."""
    args = tuple(replace(arg, dtype="bfloat16") for arg in args)
    return Case(f"{name} bf16", family, args, statement, torch, ratio=ratio, within=(of, 1.25))


def reduction(name, burn, torch, numpy, ratio=None):
    """One reduction of a 2048 × 2048 matrix."""
    return Case(f"{name} 2048²", "reduce", (SQUARE,), burn, torch, numpy, ratio, memory=4 * M4)


def product(name, left, right, ratio, dtype="float32"):
    """One matrix product."""
    flops = 2 * int(np.prod(left)) * right[-1]
    args = (Arg(left, dtype), Arg(right, dtype))
    return Case(f"matmul {name}", "matmul", args, "a.matmul(b)", "a @ b", "a @ b", ratio, flops=flops)


SMALL_OPS = [
    Case("add 8", "small", SMALL, "a + b", "a + b", "a + b", ratio=6),
    small("add tracked", "a + b", "a + b", TRACKED, ratio=6),
    small("add scalar", "a + 1.5", "a + 1.5"),
    small("exp", "a.exp()", "a.exp()"),
    small("clamp", "a.clamp(-0.5, 0.5)", "a.clamp(-0.5, 0.5)"),
    small("relu", "activation.relu(a)", "torch.relu(a)"),
    small("less", "a < b", "a < b"),
    small("equal scalar", "a.equal_scalar(0.5)", "a == 0.5"),
    small("where", "a.mask_where(c, b)", "torch.where(c, b, a)", SMALL_FLAGS),
    small("mask_fill", "a.mask_fill(c, 1.0)", "a.masked_fill(c, 1.0)", SMALL_FLAGS),
    small("cast", "a.cast(f64)", "a.double()"),
    small("sum", "a.sum()", "a.sum()"),
    small("mean", "a.mean()", "a.mean()"),
    small("max", "a.max()", "a.max()"),
    small("any", "c.any()", "c.any()", SMALL_FLAGS),
    small("sum_dim", "a.sum_dim(1)", "a.sum(1, keepdim=True)", SMALL_MATRIX),
    small("argmax", "a.argmax(1)", "a.argmax(1, keepdim=True)", SMALL_MATRIX),
    small("softmax", "activation.softmax(a, 1)", "torch.softmax(a, 1)", SMALL_MATRIX),
    small("cumsum", "a.cumsum(1)", "a.cumsum(1)", SMALL_MATRIX),
    small("sort", "a.sort(1)", "a.sort(1)", SMALL_MATRIX),
    small("matmul", "a @ b", "a @ b", SMALL_MATRIX),
    small("select", "a.select(0, b)", "a.index_select(0, b)", SMALL_INDEX),
    small("gather", "a.gather(0, b)", "a.gather(0, b)", SMALL_INDEX),
    small("cat", "burn.Tensor.cat([a, b], 0)", "torch.cat([a, b], 0)"),
    small("flip", "a.flip([0])", "a.flip(0)"),
    small("roll", "a.roll([3], [0])", "a.roll(3, 0)"),
    small("pad", "a.pad([(1, 2)], 0.5)", "F.pad(a, (1, 2), value=0.5)"),
    small("reshape", "a.reshape([4, 2])", "a.reshape(4, 2)", SMALL_MATRIX),
    small("transpose", "a.transpose()", "a.mT", SMALL_MATRIX),
    small("narrow", "a.narrow(0, 2, 3)", "a.narrow(0, 2, 3)"),
    small("index", "a[3]", "a[3]"),
    small("slice", "a[2:6]", "a[2:6]"),
    small("zeros", "burn.Tensor.zeros([8], device)", "torch.zeros(8)"),
    small("ones on the default device", "burn.Tensor.ones([8])", "torch.ones(8)"),
    small("empty", "burn.Tensor.empty([8])", "torch.empty(8)"),
    small("arange", "burn.Tensor.arange(8)", "torch.arange(8)"),
    small("eye", "burn.Tensor.eye(3)", "torch.eye(3)"),
    small("random", "burn.Tensor.random([8])", "torch.rand(8)"),
    small("tensor of a list", "burn.Tensor([1.5, 2.5, 3.5])", "torch.tensor([1.5, 2.5, 3.5])"),
    small("full", "burn.Tensor.full([8], 2.5, device)", "torch.full((8,), 2.5)"),
    small("zeros_like", "a.zeros_like()", "torch.zeros_like(a)"),
    small("stack", "burn.Tensor.stack([a, b], 0)", "torch.stack([a, b], 0)"),
    Case(
        "20 × (mul, add), sum, backward on 8",
        "graph",
        TRACKED,
        "a.grad(chain(a, b))",
        "chain(a, b); a.grad = b.grad = None",
        ratio=10,
    ),
]

ELEMENTWISE = [
    binary("add", "+", M4, 1.15),
    binary("mul", "*", M4, 1.15),
    binary("add", "+", M16, 1.3),
    binary("mul", "*", M16, 1.3),
    unary("exp", 1.15, numpy="np.exp(a)", low=-20, high=20),
    unary("log", 1.15, numpy="np.log(a)", low=1e-3, high=100),
    unary("tanh", 1.4, numpy="np.tanh(a)", low=-4, high=4),
    unary("erf", 1.6, low=-3, high=3),
    unary("sigmoid", 1.1, low=-8, high=8),
    unary("silu", 1.1, torch="F.silu(a)", low=-8, high=8),
    unary("gelu", 1.4, torch="F.gelu(a)", low=-5, high=5),
    unary("relu"),
    unary("mish", torch="F.mish(a)", low=-8, high=8),
    unary("elu", torch="F.elu(a, 1.3)", low=-8, high=8, burn="activation.elu(a, 1.3)"),
    unary("softplus", torch="F.softplus(a)", low=-8, high=8, burn="activation.softplus(a, 1.0)"),
    unary("leaky_relu", torch="F.leaky_relu(a, 0.1)", burn="activation.leaky_relu(a, 0.1)"),
    unary("sqrt", numpy="np.sqrt(a)", low=0, high=10),
    unary("exp", numpy="np.exp(a)", low=-20, high=20, dtype="float64"),
    of_dtype("add", "a + b", "a + b", "int32", "int32", size=12),
    of_dtype("mul", "a * b", "a * b", "int32", "int32", size=12),
    of_dtype("less", "a < b", "a < b", "int32", "int32", size=9),
    of_dtype("xor", "a ^ b", "a ^ b", "int32", "int32", size=12),
    of_dtype("shift left", "a << b", "a << b", "int32", "int32", size=12),
    of_dtype("shift left", "a << b", "a << b", "int16", "int16", size=6),
    of_dtype("shift right", "a >> b", "a >> b", "int16", "int16", size=6),
    of_dtype("less", "a < b", "a < b", "int64", "int64", size=17),
    of_dtype("add", "a + b", "a + b", "int64", "int64", size=24),
    of_dtype("and", "a & b", "a & b", "bool", "bool", size=3),
    of_dtype("not", "~a", "~a", "bool"),
    Case("less 2^22", "elementwise", (Arg((M4,)), Arg((M4,))), *["a < b"] * 3, ratio=1.1, memory=9 * M4),
    Case("equal scalar 2^22", "elementwise", (Arg((M4,)),), *["a == 0.5"] * 3, ratio=1.1, memory=5 * M4),
    Case(
        "where 2^22",
        "elementwise",
        (Arg((M4,)), Arg((M4,)), FLAGS),
        "a.mask_where(c, b)",
        "torch.where(c, b, a)",
        "np.where(c, b, a)",
        ratio=1.1,
        memory=13 * M4,
    ),
    Case(
        "mask_fill 2^22",
        "elementwise",
        (Arg((M4,)), FLAGS),
        "a.mask_fill(b, 1.0)",
        "a.masked_fill(b, 1.0)",
        ratio=1.1,
        memory=9 * M4,
    ),
    half("add 2^22", "a + b", "a + b", (Arg((M4,)), Arg((M4,))), "add 2^22"),
    half("exp 2^22", "a.exp()", "torch.exp(a)", (Arg((M4,), low=-20, high=20),), "exp 2^22"),
    half("gelu 2^22", "activation.gelu(a)", "F.gelu(a)", (Arg((M4,), low=-5, high=5),), "gelu 2^22"),
    Case(
        "(a*b+1).tanh()*a 2^22",
        "elementwise",
        (Arg((M4,)), Arg((M4,))),
        *["(a * b + 1.0).tanh() * a"] * 2,
        ratio=(1.5, 1.3),
        memory=40 * M4,
    ),
    Case(
        "add a row 2048²",
        "elementwise",
        (SQUARE, Arg((1, 2048))),
        *["a + b"] * 3,
        memory=8 * M4,
    ),
]

REDUCE = [
    reduction("sum", "a.sum()", "a.sum()", "a.sum()", 1.0),
    reduction("sum over the last axis", "a.sum_dim(1)", "a.sum(1, keepdim=True)", "a.sum(1)", 1.0),
    reduction("sum over axis 0", "a.sum_dim(0)", "a.sum(0, keepdim=True)", "a.sum(0)", 1.2),
    reduction("argmax", "a.argmax(1)", "a.argmax(1, keepdim=True)", "a.argmax(1)", 2),
    reduction("max over the last axis", "a.max_dim(1)", "a.amax(1, keepdim=True)", "a.max(1)"),
    reduction("var", "a.var(1)", "a.var(1, keepdim=True)", "a.var(1, ddof=1)", 1.2),
    reduction("any over the last axis", "(a > 2.0).any_dim(1)", "(a > 2.0).any(1, keepdim=True)", "(a > 2.0).any(1)"),
    Case(
        "softmax 2048²",
        "softmax",
        (replace(SQUARE, low=-5, high=5),),
        "activation.softmax(a, 1)",
        "torch.softmax(a, 1)",
        ratio=1.3,
        memory=8 * M4,
    ),
    Case(
        "log_softmax 2048²",
        "softmax",
        (replace(SQUARE, low=-5, high=5),),
        "activation.log_softmax(a, 1)",
        "torch.log_softmax(a, 1)",
        memory=8 * M4,
    ),
]

SORT = [
    Case(
        "sort 2048²",
        "sort",
        (SQUARE,),
        "a.sort_with_indices(1)",
        "torch.sort(a, 1)",
        ratio=1.5,
    ),
    Case("top 10 2048²", "sort", (SQUARE,), "a.topk_with_indices(10, 1)", "torch.topk(a, 10, 1)", ratio=2),
    Case("top 10 2048², all equal", "sort", (EQUAL,), "a.topk_with_indices(10, 1)", "torch.topk(a, 10, 1)"),
    Case("median 2048²", "sort", (SQUARE,), "a.median(1)", "torch.median(a, 1)"),
    Case("median 2048², all equal", "sort", (EQUAL,), "a.median(1)", "torch.median(a, 1)"),
    Case("cumsum 2048²", "scan", (SQUARE,), "a.cumsum(1)", "torch.cumsum(a, 1)", "a.cumsum(1)", 1.5, memory=8 * M4),
    Case("cumsum axis 0 2048²", "scan", (SQUARE,), "a.cumsum(0)", "torch.cumsum(a, 0)", "a.cumsum(0)", memory=8 * M4),
    Case("cummax 2048²", "scan", (SQUARE,), "a.cummax(1)", "torch.cummax(a, 1)", memory=8 * M4),
]

# A matrix times a column: one that second caches hold, one from memory.
NEAR, FAR = ((Arg((size, size)), Arg((size, 1))) for size in (1024, 4096))

MATMUL = [
    product("64", (64, 64), (64, 64), 1.5),
    product("256", (256, 256), (256, 256), (1.0, 0.9)),
    product("1024", (1024, 1024), (1024, 1024), (1.0, 0.9)),
    product("2048", (2048, 2048), (2048, 2048), (1.0, 0.9)),
    product("32 × 128×64 by 64×128", (32, 128, 64), (32, 64, 128), (1.0, 0.9)),
    product("64×784 by 784×512", (64, 784), (784, 512), (1.0, 0.9)),
    product("1024 f64", (1024, 1024), (1024, 1024), 0.75, "float64"),
    half("matmul 1024", "a @ b", "a @ b", (Arg((1024, 1024)), Arg((1024, 1024))), "matmul 1024", "matmul", (None, 1.0)),
    Case("matmul 1024² by 1024", "matmul", NEAR, *["a @ b"] * 3, (1.0, 0.9)),
    half("matmul 1024² by 1024", "a @ b", "a @ b", NEAR, "matmul 1024² by 1024", "matmul", (None, 3)),
    Case("matmul 4096² by 4096", "matmul", FAR, *["a @ b"] * 3, memory=4 * M16),
    half("matmul 4096² by 4096", "a @ b", "a @ b", FAR, "matmul 4096² by 4096", "matmul", (None, 3)),
]

MOVEMENT = [
    Case(
        "transpose copy 2048²",
        "movement",
        (SQUARE,),
        "a.transpose().reshape([-1])",
        "a.t().reshape(-1)",
        "a.T.reshape(-1)",
        ratio=1.2,
        memory=8 * M4,
    ),
    Case("triu 2048²", "movement", (SQUARE,), "a.triu(0)", "a.triu()", "np.triu(a)"),
    Case(
        "pad 64 MB", "movement", (BIG,), "a.pad([(1, 1), (2, 2)], 0.5)", "F.pad(a, (2, 2, 1, 1), value=0.5)", ratio=1.1
    ),
    Case(
        "pad by reflection 64 MB",
        "movement",
        (Arg((1, 4096, 4096)),),
        "a.pad([(1, 1), (2, 2)], PadMode.Reflect)",
        "F.pad(a, (2, 2, 1, 1), 'reflect')",
        ratio=1.1,
    ),
    Case(
        "pad with the edge 64 MB",
        "movement",
        (Arg((1, 4096, 4096)),),
        "a.pad([(1, 1), (2, 2)], PadMode.Edge)",
        "F.pad(a, (2, 2, 1, 1), 'replicate')",
        ratio=1.1,
    ),
    Case(
        "flip 64 MB",
        "movement",
        (BIG,),
        "a.flip([0, 1]).contiguous()",
        "a.flip(0, 1)",
        "np.flip(a).copy()",
        1.1,
        8 * M16,
    ),
    Case("roll 64 MB", "movement", (BIG,), "a.roll([3, -5], [0, 1])", "a.roll([3, -5], [0, 1])", "", 1.1, 8 * M16),
    Case(
        "cat 64 MB",
        "movement",
        (Arg((4096, 2048)), Arg((4096, 2048))),
        "burn.Tensor.cat([a, b], 1)",
        "torch.cat([a, b], 1)",
        "np.concatenate([a, b], 1)",
        1.1,
        8 * M16,
    ),
    Case(
        "stack 64 MB",
        "movement",
        (Arg((4096, 2048)), Arg((4096, 2048))),
        "burn.Tensor.stack([a, b], 0)",
        "torch.stack([a, b], 0)",
        "np.stack([a, b], 0)",
        1.1,
        8 * M16,
    ),
    Case(
        "gather 2048²",
        "index",
        (SQUARE, INDEX),
        "a.gather(1, b)",
        "a.gather(1, b)",
        "np.take_along_axis(a, b, 1)",
        ratio=1.2,
    ),
    Case(
        "scatter-add 2048²",
        "index",
        (SQUARE, INDEX, SQUARE),
        "a.scatter(1, b, c, 'Add')",
        "a.scatter_add(1, b, c)",
        ratio=1.2,
    ),
    Case("argwhere 2^22", "index", (FLAGS,), "a.argwhere()", "torch.argwhere(a)", "np.argwhere(a)", ratio=1.0),
    Case(
        "one_hot 2^16 of 64",
        "index",
        (Arg((1 << 16,), "int64", below=64),),
        "a.one_hot(64)",
        "F.one_hot(a, 64)",
        ratio=1.0,
    ),
    Case("gather 2048² by int64", "index", (SQUARE, INDEX64), "a.gather(1, b)", "a.gather(1, b)"),
    Case(
        "embedding 32×128 of 30000×512",
        "index",
        (Arg((30000, 512)), Arg((32, 128), "", below=30000)),
        "module.embedding(a, b)",
        "F.embedding(b, a)",
        "a[b]",
        ratio=1.1,
        memory=2 * 4 * 32 * 128 * 512,
    ),
    Case(
        "embedding and gradient 32×128 of 30000×256",
        "index",
        (Arg((30000, 256), tracked=True), Arg((32, 128), "", below=30000)),
        "module.embedding(a, b).sum().backward()",
        "torch.autograd.grad(F.embedding(b, a).sum(), (a,))",
        ratio=1.1,
        memory=4 * 256 * (30000 + 2 * 32 * 128),
    ),
    Case(
        "select 512 rows of 2048²",
        "index",
        (SQUARE, Arg((512,), "", below=2048)),
        "a.select(0, b)",
        "a.index_select(0, b)",
        "a[b]",
    ),
]

RANDOM = [
    Case(
        "normal 2^22",
        "random",
        (Arg((M4,)),),
        "burn.Tensor.random(a.shape, normal, a.device)",
        "torch.randn_like(a)",
        "np.random.standard_normal(a.shape)",
    ),
]


def step(name, kind, *sizes, family="training", ratio=None, memory=0, flops=0):
    """A step of `training.py`."""
    return Case(name, family, (), "step()", "step()", ratio=ratio, memory=memory, flops=flops, step=(kind, *sizes))


# Forward and backward of a layer: the products with the weights, of which three need no gradient of their input, and the scores.
ENCODER = 2 * 16 * 128 * (256 * 256 * (3 * 2 + 3) + 3 * 2 * 256 * 1024 + 7 * 128 * 256)

TRAINING = [
    step("training step 784-512-10, batch 64", "mlp", 784, 512, 10, 64, ratio=1.5, flops=4 * 64 * 784 * 512),
    step("training step 64-32-10, batch 32", "mlp", 64, 32, 10, 32),
    step("training step convnet 8-16-32, batch 64", "convnet", 32, 64, ratio=1.8),
    step("training step encoder layer 16×128×256", "encoder", 16, 128, 256, 8, 1024, ratio=(1.3, 1.15), flops=ENCODER),
    step("linear 8 rows 768 to 3072", "linear", 8, 768, 3072, ratio=(1.0, 0.95), memory=4 * 768 * 3072),
    step("linear and relu 64×784 to 512", "linear", 64, 784, 512, 1, ratio=(1.0, 0.95), flops=2 * 64 * 784 * 512),
    # Four inputs, three results.
    step("adam step 2^22", "adam", 1, M4, ratio=1.1, memory=28 * M4),
    step("adam step 200 of 1000", "adam", 200, 1000, ratio=(5, 10)),
]

SIGNAL = [
    Case("rfft 32×2^16", "signal", (Arg((32, 1 << 16)),), "signal.rfft(a, 1)", "torch.fft.rfft(a, dim=1)", ratio=0.9),
]


# By what limits a case: the case that shows how much of that the machine has a second.
YARDSTICKS = {
    "bytes moved": "add 2^24", "bytes read": "sum 2048²", "f32 operations": "matmul 2048", "f64 operations": "matmul 1024 f64",
}  # fmt: skip

CASES = [
    case
    for rows in (
        SMALL_OPS, ELEMENTWISE, REDUCE, SORT, MATMUL, MOVEMENT, RANDOM, SIGNAL, LAYERS, TRAINING,
    )
    for case in rows
]  # fmt: skip
FAMILIES = sorted({case.family for case in CASES})


def of_family(*families):
    """The cases of these families."""
    return [case for case in CASES if case.family in families]


def matching(pattern):
    """The cases whose name or family contains one of the comma-separated words; all where the pattern is empty."""
    words = [word.strip() for word in pattern.split(",") if word.strip()]
    return [case for case in CASES if not words or any(word in case.name or word == case.family for word in words)]
