"""The reader against files that are cut, damaged, hostile, old, or replaced while they are read."""

import os
import resource
import struct
import sys

import cbor2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from burn.errors import RecordError, RecordIoError
from burn.store import pack
from burn.store.pack import PackTensor, Reader, Writer
from tests.store import fuzz


def small() -> bytes:
    tensors = [
        PackTensor.from_numpy("layers.0.weight", np.arange(6, dtype="f4").reshape(2, 3), param_id=2**63 + 5),
        PackTensor.from_numpy("mask", np.array([True, False]), param_id=7),
    ]
    return Writer(tensors).with_metadata("format", "burnpack").with_scalar("step", 0.1).into_bytes()


def container(metadata, data: bytes = b"", version: int = 1, size: int | None = None) -> bytes:
    """A container around hand-made metadata (a value for cbor2, or raw bytes)."""
    raw = metadata if isinstance(metadata, bytes) else cbor2.dumps(metadata)
    head = struct.pack("<IHI", pack.MAGIC_NUMBER, version, len(raw) if size is None else size) + raw
    return head + bytes(pack.aligned_data_section_start(len(raw)) - len(head)) + data


def tensor(dtype="F32", shape=(2,), offsets=(0, 8), **more):
    return {"tensors": {"w": {"dtype": dtype, "shape": list(shape), "data_offsets": list(offsets), **more}}}


def read_all(data):
    for item in Reader.from_bytes(data).into_tensors():
        item.to_numpy()


def test_every_truncation_is_refused():
    data = small()
    for length in range(len(data)):
        with pytest.raises(RecordIoError):
            Reader.from_bytes(data[:length])
    read_all(data)


def test_every_truncation_of_a_file_is_refused(tmp_path):
    data, path = small(), tmp_path / "m.bpk"
    for length in (0, 3, 9, 10, 50, 200, 255, 256, len(data) - 1):
        path.write_bytes(data[:length])
        with pytest.raises(RecordIoError, match=r"m\.bpk"):
            Reader.from_file(path)


def test_flipped_bytes_never_give_another_error():
    data = small()
    size = 10 + struct.unpack("<I", data[6:10])[0]
    for position in range(size):
        for flip in (0x01, 0x10, 0x80, 0xFF):
            damaged = bytearray(data)
            damaged[position] ^= flip
            try:
                read_all(damaged)
            except RecordError:
                pass


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=200), st.booleans())
def test_random_metadata_never_gives_another_error(raw, as_descriptor):
    if as_descriptor:
        raw = b"\xa1\x67tensors\xa1\x61w" + raw
    try:
        read_all(container(raw))
    except RecordError:
        pass


_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**64), 2**64 - 1)
    | st.floats()
    | st.text(max_size=5)
    | st.binary(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
_keys = st.sampled_from(["dtype", "shape", "data_offsets", "param_id"])


@settings(max_examples=50, deadline=None)
@given(st.dictionaries(_keys, _values), st.dictionaries(st.sampled_from(["metadata", "scalars", "x"]), _values))
def test_well_formed_nonsense_never_gives_another_error(descriptor, others):
    whole = tensor()["tensors"]["w"] | descriptor
    try:
        read_all(container({"tensors": {"w": whole}, **others}, bytes(64)))
    except RecordError:
        pass


@pytest.mark.parametrize(
    "metadata, message",
    [
        (b"\x9b\x7f\xff\xff\xff\xff\xff\xff\xff", "damaged"),
        (b"\x7b\x00\x00\x00\x7f\xff\xff\xff\xff", "damaged"),
        (b"\xba\xff\xff\xff\xff", "damaged"),
        (b"\x81" * 100_000, "damaged"),
        (b"\x80", "not a map"),
        ({}, "'tensors' must be a map"),
        ({"tensors": []}, "'tensors' must be a map"),
        ({"tensors": {"w": 1}}, "'w' must be a map"),
        ({"tensors": {"w": {}}}, "'w' lacks 'dtype'"),
        (tensor(shape=[-1]), "shape of tensor 'w'"),
        (tensor(offsets=[0]), "offsets of tensor 'w'"),
        (tensor(offsets=[8, 0]), "ends at byte 0, before its start at 8"),
        (tensor(offsets=[0, 2**63]), "the limit is"),
        (tensor(shape=[3]), r"has 8 bytes, but its shape \[3\] and dtype F32 need 12"),
        (tensor(shape=[2**40, 2**40], offsets=[0, 0]), "overflows 64 bits"),
        (tensor(shape=[2**63] * 5000, offsets=[0, 0]), "overflows 64 bits"),
        (tensor(offsets=[2**62, 2**62 + 8]), "its tensors end at byte"),
        (tensor(param_id=-1), "param_id of tensor 'w'"),
        (tensor(dtype="F8"), "'w' has the unknown dtype 'F8'"),
        (tensor(dtype={"QFloat": {"value": "Q8S", "level": "Tensor", "param": "F32"}}), "Burn release before 0.22"),
        ({"tensors": {}, "scalars": {"a": {"Int": "x"}}}, "scalar 'a' is malformed"),
        ({"tensors": {}, "scalars": {"a": {"Int": 2**63}}}, "scalar 'a' is malformed"),
        ({"tensors": {}, "metadata": {"a": 1}}, "must map text to text"),
    ],
)
def test_what_is_wrong_is_said(metadata, message):
    with pytest.raises(RecordIoError, match=message):
        Reader.from_bytes(container(metadata, bytes(8)))


def test_overlapping_tensors_are_refused():
    both = {name: tensor(offsets=(start, start + 8))["tensors"]["w"] for name, start in (("a", 0), ("b", 4))}
    with pytest.raises(pack.ValidationError, match="'a' and 'b' share bytes"):
        Reader.from_bytes(container({"tensors": both}, bytes(16)))


def test_headers():
    with pytest.raises(pack.InvalidVersion, match="format version 0"):
        Reader.from_bytes(container({"tensors": {}}, version=0))
    with pytest.raises(pack.InvalidVersion, match="format version 2"):
        Reader.from_bytes(container({"tensors": {}}, version=2))
    with pytest.raises(pack.ValidationError, match="announces 4294967295 bytes of metadata"):
        Reader.from_bytes(container({"tensors": {}}, size=2**32 - 1))
    with pytest.raises(pack.InvalidHeader, match="cut off"):
        Reader.from_bytes(container({"tensors": {}}, size=1000))


def test_hostile_sizes_allocate_nothing():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for raw in (b"\x9a\xff\xff\xff\xff", b"\x5a\xff\xff\xff\xff", b"\xa1\x67tensors\xbb" + b"\xff" * 8):
        with pytest.raises(RecordIoError):
            Reader.from_bytes(container(raw))
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 64 * (1024 if sys.platform == "linux" else 1 << 20)


def test_many_tiny_items_are_refused_before_they_become_objects(monkeypatch):
    monkeypatch.setattr(pack.reader, "_MAX_ITEMS", 1000)
    monkeypatch.setattr(pack.reader, "_UNCOUNTED", 1000)
    raw = b"\xa1\x61x\x9a\x00\x00\x20\x00" + b"\x80" * 0x2000
    with pytest.raises(pack.ValidationError, match="holds more than 1000 items"):
        Reader.from_bytes(container(raw))
    tensors = [PackTensor(f"{i:0200}", pack.PackDType("U8"), [1], b"x", param_id=2**40) for i in range(60)]
    assert len(Reader.from_bytes(Writer(tensors).into_bytes()).tensor_names()) == 60


def test_what_the_format_tolerates():
    metadata = tensor()
    metadata["tensors"]["w"]["extra"] = [1, 2]
    metadata["future"] = {"x": 1}
    assert Reader.from_bytes(container(metadata, bytes(8))).tensor("w").param_id is None
    trailing = cbor2.dumps(tensor()) + b"\x00"
    assert Reader.from_bytes(container(trailing, bytes(8))).tensor_names() == ["w"]
    tagged = cbor2.dumps({"tensors": cbor2.CBORTag(54321, {})})
    assert Reader.from_bytes(container(tagged)).tensor_names() == []
    indefinite = b"\xbf\x7f\x64tens\x63ors\xff\xbf\xff\xff"
    assert Reader.from_bytes(container(indefinite)).tensor_names() == []


def test_the_old_spelling_of_bool():
    read = Reader.from_bytes(container(tensor(dtype="Bool", offsets=(0, 2)), b"\1\0")).tensor("w")
    assert str(read.dtype) == "Bool(Native)" and read.to_numpy().tolist() == [True, False]


@pytest.mark.parametrize(
    "start, name, what",
    [
        (b"\x83\xa8metadata", "model.mpk", "NamedMpk"),
        (b"\x83\xa8metadata", "model.bpk", "NamedMpk"),
        (b'{"metadata": {}}', "model.json", "JSON record"),
        (b"\x1f\x8b\x08\x00", "model.mpk.gz", "compressed record"),
        (b"\x05\x00\x00\x00\x00\x00\x00\x00", "model.bin", "Bin record"),
        (b"\x20\x00\x00\x00\x00\x00\x00\x00{}", "model.bpk", "safetensors"),
        (b"PK\x03\x04", "model.pt", "PyTorch"),
        (b"", "model.bpk", "cut off"),
        (b"hello, world", "model.bpk", "68 65 6c 6c"),
    ],
)
def test_old_and_foreign_files_say_what_to_do(tmp_path, start, name, what):
    path = tmp_path / name
    path.write_bytes(start + bytes(20 if start else 0))
    with pytest.raises(RecordIoError, match=what) as caught:
        Reader.from_file(path)
    if "record" in what:
        assert "safetensors" in str(caught.value) and "0.21" in str(caught.value)


def test_a_file_that_is_replaced_keeps_giving_its_old_tensors(tmp_path):
    path = tmp_path / "m.bpk"
    Writer([PackTensor.from_numpy("w", np.full(4, 1, "f4"))]).write_to_file(path)
    held = Reader.from_file(path).tensor("w")
    Writer([PackTensor.from_numpy("v", np.full(400, 2, "f4"))]).write_to_file(path)
    assert held.to_numpy().tolist() == [1, 1, 1, 1]


def test_a_file_that_shrinks_in_place_is_an_error(tmp_path):
    path = tmp_path / "m.bpk"
    Writer([PackTensor.from_numpy("w", np.full(4, 1, "f4"))]).write_to_file(path)
    reader = Reader.from_file(path)
    os.truncate(path, 260)
    with pytest.raises(RecordIoError, match=r"tensor 'w': .*became shorter"):
        reader.tensor("w").to_numpy()


def test_a_closed_reader_says_so(tmp_path):
    path = tmp_path / "m.bpk"
    Writer([PackTensor.from_numpy("w", np.full(4, 1, "f4"))]).write_to_file(path)
    with Reader.from_file(path) as reader:
        late = reader.tensor("w")
    with pytest.raises(RecordIoError, match="was closed"):
        late.to_numpy()


def test_extensions(tmp_path):
    Writer([]).write_to_file(tmp_path / "model")
    assert [path.name for path in tmp_path.iterdir()] == ["model.bpk"]
    Reader.from_file(tmp_path / "model")
    with pytest.raises(FileNotFoundError):
        Reader.from_file_exact(tmp_path / "model")
    Writer([]).auto_extension(False).write_to_file(tmp_path / "plain")
    Reader.from_file(tmp_path / "plain")
    Writer([]).write_to_file(tmp_path / "model.v1")
    Reader.from_file(tmp_path / "model.v1")
    Writer([]).write_to_file(tmp_path / ".hidden")
    assert (tmp_path / ".hidden.bpk").exists()


def test_mutated_files_never_give_another_error():
    counts = fuzz.run("burnpack", 3000, seed=7)
    assert counts["read"] > 50 and len(counts) > 4
