"""Handwritten digits: trains a small network in seconds and shows how well it reads them.

    python examples/digits.py [--seed 0] [--epochs 50] [--device flex]

The images are in `examples/data`; `pip install "burn-dl[train]"` brings the progress bar and the plot.
"""

import argparse
import math
import tempfile
import time
from itertools import pairwise
from pathlib import Path

import numpy as np
from scipy.ndimage import affine_transform

from burn import Device, Tensor, nn
from burn.config import Config
from burn.data.dataloader import Batcher, DataLoaderBuilder
from burn.data.dataset import InMemDataset, PartialDataset
from burn.module import Module
from burn.optim import AdamConfig, GradientsParams
from burn.tensor.activation import relu
from burn.train.metric import ConfusionMatrix
from burn.train.renderer import CurvePlot, ProgressBar

DATA = Path(__file__).parent / "data" / "digits.csv.gz"
TRAIN_ITEMS = 1437  # the last 360 images, by other writers, are the test


class ModelConfig(Config):
    hidden: int = 256
    dropout: float = 0.2

    def init(self, device):
        return Model(self, device)


class Model(Module):
    """Four linear layers: `[batch, 64]` pixels to `[batch, 10]` scores."""

    def __init__(self, config, device):
        sizes = [64, config.hidden, config.hidden, config.hidden]
        self.layers = [nn.LinearConfig(a, b).init(device) for a, b in pairwise(sizes)]
        self.output = nn.LinearConfig(config.hidden, 10).init(device)
        self.dropout = nn.DropoutConfig(config.dropout).init()

    def forward(self, x):
        for layer in self.layers:
            x = self.dropout(relu(layer(x)))
        return self.output(x)


class TrainingConfig(Config):
    model: ModelConfig = ModelConfig()
    optimizer: AdamConfig = AdamConfig()
    epochs: int = 50
    batch_size: int = 64
    learning_rate: float = 3e-3


class DigitBatcher(Batcher):
    """Rows of 64 pixels and a class to the tensors `[batch, 64]` and `[batch]`.

    With a seed, four of five images are turned, sheared, scaled and moved a little: other people write differently.
    """

    def __init__(self, seed=None):
        self.rng = np.random.default_rng(seed)
        self.warps = random_warps(self.rng) if seed is not None else None

    def batch(self, items, device):
        rows = np.stack(items)
        images = rows[:, :64].astype(np.float32)
        if self.warps is not None:
            chosen = self.warps[self.rng.integers(len(self.warps), size=len(images))]
            images = np.where(self.rng.random((len(images), 1)) < 0.2, images, np.matmul(images[:, None], chosen)[:, 0])
        # Each image with mean 0 and one spread: strokes differ in weight from writer to writer.
        images = 1.5 * (images - images.mean(1, keepdims=True)) / images.std(1, keepdims=True)
        return Tensor.from_data(images, device), Tensor.from_data(rows[:, 64].astype(np.int32), device.inner())


def random_warps(rng, count=300):
    """Matrices `[count, 64, 64]`: `pixels @ matrix` is the warped image."""
    pixels, center = np.eye(64, dtype=np.float32).reshape(64, 8, 8), np.array([0, 3.5, 3.5])
    warps = []
    for turn, shear in zip(rng.uniform(-0.26, 0.26, count), rng.uniform(-0.2, 0.2, count)):
        matrix = np.eye(3)
        matrix[1:, 1:] = [[math.cos(turn), -math.sin(turn)], [math.sin(turn), math.cos(turn)]]
        matrix[1:, 1:] = matrix[1:, 1:] @ [[1, shear], [0, 1]] * rng.uniform(0.85, 1.15, 2)
        offset = center - matrix @ center + [0, *rng.uniform(-1, 1, 2)]
        warps.append(affine_transform(pixels, matrix, offset, order=1, mode="grid-constant").reshape(64, 64))
    return np.stack(warps)


def train(config, dataset, device, seed, plot):
    loader = (
        DataLoaderBuilder(DigitBatcher(seed)).batch_size(config.batch_size).shuffle().set_device(device).build(dataset)
    )
    model, optimizer = config.model.init(device), config.optimizer.init()
    loss_fn = nn.loss.CrossEntropyLossConfig().init(device)
    for epoch in range(config.epochs):
        lr = config.learning_rate * 0.5 * (1 + math.cos(math.pi * epoch / config.epochs))
        with ProgressBar(f"epoch {epoch + 1:2}/{config.epochs}", loader.num_items()) as bar:
            for images, classes in loader:
                scores = model(images)
                loss = loss_fn(scores, classes)
                model = optimizer.step(lr, model, GradientsParams.from_grads(loss.backward(), model))
                plot.add(loss.item())
                bar.update(len(classes), loss=loss.item(), accuracy=accuracy(scores, classes))
    return model.valid()


def accuracy(scores, classes):
    return np.mean(scores.argmax(1).numpy()[:, 0] == classes.numpy())


def evaluate(model, dataset, device):
    matrix = ConfusionMatrix(10)
    for images, classes in DataLoaderBuilder(DigitBatcher()).batch_size(120).set_device(device).build(dataset):
        matrix.update(model(images).argmax(1), classes)
    return matrix


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=0, help="fixes initialisation, order, dropout and warps")
    parser.add_argument("--epochs", type=int, default=TrainingConfig().epochs)
    parser.add_argument("--device", default="default", choices=("default", "flex", "cuda", "ndarray"))
    args = parser.parse_args()

    device = getattr(Device, args.device)()
    device.seed(args.seed)
    config = TrainingConfig(epochs=args.epochs)
    dataset = InMemDataset(np.loadtxt(DATA, delimiter=",", dtype=np.uint8))
    plot = CurvePlot("training loss")

    start = time.perf_counter()
    model = train(config, PartialDataset(dataset, 0, TRAIN_ITEMS), device.autodiff(), args.seed, plot)
    print(f"trained in {time.perf_counter() - start:.1f} s on {device}\n\n{plot.text()}\n")

    test = PartialDataset(dataset, TRAIN_ITEMS, len(dataset))
    matrix = evaluate(model, test, device)
    print(f"{matrix}\n\ntest accuracy: {100 * matrix.accuracy:.2f} %")

    with tempfile.TemporaryDirectory() as folder:
        model.save_file(f"{folder}/digits")
        loaded = config.model.init(device).load_file(f"{folder}/digits")
    images, _ = DigitBatcher().batch(list(test), device)
    if not loaded(images).equal(model(images)).all():
        raise SystemExit("the loaded model differs from the saved one")
    print("saved, loaded again and found equal")


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        raise SystemExit("interrupted") from None
