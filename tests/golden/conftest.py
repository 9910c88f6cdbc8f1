"""The option that names the folder of golden numbers."""

from pathlib import Path

import pytest

from tests.golden import FOLDER


def pytest_addoption(parser):
    parser.addoption("--golden", metavar="FOLDER", help="folder with the golden numbers to run; default: tests/golden")


def pytest_configure(config):
    """A folder that is missing ends the run before any test."""
    folder_of(config)


def folder_of(config) -> Path:
    """The folder that the option names. The option is unknown where this file was read after the command line."""
    folder = Path(config.getoption("golden", None) or FOLDER).resolve()
    if not folder.is_dir():
        raise pytest.UsageError(f"--golden must name a folder, got {folder}")
    return folder
