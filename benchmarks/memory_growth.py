"""By how many bytes steps raise the peak memory over the state after initialisation.

python -m benchmarks.memory_growth [WORDS]                          # a table of burn and torch: cases with gradients
python -m benchmarks.memory_growth {burn|torch} THREADS STEPS [CASE]  # one number: of a training run, or of a case
"""

import re
import subprocess
import sys
from pathlib import Path

from benchmarks import contenders
from benchmarks.cases import CASES, matching

STEPS = 10


def resident(field):
    """A field of /proc/self/status in bytes: VmRSS is the memory now, VmHWM its peak."""
    return int(re.search(rf"^{field}:\s+(\d+) kB", Path("/proc/self/status").read_text(), re.M).group(1)) * 1024


def prepared(name, threads, case_name):
    """A function that runs one step; its parameters or inputs exist, and its code has run once."""
    contender = contenders.contender(name, threads)
    if not case_name:
        return contender.step("mlp", 784, 512, 10, 64)
    case = next(case for case in CASES if case.name == case_name)
    case.function(contender, 16)()
    return case.function(contender)


def measure(name, threads, steps, case_name=""):
    """Prepares, notes the memory, runs the steps, prints the growth of the peak."""
    step = prepared(name, threads, case_name)
    Path("/proc/self/clear_refs").write_text("5")  # the peak counts from here
    before = resident("VmRSS")
    for _ in range(steps):
        step()
    print(max(resident("VmHWM") - before, 0))


def table(words):
    """Prints both growths of every case with gradients that has one of the words; how many are larger than PyTorch's."""
    cases = [case for case in matching(words) if case.torch and "gradient" in case.name]
    larger, threads = 0, str(contenders.usable_threads())
    print(f"{'case':<56}{'burn MB':>10}{'torch MB':>10}")
    for case in cases:
        grown = []
        for name in ("burn", "torch"):
            command = [sys.executable, "-m", "benchmarks.memory_growth", name, threads, str(STEPS), case.name]
            grown.append(int(subprocess.run(command, capture_output=True, text=True, check=True).stdout) / 1e6)
        larger += grown[0] > grown[1]
        print(f"{case.name:<56}{grown[0]:>10.1f}{grown[1]:>10.1f}{'  larger' * (grown[0] > grown[1])}", flush=True)
    return larger


if __name__ == "__main__":
    if sys.argv[1:2] and sys.argv[1] in contenders.NAMES:
        measure(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), *sys.argv[4:5])
    else:
        print(f"larger than PyTorch's: {table(' '.join(sys.argv[1:]))}")
