"""Losses of rows with a class, and of sequences, place by place. ints of those of sequences: blank, and for RNN-T whether the
input holds logits."""

import numpy as np

from burn.backend.contract import INDEX, KernelError
from burn.backend.ndarray.table import kernel, wide


def classes_of(targets, classes, pad=None):
    """Targets, all of which are classes or pads."""
    for i, target in enumerate(targets := targets.astype(np.int64)):
        if not 0 <= target < classes and target != pad:
            raise KernelError(INDEX, i, int(target), classes)
    return targets


def shares(targets, classes, ins, ints, floats):
    """(what each score counts in the loss of its row, what the rows count); ins may end with weights."""
    weights = wide(ins[2]) if len(ins) > 2 else np.ones(classes)
    used = targets != ints[1] if ints[0] else np.ones(len(targets), bool)
    own = np.arange(classes) == targets[:, None]
    share = np.where(used[:, None], (own * (1 - floats[0]) + floats[0] / classes) * weights, 0)
    return share, (own * used[:, None] * weights).sum(1)


@kernel("nll_loss")
def nll_loss(outs, ins, ints, floats):
    x = wide(ins[0])
    targets = classes_of(ins[1], x.shape[1], ints[1] if ints[0] else None)
    share, counts = shares(targets, x.shape[1], ins, ints, floats)
    outs[0][...] = -np.where(share == 0, 0, share * x).sum(1)
    if len(outs) > 1:
        outs[1][...] = counts


@kernel("nll_loss_bwd")
def nll_loss_bwd(outs, ins, ints, floats):
    g = wide(ins[0])[:, None]
    share, _ = shares(ins[1].astype(np.int64), outs[0].shape[1], ins, ints, floats)
    outs[0][...] = np.where((share == 0) | (g == 0), 0, -g * share)


def log_sums(x):
    """The logarithms of the sums of rows' exponentials."""
    most = x.max(1, keepdims=True)
    return most[:, 0] + np.log(np.exp(x - most).sum(1))


@kernel("cross_entropy")
def cross_entropy(outs, ins, ints, floats):
    x = wide(ins[0])
    outs[1][...] = log_sums(x)
    nll_loss((outs[0], *outs[2:]), (x - outs[1][:, None], *ins[1:]), ints, floats)


@kernel("cross_entropy_bwd")
def cross_entropy_bwd(outs, ins, ints, floats):
    x, g = wide(ins[0]), wide(ins[3])[:, None]
    share, _ = shares(ins[1].astype(np.int64), x.shape[1], (*ins[:2], *ins[4:]), ints, floats)
    slope = np.exp(x - ins[2][:, None]) * share.sum(1, keepdims=True) - share
    outs[0][...] = np.where((g == 0) | (share == 0).all(1, keepdims=True), 0, g * slope)


def lacking(x, targets, margin):
    """By how much the other scores are too near to that of the target."""
    near = np.maximum(x - np.take_along_axis(x, targets[:, None], 1) + margin, 0)
    return np.where(np.arange(x.shape[1]) == targets[:, None], 0, near)


@kernel("multi_margin_loss")
def multi_margin_loss(outs, ins, ints, floats):
    x = wide(ins[0])
    outs[0][...] = (lacking(x, classes_of(ins[1], x.shape[1]), *floats) ** ints[0]).sum(1) / x.shape[1]


@kernel("multi_margin_loss_bwd")
def multi_margin_loss_bwd(outs, ins, ints, floats):
    x, targets, g = wide(ins[0]), ins[1].astype(np.int64), wide(ins[2])[:, None]
    near = lacking(x, targets, *floats)
    slope = np.where((near > 0) & (g != 0), g * (1 if ints[0] == 1 else 2 * near) / x.shape[1], 0)
    slope -= (np.arange(x.shape[1]) == targets[:, None]) * slope.sum(1, keepdims=True)
    outs[0][...] = slope


def checked(ins, classes, least, most):
    """(targets without padding, steps) of each sample, all in range."""
    targets, steps, counts = (x.astype(np.int64) for x in ins[1:4])
    found = []
    for b, (step, count) in enumerate(zip(steps, counts, strict=True)):
        if not least <= step <= most:
            raise KernelError(INDEX, (1 << 40) + b, int(step), most)
        if not 0 <= count <= targets.shape[1]:
            raise KernelError(INDEX, (2 << 40) + b, int(count), targets.shape[1])
        for i, target in enumerate(targets[b, :count]):
            if not 0 <= target < classes:
                raise KernelError(INDEX, b * targets.shape[1] + i, int(target), classes)
        found.append((targets[b, :count], int(step)))
    return found


def log_sum(x):
    """log(sum(exp(x))); -inf for nothing but -inf."""
    most = np.max(x, initial=-np.inf)
    return most if most == -np.inf else most + np.log(np.exp(np.asarray(x) - most).sum())


def ctc_paths(x, target, blank):
    """(classes of the states, alphas, betas) of one sample [steps, classes]; betas leave out what the step itself adds."""
    states = np.full(2 * len(target) + 1, blank)
    states[1::2] = target
    before = [
        [q for q in (s, s - 1, s - 2) if q >= 0 and (q > s - 2 or (states[s] != blank and states[s] != states[q]))]
        for s in range(len(states))
    ]
    alpha = np.full((len(x), len(states)), -np.inf)
    beta = alpha.copy()
    for t in range(len(x)):
        for s, c in enumerate(states):
            paths = alpha[t - 1, before[s]] if t else [0.0] if s < 2 else []
            alpha[t, s] = log_sum(paths) + x[t, c]
    if len(x):
        beta[-1, -2:] = 0
    for t in reversed(range(len(x) - 1)):
        for s in range(len(states)):
            after = [q for q in range(s, min(s + 3, len(states))) if s in before[q]]
            beta[t, s] = log_sum(beta[t + 1, after] + x[t + 1, states[after]])
    return states, alpha, beta


@kernel("ctc_loss")
def ctc_loss(outs, ins, ints, floats):
    x = wide(ins[0])
    for n, (target, steps) in enumerate(checked(ins, x.shape[2], 0, len(x))):
        states, alpha, _ = ctc_paths(x[:steps, n], target, ints[0])
        total = log_sum(alpha[-1, -2:]) if steps else (-np.inf if len(target) else 0.0)
        outs[0][n] = 0.0 - total
        if len(outs) > 1:
            outs[1][n, :steps, : len(states)] = alpha


@kernel("ctc_loss_bwd")
def ctc_loss_bwd(outs, ins, ints, floats):
    x, g = wide(ins[0]), wide(ins[5])
    slope = np.zeros(x.shape)
    for n, (target, steps) in enumerate(checked(ins, x.shape[2], 0, len(x))):
        states, alpha, beta = ctc_paths(x[:steps, n], target, ints[0])
        total = log_sum(alpha[-1, -2:]) if steps else -np.inf
        if total != -np.inf and g[n]:
            for s, c in enumerate(states):
                slope[:steps, n, c] -= g[n] * np.exp(alpha[:, s] + beta[:, s] - total)
    outs[0][...] = slope


def rnnt_emit(x, target, blank, logits):
    """(logarithms of the blank and of the label at each place of the grid, the log-softmax) of one sample."""
    if logits:
        x = x - np.apply_along_axis(log_sum, 2, x)[..., None]
    labels = np.full(x.shape[:2], -np.inf)
    labels[:, :-1] = np.take_along_axis(x[:, :-1], np.tile(target[None, :, None], (len(x), 1, 1)), 2)[..., 0]
    return x[..., blank], labels, x


def rnnt_paths(blanks, labels):
    """(alphas, betas) of the grid."""
    alpha, beta = np.full(blanks.shape, -np.inf), np.full((blanks.shape[0] + 1, blanks.shape[1] + 1), -np.inf)
    alpha[0, 0] = beta[-1, -2] = 0
    for t, u in np.ndindex(blanks.shape):
        if t or u:
            below = alpha[t - 1, u] + blanks[t - 1, u] if t else -np.inf
            left = alpha[t, u - 1] + labels[t, u - 1] if u else -np.inf
            alpha[t, u] = log_sum([below, left])
    for t, u in reversed([*np.ndindex(blanks.shape)]):
        beta[t, u] = log_sum([beta[t + 1, u] + blanks[t, u], beta[t, u + 1] + labels[t, u]])
    return alpha, beta


@kernel("rnnt_loss")
def rnnt_loss(outs, ins, ints, floats):
    x = wide(ins[0])
    for b, (target, steps) in enumerate(checked(ins, x.shape[3], 1, x.shape[1])):
        blanks, labels, _ = rnnt_emit(x[b, :steps, : len(target) + 1], target, *ints)
        alpha, _ = rnnt_paths(blanks, labels)
        outs[0][b] = 0.0 - (alpha[-1, -1] + blanks[-1, -1])
        outs[1][0, b, :steps, : len(target) + 1] = alpha


@kernel("rnnt_loss_bwd")
def rnnt_loss_bwd(outs, ins, ints, floats):
    x, g = wide(ins[0]), wide(ins[5])
    slope = np.zeros(x.shape)
    for b, (target, steps) in enumerate(checked(ins, x.shape[3], 1, x.shape[1])):
        rows = len(target) + 1
        blanks, labels, logs = rnnt_emit(x[b, :steps, :rows], target, *ints)
        alpha, beta = rnnt_paths(blanks, labels)
        total = beta[0, 0]
        if total == -np.inf or not g[b]:
            continue
        by_blank = np.exp(alpha + blanks + beta[1:, :-1] - total)
        by_label = np.exp(alpha + labels + beta[:-1, 1:] - total)
        own = slope[b, :steps, :rows]
        if ints[1]:
            own += (by_blank + by_label)[..., None] * np.exp(logs)
        own[..., ints[0]] -= by_blank
        for u, c in enumerate(target):
            own[:, u, c] -= by_label[:, u]
        own *= g[b]
    outs[0][...] = slope
