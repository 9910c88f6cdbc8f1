"""Parameters that are computed from what is stored: LoRA, weight norm, and reparameterizations of users."""

import copy
import pickle

import numpy as np
import pytest

from burn import Device, DType, Tensor
from burn.errors import ArgumentError, ArgumentTypeError, ModuleError, RecordValidationError
from burn.module import (
    Lora,
    LoraAdapter,
    Module,
    ModuleMapper,
    ModuleVisitor,
    Param,
    ParamGroup,
    ParamId,
    Reparameterization,
    Reparameterizer,
    RunningState,
    WeightNorm,
    WeightNormalization,
    list_param_ids,
)
from burn.nn import BatchNormConfig, Linear, LinearConfig, LinearLayout
from burn.nn.conv import Conv2dConfig
from burn.optim import SgdConfig
from burn.store import ModuleRecord
from tests.golden import FOLDER, cases, tensors

CPU = Device.flex()
AD = CPU.autodiff()
ADAPTERS = ParamGroup.from_regex(r"(^|\.)lora\.(a|b)$")
CASES = {case["name"]: case for case in cases("records/records")}


def ones(device, *shape):
    return Param.from_tensor(Tensor.ones(list(shape), device))


def adapted(device=AD):
    """A layer whose weight is 1 + 2 · (a @ b), with a and b of ones and rank 1."""
    weight = ones(device, 3, 3).set_require_grad(False)
    return Linear(weight._adapted(LoraAdapter(ones(device, 3, 1), ones(device, 1, 3), 2.0)))


def paths_and_ids(module):
    return [(entry.name, str(ParamId(entry.param_id))) for entry in module.into_record().tensors()]


def test_the_record_of_burn(tmp_path):
    case, file = CASES["linear_lora"], FOLDER / "records/linear_lora.bpk"
    model = LinearConfig(4, 3).init(CPU).apply_lora(Lora(2, 4.0)).load_file(file)
    assert paths_and_ids(model) == [(entry["path"], entry["id"]) for entry in case["params"]]
    assert str(model) == case["display"] and model.num_params() == case["num_params"]
    model.save_file(tmp_path / "again.bpk")
    assert (tmp_path / "again.bpk").read_bytes() == file.read_bytes()
    a, b = model.weight.adapter().a.numpy(), model.weight.adapter().b.numpy()
    np.testing.assert_allclose(model.weight.val().numpy(), model.weight.base().numpy() + 2.0 * (a @ b), rtol=1e-6)
    data = tensors("records/records")
    for path, value in (("weight", model.weight.base()), ("weight.lora.a", a), ("weight.lora.b", b)):
        key = f"linear_lora/param.{path}"
        if key in data:
            np.testing.assert_array_equal(value, data[key])


def test_records_of_adapters_alone(tmp_path):
    file = FOLDER / "records/lora_only.bpk"
    base = LinearConfig(4, 3).init(CPU)
    model = base.apply_lora(Lora(2, 4.0)).valid().load_record(ModuleRecord.load(file).allow_partial(True))
    np.testing.assert_array_equal(model.weight.base().numpy(), base.weight.val().numpy())
    record = model.into_record_group(ADAPTERS)
    assert record.paths() == ["weight.lora.a", "weight.lora.b"] and record.into_bytes() == file.read_bytes()
    with pytest.raises(RecordValidationError, match=r'Unused tensors: \["weight.lora.a", "weight.lora.b"\]'):
        base.load_record(ModuleRecord.load(file).allow_partial(True))


def test_lora_starts_as_the_base_and_trains_the_factors_alone():
    base = LinearConfig(6, 4).init(AD)
    model = base.apply_lora(Lora(2, 16.0))
    x = Tensor.random([5, 6], device=AD)
    np.testing.assert_array_equal(model(x).numpy(), base(x).numpy())
    assert model.num_params() == 24 + 4 + 12 + 8 and base.num_params() == 28
    grads = model(x).sum().backward()
    factors = model.weight.adapter()
    assert factors.b.grad(grads) is not None and factors.a.grad(grads) is not None
    assert model.weight.base().grad(grads) is None and model.bias.grad(grads) is None
    optimizer = SgdConfig().init()
    from burn.optim import GradientsParams

    stepped = optimizer.step(0.1, model, GradientsParams.from_grads(grads, model))
    assert (stepped.weight.adapter().b.val() - factors.b.val()).abs().max().item() > 0.0
    np.testing.assert_array_equal(stepped.weight.base().numpy(), base.weight.val().numpy())
    np.testing.assert_array_equal(stepped.bias.val().numpy(), base.bias.val().numpy())


def test_factors():
    weight = LinearConfig(64, 32).init(AD).apply_lora(Lora(4, 8.0)).weight
    a, b = weight.adapter().a.val(), weight.adapter().b.val()
    assert a.dims() == [64, 4] and b.dims() == [4, 32] and weight.adapter().scale == 2.0
    assert abs(a.numpy().std() - 0.25) < 0.05 and not b.numpy().any()
    assert a.is_require_grad() and b.is_require_grad() and not weight.base().is_require_grad()
    wide = LinearConfig(64, 32).init(AD).apply_lora(Lora(4, 8.0, init_std=3.0)).weight.adapter().a.val()
    assert abs(wide.numpy().std() - 3.0) < 0.5
    half = LinearConfig(4, 3).init(CPU).load_file(FOLDER / "records/linear_f16.bpk")
    assert half.apply_lora(Lora(1, 1.0)).weight.val().dtype is DType.F16
    lora = Lora(1, 1.0).set_dtype(DType.F32)
    assert half.apply_lora(lora).weight.adapter().a.val().dtype is DType.F32
    assert half.apply_lora(lora).weight.val().dtype is DType.F32  # the base is cast to the update


def test_groups_choose_the_adapted_weights():
    class Two(Module):
        def __init__(self):
            self.first, self.second = LinearConfig(2, 2).init(CPU), LinearConfig(2, 2).init(CPU)

    model = Two().apply_lora(Lora(1, 1.0).set_param_group(ParamGroup.from_predicate("second")))
    assert model.first.weight.adapter() is None and not model.first.weight.is_active()
    assert model.into_record().paths() == [
        "first.weight", "first.bias", "second.weight", "second.weight.lora.a", "second.weight.lora.b", "second.bias"
    ]  # fmt: skip
    assert model.freeze_group(ParamGroup.from_path("second.weight.lora.a")).second.weight.adapter().b.is_active()


def test_parameters_stay_lazy():
    model = LinearConfig(6, 4).init(AD).apply_lora(Lora(2, 1.0))
    assert not model.weight.is_initialized() and not model.weight.adapter().a.is_initialized()
    assert model.num_params() == 48 and str(model) and not model.weight.is_initialized()
    plain = LinearConfig(6, 4).init(CPU)
    assert plain.materialize().weight is plain.weight and not plain.weight.is_initialized()


def test_walks():
    class Trace(ModuleVisitor):
        def __init__(self):
            self.lines = []

        def enter_module(self, name, container_type):
            self.lines.append(f"{container_type} {name}")

        def exit_module(self, name, container_type):
            self.lines.append(f"end {name}")

        def visit_float(self, param):
            self.lines.append(f"{param.adapter()} {list(param.lazy_shape())}")

    trace = Trace()
    adapted().visit(trace)
    assert trace.lines == [
        "Struct:Linear weight", "None [3, 3]", "Reparameterization lora", "Struct:LoraAdapter a", "None [3, 1]", "end a",
        "Struct:LoraAdapter b", "None [1, 3]", "end b", "end lora", "end weight",
    ]  # fmt: skip

    class Double(ModuleMapper):
        def map_float(self, param):
            return param.map(lambda tensor: tensor * 2.0)

    doubled = adapted().map(Double())
    assert doubled.weight.base().tolist() == [[2.0] * 3] * 3
    assert doubled.weight.val().tolist() == [[2.0 + 2.0 * 4.0] * 3] * 3
    model = adapted()
    assert model.map(ModuleMapper()) is model
    assert len(list_param_ids(model)) == 3


def test_val_base_and_folding():
    weight = adapted().weight
    assert weight.val().tolist() == [[3.0] * 3] * 3 and weight.base().tolist() == [[1.0] * 3] * 3
    assert weight.map(lambda tensor: tensor + 1.0).adapter() is None
    assert weight.map(lambda tensor: tensor + 1.0).val().tolist() == [[4.0] * 3] * 3
    id, value, mapper = weight.consume()
    again = Param.from_mapped_value(id, value.detach(), mapper)
    assert again.id == weight.id and again.val().tolist() == [[3.0] * 3] * 3 and again.adapter() is None
    assert (
        weight.reparameterization(LoraAdapter) is weight.adapter()
        and weight.reparameterization(WeightNormalization) is None
    )


def test_init_mapper_folds_in():
    lazy = Param.uninitialized(ParamId(1), lambda device, grad: Tensor.ones([3, 3], device), AD, False, [3, 3])
    param = lazy._adapted(LoraAdapter(ones(AD, 3, 1), ones(AD, 1, 3), 2.0)).init_mapper(lambda tensor: tensor * 2.0)
    assert not param.is_initialized() and param.val().tolist() == [[6.0] * 3] * 3


def test_materialize():
    model = adapted()
    folded = model.materialize()
    assert folded.weight.id == model.weight.id and folded.weight.adapter() is None
    assert folded.weight.val().tolist() == [[3.0] * 3] * 3 and folded.weight.is_autodiff()
    assert not folded.weight.is_active() and not folded.weight.val().is_tracked()
    trained = model.unfreeze().materialize()
    assert trained.weight.is_active() and trained.weight.val().is_require_grad()
    assert folded.materialize().weight is folded.weight
    assert not model.valid().materialize().weight.is_autodiff()
    x = Tensor.random([2, 3], device=CPU)
    np.testing.assert_allclose(folded.valid()(x).numpy(), model.valid()(x).numpy(), rtol=1e-6)


def test_states_survive_folding():
    model = BatchNormConfig(2).init(CPU).apply_lora(Lora(1, 1.0))
    folded = model.materialize()
    assert folded.running_mean is not model.running_mean and folded.training.is_enabled()
    assert folded.into_record().paths() == ["gamma", "beta", "running_mean", "running_var"]

    class Square(Module):
        def __init__(self):
            self.seen = RunningState(Tensor.ones([2, 2], CPU))

    assert Square().apply_lora(Lora(1, 1.0)).into_record().paths() == ["seen"]


def test_moves_and_modes():
    there = Device.ndarray()
    model = adapted()
    assert model.to_device(there).devices() == [there] and model.fork(there).devices() == [there]
    forked = model.fork(CPU)
    assert forked.weight.adapter().a.val().is_require_grad() and forked.weight.val().tolist() == [[3.0] * 3] * 3
    moved = model.to_device(CPU)
    grads = moved.weight.val().sum().backward()
    assert model.weight.adapter().a.grad(grads) is not None
    valid = model.valid()
    assert not valid.weight.is_autodiff() and not valid.weight.adapter().a.is_autodiff()
    assert (
        valid.train().weight.adapter().a.val().is_require_grad() and not valid.train().weight.base().is_require_grad()
    )
    assert not model.no_grad().weight.adapter().a.is_active()
    lazy = LinearConfig(2, 2).init(CPU).apply_lora(Lora(1, 1.0)).fork(there)
    assert not lazy.weight.is_initialized() and not lazy.weight.adapter().a.is_initialized()
    assert lazy.devices() == [there] and lazy.weight.val().device == there


def test_copies_and_pickles():
    model = adapted()
    for twin in (model.clone(), copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert paths_and_ids(twin) == paths_and_ids(model)
        assert twin.weight.val().tolist() == [[3.0] * 3] * 3
        assert twin.weight.adapter() is not model.weight.adapter() and twin.weight.adapter().scale == 2.0
    with pytest.raises(ModuleError, match=r"one Linear stands in two places"):

        class Pair(Module):
            def __init__(self):
                self.a = self.b = model

        Pair()


def test_column_layout():
    config = LinearConfig(4, 3, layout=LinearLayout.Col)
    model = config.init(CPU).apply_lora(Lora(2, 4.0))
    model = model.map(_Draw())
    again = (
        config.init(CPU).apply_lora(Lora(2, 4.0)).load_record(ModuleRecord.from_bytes(model.into_record().into_bytes()))
    )
    np.testing.assert_array_equal(again.weight.val().numpy(), model.weight.val().numpy())
    assert [list(entry.shape) for entry in model.into_record().tensors()] == [[3, 4], [4, 2], [2, 3], [3]]


class _Draw(ModuleMapper):
    def map_float(self, param):
        return param.map(lambda tensor: tensor.random_like())


def test_misuse():
    once = LinearConfig(4, 3).init(CPU).apply_lora(Lora(1, 1.0))
    with pytest.raises(ModuleError, match=r"'weight' has a LoraAdapter already.*materialize\(\)"):
        once.apply_lora(Lora(1, 1.0))
    assert once.materialize().apply_lora(Lora(1, 1.0)).weight.adapter() is not None
    for make, message in (
        (lambda: Lora(0, 1.0), r"\[Lora\] 'rank' must be at least 1, got 0"),
        (lambda: Lora(1, float("nan")), "'alpha' must be a finite number"),
        (lambda: Lora(1, 1.0, init_std=-1.0), "'init_std' must not be negative"),
        (lambda: Lora(1, 1.0, dtype="i32"), "'dtype' must be a Float dtype"),
        (lambda: WeightNorm(-1), "'dim' must be at least 0"),
        (
            lambda: LinearConfig(2, 2).init().apply_reparameterization(WeightNorm(2)),
            "'dim' must be below the 2 axes of 'weight'",
        ),
    ):
        with pytest.raises(ArgumentError, match=message):
            make()
    with pytest.raises(
        ArgumentTypeError, match=r"\[apply_lora\] 'lora' must be a Lora, got 3; use Lora\(rank, alpha\)"
    ):
        once.apply_lora(3)
    with pytest.raises(
        ArgumentTypeError, match=r"\[apply_reparameterization\] 'reparameterizer' must be a Reparameterizer"
    ):
        once.apply_reparameterization(None)
    with pytest.raises(ModuleError, match=r"\[Bad\] 'NAME' must be a text without a dot, got 'a\.b'"):

        class Bad(Reparameterization):
            NAME = "a.b"

    class Wrong(Reparameterizer):
        def reparameterize(self, path, param):
            return param

    with pytest.raises(
        ArgumentTypeError, match=r"\[Wrong\.reparameterize\] 'param' at 'weight' must give a Param and a"
    ):
        LinearConfig(2, 2).init().apply_reparameterization(Wrong())


def test_what_a_reparameterization_makes_is_checked():
    class Flat(Reparameterization):
        NAME = "flat"

        def apply(self, base):
            return base.sum()

    class Flatten(Reparameterizer):
        def reparameterize(self, path, param):
            return param, Flat()

    with pytest.raises(ModuleError, match="'flat' must keep the number of axes, 2, got 1"):
        LinearConfig(2, 2).init().apply_reparameterization(Flatten()).weight.val()

    class Shared(Reparameterizer):
        state = WeightNormalization(Param.from_data([1.0]), 0)

        def reparameterize(self, path, param):
            return param, self.state

    with pytest.raises(ModuleError, match=r"stands in two places, 'weight\.weight_norm' and 'bias\.weight_norm'"):
        LinearConfig(2, 2).init().apply_reparameterization(Shared())


@pytest.mark.parametrize("huge", [1.0, 1e30, 1e-30])
def test_weight_norm_at_any_scale(huge):
    """Squares of the weights overflow or vanish; slices keep their lengths, one of zeros stays 0, its gradient finite."""
    base = np.array([[3.0, 0.0, 1.0], [4.0, 0.0, 2.0]])
    weight = Param.from_tensor(Tensor.from_data((base * huge).astype("f4"), AD)).set_require_grad(True)
    kept, norm = WeightNorm(1).reparameterize("weight", weight)
    np.testing.assert_allclose(norm.g.val().numpy().astype("f8") / huge, [5, 0, 5**0.5], rtol=1e-6)
    value = norm.apply(kept.base())
    np.testing.assert_allclose(value.numpy().astype("f8") / huge, base, rtol=1e-6)
    grads = value.slice([slice(0, 1)]).sum().backward()
    unit = base[:, [0, 2]] / [5, 5**0.5]
    want = np.array([1.0, 0.0])[:, None] - unit * unit[0]
    np.testing.assert_allclose(kept.base().grad(grads).numpy()[:, [0, 2]], want, rtol=1e-5, atol=1e-6)
    assert np.isfinite(kept.base().grad(grads).numpy()).all()


def test_quantized_forms_wait():
    module = LinearConfig(2, 2).init()
    for name in ("apply_qlora", "quantize_weights", "quantize_weights_group"):
        assert name not in dir(module)
        with pytest.raises(NotImplementedError, match="waits for quantized tensors"):
            getattr(module, name)(None)


@pytest.mark.parametrize(
    "dim, config", [(1, LinearConfig(5, 3)), (0, Conv2dConfig([2, 4], [3, 3])), (0, LinearConfig(5, 3))]
)
def test_weight_norm(dim, config):
    base = config.init(AD)
    model = base.apply_reparameterization(WeightNorm(dim))
    v = base.weight.val().numpy().astype("f8")
    axes = tuple(axis for axis in range(v.ndim) if axis != dim)
    norm = np.sqrt((v * v).sum(axes, keepdims=True))
    np.testing.assert_allclose(model.weight.val().numpy(), v, rtol=1e-5)
    np.testing.assert_allclose(model.weight.reparameterization(WeightNormalization).g.numpy(), norm.ravel(), rtol=1e-6)
    weights = np.random.default_rng(0).normal(size=v.shape)
    grads = (model.weight.val() * Tensor.from_data(weights.astype("f4"), AD)).sum().backward()
    # d/dv of w = g v / |v| is g / |v| (c - v (v·c) / |v|²); d/dg is v·c / |v|. Here g = |v|.
    along = (v * weights).sum(axes, keepdims=True)
    expected = weights - v * along / norm**2
    np.testing.assert_allclose(model.weight.base().grad(grads).numpy(), expected, rtol=1e-4, atol=1e-5)
    g = model.weight.reparameterization(WeightNormalization).g
    np.testing.assert_allclose(g.grad(grads).numpy(), (along / norm).ravel(), rtol=1e-4, atol=1e-5)
    assert model.weight.is_active() and g.is_active()


def test_weight_norm_of_zeros():
    weight = Param.from_tensor(Tensor.zeros([2, 2], AD))
    model = Linear(weight).apply_reparameterization(WeightNorm())
    grads = model.weight.val().sum().backward()
    assert model.weight.val().tolist() == [[0.0, 0.0], [0.0, 0.0]]
    assert np.isfinite(model.weight.base().grad(grads).numpy()).all()
    assert (
        not Linear(weight)
        .no_grad()
        .apply_reparameterization(WeightNorm())
        .weight.reparameterization(WeightNormalization)
        .g.is_active()
    )
