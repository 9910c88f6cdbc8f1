"""A GPU for these tests: one that the driver has, or the emulated one when the environment says so."""

import pytest

from burn.device import Device
from burn.errors import DeviceError


@pytest.fixture
def gpu():
    """GPU 0."""
    try:
        return Device.cuda()
    except DeviceError as e:
        pytest.skip(str(e))
