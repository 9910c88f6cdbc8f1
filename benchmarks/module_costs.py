"""What modules and their files cost: calls, walks, initialising, saving and loading, beside PyTorch and safetensors.

python -m benchmarks.module_costs [MILLIONS] [FOLDER]

MILLIONS of parameters has the transformer that is saved, 100 by default. The files go to FOLDER, by default to memory
(/dev/shm) where that exists: what is measured is the library and the page cache, and not the disk. Least times of five runs.
"""

import functools
import importlib.util
import os
import sys
import tempfile
import time
import timeit

import burn
from burn.module import Module, ModuleVisitor, PathTracking
from burn.nn import LinearConfig
from burn.nn.transformer import TransformerEncoderConfig
from burn.store import ModuleRecord, SafetensorsStore
from burn.tensor import module as functional

CPU = burn.Device.flex()


class Count(ModuleVisitor):
    """Counts the parameters."""

    def __init__(self):
        self.count = 0

    def visit_float(self, param):
        self.count += 1


class Paths(PathTracking, ModuleVisitor):
    """Asks for the path of each parameter."""

    def visit_float(self, param):
        self.path()


class Initialise(ModuleVisitor):
    """Makes each parameter's tensor."""

    def visit_float(self, param):
        param.val()


class Many(Module):
    """Layers of two parameters each."""

    def __init__(self, layers):
        self.layers = [LinearConfig(2, 2).init(CPU) for _ in range(layers)]


def transformer(millions):
    """The layers of a transformer of about so many million parameters, whose tensors are still to be made."""
    layers = max(1, round(millions * 1e6 / 12.6e6)) if millions >= 1 else 1
    width = 1024 if millions >= 1 else 16
    return TransformerEncoderConfig(d_model=width, d_ff=4 * width, n_heads=16, n_layers=layers).init(CPU)


def initialised(millions):
    """A transformer with its tensors."""
    model = transformer(millions)
    model.visit(Initialise())
    return model


def least(run, runs=5):
    """Seconds of the fastest of several runs."""
    return min(timeit.repeat(run, number=1, repeat=runs))


def call_costs():
    """Seconds of a call of a small layer, and of the function that it calls."""
    layer, x = LinearConfig(8, 8).init(CPU), burn.Tensor.ones([1, 8], CPU)
    weight, bias = layer.weight.val(), layer.bias.val()
    names = {"layer": layer, "x": x, "linear": functional.linear, "weight": weight, "bias": bias}
    timers = [timeit.Timer(text, globals=names) for text in ("layer(x)", "linear(x, weight, bias)")]
    rounds = [[timer.timeit(2000) / 2000 for timer in timers] for _ in range(50)]
    return [min(times) for times in zip(*rounds, strict=True)]


def walk_rows(parameters=10_000):
    """Names, seconds and limits of walks over a module of so many parameters."""
    model = Many(parameters // 2)
    return [
        (f"visit {parameters} parameters", least(lambda: model.visit(Count())), 20e-3),
        (f"visit {parameters} parameters, with paths", least(lambda: model.visit(Paths())), 20e-3),
        (f"num_params of {parameters} parameters", least(model.num_params), None),
        (f"build {parameters // 2} layers", least(lambda: Many(parameters // 2), 1), None),
    ]


def file_rows(model, fresh, folder):
    """Names, bytes and seconds of saving and loading a model, by burn and by what else is installed."""
    size = 4 * model.num_params()
    path, tensors = os.path.join(folder, "model.bpk"), os.path.join(folder, "model.safetensors")
    rows = [("burn: save_file", least(lambda: model.save_file(path)))]
    rows.append(("burn: load_file", least(lambda: fresh.load_file(path))))
    with open(path, "rb") as file:
        rows.append(("burn: load from bytes", least(functools.partial(load_bytes, fresh, file.read()))))
    os.unlink(path)
    store = SafetensorsStore.from_file(tensors).overwrite(True)
    rows.append(("burn: save safetensors", least(lambda: model.save_into(store))))
    rows.append(("burn: load safetensors", least(lambda: fresh.load_from(SafetensorsStore.from_file(tensors)))))
    arrays = {entry.name: entry.to_numpy() for entry in model.into_record().tensors()}
    if importlib.util.find_spec("safetensors"):
        from safetensors.numpy import load_file, save_file

        rows.append(("safetensors.numpy: save_file", least(lambda: save_file(arrays, tensors))))
        rows.append(("safetensors.numpy: load_file", least(lambda: load_file(tensors))))
    if importlib.util.find_spec("torch"):
        import torch

        if importlib.util.find_spec("safetensors"):
            from safetensors.torch import load_file as load_torch

            # The file is mapped: the sums make it read what the others have read.
            rows.append(
                (
                    "safetensors.torch: load_file, and a sum",
                    least(lambda: [t.sum() for t in load_torch(tensors).values()]),
                )
            )
        state = {name: torch.from_numpy(array.copy()) for name, array in arrays.items()}
        pickled = os.path.join(folder, "model.pt")
        rows.append(("torch: save", least(lambda: torch.save(state, pickled))))
        rows.append(("torch: load", least(lambda: torch.load(pickled))))
        os.unlink(pickled)
    os.unlink(tensors)
    return [(name, size, seconds) for name, seconds in rows]


def load_bytes(model, data):
    """A model with the values of a file in memory."""
    return model.load_record(ModuleRecord.from_bytes(data))


def open_seconds(folder, size=2 << 30):
    """Seconds of opening a file of so many bytes, of which nothing but the head is read."""
    from burn.store.pack import PackDType, PackTensor, Writer

    path = os.path.join(folder, "large.bpk")
    count = 100
    tensors = [
        PackTensor.deferred(f"layers.{i}.weight", PackDType("F32"), [size // count // 4], size // count // 4 * 4, bytes)
        for i in range(count)
    ]
    with open(path, "wb") as file:
        file.write(Writer(tensors)._plan()[0])
        file.truncate(size + (1 << 20))
    seconds = least(lambda: ModuleRecord.load(path))
    os.unlink(path)
    return seconds


def main(millions=100.0, folder=None):
    """Prints a line for each cost."""
    layer, function = call_costs()
    print(
        f"Linear {layer * 1e6:.2f} us, linear() {function * 1e6:.2f} us, over it {(layer - function) * 1e6:.2f} us (limit 1)"
    )
    for name, seconds, limit in walk_rows():
        print(f"{name:44} {seconds * 1e3:8.1f} ms{f'  (limit {limit * 1e3:.0f})' if limit else ''}")
    start = time.perf_counter()
    model = initialised(millions)
    seconds = time.perf_counter() - start
    count = f"{model.num_params() / 1e6:.0f}"
    print(f"{f'build and initialise {count} million parameters':44} {seconds:8.2f} s  (limit 3 for 100)")
    place = folder or ("/dev/shm" if os.path.isdir("/dev/shm") else None)
    with tempfile.TemporaryDirectory(dir=place) as files:
        print(f"{'open a file of 2 GB':44} {open_seconds(files) * 1e3:8.2f} ms  (limit 50)")
        for name, size, seconds in file_rows(model, transformer(millions), files):
            limit = "  (limit 1)" if name in ("burn: save_file", "burn: load_file") else ""
            print(f"{name:44} {size / seconds / 1e9:8.2f} GB/s{limit}")


if __name__ == "__main__":
    main(*[float(text) if at == 0 else text for at, text in enumerate(sys.argv[1:])])
