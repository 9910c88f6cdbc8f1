"""Time of every large operation against a copy of as many bytes: what is bound by memory should not take much longer.

    python -m benchmarks.bandwidth [--cases exp,cum] [--dtype bf16] [--log2 24] [--above 3]

A row gives the bytes that must be read and written, the time, and how many times longer that is than a copy of as many
bytes at the same size. Operations above the limit are marked; the last column says what keeps those in `WHY` there.
"""

import argparse
import sys
import time
from dataclasses import dataclass

import burn
from burn.tensor import Bool, Distribution, Int, Tensor, activation

FLOATS = ("f64", "f32", "f16", "bf16")
SIZES = {"64": 8, "32": 4, "16": 2, "i8": 1, "u8": 1}


@dataclass(frozen=True)
class Row:
    """One operation: the statement, how often x's bytes are moved, for which kinds."""

    name: str
    statement: str
    moved: float = 2.0
    kinds: str = "f"  # f: floats, i: ints, b: does not depend on the dtype


def rows():
    """All operations; `moved` counts passes over x."""
    unary = "exp log log1p sqrt recip sin cos tan sinh cosh tanh asin acos atan asinh acosh atanh erf round floor ceil trunc"
    plain = "add sub mul max_pair min_pair".split()
    found = [Row("copy", "x.flip([0])" if False else "x2.transpose().transpose().repeat([1, 1])")]
    found += [Row(op, f"{'p' if op in ('log', 'sqrt', 'acosh') else 'h'}.{op}()") for op in unary.split()]
    found += [Row(op, f"h.{op}()", kinds="fi") for op in ("abs", "sign", "square")] + [Row("neg", "-h", kinds="fi")]
    found += [
        Row(op, f"activation.{op}(h)")
        for op in "relu gelu silu sigmoid log_sigmoid mish softsign tanhshrink hard_swish".split()
    ]
    found += [
        Row("elu", "activation.elu(h, 1.3)"),
        Row("softplus", "activation.softplus(h, 1.0)"),
        Row("leaky_relu", "activation.leaky_relu(h, 0.1)"),
        Row("is_nan", "x.is_nan()", 1.25),
        Row("is_finite", "x.is_finite()", 1.25),
        Row("clamp", "x.clamp(-0.5, 0.5)"),
    ]
    symbols = {"add": "+", "sub": "-", "mul": "*"}
    found += [Row(op, f"x {symbols[op]} y" if op in symbols else f"x.{op}(y)", 3, "fi") for op in plain]
    found += [Row(f"{op} scalar", f"x {symbols[op]} three", 2, "fi") for op in symbols]
    found += [Row("div", "x / y", 3), Row("div scalar", "x / 3.0"), Row("div", "x.div(q)", 3, "i")]
    found += [
        Row("remainder", "x % q", 3, "fi"),
        Row("fmod", "x.fmod(q)", 3),
        Row("floor_div", "x // q", 3, "fi"),
        Row("powf", "p.powf(h)", 3),
        Row("powi", "x.powi(three)", 2, "fi"),
        Row("powf scalar", "p.powf_scalar(1.7)"),
        Row("powf scalar 0.5", "p.powf_scalar(0.5)"),
        Row("powf scalar 3", "p.powf_scalar(3.0)"),
        Row("atan2", "x.atan2(y)", 3),
        Row("hypot", "x.hypot(y)", 3),
    ]
    found += [
        Row(f"{a} {b}", f"x {b} y", 2.25, "fi") for a, b in (("lower", "<"), ("equal", "=="), ("greater_equal", ">="))
    ]
    found += [Row("equal scalar", "x == three", 1.25, "fi"), Row("lower scalar", "x < three", 1.25, "fi")]
    found += [Row(f"bitwise {s}", f"x {s} y", 3, "i") for s in "&|^"] + [Row("bitwise not", "~x", 2, "i")]
    found += [Row("shift left", "x << s", 3, "i"), Row("shift right", "x >> s", 3, "i")]
    found += [Row("shift left scalar", "x << 2", 2, "i"), Row("shift right scalar", "x >> 2", 2, "i")]
    found += [Row("mask_where", "x.mask_where(m, y)", 3.25, "b"), Row("mask_fill", "x.mask_fill(m, 1)", 2.25, "b")]
    found += [Row("cast to f32", "x.cast('f32')", 2, "b"), Row("cast to i32", "x.cast('i32')", 2, "b")]
    found += [Row("bool &", "m & m2", 0.75), Row("bool not", "~m", 0.5), Row("bool equal", "m == m2", 0.75)]
    found += [
        Row("bool any", "z.any()", 0.25),
        Row("bool all", "(~z).all()", 0.75),
        Row("bool to float", "m.float()", 1.25),
    ]
    found += [Row(f"backward of {op}", f"back({op!r})", 4) for op in ()]
    reductions = "sum mean prod max min argmax argmin max_abs any all".split()
    for op in reductions:
        kinds = "f" if op in ("mean",) else "fi"
        if not op.startswith("arg"):
            found.append(Row(op, f"x.{op}()", 1, kinds))
        dim = op if op.startswith("arg") else f"{op}_dim"
        found += [Row(f"{op} axis {a}", f"x2.{dim}({a})", 1, kinds) for a in (0, 1)]
    found += [Row(f"max with indices axis {a}", f"x2.max_dim_with_indices({a})", 1, "fi") for a in (0, 1)]
    found += [Row(f"var axis {a}", f"x2.var({a})", 1) for a in (0, 1)]
    found += [Row(f"median axis {a}", f"x2.median({a})", 1) for a in (0, 1)] + [Row("cov", "x3.cov(1, 1)", 1)]
    for op in ("softmax", "log_softmax"):
        found += [Row(f"{op} axis {a}", f"activation.{op}(x2, {a})", 2) for a in (0, 1)]
        found += [Row(f"{op} one row", f"activation.{op}(x, 0)", 2)]
    for op in "cumsum cumprod cummax cummin".split():
        found += [Row(f"{op} axis {a}", f"x2.{op}({a})", 2, "fi") for a in (0, 1)]
        found += [Row(f"{op} one row", f"x.{op}(0)", 2, "fi")]
    found += [Row(f"sort axis {a}", f"x2.sort({a})", 2, "fi") for a in (0, 1)] + [
        Row("sort one row", "x.sort(0)", 2, "fi")
    ]
    found += [Row("argsort", "x2.argsort(1)", 2, "fi"), Row("top 10", "x2.topk(10, 1)", 1, "fi")]
    found += [
        Row("transpose", "x2.transpose().reshape([-1])", 2, "b"),
        Row("permute", "x4.permute([2, 0, 1]).reshape([-1])", 2, "b"),
        Row("flip", "x2.flip([0, 1])", 2, "b"),
        Row("flip axis 0", "x2.flip([0])", 2, "b"),
        Row("roll", "x2.roll([3, -5], [0, 1])", 2, "b"),
        Row("repeat", "xh.repeat([2, 1])", 1.5, "b"),
        Row("repeat axis 1", "xh.repeat([1, 2])", 1.5, "b"),
        Row("expand and copy", "r.expand([n, n]).reshape([-1])", 1, "b"),
        Row("expand a column and copy", "c.expand([n, n]).reshape([-1])", 1, "b"),
        Row("tril", "x2.tril()", 2, "fi"),
        Row("triu", "x2.triu()", 2, "fi"),
        Row("pad", "x2.pad([(1, 1), (2, 2)], 0)", 2, "b"),
        Row("unfold", "x2.unfold(1, 8, 4).reshape([-1])", 3, "b"),
        Row("unfold by 1", "xh.unfold(1, 4, 1).reshape([-1])", 2.5, "b"),
        Row("cat axis 0", "Tensor.cat([xh, xh], 0)", 1.5, "b"),
        Row("cat axis 1", "Tensor.cat([xh, xh], 1)", 1.5, "b"),
        Row("cat of 64", "Tensor.cat(parts, 1)", 2, "b"),
        Row("cat of thin ones", "Tensor.cat(thin, 1)", 0.5, "b"),
        Row("stack axis 1", "Tensor.stack([x, y], 1)", 4, "b"),
        Row("slice with steps", "x2[:, ::2].reshape([-1])", 1.5, "b"),
        Row("slice_assign", "x2.slice_assign(s[0:n, 1:9], w)", 2, "b"),
        Row("zeros", "Tensor.zeros(x.shape, x.device, dtype=x.dtype)", 1, "b"),
        Row("gather axis 1", "x2.gather(1, i)", 3, "b"),
        Row("gather axis 0", "x2.gather(0, i)", 3, "b"),
        Row("scatter Add axis 1", "x2.scatter(1, i, x2, 'Add')", 5, "fi"),
        Row("scatter Add axis 0", "x2.scatter(0, i, x2, 'Add')", 5, "fi"),
        Row("scatter Assign axis 1", "x2.scatter(1, i, x2, 'Assign')", 5, "b"),
        Row("scatter Mul axis 1", "x2.scatter(1, i, x2, 'Mul')", 5, "fi"),
        Row("scatter Max axis 1", "x2.scatter(1, i, x2, 'Max')", 5, "fi"),
        Row("select rows", "x2.select(0, j)", 2, "b"),
        Row("select columns", "x2.select(1, j)", 2, "b"),
        Row("select_assign rows", "x2.select_assign(0, j, x2, 'Add')", 4, "fi"),
        Row("select_assign columns", "x2.select_assign(1, j, x2, 'Add')", 4, "fi"),
        Row("take", "x2.take(0, i)", 2, "b") if False else Row("take", "x2.take(0, j)", 2, "b"),
        Row("gather_nd", "x2.gather_nd(ij)", 4, "b"),
        Row("scatter_nd", "x2.scatter_nd(ij, x, 'Add')", 6, "fi"),
        Row("mask_select", "x.mask_select(m)", 1.75, "b"),
        Row("argwhere", "m2d.argwhere()", 1.25),
        Row("nonzero", "m2d.nonzero()", 1.25),
        Row("one_hot", "k.one_hot(64)", 1),
        Row("normal", "random(Distribution.Normal(0.0, 1.0))", 1),
        Row("uniform", "random(Distribution.Uniform(0.0, 1.0))", 1),
        Row("bernoulli", "random(Distribution.Bernoulli(0.3))", 1),
    ]
    return found


def names(dtype, log2):
    """The tensors of the statements."""
    side = 1 << log2 // 2
    device = burn.Device.default() if hasattr(burn.Device, "default") else None
    device = Tensor.zeros([1]).device if device is None else device
    is_float = dtype in FLOATS

    def make(shape, low, high):
        values = Tensor.random(shape, Distribution.Uniform(low, high), device)
        return values.cast(dtype)

    total = side * side
    x, y = (make([total], *((-1.0, 1.0) if is_float else (-100.0, 100.0))) for _ in range(2))
    x2 = x.reshape([side, side])
    mask = Tensor.random([total], Distribution.Uniform(0.0, 1.0), device) < 0.5
    index = Tensor.random([side, side], Distribution.Uniform(0.0, float(side)), device).cast("i32")
    rows_ = Tensor.random([side], Distribution.Uniform(0.0, float(side)), device).cast("i32")
    pairs = Tensor.stack([index.reshape([-1]), index.transpose().reshape([-1])], 1)
    return {
        "Tensor": Tensor, "activation": activation, "Distribution": Distribution, "s": burn.tensor.s, "n": side,
        "x": x, "y": y, "x2": x2, "h": make([total], -0.99, 0.99) if is_float else x, "p": make([total], 1.0, 9.0),
        "q": make([total], 1.0, 9.0), "three": 3.0 if is_float else 3, "m": mask, "m2": mask.flip([0]),
        "z": mask & ~mask, "x3": x.reshape([256, -1]), "xh": x2[: side // 2].reshape([side // 2, side]),
        "x4": x.reshape([side // 16, 16, -1]), "r": x2[:1], "c": x2[:, :1], "i": index, "j": rows_, "ij": pairs,
        "parts": x2.chunk(64, 1), "thin": x.reshape([-1, 4])[: total // 16].chunk(4, 1), "w": x2[:, :8],
        "m2d": mask.reshape([side, side]), "k": index.reshape([-1])[: total // 64] % 64, "Bool": Bool, "Int": Int,
        "s": burn.tensor.s, "random": lambda how: Tensor.random([total], how, device, dtype=dtype),
    }  # fmt: skip


def seconds(code, scope, least=3, most=0.15):
    """The best time of a few runs."""
    eval(code, scope)
    best, spent, count = float("inf"), 0.0, 0
    while count < least or (spent < most and count < 20):
        start = time.perf_counter()
        result = eval(code, scope)
        taken = time.perf_counter() - start
        del result
        best, spent, count = min(best, taken), spent + taken, count + 1
        if spent > 2:
            break
    return best


def main(argv=None):
    """Prints the table; the number of rows above the limit is the exit status with --strict."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0], prog="python -m benchmarks.bandwidth")
    parser.add_argument("--cases", default="", metavar="WORDS")
    parser.add_argument("--dtype", default="f32")
    parser.add_argument("--log2", type=int, default=24)
    parser.add_argument("--above", type=float, default=3.0)
    options = parser.parse_args(argv)
    scope = names(options.dtype, options.log2)
    size = next(v for k, v in SIZES.items() if options.dtype.endswith(k))
    kind = "f" if options.dtype in FLOATS else "i"
    words = [w for w in options.cases.split(",") if w]
    total = scope["x"].shape.num_elements() * size
    copy = seconds("y.cast(y.dtype) if False else x2.repeat([1, 1]) if False else x + zero", {**scope, "zero": 0}) / 2
    print(f"{options.dtype}, 2^{options.log2}: a copy moves {total / copy / 1e9:.1f} GB/s")
    for row in rows():
        if not (kind in row.kinds or "b" in row.kinds) or (words and not any(w in row.name for w in words)):
            continue
        try:
            taken = seconds(compile(row.statement, row.name, "eval"), scope)
        except Exception as error:
            print(f"{row.name:28} {type(error).__name__}: {str(error)[:90]}", flush=True)
            continue
        ratio = taken / (copy * row.moved)
        print(f"{row.name:28} {taken * 1e3:9.2f} ms {ratio:7.2f}{'  <--' if ratio > options.above else ''}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
