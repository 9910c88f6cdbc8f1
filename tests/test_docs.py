"""The documentation is true: its examples run, its links lead somewhere."""

import doctest
import importlib
import pkgutil
import re

import pytest

import burn
from tests.conftest import ROOT

PAGES = [ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md"))]
# Modules that need an optional package are imported only with it.
MODULES = sorted(info.name for info in pkgutil.walk_packages(burn.__path__, "burn.") if "._core." not in info.name)
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def page_name(page):
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert doctest.testmod(importlib.import_module(name), optionflags=OPTIONS).failed == 0


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_examples_of_page(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert doctest.testfile(str(page), module_relative=False, optionflags=OPTIONS).failed == 0


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_links_of_page(page):
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text()):
        if not target.startswith(("http:", "https:", "mailto:")):
            assert (page.parent / target).exists(), f"{page_name(page)} links to {target}"


def test_program_of_readme(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (program, *_) = re.findall(r"^```python\n(.*?)^```", (ROOT / "README.md").read_text(), re.M | re.S)
    exec(compile(program, "README.md", "exec"), {})
    assert capsys.readouterr().out


def lacks_table():
    """What docs/cuda.md must say about the kernels that CUDA lacks."""
    from burn.backend.cuda.lacks import LACKS

    if not LACKS:
        return "Nothing: every kernel of the CPU has its CUDA kernel, for every dtype."
    rows = [f"| `{name}` | {reason} |" for name, reason in sorted(LACKS.items())]
    return "\n".join(["| kernel | why |", "|---|---|", *rows])


def test_what_cuda_lacks_is_documented():
    text = (ROOT / "docs/cuda.md").read_text()
    assert f"<!-- lacks -->\n{lacks_table()}\n<!-- /lacks -->" in text, f"write this:\n{lacks_table()}"


def test_names_that_the_page_gives_exist():
    text = (ROOT / "docs/names.md").read_text()
    ours = [line.split("|")[3] for line in text.splitlines() if line.startswith("|")][2:]
    methods = re.findall(r"`(?:x|Tensor)\.(\w+)", " ".join(ours))
    assert len(methods) > 40 and not [name for name in methods if not hasattr(burn.Tensor, name)]
    for path in re.findall(r"`(burn\.[\w.]+)\(", " ".join(ours)):
        module, name = path.rsplit(".", 1)
        assert hasattr(importlib.import_module(module), name), path
