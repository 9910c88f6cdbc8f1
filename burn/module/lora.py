"""Low-rank adapters: few trained numbers beside frozen weights."""

import dataclasses
from typing import ClassVar

from burn._arguments import finite, instance, integer
from burn._core import core
from burn.errors import ArgumentError
from burn.tensor import Distribution, DType, Float, Tensor

from .group import ParamGroup
from .param import Param
from .param_id import ParamId
from .reparameterization import Reparameterization, Reparameterizer


class LoraAdapter(Reparameterization):
    """The factors of a low-rank update: the parameter is ``base + (a @ b) * scale``. Mirrors `burn::module::LoraAdapter`.

    Fields: `a` [d0, rank] and `b` [rank, d1], where the base is [d0, d1]; `scale`, which is not recorded. A base of
    another Float dtype is cast to that of the factors.

    >>> adapter = LoraAdapter(Param.from_data([[1.0], [2.0]]), Param.from_data([[3.0]]), 0.5)
    >>> adapter.delta().tolist(), adapter.apply(Tensor([[1.0], [1.0]])).tolist()
    ([[1.5], [3.0]], [[2.5], [4.0]])
    """

    NAME: ClassVar[str] = "lora"

    a: Param
    b: Param
    scale: float

    def __init__(self, a: Param, b: Param, scale: float):
        self.a = a
        self.b = b
        self.scale = scale

    def delta(self) -> Tensor:
        """What is added to the base."""
        return self.a.val().matmul(self.b.val()) * self.scale

    def apply(self, base: Tensor) -> Tensor:  # type: ignore[override]
        """The base with the update.

        Args:
            base: the stored tensor, [d0, d1].
        """
        delta = self.delta()
        return (base if base.dtype is delta.dtype else base.cast(delta.dtype)) + delta


@dataclasses.dataclass(frozen=True)
class Lora(Reparameterizer):
    """Freezes a module and attaches a `LoraAdapter` to its matrices: `Module.apply_lora` takes it.

    Every Float parameter is frozen. Those with two axes that belong to the group get factors, ``a`` drawn from a normal
    distribution and ``b`` zero, so that the module computes what it did before. Mirrors `burn::module::Lora`.

    Args:
        rank: size of the axis between the factors, at least 1.
        alpha: the update is scaled by ``alpha / rank``.
        init_std: standard deviation of ``a``; 1 / rank if None.
        dtype: Float dtype of the factors; that of the parameter if None.
        param_group: which parameters get factors.

    Raises:
        ArgumentError: a rank below 1, a negative standard deviation, or a dtype that is not Float.

    >>> model = burn.nn.LinearConfig(6, 4).init().apply_lora(Lora(2, 16.0))
    >>> model.num_params(), model.into_record().paths()
    (48, ['weight', 'weight.lora.a', 'weight.lora.b', 'bias'])
    >>> model.weight.is_active(), model.weight.adapter().a.is_active(), model.weight.adapter().scale
    (False, True, 8.0)
    """

    rank: int
    alpha: float
    init_std: float | None = None
    dtype: DType | None = None
    param_group: ParamGroup = dataclasses.field(default_factory=ParamGroup.all)

    def __post_init__(self):
        integer("Lora", "rank", self.rank, 1)
        finite("Lora", "alpha", self.alpha)
        if self.init_std is not None and finite("Lora", "init_std", self.init_std) < 0.0:
            raise ArgumentError(f"[Lora] 'init_std' must not be negative, got {self.init_std}")
        if self.dtype is not None:
            dtype = DType.of(self.dtype)
            if dtype.kind is not Float:
                raise ArgumentError(f"[Lora] 'dtype' must be a Float dtype, got {dtype}")
            object.__setattr__(self, "dtype", dtype)
        instance("Lora", "param_group", self.param_group, ParamGroup, "use ParamGroup.from_path(...)")

    def set_param_group(self, group: ParamGroup) -> "Lora":
        """The same with factors for another group.

        Args:
            group: which parameters get factors.

        >>> lora = Lora(1, 1.0).set_param_group(ParamGroup.from_path("bias"))
        >>> burn.nn.LinearConfig(6, 4).init().apply_lora(lora).weight.adapter() is None
        True
        """
        return dataclasses.replace(self, param_group=group)

    def set_dtype(self, dtype) -> "Lora":
        """The same with factors of a dtype.

        Args:
            dtype: a Float dtype.

        >>> burn.nn.LinearConfig(6, 4).init().apply_lora(Lora(1, 1.0).set_dtype("f16")).weight.adapter().a.val().dtype
        DType.F16
        """
        return dataclasses.replace(self, dtype=dtype)

    def reparameterize(self, path: str, param: Param) -> tuple[Param, LoraAdapter | None]:
        """The parameter, frozen, and the factors if it is a matrix of the group.

        Args:
            path: the path of the parameter.
            param: the parameter.

        >>> Lora(2, 1.0).reparameterize("bias", Param.from_data([1.0]))[1] is None
        True
        """
        base = param.set_require_grad(False)
        shape = param.lazy_shape()
        if len(shape) != 2 or not self.param_group.matches(param.id, path):
            return base, None
        # A parameter that waits to be initialised goes on waiting: it will have the default dtype of its device.
        dtype = self.dtype or (param.base().dtype if param.is_initialized() else None)
        std = 1.0 / self.rank if self.init_std is None else self.init_std

        def factor(shape, make):
            def init(device, require_grad):
                plain = device.inner()
                value = make(shape, plain)
                if dtype is not None and value.dtype is not dtype:
                    value = value.cast(dtype)
                return core.cut(value, device._ctx).set_require_grad(require_grad) if device.is_autodiff() else value

            return Param.uninitialized(ParamId(), init, param.lazy_device(), True, shape)

        a = factor([shape[0], self.rank], lambda s, device: Tensor.random(s, Distribution.Normal(0.0, std), device))
        b = factor([self.rank, shape[1]], Tensor.zeros)
        return base, LoraAdapter(a, b, self.alpha / self.rank)
