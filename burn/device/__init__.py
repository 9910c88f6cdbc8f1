"""Devices and their settings. Mirrors `burn::tensor::Device` and friends."""

from burn.device.device import Device as Device
from burn.device.device import GradientCheckpointingStrategy as GradientCheckpointingStrategy
from burn.device.listing import DeviceFilter as DeviceFilter
from burn.device.listing import Devices as Devices
from burn.device.listing import DeviceType as DeviceType
from burn.device.settings import DeviceConfig as DeviceConfig
from burn.device.settings import DeviceSettings as DeviceSettings
