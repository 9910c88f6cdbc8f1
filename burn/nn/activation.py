"""Activations as layers. Every one takes any shape and keeps it."""

from burn.config import ConfigEnum
from burn.module import EnumModule, Module
from burn.tensor import Tensor, activation

from .identity import Identity


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


class ActivationConfig(ConfigEnum):
    """Which activation. Mirrors `burn::nn::activation::ActivationConfig`.

    >>> ActivationConfig.Relu.init()
    Relu {
      _0: Relu
    }
    """

    class Identity:
        """None."""

    class Gelu:
        """`Gelu`."""

    class GeluApproximate:
        """`Gelu` in its tanh form."""

    class Relu:
        """`Relu`."""

    class Sigmoid:
        """`Sigmoid`."""

    class Tanh:
        """`Tanh`."""

    def init(self, device=None) -> "Activation":
        """The layer; on the default device if ``device`` is None.

        Args:
            device: a Device; the default device if None.
        """
        name = type(self).__name__
        if name == "GeluApproximate":
            return Activation.Gelu(Gelu.new_approximate())
        layers = {"Identity": Identity, "Gelu": Gelu, "Relu": Relu, "Sigmoid": Sigmoid, "Tanh": Tanh}
        return getattr(Activation, name)(layers[name]())


class Activation(EnumModule):
    """An activation of any kind. Mirrors `burn::nn::activation::Activation`.

    >>> ActivationConfig.Relu.init().forward(Tensor([-1.0, 2.0])).tolist()
    [0.0, 2.0]
    """

    Identity: Identity
    Gelu: Gelu
    Relu: Relu
    Sigmoid: Sigmoid
    Tanh: Tanh

    def forward(self, input: Tensor) -> Tensor:
        """Applies the layer in the variant.

        # Shapes

        - input: any shape
        - output: the same
        """
        return self.module(input)
