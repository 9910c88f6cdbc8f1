import numpy as np
import pytest

from burn import Device, Tensor, nn
from burn._core import core
from burn.errors import (
    ArgumentError,
    ArgumentTypeError,
    AutodiffError,
    DeviceError,
    RecordIoError,
    RecordValidationError,
)
from burn.grad_clipping import GradientClippingConfig, NonFiniteGradientError
from burn.lr_scheduler import ConstantLr, ModuleLearningRate, ModuleLrScheduler
from burn.module import Module, ParamGroup
from burn.optim import (
    AdamConfig,
    AdamWConfig,
    GradientsAccumulator,
    GradientsParams,
    ModuleOptimizer,
    Optimizer,
    OptimizerRecord,
    SgdConfig,
)
from burn.optim.decay import WeightDecayConfig
from burn.optim.momentum import MomentumConfig
from burn.tensor.activation import relu

DEVICE = Device.flex().autodiff()
CONFIGS = {
    "sgd": SgdConfig(momentum=MomentumConfig(), weight_decay=WeightDecayConfig(0.01)),
    "adam": AdamConfig(weight_decay=WeightDecayConfig(0.01)),
    "amsgrad": AdamConfig(amsgrad=True),
    "adamw": AdamWConfig(),
    "cautious": AdamWConfig(weight_decay=0.1, cautious_weight_decay=True),
    "clipped": AdamConfig(grad_clipping=GradientClippingConfig.Norm(0.1)),
}


class Net(Module):
    def __init__(self):
        self.fc1 = nn.LinearConfig(3, 8).init(DEVICE)
        self.fc2 = nn.LinearConfig(8, 2).init(DEVICE)

    def forward(self, x):
        return self.fc2(relu(self.fc1(x)))


def make_grads(model, seed):
    x = np.random.default_rng(seed).normal(size=(5, 3)).astype(np.float32)
    return GradientsParams.from_grads((model(Tensor.from_data(x, DEVICE)).square()).mean().backward(), model)


def train(model, optimizer, seeds):
    for seed in seeds:
        model = optimizer.step(0.01, model, make_grads(model, seed))
    return model


def values(model):
    params = model.fc1.weight, model.fc1.bias, model.fc2.weight, model.fc2.bias
    return [param.val().inner().numpy().copy() for param in params]


def assert_same(first, second):
    for a, b in zip(values(first), values(second)):
        np.testing.assert_array_equal(a, b)


def single(value, gradient_list, optimizer, lr):
    """Values of one parameter after each step."""
    linear = nn.LinearConfig(1, len(value), bias=False).init(DEVICE)
    linear = linear.replace(weight=linear.weight.with_value(Tensor.from_data([value], DEVICE)))
    for gradient in gradient_list:
        grads = GradientsParams()
        grads.register(linear.weight.id, Tensor.from_data([gradient], DEVICE.inner()))
        linear = optimizer.step(lr, linear, grads)
        yield linear.weight.val().numpy()[0]


# One parameter [1, -2, 3] and three gradients; the numbers were computed from the formulas in single precision.
@pytest.mark.parametrize(
    ("config", "lr", "expected"),
    [
        (SgdConfig(), 0.1, [[0.99, -1.98, 2.97], [1.03, -2.03, 3.03], [1.025, -2.03, 3.04]]),
        (
            SgdConfig(momentum=MomentumConfig()),
            0.1,
            [[0.99, -1.98, 2.97], [1.017, -2.007, 2.997], [1.0368, -2.0313, 3.0303]],
        ),
        (
            SgdConfig(momentum=MomentumConfig(0.9, 0.0, True)),
            0.1,
            [[0.981, -1.962, 2.943], [1.0489, -2.0408, 3.0327], [1.06451, -2.06672, 3.07843]],
        ),
        (
            SgdConfig(weight_decay=WeightDecayConfig(0.1)),
            0.1,
            [[0.98, -1.96, 2.94], [1.0102, -1.9904, 2.9706], [0.995098, -1.970496, 2.950894]],
        ),
        (
            AdamConfig(),
            0.01,
            [[0.990001, -1.99, 2.99], [0.9955959, -1.994423, 2.993661], [0.9991198, -1.997841, 2.997402]],
        ),
        (
            AdamWConfig(),
            0.01,
            [[0.99, -1.989998, 2.989997], [0.9955938, -1.994419, 2.993655], [0.9991167, -1.997835, 2.997393]],
        ),
        (
            AdamWConfig(weight_decay=0.1),
            0.01,
            [[0.989001, -1.988001, 2.987], [0.9936069, -1.990435, 2.987674], [0.9961372, -1.991862, 2.988428]],
        ),
        (
            AdamWConfig(weight_decay=0.1, cautious_weight_decay=True),
            0.01,
            [[0.989001, -1.988001, 2.987], [0.9945959, -1.992423, 2.990661], [0.9981198, -1.995841, 2.994402]],
        ),
    ],
)
def test_three_steps(config, lr, expected):
    gradients = [0.1, -0.2, 0.3], [-0.4, 0.5, -0.6], [0.05, 0.0, -0.1]
    for value, wanted in zip(single([1.0, -2.0, 3.0], gradients, config.init(), lr), expected):
        np.testing.assert_allclose(value, wanted, rtol=2e-6)


def test_epsilon_is_added_after_bias_correction():
    optimizer = AdamConfig(epsilon=0.5).init()
    results = [value[0] for value in single([1.0], [[2.0], [-1.0], [0.5]], optimizer, 0.1)]
    np.testing.assert_allclose(results, [0.92, 0.8997658550, 0.8750630576], rtol=1e-6)


@pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS)
def test_a_resumed_run_is_the_same_bit_for_bit(config, tmp_path):
    model, optimizer = Net(), config.init()
    model = train(model, optimizer, range(3))
    model.save_file(tmp_path / "model")
    optimizer.save(tmp_path / "optim")
    straight = train(model, optimizer, range(3, 6))

    again = Net().load_file(tmp_path / "model")
    resumed = train(again, config.init().load(tmp_path / "optim"), range(3, 6))
    assert_same(straight, resumed)
    assert optimizer.into_bytes() != (tmp_path / "optim.bpk").read_bytes()


@pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS)
def test_step_leaves_the_old_module_and_snapshots_alone(config):
    model, optimizer = Net(), config.init()
    model = train(model, optimizer, range(2))
    before, record = values(model), optimizer.to_record()
    snapshot, other = record.into_bytes(), optimizer.clone()
    moved = train(model, optimizer, [2])
    for a, b in zip(before, values(model)):
        np.testing.assert_array_equal(a, b)
    assert any((a != b).any() for a, b in zip(before, values(moved)))
    assert record.into_bytes() == snapshot
    assert_same(train(model, other, [2]), moved)
    assert_same(train(model, config.init().from_bytes(snapshot), [2]), moved)


def test_ids_trainability_and_autodiff_are_kept():
    model, optimizer = Net(), AdamConfig().init()
    model = model.replace(fc1=model.fc1.no_grad())
    stepped = train(model, optimizer, [0])
    assert stepped.fc2.weight.id == model.fc2.weight.id and stepped.fc2.weight.val().is_require_grad()
    assert stepped.fc1.weight.val() is model.fc1.weight.val() and not stepped.fc1.weight.val().is_require_grad()
    assert stepped.fc2.weight.val().device.is_autodiff()
    assert len(optimizer.to_record()) == 4  # two moments of two parameters


def test_learning_rate_zero_still_ages_the_state():
    model, optimizer = Net(), AdamConfig().init()
    stepped = optimizer.step(0.0, model, make_grads(model, 0))
    assert_same(model, stepped)
    assert optimizer.to_record().scalars[f"{model.fc1.weight.id.val()}.momentum.time"].value == 1
    for bad in (float("nan"), float("inf")):
        with pytest.raises(ArgumentError, match="'lr'"):
            optimizer.step(bad, model, make_grads(model, 0))


def test_a_parameter_without_gradient_is_not_touched():
    model, optimizer = Net(), AdamConfig().init()
    grads = make_grads(model, 0)
    grads.remove(model.fc1.weight.id)
    stepped = optimizer.step(0.1, model, grads)
    assert stepped.fc1.weight.val() is model.fc1.weight.val() and len(optimizer.to_record()) == 6


def test_state_and_parameter_follow_the_device_of_the_gradient():
    model, optimizer = Net(), AdamConfig().init()
    model = train(model, optimizer, [0])
    grads = make_grads(model, 1)
    expected = optimizer.clone().step(0.01, model, make_grads(model, 1))
    moved = optimizer.step(0.01, model, grads.to_device(Device.ndarray(), model))
    assert moved.fc1.weight.val().device == Device.ndarray() and moved.fc1.weight.val().is_require_grad()
    for a, b in zip(values(moved), values(expected)):
        np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-7)


def test_gradients_of_another_module_are_refused():
    model, other = Net(), Net()
    optimizer = SgdConfig().init()
    with pytest.raises(AutodiffError, match=r"\[step\] 'grads' .*4 of other parameters"):
        optimizer.step(0.1, other, make_grads(model, 0))
    assert_same(other, optimizer.step(0.1, other, GradientsParams()))


def test_groups():
    model = Net()
    optimizer = AdamConfig().init().with_group(ParamGroup.from_predicate("fc2"), SgdConfig().build())
    grads = make_grads(model, 0)
    gradient = grads.get(model.fc2.bias.id)
    stepped = optimizer.step(0.1, model, grads)
    expected = model.fc2.bias.val().inner() - gradient * 0.1
    np.testing.assert_array_equal(stepped.fc2.bias.val().numpy(), expected.numpy())
    names = {tensor.name.split(".", 1)[0] for tensor in optimizer.to_record().tensors}
    assert names == {str(param.id.val()) for param in (model.fc1.weight, model.fc1.bias)}
    optimizer.with_group(ParamGroup.from_path("fc1.bias"), SgdConfig().build())
    assert len(optimizer.to_record()) == 2


def test_learning_rate_for_each_parameter():
    class Rates:
        def lr_from_param(self, id, path):
            return 0.0 if path.startswith("fc1") else 0.1

    model = Net()
    stepped = SgdConfig().init().step(Rates(), model, make_grads(model, 0))
    before, after = values(model), values(stepped)
    assert [bool((a != b).any()) for a, b in zip(before, after)] == [False, False, True, True]


def test_clipping_by_norm_and_value():
    model = Net()
    for clipping, limited in (
        (GradientClippingConfig.Norm(0.01), "norm"),
        (GradientClippingConfig.Value(0.001), "max"),
    ):
        stepped = SgdConfig(gradient_clipping=clipping).init().step(1.0, model, make_grads(model, 0))
        for before, after in zip(values(model), values(stepped)):
            change = (before - after).astype(np.float64)
            size = np.linalg.norm(change) if limited == "norm" else np.abs(change).max()
            assert size <= (0.01 if limited == "norm" else 0.001) * (1 + 1e-3)


def test_an_infinite_gradient_changes_nothing_and_is_named():
    model, optimizer = (
        Net(),
        SgdConfig(momentum=MomentumConfig(), gradient_clipping=GradientClippingConfig.Norm(1.0)).init(),
    )
    model = train(model, optimizer, [0])
    before = optimizer.into_bytes()
    grads = make_grads(model, 1)
    grads.register(model.fc2.bias.id, Tensor.from_data([np.inf, 1.0], DEVICE.inner()))
    with pytest.raises(NonFiniteGradientError, match=r"parameter 'fc2\.bias'"):
        optimizer.step(0.1, model, grads)
    assert optimizer.into_bytes() == before


def test_clipping_counts_from_the_next_step():
    optimizer = SgdConfig().init()
    assert not optimizer.has_gradient_clipping() and optimizer.grad_clipping() is None
    model = train(Net(), optimizer, [0])
    optimizer.with_grad_clipping(GradientClippingConfig.Value(1e-9))
    assert optimizer.has_gradient_clipping()
    for before, after in zip(values(model), values(train(model, optimizer, [1]))):
        np.testing.assert_allclose(after, before, atol=1e-7)


def test_record_of_another_optimizer_is_refused():
    model, adam = Net(), AdamConfig().init()
    train(model, adam, [0])
    sgd = SgdConfig(momentum=MomentumConfig()).init()
    with pytest.raises(RecordValidationError, match=r"fit Sgd, but has no 'momentum.velocity'"):
        sgd.load_record(adam.to_record())
    assert sgd.to_record().is_empty()


def test_record_of_a_fresh_optimizer_is_empty():
    record = AdamConfig().init().to_record()
    assert record.is_empty() and len(record) == 0 and not record.scalars and not record.paths
    assert OptimizerRecord.from_bytes(record.into_bytes()).is_empty()
    assert repr(record) == "OptimizerRecord(num_tensors=0, num_scalars=0)"


def test_damaged_files(tmp_path):
    with pytest.raises(FileNotFoundError):
        AdamConfig().init().load(tmp_path / "none")
    (tmp_path / "bad.bpk").write_bytes(b"not a record")
    with pytest.raises(RecordIoError):
        AdamConfig().init().load(tmp_path / "bad")


@pytest.mark.parametrize("dtype", ["f64", "f16", "bf16"])
def test_other_dtypes(dtype):
    device = DEVICE
    linear = nn.LinearConfig(2, 2, bias=False).init(device)
    weight = Tensor.from_data([[0.5, -0.5], [0.25, 1.0]], device, dtype)
    linear = linear.replace(weight=linear.weight.with_value(weight))
    optimizer = AdamConfig().init()
    for _ in range(2):
        grads = GradientsParams()
        grads.register(linear.weight.id, Tensor.from_data([[1e-4, -1e-4], [0.5, 2.0]], device.inner(), dtype))
        linear = optimizer.step(0.125, linear, grads)
    assert linear.weight.val().dtype.name == dtype
    np.testing.assert_allclose(
        linear.weight.val().float().numpy(), [[0.277, -0.277], [0.0, 0.75]], atol=0.03 if dtype != "f64" else 0.01
    )
    moments = {tensor.dtype.name for tensor in optimizer.to_record().tensors}
    assert moments == ({"F64"} if dtype == "f64" else {"F32"})
    again = AdamConfig().init().load_record(optimizer.to_record())
    assert {tensor.dtype.name for tensor in again.to_record().tensors} == moments


def test_an_optimizer_of_ones_own():
    class Plain(Optimizer):
        state_type = type(None)

        def step(self, lr, tensor, grad, state):
            return tensor - grad * lr, None

    model = Net()
    ours, sgd = ModuleOptimizer(Plain()), SgdConfig().init()
    assert_same(train(model, ours, range(2)), train(model, sgd, range(2)))
    assert ours.to_record().is_empty() and not ours.to_record().scalars


def test_gradients_params():
    model = Net()
    grads = make_grads(model, 0)
    assert len(grads) == 4 and not grads.is_empty() and grads
    assert grads.get(model.fc1.weight.id).shape == (3, 8) and not grads.get(model.fc1.weight.id).is_autodiff()
    assert (
        grads.remove(model.fc1.weight.id) is not None and grads.remove(model.fc1.weight.id) is None and len(grads) == 3
    )
    with pytest.raises(AutodiffError, match="inner"):
        grads.register(model.fc1.weight.id, model.fc1.weight.val())
    assert len(grads.to_device(Device.ndarray(), model)) == 3
    assert grads.get(model.fc1.bias.id).device == Device.ndarray()


def test_gradients_of_several_modules():
    first, second = Net(), Net()
    grads = (first(Tensor.ones([1, 3], DEVICE)) + second(Tensor.ones([1, 3], DEVICE))).sum().backward()
    ids = [first.fc1.weight.id]
    assert len(GradientsParams.from_params(grads, first, ids)) == 1
    assert len(GradientsParams.from_module(grads, second)) == 4
    assert len(GradientsParams.from_grads(grads, first)) == 3


def test_accumulated_gradients_are_summed():
    model, accumulator = Net(), GradientsAccumulator()
    parts = [make_grads(model, 0), make_grads(model, 1)]
    expected = parts[0].get(model.fc1.weight.id) + parts[1].get(model.fc1.weight.id)
    parts[1].remove(model.fc2.bias.id)
    for part in parts:
        accumulator.accumulate(model, part)
    total = accumulator.grads()
    np.testing.assert_array_equal(total.get(model.fc1.weight.id).numpy(), expected.numpy())
    assert len(total) == 4 and accumulator.grads().is_empty()


def test_a_gradient_on_another_device_is_not_added():
    model, accumulator = Net(), GradientsAccumulator()
    before, id = make_grads(model, 0), model.fc1.weight.id
    want = before.get(id).numpy().copy()
    accumulator.accumulate(model, before)
    with pytest.raises(DeviceError, match=r"\[accumulate\] 'grads' must be on .*Flex.*, got .*NdArray"):
        accumulator.accumulate(model, make_grads(model, 1).to_device(Device.ndarray(), model))
    np.testing.assert_array_equal(accumulator.grads().get(id).numpy(), want)


@pytest.mark.parametrize(
    "make",
    [
        lambda: AdamConfig(beta_1=1.0).init(),
        lambda: AdamConfig(beta_2=float("nan")).init(),
        lambda: AdamWConfig(epsilon=-1.0).init(),
        lambda: AdamWConfig(weight_decay=float("inf")).init(),
        lambda: WeightDecayConfig(float("nan")).init(),
        lambda: MomentumConfig(momentum=float("inf")).init(),
        lambda: GradientClippingConfig.Norm(0.0).init(),
        lambda: GradientClippingConfig.Value(float("nan")).init(),
    ],
)
def test_bad_settings(make):
    with pytest.raises(ArgumentError, match=r"\[\w+(\.\w+)?\] '\w+' must be"):
        make()


def test_config_json():
    config = AdamConfig(weight_decay=WeightDecayConfig(0.5), grad_clipping=GradientClippingConfig.Norm(1.0))
    assert list(__import__("json").loads(str(config))) == [
        "weight_decay", "grad_clipping", "beta_1", "beta_2", "epsilon", "amsgrad"
    ]  # fmt: skip
    assert AdamConfig.load_binary(str(config).encode()) == config
    assert '"Norm": 1.0' in str(config) and '"beta_1": 0.9,' in str(config)


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda o, m, g: o.step("a", m, g), r"\[step\] 'lr' must be a number or a ModuleLearningRate, got 'a'"),
        (lambda o, m, g: o.step(ConstantLr(0.1), m, g), "use the result of its step()"),
        (lambda o, m, g: o.step(0.1, None, g), r"\[step\] 'module' must be a Module, got None"),
        (lambda o, m, g: o.step(0.1, m, None), r"\[step\] 'grads' must be a GradientsParams, got None"),
        (
            lambda o, m, g: o.step(0.1, m, m(Tensor.ones([1, 3], DEVICE)).sum().backward()),
            r"'grads' must be a GradientsParams, got Gradients; make it with GradientsParams.from_grads\(loss.backward",
        ),
        (lambda o, m, g: o.load_record(None), "'record' must be an OptimizerRecord, got None"),
        (lambda o, m, g: o.load(None), "'path' must be a path"),
        (lambda o, m, g: o.save(3), "'path' must be a path"),
        (lambda o, m, g: o.from_bytes(None), "'data' must be bytes"),
        (lambda o, m, g: o.with_group("fc1", AdamConfig().build()), "'group' must be a ParamGroup, got 'fc1'"),
        (lambda o, m, g: o.with_group(ParamGroup.all(), AdamConfig()), r"'optimizer' must be an Optimizer.*build\(\)"),
        (lambda o, m, g: o.with_grad_clipping(1.0), "'grad_clipping' must be a GradientClipping, got 1.0"),
        (lambda o, m, g: ModuleOptimizer(SgdConfig().init()), "'optimizer' must be an Optimizer"),
        (lambda o, m, g: GradientsParams.from_grads(m, g), "'grads' must be a Gradients, got Net; loss.backward"),
        (lambda o, m, g: GradientsParams().register(1, Tensor.ones([1])), "'id' must be a ParamId, got 1"),
        (lambda o, m, g: g.to_device("cpu", m), "'device' must be a Device"),
        (lambda o, m, g: GradientsAccumulator().accumulate(m, 3), "'grads' must be a GradientsParams, got 3"),
        (lambda o, m, g: SgdConfig(momentum=3), r"\[SgdConfig\] 'momentum' must be a MomentumConfig or None, got 3"),
        (lambda o, m, g: AdamConfig(beta_1="a"), r"\[AdamConfig\] 'beta_1' must be a number, got 'a'"),
        (lambda o, m, g: GradientClippingConfig.Norm("a"), "'max_norm' must be a number, got 'a'"),
        (lambda o, m, g: ConstantLr("a"), r"\[ConstantLr\] 'lr' must be a number, got 'a'"),
        (lambda o, m, g: ModuleLearningRate(None), "'lr' must be a number, got None"),
        (lambda o, m, g: ModuleLrScheduler("a"), "'scheduler' must be a LrScheduler, got 'a'"),
        (lambda o, m, g: ModuleLrScheduler(0.1).load_record(None), "'record' must be a LrSchedulerRecord, got None"),
    ],
)
def test_arguments_of_another_type(call, message):
    model = Net()
    grads = make_grads(model, 0)
    with pytest.raises(ArgumentTypeError, match=message):
        call(AdamConfig().init(), model, grads)
    assert len(grads) == 4


def test_numbers_of_numpy_are_learning_rates():
    model = Net()
    wanted = SgdConfig().init().step(0.5, model, make_grads(model, 0))
    assert_same(SgdConfig().init().step(np.float32(0.5), model, make_grads(model, 0)), wanted)


def gradients_of(model):
    """A gradient for each parameter, which the caller holds too."""
    rng = np.random.default_rng(3)
    params = model.fc1.weight, model.fc1.bias, model.fc2.weight, model.fc2.bias
    return {
        param.id: Tensor.from_data(rng.normal(size=param.shape).astype(np.float32), DEVICE.inner()) for param in params
    }


def registered(gradients):
    grads = GradientsParams()
    for id, gradient in gradients.items():
        grads.register(id, gradient)
    return grads


@pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS)
def test_gradients_that_are_held_stay(config):
    model, optimizer = Net(), config.init()
    for _ in range(3):
        gradients = gradients_of(model)
        before = [gradient.numpy().copy() for gradient in gradients.values()]
        views = [gradient.reshape([-1]) for gradient in gradients.values()]
        model = optimizer.step(0.1, model, registered(gradients))
        for view, gradient, values in zip(views, gradients.values(), before):
            np.testing.assert_array_equal(gradient.numpy(), values)
            np.testing.assert_array_equal(view.numpy(), values.ravel())


def test_a_step_allocates_nothing_where_the_gradients_are_its_own():
    """The moments change in place and the new values lie where the gradients were."""
    model, optimizer = Net(), AdamConfig().init()
    model = train(model, optimizer, range(2))
    grads = registered(gradients_of(model))
    blocks = core.memory_usage()["live_blocks"]
    after = optimizer.step(0.1, model, grads)
    assert core.memory_usage()["live_blocks"] == blocks
    assert all(np.isfinite(value).all() for value in values(after))


def test_a_training_step_allocates_nothing():
    """Also with the gradients of a backward pass, once the states exist."""
    model, optimizer = Net(), AdamConfig().init()
    model = train(model, optimizer, [0])
    grads = make_grads(model, 1)
    blocks = core.memory_usage()["live_blocks"]
    after = optimizer.step(0.1, model, grads)
    assert core.memory_usage()["live_blocks"] == blocks and after is not model


def test_results_do_not_depend_on_whose_the_gradients_are():
    model = Net()
    held, own = AdamConfig().init(), AdamConfig().init()
    first, second = model, model
    for _ in range(3):
        gradients = gradients_of(model)
        first = held.step(0.1, first, registered(gradients))
        second = own.step(0.1, second, registered(gradients_of(model)))
    assert_same(first, second)


def test_a_step_of_ones_own_is_called():
    """A class that derives from one of ours and overrides its step is asked for each parameter."""

    class Halved(type(AdamConfig().build())):
        def step(self, lr, tensor, grad, state):
            return super().step(lr / 2, tensor, grad, state)

    model = Net()
    ours, plain = ModuleOptimizer(Halved(AdamConfig())), AdamConfig().init()
    for step in range(2):
        wanted = plain.step(0.05, model, make_grads(model, step))
        assert_same(ours.step(0.1, model, make_grads(model, step)), wanted)
        model = wanted


def test_parameters_of_different_ages_and_dtypes_in_one_step():
    model, optimizer = Net(), AdamConfig().init()
    late = gradients_of(model)
    early = dict(list(late.items())[:2])
    wide = model.fc2.bias.with_value(model.fc2.bias.val().inner().cast("f64").autodiff())
    model = model.replace(fc2=model.fc2.replace(bias=wide))
    late[wide.id] = late[wide.id].cast("f64")
    first = optimizer.step(0.1, model, registered(early))
    second = optimizer.step(0.1, first, registered(late))
    times = optimizer.to_record().scalars
    assert [times[f"{id.val()}.momentum.time"].value for id in late] == [2, 2, 1, 1]
    assert second.fc2.bias.val().dtype.name == "f64"
    expected = wide.val().numpy() - 0.1 * np.sign(late[wide.id].numpy()) / (1 + 1e-5 / np.abs(late[wide.id].numpy()))
    # The factors of a step are single precision: the error is a part of the step, not of a value that may lie near 0.
    np.testing.assert_allclose(second.fc2.bias.val().numpy(), expected, rtol=1e-5, atol=1e-7 * 0.1)
