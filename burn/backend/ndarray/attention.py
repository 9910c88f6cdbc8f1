"""Attention and its gradient with the whole matrix of scores. ints: causal, flags (1 mask, 2 bias); floats: scale, cap."""

import numpy as np

from burn.backend.ndarray.table import kernel, wide


def scores_of(ins, ints, floats):
    """Query, key, value with a head of keys for each of queries, scores, and the slope of their cap."""
    q, k, v = (wide(x) for x in ins[:3])
    group = q.shape[1] // max(k.shape[1], 1)
    k, v = (np.repeat(x, group, 1) for x in (k, v))
    slope, more = 1.0, list(ins[3:])
    s = q @ k.swapaxes(2, 3) * floats[0]
    if floats[1]:
        t = np.tanh(s / floats[1])
        s, slope = floats[1] * t, 1 - t * t
    if ints[1] & 1:
        s = np.where(more.pop(0).astype(bool), -np.inf, s)
    if ints[0]:
        rows, columns = np.indices(s.shape[2:])
        s = np.where(columns > rows + s.shape[3] - s.shape[2], -np.inf, s)
    if ints[1] & 2:
        s = s + wide(more.pop(0))
    return q, k, v, s, slope


@kernel("attention")
def attention(outs, ins, ints, floats):
    _, _, v, s, _ = scores_of(ins, ints, floats)
    most = s.max(3, keepdims=True, initial=-np.inf)
    most = np.where(most == -np.inf, 0, most).astype(outs[1].dtype)  # as it is kept
    e = np.exp(s - most)
    total = e.sum(3, keepdims=True)
    share = np.where(total == 0, 0, 1 / np.where(total == 0, 1, total))
    outs[0][...] = e @ v * share
    outs[1][...] = np.stack([most[..., 0], share[..., 0]])


@kernel("attention_bwd")
def attention_bwd(outs, ins, ints, floats):
    y, (most, share), g = (wide(x) for x in ins[-3:])
    q, k, v, s, slope = scores_of(ins[:-3], ints, floats)
    p = np.exp(s - most[..., None]) * share[..., None]
    ds = p * (g @ v.swapaxes(2, 3) - (g * y).sum(3, keepdims=True))
    if len(outs) > 3:
        outs[3][...] = ds
    ds = ds * slope * floats[0]
    heads = outs[1].shape[1]

    def together(x):
        """The sum over the heads that share one of keys."""
        return x.reshape(x.shape[0], heads, x.shape[1] // max(heads, 1), *x.shape[2:]).sum(2)

    outs[0][...] = ds @ k
    outs[1][...] = together(ds.swapaxes(2, 3) @ q)
    outs[2][...] = together(p.swapaxes(2, 3) @ g)
