"""Losses of elements and rows: Burn's numbers, reductions, corners, shapes that must agree, PyTorch."""

import json
import math

import numpy as np
import pytest

from burn import Device, Tensor
from burn.config import config_to_json
from burn.errors import ArgumentError, DTypeError, KindError, OutOfBoundsError, ShapeError
from burn.nn import loss as losses
from burn.nn.loss import Reduction
from burn.tensor.activation import sigmoid

CPU = Device.flex()
AD = CPU.autodiff()
INF, NAN = math.inf, math.nan


def at(values, device=CPU):
    return Tensor.from_data(np.array(values, None if np.array(values).dtype.kind == "i" else np.float32), device)


# The loss, its tensors, the losses of elements or rows, the mean (None: that of the elements), and the sum.
NUMBERS = [
    (losses.MseLoss(), [[[1, 2], [3, 4.0]], [[2, 1], [3, 2.0]]], [[1, 1], [0, 4]]),
    (losses.LpLossConfig.l1(), [[[1, 2], [3, 4.0]], [[2, 1], [3, 2.0]]], [[1, 1], [0, 2]]),
    (losses.LpLossConfig.l2(), [[[1, 2], [3, 4.0]], [[2, 1], [3, 2.0]]], [[1, 1], [0, 4]]),
    (losses.LpLoss(3.0), [[[1, 2], [3, 4.0]], [[2, 1], [3, 2.0]]], [[1, 1], [0, 8]]),
    (losses.LpLoss(1.5), [[1.0, 4.0], [0.0, 0.0]], [1, 8]),
    (losses.LpLoss(0.5), [[1.0, 2, 3, 4], [2.0, 1, 3, 0]], [1, 1, 0, 2]),
    (losses.SmoothL1Loss(), [[0.5, 1.5, 3.0], [0.0, 0, 0]], [0.125, 1, 2.5]),
    (losses.SmoothL1Loss(0.5), [[0.25, 1.0], [0.0, 0]], [0.0625, 0.75]),
    (losses.SmoothL1Loss(2.0), [[0.0, 1, 4], [0.0, 0, 0]], [0, 0.25, 3]),
    (losses.HuberLoss(0.5), [[-2, -0.5, 0, 0.3, 1], [0.0] * 5], [0.875, 0.125, 0, 0.045, 0.375]),
    (losses.HuberLoss(0.0), [[-2.0, 0, 1], [0.0] * 3], [0, 0, 0]),
    (losses.HuberLoss(INF), [[-2.0, 0, 1], [0.0] * 3], [2, 0, 0.5]),
    (losses.KLDivLoss(), [[[-1, -0.5], [-2, -0.2]], [[0.4, 0.6], [0.1, 0.9]]],
     [[0.0334837139, -0.0064953566], [-0.0302585065, 0.0851755068]]),
    (losses.KLDivLoss(log_target=True), [[-1.0, -2.0], [-0.5, -1.5]], [0.3032653299, 0.1115650801]),
    (losses.PoissonNllLoss(), [[0.0, 0, -40, 1, 2, 3], [1, 4.5, 2.5, 0, 0, 2]], [1, 1, 100, 2.7182818, 7.3890561, 14.0855369]),
    (losses.PoissonNllLoss(full=True), [[0.0, 0, -40, 1, 2, 3], [1, 4.5, 2.5, 0, 0, 2]],
     [1, 4.9393, 101.1678, 2.7183, 7.3891, 14.7373]),
    (losses.PoissonNllLoss(log_input=False), [[0, 0.5, 1, 1, 2.71828, 7.38905, 20.0855], [2, 3, 1, 4.5, 0, 0, 2]],
     [36.84136, 2.579441, 1, 1, 2.71828, 7.38905, 14.0855]),
    (losses.GaussianNLLLoss(), [[1.0, 2], [1.5, 1], [0.5, 1]], [-0.0965736, 0.5]),
    (losses.GaussianNLLLoss(full=True), [[1.0, 2], [1.5, 1], [0.5, 1]], [0.822365, 1.418939]),
    (losses.MarginRankingLoss(0.5), [[1.0, 2, 3], [2, 1, 0.5], [1.0, -1, 1]], [1.5, 1.5, 0]),
    (losses.HingeEmbeddingLoss(), [[0.5, 2, 1.5], [1.0, -1, -1]], [0.5, 0, 0]),
    (losses.SoftMarginLoss(), [[[0.5, -1], [2, -0.5]], [[1.0, -1], [-1, 1]]], [[0.474077, 0.313262], [2.126928, 0.974077]]),
    (losses.SoftMarginLoss(), [[-100.0, -20, -5], [1.0, 1, 1]], [100, 20, 5.006715]),
    (losses.MultiMarginLoss(), [[[0.1, 0.2, 0.7], [0.9, 0.05, 0.05]], [2, 0]], [0.3, 0.1]),
    (losses.MultiMarginLoss(p=2), [[[0.1, 0.2, 0.7], [0.9, 0.05, 0.05]], [2, 0]], [0.136667, 0.015]),
    (losses.TripletMarginLoss(),
     [[[0.0, 0], [1, 1], [0, 0]], [[1.0, 1], [1, 2], [0, 0]], [[1.0, 0], [0, 0], [5, 0]]], [1.414214, 0.585786, 0]),
]  # fmt: skip


@pytest.mark.parametrize("loss, tensors, expected", NUMBERS, ids=lambda x: str(x) if hasattr(x, "forward") else "")
def test_numbers(loss, tensors, expected, device):
    tensors, expected = [at(x, device) for x in tensors], np.array(expected)
    unreduced = getattr(loss, "forward_no_reduction", loss.forward)
    reduced = getattr(loss, "forward_with_reduction", loss.forward)
    elements = unreduced(*tensors)
    np.testing.assert_allclose(elements.numpy(), expected, rtol=1e-4 if expected.max() > 10 else 1e-5, atol=2e-6)
    exact = elements.numpy().astype(np.float64)
    auto = exact.sum() / len(exact) if isinstance(loss, losses.KLDivLoss) else exact.mean()
    for reduction, want in ((Reduction.Mean, exact.mean()), (Reduction.Sum, exact.sum()), (Reduction.Auto, auto)):
        out = reduced(*tensors, reduction)
        assert out.shape == (1,) and out.item() == pytest.approx(want, rel=1e-5)
    if isinstance(loss, losses.KLDivLoss):
        assert reduced(*tensors, Reduction.BatchMean).item() == pytest.approx(auto, rel=1e-5)
    else:
        with pytest.raises(
            ArgumentError, match=r"'reduction' must be Reduction.Mean, Sum or Auto, got Reduction.BatchMean"
        ):
            reduced(*tensors, Reduction.BatchMean)
    with pytest.raises(ArgumentError, match=r"'reduction' must be .*got 'mean'"):
        reduced(*tensors, "mean")


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [0, 1, 1023, 32768, 100001])
def test_sums_of_many(n, dtype, device):
    rng = np.random.default_rng(n)
    x, y = (rng.standard_normal(n).astype(dtype) for _ in range(2))
    error = np.abs(x.astype(np.float64) - y)
    cases = [
        (losses.MseLoss(), error**2),
        (losses.LpLoss(1.0), error),
        (losses.LpLoss(2.5), error**2.5),
        (losses.HuberLoss(0.5), np.where(error <= 0.5, error**2 / 2, 0.5 * (error - 0.25))),
        (losses.SmoothL1Loss(0.7), np.where(error <= 0.7, error**2 / 1.4, error - 0.35)),
        (losses.KLDivLoss(True), np.exp(y.astype(np.float64)) * (y.astype(np.float64) - x)),
    ]
    for context in (device, device.autodiff()):
        a, b = (Tensor.from_data(v, (context, v.dtype.name)) for v in (x, y))
        if context is not device:
            a = a.require_grad()
        for loss, each in cases:
            reduced = getattr(loss, "forward_with_reduction", loss.forward)
            mean, total = (reduced(a, b, r) for r in (Reduction.Mean, Reduction.Sum))
            assert mean.dtype is a.dtype and mean.shape == total.shape == (1,)
            np.testing.assert_allclose(
                total.inner().item() if mean.is_autodiff() else total.item(), each.sum(), rtol=3e-6
            )
            if n:
                np.testing.assert_allclose(mean.item(), each.mean(), rtol=3e-6)
            else:
                assert math.isnan(mean.item())


@pytest.mark.parametrize("dtype", ["f16", "bf16", "f32", "f64"])
@pytest.mark.parametrize("reduction", [Reduction.Mean, Reduction.Sum])
def test_gradients_of_reduced_losses(reduction, dtype, device):
    """By both tensors, times what comes from later steps."""
    rng = np.random.default_rng(5)
    p, q = rng.standard_normal((2, 3, 5))
    q = np.abs(q) + 0.25
    cases = [
        (losses.MseLoss(), lambda p, q: 2 * (p - q), None),
        (losses.LpLoss(3.0), lambda p, q: 3 * (p - q) * np.abs(p - q), None),
        (losses.HuberLoss(0.5), lambda p, q: np.clip(p - q, -0.5, 0.5), None),
        (losses.SmoothL1Loss(0.7), lambda p, q: np.clip((p - q) / 0.7, -1, 1), None),
        (losses.KLDivLoss(), lambda p, q: -q, lambda p, q: np.log(q) - p + 1),
        (losses.KLDivLoss(True), lambda p, q: -np.exp(q), lambda p, q: np.exp(q) * (q - p + 1)),
    ]
    for loss, by_p, by_q in cases:
        a, b = (Tensor.from_data(v, device.autodiff(), dtype=dtype).require_grad() for v in (p, q))
        x, y = (v.inner().cast("f64").numpy() for v in (a, b))
        grads = (getattr(loss, "forward_with_reduction", loss.forward)(a, b, reduction) * 3.0).backward()
        factor = 3 / 15 if reduction is Reduction.Mean else 3
        want = by_p(x, y), by_q(x, y) if by_q else -by_p(x, y)
        near = {"f16": 4e-3, "bf16": 4e-2, "f32": 2e-6, "f64": 1e-13}[dtype]
        for tensor, slope in zip((a, b), want, strict=True):
            np.testing.assert_allclose(
                tensor.grad(grads).cast("f64").numpy(), slope * factor, rtol=near, atol=near * factor
            )


def test_means_over_axes():
    predictions, targets = at([[1.0, 2, 3], [4, 5, 6]]), at([[0.0, 2, 6], [1, 5, 6]])
    loss = losses.LpLossConfig.l2()
    np.testing.assert_allclose(loss.forward_reduce_dims(predictions, targets, [1]).numpy(), [[10 / 3], [3]], rtol=1e-6)
    assert loss.forward_reduce_dims(predictions, targets, [0]).tolist() == [[5.0, 0.0, 4.5]]
    assert loss.forward_reduce_dims(predictions, targets, [-1, 0]).dims() == [1, 1]
    assert loss.forward_reduce_dims(predictions, targets, []).tolist() == [[1.0, 0, 9], [9, 0, 0]]
    smooth = losses.SmoothL1Loss().forward_reduce_dims(predictions, targets, [1])
    np.testing.assert_allclose(smooth.numpy(), [[1.0], [2.5 / 3]], rtol=1e-6)


def test_cosine_embedding():
    unit = at([[1.0, 0.0], [0.0, 1.0]])
    loss = losses.CosineEmbeddingLoss()
    assert loss(unit, unit, at([1, 1])).tolist() == [0.0]
    assert losses.CosineEmbeddingLoss(reduction=Reduction.Sum)(unit, unit, at([-1, -1])).tolist() == [2.0]
    assert losses.CosineEmbeddingLoss(0.5)(unit, unit, at([-1, -1])).tolist() == [0.5]
    assert (
        loss.forward_no_reduction(unit, unit, at([1, -1])).tolist() == [0.0, 1.0]
        and loss(unit, unit, at([1, -1])).item() == 0.5
    )
    with pytest.raises(ArgumentError, match=r"'reduction' must be .*got Reduction.BatchMean"):
        losses.CosineEmbeddingLossConfig(reduction=Reduction.BatchMean).init()


P, Y = [0.8271, 0.9626, 0.3796, 0.2355], [0, 1, 0, 1]
P2, Y2 = [[0.5150, 0.3097, 0.7556], [0.4974, 0.9879, 0.1564]], [[1, 0, 1], [1, 0, 0]]


@pytest.mark.parametrize(
    "x, y, config, expected",
    [
        (P, Y, {}, 0.7491), (P, Y, {"weights": [3.0, 7.0]}, 3.1531), (P, Y, {"smoothing": 0.1}, 0.7490),
        (P2, Y2, {}, 0.7112), (P2, Y2, {"weights": [3.0, 7.0, 0.9]}, 3.1708), (P2, Y2, {"smoothing": 0.1}, 0.7228),
        (np.reshape(P2, (1, 2, 3)), np.reshape(Y2, (1, 2, 3)), {"weights": [3.0, 7.0, 0.9]}, 3.1708),
    ],
)  # fmt: skip
def test_binary_cross_entropy(x, y, config, expected):
    logits = at(x)
    out = losses.BinaryCrossEntropyLossConfig(logits=True, **config).init(CPU)(logits, at(y))
    assert out.shape == (1,) and out.item() == pytest.approx(expected, abs=6e-5)
    again = losses.BinaryCrossEntropyLossConfig(**config).init(CPU)(sigmoid(logits), at(y))
    assert again.item() == pytest.approx(out.item(), rel=1e-5)


def test_binary_cross_entropy_at_the_ends():
    loss = losses.BinaryCrossEntropyLoss()
    assert loss(at([1.0, 0, 1, 0]), at([1, 0, 1, 0])).item() == 0.0
    assert loss(at([0.0, 1, 0, 1]), at([1, 0, 1, 0])).item() == 100.0
    sure = losses.BinaryCrossEntropyLoss(logits=True)
    assert sure(at([INF, -INF]), at([1, 0])).item() == 0.0 and sure(at([INF, -INF]), at([0, 1])).item() == INF
    x = Tensor.from_data(np.array([0.0, 1.0, 1e-40, 0.0, 1.0], np.float32), AD).require_grad()
    g = x.grad(loss(x, at([1, 0, 1, 0, 1])).backward()).numpy()
    assert np.isfinite(g).all()
    np.testing.assert_allclose(g[3:], [0.2, -0.2])


def test_logarithms_of_probabilities_count_as_at_least_minus_100():
    """In double precision, too, and whether or not gradients are asked for."""
    for device in (CPU, AD):
        p = Tensor.from_data(np.array([1e-200, 1e-30, 0.0]), device, dtype="f64")
        p = p.require_grad() if device is AD else p
        loss = losses.BinaryCrossEntropyLoss().forward(p, at([1, 1, 1], device))
        np.testing.assert_allclose(loss.item(), (200 - np.log(1e-30)) / 3, rtol=1e-12)
    np.testing.assert_allclose(p.grad(loss.backward()).numpy(), [0, -1e30 / 3, 0], rtol=1e-12)


def test_binary_cross_entropy_refuses():
    loss = losses.BinaryCrossEntropyLossConfig(weights=[1.0, 2.0, 3.0]).init(CPU)
    with pytest.raises(ShapeError, match=r"'targets' must have the shape of 'logits', got \[2\] and \[2, 3\]"):
        loss(Tensor.ones([2, 3], CPU), at([0, 1]))
    with pytest.raises(ShapeError, match="'weights' must hold a weight for each of 2 labels, got 3"):
        loss(Tensor.ones([2, 2], CPU), at([[0, 1], [0, 1]]))
    with pytest.raises(ShapeError, match="'weights' must hold 2 weights for targets of one axis, got 3"):
        loss(Tensor.ones([2], CPU), at([0, 1]))
    for logits in (True, False):
        with pytest.raises(
            OutOfBoundsError, match=r"\[BinaryCrossEntropyLoss\] 'targets' must be 0 or 1, got -1 at position \[1, 0\]"
        ):
            losses.BinaryCrossEntropyLoss(logits=logits)(Tensor.ones([2, 2], CPU), at([[0, 1], [-1, 2]]))
    with pytest.raises(KindError, match="'targets' must be an Int tensor"):
        loss(Tensor.ones([2, 3], CPU), Tensor.ones([2, 3], CPU))
    with pytest.raises(ArgumentError, match="'smoothing' must be from 0 to 1"):
        losses.BinaryCrossEntropyLossConfig(smoothing=1.5).init(CPU)
    with pytest.raises(ArgumentError, match="'weights' must all be positive"):
        losses.BinaryCrossEntropyLossConfig(weights=[0.0, 1.0]).init(CPU)


# Float tensors of one shape each, and how the loss is called on them.
ALIKE = {
    "MseLoss": 2, "LpLoss": 2, "SmoothL1Loss": 2, "HuberLoss": 2, "KLDivLoss": 2, "PoissonNllLoss": 2, "GaussianNLLLoss": 3,
    "MarginRankingLoss": 3, "HingeEmbeddingLoss": 2, "SoftMarginLoss": 2, "TripletMarginLoss": 3,
}  # fmt: skip


def of(name, **config):
    """The loss with the rest of its configuration as it is."""
    required = {"LpLoss": {"p": 2.0}, "HuberLoss": {"delta": 1.0}}.get(name, {})
    made = getattr(losses, name + "Config", None)
    return made(**required, **config).init() if made else getattr(losses, name)()


def unreduced(loss, tensors):
    return getattr(loss, "forward_no_reduction", loss.forward)(*tensors)


@pytest.mark.parametrize("name", ALIKE)
def test_nothing_is_broadcast_or_converted(name):
    loss, count = of(name), ALIKE[name]
    for position in range(1, count):
        for wrong, error, text in (
            (Tensor.ones([4, 1], CPU), ShapeError, r"must have the shape of '\w+', got \[4, 1\] and \[4, 3\]"),
            (Tensor.ones([1, 3], CPU), ShapeError, r"must have the shape of '\w+', got \[1, 3\] and \[4, 3\]"),
            (
                Tensor.ones([4, 3], CPU, dtype="f64"),
                DTypeError,
                "must have dtype f32, got f64; dtypes never promote",
            ),
            (Tensor.ones([4, 3], CPU, dtype="i32"), KindError, "must be a Float tensor"),
        ):
            tensors = [Tensor.ones([4, 3], CPU) for _ in range(count)]
            tensors[position] = wrong
            with pytest.raises(error, match=rf"\[{name}\] .*{text}"):
                unreduced(loss, tensors)


@pytest.mark.parametrize("name", [*ALIKE, "CosineEmbeddingLoss", "MultiMarginLoss", "BinaryCrossEntropyLoss"])
@pytest.mark.parametrize("dtype", ["f16", "bf16", "f32", "f64"])
def test_every_dtype(name, dtype):
    """The loss and its gradients keep the dtype, and are near those of double precision."""
    rng = np.random.default_rng(3)
    values = [rng.uniform(0.1, 0.9, (4, 3)) for _ in range(ALIKE.get(name, 2))]
    if name in ("MarginRankingLoss", "HingeEmbeddingLoss", "SoftMarginLoss"):
        values[-1] = np.sign(values[-1] - 0.5)
    extra = {
        "CosineEmbeddingLoss": [at([1, -1, 1, -1])], "MultiMarginLoss": [at([0, 2, 1, 0])],
        "BinaryCrossEntropyLoss": [at((values[1] > 0.5).astype(np.int32))],
    }.get(name, [])  # fmt: skip
    values = values[:1] if name in ("MultiMarginLoss", "BinaryCrossEntropyLoss") else values

    def run(dtype):
        tensors = [Tensor.from_data(v, AD, dtype=dtype).require_grad() for v in values]
        loss = of(name)
        out = loss(*tensors, *extra) if hasattr(loss, "logits") else unreduced(loss, (*tensors, *extra))
        grads = out.sum().backward()
        found = [out, *(t.grad(grads) for t in tensors)]
        assert all(t.dtype.name == dtype for t in found if t is not None)
        return [t.cast("f64").numpy() for t in found if t is not None]

    tolerance = {"f16": 4e-3, "bf16": 4e-2, "f32": 2e-6, "f64": 0}[dtype]
    for have, want in zip(run(dtype), run("f64"), strict=True):
        np.testing.assert_allclose(have, want, rtol=tolerance, atol=2 * tolerance)


# Tensors at which a naive form has infinite or undefined gradients; and the gradients of the sum that are right.
CORNERS = [
    (losses.LpLoss(0.5), [[1.0, 3.0], [1.0, 2.0]], [[0.0, 0.5], [0.0, -0.5]]),
    (losses.LpLoss(1.5), [[1.0], [1.0]], [[0.0], [0.0]]),
    (losses.TripletMarginLoss(), [[[1.0, 1.0]], [[1.0, 1.0]], [[1.0, 1.0]]], [[[0.0, 0.0]]] * 3),
    (losses.TripletMarginLoss(), [[[1.0, 1.0]], [[1.0, 1.0]], [[1.5, 1.0]]], [[[1.0, 0.0]], [[0.0, 0.0]], [[-1.0, 0.0]]]),
    (losses.HuberLoss(0.5), [[-2, -0.5, 0, 0.3, 1, -INF], [0.0] * 6],
     [[-0.5, -0.5, 0, 0.3, 0.5, -0.5], [0.5, 0.5, 0, -0.3, -0.5, 0.5]]),
    (losses.SmoothL1Loss(0.5), [[-0.5, 0.25, 1e30, INF], [0.0] * 4], [[-1, 0.5, 1, 1], [1, -0.5, -1, -1]]),
    (losses.KLDivLoss(), [[-INF, -1.0], [0.0, 1.0]], [[0.0, -1.0], [0.0, 2.0]]),
    (losses.KLDivLoss(True), [[-INF, -1.0], [-INF, 0.0]], [[0.0, -1.0], [0.0, 2.0]]),
    (losses.PoissonNllLoss(full=True), [[0.0, 0.0], [0.0, 2.0]], [[1.0, -1.0], [0.0, math.log(2) + 0.25]]),
    (losses.PoissonNllLoss(False), [[0.0], [0.0]], [[1.0], [18.420681]]),
    (losses.GaussianNLLLoss(), [[1.0, 1], [1.0, 1], [0.0, -3]], [[0.0, 0], [0.0, 0], [0.0, 0]]),
    (losses.SoftMarginLoss(), [[-1e30, 1e30, 0], [1.0, 1, 1]], [[-1, 0, -0.5], [1e30, 0, 0]]),
    (losses.HingeEmbeddingLoss(), [[INF, 0.5], [-1.0, 1.0]], [[0, 1], None]),
]  # fmt: skip


@pytest.mark.parametrize(
    "loss, tensors, expected", CORNERS, ids=lambda x: type(x).__name__ if hasattr(x, "forward") else ""
)
def test_gradients_at_corners(loss, tensors, expected):
    tensors = [at(x, AD).require_grad() for x in tensors]
    grads = unreduced(loss, tensors).sum().backward()
    for tensor, want in zip(tensors, expected, strict=True):
        if want is not None:
            np.testing.assert_allclose(tensor.grad(grads).numpy(), np.float32(want), rtol=1e-6, atol=1e-7)


def test_gradients_of_rows_at_corners():
    x, other = at([[0.0, 0.0], [1.0, 0.0]], AD).require_grad(), at([[1.0, 0.0], [0.0, 0.0]])
    for target in ([1, 1], [-1, -1]):
        g = x.grad(losses.CosineEmbeddingLoss()(x, other, at(target)).backward()).numpy()
        assert (g == 0).all()
    x = at([[3.0, 3.0 + 1e-7, 1.0]], AD).require_grad()
    loss = losses.MultiMarginLoss(margin=1e6)
    assert loss.forward_no_reduction(at([[3.0, 3, 1]]), at([0])).item() == pytest.approx((1e6 + 1e6 - 2) / 3)
    assert (losses.MultiMarginLoss(0.0).forward_no_reduction(at([[0.1, 0.1, 0.1]]), at([1])).numpy() >= 0).all()
    g = x.grad(loss(x, at([2]), Reduction.Sum).backward()).numpy()
    np.testing.assert_allclose(g, [[1 / 3, 1 / 3, -2 / 3]], rtol=1e-6)


def test_poisson_gradient():
    x = at([0.0, 0, -40, 1, 2, 3], AD).require_grad()
    out = losses.PoissonNllLoss()(x, at([1, 4.5, 2.5, 0, 0, 2.0]), Reduction.Sum)
    np.testing.assert_allclose(x.grad(out.backward()).numpy(), [0, -3.5, -2.5, 2.7183, 7.3891, 18.0855], atol=1e-4)
    assert out.item() == pytest.approx(126.1929, abs=1e-4)


def test_variances_below_eps_count_as_eps():
    mean, target = at([1.0]), at([1.001])
    small = [losses.GaussianNLLLoss()(mean, target, at([v]), Reduction.Sum).item() for v in (1e-8, 1e-6, -1.0)]
    assert small[0] == small[1] == small[2]


def test_values_that_are_refused():
    x = Tensor.ones([2, 2], CPU)
    for wrong in (0.0, 2.0, NAN):
        with pytest.raises(
            ArgumentError, match=rf"\[HingeEmbeddingLoss\] 'target' must be 1 or -1, got {wrong:g} at position \[0, 1\]"
        ):
            losses.HingeEmbeddingLoss()(x, at([[1, wrong], [-1, 1]]), Reduction.Mean)
    with pytest.raises(
        ArgumentError, match=r"\[CosineEmbeddingLoss\] 'target' must be 1 or -1, got 0 at position \[1\]"
    ):
        losses.CosineEmbeddingLoss()(x, x, at([1, 0]))
    with pytest.raises(ShapeError, match=r"'target' must be \[batch\] with batch = 2 as in input1, got shape \[3\]"):
        losses.CosineEmbeddingLoss()(x, x, at([1, 1, 1]))
    for stray in (-1, 2):
        with pytest.raises(
            OutOfBoundsError,
            match=rf"\[MultiMarginLoss\] 'target' must be classes from 0 to 1, got {stray} at position 1",
        ):
            losses.MultiMarginLoss()(x, at([0, stray]), Reduction.Mean)
    with pytest.raises(ShapeError, match=r"'input' must be \[batch, classes\], got shape \[2\]"):
        losses.MultiMarginLoss()(at([1.0, 2.0]), at([0, 1]), Reduction.Mean)
    with pytest.raises(ShapeError, match=r"'anchor' must be \[batch, features\], got shape \[2\]"):
        losses.TripletMarginLoss()(*[at([1.0, 2.0])] * 3, Reduction.Mean)
    for targets in (-1.0, NAN):
        with pytest.raises(ArgumentError, match="'targets' must not hold negative numbers or NaN"):
            losses.PoissonNllLoss()(at([1.0]), at([targets]), Reduction.Mean)
    with pytest.raises(ArgumentError, match="'predictions' must not hold negative numbers or NaN; with log_input=True"):
        losses.PoissonNllLoss(log_input=False)(at([-1.0]), at([1.0]), Reduction.Mean)


@pytest.mark.parametrize(
    "config, text",
    [
        (lambda: losses.LpLossConfig(0.0), "'p' must be finite and positive, got 0.0"),
        (lambda: losses.LpLossConfig(NAN), "'p' must be finite and positive"),
        (lambda: losses.SmoothL1LossConfig(0.0), "'beta' must be finite and positive"),
        (lambda: losses.HuberLossConfig(-1.0), "'delta' must not be negative, got -1.0"),
        (lambda: losses.HuberLossConfig(NAN), "'delta' must not be negative, got nan"),
        (lambda: losses.PoissonNllLossConfig(eps=0.0), "'eps' must be finite and positive"),
        (lambda: losses.GaussianNLLLossConfig(eps=-1.0), "'eps' must be finite and positive"),
        (lambda: losses.MarginRankingLossConfig(-0.5), "'margin' must be finite and not negative, got -0.5"),
        (lambda: losses.MultiMarginLossConfig(-0.5), "'margin' must be finite and not negative"),
        (lambda: losses.MultiMarginLossConfig(p=3), "'p' must be 1 or 2, got 3"),
        (lambda: losses.HingeEmbeddingLossConfig(INF), "'margin' must be a finite number, got inf"),
        (lambda: losses.TripletMarginLossConfig(p=NAN), "'p' must be the number of a norm"),
        (lambda: losses.CosineEmbeddingLossConfig(NAN), "'margin' must be a finite number"),
    ],
)
def test_configurations_that_are_refused(config, text):
    with pytest.raises(ArgumentError, match=text):
        config().init()


@pytest.mark.parametrize(
    "config, text, keys",
    [
        (losses.BinaryCrossEntropyLossConfig(weights=[1.0, 2.0, 3.0]),
         "BinaryCrossEntropyLoss {weights: Tensor {rank: 1, shape: [3]}, smoothing: None, logits: false}",
         "weights smoothing logits"),
        (losses.LpLossConfig(2.0), "LpLoss {\n  p: 2\n}", "p"),
        (losses.SmoothL1LossConfig(), "SmoothL1Loss {\n  beta: 1\n}", "beta"),
        (losses.HuberLossConfig(0.5), "HuberLoss {delta: 0.5, lin_bias: 0.125}", "delta"),
        (losses.KLDivLossConfig(True), "KLDivLoss {log_target: true}", "log_target"),
        (losses.PoissonNllLossConfig(), "PoissonNllLoss {log_input: true, full: false, eps: 0.00000001}", "log_input full eps"),
        (losses.GaussianNLLLossConfig(0.5), "GaussianNLLLoss {eps: 0.5, full: false}", "eps full"),
        (losses.MarginRankingLossConfig(0.5), "MarginRankingLoss {margin: 0.5}", "margin"),
        (losses.HingeEmbeddingLossConfig(0.5), "HingeEmbeddingLoss {margin: 0.5}", "margin"),
        (losses.MultiMarginLossConfig(0.5), "MultiMarginLoss {margin: 0.5, p: 1}", "margin p"),
        (losses.TripletMarginLossConfig(0.5), "TripletMarginLoss {margin: 0.5, p: 2}", "margin p"),
        (losses.CosineEmbeddingLossConfig(0.5), "CosineEmbeddingLoss {margin: 0.5, reduction: Mean}", "margin reduction"),
    ],
    ids=lambda x: type(x).__name__,
)  # fmt: skip
def test_printed_and_stored(config, text, keys):
    loss = config.init(CPU) if "CrossEntropy" in type(config).__name__ else config.init()
    assert str(loss) == text and loss.num_params() == 0 and len(loss.into_record()) == 0
    assert list(json.loads(config_to_json(config))) == keys.split()
    assert type(config).load_binary(config_to_json(config).encode()) == config


def test_numbers_of_pytorch():
    torch = pytest.importorskip("torch")
    f, none = torch.nn.functional, {"reduction": "none"}
    rng = np.random.default_rng(5)
    x, y, z = (rng.standard_normal((6, 4)) for _ in range(3))
    sign, share = np.sign(y), np.abs(y) / np.abs(y).sum(1, keepdims=True)
    classes = rng.integers(0, 4, 6)
    pairs = [
        (losses.LpLoss(1.0), (x, y), lambda a, b: f.l1_loss(a, b, **none)),
        (losses.SmoothL1Loss(0.7), (x, y), lambda a, b: f.smooth_l1_loss(a, b, **none, beta=0.7)),
        (losses.HuberLoss(0.7), (x, y), lambda a, b: f.huber_loss(a, b, **none, delta=0.7)),
        (losses.KLDivLoss(), (x, share), lambda a, b: f.kl_div(a, b, **none)),
        (losses.KLDivLoss(True), (x, y), lambda a, b: f.kl_div(a, b, **none, log_target=True)),
        (losses.PoissonNllLoss(full=True), (x, y * y * 3), lambda a, b: f.poisson_nll_loss(a, b, full=True, **none)),
        (losses.GaussianNLLLoss(full=True), (x, y, z * z), lambda a, b, c: f.gaussian_nll_loss(a, b, c, full=True, **none)),
        (losses.MarginRankingLoss(0.3), (x, y, sign), lambda a, b, c: f.margin_ranking_loss(a, b, c, margin=0.3, **none)),
        (losses.HingeEmbeddingLoss(), (x, sign), lambda a, b: f.hinge_embedding_loss(a, b, **none)),
        (losses.SoftMarginLoss(), (x, sign), lambda a, b: f.soft_margin_loss(a, b, **none)),
        (losses.MultiMarginLoss(p=2), (x, classes), lambda a, b: f.multi_margin_loss(a, b, p=2, **none)),
        (losses.TripletMarginLoss(p=3.0), (x, y, z), lambda a, b, c: f.triplet_margin_loss(a, b, c, p=3, eps=0, **none)),
        (losses.CosineEmbeddingLoss(0.1), (x, y, np.sign(z[:, 0]).astype(int)),
         lambda a, b, c: f.cosine_embedding_loss(a, b, c, margin=0.1, **none)),
    ]  # fmt: skip
    for loss, values, theirs in pairs:
        ours = [Tensor.from_data(v, AD, dtype="f64" if v.dtype.kind == "f" else "i32") for v in values]
        ours[0] = ours[0].require_grad()
        out = unreduced(loss, ours)
        their = [torch.tensor(v) for v in values]
        their[0].requires_grad_()
        want = theirs(*their)
        np.testing.assert_allclose(out.numpy(), want.detach().numpy(), rtol=1e-7, atol=1e-9, err_msg=str(loss))
        want.sum().backward()
        np.testing.assert_allclose(
            ours[0].grad(out.sum().backward()).numpy(), their[0].grad.numpy(), rtol=1e-7, atol=1e-9, err_msg=str(loss)
        )
