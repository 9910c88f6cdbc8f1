"""Python's operators where they mean more than one op: `/` on Int tensors gives Float, `//` floors, `&` follows the kind."""

from burn._core import core
from burn._ops import elementwise as ew
from burn._ops.registry import BOOL, FLOAT, INT, OPS, check_tensor, define, is_number

_SYMBOLS = {
    "truediv": "/",
    "floordiv": "//",
    "pow": "**",
    "and": "&",
    "or": "|",
    "xor": "^",
    "lshift": "<<",
    "rshift": ">>",
}


def _is_tensor(value):
    return isinstance(value, core.TensorBase)


def _as_tensors(name, x, y):
    """Both operands as tensors; a number takes the dtype of the other operand."""
    for value in (x, y):
        if not _is_tensor(value) and not is_number(value):
            check_tensor(name, value, "other")
    if not _is_tensor(x):
        x = y.full_like(x)
    if not _is_tensor(y):
        y = x.full_like(y)
    return x, y


def _truediv(op, x, y):
    if _is_tensor(x) and x._kind == INT:
        x = x.float()
    if _is_tensor(y) and y._kind == INT:
        y = y.float()
    return ew.div(x, y)


def _floordiv(op, x, y):
    first = x if _is_tensor(x) else y
    if first._kind == FLOAT:
        return ew.floor(ew.div(x, y))
    return ew.floordiv(*_as_tensors("floordiv", x, y))


def _pow(op, x, y):
    if _is_tensor(x) and not _is_tensor(y):
        if x._kind == FLOAT and type(y) in (int, float):
            return ew.powf_scalar(x, y)
        return x.powi(y) if x._kind == INT else x.powf(y)
    x, y = _as_tensors("pow", x, y)
    return x.powi(y) if x._kind == INT or y._kind == INT else x.powf(y)


def _kind_of_first(word):
    def bridge(op, x, y):
        first = x if _is_tensor(x) else y
        if first._kind == BOOL:
            x, y = _as_tensors(word, x, y)
            return OPS["bool_" + word](x, y)
        return OPS["bitwise_" + word](x, y)

    return bridge


def _shift(word):
    def bridge(op, x, y):
        return OPS[f"bitwise_{word}_shift"](x, y)

    return bridge


_div_float = define("truediv", "elementwise", kernel="div", kinds=FLOAT, n_in=2, elementwise=True, bridge=_truediv)
_div_float.rule = ew.div.rule
core.set_slot("truediv", _div_float, {FLOAT: ew.div})
for _slot, _bridge, _by_kind in (
    ("floordiv", _floordiv, {INT: ew.floordiv}),
    ("pow", _pow, {FLOAT: ew.powf, INT: ew.powi}),
    ("and", _kind_of_first("and"), {INT: OPS["bitwise_and"], BOOL: ew.bool_and}),
    ("or", _kind_of_first("or"), {INT: OPS["bitwise_or"], BOOL: ew.bool_or}),
    ("xor", _kind_of_first("xor"), {INT: OPS["bitwise_xor"], BOOL: ew.bool_xor}),
    ("lshift", _shift("left"), {INT: OPS["bitwise_left_shift"]}),
    ("rshift", _shift("right"), {INT: OPS["bitwise_right_shift"]}),
):
    core.set_slot(_slot, core.Op("operator " + _SYMBOLS[_slot], "elementwise", n_in=2, bridge=_bridge), _by_kind)
core.set_slot(
    "invert",
    core.Op(
        "operator ~", "elementwise", bridge=lambda op, x: (ew.bool_not if x._kind == BOOL else OPS["bitwise_not"])(x)
    ),
    {INT: OPS["bitwise_not"], BOOL: ew.bool_not},
)
