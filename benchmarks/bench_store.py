"""Saving and loading of model files, beside the loaders of safetensors and PyTorch where they are installed.

python -m benchmarks.bench_store [MEGABYTES] [ROUNDS]

Files lie in the page cache (TMPDIR says in which file system); nobody waits for the disk. A load ends with values in a module.
The lines of the system are its own writes and reads of as many bytes: the floor of the others. Below, a file of 2 GB is opened.
"""

import importlib.util
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path
from unittest import mock

import pytest

from burn import Device
from burn.module import Module
from burn.nn import LinearConfig
from burn.store import BurnpackStore, ModuleRecord, PytorchStore, SafetensorsStore
from burn.store.pack import PackDType, PackTensor, Writer
from burn.store.safetensors import format as safetensors

SIDE = 1024
CPU = Device.flex()


class Net(Module):
    """Square layers."""

    def __init__(self, layers):
        self.layers = [LinearConfig(SIDE, SIDE).init(CPU) for _ in range(layers)]


def torch_net(layers):
    """The same in PyTorch."""
    import torch

    net = torch.nn.Module()
    net.layers = torch.nn.ModuleList(torch.nn.Linear(SIDE, SIDE) for _ in range(layers))
    return net


def have(*names):
    """Whether all of these can be imported."""
    return all(importlib.util.find_spec(name) for name in names)


def ours(folder, layers):
    """Name, and function to time, of everything burn does."""
    net, into = Net(layers), Net(layers)
    net.collect()  # initialises
    cases = {}
    for name, kind in (("burnpack", BurnpackStore), ("safetensors", SafetensorsStore)):
        path = folder / f"ours.{name}"
        net.save_into(kind.from_file(path))
        cases[f"{name} save"] = lambda kind=kind, path=path: net.save_into(kind.from_file(path).overwrite(True))
        cases[f"{name} load"] = lambda kind=kind, path=path: into.load_from(kind.from_file(path))
        cases[f"{name} open"] = lambda kind=kind, path=path: kind.from_file(path).keys()
    return cases


def floor(folder, size):
    """Writes and reads of the system alone."""
    path, data, chunk = folder / "floor", bytes(size), bytearray(8 << 20)

    def write():
        with open(folder / "floor.new", "wb", buffering=0) as file:
            for start in range(0, size, len(chunk)):
                file.write(memoryview(data)[start : start + len(chunk)])
        os.replace(folder / "floor.new", path)

    def read():
        with open(path, "rb", buffering=0) as file:
            while file.readinto(chunk):
                pass

    write()
    return {"system save": write, "system load": read}


def large(folder):
    """Name, and function that opens it, of files of 2 GB in 500 tensors; what they hold takes no room on the disk."""
    tensors = [
        PackTensor.deferred(f"layers.{i}.weight", PackDType("F32"), (SIDE, SIDE), 4 << 20, bytes) for i in range(500)
    ]
    header, _, size = Writer(tensors)._plan()
    first = next(safetensors.pieces(tensors, {}))
    for name, head, end in (("burnpack", header, size), ("safetensors", first, len(first) + 500 * (4 << 20))):
        with open(folder / f"large.{name}", "wb") as file:
            file.write(head)
            file.truncate(end)
    return {
        "record": lambda: ModuleRecord.load(folder / "large.burnpack"),
        "burnpack": lambda: BurnpackStore.from_file(folder / "large.burnpack").get_all_tensors(),
        "safetensors": lambda: SafetensorsStore.from_file(folder / "large.safetensors").get_all_tensors(),
    }


def resident():
    """Memory of this process that is in use, in MB."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def theirs(folder, layers):
    """The same of the peers, and our loads of their files."""
    cases, peers = {}, {}
    if not have("torch"):
        return cases, peers
    import torch

    net, into, empty = torch_net(layers), torch_net(layers), Net(layers)
    for name, zipped in (("zip", True), ("legacy", False)):
        path = folder / f"theirs.{name}"
        torch.save(net.state_dict(), path, _use_new_zipfile_serialization=zipped)
        cases[f"pytorch {name} load"] = lambda path=path: empty.load_from(PytorchStore.from_file(path))
        peers[f"pytorch {name} load"] = lambda path=path: into.load_state_dict(torch.load(path))
    peers["burnpack save"] = lambda: torch.save(net.state_dict(), folder / "theirs.zip")
    peers["burnpack load"] = peers["pytorch zip load"]
    if have("safetensors"):
        from safetensors import safe_open
        from safetensors.torch import load_file, save_file

        path = folder / "theirs.safetensors"
        save_file(net.state_dict(), path)
        peers["safetensors save"] = lambda: save_file(net.state_dict(), path)
        peers["safetensors load"] = lambda: into.load_state_dict(load_file(path))
        peers["safetensors open"] = lambda: safe_open(path, "pt").keys()
    return cases, peers


@pytest.mark.parametrize(
    "name", [f"{kind} {what}" for kind in ("burnpack", "safetensors") for what in ("save", "load", "open")]
)
def bench_store(benchmark, tmp_path, name):
    benchmark(ours(tmp_path, 4)[name])


def seconds(function):
    """Time of one call."""
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def main(megabytes=256, rounds=7):
    """Prints a line for each case: our time, our rate, and the peer's time over ours, in turns."""
    layers = max(1, megabytes * 10**6 // (4 * SIDE * (SIDE + 1)))
    size = layers * 4 * SIDE * (SIDE + 1)
    # Ours waits for the disk, the peers do not.
    with mock.patch.object(os, "fsync"), tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        extra, peers = theirs(folder, layers)
        cases = floor(folder, size) | ours(folder, layers) | extra
        print(f"{size / 1e6:.0f} MB in {2 * layers} tensors\n{'':22}{'ms':>9}{'GB/s':>8}  peer / burn")
        for case, function in cases.items():
            peer = peers.get(case)
            times, ratios = [], []
            for _ in range(rounds + 1):
                times.append(seconds(function))
                if peer:
                    ratios.append(seconds(peer) / times[-1])
            median = statistics.median(times[1:])
            rate = f"{size / median / 1e9:8.2f}" if not case.endswith("open") else " " * 8
            print(f"{case:22}{1e3 * median:9.2f}{rate}  {f'{statistics.median(ratios[1:]):.2f}' if ratios else ''}")
        print(f"\n{'a file of 2 GB':22}{'ms':>9}{'MB':>8}")
        for case, function in large(folder).items():
            before, times = resident(), []
            for _ in range(rounds):
                start = time.perf_counter()
                kept = function()
                times.append(time.perf_counter() - start)
            print(f"{case + ' open':22}{1e3 * statistics.median(times):9.2f}{resident() - before:8.1f}")
            del kept


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
