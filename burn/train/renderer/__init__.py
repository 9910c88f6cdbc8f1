"""What training shows in the terminal: a progress bar with metrics, and curves."""

from burn.train.renderer.curve import CurvePlot
from burn.train.renderer.progress import ProgressBar

__all__ = ["CurvePlot", "ProgressBar"]
