"""Cases of losses of rows with a class, and of sequences. The oracles of these go through every alignment, one by one."""

import itertools

import numpy as np

from burn.errors import ArgumentError, ArgumentTypeError, KindError, OutOfBoundsError, ShapeError
from tests.cases import FLOATS, I64, Arg, Case, ErrorCase
from tests.cases.tensors import tensor


def log_total(logs):
    """The logarithm of the sum of exponentials; -inf of nothing."""
    return np.logaddexp.reduce(np.array([-np.inf, *logs]))


def collapsed(path, blank):
    """The labels of an alignment: repeats are one, blanks are none."""
    return [c for c, _ in itertools.groupby(path) if c != blank]


def ctc(log_probs, targets, steps, counts, blank):
    """Minus the logarithm of the probability of each target, over all alignments."""
    losses = []
    for n, (step, count) in enumerate(zip(steps, counts, strict=True)):
        paths = itertools.product(range(log_probs.shape[2]), repeat=step)
        want = list(targets[n, :count])
        fitting = [path for path in paths if collapsed(path, blank) == want]
        losses.append(0 - log_total([sum(log_probs[t, n, c] for t, c in enumerate(path)) for path in fitting]))
    return np.array(losses)


def log_softmax(x):
    shifted = x - x.max(-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))


def rnnt(logits, targets, steps, counts, blank, from_logits=True):
    """The same for a transducer: each path places the labels among the steps, in order."""
    logs, losses = log_softmax(logits) if from_logits else logits, []
    for b, (step, count) in enumerate(zip(steps, counts, strict=True)):
        paths = []
        for when in itertools.combinations_with_replacement(range(step), count):  # the step of each label
            total, u = 0.0, 0
            for t in range(step):
                while u < count and when[u] == t:
                    total += logs[b, t, u, targets[b, u]]
                    u += 1
                total += logs[b, t, u, blank]
            paths.append(total)
        losses.append(-log_total(paths))
    return np.array(losses)


def ctc_call(steps, counts, blank, targets=None):
    """Call of `burn.tensor.module.ctc_loss`; lengths are fixed, and targets where they are given."""

    def call(x, *given):
        from burn.tensor import module

        place = x.device.inner()
        found = given or (tensor(np.array(targets, I64).reshape(len(steps), -1), place),)
        lengths = (tensor(np.array(n, I64), place) for n in (steps, counts))
        return module.ctc_loss(x, *found, *lengths, blank)

    return call


def ctc_case(name, shape, targets, steps, counts, blank=0, grad=True):
    """A case with given targets [batch, length]."""
    array = np.array(targets, I64).reshape(shape[1], -1)
    return Case(
        f"ctc_loss({name})",
        ctc_call(steps, counts, blank, targets),
        lambda x: ctc(x, array, steps, counts, blank),
        (Arg(shape),),
        FLOATS,
        grad=grad,
    )


def rnnt_case(name, shape, targets, steps, counts, blank=0, from_logits=True):
    array = np.array(targets, I64).reshape(shape[0], -1)

    def call(x):
        from burn._ops.loss import rnnt_loss

        place = x.device.inner()
        ints = (tensor(np.array(n, I64), place) for n in (array, steps, counts))
        return rnnt_loss(x, *ints, blank, from_logits)

    return Case(
        f"rnnt({name})",
        call,
        lambda x: rnnt(x, array, steps, counts, blank, from_logits),
        (Arg(shape),),
        FLOATS,
        slack=3,
    )


WEIGHTS = np.array([0.5, 1.0, 2.0, 0.25, 4.0])  # exact in every dtype


def class_case(op, name, weights=None, pad=None, smoothing=0.0, rows=(3, 0, 2, 2), shape=(4, 5), dtype=I64):
    """Losses of rows [batch, classes]: minus the weighted score of the class, mixed with the mean of all. Scores are logarithms
    of probabilities for `nll_loss`, logits for `cross_entropy`."""
    weights = None if weights is None else np.resize(weights, shape[1])

    def call(x):
        from burn._ops import loss

        place = x.device.inner()
        scale = None if weights is None else tensor(weights, place).cast(x.dtype)
        targets, words = tensor(np.array(rows, dtype), place), loss.no_class("Layer", "targets")
        return getattr(loss, op)(x, targets, scale, [] if pad is None else [pad], smoothing, words)[0]

    def oracle(x):
        scale, losses = np.ones(shape[1]) if weights is None else weights, []
        for row, c in zip(log_softmax(x) if op == "cross_entropy" else x, rows, strict=True):
            share = np.full(shape[1], smoothing / shape[1])
            share[c % shape[1]] += 1 - smoothing
            losses.append(0.0 if c == pad else -sum(share * scale * row))
        return np.array(losses)

    return Case(f"{op}({name})", call, oracle, (Arg(shape),), FLOATS, slack=4 if op == "cross_entropy" else 1)


def margin_case(name, p, margin=1.3, rows=(3, 0, 2, 2), shape=(4, 5), dtype=I64):
    """Losses of rows [batch, classes]: by how much the others are too near to the score of the class."""

    def call(x):
        from burn._ops.loss import multi_margin_loss, no_class

        targets = tensor(np.array(rows, dtype), x.device.inner())
        return multi_margin_loss(x, targets, margin, p, no_class("Layer", "target"))

    def oracle(x):
        near = np.maximum(0, margin - x[range(len(x)), rows][:, None] + x) ** p
        near[range(len(x)), rows] = 0
        return near.sum(1) / shape[1]

    return Case(f"multi_margin_loss({name})", call, oracle, (Arg(shape),), FLOATS, slack=4)


ROWS = [
    *(
        case
        for op in ("nll_loss", "cross_entropy")
        for case in (
            class_case(op, "plain"),
            class_case(op, "i32", dtype=np.dtype("i4")),
            class_case(op, "weights", WEIGHTS),
            class_case(op, "pad", pad=2),
            class_case(op, "pad that is no class", pad=-100, rows=(3, -100, 2, -100)),
            class_case(op, "all padded", WEIGHTS, 2, 0.1, rows=(2, 2, 2, 2)),
            class_case(op, "smoothing", smoothing=0.25),
            class_case(op, "all", WEIGHTS, 2, 0.25),
            class_case(op, "many classes", WEIGHTS, 3, 0.5, rows=(69, 3), shape=(2, 70)),
            class_case(op, "one class", smoothing=0.5, rows=(0, 0, 0), shape=(3, 1)),
        )
    ),
    margin_case("1", 1),
    margin_case("2", 2),
    margin_case("i32", 1, dtype=np.dtype("i4")),
    margin_case("no margin", 2, 0.0),
    margin_case("many classes", 1, rows=(69, 3), shape=(2, 70)),
    margin_case("many classes, squared", 2, rows=(0, 64), shape=(2, 70)),
    margin_case("one class", 1, rows=(0, 0, 0), shape=(3, 1)),
]
CASES = [
    ctc_case("one label", (3, 1, 2), [[1]], [3], [1]),
    ctc_case("repeated labels", (5, 1, 3), [[1, 1]], [5], [2]),
    ctc_case("several", (5, 3, 4), [[1, 2], [3, 3], [2, 0]], [5, 4, 3], [2, 2, 1]),
    ctc_case("blank last", (4, 2, 3), [[0, 1], [1, 0]], [4, 3], [2, 1], blank=2),
    ctc_case("empty targets", (3, 2, 3), [[1, 2], [2, 2]], [3, 2], [0, 0]),
    ctc_case("no room for labels", (3, 2, 3), [[], []], [3, 1], [0, 0]),
    ctc_case(
        "impossible beside possible", (3, 3, 3), [[1, 2, 1], [1, 1, 0], [2, 1, 0]], [2, 2, 3], [3, 2, 2], grad=False
    ),
    ctc_case("no steps", (2, 2, 2), [[1], [1]], [0, 0], [0, 1], grad=False),
    ctc_case("many labels", (6, 2, 2), [[1] * 3, [1] * 3], [6, 5], [3, 3]),
    Case(
        "ctc_loss(blanks among the targets)",
        ctc_call([5, 5], [2, 3], 0),
        lambda x, t: ctc_with_blanks(x, t, [5, 5], [2, 3], 0),
        (Arg((5, 2, 3)), Arg((2, 3), "index3", I64)),
    ),
]
RNNT = [
    rnnt_case("one label", (1, 2, 2, 3), [[1]], [2], [1]),
    rnnt_case("several", (2, 4, 4, 5), [[1, 2, 4], [3, 3, 0]], [4, 3], [3, 2]),
    rnnt_case("blank last", (2, 3, 3, 4), [[0, 1], [2, 2]], [3, 3], [2, 1], blank=3),
    rnnt_case("label equal to blank", (1, 3, 3, 3), [[0, 2]], [3], [2]),
    rnnt_case("no labels", (2, 3, 1, 3), [[], []], [3, 1], [0, 0]),
    rnnt_case("logarithms", (2, 3, 3, 4), [[2, 1], [1, 3]], [3, 2], [2, 2], from_logits=False),
    rnnt_case("many classes", (1, 2, 2, 70), [[69]], [2], [1]),
]


def ctc_with_blanks(x, targets, steps, counts, blank):
    """By the recursion over states as it is defined, where targets may hold the blank itself."""
    losses = []
    for n, (step, count) in enumerate(zip(steps, counts, strict=True)):
        states = [blank]
        for c in targets[n, :count]:
            states += [c, blank]
        alpha = [-np.inf] * len(states)
        for t in range(step):
            new = []
            for s, c in enumerate(states):
                ways = [alpha[s], alpha[s - 1] if s else -np.inf]
                if s > 1 and c not in (blank, states[s - 2]):
                    ways.append(alpha[s - 2])
                new.append((log_total(ways) if t else 0.0 if s < 2 else -np.inf) + x[t, n, c])
            alpha = new
        losses.append(-log_total(alpha[-2:]))
    return np.array(losses)


x, grid = np.full((3, 2, 4), -1.0, "f4"), np.ones((2, 3, 3, 4), "f4")
t, steps, counts = np.array([[1, 2], [3, 1]]), np.array([3, 3]), np.array([2, 1])


def wrong(*values, blank=0):
    def run(d):
        from burn.tensor import module

        placed = [tensor(v, d) if isinstance(v, np.ndarray) else v for v in values]
        return module.ctc_loss(*placed, blank)

    return run


ERRORS = [
    ErrorCase("ctc_loss: rank", wrong(x[0], t, steps, counts), ShapeError, ("'log_probs'", "[2, 4]")),
    ErrorCase("ctc_loss: kind", wrong(steps, t, steps, counts), KindError, ("'log_probs'", "Float")),
    ErrorCase("ctc_loss: kind of targets", wrong(x, x[0], steps, counts), KindError, ("'targets'", "Int")),
    ErrorCase("ctc_loss: kind of lengths", wrong(x, t, x[0, 0], counts), KindError, ("'input_lengths'", "Int")),
    ErrorCase("ctc_loss: targets", wrong(x, t[:1], steps, counts), ShapeError, ("'targets'", "[2, any]", "[1, 2]")),
    ErrorCase("ctc_loss: flat targets", wrong(x, t[0], steps, counts), ShapeError, ("'targets'", "[2]")),
    ErrorCase("ctc_loss: lengths", wrong(x, t, steps, counts[:1]), ShapeError, ("'target_lengths'", "[2]", "[1]")),
    ErrorCase("ctc_loss: no tensor", wrong(x, t, [3, 3], counts), ArgumentTypeError, ("'input_lengths'", "list")),
    ErrorCase("ctc_loss: blank", wrong(x, t, steps, counts, blank=4), ArgumentError, ("'blank'", "0..3", "4")),
    ErrorCase("ctc_loss: negative blank", wrong(x, t, steps, counts, blank=-1), ArgumentError, ("'blank'", "-1")),
    ErrorCase(
        "ctc_loss: input length", wrong(x, t, np.array([3, 4]), counts), OutOfBoundsError, ("'input_lengths'", "0..3", "4 at [1]")
    ),
    ErrorCase(
        "ctc_loss: negative length", wrong(x, t, np.array([-1, 3]), counts), OutOfBoundsError, ("'input_lengths'", "-1 at [0]")
    ),
    ErrorCase(
        "ctc_loss: target length", wrong(x, t, steps, np.array([2, 3])), OutOfBoundsError, ("'target_lengths'", "3 at [1]")
    ),
    ErrorCase(
        "ctc_loss: class", wrong(x, np.array([[1, 2], [4, 1]]), steps, counts), OutOfBoundsError,
        ("'targets'", "0..3", "4 at [1, 0]"),
    ),
    ErrorCase(
        "ctc_loss: negative class", wrong(x, np.array([[1, -2], [3, 1]], "i4"), steps, counts), OutOfBoundsError,
        ("'targets'", "-2 at [0, 1]"),
    ),
]  # fmt: skip
