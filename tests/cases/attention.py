"""Cases of attention."""

import itertools

import numpy as np

from burn.errors import ArgumentTypeError, DTypeError, KindError, ShapeError
from tests.cases import BOOL, FLOATS, Arg, Case, ErrorCase
from tests.cases.tensors import tensor


def call(mask=False, bias=False, **options):
    """`attention` of query, key, value, and a mask and a bias where they are there."""

    def run(q, k, v, *more):
        from burn.tensor import module
        from burn.tensor.ops import AttentionModuleOptions

        more = list(more)
        given = (more.pop(0) if mask else None, more.pop(0) if bias else None)
        return module.attention(q, k, v, *given, AttentionModuleOptions(**options))

    return run


def oracle(mask=False, bias=False, scale=None, softcap=None, is_causal=False):
    """One query at a time."""

    def run(q, k, v, *more):
        more = list(more)
        shape = (*q.shape[:3], k.shape[2])
        removed = np.broadcast_to(more.pop(0), shape) if mask else np.zeros(shape, bool)
        added = np.broadcast_to(more.pop(0), shape) if bias else np.zeros(shape)
        out = np.zeros((*q.shape[:3], v.shape[3]))
        for b, h, i in np.ndindex(q.shape[:3]):
            kv = h * k.shape[1] // q.shape[1]
            s = k[b, kv] @ q[b, h, i] * (1 / np.sqrt(q.shape[3]) if scale is None else scale)
            s = s if softcap is None else softcap * np.tanh(s / softcap)
            s[removed[b, h, i]] = -np.inf
            if is_causal:
                s[max(0, i + 1 + k.shape[2] - q.shape[2]) :] = -np.inf
            s = s + added[b, h, i]
            if s.size and s.max() > -np.inf:
                e = np.exp(s - s.max())
                out[b, h, i] = e @ v[b, kv] / e.sum()
        return out

    return run


def case(name, q, k, width, mask=None, bias=None, grad=True, **options):
    """Shapes of query and key; the values have the key's, but for the last axis."""
    args = [Arg(q), Arg(k), Arg((*k[:3], width))]
    args += [Arg(mask, "bool", BOOL)] if mask else []
    args += [Arg(bias)] if bias else []
    options |= {"mask": bool(mask), "bias": bool(bias)}
    return Case(f"attention({name})", call(**options), oracle(**options), tuple(args), FLOATS, slack=8, grad=grad)


SMALL = ((2, 2, 3, 4), (2, 2, 5, 4), 3)
CASES = [
    case("plain", *SMALL),
    case("causal", *SMALL, is_causal=True),
    case("causal, more queries", (1, 2, 6, 3), (1, 2, 4, 3), 2, is_causal=True),
    case("scale", *SMALL, scale=0.3),
    case("softcap", *SMALL, softcap=0.8, scale=1.5),
    case("mask", *SMALL, mask=(2, 2, 3, 5)),
    case("bias", *SMALL, bias=(2, 2, 3, 5)),
    *(
        case(f"mask {m}, bias {b}", *SMALL, mask=m, bias=b, is_causal=True, softcap=1.1)
        for m, b in itertools.product(((2, 1, 1, 5), (1, 1, 3, 5)), ((1, 2, 3, 5), (2, 1, 3, 1)))
    ),
    case("grouped heads", (1, 4, 3, 2), (1, 2, 4, 2), 2, bias=(1, 4, 1, 4)),
    case("one shared head", (2, 3, 2, 4), (2, 1, 3, 4), 1),
    case("several tiles", (1, 2, 67, 20), (1, 1, 301, 20), 33, mask=(1, 1, 67, 301), grad=False, is_causal=True),
    case("keys of several tiles", (1, 1, 64, 9), (1, 1, 1100, 9), 20, grad=False, is_causal=True),
    case("wide", (1, 1, 5, 70), (1, 1, 37, 70), 130, grad=False),
    case("one number", (1, 1, 1, 1), (1, 1, 1, 1), 1),
]

q, k = np.ones((1, 2, 3, 4), np.float32), np.ones((1, 2, 5, 4), np.float32)


def wrong(*values, **keys):
    """A call on arrays placed on the device."""

    def run(d):
        from burn.tensor import module
        from burn.tensor.ops import AttentionModuleOptions

        given = dict(zip(("query", "key", "value", "mask"), values, strict=False))
        given = {"mask": None, "attn_bias": None, "options": AttentionModuleOptions()} | given | keys
        return module.attention(**{n: tensor(v, d) if isinstance(v, np.ndarray) else v for n, v in given.items()})

    return run


ERRORS = [
    ErrorCase("attention: rank", wrong(q[0], k, k), ShapeError, ("[attention] 'query'", "[2, 3, 4]")),
    ErrorCase("attention: size", wrong(q, k[..., :3], k), ShapeError, ("'key'", "axis 3", "[1, 2, 5, 3]")),
    ErrorCase("attention: batch", wrong(q, k, np.ones((2, 2, 5, 4), "f4")), ShapeError, ("'value'", "axis 0")),
    ErrorCase("attention: length", wrong(q, k, k[:, :, :4]), ShapeError, ("'value'", "[1, 2, 4, 4]")),
    ErrorCase("attention: heads", wrong(np.ones((1, 3, 3, 4), "f4"), k, k), ShapeError, ("heads", "2", "3")),
    ErrorCase("attention: dtype", wrong(q, k.astype("f8"), k), DTypeError, ("'key'", "f64")),
    ErrorCase(
        "attention: mask shape", wrong(q, k, k, np.ones((1, 2, 3, 4), bool)), ShapeError, ("'mask'", "[1, 2, 3, 5]")
    ),
    ErrorCase(
        "attention: mask kind", wrong(q, k, k, np.ones((1, 2, 3, 5), "f4")), KindError, ("'mask'", "Bool", "f32")
    ),
    ErrorCase("attention: bias", wrong(q, k, k, attn_bias=np.ones((2, 3, 5), "f4")), ShapeError, ("'attn_bias'",)),
    ErrorCase(
        "attention: options", wrong(q, k, k, options=3), ArgumentTypeError, ("'options'", "AttentionModuleOptions")
    ),
]
