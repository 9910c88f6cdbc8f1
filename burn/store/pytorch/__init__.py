"""Checkpoints of PyTorch, read without PyTorch and without running anything that they name.

`containers` finds the pickle and the storages in a zip, legacy or tar file (`archive` reads zip files), `unpickle` builds plain
values from the pickle, `rebuild` knows the calls that make tensors, `reader` lists the tensors, `store` loads them into a module.
"""

from .reader import PytorchReader
from .store import PytorchStore
from .values import PickleValue

__all__ = ["PickleValue", "PytorchReader", "PytorchStore"]
