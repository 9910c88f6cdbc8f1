"""Indexing against NumPy, on every device."""

import numpy as np
import pytest

from burn.tensor import module
from tests.cases import BF16, BOOL, F16, F32, FLOATS
from tests.cases import index as cases
from tests.cases.tensors import array, gradients, tensor
from tests.ops.checks import check_error, check_gradient, check_value, check_views, each, with_threads


@each(cases.CASES)
def test_value(case, device):
    check_value(case, device)


@each([c for c in cases.CASES if c.grad])
def test_gradient(case, device):
    check_gradient(case, device)


@each(cases.CASES)
def test_views(case, device):
    check_views(case, device)


@each(cases.ERRORS)
def test_error(case, device):
    check_error(case, device)


@pytest.mark.parametrize("name", ["Assign", "Add", "Mul", "Min", "Max"])
def test_many_duplicates(name, device):
    """Rows hit again and again combine in order, whatever the number of threads."""
    rng = np.random.default_rng(3)
    x = rng.uniform(0.9, 1.1, (13, 40)).astype(F32)
    index = rng.integers(0, 13, 3000)
    values = rng.uniform(0.99, 1.01, (3000, 40)).astype(F32)
    want = cases.written(x.astype("f8"), (index,), values.astype("f8"), name)
    tensors = [tensor(a, device) for a in (x, index, values)]
    results = with_threads(lambda: array(tensors[0].select_assign(0, *tensors[1:], name)))
    np.testing.assert_array_equal(*results)
    np.testing.assert_allclose(results[0], want, rtol=2e-5)


# Lines made in the cache and streamed; lines made in place; few and many positions; columns; more than 8 and fewer; none.
SCATTERS = [
    ((600, 1024), 1, 1024),
    ((600, 1024), 1, 20),
    ((5, 30000), 1, 9001),
    ((7, 3), 1, 1000),
    ((40, 37), 1, 41),
    ((50, 70), 0, 90),
    ((3, 20, 33), 1, 45),
    ((20, 3, 5), 1, 2),
    ((6, 4), 1, 0),
    ((0, 4), 1, 3),
]


@pytest.mark.parametrize("types", ["f4 i4", "f4 i8", "f8 i4", "f2 i8", "i4 i8", "u1 i4"])
@pytest.mark.parametrize("name", ["Assign", "Add", "Mul", "Min", "Max"])
@pytest.mark.parametrize(("shape", "axis", "k"), SCATTERS)
def test_scatter_sizes(flex, shape, axis, k, name, types):
    dtype, index_type = types.split()
    rng = np.random.default_rng(5)
    at = tuple(k if a == axis else n for a, n in enumerate(shape))
    x, values = (rng.choice([0, 1, 2, 3, 0.5], s).astype(dtype) for s in (shape, at))
    index = rng.integers(0, shape[axis], at, index_type)
    if name == "Assign":  # the order of duplicates is that of the positions
        index = np.sort(index, axis)
    places = tuple(index if a == axis else g for a, g in enumerate(np.indices(at, sparse=True)))
    want = cases.written(x.astype("i8" if dtype in ("i4", "u1") else "f8"), places, values, name).astype(dtype)
    t, i, v = (tensor(a, flex) for a in (x, index, values))
    for have in with_threads(lambda: array(t.scatter(axis, i, v, name))):
        np.testing.assert_allclose(have, want, rtol=1e-5, strict=True)
    view = tensor(np.ascontiguousarray(np.flip(x, 0)), flex).flip([0])
    np.testing.assert_allclose(array(view.scatter(axis, i, v, name)), want, rtol=1e-5, strict=True)
    np.testing.assert_array_equal(array(t), x, strict=True)


@pytest.mark.parametrize("wrong", [-1, 1024, 2**31])
def test_scatter_refuses_the_last_index(flex, wrong):
    x = np.ones((600, 1024), F32)
    index = np.zeros((600, 1024), "i8")
    index[-1, -1] = wrong
    t = tensor(x, flex)
    with pytest.raises(IndexError, match=f"got {wrong} at flat position {index.size - 1}; nothing was written"):
        t.scatter(1, tensor(index, flex), t, "Add")
    np.testing.assert_array_equal(array(t), x)


def test_nothing_is_written_on_error(device):
    x = tensor(np.zeros((2, 3), F32), device)
    with pytest.raises(IndexError):
        array(x.scatter(1, tensor(np.array([[0], [7]]), device), tensor(np.ones((2, 1), F32), device), "Add"))
    np.testing.assert_array_equal(array(x), np.zeros((2, 3)))


def test_bool_values(device):
    x = np.array([[True, False, True], [False, False, True]])
    index = np.array([2, 0])
    t, i = tensor(x, device), tensor(index, device)
    np.testing.assert_array_equal(array(t.select(1, i)), x[:, index], strict=True)
    hit = t.select_assign(
        1,
        tensor(np.array([1, 1]), device),
        tensor(np.array([[True, False], [False, False]]), device),
        "Add",
    )
    np.testing.assert_array_equal(array(hit), [[True, True, True], [False, False, True]])
    assert array(hit).dtype == BOOL


def test_assign_takes_the_last_writer(device):
    x, i = tensor(np.zeros(3), device), tensor(np.array([1, 1, 1]), device)
    y = x.scatter(0, i, tensor(np.array([5.0, 6.0, 7.0]), device), "Assign")
    assert array(y).tolist() == [0, 7, 0]


def test_select_threads(flex):
    rng = np.random.default_rng(0)
    x, i = rng.normal(size=(500, 96)).astype(F32), rng.integers(0, 500, 4000)
    for have in with_threads(lambda: array(tensor(x, flex).select(0, tensor(i, flex)))):
        np.testing.assert_array_equal(have, x[i], strict=True)


def test_gradient_of_products_with_zeros(device):
    """Each factor's gradient is the product of the others at its cell, zeros or not."""
    x, index = np.array([0.0, 2.0, 3.0, 5.0]), tensor(np.array([0, 1, 1, 2, 2, 2]), device)
    values = np.array([3.0, 0.0, 7.0, 0.0, 4.0, 0.0])
    to_x, to_values = gradients(lambda t, v: t.select_assign(0, index, v, "Mul"), [x, values], [np.ones(4)], device)
    np.testing.assert_array_equal(to_x, [3, 0, 0, 1])
    np.testing.assert_array_equal(to_values, [0, 14, 0, 0, 0, 0])


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_gradient_of_a_table(dtype, device):
    """Rows that were taken several times get the sum, whatever the number of threads."""
    rng = np.random.default_rng(4)
    table = rng.standard_normal((50, 24)).astype(dtype)
    index, g = rng.integers(0, 9, (6, 40)), rng.integers(-8, 9, (6, 40, 24))  # sums of small integers are exact
    want = np.zeros((50, 24))
    np.add.at(want, index, g)
    at = tensor(index, device)
    one, two = with_threads(lambda: gradients(lambda t: module.embedding(t, at), [table], [g], device)[0])
    np.testing.assert_array_equal(one, two, strict=True)
    np.testing.assert_array_equal(one, want.astype(dtype), strict=True)


def test_gradient_of_a_table_needs_one_table(fresh_python):
    """No copy of the table, no one-hot matrix: a zeroed gradient that the rows are added to."""
    code = """
from burn import Device, Int, Tensor
from burn._core import core
from burn.tensor import module
table = Tensor.ones([4096, 256], Device.flex().autodiff()).require_grad()
loss = module.embedding(table, Tensor.zeros([8, 8], Device.flex(), kind=Int)).sum()
before = core.memory_usage()["live_bytes"]
grads = loss.backward()
print((core.memory_usage()["peak_bytes"] - before) / (4 * 4096 * 256))
"""
    assert 1 <= float(fresh_python(code)) < 1.1


@pytest.mark.parametrize("columns", [5, 33, 80])
@pytest.mark.parametrize("name", ["Add", "Mul", "Max"])
@pytest.mark.parametrize("dtype", (F16, BF16), ids=str)
def test_few_rows_of_halves(dtype, name, columns, flex):
    """Rows hit several times are rounded once, and those that nobody names stay."""
    rng = np.random.default_rng(6)
    x = rng.uniform(0.5, 2, (900, columns)).astype(dtype)
    index, values = rng.integers(100, 140, 300), rng.uniform(0.9, 1.1, (300, columns)).astype(dtype)
    want = cases.written(x.astype("f8"), (index,), values.astype("f8"), name)
    one, two = with_threads(
        lambda: array(tensor(x, flex).select_assign(0, *(tensor(a, flex) for a in (index, values)), name))
    )
    np.testing.assert_array_equal(one, two)
    np.testing.assert_allclose(one.astype("f8"), want, rtol={F16: 6e-4, BF16: 4.5e-3}[dtype])
    untouched = np.setdiff1d(np.arange(900), index)
    np.testing.assert_array_equal(one[untouched], x[untouched])
