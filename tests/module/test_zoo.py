"""A module with every kind of field against the file, paths, ids and printed form that Burn wrote for it."""

from burn import Bool, Device, Int, Tensor
from burn.module import EnumModule, Module, ModuleVisitor, Param, PathTracking, field
from burn.nn import (
    BatchNorm,
    BatchNormConfig,
    Embedding,
    EmbeddingConfig,
    LayerNorm,
    LayerNormConfig,
    Linear,
    LinearConfig,
    Lstm,
    LstmConfig,
    RmsNorm,
    RmsNormConfig,
)
from burn.nn.conv import Conv2d, Conv2dConfig
from burn.store import BurnpackStore, SafetensorsStore
from tests.golden import FOLDER, cases

CPU = Device.flex()
(CASE,) = (case for case in cases("records/records") if case["name"] == "zoo")


class Choice(EnumModule):
    Big: Conv2d
    Small: Linear


class Zoo(Module):
    embed: Embedding
    layers: list[Linear]
    pair: tuple[Linear, LayerNorm]
    array: list[RmsNorm] = field(array=True)
    maybe: Linear | None
    absent: Linear | None
    choice: Choice
    norm: BatchNorm
    lstm: Lstm
    ints: Param
    mask: Param
    scale: float


def zoo():
    return Zoo(
        EmbeddingConfig(5, 3).init(CPU),
        [LinearConfig(3, 4).init(CPU), LinearConfig(4, 4, bias=False).init(CPU)],
        (LinearConfig(4, 2).init(CPU), LayerNormConfig(2).init(CPU)),
        [RmsNormConfig(2).init(CPU), RmsNormConfig(2).init(CPU)],
        LinearConfig(2, 2).init(CPU),
        None,
        Choice.Big(Conv2dConfig([1, 2], [3, 3]).init(CPU)),
        BatchNormConfig(2).init(CPU),
        LstmConfig(3, 2, True).init(CPU),
        Param.from_tensor(Tensor.zeros([3], CPU, kind=Int)),
        Param.from_tensor(Tensor.zeros([2, 2], CPU, kind=Bool)),
        scale=1.5,
    )


class Listing(PathTracking, ModuleVisitor):
    def __init__(self):
        super().__init__()
        self.found = []

    def visit_float(self, param):
        self.found.append((self.path(), str(param.id), param.kind))

    visit_int = visit_bool = visit_float


def listed(module):
    listing = Listing()
    module.visit(listing)
    return listing.found


def test_paths_ids_and_bytes(tmp_path):
    loaded = zoo().load_file(FOLDER / "records/zoo.bpk")
    assert listed(loaded) == [(entry["path"], entry["id"], entry["kind"]) for entry in CASE["params"]]
    loaded.save_file(tmp_path / "zoo.bpk")
    assert (tmp_path / "zoo.bpk").read_bytes() == (FOLDER / "records/zoo.bpk").read_bytes()


def test_printed_form():
    module = zoo()
    assert str(module) == CASE["display"] and module.num_params() == CASE["num_params"]
    assert module._repr_html_() == f"<pre>{CASE['display'].replace('<', '&lt;').replace('>', '&gt;')}</pre>"


def test_the_files_of_the_stores(tmp_path):
    for name, store in (("zoo_store.bpk", BurnpackStore), ("zoo_store.safetensors", SafetensorsStore)):
        loaded, result = zoo().load_from(store.from_file(FOLDER / "records" / name))
        assert result.is_success() and not result.missing and not result.unused
        assert [path for path, _, _ in listed(loaded)] == [entry["path"] for entry in CASE["params"]]
        loaded.save_into(store.from_file(tmp_path / name))
        again = zoo().load_from(store.from_file(tmp_path / name))[0]
        for entry, expected in zip(again.into_record().tensors(), loaded.into_record().tensors(), strict=True):
            assert entry.name == expected.name and bytes(entry.to_bytes()) == bytes(expected.to_bytes())
    assert (tmp_path / "zoo_store.bpk").read_bytes() == (FOLDER / "records/zoo_store.bpk").read_bytes()


def test_frozen_parameters_are_recorded_like_others(tmp_path):
    file = FOLDER / "records/bias_only_freeze.bpk"
    model = LinearConfig(4, 3).init(CPU.autodiff()).freeze().load_file(file)
    assert not model.weight.is_active() and not model.weight.val().is_require_grad()
    assert model.into_record().into_bytes() == file.read_bytes()
