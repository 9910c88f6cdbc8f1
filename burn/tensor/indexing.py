"""Burn's slices, and options of indexing operations."""

import dataclasses
import enum

from burn.errors import ArgumentError, ArgumentTypeError, ShapeError
from burn.tensor.shape import int_of

__all__ = ["IndexingUpdateOp", "Slice", "s"]

_span = range  # the method of that name hides it in the class


class IndexingUpdateOp(enum.Enum):
    """How scatter and select_assign combine a value with the target. Mirrors `burn::tensor::IndexingUpdateOp`.

    The names are accepted as well: `x.scatter(0, indices, values, "Add")`.
    """

    Assign = "Assign"
    Add = "Add"
    Mul = "Mul"
    Min = "Min"
    Max = "Max"


@dataclasses.dataclass(frozen=True)
class Slice:
    """A part of an axis. Mirrors `burn::tensor::Slice`.

    Negative bounds count from the end, bounds outside the axis are clamped. A negative step chooses the same range and
    walks it backwards from its end, which is not what NumPy does.

    Args:
        start: first position.
        end: position after the last; None is the end of the axis.
        step: distance, not 0.

    >>> Slice.parse("..=4"), Slice(2, 8, -2).output_size(10)
    (Slice(start=0, end=5, step=1), 3)
    >>> Slice.full().range(10), Slice.index(3).range(10), Slice.new(-3).to_range_and_step(10), Slice(8, 99).bound_to(10)
    ((0, 10), (3, 4), (7, 10, 1), Slice(start=8, end=10, step=1))
    >>> Slice.of(range(1, 5)).with_step(-1).is_reversed(), Slice.from_range_stepped(range(1, 5), 2).into_vec()
    (True, [Slice(start=1, end=5, step=2)])
    """

    start: int
    end: int | None = None
    step: int = 1

    def __post_init__(self):
        for name in ("start", "end", "step"):
            value = getattr(self, name)
            if type(value) is not int and (name != "end" or value is not None):
                object.__setattr__(self, name, int_of("Slice", name, value, True))
        if self.step == 0:
            raise ArgumentError("[Slice] 'step' must not be 0, got 0: Step cannot be zero")

    @classmethod
    def new(cls, start, end=None, step=1):
        """The constructor. Mirrors `Slice::new`.

        Args:
            start: first position.
            end: position after the last; None is the end of the axis.
            step: distance, not 0.
        """
        return cls(start, end, step)

    @classmethod
    def full(cls):
        """The whole axis. Mirrors `Slice::full`."""
        return cls(0)

    @classmethod
    def index(cls, i):
        """One position; the axis is kept with size 1. Mirrors `Slice::index`.

        Args:
            i: the position; negative counts from the end.
        """
        i = int_of("Slice.index", "i", i, True)
        return cls(i, None if i == -1 else i + 1)

    @classmethod
    def from_range_stepped(cls, range, step):
        """The positions of a `range` or slice walked by a step. Mirrors `Slice::from_range_stepped`.

        Args:
            range: a `range` or slice.
            step: distance, not 0.
        """
        return dataclasses.replace(cls.of(range, "Slice.from_range_stepped"), step=step)

    @classmethod
    def parse(cls, text):
        """The slice that a text shows: `..`, `3`, `1..`, `..4`, `1..=4`, `1..10;2`.

        Args:
            text: the text.

        Raises:
            ArgumentError: any other text.
        """
        if not isinstance(text, str):
            raise ArgumentTypeError(f"[Slice.parse] 'text' must be a str, got {type(text).__name__}")
        part, has_step, last = (p.strip() for p in text.partition(";"))
        if not part:
            raise _unreadable(text, "Empty expression")
        step = _integer(text, last) if has_step else 1
        if step == 0:
            raise _unreadable(text, "Step cannot be zero")
        first, dots, last = (p.strip() for p in part.partition(".."))
        if not dots:
            return cls.index(_integer(text, first)).with_step(step)
        start = _integer(text, first) if first else 0
        if last.startswith("="):
            end = _integer(text, last[1:].strip()) + 1
            return cls(start, end or None, step)
        return cls(start, _integer(text, last) if last else None, step)

    @classmethod
    def of(cls, value, op="slice", name="slices"):
        """The slice that an int, a `slice`, a `range` or a Slice stands for, read as Burn reads it.

        Args:
            value: an int, a `slice`, a `range` or a Slice.
            op: name of the operation in a message.
            name: name of the argument there.
        """
        if isinstance(value, Slice):
            return value
        if isinstance(value, slice):
            return cls(0 if value.start is None else value.start, value.stop, 1 if value.step is None else value.step)
        if isinstance(value, _span):
            if value.step < 0:
                raise ArgumentError(
                    f"[{op}] a range must not run backwards, got {value}; Slice(start, end, -1) walks start..end from its end"
                )
            return cls(value.start, value.stop, value.step)
        if hasattr(value, "__index__") and not isinstance(value, bool):
            return cls.index(value)
        raise ArgumentTypeError(f"[{op}] {name!r} must hold ints, slices, ranges and Slices, got {value!r}")

    def with_step(self, step):
        """The same bounds with another step. Mirrors `Slice::with_step`."""
        return dataclasses.replace(self, step=step)

    def range(self, size):
        """(start, end) on an axis of a size, clamped. Mirrors `Slice::range`.

        Args:
            size: size of the axis.
        """
        return _bounds(self.start, self.end, size)

    to_range = range

    def to_range_and_step(self, size):
        """(start, end, step) on an axis of a size. Mirrors `Slice::to_range_and_step`.

        Args:
            size: size of the axis.
        """
        return *self.range(size), self.step

    def is_reversed(self):
        """Whether the range is walked backwards. Mirrors `Slice::is_reversed`."""
        return self.step < 0

    def output_size(self, size):
        """Number of positions on an axis of a size. Mirrors `Slice::output_size`.

        Args:
            size: size of the axis.
        """
        start, end = self.range(size)
        return max(0, -(-(end - start) // abs(self.step)))

    def bound_to(self, size):
        """The same slice with the bounds that it has on an axis of a size. Mirrors `Slice::bound_to`.

        Args:
            size: size of the axis.
        """
        start, end = self.range(size)
        return Slice(start, end, self.step)

    def into_vec(self):
        """A list of this slice. Mirrors `Slice::into_vec`."""
        return [self]

    def __str__(self):
        if self.step == 1 and self.end is not None and self.end == self.start + 1:
            return str(self.start)
        bounds = f"{self.start or ''}..{'' if self.end is None else self.end}"
        return bounds if self.step == 1 else f"{bounds};{self.step}"


def _unreadable(text, why):
    return ArgumentError(f"[Slice.parse] 'text' must be a slice such as '1..10;2', got {text!r}: {why}")


def _integer(text, part):
    try:
        return int(part)
    except ValueError:
        raise _unreadable(text, f"Invalid integer: '{part}': not a whole number") from None


class _SliceMaker:
    """`s[...]`: Burn's slices from Python's notation. Mirrors `s!`.

    One entry gives a Slice, several give a list of them. `...` stands for the axes between.

    >>> str(s[2:8:-2]), [str(part) for part in s[1:, 3]]
    ('2..8;-2', ['1..', '3'])
    """

    def __getitem__(self, key):
        if isinstance(key, tuple):
            return [k if k is Ellipsis else Slice.of(k, "s") for k in key]
        return [key] if key is Ellipsis else Slice.of(key, "s")

    def __repr__(self):
        return "s"


s = _SliceMaker()


def _bounds(start, end, size):
    start = max(size + start, 0) if start < 0 else min(start, size)
    if end is None:
        return start, size
    return start, max(size + end, 0) if end < 0 else min(end, size)


def windows_of(op, slices, dims):
    """(first positions, steps, numbers) of what is walked along each axis, from one entry or a sequence of them.

    Axes without an entry are whole.
    """
    if slices is Ellipsis or isinstance(slices, Slice | slice | range | str) or hasattr(slices, "__index__"):
        slices = (slices,)
    try:
        items = list(slices)
    except TypeError:
        raise ArgumentTypeError(
            f"[{op}] 'slices' must be an int, a slice, a Slice or a sequence of them, got {slices!r}"
        ) from None
    rank, given = len(dims), sum(1 for k in items if k is not Ellipsis)
    if given > rank or len(items) > given + 1:
        raise ShapeError(
            f"[{op}] 'slices' must hold at most {rank} entries, one an axis, and '...' once, got {given} and "
            f"{len(items) - given}"
        )
    at = items.index(Ellipsis) if len(items) > given else given
    items[at:] = [_WHOLE] * (rank - given) + items[at + (len(items) > given) :]
    starts, steps, sizes = [0] * rank, [1] * rank, list(dims)
    for axis, (part, size) in enumerate(zip(items, dims, strict=True)):
        if part is _WHOLE:
            continue
        if type(part) is not Slice:
            part = Slice.of(part, op)
        start, end = _bounds(part.start, part.end, size)
        step = part.step
        count = sizes[axis] = max(0, -(-(end - start) // abs(step)))
        if count:
            starts[axis] = start if step > 0 else end - 1
        if count > 1:  # one element needs no step, and a huge one does not fit 64 bits
            steps[axis] = step
    return starts, steps, sizes


_WHOLE = Slice(0)
