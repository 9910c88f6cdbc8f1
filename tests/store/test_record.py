"""Records of modules: files of Burn, round trips, and what does not fit."""

import copy
import os
import pickle
import time
import tracemalloc

import ml_dtypes
import numpy as np
import pytest

from burn import Bool, Device, DType, Int, Tensor
from burn.errors import ArgumentTypeError, NotYetError, RecordError, RecordIoError, RecordValidationError
from burn.module import Module, ModuleMapper, Param, ParamGroup, ParamId
from burn.nn import EmbeddingConfig, LinearConfig, LinearLayout
from burn.store import BurnpackStore, DTypePolicy, ModuleRecord, SafetensorsStore
from burn.store.pack import PackDType, PackTensor, Reader, Writer
from tests.golden import FOLDER

CPU = Device.flex()
AD = CPU.autodiff()


class Tiny(Module):
    def __init__(self, device=CPU, fill=None):
        values = ([[1.0, 2.0], [3.0, 4.0]], [5.0, 6.0]) if fill is None else ([[fill] * 2] * 2, [fill] * 2)
        self.weight = Param.initialized(ParamId(1), Tensor.from_data(values[0], device))
        self.bias = Param.initialized(ParamId(2), Tensor.from_data(values[1], device))


class Wide(Tiny):
    def __init__(self, device=CPU):
        super().__init__(device, 0.0)
        self.gamma = Param.from_data([0.0], device)


class Kinds(Module):
    def __init__(self, device=CPU):
        self.ints = Param.from_tensor(Tensor.from_data([1, 2], device))
        self.mask = Param.from_tensor(Tensor.from_data([True, False], device))
        self.real = Param.from_tensor(Tensor.from_data([1.5, 2.5], device))


def values(module):
    return {entry.name: entry.to_numpy().tolist() for entry in module.into_record().tensors()}


def record_of(**arrays):
    return ModuleRecord([PackTensor.from_numpy(name, array) for name, array in arrays.items()])


def test_save_and_load(tmp_path):
    Tiny().save_file(tmp_path / "tiny")
    loaded = Tiny(fill=0.0).load_file(tmp_path / "tiny")
    assert values(loaded) == {"weight": [[1.0, 2.0], [3.0, 4.0]], "bias": [5.0, 6.0]}
    assert (tmp_path / "tiny.bpk").stat().st_size == 520
    assert loaded.into_record().into_bytes() == (tmp_path / "tiny.bpk").read_bytes()


def test_ids_become_the_saved_ones_and_the_target_stays_as_it_was():
    target = LinearConfig(2, 2).init(AD)
    record = LinearConfig(2, 2).init(CPU).into_record()
    ids = [entry.param_id for entry in record.tensors()]
    loaded = target.load_record(record)
    assert [loaded.weight.id.val(), loaded.bias.id.val()] == ids
    assert target.weight.id.val() not in ids and not target.weight.is_initialized()
    assert loaded.weight.val().is_require_grad() and loaded.weight.val().is_autodiff()
    assert loaded.weight.is_active()
    frozen = target.no_grad().load_record(record)
    assert not frozen.weight.val().is_require_grad() and frozen.weight.val().is_autodiff()


def test_values_land_on_the_devices_of_the_module():
    there = Device.ndarray()
    loaded = LinearConfig(2, 2).init(there).load_record(LinearConfig(2, 2).init(CPU).into_record())
    assert loaded.devices() == [there]


@pytest.mark.parametrize("name", ["Linear.1", "Linear.2", "Linear.3", "Embedding.1"])
def test_files_of_burn_round_trip_through_a_module(name, tmp_path):
    path = FOLDER / f"nn/{name}.bpk"
    config = EmbeddingConfig(7, 4) if name.startswith("Emb") else LinearConfig(4, 5, bias=name != "Linear.2")
    if name == "Linear.3":
        config = config.with_layout(LinearLayout.Col)
    module = config.init(AD).load_file(path)
    module.save_file(tmp_path / "again.bpk")
    assert (tmp_path / "again.bpk").read_bytes() == path.read_bytes()


@pytest.mark.parametrize("name, dtype", [("f16", DType.F16), ("bf16", DType.BF16), ("f64", DType.F64)])
def test_loaded_weights_keep_their_dtype(name, dtype, tmp_path):
    path = FOLDER / f"records/linear_{name}.bpk"
    loaded = LinearConfig(4, 3).init(CPU).load_file(path)
    assert loaded.weight.dtype is dtype and loaded.bias.dtype is dtype
    loaded.save_file(tmp_path / "again.bpk")
    assert (tmp_path / "again.bpk").read_bytes() == path.read_bytes()
    cast = LinearConfig(4, 3).init(CPU).load_record(ModuleRecord.load(path).cast_to_module_dtype())
    assert cast.weight.dtype is DType.F32
    np.testing.assert_array_equal(cast.weight.numpy(), loaded.weight.cast(DType.F32).numpy())


def test_the_column_layout_is_stored_transposed():
    path = FOLDER / "records/linear_col.bpk"
    linear = LinearConfig(4, 3, layout=LinearLayout.Col).init(AD).load_file(path)
    stored = Reader.from_file(path).tensor("weight").to_numpy()
    assert stored.shape == (3, 4) and linear.weight.dims() == [4, 3]
    np.testing.assert_array_equal(linear.weight.numpy(), stored.T)


def test_a_used_column_layout_loads_again():
    config = LinearConfig(4, 3, layout=LinearLayout.Col)
    record, used = config.init(CPU).into_record(), config.init(CPU)
    used(Tensor.ones([1, 4], CPU))
    used.load_record(record)
    for wrong in (LinearConfig(4, 3), LinearConfig(3, 4, layout=LinearLayout.Col)):
        with pytest.raises(
            RecordValidationError, match=r"weight: shape mismatch, expected \[3, 4\] but record has \[4, 3\]"
        ):
            used.load_record(wrong.init(CPU).into_record())


def test_groups_make_smaller_records():
    record = Tiny().into_record_group(ParamGroup.from_path("weight"))
    assert len(record) == 1 and record.paths() == ["weight"] and not record.is_empty()
    loaded = Tiny(fill=0.0).load_record(record.allow_partial(True))
    assert values(loaded) == {"weight": [[1.0, 2.0], [3.0, 4.0]], "bias": [0.0, 0.0]}


def test_missing_and_unused():
    with pytest.raises(
        RecordValidationError, match=r'Unused tensors: \["gamma"\] in the record; load with allow_unused\(True\)'
    ):
        Tiny().load_record(Wide().into_record())
    with pytest.raises(
        RecordValidationError, match=r'Missing tensors: \["gamma"\] in the record; load with allow_part'
    ):
        Wide().load_record(Tiny().into_record())
    loaded = Wide().load_record(Tiny().into_record().allow_partial(True))
    assert values(loaded)["gamma"] == [0.0] and values(loaded)["bias"] == [5.0, 6.0]
    assert values(Tiny(fill=0.0).load_record(Wide().into_record().allow_unused(True)))["bias"] == [0.0, 0.0]
    with pytest.raises(RecordValidationError, match=r'Unused tensors: \["other"\]'):
        Tiny().load_record(record_of(other=np.ones(1, "f4")).allow_partial(True))


def test_errors_name_the_file(tmp_path):
    Wide().save_file(tmp_path / "wide")
    with pytest.raises(RecordValidationError, match=r'\["gamma"\] in the record of \'.*wide\'; load with'):
        Tiny().load_file(tmp_path / "wide")
    with pytest.raises(
        RecordValidationError, match=r"the record of '.*wide' does not.*bias: shape mismatch.*validate\(Fa"
    ):
        Tiny().replace(bias=Param.from_data([1.0], CPU)).load_file(tmp_path / "wide")


def test_shapes():
    wrong = record_of(weight=np.ones((2, 3), "f4"), bias=np.full(2, 9, "f4"))
    with pytest.raises(
        RecordValidationError, match=r"weight: shape mismatch, expected \[2, 2\] but record has \[2, 3\]"
    ):
        Tiny().load_record(wrong)
    skipped = Tiny().load_record(wrong.validate(False))
    assert values(skipped) == {"weight": [[1.0, 2.0], [3.0, 4.0]], "bias": [9.0, 9.0]}
    with pytest.raises(RecordValidationError, match="Unused tensors"):
        Tiny().load_record(record_of(x=np.ones(1)).validate(False).allow_partial(True))


def test_kinds():
    ints = {"ints": np.array([3.0, 4.0], "f4"), "mask": np.array([True, True]), "real": np.array([1, 2], "i8")}
    with pytest.raises(RecordValidationError) as caught:
        Kinds().load_record(record_of(**ints))
    assert "ints: kind mismatch, the parameter is int but the record has F32" in str(caught.value)
    assert "real: kind mismatch, the parameter is float but the record has I64" in str(caught.value)
    cast = Kinds().load_record(record_of(**ints).with_dtype_policy(DTypePolicy.CastToModule))
    assert cast.ints.dtype is DType.I32 and cast.ints.tolist() == [3, 4]
    assert cast.real.dtype is DType.F32 and cast.real.tolist() == [1.0, 2.0]
    wide = record_of(ints=np.array([3, 4], "i8"), mask=np.array([0, 7], "u1"), real=np.array([1, 2], "f8"))
    loaded = Kinds().load_record(wide)
    assert loaded.ints.dtype is DType.I64 and loaded.real.dtype is DType.F64
    assert loaded.mask.dtype.is_bool and loaded.mask.tolist() == [False, True]
    with pytest.raises(RecordValidationError, match="the parameter is bool but the record has F32"):
        Kinds().load_record(record_of(**{**ints, "mask": np.zeros(2, "f4")}))


def test_entries_without_an_id_keep_the_target_id():
    target = Tiny()
    loaded = target.load_record(record_of(weight=np.ones((2, 2), "f4"), bias=np.ones(2, "f4")))
    assert loaded.weight.id == ParamId(1) and loaded.bias.id == ParamId(2)


def test_bool_bytes_are_normalised():
    data = bytearray(Writer([PackTensor.from_numpy("mask", np.array([True, False]))]).into_bytes())
    data[256] = 0xFF

    class Mask(Module):
        def __init__(self):
            self.mask = Param.from_tensor(Tensor.zeros([2], CPU, kind=Bool))

    assert Mask().load_record(ModuleRecord.from_bytes(data)).mask.tolist() == [True, False]


def test_bf16_bytes(tmp_path):
    class Half(Module):
        def __init__(self):
            self.x = Param.from_tensor(Tensor.from_data([1.00390625, 1.01171875], CPU).cast(DType.BF16))

    entry = Half().into_record().tensors()[0]
    assert entry.to_numpy().dtype == ml_dtypes.bfloat16
    assert bytes(entry.to_bytes()) == b"\x80\x3f\x82\x3f"


def test_errors_of_files(tmp_path):
    with pytest.raises(RecordIoError, match="no such file"):
        Tiny().load_file(tmp_path / "missing")
    for kind in (FileNotFoundError, OSError, RecordError, ValueError):
        with pytest.raises(kind):
            Tiny().try_load_file(tmp_path / "missing")
    (tmp_path / "old.bpk").write_bytes(b"\x83\xa8metadata")
    with pytest.raises(RecordIoError, match=r"NamedMpk record.*0\.21.*safetensors"):
        Tiny().load_file(tmp_path / "old.bpk")
    with pytest.raises(RecordIoError, match="cannot write"):
        Tiny().save_file(tmp_path / "no" / "folder")


def test_saving_over_the_file_a_record_was_read_from(tmp_path):
    path = tmp_path / "m.bpk"
    Tiny().save_file(path)
    record = ModuleRecord.load(path)
    Tiny(fill=9.0).save_file(path)
    assert values(Tiny(fill=0.0).load_record(record))["bias"] == [5.0, 6.0]


@pytest.mark.parametrize("name", ["linear_q8s_native", "linear_q4f_packed_block8"])
def test_quantized_records_say_that_they_are(name):
    path = FOLDER / f"records/{name}.bpk"
    (shape,) = (entry.shape for entry in ModuleRecord.load(path).tensors() if entry.name == "weight")
    for error in (NotYetError, RecordValidationError):
        with pytest.raises(error, match=r"'weight' is quantized \(QFloat.*this release has no quantized tensors yet"):
            LinearConfig(*shape).init(CPU).load_file(path)


class Pair(Module):
    def __init__(self):
        self.a = Param.from_tensor(Tensor.zeros([3], CPU))
        self.b = Param.from_tensor(Tensor.zeros([2, 2], CPU, dtype="i64"))


def test_files_are_read_into_the_memory_of_the_tensors(tmp_path, monkeypatch):
    a, b = np.arange(3, dtype="f8"), np.arange(4, dtype="i8").reshape(2, 2)
    record_of(a=a, b=b).save(tmp_path / "m")
    monkeypatch.setattr(PackTensor, "to_bytes", None)  # what makes copies
    loaded = Pair().load_file(tmp_path / "m")
    assert loaded.a.tolist() == a.tolist() and loaded.b.tolist() == b.tolist()
    assert loaded.a.dtype is DType.F64 and loaded.b.dtype is DType.I64


def test_bytes_that_cannot_change_are_shared():
    a = np.arange(3, dtype="f4")
    data = record_of(a=a, b=np.zeros((2, 2), "i8")).into_bytes()
    loaded = Pair().load_record(ModuleRecord.from_bytes(data))
    start = np.frombuffer(data, "u1").ctypes.data
    assert start <= loaded.a.val().numpy().ctypes.data < start + len(data)
    doubled = loaded.map(_Double())  # nothing is written into the bytes
    assert doubled.a.tolist() == [0.0, 2.0, 4.0] and loaded.a.tolist() == [0.0, 1.0, 2.0]
    changing = bytearray(data)
    loaded = Pair().load_record(ModuleRecord.from_bytes(changing))
    changing[256:] = bytes(len(changing) - 256)
    assert loaded.a.tolist() == [0.0, 1.0, 2.0]


class _Double(ModuleMapper):
    def map_float(self, param):
        return param.map(lambda tensor: tensor * 2.0)

    map_int = map_float


def test_a_file_that_shrinks_before_it_is_applied(tmp_path):
    record_of(a=np.ones(3, "f4"), b=np.ones((2, 2), "i8")).save(tmp_path / "m.bpk")
    module, record = Pair(), ModuleRecord.load(tmp_path / "m.bpk")
    os.truncate(tmp_path / "m.bpk", 300)
    with pytest.raises(RecordIoError, match=r"tensor 'b': .*m\.bpk' became shorter"):
        module.load_record(record)
    assert module.a.tolist() == [0.0, 0.0, 0.0]


def test_opening_a_large_file_reads_its_head_alone(tmp_path):
    size = 2 << 30
    shape = [size // 4]
    head = Writer([PackTensor.deferred("a", PackDType("F32"), shape, size, lambda: b"")])._plan()[0]
    with open(tmp_path / "big.bpk", "wb") as file:
        file.write(head)
        file.truncate(len(head) + size)
    tracemalloc.start()
    start = time.perf_counter()
    record = ModuleRecord.load(tmp_path / "big.bpk")
    seconds, memory = time.perf_counter() - start, tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert record.tensors()[0].shape == tuple(shape)
    assert memory < 1 << 20 and seconds < 1.0  # 50 ms on an idle machine: benchmarks/bench_module.py


def test_saving_waits_for_the_disk_where_that_is_asked_for(tmp_path, monkeypatch):
    flushed = []
    monkeypatch.setattr(os, "fsync", flushed.append)
    Tiny().save_file(tmp_path / "tiny")
    assert not flushed
    Tiny().save_file(tmp_path / "tiny", sync=True)
    assert len(flushed) == 2  # the file, and the folder that has its name
    Tiny().into_record().save(tmp_path / "tiny", sync=True)
    Tiny().save_into(BurnpackStore.from_file(tmp_path / "tiny").overwrite(True).sync(True))
    Tiny().save_into(SafetensorsStore.from_file(tmp_path / "tiny").overwrite(True).sync(True))
    assert len(flushed) == 8
    with pytest.raises(ArgumentTypeError, match="'sync' must be True or False, got 1"):
        Tiny().save_file(tmp_path / "tiny", sync=1)


def test_records_are_copied_and_pickled(tmp_path):
    Tiny().save_file(tmp_path / "tiny")
    record = ModuleRecord.load(tmp_path / "tiny").allow_partial(True)
    assert copy.copy(record).paths() == record.paths()
    twins = copy.deepcopy(record), pickle.loads(pickle.dumps(record))
    os.truncate(tmp_path / "tiny.bpk", 300)  # they do not need the file any more
    for twin in twins:
        assert twin.into_bytes() == Tiny().into_record().into_bytes()
        assert values(Wide().load_record(twin))["bias"] == [5.0, 6.0]


def test_a_name_stands_for_one_tensor():
    with pytest.raises(RecordValidationError, match="two tensors are named 'bias'"):
        Tiny().load_record(ModuleRecord(Tiny().into_record().tensors() + Tiny().into_record().tensors()[1:]))


def test_int_parameters_are_recorded_in_their_dtype():
    class Table(Module):
        def __init__(self):
            self.table = Param.from_tensor(Tensor.zeros([2], CPU, kind=Int))

    assert str(Table().into_record().tensors()[0].dtype) == "I32"


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda m: m.load_file(None), r"\[load_file\] 'path' must be a path \(a str or an os.PathLike\), got None"),
        (lambda m: m.load_file(3), "'path' must be a path"),
        (lambda m: m.save_file(None), r"\[save_file\] 'path' must be a path"),
        (lambda m: ModuleRecord.from_bytes(None), r"'data' must be bytes or a contiguous buffer of numbers, got None"),
        (lambda m: ModuleRecord.from_bytes("a"), "'data' must be bytes"),
        (lambda m: ModuleRecord().apply(None), r"\[apply\] 'module' must be a Module, got None"),
        (lambda m: ModuleRecord.from_module(3), "'module' must be a Module, got 3"),
        (lambda m: m.into_record().with_dtype_policy("cast"), "'policy' must be a DTypePolicy"),
        (lambda m: m.into_record().allow_partial("no"), r"\[allow_partial\] 'allow' must be True or False, got 'no'"),
        (lambda m: m.into_record().allow_unused(1), r"\[allow_unused\] 'allow' must be True or False, got 1"),
        (lambda m: m.into_record().validate(None), r"\[validate\] 'validate' must be True or False, got None"),
    ],
)
def test_arguments_of_another_type(call, message):
    with pytest.raises(ArgumentTypeError, match=message):
        call(Tiny())


def test_paths_that_name_no_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "models").mkdir()
    (tmp_path / "taken.bpk").mkdir()
    for path in ("", "models/", ".."):
        for use in (Tiny().save_file, Tiny().load_file):
            with pytest.raises(RecordIoError, match=rf"'path' must name a file, got '{path}'"):
                use(path)
    for path in ("models", "taken", "taken.bpk"):
        with pytest.raises(RecordIoError, match=rf"cannot write '{path}(.bpk)?': it is a folder"):
            Tiny().save_file(path)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["models", "taken.bpk"]


def test_a_path_may_be_bytes(tmp_path):
    Tiny().save_file(str(tmp_path / "tiny").encode())
    assert (tmp_path / "tiny.bpk").exists()
