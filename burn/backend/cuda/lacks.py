"""What the CUDA backend lacks: kernels that the CPU has, each with the reason. The table in docs/cuda.md is made from it.

A new op brings its CUDA kernel, or a line here.
"""

__all__ = ["LACKS"]

# kernel name -> why it is not there yet
_HOST = "computed on the host, through SciPy"
_PAIR = "the losses and their sum are two kernels"
_LOGARITHMS = "`log_softmax` and `nll_loss` run there"
LACKS: dict[str, str] = {
    "rfft": _HOST,
    "irfft": _HOST,
    "cfft": _HOST,
    "linear_bwd": "two kernels instead, a product and sums",
    "cross_entropy": _LOGARITHMS,
    "cross_entropy_bwd": _LOGARITHMS,
    "error_power_sum": _PAIR,
    "error_huber_sum": _PAIR,
    "kl_term_sum": _PAIR,
    "lstm_whole": "`lstm` runs there, after one product of all inputs",
}
