"""Data sets, their transforms, and the loaders that turn them into batches (Burn: `burn::data`)."""

from burn.data import dataloader, dataset

__all__ = ["dataloader", "dataset"]
