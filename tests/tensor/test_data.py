"""Values on the host: constructors, accessors, conversions, comparisons."""

import json
import pickle

import numpy as np
import pytest

from burn import errors
from burn.tensor import Distribution, DType, Tensor, TensorData, Tolerance


def test_constructors():
    assert TensorData.zeros([2, 1]).to_list() == [[0.0], [0.0]]
    assert TensorData.ones([2], "i8") == TensorData([1, 1], dtype="i8")
    assert [TensorData.full([1], v).dtype for v in (1.5, 2, True)] == [DType.F32, DType.I64, DType.Bool]
    assert TensorData.full_dtype([], 3, "bf16").to_list() == 3.0
    assert TensorData.from_([[1, 2], [3, 4]]).shape == [2, 2]
    assert TensorData([1.0, 2.0, 3.0, 4.0], [2, 2]).rank() == 2
    with pytest.raises(errors.DataError, match=r"\[full\]"):
        TensorData.full([2], 300, "u8")


def test_random():
    rng = np.random.default_rng(0)
    uniform = TensorData.random([1000], Distribution.Uniform(2.0, 3.0), rng)
    uniform.assert_within_range(2.0, 3.0)
    assert uniform.dtype is DType.F32
    assert set(TensorData.random([100], Distribution.Bernoulli(0.5), rng, "i32").to_vec()) == {0, 1}
    assert len(set(TensorData.random([50], Distribution.Default, rng, "u64").to_vec())) == 50
    assert abs(np.mean(TensorData.random([4000], Distribution.Normal(1.0, 0.1), rng, "f64").to_vec()) - 1) < 0.02


def test_bytes():
    data = TensorData([1.0, 2.0])
    assert data.into_parts() == (np.array([1, 2], "f4").tobytes(), [2], DType.F32)
    assert TensorData.from_bytes_vec([1, 0, 2, 0], [2], "u16").to_list() == [1, 2]
    with pytest.raises(errors.InvalidByteLengthError, match="8 bytes"):
        TensorData.try_from_bytes(b"abc", [2], "f32")
    with pytest.raises(errors.ElementCountMismatchError, match="2 values"):
        TensorData([1, 2], [3])

    def double(raw):
        raw[:] = np.array([2, 4], "f4").tobytes()
        return "done"

    assert data.with_bytes_mut(double) == "done"
    assert data.to_list() == [2.0, 4.0]
    with pytest.raises(errors.InvalidByteLengthError, match="8 bytes, got 9"):
        data.with_bytes_mut(lambda raw: raw.append(0))
    assert (data.shape, data.dtype) == ([0], DType.U8)


def test_slices():
    data = TensorData.from_bytes(np.array([1, 2], "f4").tobytes(), [2], "f32")
    assert not data.as_slice("f32").flags.writeable
    data.as_mut_slice()[0] = 5
    assert data.as_slice().tolist() == [5, 2]
    with pytest.raises(errors.DTypeMismatchError, match="f64"):
        data.as_slice("f64")
    with pytest.raises(TypeError):
        data.try_to_vec("i32")
    assert TensorData([1, 0], dtype=DType.BoolU8).as_slice("u8").tolist() == [1, 0]
    with pytest.raises(errors.InvalidRepresentationError, match="0 and 1"):
        TensorData.from_bytes(b"\x01\x02", [2], "bool").as_slice()


def test_views():
    data = TensorData([[1, 2, 3], [4, 5, 6]])
    view = data.view("i64")
    assert (view[0, 0], view[-1, -1], view[1, -3]) == (1, 6, 4)
    assert (view.shape, view.dtype, view.ravel_index([1, -1])) == ([2, 3], DType.I64, 5)
    data.mut_view()[0, 1] = 20
    assert data.view()[0, 1] == 20
    with pytest.raises(IndexError, match="axis 1"):
        view[0, 3]
    with pytest.raises(errors.ShapeError, match="one an axis"):
        view[0]
    with pytest.raises(TypeError, match="mut_view"):
        view[0, 0] = 1
    with pytest.raises(errors.DTypeMismatchError):
        data.try_view("i32")
    assert TensorData([1, 2]).view()[1] == 2


def test_conversions():
    data = TensorData([1.9, -2.9, 0.0])
    assert data.to_vec_as("i32") == [1, -2, 0]
    assert list(data.iter("bool")) == [True, True, False]
    assert list(data.iter()) == [float(np.float32(v)) for v in (1.9, -2.9, 0.0)]
    assert data.convert_dtype("f64").dtype is DType.F64
    assert TensorData([256, 0]).try_cast(DType.BoolU8).as_slice("u8").tolist() == [1, 0]
    assert TensorData([1e300], dtype="f64").convert("f32").to_list() == [np.inf]
    assert TensorData([True]).convert("f16").to_list() == [1.0]
    for values, dtype in (([-1], "u8"), ([np.nan], "i32"), ([1e10], "i32"), ([2**40], "i32")):
        with pytest.raises(errors.DataError, match="cannot represent"):
            TensorData(values).try_cast_as(dtype)


def test_equal():
    x = TensorData([1, 2, 3])
    x.assert_eq(TensorData([1, 2, 3]), True)
    x.assert_eq(TensorData([1.0, 2.0, 3.0]), False)
    with pytest.raises(AssertionError, match="Data types differ"):
        x.assert_eq(TensorData([1.0, 2.0, 3.0]), True)
    with pytest.raises(
        errors.ComparisonError, match=r"Shape is different: \[3\] != \[2\]\nElement counts differ: 3 != 2"
    ):
        x.assert_eq(TensorData([1, 2]), True)
    with pytest.raises(AssertionError, match="Position 0: nan != nan"):
        TensorData([np.nan]).assert_eq(TensorData([np.nan]), True)
    with pytest.raises(TypeError, match="to_data"):
        x.assert_eq([1, 2, 3], True)


def test_messages_show_five():
    for n, more in ((5, None), (6, "1 more errors...")):
        with pytest.raises(AssertionError) as caught:
            TensorData.zeros([n]).assert_approx_eq(TensorData.ones([n]), Tolerance.balanced())
        lines = str(caught.value).splitlines()
        assert lines[0].endswith("Tensors are not approx eq:")
        assert lines[1] == "  => Position 0: 0.0 != 1.0"
        assert lines[2].startswith("     diff (rel = +1.00e+00, abs = 1.00e+00), tol (rel = +5.00e-03")
        assert (lines[-1] == more) if more else (len(lines) == 11)


def test_tolerance():
    assert Tolerance() == Tolerance.default() == Tolerance.rel_abs(0.005, 1e-5)
    assert Tolerance.permissive().parts("f16") == (0.01, 0.01)
    assert Tolerance.strict().parts("f32") == (0.0, 64 * 2.0**-126)
    assert Tolerance.absolute(0.5).set_relative(0.1).parts("f64") == (0.1, 0.5)
    some = (
        Tolerance()
        .set_half_precision_relative(0.5)
        .set_single_precision_absolute(0.25)
        .set_double_precision_relative(0.1)
    )
    assert [some.parts(d) for d in ("bf16", "f32", "f64")] == [(0.5, 1e-5), (0.005, 0.25), (0.1, 1e-5)]
    assert not Tolerance.absolute(0.5).approx_eq(1.0, 1.5)  # strictly less
    assert Tolerance.relative(0.0).approx_eq(np.inf, np.inf)
    assert not Tolerance.permissive().approx_eq(np.inf, -np.inf)
    for wrong in (
        lambda: Tolerance.relative(1.5),
        lambda: Tolerance.absolute(-1.0),
        lambda: Tolerance.relative(np.nan),
    ):
        with pytest.raises(errors.ArgumentError, match=r"\[Tolerance\]"):
            wrong()


def test_approximately_equal():
    x = TensorData([1.0, np.nan, np.inf])
    x.assert_approx_eq(TensorData([1.004, np.nan, np.inf]))
    x.assert_approx_eq(TensorData([1.0, np.nan, np.inf], dtype="f64"), Tolerance.strict(), "f64")
    with pytest.raises(AssertionError, match="Position 2"):
        x.assert_approx_eq(TensorData([1.0, np.nan, -np.inf]))
    with pytest.raises(AssertionError, match="Shape is different"):
        x.assert_approx_eq(TensorData([[1.0, np.nan, np.inf]]))


def test_ranges():
    x = TensorData([0.0, 0.5, 1.0])
    x.assert_within_range_inclusive(0, 1)
    with pytest.raises(AssertionError, match=r"Position 2: 1\.0 is not in 0 <= value < 1"):
        x.assert_within_range(0, 1)
    with pytest.raises(AssertionError, match="Position 0: nan"):
        TensorData([np.nan]).assert_within_range_inclusive(0, 1)


def test_pickle():
    data = TensorData([[1.5, 2.5]], dtype="bf16")
    assert pickle.loads(pickle.dumps(data)) == data


def test_json():
    data = TensorData([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [2, 3])
    parts = json.loads(data.to_json())
    assert list(parts) == ["bytes", "shape", "dtype"]
    assert parts["bytes"][:8] == [0, 0, 128, 63, 0, 0, 0, 64] and parts["shape"] == [2, 3] and parts["dtype"] == "F32"
    for name in ("f64", "flex32", "f16", "bf16", "i8", "u64", "bool", "bool(u8)", "bool(u32)"):
        some = TensorData([[1, 0]], dtype=name)
        again = TensorData.from_json(some.to_json())
        assert again == some and again.dtype is some.dtype
    assert json.loads(TensorData([True]).to_json())["dtype"] == {"Bool": "Native"}
    assert TensorData.from_json('{"dtype":"I16","shape":[],"bytes":[7,0]}').to_list() == 7
    empty = TensorData.zeros([0, 3], "u8")
    assert TensorData.from_json(empty.to_json().encode()) == empty


@pytest.mark.parametrize(
    ("error", "words", "text"),
    [
        (errors.DataError, "'text' must be an object", "{"),
        (errors.DataError, "'text' must be an object", "[1, 2]"),
        (errors.DataError, "'text' must be an object.*shape", '{"bytes":[],"dtype":"F32"}'),
        (errors.DataError, "'bytes' must be a list", '{"bytes":"AA","shape":[1],"dtype":"U8"}'),
        (
            errors.DataError,
            "'bytes' must hold numbers of 0 to 255, got 256",
            '{"bytes":[256],"shape":[1],"dtype":"U8"}',
        ),
        (errors.DataError, "'shape' must be a list", '{"bytes":[],"shape":[-1],"dtype":"U8"}'),
        (errors.DataError, "'shape' must be a list", '{"bytes":[],"shape":[true],"dtype":"U8"}'),
        (errors.DataError, "'dtype' must be written as", '{"bytes":[],"shape":[0],"dtype":"Float"}'),
        (errors.DataError, "'dtype' must be written as", '{"bytes":[],"shape":[0],"dtype":["Bool"]}'),
        (errors.DataError, "'text' must be an object", "[" * 100000),
        (errors.InvalidByteLengthError, "4 bytes for shape", '{"bytes":[1],"shape":[1],"dtype":"F32"}'),
        (errors.InvalidByteLengthError, "must hold", '{"bytes":[],"shape":[1152921504606846976,4],"dtype":"F32"}'),
        (errors.NotYetError, "quantized operations", '{"bytes":[],"shape":[0],"dtype":{"QFloat":{}}}'),
    ],
)
def test_json_that_is_none(error, words, text):
    with pytest.raises(error, match=words):
        TensorData.from_json(text)


def test_json_of_a_tensor():
    x = Tensor([[1.5, -2.0]], dtype="f64")
    assert x.to_json() == x.to_data().to_json()
    again = Tensor.from_json(x.to_json())
    assert again.tolist() == [[1.5, -2.0]] and again.dtype is DType.F32  # the default dtype of the kind
    assert Tensor.from_json(Tensor([True, False]).to_json()).tolist() == [True, False]
    with pytest.raises(errors.DataError, match="cannot represent"):
        Tensor.from_json(TensorData([2**40]).to_json())
    with pytest.raises(errors.InvalidRepresentationError, match="0 and 1"):
        Tensor.from_json('{"bytes":[2],"shape":[1],"dtype":{"Bool":"Native"}}')


def test_text():
    assert str(TensorData([[1.0, 2.5], [-0.0, 1e20]])) == "[1.0, 2.5, -0.0, 1e20]"
    assert str(TensorData([0.1], dtype="f16")) == "[0.099975586]"  # halves are shown as the f32 of their value
    assert str(TensorData([0.1], dtype="bf16")) == "[0.100097656]"
    assert str(TensorData([[True, False]])) == "[true, false]"
    assert [str(TensorData([True, False], dtype=d)) for d in (DType.BoolU8, DType.BoolU32)] == ["[1, 0]", "[1, 0]"]
    assert str(TensorData([np.nan, np.inf])) == "[NaN, inf]" and str(TensorData(3)) == "[3]"


def test_reading_a_scalar():
    assert Tensor([2.75]).into_scalar() == 2.75 and Tensor([2.75]).try_into_scalar("i32") == 2
    assert Tensor([3]).into_scalar(bool) is True
    with pytest.raises(errors.InvalidShapeError, match="exactly one element, got 2"):
        Tensor([1.0, 2.0]).into_scalar("f32")
    with pytest.raises(errors.TensorReadError):
        Tensor([np.nan]).into_scalar("i32")
    assert issubclass(errors.ExecutionError, errors.TensorReadError) and issubclass(
        errors.InvalidShapeError, ValueError
    )


def test_other_bytes_than_0_and_1_become_true():
    def odd():
        return np.array([2, 0, 255], np.uint8).view(bool)

    for x in (Tensor.from_numpy(odd()), Tensor.from_data(odd()), Tensor.from_dlpack(odd())):
        for data in (x.to_data(), pickle.loads(pickle.dumps(x)).to_data(), Tensor.from_json(x.to_json()).to_data()):
            assert data.as_bytes() == b"\1\0\1" and data.to_list() == [True, False, True]
    assert Tensor.cat([Tensor.from_numpy(odd())] * 2, 0).numpy().view(np.uint8).tolist() == [1, 0, 1] * 2
    assert TensorData(odd()).as_bytes() == b"\1\0\1"
