"""Recurrent layers over whole sequences.

One product makes what all inputs contribute to the gates; the kernels go through the steps from there. With a gradient to come
they leave activations in the memory of those products, and their gradient kernels leave gradients there in turn, so the
gradients of inputs, input weights and biases are those of one `linear`. Tensors are [steps, batch, ...]; half precision is
computed in f32.
"""

from typing import NamedTuple

from burn._core import core
from burn._ops.elementwise import cast
from burn._ops.matmul import linear, matmul
from burn._ops.movement import cat, reshape, slice_view, swap, zeros
from burn._ops.reduce import sum_dims
from burn._ops.registry import FLOAT, check_same, define
from burn._ops.rule import python_rule
from burn.errors import ShapeError
from burn.tensor.dtype import DType

# ints: reverse; floats: limit of the state (0: none). The results after the first, activations and what else a gradient needs,
# are there only when one is to come.
_rnn = define("rnn", "rnn", kinds=FLOAT, n_in=3, n_out=2)
_lstm = define("lstm", "rnn", kinds=FLOAT, n_in=7, n_out=3)
_lstm_whole = define("lstm_whole", "rnn", kinds=FLOAT, n_in=12)  # inputs, states, weights of states and of inputs, bias
_gru = define("gru", "rnn", kinds=FLOAT, n_in=6, n_out=3)
_gru_before = define("gru_before", "rnn", kinds=FLOAT, n_in=5, n_out=2)
_rnn_bwd = define("rnn_bwd", "rnn", kinds=FLOAT, n_in=3, n_out=2, cuts_graph=True)
_lstm_bwd = define("lstm_bwd", "rnn", kinds=FLOAT, n_in=8, n_out=3, cuts_graph=True)
_gru_bwd = define("gru_bwd", "rnn", kinds=FLOAT, n_in=8, n_out=3, cuts_graph=True)
_gru_before_bwd = define("gru_before_bwd", "rnn", kinds=FLOAT, n_in=7, n_out=2, cuts_graph=True)


class Gate(NamedTuple):
    """The parameters of a gate: weights [d_input, d_hidden] and [d_hidden, d_hidden], two biases [d_hidden] or None."""

    weight: core.TensorBase
    bias: core.TensorBase | None
    state_weight: core.TensorBase
    state_bias: core.TensorBase | None


def _bias(x, gates, own=0):
    """The biases of inputs, side by side, or None. The state's go in as well, but for the last `own` gates."""
    if gates[0].bias is None:
        return None
    added = [g.state_bias for g in gates[: len(gates) - own]]
    if own:
        added.append(zeros((own * gates[0].state_weight._dims[0],), x._dtype, x._slot))
    return cat([g.bias for g in gates], 0) + cat(added, 0)


def _inputs(x, gates, own=0):
    """What the inputs contribute to the gates, side by side."""
    weight = gates[0].weight if len(gates) == 1 else cat([g.weight for g in gates], 1)
    return linear(x, weight, _bias(x, gates, own))


# Rows from which weights that are read again in each step cost less than products of all steps that go through memory, and
# bytes of weights up to which that holds: the share of a thread stays in its cache. Of a single row the kernel multiplies all
# steps first, each thread its own units, which it has in whole vectors of any level.
_WHOLE_ROWS, _WHOLE_BYTES, _WHOLE_UNITS = 8, 2 << 20, 32


def _takes_inputs(x, gates, states):
    """Whether the kernel of an LSTM multiplies its inputs as well: no gradient is to come, and weights stay near."""
    values = [x, *states, *(t for gate in gates for t in gate)]
    rows, d_input, d_hidden = x._dims[1], x._dims[2], gates[0].state_weight._dims[0]
    size = d_hidden * len(gates) * (d_input + d_hidden) * (8 if x.dtype is DType.F64 else 4)
    return (
        d_input > 0
        and (d_hidden % _WHOLE_UNITS == 0 if rows == 1 else rows >= _WHOLE_ROWS and size <= _WHOLE_BYTES)
        and _lstm_whole.has_kernel(x._slot, x._dtype)
        and not any(core.node_state(t) for t in values if t is not None)
    )


def _window(x, axis, start, size):
    starts, sizes = [0] * x.ndim, list(x._dims)
    starts[axis], sizes[axis] = start, size
    return slice_view(x, starts, [1] * x.ndim, tuple(sizes))


def _step(x, at):
    return reshape(_window(x, 0, at, 1), x._dims[1:])


def _check(op, x, gates):
    """Kernels rely on it that all gates are alike; layers can be put together of gates that are not."""
    d_input, d_hidden = x._dims[2], gates[0].state_weight._dims[0]
    dtype, slot = x._dtype, x._slot
    wanted = ((d_input, d_hidden), (d_hidden,), (d_hidden, d_hidden), (d_hidden,))
    for gate in gates:
        for parameter, shape, name in zip(gate, wanted, Gate._fields):
            if parameter is None or (
                parameter._dims == shape and parameter._dtype == dtype and parameter._slot == slot
            ):
                continue
            check_same(op.name, x, parameter, name)
            raise ShapeError(
                f"[{op.name}] {name!r} must have shape {list(shape)} in each gate, for inputs of {d_input} and states of "
                f"{d_hidden} elements, got {parameter.dims()}"
            )


def _run(op, x, gates, states, reverse, clip, rows, more, own=0, bias=None):
    """Runs a kernel: x [steps, batch, d_input] and the states, None for zeros, to the tensor of `rows` more than steps.

    `more` says of the results after activations how many there are.
    """
    _check(op, x, gates)
    steps, batch = x._dims[:2]
    hidden = gates[0].state_weight._dims[0]
    dtype = x.dtype
    if dtype in (DType.F16, DType.BF16):
        x = cast(x, DType.F32)
        gates = [Gate(*(t if t is None else cast(t, DType.F32) for t in g)) for g in gates]
        states = [t if t is None else cast(t, DType.F32) for t in states]
        bias = None if bias is None else cast(bias, DType.F32)
    known = tuple(t is not None for t in states)
    states = [zeros((batch, hidden), x._dtype, x._slot) if t is None else t for t in states]
    if op is _lstm and _takes_inputs(x, gates, states):
        return cast(_whole(x, gates, states, reverse, clip), dtype)
    products = _inputs(x, gates, own)
    ins = (products, *states, *(g.state_weight for g in gates), *(() if bias is None else (bias,)))
    ctx = max(t._ctx for t in ins)
    outs = [core.empty((steps + rows, batch, hidden), x._dtype, x._slot, ctx)]
    ints, floats = (int(reverse),), (0.0 if clip is None else float(clip),)
    kept = ()
    if any(core.node_state(t) for t in ins):
        kept = (core.cut(products, 0), *(core.empty((steps, batch, hidden), x._dtype, x._slot, 0) for _ in range(more)))
    op.update(ins, (*outs, *kept), ints, floats)
    op.record((*ins, *kept), outs[0], (ints, floats, known, len(gates)))
    out = outs[0]
    return out if dtype == x.dtype else cast(out, dtype)


def _whole(x, gates, states, reverse, clip):
    """All states of an LSTM and the last cell, without a gradient to come."""
    bias = _bias(x, gates)
    weights = (*(g.state_weight for g in gates), *(g.weight for g in gates))
    ins = (x, *states, *weights, *(() if bias is None else (bias,)))
    batch, hidden = states[0]._dims
    out = core.empty((x._dims[0] + 1, batch, hidden), x._dtype, x._slot, max(t._ctx for t in ins))
    _lstm_whole.update(ins, (out,), (int(reverse),), (0.0 if clip is None else float(clip),))
    return out


def _last(y, hidden, reverse):
    """The state after the last step; with no step the one before."""
    steps, batch, size = y._dims
    if not steps:
        return zeros((batch, size), y._dtype, y._slot, y._ctx) if hidden is None else hidden
    return _step(y, 0 if reverse else steps - 1)


def rnn(x, gate, hidden, reverse=False, clip=None):
    """tanh(x @ W + b + h @ U + c) step by step: all states [steps, batch, d_hidden], and the last one."""
    y = _run(_rnn, x, [gate], [hidden], reverse, clip, 0, 0)
    return y, _last(y, hidden, reverse)


def lstm(x, gates, hidden, cell, reverse=False, clip=None):
    """Gates input, output, cell and forget, which is 1 - input when it is not given: all states, the last one, the last cell."""
    out = _run(_lstm, x, gates, [hidden, cell], reverse, clip, 1, 1)
    steps = x._dims[0]
    y = _window(out, 0, 0, steps)
    return y, _last(y, hidden, reverse), _step(out, steps)


def gru(x, gates, hidden, reset_after=True, reverse=False, clip=None):
    """Gates update, reset and new: all states, and the last one."""
    if reset_after:
        y = _run(_gru, x, gates, [hidden], reverse, clip, 0, 1, 1, gates[2].state_bias)
    else:
        y = _run(_gru_before, x, gates, [hidden], reverse, clip, 0, 0)
    return y, _last(y, hidden, reverse)


def _paired(states, grads, reverse):
    """Of each step but the first the state before it and the gradient, as matrices: with the first step, their places."""
    steps = grads._dims[0]
    before, after = _window(states, 0, int(reverse), steps - 1), _window(grads, 0, 1 - int(reverse), steps - 1)
    return _rows(before), _rows(after), steps - 1 if reverse else 0


def _rows(x):
    return reshape(x, (x._dims[0] * x._dims[1], x._dims[2]))


def _weight_bwd(states, first, grads, reverse):
    """The gradient of weights that were multiplied by the states before each step; `first` is before all, None for zeros."""
    if not grads._size:
        return zeros((states._dims[2], grads._dims[2]), grads._dtype, grads._slot)
    before, after, at = _paired(states, grads, reverse)
    total = None
    if before._dims[0]:
        total = matmul(swap(before, 0, 1), after)
    if first is not None:
        one = matmul(swap(first, 0, 1), _step(grads, at))
        total = one if total is None else total + one
    if total is None:
        return zeros((states._dims[2], grads._dims[2]), grads._dtype, grads._slot)
    return total


def _each(whole, gates):
    """The parts of a gradient that gates share."""
    size = whole._dims[1] // gates
    return [_window(whole, 1, q * size, size) for q in range(gates)]


def _asked(node, values):
    return tuple(v if node.needs(i) else None for i, v in enumerate(values))


def _backward(op, node, g, ins, states):
    """Runs a gradient kernel; the gradients of what the inputs contributed, then of the states, then what the kernel has more."""
    (reverse,), floats, _, _ = node.attrs
    kept = ins[0]
    batch, hidden = node.saved(1)._dims
    found = [core.empty((batch, hidden), g._dtype, g._slot, 0) for _ in range(states)]
    more = [t for t in ins[2:3] if op is _gru_bwd]
    op.update(ins, (kept, *found, *more), (reverse, int(node.needs(1))), floats)
    return kept, found


def _rnn_rule(node, g):
    (reverse,), _, known, _ = node.attrs
    h0, weight, kept = (node.saved(i) for i in (1, 2, 3))
    grads, states = _backward(_rnn_bwd, node, g, (kept, g, weight), 1)
    to_weight = _weight_bwd(node.output, h0 if known[0] else None, grads, reverse) if node.needs(2) else None
    return _asked(node, (grads, *states, to_weight, None))


def _lstm_rule(node, g):
    (reverse,), _, known, gates = node.attrs
    h0, c0, *weights = (node.saved(i) for i in range(1, 3 + gates))
    kept, cells = node.saved(3 + gates), node.saved(4 + gates)
    grads, states = _backward(_lstm_bwd, node, g, (kept, g, cells, c0, *weights), 2)
    to_weights = [None] * gates
    if any(node.needs(i) for i in range(3, 3 + gates)):
        to_weights = _each(_weight_bwd(node.output, h0 if known[0] else None, grads, reverse), gates)
    return _asked(node, (grads, *states, *to_weights, None, None))


def _gru_rule(node, g):
    (reverse,), _, known, _ = node.attrs
    h0, *weights = (node.saved(i) for i in range(1, 5))
    kept, own = node.saved(node.count - 2), node.saved(node.count - 1)
    grads, states = _backward(_gru_bwd, node, g, (kept, g, own, node.output, h0, *weights), 1)
    size, first = own._dims[2], h0 if known[0] else None
    to_weights, to_bias = [None] * 3, ()
    if node.needs(2) or node.needs(3):
        to_weights[:2] = _each(_weight_bwd(node.output, first, _window(grads, 2, 0, 2 * size), reverse), 2)
    if node.needs(4):
        to_weights[2] = _weight_bwd(node.output, first, own, reverse)
    if node.count == 8:
        to_bias = (reshape(sum_dims(own, (0, 1)), (size,)) if node.needs(5) else None,)
    return _asked(node, (grads, *states, *to_weights, *to_bias, None, None))


def _gru_before_rule(node, g):
    (reverse,), _, known, _ = node.attrs
    h0, *weights = (node.saved(i) for i in range(1, 5))
    kept, y = node.saved(5), node.output
    size, first = h0._dims[1], h0 if known[0] else None
    last = None
    if node.needs(4):
        # What the new gate's weights were multiplied by; the kernel writes over the activations.
        reset, steps = _window(kept, 2, size, size), kept._dims[0]
        last = zeros((max(steps, 1) + 1, *y._dims[1:]), y._dtype, y._slot)
        if steps > 1 and y._size:
            last = _reset_states(reset, y, reverse)
        first_reset = None if first is None or not steps else _step(reset, steps - 1 if reverse else 0) * first
    grads, states = _backward(_gru_before_bwd, node, g, (kept, g, y, h0, *weights), 1)
    to_weights = [None] * 3
    if node.needs(2) or node.needs(3):
        to_weights[:2] = _each(_weight_bwd(y, first, _window(grads, 2, 0, 2 * size), reverse), 2)
    if last is not None:
        to_weights[2] = _weight_bwd(last, first_reset, _window(grads, 2, 2 * size, size), reverse)
    return _asked(node, (grads, *states, *to_weights, None))


def _reset_states(reset, y, reverse):
    """reset[t] * y[t - 1] where y[t - 1] stands, so that it pairs with the gradient of step t as a state does."""
    steps = y._dims[0]
    found = _window(reset, 0, 1 - int(reverse), steps - 1) * _window(y, 0, int(reverse), steps - 1)
    return cat([_window(y, 0, 0, 1), found] if reverse else [found, _window(y, 0, 0, 1)], 0)


_rnn.rule = python_rule(_rnn_rule, ["1 2 out"] * 4)
_lstm.rule = python_rule(_lstm_rule, ["1 2 out"] * 8)
_gru.rule = python_rule(_gru_rule, ["1 2 out"] * 8)
_gru_before.rule = python_rule(_gru_before_rule, ["1 2 out"] * 6)
