"""Softmax, log-softmax and quiet softmax over one axis, one pass a row."""

from burn._ops.reduce import fold
from burn._ops.registry import FLOAT, check_kind, check_tensor, define
from burn._ops.rule import python_rule

_softmax = define("softmax", "softmax", kinds=FLOAT, attrs=("outer", "n", "inner"))
_log_softmax = define("log_softmax", "softmax", kinds=FLOAT, attrs=("outer", "n", "inner"))
_quiet_softmax = define("quiet_softmax", "softmax", kinds=FLOAT, attrs=("outer", "n", "inner"))
_softmax_bwd = define("softmax_bwd", "softmax", kinds=FLOAT, n_in=2, cuts_graph=True)
_log_softmax_bwd = define("log_softmax_bwd", "softmax", kinds=FLOAT, n_in=2, cuts_graph=True)


def _run(op, x, axis):
    check_kind(op.name, check_tensor(op.name, x), FLOAT)
    ints = fold(x._dims, axis)
    return op.apply((x,), x._dims, x._dtype, ints, (), ints)


def softmax(x, axis):
    """exp(x - max) / sum along an axis."""
    return _run(_softmax, x, axis)


def log_softmax(x, axis):
    """x - max - log(sum(exp(x - max))) along an axis."""
    return _run(_log_softmax, x, axis)


def quiet_softmax(x, axis):
    """exp(x) / (1 + sum(exp(x))) along an axis: the softmax of one more element, 0, without it."""
    return _run(_quiet_softmax, x, axis)


def _backward(op):
    def rule(node, g):
        return (op.apply((node.output, g), g._dims, g._dtype, node.attrs),)

    return python_rule(rule, ["out"])


_softmax.rule = _quiet_softmax.rule = _backward(_softmax_bwd)
_log_softmax.rule = _backward(_log_softmax_bwd)
