"""CTC and RNN-T: the numbers of Burn's tests, reductions, zero_infinity, and what the layers refuse."""

import math

import numpy as np
import pytest

from burn import Device, Tensor
from burn.config import config_to_json
from burn.errors import ArgumentError, ArgumentTypeError, OutOfBoundsError, ShapeError
from burn.nn.loss import CTCLoss, CTCLossConfig, Reduction, RNNTLoss, RNNTLossConfig
from burn.tensor.activation import log_softmax

CPU = Device.flex()
AD = CPU.autodiff()


def ints(*values):
    return Tensor.from_data(np.array(values, np.int32), CPU)


def waves(shape, steps):
    """sin of sums of the indices, as Burn's tests have them."""
    return np.sin(sum(i * s for i, s in zip(np.indices(shape), steps, strict=True)) * 0.1).astype(np.float32)


def ctc_input(shape, device=CPU):
    return Tensor.from_data(waves(shape, (7, 13, 3)), device)


def padded(*targets):
    longest = max(map(len, targets))
    return ints(*[[*t, *[0] * (longest - len(t))] for t in targets])


def test_display_and_json():
    assert str(CTCLoss()) == "CTCLoss {\n  blank: 0\n  zero_infinity: false\n}"
    assert str(RNNTLossConfig(blank=2).init()) == "RNNTLoss {\n  blank: 2\n  logits: true\n}"
    assert config_to_json(CTCLossConfig()).split() == ["{", '"blank":', "0,", '"zero_infinity":', "false", "}"]
    assert CTCLoss().num_params() == 0


@pytest.mark.parametrize(
    "shape, blank, target, expected",
    [((3, 2), 0, [1, 1], 3 * math.log(2)), ((3, 3), 2, [0, 1], -math.log(5 / 27)), ((2, 2), 0, [1], -math.log(0.75))],
)
def test_uniform(shape, blank, target, expected):
    x = Tensor.full([shape[0], 1, shape[1]], -math.log(shape[1]), CPU)
    found = CTCLoss(blank)(x, ints(target), ints(shape[0]), ints(len(target)))
    assert found.item() == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(
    "shape, targets, steps, expected",
    [
        ((5, 3, 4), ([1, 2], [1], [3, 2, 1]), None, [3.5236571, 3.4953139, 4.2626772]),
        ((8, 4, 6), ([1, 1, 2], [2, 3, 2, 1], [5], [1, 2, 3, 4]), None, [8.8420305, 9.0230293, 9.3980246, 9.0080681]),
        ((10, 2, 8), ([1, 3, 5, 7, 2], [2, 4, 6, 1, 3]), None, [12.6293993, 12.2985249]),
        ((12, 3, 5), ([1, 4, 2], [3, 1], [2, 4, 1, 3]), (12, 7, 10), [10.5955057, 6.8078508, 7.7050571]),
    ],
)
def test_ctc_numbers(shape, targets, steps, expected):
    counts = [len(t) for t in targets]
    call = (log_softmax(ctc_input(shape), 2), padded(*targets), ints(*(steps or [shape[0]] * shape[1])), ints(*counts))
    np.testing.assert_allclose(CTCLoss()(*call).numpy(), expected, rtol=1e-6)
    total = CTCLoss().forward_with_reduction(*call, Reduction.Sum)
    assert total.shape == (1,) and total.item() == pytest.approx(sum(expected), rel=1e-6)
    for reduction in (Reduction.Mean, Reduction.Auto):
        mean = CTCLoss().forward_with_reduction(*call, reduction).item()
        assert mean == pytest.approx(np.mean(np.array(expected) / counts), rel=1e-6)


def test_ctc_gradient():
    x = ctc_input((5, 3, 4), AD).require_grad()
    call = (log_softmax(x, 2), padded([1, 2], [1], [3, 2, 1]), ints(5, 5, 5), ints(2, 1, 3))
    g = x.grad(CTCLoss().forward_with_reduction(*call, Reduction.Sum).backward()).numpy()
    want = {
        (0, 0): [-0.1679008, -0.4595540, 0.2795598, 0.3478950], (2, 1): [-0.1380318, -0.2198687, 0.2042597, 0.1536408],
        (4, 2): [-0.0050084, -0.6256869, 0.2689786, 0.3617167],
    }  # fmt: skip
    for place, row in want.items():
        np.testing.assert_allclose(g[place], row, atol=1e-6)


def test_mean_scales_each_sample():
    def grad(reduction):
        x = ctc_input((5, 3, 4), AD).require_grad()
        call = (log_softmax(x, 2), padded([1, 2], [1], [3, 2, 1]), ints(5, 5, 5), ints(2, 1, 3))
        return x.grad(CTCLoss().forward_with_reduction(*call, reduction).backward()).numpy()

    np.testing.assert_allclose(
        grad(Reduction.Mean), grad(Reduction.Sum) / (3 * np.array([2, 1, 3]))[:, None], rtol=1e-5, atol=1e-7
    )


def test_infinite_losses():
    x = Tensor.full([2, 2, 3], -math.log(3), AD).require_grad()
    call = (x, ints([1, 1], [1, 2]), ints(2, 2), ints(2, 2))
    assert CTCLoss()(*call).tolist()[0] == math.inf
    loss = CTCLossConfig(zero_infinity=True).init()(*call)
    assert loss.tolist()[0] == 0.0 and loss.tolist()[1] == pytest.approx(2 * math.log(3))
    g = x.grad(loss.sum().backward()).numpy()
    assert (g[:, 0] == 0).all() and np.isfinite(g).all() and (g[:, 1] != 0).any()


def test_mean_of_empty_targets_is_their_loss():
    x = Tensor.full([3, 1, 2], -math.log(2), CPU)
    mean = CTCLoss().forward_with_reduction(x, ints([1]), ints(3), ints(0), Reduction.Mean)
    assert mean.item() == pytest.approx(3 * math.log(2))


def rnnt(shape, targets, steps, counts, device=CPU):
    x = Tensor.from_data(waves(shape, (11, 7, 13, 3)), device)
    return x, (ints(*targets), ints(*steps), ints(*counts))


def test_rnnt_numbers():
    half = Tensor.full([1, 3, 2, 2], math.log(0.5), CPU)
    loss = RNNTLoss(logits=False)
    assert loss(half[:, :2], ints([1]), ints(2), ints(1)).item() == pytest.approx(2 * math.log(2))
    assert loss(half, ints([1]), ints(3), ints(0)).item() == pytest.approx(3 * math.log(2))
    x, call = rnnt((1, 4, 3, 3), ([1, 2],), (4,), (2,), AD)
    x = x.require_grad()
    out = RNNTLoss()(x, *call)
    assert out.item() == pytest.approx(4.4491, abs=1e-4)
    g = x.grad(out.sum().backward()).numpy()[0]
    np.testing.assert_allclose(g[0, 0], [-0.2041, -0.2246, 0.4287], atol=1e-4)
    np.testing.assert_allclose(g[2, 0], [0.0079, -0.0640, 0.0561], atol=1e-4)
    np.testing.assert_allclose(g[3, 2], [-0.6899, 0.3231, 0.3667], atol=1e-4)
    x, call = rnnt((2, 5, 4, 4), ([1, 2, 3], [2, 1, 3]), (5, 5), (3, 3))
    np.testing.assert_allclose(RNNTLoss()(x, *call).numpy(), [7.9356, 7.2033], atol=1e-4)
    for reduction, want in ((Reduction.Sum, 15.1389), (Reduction.Mean, 7.5694), (Reduction.Auto, 7.5694)):
        assert RNNTLoss().forward_with_reduction(x, *call, reduction).item() == pytest.approx(want, abs=1e-4)
    x, call = rnnt((3, 6, 4, 5), ([1, 2, 3], [4, 1, 0], [2, 0, 0]), (6, 4, 5), (3, 2, 1), AD)
    x = x.require_grad()
    out = RNNTLoss()(x, *call)
    np.testing.assert_allclose(out.numpy(), [10.7458, 8.0196, 8.3316], atol=1e-4)
    g = x.grad(out.sum().backward()).numpy()
    assert (g[1, 4:] == 0).all() and (g[2, 5:] == 0).all() and (g[2, :, 2:] == 0).all()
    np.testing.assert_allclose(g.sum(3), 0, atol=1e-6)


def test_what_they_refuse():
    x = Tensor.zeros([3, 1, 2], CPU)
    with pytest.raises(OutOfBoundsError, match=r"\[CTCLoss\] 'input_lengths' must lie in 0..3, got 4 at \[0\]"):
        CTCLoss()(x, ints([1]), ints(4), ints(1))
    with pytest.raises(ArgumentError, match=r"\[CTCLoss\] 'blank' must be a class, in 0..1, got 5"):
        CTCLoss(blank=5)(x, ints([1]), ints(3), ints(1))
    with pytest.raises(ArgumentError, match=r"'reduction' must be .*got Reduction\.BatchMean"):
        CTCLoss().forward_with_reduction(x, ints([1]), ints(3), ints(1), Reduction.BatchMean)
    with pytest.raises(ArgumentTypeError, match=r"\[RNNTLoss\] 'targets' must be a tensor"):
        RNNTLoss()(Tensor.zeros([1, 2, 2, 3], CPU), [[1]], ints(2), ints(1))
    with pytest.raises(OutOfBoundsError, match=r"\[RNNTLoss\] 'logit_lengths' must lie in 1..2, got 0"):
        RNNTLoss()(Tensor.zeros([1, 2, 2, 3], CPU), ints([1]), ints(0), ints(1))


@pytest.mark.parametrize("device", [CPU, Device.ndarray()])
@pytest.mark.parametrize(
    ("which", "value", "message"),
    [
        (0, 10**9, r"'targets' must be classes in 0..3, got 1000000000 at \[0, 0\]"),
        (1, 10**7, r"'{steps}' must lie in {least}..5, got 10000000 at \[0\]"),
        (2, -3, r"'target_lengths' must lie in 0..2, got -3 at \[0\]"),
    ],
)
def test_arrays_written_to_between_forward_and_backward(device, which, value, message):
    """Tensors made by from_numpy share memory: what was in range in the forward pass is checked again."""
    for layer, shape, steps, least in (
        (CTCLoss(), (5, 2, 4), "input_lengths", 0),
        (RNNTLoss(), (2, 5, 3, 4), "logit_lengths", 1),
    ):
        arrays = [np.array(a, np.int64) for a in ([[1, 2], [3, 1]], [5, 4], [2, 1])]
        x = Tensor.from_data(waves(shape, range(len(shape))), device.autodiff()).require_grad()
        loss = layer.forward(log_softmax(x, len(shape) - 1), *(Tensor.from_numpy(a, device) for a in arrays))
        arrays[which].flat[0] = value
        with pytest.raises(OutOfBoundsError, match=message.format(steps=steps, least=least)):
            loss.sum().backward()


def test_no_classes_and_no_steps():
    ones = ints(1, 1)
    with pytest.raises(
        ShapeError, match=r"'log_probs' must have at least one class on its last axis, got shape \[4, 2, 0\]"
    ):
        CTCLoss().forward(Tensor.zeros([4, 2, 0], CPU), ints([1], [1]), ones, ones)
    with pytest.raises(ShapeError, match=r"'logits' must have at least one step on axis 1, got shape \[2, 0, 2, 3\]"):
        RNNTLoss().forward(Tensor.zeros([2, 0, 2, 3], CPU), ints([1], [1]), ones, ones)
