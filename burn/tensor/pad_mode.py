"""Modes of padding."""

import dataclasses
from typing import ClassVar

from burn._arguments import Unit

__all__ = ["PadMode"]


class PadMode:
    """What `Tensor.pad` puts around a tensor. Mirrors `burn::tensor::PadMode`.

    Variants: `PadMode.Constant(value)` (0.0 if not given), `PadMode.Reflect` (mirrored at the outermost element, which is not
    repeated), `PadMode.Edge` (the outermost element repeated).

    >>> Tensor([1, 2, 3]).pad([(1, 1)], PadMode.Constant(9)).tolist()
    [9, 1, 2, 3, 9]
    >>> Tensor([1, 2, 3]).pad([(1, 1)], PadMode.Edge).tolist()
    [1, 1, 2, 3, 3]
    """

    Constant: ClassVar[type]
    Reflect: ClassVar["PadMode"]
    Edge: ClassVar["PadMode"]


@dataclasses.dataclass(frozen=True)
class _Constant(PadMode):
    value: float = 0.0


@dataclasses.dataclass(frozen=True)
class _Reflect(Unit, PadMode):
    def __reduce__(self):
        return "PadMode.Reflect"  # the one object of that name


@dataclasses.dataclass(frozen=True)
class _Edge(Unit, PadMode):
    def __reduce__(self):
        return "PadMode.Edge"


for _cls in (_Constant, _Reflect, _Edge):
    _cls.__name__ = _cls.__name__[1:]
    _cls.__qualname__ = f"PadMode.{_cls.__name__}"
    setattr(PadMode, _cls.__name__, _cls if _cls is _Constant else _cls())
