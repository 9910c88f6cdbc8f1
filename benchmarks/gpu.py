"""burn against PyTorch on one GPU, in one process: `python -m benchmarks.gpu`.

The two take turns, sample by sample; the table has medians. Work of a kernel is timed by the host clock around enough
calls that launching them costs nothing; host time of a call is timed without waiting for the device.
"""

import argparse
import datetime
import gc
import json
import statistics
import time

import numpy as np

from benchmarks import training

BARE = 'extern "C" __global__ void nothing() {}'


def burn_names(device):
    """What the statements of burn use."""
    import burn
    from burn.tensor import Distribution, DType, Tensor, activation, module

    return {
        "burn": burn, "activation": activation, "module": module, "Tensor": Tensor, "DType": DType,
        "normal": Distribution.Normal(0.0, 1.0), "device": device,
    }  # fmt: skip


def cases(scale):
    """(name, bytes or operations, unit, tensors by name, statement of burn, of PyTorch, wanted ratio); scale shrinks sizes."""
    n, m, k = int(2**28 * scale), int(16384 * scale**0.5), int(8192 * scale**0.5)
    big, square, rows = 4 * n, 4 * m * m, 4 * k * k
    x = {"x": (n,)}
    xy = {"x": (n,), "y": (n,)}
    s = {"x": (m, m)}
    yield "add 2^28", 3 * big, "B", xy, "x + y", "x + y", 0.95
    yield "mul scalar 2^28", 2 * big, "B", x, "x * 1.5", "x * 1.5", 0.95
    yield "exp 2^28", 2 * big, "B", x, "x.exp()", "x.exp()", 0.95
    yield "gelu 2^28", 2 * big, "B", x, "activation.gelu(x)", "torch.nn.functional.gelu(x)", 0.95
    yield "tanh 2^28", 2 * big, "B", x, "x.tanh()", "x.tanh()", 0.95
    yield "greater 2^28", 2.25 * big, "B", xy, "x > y", "x > y", 0.95
    yield "cast bf16 2^28", 1.5 * big, "B", x, "x.cast(DType.BF16)", "x.to(torch.bfloat16)", 0.95
    yield "add row 16384^2", 2 * square, "B", {"x": (m, m), "y": (1, m)}, "x + y", "x + y", 0.95
    yield "add column 16384^2", 2 * square, "B", {"x": (m, m), "y": (m, 1)}, "x + y", "x + y", 0.95
    yield "add transposed 16384^2", 3 * square, "B", {"x": (m, m), "y": (m, m)}, "x + y.transpose()", "x + y.t()", 0.95
    yield "sum 2^28", big, "B", x, "x.sum()", "x.sum()", 1.0
    yield "sum last axis 16384^2", square, "B", s, "x.sum_dim(1)", "x.sum(1, keepdim=True)", 1.0
    yield "sum axis 0 16384^2", square, "B", s, "x.sum_dim(0)", "x.sum(0, keepdim=True)", 1.0
    yield "max 2^28", big, "B", x, "x.max()", "x.max()", 1.0
    yield "argmax last axis 16384^2", square, "B", s, "x.argmax(1)", "x.argmax(1, keepdim=True)", 1.0
    yield "var last axis 16384^2", square, "B", s, "x.var(1)", "x.var(1, keepdim=True)", 1.0
    yield "softmax 8192^2", 2 * rows, "B", {"x": (k, k)}, "activation.softmax(x, 1)", "x.softmax(1)", 1.8
    yield (
        "log_softmax axis 0 8192^2",
        2 * rows,
        "B",
        {"x": (k, k)},
        "activation.log_softmax(x, 0)",
        "x.log_softmax(0)",
        1.0,
    )
    yield (
        "random normal 2^28", big, "B", {}, f"Tensor.random([{n}], normal, device)",
        f"torch.randn({n}, device='cuda')", 1.0,
    )  # fmt: skip
    yield (
        "random uniform 2^28", big, "B", {}, f"Tensor.random([{n}], device=device)",
        f"torch.rand({n}, device='cuda')", 1.0,
    )  # fmt: skip
    yield "sort axis 1 8192^2", 2 * rows, "B", {"x": (k, k)}, "x.sort_with_indices(1)", "x.sort(1)", 1.0
    yield "top 10 axis 1 8192^2", rows, "B", {"x": (k, k)}, "x.topk_with_indices(10, 1)", "x.topk(10, 1)", 1.0
    yield "cumsum axis 1 8192^2", 2 * rows, "B", {"x": (k, k)}, "x.cumsum(1)", "x.cumsum(1)", 1.0
    yield "cumsum axis 0 8192^2", 2 * rows, "B", {"x": (k, k)}, "x.cumsum(0)", "x.cumsum(0)", 1.0
    yield "triu 16384^2", 2 * square, "B", s, "x.triu(0)", "x.triu(0)", 1.0
    yield "elu 2^28", 2 * big, "B", x, "activation.elu(x, 1.0)", "torch.nn.functional.elu(x)", 0.95
    yield "mish 2^28", 2 * big, "B", x, "activation.mish(x)", "torch.nn.functional.mish(x)", 0.95
    yield "transpose copy 16384^2", 2 * square, "B", s, "x.transpose().contiguous()", "x.t().contiguous()", 1.0
    yield (
        "gather 8192^2", 2 * rows + k * k * 4, "B", {"x": (k, k), "i": (k, (k, k))}, "x.gather(1, i)", "x.gather(1, i)", 1.0,
    )  # fmt: skip
    yield (
        "embedding 65536 of 50000x1024", 2 * 4 * 1024 * int(65536 * scale), "B",
        {"x": (50000, 1024), "i": (50000, (1, int(65536 * scale)))}, "module.embedding(x, i)",
        "torch.nn.functional.embedding(i, x)", 1.0,
    )  # fmt: skip
    yield "matmul 8192^3 f32", 2 * k**3, "F", {"x": (k, k), "y": (k, k)}, "x @ y", "x @ y", 0.95
    yield "matmul 8192^3 bf16", 2 * k**3, "F", {"x": (k, k, "bf16"), "y": (k, k, "bf16")}, "x @ y", "x @ y", 0.95
    yield "matmul 64x784x512 f32", 2 * 64 * 784 * 512, "F", {"x": (64, 784), "y": (784, 512)}, "x @ y", "x @ y", 1.0


class Contender:
    """One library: how it makes tensors, runs a statement and waits."""

    def __init__(self, names, tensor, sync):
        self.names, self.tensor, self.sync = names, tensor, sync

    def prepare(self, tensors, statement):
        """A function that runs the statement n times."""
        rng = np.random.default_rng(0)
        space = dict(self.names)
        for name, shape in tensors.items():
            space[name] = self.tensor(shape, rng)
        exec(f"def run(n):\n    for _ in range(n):\n        {statement}\n", space)
        return space["run"]


def burn_contender(device):
    """burn on the GPU."""
    import burn
    from burn.tensor import DType, Tensor

    def tensor(shape, rng):
        if isinstance(shape[-1], tuple):
            return Tensor.from_data(rng.integers(0, shape[0], shape[-1], np.int32), device, DType.I32)
        dims = [n for n in shape if isinstance(n, int)]
        x = Tensor.random(dims, device=device)
        return x.cast(DType.BF16) if "bf16" in shape else x

    return Contender(burn_names(device), tensor, device.sync), burn.__version__


def torch_contender():
    """PyTorch on the same GPU."""
    import torch

    def tensor(shape, rng):
        if isinstance(shape[-1], tuple):
            return torch.from_numpy(rng.integers(0, shape[0], shape[-1])).cuda()
        dims = [n for n in shape if isinstance(n, int)]
        return torch.rand(dims, device="cuda", dtype=torch.bfloat16 if "bf16" in shape else torch.float32)

    return Contender({"torch": torch}, tensor, torch.cuda.synchronize), torch.__version__


def sample(contender, run, seconds, wait=True):
    """Seconds of one call, over about `seconds` of calls."""
    run(1)
    contender.sync()
    begin = time.perf_counter()
    run(2)
    contender.sync()
    n = max(2, int(seconds / max((time.perf_counter() - begin) / 2, 1e-7)))
    begin = time.perf_counter()
    run(n)
    if wait:
        contender.sync()
    spent = time.perf_counter() - begin
    contender.sync()
    return spent / n


def compare(pair, tensors, statements, rounds, seconds, wait=True):
    """Medians of both contenders."""
    runs = [contender.prepare(tensors, statement) for contender, statement in zip(pair, statements)]
    taken = [[], []]
    for _ in range(rounds):
        for k, contender in enumerate(pair):
            taken[k].append(sample(contender, runs[k], seconds, wait))
    return [statistics.median(t) for t in taken]


def host_time(contender, run, calls=400, rounds=15):
    """Median host time of a call, in batches that the device's queue takes without making the host wait."""
    taken = []
    for _ in range(rounds):
        run(20)
        contender.sync()
        begin = time.perf_counter()
        run(calls)
        taken.append((time.perf_counter() - begin) / calls)
        contender.sync()
    return statistics.median(taken)


def host_rows(pair, device):
    """Host time of small calls in microseconds, with that of a bare launch between them."""
    from pycuda import compiler

    from burn.backend.cuda import launch

    major, minor = launch.describe(0)[1]
    image = compiler.compile(BARE, no_extern_c=True, arch=f"sm_{major}{minor}", cache_dir=False)
    small = {"x": (8,), "y": (8,)}
    tracked = (
        "x = Tensor.random([8], device=device.autodiff()).require_grad(); y = Tensor.random([8], device=device.autodiff())",
        "x = torch.rand(8, device='cuda', requires_grad=True); y = torch.rand(8, device='cuda')",
    )
    rows = []
    bare = statistics.median(launch.launch_cost(0, image, "nothing", 400) for _ in range(15)) / 1e3
    runs = [c.prepare(small, "x + y") for c in pair]
    rows.append(("small add", [host_time(c, r) * 1e6 for c, r in zip(pair, runs)]))
    for contender, text in zip(pair, tracked):
        exec(text, contender.names)
    runs = [c.prepare({}, "x + y") for c in pair]
    rows.append(("small tracked add", [host_time(c, r) * 1e6 for c, r in zip(pair, runs)]))
    runs = [c.prepare(small, "x * 2.0") for c in pair]
    rows.append(("small mul scalar", [host_time(c, r) * 1e6 for c, r in zip(pair, runs)]))
    again = statistics.median(launch.launch_cost(0, image, "nothing", 400) for _ in range(15)) / 1e3
    for contender in pair:
        contender.names.pop("x", None)
        contender.names.pop("y", None)
    return (bare + again) / 2, rows


def training_row(device, rounds):
    """Seconds of one training step of both."""
    steps = [training.burn_step(784, 512, 10, 64, device), training.torch_step(784, 512, 10, 64, "cuda")]
    import torch

    syncs = [device.sync, torch.cuda.synchronize]
    taken = [[], []]
    for _ in range(rounds):
        for k, step in enumerate(steps):
            for _ in range(10):
                step()
            syncs[k]()
            begin = time.perf_counter()
            for _ in range(100):
                step()
            syncs[k]()
            taken[k].append((time.perf_counter() - begin) / 100)
    return [statistics.median(t) for t in taken]


def main():
    """Runs what the command line asks for and prints the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gpu", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.05, help="of each sample")
    parser.add_argument("--scale", type=float, default=1.0, help="shrinks the big cases")
    parser.add_argument("--only", default="", help="cases whose name has this text")
    parser.add_argument("--json", help="also writes the numbers to this file")
    options = parser.parse_args()
    import burn
    from burn.backend.cuda import launch

    device = burn.Device.cuda()
    (mine, version), (theirs, torch_version) = burn_contender(device), torch_contender()
    pair = [mine, theirs]
    print(f"{datetime.date.today()}, {launch.describe(0)[0]}, driver for CUDA {launch.load_driver()[1] / 1000:.1f}, "
          f"burn {version}, PyTorch {torch_version}")  # fmt: skip
    found = {}
    if not options.only:
        bare, rows = host_rows(pair, device)
        print(f"\n| host time, µs | burn | above a bare launch ({bare:.2f}) | PyTorch |\n|---|---|---|---|")
        for name, (ours, other) in rows:
            print(f"| {name} | {ours:.2f} | {ours - bare:.2f} | {other:.2f} |", flush=True)
            found[name] = [ours, other, bare]
        ours, other = training_row(device, options.rounds)
        found["mlp step"] = [ours, other]
        print(f"| MLP step 784-512-10, batch 64, Adam | {ours * 1e6:.0f} | | {other * 1e6:.0f} ({other / ours:.2f}x) |")
    print("\n| case | burn | PyTorch | ratio | wanted | rate of burn |\n|---|---|---|---|---|---|")
    for name, amount, unit, tensors, ours, other, wanted in cases(options.scale):
        if options.only in name:
            try:
                a, b = compare(pair, tensors, (ours, other), options.rounds, options.seconds)
            except Exception as e:
                print(f"| {name} | {type(e).__name__}: {e} |")
                continue
            rate = f"{amount / a / 1e9:.0f} GB/s" if unit == "B" else f"{amount / a / 1e12:.1f} TF/s"
            mark = "" if b / a >= wanted else " (below)"
            print(
                f"| {name} | {a * 1e3:.4f} ms | {b * 1e3:.4f} ms | {b / a:.2f}{mark} | {wanted} | {rate} |", flush=True
            )
            found[name] = [a, b, wanted, rate]
            gc.collect()
            device.memory_cleanup()
    if options.json:
        with open(options.json, "w") as file:
            json.dump(found, file, indent=1)


if __name__ == "__main__":
    main()
