"""Steps over many parameters: objects that were freed are made again, gradients and states are found in any order."""

import gc
import sys
import weakref

import numpy as np
import pytest

from burn import Device, Tensor
from burn._core import core
from burn.module import Module, Param
from burn.optim import AdamConfig, GradientsParams, SgdConfig
from burn.optim.momentum import MomentumConfig

CPU = Device.flex()
MANY = 700  # more than freed objects are kept


class Parameters(Module):
    def __init__(self, count, size=3):
        rng = np.random.default_rng(count)
        self.all = [Param.from_data(rng.normal(size=size).astype("f"), CPU.autodiff()) for _ in range(count)]


def gradients(params, seed=0):
    """A gradient for each of the parameters, in their order."""
    rng, made = np.random.default_rng(seed), GradientsParams()
    for param in params:
        made.register(param.id, Tensor.from_data(rng.normal(size=param.lazy_shape()).astype("f"), CPU))
    return made


def values(model):
    return [param.val().inner().numpy().copy() for param in model.all]


def adam(value, grad_list, lr, b1=0.9, b2=0.999, epsilon=1e-5):
    """Adam in float64."""
    m = v = np.zeros_like(value, dtype="f8")
    for t, g in enumerate(grad_list, 1):
        m, v = b1 * m + (1 - b1) * g, b2 * v + (1 - b2) * g.astype("f8") ** 2
        value = value - lr * (m / (1 - b1**t)) / (np.sqrt(v / (1 - b2**t)) + epsilon)
    return value


@pytest.mark.parametrize("size", [1, 3, 130, 1000])
def test_values_after_steps_in_turns_of_direction(size):
    model, optimizer = Parameters(40, size), AdamConfig(epsilon=1e-5).init()
    first, seen = values(model), []
    for seed in range(5):
        grads = gradients(model.all, seed)
        seen.append([grads.get(param.id).numpy().copy() for param in model.all])
        model = optimizer.step(0.01, model, grads)
    for k, value in enumerate(values(model)):
        np.testing.assert_allclose(value, adam(first[k], [step[k] for step in seen], 0.01), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("config", [AdamConfig(), SgdConfig(), SgdConfig(momentum=MomentumConfig())])
def test_memory_does_not_grow(config):
    model, optimizer = Parameters(MANY), config.init()

    def run(steps):
        nonlocal model
        for _ in range(steps):
            model = optimizer.step(0.01, model, gradients(model.all))
        gc.collect()
        return core.memory_usage()["live_blocks"], sys.getallocatedblocks()

    run(5)
    blocks, objects = run(5)
    later = run(60)
    assert later[0] == blocks
    assert later[1] < objects + MANY  # one object a parameter and step would be 60 times that


def test_old_modules_stay_as_they_are():
    model, optimizer = Parameters(MANY), AdamConfig().init()
    kept, before = [], []
    for seed in range(4):
        kept.append(model)
        before.append(values(model))
        model = optimizer.step(0.1, model, gradients(model.all, seed))
    for module, numbers in zip(kept, before):
        assert all(np.array_equal(a, b) for a, b in zip(values(module), numbers))


def test_gradients_in_another_order_and_of_some():
    """The order in which gradients were registered changes nothing, nor do those of other parameters between them."""
    model, other = Parameters(30), Parameters(5)
    optimizers = [AdamConfig().init() for _ in range(2)]
    first = second = model
    for seed in range(4):
        chosen = [param for k, param in enumerate(model.all) if (k + seed) % 3]
        grads = gradients(chosen, seed)
        mixed, entries = GradientsParams(), [(param.id, grads.get(param.id)) for param in chosen]
        foreign = [(param.id, Tensor.ones([3], CPU)) for param in other.all]
        for id, grad in [*foreign[:3], *entries[::-1], *foreign[3:]]:
            mixed.register(id, grad.clone())
        first = optimizers[0].step(0.01, first, grads)
        second = optimizers[1].step(0.01, second, mixed)
        assert grads.is_empty() and len(mixed) == 5 and all(mixed.get(param.id) is not None for param in other.all)
        for a, b, param in zip(values(first), values(second), model.all):
            np.testing.assert_array_equal(a, b, err_msg=str(param.id))


def test_of_clones_in_one_module_the_first_takes_the_gradient():
    class Twice(Module):
        def __init__(self, param, rest):
            self.all = [rest, param, param.clone(), param.clone()]

    param, rest = Parameters(2).all
    model, optimizer = Twice(param, rest), SgdConfig().init()
    for _ in range(2):
        before, grads = values(model), gradients([rest, param])
        grad = grads.get(param.id).numpy().copy()
        model = optimizer.step(0.5, model, grads)
        after = values(model)
        np.testing.assert_allclose(after[1], before[1] - 0.5 * grad, rtol=1e-6)
        assert np.array_equal(after[2], before[2]) and np.array_equal(after[3], before[3]) and grads.is_empty()
        model = Twice(model.all[1], model.all[0])


@pytest.mark.parametrize("config", [AdamConfig(), SgdConfig()])
def test_a_gradient_that_is_found_before_its_place_serves_once(config):
    """Walked in another order than gradients have, a clone comes just where the gradient of its id would be looked for first."""
    a, b, c, d = Parameters(4).all
    optimizer = config.init()
    a, b, c, d = optimizer.step(0.5, Parameters(0).replace(all=[a, b, c, d]), gradients([a, b, c, d])).all
    grads = gradients([a, b, c, d])
    model = Parameters(0).replace(all=[a, c, b, c.clone()])
    before, after = values(model), values(optimizer.step(0.5, model, grads))
    assert not any(np.array_equal(x, y) for x, y in zip(before[:3], after[:3]))
    np.testing.assert_array_equal(after[3], before[3])
    assert len(grads) == 1 and grads.get(d.id) is not None
    ages = {name: age.value for name, age in optimizer.to_record().scalars.items() if name.endswith(".time")}
    assert all(age == (1 if name.startswith(f"{d.id.val()}.") else 2) for name, age in ages.items())


def test_gradients_on_devices_that_change():
    """Parameters follow their gradients from device to device; their neighbours may be on any."""
    model, optimizer = Parameters(6), AdamConfig(epsilon=1e-5).init()
    first, seen, places = values(model), [], (Device.ndarray(), CPU, CPU)
    for seed in range(6):
        given, grads = gradients(model.all, seed), GradientsParams()
        seen.append([given.get(param.id).numpy().copy() for param in model.all])
        for k, param in enumerate(model.all):
            grads.register(param.id, given.get(param.id).to_device(places[(k + seed) % 3]))
        model = optimizer.step(0.01, model, grads)
        assert [param.val().device.inner() for param in model.all] == [places[(k + seed) % 3] for k in range(6)]
    for k, value in enumerate(values(model)):
        np.testing.assert_allclose(value, adam(first[k], [step[k] for step in seen], 0.01), rtol=1e-4, atol=1e-6)


def test_gradients_that_no_parameter_took_are_back_after_a_fault():
    class Rates:
        calls = 0

        def lr_from_param(self, id, path):
            self.calls += 1
            if self.calls == 4:
                raise KeyboardInterrupt
            return 0.1

    model, optimizer = Parameters(10), AdamConfig().init()
    grads = gradients(model.all)
    with pytest.raises(KeyboardInterrupt):
        optimizer.step(Rates(), model, grads)
    assert [grads.get(param.id) is None for param in model.all] == [True] * 4 + [False] * 6


def test_a_new_parameter_has_nothing_of_one_that_was_freed():
    hooked = [param.load_mapper(lambda t: t * 2.0).save_mapper(lambda t: t + 1.0) for param in Parameters(20).all]
    model, optimizer = Parameters(20), AdamConfig().init()
    model = model.replace(all=hooked)
    for seed in range(3):
        model = optimizer.step(0.01, model, gradients(model.all, seed))
        assert all(param._load is not None and param._save is not None for param in model.all)
    del model, hooked
    plain = Parameters(20)
    for seed in range(3):
        plain = AdamConfig().init().step(0.01, plain, gradients(plain.all, seed))
        for param in plain.all:
            assert param._load is None and param._save is None and param._adapter is None and param._lazy is None
            assert param.is_active() and param.kind == "float" and param.val().is_require_grad()


def test_weak_references_to_freed_parameters_are_dead():
    model, optimizer, heard = Parameters(20), AdamConfig().init(), []
    old = [weakref.ref(param, heard.append) for param in model.all]
    model = optimizer.step(0.01, model, gradients(model.all))
    assert all(reference() is None for reference in old) and len(heard) == 20
    model = optimizer.step(0.01, model, gradients(model.all))
    assert all(reference() is None for reference in old) and len(heard) == 20


def test_a_cycle_through_a_hook_is_collected():
    class Owner:
        pass

    owner, param = Owner(), Parameters(1).all[0]
    param = param.save_mapper(lambda tensor, owner=owner: tensor)
    model, optimizer = Parameters(1).replace(all=[param]), AdamConfig().init()
    model = optimizer.step(0.01, model, gradients(model.all))
    owner.param, gone = model.all[0], weakref.ref(owner)
    del owner, param, model
    gc.collect()
    assert gone() is None


def test_objects_of_a_class_derived_from_a_parameter_are_freed():
    class Named(Param):
        def __init__(self, *args):
            super().__init__(*args)
            self.name = [self]

    plain = Parameters(1).all[0]
    gone = []
    for _ in range(3):
        named = Named(plain.id, plain.val(), True, "float")
        gone.append(weakref.ref(named))
        del named
    gc.collect()
    assert all(reference() is None for reference in gone)


def test_freed_nodes_begin_anew():
    """Leaves and steps of a graph are made of freed ones: what they held is gone, and gradients are right."""
    device = CPU.autodiff()
    values = [Tensor.from_data(np.full(2, k, "f"), device).require_grad() for k in range(1, MANY)]
    for _ in range(3):
        total = values[0] * 0.0
        for value in values:
            total = total + value * value
        grads = total.sum().backward()
        for k, value in enumerate(values, 1):
            np.testing.assert_array_equal(value.grad(grads).numpy(), np.full(2, 2.0 * k, "f"))
        values = [value.detach().require_grad() for value in values]
        assert all(value.grad(grads) is None for value in values)
