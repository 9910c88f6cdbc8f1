"""The burnpack container: bytes as Burn writes them, and what the writer refuses."""

import hashlib
import json
import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes
from hypothesis.extra.numpy import arrays as hypothesis_arrays

from burn.errors import RecordIoError
from burn.store import pack
from burn.store.pack import PackDType, PackTensor, Reader, Scalar, Writer, cbor

GOLDEN = Path(__file__).parent.parent / "golden"
FILES = sorted(GOLDEN.glob("nn/*.bpk")) + sorted(GOLDEN.glob("records/*.bpk"))


def tiny_tensors():
    return [
        PackTensor.from_numpy("weight", np.array([[1, 2], [3, 4]], "f4"), param_id=1),
        PackTensor.from_numpy("bias", np.array([5, 6], "f4"), param_id=2),
    ]


def metadata_of(data) -> bytes:
    return bytes(data[10 : 10 + struct.unpack("<I", data[6:10])[0]])


def test_two_tensors_come_out_byte_for_byte():
    data = Writer(tiny_tensors()).into_bytes()
    assert len(data) == 520
    assert hashlib.sha256(data).hexdigest() == "45644ca99d77f1e07e294222e9d34aff1cdca504647d3e50e494990368b3f057"
    assert Writer(tiny_tensors()).size() == 520


def test_an_empty_container_is_one_block():
    data = Writer([]).into_bytes()
    assert len(data) == 256
    assert metadata_of(data).hex() == "a167" + b"tensors".hex() + "a0"


def test_a_scalar_only_container():
    data = Writer([]).with_scalar("0.remaining_iters", Scalar.UInt(5)).into_bytes()
    expected = b"\xa2\x67tensors\xa0\x67scalars\xa1\x710.remaining_iters\xa1\x64UInt\x05"
    assert metadata_of(data) == expected
    assert len(data) == 256


def test_an_optimizer_like_container():
    moments = [PackTensor.from_numpy(f"42.momentum.moment_{i}", np.zeros(2, "f4"), param_id=42) for i in (1, 2)]
    writer = Writer(moments).with_metadata("42", "bias")
    data = writer.with_scalar("42.momentum.time", Scalar.UInt(3)).with_scalar("42.__rank", Scalar.UInt(1)).into_bytes()
    assert len(metadata_of(data)) == 216
    reader = Reader.from_bytes(data)
    assert reader.metadata() == {"42": "bias"}
    assert list(reader.scalars()) == ["42.__rank", "42.momentum.time"]
    assert [tensor.param_id for tensor in reader.into_tensors()] == [42, 42]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_files_of_burn_come_back_byte_for_byte(path):
    reader = Reader.from_file(path)
    writer = Writer(reader.in_file_order())
    for key, value in reader.metadata().items():
        writer.with_metadata(key, value)
    for key, value in reader.scalars().items():
        writer.with_scalar(key, value)
    assert writer.into_bytes() == path.read_bytes()


def test_names_ids_and_kinds_of_the_zoo():
    case = next(c for c in json.loads((GOLDEN / "records/records.json").read_text())["cases"] if c["name"] == "zoo")
    reader = Reader.from_file(GOLDEN / "records/zoo.bpk")
    tensors = reader.in_file_order()
    assert [(t.name, str(t.param_id)) for t in tensors] == [(p["path"], p["value"]) for p in case["params"]]
    assert reader.tensor("mask").to_numpy().dtype == bool
    assert reader.tensor("ints").to_numpy().dtype == np.int32


def test_bf16_words(tmp_path):
    words = np.array([0x3F80, 0xC040], "<u2")
    tensor = PackTensor("x", PackDType("BF16"), [2], words)
    values = Reader.from_bytes(Writer([tensor]).into_bytes()).tensor("x").to_numpy()
    assert values.astype("f4").tolist() == [1.0, -3.0]


@pytest.mark.parametrize(
    "value, expected",
    [
        (1.0, "f93c00"),
        (0.5, "f93800"),
        (-0.0, "f98000"),
        (65504.0, "f97bff"),
        (65505.0, "fa477fe100"),
        (3.4028234663852886e38, "fa7f7fffff"),
        (0.1, "fb3fb999999999999a"),
        (0.001, "fb3f50624dd2f1a9fc"),
        (1e300, "fb7e37e43c8800759c"),
        (2.0**-24, "f90001"),
        (2.0**-25, "fa33000000"),
        (float("inf"), "f97c00"),
        (float("-inf"), "f9fc00"),
        (float("nan"), "f97e00"),
        (struct.unpack(">d", bytes.fromhex("7ff8000020000000"))[0], "fa7fc00001"),
        (struct.unpack(">d", bytes.fromhex("7ff8000000000001"))[0], "fb7ff8000000000001"),
    ],
)
def test_floats_take_the_shortest_exact_form(value, expected):
    assert cbor.encode_float(value).hex() == expected


@pytest.mark.parametrize(
    "value, expected",
    [(0, "00"), (23, "17"), (24, "1818"), (256, "190100"), (65536, "1a00010000"), (2**32, "1b0000000100000000"),
     (2**64 - 1, "1bffffffffffffffff"), (-1, "20"), (-25, "3818"), (None, "f6"), (True, "f5"), ("é", "62c3a9")],
)  # fmt: skip
def test_other_values(value, expected):
    assert cbor.encode(value).hex() == expected


def test_strided_and_scalar_arrays_keep_their_values():
    base = np.arange(12, dtype="f4").reshape(3, 4)
    for array in (
        base.T,
        base[:, ::2],
        np.asfortranarray(base),
        np.broadcast_to(base[:1], (3, 4)),
        base[1, 2],
        base[:0],
    ):
        read = Reader.from_bytes(Writer([PackTensor.from_numpy("x", array)]).into_bytes()).tensor("x")
        assert read.shape == array.shape
        np.testing.assert_array_equal(read.to_numpy(), array)


def test_big_endian_arrays_are_stored_little_endian():
    tensor = PackTensor.from_numpy("x", np.array([1, 2], ">i4"))
    assert bytes(tensor.to_bytes()) == b"\1\0\0\0\2\0\0\0"


def test_a_trailing_empty_tensor_pads_up_to_its_start():
    tensors = [PackTensor.from_numpy("a", np.ones(1, "f4")), PackTensor.from_numpy("b", np.ones((0, 3), "f4"))]
    data = Writer(tensors).into_bytes()
    assert len(data) == 512
    assert Reader.from_bytes(data).tensor("b").to_numpy().shape == (0, 3)


def test_write_into_a_small_buffer():
    with pytest.raises(pack.PackError, match="must hold 520 bytes, got 519"):
        Writer(tiny_tensors()).write_into(bytearray(519))
    assert Writer(tiny_tensors()).write_into(bytearray(600)) == 520


def test_duplicate_names_and_wrong_sizes():
    twice = [PackTensor.from_numpy("w", np.ones(1, "f4"))] * 2
    with pytest.raises(pack.ValidationError, match="two tensors are named 'w'"):
        Writer(twice).size()
    short = PackTensor("a", PackDType("F32"), [2, 2], b"12345678")
    with pytest.raises(pack.ValidationError, match=r"has 8 bytes, but its shape \[2, 2\] and dtype F32 need 16"):
        Writer([short]).size()


def test_the_writer_has_the_limits_of_the_reader():
    huge = PackTensor.deferred("a", PackDType("U8"), [11 << 30], 11 << 30, lambda: b"")
    with pytest.raises(pack.ValidationError, match="a tensor may take"):
        Writer([huge]).size()
    many = [PackTensor("a", PackDType("U8"), [0], b"")] * 100_001
    with pytest.raises(pack.ValidationError, match="at most 100000 tensors"):
        Writer(many).size()
    nine = [PackTensor.deferred(str(i), PackDType("U8"), [9 << 30], 9 << 30, lambda: b"") for i in range(12)]
    with pytest.raises(pack.ValidationError, match="a file may take"):
        Writer(nine).size()


def test_deferred_tensors_are_read_once_in_order_and_checked():
    calls = []

    def provider(name, data):
        return lambda: calls.append(name) or data

    good = [PackTensor.deferred(n, PackDType("U8"), [2], 2, provider(n, b"xy")) for n in "ba"]
    writer = Writer(good)
    assert writer.size() and calls == []
    writer.into_bytes()
    assert calls == ["b", "a"]
    bad = PackTensor.deferred("c", PackDType("U8"), [2], 2, provider("c", b"xyz"))
    with pytest.raises(pack.TensorBytesSizeMismatch, match="'c': its source gave 3 bytes, declared were 2"):
        Writer([bad]).into_bytes()


def test_scalars():
    assert Scalar.of(True) == Scalar.Bool(True)
    assert Scalar.of(3) == Scalar.Int(3)
    assert Scalar.of(2**64 - 1) == Scalar.UInt(2**64 - 1)
    assert Scalar.of(np.float32(0.5)) == Scalar.Float(0.5)
    assert Scalar.UInt(3).as_float() == 3.0
    for wrong in (
        Scalar.Float(1.0).as_int,
        Scalar.Bool(True).as_int,
        Scalar.Bool(True).as_float,
        Scalar.Int(1).as_bool,
    ):
        with pytest.raises(pack.ValidationError, match="the scalar must be"):
            wrong()
    with pytest.raises(pack.ValidationError):
        Scalar.UInt(-1)
    data = Writer([]).with_scalar("a", Scalar.Float(float("nan"))).with_scalar("b", 2**64 - 1).into_bytes()
    scalars = Reader.from_bytes(data).scalars()
    assert np.isnan(scalars["a"].value) and scalars["b"].as_int() == 2**64 - 1


_arrays = st.sampled_from(["f8", "f4", "f2", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1", "?"]).flatmap(
    lambda dtype: hypothesis_arrays(dtype, array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=3))
)


@settings(max_examples=60, deadline=None)
@given(
    st.dictionaries(st.text(max_size=6), st.tuples(_arrays, st.none() | st.integers(0, 2**64 - 1)), max_size=4),
    st.dictionaries(st.text(max_size=4), st.text(max_size=4), max_size=3),
    st.dictionaries(st.text(max_size=4), st.integers(-(2**63), 2**64 - 1) | st.floats() | st.booleans(), max_size=3),
)
def test_whatever_is_written_comes_back(tensors, metadata, scalars):
    writer = Writer([PackTensor.from_numpy(name, array, id) for name, (array, id) in tensors.items()])
    for key, value in metadata.items():
        writer.with_metadata(key, value)
    for key, value in scalars.items():
        writer.with_scalar(key, value)
    data = writer.into_bytes()
    assert len(data) == writer.size()
    reader = Reader.from_bytes(data)
    assert reader.metadata() == metadata
    assert {key: repr(scalar.value) for key, scalar in reader.scalars().items()} == {
        k: repr(v) for k, v in scalars.items()
    }
    assert [(t.name, t.param_id) for t in reader.in_file_order() if t.byte_len()] == [
        (name, id) for name, (array, id) in tensors.items() if array.size
    ]
    for name, (array, _) in tensors.items():
        read = reader.tensor(name).to_numpy()
        assert read.dtype == array.dtype and read.shape == array.shape and read.tobytes() == array.tobytes()


def test_errors_are_record_errors():
    assert issubclass(pack.PackError, RecordIoError) and issubclass(pack.PackError, OSError)
    with pytest.raises(FileNotFoundError, match="no such file"):
        Reader.from_file("missing")
    with pytest.raises(LookupError, match="the bytes has no tensor 'x'"):
        Reader.from_bytes(Writer([]).into_bytes()).tensor_data("x")
