"""Einstein summation: an equation is read once and carried out by views, sums and matrix products, from left to right."""

import re
from collections import Counter
from typing import TYPE_CHECKING

from burn._ops import elementwise as ew
from burn._ops import matmul, movement
from burn._ops import reduce as rd
from burn._ops.registry import NUMERIC, check_kind, check_same, check_tensor
from burn.errors import ArgumentError, ArgumentTypeError, ShapeError
from burn.tensor._calls import teach_functions

if TYPE_CHECKING:
    from burn.tensor import Tensor

__all__ = ["einsum"]

_MAX_RANK = 8


def einsum(equation, operands) -> "Tensor":
    """Sums of products over the axes that an equation names. Mirrors `burn::tensor::einsum`.

    Args:
        equation: a letter for each axis of each operand, `"ij,jk->ik"`. Letters that the output lacks are summed over;
            without `->` it has the letters that occur once, in order. A letter twice in one operand takes the diagonal;
            `...` stands for any further axes, which are aligned from the right and broadcast.
        operands: Float or Int tensors of one dtype and device; sizes of 1 broadcast across operands.

    Returns:
        Tensor with an axis for each letter of the output, [1] if there is none.

    Raises:
        ArgumentError: an equation that cannot be read or does not fit the number of operands.
        ShapeError: ranks or sizes that do not fit.

    >>> einsum("i,i", [Tensor([1.0, 2.0, 3.0]), Tensor([4.0, 5.0, 6.0])]).tolist()
    [32.0]
    """
    inputs, output = _read(equation)
    if not hasattr(operands, "__iter__"):
        raise ArgumentTypeError(f"[einsum] 'operands' must be a sequence of tensors, got {type(operands).__name__}")
    operands = [operands] if hasattr(operands, "ndim") else list(operands)
    if len(inputs) != len(operands):
        raise ArgumentError(
            f"[einsum] 'operands' must hold {len(inputs)} tensors for the equation {equation!r}, got {len(operands)}"
        )
    for i, x in enumerate(operands):
        check_kind("einsum", check_tensor("einsum", x, f"operands[{i}]"), NUMERIC, f"operands[{i}]")
        check_same("einsum", operands[0], x, f"operands[{i}]")
    named = [_labels(i, text, x) for i, (text, x) in enumerate(zip(inputs, operands, strict=True))]
    _check_sizes(named, operands)
    dotted = [labels for text, labels in zip(inputs, named, strict=True) if "..." in text]
    wide = sorted({label for labels in dotted for label in labels if isinstance(label, int)}, reverse=True)
    if output is None:
        counts = Counter(c for text in inputs for c in text.replace("...", ""))
        target = wide + sorted(c for c, n in counts.items() if n == 1)
    else:
        head, dots, tail = output.partition("...")
        target = [*head, *(wide if dots else []), *tail]

    left, have = _diagonals(operands[0], named[0])
    for i in range(1, len(operands)):
        needed = set(target).union(*named[i + 1 :])
        right, names = _diagonals(operands[i], named[i])
        left, have = _contract(left, have, right, names, needed)
    left, have = _sum_out(left, have, set(target))
    if not target:
        return movement.reshape(left, (1,))
    return movement.permute(left, tuple(have.index(label) for label in target))


def _read(equation):
    """The subscripts of the operands and of the output, `None` where it is implied."""
    if not isinstance(equation, str):
        raise ArgumentTypeError(f"[einsum] 'equation' must be a str, got {type(equation).__name__}")

    def wrong(at, wanted):
        return ArgumentError(f"[einsum] 'equation' {wanted}, got {equation[at]!r} at byte {at} of {equation!r}")

    arrow, at, dots, parts = False, 0, False, [""]
    while at < len(equation):
        c = equation[at]
        if equation.startswith("...", at):
            if dots:
                raise wrong(at, "must hold at most one '...' in a subscript")
            dots, parts[-1], at = True, parts[-1] + "...", at + 3
            continue
        if equation.startswith("->", at) and not arrow:
            arrow, dots, at = True, False, at + 2
            parts.append("")
            continue
        if c == "," and not arrow:
            dots = False
            parts.append("")
        elif c == ".":
            raise wrong(at, "must not hold a dot that is not part of '...'")
        elif re.fullmatch("[a-zA-Z]", c):
            parts[-1] += c
        elif c != " ":
            raise wrong(at, "must hold letters of a-z and A-Z, '...', ',' and one '->'")
        at += 1
    if not arrow:
        return parts, None
    *inputs, output = parts
    for c in output.replace("...", ""):
        if output.count(c) > 1:
            raise ArgumentError(
                f"[einsum] 'equation' must name each axis of the output once, got {c!r} twice in {equation!r}"
            )
        if not any(c in text for text in inputs):
            raise ArgumentError(
                f"[einsum] 'equation' must name axes of the operands in its output, got {c!r}, which is in none of {inputs}"
            )
    return inputs, output


def _labels(i, text, x):
    """A label for each axis of an operand: its letter, or for the axes of `...` their number from the right."""
    head, dots, tail = text.partition("...")
    letters = len(head) + len(tail)
    if not dots and not letters:
        if x._dims != (1,):
            raise ShapeError(f"[einsum] operand {i} must have shape [1] for an empty subscript, got {list(x._dims)}")
        return [0]
    if x.ndim < letters or (not dots and x.ndim != letters):
        raise ShapeError(
            f"[einsum] operand {i} must have {'at least ' if dots else ''}{letters} axes for the subscript {text!r}, got shape "
            f"{list(x._dims)}"
        )
    return [*head, *range(x.ndim - letters - 1, -1, -1), *tail]


def _check_sizes(named, operands):
    """Refuses sizes of one label that differ: within an operand at all, across operands unless one of them is 1."""
    seen: dict = {}
    for i, (labels, x) in enumerate(zip(named, operands, strict=True)):
        own: dict = {}
        for label, size in zip(labels, x._dims, strict=True):
            if own.setdefault(label, size) != size:
                raise ShapeError(
                    f"[einsum] operand {i} must have one size for the repeated label {label!r}, got {own[label]} and {size} in "
                    f"shape {list(x._dims)}"
                )
        for label, size in own.items():
            first, before = seen.setdefault(label, (i, size))
            if before == 1:
                seen[label] = (i, size)
            elif size not in (1, before):
                where = f"label {label!r}" if isinstance(label, str) else f"axis {label + 1} of '...' from the right"
                raise ShapeError(
                    f"[einsum] sizes must agree or be 1 for {where}: operand {first} has {before}, operand {i} has {size}"
                )


def _diagonals(x, labels):
    """x with one axis for each label: of axes with the same one the diagonal is left, as the last axis."""
    labels = list(labels)
    for label in [c for c, n in Counter(labels).items() for _ in range(n - 1)]:
        a = labels.index(label)
        b = labels.index(label, a + 1)
        rest = [i for i in range(len(labels)) if i not in (a, b)]
        if rest or x._dims[a] != 1:
            x = movement.diagonal(movement.permute(x, (*rest, a, b)))
        else:
            x = movement.reshape(x, (1,))
        labels = [labels[i] for i in rest] + [label]
    return x, labels


def _sum_out(x, labels, needed):
    """x summed over the axes whose labels nobody needs."""
    gone = [i for i, label in enumerate(labels) if label not in needed]
    if not gone:
        return x, labels
    kept = [i for i in range(len(labels)) if i not in gone]
    x = rd.sum_dims(x, gone)
    shape = tuple(x._dims[i] for i in kept) or (1,)
    return movement.reshape(x, shape), [labels[i] for i in kept]


def _contract(x, x_labels, y, y_labels, needed):
    """The product of two operands, summed over the labels that they alone have and nobody needs."""
    x, x_labels = _sum_out(x, x_labels, needed.union(y_labels))
    y, y_labels = _sum_out(y, y_labels, needed.union(x_labels))
    size_x, size_y = _sizes(x, x_labels), _sizes(y, y_labels)
    # An axis of size 1 against a longer one: the longer one's sum is all that counts.
    stretched = {c for c in x_labels if c in y_labels and c not in needed and size_x[c] != size_y[c]}
    if stretched:
        x, x_labels = _sum_out(x, x_labels, set(x_labels) - stretched)
        y, y_labels = _sum_out(y, y_labels, set(y_labels) - stretched)
        size_x, size_y = _sizes(x, x_labels), _sizes(y, y_labels)
    both = [c for c in x_labels if c in y_labels]
    batch, summed = [c for c in both if c in needed], [c for c in both if c not in needed]
    rows, columns = [c for c in x_labels if c not in both], [c for c in y_labels if c not in both]
    labels = batch + rows + columns
    if summed and len(batch) + 2 <= _MAX_RANK:
        inner = [size_x[c] for c in summed]
        x = _arranged(x, x_labels, [batch, rows, summed])
        y = _arranged(y, y_labels, [batch, summed, columns])
        z = matmul.matmul(_folded(x, len(batch), len(rows)), _folded(y, len(batch), len(inner)))
        shape = (*z._dims[:-2], *(size_x[c] for c in rows), *(size_y[c] for c in columns))
        return movement.reshape(z, shape or (1,)), labels
    ranks = labels + summed
    x, y = _spread(x, x_labels, ranks), _spread(y, y_labels, ranks)
    return _sum_out(ew.mul(x, y), ranks, set(labels))


def _sizes(x, labels):
    return dict(zip(labels, x._dims, strict=True)) if labels else {}


def _arranged(x, labels, groups):
    """x with its axes in the order of the labels."""
    order = tuple(labels.index(c) for group in groups for c in group)
    return movement.permute(x, order) if order else x


def _folded(x, batch, rows):
    """x as a stack of matrices: the first `batch` axes stay, the next `rows` become one axis, the others another."""
    dims = x._dims
    first, second = 1, 1
    for i in range(batch, len(dims)):
        if i < batch + rows:
            first *= dims[i]
        else:
            second *= dims[i]
    return movement.reshape(x, (*dims[:batch], first, second))


def _spread(x, labels, ranks):
    """x with an axis for each of `ranks`, of size 1 where it has none."""
    size = _sizes(x, labels)
    if labels:
        x = movement.permute(x, tuple(labels.index(c) for c in ranks if c in labels))
    return movement.reshape(x, tuple(size.get(c, 1) for c in ranks) or (1,))


teach_functions(globals())
