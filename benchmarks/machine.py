"""What the machine is, and whether anything else keeps it busy."""

import platform
import re
import time
from pathlib import Path


def cpu():
    """Name of the processor and whether it has AVX-512."""
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        return platform.processor() or platform.machine(), False
    name = re.search(r"^model name\s*:\s*(.*)$", text, re.M)
    return name.group(1).strip() if name else platform.machine(), " avx512f " in text


def busy(seconds=0.25):
    """Share of the processors' time that was not idle during `seconds`; 0 where that cannot be read."""

    def counters():
        fields = [int(word) for word in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]]
        return fields[3] + fields[4], sum(fields[:8])

    try:
        idle, total = counters()
        time.sleep(seconds)
        idle_later, total_later = counters()
    except OSError:
        return 0.0
    return 1.0 - (idle_later - idle) / max(total_later - total, 1)


def others_run():
    """Whether another task than this one is running at this moment; False where that cannot be read."""
    try:
        return int(Path("/proc/loadavg").read_text().split()[3].split("/")[0]) > 1
    except OSError:
        return False


def wait_for_quiet(seconds=0.5):
    """Waits up to `seconds` for a moment in which nothing else runs; returns whether it came."""
    end = time.monotonic() + seconds
    while others_run():
        if time.monotonic() > end:
            return False
        time.sleep(0.005)
    return True


def wait_until_idle(limit=0.1, seconds=20.0):
    """Waits until less than `limit` of the machine is busy; returns the share seen last."""
    end = time.monotonic() + seconds
    share = busy()
    while share > limit and time.monotonic() < end:
        time.sleep(0.5)
        share = busy()
    return share
