"""Seeded mutators over files of all formats: whatever the bytes, a reader gives tensors or a RecordError, soon, in little memory.

`python -m tests.store.fuzz [INPUTS] [SEED] [FORMAT ...]` runs them at length; the suite runs each for a moment.
"""

import pickle
import random
import resource
import struct
import sys
import tempfile
import time
import zipfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from burn.errors import RecordError
from burn.store import PytorchReader
from burn.store.pack import PackDType, PackTensor, Reader
from burn.store.safetensors import format as safetensors
from burn.store.source import FileSource, MemorySource
from tests.golden import FOLDER
from tests.store import pickles

DATA = Path(__file__).parent / "data"
MAX_SECONDS = 1.0
"""How much of the processor's time an input may take; the seeds take a thousandth of it."""
MAX_GROWTH = 128 << 20
"""How much an input may add to the most memory that the process had; the seeds have a few kilobytes."""
MAX_TENSOR = 1 << 24
"""A number that is expanded may stand for more than fits; larger tensors are listed and not read."""

# Values that sit on the borders of what a length, an offset or a head of CBOR can be.
BORDERS = [
    0, 1, 23, 24, 0x7F, 0x80, 0xFF, 0x100, 0x7FFF, 0xFFFF, 0x7FFFFFFF, 0xFFFFFFFF, 1 << 40, (1 << 63) - 1, (1 << 64) - 1
]  # fmt: skip
HEADS = bytes(
    [0x1B, 0x1A, 0x19, 0x3B, 0x5B, 0x7B, 0x9B, 0xBB, 0xDB, 0x9F, 0xBF, 0x5F, 0x7F, 0xF6, 0xF9, 0xFB, 0xFF, 0xC2]
)
OPERATIONS = b"()]}.0125IKMNQRUXabcdeghjlpqrstu\x80\x81\x85\x86\x87\x88\x89\x8a\x8b\x8c\x8e\x90\x92\x93\x94\x95\x96"
WORDS = (
    b"0", b"9", b'"', b",", b"[", b"]", b"{", b"}", b"\0", b":", b"-", b"1e9", b"null", b"true", b"18446744073709551616",
    b"\\u0000", b"\\ud800", b'"F4"', b'"BOOL"', b'"__metadata__"', b"[[[[[[[[", b"\xff", b"0.5", b"NaN",
)  # fmt: skip


@dataclass(frozen=True)
class Format:
    """How one format is fuzzed.

    Attributes:
        seeds: makes the whole files to start from.
        mutate: a file with damage.
        read: reads all that is in the bytes, or in the file if a path is given.
    """

    seeds: Callable[[], list]
    mutate: Callable
    read: Callable


def damaged(data: bytes, rng: random.Random, head: int, words=HEADS, head_share: float = 0.9) -> bytearray:
    """The bytes with one to four changes, most of them in the head."""
    out = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        if not out:
            break
        at = rng.randrange(min(head, len(out)) if rng.random() < head_share else len(out))
        kind = rng.randrange(8)
        if kind == 0:
            out[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            word = rng.choice(words)
            out[at : at + 1] = bytes([word]) if isinstance(word, int) else word
        elif kind == 2:
            value = rng.choice(BORDERS)
            width = rng.choice([w for w in (1, 2, 4, 8) if value < 1 << 8 * w])
            out[at : at + width] = value.to_bytes(width, rng.choice(["little", "big"]))
        elif kind == 3:
            del out[at : at + rng.randint(1, 40)]
        elif kind == 4:
            out[at:at] = rng.randbytes(rng.randint(1, 16))
        elif kind == 5:
            out[at:at] = out[at : at + rng.randint(1, 64)]
        elif kind == 6:
            if rng.random() < 0.3:
                del out[at:]
        else:
            start = rng.randrange(len(out))
            part = out[start : start + rng.randint(1, 60)]
            out[at : at + len(part)] = part
    return out


def _burnpack_seeds():
    names = (
        "records/zoo", "records/linear_f16", "records/linear_q8s_native", "lr_scheduler/Linear.2", "optim/Adam.1.optim"
    )  # fmt: skip
    return [(FOLDER / f"{name}.bpk").read_bytes() for name in names]


def _burnpack_mutate(data: bytes, rng: random.Random) -> bytes:
    out = damaged(data, rng, 10 + struct.unpack("<I", data[6:10])[0])
    if rng.random() < 0.1:  # the size that the header announces
        out[6:10] = rng.choice([value for value in BORDERS if value < 1 << 32]).to_bytes(4, "little")
    return bytes(out)


def _burnpack_read(data: bytes, path: Path | None):
    with Reader.from_bytes(data) if path is None else Reader.from_file_exact(path) as reader:
        _values(reader.into_tensors())
        reader.metadata(), reader.scalars()


def _safetensors_seeds():
    tensors = [
        PackTensor.from_numpy("a.weight", np.arange(6, dtype="f4").reshape(2, 3)),
        PackTensor.from_numpy("mask", np.array([True, False])),
        PackTensor("half", PackDType("BF16"), (1, 1), bytes(2)),
        PackTensor.from_numpy("empty", np.zeros((0, 3))),
    ]
    foreign = b'{"q":{"dtype":"F8_E4M3","shape":[4],"data_offsets":[0,4]},"c":{"dtype":"C64","shape":[],"data_offsets":[4,12]}}'
    return [
        b"".join(bytes(piece) for piece in safetensors.pieces(tensors, {"format": "pt"})),
        b"".join(bytes(piece) for piece in safetensors.pieces(tensors[:1], {})),
        struct.pack("<Q", len(foreign)) + foreign + bytes(12),
        (FOLDER / "records/zoo_store.safetensors").read_bytes(),
    ]


def _safetensors_mutate(data: bytes, rng: random.Random) -> bytes:
    out = damaged(data, rng, 8 + struct.unpack("<Q", data[:8])[0], WORDS, 0.95)
    if rng.random() < 0.7:  # with a right length of the header more gets past the first check
        end = max(out.rfind(b"}") + 1, 8)
        out[:8] = struct.pack("<Q", end - 8 + -(end - 8) % 8)
    return bytes(out)


def _safetensors_read(data: bytes, path: Path | None):
    source = MemorySource("safetensors", data) if path is None else FileSource("safetensors", path)
    _values(safetensors.read(source)[0])


def _hand_made():
    """The operations of a root with what a checkpoint may hold."""
    strided = pickles.tensor(offset=1, shape=(2,), strides=(2,))
    view = pickles.tensor(pickles.storage(view=pickles.value(("0v", 1, 2))), 0, (2,), (1,))
    return pickles.dict_of(
        w=pickles.tensor(),
        m=pickles.call("collections.OrderedDict"),
        t=strided,
        v=view,
        n=pickles.value([1, "x", None]),
    )


def _zip_seeds():
    """Archives as they are, and (pickle, storages) of others, which are made anew around each damaged pickle."""
    root = _hand_made()
    files: list = [
        pickles.zipped(root),
        pickles.zipped(root, method=zipfile.ZIP_DEFLATED),
        (DATA / "net.pt").read_bytes(),
    ]
    for name in ("net.pt", "tensors.pt", "net_module.pt"):
        with zipfile.ZipFile(DATA / name) as archive:
            (inner,) = (n for n in archive.namelist() if n.endswith("data.pkl"))
            files.append(archive.read(inner))
    return [*files, pickles.done(root)]


def _zip_mutate(data: bytes, rng: random.Random) -> bytes:
    if data.startswith(b"PK"):
        # What says where things are stands at the end.
        return bytes(damaged(data[::-1], rng, 300, HEADS, 0.5))[::-1]
    return stored({"a/data.pkl": damaged(data, rng, len(data), OPERATIONS)} | _STORAGES)


_STORAGES = {f"a/data/{key}": bytes(range(64)) for key in range(4)}


def stored(members: dict) -> bytes:
    """A zip archive without sums: much faster than the library's, which takes longer than our reader."""
    out, directory = bytearray(), bytearray()
    for name, data in members.items():
        fields = struct.pack("<5H3L2H", 20, 0, 0, 0, 0, 0, len(data), len(data), len(name), 0)
        directory += b"PK\x01\x02\x14\0" + fields + struct.pack("<3H2L", 0, 0, 0, 0, len(out)) + name.encode()
        out += b"PK\x03\x04" + fields + name.encode() + data
    end = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, len(members), len(members), len(directory), len(out), 0)
    return bytes(out + directory + end)


def _legacy_seeds():
    files = [(DATA / name).read_bytes() for name in ("net_legacy.pt", "tensors_legacy.pt")]
    return [pickles.legacy(_hand_made()), *files, pickle.dumps({"epoch": 3, "model": [1.5, None]}, 2)]


def _legacy_mutate(data: bytes, rng: random.Random) -> bytes:
    return bytes(damaged(data, rng, len(data), OPERATIONS))


def _tar_mutate(data: bytes, rng: random.Random) -> bytes:
    """Damage in the parts, around which the archive is made anew, or anywhere."""
    if rng.random() < 0.1:
        return bytes(damaged(data, rng, len(data), HEADS))
    parts, at = [], 0
    while any(head := data[at : at + 512]):
        size = int(head[124:135], 8)
        parts.append([head, data[at + 512 : at + 512 + size]])
        at += 512 + -(-size // 512) * 512
    part = rng.choice(parts)
    part[1] = damaged(part[1], rng, len(part[1]), OPERATIONS)
    out = bytearray()
    for head, content in parts:
        head = head[:124] + b"%011o\0" % len(content) + head[136:148] + b" " * 8 + head[156:]
        out += head[:148] + b"%06o\0 " % sum(head) + head[156:] + content + bytes(-len(content) % 512)
    return bytes(out) + bytes(1024)


def _pytorch_read(data: bytes, path: Path | None):
    reader = PytorchReader.from_bytes(data) if path is None else PytorchReader(path)
    _values(reader.into_tensors())
    if path is not None:
        PytorchReader.read_pickle_data(path)


FORMATS = {
    "burnpack": Format(_burnpack_seeds, _burnpack_mutate, _burnpack_read),
    "safetensors": Format(_safetensors_seeds, _safetensors_mutate, _safetensors_read),
    "zip": Format(_zip_seeds, _zip_mutate, _pytorch_read),
    "legacy": Format(_legacy_seeds, _legacy_mutate, _pytorch_read),
    "tar": Format(lambda: [pickles.tarred(), pickles.tarred(view=False, offset=0)], _tar_mutate, _pytorch_read),
}


def _values(tensors: list[PackTensor]):
    """Reads tensors; what is read has the size that was declared."""
    for tensor in tensors:
        if tensor.byte_len() >= MAX_TENSOR or not isinstance(tensor.dtype, PackDType):
            continue
        array = tensor.to_numpy()
        assert array.nbytes == tensor.byte_len() and (tensor.dtype.name == "QFloat" or array.shape == tensor.shape)
        if tensor.is_stored():
            buffer = bytearray(tensor.byte_len())
            tensor.read_into(memoryview(buffer))
            assert buffer == tensor.to_bytes()


def outcome(read: Callable, data: bytes, path: Path | None = None) -> str:
    """What became of the bytes: `read`, or the name of the error. Other errors come out."""
    if path is not None:
        path.write_bytes(data)
    peak, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    try:
        read(data, path)
        found = "read"
    except RecordError as error:
        assert str(error)
        found = type(error).__name__
    assert time.process_time() - start < MAX_SECONDS, "the input takes too long"
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak
    assert grown << 10 < MAX_GROWTH, f"the input takes {grown >> 10} MiB"
    return found


def run(name: str, inputs: int, seed: int = 0) -> Counter:
    """Reads so many mutated files of a format, each hundredth from a file; counts what became of them."""
    form, rng, counts = FORMATS[name], random.Random(seed), Counter()
    whole = form.seeds()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model")
        for index in range(inputs):
            data = form.mutate(rng.choice(whole), rng)
            try:
                counts[outcome(form.read, data, path if index % 100 == 0 else None)] += 1
            except BaseException:
                Path(f"fuzz_failure.{name}").write_bytes(data)
                raise
    return counts


def main(inputs: str = "1000000", seed: str = "0", *names: str):
    """Runs the formats of these names, or all of them, and prints what became of the inputs."""
    for name in names or FORMATS:
        start = time.perf_counter()
        counts = run(name, int(inputs), int(seed))
        print(f"{name}: {inputs} inputs, seed {seed}, {time.perf_counter() - start:.0f} s")
        for kind, count in counts.most_common():
            print(f"{count:9} {kind}")
        print(end="", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
