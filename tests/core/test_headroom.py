"""Requests for more memory than there is are refused before anything is allocated."""

import numpy as np
import pytest

from burn import Device, Tensor
from burn._core import core
from burn.errors import BurnError, OutOfMemoryError
from burn.tensor import Distribution

GB = 1 << 30


def system(tmp_path, files):
    """A tree of files such as the kernel shows; the root to read them from."""
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return str(tmp_path)


MEMINFO = {"proc/meminfo": f"MemTotal: {64 << 20} kB\nMemFree: 5 kB\nMemAvailable:   {16 << 20} kB\nSwapFree: 0 kB\n"}


@pytest.mark.parametrize(
    "files, room",
    [
        ({}, 16 * GB),
        ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "max\n"}, 16 * GB),
        (
            {
                "proc/self/cgroup": "0::/box\n",
                "sys/fs/cgroup/box/memory.max": f"{4 * GB}\n",
                "sys/fs/cgroup/box/memory.current": f"{3 * GB}\n",
                "sys/fs/cgroup/box/memory.stat": f"anon 5\ninactive_file {GB}\n",
            },
            2 * GB,
        ),
        (  # a group above has the limit
            {
                "proc/self/cgroup": "0::/pod/box\n",
                "sys/fs/cgroup/pod/box/memory.max": "max\n",
                "sys/fs/cgroup/pod/memory.max": f"{8 * GB}\n",
                "sys/fs/cgroup/pod/memory.current": f"{9 * GB}\n",
            },
            0,
        ),
        (  # version 1, seen from a container: the group's path does not exist there
            {
                "proc/self/cgroup": "5:cpu:/x\n4:memory:/docker/abc\n0::/\n",
                "sys/fs/cgroup/memory/memory.limit_in_bytes": f"{6 * GB}\n",
                "sys/fs/cgroup/memory/memory.usage_in_bytes": f"{1 * GB}\n",
                "sys/fs/cgroup/memory/memory.stat": f"total_inactive_file {GB // 2}\n",
            },
            5 * GB + GB // 2,
        ),
        (
            {"proc/self/cgroup": "4:memory:/\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": f"{(1 << 63) - 4096}\n"},
            16 * GB,
        ),
    ],
)
def test_room_is_the_least_of_system_and_groups(tmp_path, files, room):
    assert core.memory_headroom(system(tmp_path, MEMINFO | files)) == room


def test_swap_counts(tmp_path):
    assert core.memory_headroom(system(tmp_path, {"proc/meminfo": "MemAvailable: 8 kB\nSwapFree: 2 kB\n"})) == 10 << 10


def test_a_system_that_does_not_say(tmp_path):
    assert core.memory_headroom(str(tmp_path)) is None


@pytest.mark.skipif(core.memory_headroom() is None, reason="the system does not say how much memory it has")
@pytest.mark.parametrize(
    "call",
    [
        lambda x, n: Tensor.zeros([n], x.device),
        lambda x, n: Tensor.empty([n], x.device),
        lambda x, n: x.expand([n // 4, 4]).exp(),
        lambda x, n: x.repeat([n // 4, 1]),
        lambda x, n: Tensor.random([n], Distribution.Default, x.device),
    ],
    ids=["zeros", "empty", "exp", "repeat", "random"],
)
def test_requests_above_it_are_refused(call):
    x = Tensor([[1.0, 2.0, 3.0, 4.0]], Device.flex())
    n = core.memory_headroom() // 2  # elements of four bytes: twice the room
    before = core.memory_usage()["live_bytes"]
    with pytest.raises(OutOfMemoryError, match=r"^\[\w+\].* \d+ bytes") as caught:
        call(x, n)
    assert isinstance(caught.value, MemoryError) and isinstance(caught.value, BurnError)
    del caught
    assert core.memory_usage()["live_bytes"] == before
    np.testing.assert_array_equal(x.numpy(), [[1, 2, 3, 4]])
    assert (x + 1.0).sum().item() == 14.0


def test_sizes_beyond_every_machine():
    with pytest.raises(OutOfMemoryError, match=r"would need 4e\+15 bytes"):
        Tensor.zeros([10**5, 10**10], Device.flex())
