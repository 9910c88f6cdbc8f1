"""The steps that are compared, for burn and for PyTorch: layers, training of small models on one fixed batch, optimizers."""

import numpy as np


def batch(inputs, classes, size):
    """Images and labels, the same for every contender."""
    rng = np.random.default_rng(0)
    return rng.random((size, inputs), np.float32), rng.integers(0, classes, size)


def burn_step(inputs, hidden, classes, size, device=None):
    """A function that runs one step of burn and returns the loss tensor; parameters exist already."""
    import burn
    from burn.module import Module
    from burn.nn import LinearConfig
    from burn.nn.loss import CrossEntropyLossConfig
    from burn.optim import AdamConfig, GradientsParams
    from burn.tensor.activation import relu

    class Mlp(Module):
        def __init__(self, device):
            self.first = LinearConfig(inputs, hidden).init(device)
            self.second = LinearConfig(hidden, classes).init(device)

        def forward(self, x):
            return self.second(relu(self.first(x)))

    device = (device or burn.Device.flex()).autodiff()
    model = Mlp(device)
    loss_of = CrossEntropyLossConfig().init(device)
    optimizer = AdamConfig().init()
    images, labels = batch(inputs, classes, size)
    x = burn.Tensor.from_data(images, device)
    y = burn.Tensor.from_data(labels.astype(np.int32), device)
    model.forward(x)

    def step():
        nonlocal model
        loss = loss_of(model(x), y)
        grads = GradientsParams.from_grads(loss.backward(), model)
        model = optimizer.step(1e-3, model, grads)
        return loss

    return step


def torch_step(inputs, hidden, classes, size, device="cpu"):
    """A function that runs one step of PyTorch and returns the loss tensor."""
    import torch

    layers = torch.nn.Linear(inputs, hidden), torch.nn.ReLU(), torch.nn.Linear(hidden, classes)
    model = torch.nn.Sequential(*layers).to(device)
    loss_of = torch.nn.CrossEntropyLoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, eps=1e-5)
    images, labels = batch(inputs, classes, size)
    x, y = torch.from_numpy(images).to(device), torch.from_numpy(labels).to(device)
    model(x)

    def step():
        optimizer.zero_grad()
        loss = loss_of(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    return step


def burn_linear(rows, inputs, outputs, with_relu=0):
    """A function that applies a linear layer without autodiff, and a ReLU where asked for."""
    import burn
    from burn.nn import LinearConfig
    from burn.tensor.activation import relu

    layer = LinearConfig(inputs, outputs).init(burn.Device.flex())
    x = burn.Tensor.from_data(batch(inputs, 2, rows)[0], burn.Device.flex())
    return (lambda: relu(layer(x))) if with_relu else lambda: layer(x)


def torch_linear(rows, inputs, outputs, with_relu=0):
    """The same in PyTorch."""
    import torch

    layer = torch.nn.Linear(inputs, outputs).requires_grad_(False)
    x = torch.from_numpy(batch(inputs, 2, rows)[0])
    return (lambda: torch.relu(layer(x))) if with_relu else lambda: layer(x)


def burn_adam(count, size):
    """A function that makes a step of Adam over `count` parameters of `size` elements; the gradients stay."""
    import burn
    from burn.module import Module, Param
    from burn.optim import AdamConfig, GradientsParams

    class Parameters(Module):
        def __init__(self, device):
            rng = np.random.default_rng(0)
            self.all = [Param.from_data(rng.random(size, np.float32), device) for _ in range(count)]

    model, optimizer = Parameters(burn.Device.flex().autodiff()), AdamConfig(epsilon=1e-8).init()
    grads = GradientsParams()
    for param in model.all:
        grads.register(param.id, burn.Tensor.from_data(batch(size, 2, 1)[0][0], burn.Device.flex()))
    kept = dict(grads._grads)

    def step():
        nonlocal model
        # A step uses its gradients up; those of PyTorch stay where they are.
        grads._grads.update(kept)
        model = optimizer.step(1e-3, model, grads)

    return step


def torch_adam(count, size):
    """The same in PyTorch, by its fused implementation."""
    import torch

    rng = np.random.default_rng(0)
    params = [torch.nn.Parameter(torch.from_numpy(rng.random(size, np.float32))) for _ in range(count)]
    for param in params:
        param.grad = torch.from_numpy(batch(size, 2, 1)[0][0])
    return torch.optim.Adam(params, lr=1e-3, fused=True).step


def burn_convnet(hidden, size):
    """A function that runs a training step of two convolutions and two linear layers on images of 28 × 28."""
    import burn
    from burn.module import Module
    from burn.nn import LinearConfig
    from burn.nn.conv import Conv2dConfig
    from burn.nn.loss import CrossEntropyLossConfig
    from burn.nn.pool import AdaptiveAvgPool2dConfig
    from burn.optim import AdamWConfig, GradientsParams
    from burn.tensor.activation import relu

    class Net(Module):
        def __init__(self, device):
            self.conv1 = Conv2dConfig([1, 8], [3, 3]).init(device)
            self.conv2 = Conv2dConfig([8, 16], [3, 3]).init(device)
            self.pool = AdaptiveAvgPool2dConfig([8, 8]).init()
            self.linear1 = LinearConfig(16 * 8 * 8, hidden).init(device)
            self.linear2 = LinearConfig(hidden, 10).init(device)

        def forward(self, x):
            x = self.pool(relu(self.conv2(relu(self.conv1(x)))))
            return self.linear2(relu(self.linear1(x.reshape([x.shape[0], -1]))))

    device = burn.Device.flex().autodiff()
    model, optimizer = Net(device), AdamWConfig().init()
    loss_of = CrossEntropyLossConfig().init(device)
    images, labels = batch(28 * 28, 10, size)
    x = burn.Tensor.from_data(images.reshape(size, 1, 28, 28), device)
    y = burn.Tensor.from_data(labels.astype(np.int32), device)
    model(x)

    def step():
        nonlocal model
        loss = loss_of(model(x), y)
        model = optimizer.step(1e-3, model, GradientsParams.from_grads(loss.backward(), model))
        return loss

    return step


def torch_convnet(hidden, size):
    """The same in PyTorch."""
    import torch
    from torch import nn

    layers = [nn.Conv2d(1, 8, 3), nn.ReLU(), nn.Conv2d(8, 16, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(8), nn.Flatten()]
    layers += [nn.Linear(16 * 8 * 8, hidden), nn.ReLU(), nn.Linear(hidden, 10)]
    images, labels = batch(28 * 28, 10, size)
    x, y = torch.from_numpy(images.reshape(size, 1, 28, 28)), torch.from_numpy(labels)
    return _torch_step(nn.Sequential(*layers), x, lambda out: nn.functional.cross_entropy(out, y))


def burn_encoder(size, positions, width, heads, hidden):
    """A function that runs a training step of one layer of a transformer's encoder, without dropout."""
    import burn
    from burn.nn.transformer import TransformerEncoderConfig, TransformerEncoderLayer
    from burn.optim import AdamWConfig, GradientsParams

    device = burn.Device.flex().autodiff()
    model = TransformerEncoderLayer.from_config(TransformerEncoderConfig(width, hidden, heads, 1, dropout=0.0), device)
    optimizer = AdamWConfig().init()
    x = burn.Tensor.from_data(batch(positions * width, 2, size)[0].reshape(size, positions, width), device)
    model(x)

    def step():
        nonlocal model
        loss = model(x).square().mean()
        model = optimizer.step(1e-3, model, GradientsParams.from_grads(loss.backward(), model))
        return loss

    return step


def torch_encoder(size, positions, width, heads, hidden):
    """The same in PyTorch."""
    import torch

    layer = torch.nn.TransformerEncoderLayer(width, heads, hidden, 0.0, "gelu", batch_first=True)
    x = torch.from_numpy(batch(positions * width, 2, size)[0].reshape(size, positions, width))
    return _torch_step(layer, x, lambda out: out.square().mean())


def _torch_step(model, x, loss_of):
    import torch

    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, eps=1e-5, weight_decay=1e-4)

    def step():
        optimizer.zero_grad()
        loss = loss_of(model(x))
        loss.backward()
        optimizer.step()
        return loss

    return step


# By the name that a case has.
STEPS = {
    "mlp": (burn_step, torch_step),
    "linear": (burn_linear, torch_linear),
    "adam": (burn_adam, torch_adam),
    "convnet": (burn_convnet, torch_convnet),
    "encoder": (burn_encoder, torch_encoder),
}
