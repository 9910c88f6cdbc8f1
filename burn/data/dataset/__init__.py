"""Data sets: random access to items, and views that map, cut, shuffle or sample them (Burn: `burn::data::dataset`)."""

from burn._hints import teaching as _teaching
from burn.data.dataset import transform
from burn.data.dataset.base import Dataset, DatasetIterator
from burn.data.dataset.in_memory import InMemDataset
from burn.data.dataset.transform import (
    ComposedDataset,
    Mapper,
    MapperDataset,
    PartialDataset,
    RngSource,
    SamplerDataset,
    SamplerDatasetOptions,
    SelectionDataset,
    ShuffledDataset,
    SizeConfig,
    WindowsDataset,
)
from burn.errors import DatasetError

__all__ = [
    "ComposedDataset",
    "Dataset",
    "DatasetError",
    "DatasetIterator",
    "InMemDataset",
    "Mapper",
    "MapperDataset",
    "PartialDataset",
    "RngSource",
    "SamplerDataset",
    "SamplerDatasetOptions",
    "SelectionDataset",
    "ShuffledDataset",
    "SizeConfig",
    "WindowsDataset",
    "transform",
]

__getattr__ = _teaching("burn.data.dataset")
