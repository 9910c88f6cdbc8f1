"""Metrics of training and evaluation (Burn: `burn::train::metric`)."""

from burn._waiting import no_name as _no_name
from burn.train.metric.confusion_matrix import ConfusionMatrix

__all__ = ["ConfusionMatrix"]


def __getattr__(name):
    """Names that wait, or that Burn has no longer, say what to use."""
    _no_name(__name__, name)
