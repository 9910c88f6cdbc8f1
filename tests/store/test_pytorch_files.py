"""The reader of PyTorch files against what is damaged, hostile or old: nothing is run, nothing is unpacked, sizes are bounded."""

import io
import pickle
import struct
import sys
import tarfile
import time
import tracemalloc
import zipfile
import zlib

import numpy as np
import pytest

from burn._core import core
from burn.errors import RecordError, StoreIoError, StoreValidationError
from burn.store import PickleValue, PytorchReader
from burn.store.pytorch import unpickle
from tests.conftest import ROOT
from tests.store import fuzz
from tests.store.pickles import (
    call,
    dict_of,
    done,
    legacy,
    named,
    storage,
    tarred,
    tensor,
    tuple_of,
    value,
    zipped,
)

DATA = ROOT / "tests/store/data"
BIG = 1 << 40


def read(data):
    return PytorchReader.from_bytes(data)


def refused(data, what):
    with pytest.raises(StoreIoError, match=what):
        read(data)


@pytest.mark.parametrize("make", [zipped, legacy])
def test_sound_files_made_by_hand(make):
    reader = read(make(dict_of(w=tensor(), b=tensor(offset=1, shape=(2,), strides=(2,)))))
    assert reader.get("w").to_numpy().tolist() == [[1.0, 2.0], [3.0, 4.0]] and reader.get("b").to_numpy().tolist() == [
        2.0,
        4.0,
    ]
    assert reader.keys() == ["b", "w"] and len(reader) == 2 and "w" in reader.tensors()


def test_tar_files_of_the_first_releases():
    reader = read(tarred())
    assert reader.get("w").to_numpy().tolist() == [[2.0, 3.0], [4.0, 5.0]] and reader.metadata() == {"format": "tar"}
    assert read(tarred(view=False, offset=0)).get("w").to_numpy().tolist() == [[0.0, 1.0], [2.0, 3.0]]


def test_python_2_texts_and_old_calls():
    old = call("torch._utils._rebuild_tensor", storage(), value(0), b"(K\x02t", b"(K\x01t")
    root = b"}(U\x01w" + old + b"U\x02\xff\xfe" + value(1) + b"u"
    assert read(zipped(root)).get("w").to_numpy().tolist() == [1.0, 2.0]
    ordered = call("collections.OrderedDict", b"](](" + value("a") + tensor() + b"ee")
    assert read(zipped(ordered)).keys() == ["a"]


def test_views_of_legacy_storages():
    first = storage(numel=6, view=tuple_of(value("v"), value(1), value(3)))
    root = dict_of(a=tensor(first, 1, (2,), (1,)), b=tensor(storage(numel=6), 4, (2,), (1,)))
    data = legacy(root, {"0": struct.pack("<q6f", 6, *range(6))})
    assert read(data).get("a").to_numpy().tolist() == [2.0, 3.0] and read(data).get("b").to_numpy().tolist() == [
        4.0,
        5.0,
    ]
    refused(
        legacy(dict_of(a=tensor(first, 2, (2,), (1,))), {"0": struct.pack("<q6f", 6, *range(6))}), "reaches 4 elements"
    )


def test_modules_of_legacy_files_are_in_persistent_ids():
    module = tuple_of(value("module"), named("torch.nn.Linear"), value("linear.py"), value("import os")) + b"Q"
    state = dict_of(_parameters=dict_of(w=tensor()), _buffers=b"}", _modules=b"}", training=value(True))
    assert read(legacy(module + b")\x81" + state + b"b")).keys() in (["w"], [])


def test_dtypes_of_version_3():
    def of(dtype, numel=8):
        parts = [
            storage("UntypedStorage", numel=numel),
            value(0),
            value((2,)),
            value((1,)),
            value(False),
            b"}",
            named(dtype),
        ]
        return call("torch._utils._rebuild_tensor_v3", *parts)

    data = {"0": struct.pack("<2I", 1, 2**32 - 1)}
    assert read(zipped(dict_of(w=of("torch.uint32")), data)).get("w").to_numpy().tolist() == [1, 2**32 - 1]
    with pytest.raises(StoreValidationError, match="float8_e5m2"):
        read(zipped(dict_of(w=of("torch.float8_e5m2")), data)).get("w").to_bytes()
    with pytest.raises(StoreValidationError, match="unheard"):
        read(zipped(dict_of(w=of("torch.unheard")), data)).get("w").to_bytes()
    refused(zipped(dict_of(w=of("torch.uint64")), data), "reaches 2 elements into a storage of 1")
    meta = call(
        "torch._utils._rebuild_meta_tensor_no_storage", named("torch.float32"), value((2,)), value((1,)), value(False)
    )
    assert read(zipped(dict_of(w=meta))).keys() == ["w"], "what has no values is not passed over"


@pytest.mark.parametrize("version", ["v2", "v3"])
@pytest.mark.parametrize(("metadata", "refuses"), [({}, False), ({"neg": False}, False), ({"neg": True}, True)])
def test_views_that_negate_are_not_read_as_what_is_stored(version, metadata, refuses):
    """`z.conj().imag` of PyTorch stores the values with the other sign and says so beside them."""
    parts = [storage("FloatStorage", numel=4), value(0), value((2,)), value((1,)), value(False), b"}"]
    parts += [named("torch.float32")] if version == "v3" else []
    leaf = read(zipped(dict_of(w=call(f"torch._utils._rebuild_tensor_{version}", *parts, value(metadata))))).get("w")
    if refuses:
        with pytest.raises(StoreValidationError, match=r"resolve_neg\(\)"):
            leaf.to_numpy()
    else:
        assert leaf.to_numpy().tolist() == [1.0, 2.0]


@pytest.mark.parametrize("make", [zipped, lambda root: legacy(root, {}), done])
def test_nothing_is_ever_run_or_imported(make, tmp_path):
    marker = tmp_path / "ran"
    attacks = dict_of(
        a=call("os.system", value(f"touch {marker}")),
        b=call("builtins.eval", value(f"open({str(marker)!r}, 'w')")),
        c=named("antigravity.fly") + b")\x81",
        d=call("builtins.getattr", named("os.path"), value("sep")),
        e=named("subprocess.Popen") + b"(" + value(["touch", str(marker)]) + b"t}\x92",
        f=named("posix.system") + value(f"touch {marker}") + b"b",
        g=b"\x8c\x05posix\x8c\x06system\x93" + tuple_of(value(f"touch {marker}")) + b"R",
        h=call(
            "torch._tensor._rebuild_from_type_v2", named("os.system"), named("os.system"), tuple_of(value("true")), b"N"
        ),
    )
    (tmp_path / "m.pt").write_bytes(make(attacks))
    before = set(sys.modules)
    assert PytorchReader(tmp_path / "m.pt").keys() == []
    values = PytorchReader.read_pickle_data(tmp_path / "m.pt")
    assert values["a"] == PickleValue.Unsupported("os.system") and values["e"] == PickleValue.Unsupported(
        "subprocess.Popen"
    )
    assert not marker.exists() and "antigravity" not in set(sys.modules) - before


def test_the_code_never_imports_what_it_reads():
    """No call of pickle, import, getattr on what a file names, eval or exec in the package."""
    for path in (ROOT / "burn/store/pytorch").glob("*.py"):
        source = path.read_text()
        code = "\n".join(line for line in source.splitlines() if ">>>" not in line and "... " not in line)
        assert not any(
            word in code for word in ("import pickle", "importlib", "__import__", "eval(", "exec(", "find_class")
        ), path


def member(name, kind=tarfile.REGTYPE, link=""):
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, link
    return info


@pytest.mark.parametrize(
    "data",
    [
        zipped(dict_of(w=tensor()), {"../../escape": b"x"}),
        zipped(dict_of(w=tensor()), folder="/abs/"),
        zipped(dict_of(w=tensor()), {"a\\..\\b": b"x"}),
        zipped(dict_of(w=tensor()), folder="C:/"),
        tarred([member("../escape.txt")]),
        tarred([member("/abs.txt")]),
        tarred([member("d", tarfile.SYMTYPE, ".."), member("d/escape.txt")]),
        tarred([member("d", tarfile.LNKTYPE, "pickle")]),
        tarred([member("../hard", tarfile.LNKTYPE, "pickle")]),
    ],
)
def test_names_that_lead_out_of_an_archive(data, tmp_path, monkeypatch):
    (tmp_path / "in").mkdir()
    monkeypatch.chdir(tmp_path / "in")
    (tmp_path / "in/m.pt").write_bytes(data)
    with pytest.raises(StoreIoError, match=r"m\.pt.*do not trust the file"):
        PytorchReader("m.pt")
    assert [str(path.relative_to(tmp_path)) for path in sorted(tmp_path.rglob("*"))] == ["in", "in/m.pt"]


@pytest.mark.parametrize("name", ["net.pt", "net_legacy.pt", "tensors_legacy.pt"])
def test_every_truncation_is_refused(name):
    data = (DATA / name).read_bytes()
    for length in range(0, len(data), 1 if len(data) < 2000 else 7):
        refused(data[:length], ".")
    read(data)


def test_a_tar_file_that_is_cut():
    data = tarred()
    end = data.rindex(b"Qu.") + 3  # zeros follow
    for length in range(0, end, 5):
        with pytest.raises(StoreIoError):
            read(data[:length]).get("w").to_numpy()


@pytest.mark.parametrize(
    ("root", "what"),
    [
        (dict_of(w=tensor(shape=(3, 2))), "reaches 6 elements into a storage of 4"),
        (dict_of(w=tensor(offset=1)), "reaches 5 elements"),
        (dict_of(w=tensor(offset=-1)), "no sizes"),
        (dict_of(w=tensor(strides=(-2, 1))), "no sizes"),
        (dict_of(w=tensor(strides=(1,))), "fit each other"),
        (dict_of(w=tensor(shape=(BIG, BIG), strides=(0, 0))), "reaches 1 elements"),
        (dict_of(w=tensor(shape=(1,) * 65, strides=(1,) * 65)), "at most 64"),
        (dict_of(w=tensor(shape=(2.0, 2))), "no sizes"),
        (dict_of(w=tensor(shape="ab")), "no list"),
        (dict_of(w=tensor(storage(numel=-1))), "no sound key or size"),
        (dict_of(w=tensor(storage(numel=1 << 70))), "no sound key or size"),
        (dict_of(w=tensor(storage(key=None))), "no sound key or size"),
        (dict_of(w=tensor(storage("EvilStorage"))), "unknown class torch.EvilStorage"),
        (dict_of(w=tensor(value(3))), "no storage"),
        (dict_of(w=value(("storage",)) + b"Q"), "no storage"),
        (dict_of(w=named("torch._utils._rebuild_tensor_v2") + b")R"), "malformed"),
        ({"a.b": 1}, "named 'a.b'"),
        (tensor(), "found a tensor.*state_dict"),
        (value(3), "found int"),
        (call("argparse.Namespace"), "found argparse.Namespace"),
        (b"}(" + value((1, 2)) + tensor() + b"u", "neither a text nor a number"),
        (b"}(" + value("1") + tensor() + value(1) + tensor() + b"u", "named '1'"),
        (b"}q\x09(" + value("a") + b"h\x09u", "nests more than 1000"),
        (b"S'text'\n", "0x53, which is not supported"),
        (b"\x97", "0x97"),
        (b"\x82\x01", "0x82"),
        (b"h\x05", "malformed"),
        (b"}s", "malformed"),
        (b"(", "mark"),
        (b"R", "malformed"),
        (b"K\x01K\x02a", "no list"),
        (b"}(K\x01u", "without a value"),
        (b"L" + b"9" * 5000 + b"L\n", "too many digits"),
        (b"c" + b"x" * 2000 + b"\ny\n", "too long"),
        (b"\x8e" + struct.pack("<Q", 1 << 62), "cut off"),
        (b"X\xff\xff\xff\x7f", "cut off"),
        (b"I12", "cut off"),
        (b"VX\\ud800\n" + b"0}(V\\ud800\n" + tensor() + b"u", "no valid text"),
        (done(b"}", 6), "protocol 6"),
    ],
)  # fmt: skip
def test_damaged_pickles(root, what):
    if isinstance(root, dict):
        root = b"}(" + value("a.b") + tensor() + value("a") + dict_of(b=tensor()) + b"u"
    refused(zipped(root), what)


def test_a_tensor_that_would_not_fit_is_refused_when_it_is_read():
    reader = read(zipped(dict_of(w=tensor(shape=(1 << 40,), strides=(0,)))))
    assert reader.get("w").shape == (1 << 40,)
    with pytest.raises(StoreValidationError, match="the limit is"):
        reader.get("w").to_numpy()


@pytest.mark.parametrize(
    "root",
    [
        b"]"
        + b"q\x00"
        + b"](h\x00h\x00h\x00h\x00h\x00h\x00h\x00h\x00h\x00h\x00eq\x00" * 12,  # ten to the twelfth parts
        dict_of(
            a=b"(" + b"N" * 100_000 + b"tq\x00" + b"0" + (named("collections.OrderedDict") + b"h\x00R0") * 50_000 + b"N"
        ),
        dict_of(a=b"](" + b"]" * 5000 + b"eq\x00", **{f"k{i}": b"h\x00" for i in range(5000)}),
    ],
)
def test_what_is_named_over_and_over_takes_no_time(root):
    start = time.perf_counter()
    try:
        PytorchReader.from_bytes(zipped(root if root[:1] == b"}" else dict_of(x=root, w=tensor())))
    except StoreIoError as error:
        assert "over and over" in str(error) or "malformed" in str(error)
    assert time.perf_counter() - start < 20


def test_nesting_deeper_than_pythons_limit():
    refused(zipped(dict_of(a=b"](" * 5000 + tensor() + b"e" * 5000)), "nests more than 1000")
    deep = call("a.b", b"](" * 5000 + tensor() + b"e" * 5000)
    assert read(zipped(dict_of(a=deep))).keys() == ["a"]


def test_a_pickle_of_too_many_operations(monkeypatch):
    monkeypatch.setattr(unpickle, "MAX_OPERATIONS", 10_000)
    refused(zipped(b"(" + b"N0" * 6000 + b"t"), "more than 10000 operations")
    monkeypatch.setattr(unpickle, "MAX_PICKLE_SIZE", 2 << 20)
    refused(done(value("x" * (3 << 20))), "pickle of more than 2097152 bytes")


def test_packed_archives_are_read_in_windows():
    rng = np.random.default_rng(0)
    base = rng.standard_normal(1_000_000).astype("f4")
    memory = storage(numel=1_000_000)
    root = dict_of(w=tensor(memory, 900_000, (10,), (3,)), all=tensor(memory, 0, (1_000_000,), (1,)))
    reader = read(zipped(root, {"0": base.tobytes()}, zipfile.ZIP_DEFLATED))
    np.testing.assert_array_equal(reader.get("w").to_numpy(), base[900_000:900_030:3])
    np.testing.assert_array_equal(reader.get("all").to_numpy(), base)


def test_only_the_window_of_a_storage_is_read(tmp_path):
    path = tmp_path / "m.pt"
    root = dict_of(w=tensor(storage("IntStorage", numel=25_000_000), 24_000_000, (10,), (1,)))
    path.write_bytes(zipped(root, {"0": np.arange(25_000_000, dtype="i4").tobytes()}))
    tracemalloc.start()
    values = PytorchReader(path).get("w").to_numpy()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert values.tolist() == list(range(24_000_000, 24_000_010)) and peak < 3 << 20


@pytest.mark.skipif(not core.crc32_is_fast(), reason="zlib is used on such a processor")
def test_sums_are_zlibs():
    rng = np.random.default_rng(0)
    data = rng.bytes(5000)
    for size in [*range(200), 1023, 4096]:
        part, value = data[(at := int(rng.integers(64))) : at + size], int(rng.integers(1 << 32))
        assert core.crc32(part) == zlib.crc32(part) and core.crc32(part, value) == zlib.crc32(part, value)


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_a_storage_with_another_sum_is_refused(method, tmp_path):
    """From memory and from a file, as bytes and straight into a tensor."""
    data = bytearray(zipped(dict_of(w=tensor()), method=method))
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        crc = archive.getinfo("archive/data/0").CRC
    at = data.rindex(struct.pack("<L", crc))  # in the directory, which is what counts
    data[at : at + 4] = struct.pack("<L", crc ^ 1)
    (tmp_path / "m.pt").write_bytes(data)
    what = r"'w'.*'archive/data/0' do not have the sum"
    (stored,) = PytorchReader(tmp_path / "m.pt").into_tensors()
    for use in (read(bytes(data)).get("w").to_numpy, stored.to_numpy, lambda: stored.read_into(bytearray(16))):
        with pytest.raises(StoreIoError, match=what):
            use()


def test_zip_bombs(tmp_path):
    bomb = zipped(done(b"X" + struct.pack("<I", 101 << 20) + bytes(101 << 20)), method=zipfile.ZIP_DEFLATED)
    assert len(bomb) < 1 << 18
    tracemalloc.start()
    refused(bomb, "data.pkl.*the limit is 104857600")
    # A size that lies: the member unpacks to more than it says, and to less.
    for size in (1000, 200 << 20):
        lying = bytearray(zipped(dict_of(w=tensor()), {"0": bytes(16)}, zipfile.ZIP_DEFLATED))
        at = lying.rindex(b"PK\x01\x02")
        struct.pack_into("<L", lying, at + 24, size)
        with pytest.raises(RecordError):
            found = read(bytes(lying)).get("w").to_numpy()
            assert found.tolist() == [[0.0, 0.0], [0.0, 0.0]]
            raise StoreIoError("the window that was asked for is right")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20 << 20


def patched(data, at, form, *values):
    data = bytearray(data)
    struct.pack_into(form, data, at if at >= 0 else len(data) + at, *values)
    return bytes(data)


def test_directories_that_lie():
    data = zipped(dict_of(w=tensor()))
    entry = data.index(b"PK\x01\x02")
    refused(patched(data, -12, "<H", 9), "directory.*cut off|several files")
    refused(patched(data, -14, "<2H", 9, 9), "cut off")
    refused(patched(data, -6, "<L", 2**32 - 2), "past the end")
    refused(patched(data, -18, "<H", 1), "several files")
    refused(patched(data, entry + 42, "<L", 2**31), "overlaps")
    refused(patched(data, entry + 20, "<2L", 2**31, 2**31), "overlaps")
    refused(patched(data, entry + 24, "<L", 5), "two sizes")
    refused(patched(data, entry + 8, "<H", 1), "encrypted")
    refused(patched(data, entry + 10, "<H", 12), "method 12")
    refused(patched(data, entry + 16, "<L", 1), "do not have the sum")
    refused(patched(data, 0, "<4s", b"XXXX"), "no PyTorch checkpoint|no zip")
    refused(patched(data, entry, "<4s", b"XXXX"), "malformed")
    second = data.index(b"PK\x03\x04", 10)
    with pytest.raises(StoreIoError, match=r"'w'.*not where the directory says|not where the directory says"):
        read(patched(data, second, "<4s", b"XXXX")).get("w").to_numpy()
    storage_at = data.index(struct.pack("<4f", 1, 2, 3, 4))
    with pytest.raises(StoreIoError, match="do not have the sum"):
        read(patched(data, storage_at, "<f", 9.0)).get("w").to_numpy()


def test_archives_that_are_no_checkpoints():
    empty = io.BytesIO()
    zipfile.ZipFile(empty, "w").close()
    refused(empty.getvalue(), r"without 'data\.pkl'")
    refused(zipped(dict_of(w=tensor()), byteorder="big"), "byte order 'big'")
    refused(zipped(dict_of(w=tensor()), **{"constants.pkl": b""}), "TorchScript.*state_dict")
    refused(zipped(dict_of(w=tensor()), byteorder="x" * 5000), "the limit is 4096")
    out = io.BytesIO(zipped(dict_of(w=tensor())))
    with pytest.warns(UserWarning, match="Duplicate"), zipfile.ZipFile(out, "a") as archive:
        archive.writestr("archive/data/0", b"again")
    refused(out.getvalue(), "two members")
    with pytest.raises(StoreIoError, match=r"'w'.*lacks the member 'archive/data/0'"):
        read(zipped(dict_of(w=tensor()), {})).get("w").to_numpy()
    with pytest.raises(StoreIoError, match=r"'w'.*has 8 bytes, 16 are needed"):
        read(zipped(dict_of(w=tensor()), {"0": bytes(8)})).get("w").to_numpy()
    for data, what in (
        (b"", "empty"),
        (b"hello", "no PyTorch checkpoint"),
        (b"\x80", "cut off"),
        (b"NRUB", "BurnpackStore"),
    ):
        refused(data, what)
    assert read(zipped(dict_of(w=tensor()), folder="")).keys() == ["w"]


def test_damaged_legacy_and_tar_files():
    root = dict_of(w=tensor())
    refused(legacy(root, system={"little_endian": False}), "little-endian")
    refused(legacy(root, system=[]), "little-endian")
    refused(legacy(root, keys=["0", "0"]), "twice")
    refused(legacy(root, keys=["1"]), "no tensor is in it")
    refused(legacy(root, keys=3), "list of its storages")
    refused(legacy(root, {"0": bytes(10)}), "storages end at byte.*cut off")
    with pytest.raises(StoreIoError, match=r"'w'.*lacks the storage"):
        read(legacy(root, keys=[])).get("w").to_numpy()
    with pytest.raises(StoreIoError, match=r"'w'.*has 5 elements"):
        read(legacy(root, {"0": struct.pack("<q4f", 5, 1, 2, 3, 4)})).get("w").to_numpy()
    two = dict_of(a=tensor(), b=tensor(storage(numel=3), shape=(1,), strides=(1,)))
    refused(legacy(two), "two sizes")
    refused(tarred(numel=9), "view in it reaches past")
    refused(tarred(rank=65), "rank 65|malformed|at most")
    refused(tarred(offset=4), "reaches")
    refused(tarred([member("pickle")]), "two members")
    refused(patched(tarred(), 124, "<11s", b"7" * 11), "sum|cut off")


def test_plain_pickles_hold_no_tensors():
    assert read(pickle.dumps({"a": [1, {"b": None}]})).keys() == []
    refused(done(dict_of(w=tensor())), "where there is nothing")


@pytest.mark.parametrize("name", ["zip", "legacy", "tar"])
def test_mutated_files_are_read_or_refused(name):
    counts = fuzz.run(name, 1500, seed=3)
    assert counts["read"] > 20 and counts["StoreIoError"] > 700


def test_sizes_that_no_array_has():
    (found,) = read(zipped(dict_of(w=tensor(shape=(0, 1 << 62, 4), strides=(1, 1, 1))))).into_tensors()
    with pytest.raises(RecordError, match=r"'w' has 3 axes of the sizes"):
        found.to_numpy()
