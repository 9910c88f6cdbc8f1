"""Training: what a training loop shows while it runs, and metrics (Burn: `burn::train`)."""

from burn.train import metric, renderer

__all__ = ["metric", "renderer"]
