"""Saving against what happens to files: processes that are killed, full disks, paths of all kinds, several at once."""

import errno
import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from burn import Device, Tensor
from burn.errors import ArgumentError, RecordIoError, RecordValidationError, StoreIoError, StoreValidationError
from burn.lr_scheduler import LrSchedulerRecord
from burn.nn import LinearConfig
from burn.optim import AdamConfig, GradientsParams, SgdConfig
from burn.store import BurnpackStore, ModuleRecord, PytorchReader, SafetensorsStore
from burn.store.pack import Scalar
from tests.conftest import ROOT

CPU = Device.flex()
LOADS = {
    "bpk": lambda path: LinearConfig(64, 64).init(CPU).load_file(path),
    "safetensors": lambda path: LinearConfig(64, 64).init(CPU).load_from(SafetensorsStore.from_file(path))[0],
}
posix = pytest.mark.skipif(os.name != "posix", reason="needs signals and limits")

_START = """
import resource, signal, sys
from burn import Device, Tensor
from burn.nn import LinearConfig
from burn.nn.initializer import Initializer
from burn.store import BurnpackStore, SafetensorsStore

path, first, step = sys.argv[1], float(sys.argv[2]), float(sys.argv[3])

def save(value):
    layer = LinearConfig(64, 64, initializer=Initializer.Constant(value)).init(Device.flex())
    if path.endswith(".bpk"):
        layer.save_file(path)
    else:
        layer.save_into(SafetensorsStore.from_file(path).overwrite(True))

save(first)
print("ready", flush=True)
"""
_FOREVER = "while True:\n    first += step\n    save(first)\n"


def child(code, path, first, step):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "BURN_NUM_THREADS": "1"}
    command = [sys.executable, "-c", _START + code, str(path), str(first), str(step)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, text=True)


def value_of(path):
    """The one value that a whole file holds in all places."""
    values = np.unique(LOADS[path.suffix[1:]](path).weight.val().numpy())
    assert values.size == 1, "a file of two saves"
    return float(values[0])


@posix
@pytest.mark.parametrize("form", LOADS)
def test_two_processes_that_save_one_file_and_are_killed(form, tmp_path):
    """Whenever one looks, the file is whole and of one of them; the next save clears what they left."""
    path, random = tmp_path / f"m.{form}", np.random.default_rng(0)
    children = [child(_FOREVER, path, first, 2) for first in (1, 2)]
    for process in children:
        assert process.stdout.readline() == "ready\n"
    seen = set()
    for _ in range(30):
        seen.add(value_of(path) % 2)
        time.sleep(random.uniform(0, 0.01))
    for process in children:
        process.send_signal(signal.SIGKILL)
        process.communicate()
    assert value_of(path) >= 1 and seen <= {0.0, 1.0}
    last = child("", path, 7, 0)
    assert last.communicate(timeout=60)[0] == "ready\n"
    assert value_of(path) == 7 and os.listdir(tmp_path) == [path.name]


@posix
@pytest.mark.parametrize("form", LOADS)
def test_a_disk_that_is_full(form, tmp_path):
    """The kernel refuses more bytes in the middle of the file: an error with its reason, the old file, and no scratch file."""
    path = tmp_path / f"m.{form}"
    code = """
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (9000, 9000))
from burn.errors import ArgumentError, RecordIoError
try:
    save(2.0)
except RecordIoError as error:
    print(error)
"""
    process = child(code, path, 1, 0)
    out, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    said = out.removeprefix("ready\n")
    assert repr(str(path)) in said and os.strerror(errno.EFBIG) in said
    assert value_of(path) == 1 and os.listdir(tmp_path) == [path.name]


def saves(path):
    """Everything that writes a file, by name."""
    layer = LinearConfig(2, 2).init(CPU)
    return {
        "record": lambda: layer.save_file(path),
        "optimizer": lambda: AdamConfig().init().save(path),
        "burnpack": lambda: layer.save_into(BurnpackStore.from_file(path).overwrite(True)),
        "safetensors": lambda: layer.save_into(SafetensorsStore.from_file(path).overwrite(True)),
    }


@pytest.mark.parametrize("kind", saves(""))
@pytest.mark.skipif(not os.path.isdir("/sys/kernel"), reason="needs a folder that nobody can write to")
def test_a_folder_that_cannot_be_written_to(kind, tmp_path):
    path = "/sys/kernel/m.file"
    if os.geteuid():
        tmp_path.chmod(0o500)
        path = str(tmp_path / "m.file")
    with pytest.raises(RecordIoError, match=r"m\.file.*(Permission denied|not permitted|Read-only|No such)"):
        saves(path)[kind]()
    tmp_path.chmod(0o700)


@pytest.mark.parametrize("kind", saves(""))
@pytest.mark.parametrize(
    "name", ["Größe 模型 🔥.file", " .file", "a\nb.file", "n" * 250 + ".file", "é" * 120 + ".file", "%s{0}.f"]
)
def test_names_of_all_kinds(kind, name, tmp_path):
    """In text and as a pathlib.Path; the scratch file beside it may not have a longer name than the system allows."""
    for path in (tmp_path / name, str(tmp_path / name)):
        saves(path)[kind]()
        assert os.listdir(tmp_path) == [name]
    if kind in ("record", "burnpack"):
        assert ModuleRecord.load(Path(tmp_path / name)).paths() == ["weight", "bias"]
    if kind == "safetensors":
        assert SafetensorsStore.from_file(Path(tmp_path / name)).keys() == ["bias", "weight"]


@pytest.mark.parametrize("kind", saves(""))
def test_links_to_files_and_to_folders(kind, tmp_path):
    """A link at the destination gives way to the file, what it led to stays; a link on the way is followed."""
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real", target_is_directory=True)
    saves(tmp_path / "link" / "m.file")[kind]()
    assert os.listdir(tmp_path / "real") == ["m.file"]
    before = (tmp_path / "real" / "m.file").read_bytes()
    (tmp_path / "m.file").symlink_to(tmp_path / "real" / "m.file")
    saves(tmp_path / "m.file")[kind]()
    assert not (tmp_path / "m.file").is_symlink() and (tmp_path / "real" / "m.file").read_bytes() == before


@posix
@pytest.mark.parametrize("kind", saves(""))
@pytest.mark.parametrize("linked", [False, True])
def test_a_pipe_or_a_device_never_gives_way_to_a_file(kind, linked, tmp_path):
    os.mkfifo(path := tmp_path / "pipe.file")
    if linked:
        (path := tmp_path / "link.file").symlink_to("/dev/null")
    before = sorted(os.listdir(tmp_path))
    with pytest.raises(RecordIoError, match=rf"{path.name}.*a pipe or a device"):
        saves(path)[kind]()
    assert sorted(os.listdir(tmp_path)) == before and path.is_symlink() == linked
    assert linked or stat.S_ISFIFO(os.stat(path).st_mode)


@pytest.mark.parametrize("path", ["a\0b", "a\ud800b"])
@pytest.mark.parametrize("kind", [*saves(""), "config", "read", "pytorch"])
def test_names_that_no_file_can_have(kind, path):
    reads = {
        "config": lambda: AdamConfig().save(path),
        "read": lambda: ModuleRecord.load(path),
        "pytorch": lambda: PytorchReader(path),
    }
    with pytest.raises(ArgumentError, match=r"'path' must be a name that a file can have, got 'a\\[xu]"):
        (reads | saves(path))[kind]()


@posix
@pytest.mark.parametrize(
    "read", [ModuleRecord.load, PytorchReader, lambda path: SafetensorsStore.from_file(path).keys()],
    ids=["record", "pytorch", "safetensors"],
)  # fmt: skip
def test_what_is_no_file_is_refused_at_once(read, tmp_path):
    """A pipe would be waited for, and has no positions."""
    os.mkfifo(tmp_path / "pipe.bpk")
    (tmp_path / "null.bpk").symlink_to("/dev/null")
    for name in ("pipe.bpk", "null.bpk"):
        with pytest.raises(RecordIoError, match=rf"{name}.*a pipe or a device.*copy it into a file"):
            read(tmp_path / name)


@pytest.mark.parametrize("name", ["net.pt", "net_legacy.pt"])
def test_a_checkpoint_that_is_cut_while_it_is_read(name, tmp_path):
    path = tmp_path / "m.pt"
    path.write_bytes((ROOT / "tests/store/data" / name).read_bytes())
    tensors = PytorchReader(path).into_tensors()
    with open(path, "r+b") as file:
        file.truncate(300)
    with pytest.raises((StoreIoError, StoreValidationError), match=r"m\.pt.*(shorter|cut off)"):
        for tensor in tensors:
            tensor.to_numpy()
    for tensor in tensors:
        with pytest.raises((StoreIoError, StoreValidationError)):
            tensor.read_into(bytearray(tensor.byte_len()))


def test_records_of_another_kind_are_refused(tmp_path):
    """The three kinds of records are one format: what was mixed up is said, and nothing is taken for an empty record."""
    model = LinearConfig(2, 2).init(CPU.autodiff())
    optimizer = AdamConfig().init()
    grads = GradientsParams.from_grads(model(Tensor.ones([1, 2], CPU.autodiff())).sum().backward(), model)
    model = optimizer.step(0.1, model, grads)
    model.save_file(tmp_path / "model")
    optimizer.save(tmp_path / "optim")
    LrSchedulerRecord().with_scalar("0.remaining_iters", Scalar.UInt(5)).save(tmp_path / "scheduler")
    for name in ("model", "optim"):
        with pytest.raises(
            RecordValidationError, match=r"numbers alone, but has the tensor .* of a module or an optimizer"
        ):
            LrSchedulerRecord.load(tmp_path / name)
    for other in ("optim", "scheduler"):
        with pytest.raises(RecordValidationError, match="Missing tensors"):
            model.load_file(tmp_path / other)
    for other in ("model", "scheduler"):
        for rule in (AdamConfig(), SgdConfig()):
            with pytest.raises(
                RecordValidationError, match=r"load it into the optimizer that wrote it|no id|must start with"
            ):
                rule.init().load(tmp_path / other)
