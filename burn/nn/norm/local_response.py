"""Normalisation by neighbouring channels."""

from burn._arguments import finite
from burn._ops import norm
from burn.config import Config
from burn.errors import ShapeError
from burn.module import ONE_LINE, Module
from burn.tensor import Tensor

from .._checks import check_float, check_size


class LocalResponseNormConfig(Config):
    """Configuration of `LocalResponseNorm`. Mirrors `burn::nn::LocalResponseNormConfig`.

    >>> LocalResponseNormConfig(5).init()
    LocalResponseNorm {size: 5, alpha: 0.0001, beta: 0.75, k: 1}
    """

    size: int
    alpha: float = 0.0001
    beta: float = 0.75
    k: float = 1.0

    def init(self) -> "LocalResponseNorm":
        """The layer.

        Raises:
            ArgumentError: a size that is no positive integer, a number that is not finite.
        """
        size = check_size("LocalResponseNormConfig", "size", self.size)
        names = ("alpha", "beta", "k")
        return LocalResponseNorm(size, *(finite("LocalResponseNormConfig", n, getattr(self, n)) for n in names))


class LocalResponseNorm(Module):
    """``x / (k + alpha * average)^beta``, the average of the squares of ``size`` neighbouring channels.

    Mirrors `burn::nn::LocalResponseNorm`. The average divides by ``size`` at the borders too. An even size reaches one
    channel further up, as ONNX has it (PyTorch reaches further down). Fields: `size`, `alpha`, `beta`, `k`.

    >>> LocalResponseNorm(1, alpha=1.0, beta=1.0).forward(Tensor([[[1.0], [2.0]]])).tolist()
    [[[0.5], [0.4000...]]]
    """

    size: int
    alpha: float
    beta: float
    k: float

    def __init__(self, size: int, alpha: float = 0.0001, beta: float = 0.75, k: float = 1.0):
        self.size = size
        self.alpha = alpha
        self.beta = beta
        self.k = k

    def forward(self, input: Tensor) -> Tensor:
        """Applies the layer.

        # Shapes

        - input: [batch, channels, ...], at least three axes
        - output: the same

        Raises:
            KindError: an input that is not Float.
            ShapeError: an input of fewer axes.
        """
        check_float("LocalResponseNorm", input, "input")
        if input.ndim < 3:
            raise ShapeError(f"[LocalResponseNorm] 'input' must have at least 3 axes, got shape {input.dims()}")
        return norm.local_response_norm(input, self.size, self.alpha, self.beta, self.k)

    def custom_settings(self):
        return ONE_LINE

    def custom_content(self, content):
        return content.add("size", self.size).add("alpha", self.alpha).add("beta", self.beta).add("k", self.k)
