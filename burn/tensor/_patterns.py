"""Methods of Tensor that roll, unfold and pad, and those that make triangles, masks and grids."""

from typing import Self

from burn._core import core
from burn._ops import elementwise as ew
from burn._ops import movement as mv
from burn._ops.registry import NUMERIC, check_kind, number
from burn.errors import ArgumentError, ArgumentTypeError, ShapeError
from burn.tensor._calls import compiled
from burn.tensor._options import options, shape_of
from burn.tensor.dtype import Bool, DType, Int
from burn.tensor.pad_mode import PadMode
from burn.tensor.shape import axis_of, int_of, ints_of

_PAD_MODES = {type(PadMode.Reflect): 1, type(PadMode.Edge): 2}  # as the compiled path counts them; constants are 0


class PatternMethods:
    """Methods of Tensor that arrange elements in patterns."""

    __slots__ = ()

    def roll_dim(self, shift, dim) -> Self:
        """Elements moved up by shift along an axis, those that leave enter at the start. Mirrors `Tensor::roll_dim`.

        Args:
            shift: by how much; negative moves down.
            dim: the axis; negative counts from the end.

        Returns:
            Tensor of the same shape.

        >>> Tensor([1, 2, 3]).roll_dim(1, 0).tolist()
        [3, 1, 2]
        """
        return _roll(
            "roll_dim", self, [int_of("roll_dim", "shift", shift, True)], [axis_of(dim, self.ndim, "roll_dim")]
        )

    @compiled(core.roll, mv._roll)
    def roll(self, shifts, dims):
        """`roll_dim` along several axes; shifts of one axis add up. Mirrors `Tensor::roll`.

        Args:
            shifts: by how much along each of the axes.
            dims: the axes.

        Returns:
            Tensor of the same shape.

        Raises:
            ShapeError: the two differ in length.

        >>> Tensor([[1, 2], [3, 4]]).roll([1, 1], [0, 1]).tolist()
        [[4, 3], [2, 1]]
        """
        shifts, dims = ints_of("roll", "shifts", shifts), ints_of("roll", "dims", dims)
        if len(shifts) != len(dims):
            raise ShapeError(f"[roll] 'shifts' and 'dims' must have the same length, got {shifts} and {dims}")
        return _roll("roll", self, shifts, [axis_of(d, self.ndim, "roll", "dims") for d in dims])

    def unfold(self, dim, size, step) -> Self:
        """Windows along an axis: [.., windows, .., size] (a view). An axis shorter than a window has none.

        Mirrors `Tensor::unfold`.

        Args:
            dim: the axis, which becomes that of the windows; the elements of a window are on a new last axis.
            size: elements a window.
            step: distance between windows.

        Returns:
            Tensor with one axis more.

        >>> Tensor([1, 2, 3, 4, 5]).unfold(0, 3, 1).tolist()
        [[1, 2, 3], [2, 3, 4], [3, 4, 5]]
        """
        a = axis_of(dim, self.ndim, "unfold")
        size, step = int_of("unfold", "size", size), int_of("unfold", "step", step)
        if size < 1 or step < 1:
            raise ArgumentError(f"[unfold] 'size' and 'step' must be at least 1, got {size} and {step}")
        return mv.unfold(self, a, size, step)

    def pad(self, padding, mode=None) -> Self:
        """The tensor within a frame around its last axes. Mirrors `Tensor::pad`.

        Args:
            padding: a pair (before, after) for each of the last axes, in their order; or four numbers (left, right, top, bottom)
                for the last two.
            mode: a `PadMode`, or a number as short for `PadMode.Constant(number)`; zeros if None.

        Returns:
            Tensor whose last axes are larger by before + after.

        Raises:
            ShapeError: more pairs than axes, a negative width, or a border that the axis is too short to give.

        >>> from burn.tensor import PadMode
        >>> Tensor([1, 2, 3, 4]).pad([(2, 2)], PadMode.Reflect).tolist()
        [3, 2, 1, 2, 3, 4, 3, 2]
        """
        value = 0.0 if mode is None else mode.value if type(mode) is PadMode.Constant else mode
        out = core.pad(mv._pad, self, padding, _PAD_MODES.get(type(mode), 0), value)
        if out is not None:
            return out
        check_kind("pad", self, NUMERIC)
        widths = _widths(self, padding)
        mode, named = PadMode.Constant() if mode is None else mode, "PadMode.Constant"
        if not isinstance(mode, PadMode):
            if not hasattr(mode, "__float__") or isinstance(mode, str):
                raise ArgumentTypeError(f"[pad] 'mode' must be a PadMode or a number, got {mode!r}")
            mode, named = PadMode.Constant(mode), "mode"
        if isinstance(mode, PadMode.Constant):
            value = number("pad", self, mode.value, named)
            return mv.pad_constant(self, widths, value) if any(map(any, widths)) else self
        reflect = mode == PadMode.Reflect
        for axis, (pair, n) in enumerate(zip(widths, self._dims, strict=True)):
            if reflect and max(pair) and max(pair) >= n:
                raise ShapeError(
                    f"[pad] 'padding' must be less than the size to reflect, got {pair} for axis {axis} of size {n} in shape "
                    f"{self.dims()}"
                )
            if max(pair) and n == 0:
                raise ShapeError(f"[pad] 'padding' of axis {axis} must be 0, got {pair}: an empty axis has no edge")
        return mv.pad_border(self, widths, reflect) if any(map(any, widths)) else self

    def triu(self, diagonal) -> Self:
        """The upper triangle of the last two axes, zeros below it. Mirrors `Tensor::triu`.

        Args:
            diagonal: the lowest diagonal that is kept; 1 is the one above the main diagonal.

        Returns:
            Tensor of the same shape.

        Raises:
            ShapeError: fewer than two axes.

        >>> Tensor([[1, 2], [3, 4]]).triu(0).tolist()
        [[1, 2], [0, 4]]
        """
        return _triangle("triu", self, diagonal, 1)

    def tril(self, diagonal) -> Self:
        """The lower triangle of the last two axes, zeros above it. Mirrors `Tensor::tril`.

        Args:
            diagonal: the highest diagonal that is kept; -1 is the one below the main diagonal.

        Returns:
            Tensor of the same shape.

        Raises:
            ShapeError: fewer than two axes.

        >>> Tensor([[1, 2], [3, 4]]).tril(-1).tolist()
        [[0, 0], [3, 0]]
        """
        return _triangle("tril", self, diagonal, 0)

    @classmethod
    def triu_mask(cls, shape, offset, device=None) -> Self:
        """Bool tensor, True outside the upper triangle: where column - row < offset. Mirrors `Tensor::triu_mask`.

        Args:
            shape: sizes, at least two.
            offset: the lowest diagonal of the triangle.
            device: a Device; the default device if None.

        Returns:
            Bool tensor of that shape, made for `mask_fill`.

        >>> Tensor.triu_mask([2, 2], 0).tolist()
        [[False, False], [True, False]]
        """
        return _mask("triu_mask", shape, offset, device, ew.lower)

    @classmethod
    def tril_mask(cls, shape, offset, device=None) -> Self:
        """Bool tensor, True outside the lower triangle: where column - row > offset. Mirrors `Tensor::tril_mask`.

        Args:
            shape: sizes, at least two.
            offset: the highest diagonal of the triangle.
            device: a Device; the default device if None.

        Returns:
            Bool tensor of that shape, made for `mask_fill`: this hides what lies ahead in causal attention.

        >>> Tensor.tril_mask([2, 2], 0).tolist()
        [[False, True], [False, False]]
        """
        return _mask("tril_mask", shape, offset, device, ew.greater)

    @classmethod
    def diag_mask(cls, shape, offset, device=None) -> Self:
        """Bool tensor, True outside a diagonal: where column - row != offset. Mirrors `Tensor::diag_mask`.

        Args:
            shape: sizes, at least two.
            offset: the diagonal; 1 is the one above the main diagonal.
            device: a Device; the default device if None.

        Returns:
            Bool tensor of that shape, made for `mask_fill`.

        >>> Tensor.diag_mask([2, 2], 0).tolist()
        [[False, True], [True, False]]
        """
        return _mask("diag_mask", shape, offset, device, ew.not_equal)

    @classmethod
    def cartesian_grid(cls, shape, device=None) -> Self:
        """Int tensor [*shape, rank] whose entries are their own coordinates. Mirrors `Tensor::cartesian_grid`.

        Args:
            shape: sizes of the grid.
            device: a Device; the default device if None.

        Returns:
            Tensor of the device's Int dtype.

        >>> Tensor.cartesian_grid([1, 2]).tolist()
        [[[0, 0], [0, 1]]]
        """
        device, dtype = options(device, None, Int, "cartesian_grid")
        dims = shape_of(shape, "cartesian_grid")
        axes = []
        for axis, n in enumerate(dims):
            along = cls.arange(0, n, device, dtype=dtype).reshape([n if a == axis else 1 for a in range(len(dims))])
            axes.append(mv.reshape(mv.expand(along, dims), (*dims, 1)))
        return mv.cat(axes, len(dims))


def _roll(op, x, shifts, dims):
    total = [0] * x.ndim
    for k, d in zip(shifts, dims, strict=True):
        total[d] += k
    return mv.roll(x, tuple(k % n if n else 0 for k, n in zip(total, x._dims, strict=True)))


def _widths(x, padding):
    """One pair (before, after) an axis."""
    try:
        pairs = list(padding)
    except TypeError:
        raise ArgumentTypeError(f"[pad] 'padding' must be pairs or four ints, got {padding!r}") from None
    if len(pairs) == 4 and all(hasattr(p, "__index__") for p in pairs):
        left, right, top, bottom = pairs
        pairs = [(top, bottom), (left, right)]
    pairs = [tuple(ints_of("pad", "padding", p)) for p in pairs]
    if any(len(p) != 2 for p in pairs):
        raise ShapeError(
            f"[pad] 'padding' must be pairs (before, after), or (left, right, top, bottom), got {padding!r}"
        )
    if len(pairs) > x.ndim:
        raise ShapeError(f"[pad] 'padding' must hold at most {x.ndim} pairs for shape {x.dims()}, got {len(pairs)}")
    if any(w < 0 for p in pairs for w in p):
        raise ShapeError(f"[pad] 'padding' must not be negative, got {padding!r}; slice() cuts")
    return [(0, 0)] * (x.ndim - len(pairs)) + pairs


def _outside(op, rows, cols, offset, slot, ctx, compare):
    """Bool [rows, cols]: column - row compared with offset."""
    offset = max(-rows, min(int_of(op, "offset", offset, True), cols))
    code = DType.I32.code if rows + cols < 1 << 30 else DType.I64.code
    row = mv.reshape(mv.arange(offset, rows, 1, code, slot, ctx), (rows, 1))
    return compare(mv.reshape(mv.arange(0, cols, 1, code, slot, ctx), (1, cols)), row)


def _triangle(op, x, diagonal, upper):
    out = core.triangle(mv._triu if upper else mv._tril, x, diagonal, upper)
    if out is not None:
        return out
    check_kind(op, x, NUMERIC)
    if x.ndim < 2:
        raise ShapeError(f"[{op}] 'self' must have at least 2 axes, got shape {x.dims()}")
    return mv.triangle(x, int_of(op, "diagonal", diagonal, True), upper)


def _mask(op, shape, offset, device, compare):
    device, _ = options(device, None, Bool, op)
    dims = shape_of(shape, op)
    if len(dims) < 2:
        raise ShapeError(f"[{op}] 'shape' must have at least 2 axes, got {list(dims)}")
    rows, cols = dims[-2:]
    return mv.expand(_outside(op, rows, cols, offset, device._slot, device._ctx, compare), dims)
