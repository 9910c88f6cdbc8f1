"""Safetensors files: Burn's own, values of every dtype, and files that are damaged or hostile."""

import json
import math
import os
import struct
import tracemalloc

import ml_dtypes
import numpy as np
import pytest

from burn import Device, Tensor
from burn.errors import RecordIoError, StoreError, StoreIoError, StoreValidationError
from burn.module import Module, Param
from burn.nn import LinearConfig
from burn.store import SafetensorsStore
from burn.store.pack import PackDType, PackTensor
from burn.store.safetensors import format
from burn.store.source import MemorySource
from tests.golden import FOLDER, read_safetensors
from tests.module.test_zoo import zoo
from tests.store import fuzz

CPU = Device.flex()


def container(header, data=b"", size=None):
    raw = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(raw) if size is None else size) + raw + data


def entry(dtype="F32", shape=(2,), offsets=(0, 8), **more):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": list(offsets), **more}


def read(data):
    tensors, metadata = format.read(MemorySource("safetensors", data))
    return {tensor.name: tensor for tensor in tensors}, metadata


def written(*tensors, metadata=()):
    return b"".join(bytes(piece) for piece in format.pieces(list(tensors), dict(metadata)))


def good():
    return written(
        PackTensor.from_numpy("a.weight", np.arange(6, dtype="f4").reshape(2, 3)),
        PackTensor.from_numpy("mask", np.array([True, False])),
        metadata={"format": "pt"},
    )


def test_burns_file_loads_and_comes_out_again_byte_for_byte(tmp_path):
    path = FOLDER / "records/zoo_store.safetensors"
    loaded, result = zoo().load_from(SafetensorsStore.from_file(path))
    assert len(result.applied) == 36 and not result.unused
    same = zoo().load_file(FOLDER / "records/zoo_store.bpk")
    for ours, theirs in zip(loaded.collect(), same.collect(), strict=True):
        assert ours.name == theirs.name and bytes(ours.to_bytes()) == bytes(theirs.to_bytes())
    out = tmp_path / "zoo.safetensors"
    loaded.save_into(SafetensorsStore.from_file(out))
    assert out.read_bytes() == path.read_bytes()
    assert SafetensorsStore.from_file(out).file_metadata() == {
        "format": "safetensors",
        "version": "0.22.1",
        "producer": "burn",
    }


@pytest.mark.parametrize(
    "values",
    [
        np.asfortranarray(np.array([[1, 2, 3], [4, 5, 6]], "f4")),
        np.arange(6, dtype="f4").reshape(2, 3).T,
        np.arange(10, dtype="f4")[::2],
        np.arange(10, dtype="f4")[::-1],
        np.broadcast_to(np.float32(3), (2, 2)),
        np.arange(4, dtype=">f4"),
    ],
)
def test_strided_arrays_keep_their_values(values):
    tensors, _ = read(written(PackTensor.from_numpy("w", values)))
    assert tensors["w"].to_numpy().tolist() == values.tolist()


def test_strided_tensors_keep_their_values():
    class Net(Module):
        def __init__(self):
            self.a = Param.from_tensor(Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], CPU).transpose())
            self.b = Param.from_tensor(Tensor([[1.0], [2.0]], CPU).expand([2, 2]))

    store = SafetensorsStore.from_bytes()
    Net().save_into(store)
    assert store.get_tensor("a").to_numpy().tolist() == [[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]]
    assert store.get_tensor("b").to_numpy().tolist() == [[1.0, 1.0], [2.0, 2.0]]


def test_every_dtype_and_the_order_of_the_file():
    arrays = {
        "U64": "u8", "I64": "i8", "F64": "f8", "F32": "f4", "U32": "u4", "I32": "i4", "BF16": ml_dtypes.bfloat16, "F16": "f2",
        "U16": "u2", "I16": "i2", "I8": "i1", "U8": "u1", "BOOL": "?",
    }  # fmt: skip
    tensors = [PackTensor.from_numpy(f"{n}.{part}", np.ones(3, arrays[n])) for n in reversed(arrays) for part in "ba"]
    data = written(*tensors)
    header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
    assert list(header) == ["__metadata__", *(f"{name}.{part}" for name in arrays for part in "ab")]
    assert {name: entry["dtype"] for name, entry in header.items() if name != "__metadata__"} == {
        f"{name}.{part}": name for name in arrays for part in "ab"
    }
    assert int.from_bytes(data[:8], "little") % 8 == 0
    for name, tensor in read(data)[0].items():
        assert (tensor.to_numpy() == 1).all() and tensor.to_numpy().dtype == arrays[name.split(".")[0]]


def test_bf16_words_are_bf16():
    data = container({"w": entry("BF16", [2], [0, 4])}, struct.pack("<2H", 0x3F80, 0xC040))
    loaded, _ = (
        LinearConfig(1, 2)
        .init(CPU)
        .load_from(SafetensorsStore.from_bytes(data).with_key_remapping("w", "bias").allow_partial(True))
    )
    assert loaded.bias.val().tolist() == [1.0, -3.0] and str(loaded.bias.val().dtype) == "bf16"


def test_bool_stores_and_flex32():
    class Net(Module):
        def __init__(self):
            self.mask = Param.from_data([False, False], CPU)

    for dtype, raw in (("BOOL", bytes([2, 0])), ("U8", bytes([2, 0])), ("U32", struct.pack("<2I", 7, 0))):
        data = container({"mask": entry(dtype, [2], [0, len(raw)])}, raw)
        assert Net().load_from(SafetensorsStore.from_bytes(data))[0].mask.val().tolist() == [True, False]
    for dtype, name in (
        (PackDType("Bool", "U8"), "U8"),
        (PackDType("Bool", "U32"), "U32"),
        (PackDType("Flex32"), "F32"),
    ):
        data = written(PackTensor("w", dtype, (1,), bytes(dtype.itemsize)))
        assert f'"dtype":"{name}"'.encode() in data


def test_a_foreign_dtype_is_an_error_only_where_it_is_needed():
    data = container({"w": entry("F8_E4M3", [2], [0, 2]), "bias": entry("F32", [2], [2, 10])}, bytes(10))
    store = SafetensorsStore.from_bytes(data)
    assert store.keys() == ["bias", "w"]
    _, result = LinearConfig(1, 2).init(CPU).load_from(store.allow_partial(True))
    assert result.applied == ["bias"] and result.unused == ["w"]
    with pytest.raises(StoreValidationError, match=r"'w'.*F8_E4M3.*save it as"):
        store.get_tensor("w").to_bytes()
    with pytest.raises(StoreError, match=r"'q'.*QFloat.*BurnpackStore"):
        written(PackTensor("q", PackDType("QFloat", scheme=()), (1,), b"1"))


def test_what_other_readers_and_writers_do(tmp_path):
    other = pytest.importorskip("safetensors.numpy")
    arrays = {"b": np.arange(6, dtype="f4").reshape(2, 3), "a": np.array([1, 2], "i8"), "c": np.ones((), "f2")}
    (tmp_path / "theirs").write_bytes(other.save(arrays, {"x": "ü\n"}))
    tensors, metadata = read((tmp_path / "theirs").read_bytes())
    assert metadata == {"x": "ü\n"} and {name: t.to_numpy().tolist() for name, t in tensors.items()} == {
        name: array.tolist() for name, array in arrays.items()
    }
    ours = written(*(PackTensor.from_numpy(name, array) for name, array in arrays.items()), metadata={"x": "ü\n"})
    assert ours == (tmp_path / "theirs").read_bytes()


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"", "0 bytes"),
        (b"1234567", "7 bytes.*cut off"),
        (container({}, size=100_000_001), "100000001 bytes"),
        (container({}, size=2**64 - 1), "limit"),
        (container({}, size=50), "ends at byte 58.*cut off"),
        (container(b"\xff\xff"), "damaged header"),
        (container(b"{]"), "damaged header"),
        (container(b"[]"), "must be a map"),
        (container(b'{"a":NaN}'), "NaN"),
        (container(b"[" * 100_000), "damaged header"),
        (container(b"{" + b'"a":1' + b"0" * 5000 + b"}"), "damaged header"),
        (container(b'{"__metadata__":{},"__metadata__":{}}'), "twice"),
        (container(b'{"\\ud800":1}'), "surrogates"),
        (container({"__metadata__": {"a": 1}}), "map text to text"),
        (container({"__metadata__": []}), "map text to text"),
        (container({"w": []}), "'w' needs dtype"),
        (container({"w": {"dtype": "F32", "shape": [2]}}), "'w' needs dtype"),
        (container({"w": entry(dtype=3)}, bytes(8)), "must be text"),
        (container({"w": entry(shape=[2.0])}, bytes(8)), "list of sizes"),
        (container({"w": entry(shape=[True, 2])}, bytes(8)), "list of sizes"),
        (container({"w": entry(shape=[-2])}, bytes(8)), "list of sizes"),
        (container({"w": entry(shape=[1] * 2000)}, bytes(8)), "list of sizes"),
        (container({"w": entry(offsets=[8, 0])}, bytes(8)), "positions in order"),
        (container({"w": entry(offsets=[0, 4, 8])}, bytes(8)), "positions"),
        (container({"w": entry(shape=[3])}, bytes(8)), "takes 8 bytes.*need 12"),
        (container({"w": entry(shape=[2**32, 2**32])}, bytes(8)), "takes 8 bytes"),
        (container({"w": entry(shape=[0, 2**63])}, bytes(8)), "takes 8 bytes"),
        (container({"w": entry(offsets=[8, 16])}, bytes(16)), "leave a gap at byte 8"),
        (container({"w": entry(), "v": entry()}, bytes(8)), "share bytes"),
        (container({"w": entry(), "v": entry(offsets=[12, 20])}, bytes(20)), "leave a gap"),
        (container({"w": entry()}, bytes(7)), "7 bytes of data.*take 8"),
        (container({"w": entry()}, bytes(9)), "9 bytes of data.*appended"),
        (container({"w": entry("F4", [3], [0, 1])}, bytes(1)), "takes 1 bytes.*need 2"),
    ],
)  # fmt: skip
def test_damaged_files_are_refused(data, what, tmp_path):
    with pytest.raises(StoreIoError, match=what):
        read(data)
    path = tmp_path / "bad.safetensors"
    path.write_bytes(data)
    with pytest.raises(StoreIoError, match=r"\[safetensors\] .*bad\.safetensors.*"):
        SafetensorsStore.from_file(path).keys()


def test_every_truncation_is_refused():
    data = good()
    for length in range(len(data)):
        with pytest.raises(StoreIoError):
            read(data[:length])
    read(data)


def test_a_huge_header_takes_little_memory():
    raw = b'{"a":[' + b"[]," * 20_000_000 + b"[]]}"
    data = container(raw)
    tracemalloc.start()
    with pytest.raises(StoreIoError, match="more than 4000000 items"):
        read(data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2 * len(raw)


def test_mutated_files_are_read_or_refused():
    counts = fuzz.run("safetensors", 2000, seed=3)
    assert counts["read"] > 20 and counts["StoreIoError"] > 1000


@pytest.mark.parametrize("shape", [(0, 1 << 62, 4), (0, 1 << 63), (1,) * 70])
def test_sizes_that_no_array_has(shape):
    """Beside a size of 0 the others may be anything; such a tensor is an error only if it is needed."""
    count = math.prod(shape)
    tensors, _ = read(container({"w": entry(shape=shape, offsets=(0, 4 * count))}, bytes(4 * count)))
    assert tensors["w"].shape == shape
    with pytest.raises(RecordIoError, match=r"'w' has \d+ axes of the sizes"):
        tensors["w"].to_numpy()


def test_a_file_that_is_cut_while_it_is_read_raises(tmp_path):
    path = tmp_path / "m.safetensors"
    LinearConfig(64, 64).init(CPU).save_into(SafetensorsStore.from_file(path))
    store = SafetensorsStore.from_file(path)
    tensor = store.get_tensor("weight")
    with open(path, "r+b") as file:
        file.truncate(1000)
    with pytest.raises(RecordIoError, match=r"'weight'.*m\.safetensors.*shorter"):
        tensor.to_bytes()
    with pytest.raises(StoreValidationError, match="shorter"):
        LinearConfig(64, 64).init(CPU).load_from(store)


def test_saving_over_the_file_that_is_loaded(tmp_path):
    store = SafetensorsStore.from_file(tmp_path / "m.safetensors").overwrite(True)
    model = LinearConfig(4, 4).init(CPU)
    model.save_into(store)
    loaded, _ = LinearConfig(4, 4).init(CPU).load_from(store)
    old = store.get_tensor("weight")
    LinearConfig(4, 4).init(CPU).save_into(store)
    assert old.to_numpy().tolist() == loaded.weight.val().tolist() == model.weight.val().tolist()
    assert store.get_tensor("weight").to_numpy().tolist() != model.weight.val().tolist()
    assert sorted(os.listdir(tmp_path)) == ["m.safetensors"]


def test_names_and_metadata_travel(tmp_path):
    path = tmp_path / "m.safetensors"
    store = (
        SafetensorsStore.from_file(path)
        .with_key_remapping("weight", 'wé"\\\n\x01')
        .clear_metadata()
        .metadata("ü", "\t")
    )
    LinearConfig(2, 1).init(CPU).save_into(store)
    assert set(read_safetensors(path)) == {'wé"\\\n\x01', "bias"} and store.file_metadata() == {"ü": "\t"}
    with pytest.raises(StoreError, match="__metadata__"):
        LinearConfig(2, 1).init(CPU).save_into(SafetensorsStore.from_bytes().with_key_remapping("bias", "__metadata__"))
    with pytest.raises(StoreError, match="no valid text"):
        LinearConfig(2, 1).init(CPU).save_into(SafetensorsStore.from_bytes().with_key_remapping("bias", "\ud800"))
