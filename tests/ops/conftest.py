"""Devices that the op tests run on, and the size of the thread pool."""

import pytest

from burn.device import Device

DEVICES = {"flex": Device.flex, "ndarray": Device.ndarray}


@pytest.fixture(params=DEVICES)
def device(request):
    """Every device of this machine in turn."""
    return DEVICES[request.param]()


@pytest.fixture
def flex():
    """The compiled CPU backend alone."""
    return Device.flex()
