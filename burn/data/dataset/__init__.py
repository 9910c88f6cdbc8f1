"""Data sets: random access to items, and views that map, cut, shuffle or sample them (Burn: `burn::data::dataset`)."""

from burn._waiting import no_name as _no_name
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


def __getattr__(name):
    """Names that wait, or that Burn has no longer, say what to use."""
    _no_name(__name__, name)
