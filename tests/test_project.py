"""The project itself: version, build script, what an import costs and says, what a wheel must not lack."""

import importlib.metadata
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tomllib

import pytest

import burn
from burn.backend.flex import available_levels
from tests.conftest import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())

# Packages that users may have but that `import burn` must not pay for.
LATE = (
    "scipy",
    "ml_dtypes",
    "cbor2",
    "pycuda",
    "rich",
    "plotext",
    "PIL",
    "torch",
    "psutil",
    "asyncio",
    "multiprocessing",
)


def setup_py(*args, **env):
    """Runs setup.py, which must not build anything for these arguments."""
    pytest.importorskip("setuptools")
    return subprocess.run(
        [sys.executable, "setup.py", *args], cwd=ROOT, env=dict(os.environ, **env), capture_output=True, text=True
    )


@pytest.fixture(scope="module")
def build_script():
    """The functions of setup.py, loaded without running its last statement."""
    setuptools = pytest.importorskip("setuptools")
    source = (ROOT / "setup.py").read_text()
    assert source.count("\nsetup(") == 1
    names = {"__name__": "build_script", "setuptools": setuptools}
    exec(compile(source.split("\nsetup(")[0], "setup.py", "exec"), names)
    return names


def test_version_stands_in_one_place():
    assert PROJECT["tool"]["setuptools"]["dynamic"]["version"] == {"attr": "burn._version.__version__"}
    assert re.fullmatch(r"\d+\.\d+\.\d+(\.dev\d+)?", burn.__version__)
    assert f"## {burn.__version__}" in (ROOT / "CHANGELOG.md").read_text()


def test_installed_version_is_that_of_the_sources():
    try:
        installed = importlib.metadata.version("burn-dl")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("burn-dl is not installed here")
    assert installed == burn.__version__


def test_base_dependencies_are_four():
    names = [re.match(r"[\w-]+", text).group() for text in PROJECT["project"]["dependencies"]]
    assert names == ["numpy", "scipy", "ml-dtypes", "cbor2"]


def test_extras_named_in_messages_exist():
    extras = PROJECT["project"]["optional-dependencies"]
    for path in (ROOT / "burn").rglob("*.py"):
        for name in re.findall(r"burn-dl\[(\w+)\]", path.read_text()):
            assert name in extras, f"{path} names the extra {name}"


def test_type_marker_is_packaged():
    assert (ROOT / "burn/py.typed").exists()
    assert "py.typed" in PROJECT["tool"]["setuptools"]["package-data"]["burn"]


@pytest.mark.parametrize("name", ["demo", "test", "asan", "bench", "lint", "docs", "wheel", "clean"])
def test_make_has_target(name):
    assert re.search(rf"^{name}:", (ROOT / "Makefile").read_text(), re.M)


def test_wrong_level_is_refused():
    done = setup_py("--name", BURN_BUILD_LEVELS="v3,v9")
    assert done.returncode and "[build] BURN_BUILD_LEVELS must be all, native or some of" in done.stderr


def test_levels_of_the_build(build_script, monkeypatch):
    if not build_script["IS_X86"]:
        pytest.skip("levels are those of x86-64")
    wanted = build_script["wanted_levels"]
    for text, levels in {
        "": ["v2", "v3", "v4"],
        "all": ["v2", "v3", "v4"],
        "v3": ["v3"],
        "v2, _v4": ["v2", "v4"],
        "native": [build_script["host_level"]()],
    }.items():
        monkeypatch.setenv("BURN_BUILD_LEVELS", text)
        assert wanted() == levels


def test_host_level_of_the_build_is_that_of_the_import(build_script):
    """`make demo` compiles one level: it must be one that the probe of the import takes."""
    assert build_script["host_level"]() in available_levels()


def test_edited_header_reaches_every_module_that_includes_it(build_script):
    core = build_script["CORE"]
    found = build_script["sources_of"](core / "core.pyx")
    assert {core / "abi.h", core / "abi.pxd", core / "op.pxi", core / "_openmp.h", core / "alloc.h"} <= found
    assert core / "_openmp.h" not in build_script["sources_of"](core / "elementwise.pyx")


def test_outdated_target_is_made_again(build_script, tmp_path):
    source, target = tmp_path / "a.pyx", tmp_path / "a.c"
    source.write_text("")
    stale, note_of = build_script["stale"], build_script["note_of"]
    assert stale(target, [source], "flags")
    target.write_text("")
    note_of(target).write_text("flags")
    os.utime(source, (1, 1))
    assert not stale(target, [source], "flags")
    assert stale(target, [source], "other flags")
    os.utime(target, (0, 0))
    assert stale(target, [source], "flags")


def test_import_is_light(fresh_python):
    loaded = fresh_python("import sys, burn; print(*sys.modules)").split()
    assert [name for name in LATE if name in loaded] == []


def test_import_takes_little_memory(fresh_python):
    program = """
from pathlib import Path
import burn
print(Path("/proc/self/status").read_text().split("VmRSS:")[1].split()[0])
"""
    if not os.path.exists("/proc/self/status"):
        pytest.skip("no /proc on this system")
    assert int(fresh_python(program)) < 60 * 1024


def test_import_keeps_subnormals(fresh_python):
    program = """
import burn
x = burn.Tensor.from_floats([1e-38], burn.Device.flex())
assert (x * 0.01).item() > 0
import numpy as np
assert np.float32(1e-38) * np.float32(0.01) > 0
"""
    fresh_python(program)


def test_missing_extensions_are_explained(tmp_path, fresh_python):
    ignored = shutil.ignore_patterns("*.so", "__pycache__")
    shutil.copytree(ROOT / "burn", tmp_path / "burn", ignore=ignored)
    message = fresh_python("import burn", cwd=tmp_path, fails=True, PYTHONPATH=str(tmp_path)).splitlines()[-1]
    assert message.startswith("ImportError: ") and "pip install" in message


def test_configuration_can_be_shown(capsys):
    burn.show_config()
    shown = capsys.readouterr().out.lower()
    for word in (burn.__version__, "numpy", "flex", str(burn.get_num_threads())):
        assert word in shown


@pytest.mark.parametrize("value", [0, -1, 1.5, "two", True])
def test_thread_count_is_checked(value):
    before = burn.get_num_threads()
    with pytest.raises((ValueError, TypeError), match=r"\[set_num_threads\]"):
        burn.set_num_threads(value)
    assert burn.get_num_threads() == before


def test_kernel_modules_know_no_openmp():
    """Threads come from the core alone: a second pool would fight with it."""
    for path in (ROOT / "burn/_core").glob("_*/*.so"):
        assert b"libgomp" not in path.read_bytes(), path
