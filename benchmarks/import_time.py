"""What `import burn` costs: median time of warm imports in fresh processes, and memory, beside a bare NumPy.

python -m benchmarks.import_time [RUNS]
"""

import os
import statistics
import subprocess
import sys

PROGRAM = """
import time
start = time.perf_counter()
import {module}
seconds = time.perf_counter() - start
from pathlib import Path
text = Path("/proc/self/status").read_text()
print(seconds, text.split("VmRSS:")[1].split()[0])
"""


def measure(module, runs=10):
    """Median seconds and megabytes of importing `module`; one import before does not count: it compiles the sources."""
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    results = []
    for _ in range(runs + 1):
        command = [sys.executable, "-c", PROGRAM.format(module=module)]
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=env)
        seconds, kilobytes = done.stdout.split()
        results.append((float(seconds), int(kilobytes) / 1024))
    times, sizes = zip(*results[1:])
    return statistics.median(times), statistics.median(sizes)


def main(runs=10):
    """Prints one line for each module."""
    for module, limits in (("numpy", ""), ("burn", "  (limits: 0.2 s, 60 MB)")):
        seconds, megabytes = measure(module, runs)
        print(f"import {module:6} {seconds:6.3f} s {megabytes:6.1f} MB{limits}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
