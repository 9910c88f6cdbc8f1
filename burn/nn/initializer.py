"""How parameters get their first values."""

import functools
import math
from collections.abc import Iterable

from burn._arguments import device as check_device
from burn._arguments import instance, integer
from burn._core import core
from burn.config import ConfigEnum
from burn.errors import ModuleError
from burn.module import Param, ParamId
from burn.tensor import Distribution, Tensor


class Initializer(ConfigEnum):
    """A rule for the first values of a parameter. Mirrors `burn::nn::Initializer`.

    The gain is a plain factor. The kaiming rules need the number of inputs of a unit (or outputs, with
    ``fan_out_only``), the xavier rules both; layers give them.

    >>> from burn.device import Device
    >>> Initializer.Constant(2.0).init([3], Device.flex()).val().tolist()
    [2.0, 2.0, 2.0]
    """

    class Constant:
        """Every element ``value``."""

        value: float

    class Ones:
        """Every element 1."""

    class Zeros:
        """Every element 0."""

    class Uniform:
        """Uniform on [min, max); the constant ``min`` if both are equal."""

        min: float
        max: float

    class Normal:
        """Normal with this mean and standard deviation."""

        mean: float
        std: float

    class KaimingUniform:
        """Uniform on [-a, a) with a = gain * sqrt(3 / fan)."""

        gain: float = 1.0 / math.sqrt(3.0)
        fan_out_only: bool = False

    class KaimingNormal:
        """Normal with standard deviation gain / sqrt(fan)."""

        gain: float = 1.0 / math.sqrt(3.0)
        fan_out_only: bool = False

    class XavierUniform:
        """Uniform on [-a, a) with a = gain * sqrt(6 / (fan_in + fan_out))."""

        gain: float = 1.0

    class XavierNormal:
        """Normal with standard deviation gain * sqrt(2 / (fan_in + fan_out))."""

        gain: float = 1.0

    class Orthogonal:
        """Orthonormal rows or columns (whichever are fewer), times gain; the first axis are the rows."""

        gain: float = 1.0

    def init(self, shape, device=None) -> Param:
        """A parameter that draws its values when it is first needed.

        Args:
            shape: sizes.
            device: where to; the default device if None.

        Returns:
            A trainable Float parameter of that shape.
        """
        return self.init_with(shape, None, None, device)

    def init_with(self, shape, fan_in: int | None, fan_out: int | None, device=None) -> Param:
        """As `init`, with the number of inputs and outputs of a unit.

        Args:
            shape: sizes.
            fan_in: number of inputs of a unit; None where the rule needs none.
            fan_out: number of outputs of a unit; None where the rule needs none.
            device: where to; the default device if None.

        Raises:
            ModuleError: when the values are drawn: a fan is missing, or the rule describes no distribution.

        >>> Initializer.KaimingNormal(1.0, False).init_with([3, 5], 3, 5).val().shape
        [3, 5]
        """
        shape = instance("init", "shape", shape, Iterable, "put a single size into a list")
        shape = tuple(integer("init", "shape", size, 0) for size in shape)
        device = check_device("init", device)

        def draw(device, require_grad):
            # The draw itself is not recorded; only the leaf belongs to the autodiff context.
            value = self._values(shape, fan_in, fan_out, device.inner())
            if device.is_autodiff():
                value = core.cut(value, device._ctx).set_require_grad(require_grad)
            return value

        return Param.uninitialized(ParamId(), draw, device, True, shape)

    def _values(self, shape, fan_in, fan_out, device) -> Tensor:
        return _RULES[type(self)](self, shape, fan_in, fan_out, device)


def _constant(rule, shape, fan_in, fan_out, device):
    return Tensor.full(shape, float(rule.value), device)


def _ones(rule, shape, fan_in, fan_out, device):
    return Tensor.ones(shape, device)


def _zeros(rule, shape, fan_in, fan_out, device):
    return Tensor.zeros(shape, device)


def _uniform(rule, shape, fan_in, fan_out, device):
    return _draw_uniform(rule, rule.min, rule.max, shape, device)


def _normal(rule, shape, fan_in, fan_out, device):
    return _draw_normal(rule, rule.mean, rule.std, shape, device)


def _kaiming(draw, rule, shape, fan_in, fan_out, device):
    fan = _fan(rule, "fan_out" if rule.fan_out_only else "fan_in", fan_out if rule.fan_out_only else fan_in)
    return draw(rule, rule.gain * math.sqrt(1.0 / fan), shape, device)


def _xavier(draw, rule, shape, fan_in, fan_out, device):
    fans = _fan(rule, "fan_in", fan_in) + _fan(rule, "fan_out", fan_out)
    return draw(rule, rule.gain * math.sqrt(2.0 / fans), shape, device)


def _orthogonal(rule, shape, fan_in, fan_out, device):
    if len(shape) < 2:
        raise ModuleError(
            f"[Initializer.Orthogonal] 'shape' must have at least 2 axes, got {list(shape)}; "
            "give biases another initializer"
        )
    import numpy as np
    from scipy.linalg import qr

    rows, columns = shape[0], math.prod(shape[1:])
    drawn = Tensor.random([max(rows, columns), min(rows, columns)], Distribution.Normal(0.0, 1.0), device)
    q, r = qr(drawn.numpy().astype("f8"), mode="economic")
    # The signs make the factorisation unique, so that Q is uniform over the orthogonal matrices.
    q *= np.where(np.diagonal(r) < 0, -1.0, 1.0) * rule.gain
    return Tensor.from_data((q.T if rows < columns else q).reshape(shape), device, drawn.dtype)


def _uniform_of(rule, std, shape, device):
    bound = math.sqrt(3.0) * std
    return _draw_uniform(rule, -bound, bound, shape, device)


def _normal_of(rule, std, shape, device):
    return _draw_normal(rule, 0.0, std, shape, device)


def _draw_uniform(rule, low, high, shape, device):
    if not low <= high:
        raise ModuleError(f"[{rule!r}] the range must not be empty, got {low} to {high}")
    if low == high:
        return Tensor.full(shape, float(low), device)
    return Tensor.random(shape, Distribution.Uniform(low, high), device)


def _draw_normal(rule, mean, std, shape, device):
    if not std >= 0.0:
        raise ModuleError(f"[{rule!r}] the standard deviation must not be negative, got {std}")
    return Tensor.random(shape, Distribution.Normal(mean, std), device)


def _fan(rule, name: str, value: int | None) -> int:
    if not value or value < 0:
        raise ModuleError(
            f"[{rule!r}] needs a positive {name}, got {value}: give it to init_with(), "
            "or take an initializer that needs none"
        )
    return value


_RULES = {
    Initializer.Constant: _constant,
    type(Initializer.Ones): _ones,
    type(Initializer.Zeros): _zeros,
    Initializer.Uniform: _uniform,
    Initializer.Normal: _normal,
    Initializer.KaimingUniform: functools.partial(_kaiming, _uniform_of),
    Initializer.KaimingNormal: functools.partial(_kaiming, _normal_of),
    Initializer.XavierUniform: functools.partial(_xavier, _uniform_of),
    Initializer.XavierNormal: functools.partial(_xavier, _normal_of),
    Initializer.Orthogonal: _orthogonal,
}
