"""Moving a tensor between devices: a recorded step, also to the same hardware."""

from burn._core import core
from burn._ops.registry import ANY, define
from burn._ops.rule import python_rule

_to_device = define("to_device", "movement", kinds=ANY)


def to_device(x, slot):
    """x on the device of a slot; on its own device the same memory."""
    out = core.alias(x, x._ctx) if slot == x._slot else core.transfer(x, slot, x._ctx)
    _to_device.record((x,), out, x._slot)
    return out


_to_device.rule = python_rule(lambda node, g: (to_device(g, node.attrs),), [""])
