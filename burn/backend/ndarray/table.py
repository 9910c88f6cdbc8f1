"""The table of NumPy kernels and the two ways to add one."""

import functools
from collections.abc import Callable, Sequence

import numpy as np

Arrays = Sequence[np.ndarray]
Kernel = Callable[[Arrays, Arrays, tuple, tuple], None]

KERNELS: dict[str, Kernel] = {}


def kernel(name: str) -> Callable[[Kernel], Kernel]:
    """Decorator: enters `fn(outs, ins, ints, floats)` into `KERNELS`, with NumPy's floating-point warnings silenced."""

    def register(fn: Kernel) -> Kernel:
        @functools.wraps(fn)
        def quiet(outs: Arrays, ins: Arrays, ints: tuple = (), floats: tuple = ()) -> None:
            with np.errstate(all="ignore"):
                fn(outs, ins, ints, floats)

        KERNELS[name] = quiet
        return fn

    return register


def pointwise(name: str, expression: Callable[..., np.ndarray]) -> None:
    """Enters an op whose only output is `expression(*inputs, *floats)`, floats widened to double first."""

    @kernel(name)
    def run(outs: Arrays, ins: Arrays, ints: tuple, floats: tuple) -> None:
        outs[0][...] = expression(*operands(outs, ins), *floats)


def backward(name: str, expression: Callable[..., np.ndarray]) -> None:
    """Enters an op as `pointwise` does; where its last input, the incoming gradient, is 0 the result is 0."""

    @kernel(name)
    def run(outs: Arrays, ins: Arrays, ints: tuple, floats: tuple) -> None:
        values = operands(outs, ins)
        outs[0][...] = np.where(values[-1] == 0, 0.0, expression(*values, *floats))


def operands(outs: Arrays, ins: Arrays) -> list[np.ndarray]:
    """The inputs, widened, ready to broadcast: a scalar may come with a rank above that of the output."""
    return [wide(x.reshape(()) if x.ndim > outs[0].ndim else x) for x in ins]


def wide(x: np.ndarray) -> np.ndarray:
    """`x` in double precision when it holds floats of any width (bfloat16 has no NumPy kind of its own), else `x`."""
    return x.astype(np.float64) if is_float(x.dtype) else x


def is_float(dtype: np.dtype) -> bool:
    """Whether `dtype` is a float dtype, bfloat16 included."""
    return dtype.kind == "f" or dtype.name == "bfloat16"
