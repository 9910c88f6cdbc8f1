"""What the activations of each element share."""

from burn._annotations import own_annotations
from burn.module import ONE_LINE, Module
from burn.tensor import Tensor


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
        """
        return self._of(input)

    def _of(self, input: Tensor) -> Tensor:
        raise NotImplementedError


class Numbered(Pointwise):
    """Base of activations with numbers, which are their fields."""

    def custom_settings(self):
        return ONE_LINE

    def custom_content(self, content):
        for name in own_annotations(type(self)):
            content = content.add(name.removesuffix("_"), getattr(self, name))
        return content
