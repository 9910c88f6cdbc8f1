"""The tables of docs/operations.md, made from the records: `python -m tests.operations_page` writes them, a test compares.

Nothing here needs a GPU: what CUDA has is read from the sources of its kernels.
"""

import sys

import burn._ops.linalg
import burn._ops.signal
import burn._ops.transfer  # noqa: F401 - records that are defined when they are first used
from burn import Tensor
from burn._ops import OPS
from burn._ops.registry import ANY
from burn.backend.cuda import source
from burn.backend.ndarray import KERNELS
from burn.tensor import activation, module
from burn.tensor.dtype import Kind
from tests.conftest import ROOT

PAGE = ROOT / "docs/operations.md"
START, END = "<!-- operations -->\n", "<!-- /operations -->"
ALL = source.ALL
# Records for plain tensors; what has autodiff takes the record at the right, which has the gradient.
TRACKED_AS = {
    "max": "max_with_indices", "min": "min_with_indices", "scatter": "scatter_step", "select_assign": "scatter_step",
    "sort_values": "sort",
}  # fmt: skip


def callers(name):
    """The public names of a record; none for what only gradients, optimizers and other operations use."""
    places = {"Tensor": dir(Tensor), "activation": activation.__all__, "module": module.__all__}
    return [f"{place}.{name}" for place, names in places.items() if name in names]


def public():
    """The records with a public name of their own; a form with a number stands with the form with two tensors."""
    return {
        name: op
        for name, op in OPS.items()
        if callers(name) and not (name.endswith("_scalar") and op.kernel != name and op.kernel in OPS)
    }


def words(dtypes):
    """Kinds where all dtypes of one are there, else the names of the dtypes."""
    named, left = [], list(dtypes)
    for kind in Kind:
        of_kind = [d for d in ALL if d.kind is kind]
        if all(d in left for d in of_kind):
            named.append(kind.name)
            left = [d for d in left if d.kind is not kind]
    return ", ".join([*named, *(d.name for d in left)]) or "-"


def gradient(name, op):
    """yes, cut or -."""
    op = OPS[TRACKED_AS.get(name, name)]
    return "yes" if op.rule else "cut" if op.cuts_graph else "-"


def row(name, op):
    """One line of a table."""
    taken = [d for d in ALL if op.kinds & d.kind.value]
    flex = [d for d in taken if op.has_kernel(0, d.code)]
    cuda = [d for d in taken if d in source.ops(op.family).get(op.kernel, [])]
    alone = op.kernel in KERNELS
    if not flex and not cuda and not alone:  # a view of memory, or made of other records
        flex, cuda, alone = taken, taken, True
    shown = ["yes" if cuda == flex else words(cuda), "yes" if alone else "no"]
    kinds = "any" if op.kinds == ANY else ", ".join(k.name for k in Kind if op.kinds & k.value)
    called = ", ".join(f"`{path}`" for path in callers(name))
    return f"| {called} | {kinds} | {words(flex)} | {' | '.join(shown)} | {gradient(name, op)} |"


def tables():
    """All tables, one a family."""
    lines = []
    records = public()
    for family in sorted({op.family for op in records.values()}):
        lines += [
            f"## {family}",
            "",
            "| called | kinds | dtypes | cuda | ndarray | gradient |",
            "|---|---|---|---|---|---|",
        ]
        lines += [row(name, op) for name, op in sorted(records.items()) if op.family == family]
        lines.append("")
    return "\n".join(lines)


def page():
    """The text of the page with the tables as the records say."""
    before, rest = PAGE.read_text().split(START)
    return before + START + tables() + END + rest.split(END)[1]


if __name__ == "__main__":
    PAGE.write_text(page())
    sys.stdout.write(f"{PAGE} is up to date\n")
