"""Layers against Burn: its files, its outputs, its gradients, its printed form."""

import json

import numpy as np
import pytest

from burn import Device, Tensor
from burn.config import config_to_json
from burn.nn import EmbeddingConfig, LayerNormConfig, LinearConfig
from burn.nn.conv import (
    Conv1dConfig,
    Conv2dConfig,
    Conv3dConfig,
    ConvTranspose2dConfig,
    ConvTranspose3dConfig,
    DeformConv2dConfig,
)
from burn.nn.loss import CrossEntropyLossConfig, MseLoss, Reduction
from tests.golden import FOLDER, cases, tensors

CONFIGS = {
    "Linear": LinearConfig, "Embedding": EmbeddingConfig, "LayerNorm": LayerNormConfig, "Conv1d": Conv1dConfig,
    "Conv2d": Conv2dConfig, "Conv3d": Conv3dConfig, "ConvTranspose2d": ConvTranspose2dConfig,
    "ConvTranspose3d": ConvTranspose3dConfig, "DeformConv2d": DeformConv2dConfig,
}  # fmt: skip
LAYERS = [case for case in cases("nn/nn") if case["module"] in CONFIGS]
LOSSES = [case for case in cases("loss") if case["op"] in ("CrossEntropyLoss", "MseLoss")]
DEVICES = {"flex": Device.flex().autodiff(), "ndarray": Device.ndarray().autodiff()}


@pytest.fixture(params=DEVICES)
def device(request):
    return DEVICES[request.param]


def close(actual, expected, dtype):
    tolerance = {"F32": 2e-6, "F64": 1e-12}[dtype]
    np.testing.assert_allclose(actual, expected, rtol=tolerance, atol=tolerance)


def run(call, case, family, device):
    """Calls on the inputs of a case; returns the inputs by name and the outputs."""
    data, inputs = tensors(family), {}
    for entry in case["inputs"]:
        array = data[f"{case['name']}/in.{entry['name']}"]
        tensor = Tensor.from_data(array, device, dtype=str(array.dtype).replace("float", "f").replace("int", "i"))
        inputs[entry["name"]] = tensor.require_grad() if entry["kind"] == "F" else tensor
    return inputs, [call(*inputs.values())]


def gradients(case, outputs, family, device):
    data, total = tensors(family), None
    for index, output in enumerate(outputs):
        weight = Tensor.from_data(data[f"{case['name']}/ct.{index}"], device, dtype=output.dtype)
        loss = (output * weight).sum()
        total = loss if total is None else total + loss
    return total.backward()


@pytest.mark.parametrize("case", LAYERS, ids=lambda case: case["name"])
def test_layers(case, device):
    data, name = tensors("nn/nn"), case["name"]
    dtype = case.get("dtype", "F32")
    config = CONFIGS[case["module"]].load_binary(json.dumps(case["config"]).encode())
    assert json.loads(config_to_json(config)) == case["config"]
    module = config.init(device).load_file(FOLDER / "nn" / case["record"])
    assert str(module) == case["display"]
    for path in case["params"]:
        np.testing.assert_array_equal(getattr(module, path).numpy(), data[f"{name}/param.{path}"])
    inputs, outputs = run(module, case, "nn/nn", device)
    for index, output in enumerate(outputs):
        close(output.numpy(), data[f"{name}/out.{index}"], dtype)
    grads = gradients(case, outputs, "nn/nn", device)
    for key in case["grads"]:
        close(inputs[key].grad(grads).numpy(), data[f"{name}/grad.{key}"], dtype)
    for path in case["param_grads"]:
        close(getattr(module, path).grad(grads).numpy(), data[f"{name}/pgrad.{path}"], dtype)


@pytest.mark.parametrize("case", LOSSES, ids=lambda case: case["name"])
def test_losses(case, device):
    data, name, arguments = tensors("loss"), case["name"], case["args"]
    if case["op"] == "MseLoss":
        reduction = Reduction[arguments["reduction"].capitalize()]

        def call(logits, targets):
            return MseLoss()(logits, targets, reduction)
    else:
        call = CrossEntropyLossConfig.load_binary(json.dumps(arguments["config"]).encode()).init(device)
    inputs, outputs = run(call, case, "loss", device)
    for index, output in enumerate(outputs):
        close(output.numpy(), data[f"{name}/out.{index}"], case["dtype"])
    grads = gradients(case, outputs, "loss", device)
    for key in case["grads"]:
        close(inputs[key].grad(grads).numpy(), data[f"{name}/grad.{key}"], case["dtype"])
