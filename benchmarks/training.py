"""The training step that is compared: two linear layers, cross entropy, Adam, on one fixed batch."""

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
