"""The one place that states the version."""

__version__ = "0.22.0.dev0"
