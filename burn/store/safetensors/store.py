"""Stores in safetensors files."""

from burn.errors import StoreIoError
from burn.store.base import SavingStore, write_atomically
from burn.store.pack import PackTensor
from burn.store.source import FileSource, MemorySource

from . import format


class SafetensorsStore(SavingStore):
    """A store in the safetensors format. Mirrors `burn::store::SafetensorsStore`.

    Files of Burn need no adapter; for those of PyTorch there are `PyTorchToBurnAdapter` and `BurnToPyTorchAdapter`. Ids are
    not saved. A tensor of a dtype that burn does not have is an error only when it is needed.

    >>> from burn.nn import LinearConfig
    >>> from burn.store import BurnToPyTorchAdapter, PyTorchToBurnAdapter
    >>> model = LinearConfig(2, 3).init()
    >>> store = SafetensorsStore.from_file("m").auto_extension(True).with_to_adapter(BurnToPyTorchAdapter())
    >>> model.save_into(store)
    >>> store.keys(), store.get_tensor("weight").shape
    (['bias', 'weight'], (3, 2))
    >>> loading = SafetensorsStore.from_file("m.safetensors").with_from_adapter(PyTorchToBurnAdapter())
    >>> copy, result = LinearConfig(2, 3).init().load_from(loading)
    >>> copy.weight.val().tolist() == model.weight.val().tolist()
    True
    >>> memory = SafetensorsStore.from_bytes().overwrite(True)
    >>> model.save_into(memory.metadata("epoch", "3").clear_metadata())
    >>> memory.collect_from(model)
    >>> SafetensorsStore.from_bytes(memory.get_bytes()).keys()
    ['bias', 'weight']
    """

    _format = "safetensors"
    _extension = ".safetensors"

    def file_metadata(self) -> dict[str, str]:
        """The entries of text in the file.

        >>> store = SafetensorsStore.from_bytes()
        >>> _ = burn.nn.LinearConfig(2, 3).init().save_into(store)
        >>> store.file_metadata()["version"]
        '0.22.1'
        """
        return format.read(self._open())[1]

    def _open(self):
        if self._path is None:
            return MemorySource(self._format, self._source())
        return FileSource(self._format, self._full_path(self._path, saving=False))

    def _read(self) -> list[PackTensor]:
        return format.read(self._open())[0]

    def _write(self, tensors: list[PackTensor]) -> None:
        pieces = format.pieces(tensors, self._metadata)
        if self._path is None:
            self._data = b"".join(pieces)
            return
        path = self._full_path(self._path, saving=True)
        write_atomically(
            path, self._overwrite, self._sync, pieces, lambda text: StoreIoError(f"[safetensors] {path!r} {text}")
        )
