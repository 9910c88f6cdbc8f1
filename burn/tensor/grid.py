"""Grids of coordinates. Mirrors `burn::tensor::grid`."""

import dataclasses
import enum

from burn._ops.movement import expand, reshape
from burn._ops.registry import FLOAT, check_kind, check_same, check_tensor
from burn.errors import ArgumentTypeError, ShapeError
from burn.tensor._calls import teach_functions
from burn.tensor.dtype import DType
from burn.tensor.shape import as_shape
from burn.tensor.tensor import Tensor

__all__ = [
    "GridIndexing",
    "GridOptions",
    "GridSparsity",
    "IndexPos",
    "affine_grid_2d",
    "cartesian_grid",
    "meshgrid",
    "meshgrid_stack",
]


class GridIndexing(enum.Enum):
    """Order of the first two axes of a grid. Mirrors `GridIndexing`."""

    Matrix = "Matrix"
    Cartesian = "Cartesian"


class GridSparsity(enum.Enum):
    """Whether a grid is spread over all axes, or keeps size 1 along those of the others. Mirrors `GridSparsity`."""

    Dense = "Dense"
    Sparse = "Sparse"


class IndexPos(enum.Enum):
    """Place of the axis that `meshgrid_stack` adds. Mirrors `IndexPos`."""

    First = "First"
    Last = "Last"


@dataclasses.dataclass(frozen=True)
class GridOptions:
    """Options of `meshgrid`. Mirrors `GridOptions`.

    Args:
        indexing: Matrix (axis i follows tensor i), or Cartesian (the first two axes exchanged: columns are x, rows y).
        sparsity: Dense or Sparse.

    >>> options = GridOptions().with_indexing(GridIndexing.Cartesian).with_sparsity(GridSparsity.Sparse)
    >>> [x.shape for x in meshgrid([Tensor([1, 2, 3]), Tensor([4, 5])], options)]
    [[1, 3], [2, 1]]
    """

    indexing: GridIndexing = GridIndexing.Matrix
    sparsity: GridSparsity = GridSparsity.Dense

    def with_indexing(self, indexing):
        """The same options with another indexing."""
        return dataclasses.replace(self, indexing=indexing)

    def with_sparsity(self, sparsity):
        """The same options with another sparsity."""
        return dataclasses.replace(self, sparsity=sparsity)


def meshgrid(tensors, options=None):
    """One tensor of rank n for each of n vectors, holding its values along its own axis. Mirrors `meshgrid`.

    Args:
        tensors: vectors of one dtype and device.
        options: a GridOptions, or an indexing or a sparsity alone.

    Returns:
        List of views; written to, each would be copied first.

    Raises:
        ShapeError: no tensors, or one that is not a vector.

    >>> [x.tolist() for x in meshgrid([Tensor([1, 2]), Tensor([3, 4])])]
    [[[1, 1], [2, 2]], [[3, 4], [3, 4]]]
    """
    options = _options(options)
    if isinstance(tensors, Tensor) or not hasattr(tensors, "__iter__"):
        raise ArgumentTypeError(f"[meshgrid] 'tensors' must be a sequence of tensors, got {type(tensors).__name__}")
    tensors = list(tensors)
    if not tensors:
        raise ShapeError("[meshgrid] 'tensors' must not be empty")
    for i, x in enumerate(tensors):
        if check_tensor("meshgrid", x, f"tensors[{i}]").ndim != 1:
            raise ShapeError(f"[meshgrid] 'tensors' must be vectors, got shape {x.dims()} at {i}")
        check_same("meshgrid", tensors[0], x, f"tensors[{i}]")
    rank = len(tensors)
    dims = [x._size for x in tensors]
    grids = [
        reshape(x, [n if a == i else 1 for a in range(rank)])
        for i, (x, n) in enumerate(zip(tensors, dims, strict=True))
    ]
    if options.sparsity is GridSparsity.Dense:
        grids = [expand(x, dims) for x in grids]
    if options.indexing is GridIndexing.Cartesian and rank > 1:
        grids = [x.swap_dims(0, 1) for x in grids]
    return grids


def meshgrid_stack(tensors, index_pos=IndexPos.First) -> "Tensor":
    """The tensors of `meshgrid` joined along a new axis, the first or the last. Mirrors `meshgrid_stack`.

    Args:
        tensors: vectors of one dtype and device.
        index_pos: an IndexPos, or "First" or "Last".

    Returns:
        Tensor [n, *sizes], or [*sizes, n].

    >>> meshgrid_stack([Tensor([1, 2]), Tensor([3, 4])], IndexPos.Last).tolist()
    [[[1, 3], [1, 4]], [[2, 3], [2, 4]]]
    """
    try:
        last = IndexPos(index_pos) is IndexPos.Last
    except ValueError:
        raise ArgumentTypeError(f"[meshgrid_stack] 'index_pos' must be an IndexPos, got {index_pos!r}") from None
    return Tensor.stack(meshgrid(tensors), -1 if last else 0)


def cartesian_grid(shape, device=None) -> "Tensor":
    """Int tensor [*shape, rank] whose entries are their own coordinates. Mirrors `cartesian_grid`.

    Args:
        shape: sizes of the grid.
        device: a Device; the default device if None.

    Returns:
        Tensor of the device's Int dtype.

    >>> cartesian_grid([1, 2]).tolist()
    [[[0, 0], [0, 1]]]
    """
    return Tensor.cartesian_grid(shape, device)


def affine_grid_2d(transform, dims) -> "Tensor":
    """The points at which an affine map reads an image: those of an even grid over [-1, 1], corners included, mapped.

    Along a side of one pixel the coordinate is 0. Mirrors `affine_grid_2d`.

    Args:
        transform: Float tensor [batch, 2, 3]; each row gives a coordinate from (x, y, 1).
        dims: [batch, channels, height, width].

    Returns:
        Tensor [batch, height, width, 2] of (x, y).

    >>> same = Tensor([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]])
    >>> affine_grid_2d(same, [1, 3, 2, 2]).tolist()
    [[[[-1.0, -1.0], [1.0, -1.0]], [[-1.0, 1.0], [1.0, 1.0]]]]
    """
    check_kind("affine_grid_2d", check_tensor("affine_grid_2d", transform, "transform"), FLOAT, "transform")
    dims = as_shape(dims, "affine_grid_2d", "dims")
    if len(dims) != 4 or transform._dims != (dims[0], 2, 3):
        raise ShapeError(
            f"[affine_grid_2d] 'transform' must be [batch, 2, 3] for 'dims' [batch, channels, height, width], got shape "
            f"{transform.dims()} and {list(dims)}"
        )
    batch, _, height, width = dims
    x = reshape(_even(transform, width), (1, 1, width, 1))
    y = reshape(_even(transform, height), (1, height, 1, 1))
    by_x, by_y, shift = (transform.slice_dim(2, k).reshape([batch, 1, 1, 2]) for k in range(3))
    return by_x * x + (by_y * y + shift)


def _even(like, n):
    """n numbers evenly from -1 to 1; a single one is 0."""
    if n == 1:
        return Tensor.zeros([1], like.device.inner(), dtype=like.dtype)
    # Half precision does not hold the places themselves.
    places = Tensor.arange(0, n, like.device.inner(), dtype=DType.I64).cast(
        DType.F32 if like.dtype.size == 2 else like.dtype
    )
    return (places / ((n - 1) / 2) - 1.0).cast(like.dtype)


def _options(options):
    if options is None:
        return GridOptions()
    if isinstance(options, GridIndexing):
        return GridOptions(indexing=options)
    if isinstance(options, GridSparsity):
        return GridOptions(sparsity=options)
    if not isinstance(options, GridOptions):
        raise ArgumentTypeError(f"[meshgrid] 'options' must be a GridOptions, got {options!r}")
    return options


teach_functions(globals())
