"""The CUDA backend: the op records of burn on a GPU.

Kernels are text in `cuda/*.cu`, compiled by PyCUDA on first use and kept on disk (`compile.py`, `cache.py`); `launch.pyx`
launches them through the driver's library. Without PyCUDA or a GPU, `cuda_slot` says so in one sentence and nothing
else changes. PyCUDA is imported when the first kernel is compiled, the driver is loaded when it is first asked for.
"""

import atexit
import functools
import importlib.util
import operator
import sys
import threading

from burn._core import core
from burn.backend.contract import is_on
from burn.backend.cuda.errors import failure
from burn.errors import ArgumentTypeError, DeviceError, ExecutionError

__all__ = ["count", "cuda_slot", "load_family", "stream", "usage"]

OLDEST_DRIVER = 12000  # stream-ordered pools, lazy loading of modules
NUMBER = 2  # of this backend in the core
DLPACK = 2  # kDLCUDA
FIRST_SLOT = 8  # CUDA_FIRST_SLOT of device.h

_opened: set[int] = set()
_opening = threading.Lock()


@functools.cache
def _driver():
    """(reason why the driver cannot be used or None, remedy). Asked once; loads no PyCUDA."""
    if importlib.util.find_spec("pycuda") is None:
        return "PyCUDA is not installed", 'install it with `pip install "burn-dl[cuda]"`'
    try:
        from burn.backend.cuda import launch
    except ImportError as e:
        return f"the compiled launcher is missing ({e})", "build it with `pip install .` in the source folder"
    missing, version = launch.load_driver()
    if missing is not None:
        return f"the NVIDIA driver cannot be used ({missing})", "install or update the NVIDIA driver"
    if version < OLDEST_DRIVER:
        seen = f"{version // 1000}.{version % 1000 // 10}"
        return f"the NVIDIA driver supports CUDA {seen}, and 12.0 is needed", "update the NVIDIA driver"
    if launch.count_devices() == 0:
        return "the driver reports no GPU", "check nvidia-smi and CUDA_VISIBLE_DEVICES"
    return None, ""


def count():
    """Number of usable GPUs; 0 where anything is missing, and in a forked child."""
    if _driver()[0] is not None:
        return 0
    from burn.backend.cuda import launch

    return 0 if launch.forked() else launch.count_devices()


def _check(index):
    try:
        number = -1 if isinstance(index, bool) else operator.index(index)
    except TypeError:
        number = -1
    if number < 0:
        raise DeviceError(f"[cuda] 'index' must be an int of at least 0, got {index!r}")
    index = number
    reason, remedy = _driver()
    if reason is not None:
        raise DeviceError(f"[cuda] {reason}; {remedy}, or use Device.flex()")
    from burn.backend.cuda import launch

    if launch.forked():
        raise failure(index, -1, "", "", "cuda", 0, [], 0, True, False, {})
    if index >= launch.count_devices():
        raise DeviceError(
            f"[cuda] 'index' must be below the number of GPUs, {launch.count_devices()}, got {index}; "
            "Device.enumerate('cuda') lists them"
        )
    return launch, index


def cuda_slot(index):
    """The device slot of a GPU, which is opened when it is first asked for.

    Args:
        index: number of the GPU as the driver counts, from 0.

    Returns:
        The slot, by which the core knows the device.

    Raises:
        DeviceError: no PyCUDA, no driver, one that is too old, no such GPU, or a forked child.
    """
    launch, index = _check(index)
    if index not in _opened:
        with _opening:
            if index not in _opened:
                _open(launch, index)
                _opened.add(index)
    return FIRST_SLOT + index


@functools.cache
def _hooks():
    """What compiled code calls back, and the end of all work at exit; set up once."""
    from burn.backend.cuda import launch
    from burn.backend.cuda.compile import image

    launch.set_hooks(core.set_pending, core.ticket_error, failure, image)
    atexit.register(_close)
    return launch.memory()


def _close():
    """The end of all work. What it would still have raised is written to stderr, as nothing reads it any more."""
    from burn.backend.cuda import launch

    for index in sorted(_opened):
        try:
            core.sync_device(FIRST_SLOT + index)
        except Exception as e:
            if not launch.forked():
                print(f"burn: work on cuda:{index} that nothing has read failed: {e}", file=sys.stderr)
    launch.close_devices()


def _open(launch, index):
    memory = _hooks()
    try:
        slot = launch.open_device(index, is_on("BURN_CUDA_SYNC"))
    except ExecutionError as e:
        raise DeviceError(f"[cuda] GPU {index} cannot be opened: {e}") from None
    core.register_device(slot, NUMBER, memory, DLPACK, index)


def index_of(slot):
    """The number of the GPU of a slot."""
    return slot - FIRST_SLOT


def usage(slot):
    """Byte and block counts of a GPU's memory."""
    from burn.backend.cuda import launch

    return launch.usage(index_of(slot))


def load_family(slot, family):
    """The kernel table of a family on a GPU; nothing is compiled before a kernel runs."""
    from burn.backend.cuda import launch
    from burn.backend.cuda.source import rows

    return launch.make_table(index_of(slot), family, rows(family))


def stream(index=0):
    """The CUDA stream, as an integer handle, on which a GPU's work is done: for other libraries to wait for.

    >>> import burn.backend.cuda as cuda
    >>> torch_stream = lambda: torch.cuda.ExternalStream(cuda.stream(0))  # doctest: +SKIP
    """
    cuda_slot(index)
    from burn.backend.cuda import launch

    return launch.stream(index)


LEGACY = (None, 0, 1)  # how DLPack and __cuda_array_interface__ name the default stream, which waits for ours by itself


def order(index, other, ours_waits):
    """Makes our stream wait for another library's (its handle), or that one for ours."""
    from burn.backend.cuda import launch

    if other in LEGACY or other == -1:
        return
    if not isinstance(other, int) or other < 0:
        raise ArgumentTypeError(f"[cuda] 'stream' must be the handle of a CUDA stream as an int, or -1, got {other!r}")
    if other != launch.stream(index) and launch.order(index, other, ours_waits):
        core.raise_pending()


def owner_of(address):
    """The GPU whose memory an address is in, or None."""
    _check(0)
    from burn.backend.cuda import launch

    index = launch.owner_of(address)
    return None if index < 0 else index


class StreamGuard:
    """Lives as long as memory is shared with a stream of another library; then its owner's stream waits for the borrower's.

    ours_waits: the memory is ours, and used again only after the other stream's work; else it is theirs.
    """

    __slots__ = ("index", "other", "ours_waits")

    def __init__(self, index, other, ours_waits):
        self.index, self.other, self.ours_waits = index, other, ours_waits

    def __del__(self):
        try:
            order(self.index, self.other, self.ours_waits)
        except Exception:
            pass  # a poisoned device: nothing runs there any more
