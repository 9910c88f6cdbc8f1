"""The JSON of TensorData, as Burn's serde writes it."""

from typing import Self

from burn.errors import DataError
from burn.tensor.dtype import DType


class JsonMethods:
    """Methods of TensorData for JSON."""

    __slots__ = ()

    def to_json(self) -> str:
        """The text that Burn's serde_json writes: the bytes as numbers, the sizes, the dtype.

        Returns:
            str: an object with the keys bytes, shape and dtype.

        >>> burn.TensorData([1.0]).to_json()
        '{"bytes":[0,0,128,63],"shape":[1],"dtype":"F32"}'
        """
        import json

        parts = {"bytes": list(self.as_bytes()), "shape": list(self.shape), "dtype": self._dtype._serde}
        return json.dumps(parts, separators=(",", ":"))

    @classmethod
    def from_json(cls, text) -> Self:
        """The data that `to_json`, or Burn, has written.

        Args:
            text: str or bytes.

        Returns:
            TensorData.

        Raises:
            DataError: no such object.
            InvalidByteLengthError: a number of bytes that does not fit the shape and dtype.

        >>> burn.TensorData.from_json('{"bytes":[1,0],"shape":[2],"dtype":{"Bool":"Native"}}')
        TensorData([True, False], dtype=bool)
        """
        import json

        try:
            parts = json.loads(text)
            given = parts["bytes"], parts["shape"], parts["dtype"]
        except (ValueError, TypeError, KeyError, RecursionError) as e:
            raise DataError(
                f"[from_json] 'text' must be an object with the keys bytes, shape and dtype, got {e!r} in reading it"
            ) from None
        numbers = {"bytes": given[0], "shape": given[1]}
        for name, values in numbers.items():
            if not isinstance(values, list) or not all(type(v) is int and 0 <= v for v in values):
                raise DataError(f"[from_json] '{name}' must be a list of whole numbers of at least 0")
        if max(given[0], default=0) > 255:
            raise DataError(f"[from_json] 'bytes' must hold numbers of 0 to 255, got {max(given[0])}")
        dtype = DType._of_serde(given[2])
        if dtype is None:
            raise DataError(f'[from_json] \'dtype\' must be written as "F32" or {{"Bool":"Native"}}, got {given[2]!r}')
        return cls.from_bytes(given[0], given[1], dtype)
