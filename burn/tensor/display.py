"""How tensors are printed."""

import dataclasses

import numpy as np

from burn.errors import ArgumentError, ArgumentTypeError, ExecutionError

__all__ = ["PrintOptions", "format_data", "format_tensor", "set_print_options"]


@dataclasses.dataclass(frozen=True)
class PrintOptions:
    """Limits of the printed form: number of elements before it is shortened, items kept at the edges, decimals.

    Mirrors `burn::tensor::PrintOptions`.

    Raises:
        ArgumentError: a negative number.

    >>> set_print_options(PrintOptions(threshold=4, edge_items=1, precision=1))
    >>> Tensor([1.25, 2.0, 3.0, 4.0, 5.0])
    Tensor {
      data:
    [1.2, ..., 5.0],
      shape:  [5],
      device:  Device<Flex(Cpu)>,
      kind:  "Float",
      dtype:  "f32",
    }
    >>> set_print_options(PrintOptions())
    """

    threshold: int = 1000
    edge_items: int = 3
    precision: int | None = None

    def __post_init__(self):
        for name, value in dataclasses.asdict(self).items():
            if value is None and name == "precision":
                continue
            if not hasattr(value, "__index__") or isinstance(value, bool):
                raise ArgumentTypeError(f"[PrintOptions] '{name}' must be an int, got {value!r}")
            if value < 0:
                raise ArgumentError(f"[PrintOptions] '{name}' must be at least 0, got {value}")


_options = PrintOptions()


def set_print_options(options):
    """Sets the print options of the whole process. Mirrors `burn::tensor::set_print_options`.

    Args:
        options: the `PrintOptions`.

    Raises:
        ArgumentTypeError: something else.

    >>> set_print_options(PrintOptions(precision=2))
    >>> set_print_options(PrintOptions())  # those of the start
    """
    global _options
    if not isinstance(options, PrintOptions):
        raise ArgumentTypeError(f"[set_print_options] 'options' must be PrintOptions, got {options!r}")
    _options = options


def format_number(value, precision=None):
    """One element as Burn prints it: shortest round-trip text with at least one decimal."""
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, int | np.integer):
        return str(value)
    if np.isnan(value):
        return "NaN"
    if np.isinf(value):
        return "inf" if value > 0 else "-inf"
    if precision is not None:
        return f"{float(value):.{precision}f}"
    size = abs(float(value))
    if size and (size >= 1e16 or size < 1e-4):
        return np.format_float_scientific(value, trim="-", exp_digits=1).replace("e+", "e")
    return np.format_float_positional(value, trim="0")


def format_data(array, options=None):
    """The nested list of an array."""
    options = options or _options
    if array.dtype.name in ("bfloat16", "float16"):
        array = array.astype(np.float32)
    short = array.size > options.threshold

    def walk(part, depth):
        n, k = len(part), options.edge_items
        cut = short and n > 2 * k
        if part.ndim == 1:
            items = [
                format_number(v, options.precision)
                for v in (part if not cut else np.concatenate([part[:k], part[n - k :]]))
            ]
            if cut:
                items.insert(k, "...")
            return "[" + ", ".join(items) + "]"
        pad = "\n" + " " * (depth + 1)
        if not cut:
            return "[" + ("," + pad).join(walk(p, depth + 1) for p in part) + "]"
        if k == 0:
            return "[...]"
        head = ("," + pad).join(walk(p, depth + 1) for p in part[:k])
        tail = ("," + pad).join(walk(p, depth + 1) for p in part[n - k :])
        return "[" + head + "," + pad + "..." + pad + tail + "]"

    return walk(array, 0)


def format_tensor(t, precision=None):
    """The text of a tensor."""
    options = _options if precision is None else dataclasses.replace(_options, precision=precision)
    try:
        data = format_data(t.numpy(), options)
    except ExecutionError:
        data = "<Tensor data not available>"
    return (
        f"Tensor {{\n  data:\n{data},\n  shape:  {list(t.dims())},\n  device:  {t.device!r},\n"
        f'  kind:  "{t.kind.name}",\n  dtype:  "{t.dtype.name}",\n}}'
    )
