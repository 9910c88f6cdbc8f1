"""What the activations of each element share."""

import dataclasses

from burn._arguments import finite
from burn.config import Config
from burn.module import Module
from burn.tensor import Tensor

from .._checks import check_float
from .._printed import Printed


class Pointwise(Module):
    """Base of activations of each element by itself.

    >>> from burn.nn import Tanh
    >>> Tanh().forward(Tensor([0.0])).tolist()
    [0.0]
    """

    def forward(self, input: Tensor) -> Tensor:
        """Applies the function.

        # Shapes

        - input: any shape
        - output: the same

        Raises:
            KindError: an input that is not Float.
        """
        try:
            return self._of(input)
        except TypeError:
            check_float(type(self).__name__, input, "input")
            raise

    def _of(self, input: Tensor) -> Tensor:
        raise NotImplementedError


def numbers_of(config: Config) -> list[float]:
    """The numbers in a configuration, in order; raises unless all are finite."""
    return [finite(type(config).__name__, f.name, getattr(config, f.name)) for f in dataclasses.fields(config)]


class Numbered(Printed, Pointwise):
    """Base of activations with numbers, which are their fields."""
