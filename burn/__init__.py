"""burn: the Burn 0.22 deep-learning framework for Python.

Backends are chosen at run time through `Device`, autodiff is run-time state, modules are functional, and records are burnpack
files that a Rust Burn program reads and writes too.

>>> import burn
>>> x = burn.Tensor([[1.0, 2.0], [3.0, 4.0]], burn.Device.flex().autodiff()).require_grad()
>>> grads = (x * x).sum().backward()
>>> x.grad(grads).tolist()
[[2.0, 4.0], [6.0, 8.0]]
"""

from burn import errors as errors
from burn._hints import lacking as _lacking
from burn._version import __version__ as __version__

try:
    from burn._core import core as _built  # noqa: F401
except ImportError as _error:
    raise ImportError(
        "the compiled parts of burn are missing; run `pip install .` in the source folder (a C compiler is needed), and do not "
        f"import burn from inside an unbuilt source folder ({_error})"
    ) from _error

from burn._config import get_num_threads as get_num_threads
from burn._config import set_num_threads as set_num_threads
from burn._config import set_winograd as set_winograd
from burn._config import show_config as show_config
from burn.tensor import Bool as Bool
from burn.tensor import Device as Device
from burn.tensor import DeviceConfig as DeviceConfig
from burn.tensor import DeviceSettings as DeviceSettings
from burn.tensor import Distribution as Distribution
from burn.tensor import DType as DType
from burn.tensor import Float as Float
from burn.tensor import Int as Int
from burn.tensor import Kind as Kind
from burn.tensor import Shape as Shape
from burn.tensor import Tensor as Tensor
from burn.tensor import TensorCreationOptions as TensorCreationOptions
from burn.tensor import TensorData as TensorData
from burn.tensor import assert_shape as assert_shape
from burn.tensor import debug_assert_shape as debug_assert_shape

_LAZY = (
    "backend",
    "config",
    "data",
    "grad_clipping",
    "linalg",
    "lr_scheduler",
    "module",
    "nn",
    "optim",
    "signal",
    "store",
    "train",
)


def __getattr__(name):
    """Sub-packages are imported when they are first used, so that `import burn` stays quick."""
    if name in _LAZY:
        import importlib

        return importlib.import_module(f"burn.{name}")
    raise _lacking("burn", name)


def __dir__():
    return sorted([*globals(), *_LAZY])
