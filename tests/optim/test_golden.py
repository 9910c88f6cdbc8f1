"""Steps and records of Burn 0.22.1, repeated."""

import json

import numpy as np
import pytest

from burn import Device, Tensor, nn
from burn.module import Module, ModuleMapper, ParamGroup, PathTracking
from burn.optim import AdamConfig, AdamWConfig, GradientsParams, OptimizerRecord, SgdConfig
from tests.golden import FOLDER, cases, tensors

RECORDS = FOLDER / "optim"
CONFIGS = {"Sgd": SgdConfig, "Adam": AdamConfig, "AdamW": AdamWConfig}
CASES = [case for case in cases("optim/optim") if case["optimizer"] in (*CONFIGS, "Grouped")]
TENSORS = tensors("optim/optim")
PATHS = ("fc1.weight", "fc1.bias", "fc2.weight", "fc2.bias")


class Net(Module):
    def __init__(self, device):
        self.fc1 = nn.LinearConfig(3, 4).init(device)
        self.fc2 = nn.LinearConfig(4, 2).init(device)


class SetValues(PathTracking, ModuleMapper):
    """Puts the values of a step into a module."""

    def __init__(self, prefix):
        super().__init__()
        self.prefix = prefix

    def map_float(self, param):
        value = Tensor.from_data(TENSORS[self.prefix + self.path()], Device.flex())
        return param.map(lambda old: value.autodiff().require_grad())


@pytest.fixture(params=CASES, ids=[case["name"] for case in CASES])
def case(request):
    return request.param


def make_model(case):
    net = Net(Device.flex().autodiff())
    return net.load_file(RECORDS / case["model"]).map(SetValues(f"{case['name']}/step0."))


def make_optimizer(case):
    if case["optimizer"] == "Grouped":
        return AdamConfig().init().with_group(ParamGroup.from_predicate("fc2"), SgdConfig().build())
    return CONFIGS[case["optimizer"]].load_binary(json.dumps(case["config"]).encode()).init()


def params(model):
    return {path: getattr(getattr(model, path[:3]), path[4:]) for path in PATHS}


def gradients(case, model, step):
    grads = GradientsParams()
    for path, param in params(model).items():
        grads.register(param.id, Tensor.from_data(TENSORS[f"{case['name']}/grad{step}.{path}"], Device.flex()))
    return grads


def assert_close(model, case, step):
    for path, param in params(model).items():
        expected = TENSORS[f"{case['name']}/step{step}.{path}"]
        np.testing.assert_allclose(param.val().numpy(), expected, rtol=3e-7, atol=1e-8, err_msg=f"{path}, step {step}")


def test_five_steps(case):
    model, optimizer = make_model(case), make_optimizer(case)
    for step in range(1, case["steps"] + 1):
        model = optimizer.step(case["lr"], model, gradients(case, model, step))
        assert_close(model, case, step)


def test_record_of_burn_has_the_state_after_the_steps(case):
    model, optimizer = make_model(case), make_optimizer(case)
    for step in range(1, case["steps"] + 1):
        model = optimizer.step(case["lr"], model, gradients(case, model, step))
    ours, theirs = optimizer.to_record(), OptimizerRecord.load(RECORDS / case["record"])
    assert ours.scalars == theirs.scalars and ours.paths == theirs.paths
    tensors = {tensor.name: tensor for tensor in theirs.tensors}
    assert sorted(tensors) == sorted(tensor.name for tensor in ours.tensors)
    for tensor in ours.tensors:
        other = tensors[tensor.name]
        assert (tensor.param_id, tensor.dtype, tensor.shape) == (other.param_id, other.dtype, other.shape)
        np.testing.assert_allclose(tensor.to_numpy(), other.to_numpy(), rtol=1e-6, atol=2e-8, err_msg=tensor.name)


def test_record_of_burn_goes_on_as_ours(case):
    """A step after loading Burn's record is the step after our own five."""
    model, optimizer = make_model(case), make_optimizer(case)
    for step in range(1, case["steps"] + 1):
        model = optimizer.step(case["lr"], model, gradients(case, model, step))
    loaded = make_optimizer(case).load(RECORDS / case["record"])
    ours = optimizer.step(case["lr"], model, gradients(case, model, 1))
    theirs = loaded.step(case["lr"], model, gradients(case, model, 1))
    for path in PATHS:
        np.testing.assert_allclose(
            params(theirs)[path].val().numpy(), params(ours)[path].val().numpy(), rtol=1e-6, err_msg=path
        )


def test_record_survives_our_files(case, tmp_path):
    theirs = OptimizerRecord.load(RECORDS / case["record"])
    optimizer = make_optimizer(case).load_record(theirs)
    optimizer.save(tmp_path / "optim")
    again = OptimizerRecord.load(tmp_path / "optim.bpk")
    assert again.scalars == theirs.scalars and again.paths == theirs.paths and len(again) == len(theirs)
    ids = [int(tensor.name.split(".")[0]) for tensor in optimizer.to_record().tensors]
    assert ids == sorted(ids)
