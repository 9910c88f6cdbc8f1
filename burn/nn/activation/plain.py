"""Activations without numbers. Every one takes any shape and keeps it."""

from burn._arguments import integer
from burn.module import Module
from burn.tensor import Tensor, activation

from .._checks import named
from ._pointwise import Pointwise


class Relu(Pointwise):
    """``max(0, x)``; NaN stays NaN. Mirrors `burn::nn::Relu`.

    >>> Relu(), Relu().forward(Tensor([-1.0, 2.0])).tolist()
    (Relu, [0.0, 2.0])
    """

    def _of(self, input: Tensor) -> Tensor:
        return activation.relu(input)


class Relu6(Pointwise):
    """``x`` limited to 0..6. Mirrors `burn::nn::activation::Relu6`.

    >>> Relu6().forward(Tensor([-1.0, 2.0, 9.0])).tolist()
    [0.0, 2.0, 6.0]
    """

    def _of(self, input: Tensor) -> Tensor:
        return activation.relu6(input)


class Selu(Pointwise):
    """``g x``, or ``g a (exp(x) - 1)`` below 0, with a = 1.6733 and g = 1.0507. Mirrors `burn::nn::Selu`.

    >>> Selu().forward(Tensor([1.0, -1.0])).tolist()
    [1.0507..., -1.1113...]
    """

    def _of(self, input: Tensor) -> Tensor:
        return activation.selu(input)


class Sigmoid(Pointwise):
    """``1 / (1 + exp(-x))``. Mirrors `burn::nn::Sigmoid`.

    >>> Sigmoid().forward(Tensor([0.0])).tolist()
    [0.5]
    """

    def _of(self, input: Tensor) -> Tensor:
        return activation.sigmoid(input)


class LogSigmoid(Pointwise):
    """``log(sigmoid(x))`` without overflow. Mirrors `burn::nn::activation::LogSigmoid`.

    >>> LogSigmoid().forward(Tensor([0.0])).tolist()
    [-0.6931...]
    """

    def _of(self, input: Tensor) -> Tensor:
        return activation.log_sigmoid(input)


class HardSwish(Pointwise):
    """``x`` times ``x / 6 + 0.5`` limited to 0..1. Mirrors `burn::nn::activation::HardSwish`.

    >>> HardSwish().forward(Tensor([3.0, -3.0, 1.0])).tolist()
    [3.0, 0.0, 0.6666...]
    """

    def _of(self, input: Tensor) -> Tensor:
        return activation.hard_swish(input)


class SiLU(Pointwise):
    """``x * sigmoid(x)``. Mirrors `burn::nn::activation::SiLU`.

    >>> SiLU().forward(Tensor([1.0])).tolist()
    [0.7310...]
    """

    def _of(self, input: Tensor) -> Tensor:
        return activation.silu(input)


class Mish(Pointwise):
    """``x * tanh(log(1 + exp(x)))``. Mirrors `burn::nn::activation::Mish`.

    >>> Mish().forward(Tensor([1.0])).tolist()
    [0.8650...]
    """

    def _of(self, input: Tensor) -> Tensor:
        return activation.mish(input)


class Softsign(Pointwise):
    """``x / (1 + |x|)``. Mirrors `burn::nn::Softsign`.

    >>> Softsign().forward(Tensor([1.0, -3.0])).tolist()
    [0.5, -0.75]
    """

    def _of(self, input: Tensor) -> Tensor:
        return activation.softsign(input)


class Tanh(Pointwise):
    """Hyperbolic tangent. Mirrors `burn::nn::Tanh`.

    >>> Tanh().forward(Tensor([0.0])).tolist()
    [0.0]
    """

    def _of(self, input: Tensor) -> Tensor:
        return activation.tanh(input)


class Tanhshrink(Pointwise):
    """``x - tanh(x)``. Mirrors `burn::nn::activation::Tanhshrink`.

    >>> Tanhshrink().forward(Tensor([1.0])).tolist()
    [0.2384...]
    """

    def _of(self, input: Tensor) -> Tensor:
        return activation.tanhshrink(input)


class Gelu(Pointwise):
    """``0.5 x (1 + erf(x / sqrt 2))``, or its tanh form if ``approximate``. Mirrors `burn::nn::Gelu`.

    >>> Gelu().forward(Tensor([1.0])).tolist(), Gelu.new_approximate().forward(Tensor([1.0])).tolist()
    ([0.8413...], [0.8411...])
    """

    approximate: bool

    def __init__(self, approximate: bool = False):
        self.approximate = approximate

    @classmethod
    def new_approximate(cls) -> "Gelu":
        """The tanh form."""
        return cls(True)

    def _of(self, input: Tensor) -> Tensor:
        return activation.gelu_approximate(input) if self.approximate else activation.gelu(input)


class GLU(Module):
    """The first half along an axis, times the sigmoid of the second. Mirrors `burn::nn::GLU`.

    >>> GLU(1).forward(Tensor([[2.0, 3.0, 0.0, 0.0]])).tolist()
    [[1.0, 1.5]]
    """

    dim: int

    def __init__(self, dim: int = 0):
        self.dim = integer("GLU", "dim", dim)

    def forward(self, input: Tensor) -> Tensor:
        """Applies the function.

        # Shapes

        - input: any shape with an even size along the axis
        - output: half as long there

        Raises:
            KindError: an input that is not Float.
            ShapeError: an odd size.
            OutOfBoundsError: an input without the axis.
        """
        return named("GLU", activation.glu, input, self.dim)
