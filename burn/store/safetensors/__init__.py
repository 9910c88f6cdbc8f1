"""Stores in safetensors files: `format` reads and writes the container, `store` is what users see."""

from .store import SafetensorsStore

__all__ = ["SafetensorsStore"]
