"""Where new tensors lie and what they hold: options, their short forms, kinds and dtypes."""

import pytest

import burn
from burn import Bool, Device, Distribution, DType, Float, Int, Tensor, TensorCreationOptions
from burn.errors import ArgumentError, ArgumentTypeError, DTypeError
from burn.signal import hann_window

FLEX, SLOW = Device.flex(), Device.ndarray()

# Every constructor that takes options, by its name and the arguments before them.
CONSTRUCTORS = {
    "empty": lambda o, **k: Tensor.empty([2], o, **k),
    "zeros": lambda o, **k: Tensor.zeros([2], o, **k),
    "ones": lambda o, **k: Tensor.ones([2], o, **k),
    "full": lambda o, **k: Tensor.full([2], 3, o, **k),
    "from_data": lambda o, **k: Tensor.from_data([1, 2], o, **k),
    "from_": lambda o, **k: Tensor.from_([1, 2], o, **k),
    "random": lambda o, **k: Tensor.random([2], Distribution.Uniform(0.0, 9.0), o, **k),
    "arange": lambda o, **k: Tensor.arange(0, 2, o, **k),
    "arange(range)": lambda o, **k: Tensor.arange(range(2), o, **k),
    "arange_step": lambda o, **k: Tensor.arange_step(range(2), 1, o, **k),
    "eye": lambda o, **k: Tensor.eye(2, o, **k),
}


@pytest.mark.parametrize("name", CONSTRUCTORS)
def test_forms_of_options(name):
    make = CONSTRUCTORS[name]
    full = TensorCreationOptions(SLOW, "i16")
    for made in (make(full), make((SLOW, "i16")), make(SLOW, dtype="i16"), make(full, dtype=DType.I16)):
        assert (made.device, made.dtype) == (SLOW, DType.I16)
    assert make(TensorCreationOptions(SLOW)).device == SLOW
    assert make(FLEX.autodiff()).is_autodiff()
    with pytest.raises(ArgumentError, match=rf"\[{name.split('(')[0].rstrip('_')}\w*\] 'dtype'.*i16.*i32"):
        make(full, dtype="i32")
    with pytest.raises(ArgumentTypeError, match="TensorCreationOptions, got str"):
        make(("flex", "i16"))


def test_options():
    default = TensorCreationOptions.default()
    assert default == TensorCreationOptions() == TensorCreationOptions.of(None)
    assert (default.device, default.dtype) == (Device.default(), None)
    assert default.dtype_or("f16") is DType.F16 and default.with_dtype("f64").dtype_or("f16") is DType.F64
    assert default.with_device(SLOW).device == SLOW
    assert TensorCreationOptions.of((SLOW, DType.U8)) == TensorCreationOptions(SLOW, DType.U8)
    assert burn.TensorCreationOptions is burn.tensor.TensorCreationOptions
    with pytest.raises(AttributeError):
        default.dtype = DType.F64
    with pytest.raises(ArgumentTypeError, match=r"\[TensorCreationOptions\] 'device'"):
        TensorCreationOptions("flex")
    with pytest.raises(DTypeError, match=r"\[dtype\]"):
        TensorCreationOptions(FLEX, "float")


def test_kinds():
    assert Tensor.zeros([1]).dtype is DType.F32
    assert Tensor.zeros([1], kind=Int).dtype is DType.I32
    assert Tensor.zeros([1], kind=Bool).tolist() == [False]
    assert Tensor.zeros([1], dtype="u8").kind is Int  # the kind follows the dtype
    assert Tensor.full([1], True).kind is Bool and Tensor.full([1], True, kind=Float).tolist() == [1.0]
    assert Tensor.from_bool([0, 2]).tolist() == [False, True]


@pytest.mark.parametrize(
    "make",
    [
        lambda: Tensor.zeros([1], kind=Int, dtype="f32"),
        lambda: Tensor.ones([1], (FLEX, "f32"), kind=Int),
        lambda: Tensor.full([1], 1, TensorCreationOptions(FLEX, "f32"), kind=Int),
        lambda: Tensor.arange(0, 2, dtype="f32"),
        lambda: Tensor.arange_step(range(2), 1, (FLEX, "f32")),
        lambda: Tensor.from_ints([1], (FLEX, "f32")),
    ],
)
def test_dtype_of_another_kind(make):
    with pytest.raises(DTypeError, match="of kind Int, got f32 of kind Float"):
        make()


def test_other_kinds_are_refused():
    with pytest.raises(DTypeError, match="kind Float, got i32"):
        hann_window(4, True, (FLEX, "i32"))
    with pytest.raises(DTypeError, match="kind Bool, got i32"):
        Tensor.from_bool([True], (FLEX, "i32"))
    with pytest.raises(DTypeError, match="kind Float, got bool"):
        Tensor.from_floats([1.0], (FLEX, "bool"))
    with pytest.raises(DTypeError, match=r"\[random\] 'dtype' must be Float or Int"):
        Tensor.random([2], kind=Bool)


def test_windows_take_options():
    assert hann_window(4, True, TensorCreationOptions(SLOW, "f64")).dtype is DType.F64


def test_explicit_dtype_locks_the_settings(fresh_python):
    code = """
from burn import Device, Tensor, TensorCreationOptions
d = Device.flex()
TensorCreationOptions(d, "f64")
d.settings()
d.configure("f16")
assert Tensor.zeros([1], TensorCreationOptions(d)).dtype.name == "f16"
"""
    fresh_python(code)
    message = fresh_python(
        "from burn import *\nd = Device.flex()\nTensor.zeros([1], (d, 'f64'))\nd.configure('f16')", fails=True
    )
    assert "already been initialized" in message


def test_sizes_given_one_by_one_are_pointed_at():
    with pytest.raises(TypeError, match=r"\[zeros\] 'device' .* got int; a shape is one argument, such as \[2, 3\]"):
        Tensor.zeros(2, 3)
