"""Shape checks, closeness reports, transactions, printing and the loss on probabilities."""

import asyncio

import numpy as np
import pytest

from burn.errors import ArgumentError, AutodiffError, DeviceError, ShapeError
from burn.tensor import (
    Device,
    DType,
    PrintOptions,
    Tensor,
    Transaction,
    assert_shape,
    check_closeness,
    debug_assert_shape,
    set_print_options,
)
from burn.tensor.loss import cross_entropy_with_logits
from tests.cases.tensors import array, gradients, tensor


@pytest.mark.parametrize(
    "shape", [[2, 3, 4], (2, None, 4), [...], [..., 4], [2, ...], [2, ..., 4], [2, 3, ..., 4]], ids=str
)
def test_shapes_that_fit(shape):
    assert_shape(Tensor.zeros([2, 3, 4]), shape)


@pytest.mark.parametrize(
    "shape, words",
    [
        ([2, 99, 4], ("axis 1 must be 99, got 3", "[2, 3, 4]")),
        ([..., 5], ("axis 2 must be 5, got 4",)),
        ([2, 3], ("rank must be 2, got 3",)),
        ([1, ..., 1, 1, 1], ("rank must be at least 4, got 3",)),
    ],
)
def test_shapes_that_do_not_fit(shape, words):
    x = Tensor.zeros([2, 3, 4])
    with pytest.raises(ShapeError) as caught:
        assert_shape(x, shape)
    assert all(word in str(caught.value) for word in ("[assert_shape]", *words, "assert_shape(x, shape)"))
    with pytest.raises(ShapeError, match=r"\[debug_assert_shape\]"):
        debug_assert_shape(x, shape)


def test_shapes_that_are_none():
    with pytest.raises(ArgumentError, match="at most once"):
        assert_shape(Tensor.zeros([2]), [..., ...])
    with pytest.raises(TypeError, match="'shape'"):
        assert_shape(Tensor.zeros([2]), "ab")
    with pytest.raises(TypeError, match="'shape'"):
        assert_shape(Tensor.zeros([2]), 2)


def test_debug_form_is_off_under_optimization(fresh_python):
    code = "import burn.tensor as t; t.debug_assert_shape(t.Tensor.zeros([2]), [3]); print('fine')"
    assert fresh_python(code, PYTHONOPTIMIZE="1") == "fine"


def test_closeness_report(capsys):
    x = np.arange(10.0)
    y = x.copy()
    y[-1] += 0.05
    check_closeness(Tensor(x), Tensor(y))
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == ["Tensor Closeness Check Results:", "=" * 31]
    assert lines[2:5] == ["Epsilon: 1e-1", "  Close elements: 10/10 (100.00%)", "  [PASS]"]
    assert "  Close elements: 9/10 (90.00%)" in lines and "  [WARN]" in lines
    assert lines[-1] == "Closeness check complete."
    with pytest.raises(ShapeError, match="check_closeness"):
        check_closeness(Tensor(x), Tensor(y[:3]))


def test_transaction():
    x, i = Tensor([1.0, 2.0], Device.flex()), Tensor([3], Device.flex())
    transaction = Transaction.default().register(x).register(i).register(x.greater(1.0))
    assert [d.to_list() for d in transaction.execute()] == [[1.0, 2.0], [3], [False, True]]
    assert transaction.execute() == []
    assert asyncio.run(Transaction().register(i).execute_async())[0].to_list() == [3]
    with pytest.raises(DeviceError, match=r"\[register\]"):
        Transaction().register(x).register(Tensor([1.0], Device.ndarray()))
    with pytest.raises(AutodiffError, match=r"\[register\]"):
        Transaction().register(x).register(x.autodiff())
    with pytest.raises(TypeError, match=r"\[register\]"):
        Transaction().register([1.0])


@pytest.fixture
def printing():
    yield lambda **options: set_print_options(PrintOptions(**options))
    set_print_options(PrintOptions())


def shown(values, spec=""):
    """The data of the printed form."""
    text = format(Tensor(np.array(values), Device.flex(), DType.of(np.array(values).dtype)), spec)
    return text.split("data:\n")[1].rsplit(",\n  shape:")[0]


def test_print_layout():
    assert str(Tensor(np.array([[1.0, 2.0], [3.0, 4.0]], "f4"), Device.flex())) == (
        "Tensor {\n  data:\n[[1.0, 2.0],\n [3.0, 4.0]],\n  shape:  [2, 2],\n  device:  Device<Flex(Cpu)>,\n"
        '  kind:  "Float",\n  dtype:  "f32",\n}'
    )


def test_print_numbers(printing):
    assert (
        shown([np.nan, np.inf, -np.inf, -0.0, 1e16, 1e-5, 123456.0]) == "[NaN, inf, -inf, -0.0, 1e16, 1e-5, 123456.0]"
    )
    assert shown(np.array([0.12345679], "f4")) == "[0.12345679]"
    assert shown([True, False]) == "[true, false]"
    assert shown([1.0, 2.5], ".3f") == "[1.000, 2.500]"
    printing(precision=1)
    assert shown([0.123, 1.0]) == "[0.1, 1.0]"
    assert shown([0.123], ".3f") == "[0.123]"


def test_print_long(printing):
    assert "..." not in shown(np.zeros(1000))
    assert shown(np.arange(1001)) == "[0, 1, 2, ..., 998, 999, 1000]"
    printing(threshold=3, edge_items=1)
    assert shown([[1, 2, 3], [4, 5, 6], [7, 8, 9]]) == "[[1, ..., 3],\n ...\n [7, ..., 9]]"
    printing(threshold=3, edge_items=0)
    assert shown([[1, 2], [3, 4]]) == "[...]"
    assert shown([1, 2, 3, 4]) == "[...]"
    with pytest.raises(ArgumentError, match="edge_items"):
        PrintOptions(edge_items=-1)
    with pytest.raises(TypeError, match="set_print_options"):
        set_print_options(3)


def test_cross_entropy_with_logits():
    flex = Device.flex()
    rng = np.random.default_rng(0)
    x, p = rng.normal(size=(2, 3, 4)), rng.dirichlet(np.ones(4), (2, 3))
    logs = x - np.log(np.exp(x).sum(-1, keepdims=True))
    want = -(logs * p).sum(-1).mean()
    np.testing.assert_allclose(array(cross_entropy_with_logits(tensor(x, flex), tensor(p, flex))), [want])
    grads = gradients(cross_entropy_with_logits, [x, p], [np.ones(1)], flex)
    np.testing.assert_allclose(grads[0], (np.exp(logs) - p) / 6)
    np.testing.assert_allclose(grads[1], -logs / 6)


def test_cross_entropy_where_nothing_is_expected():
    """A class of probability 0 adds nothing, even with a logit of -inf."""
    flex = Device.flex()
    x, p = np.array([[0.0, -np.inf, 0.0]]), np.array([[0.5, 0.0, 0.5]])
    np.testing.assert_allclose(array(cross_entropy_with_logits(tensor(x, flex), tensor(p, flex))), [np.log(2)])
    assert all(np.isfinite(g).all() for g in gradients(cross_entropy_with_logits, [x, p], [np.ones(1)], flex))
    with pytest.raises(ShapeError, match="target_probs"):
        cross_entropy_with_logits(tensor(x, flex), tensor(p[:, :2], flex))
