"""Cosines and distances of rows: Burn's numbers, every norm, zero vectors, wrong shapes."""

import numpy as np
import pytest

from burn import Device, Tensor
from burn.errors import ArgumentError, DTypeError, ShapeError
from burn.nn import CosineSimilarity, CosineSimilarityConfig, PairwiseDistance, PairwiseDistanceConfig

CPU = Device.flex()
AD = CPU.autodiff()
INF = float("inf")


def at(values, device=CPU, dtype="f32"):
    return Tensor.from_data(values, device, dtype=dtype)


def test_cosines():
    x, y = at([[1.0, 0], [1, 1]]), at([[1.0, 0], [0, 1]])
    np.testing.assert_allclose(CosineSimilarity()(x, y).numpy(), [1, 0.70710677], rtol=1e-6)
    np.testing.assert_allclose(CosineSimilarity(-1)(x, y).numpy(), [1, 0.70710677], rtol=1e-6)
    np.testing.assert_allclose(CosineSimilarity(0)(x, y).numpy(), [0.70710677, 1], rtol=1e-6)
    np.testing.assert_allclose(CosineSimilarity(eps=4.0)(x, y).numpy(), [1 / 16, 1 / 16], rtol=1e-6)


@pytest.mark.parametrize("eps", [0.0, 1e-8])
@pytest.mark.parametrize("dtype", ["f16", "bf16", "f32", "f64"])
def test_cosine_of_a_zero_vector(dtype, eps):
    x, y = at([[0.0, 0.0]], AD, dtype).require_grad(), at([[1.0, 1.0]], AD, dtype).require_grad()
    out = CosineSimilarity(eps=eps)(x, y)
    grads = out.sum().backward()
    assert out.dtype is x.dtype and out.tolist() == [0.0]
    assert np.isfinite(x.grad(grads).cast("f64").numpy()).all() and y.grad(grads).tolist() == [[0.0, 0.0]]


@pytest.mark.parametrize("p", [0.0, 0.5, 1.0, 2.0, 3.0, 4.0, INF, -INF])
def test_every_norm(p):
    rng = np.random.default_rng(1)
    x, y = rng.standard_normal((2, 5, 4))
    out = PairwiseDistance(p)(at(x, dtype="f64"), at(y, dtype="f64"))
    np.testing.assert_allclose(out.numpy(), [np.linalg.norm(row, p) for row in x - y + 1e-6], rtol=1e-9)


def test_distances():
    x, y = at([[1.0, 2], [3, 4]]), at([[1.0, 1], [0, 0]])
    np.testing.assert_allclose(PairwiseDistance()(x, y).numpy(), [1, 5], rtol=2e-6)
    np.testing.assert_allclose(PairwiseDistance(1.0)(x, y).numpy(), [1, 7], rtol=2e-6)


@pytest.mark.parametrize("p", [0.5, 1.0, 2.0, 3.0, INF])
def test_gradient_of_no_distance(p):
    x = at([[1.0, 2.0]], AD).require_grad()
    out = PairwiseDistance(p, eps=0.0)(x, at([[1.0, 2.0]]))
    assert out.tolist() == [0.0] and x.grad(out.sum().backward()).tolist() == [[0.0, 0.0]]


def test_printed():
    assert str(CosineSimilarityConfig(dim=-1, eps=0.5).init()) == "CosineSimilarity {dim: -1, eps: 0.5}"
    assert str(PairwiseDistanceConfig(eps=0.5).init()) == "PairwiseDistance {p: 2, eps: 0.5}"


@pytest.mark.parametrize("layer", [CosineSimilarity(), PairwiseDistance()], ids=str)
def test_what_they_refuse(layer):
    x = Tensor.ones([3, 2], CPU)
    for shape in ([1, 2], [3, 1]):
        with pytest.raises(ShapeError, match=r"'x2' must have the shape of 'x1', got \[\d, \d\] and \[3, 2\]"):
            layer(x, Tensor.ones(shape, CPU))
    with pytest.raises(DTypeError, match="'x2' must have dtype f32, got f64"):
        layer(x, x.cast("f64"))
    with pytest.raises(ShapeError, match=r"'x1' must be \[batch, features\], got shape \[2\]"):
        layer(Tensor.ones([2], CPU), Tensor.ones([2], CPU))


def test_configurations_that_are_refused():
    with pytest.raises(ArgumentError, match="'dim' must be at most 1, got 2"):
        CosineSimilarityConfig(dim=2).init()
    with pytest.raises(ArgumentError, match="'eps' must be finite and not negative"):
        CosineSimilarityConfig(eps=-1.0).init()
    with pytest.raises(ArgumentError, match="'p' must be the number of a norm"):
        PairwiseDistanceConfig(p=float("nan")).init()
    with pytest.raises(ArgumentError, match="'eps' must be a finite number"):
        PairwiseDistanceConfig(eps=INF).init()
