"""Layers of PyTorch that burn keeps in another form: gates, packed projections, blocks of transformers; values are PyTorch's."""

import re

import numpy as np
import pytest

from burn import Device, Tensor
from burn.errors import StoreValidationError
from burn.module import Module, Param
from burn.nn import rnn
from burn.nn.activation import ActivationConfig
from burn.nn.attention import MhaInput, MultiHeadAttentionConfig
from burn.nn.transformer import (
    TransformerDecoderConfig,
    TransformerDecoderInput,
    TransformerEncoderConfig,
    TransformerEncoderInput,
)
from burn.store import BurnToPyTorchAdapter, PytorchReader, PytorchStore, PyTorchToBurnAdapter, SafetensorsStore
from tests.conftest import ROOT

DATA = ROOT / "tests/store/data"
CPU = Device.flex()
BLOCK = {"dropout": 0.0, "activation": ActivationConfig.Relu}


def recurrent(layer, x, memory):
    y = layer.forward(x, None)
    return y[0] if isinstance(y, tuple) else y


def attended(layer, x, memory):
    return layer.forward(MhaInput.self_attn(x)).context


def encoded(layer, x, memory):
    return layer.forward(TransformerEncoderInput(x))


def decoded(layer, x, memory):
    return layer.forward(TransformerDecoderInput(x, memory))


LAYERS = {
    "lstm": (rnn.LstmConfig(4, 3, bias=True), recurrent),
    "bilstm": (rnn.BiLstmConfig(4, 3, bias=True), recurrent),
    "gru": (rnn.GruConfig(4, 3, bias=True), recurrent),
    "bigru": (rnn.BiGruConfig(4, 3, bias=True), recurrent),
    "attention": (MultiHeadAttentionConfig(4, 2, dropout=0.0), attended),
    "encoder": (TransformerEncoderConfig(4, 6, 2, 2, **BLOCK), encoded),
    "encoder_norm_first": (TransformerEncoderConfig(4, 6, 2, 2, norm_first=True, **BLOCK), encoded),
    "decoder": (TransformerDecoderConfig(4, 6, 2, 1, **BLOCK), decoded),
    "decoder_norm_first": (TransformerDecoderConfig(4, 6, 2, 1, norm_first=True, **BLOCK), decoded),
}


def given(name):
    data = PytorchReader.with_top_level_key(DATA / "layers.pt", "data").tensors()
    return [data[f"{name}.{part}"].to_numpy() for part in ("x", "memory", "y")]


def pytorch(name):
    return PytorchStore.from_file(DATA / "layers.pt").with_top_level_key(name)


def safetensors(name):
    store = SafetensorsStore.from_file(DATA / "layers.safetensors").with_from_adapter(PyTorchToBurnAdapter())
    return store.with_key_remapping(rf"^{name}\.", "").skip_enum_variants(True)


@pytest.mark.parametrize("store", [pytorch, safetensors])
@pytest.mark.parametrize("name", LAYERS)
def test_layers_give_what_pytorchs_give(name, store):
    config, run = LAYERS[name]
    layer, result = config.init(CPU).load_from(store(name))
    assert not result.missing and not [path for path in result.unused if path.split(".")[0] not in LAYERS]
    x, memory, y = given(name)
    np.testing.assert_allclose(run(layer, Tensor(x, CPU), Tensor(memory, CPU)).numpy(), y, rtol=1e-4, atol=1e-5)


def test_layers_deep_in_a_model(tmp_path):
    """The names in front of the layer are the model's own, whatever it is in."""
    torch = pytest.importorskip("torch")
    from tests.store import make_data

    torch.manual_seed(2)
    layers = make_data.layers()
    torch.save(
        {
            f"parts.{key}.{name}": value
            for key, (layer, *_) in layers.items()
            for name, value in layer.state_dict().items()
        },
        tmp_path / "m.pt",
    )

    class Net(Module):
        def __init__(self):
            self.parts = {name: config.init(CPU) for name, (config, _) in LAYERS.items()}

    net, result = Net().load_from(PytorchStore.from_file(tmp_path / "m.pt"))
    assert not result.missing and not result.unused
    for name, (layer, *inputs) in layers.items():
        y = layer.eval()(*inputs)
        y = y[0] if isinstance(y, tuple) else y
        ours = LAYERS[name][1](net.parts[name], *(Tensor(inputs[i].numpy(), CPU) for i in (0, -1)))
        np.testing.assert_allclose(ours.numpy(), y.detach().numpy(), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("store", [pytorch, safetensors])
@pytest.mark.parametrize(
    ("name", "config", "what"),
    [
        ("lstm", rnn.LstmConfig(4, 3, bias=True, input_forget=True), "four gates.*no forget gate.*input_forget=False"),
        ("bilstm", rnn.BiLstmConfig(4, 3, bias=True, input_forget=True), "four gates.*no forget gate"),
        ("gru", rnn.GruConfig(4, 3, bias=True, reset_after=False), "resets after.*build it with reset_after=True"),
        ("lstm", rnn.LstmConfig(4, 2, bias=True), r"expected \[4, 2\], found \[4, 12\]"),
        ("attention", MultiHeadAttentionConfig(6, 2), r"expected \[6, 6\], found \[4, 12\]"),
    ],
)
def test_what_pytorch_has_and_a_layer_lacks_is_an_error(name, config, what, store):
    """No gate is dropped in silence, and nothing is loaded by half."""
    layer = config.init(CPU)
    before = [tensor.to_numpy().tolist() for tensor in layer.collect()]
    with pytest.raises(StoreValidationError, match=re.compile(what, re.DOTALL)):
        layer.load_from(store(name))
    assert [tensor.to_numpy().tolist() for tensor in layer.collect()] == before


@pytest.mark.parametrize("config", [rnn.LstmConfig(4, 3, bias=True), rnn.GruConfig(4, 3, bias=True)])
def test_the_one_gate_of_another_layer_is_not_taken_for_each_of_several(config, tmp_path):
    """A plain RNN's weights have the shape of one gate, so that each gate could take them whole."""
    values = {"weight_ih_l0": (3, 4), "weight_hh_l0": (3, 3), "bias_ih_l0": (3,), "bias_hh_l0": (3,)}
    memory = SafetensorsStore.from_bytes()
    memory.collect_from(Named({name: Tensor.ones(shape, device=CPU) for name, shape in values.items()}))
    store = SafetensorsStore.from_bytes(memory.get_bytes()).with_from_adapter(PyTorchToBurnAdapter())
    store.with_key_remapping(r"^values\.", "")
    with pytest.raises(StoreValidationError, match=r"'weight_ih_l0' has 3 rows, enough for one of the . parts"):
        config.init(CPU).load_from(store)


class Named(Module):
    def __init__(self, values):
        self.values = {name: Param.from_tensor(value) for name, value in values.items()}


@pytest.mark.parametrize("config", [rnn.LstmConfig(4, 3, bias=True), rnn.GruConfig(4, 3, bias=True)])
def test_gates_that_stand_alone_in_the_file_are_taken_whole(config):
    """What burn wrote for PyTorch has a tensor for each gate."""
    layer, memory = config.init(CPU), SafetensorsStore.from_bytes()
    layer.save_into(memory.with_to_adapter(BurnToPyTorchAdapter()))
    store = SafetensorsStore.from_bytes(memory.get_bytes()).with_from_adapter(PyTorchToBurnAdapter())
    copy, result = config.init(CPU).load_from(store)
    assert not result.unused
    x = Tensor(np.ones((1, 2, 4), "f4"), CPU)
    assert recurrent(copy, x, None).tolist() == recurrent(layer, x, None).tolist()


def test_an_lstm_without_a_forget_gate_still_loads_its_own_files(tmp_path):
    layer = rnn.LstmConfig(4, 3, bias=True, input_forget=True).init(CPU)
    layer.save_into(SafetensorsStore.from_file(tmp_path / "m.safetensors"))
    store = SafetensorsStore.from_file(tmp_path / "m.safetensors")
    _, result = rnn.LstmConfig(4, 3, bias=True, input_forget=True).init(CPU).load_from(store)
    assert len(result.applied) == 12 and not result.unused
