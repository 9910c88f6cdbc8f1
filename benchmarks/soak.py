"""Long runs on a GPU: `python -m benchmarks.soak`.

100,000 training steps must not make memory grow, and burn and PyTorch must get along while they take turns on one GPU.
"""

import argparse
import time

import numpy as np

from benchmarks import training


def steps_without_growth(device, steps):
    """Trains, and compares the memory after a hundredth of the steps with that at the end."""
    step = training.burn_step(784, 512, 10, 64, device)
    first = step().item()
    for _ in range(steps // 100):
        step()
    device.sync()
    early = device.memory_pool_usage()
    begin = time.perf_counter()
    for k in range(steps - steps // 100):
        loss = step()
        if k % 1000 == 0:
            loss.item()
    last = loss.item()
    del loss
    spent = time.perf_counter() - begin
    late = device.memory_pool_usage()
    print(f"{steps} steps in {spent:.1f} s, loss {first:.3f} -> {last:.2e}")
    for name in ("live_bytes", "cached_bytes", "reserved_bytes"):
        print(f"  {name}: {early[name]} -> {late[name]}")
    assert late["live_bytes"] <= early["live_bytes"] and late["reserved_bytes"] <= early["reserved_bytes"]


def taking_turns(device, steps):
    """One burn step, one PyTorch step, a tensor handed over and back, again and again."""
    import torch

    from burn.tensor import Tensor

    ours, theirs = training.burn_step(784, 512, 10, 64, device), training.torch_step(784, 512, 10, 64, "cuda")
    x = torch.arange(1000, device="cuda", dtype=torch.float32)
    for k in range(steps):
        ours()
        theirs()
        t = Tensor.from_dlpack(x) + 1.0
        x = torch.from_dlpack(t) - 0.5
        if k % 1000 == 999:
            expected = np.arange(1000) + 0.5 * (k + 1)
            np.testing.assert_allclose(x.cpu().numpy(), expected, rtol=1e-5)
    device.sync()
    torch.cuda.synchronize()
    print(f"{steps} turns of burn and PyTorch: the shared tensor is right, {torch.cuda.memory_allocated()} bytes of PyTorch, "
          f"{device.memory_pool_usage()['live_bytes']} bytes of burn")  # fmt: skip


def main():
    """Runs both."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.soak", description=__doc__)
    parser.add_argument("--steps", type=int, default=100_000)
    parser.add_argument("--turns", type=int, default=10_000)
    options = parser.parse_args()
    import burn

    device = burn.Device.cuda()
    steps_without_growth(device, options.steps)
    taking_turns(device, options.turns)


if __name__ == "__main__":
    main()
