"""Prints by how many bytes training steps raise the peak memory over the state after initialisation.

python -m benchmarks.memory_growth {burn|torch} THREADS STEPS
"""

import re
import sys
from pathlib import Path

from benchmarks import contenders


def resident(field):
    """A field of /proc/self/status in bytes: VmRSS is the memory now, VmHWM its peak."""
    return int(re.search(rf"^{field}:\s+(\d+) kB", Path("/proc/self/status").read_text(), re.M).group(1)) * 1024


def main(name, threads, steps):
    """Prepares one training run, notes the memory, trains, prints the growth of the peak."""
    step = contenders.contender(name, threads).step("mlp", 784, 512, 10, 64)
    Path("/proc/self/clear_refs").write_text("5")  # the peak counts from here
    before = resident("VmRSS")
    for _ in range(steps):
        step()
    print(max(resident("VmHWM") - before, 0))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
