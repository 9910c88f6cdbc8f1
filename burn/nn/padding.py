"""How much padding a layer puts around its input."""

from burn._arguments import integer
from burn.config import ConfigEnum, tuple_variant


class PaddingConfig1d(ConfigEnum):
    """Padding of one axis. Mirrors `burn::nn::PaddingConfig1d`.

    >>> PaddingConfig1d.Explicit(1, 2), PaddingConfig1d.Same
    (PaddingConfig1d.Explicit(1, 2), PaddingConfig1d.Same)
    """

    class Same:
        """As much as makes the output ``ceil(input / stride)`` long, the odd element at the end."""

    class Valid:
        """None."""

    @tuple_variant
    class Explicit:
        """This much before and after the axis."""

        left: int
        right: int

        def __post_init__(self):
            _check("PaddingConfig1d", self)


class PaddingConfig2d(ConfigEnum):
    """Padding of height and width. Mirrors `burn::nn::PaddingConfig2d`.

    >>> PaddingConfig2d.Explicit(1, 2, 3, 4)
    PaddingConfig2d.Explicit(1, 2, 3, 4)
    """

    class Same:
        """As much as makes the output ``ceil(input / stride)`` large, the odd element at the end."""

    class Valid:
        """None."""

    @tuple_variant
    class Explicit:
        """This much on each of the four sides."""

        top: int
        left: int
        bottom: int
        right: int

        def __post_init__(self):
            _check("PaddingConfig2d", self)


class PaddingConfig3d(ConfigEnum):
    """Padding of depth, height and width. Mirrors `burn::nn::PaddingConfig3d`.

    >>> PaddingConfig3d.Explicit(0, 1, 2)
    PaddingConfig3d.Explicit(0, 1, 2)
    """

    class Same:
        """As much as makes the output ``ceil(input / stride)`` large, the odd element at the end."""

    class Valid:
        """None."""

    @tuple_variant
    class Explicit:
        """This much on both sides of each axis."""

        depth: int
        height: int
        width: int

        def __post_init__(self):
            _check("PaddingConfig3d", self)


def padding_pairs(padding, sizes, kernel, stride, dilation=None) -> list[tuple[int, int]]:
    """(before, after) of each axis for an input of these sizes.

    Same counts the extent of a dilated kernel, ``dilation * (kernel - 1) + 1`` (Burn ignores the dilation, so that the length
    is not kept).

    >>> padding_pairs(PaddingConfig1d.Same, [10], [4], [1])
    [(1, 2)]
    >>> padding_pairs(PaddingConfig2d.Explicit(1, 2, 3, 4), [5, 5], [2, 2], [1, 1])
    [(1, 3), (2, 4)]
    """
    if isinstance(padding, PaddingConfig1d.Explicit):
        return [(padding.left, padding.right)]
    if isinstance(padding, PaddingConfig2d.Explicit):
        return [(padding.top, padding.bottom), (padding.left, padding.right)]
    if isinstance(padding, PaddingConfig3d.Explicit):
        return [(n, n) for n in (padding.depth, padding.height, padding.width)]
    if padding in (PaddingConfig1d.Valid, PaddingConfig2d.Valid, PaddingConfig3d.Valid):
        return [(0, 0)] * len(sizes)
    pairs = []
    for size, k, s, d in zip(sizes, kernel, stride, dilation or [1] * len(sizes), strict=True):
        total = max(0, (-(-size // s) - 1) * s + d * (k - 1) + 1 - size) if size else 0
        pairs.append((total // 2, total - total // 2))
    return pairs


def _check(name: str, padding) -> None:
    for side in padding.__dataclass_fields__:
        integer(name, side, getattr(padding, side), 0)
