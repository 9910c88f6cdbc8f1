"""Methods of Shape."""

import pytest

from burn.errors import ArgumentTypeError, OutOfBoundsError, ShapeError
from burn.tensor import Shape, s

S = Shape([2, 3, 4])


@pytest.mark.parametrize(
    ("got", "want"),
    [
        (S.num_elements(), 24),
        (Shape([]).num_elements(), 1),
        (list(S.iter()), [2, 3, 4]),
        (S.into_ranges(), [range(2), range(3), range(4)]),
        (S.flatten(), [24]),
        (S.flatten_dims(-2, -1), [2, 12]),
        (S.ravel_index([1, -1, 0]), 20),
        (S.insert(-1, 7), [2, 3, 4, 7]),
        (S.insert(0, 7), [7, 2, 3, 4]),
        (S.remove(1), [2, 4]),
        (S.push(5), [2, 3, 4, 5]),
        (S.extend([5, 6]), [2, 3, 4, 5, 6]),
        (S.swapped(0, -1), [4, 3, 2]),
        (S.permute([2, 0, 1]), [4, 2, 3]),
        (S.repeat(1, 3), [2, 9, 4]),
        (S.reduce(-1), [2, 3, 1]),
        (Shape.cat([[2, 3], (2, 5)], 1), [2, 8]),
        (Shape([2, 1]).broadcast([1, 3]), [2, 3]),
        (Shape.broadcast_many([[1, 1], [4, 1], [1, 0]]), [4, 0]),
        (Shape([3, 1]).expand([2, -1, 4]), [2, 3, 4]),
        (S.reshape([0, -1]), [2, 12]),
        (S.slice(s[1:, ..., ::-3]), [1, 3, 2]),
        (Shape.of(3), [3]),
        (Shape.parse("[2, 3]"), [2, 3]),
        (Shape.parse("(2,)"), [2]),
        (Shape.parse(" 2,3 "), [2, 3]),
        (Shape.parse("[]"), []),
        (str(S), "[2, 3, 4]"),
    ],
)
def test_methods(got, want):
    assert got == want
    if isinstance(got, tuple):
        assert type(got) is Shape


@pytest.mark.parametrize(
    ("error", "words", "call"),
    [
        (ShapeError, "must hold 3 ints", lambda: S.ravel_index([0, 0])),
        (OutOfBoundsError, "axis 1 of size 3", lambda: S.ravel_index([0, 3, 0])),
        (OutOfBoundsError, r"\[Shape.remove\]", lambda: S.remove(3)),
        (ShapeError, r"\[Shape.flatten_dims\]", lambda: S.flatten_dims(2, 1)),
        (ShapeError, r"\[Shape.permute\]", lambda: S.permute([0, 0, 1])),
        (ShapeError, r"\[Shape.cat\]", lambda: Shape.cat([[2, 3], [3, 3]], 1)),
        (ShapeError, r"\[Shape.cat\]", lambda: Shape.cat([], 0)),
        (ShapeError, r"\[Shape.broadcast\]", lambda: S.broadcast([2, 3, 5])),
        (ShapeError, r"\[Shape.broadcast\]", lambda: S.broadcast([4])),
        (ShapeError, r"\[reshape\]", lambda: S.reshape([5, -1])),
        (ShapeError, r"\[expand\]", lambda: S.expand([2, 3, 5])),
        (ShapeError, r"\[Shape\]", lambda: S.push(-1)),
        (ShapeError, r"\[Shape\] 'sizes'.*-1", lambda: Shape([-1])),
        (ArgumentTypeError, r"\[Shape\] 'sizes'.*1.5", lambda: Shape([1.5])),
        (ShapeError, r"\[Shape.slice\]", lambda: S.slice([0] * 4)),
        (ShapeError, r"\[Shape.parse\]", lambda: Shape.parse("2 x 3")),
    ],
)
def test_errors(error, words, call):
    with pytest.raises(error, match=words):
        call()
