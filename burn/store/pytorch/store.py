"""Loading checkpoints of PyTorch."""

from typing import NoReturn

from burn._arguments import instance
from burn.errors import StoreError
from burn.store.adapter import ModuleAdapter, PyTorchToBurnAdapter
from burn.store.base import ModuleStore
from burn.store.pack import PackTensor

from .reader import PytorchReader


class PytorchStore(ModuleStore):
    r"""A checkpoint of PyTorch to load from. Mirrors `burn::store::PytorchStore`.

    `PyTorchToBurnAdapter` is always in use, before the adapter of `with_from_adapter`. Variants of enums are no part of the
    paths, and lists are numbered anew without gaps, unless `skip_enum_variants(False)` and `map_indices_contiguous(False)`.
    Nothing that the file names is imported or called.

    >>> import pickle
    >>> with open("empty.pt", "wb") as file:
    ...     pickle.dump({"state_dict": {}}, file)
    >>> store = PytorchStore.from_file("empty.pt").with_top_level_key("state_dict").with_key_remapping(r"^fc\.", "linear.")
    >>> model, result = burn.nn.LinearConfig(2, 3).init().load_from(store.allow_partial(True))
    >>> store.keys(), [path for path, _ in result.missing]
    ([], ['bias', 'weight'])
    >>> store.collect_from(model)
    Traceback (most recent call last):
      ...
    burn.errors.StoreError: [pytorch] saving in the format of PyTorch is not supported: save into a SafetensorsStore ...
    """

    _format = "pytorch"
    _skip_default = True
    _contiguous_default = True

    def __init__(self, path):
        """Use `from_file`."""
        super().__init__(path)
        self._top_level_key: str | None = None

    def with_top_level_key(self, key: str) -> "PytorchStore":
        """Takes the tensors under one key of the dict at the root, such as ``state_dict``."""
        self._top_level_key = instance("with_top_level_key", "key", key, str)
        self._cache = self._renamed = None
        return self

    def collect_from(self, module) -> NoReturn:
        """Raises: PyTorch reads safetensors files.

        Args:
            module: a module.
        """
        raise StoreError(
            "[pytorch] saving in the format of PyTorch is not supported: save into a SafetensorsStore "
            "with_to_adapter(BurnToPyTorchAdapter()), and read that with safetensors.torch.load_file"
        )

    def _read(self) -> list[PackTensor]:
        return PytorchReader(self._path, self._top_level_key).into_tensors()

    def _loading_adapter(self) -> ModuleAdapter:
        return PyTorchToBurnAdapter().chain(self._from)
