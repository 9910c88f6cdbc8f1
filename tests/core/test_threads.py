"""The thread pool: size, several Python threads, forked children, Ctrl-C."""

import os
import subprocess
import sys
import threading

import numpy as np
import pytest

import burn
from burn import Device, Tensor


@pytest.fixture
def threads():
    before = burn.get_num_threads()
    yield burn.set_num_threads
    burn.set_num_threads(before)


def run(code, **env):
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, **env},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_size_follows_the_environment():
    code = "import burn; print(burn.get_num_threads())"
    assert run(code, BURN_NUM_THREADS="1") == "1"
    assert run(code, OMP_NUM_THREADS="1", BURN_NUM_THREADS="64") == "1"
    assert 1 <= int(run(code, BURN_NUM_THREADS="", OMP_NUM_THREADS="")) <= (os.cpu_count() or 1)


@pytest.mark.parametrize("bad", [0, -1, 1.5, "2", None])
def test_bad_sizes_are_refused(bad):
    with pytest.raises(ValueError, match="set_num_threads"):
        burn.set_num_threads(bad)


def test_results_do_not_depend_on_the_number_of_threads(threads):
    rng = np.random.default_rng(0)
    x = Tensor(rng.normal(size=(700, 900)).astype(np.float32))
    y = Tensor(rng.normal(size=(900, 300)).astype(np.float32))

    def results():
        parts = [
            x @ y,
            x.sum(),
            x.sum_dim(0),
            x.sum_dim(1),
            x.mean(),
            x.exp(),
            burn.tensor.activation.softmax(x, 1),
            x.T * 2.0,
        ]
        return [p.numpy().copy() for p in parts]

    threads(1)
    serial = results()
    threads(2)
    for a, b in zip(serial, results(), strict=True):
        np.testing.assert_array_equal(a, b)


def test_many_python_threads_compute_at_once(threads):
    threads(2)
    x = Tensor(np.random.default_rng(1).normal(size=(300, 300)).astype(np.float32), Device.flex().autodiff())
    want = ((x @ x).tanh().sum()).item()
    half = x.detach().cast("bf16")
    want_half = (half @ half).tolist()
    failed = []

    def work():
        try:
            for _ in range(20):
                w = x.require_grad()
                loss = (w @ w).tanh().sum()
                assert loss.item() == want
                assert w.grad(loss.backward()).dims() == [300, 300]
                assert (half @ half).tolist() == want_half
        except BaseException as e:
            failed.append(e)

    pool = [threading.Thread(target=work) for _ in range(6)]
    for t in pool:
        t.start()
    for t in pool:
        t.join()
    assert not failed


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_child_computes_serially():
    code = """
import os, sys
import numpy as np
import burn
from burn import Tensor
burn.set_num_threads(2)
x = Tensor(np.ones((600, 600), np.float32))
want, half = (x @ x).sum().item(), x.cast("bf16") # tiles of bf16 are lent to a process: a child has them too
want_half = (half @ half).tolist()
pid = os.fork()
if pid == 0:
    ok = (x @ x).sum().item() == want and burn.get_num_threads() == 1 and (half @ half).tolist() == want_half
    os._exit(0 if ok else 1)
_, status = os.waitpid(pid, 0)
assert (x @ x).sum().item() == want
sys.exit(os.waitstatus_to_exitcode(status))
"""
    run(code)


def test_multiprocessing_pool_of_forked_workers():
    code = """
import multiprocessing as mp
import numpy as np
from burn import Tensor
def work(n):
    return Tensor(np.ones((400, 400), np.float32)).matmul(Tensor(np.ones((400, 400), np.float32))).sum().item() * n
if __name__ == "__main__":
    work(1)
    with mp.get_context("fork").Pool(2) as pool:
        assert pool.map(work, range(4)) == [64000000.0 * n for n in range(4)]
"""
    run(code)


def test_ctrl_c_stops_a_loop():
    code = """
import signal, threading, os, time
from burn import Tensor
x = Tensor.ones([500, 500])
signal.signal(signal.SIGINT, signal.default_int_handler)  # a process in the background begins without it
threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    while True:
        x = (x @ x).tanh()
except KeyboardInterrupt:
    print("stopped")
"""
    assert run(code) == "stopped"


def test_rebinding_waits_for_kernels_of_other_threads(threads):
    threads(2)
    n = 1_000_000
    x = Tensor.ones([n])
    wrong, stop = [], threading.Event()

    def read():
        while not stop.is_set():
            top = (x * 2.0).max().item()
            if top != 2.0:
                wrong.append(top)

    reader = threading.Thread(target=read)
    reader.start()
    for _ in range(60):
        x[0:1] = 1.0
        Tensor.full([n], 7.0)
    stop.set()
    reader.join()
    assert not wrong


def test_words_of_errors_stay_with_their_thread():
    """While one thread is in a layer that names its own argument, an error of another thread is in that one's words."""
    device, done = Device.flex(), threading.Event()

    def lookups():
        layer, ids = (
            burn.nn.EmbeddingConfig(50, 512).init(device),
            Tensor.from_data(np.zeros((64, 50), np.int32), device),
        )
        while not done.is_set():
            layer(ids)

    others = [threading.Thread(target=lookups) for _ in range(2)]
    for thread in others:
        thread.start()
    rows, ids = Tensor.zeros([1000, 64], device), Tensor.from_data(np.array([*[0] * 5000, 2000], np.int32), device)
    try:
        for _ in range(2000):
            with pytest.raises(
                IndexError, match=r"^\[select\] 'indices' must lie in 0..999 for axis 0 of size 1000, got 2000"
            ):
                rows.select(0, ids)
    finally:
        done.set()
        for thread in others:
            thread.join()


def test_a_child_forked_while_another_thread_holds_a_lock():
    """Drawing a parameter and folding statistics take locks; in a child nobody would give them back."""
    code = """
import os, signal, threading, warnings
import burn
from burn._locks import Lock
warnings.simplefilter("ignore", DeprecationWarning)
device = burn.Device.flex().autodiff()
linear, norm = burn.nn.LinearConfig(4, 4).init(device), burn.nn.BatchNormConfig(4).init(device)
x = burn.Tensor.ones([2, 4], device)
burn.nn.LinearConfig(4, 4).init(device)(x)
norm(x.unsqueeze_dim(2))
taken, done, own = threading.Event(), threading.Event(), Lock()
def take():
    with linear.weight._lazy.lock.held, norm.running_mean._lock.held:
        taken.set()
        done.wait()
thread = threading.Thread(target=take)
thread.start()
taken.wait()
with own.held:
    child = os.fork()
    if child == 0:
        signal.alarm(20)
if child == 0:
    with own.held:
        norm(linear(x).unsqueeze_dim(2))
    os._exit(7)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
done.set()
thread.join()
"""
    assert run(code) == "7"
