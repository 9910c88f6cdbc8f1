"""Every op has cases, and every case has its op."""

from burn._ops import OPS
from tests.cases import (
    activation,
    attention,
    conv,
    elementwise,
    index,
    interpolate,
    linalg,
    loss,
    matmul,
    movement,
    norm,
    pool,
    reduce,
)
from tests.ops.checks import find, op_of

FAMILIES = (
    activation, attention, conv, elementwise, index, interpolate, linalg, loss, matmul, movement, norm, pool, reduce,
)  # fmt: skip
NAMES = {op_of(case.name) for family in FAMILIES for case in [*family.CASES, *family.ERRORS]} - {None}


def test_every_case_has_its_op():
    assert {name for name in NAMES if find(name) is None} == set()


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
        "sgd_step",
        "scatter_step",
        "sort_values",
        "cast",
        "truediv",
        "floordiv",
        "floordiv_scalar",
        "mask_counts",
        "mask_places",
        "to_device",
        "linalg_step",
        "fft_step",
        "group_norm",  # tests/ops/test_norm.py
        "rms_norm",
        "local_response_norm",
        "l2_distance",
        "rnnt_loss",  # tests/ops/test_loss.py
        "nll_loss",
        "cross_entropy",
        "multi_margin_loss",
        "rnn",  # tests/ops/test_rnn.py
        "lstm",
        "lstm_whole",
        "gru",
        "gru_before",
        "error_power",  # "x - y, ..." in tests/cases/elementwise.py
        "error_huber",
        "kl_term",
        "kl_term_sum",
        "error_power_sum",  # tests/nn/test_element_losses.py
        "error_huber_sum",
        "rfft",
        "irfft",
        "cfft",
    }
    endings = ("_bwd", "_scalar_left", "_pair_scalar", "_with_indices")
    names = {name for name in OPS if not name.endswith(endings)} - reached - NAMES
    assert names - {name.removesuffix("_dim") for name in NAMES} == set()
