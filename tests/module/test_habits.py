"""What people type from habit, of Burn 0.21 and of PyTorch, is answered with what to type."""

import typing

import numpy as np
import pytest

import burn
from burn import Device, Tensor, nn
from burn.errors import ArgumentError, ArgumentTypeError, ModuleError, RecordValidationError
from burn.module import Flag, Lora, Module, Param, ParamGroup, field
from burn.store import SafetensorsStore


@pytest.fixture
def model():
    return nn.LinearConfig(2, 3).init(Device.flex())


@pytest.mark.parametrize(
    ("name", "instead"),
    [
        ("state_dict", "into_record()"),
        ("load_state_dict", "load_record(record)"),
        ("eval", "valid()"),
        ("to", "to_device(device)"),
        ("parameters", "list_param_ids(module)"),
        ("zero_grad", "GradientsParams"),
    ],
)
def test_methods_of_pytorch_modules(model, name, instead):
    assert not hasattr(model, name) and name not in dir(model)
    with pytest.raises(AttributeError) as caught:
        getattr(model, name)
    assert f"'Linear' object has no attribute '{name}'; use" in str(caught.value) and instead in str(caught.value)


def test_such_a_name_may_be_a_field_or_a_method():
    class Mine(Module):
        to: int
        modules: list[nn.Linear]

        def eval(self):
            return self.to + len(self.modules)

    assert Mine(3, []).eval() == 3
    with pytest.raises(ModuleError, match="missing a required argument: 'modules'"):
        Mine(3)


@pytest.mark.parametrize(
    "call",
    [
        lambda model: model.save_file("model", "recorder"),
        lambda model: model.load_file("model", "recorder", Device.flex()),
        lambda model: model.try_load_file("model", device=Device.flex()),
    ],
)
def test_recorders_are_refused(model, call):
    with pytest.raises(ArgumentTypeError, match=r"file\] takes a path alone, got .*there are no recorders"):
        call(model)


def test_files_still_take_their_own_arguments(model, tmp_path):
    model.save_file(tmp_path / "model", True)
    model.save_file(path=tmp_path / "model", sync=False)
    assert model.load_file(path=tmp_path / "model").num_params() == 9
    with pytest.raises(TypeError, match="load_file"):
        model.load_file(tmp_path / "model", True)


@pytest.mark.parametrize(
    ("path", "store"), [("m.safetensors", "SafetensorsStore"), ("m.pth", "PytorchStore"), ("m", "BurnpackStore")]
)
def test_a_path_in_the_place_of_a_store(model, path, store):
    for method in (model.load_from, model.save_into):
        with pytest.raises(ArgumentTypeError, match=rf"'store' must be a ModuleStore.*use {store}\.from_file\(path\)"):
            method(path)


def test_names_of_stores_of_earlier_releases():
    with pytest.raises(AttributeError, match=r"get_snapshot\] is not there: call get_tensor\(name\)"):
        SafetensorsStore.from_file("m").get_snapshot("weight")


def test_a_parameter_is_not_called():
    with pytest.raises(
        ArgumentTypeError, match=r"\[Param\] cannot be made of Tensor alone: use Param\.from_tensor\(tensor\)"
    ):
        Param(Tensor([1.0]))


def test_a_parameter_has_no_operators():
    param, x = Param.from_data([1.0, 2.0]), Tensor([1.0, 2.0])
    for call, form in (
        (lambda: param + 1, r"param\.val\(\) \+"),
        (lambda: 2 * param, r"\.\.\. \* param\.val\(\)"),
        (lambda: -param, r"-param\.val\(\)"),
        (lambda: param[0], r"param\.val\(\)\[\.\.\.\]"),
        (lambda: param @ x, r"param\.val\(\) @"),
        (lambda: np.asarray(param), r"param\.val\(\)\.numpy\(\)"),
        (lambda: x * param, r"got Param; use its val\(\)"),
        (lambda: x.matmul(param), r"got Param; use its val\(\)"),
    ):
        with pytest.raises(ArgumentTypeError, match=form):
            call()


def test_parameters_are_annotated_as_in_rust():
    class Mine(Module):
        weight: Param[Tensor[1]]
        frozen: Param[Tensor]
        on: Param[Flag]
        table: Tensor[1, burn.Int]

    weight = Param.from_data([1.0])
    mine = Mine(weight, weight.set_require_grad(False), Flag(True), Tensor([1]))
    assert mine.into_record().paths() == ["weight", "frozen"]
    with pytest.raises(ModuleError, match=r"'Mine.weight' must be a Param, got Tensor; wrap it"):
        Mine(Tensor([1.0]), weight, Flag(True), Tensor([1]))
    with pytest.raises(ModuleError, match=r"'Mine.on' must be a Flag, got True"):
        Mine(weight, weight, True, Tensor([1]))


def test_type_checkers_know_the_constructor_of_a_module():
    known = typing.cast("dict", type(Module).__dataclass_transform__)
    assert known["field_specifiers"] == (field,)


def test_shape_checks_are_at_the_top():
    burn.assert_shape(Tensor.ones([2, 3]), [2, None])
    burn.debug_assert_shape(Tensor.ones([2, 3]), [..., 3])


def test_negative_sizes_stand_for_nothing():
    with pytest.raises(
        ArgumentError, match=r"'shape' must hold no negative size, got \[-1, 3\]; None stands for any size"
    ):
        burn.assert_shape(Tensor.ones([2, 3]), [-1, 3])


@pytest.mark.parametrize(("name", "made"), [("cuda", "cuda"), ("cuda:1", "cuda"), ("cpu", "flex"), ("flex", "flex")])
def test_a_text_in_the_place_of_a_device(model, name, made):
    with pytest.raises(ArgumentTypeError, match=rf"'device' must be a Device, got '{name}'; use Device\.{made}\(\)"):
        model.to_device(name)


def test_the_part_of_a_field_that_does_not_fit_is_named():
    class Mine(Module):
        blocks: list[nn.Linear]
        named: dict[str, list[nn.Gelu]]
        params: tuple[Param, ...] = ()
        pair: tuple[int, str] = (1, "a")

    with pytest.raises(ModuleError, match=r"'Mine\.blocks\.1' must be a Linear, got Gelu"):
        Mine([nn.LinearConfig(1, 1).init(), nn.Gelu()], {})
    with pytest.raises(ModuleError, match=r"'Mine\.named\.a\.0' must be a Gelu, got 3"):
        Mine([], {"a": [3]})
    with pytest.raises(
        ModuleError, match=r"'Mine\.params\.0' must be a Param, got Tensor; wrap it with Param\.from_tensor"
    ):
        Mine([], {}, (Tensor([1.0]),))
    with pytest.raises(ModuleError, match=r"'Mine\.pair' must be a tuple of an integer, a str, got \(1, 2\)"):
        Mine([], {}, (), (1, 2))


def test_a_record_of_adapters_without_its_adapters(model):
    adapters = model.apply_lora(Lora(1, 2.0)).into_record_group(ParamGroup.from_regex("lora"))
    with pytest.raises(
        RecordValidationError, match=r"attach to 'weight' what it had \(apply_lora, .*or load with allow_unused"
    ):
        model.load_record(adapters.allow_partial(True))
