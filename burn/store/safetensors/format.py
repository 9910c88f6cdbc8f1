"""The safetensors container: eight bytes of header length, a header in JSON, then the data of the tensors.

Read and written here and not by the package of that name, whose NumPy side stores the memory order of strided
arrays and lacks bf16.
"""

import collections
import json
import math

from burn.errors import StoreError, StoreIoError
from burn.store.bridge import RefusedTensor
from burn.store.pack import PackDType, PackTensor
from burn.store.source import MemorySource, Source

MAX_HEADER_SIZE = 100_000_000
# JSON makes objects of many times the bytes that describe them. A tensor takes about ten marks of these; a header of a few
# megabytes cannot do harm and is not counted.
_MAX_MARKS, _UNCOUNTED = 4_000_000, 4 << 20
_MAX_RANK = 1024
_U64 = 1 << 64

# In the order in which files hold them: by alignment, the largest first.
_DTYPES = {
    "U64": PackDType("U64"),
    "I64": PackDType("I64"),
    "F64": PackDType("F64"),
    "F32": PackDType("F32"),
    "U32": PackDType("U32"),
    "I32": PackDType("I32"),
    "BF16": PackDType("BF16"),
    "F16": PackDType("F16"),
    "U16": PackDType("U16"),
    "I16": PackDType("I16"),
    "I8": PackDType("I8"),
    "U8": PackDType("U8"),
    "BOOL": PackDType("Bool"),
}
_NAMES = {dtype: name for name, dtype in _DTYPES.items()} | {
    PackDType("Flex32"): "F32",
    PackDType("Bool", "U8"): "U8",
    PackDType("Bool", "U32"): "U32",
}
_ORDER = {name: position for position, name in enumerate(_DTYPES)}
# Types of the format that burn does not have, with their bits.
_FOREIGN = {
    "C64": 64, "F8_E4M3": 8, "F8_E5M2": 8, "F8_E8M0": 8, "F8_E4M3FNUZ": 8, "F8_E5M2FNUZ": 8,
    "F6_E2M3": 6, "F6_E3M2": 6, "F4": 4,
}  # fmt: skip


def read(source: Source) -> tuple[list[PackTensor], dict[str, str]]:
    """The tensors of a container in the order of their data, their values unread, and its entries of text.

    Raises:
        StoreIoError: the container is cut off or damaged.
    """
    if source.size < 8:
        raise source.error(
            f"has {source.size} bytes, a safetensors file has at least 8; it was cut off: save or copy it again"
        )
    size = int.from_bytes(source.read(0, 8), "little")
    if size > MAX_HEADER_SIZE:
        raise source.error(
            f"is not a safetensors file, or damaged: its header would take {size} bytes, the limit is {MAX_HEADER_SIZE}"
        )
    if 8 + size > source.size:
        raise source.error(
            f"has {source.size} bytes, its header ends at byte {8 + size}; it was cut off: save or copy it again"
        )
    header = _parsed(source, bytes(source.read(8, 8 + size)))
    metadata = header.pop("__metadata__", {})
    if not isinstance(metadata, dict) or not all(isinstance(value, str) for value in metadata.values()):
        raise source.error("has a damaged header: '__metadata__' must map text to text")
    entries = sorted((_entry(source, name, value) for name, value in header.items()), key=lambda entry: entry[3:5])
    end = 0
    for name, _, _, start, stop in entries:
        if start != end:
            what = "share bytes" if start < end else "leave a gap"
            raise source.error(
                f"has a damaged header: the tensor {name!r} and the one before it {what} at byte {start}"
            )
        end = stop
    if end != source.size - 8 - size:
        raise source.error(
            f"has {source.size - 8 - size} bytes of data, its tensors take {end}; it was cut off or something was "
            "appended: save or copy it again"
        )
    return [_tensor(source, 8 + size, *entry) for entry in entries], metadata


def _parsed(source: Source, raw: bytes) -> dict:
    if len(raw) > _UNCOUNTED and sum(map(raw.count, (b",", b"[", b"{"))) > _MAX_MARKS:
        raise source.error(f"has a header of more than {_MAX_MARKS} items")
    try:
        header = json.loads(raw.decode(), object_pairs_hook=_unique, parse_constant=_no_constant)
        if not isinstance(header, dict):
            raise ValueError("it must be a map")
        "".join(header).encode()  # names must be texts, which half a surrogate pair is not
    except (ValueError, RecursionError, MemoryError) as error:
        hint = ""
        if raw[:1] != b"{":
            hint = "; it does not look like a safetensors file"
        raise source.error(f"has a damaged header: {error}{hint}") from error
    return header


def _unique(pairs: list) -> dict:
    entries = dict(pairs)
    if len(entries) != len(pairs):
        twice = collections.Counter(key for key, _ in pairs).most_common(1)[0][0]
        raise ValueError(f"the name {twice!r} stands in it twice")
    return entries


def _no_constant(text: str):
    raise ValueError(f"{text} is no JSON")


def _entry(source: Source, name: str, value) -> tuple:
    """One tensor of the header: (name, dtype, shape, start, end)."""
    if not isinstance(value, dict) or not {"dtype", "shape", "data_offsets"} <= value.keys():
        raise source.error(f"has a damaged header: the tensor {name!r} needs dtype, shape and data_offsets")
    dtype, shape, offsets = value["dtype"], value["shape"], value["data_offsets"]
    if not isinstance(dtype, str):
        raise source.error(f"has a damaged header: the dtype of the tensor {name!r} must be text")
    if not _sizes(shape) or len(shape) > _MAX_RANK:
        raise source.error(f"has a damaged header: the shape of the tensor {name!r} must be a list of sizes")
    if not _sizes(offsets) or len(offsets) != 2 or offsets[0] > offsets[1]:
        raise source.error(f"has a damaged header: the offsets of the tensor {name!r} must be two positions in order")
    count = math.prod(shape)
    known = _DTYPES.get(dtype)
    bits = 8 * (known.itemsize or 0) if known else _FOREIGN.get(dtype)
    if count >= _U64 or (bits is not None and -(-count * bits // 8) != offsets[1] - offsets[0]):
        raise source.error(
            f"has a damaged header: the tensor {name!r} takes {offsets[1] - offsets[0]} bytes, "
            f"but its shape {shape} and dtype {dtype} need {-(-count * (bits or 8) // 8)}"
        )
    return name, dtype, tuple(shape), *offsets


def _sizes(values) -> bool:
    return isinstance(values, list) and all(type(value) is int and 0 <= value < _U64 for value in values)


def _tensor(source: Source, data: int, name: str, dtype: str, shape: tuple, start: int, end: int) -> PackTensor:
    if dtype not in _DTYPES:
        reason = f"{source.name} holds it as {dtype}, which burn does not have; save it as F16, BF16 or F32"
        return RefusedTensor(name, dtype, shape, reason, end - start)
    if isinstance(source, MemorySource):
        return PackTensor(name, _DTYPES[dtype], shape, source.read(data + start, data + end))
    return PackTensor.deferred(
        name,
        _DTYPES[dtype],
        shape,
        end - start,
        lambda: source.read(data + start, data + end),
        None,
        lambda buffer: source.read_into(buffer, data + start),
    )


def pieces(tensors: list[PackTensor], metadata: dict[str, str]):
    """The bytes of a container, in order; each deferred tensor is read when its turn comes.

    Everything that can be checked is checked before the first piece.

    Raises:
        StoreError: a dtype or a name that the format does not have, or a header that is too large.
    """
    listed = []
    for tensor in tensors:
        name = _NAMES.get(tensor.dtype) if isinstance(tensor.dtype, PackDType) else None
        if name is None:
            raise StoreError(
                f"[safetensors] {tensor.name!r} has the dtype {tensor.dtype}, which safetensors files cannot hold; "
                "save into a BurnpackStore"
            )
        if tensor.name == "__metadata__":
            raise StoreError("[safetensors] a tensor cannot be named '__metadata__', the format has its own use for it")
        if tensor.dtype.byte_len(tensor.shape) != tensor.byte_len():
            raise StoreError(
                f"[safetensors] {tensor.name!r} declares {tensor.byte_len()} bytes, "
                f"its shape {list(tensor.shape)} and dtype {tensor.dtype} need {tensor.dtype.byte_len(tensor.shape)}"
            )
        listed.append((name, tensor))
    try:
        listed.sort(key=lambda entry: (_ORDER[entry[0]], entry[1].name.encode()))
        raw = _header(listed, metadata)
    except UnicodeEncodeError as error:
        raise StoreError(f"[safetensors] a name is no valid text: {error}") from error
    if len(raw) > MAX_HEADER_SIZE:
        raise StoreError(
            f"[safetensors] the header may take {MAX_HEADER_SIZE} bytes, got {len(raw)}; use shorter names"
        )
    return _stream(raw, [tensor for _, tensor in listed])


def _header(listed: list[tuple[str, PackTensor]], metadata: dict[str, str]) -> bytes:
    header: dict[str, dict] = {"__metadata__": dict(metadata)}
    end = 0
    for name, tensor in listed:
        start, end = end, end + tensor.byte_len()
        header[tensor.name] = {"dtype": name, "shape": list(tensor.shape), "data_offsets": [start, end]}
    raw = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
    return raw + b" " * (-len(raw) % 8)


def _stream(raw: bytes, tensors: list[PackTensor]):
    yield len(raw).to_bytes(8, "little") + raw
    for tensor in tensors:
        try:
            yield tensor.to_bytes()
        except StoreIoError:
            raise
        except OSError as error:  # of a deferred tensor: not of the file that is written
            raise StoreIoError(f"[safetensors] the tensor {tensor.name!r} could not be produced: {error}") from error
