"""Options of indexing operations."""

import enum

__all__ = ["IndexingUpdateOp"]


class IndexingUpdateOp(enum.Enum):
    """How scatter and select_assign combine a value with the target. Mirrors `burn::tensor::IndexingUpdateOp`.

    The names are accepted as well: `x.scatter(0, indices, values, "Add")`.
    """

    Assign = "Assign"
    Add = "Add"
    Mul = "Mul"
    Min = "Min"
    Max = "Max"
