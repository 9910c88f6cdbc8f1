"""Distributions of random tensors."""

import dataclasses
from typing import ClassVar

from burn._arguments import Unit

__all__ = ["Distribution"]


class Distribution:
    """What `Tensor.random` draws from. Mirrors `burn::tensor::Distribution`.

    Variants: `Distribution.Default` (uniform on [0, 1)), `Bernoulli(p)`, `Uniform(low, high)`, `Normal(mean, std)`.

    >>> Tensor.random([3], Distribution.Uniform(-1.0, 1.0)).shape
    [3]
    >>> Distribution.Normal(0.0, 2.0)
    Distribution.Normal(mean=0.0, std=2.0)
    """

    Default: ClassVar["Distribution"]
    Bernoulli: ClassVar[type]
    Uniform: ClassVar[type]
    Normal: ClassVar[type]


@dataclasses.dataclass(frozen=True)
class _Default(Unit, Distribution):
    def __reduce__(self):
        return "Distribution.Default"  # the one object of that name


@dataclasses.dataclass(frozen=True)
class _Bernoulli(Distribution):
    p: float


@dataclasses.dataclass(frozen=True)
class _Uniform(Distribution):
    low: float
    high: float


@dataclasses.dataclass(frozen=True)
class _Normal(Distribution):
    mean: float
    std: float


for _cls in (_Default, _Bernoulli, _Uniform, _Normal):
    _cls.__name__ = _cls.__qualname__ = _cls.__name__[1:]
    _cls.__qualname__ = f"Distribution.{_cls.__name__}"
    setattr(Distribution, _cls.__name__, _cls() if _cls is _Default else _cls)
