"""A seeded mutator over files of the formats: whatever the bytes, a reader gives tensors or a RecordError.

`python -m tests.store.fuzz [INPUTS] [SEED]` runs it at length; the suite runs it for a moment.
"""

import random
import struct
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from burn.errors import RecordError
from burn.store.pack import Reader
from tests.golden import FOLDER

# Values that sit on the borders of what a length, an offset or a head of CBOR can be.
BORDERS = [
    0,
    1,
    23,
    24,
    0x7F,
    0x80,
    0xFF,
    0x100,
    0x7FFF,
    0xFFFF,
    0x7FFFFFFF,
    0xFFFFFFFF,
    1 << 40,
    (1 << 63) - 1,
    (1 << 64) - 1,
]
HEADS = bytes(
    [0x1B, 0x1A, 0x19, 0x3B, 0x5B, 0x7B, 0x9B, 0xBB, 0xDB, 0x9F, 0xBF, 0x5F, 0x7F, 0xF6, 0xF9, 0xFB, 0xFF, 0xC2]
)


def seeds():
    """Whole files to start from."""
    names = (
        "records/zoo",
        "records/linear_f16",
        "records/linear_q8s_native",
        "lr_scheduler/Linear.2",
        "optim/Adam.1.optim",
    )
    return [(FOLDER / f"{name}.bpk").read_bytes() for name in names]


def mutated(data: bytes, rng: random.Random) -> bytes:
    """The bytes with one to four changes, most of them in the head."""
    out = bytearray(data)
    head = min(len(out), 10 + struct.unpack("<I", out[6:10])[0])
    for _ in range(rng.randint(1, 4)):
        if not out:
            break
        at = rng.randrange(min(head, len(out)) if rng.random() < 0.9 else len(out))
        kind = rng.randrange(9)
        if kind == 0:
            out[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            out[at] = rng.choice(HEADS)
        elif kind == 2:
            value = rng.choice(BORDERS)
            width = rng.choice([w for w in (1, 2, 4, 8) if value < 1 << 8 * w])
            out[at : at + width] = value.to_bytes(width, rng.choice(["little", "big"]))
        elif kind == 3:
            del out[at : at + rng.randint(1, 16)]
        elif kind == 4:
            out[at:at] = rng.randbytes(rng.randint(1, 16))
        elif kind == 5:
            out[at:at] = out[at : at + rng.randint(1, 64)]
        elif kind == 6:
            del out[at:]
        elif kind == 7:
            start = rng.randrange(len(out))
            part = out[start : start + rng.randint(1, 32)]
            out[at : at + len(part)] = part
        else:  # the size that the header announces
            out[6:10] = rng.choice([value for value in BORDERS if value < 1 << 32]).to_bytes(4, "little")
    return bytes(out)


def read(data: bytes, path: Path | None = None) -> str:
    """What became of the bytes: `read`, or the name of the error."""
    try:
        if path is None:
            reader = Reader.from_bytes(data)
        else:
            path.write_bytes(data)
            reader = Reader.from_file_exact(path)
        with reader:
            for tensor in reader.into_tensors():
                if tensor.dtype.name == "QFloat":
                    tensor.to_bytes()
                else:
                    assert tensor.to_numpy().shape == tensor.shape
            reader.metadata(), reader.scalars()
    except RecordError as error:
        assert str(error)
        return type(error).__name__
    return "read"


def run(inputs: int, seed: int = 0) -> Counter:
    """Reads so many mutated files, each hundredth from a file; counts what became of them. Other errors come out."""
    rng, whole, counts = random.Random(seed), seeds(), Counter()
    with tempfile.TemporaryDirectory() as folder:
        for index in range(inputs):
            data = mutated(rng.choice(whole), rng)
            try:
                counts[read(data, Path(folder, "m.bpk") if index % 100 == 0 else None)] += 1
            except BaseException:
                Path("fuzz_failure.bpk").write_bytes(data)
                raise
    return counts


if __name__ == "__main__":
    arguments = [int(text) for text in sys.argv[1:]] or [1_000_000]
    start = time.perf_counter()
    for name, count in run(*arguments).most_common():
        print(f"{count:9} {name}")
    print(f"{time.perf_counter() - start:.0f} s")
