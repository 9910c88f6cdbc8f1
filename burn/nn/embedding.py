"""The table of vectors."""

from burn.config import Config
from burn.errors import ShapeError
from burn.module import ONE_LINE, Module, Param
from burn.tensor import Tensor
from burn.tensor import module as functional

from ._checks import check_int, check_size
from ._naming import Naming
from .initializer import Initializer


class EmbeddingConfig(Config):
    """Configuration of `Embedding`. Mirrors `burn::nn::EmbeddingConfig`.

    Args:
        n_embedding: number of rows.
        d_model: length of a row.
        initializer: how the table is drawn.

    >>> from burn.device import Device
    >>> EmbeddingConfig(100, 10).init(Device.flex())
    Embedding {n_embedding: 100, d_model: 10, params: 1000}
    """

    n_embedding: int
    d_model: int
    initializer: Initializer = Initializer.Normal(0.0, 1.0)

    def init(self, device=None) -> "Embedding":
        """The layer, its table still to be drawn; on the default device if ``device`` is None.

        Args:
            device: a Device; the default device if None.

        Raises:
            ArgumentError: a size that is no positive integer.
        """
        rows = check_size("EmbeddingConfig", "n_embedding", self.n_embedding)
        columns = check_size("EmbeddingConfig", "d_model", self.d_model)
        return Embedding(self.initializer.init([rows, columns], device))


class Embedding(Module):
    """Looks up a row of a table for every index. Mirrors `burn::nn::Embedding`.

    Field: `weight` [n_embedding, d_model].

    >>> layer = Embedding(Param.from_data([[1.0, 2.0], [3.0, 4.0]]))
    >>> layer.forward(Tensor([[1, 0]])).tolist()
    [[[3.0, 4.0], [1.0, 2.0]]]
    """

    weight: Param

    def __init__(self, weight: Param):
        self.weight = weight

    def forward(self, input: Tensor) -> Tensor:
        """Looks up the rows.

        # Shapes

        - input: Int [batch, length]
        - output: [batch, length, d_model]

        Raises:
            KindError: an input that is not Int.
            OutOfBoundsError: an index outside 0 to n_embedding - 1.
        """
        table = self.weight.val()
        check_int("Embedding", input, "input", table)
        if input.ndim != 2:
            raise ShapeError(f"[Embedding] 'input' must be [batch, length], got shape {input.dims()}; unsqueeze it")
        rows = table.shape[0]
        with Naming("Embedding", "input", f"hold indices from 0 to {rows - 1}", input, rows):
            return functional.embedding(table, input)

    def custom_settings(self):
        return ONE_LINE

    def custom_content(self, content):
        n_embedding, d_model = self.weight.lazy_shape()
        return content.add("n_embedding", n_embedding).add("d_model", d_model)
