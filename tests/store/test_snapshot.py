"""Tensors out of modules and into them: what is set, what is left, and what the report says."""

import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from burn import Device, Int, Tensor
from burn._core import core
from burn.errors import (
    ArgumentError,
    ArgumentTypeError,
    MissingTensorsError,
    RecordIoError,
    StoreError,
    StoreValidationError,
)
from burn.module import EnumModule, Module, Param, RunningState
from burn.nn import Linear, LinearConfig, LinearLayout
from burn.nn.norm import BatchNormConfig, InstanceNormConfig, LayerNormConfig
from burn.store import (
    ApplyResult,
    BurnpackStore,
    BurnToPyTorchAdapter,
    FloatCastAdapter,
    HalfPrecisionAdapter,
    ModuleAdapter,
    ModuleContext,
    ModuleRecord,
    PathFilter,
    PyTorchToBurnAdapter,
    SafetensorsStore,
    bridge,
    record,
)
from burn.store.pack import PackDType, PackTensor
from burn.store.result import jaro, most_similar

CPU = Device.flex()


class Choice(EnumModule):
    Base: Linear
    Other: Linear


class Model(Module):
    def __init__(self):
        self.fc = LinearConfig(2, 3).init(CPU)
        self.norms = [LayerNormConfig(3).init(CPU), BatchNormConfig(3).init(CPU)]
        self.choice = Choice.Base(LinearConfig(1, 1, bias=False).init(CPU))
        self.count = Param.from_tensor(Tensor.zeros([2], CPU, kind=Int))
        self.mask = Param.from_data([True, False], CPU)


def pack(name, values, dtype="f4", id=None):
    return PackTensor.from_numpy(name, np.asarray(values, dtype), id)


def named(tensors):
    return {tensor.name: tensor for tensor in tensors}


def test_collect_names_all_in_visit_order():
    model = Model()
    tensors = model.collect()
    assert [tensor.name for tensor in tensors] == [
        "fc.weight", "fc.bias", "norms.0.gamma", "norms.0.beta", "norms.1.gamma", "norms.1.beta", "norms.1.running_mean",
        "norms.1.running_var", "choice.Base.weight", "count", "mask",
    ]  # fmt: skip
    assert tensors[0].param_id == model.fc.weight.id.val()
    assert "choice.weight" in named(model.collect(skip_enum_variants=True))
    seen = []
    model.collect(PathFilter.from_predicate(lambda path, box: seen.append((path, box))))
    assert seen[0] == ("fc.weight", "Struct:Model.Struct:Linear")
    assert ("norms.0.gamma", "Struct:Model.Vec.Struct:LayerNorm") in seen
    assert ("choice.Base.weight", "Struct:Model.Enum:Choice.Struct:Linear") in seen


def test_apply_sets_everything_and_leaves_the_source_alone():
    source, target = Model(), Model()
    before = target.fc.weight.val().tolist()
    loaded, result = target.apply(source.collect())
    assert result.is_success() and len(result.applied) == 11 and not (result.missing or result.unused or result.skipped)
    assert loaded.fc.weight.val().tolist() == source.fc.weight.val().tolist() != before
    assert loaded.fc.weight.id == source.fc.weight.id and target.fc.weight.val().tolist() == before
    assert loaded.norms[1].running_var.id == source.norms[1].running_var.id


def test_ids_stay_where_the_source_has_none_and_nothing_is_initialised():
    target = LinearConfig(2, 3).init(CPU)
    loaded, _ = target.apply([pack("weight", np.ones((2, 3)))])
    assert (
        loaded.weight.id == target.weight.id and not target.weight.is_initialized() and not loaded.bias.is_initialized()
    )


def test_source_dtype_wins_and_training_stays():
    target = LinearConfig(2, 3).init(CPU.autodiff()).freeze()
    loaded, _ = target.apply([pack("weight", np.ones((2, 3)), "f8")])
    assert (
        str(loaded.weight.val().dtype) == "f64" and loaded.weight.val().is_autodiff() and not loaded.weight.is_active()
    )


def test_kinds_and_shapes():
    wrong = [pack("fc.weight", np.ones((3, 2))), pack("fc.bias", [1, 2, 3], "i4"), pack("count", [1.0, 2.0])]
    model, result = Model().apply([*wrong, pack("mask", [2, 0], "u1"), pack("norms.0.gamma", [0.5] * 3, "f2")])
    assert sorted(map(str, result.errors)) == [
        "DType mismatch for 'count': expected I32, found F32",
        "DType mismatch for 'fc.bias': expected F32, found I32",
        "Shape mismatch for 'fc.weight': expected [2, 3], found [3, 2]",
    ]
    assert result.applied == ["norms.0.gamma", "mask"] and model.mask.val().tolist() == [True, False]
    assert {path for path, _ in result.missing} >= {"norms.0.beta", "choice.Base.weight"}


def test_a_wrong_shape_is_found_without_reading():
    def provider():
        raise AssertionError("read")

    tensor = bridge.deferred("weight", PackDType("F32"), (9, 9), provider)
    assert len(LinearConfig(2, 3).init(CPU).apply([tensor])[1].errors) == 1


def test_filtered_parameters_are_skipped_whether_the_source_has_them_or_not():
    source = [pack("fc.weight", np.ones((2, 3))), pack("fc.bias", [1.0] * 3), pack("extra", [1.0])]
    _, result = Model().apply(source, PathFilter().with_regex(r"^fc\.weight"))
    assert result.applied == ["fc.weight"] and not result.missing and result.unused == ["extra"]
    assert "fc.bias" in result.skipped and "choice.Base.weight" in result.skipped and len(result.skipped) == 10


def test_filters_see_paths_of_the_module_before_adapting():
    """Norms are filtered by their own names, although PyTorch's are saved."""

    class Net(Module):
        def __init__(self):
            self.norm = LayerNormConfig(2).init(CPU)

    for store in (SafetensorsStore.from_bytes(), BurnpackStore.from_bytes()):
        store.with_to_adapter(BurnToPyTorchAdapter()).with_regex(r"gamma$")
        Net().save_into(
            store.with_predicate(lambda path, box: path == "norm.beta" and box == "Struct:Net.Struct:LayerNorm")
        )
        assert store.keys() == ["norm.bias", "norm.weight"]


@pytest.mark.parametrize("layout", list(LinearLayout))
def test_pytorch_linear_of_both_layouts(layout):
    model = LinearConfig(2, 3, layout=layout).init(CPU)
    saved = named(model.collect(adapter=BurnToPyTorchAdapter()))
    np.testing.assert_array_equal(saved["weight"].to_numpy(), model.weight.val().numpy().T)
    weights = np.arange(6.0).reshape(3, 2)
    loaded, result = model.apply([pack("weight", weights), pack("bias", [0.0] * 3)], adapter=PyTorchToBurnAdapter())
    assert result.is_success()
    np.testing.assert_array_equal(loaded.weight.val().numpy(), weights.T)
    # After the first use the parameter is initialised; a square weight would show a wrong order only in its values.
    square = LinearConfig(2, 2, layout=layout).init(CPU)
    again, _ = square.apply([pack("weight", [[1, 2], [3, 4]])], adapter=PyTorchToBurnAdapter())
    assert again.weight.val().tolist() == [[1.0, 3.0], [2.0, 4.0]]


@pytest.mark.parametrize("config", [InstanceNormConfig(2), LayerNormConfig(2), BatchNormConfig(2)])
def test_norms_of_pytorch(config):
    layer = config.init(CPU)
    loaded, result = layer.apply([pack("weight", [2, 3]), pack("bias", [4, 5])], adapter=PyTorchToBurnAdapter())
    assert (loaded.gamma.val().tolist(), loaded.beta.val().tolist()) == ([2.0, 3.0], [4.0, 5.0]) and result.is_success()
    saved = [tensor.name for tensor in layer.collect(adapter=BurnToPyTorchAdapter())]
    assert saved[:2] == ["weight", "bias"]
    back, _ = layer.apply(loaded.collect(), adapter=BurnToPyTorchAdapter())
    assert back.gamma.val().tolist() == [2.0, 3.0]


def test_half_precision_goes_and_comes():
    class Net(Module):
        def __init__(self):
            self.fc, self.norm = LinearConfig(8, 16).init(CPU), BatchNormConfig(2).init(CPU)

    model, store = Net(), BurnpackStore.from_bytes().with_to_adapter(HalfPrecisionAdapter())
    model.save_into(store)
    dtypes = {name: str(tensor.dtype) for name, tensor in store.get_all_tensors().items()}
    assert (
        dtypes["fc.weight"] == dtypes["fc.bias"] == "F16"
        and dtypes["norm.running_var"] == dtypes["norm.gamma"] == "F32"
    )
    half, _ = Net().load_from(store)
    assert str(half.fc.weight.val().dtype) == "f16"
    full, _ = Net().load_from(store.with_from_adapter(HalfPrecisionAdapter()))
    assert str(full.fc.weight.val().dtype) == "f32"
    np.testing.assert_allclose(full.fc.weight.val().numpy(), model.fc.weight.val().numpy(), atol=1e-3)
    with pytest.raises(ArgumentError, match="'BatchNorm'"):
        HalfPrecisionAdapter().without_module("BatchNorm")


def test_casts_round_to_nearest():
    """1.00390625 is a tie of bf16 and goes to even; NaN stays NaN; a double is not rounded twice."""
    values = np.array([1.0, -3.0, 1.00390625, 1.01171875, np.nan, 1 + 2**-8 + 2**-40, 1e300])
    context = ModuleContext("w", [])
    cast = FloatCastAdapter.to("bf16").adapt(pack("w", values, "f8"), context)
    words = cast.to_numpy().view("u2")
    assert [hex(word) for word in words[:4]] == ["0x3f80", "0xc040", "0x3f80", "0x3f82"]
    assert np.isnan(cast.to_numpy()[4].astype("f4")) and hex(words[5]) == "0x3f81" and hex(words[6]) == "0x7f80"
    assert FloatCastAdapter.to("f16").adapt(pack("w", [1, 2], "i4"), context).dtype.name == "I32"
    with pytest.raises(ArgumentError, match="float dtype, got i32"):
        FloatCastAdapter.to("i32")


def test_what_lies_askew_in_a_file_is_adapted_too():
    header = json.dumps({"w": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}})
    header += " " * (4 - len(header) % 4 + 1)
    raw = len(header).to_bytes(8, "little") + header.encode() + np.arange(6, dtype="f4").tobytes()
    store = SafetensorsStore.from_bytes(raw).with_key_remapping("w", "weight").allow_partial(True)
    want = np.arange(6.0).reshape(2, 3).T.tolist()
    for adapter in (PyTorchToBurnAdapter(), PyTorchToBurnAdapter().chain(FloatCastAdapter.to("f16"))):
        loaded, _ = LinearConfig(3, 2).init(CPU).load_from(store.with_from_adapter(adapter))
        assert loaded.weight.val().tolist() == want
    number = FloatCastAdapter.to("f64").adapt(pack("w", 1.5), ModuleContext("w", []))
    assert number.to_numpy().shape == () and number.to_numpy() == 1.5
    assert FloatCastAdapter.to("f64").adapt(pack("w", np.ones((1,) * 10)), ModuleContext("w", [])).to_numpy().ndim == 10
    flags = PyTorchToBurnAdapter().adapt(pack("weight", [[2, 0]], "?"), ModuleContext("weight", ["Struct:Linear"]))
    assert flags.to_numpy().tolist() == [[True], [False]]
    assert FloatCastAdapter.to("f16").adapt(pack("w", np.zeros((0, 3))), ModuleContext("w", [])).to_numpy().shape == (
        0,
        3,
    )


def test_an_adapter_that_raises_is_reported():
    class Broken(ModuleAdapter):
        def adapt(self, tensor, context):
            raise ZeroDivisionError("oops")

    class Silent(ModuleAdapter):
        def adapt(self, tensor, context):
            return None

    model = LinearConfig(2, 3).init(CPU)
    _, result = model.apply(model.collect(), adapter=Broken())
    assert str(result.errors[0]) == "Adapter error for 'weight': ZeroDivisionError: oops"
    assert "must return a PackTensor" in str(model.apply(model.collect(), adapter=Silent())[1].errors[0])
    with pytest.raises(StoreError, match=r"'weight'.*oops"):
        model.collect(adapter=Broken())
    with pytest.raises(ArgumentTypeError, match="must be a ModuleAdapter, got the class Broken"):
        model.collect(adapter=Broken)


def test_a_provider_that_raises_is_reported():
    def fail():
        raise KeyError("lost")

    tensor = bridge.deferred("weight", PackDType("F32"), (2, 3), fail)
    _, result = LinearConfig(2, 3).init(CPU).apply([tensor])
    assert "'weight' could not be produced: KeyError: 'lost'" in str(result.errors[0])

    class Late(ModuleAdapter):
        def adapt(self, tensor, context):
            return bridge.map_data(tensor, lambda array: fail(), tensor.dtype, tensor.shape)

    for store in (BurnpackStore.from_bytes(), SafetensorsStore.from_bytes()):
        with pytest.raises(StoreError, match=r"'(weight|bias)' could not be produced: KeyError"):
            LinearConfig(2, 3).init(CPU).save_into(store.with_to_adapter(Late()))


def test_a_provider_that_gives_something_else_is_reported():
    tensor = bridge.deferred("weight", PackDType("F32"), (2, 3), lambda: np.zeros((3, 2), "f4"))
    _, result = LinearConfig(2, 3).init(CPU).apply([tensor])
    assert "provider produced F32 [3, 2], but the tensor declared F32 [2, 3]" in str(result.errors[0])


def test_a_failed_load_leaves_the_module_alone_and_has_the_result():
    model = LinearConfig(2, 3).init(CPU)
    before = model.weight.val().tolist()
    store = BurnpackStore.from_bytes()
    LinearConfig(2, 4).init(CPU).save_into(store)
    with pytest.raises(
        StoreValidationError, match=r"2 parameters cannot be set: Shape mismatch for 'weight'"
    ) as caught:
        model.load_from(store)
    assert model.weight.val().tolist() == before and len(caught.value.result.errors) == 2
    _, result = model.load_from(store.validate(False))
    assert len(result.errors) == 2
    LinearConfig(2, 3, bias=False).init(CPU).save_into(store)
    with pytest.raises(MissingTensorsError, match=r"lacks 1 parameters \('bias'\); allow_partial\(True\)"):
        model.load_from(store)
    loaded, result = model.load_from(store.allow_partial(True))
    assert result.missing == [("bias", "Struct:Linear")] and loaded.bias is model.bias


def test_two_tensors_of_one_name_raise():
    with pytest.raises(StoreValidationError, match="'weight'"):
        LinearConfig(2, 3).init(CPU).apply([pack("weight", [1.0]), pack("weight", [2.0])])


def test_variants_of_enums_are_left_out_on_demand():
    model, result = Model().apply([pack("choice.weight", [[7.0]])], skip_enum_variants=True)
    assert model.choice.module.weight.val().tolist() == [[7.0]] and result.applied == ["choice.weight"]
    _, result = Model().apply([pack("choice.weight", [[7.0]])])
    report = str(result)
    assert "1 of the missing paths go through a variant" in report and "skip_enum_variants(True)" in report
    assert "• choice.Base.weight\n│        Did you mean: 'choice.weight'?" in report


def test_the_report_shows_ten_of_each():
    result = ApplyResult(missing=[(f"layer.{i}", "") for i in range(12)], unused=[f"z{i}" for i in range(13)])
    report = str(result)
    assert "First 10 missing tensors:" in report and "    ... and 2 more" in report and "    ... and 3 more" in report
    assert "layer.9" in report and "layer.10" not in report


def test_similar_names():
    assert jaro("DIXON", "DICKSONX") == pytest.approx(0.7667, abs=1e-4) and jaro("abc", "xyz") == 0.0
    assert most_similar("encoder.weight", ["decoder.weight", "encoder.wieght"]) == "encoder.wieght"
    assert most_similar("a", ["zzz"]) is None


def test_running_states_are_loaded():
    class Net(Module):
        def __init__(self):
            self.state = RunningState(Tensor.zeros([2], CPU))

    loaded, _ = Net().apply([pack("state", [1, 2], id=7)])
    assert loaded.state.value().tolist() == [1.0, 2.0] and loaded.state.id.val() == 7


def test_a_report_about_thousands_of_names_takes_no_time():
    unused = [f"model.encoder.layers.{i}.self_attention.output.dense.kernel_{i:04d}" for i in range(5000)]
    missing = [(f"encoder.blocks.{i}.attention.out.weight", "") for i in range(100)]
    start = time.perf_counter()
    assert "First 10 missing" in str(ApplyResult(missing=missing, unused=unused))
    assert time.perf_counter() - start < 5


class Wide(Module):
    """Layers of a megabyte each, which threads read."""

    def __init__(self):
        self.layers = [LinearConfig(512, 512).init(CPU) for _ in range(6)]


def wide_file(tmp_path):
    model = Wide()
    model.save_into(SafetensorsStore.from_file(tmp_path / "m.safetensors").with_to_adapter(BurnToPyTorchAdapter()))
    return model, SafetensorsStore.from_file(tmp_path / "m.safetensors").with_from_adapter(PyTorchToBurnAdapter())


@pytest.mark.parametrize("threads", [1, 2])
def test_large_tensors_are_read_by_threads(threads, tmp_path, monkeypatch):
    """Values, order and result are those of one thread; code of others stays in the thread that called."""
    monkeypatch.setattr(core, "pool_size_now", lambda: threads)
    model, store = wide_file(tmp_path)
    loaded, result = Wide().load_from(store)
    assert result.applied == [tensor.name for tensor in model.collect()]
    assert all(
        bytes(a.to_bytes()) == bytes(b.to_bytes()) for a, b in zip(model.collect(), loaded.collect(), strict=True)
    )

    callers = set()

    class Mine(ModuleAdapter):
        def adapt(self, tensor, context):
            def same(array):
                callers.add(threading.get_ident())
                return array

            return bridge.map_data(tensor, same, tensor.dtype, tensor.shape)

    Wide().load_from(store.with_from_adapter(PyTorchToBurnAdapter().chain(Mine())))
    assert callers == {threading.get_ident()}


def test_what_a_thread_cannot_read_is_reported(tmp_path, monkeypatch):
    monkeypatch.setattr(core, "pool_size_now", lambda: 2)
    _, store = wide_file(tmp_path)
    store.keys()
    with open(tmp_path / "m.safetensors", "r+b") as file:
        file.truncate(3 << 20)
    with pytest.raises(
        StoreValidationError, match=r"Load error for 'layers\.\d\.weight'.*m\.safetensors.*shorter"
    ) as caught:
        Wide().load_from(store)
    assert 0 < len(caught.value.result.errors) < 12 and len(caught.value.result.applied) > 0


@pytest.mark.parametrize("threads", [1, 2])
def test_records_are_read_by_threads(threads, tmp_path, monkeypatch):
    """Values are those of one thread, and so is what is said of a file that was cut."""
    monkeypatch.setattr(core, "pool_size_now", lambda: threads)
    pools = []
    monkeypatch.setattr(record, "ThreadPoolExecutor", lambda *args: pools.append(args) or ThreadPoolExecutor(*args))
    model, path = Wide(), tmp_path / "m.bpk"
    model.save_file(path)
    loaded = Wide().load_file(path)
    assert all(
        bytes(a.to_bytes()) == bytes(b.to_bytes()) for a, b in zip(model.collect(), loaded.collect(), strict=True)
    )
    assert len(pools) == threads - 1
    opened = ModuleRecord.load(path)
    with open(path, "r+b") as file:
        file.truncate(3 << 20)
    with pytest.raises(RecordIoError, match=r"m\.bpk.*became shorter"):
        Wide().load_record(opened)


@pytest.mark.parametrize("shape", [(1, 6), (6, 1), (2, 3)])
@pytest.mark.parametrize("kind", [bytes, bytearray])
def test_memory_that_can_change_is_never_shared(kind, shape):
    """A transposed row is the same bytes: loaded without a copy from bytes, but not from what its owner may write to."""
    memory = SafetensorsStore.from_bytes()
    model = LinearConfig(*shape).init(CPU)
    model.save_into(memory.with_to_adapter(BurnToPyTorchAdapter()))
    data = kind(memory.get_bytes())
    store = SafetensorsStore.from_bytes(data).with_from_adapter(PyTorchToBurnAdapter())
    loaded, _ = LinearConfig(*shape).init(CPU).load_from(store)
    if kind is bytearray:
        data[-64:] = bytes(64)
    assert loaded.weight.val().tolist() == model.weight.val().tolist()
    assert loaded.bias.val().tolist() == model.bias.val().tolist()
