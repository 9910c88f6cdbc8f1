"""Recurrent layers one step at a time. ints: reverse (and whether h0 wants a gradient); floats: limit of the state, 0 for none.

Gradients are written where the activations are, so what is still needed of these is copied first.
"""

import numpy as np

from burn.backend.ndarray.table import kernel, wide


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def order(steps, ints):
    return range(steps)[::-1] if ints[0] else range(steps)


def clip(x, limit):
    return np.clip(x, -limit, limit) if limit else x


def passed(x, limit, d):
    """The gradient where the state was not cut."""
    return np.where(np.abs(x) <= limit, d, 0) if limit else d


def copied(x):
    return np.array(wide(x))


def joined(weights):
    return np.concatenate([wide(w) for w in weights], 1)


@kernel("rnn")
def rnn(outs, ins, ints, floats):
    g, h, w = (copied(x) for x in ins)
    for t in order(len(g), ints):
        a = np.tanh(g[t] + h @ w)
        h = clip(a, floats[0])
        outs[0][t] = h
        if len(outs) > 1:
            outs[1][t] = a


@kernel("rnn_bwd")
def rnn_bwd(outs, ins, ints, floats):
    a, grad, w = (copied(x) for x in ins)
    dh = np.zeros(outs[1].shape)
    for t in reversed(order(len(a), ints)):
        d = passed(a[t], floats[0], grad[t] + dh) * (1 - a[t] ** 2)
        outs[0][t] = d
        dh = d @ w.T
    outs[1][...] = dh


@kernel("lstm")
def lstm(outs, ins, ints, floats):
    g, h, c = (copied(x) for x in ins[:3])
    w = joined(ins[3:])
    size = h.shape[1]
    for t in order(len(g), ints):
        s = g[t] + h @ w
        i, o, new = sigmoid(s[:, :size]), sigmoid(s[:, size : 2 * size]), np.tanh(s[:, 2 * size : 3 * size])
        f = sigmoid(s[:, 3 * size :]) if len(ins) == 7 else 1 - i
        c = clip(f * c + i * new, floats[0])
        h = o * np.tanh(c)
        outs[0][t] = h
        if len(outs) > 1:
            outs[1][t] = np.concatenate([i, o, new, f][: len(ins) - 3], 1)
            outs[2][t] = c
    outs[0][len(g)] = c


@kernel("lstm_whole")
def lstm_whole(outs, ins, ints, floats):
    gates = (len(ins) - 3) // 2
    products = wide(ins[0]) @ joined(ins[3 + gates : 3 + 2 * gates])
    for bias in ins[3 + 2 * gates :]:
        products += wide(bias)
    lstm(outs, (products, *ins[1 : 3 + gates]), ints, floats)


@kernel("lstm_bwd")
def lstm_bwd(outs, ins, ints, floats):
    saved, grad, cells, c0 = (copied(x) for x in ins[:4])
    w = joined(ins[4:])
    size, steps = c0.shape[1], list(order(len(saved), ints))
    dh, dc = np.zeros(c0.shape), grad[len(saved)]
    for k, t in reversed(list(enumerate(steps))):
        i, o, new, *own = np.split(saved[t], saved.shape[2] // size, 1)
        coupled, f = not own, own[0] if own else 1 - i
        before, tanh = cells[steps[k - 1]] if k else c0, np.tanh(cells[t])
        d = grad[t] + dh
        dc = passed(f * before + i * new, floats[0], dc + d * o * (1 - tanh**2))
        parts = [
            dc * (new - before if coupled else new) * i * (1 - i),
            d * tanh * o * (1 - o),
            dc * i * (1 - new**2),
            dc * before * f * (1 - f),
        ]
        s = np.concatenate(parts[: len(ins) - 4], 1)
        outs[0][t] = s
        dh, dc = s @ w.T, dc * f
    outs[1][...] = dh
    outs[2][...] = dc


@kernel("gru")
def gru(outs, ins, ints, floats):
    g, h = (copied(x) for x in ins[:2])
    w, bias = joined(ins[2:5]), wide(ins[5]) if len(ins) > 5 else 0.0
    size = h.shape[1]
    for t in order(len(g), ints):
        s = h @ w
        z, r = (sigmoid(g[t][:, q * size : (q + 1) * size] + s[:, q * size : (q + 1) * size]) for q in (0, 1))
        own = s[:, 2 * size :] + bias
        new = np.tanh(g[t][:, 2 * size :] + r * own)
        h = clip(new * (1 - z) + z * h, floats[0])
        outs[0][t] = h
        if len(outs) > 1:
            outs[1][t] = np.concatenate([z, r, new], 1)
            outs[2][t] = own


@kernel("gru_bwd")
def gru_bwd(outs, ins, ints, floats):
    saved, grad, own, y, h0 = (copied(x) for x in ins[:5])
    w = joined(ins[5:])
    steps = list(order(len(saved), ints))
    dh = np.zeros(h0.shape)
    for k, t in reversed(list(enumerate(steps))):
        z, r, new = np.split(saved[t], 3, 1)
        before = y[steps[k - 1]] if k else h0
        d = passed(new * (1 - z) + z * before, floats[0], grad[t] + dh)
        dn = d * (1 - z) * (1 - new**2)
        dz, dr = d * (before - new) * z * (1 - z), dn * own[t] * r * (1 - r)
        outs[0][t] = np.concatenate([dz, dr, dn], 1)
        outs[2][t] = dn * r
        dh = d * z + np.concatenate([dz, dr, dn * r], 1) @ w.T
    outs[1][...] = dh


@kernel("gru_before")
def gru_before(outs, ins, ints, floats):
    g, h = (copied(x) for x in ins[:2])
    w, own = joined(ins[2:4]), wide(ins[4])
    size = h.shape[1]
    for t in order(len(g), ints):
        s = g[t][:, : 2 * size] + h @ w
        z, r = sigmoid(s[:, :size]), sigmoid(s[:, size:])
        new = np.tanh(g[t][:, 2 * size :] + (r * h) @ own)
        h = clip(new * (1 - z) + z * h, floats[0])
        outs[0][t] = h
        if len(outs) > 1:
            outs[1][t] = np.concatenate([z, r, new], 1)


@kernel("gru_before_bwd")
def gru_before_bwd(outs, ins, ints, floats):
    saved, grad, y, h0 = (copied(x) for x in ins[:4])
    w, own = joined(ins[4:6]), wide(ins[6])
    steps = list(order(len(saved), ints))
    dh = np.zeros(h0.shape)
    for k, t in reversed(list(enumerate(steps))):
        z, r, new = np.split(saved[t], 3, 1)
        before = y[steps[k - 1]] if k else h0
        d = passed(new * (1 - z) + z * before, floats[0], grad[t] + dh)
        dn = d * (1 - z) * (1 - new**2)
        reset = dn @ own.T
        dz, dr = d * (before - new) * z * (1 - z), reset * before * r * (1 - r)
        outs[0][t] = np.concatenate([dz, dr, dn], 1)
        dh = d * z + reset * r + np.concatenate([dz, dr], 1) @ w.T
    outs[1][...] = dh
