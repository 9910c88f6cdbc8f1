"""Handwritten digits: trains a small network in seconds and shows how well it reads them.

    python examples/digits.py [--seed 0] [--epochs 20] [--device flex]

The data are in `examples/data`; `pip install "burn-dl[train]"` brings the progress bar and the plot.
"""

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np

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
TRAIN_ITEMS = 1437


class ModelConfig(Config):
    hidden: int = 256
    dropout: float = 0.2

    def init(self, device):
        return Model(self, device)


class Model(Module):
    """Two linear layers: `[batch, 64]` pixels to `[batch, 10]` scores."""

    def __init__(self, config, device):
        self.linear1 = nn.LinearConfig(64, config.hidden).init(device)
        self.linear2 = nn.LinearConfig(config.hidden, 10).init(device)
        self.dropout = nn.DropoutConfig(config.dropout).init()

    def forward(self, images):
        return self.linear2(self.dropout(relu(self.linear1(images))))


class TrainingConfig(Config):
    model: ModelConfig = ModelConfig()
    optimizer: AdamConfig = AdamConfig()
    epochs: int = 20
    batch_size: int = 64
    learning_rate: float = 2e-3


class DigitBatcher(Batcher):
    """Rows of 64 pixels and a class to a pair of tensors."""

    def batch(self, items, device):
        rows = np.stack(items)
        images = Tensor.from_data(rows[:, :64].astype(np.float32) / 16, device)
        return images, Tensor.from_data(rows[:, 64].astype(np.int32), device.inner())


def accuracy(scores, classes):
    return scores.inner().argmax(1).squeeze_dim(1).equal(classes).float().mean().item()


def train(config, dataset, device, plot):
    loader = DataLoaderBuilder(DigitBatcher()).batch_size(config.batch_size).shuffle().set_device(device).build(dataset)
    model = config.model.init(device)
    optimizer = config.optimizer.init()
    loss_fn = nn.loss.CrossEntropyLossConfig().init(device)
    for epoch in range(1, config.epochs + 1):
        with ProgressBar(f"epoch {epoch:2}/{config.epochs}", loader.num_items()) as bar:
            for images, classes in loader:
                scores = model(images)
                loss = loss_fn(scores, classes)
                grads = GradientsParams.from_grads(loss.backward(), model)
                model = optimizer.step(config.learning_rate, model, grads)
                plot.add(loss.item())
                bar.update(len(classes), loss=loss.item(), accuracy=accuracy(scores, classes))
    return model.valid()


def evaluate(model, dataset, device):
    matrix = ConfusionMatrix(10)
    for images, classes in DataLoaderBuilder(DigitBatcher()).batch_size(120).set_device(device).build(dataset):
        matrix.update(model(images).argmax(1), classes)
    return matrix


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=0, help="fixes initialisation, order and dropout")
    parser.add_argument("--epochs", type=int, default=TrainingConfig().epochs)
    parser.add_argument("--device", default="default", choices=("default", "flex", "cuda", "ndarray"))
    args = parser.parse_args()

    device = getattr(Device, args.device)()
    device.seed(args.seed)
    dataset = InMemDataset(np.loadtxt(DATA, delimiter=",", dtype=np.uint8))
    plot = CurvePlot("training loss")

    start = time.perf_counter()
    config = TrainingConfig(epochs=args.epochs)
    model = train(config, PartialDataset(dataset, 0, TRAIN_ITEMS), device.autodiff(), plot)
    print(f"trained in {time.perf_counter() - start:.1f} s on {device}\n")
    plot.show()

    test = PartialDataset(dataset, TRAIN_ITEMS, len(dataset))
    matrix = evaluate(model, test, device)
    print(f"\n{matrix}\n\ntest accuracy: {100 * matrix.accuracy:.2f} %")

    with tempfile.TemporaryDirectory() as folder:
        model.save_file(f"{folder}/digits")
        loaded = config.model.init(device).load_file(f"{folder}/digits")
        images, _ = DigitBatcher().batch(list(test), device)
        assert model(images).equal(loaded(images)).all().item()
        print("saved, loaded again and found equal")


if __name__ == "__main__":
    main()
