"""What makes a tensor of no other in compiled code: the same as the bridge makes, and what it leaves to the bridge."""

import gc
import os
import sys

import numpy as np
import pytest

import burn
from burn import Device, DType, Tensor
from burn._core import core
from burn.errors import ArgumentError, BurnError, DataError
from burn.tensor import Distribution

FLEX = Device.flex()


def test_lists_become_what_numpy_makes_of_them():
    for values in ([1.5, -2.0], [[1, 2, 3], [4, 5, 6]], ((0.1,), (1e30,)), [[[1.0], [2]]], [1e39, -1e39, 5e-324], [7]):
        want = np.array(values)
        have = Tensor(values, FLEX)
        assert have.dtype is (DType.F32 if want.dtype == np.float64 else DType.I32) and have.shape == list(want.shape)
        with np.errstate(over="ignore"):
            np.testing.assert_array_equal(have.numpy(), want.astype(have.numpy().dtype))
        np.testing.assert_array_equal(have.numpy(), Tensor(want, FLEX).numpy())
    np.testing.assert_array_equal(Tensor.from_floats([1, 2.5, 16777217], FLEX).numpy(), np.float32([1, 2.5, 16777217]))
    np.testing.assert_array_equal(Tensor.from_ints([[1], [-(2**31)]], FLEX).numpy(), [[1], [-(2**31)]])
    assert Tensor([True, False], FLEX).dtype.is_bool and Tensor([1, 2.5], FLEX).tolist() == [1.0, 2.5]
    assert Tensor([np.float32(1.0)], FLEX).tolist() == [1.0] and Tensor([], FLEX).shape == [0]
    assert Tensor(3.5, FLEX).shape == [1] and Tensor([1.0, True], FLEX).tolist() == [1.0, 1.0]


@pytest.mark.parametrize(
    "values", [[1, [2]], [[1], 2], [[1, 2], [3]], [[1], [2, 3]], ["a"], [None], [2**31], [1, 2**70]]
)
def test_lists_that_are_no_tensor(values):
    with pytest.raises(DataError, match="from_data"):
        Tensor(values, FLEX)


def test_float_lists_follow_the_default_dtype(fresh_python):
    fresh_python(
        "import burn\nfrom burn import Device, DType, Tensor\n"
        "d = Device.flex()\nd.configure((DType.F64, DType.I64))\n"
        "assert Tensor([0.1], d).item() == 0.1 and Tensor([2**40], d).item() == 2**40\n"
        "import numpy as np\nassert Tensor.from_floats([0.1], d).item() == float(np.float32(0.1))\n"
        "try:\n    Tensor.from_ints([2**40], d)\nexcept burn.errors.DataError:\n    pass\nelse:\n    raise AssertionError\n"
        "assert Tensor.arange(3, device=d).dtype is DType.I64 and Tensor.eye(2, d).dtype is DType.F64\n"
    )


@pytest.mark.parametrize("n", [1, 2, 8, 9, 100])
def test_eye(n):
    np.testing.assert_array_equal(Tensor.eye(n, FLEX).numpy(), np.eye(n, dtype=np.float32))
    assert Tensor.eye(n, FLEX, kind=burn.Int).tolist() == np.eye(n, dtype=int).tolist()


@pytest.mark.parametrize("args", [(8,), (0, 8), (-3, 4), (5, 1000), (1000,), (3, 4), (-(2**31) + 1, -(2**31) + 5)])
@pytest.mark.parametrize("step", [1, 3])
def test_arange(args, step):
    np.testing.assert_array_equal(Tensor.arange(*args, device=FLEX, step=step).numpy(), np.arange(*args, step=step))


def test_empty_ranges_and_wrong_ones():
    assert Tensor.arange(0, device=FLEX).shape == Tensor.arange(5, 2, FLEX).shape == [0]
    for wrong in ((1.5,), (0, "3"), (0, 3, 7)):
        with pytest.raises(BurnError, match="arange"):
            Tensor.arange(*wrong)
    with pytest.raises(ArgumentError, match="step"):
        Tensor.arange(0, 8, FLEX, step=0)


@pytest.mark.parametrize("n", [1, 7, 63, 64, 65, 128, 1000, 1024, 1030])
@pytest.mark.parametrize(
    "form", [None, Distribution.Uniform(-2.0, 3.0), Distribution.Normal(1.0, 2.0), Distribution.Bernoulli(0.3)]
)
def test_few_numbers_are_the_first_of_many(n, form):
    form = Distribution.Default if form is None else form
    for dtype in (DType.F32, DType.F64, DType.BF16, DType.F16, DType.I64, DType.U8):
        if not dtype.is_float and form != Distribution.Bernoulli(0.3):
            continue
        FLEX.seed(5)
        many = Tensor.random([4096], form, FLEX, dtype=dtype).cast("f64").numpy()
        FLEX.seed(5)
        few = Tensor.random([n], form, FLEX, dtype=dtype).cast("f64").numpy()
        np.testing.assert_array_equal(few, many[:n])


def test_every_way_to_draw_draws_the_same():
    ways = [
        lambda: Tensor.random([3, 5], device=FLEX),
        lambda: Tensor.random([3, 5], Distribution.Default, FLEX),
        lambda: Tensor.random((3, 5), Distribution.Uniform(0, 1), FLEX),  # ints: the bridge's
        lambda: Tensor.random([3, 5], Distribution.Uniform(0.0, 1.0), FLEX, dtype="f32"),
        lambda: Tensor.zeros([3, 5], FLEX).random_like(),
        lambda: Tensor.zeros([5, 3], FLEX).transpose().random_like(Distribution.Default),
    ]
    drawn = []
    for way in ways:
        FLEX.seed(11)
        drawn.append([way().tolist(), way().tolist()])
    assert all(d == drawn[0] for d in drawn) and drawn[0][0] != drawn[0][1]
    for seed in (0, 2**63, 2**64 - 1):
        FLEX.seed(seed)
        x = Tensor.random([4], device=FLEX)
        Device.ndarray().seed(seed)
        np.testing.assert_array_equal(x.numpy(), Tensor.random([4], device=Device.ndarray()).numpy())


@pytest.mark.parametrize(
    "form",
    [Distribution.Uniform(1.0, 1.0), Distribution.Normal(0.0, -1.0), Distribution.Bernoulli(1.5), None, 3, object()],
)
def test_what_is_no_distribution(form):
    with pytest.raises(BurnError, match="random"):
        Tensor.random([2], form, FLEX)
    with pytest.raises(BurnError, match="random"):
        Tensor.zeros([2], FLEX).random_like(form)


def test_default_device_follows_every_change_of_the_environment(monkeypatch):
    monkeypatch.setenv("BURN_DEVICE", "flex")
    assert Tensor.zeros([2]).device == FLEX and Tensor.arange(3).device == FLEX
    monkeypatch.setenv("BURN_DEVICE", "ndarray")
    assert Tensor.zeros([2]).device == Device.ndarray() and Tensor([1.0]).device == Device.ndarray()
    monkeypatch.setenv("BURN_DEVICE", "flex")
    monkeypatch.setenv("BURN_OTHER", "1")
    assert Tensor.ones([2]).device == FLEX
    monkeypatch.delenv("BURN_OTHER")
    assert Tensor.empty([2]).device == FLEX
    monkeypatch.setenv("BURN_DEVICE", "nonsense")
    with pytest.raises(BurnError, match="BURN_DEVICE"):
        Tensor.zeros([2])
    monkeypatch.setenv("BURN_DEVICE", "flex")
    for k in range(600):  # more than is kept
        os.environ[f"BURN_OTHER_{k}"] = "1"
    try:
        assert Tensor.eye(2).device == FLEX
        monkeypatch.setenv("BURN_DEVICE", "ndarray")
        assert Tensor.eye(2).device == Device.ndarray()
    finally:
        for k in range(600):
            del os.environ[f"BURN_OTHER_{k}"]
    assert Tensor.eye(2).device == Device.ndarray()


def test_freed_tensors_are_made_again_clean():
    x = Tensor([[1.0, 2.0]], FLEX.autodiff()).require_grad()
    y = x * x
    del y
    fresh = [Tensor.zeros([1], FLEX) for _ in range(2000)]  # more than are kept
    assert not any(t.is_require_grad() or t._node_id is not None for t in fresh) and fresh[-1].shape == [1]
    types = sys.getrefcount(Tensor)
    del fresh
    assert types - sys.getrefcount(Tensor) == 2000  # a tensor holds its class
    before = sys.getrefcount(Tensor)
    for _ in range(3000):
        Tensor.zeros([1], FLEX)
    assert abs(sys.getrefcount(Tensor) - before) < 10
    gc.collect()


def test_a_subclass_of_the_tensor_lives_by_python_s_rules():
    class Named(Tensor):
        pass

    before = sys.getrefcount(Named)
    made = [core.TensorBase.__new__(Named) for _ in range(700)]
    made[0].name = made
    made[1].name = "x"
    assert sys.getrefcount(Named) == before + 700
    del made
    gc.collect()
    assert sys.getrefcount(Named) == before
