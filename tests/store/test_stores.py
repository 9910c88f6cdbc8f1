"""What all stores share: builders, files, errors; and burnpack stores against Burn's file."""

import inspect
import os

import numpy as np
import pytest

from burn import Device
from burn.errors import ArgumentError, ArgumentTypeError, RecordIoError, StoreError, StoreIoError, StoreValidationError
from burn.nn import LinearConfig
from burn.store import BurnpackStore, KeyRemapper, ModuleStore, PathFilter, PytorchStore, SafetensorsStore
from burn.store.base import SavingStore
from burn.store.pack import AlreadyExists, Reader
from tests.golden import FOLDER
from tests.module.test_zoo import zoo

CPU = Device.flex()
SAVING = [BurnpackStore, SafetensorsStore]
LOADING = """filter with_filter with_regex with_regexes with_full_path with_full_paths with_predicate with_predicates match_all
    remap with_key_remapping with_remap_pattern map_indices_contiguous map_indices_contiguous_except allow_partial validate
    skip_enum_variants with_from_adapter""".split()  # fmt: skip
WRITING = "auto_extension overwrite metadata clear_metadata with_to_adapter".split()


def linear(*size):
    return LinearConfig(*size).init(CPU)


def test_burns_file_loads_and_comes_out_again_byte_for_byte(tmp_path):
    path = FOLDER / "records/zoo_store.bpk"
    loaded, result = zoo().load_from(BurnpackStore.from_file(path))
    assert len(result.applied) == 36 and not result.unused
    loaded.save_into(BurnpackStore.from_file(tmp_path / "zoo"))
    assert (tmp_path / "zoo.bpk").read_bytes() == path.read_bytes()
    assert Reader.from_file(path).metadata() == {"format": "burnpack", "producer": "burn", "version": "0.22.1"}


def test_all_stores_have_the_same_builders():
    for kind in (*SAVING, PytorchStore):
        assert all(hasattr(kind, name) for name in [*LOADING, *(WRITING if issubclass(kind, SavingStore) else ())])
    store = PytorchStore.from_file("x").filter(PathFilter()).remap(KeyRemapper()).validate(False)
    assert isinstance(store, ModuleStore)
    for name in ("allow_partial", "validate", "skip_enum_variants", "map_indices_contiguous"):
        assert getattr(store, name)(True) is store
        with pytest.raises(ArgumentTypeError, match=rf"\[{name}\].*True or False"):
            getattr(store, name)("yes")
        assert list(inspect.signature(getattr(store, name)).parameters) != []
    with pytest.raises(ArgumentError, match="regular expression"):
        store.with_regex("(")
    with pytest.raises(ArgumentError, match="regular expression"):
        store.with_key_remapping("(", "x")
    with pytest.raises(ArgumentTypeError, match="PathFilter"):
        store.filter("x")
    with pytest.raises(ArgumentTypeError, match="KeyRemapper"):
        store.remap({"a": "b"})
    with pytest.raises(ArgumentTypeError, match=r"BurnpackStore\.from_file"):
        linear(2, 3).load_from("model.bpk")


@pytest.mark.parametrize("kind", SAVING)
def test_files_are_not_replaced_unless_asked_for(kind, tmp_path):
    path = tmp_path / "m.file"
    linear(2, 3).save_into(kind.from_file(path))
    before = path.read_bytes()
    with pytest.raises(RecordIoError, match=r"m\.file.*exists already.*overwrite\(True\)"):
        linear(2, 3).save_into(kind.from_file(path))
    assert path.read_bytes() == before
    linear(2, 3).save_into(kind.from_file(path).overwrite(True))
    assert path.read_bytes() != before
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    with pytest.raises(RecordIoError, match="exists already"):
        linear(2, 3).save_into(kind.from_file(tmp_path / "dangling").auto_extension(False))
    assert sorted(os.listdir(tmp_path)) == ["dangling", "m.file"]


@pytest.mark.parametrize("kind", SAVING)
def test_files_that_cannot_be_written_or_read(kind, tmp_path):
    for path in (tmp_path / "no/such/folder/m.file", tmp_path):
        with pytest.raises(RecordIoError, match=r"folder|No such"):
            linear(2, 3).save_into(kind.from_file(path).overwrite(True).auto_extension(False))
    with pytest.raises(RecordIoError, match=r"gone\.file.*no such file") as caught:
        kind.from_file(tmp_path / "gone.file").keys()
    assert isinstance(caught.value, FileNotFoundError)
    with pytest.raises(RecordIoError):
        kind.from_file(tmp_path).auto_extension(False).keys()
    for nothing in (3, None):
        with pytest.raises(ArgumentTypeError, match="path"):
            kind.from_file(nothing)


@pytest.mark.parametrize("kind", [SafetensorsStore, BurnpackStore])
def test_a_failing_save_keeps_the_old_file(kind, tmp_path):
    """The disk is full, or a deferred tensor cannot be produced: the old file stays, and nothing else is left."""
    from burn.store import ModuleAdapter, bridge

    class Failing(ModuleAdapter):
        def adapt(self, tensor, context):
            def fail(array):
                raise OSError(28, "No space left on device")

            return bridge.map_data(tensor, fail, tensor.dtype, tensor.shape)

    path = tmp_path / "m.file"
    store = kind.from_file(path).overwrite(True)
    linear(2, 3).save_into(store)
    before = path.read_bytes()
    with pytest.raises(RecordIoError, match="No space left"):
        linear(2, 3).save_into(store.with_to_adapter(Failing()))
    assert path.read_bytes() == before and os.listdir(tmp_path) == ["m.file"]


def test_extensions(tmp_path):
    linear(2, 3).save_into(BurnpackStore.from_file(tmp_path / "a"))
    linear(2, 3).save_into(BurnpackStore.from_file(tmp_path / "b").auto_extension(False))
    linear(2, 3).save_into(SafetensorsStore.from_file(tmp_path / "c"))
    linear(2, 3).save_into(SafetensorsStore.from_file(tmp_path / "d").auto_extension(True))
    assert sorted(os.listdir(tmp_path)) == ["a.bpk", "b", "c", "d.safetensors"]
    assert BurnpackStore.from_file(tmp_path / "a").keys() == ["bias", "weight"]
    assert SafetensorsStore.from_file(tmp_path / "d").auto_extension(True).keys() == ["bias", "weight"]
    with pytest.raises(RecordIoError):
        BurnpackStore.from_file(tmp_path / "a").auto_extension(False).keys()


@pytest.mark.parametrize("kind", SAVING)
def test_memory(kind):
    with pytest.raises(StoreError, match="empty"):
        kind.from_bytes().get_bytes()
    with pytest.raises(StoreError, match="empty"):
        linear(2, 3).load_from(kind.from_bytes())
    with pytest.raises(StoreError, match="is a file"):
        kind.from_file("x").get_bytes()
    store, model = kind.from_bytes(), linear(2, 3)
    model.save_into(store)
    loaded, _ = linear(2, 3).load_from(kind.from_bytes(store.get_bytes()))
    assert loaded.weight.val().tolist() == model.weight.val().tolist()
    np.testing.assert_array_equal(store.get_tensor("weight").to_numpy(), model.weight.val().numpy())


@pytest.mark.parametrize("kind", SAVING)
def test_names_change_on_the_way_in_and_out_and_never_stale(kind):
    store = kind.from_bytes()
    linear(2, 3).save_into(store.with_key_remapping("^", "fc."))
    assert kind.from_bytes(store.get_bytes()).keys() == ["fc.bias", "fc.weight"]
    loading = kind.from_bytes(store.get_bytes())
    assert loading.keys() == ["fc.bias", "fc.weight"] and loading.get_tensor("weight") is None
    assert loading.with_key_remapping(r"^fc\.", "").keys() == ["bias", "weight"]
    assert list(loading.get_all_tensors()) == ["bias", "weight"] and loading.get_tensor("weight").name == "weight"
    assert linear(2, 3).load_from(loading)[1].applied == ["weight", "bias"]
    with pytest.raises(StoreValidationError, match=r"'weight' and 'bias' both become 'x'"):
        linear(2, 3).save_into(kind.from_bytes().with_key_remapping("weight|bias", "x"))
    with pytest.raises(StoreValidationError, match=r"both become 'x'.*store in memory"):
        loading.remap(KeyRemapper.from_patterns([(".*", "x")])).keys()


@pytest.mark.parametrize("kind", SAVING)
def test_indices_and_variants(kind):
    store = kind.from_bytes()
    zoo().save_into(store.with_regex("^choice").skip_enum_variants(True))
    assert store.keys() == ["choice.bias", "choice.weight"]
    _, result = zoo().load_from(store)
    assert result.applied == ["choice.weight", "choice.bias"] and "layers.0.weight" in result.skipped
    source = kind.from_bytes()
    zoo().save_into(source.with_key_remapping(r"layers\.1", "layers.7"))
    again = kind.from_bytes(source.get_bytes())
    assert "layers.7.weight" in again.keys()
    assert "layers.1.weight" in again.map_indices_contiguous(True).keys()
    assert "layers.7.weight" in again.map_indices_contiguous_except("^layers$").keys()


def test_wrong_formats_name_the_right_store(tmp_path):
    linear(2, 3).save_into(BurnpackStore.from_file(tmp_path / "m.bpk"))
    linear(2, 3).save_into(SafetensorsStore.from_file(tmp_path / "m.safetensors"))
    with pytest.raises(StoreIoError, match="SafetensorsStore"):
        PytorchStore.from_file(tmp_path / "m.safetensors").keys()
    with pytest.raises(StoreIoError, match="BurnpackStore"):
        PytorchStore.from_file(tmp_path / "m.bpk").keys()
    with pytest.raises(RecordIoError, match="SafetensorsStore"):
        BurnpackStore.from_file(tmp_path / "m.safetensors").keys()
    with pytest.raises(StoreIoError, match="not a safetensors file"):
        SafetensorsStore.from_file(tmp_path / "m.bpk").keys()
    with pytest.raises(AlreadyExists):
        linear(2, 3).save_into(BurnpackStore.from_file(tmp_path / "m"))
