"""Gradient checkpointing: the same gradients, to the bit, from fewer kept values."""

import numpy as np
import pytest

from burn import Device, Tensor
from burn._core import core
from burn.nn import DropoutConfig, LinearConfig
from burn.tensor import activation
from tests.cases import F32, as_tuple, attention, elementwise, index, linalg, loss, matmul, movement, norm, reduce
from tests.cases import activation as activations
from tests.cases.tensors import array, gradients, tensor
from tests.ops.checks import each

PLAIN = Device.flex()
DISABLED = PLAIN.autodiff()
BALANCED = DISABLED.gradient_checkpointing()
FAMILIES = (activations, attention, elementwise, index, linalg, loss, matmul, movement, norm, reduce)
CASES = [case for family in FAMILIES for case in family.CASES if case.grad]
BYTES = 4 * 64 * 128


def live():
    return core.memory_usage()["live_bytes"]


def values(seed=0, shape=(64, 128)):
    return np.random.default_rng(seed).uniform(-2, 2, shape).astype(F32)


def kept(device, forward):
    """Values of 64 × 128 that a graph holds, its gradient, and how many ops the backward pass ran."""
    x = tensor(values(), device).require_grad()
    before = live()
    loss = forward(x.cumsum(1)).sum()
    held = (live() - before) / BYTES
    ops = []
    core.set_tracer(ops.append)
    try:
        grads = loss.backward()
    finally:
        core.set_tracer(None)
    return held, array(x.grad(grads)), len(ops)


def compare(forward, disabled, balanced):
    """Checks how many values each strategy keeps, and that the gradients are the same bits."""
    held, want, _ = kept(DISABLED, forward)
    sparing, have, _ = kept(BALANCED, forward)
    assert (int(held), int(sparing)) == (disabled, balanced)
    np.testing.assert_array_equal(have, want, strict=True)


@each(CASES)
def test_every_op(case):
    """Between cheap ops, an op's inputs are computed again, and so is its output where it is cheap itself."""
    arrays = case.inputs(F32 if F32 in case.dtypes else case.dtypes[0])
    cotangents = [np.ones(y.shape) for y in case.expected(arrays) if y.dtype.kind == "f"]

    def call(*tensors):
        cheap = [x.neg().neg() if x.dtype.is_float else x for x in tensors]
        return tuple(y.tanh().neg().neg() if y.dtype.is_float else y for y in as_tuple(case.call(*cheap)))

    found = [gradients(call, arrays, cotangents, device) for device in (DISABLED, BALANCED)]
    for want, have in zip(*found, strict=True):
        np.testing.assert_array_equal(have, want, strict=True)


def test_a_chain_keeps_the_first_value_asked_for():
    compare(lambda x: (x * 2.0).tanh().exp().tanh() * 3.0, 3, 1)


def test_long_chains_keep_a_value_now_and_then():
    def forward(x):
        for _ in range(32):
            x = x.tanh()
        return x

    compare(forward, 32, 4)


def test_views_cost_nothing_and_are_followed():
    compare(
        lambda x: (-x.tanh()).transpose().reshape([32, 256]).narrow(0, 1, 20).unsqueeze(3).expand([2, 20, 256]).exp(),
        2,
        1,
    )


def test_reductions_are_kept_by_value():
    compare(lambda x: activation.softmax(x * 2.0, 1).exp().tanh() * 2.0, 3, 1)


def network(device, after, n=6):
    """Values kept by n times (Linear, after), the gradient, and the number of ops of the backward pass."""
    device.seed(3)
    layers = [LinearConfig(128, 128).init(device) for _ in range(n)]
    for layer in layers:
        layer.weight.val(), layer.bias.val()

    def forward(x):
        for layer in layers:
            x = after(layer(x))
        return x

    return kept(device, forward)


def test_a_linear_layer_and_relu_run_as_without_checkpointing():
    (held, want, ops), (sparing, have, again) = (network(d, activation.relu) for d in (DISABLED, BALANCED))
    assert int(held) == int(sparing) == 7 and ops == again
    np.testing.assert_array_equal(have, want, strict=True)


def test_a_product_is_run_again_where_its_input_is():
    def after(x):
        return activation.gelu(x * 1.5 + 0.1).tanh()

    (held, want, ops), (sparing, have, again) = (network(d, after) for d in (DISABLED, BALANCED))
    assert (int(held), int(sparing)) == (13, 4)
    assert again - ops < 6 * 5, "every op runs again at most once"
    np.testing.assert_array_equal(have, want, strict=True)


def test_random_values_are_not_drawn_again():
    dropout = DropoutConfig(0.5).init()

    def run(device):
        device.seed(5)
        return kept(device, lambda x: dropout(x * 2.0).tanh())

    (_, want, _), (_, have, _) = run(DISABLED), run(BALANCED)
    np.testing.assert_array_equal(have, want, strict=True)


def test_a_graph_that_is_dropped_frees_everything():
    before = live()
    x = tensor(values(), BALANCED).require_grad()
    y = (x * 2.0).tanh().exp().tanh().sum()
    del x, y
    assert live() == before


def test_rebinding_an_input_does_not_change_what_is_computed_again():
    w = tensor(values(1), BALANCED)
    x = tensor(values(), BALANCED).require_grad()
    y = ((x * w).tanh() * 2.0).exp().tanh()
    w[:] = 0.0
    want = gradients(
        lambda a: ((a * Tensor(values(1), DISABLED)).tanh() * 2.0).exp().tanh(), [values()], [np.ones((64, 128))], PLAIN
    )
    np.testing.assert_array_equal(array(x.grad(y.sum().backward())), want[0])


def test_branches_share_what_is_computed_again():
    def forward(x):
        y = (x * 2.0).tanh().exp()
        return y.tanh() + y.sin() * y

    compare(forward, 4, 1)


@pytest.mark.parametrize("strategy", [DISABLED, BALANCED])
def test_parameters_have_the_strategy_of_their_device(strategy):
    layer = LinearConfig(2, 3).init(strategy)
    for moved in (layer, layer.clone(), LinearConfig(2, 3).init(strategy).fork(Device.ndarray())):
        found = moved.weight.val().gradient_checkpointing_strategy()
        assert found == strategy.gradient_checkpointing_strategy()
