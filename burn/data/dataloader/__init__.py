"""Loaders: batches made from the items of a data set, in order or shuffled (Burn: `burn::data::dataloader`)."""

from burn._hints import teaching as _teaching
from burn.data.dataloader.base import DataLoader, DataLoaderIterator, Progress
from burn.data.dataloader.batch import BatchDataLoader
from burn.data.dataloader.batcher import Batcher
from burn.data.dataloader.builder import DataLoaderBuilder
from burn.data.dataloader.multithread import MultiThreadDataLoader
from burn.data.dataloader.split import split_dataloader
from burn.data.dataloader.strategy import BatchStrategy, FixBatchStrategy

__all__ = [
    "BatchDataLoader",
    "BatchStrategy",
    "Batcher",
    "DataLoader",
    "DataLoaderBuilder",
    "DataLoaderIterator",
    "FixBatchStrategy",
    "MultiThreadDataLoader",
    "Progress",
    "split_dataloader",
]

__getattr__ = _teaching("burn.data.dataloader")
