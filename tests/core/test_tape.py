"""The tape: what is tracked, what is saved, what is freed."""

import gc
import subprocess
import sys
import textwrap

import numpy as np
import pytest

from burn import Device, Tensor
from burn._core import core
from burn.errors import AutodiffError, DTypeError, ShapeError
from burn.tensor.module import max_pool2d_with_indices
from burn.tensor.ops import MaxPoolOptions

AD = Device.flex().autodiff()


def leaf(values):
    return Tensor(values, AD).require_grad()


def test_states_of_a_tensor():
    plain = Tensor([1.0, 2.0], Device.flex())
    untracked = Tensor([1.0, 2.0], AD)
    x = untracked.require_grad()
    y = x * 2.0
    assert [t.is_autodiff() for t in (plain, untracked, x, y)] == [False, True, True, True]
    assert [t.is_tracked() for t in (plain, untracked, x, y)] == [False, False, True, True]
    assert [t.is_require_grad() for t in (plain, untracked, x, y)] == [False, False, True, False]
    assert (untracked * 2.0).require_grad().is_require_grad()
    assert x.detach().is_require_grad() and not y.detach().is_tracked()
    assert not x.set_require_grad(False).is_tracked()
    assert x.inner().is_autodiff() is False and plain.autodiff().is_autodiff()
    assert x.without_autodiff().numpy().tolist() == [1.0, 2.0]


def test_require_grad_errors():
    with pytest.raises(AutodiffError, match=r"\[require_grad\] autodiff is off"):
        Tensor([1.0], Device.flex()).require_grad()
    with pytest.raises(AutodiffError, match=r"\[require_grad\] the tensor is a tracked intermediate"):
        (leaf([1.0]) * 2.0).require_grad()
    with pytest.raises(DTypeError, match=r"must be a Float tensor, got i32"):
        Tensor([1], AD).require_grad()


def test_backward_errors_and_consumption():
    with pytest.raises(AutodiffError, match=r"\[backward\] the tensor must be tracked"):
        Tensor([1.0], AD).backward()
    x = leaf([1.0, 2.0])
    shared = x * x
    a, b, c = shared.sum(), (shared * 2.0).sum(), (x * 3.0).sum()
    a.backward()
    with pytest.raises(AutodiffError, match="already been consumed"):
        a.backward()
    with pytest.raises(AutodiffError, match="already been consumed"):
        b.backward()
    assert b.is_tracked()
    assert x.grad(c.backward()).tolist() == [3.0, 3.0]  # a branch of its own still works


def test_gradients_container():
    x, y = leaf([1.0, 2.0]), leaf([3.0, 4.0])
    mid = x * y
    grads = mid.backward()  # any shape: the gradient of the sum
    assert x.grad(grads).tolist() == [3.0, 4.0] and not x.grad(grads).is_autodiff()
    assert mid.grad(grads) is None and Tensor([1.0], AD).grad(grads) is None
    x.grad_replace(grads, Tensor([9.0, 9.0], Device.flex()))
    assert x.grad(grads).tolist() == [9.0, 9.0]
    assert x.clone().grad(grads).tolist() == [9.0, 9.0]
    assert y.grad_remove(grads).tolist() == [1.0, 2.0] and y.grad(grads) is None
    with pytest.raises(AutodiffError, match="must be a plain tensor"):
        x.grad_replace(grads, Tensor([1.0, 1.0], AD))
    with pytest.raises(ShapeError, match="grad_replace"):
        x.grad_replace(grads, Tensor([1.0], Device.flex()))


def test_plain_and_autodiff_mix():
    x = leaf([2.0])
    y = x * Tensor([5.0], Device.flex())
    assert y.is_autodiff() and x.grad(y.backward()).tolist() == [5.0]


def test_checkpointing_strategies_do_not_mix():
    a = Tensor([1.0], AD)
    b = Tensor([1.0], AD.gradient_checkpointing())
    with pytest.raises(AutodiffError, match="checkpointing strategy"):
        a + b


def test_reuse_and_broadcast_gradients():
    x = leaf([[1.0, 2.0, 3.0]])
    y = leaf([[1.0], [2.0]])
    out = (x * y + x) * x
    grads = out.sum().backward()
    xv, yv = np.array([[1.0, 2, 3]]), np.array([[1.0], [2]])
    np.testing.assert_allclose(x.grad(grads).numpy(), (2 * xv * yv + 2 * xv).sum(0, keepdims=True))
    np.testing.assert_allclose(y.grad(grads).numpy(), (xv * xv).sum() * np.ones((2, 1)))
    assert x.grad(grads).dims() == [1, 3] and y.grad(grads).dims() == [2, 1]


def test_zero_gradient_rules_reach_the_leaf():
    x = leaf([1.5, float("inf")])
    assert x.grad((x.floor() + x.sign()).sum().backward()).tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    "op",
    [
        lambda x: x.sort_with_indices(1),
        lambda x: x.topk_with_indices(2, 1),
        lambda x: x.median_with_indices(1),
        lambda x: x.max_dim_with_indices(1),
        lambda x: x.min_dim_with_indices(1),
        lambda x: max_pool2d_with_indices(x.reshape([1, 1, 2, 4]), MaxPoolOptions([2, 2])),
    ],
    ids=["sort", "topk", "median", "max", "min", "pool"],
)
def test_what_is_assigned_to_indices_that_an_operation_gave_changes_no_gradient(op):
    found = []
    for assigned in (False, True):
        x = leaf([[3.0, 1.0, 4.0, 1.5], [9.0, 2.0, 6.0, 5.0]])
        values, indices = op(x)
        loss = (values * values).sum()
        if assigned:
            indices[...] = 0
        found.append(x.grad(loss.backward()).numpy())
    np.testing.assert_array_equal(*found)


def test_setitem_does_not_touch_what_was_saved():
    x = leaf([1.0, 2.0, 3.0])
    y = x * 1.0
    z = y * y
    y[0] = 100.0
    assert x.grad(z.sum().backward()).tolist() == [2.0, 4.0, 6.0]
    assert y.tolist() == [100.0, 2.0, 3.0]


def test_setitem_is_differentiable():
    x = leaf([1.0, 2.0, 3.0])
    v = leaf([5.0])
    y = x * 2.0
    y[1] = v
    grads = (y * y).sum().backward()
    assert x.grad(grads).tolist() == [8.0, 0.0, 24.0] and v.grad(grads).tolist() == [10.0]


@pytest.mark.parametrize("run_backward", [False, True])
def test_deep_graph_is_freed_without_recursion(run_backward):
    x = leaf([1.0])
    y = x
    for _ in range(100_000):
        y = y + x
    if run_backward:
        assert x.grad(y.backward()).tolist() == [100_001.0]
    del y


def test_dropped_graph_frees_its_memory_at_once():
    x = leaf(np.ones(1000, np.float32))
    before = core.memory_usage()["live_bytes"]
    y = x
    for _ in range(50):
        y = (y * x).tanh()
    assert core.memory_usage()["live_bytes"] > before + 50 * 4000
    del y
    assert core.memory_usage()["live_bytes"] <= before
    assert gc.collect() >= 0


def test_only_needed_values_are_saved():
    before = core.memory_usage()["live_bytes"]
    x = leaf(np.ones(100_000, np.float32))
    y = ((x + 1.0) * 2.0).sum()  # neither the sum nor a product with a number needs its input
    assert core.memory_usage()["live_bytes"] < before + 2 * 400_000
    del x, y


def test_no_leak_over_many_steps():
    code = """
        import resource
        from burn import Device, Tensor
        d = Device.flex().autodiff()
        x = Tensor([[1.0, 2.0], [3.0, 4.0]], d)
        def step():
            w = x.require_grad() if not x.is_require_grad() else x
            return w.grad(((w @ w).tanh() * w + w).sum().backward())
        for _ in range(2000): step()
        start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        for _ in range(100_000): step()
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - start)
    """
    grown = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True)
    assert int(grown.stdout) < 1024, f"grew by {grown.stdout} KB"


def test_each_leaf_has_a_gradient_object_of_its_own():
    a, b = leaf([1.0, 2.0]), leaf([3.0, 4.0])
    grads = (a + b).backward()
    mine = a.grad(grads)
    mine[0] = 99.0
    assert a.grad(grads).tolist() == [1.0, 1.0] and b.grad(grads).tolist() == [1.0, 1.0]


def test_accumulated_gradients_do_not_write_into_values_that_others_hold():
    x = leaf(np.arange(6, dtype=np.float32).reshape(2, 3))
    y = x * 2.0
    branches = [y + y, y.reshape(3, 2).reshape(2, 3), y.transpose().transpose(), y * 1.0]
    total = branches[0]
    for part in branches[1:]:
        total = total + part
    assert x.grad((total + y).sum().backward()).tolist() == [[12.0] * 3] * 2


def test_a_leaf_that_was_reached_before_can_be_differentiated():
    x = leaf([1.0, 2.0])
    (x * 2.0).sum().backward()
    assert x.grad(x.backward()).tolist() == [1.0, 1.0]


def test_pairs_with_a_number_keep_the_graph():
    x = leaf([-1.0, 0.5, 2.0])
    assert x.grad(x.max_pair(0.5).sum().backward()).tolist() == [0.0, 1.0, 1.0]
    assert x.grad(x.min_pair(0.5).sum().backward()).tolist() == [1.0, 1.0, 0.0]


def test_first_power_is_a_value_of_its_own():
    x = Tensor([1.0, 2.0])
    y = x**1
    y[0] = 9.0
    assert x.tolist() == [1.0, 2.0]
