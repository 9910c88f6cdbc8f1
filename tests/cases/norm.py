"""Cases of normalisation; `MORE` holds those of operations that only layers call."""

import numpy as np

from burn.errors import ArgumentError, ArgumentTypeError, DTypeError, ShapeError
from tests.cases import FLOATS, Arg, Case, ErrorCase
from tests.cases.tensors import tensor

EPSILON = 1e-3


def function(name, *args):
    """Call of `burn.tensor.module.<name>` with `args` after the tensors."""

    def call(*tensors):
        from burn.tensor import module

        return getattr(module, name)(*tensors, *args)

    return call


def op(name, *args):
    """Call of `burn._ops.norm.<name>` with `args` after the first tensor."""

    def call(x, *tensors):
        from burn._ops import norm

        return getattr(norm, name)(x, *args, *tensors)

    return call


def channelled(vector, x):
    """A vector of channels, broadcast to x."""
    return vector.reshape(1, -1, *[1] * (x.ndim - 2))


def normal(x, axes):
    """x without mean, divided by its deviation, over axes."""
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + EPSILON)


def others(x):
    """All axes but the channels."""
    return tuple(a for a in range(x.ndim) if a != 1)


def group_norm(groups):
    def oracle(x, gamma=None, beta=None):
        y = normal(x.reshape(x.shape[0], groups, -1), 2).reshape(x.shape)
        return y if gamma is None else y * channelled(gamma, x) + channelled(beta, x)

    return oracle


def batch_norm(x, gamma, beta, mean, variance):
    gamma, beta, mean, variance = (channelled(v, x) for v in (gamma, beta, mean, variance))
    return (x - mean) / np.sqrt(variance + EPSILON) * gamma + beta


def batch_norm_train(x, gamma, beta):
    y = normal(x, others(x)) * channelled(gamma, x) + channelled(beta, x)
    return y, x.mean(others(x)), x.var(others(x))


def response(size, alpha, beta, k):
    def oracle(x):
        total, n = np.zeros_like(x), x.shape[1]
        for c in range(n):
            around = x[:, max(0, c - (size - 1) // 2) : min(n, c + size // 2 + 1)]
            total[:, c] = (around**2).sum(1)
        return x * (k + alpha / size * total) ** -beta

    return oracle


def args(*shapes):
    """One input a shape."""
    return tuple(Arg(s) for s in shapes)


def case(name, call, oracle, *shapes, **options):
    return Case(name, call, oracle, args(*shapes), FLOATS, slack=4, **options)


# Rows below a vector, off the grid, longer than what is added up in one go; channels in columns and in runs.
CASES = [
    *(
        case(f"layer_norm{shape}", function("layer_norm", EPSILON), lambda x, g, b: normal(x, -1) * g + b, shape, shape[-1:],
             shape[-1:], grad=np.prod(shape) < 200)
        for shape in ((3, 5), (2, 3, 17), (6,), (3, 4100))
    ),
    case("layer_norm(no beta)", function("layer_norm", None, EPSILON), lambda x, g: normal(x, -1) * g, (4, 11), (11,)),
    *(
        Case(f"batch_norm{shape}", function("batch_norm", EPSILON), batch_norm,
             (Arg(shape), *args(*[shape[1:2]] * 3), Arg(shape[1:2], "positive")), FLOATS, slack=4)
        for shape in ((5, 3), (2, 3, 4), (2, 2, 6, 6))
    ),
    *(
        case(f"batch_norm_train{shape}", function("batch_norm_train", EPSILON), batch_norm_train, shape, *[shape[1:2]] * 2,
             grad=False)
        for shape in ((5, 3), (3, 4, 5), (2, 3, 6, 7), (70, 300), (2, 2, 50, 50))
    ),
]  # fmt: skip

MORE = [
    *(
        case(f"batch_norm_train.output{shape}", lambda *t: function("batch_norm_train", EPSILON)(*t).output,
             lambda *t: batch_norm_train(*t)[0], shape, *[shape[1:2]] * 2)
        for shape in ((5, 3), (3, 4, 5), (2, 3, 6, 7))
    ),
    *(
        case(f"group_norm({groups}){shape}", lambda x, g, b, n=groups: op("group_norm", n, g, b, EPSILON)(x), group_norm(groups),
             shape, *[shape[1:2]] * 2, grad=np.prod(shape) < 200)
        for groups, shape in ((2, (3, 4, 5)), (3, (2, 6)), (4, (2, 4, 3, 3)), (1, (2, 3, 37)), (2, (2, 4, 50, 50)))
    ),
    *(
        case(f"group_norm({groups}, plain){shape}", op("group_norm", groups, None, None, EPSILON), group_norm(groups), shape)
        for groups, shape in ((2, (3, 4, 5)), (3, (2, 6)))
    ),
    case("rms_norm", lambda x, g: op("rms_norm", g, EPSILON)(x),
         lambda x, g: x / np.sqrt((x * x).mean(-1, keepdims=True) + EPSILON) * g, (3, 17), (17,)),
    *(
        case(f"local_response_norm({size}){shape}", op("local_response_norm", size, 0.5, 0.75, 1.2),
             response(size, 0.5, 0.75, 1.2), shape)
        for size, shape in ((3, (2, 5, 4)), (2, (1, 4, 3, 3)), (5, (2, 3, 1)))
    ),
]  # fmt: skip

x, two, three = (np.ones(s, np.float32) for s in ((2, 3), (2,), (3,)))


def call(name, *values):
    """A call of a public function on arrays placed on the device, other values as they are."""
    return lambda d: function(name)(*(tensor(v, d) if isinstance(v, np.ndarray) else v for v in values))


ERRORS = [
    ErrorCase("layer_norm: length", call("layer_norm", x, two, None, 1e-5), ShapeError, ("[layer_norm] 'gamma'", "[3]", "[2]")),
    ErrorCase("layer_norm: beta", call("layer_norm", x, three, two, 1e-5), ShapeError, ("[layer_norm] 'beta'", "[3]", "[2]")),
    ErrorCase("layer_norm: dtype", call("layer_norm", x, three.astype("f8"), None, 1e-5), DTypeError, ("gamma", "f32", "f64")),
    ErrorCase("layer_norm: epsilon", call("layer_norm", x, three, None, -1.0), ArgumentError, ("epsilon", "-1.0")),
    ErrorCase("layer_norm: no number", call("layer_norm", x, three, None, "1"), ArgumentTypeError, ("epsilon", "number")),
    ErrorCase("layer_norm: Int", call("layer_norm", x.astype("i4"), three, None, 1e-5), TypeError, ("[layer_norm]", "Float")),
    ErrorCase("batch_norm: rank", call("batch_norm", two, *[two] * 4, 1e-5), ShapeError, ("[batch_norm]", "2 axes", "[2]")),
    ErrorCase("batch_norm: mean", call("batch_norm", x, three, three, two, three, 1e-5), ShapeError, ("'mean'", "[3]", "[2]")),
    ErrorCase("batch_norm: variance", call("batch_norm", x, three, three, three, two, 1e-5), ShapeError, ("'variance'", "[2]")),
    ErrorCase("batch_norm_train: gamma", call("batch_norm_train", x, two, three, 1e-5), ShapeError, ("'gamma'", "axis 1", "[2]")),
]  # fmt: skip
