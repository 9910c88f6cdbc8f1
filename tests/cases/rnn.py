"""Cases of recurrent layers: the weights and biases of all gates come side by side, as one tensor."""

import itertools

import numpy as np

from tests.cases import FLOATS, REALS, Arg, Case

# cell: number of gates
GATES = {"rnn": 1, "lstm": 4, "coupled": 3, "gru": 3, "gru_before": 3}
LETTERS = {"rnn": "h", "lstm": "iogf", "coupled": "iog", "gru": "zrn", "gru_before": "zrn"}


def parts(x, gates):
    """A tensor or array cut into equal parts along its last axis."""
    size = x.shape[-1] // gates
    return [x[..., q * size : (q + 1) * size] for q in range(gates)]


def unpack(values, cell, bias, given):
    """(x, weights, state weights, biases, state biases, initial states) of the inputs of a case."""
    x, w, u, *more = values
    n = GATES[cell]
    b, c = (parts(more.pop(0), n) for _ in range(2)) if bias else ([None] * n, [None] * n)
    states = more if given else [None] * (2 if cell in ("lstm", "coupled") else 1)
    return x, parts(w, n), parts(u, n), b, c, states


def call(cell, bias, given, reverse=False, clip=None):
    """The operation on tensors: [steps, batch, d_hidden] and the last states."""

    def run(*values):
        from burn._ops import rnn as ops

        x, w, u, b, c, states = unpack(values, cell, bias, given)
        gates = [ops.Gate(*g) for g in zip(w, b, u, c, strict=True)]
        if cell == "rnn":
            return ops.rnn(x, gates[0], *states, reverse, clip)
        if cell.startswith("gru"):
            return ops.gru(x, gates, *states, cell == "gru", reverse, clip)
        return ops.lstm(x, gates, *states, reverse, clip)

    return run


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def oracle(cell, bias, given, reverse=False, clip=None):
    """One vector of one step at a time."""

    def limited(s):
        return s if clip is None else np.clip(s, -clip, clip)

    def run(*values):
        x, w, u, b, c, states = unpack(values, cell, bias, given)
        steps, batch = x.shape[:2]
        size = u[0].shape[0]
        b, c = ([np.zeros(size) if v is None else v for v in part] for part in (b, c))
        y = np.zeros((steps, batch, size))
        last = [np.zeros((batch, size)) if s is None else s.copy() for s in states]
        for row in range(batch):
            h, *cells = (s[row] for s in last)
            for t in range(steps)[::-1] if reverse else range(steps):
                of_x = {k: x[t, row] @ w[q] + b[q] for q, k in enumerate(LETTERS[cell])}
                of_h = {k: h @ u[q] + c[q] for q, k in enumerate(LETTERS[cell])}
                s = {k: of_x[k] + of_h[k] for k in of_x}
                if cell == "rnn":
                    h = limited(np.tanh(s["h"]))
                elif cell == "gru":
                    n = np.tanh(of_x["n"] + sigmoid(s["r"]) * of_h["n"])
                    h = limited((1 - sigmoid(s["z"])) * n + sigmoid(s["z"]) * h)
                elif cell == "gru_before":
                    n = np.tanh(of_x["n"] + (sigmoid(s["r"]) * h) @ u[2] + c[2])
                    h = limited((1 - sigmoid(s["z"])) * n + sigmoid(s["z"]) * h)
                else:
                    forget = sigmoid(s["f"]) if cell == "lstm" else 1 - sigmoid(s["i"])
                    cells = [limited(forget * cells[0] + sigmoid(s["i"]) * np.tanh(s["g"]))]
                    h = sigmoid(s["o"]) * np.tanh(cells[0])
                y[t, row] = h
            for s, value in zip(last, (h, *cells), strict=True):
                s[row] = value
        return (y, *last)

    return run


def case(cell, steps, batch, d_input, d_hidden, bias=True, given=True, grad=True, dtypes=FLOATS, **options):
    n = GATES[cell] * d_hidden
    args = [Arg((steps, batch, d_input)), Arg((d_input, n), "unit"), Arg((d_hidden, n), "unit")]
    args += [Arg((n,), "unit")] * 2 if bias else []
    args += [Arg((batch, d_hidden), "unit")] * (2 if cell in ("lstm", "coupled") else 1) if given else []
    words = ", ".join(f"{k} {v}" for k, v in options.items())
    name = f"{cell}({steps}x{batch}x{d_input}->{d_hidden}{'' if bias else ', no bias'}{', states' if given else ''} {words})"
    made = (cell, bias, given), options
    return Case(name, call(*made[0], **made[1]), oracle(*made[0], **made[1]), tuple(args), dtypes, slack=16, grad=grad)


CASES = [
    case(cell, 3, 2, 3, 3, bias, given, reverse=reverse, clip=0.35 if clip else None)
    for cell in GATES
    for bias, given, reverse, clip in (
        (True, True, False, False),
        (False, False, True, False),
        (True, False, False, True),
    )
]
CASES += [case(cell, 1, 1, 1, 1) for cell in GATES]
# more than a panel of units, more rows than a tile has, more than the rows of one part
CASES += [
    case(cell, 4, batch, 5, size, given=True, grad=False, reverse=reverse, dtypes=REALS)
    for (cell, (batch, size)), reverse in zip(
        itertools.product(GATES, ((1, 37), (7, 16), (103, 33))), itertools.cycle((True, False)), strict=False
    )
]
# a single row: one panel of units, an odd number of them, pieces of several panels and what is left
CASES += [
    case(cell, 3, 1, 5, size, bias, given, grad=False, dtypes=REALS, reverse=reverse, clip=clip)
    for cell in ("lstm", "coupled")
    for size, bias, given, reverse, clip in (
        (16, False, True, True, None),
        (32, True, True, False, None),
        (96, False, False, True, 0.3),
        (416, True, True, True, None),
    )
]
