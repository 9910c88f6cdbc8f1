"""MNIST from its original files: a network of two layers, trained, saved after each epoch, and resumed.

    python examples/mnist.py --data DIR [--epochs 3] [--save DIR] [--resume DIR] [--seed 0] [--device flex]

DIR holds train-images-idx3-ubyte.gz and the three files beside it. A resumed run ends with the very numbers of a run
that was never interrupted: `device.seed` at the start of each epoch fixes its order and its dropout.
"""

import argparse
import gzip
from pathlib import Path

import numpy as np

from burn import Device, Tensor, nn
from burn.config import Config
from burn.data.dataloader import Batcher, DataLoaderBuilder
from burn.data.dataset import InMemDataset
from burn.module import Module
from burn.optim import AdamConfig, GradientsParams
from burn.tensor.activation import relu
from burn.train.metric import ConfusionMatrix
from burn.train.renderer import ProgressBar


def read_idx(path):
    """The array in an IDX file: two zero bytes, element type, number of axes, big-endian sizes, data."""
    data = gzip.decompress(path.read_bytes())
    if data[:3] != b"\0\0\x08":
        raise ValueError(f"{path} is not an IDX file of bytes")
    sizes = np.frombuffer(data, ">u4", data[3], 4)
    return np.frombuffer(data, np.uint8, offset=4 + 4 * data[3]).reshape(sizes)


def read_mnist(folder, name):
    images = read_idx(folder / f"{name}-images-idx3-ubyte.gz")
    return InMemDataset(zip(images.reshape(len(images), -1), read_idx(folder / f"{name}-labels-idx1-ubyte.gz")))


class MnistBatcher(Batcher):
    """Pairs of pixels and class to an image tensor `[batch, 784]` and a class tensor `[batch]`."""

    def batch(self, items, device):
        images, classes = zip(*items)
        images = np.stack(images).astype(np.float32) / 255
        return Tensor.from_data((images - 0.1307) / 0.3081, device), Tensor.from_data(
            np.array(classes, np.int32), device.inner()
        )


class ModelConfig(Config):
    hidden: int = 512
    dropout: float = 0.2

    def init(self, device):
        return Model(self, device)


class Model(Module):
    """Two linear layers: `[batch, 784]` pixels to `[batch, 10]` scores."""

    def __init__(self, config, device):
        self.linear1 = nn.LinearConfig(784, config.hidden).init(device)
        self.linear2 = nn.LinearConfig(config.hidden, 10).init(device)
        self.dropout = nn.DropoutConfig(config.dropout).init()

    def forward(self, images):
        return self.linear2(self.dropout(relu(self.linear1(images))))


def train_epoch(model, optimizer, loss_fn, loader, learning_rate, bar):
    for images, classes in loader:
        scores = model(images)
        loss = loss_fn(scores, classes)
        model = optimizer.step(learning_rate, model, GradientsParams.from_grads(loss.backward(), model))
        hits = scores.inner().argmax(1).squeeze_dim(1).equal(classes)
        bar.update(len(classes), loss=loss.item(), accuracy=hits.float().mean().item())
    return model


def evaluate(model, loader):
    matrix = ConfusionMatrix(10)
    for images, classes in loader:
        matrix.update(model(images).argmax(1), classes)
    return matrix


def last_epoch(folder):
    """Number of the last epoch that was saved in a folder."""
    epochs = [int(path.stem.removeprefix("optim-")) for path in folder.glob("optim-*.bpk")]
    if not epochs:
        raise SystemExit(f"{folder} holds no saved epoch: start a run with --save {folder}")
    return max(epochs)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of the four IDX files")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--save", type=Path, help="folder to save model and optimizer in after each epoch")
    parser.add_argument("--resume", type=Path, help="folder of an earlier run, to go on after its last epoch")
    parser.add_argument("--seed", type=int, default=0, help="fixes initialisation, order and dropout")
    parser.add_argument("--workers", type=int, default=0, help="threads that make batches")
    parser.add_argument("--device", default="default", choices=("default", "flex", "cuda", "ndarray"))
    args = parser.parse_args()

    device = getattr(Device, args.device)()
    loss_fn = nn.loss.CrossEntropyLossConfig().init(device.autodiff())
    builder = DataLoaderBuilder(MnistBatcher()).num_workers(args.workers)
    train_loader = builder.batch_size(64).shuffle().set_device(device.autodiff()).build(read_mnist(args.data, "train"))
    test_loader = builder.batch_size(500).set_device(device).build(read_mnist(args.data, "t10k"))

    device.seed(args.seed)
    model, optimizer, done = ModelConfig().init(device.autodiff()), AdamConfig().init(), 0
    if args.resume:
        done = last_epoch(args.resume)
        model = model.load_file(args.resume / f"model-{done}")
        optimizer = optimizer.load(args.resume / f"optim-{done}")

    for epoch in range(done + 1, args.epochs + 1):
        device.seed(args.seed + epoch)
        with ProgressBar(f"epoch {epoch}/{args.epochs}", train_loader.num_items()) as bar:
            model = train_epoch(model, optimizer, loss_fn, train_loader, 1e-3 * 0.5 ** (epoch - 1), bar)
        if args.save:
            args.save.mkdir(parents=True, exist_ok=True)
            model.save_file(args.save / f"model-{epoch}")
            optimizer.save(args.save / f"optim-{epoch}")
        print(f"test accuracy after epoch {epoch}: {100 * evaluate(model.valid(), test_loader).accuracy:.2f} %")


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        raise SystemExit("interrupted") from None
