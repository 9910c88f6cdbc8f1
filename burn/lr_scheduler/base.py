"""The `LrScheduler` interface and its record."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any

from burn._arguments import file_path, instance, shown
from burn.errors import ArgumentTypeError, RecordValidationError
from burn.store.pack import PackError, Reader, Scalar, Writer


class LrSchedulerRecord:
    """State of a scheduler as named numbers, in memory and as a burnpack file (Burn: `LrSchedulerRecord`).

    Example:
        >>> record = LrSchedulerRecord().with_scalar("step", Scalar.UInt(3))
        >>> LrSchedulerRecord.from_bytes(record.into_bytes()).scalar("step", int), record.is_empty()
        (3, False)
        >>> both = LrSchedulerRecord().with_record("base", record)
        >>> both.save("lr")
        >>> LrSchedulerRecord.load("lr").record("base")
        LrSchedulerRecord({'step': 3})
    """

    def __init__(self) -> None:
        self.scalars: dict[str, Scalar] = {}

    def is_empty(self) -> bool:
        """Whether there is no number."""
        return not self.scalars

    def with_scalar(self, key: str, value: Scalar | int | float | bool) -> LrSchedulerRecord:
        """Set a number; returns this record.

        Args:
            key: its name.
            value: the number, or a `Scalar` of a kind.
        """
        self.scalars[key] = Scalar.of(value)
        return self

    def scalar(self, key: str, kind: type) -> int | float | bool | None:
        """A number as `kind` (int, float or bool); None where it is absent or of another type.

        Args:
            key: its name.
            kind: int, float or bool.
        """
        value = self.scalars.get(key)
        if value is None:
            return None
        try:
            return {int: value.as_int, float: value.as_float, bool: value.as_bool}[kind]()
        except PackError:
            return None

    def with_record(self, prefix: str, record: LrSchedulerRecord) -> LrSchedulerRecord:
        """Add the numbers of another record as `prefix.key`; returns this record.

        Args:
            prefix: what to put before the names.
            record: the other record.
        """
        instance("with_record", "record", record, LrSchedulerRecord)
        self.scalars.update({f"{prefix}.{key}": value for key, value in record.scalars.items()})
        return self

    def record(self, prefix: str) -> LrSchedulerRecord:
        """The numbers named `prefix.key`, without the prefix.

        Args:
            prefix: what stands before the names.
        """
        record = LrSchedulerRecord()
        start = f"{prefix}."
        record.scalars = {key.removeprefix(start): v for key, v in self.scalars.items() if key.startswith(start)}
        return record

    @classmethod
    def from_state(cls, state: Any) -> LrSchedulerRecord:
        """The numbers of a dataclass by the names of its fields; an int that is not negative is an unsigned number, as in Burn.

        Args:
            state: a dataclass of numbers, or of dataclasses of numbers.

        Raises:
            ArgumentTypeError: if it holds anything else.

        Example:
            >>> import dataclasses
            >>> @dataclasses.dataclass
            ... class State:
            ...     step: int
            ...     rate: float
            >>> record = LrSchedulerRecord.from_state(State(3, 0.5))
            >>> record, record.scalars["step"].variant, record.into_state(State).rate
            (LrSchedulerRecord({'step': 3, 'rate': 0.5}), 'UInt', 0.5)
        """
        from burn.optim.state import flatten

        if not dataclasses.is_dataclass(state) or isinstance(state, type):
            raise ArgumentTypeError(f"[from_state] 'state' must be a dataclass, got {shown(state)}")
        record = cls()
        for name, leaf in flatten(state, ""):
            if not isinstance(leaf, (bool, int, float)):
                raise ArgumentTypeError(f"[from_state] {name!r} must be a number, got {shown(leaf)}")
            unsigned = isinstance(leaf, int) and not isinstance(leaf, bool) and leaf >= 0
            record.with_scalar(name, Scalar.UInt(leaf) if unsigned else leaf)
        return record

    def into_state(self, kind: type) -> Any:
        """A dataclass with the numbers of the record; numbers that it has no field for are passed over.

        Args:
            kind: the dataclass.

        Raises:
            RecordValidationError: if the record lacks a number that the dataclass needs, or has it in another form.

        Example:
            >>> import dataclasses
            >>> @dataclasses.dataclass
            ... class State:
            ...     step: int
            >>> LrSchedulerRecord().with_scalar("step", 3).into_state(State).step
            3
        """
        from burn.optim.state import MissingLeaf, unflatten

        if not (isinstance(kind, type) and dataclasses.is_dataclass(kind)):
            raise ArgumentTypeError(f"[into_state] 'kind' must be a dataclass, got {shown(kind)}")
        try:
            return unflatten(kind, "", {name: scalar.value for name, scalar in self.scalars.items()})
        except MissingLeaf as error:
            raise RecordValidationError(
                f"[into_state] the record must have the number {error.args[0]!r} that {kind.__name__} needs, it has "
                f"{', '.join(self.scalars) or 'none'}; load it into the scheduler that wrote it"
            ) from None

    def into_bytes(self) -> bytes:
        """The record as the bytes of a burnpack file."""
        return bytes(self._writer().into_bytes())

    @classmethod
    def from_bytes(cls, data: bytes) -> LrSchedulerRecord:
        """The record in the bytes of a burnpack file.

        Args:
            data: the bytes.

        Raises:
            RecordIoError: if they are not a burnpack container.
            RecordValidationError: if it holds tensors.
        """
        return cls._read(Reader.from_bytes(data))

    def save(self, path: str | Path, sync: bool = False) -> None:
        """Write a burnpack file; `.bpk` is appended where `path` has no extension.

        Args:
            path: the file.
            sync: whether to wait until the file is on the disk, so that it survives a loss of power too.
        """
        self._writer().sync(sync).write_to_file(file_path("save", path))

    @classmethod
    def load(cls, path: str | Path) -> LrSchedulerRecord:
        """Read a burnpack file.

        Args:
            path: the file.

        Raises:
            RecordIoError: if the file is missing or damaged.
            RecordValidationError: if it holds tensors.
        """
        return cls._read(Reader.from_file(file_path("load", path)))

    @classmethod
    def _read(cls, reader: Reader) -> LrSchedulerRecord:
        names = reader.tensor_names()
        if names:
            raise RecordValidationError(
                f"[LrSchedulerRecord] the record must hold numbers alone, but has the tensor {names[0]!r}: it is of a module or "
                "an optimizer; load it into that"
            )
        record = cls()
        record.scalars = dict(reader.scalars())
        return record

    def _writer(self) -> Writer:
        writer = Writer()
        for key, value in self.scalars.items():
            writer.with_scalar(key, value)
        return writer

    def __repr__(self) -> str:
        return f"LrSchedulerRecord({{{', '.join(f'{key!r}: {s.value}' for key, s in self.scalars.items())}}})"


class LrScheduler(ABC):
    """Source of learning rates, asked once before each update (Burn: `LrScheduler`).

    Example: a rate that halves at every step.

        >>> class Halving(LrScheduler):
        ...     def __init__(self, lr):
        ...         self.lr = 2 * lr
        ...     def step(self):
        ...         self.lr /= 2
        ...         return self.lr
        ...     def to_record(self):
        ...         return LrSchedulerRecord().with_scalar("lr", self.lr)
        ...     def load_record(self, record):
        ...         self.lr = record.scalar("lr", float) or self.lr
        ...         return self
        >>> scheduler = Halving(0.4)
        >>> scheduler.step(), scheduler.step()
        (0.4, 0.2)
    """

    @abstractmethod
    def step(self) -> float:
        """Advance and return the rate to use now."""

    @abstractmethod
    def to_record(self) -> LrSchedulerRecord:
        """The state."""

    @abstractmethod
    def load_record(self, record: LrSchedulerRecord) -> LrScheduler:
        """Set the state; returns this scheduler. A record of another scheduler is an error: RecordValidationError.

        Args:
            record: what `to_record` gave.
        """
