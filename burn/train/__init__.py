"""Training: what a training loop shows while it runs, and metrics (Burn: `burn::train`)."""

from burn._waiting import no_name as _no_name
from burn.train import metric, renderer

__all__ = ["metric", "renderer"]


def __getattr__(name):
    """Names that wait, or that Burn has no longer, say what to use."""
    _no_name(__name__, name)
