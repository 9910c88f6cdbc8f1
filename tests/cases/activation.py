"""Cases of activation functions, softmax and its kin included."""

import numpy as np
from scipy import special

from burn.errors import OutOfBoundsError, ShapeError
from tests.cases import FLOATS, Arg, Case, ErrorCase
from tests.cases.tensors import tensor

SHAPES = ((3, 5), (1037,), (1,), (0, 3), (2, 1, 3))
ROWS = ((3, 5), (2, 7, 3), (4, 513), (3, 1, 2), (1, 1), (0, 3), (5, 0))
SELU_SCALE, SELU_ALPHA = 1.0507009873554804934193349852946, 1.6732632423543772848170429916717


def function(name, *args):
    """Call of `burn.tensor.activation.<name>` with `args` after the tensors."""

    def call(*tensors):
        from burn.tensor import activation

        return getattr(activation, name)(*tensors, *args)

    return call


def pointwise(name, oracle, *args, **options):
    """Case of an activation of one tensor and numbers."""
    options = {"special": True, "shapes": SHAPES, **options}
    return Case(name, function(name, *args), oracle, **options)


def rows(name, oracle, *dims):
    """Cases of an activation along an axis."""
    return [
        Case(f"{name}({dim})", function(name, dim), lambda x, dim=dim: oracle(x, dim), (Arg(),), FLOATS, slack=2,
             shapes=tuple(s for s in ROWS if -len(s) <= dim < len(s)))
        for dim in dims
    ]  # fmt: skip


def softmax(x, dim):
    e = np.exp(x - x.max(dim, keepdims=True, initial=-np.inf))
    return e / e.sum(dim, keepdims=True)


def quiet_softmax(x, dim):
    m = x.max(dim, keepdims=True, initial=-np.inf)
    e = np.exp(x - m)
    return e / (e.sum(dim, keepdims=True) + np.exp(-m))


def damped(x, weight):
    """`x * weight`, 0 where the weight has vanished before an infinite x."""
    return np.where(weight == 0, 0, x * weight)


def glu(x, dim):
    a, b = np.split(x, 2, dim)
    return a * special.expit(b)


def shrink(x, cut, bias):
    return np.where(np.abs(x) <= cut, 0, x - np.sign(x) * bias)


def elu(x, alpha):
    return np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0)))


POINTWISE = [
    pointwise("relu", lambda x: np.maximum(x, 0)),
    pointwise("relu6", lambda x: np.clip(x, 0, 6)),
    pointwise("hardtanh", lambda x: np.clip(x, -1.2, 1.4), -1.2, 1.4),
    pointwise("leaky_relu", lambda x: np.where(x < 0, 0.02 * x, x), 0.02),
    pointwise("elu", lambda x: elu(x, 1.3), 1.3),
    pointwise("celu", lambda x: np.where(x > 0, x, 1.3 * np.expm1(np.minimum(x, 0) / 1.3)), 1.3),
    pointwise("selu", lambda x: SELU_SCALE * elu(x, SELU_ALPHA)),
    pointwise("gelu", lambda x: damped(x, special.ndtr(x)), slack=5),
    pointwise(
        "gelu_approximate", lambda x: damped(x, special.expit(np.sqrt(8 / np.pi) * (x + 0.044715 * x**3))), slack=2
    ),
    pointwise("sigmoid", special.expit),
    pointwise("hard_sigmoid", lambda x: np.clip(0.3 * x + 0.5, 0, 1), 0.3, 0.5),
    pointwise("hard_swish", lambda x: x * np.clip(x / 6 + 0.5, 0, 1), special=False),
    pointwise("log_sigmoid", special.log_expit),
    pointwise("silu", lambda x: damped(x, special.expit(x)), slack=2),
    pointwise("mish", lambda x: x * np.tanh(np.logaddexp(0, x)), slack=2, special=False),
    pointwise("softplus", lambda x: np.logaddexp(0, 1.5 * x) / 1.5, 1.5, slack=2),
    pointwise("softsign", lambda x: x / (1 + np.abs(x)), special=False),
    pointwise("tanh", np.tanh),
    pointwise("tanhshrink", lambda x: x - np.tanh(x), slack=4),
    pointwise("hard_shrink", lambda x: np.where(np.abs(x) <= 0.75, 0, x), 0.75),
    pointwise("soft_shrink", lambda x: shrink(x, 0.75, 0.75), 0.75, special=False),
    pointwise("shrink", lambda x: shrink(x, 0.75, 0.25), 0.75, 0.25, special=False),
    pointwise("thresholded_relu", lambda x: np.where(x > 0.8, x, 0), 0.8, special=False),
    pointwise("threshold", lambda x: np.where(x > 0.3, x, 9.0), 0.3, 9.0, special=False),
    Case("prelu", function("prelu"), lambda x, a: np.where(x < 0, a * x, x), (Arg((2, 3, 4)), Arg((1,)))),
    Case(
        "prelu(channels)",
        function("prelu"),
        lambda x, a: np.where(x < 0, a[:, None] * x, x),
        (Arg((2, 3, 4)), Arg((3,))),
    ),
]

ALONG = [
    *rows("softmax", softmax, 0, -1, 1),
    *rows("log_softmax", lambda x, dim: np.log(softmax(x, dim)), 0, -1, 1),
    *rows("softmin", lambda x, dim: softmax(-x, dim), 0, -1),
    *rows("quiet_softmax", quiet_softmax, 0, -1),
    Case("glu(0)", function("glu", 0), lambda x: glu(x, 0), (Arg((4, 3)),), slack=2),
    Case("glu(-1)", function("glu", -1), lambda x: glu(x, -1), (Arg((2, 3, 6)),), slack=2),
]

CASES = [*POINTWISE, *ALONG]

x = np.ones((2, 3), np.float32)
ERRORS = [
    *(
        ErrorCase(f"{name}: axis", lambda d, name=name: function(name, 2)(tensor(x, d)), OutOfBoundsError, ("2",))
        for name in ("softmax", "log_softmax", "softmin", "quiet_softmax", "glu")
    ),
    ErrorCase("glu: odd axis", lambda d: function("glu", 1)(tensor(x, d)), ShapeError, ("[glu]", "3", "even")),
    ErrorCase(
        "prelu: channels",
        lambda d: function("prelu")(tensor(x, d), tensor(np.ones(2, np.float32), d)),
        ShapeError,
        ("[prelu]", "2", "3"),
    ),
    ErrorCase("relu: Int", lambda d: function("relu")(tensor(x.astype(np.int32), d)), TypeError, ("[relu]", "Float")),
]
