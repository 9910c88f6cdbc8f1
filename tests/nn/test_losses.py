"""Losses: numbers of Burn's tests, padding, weights, and targets that are no classes."""

import math

import numpy as np
import pytest

from burn import Device, Tensor
from burn.errors import ArgumentError, KindError, ShapeError
from burn.nn.loss import CrossEntropyLoss, CrossEntropyLossConfig, KLDivLoss, MseLoss, Reduction

CPU = Device.flex()
AD = CPU.autodiff()

ROWS = [[0.1, 0.2, 0.7, 0, 0], [0.7, 0.1, 0.1, 0.1, 0], [0.2] * 5, [0, 0.3, 0.3, 0.2, 0.2]]
LOGITS = [[1.0, 2.0, 0.5], [0.2, -0.3, 1.5], [0.0, 1.0, -1.0]]
PADDED = [[0.7, 0.2, 0.1], [0.1, 0.7, 0.2], [0.2, 0.3, 0.5], [0.3, 0.2, 0.5]]


def loss(logits, targets, /, **config):
    criterion = CrossEntropyLossConfig(**config).init(CPU)
    return criterion(Tensor.from_data(logits, CPU), Tensor.from_data(targets, CPU)).item()


@pytest.mark.parametrize(
    "config, expected",
    [({}, 1.354197), ({"logits": False}, 0.88169014), ({"logits": False, "smoothing": 0.1}, 1.7929223)],
)
def test_probabilities_and_logits(config, expected):
    assert loss(ROWS, [2, 0, 4, 1], **config) == pytest.approx(expected, rel=1e-5)


W = [1.0, 2.0, 4.0]


@pytest.mark.parametrize(
    "config, expected",
    [
        ({}, 0.7450368),
        ({"weights": W}, 0.5412694),
        ({"smoothing": 0.2}, 0.8694812),
        ({"smoothing": 0.2, "weights": W}, 0.7144038),
        ({"pad_tokens": [0]}, 0.4137521),
        ({"pad_tokens": [0], "weights": W}, 0.3968799),
        ({"pad_tokens": [0], "smoothing": 0.2, "weights": W}, 0.5140876),
        ({"smoothing": 0.0}, 0.7450368),
        ({"pad_tokens": []}, 0.7450368),
    ],
)
def test_options(config, expected):
    assert loss(LOGITS, [1, 2, 0], **config) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(
    "config, expected",
    [
        ({}, 0.7679495),
        ({"weights": W}, 0.7679495),
        ({"smoothing": 0.1}, 0.8046162),
        ({"smoothing": 0.1, "weights": W}, 0.8772801),
        ({"logits": False}, 0.3566749),
    ],
)
def test_padded_rows_change_nothing(config, expected):
    assert loss(PADDED, [0, 1, 2, 2], pad_tokens=[2], **config) == pytest.approx(expected, rel=1e-5)
    assert loss(PADDED[:2], [0, 1], **config) == pytest.approx(expected, rel=1e-5)


def test_padding_by_hand():
    logits = [[2.0, 0, 0], [0, 1.0, 0], [3.0, 3.0, 0]]
    assert loss(logits, [1, 0, 2], pad_tokens=[0]) == pytest.approx(2.9786403, rel=1e-6)
    assert math.isnan(loss(logits, [0, 0, 0], pad_tokens=[0]))
    assert math.isnan(loss(logits, [0, 0, 0], pad_tokens=[0], weights=W))


@pytest.mark.parametrize("pad", [-1, 3, -100])
def test_pad_tokens_need_not_be_classes(pad):
    assert loss(LOGITS, [1, pad, 0], pad_tokens=[pad]) == pytest.approx(loss([LOGITS[0], LOGITS[2]], [1, 0]), rel=1e-6)


@pytest.mark.parametrize("stray", [-4, 3])
@pytest.mark.parametrize("config", [{}, {"weights": W}, {"pad_tokens": [-1]}, {"smoothing": 0.1}])
def test_a_target_that_is_no_class_is_named(stray, config):
    with pytest.raises(IndexError, match=rf"classes from 0 to 2.*got {stray} at position 1"):
        loss(LOGITS, [1, stray, 2], **config)


def test_gradient_of_padded_rows_is_zero():
    logits = Tensor.from_data([[2.0, 0.0, -1.0], [0.0, 0.0, 0.0]], AD).require_grad()
    out = CrossEntropyLoss([2])(logits, Tensor.from_data([0, 2], CPU))
    expected = [[-0.1562053, 0.1141952, 0.04201007], [0, 0, 0]]
    np.testing.assert_allclose(logits.grad(out.backward()).numpy(), expected, atol=1e-6)


def test_an_impossible_class_with_padding_gives_no_nan_gradient():
    logits = Tensor.from_data([[0.0, -math.inf], [1.0, 2.0]], AD).require_grad()
    out = CrossEntropyLoss([1])(logits, Tensor.from_data([0, 1], CPU))
    grad = logits.grad(out.backward()).numpy()
    assert out.item() == 0.0 and np.isfinite(grad).all()


def test_double_precision():
    logits = Tensor.from_data(np.array(LOGITS), CPU, dtype="f64")
    out = CrossEntropyLossConfig(weights=W).init(CPU)(logits, Tensor.from_data([1, 2, 0], CPU))
    assert out.dtype.name == "f64" and out.shape == (1,)


def test_sums_of_half_precision_do_not_overflow():
    """The quotients fit f16, what is divided and what it is divided by do not."""

    def half(data):
        return Tensor.from_data(data, CPU, dtype="f16")

    weighted = CrossEntropyLossConfig(weights=[4e4, 1.0, 1.0]).init(CPU)
    assert weighted(half(np.zeros((4, 3))), Tensor.from_data([0] * 4, CPU)).item() == pytest.approx(
        math.log(3), rel=1e-3
    )
    padded = CrossEntropyLossConfig(pad_tokens=[9]).init(CPU)
    assert padded(half([[1e4, 0.0, 0.0]] * 9), Tensor.from_data([1] * 8 + [9], CPU)).item() == 1e4
    elements = half(np.full((3, 3), -1e4)), half(np.ones((3, 3)))
    assert KLDivLoss().forward(*elements, Reduction.BatchMean).item() == pytest.approx(3e4, rel=1e-3)


def test_what_cross_entropy_refuses():
    criterion = CrossEntropyLoss()
    x, t = Tensor.ones([4, 3], CPU), Tensor.from_data([0, 1, 2, 0], CPU)
    with pytest.raises(ShapeError, match=r"'targets' must be \[batch\] with batch = 4 as in logits, got shape \[3\]"):
        criterion(x, Tensor.from_data([0, 1, 2], CPU))
    with pytest.raises(ShapeError, match=r"'logits' must be \[batch, classes\], got shape \[1, 4, 3\]"):
        criterion(Tensor.ones([1, 4, 3], CPU), t)
    with pytest.raises(KindError, match="'targets' must be an Int tensor"):
        criterion(x, Tensor.ones([4], CPU))
    with pytest.raises(KindError, match="'logits' must be a Float tensor"):
        criterion(t, t)
    with pytest.raises(ShapeError, match="a class for each of the 2 weights"):
        CrossEntropyLossConfig(weights=[1.0, 1.0]).init(CPU)(x, t)
    for smoothing in (-0.1, 1.1, math.nan):
        with pytest.raises(ArgumentError, match="'smoothing' must be from 0 to 1"):
            CrossEntropyLossConfig(smoothing=smoothing).init(CPU)
    for weights in ([1.0, 0.0], [1.0, -1.0], [math.nan]):
        with pytest.raises(ArgumentError, match="'weights' must all be positive"):
            CrossEntropyLossConfig(weights=weights).init(CPU)


def test_a_loss_moves_with_its_weights_and_has_no_parameters():
    criterion = CrossEntropyLossConfig(weights=W).init(CPU)
    moved = criterion.to_device(Device.ndarray())
    assert moved.weights.device == Device.ndarray() and moved.num_params() == 0 and len(moved.into_record()) == 0


def test_mse():
    a, b = Tensor.from_data([[1.0, 2.0], [3.0, 4.0]], CPU), Tensor.from_data([[2.0, 1.0], [3.0, 2.0]], CPU)
    mse = MseLoss()
    assert mse.forward_no_reduction(a, b).tolist() == [[1, 1], [0, 4]]
    assert [mse(a, b, r).tolist() for r in (Reduction.Mean, Reduction.Auto, Reduction.Sum)] == [[1.5], [1.5], [6.0]]
    with pytest.raises(ArgumentError, match=r"'reduction' must be .*Mean, Sum or Auto, got Reduction\.BatchMean"):
        mse(a, b, Reduction.BatchMean)
    with pytest.raises(ShapeError, match=r"'targets' must have the shape of 'logits', got \[2, 1\] and \[2, 2\]"):
        mse(a, Tensor.ones([2, 1], CPU), Reduction.Mean)
