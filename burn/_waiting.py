"""Names of Burn that wait for later work: what each one waits for, and what serves until then.

A change that brings a name takes it out of this list; `tests/tensor/test_coverage.py` fails where one is in both places.
"""

from collections.abc import Callable, Iterable
from typing import Any, NoReturn

from burn.errors import NotYetError

__all__ = ["WAITING", "LackingNames", "check_waiting", "lacks", "shown"]

_QUANTIZED_TENSORS = "quantized tensors"
_QUANTIZED, _DISTRIBUTED, _ASYNC = "quantized operations", "distributed operations", "asynchronous reads"
_VISION = "the vision library"
_CAPTURE, _EXTENSION = "capture of graphs", "the extension names"
_SHARE = "numpy(), from_numpy() and DLPack share the memory of a tensor"

# The owner and the name: what it waits for, and what to do instead.
WAITING = {
    "Tensor.quantize": (_QUANTIZED, 'cast("f16") halves the memory'),
    "Tensor.quantize_dynamic": (_QUANTIZED, 'cast("f16") halves the memory'),
    "Tensor.dequantize": (_QUANTIZED, "no tensor is quantized, so each can be used as it is"),
    "TensorData.quantized": (_QUANTIZED, 'from_bytes(codes, shape, "i8") holds the integers'),
    "DType.QFloat": (_QUANTIZED, "DType.I8 holds the integers"),
    "Module.quantize_weights": (_QUANTIZED_TENSORS, "a module of f16 or bf16 tensors takes half the memory"),
    "Module.quantize_weights_group": (_QUANTIZED_TENSORS, "a module of f16 or bf16 tensors takes half the memory"),
    "Module.apply_qlora": (_QUANTIZED_TENSORS, "apply_lora() keeps the base as it is"),
    "burn.module.QLora": (_QUANTIZED_TENSORS, "Lora keeps the base as it is"),
    "burn.module.Quantizer": (_QUANTIZED_TENSORS, "a module of f16 or bf16 tensors takes half the memory"),
    "Tensor.is_distributed": (_DISTRIBUTED, "no tensor is distributed"),
    "Tensor.set_distributed": (_DISTRIBUTED, "grad_replace() puts a gradient in that was averaged elsewhere"),
    "Tensor.to_data_async": (_ASYNC, "to_data() waits for the values"),
    "Tensor.into_data_async": (_ASYNC, "into_data() waits for the values"),
    "Tensor.into_scalar_async": (_ASYNC, "into_scalar() waits for the value"),
    "Tensor.try_into_scalar_async": (_ASYNC, "try_into_scalar() waits for the value"),
    "burn.tensor.capture": (_CAPTURE, "call the function each time"),
    "burn.tensor.Graph": (_CAPTURE, "call the function each time"),
    "burn.nn.loss.GramMatrixLoss": (_VISION, "MseLoss() of a @ a.transpose(), with a as [channels, height * width]"),
    "burn.nn.loss.GramMatrixLossConfig": (
        _VISION,
        "MseLoss() of a @ a.transpose(), with a as [channels, height * width]",
    ),
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
    if f"{owner}.{name}" in WAITING:
        raise _waiting(owner, name)


def _waiting(owner: str, name: str) -> NotYetError:
    what, instead = WAITING[f"{owner}.{name}"]
    error = NotYetError(f"[{owner}.{name}] is a name of Burn that waits for {what}; until then: {instead}")
    error.name = name
    return error


class _Lack:
    """A name that a class lacks: asked for it, the class or one of its objects raises what `refuse(owner, name)` makes.

    `__getattr__` would do the same, but makes every use of every other name slower.
    """

    __slots__ = ("name", "refuse")

    def __init__(self, name, refuse):
        self.name, self.refuse = name, refuse

    def __get__(self, of, owner) -> NoReturn:
        raise self.refuse(owner, self.name)


def lacks(cls: type, name: str, refuse: Callable[[type, str], Exception]) -> None:
    """Lets a class that is of the type LackingNames say, by an AttributeError, why it lacks a name."""
    setattr(cls, name, _Lack(name, refuse))


def lack_waiting(cls: type) -> None:
    """Lets a class say of its names in the list what they wait for."""
    for path in WAITING:
        owner, _, word = path.rpartition(".")
        if owner == cls.__name__:
            lacks(cls, word, lambda _, word: _waiting(cls.__name__, word))


class LackingNames(type):
    """The type of classes that have names in the list: asked for one, they say what it waits for. `dir` does not show these."""

    def __init__(cls, name: str, bases: tuple[type, ...], space: dict[str, Any]) -> None:
        super().__init__(name, bases, space)
        lack_waiting(cls)

    def __dir__(cls) -> list[str]:
        return shown(cls, super().__dir__())


def shown(cls: type, names: Iterable[str]) -> list[str]:
    """The names without those that a class lacks."""
    hidden = {name for each in cls.__mro__ for name, value in vars(each).items() if isinstance(value, _Lack)}
    return [name for name in names if name not in hidden]
