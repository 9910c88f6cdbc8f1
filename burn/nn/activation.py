"""Activations as layers. Every one takes any shape and keeps it."""

from burn.module import Module
from burn.tensor import Tensor, activation


class Relu(Module):
    """``max(0, x)``; NaN stays NaN. Mirrors `burn::nn::Relu`.

    >>> Relu(), Relu().forward(Tensor([-1.0, 2.0])).tolist()
    (Relu, [0.0, 2.0])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Applies the function.

        # Shapes

        - input: any shape
        - output: the same
        """
        return activation.relu(input)


class Sigmoid(Module):
    """``1 / (1 + exp(-x))``. Mirrors `burn::nn::Sigmoid`.

    >>> Sigmoid().forward(Tensor([0.0])).tolist()
    [0.5]
    """

    def forward(self, input: Tensor) -> Tensor:
        """Applies the function.

        # Shapes

        - input: any shape
        - output: the same
        """
        return activation.sigmoid(input)


class LogSigmoid(Module):
    """``log(sigmoid(x))`` without overflow. Mirrors `burn::nn::activation::LogSigmoid`.

    >>> LogSigmoid().forward(Tensor([0.0])).tolist()
    [-0.6931...]
    """

    def forward(self, input: Tensor) -> Tensor:
        """Applies the function.

        # Shapes

        - input: any shape
        - output: the same
        """
        return activation.log_sigmoid(input)


class Tanh(Module):
    """Hyperbolic tangent. Mirrors `burn::nn::Tanh`.

    >>> Tanh().forward(Tensor([0.0])).tolist()
    [0.0]
    """

    def forward(self, input: Tensor) -> Tensor:
        """Applies the function.

        # Shapes

        - input: any shape
        - output: the same
        """
        return activation.tanh(input)


class SiLU(Module):
    """``x * sigmoid(x)``. Mirrors `burn::nn::activation::SiLU`.

    >>> SiLU().forward(Tensor([1.0])).tolist()
    [0.7310...]
    """

    def forward(self, input: Tensor) -> Tensor:
        """Applies the function.

        # Shapes

        - input: any shape
        - output: the same
        """
        return activation.silu(input)


class Gelu(Module):
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

    def forward(self, input: Tensor) -> Tensor:
        """Applies the function.

        # Shapes

        - input: any shape
        - output: the same
        """
        return activation.gelu_approximate(input) if self.approximate else activation.gelu(input)
