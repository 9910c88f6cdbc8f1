"""Data sets, their transforms, and the loaders that turn them into batches (Burn: `burn::data`)."""

from burn._hints import teaching as _teaching
from burn.data import dataloader, dataset

__all__ = ["dataloader", "dataset"]

__getattr__ = _teaching("burn.data")
