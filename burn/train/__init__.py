"""Training: what a training loop shows while it runs, and metrics (Burn: `burn::train`)."""

from burn._hints import teaching as _teaching
from burn.train import metric, renderer

__all__ = ["metric", "renderer"]

__getattr__ = _teaching("burn.train")
