"""Views of data sets (Burn: `burn::data::dataset::transform`)."""

from burn.data.dataset.transform.composed import ComposedDataset
from burn.data.dataset.transform.mapper import Mapper, MapperDataset
from burn.data.dataset.transform.options import RngSource, SizeConfig
from burn.data.dataset.transform.partial import PartialDataset
from burn.data.dataset.transform.sampler import SamplerDataset, SamplerDatasetOptions
from burn.data.dataset.transform.selection import SelectionDataset, ShuffledDataset
from burn.data.dataset.transform.window import WindowsDataset

__all__ = [
    "ComposedDataset",
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
]
