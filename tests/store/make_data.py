"""Writes the checkpoints in tests/store/data with PyTorch: ``python -m tests.store.make_data`` (made with 2.13)."""

from pathlib import Path

import torch
from torch import nn
from torch.nn import functional

DATA = Path(__file__).parent / "data"


class Block(nn.Module):
    """A residual block."""

    def __init__(self, inner, outer, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(inner, outer, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(outer)
        self.conv2 = nn.Conv2d(outer, outer, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(outer)
        self.downsample = None
        if stride != 1:
            self.downsample = nn.Sequential(nn.Conv2d(inner, outer, 1, stride, bias=False), nn.BatchNorm2d(outer))

    def forward(self, x):
        y = self.bn2(self.conv2(functional.relu(self.bn1(self.conv1(x)))))
        return functional.relu(y + (x if self.downsample is None else self.downsample(x)))


class ResNet(nn.Module):
    """A residual net of two stages."""

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 2, 3, 1, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(2)
        self.layer1 = nn.Sequential(Block(2, 2, 1))
        self.layer2 = nn.Sequential(Block(2, 3, 2))
        self.fc = nn.Linear(3, 2)

    def forward(self, x):
        x = self.layer2(self.layer1(functional.relu(self.bn1(self.conv1(x)))))
        return self.fc(x.mean((2, 3)))


class Net(nn.Module):
    """Layers whose parameters have other names than burn's."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Sequential(nn.Linear(3, 4), nn.PReLU(4), nn.Linear(4, 2, bias=False))
        self.norm = nn.InstanceNorm1d(2, affine=True)
        self.register_buffer("kept", torch.arange(3))
        self.register_buffer("dropped", torch.ones(2), persistent=False)


def randomised(model):
    """The model with statistics and parameters that all differ from those that a new one has."""
    with torch.no_grad():
        for name, value in model.state_dict().items():
            if value.is_floating_point():
                value.copy_(torch.rand(value.shape) + 0.5 if name.endswith("var") else torch.randn(value.shape))
    return model.eval()


def layers():
    """Layers that burn keeps in another form, by name, with what they are given."""
    x, memory = torch.randn(2, 5, 4), torch.randn(2, 3, 4)
    both = {"batch_first": True, "bidirectional": True}
    block = {"dropout": 0.0, "activation": "relu", "batch_first": True}
    encoder = [nn.TransformerEncoderLayer(4, 2, 6, **block, norm_first=first) for first in (False, True)]
    decoder = [nn.TransformerDecoderLayer(4, 2, 6, **block, norm_first=first) for first in (False, True)]
    return {
        "lstm": (nn.LSTM(4, 3, batch_first=True), x),
        "bilstm": (nn.LSTM(4, 3, **both), x),
        "gru": (nn.GRU(4, 3, batch_first=True), x),
        "bigru": (nn.GRU(4, 3, **both), x),
        "attention": (nn.MultiheadAttention(4, 2, batch_first=True), x, x, x),
        "encoder": (nn.TransformerEncoder(encoder[0], 2, enable_nested_tensor=False), x),
        "encoder_norm_first": (nn.TransformerEncoder(encoder[1], 2, enable_nested_tensor=False), x),
        "decoder": (nn.TransformerDecoder(decoder[0], 1), x, memory),
        "decoder_norm_first": (nn.TransformerDecoder(decoder[1], 1), x, memory),
    }


def layer_files():
    """Writes the layers with what they give, as a checkpoint and as a safetensors file."""
    from safetensors.torch import save_file

    root: dict = {"data": {}}
    flat = {}
    for name, (layer, *given) in layers().items():
        y = randomised(layer)(*given)
        y = y[0] if isinstance(y, tuple) else y
        root[name] = layer.state_dict()
        root["data"][name] = {"x": given[0], "memory": given[-1], "y": y.detach()}
        flat |= {f"{name}.{key}": value for key, value in root[name].items()}
    torch.save(root, DATA / "layers.pt")
    save_file(flat, DATA / "layers.safetensors")


def main():
    """Writes all files."""
    DATA.mkdir(exist_ok=True)
    torch.manual_seed(1)
    layer_files()
    torch.manual_seed(0)
    resnet, x = randomised(ResNet()), torch.randn(2, 1, 6, 6)
    # As checkpoints of training are: the state dict beside other things.
    torch.save({"epoch": 3, "state_dict": resnet.state_dict(), "x": x, "y": resnet(x).detach()}, DATA / "resnet.pt")
    layer = nn.TransformerEncoderLayer(8, 2, 12, 0.0, "relu", batch_first=True)
    encoder, x = randomised(nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)), torch.randn(2, 3, 8)
    torch.save({"model": encoder.state_dict(), "x": x, "y": encoder(x).detach()}, DATA / "transformer.pt")
    net = randomised(Net())
    torch.save(net.state_dict(), DATA / "net.pt")
    torch.save(net.state_dict(), DATA / "net_legacy.pt", _use_new_zipfile_serialization=False)
    torch.save(net, DATA / "net_module.pt")
    torch.save(net.half().state_dict(), DATA / "net_half.pt")
    base = torch.arange(24.0).reshape(4, 6)
    tensors = {
        "transposed": base.T, "strided": base[1:3, ::2], "expanded": torch.tensor([[1.0], [2.0]]).expand(2, 3),
        "empty": torch.zeros(0, 3), "number": torch.tensor(7), "column": base[:, 2:3], "again": base,
        "bf16": torch.tensor([1.0, -3.0], dtype=torch.bfloat16), "f64": torch.tensor([0.1], dtype=torch.float64),
        "bool": torch.tensor([True, False]), "u8": torch.tensor([255], dtype=torch.uint8), "i16": torch.tensor([-2]).short(),
        "u16": torch.tensor([65535]).to(torch.uint16), "parameter": nn.Parameter(torch.ones(2)),
        "list": [torch.ones(1), {"inner": torch.zeros(1)}],
        "complex": torch.ones(2, dtype=torch.complex64), "f8": torch.ones(2).to(torch.float8_e4m3fn),
        "sparse": torch.eye(2).to_sparse(), "config": {"d_model": 8, "name": "x", "rate": 0.5, "sizes": (1, 2)},
    }  # fmt: skip
    torch.save(tensors, DATA / "tensors.pt")
    torch.save(tensors, DATA / "tensors_legacy.pt", _use_new_zipfile_serialization=False)


if __name__ == "__main__":
    main()
