"""The layer that does nothing."""

from burn.module import Module
from burn.tensor import Tensor


class Identity(Module):
    """Returns its input. Mirrors `burn::nn::Identity`.

    >>> Identity(), Identity().forward(Tensor([1.0])).tolist()
    (Identity, [1.0])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Returns the input.

        # Shapes

        - input: any shape
        - output: the same
        """
        return input
