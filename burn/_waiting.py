"""Names of Burn that wait for later work: what each one waits for, and what serves until then.

A change that brings a name takes it out of this list; `tests/tensor/test_coverage.py` fails where one is in both places.
"""

from typing import NoReturn

from burn.errors import NotYetError

__all__ = ["WAITING", "WaitingNames", "check_waiting"]

_QUANTIZED, _DISTRIBUTED, _ASYNC = "quantized operations", "distributed operations", "asynchronous reads"
_CAPTURE, _EXTENSION = "capture of graphs", "the extension names"
_SHARE = "numpy(), from_numpy() and DLPack share the memory of a tensor"

# The owner and the name: what it waits for, and what to do instead.
WAITING = {
    "Tensor.quantize": (_QUANTIZED, 'cast("f16") halves the memory'),
    "Tensor.quantize_dynamic": (_QUANTIZED, 'cast("f16") halves the memory'),
    "Tensor.dequantize": (_QUANTIZED, "no tensor is quantized, so each can be used as it is"),
    "TensorData.quantized": (_QUANTIZED, 'from_bytes(codes, shape, "i8") holds the integers'),
    "DType.QFloat": (_QUANTIZED, "DType.I8 holds the integers"),
    "Tensor.is_distributed": (_DISTRIBUTED, "no tensor is distributed"),
    "Tensor.set_distributed": (_DISTRIBUTED, "grad_replace() puts a gradient in that was averaged elsewhere"),
    "Tensor.to_data_async": (_ASYNC, "to_data() waits for the values"),
    "Tensor.into_data_async": (_ASYNC, "into_data() waits for the values"),
    "Tensor.into_scalar_async": (_ASYNC, "into_scalar() waits for the value"),
    "Tensor.try_into_scalar_async": (_ASYNC, "try_into_scalar() waits for the value"),
    "burn.tensor.capture": (_CAPTURE, "call the function each time"),
    "burn.tensor.Graph": (_CAPTURE, "call the function each time"),
    "Tensor.into_bridge": (_EXTENSION, _SHARE),
    "Tensor.from_bridge": (_EXTENSION, _SHARE),
    "Tensor.into_dispatch": (_EXTENSION, _SHARE),
    "Tensor.from_dispatch": (_EXTENSION, _SHARE),
    "Tensor.into_primitive": (_EXTENSION, _SHARE),
    "Tensor.try_into_primitive": (_EXTENSION, _SHARE),
    "Tensor.from_primitive": (_EXTENSION, _SHARE),
    "burn.tensor.PrimitiveConversionError": (_EXTENSION, _SHARE),
}


def check_waiting(owner: str, name: str) -> None:
    """Raises NotYetError where a name of a class or a module is one that waits."""
    found = WAITING.get(f"{owner}.{name}")
    if found:
        error = NotYetError(f"[{owner}.{name}] is a name of Burn that waits for {found[0]}; until then: {found[1]}")
        error.name = name
        raise error


class WaitingNames(type):
    """The type of classes that have names in the list: asked for one, a class says what it waits for."""

    def __getattr__(cls, name) -> NoReturn:
        for each in cls.__mro__:
            check_waiting(each.__name__, name)
        raise AttributeError(f"type object {cls.__name__!r} has no attribute {name!r}", name=name, obj=cls)
