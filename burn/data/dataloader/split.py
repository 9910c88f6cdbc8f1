"""`split_dataloader`: one loader to several, one for each device."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeVar

from burn._arguments import device as check_device
from burn.data.dataloader.base import DataLoader
from burn.data.dataset.transform.partial import split_bounds

if TYPE_CHECKING:
    from burn.device import Device

O = TypeVar("O")  # noqa: E741


def split_dataloader(loader: DataLoader[O], devices: Sequence[Device]) -> list[DataLoader[O]]:
    """Loaders of contiguous, equal parts of the items, the rest last, on a device each (Burn: `split_dataloader`).

    Args:
        loader: the loader to split.
        devices: a device for each part; none leaves the loader as it is.

    Returns:
        List of loaders.

    >>> from burn.data.dataloader import DataLoaderBuilder
    >>> from burn.data.dataset import InMemDataset
    >>> loader = DataLoaderBuilder(lambda items, device: items).batch_size(2).build(InMemDataset("abcde"))
    >>> [list(part) for part in split_dataloader(loader, [burn.Device.flex()] * 2)]
    [[['a', 'b']], [['c', 'd'], ['e']]]
    """
    devices = [check_device("split_dataloader", device) for device in devices]
    if not devices:
        return [loader]
    if len(devices) == 1:
        return [loader.to_device(devices[0])]
    bounds = split_bounds(loader.num_items(), len(devices))
    return [loader.slice(start, end).to_device(device) for (start, end), device in zip(bounds, devices)]
