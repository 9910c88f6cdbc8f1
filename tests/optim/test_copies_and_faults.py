"""Copies of optimizers, also by other threads; steps that fail change nothing, and name the parameter that is at fault."""

import copy
import dataclasses
import os
import pickle
import signal
import threading
import warnings

import numpy as np
import pytest

from burn import Device, Tensor, nn
from burn.errors import ArgumentError, AutodiffError, DTypeError, RecordValidationError, ShapeError
from burn.grad_clipping import GradientClippingConfig
from burn.module import Module, ModuleMapper, Param, ParamGroup, ParamId
from burn.optim import AdamConfig, GradientsParams, ModuleOptimizer, Optimizer, OptimizerRecord, SgdConfig
from burn.optim.momentum import MomentumConfig
from burn.store.pack import PackTensor, Scalar
from tests.optim.test_module_optimizer import CONFIGS, Net, assert_same, make_grads, train

CPU = Device.flex()


@pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS)
@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda o: pickle.loads(pickle.dumps(o))])
def test_copies_go_their_own_way(config, copied):
    optimizer = config.init()
    model = train(Net(), optimizer, range(3))
    other = copied(optimizer)
    before = other.into_bytes()
    assert before == optimizer.into_bytes() and repr(other) == repr(optimizer)
    ahead = optimizer.step(0.1, model, make_grads(model, 5))
    assert other.into_bytes() == before
    assert_same(other.step(0.1, model, make_grads(model, 5)), ahead)


def test_copies_keep_groups():
    optimizer = (
        AdamConfig().init().with_group(ParamGroup.from_path("fc1"), SgdConfig(momentum=MomentumConfig()).build())
    )
    model = train(Net(), optimizer, range(2))
    ahead = [pickle.loads(pickle.dumps(optimizer)), copy.deepcopy(optimizer), optimizer]
    results = [o.step(0.1, model, make_grads(model, 3)) for o in ahead]
    assert_same(results[0], results[2])
    assert_same(results[1], results[2])


@pytest.mark.parametrize("steps", [0, 2])
@pytest.mark.parametrize(
    ("made", "error", "message"),
    [
        (
            lambda: Tensor.ones([3], CPU),
            ShapeError,
            r"the gradient of 'fc2.bias' must .* \[2\] of f32, got \[3\] of f32",
        ),
        (lambda: Tensor.ones([1], CPU), ShapeError, r"got \[1\] of f32; register the gradient of this very parameter"),
        (lambda: Tensor.ones([2], CPU, dtype="f64"), DTypeError, r"'fc2.bias' must .* \[2\] of f32, got \[2\] of f64"),
    ],
)
@pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS)
def test_a_gradient_that_does_not_fit_is_named_and_nothing_changes(config, made, error, message, steps):
    optimizer = config.init()
    model = train(Net(), optimizer, range(steps))
    before = optimizer.into_bytes()
    grads = make_grads(model, 5)
    grads.register(model.fc2.bias.id, made())
    with pytest.raises(error, match=rf"\[step\] .*{message}"):
        optimizer.step(0.1, model, grads)
    assert optimizer.into_bytes() == before


def test_a_state_that_does_not_fit_is_named():
    optimizer = AdamConfig().init()
    layer = nn.LinearConfig(3, 2).init(CPU.autodiff())
    for sizes in ([3, 2], [4, 2]):
        layer = layer.replace(weight=layer.weight.with_value(Tensor.ones(sizes, CPU.autodiff())))
        grads = GradientsParams()
        grads.register(layer.weight.id, Tensor.ones(sizes, CPU))
        if sizes == [3, 2]:
            layer = optimizer.step(0.1, layer, grads)
        else:
            with pytest.raises(ShapeError, match=r"the state of 'weight' must .* \[4, 2\] of f32, got \[3, 2\]"):
                optimizer.step(0.1, layer, grads)


def test_an_interrupted_walk_changes_nothing():
    class Rates:
        calls = 0

        def lr_from_param(self, id, path):
            self.calls += 1
            if self.calls == 3:
                raise KeyboardInterrupt
            return 0.1

    for start in (0, 2):
        for dtype in ("f32", "f16"):  # half precision has no kernel: such parameters are stepped one by one
            optimizer = AdamConfig().init()
            model = train(Net(), optimizer, range(start))
            if dtype == "f16":
                model = model.replace(fc1=model.fc1.replace(weight=model.fc1.weight.map(lambda t: t.cast("f16"))))
            grads = GradientsParams()
            for layer in (model.fc1, model.fc2):
                for param in (layer.weight, layer.bias):
                    grads.register(param.id, Tensor.ones(param.val().dims(), CPU, dtype=param.val().dtype))
            before, values = optimizer.into_bytes(), model.fc1.weight.val().numpy().copy()
            with pytest.raises(KeyboardInterrupt):
                optimizer.step(Rates(), model, grads)
            assert optimizer.into_bytes() == before
            np.testing.assert_array_equal(model.fc1.weight.val().numpy(), values)


def test_copies_made_in_another_thread_do_not_change():
    """A step updates moments in place, without the lock of the interpreter."""
    layer = nn.LinearConfig(1500, 1500, bias=False).init(CPU.autodiff())
    optimizer, copies, done = AdamConfig().init(), [], threading.Event()
    layer(Tensor.ones([1, 1500], CPU.autodiff()))

    def copy_all():
        while not done.is_set() and len(copies) < 8:
            other = optimizer.clone()
            copies.append((other, other.into_bytes()))

    other = threading.Thread(target=copy_all)
    for step in range(12):
        grads = GradientsParams()
        grads.register(layer.weight.id, Tensor.ones([1500, 1500], CPU))
        layer = optimizer.step(0.01, layer, grads)
        if step == 0:
            other.start()
    done.set()
    other.join()
    assert copies and all(optimizer.into_bytes() == before for optimizer, before in copies)


def test_a_child_forked_during_a_step_steps_too():
    optimizer = AdamConfig().init()
    model = train(Net(), optimizer, range(2))
    held = threading.Event(), threading.Event()

    def take():
        with optimizer._lock.held:
            held[0].set()
            held[1].wait()

    thread = threading.Thread(target=take)
    thread.start()
    held[0].wait()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # a fork beside threads: what this test is about
        child = os.fork()
    if child == 0:
        signal.alarm(20)
        try:
            optimizer.step(0.1, model, make_grads(model, 1))
            os._exit(0)
        finally:
            os._exit(1)
    held[1].set()
    thread.join()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def clones(first, second):
    """Gradients of a net that has a layer and its clone, after two layers that come from functions of one."""
    device = CPU.autodiff()
    layer = nn.LinearConfig(2, 2).init(device)
    net = Pair(first(layer), second(layer.clone()))
    return net, net.b(net.a(Tensor.ones([1, 2], device))).sum().backward()


class Pair(Module):
    def __init__(self, a, b):
        self.a = a
        self.b = b


def same(layer):
    return layer


def test_two_trained_parameters_of_one_id_are_an_error():
    """A clone has the ids of what it is a clone of: one of them would be trained, with the gradients of either."""
    net, grads = clones(same, same)
    with pytest.raises(AutodiffError, match=r"'a\.weight' and 'b\.weight' have one.*clone\(\).*build the second layer"):
        GradientsParams.from_grads(grads, net)
    net, grads = clones(same, lambda layer: layer.map(NewIds()))
    stepped = SgdConfig().init().step(0.1, net, GradientsParams.from_grads(grads, net))
    for before, after in ((net.a, stepped.a), (net.b, stepped.b)):
        assert before.weight.val().tolist() != after.weight.val().tolist()


class NewIds(ModuleMapper):
    def map_float(self, param):
        _, value, mapper = param.consume()
        return Param.from_mapped_value(ParamId(), value.detach(), mapper)


@pytest.mark.parametrize("clipping", [None, GradientClippingConfig.Norm(1e-3)])
@pytest.mark.parametrize("frozen", ["a", "b"])
@pytest.mark.parametrize("config", [SgdConfig(), AdamConfig()])
def test_a_frozen_clone_stays_as_it_is(config, frozen, clipping):
    """A target beside what is trained has the same ids; whichever comes first, the trained one is stepped."""
    freeze = [layer_no_grad if frozen == name else same for name in "ab"]
    net, grads = clones(*freeze)
    optimizer = config.init()
    if clipping is not None:
        optimizer = optimizer.with_grad_clipping(clipping)
    stepped = optimizer.step(0.1, net, GradientsParams.from_grads(grads, net))
    changed = {
        name: getattr(net, name).weight.val().tolist() != getattr(stepped, name).weight.val().tolist() for name in "ab"
    }
    assert changed == {"a": frozen == "b", "b": frozen == "a"}
    assert sorted(optimizer.to_record().paths.values()) in (
        [],
        [f"{'b' if frozen == 'a' else 'a'}.{p}" for p in ("bias", "weight")],
    )


def layer_no_grad(layer):
    return layer.no_grad()


def test_states_that_belong_to_nothing_are_reported():
    device = CPU.autodiff()
    model = nn.LinearConfig(2, 2).init(device)
    optimizer, other = AdamConfig().init(), AdamConfig().init()

    def grads(model):
        return GradientsParams.from_grads(model(Tensor.ones([1, 2], device)).sum().backward(), model)

    model = optimizer.step(0.1, model, grads(model))
    fresh = nn.LinearConfig(2, 2).init(device)
    other.load_record(optimizer.to_record())
    with pytest.warns(
        UserWarning, match=r"\[step\] none of the 2 states that were loaded .* load the record of the model"
    ):
        fresh = other.step(0.1, fresh, grads(fresh))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        other.step(0.1, fresh, grads(fresh))
        again = AdamConfig().init().load_record(optimizer.to_record())
        loaded = nn.LinearConfig(2, 2).init(device).load_record(model.into_record())
        again.step(0.1, loaded, grads(loaded))


def test_records_of_another_rule_are_refused():
    """A leaf that the state has no place for is of another optimizer."""
    optimizer = SgdConfig().init()
    record = OptimizerRecord([PackTensor.from_numpy("7.momentum", np.zeros(2, "f4"), 7)], {"7.__rank": Scalar.UInt(1)})
    with pytest.raises(
        RecordValidationError, match=r"must fit Sgd, which has no 'momentum'; load it into the optimizer"
    ):
        optimizer.load_record(record)


def test_a_state_with_a_field_of_the_records_own():
    class Strange(Optimizer):
        state_type = dataclasses.make_dataclass("StrangeState", [("__rank", int)])

        def step(self, lr, tensor, grad, state):
            return tensor, state

    with pytest.raises(ArgumentError, match=r"no field '__rank', where records have the rank"):
        ModuleOptimizer(Strange())
