"""Weight normalisation: lengths and directions of weights as parameters of their own."""

import dataclasses
from typing import ClassVar

from burn._arguments import instance, integer
from burn.errors import ArgumentError
from burn.linalg import l2_norm_dims
from burn.tensor import Tensor

from .group import ParamGroup
from .param import Param
from .reparameterization import Reparameterization, Reparameterizer


class WeightNormalization(Reparameterization):
    """The lengths of a parameter's slices: the parameter is ``base * g / norm(base)``.

    The norm is over all axes but `dim`; where it is 0 the slice stays 0. Fields: `g` [size of `dim`]; `dim`. Mirrors
    the example of Burn's tests of `Reparameterization`.

    >>> norm = WeightNormalization(Param.from_data([10.0]), 1)
    >>> norm.apply(Tensor([[3.0], [4.0]])).tolist()
    [[6.0], [8.0]]
    """

    NAME: ClassVar[str] = "weight_norm"

    g: Param
    dim: int

    def __init__(self, g: Param, dim: int):
        self.g = g
        self.dim = dim

    def apply(self, base: Tensor) -> Tensor:  # type: ignore[override]
        """The base, its slices scaled to the lengths `g`.

        Args:
            base: the stored tensor, with two axes or more.
        """
        norm = _norm(base, self.dim)
        norm = norm.mask_fill(norm.equal_scalar(0.0), 1.0)
        shape = [1] * len(base.shape)
        shape[self.dim] = base.shape[self.dim]
        return base * (self.g.val().reshape(shape) / norm)


@dataclasses.dataclass(frozen=True)
class WeightNorm(Reparameterizer):
    """Attaches a `WeightNormalization` to parameters with two axes or more; lengths and directions are both trained.

    The lengths start as the norms of the weights, so the module computes what it did before.

    Args:
        dim: the axis whose slices have a length each: 1 for the outputs of a `Linear`, 0 for those of a convolution.
        param_group: which parameters.

    Raises:
        ArgumentError: a negative axis, or a parameter of the group that has no such axis.

    >>> model = burn.nn.LinearConfig(6, 4).init().apply_reparameterization(WeightNorm())
    >>> model.into_record().paths(), model.num_params()
    (['weight', 'weight.weight_norm.g', 'bias'], 32)
    """

    dim: int = 1
    param_group: ParamGroup = dataclasses.field(default_factory=ParamGroup.all)

    def __post_init__(self):
        integer("WeightNorm", "dim", self.dim, 0)
        instance("WeightNorm", "param_group", self.param_group, ParamGroup, "use ParamGroup.from_path(...)")

    def reparameterize(self, path: str, param: Param) -> tuple[Param, WeightNormalization | None]:
        """The parameter, and its lengths if it has two axes or more and belongs to the group.

        Args:
            path: the path of the parameter.
            param: the parameter.

        >>> base, norm = WeightNorm(0).reparameterize("weight", Param.from_data([[3.0, 4.0]]))
        >>> norm.g.val().tolist()
        [5.0]
        """
        shape = param.lazy_shape()
        if len(shape) < 2 or not self.param_group.matches(param.id, path):
            return param, None
        if self.dim >= len(shape):
            raise ArgumentError(f"[WeightNorm] 'dim' must be below the {len(shape)} axes of {path!r}, got {self.dim}")
        norm = _norm(param.base().detach().set_require_grad(False), self.dim).reshape([shape[self.dim]])
        return param, WeightNormalization(Param.from_tensor(norm).set_require_grad(param.is_active()), self.dim)


def _norm(value: Tensor, dim: int) -> Tensor:
    """The length of each slice along an axis; the others keep size 1."""
    return l2_norm_dims(value, [axis for axis in range(len(value.shape)) if axis != dim])
