"""Devices that the op tests run on, and the size of the thread pool."""

import pytest

from burn.device import Device
from burn.errors import DeviceError

DEVICES = {"flex": Device.flex, "ndarray": Device.ndarray, "cuda": Device.cuda}


@pytest.fixture(params=DEVICES)
def device(request):
    """Every device of this machine in turn."""
    try:
        return DEVICES[request.param]()
    except DeviceError as e:
        pytest.skip(str(e))


@pytest.fixture
def flex():
    """The compiled CPU backend alone."""
    return Device.flex()
