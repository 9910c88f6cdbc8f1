"""Einstein summation against NumPy, and what it refuses."""

import numpy as np
import pytest

from burn.errors import ArgumentError, DTypeError, ShapeError
from burn.tensor import einsum
from tests.cases.tensors import array, gradients, tensor

EQUATIONS = [
    ("ij,jk->ik", (2, 3), (3, 4)),
    ("i,i", (3,), (3,)),
    ("i,j", (0,), (3,)),
    ("ij,jk->ik", (2, 0), (0, 3)),
    ("iji->j", (3, 4, 3)),
    ("iii", (2, 2, 2)),
    ("iijj->ij", (2, 2, 3, 3)),
    ("ii->", (0, 0)),
    ("ii->", (1, 1)),
    ("bA", (2, 3)),
    ("i ... -> ... i", (2, 3, 4)),
    ("...ii->...i", (2, 3, 3)),
    ("...,...", (2, 3), (3,)),
    ("...ij,...jk->...ik", (5, 1, 2, 3), (4, 3, 2)),
    ("ij...,jk...->ik...", (2, 3, 4), (3, 5, 4)),
    ("ab,cd->acbd", (2, 3), (4, 5)),
    ("abc,bd->", (2, 3, 4), (3, 5)),
    ("ijk,ik->ij", (2, 3, 4), (2, 4)),
    ("ij,j,jk->ik", (2, 3), (3,), (3, 4)),
    ("bij,bjk,bkl->bil", (2, 3, 4), (2, 4, 5), (2, 5, 2)),
]


@pytest.mark.parametrize("dtype", ["f8", "i4", "i2"])
@pytest.mark.parametrize("equation, shapes", [(e, s) for e, *s in EQUATIONS], ids=[e for e, *_ in EQUATIONS])
def test_value(equation, shapes, dtype, device):
    rng = np.random.default_rng(0)
    arrays = [rng.integers(-4, 5, s).astype(dtype) for s in shapes]
    with np.errstate(all="ignore"):
        want = np.atleast_1d(np.einsum(equation, *arrays)).astype(dtype)
    np.testing.assert_array_equal(array(einsum(equation, [tensor(a, device) for a in arrays])), want, strict=True)


def test_sizes_of_one_broadcast(device):
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 1)), rng.normal(size=(3, 4))
    x, y = tensor(a, device), tensor(b, device)
    np.testing.assert_allclose(array(einsum("ij,jk->ik", [x, y])), np.broadcast_to(a, (2, 3)) @ b)
    np.testing.assert_allclose(array(einsum("ij,jk->ijk", [x, y])), a[:, :, None] * b)
    two = tensor(np.array([2.0]), device)
    np.testing.assert_allclose(array(einsum(",ij", [two, y])), 2 * b)
    np.testing.assert_allclose(array(einsum(",", [two, two])), [4])


def test_gradient(device):
    """Through a diagonal, a sum and two products."""
    rng = np.random.default_rng(0)
    a, b, c = rng.normal(size=(3, 3, 2)), rng.normal(size=(2, 4)), rng.normal(size=(4,))
    ga, gb, gc = gradients(lambda *t: einsum("iij,jk,k->j", list(t)), [a, b, c], [np.array([1.0, -2.0])], device)
    d, w = np.einsum("iij->j", a), np.array([1.0, -2.0])
    np.testing.assert_allclose(ga, np.eye(3)[:, :, None] * (w * (b @ c)))
    np.testing.assert_allclose(gb, np.outer(w * d, c))
    np.testing.assert_allclose(gc, (w * d) @ b)


@pytest.mark.parametrize(
    "equation, shapes, error, words",
    [
        ("i1->i", [(3, 4)], ArgumentError, ("'1'", "byte 1")),
        ("i.j->i", [(3, 4)], ArgumentError, ("dot", "byte 1")),
        ("......->i", [(3, 4)], ArgumentError, ("at most one", "byte 3")),
        ("ij->k", [(3, 4)], ArgumentError, ("'k'",)),
        ("ij->ii", [(3, 4)], ArgumentError, ("'i' twice",)),
        ("ij->i->j", [(3, 4)], ArgumentError, ("'->'",)),
        ("ij,jk->ik", [(3, 4)], ArgumentError, ("2 tensors", "got 1")),
        ("ii->i", [(3, 4)], ShapeError, ("operand 0", "'i'", "3 and 4")),
        ("ij,ij->", [(3, 4), (4, 4)], ShapeError, ("operand 0 has 3", "operand 1 has 4")),
        ("...a,...a->...", [(3, 4), (2, 4)], ShapeError, ("axis 1 of '...'", "3", "2")),
        ("...ij", [(4,)], ShapeError, ("at least 2 axes", "[4]")),
        ("i->i", [(3, 4)], ShapeError, ("1 axes", "[3, 4]")),
        ("", [(3, 4)], ShapeError, ("[1]", "[3, 4]")),
    ],
)
def test_error(equation, shapes, error, words, flex):
    with pytest.raises(error) as caught:
        einsum(equation, [tensor(np.ones(s), flex) for s in shapes])
    assert all(word in str(caught.value) for word in ("[einsum]", *words)), caught.value


def test_dtypes_must_agree(flex):
    with pytest.raises(DTypeError, match="operands"):
        einsum("i,i", [tensor(np.ones(2), flex), tensor(np.ones(2, "f4"), flex)])
