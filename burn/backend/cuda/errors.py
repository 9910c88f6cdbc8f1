"""What the driver reports, as errors of burn."""

import itertools

from burn.errors import DeviceError, DeviceMemoryError, DevicePoisonedError, ExecutionError

__all__ = ["failure"]

OUT_OF_MEMORY = 2
REFUSED, TOO_LARGE = -1, -2  # CUDA_REFUSED, CUDA_TOO_LARGE of device.h
SHOWN = 12

_poisoned: dict[int, str] = {}


def failure(index, code, name, text, what, size, ops, count, forked, fatal, memory):
    """The exception for a call that failed.

    Args:
        index: the GPU.
        code: the driver's number, or -1 when we refused the call ourselves.
        name: the driver's name of the code.
        text: the driver's sentence for it.
        what: the op, or the kind of call.
        size: bytes asked for, where that matters.
        ops: the last ops launched since the last good check, oldest first.
        count: how many were launched since then.
        forked: whether this process is a forked child.
        fatal: whether the context is lost.
        memory: byte counts, when memory ran out.
    """
    device = f"cuda:{index}"
    if forked:
        return DeviceError(
            f"[{what}] CUDA cannot be used in a forked child of a process that has used it; start workers with "
            "multiprocessing.get_context('spawn')"
        )
    if code == REFUSED:
        if index in _poisoned:
            return DevicePoisonedError(
                f"[{what}] {device} is poisoned: {_poisoned[index]}; restart the process to use it again"
            )
        return DeviceError(f"[{what}] {device} is closed: the interpreter is shutting down")
    if code == TOO_LARGE:
        return ExecutionError(f"[{what}] {device} cannot run {size} blocks in one launch; use smaller tensors")
    if code == OUT_OF_MEMORY:
        return _out_of_memory(device, what, size, memory)
    reason = f"{name} ({text})" if name else f"error {code}"
    if fatal:
        _poisoned[index] = f"{reason} in earlier work"
        return DevicePoisonedError(
            f"[{what}] {device} met {reason}; {_suspects(ops, count)}. The device is lost: restart the process"
        )
    return ExecutionError(f"[{what}] the CUDA driver refused the call on {device}: {reason}; {_remedy(name)}")


def _suspects(ops, count):
    """The sentence that names the ops that may be to blame."""
    if not ops:
        return "no op of burn was launched since the last good sync, so other code in this process is to blame"
    if count == 1:
        return f"the op to blame is {ops[0]}"
    runs = [(name, len(list(same))) for name, same in itertools.groupby(ops)]
    shown = [f"{name} ×{n}" if n > 1 else name for name, n in runs[-SHOWN:]]
    more = "" if len(runs) <= SHOWN and count == len(ops) else " (the last of them)"
    return (
        f"{count} ops were launched since the last good sync: {', '.join(shown)}{more}; "
        "set BURN_CUDA_SYNC=1 to learn which one"
    )


def _out_of_memory(device, what, size, memory):
    if not memory:
        return DeviceMemoryError(f"[{what}] {device} has too little free memory; end other programs that use it")

    return DeviceMemoryError(
        f"[{what}] {device} has no room for {size} bytes, even after all kept memory was given back: "
        f"{_amount(memory['live'])} are in live tensors, {_amount(memory['spare'])} of {_amount(memory['total'])} are free; "
        "free tensors or use smaller batches"
    )


def _amount(size):
    """Bytes in the unit that suits them."""
    for unit, scale in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size >= scale:
            return f"{size / scale:.2f} {unit}"
    return f"{size} bytes"


def _remedy(name):
    return {
        "CUDA_ERROR_NO_BINARY_FOR_GPU": "clear the cache folder (BURN_CUDA_CACHE) so that kernels are compiled again",
        "CUDA_ERROR_INVALID_IMAGE": "clear the cache folder (BURN_CUDA_CACHE) so that kernels are compiled again",
        "CUDA_ERROR_DEVICE_UNAVAILABLE": "another process uses the GPU exclusively: wait for it, or choose another GPU",
        "CUDA_ERROR_NOT_SUPPORTED": "the GPU or its driver lacks what burn needs, such as memory pools",
    }.get(name, "this is a fault of burn or of the driver: please report it")
