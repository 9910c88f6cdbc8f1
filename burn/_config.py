"""Process-wide configuration: threads, versions, tracing."""

import sys

from burn._arguments import truth
from burn._core import core
from burn.backend import contract, flex
from burn.errors import DeviceError

__all__ = ["get_num_threads", "set_num_threads", "set_winograd", "show_config"]

set_num_threads = flex.set_num_threads


def get_num_threads():
    """Number of threads that CPU kernels use.

    >>> burn.get_num_threads() >= 1
    True
    """
    return core.pool_size_now()


def set_winograd(on):
    """Whether 3x3 convolutions in f32 may go through Winograd's sums on a CPU, which they may unless this says otherwise.

    Those of stride 1 and 2 do, with stride 1 their gradients too. They are up to twice as fast and end within 1e-4 of the
    largest result, mostly far below; without them the error is that of a plain sum. Results that are not finite are computed
    again plainly either way. BURN_WINOGRAD=0 forbids them from the start.

    Args:
        on: True or False.

    Returns:
        What held before.

    Raises:
        ArgumentTypeError: neither True nor False.

    >>> set_winograd(set_winograd(False))
    False
    """
    from burn._ops import conv

    before, conv.winograd[0] = conv.winograd[0], truth("set_winograd", "on", on)
    return before


def show_config():
    """Prints versions, SIMD level, threads and backends, for bug reports.

    >>> burn.show_config()
    burn ..., Python ..., NumPy ..., ...
    SIMD level: ...
    threads: ...
    default device: ...
    cuda: ...
    """
    import platform

    import numpy as np

    from burn._ops import conv
    from burn._version import __version__
    from burn.device import Device

    print(f"burn {__version__}, Python {platform.python_version()}, NumPy {np.__version__}, {platform.machine()}")
    print(f"SIMD level: {flex.level()} (usable here: {', '.join(flex.available_levels())}; BURN_SIMD chooses)")
    print(f"threads: {get_num_threads()} (BURN_NUM_THREADS, OMP_NUM_THREADS, burn.set_num_threads)")
    print(f"Winograd: {'allowed' if conv.winograd[0] else 'forbidden'} (BURN_WINOGRAD, burn.set_winograd)")
    print(f"default device: {Device.default()}")
    try:
        Device.cuda()
        print("cuda: available")
    except DeviceError as e:
        print(f"cuda: {e}")


def _find_python_kernel(backend, name):
    """A kernel of a backend written in Python; number 1 is ndarray."""
    if backend != 1:
        raise DeviceError(f"[{name}] no backend number {backend}")
    from burn.backend.ndarray import KERNELS

    if name not in KERNELS:
        raise DeviceError(f"[{name}] is not available on Device.ndarray(); use Device.flex()")
    return KERNELS[name]


def _load_family(slot, family):
    """The kernel table of a family on a device; None when its kernels are Python functions."""
    if slot == 0:
        return flex.load_family(family)
    if slot == 1:
        return None
    from burn.backend.cuda import load_family

    return load_family(slot, family)


core.set_hooks(_load_family, _find_python_kernel, contract.KernelError)
core.set_check(contract.is_on("BURN_CHECK"))
if contract.is_on("BURN_TRACE"):
    core.set_tracer(lambda line: print(line, file=sys.stderr))
