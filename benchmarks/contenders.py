"""The libraries that run the cases: burn, and the peers that are installed."""

import importlib
import importlib.util
import os

import numpy as np

from benchmarks import recurrent, training

NAMES = ("burn", "torch", "numpy")


def installed():
    """The contenders that can be imported, burn first."""
    return [name for name in NAMES if importlib.util.find_spec(name)]


def usable_threads():
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Burn:
    """burn on its CPU backend."""

    name = "burn"
    index_dtype = "int32"

    def __init__(self, threads):
        import burn

        burn.set_num_threads(threads)
        self.version = burn.__version__
        self.plain = burn.Device.flex()
        self.autodiff = self.plain.autodiff()
        self.names = {
            "burn": burn,
            "activation": importlib.import_module("burn.tensor.activation"),
            "normal": burn.tensor.Distribution.Normal(0.0, 1.0),
            "module": importlib.import_module("burn.tensor.module"),
            "losses": importlib.import_module("burn.nn.loss"),
            "mean": importlib.import_module("burn.nn.loss").Reduction.Mean,
            "rnnt": importlib.import_module("burn.nn.loss").RNNTLoss().forward,
            "full": lambda size, value: burn.Tensor.full([size], value, self.plain, kind=burn.Int),
            "ops": importlib.import_module("burn.tensor.ops"),
            "signal": importlib.import_module("burn.signal"),
            "PadMode": burn.tensor.PadMode,
            "whole": importlib.import_module("burn.tensor.ops").AttentionModuleOptions(),
            "causal": importlib.import_module("burn.tensor.ops").AttentionModuleOptions(is_causal=True),
            "f64": burn.DType.F64,
            "device": self.plain,
            **recurrent.burn_recurrent(),
        }

    def tensor(self, array, tracked, dtype):
        """A tensor that holds a copy of the array; of its dtype, where `dtype` is empty."""
        device = self.autodiff if tracked else self.plain
        tensor = self.names["burn"].Tensor.from_data(array, device, dtype or array.dtype)
        return tensor.require_grad() if tracked else tensor

    def step(self, name, *sizes):
        """A function that runs one of the steps of `training.py`."""
        return training.STEPS[name][0](*sizes)


class Torch:
    """PyTorch with its default settings, warmed as a long-running process is."""

    name = "torch"
    index_dtype = "int64"

    def __init__(self, threads):
        import torch

        torch.set_num_threads(threads)
        self.version = torch.__version__
        self.names = {
            "torch": torch,
            "F": torch.nn.functional,
            **recurrent.torch_recurrent(torch),
            "full": lambda size, value: torch.full((size,), value),
        }
        # Freed blocks of this size make glibc keep memory instead of returning it; without that, every large
        # result costs page faults and PyTorch looks up to five times slower than it is.
        blocks = [torch.zeros(7 << 20) for _ in range(2)]
        del blocks

    def tensor(self, array, tracked, dtype):
        """A tensor that holds a copy of the array."""
        tensor = self.names["torch"].from_numpy(array.copy())
        if dtype == "bfloat16":
            tensor = tensor.bfloat16()
        return tensor.requires_grad_(True) if tracked else tensor

    def step(self, name, *sizes):
        """A function that runs one of the steps of `training.py`."""
        return training.STEPS[name][1](*sizes)


class Numpy:
    """NumPy, where it has the operation."""

    name = "numpy"
    index_dtype = "int64"

    def __init__(self, threads):
        self.version = np.__version__
        self.names = {"np": np}

    def tensor(self, array, tracked, dtype):
        """The array itself; NumPy tracks nothing."""
        return array


def contender(name, threads=None):
    """The contender of that name, imported and set to `threads` threads (all usable ones where None)."""
    return {"burn": Burn, "torch": Torch, "numpy": Numpy}[name](threads or usable_threads())
