"""The compiled CPU backend: picks the SIMD level of the kernels, and the number of threads."""

import importlib
import importlib.util
import math
import os
import warnings

from burn._core import core
from burn.errors import ArgumentError

__all__ = ["available_levels", "level", "load_family", "set_num_threads", "threads_for_this_process"]

_RANK = {"v4": 4, "v3": 3, "v2": 2, "portable": 0}
_chosen = None


def available_levels():
    """Levels whose kernels are installed and that this processor runs, best first."""
    top = core.cpu_level()
    return [name for name, rank in _RANK.items() if rank <= top and _installed(name)]


def _installed(name):
    try:
        return importlib.util.find_spec(f"burn._core._{name}.elementwise") is not None
    except ModuleNotFoundError:
        return False


def level():
    """The SIMD level in use: "v4" (AVX-512), "v3" (AVX2), "v2" (SSE4.2) or "portable".

    The best one that the processor runs, unless the environment variable BURN_SIMD names another.
    """
    global _chosen
    if _chosen is None:
        wanted = os.environ.get("BURN_SIMD", "").strip().lower()
        levels = available_levels()
        if not levels:
            raise ImportError(
                "burn has no kernels for this processor: build them with `pip install .` in the source folder "
                "(BURN_BUILD_LEVELS=native builds the level of this machine)"
            )
        if wanted and wanted not in levels:
            raise ImportError(f"BURN_SIMD must be one of {', '.join(levels)} on this machine, got {wanted!r}")
        _chosen = wanted or levels[0]
    return _chosen


def load_family(family):
    """The kernel table of a family, loaded on first use."""
    return importlib.import_module(f"burn._core._{level()}.{family}").table


def _cgroup_cpus():
    """CPUs that the control group may use, or None without a quota."""
    for path, split in (("/sys/fs/cgroup/cpu.max", True), ("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", False)):
        try:
            with open(path) as file:
                words = file.read().split()
            if split:
                quota, period = words
            else:
                quota = words[0]
                with open("/sys/fs/cgroup/cpu/cpu.cfs_period_us") as file:
                    period = file.read()
            if quota not in ("max", "-1"):
                return max(1, math.ceil(int(quota) / int(period)))
        except (OSError, ValueError):
            continue
    return None


def _from_environment(name):
    text = os.environ.get(name, "").split(",")[0].strip()
    if text and not (text.isdigit() and 0 < int(text) <= 1024):
        warnings.warn(
            f"{name} must be a whole number in 1..1024, got {text!r}; it is ignored", RuntimeWarning, stacklevel=2
        )
        return None
    return int(text) if text else None


def threads_for_this_process():
    """Smallest of CPU affinity, control group quota, OMP_NUM_THREADS and BURN_NUM_THREADS."""
    cpus = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    limits = [cpus, _cgroup_cpus(), _from_environment("OMP_NUM_THREADS"), _from_environment("BURN_NUM_THREADS")]
    return min(n for n in limits if n)


def set_num_threads(n):
    """Sets how many threads the CPU kernels use, in the whole process.

    Args:
        n: at least 1. More than the machine has is allowed, and slow.

    Raises:
        ArgumentError: n is below 1.

    >>> import burn
    >>> burn.set_num_threads(burn.get_num_threads())
    """
    if not isinstance(n, int) or isinstance(n, bool) or not 1 <= n <= 1024:
        raise ArgumentError(f"[set_num_threads] 'n' must be an int in 1..1024, got {n!r}")
    core.set_threads(n)


core.set_threads(threads_for_this_process())
