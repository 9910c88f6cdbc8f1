"""Checkpoints of PyTorch into modules: files that PyTorch 2.13 wrote, and what it writes now where it is installed."""

import json
import re

import numpy as np
import pytest

from burn import Device, Tensor
from burn.config import Config
from burn.errors import MissingTensorsError, StoreError, StoreIoError, StoreValidationError
from burn.module import Module, Param
from burn.nn import LinearConfig, PaddingConfig2d, rnn
from burn.nn.activation import ActivationConfig, Relu
from burn.nn.conv import Conv2dConfig
from burn.nn.norm import BatchNormConfig, InstanceNormConfig
from burn.nn.transformer import TransformerEncoderConfig, TransformerEncoderInput
from burn.store import FloatCastAdapter, KeyRemapper, PickleValue, PytorchReader, PytorchStore
from tests.conftest import ROOT

DATA = ROOT / "tests/store/data"
CPU = Device.flex()


def conv(inner, outer, size, stride=1, padding=0):
    config = Conv2dConfig([inner, outer], [size, size], stride=[stride, stride], bias=False)
    return config.with_padding(PaddingConfig2d.Explicit(padding, padding, padding, padding)).init(CPU)


class Block(Module):
    def __init__(self, inner, outer, stride):
        self.conv1 = conv(inner, outer, 3, stride, 1)
        self.bn1 = BatchNormConfig(outer).init(CPU)
        self.conv2 = conv(outer, outer, 3, 1, 1)
        self.bn2 = BatchNormConfig(outer).init(CPU)
        self.downsample = [conv(inner, outer, 1, stride), BatchNormConfig(outer).init(CPU)] if stride != 1 else None
        self.relu = Relu()

    def forward(self, x):
        y = self.bn2(self.conv2(self.relu(self.bn1(self.conv1(x)))))
        for layer in self.downsample or ():
            x = layer(x)
        return self.relu(x + y)


class ResNet(Module):
    def __init__(self):
        self.conv1, self.bn1 = conv(1, 2, 3, 1, 1), BatchNormConfig(2).init(CPU)
        self.layer1, self.layer2 = [Block(2, 2, 1)], [Block(2, 3, 2)]
        self.fc = LinearConfig(3, 2).init(CPU)

    def forward(self, x):
        x = self.bn1(self.conv1(x)).clamp_min(0.0)
        for block in [*self.layer1, *self.layer2]:
            x = block(x)
        return self.fc(x.mean_dims([2, 3]).reshape([-1, 3]))


class PRelu(Module):
    def __init__(self, count):
        self.alpha = Param.from_tensor(Tensor.zeros([count], CPU))


class Net(Module):
    def __init__(self):
        self.fc = [LinearConfig(3, 4).init(CPU), PRelu(4), LinearConfig(4, 2, bias=False).init(CPU)]
        self.norm = InstanceNormConfig(2).init(CPU)


def stored(file, name):
    return PytorchReader(DATA / file).get(name).to_numpy()


def test_resnet_in_three_lines():
    store = PytorchStore.from_file(DATA / "resnet.pt").with_top_level_key("state_dict")
    model, result = ResNet().load_from(store)
    y = model.forward(Tensor(stored("resnet.pt", "x"), CPU))

    np.testing.assert_allclose(y.numpy(), stored("resnet.pt", "y"), rtol=1e-5, atol=1e-5)
    assert not result.missing and all(name.endswith("num_batches_tracked") for name in result.unused)
    assert model.layer2[0].downsample[1].running_var.value().tolist() == pytest.approx(
        stored("resnet.pt", "state_dict.layer2.0.downsample.1.running_var").tolist()
    )


def test_transformer_in_three_lines():
    store = PytorchStore.from_file(DATA / "transformer.pt").with_top_level_key("model")
    config = TransformerEncoderConfig(8, 12, 2, 2, dropout=0.0, activation=ActivationConfig.Relu)
    model, result = config.init(CPU).load_from(store)
    y = model.forward(TransformerEncoderInput(Tensor(stored("transformer.pt", "x"), CPU)))

    np.testing.assert_allclose(y.numpy(), stored("transformer.pt", "y"), rtol=1e-4, atol=1e-5)
    assert not result.missing and not result.unused
    assert len(result.applied) == 2 * 16

    names = {
        "self_attn": "mha",
        "linear1": "pwff.linear_inner",
        "linear2": "pwff.linear_outer",
        r"norm([12])": "norm_$1",
    }
    renamed, _ = config.init(CPU).load_from(store.remap(KeyRemapper.from_patterns(names)))
    assert all(a.to_bytes() == b.to_bytes() for a, b in zip(model.collect(), renamed.collect(), strict=True))


@pytest.mark.parametrize("file", ["net.pt", "net_legacy.pt", "net_module.pt"])
def test_prelu_instance_norm_and_a_sequential_with_gaps(file):
    model, result = Net().load_from(PytorchStore.from_file(DATA / file))
    assert result.unused == ["kept"] and not result.missing
    assert model.fc[0].weight.val().tolist() == stored(file, "fc.0.weight").T.tolist()
    assert model.fc[1].alpha.val().tolist() == stored(file, "fc.1.weight").tolist()
    assert model.fc[2].weight.val().tolist() == stored(file, "fc.2.weight").T.tolist()
    assert model.norm.gamma.val().tolist() == stored(file, "norm.weight").tolist()
    assert model.norm.beta.val().tolist() == stored(file, "norm.bias").tolist()
    assert stored(file, "fc.0.weight").tolist() == stored("net.pt", "fc.0.weight").tolist()


def test_a_whole_module_reads_as_its_state_dict():
    assert PytorchReader(DATA / "net_module.pt").keys() == PytorchReader(DATA / "net.pt").keys()
    assert "dropped" not in PytorchReader(DATA / "net_module.pt").keys()


def test_half_precision_is_kept_or_cast():
    store = PytorchStore.from_file(DATA / "net_half.pt")
    half, _ = Net().load_from(store)
    assert {str(layer.weight.val().dtype) for layer in (half.fc[0], half.fc[2])} == {"f16"}
    full, _ = Net().load_from(store.with_from_adapter(FloatCastAdapter.to("f32")))
    assert full.fc[0].weight.val().tolist() == half.fc[0].weight.val().cast("f32").tolist()


@pytest.mark.parametrize("file", ["tensors.pt", "tensors_legacy.pt"])
def test_dtypes_strides_and_names(file):
    reader = PytorchReader(DATA / file)
    base = np.arange(24.0).reshape(4, 6)
    want = {
        "transposed": base.T, "strided": base[1:3, ::2], "expanded": np.array([[1.0] * 3, [2.0] * 3]), "empty": np.zeros((0, 3)),
        "number": np.array(7), "column": base[:, 2:3], "again": base, "bf16": np.array([1.0, -3.0]), "f64": np.array([0.1]),
        "bool": np.array([True, False]), "u8": np.array([255]), "i16": np.array([-2]), "u16": np.array([65535]),
        "parameter": np.ones(2), "list.0": np.ones(1), "list.1.inner": np.zeros(1),
    }  # fmt: skip
    assert set(reader.keys()) == {*want, "complex", "f8", "sparse"}
    dtypes = {
        "number": "I64",
        "bf16": "BF16",
        "f64": "F64",
        "bool": "Bool(Native)",
        "u8": "U8",
        "i16": "I16",
        "u16": "U16",
    }
    for name, value in want.items():
        tensor = reader.get(name)
        assert str(tensor.dtype) == dtypes.get(name, "F32") and tensor.shape == value.shape
        assert tensor.byte_len() == tensor.to_bytes().nbytes
        np.testing.assert_array_equal(tensor.to_numpy().astype(value.dtype), value, err_msg=name)
    assert reader.get("complex").shape == (2,)
    for name, what in {"complex": "Complex", "f8": "float8_e4m3fn", "sparse": "sparse"}.items():
        with pytest.raises(StoreValidationError, match=rf"'{name}'.*{re.escape(file)}.*{what}"):
            reader.get(name).to_bytes()


def test_a_foreign_dtype_is_an_error_only_where_it_is_needed():
    class Model(Module):
        def __init__(self, **fields):
            for name, size in fields.items():
                setattr(self, name, Param.from_tensor(Tensor.zeros([size], CPU)))

    store = PytorchStore.from_file(DATA / "tensors.pt")
    model, result = Model(parameter=2).load_from(store)
    assert model.parameter.val().tolist() == [1.0, 1.0] and "complex" in result.unused
    with pytest.raises(StoreValidationError, match=r"complex.*ComplexFloatStorage") as caught:
        Model(parameter=2, complex=2).load_from(store)
    assert caught.value.result.applied == ["parameter"]
    assert str(caught.value.result.errors[0]).startswith("Load error for 'complex'")


def test_values_that_are_no_tensors():
    values = PytorchReader.read_pickle_data(DATA / "tensors.pt")
    assert values["config"] == {"d_model": 8, "name": "x", "rate": 0.5, "sizes": [1, 2]}
    assert values["u8"] == PickleValue.Unsupported("torch.Tensor")
    assert PytorchReader.read_pickle_data(DATA / "resnet.pt", "epoch") == 3

    class Settings(Config):
        d_model: int
        name: str
        rate: float
        sizes: list[int]

    assert PytorchReader.load_config(DATA / "tensors.pt", "config", Settings) == Settings(8, "x", 0.5, [1, 2])


def test_top_level_keys():
    with pytest.raises(MissingTensorsError, match=r"resnet\.pt.*'model'.*'state_dict'"):
        PytorchReader(DATA / "resnet.pt", "model")
    with pytest.raises(StoreIoError, match=r"'epoch'.*found int.*state_dict\(\)"):
        PytorchReader.with_top_level_key(DATA / "resnet.pt", "epoch")


def test_missing_parameters_name_what_was_probably_meant():
    class Model(Module):
        def __init__(self):
            self.head = LinearConfig(3, 2).init(CPU)

    model = Model()
    store = PytorchStore.from_file(DATA / "resnet.pt").with_top_level_key("state_dict")
    with pytest.raises(MissingTensorsError, match=r"resnet\.pt.*lacks 2 parameters.*allow_partial\(True\)") as caught:
        model.load_from(store)
    assert [path for path, _ in caught.value.result.missing] == ["head.bias", "head.weight"]
    loaded, _ = model.load_from(store.with_key_remapping("^fc", "head"))
    assert loaded.head.bias.val().tolist() == stored("resnet.pt", "state_dict.fc.bias").tolist()


def test_the_store_says_that_it_cannot_save():
    with pytest.raises(StoreError, match=r"SafetensorsStore.*BurnToPyTorchAdapter"):
        Net().save_into(PytorchStore.from_file("x.pt"))
    with pytest.raises(StoreIoError, match=r"missing\.pt.*no such file"):
        PytorchStore.from_file("missing.pt").keys()


def test_a_file_stays_readable_after_it_was_replaced(tmp_path):
    path = tmp_path / "m.pt"
    path.write_bytes((DATA / "net.pt").read_bytes())
    reader = PytorchReader(path)
    path.unlink()
    path.write_bytes(b"something else")
    assert reader.get("fc.0.weight").to_numpy().tolist() == stored("net.pt", "fc.0.weight").tolist()


def test_what_pytorch_writes_now(tmp_path):
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU(), torch.nn.Linear(4, 2))
    x = torch.randn(5, 3)
    for name, content, zipped in [
        ("a", model.state_dict(), True),
        ("b", model.state_dict(), False),
        ("c", model, True),
    ]:
        torch.save(content, tmp_path / name, _use_new_zipfile_serialization=zipped)

        class Two(Module):
            def __init__(self):
                self.layers = [LinearConfig(3, 4).init(CPU), LinearConfig(4, 2).init(CPU)]

        loaded, _ = Two().load_from(PytorchStore.from_file(tmp_path / name).with_key_remapping("^", "layers."))
        y = loaded.layers[1](loaded.layers[0](Tensor(x.numpy(), CPU)).clamp_min(0.0))
        np.testing.assert_allclose(y.numpy(), model(x).detach().numpy(), rtol=1e-5, atol=1e-6)


def test_pytorch_reads_what_the_adapter_makes_for_it():
    """The names and shapes that `BurnToPyTorchAdapter` saves are those of PyTorch's layers."""
    from burn.store import BurnToPyTorchAdapter, SafetensorsStore

    store = SafetensorsStore.from_bytes().with_to_adapter(BurnToPyTorchAdapter())
    Net().save_into(store)
    names = {name: tuple(tensor.shape) for name, tensor in store.get_all_tensors().items()}
    reader = PytorchReader(DATA / "net.pt")
    assert names == {name: reader.get(name).shape for name in reader.keys() if name != "kept"}
    assert json.loads(store.get_bytes()[8:].split(b"}}")[0] + b"}}")["fc.0.weight"]["shape"] == [4, 3]


@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN"])
def test_recurrent_layers(kind, both, tmp_path):
    """The packed gates of PyTorch's layers; the values of a sequence are the same."""
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    layer = getattr(torch.nn, kind)(3, 4, batch_first=True, bidirectional=both)
    torch.save({f"rnn.{name}": value for name, value in layer.state_dict().items()}, tmp_path / "m.pt")
    name = ("Bi" if both else "") + kind.capitalize()

    class Net(Module):
        def __init__(self):
            self.rnn = getattr(rnn, f"{name}Config")(3, 4, bias=True).init(CPU)

    model, result = Net().load_from(PytorchStore.from_file(tmp_path / "m.pt"))
    x = torch.randn(2, 5, 3)
    y = model.rnn.forward(Tensor(x.numpy(), CPU), None)
    np.testing.assert_allclose(
        (y[0] if isinstance(y, tuple) else y).numpy(), layer(x)[0].detach().numpy(), rtol=1e-4, atol=1e-5
    )
    assert not result.unused and not result.missing
