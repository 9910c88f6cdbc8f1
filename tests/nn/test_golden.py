"""Layers against Burn: its files, its outputs, its gradients, its printed form."""

import json

import numpy as np
import pytest

from burn import Device, Tensor, nn
from burn.config import config_to_json
from burn.module import RunningState
from burn.nn import loss as losses
from burn.nn.attention import MhaInput, MultiHeadAttention, generate_autoregressive_mask
from burn.nn.transformer import TransformerDecoder, TransformerDecoderInput, TransformerEncoder, TransformerEncoderInput
from burn.tensor.activation import log_softmax
from tests.golden import FOLDER, cases, tensors

PLACES = {
    nn: "Linear PRelu SwiGlu Embedding BatchNorm GroupNorm InstanceNorm LayerNorm RmsNorm "
    "PairwiseDistance PixelShuffle PixelUnshuffle RotaryEncoding",
    nn.rnn: "Rnn BiRnn Gru Lstm BiLstm",
    nn.attention: "MultiHeadAttention",
    nn.transformer: "PositionWiseFeedForward TransformerEncoder TransformerDecoder",
    nn.conv: "Conv1d Conv2d Conv3d ConvTranspose2d ConvTranspose3d DeformConv2d",
    nn.pool: "AvgPool2d MaxPool2d",
    nn.interpolate: "Interpolate1d Interpolate2d",
}
# Made without a device.
PLAIN = {
    *f"{PLACES[nn.pool]} {PLACES[nn.interpolate]} PairwiseDistance PixelShuffle PixelUnshuffle".split()
}  # made without a device
CONFIGS = {name: getattr(place, name + "Config") for place, names in PLACES.items() for name in names.split()}
LAYERS = cases("nn/nn")
LOSSES = cases("loss")
DEVICES = {"flex": Device.flex().autodiff(), "ndarray": Device.ndarray().autodiff()}


@pytest.fixture(params=DEVICES)
def device(request):
    return DEVICES[request.param]


def close(actual, expected, dtype):
    tolerance = {"F32": 2e-6, "F64": 1e-12}[dtype]
    np.testing.assert_allclose(actual, expected, rtol=tolerance, atol=tolerance)


def field_of(module, path):
    """What a path leads to."""
    for name in path.split("."):
        module = module[int(name)] if name.isdigit() else getattr(module, "forward_" if name == "forward" else name)
    return module


def value_of(module, path):
    """A parameter of a module, or a running state as it is read without waiting: one update behind."""
    found = field_of(module, path)
    return (found.value() if isinstance(found, RunningState) else found).numpy()


def caller(module, case, device):
    """The call of a module on tensors, where its forward takes an object of several."""
    if isinstance(module, MultiHeadAttention):

        def attend(*tensors, x=None, mask_pad=None):
            given = MhaInput.self_attn(x) if x is not None else MhaInput(*tensors)
            if mask_pad is not None:
                batch, length = (x if isinstance(x, Tensor) else mask_pad).dims()[:2]
                given = given.mask_pad(mask_pad).mask_attn(generate_autoregressive_mask(batch, length, device.inner()))
            out = module(given)
            return out.context, out.weights

        return attend
    if isinstance(module, TransformerEncoder):

        def encode(x, mask_pad=None):
            given = TransformerEncoderInput(x)
            return module(given if mask_pad is None else given.mask_pad(mask_pad))

        return encode
    if isinstance(module, nn.Rnn | nn.BiRnn):

        def recur(x):
            output, state = module(x)
            return output, state.hidden

        return recur
    if isinstance(module, nn.Lstm | nn.BiLstm):

        def remember(x, cell=None, hidden=None):
            output, state = module(x, None if cell is None else nn.LstmState(cell, hidden))
            return output, *state.unpack()

        return remember
    if "apply_start" in case["args"]:
        return lambda x: module.apply(x, case["args"]["apply_start"])
    if isinstance(module, TransformerDecoder):
        return lambda *tensors: module(TransformerDecoderInput(*tensors))
    return module


def run(call, case, family, device):
    """Calls on the inputs of a case; returns the inputs by name and the outputs."""
    data, inputs = tensors(family), {}
    for entry in case["inputs"]:
        array = data[f"{case['name']}/in.{entry['name']}"]
        tensor = Tensor.from_data(array, device, dtype=str(array.dtype).replace("float", "f").replace("int", "i"))
        inputs[entry["name"]] = tensor.require_grad() if entry["kind"] == "F" else tensor
    result = call(**inputs) if any(name.startswith("mask") for name in inputs) else call(*inputs.values())
    return inputs, list(result) if isinstance(result, tuple) else [result]


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
    file = FOLDER / "nn" / case["record"]
    module = (config.init() if case["module"] in PLAIN else config.init(device)).load_file(file)
    assert module.into_record().into_bytes() == file.read_bytes()
    assert str(module) == case["display"]
    for path in case["params"]:
        np.testing.assert_array_equal(value_of(module, path), data[f"{name}/param.{path}"])
    inputs, outputs = run(caller(module, case, device), case, "nn/nn", device)
    for index, output in enumerate(outputs):
        close(output.numpy(), data[f"{name}/out.{index}"], dtype)
    grads = gradients(case, outputs, "nn/nn", device)
    for key in case["grads"]:
        close(inputs[key].grad(grads).numpy(), data[f"{name}/grad.{key}"], dtype)
    for path in case["state_after"]:
        close(value_of(module, path), data[f"{name}/after.{path}"], dtype)
    for path in case["param_grads"]:
        close(field_of(module, path).grad(grads).numpy(), data[f"{name}/pgrad.{path}"], dtype)


def criterion_of(case, device):
    """The call of a loss."""
    arguments, name = case["args"], case["op"]
    if "config" in arguments:
        config = getattr(losses, name + "Config").load_binary(json.dumps(arguments["config"]).encode())
        criterion = config.init(device) if name.endswith("CrossEntropyLoss") else config.init()
    else:
        criterion = getattr(losses, name)()
    if name == "CTCLoss":
        return lambda logits, *rest: criterion(log_softmax(logits, 2), *rest)
    if "reduction" not in arguments:
        return criterion
    reduced = getattr(criterion, "forward_with_reduction", criterion)
    return lambda *tensors: reduced(*tensors, losses.Reduction[arguments["reduction"].capitalize()])


@pytest.mark.parametrize("case", LOSSES, ids=lambda case: case["name"])
def test_losses(case, device):
    data, name = tensors("loss"), case["name"]
    call = criterion_of(case, device)
    inputs, outputs = run(call, case, "loss", device)
    for index, output in enumerate(outputs):
        close(output.numpy(), data[f"{name}/out.{index}"], case["dtype"])
    grads = gradients(case, outputs, "loss", device)
    for key in case["grads"]:
        close(inputs[key].grad(grads).numpy(), data[f"{name}/grad.{key}"], case["dtype"])
