"""Golden numbers: values and gradients computed by Burn 0.22.1 (flex), one manifest and one tensor file a family.

`pytest tests/golden --golden FOLDER` runs the cases of any folder of this layout; without the option those of this one.
"""

import json
from functools import cache
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

FOLDER = Path(__file__).parent
DTYPES = {
    "F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": ml_dtypes.bfloat16, "BOOL": "?",
    "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "i1", "U64": "<u8", "U32": "<u4", "U16": "<u2", "U8": "u1",
}  # fmt: skip


@cache
def cases(family: str, folder: Path = FOLDER) -> list[dict[str, Any]]:
    """The cases of a family, as its manifest lists them."""
    return json.loads((folder / f"{family}.json").read_text())["cases"]


@cache
def tensors(family: str, folder: Path = FOLDER) -> dict[str, np.ndarray]:
    """The tensors of a family by name: `<case>/in.<input>`, `out.<i>`, `ct.<i>`, `grad.<input>`."""
    return read_safetensors(folder / f"{family}.safetensors")


def read_safetensors(path: Path) -> dict[str, np.ndarray]:
    """Arrays of a safetensors file (bfloat16 too): eight bytes of header length, the header in JSON, then the data."""
    content = path.read_bytes()
    start = 8 + int.from_bytes(content[:8], "little")
    header = json.loads(content[8:start])
    header.pop("__metadata__", None)
    result = {}
    for name, entry in header.items():
        first, last = (start + offset for offset in entry["data_offsets"])
        values = np.frombuffer(content[first:last], DTYPES[entry["dtype"]])
        result[name] = values.reshape(entry["shape"])
    return result
