"""Metrics of training and evaluation (Burn: `burn::train::metric`)."""

from burn.train.metric.confusion_matrix import ConfusionMatrix

__all__ = ["ConfusionMatrix"]
