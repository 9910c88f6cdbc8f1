"""`OptimizerRecord`: the states of an optimizer, in memory and as a burnpack file."""

from __future__ import annotations

from pathlib import Path

from burn._arguments import file_path
from burn.store.pack import PackTensor, Reader, Scalar, Writer


class OptimizerRecord:
    """States of an optimizer by parameter id (Burn: `OptimizerRecord`); `ModuleOptimizer.to_record` makes one.

    Tensors and scalars are named `<id>.<leaf>` with the id in decimal; `paths` maps an id to the parameter's path.

    >>> record = OptimizerRecord()
    >>> record.is_empty(), OptimizerRecord.from_bytes(record.into_bytes())
    (True, OptimizerRecord(num_tensors=0, num_scalars=0))
    >>> record.save("optimizer")
    >>> OptimizerRecord.load("optimizer")
    OptimizerRecord(num_tensors=0, num_scalars=0)
    """

    def __init__(
        self,
        tensors: list[PackTensor] = (),
        scalars: dict[str, Scalar] | None = None,
        paths: dict[str, str] | None = None,
    ) -> None:
        self.tensors = list(tensors)
        self.scalars = dict(scalars or {})
        self.paths = dict(paths or {})

    def __len__(self) -> int:
        """Number of tensors; scalars are not counted."""
        return len(self.tensors)

    def __bool__(self) -> bool:
        return True

    def is_empty(self) -> bool:
        """Whether the record has no tensor."""
        return not self.tensors

    def into_bytes(self) -> bytes:
        """The record as the bytes of a burnpack file."""
        return bytes(self._writer().into_bytes())

    @classmethod
    def from_bytes(cls, data: bytes) -> OptimizerRecord:
        """The record in the bytes of a burnpack file.

        Args:
            data: the bytes.

        Raises:
            RecordIoError: if they are not a burnpack container.
        """
        return cls._read(Reader.from_bytes(data))

    def save(self, path: str | Path, sync: bool = False) -> None:
        """Write a burnpack file; `.bpk` is appended where `path` has no extension, an existing file is replaced.

        Args:
            path: the file.
            sync: whether to wait until the file is on the disk, so that it survives a loss of power too.

        Raises:
            RecordIoError: if the file cannot be written; an old one is then still there.
        """
        self._writer().sync(sync).write_to_file(file_path("save", path))

    @classmethod
    def load(cls, path: str | Path) -> OptimizerRecord:
        """Read a burnpack file.

        Args:
            path: the file.

        Raises:
            RecordIoError: if the file is missing or damaged.
        """
        return cls._read(Reader.from_file(file_path("load", path)))

    @classmethod
    def _read(cls, reader: Reader) -> OptimizerRecord:
        return cls(reader.into_tensors(), reader.scalars(), reader.metadata())

    def _writer(self) -> Writer:
        writer = Writer(self.tensors)
        for key, value in self.scalars.items():
            writer.with_scalar(key, value)
        for key, value in self.paths.items():
            writer.with_metadata(key, value)
        return writer

    def __repr__(self) -> str:
        return f"OptimizerRecord(num_tensors={len(self.tensors)}, num_scalars={len(self.scalars)})"
