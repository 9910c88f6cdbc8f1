"""`InMemDataset`: items held in a list, also read from JSON lines and CSV files."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeVar

from burn._arguments import file_path, instance
from burn.data.dataset._decode import RowDecoder
from burn.data.dataset.base import Dataset, size_of, source
from burn.errors import DatasetError

T = TypeVar("T")


class InMemDataset(Dataset[T]):
    """Data set over a list of items (Burn: `InMemDataset`).

    `get` gives the item itself, not a copy: mappers and batchers build new values.

    Args:
        items: the items, in order.

    Example:
        >>> dataset = InMemDataset(["a", "b"])
        >>> len(dataset), dataset.get(1), dataset[-1]
        (2, 'b', 'b')
    """

    def __init__(self, items: Iterable[T]) -> None:
        self._items = list(instance("InMemDataset", "items", items, Iterable))

    @classmethod
    def from_dataset(cls, dataset: Dataset[T]) -> InMemDataset[T]:
        """Data set with every item of another one, read now.

        Args:
            dataset: the other one.

        Raises:
            Exception: whatever an item raised, with a note that names its index.

        >>> from burn.data.dataset import PartialDataset
        >>> list(InMemDataset.from_dataset(PartialDataset(InMemDataset("abc"), 1, 3)))
        ['b', 'c']
        """
        return cls(source("from_dataset", dataset).get_many(range(size_of(dataset))))

    @classmethod
    def from_json_rows(cls, path: str | Path, item: type[T] | None = None) -> InMemDataset[T]:
        """Data set read from a file with one JSON value a line.

        Args:
            path: the file, in UTF-8.
            item: dataclass of the items, whose fields are matched by name (others are ignored); the decoded JSON value
                itself when None.

        Raises:
            OSError: if the file cannot be opened.
            DatasetError: if a line is not JSON or lacks a field; the message names file and line.

        >>> with open("rows.json", "w") as file:
        ...     print('{"x": 1}', file=file)
        ...     print('{"x": 2}', file=file)
        >>> list(InMemDataset.from_json_rows("rows.json"))
        [{'x': 1}, {'x': 2}]
        """
        decoder = RowDecoder(item) if item is not None else None
        items = []
        path = file_path("from_json_rows", path)
        with open(path, "rb") as file:
            for number, line in enumerate(file, start=1):
                try:
                    value = json.loads(line.decode("utf-8"))
                    items.append(value if decoder is None else decoder.from_json(value))
                except ValueError as error:
                    raise DatasetError(f"[from_json_rows] {path}, line {number}: {error}") from error
        return cls(items)

    @classmethod
    def from_csv(
        cls,
        path: str | Path,
        item: type[T] | None = None,
        *,
        delimiter: str = ",",
        quote: str = '"',
        has_headers: bool = True,
    ) -> InMemDataset[T]:
        """Data set read from a CSV file; empty lines are skipped, rows of unequal length refused.

        Args:
            path: the file, in UTF-8.
            item: dataclass of the items with fields of type str, int, float, bool (`true`, `false`) or one
                of these `| None` (an empty field); the strings of a row as a dict (a list without headers) when None.
            delimiter: what separates fields.
            quote: what surrounds fields that contain the delimiter.
            has_headers: whether the first row names the columns: fields are matched by name then, else by position.

        Raises:
            OSError: if the file cannot be opened.
            DatasetError: if a row cannot be decoded; the message names file and line.

        >>> with open("rows.csv", "w") as file:
        ...     print("x,y", file=file)
        ...     print("1,2", file=file)
        >>> list(InMemDataset.from_csv("rows.csv"))
        [{'x': '1', 'y': '2'}]
        """
        decoder = RowDecoder(item) if item is not None else None
        items: list[Any] = []
        header: list[str] | None = None
        width: int | None = None
        path = file_path("from_csv", path)
        with open(path, encoding="utf-8", newline="") as file:
            rows = csv.reader(file, delimiter=delimiter, quotechar=quote, strict=True)
            try:
                for row in rows:
                    if not row:
                        continue
                    width = len(row) if width is None else width
                    if len(row) != width:
                        raise ValueError(f"{len(row)} fields where the first row has {width}")
                    if has_headers and header is None:
                        header = row
                    elif decoder is not None:
                        items.append(decoder.from_text(row, header))
                    else:
                        items.append(row if header is None else dict(zip(header, row)))
            except (ValueError, csv.Error) as error:
                raise DatasetError(f"[from_csv] {path}, line {rows.line_num}: {error}") from error
        return cls(items)

    def get(self, index: int) -> T:
        return self._items[self.check_index(index)]

    def get_many(self, indexes: Iterable[int]) -> list[T]:
        items, size = self._items, len(self._items)
        return [items[index] if type(index) is int and 0 <= index < size else self.get(index) for index in indexes]

    def __len__(self) -> int:
        return len(self._items)
