"""Embedding, layer norm, dropout and activations."""

import numpy as np
import pytest

from burn import Device, DType, Tensor
from burn.errors import ArgumentError, ArgumentTypeError, KindError, OutOfBoundsError, ShapeError
from burn.module import Param
from burn.nn import (
    DropoutConfig,
    Embedding,
    EmbeddingConfig,
    Gelu,
    Initializer,
    LayerNormConfig,
    LinearConfig,
    Relu,
    Sigmoid,
    Tanh,
)
from burn.nn.activation import LogSigmoid, SiLU

CPU = Device.flex()
AD = CPU.autodiff()


def test_embedding():
    table = Embedding(Param.from_data([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], AD))
    out = table(Tensor.from_data([[2, 0], [2, 2]], CPU))
    assert out.tolist() == [[[5.0, 6.0], [1.0, 2.0]], [[5.0, 6.0], [5.0, 6.0]]]
    weight = Tensor.from_data(np.arange(8, dtype="f4").reshape(2, 2, 2), CPU)
    grads = (out * weight).sum().backward()
    assert table.weight.grad(grads).tolist() == [[2.0, 3.0], [0.0, 0.0], [10.0, 13.0]]


def test_embedding_refuses():
    table = EmbeddingConfig(3, 2).init(CPU)
    for wrong in (3, -1):
        text = rf"\[Embedding\] 'input' must hold indices from 0 to 2, got {wrong} at position \[0, 1\]"
        with pytest.raises(OutOfBoundsError, match=text):
            table(Tensor.from_data([[0, wrong]], CPU))
    with pytest.raises(ShapeError, match=r"'input' must be \[batch, length\], got shape \[2\]"):
        table(Tensor.from_data([0, 1], CPU))
    with pytest.raises(TypeError, match=r"must be a Tensor, got .*from_data"):
        table([[0]])
    with pytest.raises(ArgumentError, match="'n_embedding' must be a positive integer, got 0"):
        EmbeddingConfig(0, 2).init(CPU)


X = [-0.6897, -2.7106, 2.2222, -1.0330, -0.8933, 1.1765, 0.0601, 1.5252, -0.3630, 0.6728]


@pytest.mark.parametrize(
    "config, expected",
    [
        (LayerNormConfig(10), [-0.4990, -1.9680, 1.6178, -0.7486, -0.6470, 0.8576, 0.0461, 1.1111, -0.2614, 0.4915]),
        (
            LayerNormConfig(10, epsilon=0.1),
            [-0.4863, -1.9180, 1.5766, -0.7295, -0.6305, 0.8358, 0.0449, 1.0828, -0.2548, 0.4790],
        ),
        (
            LayerNormConfig(10, bias=False),
            [-0.4990, -1.9680, 1.6178, -0.7486, -0.6470, 0.8576, 0.0461, 1.1111, -0.2614, 0.4915],
        ),
    ],
)
def test_layer_norm(config, expected):
    out = config.init(CPU)(Tensor.from_data([X], CPU))
    np.testing.assert_allclose(out.numpy()[0], expected, atol=1e-4)


def test_layer_norm_gradients():
    norm = LayerNormConfig(2).init(AD)
    a = Tensor.from_data([[0.0, 1.0], [3.0, 4.0]], AD).require_grad()
    b = Tensor.from_data([[6.0, 7.0], [9.0, 10.0]], AD).require_grad()
    grads = norm(a.matmul(b)).sum().backward()
    np.testing.assert_allclose(norm.gamma.grad(grads).numpy(), [-2, 2], rtol=1e-4)
    np.testing.assert_allclose(norm.beta.grad(grads).numpy(), [2, 2])
    np.testing.assert_allclose(a.grad(grads).numpy(), 0, atol=1e-3)


def test_layer_norm_shapes_and_dtypes():
    norm = LayerNormConfig(3).init(CPU)
    for shape in ((3,), (2, 3), (2, 2, 3), (0, 3)):
        assert norm(Tensor.ones(list(shape), CPU)).shape == shape
    half = LayerNormConfig(3).init(CPU)
    x = Tensor.from_data([[1000.0, 2000.0, 3000.0]], CPU)
    for dtype in (DType.F16, DType.BF16):
        cast = half.replace(
            **{name: getattr(half, name).map(lambda t, d=dtype: t.cast(d)) for name in ("gamma", "beta")}
        )
        out = cast(x.cast(dtype))
        assert out.dtype is dtype
        np.testing.assert_allclose(out.cast(DType.F32).numpy(), [[-1.2247, 0, 1.2247]], atol=1e-2)
    with pytest.raises(ShapeError, match=r"\[LayerNorm\] 'input' must be \[..., d_model\] with d_model = 3"):
        norm(Tensor.ones([3, 2], CPU))
    for epsilon in (0.0, -1.0, float("nan")):
        with pytest.raises(ArgumentError, match="'epsilon' must be finite and positive"):
            LayerNormConfig(3, epsilon=epsilon).init(CPU)


def test_dropout_needs_flag_and_autodiff():
    dropout, plain, tracked = DropoutConfig(0.5).init(), Tensor.ones([1000], CPU), Tensor.ones([1000], AD)
    assert dropout(plain) is plain
    assert dropout.valid()(tracked) is tracked and dropout.freeze()(tracked) is tracked
    assert DropoutConfig(0.0).init()(tracked) is tracked
    out = dropout.valid().train()(tracked).numpy()
    assert set(np.unique(out)) == {0.0, 2.0} and 400 < np.count_nonzero(out) < 600


def test_dropout_gradient_is_its_mask():
    x = Tensor.full([1000], 3.0, AD).require_grad()
    out = DropoutConfig(0.25).init()(x)
    grad = x.grad(out.sum().backward()).numpy()
    np.testing.assert_allclose(grad * 3.0, out.numpy(), rtol=1e-6)
    assert 650 < np.count_nonzero(grad) < 850


def test_dropout_of_everything_gives_zeros():
    x = Tensor.ones([5], AD).require_grad()
    out = DropoutConfig(1.0).init()(x)
    assert out.tolist() == [0.0] * 5 and x.grad(out.sum().backward()).tolist() == [0.0] * 5


@pytest.mark.parametrize("prob", [-0.1, 1.1, float("nan")])
def test_dropout_probabilities(prob):
    with pytest.raises(ArgumentError, match="'prob' must be from 0 to 1"):
        DropoutConfig(prob).init()
    with pytest.raises(KindError, match="must be a Float tensor"):
        DropoutConfig(0.5).init()(Tensor.from_data([1, 2], CPU))


@pytest.mark.parametrize(
    "layer, function",
    [
        (Relu(), lambda x: np.maximum(x, 0)),
        (Sigmoid(), lambda x: 1 / (1 + np.exp(-x))),
        (LogSigmoid(), lambda x: -np.log1p(np.exp(-x))),
        (Tanh(), np.tanh),
        (SiLU(), lambda x: x / (1 + np.exp(-x))),
    ],
    ids=lambda value: str(value) if not callable(value) or hasattr(value, "forward") else "",
)
def test_activations(layer, function):
    x = np.linspace(-4, 4, 24, dtype="f4").reshape(2, 3, 4)
    np.testing.assert_allclose(layer(Tensor.from_data(x, CPU)).numpy(), function(x.astype("f8")), rtol=1e-5, atol=1e-6)


def test_gelu():
    x = Tensor.from_data([-1.0, 0.0, 1.0, 0.5, -0.5, 2.0], CPU)
    approximate = [-0.1588079929, 0.0, 0.8411920071, 0.3457140028, -0.1542859972, 1.9545977116]
    np.testing.assert_allclose(Gelu.new_approximate()(x).numpy(), approximate, atol=1e-6)
    np.testing.assert_allclose(
        Gelu()(x).numpy(), [-0.15865525, 0, 0.84134475, 0.34573123, -0.15426877, 1.9544997], atol=1e-6
    )


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: LinearConfig("a", 3), r"\[LinearConfig\] 'd_input' must be an integer, got 'a'"),
        (lambda: LinearConfig(1.5, 3), "'d_input' must be an integer, got 1.5"),
        (lambda: LinearConfig(2, 3, initializer=Initializer.Normal), "'initializer' must be .* got the class Normal"),
        (lambda: LayerNormConfig(3, epsilon="a"), r"\[LayerNormConfig\] 'epsilon' must be a number, got 'a'"),
        (lambda: DropoutConfig("a"), r"\[DropoutConfig\] 'prob' must be a number, got 'a'"),
        (lambda: LinearConfig(2, 3).init("x"), r"\[init\] 'device' must be a Device, got 'x'"),
        (lambda: LayerNormConfig(3).init("x"), "'device' must be a Device, got 'x'"),
        (lambda: EmbeddingConfig(3, 2).init(3), "'device' must be a Device, got 3"),
        (lambda: Initializer.Zeros.init(3), "'shape' must be an Iterable, got 3; put a single size into a list"),
        (lambda: Initializer.Zeros.init([1.5]), "'shape' must be an integer, got 1.5"),
    ],
)
def test_arguments_of_another_type(call, message):
    with pytest.raises(ArgumentTypeError, match=message):
        call()


@pytest.mark.parametrize("config", [LinearConfig(3, 2), LayerNormConfig(3)])
def test_an_int_input_is_refused(config):
    layer = config.init(CPU)
    with pytest.raises(KindError, match=r"\[L\w+\] 'input' must be a Float tensor, got i32; use .float\(\)"):
        layer(Tensor.from_data([[1, 2, 3]], CPU))


def test_embedding_takes_int_input():
    with pytest.raises(KindError, match=r"\[Embedding\] 'input' must be an Int tensor, got f32; use .int\(\)"):
        EmbeddingConfig(3, 2).init(CPU)(Tensor.ones([1, 1], CPU))


def test_layers_of_inner_modules_are_pointed_at():
    """Burn's paths are kept, and who forgets the middle of one is told."""
    from burn import nn

    for name, place in (("Conv2dConfig", "conv"), ("MaxPool2d", "pool"), ("MultiHeadAttentionConfig", "attention")):
        with pytest.raises(AttributeError, match=rf"it is burn\.nn\.{place}\.{name}$"):
            getattr(nn, name)
    with pytest.raises(AttributeError, match=r"has no attribute 'Lstmm'; did you mean burn\.nn\.Lstm"):
        _ = nn.Lstmm
