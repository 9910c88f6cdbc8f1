"""Saving leaves the old file or the new one, whatever happens in between."""

import os
import signal
import stat
import subprocess
import sys
import time

import numpy as np
import pytest

from burn.store import pack
from burn.store.pack import AtomicFile, PackDType, PackTensor, Reader, Writer


def one(value):
    return Writer([PackTensor.from_numpy("w", np.full(4, value, "f4"))])


def value_of(path):
    return Reader.from_file(path).tensor("w").to_numpy()[0]


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_failing_tensor_leaves_the_old_file(tmp_path):
    path = tmp_path / "m.bpk"
    one(1).write_to_file(path)

    def fail():
        raise OSError("device lost")

    tensors = [PackTensor.from_numpy("a", np.ones(1000, "f4")), PackTensor.deferred("b", PackDType("U8"), [1], 1, fail)]
    with pytest.raises(pack.PackError, match="tensor 'b': device lost"):
        Writer(tensors).write_to_file(path)
    assert value_of(path) == 1 and names(tmp_path) == ["m.bpk"]


_KILLED = """
import sys, time
import numpy as np
from burn.store.pack import PackDType, PackTensor, Writer

def slow():
    print("writing", flush=True)
    time.sleep(60)

tensors = [
    PackTensor.from_numpy("w", np.full(1 << 20, 2, "f4")),
    PackTensor.deferred("v", PackDType("U8"), [1], 1, slow),
]
Writer(tensors).write_to_file(sys.argv[1])
"""


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
def test_a_killed_save_leaves_the_old_file(tmp_path):
    path = tmp_path / "m.bpk"
    one(1).write_to_file(path)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    child = subprocess.Popen([sys.executable, "-c", _KILLED, path], stdout=subprocess.PIPE, env=environment)
    assert child.stdout.readline() == b"writing\n"
    child.send_signal(signal.SIGKILL)
    child.wait()
    child.stdout.close()
    assert value_of(path) == 1
    (scratch,) = (name for name in names(tmp_path) if name != "m.bpk")
    assert scratch.startswith(f"m.bpk.{child.pid}-") and scratch.endswith(".tmp")
    one(3).write_to_file(path)
    assert value_of(path) == 3 and names(tmp_path) == ["m.bpk"]


_SAVING = """
import sys
import numpy as np
from burn.store.pack import PackTensor, Writer

print("ready", flush=True)
value = 2.0
while True:
    tensors = [PackTensor.from_numpy(f"w{i}", np.full(1 << 14, value, "f4")) for i in range(8)]
    Writer(tensors).sync(value % 2 == 0).write_to_file(sys.argv[1])
    value += 1.0
"""


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
def test_a_process_killed_at_any_moment_leaves_a_whole_file(tmp_path):
    path, random = tmp_path / "m.bpk", np.random.default_rng(0)
    Writer([PackTensor.from_numpy(f"w{i}", np.full(1 << 14, 1, "f4")) for i in range(8)]).write_to_file(path)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    last = 1.0
    for _ in range(6):
        child = subprocess.Popen([sys.executable, "-c", _SAVING, path], stdout=subprocess.PIPE, env=environment)
        assert child.stdout.readline() == b"ready\n"
        time.sleep(random.uniform(0.0, 0.05))
        child.send_signal(signal.SIGKILL)
        child.wait()
        child.stdout.close()
        values = {value for item in Reader.from_file(path).into_tensors() for value in item.to_numpy().tolist()}
        assert len(values) == 1, "a file of two saves"
        (last,) = values
    assert last >= 1.0
    one(3).write_to_file(path)
    assert names(tmp_path) == ["m.bpk"]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
def test_a_full_disk(tmp_path):
    path = tmp_path / "m.bpk"
    one(1).write_to_file(path)
    with pytest.raises(pack.PackError, match="cannot write '/dev/full': No space left"):
        one(2).auto_extension(False).write_to_file_in_place("/dev/full")

    class Full(AtomicFile):
        def __enter__(self):
            self.file.close()
            self.file = open("/dev/full", "wb", buffering=0)
            return self.file

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pack.writer, "AtomicFile", Full)
        with pytest.raises(pack.PackError, match=r"cannot write '.*m\.bpk': No space left"):
            one(2).write_to_file(path)
    assert value_of(path) == 1 and names(tmp_path) == ["m.bpk"]


@pytest.mark.skipif(os.name != "posix", reason="needs process numbers and locks")
def test_only_scratch_files_of_dead_processes_are_removed(tmp_path):
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    dead = child.pid
    kept = [f"m.bpk.{os.getpid()}-9.tmp", f"other.bpk.{dead}-1.tmp", f"m.bpk.{dead}-x.tmp", f"m.bpk.{dead}-1.tmp.old",
            f"m.bpk.{dead}-2.tmp", "m.bpk.0-1.tmp", f"mxbpk.{dead}-1.tmp"]  # fmt: skip
    for name in [*kept, f"m.bpk.{dead}-1.tmp"]:
        (tmp_path / name).write_bytes(b"")
    (tmp_path / f"m.bpk.{dead}-3.tmp").mkdir()
    with open(tmp_path / f"m.bpk.{dead}-2.tmp") as used:  # as a process of another machine does
        import fcntl

        fcntl.flock(used, fcntl.LOCK_EX)
        one(1).write_to_file(tmp_path / "m.bpk")
        assert names(tmp_path) == sorted([*kept, f"m.bpk.{dead}-3.tmp", "m.bpk"])


def test_overwrite_false(tmp_path):
    path = tmp_path / "m.bpk"
    one(1).overwrite(False).write_to_file(path)
    with pytest.raises(pack.AlreadyExists, match="exists already"):
        one(2).overwrite(False).write_to_file(path)
    with pytest.raises(FileExistsError):
        one(2).overwrite(False).write_to_file(path)
    assert value_of(path) == 1 and names(tmp_path) == ["m.bpk"]


def test_commit_new_sees_a_file_that_came_meanwhile(tmp_path):
    path = tmp_path / "a"
    guard, file = AtomicFile.create(path)
    file.write(b"new")
    path.write_bytes(b"old")
    with pytest.raises(FileExistsError):
        guard.commit_new()
    assert path.read_bytes() == b"old" and names(tmp_path) == ["a"]


@pytest.mark.skipif(os.name != "posix", reason="needs links and permission bits")
def test_links_and_permissions(tmp_path):
    target, link, dangling = tmp_path / "target.bpk", tmp_path / "link.bpk", tmp_path / "dangling.bpk"
    one(1).write_to_file(target)
    link.symlink_to(target)
    one(2).write_to_file(link)
    assert not link.is_symlink() and value_of(link) == 2 and value_of(target) == 1
    dangling.symlink_to(tmp_path / "nowhere")
    with pytest.raises(pack.AlreadyExists):
        one(2).overwrite(False).write_to_file(dangling)
    target.chmod(0o640)
    one(3).write_to_file(target)
    assert stat.S_IMODE(target.stat().st_mode) == 0o640


def test_without_hard_links(tmp_path, monkeypatch):
    def refuse(*_, **__):
        raise PermissionError("no links here")

    monkeypatch.setattr(os, "link", refuse)
    path = tmp_path / "m.bpk"
    one(1).overwrite(False).write_to_file(path)
    with pytest.raises(pack.AlreadyExists):
        one(2).overwrite(False).write_to_file(path)
    assert value_of(path) == 1 and names(tmp_path) == ["m.bpk"]


def test_an_existing_scratch_name_is_passed_over(tmp_path):
    first = AtomicFile(tmp_path / "a")
    number = int(first.path().rsplit("-", 1)[1].split(".")[0])
    first.discard()
    (tmp_path / f"a.{os.getpid()}-{number + 1}.tmp").write_bytes(b"taken")
    with AtomicFile(tmp_path / "a") as file:
        file.write(b"x")
    assert (tmp_path / "a").read_bytes() == b"x"


@pytest.mark.parametrize("path", ["missing/m.bpk", "m.bpk/"])
def test_paths_that_cannot_be_written(tmp_path, monkeypatch, path):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(pack.PackError, match=r"cannot write|must name a file"):
        Writer([]).auto_extension(False).write_to_file(path)


def test_a_bare_name_goes_to_the_working_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert one(1).write_to_file("m") == "m.bpk"
    assert names(tmp_path) == ["m.bpk"]


def test_in_place_keeps_the_inode(tmp_path):
    path = tmp_path / "m.bpk"
    one(1).write_to_file(path)
    inode = path.stat().st_ino
    one(2).write_to_file_in_place(path)
    assert path.stat().st_ino == inode and value_of(path) == 2


def test_a_large_file_is_written_in_pieces(tmp_path):
    array = np.arange(5 << 20, dtype="f4")
    start = time.perf_counter()
    Writer([PackTensor.from_numpy("w", array)]).write_to_file(tmp_path / "m")
    np.testing.assert_array_equal(Reader.from_file(tmp_path / "m").tensor("w").to_numpy(), array)
    assert time.perf_counter() - start < 10
