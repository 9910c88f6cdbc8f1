"""Recognises files that are not burnpack, to say what they are and how their content gets here."""

_MIGRATE = (
    "Burn 0.22 and later read only burnpack records, and a new suffix converts nothing: load the record with the "
    "Burn release that wrote it (0.21 or older), export the model there as safetensors, import that with Burn "
    "0.22 (SafetensorsStore), and save it as burnpack"
)
_SUFFIXES = {
    ".mpk": "a NamedMpk record",
    ".bin": "a Bin record",
    ".json": "a JSON record",
    ".gz": "a compressed record",
}


def describe(start: bytes, name: str) -> str:
    """What a file with these first bytes seems to be, and the remedy.

    >>> describe(b"\\x1f\\x8b", "'model.bpk'")[:33]
    'it looks like a compressed record'
    """
    if not start:
        return "it is empty; save it again"
    if start.startswith((b"PK\x03\x04", b"PK\x05\x06", b"\x80\x02", b"\x80\x04")):
        return "it looks like a PyTorch checkpoint; import it with Burn 0.22 (PytorchStore) and save it as burnpack"
    if start[8:9] == b"{" and int.from_bytes(start[:8], "little") <= 100_000_000:
        return "it looks like a safetensors file; import it with Burn 0.22 (SafetensorsStore) and save it as burnpack"
    if start.startswith(b"\x1f\x8b"):
        return f"it looks like a compressed record. {_MIGRATE}"
    if start.lstrip()[:1] in (b"{", b"["):
        return f"it looks like a JSON record. {_MIGRATE}"
    if start[0] & 0xF0 in (0x80, 0x90) or start[0] in (0xDC, 0xDD, 0xDE, 0xDF):
        return f"it looks like a NamedMpk record. {_MIGRATE}"
    lowered = name.strip("'\"").lower()
    for suffix, what in _SUFFIXES.items():
        if lowered.endswith(suffix):
            return f"by its suffix it is {what}. {_MIGRATE}"
    return f"it starts with the bytes {start[:4].hex(' ')}. If it is an older record: {_MIGRATE}"
