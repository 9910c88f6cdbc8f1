"""What gradient checkpointing saves and costs: values kept by a stack of layers, and the time of a step.

    python -m benchmarks.checkpointing [--layers 24] [--batch 256] [--width 512] [--rounds 9]

Both strategies take turns in one process; activations are counted in outputs of one layer.
"""

import argparse
import statistics
import time

import burn
from burn import nn
from burn._core import core
from burn.tensor import Distribution, Tensor, activation

AFTER = {
    "Linear, ReLU": lambda x, w: activation.relu(x),
    "Linear, multiply and add numbers, gelu, tanh": lambda x, w: activation.gelu(x * 1.5 + 0.1).tanh(),
    "Linear, multiply and add parameters, gelu, tanh": lambda x, w: activation.gelu(x * w + w).tanh(),
}


def network(device, after, options):
    """A function that runs the layers forward."""
    device.seed(0)
    width = options.width
    layers = [nn.LinearConfig(width, width).init(device) for _ in range(options.layers)]
    scales = [Tensor.ones([1, width], device).require_grad() for _ in layers]
    input = Tensor.random([options.batch, width], Distribution.Normal(0.0, 1.0), device)

    def forward():
        x = input
        for layer, scale in zip(layers, scales):
            x = after(layer(x), scale)
        return x.mean()

    return forward


def kept(forward):
    """Bytes that a graph holds."""
    forward().backward()
    before = core.memory_usage()["live_bytes"]
    loss = forward()
    return core.memory_usage()["live_bytes"] - before, loss


def main(argv=None):
    """Prints a line for each kind of network."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0], prog="python -m benchmarks.checkpointing")
    for name, value in (("layers", 24), ("batch", 256), ("width", 512), ("rounds", 9)):
        parser.add_argument(f"--{name}", type=int, default=value)
    options = parser.parse_args(argv)
    devices = burn.Device.flex().autodiff(), burn.Device.flex().autodiff().gradient_checkpointing()
    one = 4 * options.batch * options.width
    for name, after in AFTER.items():
        networks = [network(device, after, options) for device in devices]
        counts = [kept(forward)[0] / one for forward in networks]
        times = [[], []]
        for _ in range(options.rounds):
            for forward, taken in zip(networks, times):
                start = time.perf_counter()
                forward().backward()
                taken.append(time.perf_counter() - start)
        ratio = statistics.median(b / a for a, b in zip(*times))
        print(
            f"{options.layers} x ({name}): {counts[0]:.1f} activations without, {counts[1]:.1f} with checkpointing "
            f"({counts[0] / counts[1]:.2f} times fewer); {statistics.median(times[0]) * 1e3:.0f} ms, {ratio:.2f} times with"
        )


if __name__ == "__main__":
    main()
