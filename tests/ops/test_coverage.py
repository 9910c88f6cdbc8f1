"""Every op has cases, and every case has its op."""

from burn._ops import OPS
from tests.cases import activation, elementwise, index, linalg, matmul, movement, reduce
from tests.ops.checks import PENDING, find, op_of

FAMILIES = (activation, elementwise, index, linalg, matmul, movement, reduce)
NAMES = {op_of(case.name) for family in FAMILIES for case in [*family.CASES, *family.ERRORS]} - {None}


def test_pending_ops_are_those_that_the_api_lacks():
    assert {name for name in NAMES if find(name) is None} == PENDING, "PENDING in checks.py lists other ops"


def test_every_op_record_has_a_case():
    """Backward kernels are reached by gradients, some ops by operators or by methods of other names."""
    reached = {
        "matmul",
        "fill",
        "copy",
        "arange",
        "uniform",
        "normal",
        "bernoulli",
        "adam_step",
        "scatter_step",
        "sort_values",
        "cast",
        "truediv",
        "to_device",
        "linalg_step",
        "fft_step",
    }
    endings = ("_bwd", "_scalar_left", "_pair_scalar", "_with_indices")
    names = {name for name in OPS if not name.endswith(endings)} - reached - NAMES
    assert names - {name.removesuffix("_dim") for name in NAMES} == set()
