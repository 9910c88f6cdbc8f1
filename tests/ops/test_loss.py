"""Losses of rows against a sum in Python, of sequences against all alignments one by one, on every device."""

import numpy as np
import pytest

from burn import Device, Tensor
from burn._ops.loss import cross_entropy, multi_margin_loss, nll_loss, no_class, rnnt_loss
from burn.errors import ArgumentError, OutOfBoundsError, ShapeError
from burn.tensor import module
from burn.tensor.activation import log_softmax
from tests.cases import F32, F64, FLOATS
from tests.cases import loss as cases
from tests.cases.tensors import array, gradients, tensor
from tests.ops.checks import check_error, check_gradient, check_value, check_views, each, with_threads

BOTH = [*cases.ROWS, *cases.CASES, *cases.RNNT]


@each(BOTH)
def test_value(case, device):
    check_value(case, device)


@each([c for c in BOTH if c.grad])
def test_gradient(case, device):
    check_gradient(case, device)


@each(BOTH)
def test_views(case, device):
    check_views(case, device)


@each(cases.ERRORS)
def test_error(case, device):
    check_error(case, device)


def nll(x, targets, weights=None, pads=(), smoothing=0.0, op=nll_loss):
    place = x.device.inner()
    scale = None if weights is None else tensor(np.array(weights), place).cast(x.dtype)
    words = no_class("Layer", "targets", tuple(pads))
    return op(x, tensor(np.array(targets), place), scale, pads, smoothing, words)


def entropy(*args):
    return nll(*args, op=cross_entropy)


def margin(x, targets, p=1):
    return multi_margin_loss(x, tensor(np.array(targets), x.device.inner()), 1.0, p, no_class("Layer", "target"))


def test_counts_of_rows(device):
    x = tensor(np.zeros((4, 3), F32), device)
    for loss in (nll, entropy):
        assert loss(x, [0, 1, 2, 1])[1] is None
        assert array(loss(x, [0, -1, 2, 1], None, [-1])[1]).tolist() == [1, 0, 1, 1]
        assert array(loss(x, [0, 1, 2, 1], [0.5, 2.0, 1.0], [2])[1]).tolist() == [0.5, 2, 0, 2]


ODD = np.array([[np.nan, np.inf, 1.0], [0.5, 1.0, 2.0]])


@pytest.mark.parametrize("smoothing", (0.0, 0.5))
def test_rows_that_count_for_nothing_may_hold_anything(smoothing, device):
    found = gradients(lambda x: nll(x, [0, 1], None, [0], smoothing)[0], [ODD], [np.ones(2)], device)[0]
    assert array(nll(tensor(ODD, device), [0, 1], None, [0], smoothing)[0])[0] == 0 and (found[0] == 0).all()
    want = np.array([0, -1, 0]) * (1 - smoothing) - smoothing / 3
    np.testing.assert_allclose(found[1], want, rtol=1e-12)
    found = gradients(lambda x: entropy(x, [0, 1], None, [0], smoothing)[0], [ODD], [np.ones(2)], device)[0]
    assert array(entropy(tensor(ODD, device), [0, 1], None, [0], smoothing)[0])[0] == 0 and (found[0] == 0).all()
    np.testing.assert_allclose(found[1], want + np.exp(ODD[1]) / np.exp(ODD[1]).sum(), rtol=1e-12)


@pytest.mark.parametrize("dtype", (F32, F64), ids=str)
def test_logits_of_any_size(dtype, device):
    """Large offsets cost no digits, a class may be certain or impossible; the gradient is large enough to go around the cache."""
    rng = np.random.default_rng(4)
    x, classes = (rng.standard_normal((700, 1024)) * 3).astype(dtype), rng.integers(1, 1024, 700)
    x[::3] += 4096
    x[5, 1:], x[6, 0], x[7, classes[7]] = -np.inf, -np.inf, 1e30
    wide = x.astype(F64)
    shifted = wide - wide.max(1, keepdims=True)
    logs = shifted - np.log(np.exp(shifted).sum(1, keepdims=True))
    near = {"rtol": 1e-5, "atol": 1e-9} if dtype == F32 else {"rtol": 1e-12, "atol": 1e-15}
    got = array(entropy(tensor(x, device), classes)[0])
    np.testing.assert_allclose(got, -logs[np.arange(700), classes], rtol=near["rtol"])
    assert got[5] == np.inf and got[7] == 0
    found = gradients(lambda x: entropy(x, classes)[0], [x], [np.full(700, 0.5)], device)[0]
    np.testing.assert_allclose(found, (np.exp(logs) - (np.arange(1024) == classes[:, None])) / 2, **near)


@pytest.mark.parametrize("p", (1, 2))
def test_rows_of_no_number(p, device):
    """They have no gradient that is not 0, and the others have theirs."""
    found = gradients(lambda x: margin(x, [0, 1], p), [ODD], [np.array([0.0, 1.0])], device)[0]
    assert (found[0] == 0).all() and np.isfinite(found).all()
    assert np.isnan(array(margin(tensor(ODD, device), [0, 1], p))[0])


@pytest.mark.parametrize("stray", (-1, 3))
def test_targets_that_are_no_classes(stray, device):
    x = tensor(np.zeros((3, 3), F32), device)
    with pytest.raises(
        OutOfBoundsError, match=rf"\[Layer\] 'targets' must be classes from 0 to 2, got {stray} at position 1"
    ):
        array(nll(x, [0, stray, stray])[0])
    with pytest.raises(OutOfBoundsError, match=rf"from 0 to 2 or a pad token of \[7\], got {stray} at position 2"):
        array(nll(x, [0, 7, stray], pads=[7])[0])
    with pytest.raises(
        OutOfBoundsError, match=rf"\[Layer\] 'target' must be classes from 0 to 2, got {stray} at position 1"
    ):
        array(margin(x, [0, stray, stray]))
    with pytest.raises(OutOfBoundsError, match=rf"from 0 to 2 or a pad token of \[7\], got {stray} at position 2"):
        array(entropy(x, [0, 7, stray], None, [7])[0])


@pytest.mark.parametrize(
    "loss",
    [
        lambda x, t: nll_loss(x, t, None, (), 0.0, no_class("nll", "targets"))[0],
        lambda x, t: nll_loss(x, t, Tensor.ones([3], x.device.inner()), (2,), 0.5, no_class("nll", "targets"))[0],
        lambda x, t: cross_entropy(x, t, None, (), 0.0, no_class("nll", "targets"))[0],
        lambda x, t: multi_margin_loss(x, t, 1.0, 1, no_class("margin", "target")),
        lambda x, t: module.ctc_loss(
            x.unsqueeze_dim(1), t.unsqueeze_dim(0), *(Tensor([n], x.device.inner()) for n in (4, 4)), 2
        ),
    ],
    ids=["nll", "nll_weighted", "cross_entropy", "margin", "ctc"],
)
def test_what_is_assigned_to_targets_later_changes_no_gradient(loss, device):
    x, found = np.random.default_rng(3).normal(size=(4, 3)).astype(F32), []
    for assigned in (False, True):
        leaf, targets = tensor(x, device).autodiff().require_grad(), tensor(np.array([0, 1, 0, 1]), device)
        out = loss(leaf, targets).sum()
        if assigned:
            targets[0] = 1
        found.append(array(leaf.grad(out.backward())))
    np.testing.assert_array_equal(*found)


def test_empty_rows(device):
    x = np.zeros((0, 3), F32)
    none = np.zeros(0, np.int64)
    for call in (lambda x: nll(x, none)[0], lambda x: entropy(x, none)[0], lambda x: margin(x, none)):
        assert gradients(call, [x], [np.zeros(0)], device)[0].shape == (0, 3)


def ctc(x, targets, steps, counts, blank=0):
    place = x.device.inner()
    return module.ctc_loss(x, *(tensor(np.array(a), place) for a in (targets, steps, counts)), blank)


def rnnt(x, targets, steps, counts, blank=0, logits=True):
    place = x.device.inner()
    return rnnt_loss(x, *(tensor(np.array(a), place) for a in (targets, steps, counts)), blank, logits)


@pytest.mark.parametrize("ints", (np.int32, np.int64), ids=str)
def test_worked_numbers(ints, device):
    """Numbers of Burn's documentation of the operation."""
    p = np.array([[0.6, 0.3, 0.1], [0.2, 0.5, 0.3], [0.3, 0.3, 0.4]])
    targets = np.array([[1, 2], [1, 1], [1, 0], [0, 0], [1, 1]], ints)
    x = np.log(np.repeat(p[:, None], 5, 1))
    have = array(ctc(tensor(x, device), targets, np.array([3, 3, 3, 3, 2], ints), np.array([2, 2, 1, 0, 2], ints)))
    np.testing.assert_allclose(have, [1.3205066, 4.0173835, 1.1270118, 3.3242363, np.inf], rtol=1e-7)


def test_targets_without_an_alignment_have_no_gradient(device):
    x = np.log(np.full((3, 3, 3), 1 / 3))
    targets, steps, counts = [[1, 2, 1], [1, 1, 1], [1, 2, 2]], [2, 3, 3], [3, 3, 2]
    found = gradients(lambda x: ctc(x, targets, steps, counts), [x], [np.array([1.0, 1.0, 0.0])], device)[0]
    assert (found == 0).all()
    losses = array(ctc(tensor(x, device), targets, steps, counts))
    assert np.isinf(losses[:2]).all() and np.isfinite(losses[2])


def test_nothing_behind_the_lengths_matters(device):
    """Not even values that are no numbers; the gradient there is 0."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((6, 2, 4))
    x[4:, 0], x[5:, 1] = np.nan, np.inf
    targets = np.array([[1, 99, -5], [3, 2, 77]])
    found = gradients(lambda x: ctc(x, targets, [4, 5], [1, 2]), [x], [np.ones(2)], device)[0]
    assert np.isfinite(found).all() and (found[4:, 0] == 0).all() and (found[5:, 1] == 0).all()
    grid = rng.standard_normal((2, 4, 4, 5))
    grid[0, 3:], grid[0, :, 2:], grid[1, :, 3:] = np.nan, np.nan, np.inf
    found = gradients(lambda x: rnnt(x, targets, [3, 4], [1, 2]), [grid], [np.ones(2)], device)[0]
    assert np.isfinite(found).all() and (found[0, 3:] == 0).all() and (found[0, :, 2:] == 0).all()
    np.testing.assert_allclose(found.sum(3), 0, atol=1e-14)


def test_nan_stays_in_its_sample(device):
    x = np.full((3, 2, 3), -1.0)
    x[1, 0, 0] = np.nan
    losses = array(ctc(tensor(x, device), [[1], [1]], [3, 3], [1, 1]))
    assert np.isnan(losses[0]) and np.isfinite(losses[1])
    grid = np.ones((2, 2, 2, 3))
    grid[1, 0, 0, 2] = np.nan
    losses = array(rnnt(tensor(grid, device), [[1], [1]], [2, 2], [1, 1]))
    assert np.isfinite(losses[0]) and np.isnan(losses[1])


def test_impossible_classes_are_no_trouble(device):
    """Probabilities of 0 on the way of some alignments."""
    x = np.log(np.full((4, 1, 3), 1 / 3))
    x[1, 0, 0] = x[2, 0, 1] = -np.inf
    found = gradients(lambda x: ctc(x, [[1, 2]], [4], [2]), [x], [np.ones(1)], device)[0]
    assert np.isfinite(found).all() and found[1, 0, 0] == 0
    np.testing.assert_allclose(found.sum(2), -1, rtol=1e-12)
    np.testing.assert_allclose(
        array(ctc(tensor(x, device), [[1, 2]], [4], [2])), cases.ctc(x, np.array([[1, 2]]), [4], [2], 0), rtol=1e-13
    )


def test_empty_batch(device):
    none = np.zeros((0,), np.int64)
    x = np.zeros((3, 0, 4), F32)
    out = ctc(tensor(x, device), np.zeros((0, 2), np.int64), none, none)
    assert out.shape == (0,)
    assert gradients(lambda x: ctc(x, none[:, None], none, none), [x], [np.zeros(0)], device)[0].shape == (3, 0, 4)
    grid = np.zeros((0, 3, 2, 4), F32)
    assert gradients(lambda x: rnnt(x, none[:, None], none, none), [grid], [np.zeros(0)], device)[0].shape == grid.shape
    assert array(ctc(tensor(np.zeros((0, 1, 2), F32), device), [[1]], [0], [0])).tolist() == [0.0]


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_long_sequences(dtype, device):
    """Losses of thousands keep their digits: here each alignment has the same probability, so they can be counted."""
    steps, labels = (300, 20) if device == Device.flex() else (40, 6)
    x = np.full((steps, 1, 4), -16.0).astype(dtype)
    targets = [[1, 2] * (labels // 2)]
    # alignments of L different neighbours in T steps: C(T + L, 2 L)
    ways = sum(np.log(steps + labels - i) - np.log(i + 1) for i in range(2 * labels))
    have = array(ctc(tensor(x, device), targets, [steps], [labels])).astype(F64)
    np.testing.assert_allclose(have, 16.0 * steps - ways, rtol={F64: 1e-13, F32: 2e-7}.get(dtype, 4e-3))


@pytest.mark.parametrize("dtype", (F32, F64), ids=str)
def test_threads_do_not_matter(dtype, flex):
    rng = np.random.default_rng(1)
    x, grid = rng.standard_normal((60, 9, 12)).astype(dtype), rng.standard_normal((5, 20, 9, 70)).astype(dtype)
    targets = rng.integers(1, 12, (9, 17))

    rows, classes = rng.standard_normal((300, 500)).astype(dtype), rng.integers(0, 500, 300)

    def run():
        one = gradients(lambda x: nll(x, classes, None, [3], 0.1)[0], [rows], [np.ones(300)], flex)
        one += gradients(lambda x: entropy(x, classes, None, [3], 0.1)[0], [rows], [np.ones(300)], flex)
        one += gradients(lambda x: margin(x, classes, 2), [rows], [np.ones(300)], flex)
        one += gradients(lambda x: ctc(x, targets, [60] * 9, [17] * 9), [x], [np.ones(9)], flex)
        return one + gradients(lambda x: rnnt(x, targets[:5, :8], [20] * 5, [8] * 5), [grid], [np.ones(5)], flex)

    for one, two in zip(*with_threads(run), strict=True):
        np.testing.assert_array_equal(one, two)


def test_parity_of_ctc():
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(2)
    x, targets, g = rng.standard_normal((40, 6, 9)) * 2, rng.integers(1, 9, (6, 12)), rng.standard_normal(6)
    steps, counts = [40, 30, 25, 40, 12, 40], [12, 3, 0, 7, 4, 1]
    theirs = torch.tensor(x, requires_grad=True)
    loss = torch.nn.functional.ctc_loss(
        theirs.log_softmax(2), torch.tensor(targets), torch.tensor(steps), torch.tensor(counts), 0, "none"
    )
    (loss * torch.tensor(g)).sum().backward()
    flex = Device.flex()
    ours = array(ctc(log_softmax(tensor(x, flex), 2), targets, steps, counts))
    np.testing.assert_allclose(ours, loss.detach().numpy(), rtol=1e-12)
    found = gradients(lambda x: ctc(log_softmax(x, 2), targets, steps, counts), [x], [g], flex)[0]
    np.testing.assert_allclose(found, theirs.grad.numpy(), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(
    "what, call, error, words",
    [
        ("rank", ([[1]], [2], [1]), ShapeError, "'logits' must be"),
        ("row", ([[1, 1]], [2], [1]), ShapeError, r"'targets' must have shape \[1, 1\]"),
        ("steps", ([[1]], [3], [1]), OutOfBoundsError, r"'logit_lengths' must lie in 1..2, got 3 at \[0\]"),
        ("no steps", ([[1]], [0], [1]), OutOfBoundsError, r"'logit_lengths' must lie in 1..2, got 0 at \[0\]"),
        ("count", ([[1]], [2], [2]), OutOfBoundsError, r"'target_lengths' must lie in 0..1, got 2 at \[0\]"),
        ("class", ([[3]], [2], [1]), OutOfBoundsError, r"'targets' must be classes in 0..2, got 3 at \[0, 0\]"),
        ("blank", ([[1]], [2], [1], 3), ArgumentError, "'blank' must be a class, in 0..2, got 3"),
    ],
)
def test_what_a_transducer_refuses(what, call, error, words, device):
    x = Tensor.zeros([2, 2, 3] if what == "rank" else [1, 2, 2, 3], device)
    with pytest.raises(error, match=words):
        rnnt(x, *call)
        device.sync()


def test_a_row_too_few(device):
    with pytest.raises(ShapeError, match="row for the end"):
        rnnt(Tensor.zeros([1, 2, 0, 3], device), np.zeros((1, 0), np.int64), [2], [0])
