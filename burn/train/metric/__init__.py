"""Metrics of training and evaluation (Burn: `burn::train::metric`)."""

from burn._hints import teaching as _teaching
from burn.train.metric.confusion_matrix import ConfusionMatrix

__all__ = ["ConfusionMatrix"]

__getattr__ = _teaching("burn.train.metric")
