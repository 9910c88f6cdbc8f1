"""Stores in burnpack files, the format of records."""

from burn.errors import StoreIoError

from .base import SavingStore
from .pack import AlreadyExists, PackTensor, Reader, Writer


class BurnpackStore(SavingStore):
    """A store in Burn's own format. Mirrors `burn::store::BurnpackStore`.

    Ids of parameters are saved, and taken by the module that they are loaded into. ``.bpk`` is appended to a path without
    extension, unless ``auto_extension(False)``.

    >>> from burn.nn import LinearConfig
    >>> model = LinearConfig(2, 3).init()
    >>> model.save_into(BurnpackStore.from_file("model").overwrite(True).metadata("epoch", "3"))
    >>> copy, result = LinearConfig(2, 3).init().load_from(BurnpackStore.from_file("model"))
    >>> result.applied, copy.weight.id == model.weight.id
    (['weight', 'bias'], True)
    >>> store = BurnpackStore.from_bytes().clear_metadata()
    >>> store.collect_from(model)
    >>> BurnpackStore.from_static(store.get_bytes()).keys(), BurnpackStore.from_bytes(store.get_bytes()).keys()
    (['bias', 'weight'], ['bias', 'weight'])
    """

    _format = "burnpack"
    _extension = ".bpk"
    _auto_default = True

    @classmethod
    def from_static(cls, data) -> "BurnpackStore":
        """A store in memory to load from; the tensors are views of the bytes.

        Args:
            data: the bytes, which must not change.
        """
        return cls(None, data)

    def _read(self) -> list[PackTensor]:
        if self._path is None:
            return Reader.from_bytes(self._source()).in_file_order()
        reader = Reader.from_file if self._auto_extension else Reader.from_file_exact
        return reader(self._path).in_file_order()

    def _write(self, tensors: list[PackTensor]) -> None:
        writer = Writer(tensors).overwrite(self._overwrite).auto_extension(self._auto_extension).sync(self._sync)
        for key, value in self._metadata.items():
            writer.with_metadata(key, value)
        if self._path is None:
            self._data = writer.into_bytes()
            return
        try:
            writer.write_to_file(self._path)
        except AlreadyExists:
            raise
        except UnicodeEncodeError as error:
            raise StoreIoError(
                f"[burnpack] {self._name()} cannot be written: a name is no valid text: {error}"
            ) from error
