"""The layer that does nothing."""

from burn.module import Module
from burn.tensor import Tensor


class Identity(Module):
    """Returns its input. Mirrors `burn::nn::Identity`.

    >>> Identity()
    Identity
    """

    def forward(self, input: Tensor) -> Tensor:
        """Returns the input.

        # Shapes

        - input: any shape
        - output: the same
        """
        return input
