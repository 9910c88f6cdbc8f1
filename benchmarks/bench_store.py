"""Saving and loading of model files, beside the loaders of safetensors and PyTorch where they are installed.

python -m benchmarks.bench_store [MEGABYTES] [ROUNDS]

Files lie in the page cache; saving leaves out what waits for the disk on every side. A load ends with the values in a module.
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
from burn.store import BurnpackStore, PytorchStore, SafetensorsStore

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
        cases = ours(folder, layers) | extra
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


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
