"""The documentation is true: its examples run, its links lead somewhere."""

import ast
import dataclasses
import doctest
import enum
import importlib
import inspect
import math
import pkgutil
import re
import textwrap

import numpy as np
import pytest

import burn
from burn._ops import OPS
from tests import operations_page
from tests.conftest import ROOT

PAGES = [ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md"))]
# Modules that need an optional package are imported only with it.
MODULES = sorted(info.name for info in pkgutil.walk_packages(burn.__path__, "burn.") if "._core." not in info.name)
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def page_name(page):
    return str(page.relative_to(ROOT))


class Finder(doctest.DocTestFinder):
    """Finds the examples of methods that `burn.tensor._calls` has wrapped: they name the module of Tensor, not their own."""

    def _from_module(self, module, item):
        return super()._from_module(module, inspect.unwrap(item))


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    module = importlib.import_module(name)
    shared = {"burn": burn, "Tensor": burn.Tensor}  # what every example may use
    runner = doctest.DocTestRunner(optionflags=OPTIONS)
    tests = Finder(exclude_empty=True).find(module, name, extraglobs=shared)
    for test in tests:
        runner.run(test)
    assert runner.summarize().failed == 0
    if not module.__file__.endswith(".so"):
        written = re.findall(r'^\s*(?:r?""")?>>> ', inspect.getsource(module), re.M)
        assert sum(len(test.examples) for test in tests) >= len(written), "an example that is not found"


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_examples_of_page(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert doctest.testfile(str(page), module_relative=False, optionflags=OPTIONS).failed == 0


def test_all_python_of_migrating_runs():
    """Nothing stands in a block of Python there that is not an example with its result; what was 0.21's is Rust."""
    text = (ROOT / "docs/migrating.md").read_text()
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", text, re.M | re.S)
    assert {language for language, _ in blocks} == {"python", "rust"} and len(blocks) > 30
    for language, block in blocks:
        assert language == "rust" or (block.startswith(">>> ") and block.endswith("\n\n")), block


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


def test_page_of_operations_is_fresh():
    assert operations_page.page() == operations_page.PAGE.read_text(), "run python -m tests.operations_page"


def test_gradients_that_the_page_promises_flow():
    """Where the record of plain tensors has no gradient, tracked ones take the one that the page's maker names."""
    x = burn.Tensor([[1.0, 2.0]]).autodiff().require_grad()
    at, v = burn.Tensor([[0]]), burn.Tensor([[5.0]])
    results = {
        "max": x.max(), "min": x.min(), "scatter": x.scatter(1, at, v, "Add"), "sort_values": x.sort(1),
        "select_assign": x.select_assign(1, at.reshape([1]), v, "Add"),
    }  # fmt: skip
    assert results.keys() == operations_page.TRACKED_AS.keys()
    for name, tracked_as in operations_page.TRACKED_AS.items():
        assert results[name].is_tracked() and not OPS[name].rule and OPS[tracked_as].rule


# What stands before the dot in docs/names.md, and where other capitalised names are found.
OBJECTS = {
    "burn": burn, "x": burn.Tensor, "v": burn.Tensor, "m": burn.Tensor, "i": burn.Tensor, "Tensor": burn.Tensor,
    "loss": burn.Tensor, "device": burn.Device, "Device": burn.Device, "model": burn.module.Module,
    "optimizer": burn.optim.ModuleOptimizer,
}  # fmt: skip
PLACES = (burn, burn.tensor, burn.linalg, burn.signal, burn.optim, burn.module)


def rows_of_names():
    """The cells of each row of docs/names.md: the names of others, and last ours."""
    lines = [line for line in (ROOT / "docs/names.md").read_text().splitlines() if line.startswith("| ")]
    rows = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]
    return [row for row in rows if row[-1] != "burn"]


def test_names_that_the_page_gives_exist():
    seen = 0
    for row in rows_of_names():
        for code in re.findall(r"`([^`]+)`", row[-1]):
            for path in re.findall(r"(?<![\w.\"])([A-Za-z]\w*(?:\.[A-Za-z]\w*)*)(?=\(|\.T\b|$)", code):
                first, *rest = path.split(".")
                found = OBJECTS.get(first) or next((getattr(p, first) for p in PLACES if hasattr(p, first)), None)
                if found is None:
                    assert not first[0].isupper(), f"{path} in {row}"
                    continue
                for name in rest:  # a name that is not there raises
                    found = {"shape": burn.Shape, "T": burn.Tensor}.get(name) or getattr(found, name)
                seen += 1
    assert seen > 200


def arrays_of(value):
    """The arrays in a result: of one tensor, of several, or the parts of complex numbers."""
    if isinstance(value, tuple | list) and hasattr(value[0], "shape"):
        return [np.asarray(part) for part in value]
    value = np.asarray(value)
    return [value.real, value.imag] if np.iscomplexobj(value) else [value]


def test_names_of_numpy_mean_the_same():
    """Both sides of the rows with a NumPy form give the same values; axes that burn keeps do not count."""
    rng = np.random.default_rng(0)
    x, y = (rng.uniform(0.1, 1.0, (3, 4)).astype("f") for _ in range(2))
    i, j = np.array([2, 0]), np.array([[1], [0], [3]])
    theirs = {"x": x, "y": y, "v": x[0], "z": x[:, :3], "m": x > 0.5, "i": i, "j": j}
    ours = {name: burn.Tensor(value) for name, value in theirs.items()}
    shared = {"np": np, "math": math, "burn": burn, "a": x}
    for place in (burn, burn.tensor):
        shared |= {name: getattr(place, name) for name in dir(place) if name[0].isupper()}
    rows = [row for row in rows_of_names() if len(row) == 3 and row[0] and "rng" not in row[0]]
    for numpy, _, burns in rows:
        left, right = (re.match(r"`([^`]+)`", cell)[1] for cell in (numpy, burns))
        want, got = arrays_of(eval(left, {**shared, **theirs})), arrays_of(eval(right, {**shared, **ours}))
        if left.startswith(("np.linalg.qr", "np.linalg.svd")):  # signs and the size of Q and U are free
            want, got = [abs(want[1])], [abs(got[1])]
        for a, b in zip(want, got, strict=True):
            np.testing.assert_allclose(np.squeeze(b), np.squeeze(a), 1e-4, 1e-5, err_msg=left)
    assert len(rows) > 80


# Public items: what they are, and what their docstrings must say.

NAMESPACES = [
    "burn", "burn.tensor", "burn.tensor.activation", "burn.tensor.grid", "burn.tensor.loss", "burn.tensor.module",
    "burn.linalg", "burn.signal", "burn.config", "burn.module", "burn.nn", "burn.nn.activation",
    "burn.nn.attention", "burn.nn.cache", "burn.nn.conv",
    "burn.nn.interpolate", "burn.nn.loss", "burn.nn.norm", "burn.nn.pool", "burn.nn.transformer", "burn.optim",
    "burn.lr_scheduler", "burn.grad_clipping", "burn.data.dataloader", "burn.data.dataset", "burn.store",
    "burn.train.metric", "burn.train.renderer", "burn.errors",
]  # fmt: skip
# What Burn does not have.
OURS = {
    "T", "contiguous", "from_cuda_array", "from_dlpack", "from_numpy", "item", "kind", "numpy", "tolist", "ConfigEnum", "Float32",
    "config_to_json", "float_text", "from_json", "to_json", "tuple_variant", "get_num_threads", "set_num_threads",
    "show_config", "field", "PathTracking", "set_winograd", "CurvePlot", "ProgressBar", "ConfusionMatrix",
    "WeightNorm", "WeightNormalization",
}  # fmt: skip


def function_of(item):
    """The function behind a method, a classmethod or a property; None if there is none."""
    if isinstance(item, property):
        item = item.fget
    if isinstance(item, classmethod | staticmethod):
        item = item.__func__
    return item if inspect.isroutine(item) else None


def public_items():
    """(path, item, class that it belongs to or None) of every public class, function, method and property, each once."""
    found = {}
    for namespace in NAMESPACES:
        module = importlib.import_module(namespace)
        for name in getattr(module, "__all__", None) or dir(module):
            item = getattr(module, name)
            home = getattr(item, "__module__", None) or ""
            own = home.startswith("burn." if hasattr(module, "__path__") else namespace) and "._core" not in home
            if name.startswith("_") or not own or not (inspect.isclass(item) or inspect.isroutine(item)):
                continue
            found.setdefault(id(item), (f"{namespace}.{name}", item, None))
            for base in item.__mro__ if inspect.isclass(item) else ():
                if base.__module__.startswith("burn.") and "._core" not in base.__module__:
                    for key in [key for key in vars(base) if key in dir(base)]:
                        member = vars(base)[key]
                        path = f"{base.__module__}.{base.__qualname__}.{key}"
                        if not key.startswith("_") and function_of(member):
                            found.setdefault(id(function_of(member)), (path, member, base))
    return sorted(found.values(), key=lambda entry: entry[0])


def parameters_of(item):
    """The names that a caller fills in."""
    try:
        listed = list(inspect.signature(item).parameters.values())
    except (TypeError, ValueError):
        return []
    guards = ("axis", "axes")  # of methods that take none and say so
    return [
        p.name
        for p in listed
        if p.name not in ("self", "cls") and p.name[0] != "_" and not (p.kind is p.VAR_POSITIONAL and p.name in guards)
    ]


def gives_a_result(function):
    """Whether a function returns a value, as its source says."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    return any(isinstance(node, ast.Return) and node.value is not None for node in ast.walk(tree))


def faults_of(path, item, owner):
    """What a docstring lacks, as words."""
    name = path.rsplit(".", 1)[1]
    if owner and issubclass(owner, BaseException):
        return [] if function_of(item).__doc__ else ["a summary"]
    if owner and any(name in vars(base) for base in owner.__mro__[1:] if base.__module__.startswith("burn.")):
        return []  # it does what the method of the base says
    text = inspect.getdoc(item) if not inspect.isclass(item) else inspect.cleandoc(item.__doc__ or "")
    if not text or not re.match(r".*?[.:](\s|$)", text.replace("\n", " ")):
        return ["a summary that ends with a full stop"]
    lacking: list[str] = []
    mirrors = re.search(r"Mirrors\s+(?:`|a Rust enum)|\(Burn: `", text)
    origin = [] if mirrors or name in OURS or owner not in (None, burn.Tensor) else ["the item of Burn that it mirrors"]
    if inspect.isclass(item):
        if issubclass(item, BaseException | enum.Enum):
            return []
        fields = parameters_of(item) if dataclasses.is_dataclass(item) or item is burn.Tensor else []
        missing = [name for name in fields if not re.search(rf"\b{name}\b", text)]
        lacking += [f"Args: {', '.join(missing)}"] if missing else []
        lacking += ["an example"] if ">>>" not in text else []
        return lacking + origin
    if isinstance(item, property):
        return []
    function = function_of(item)
    names = parameters_of(function)
    examples = examples_of(item) or (owner and owner is not burn.Tensor and examples_of(owner))
    if owner and name.startswith(("with_", "set_")) and len(names) == 1:
        return [] if examples else ["an example in the class"]  # a builder: the summary says what changes
    missing = [name for name in names if not re.search(rf"^ +\*{{0,2}}[\w, *]*\b{name}\b[\w, *]*:", text, re.M)]
    shapes = "# Shapes" in text
    if missing and not (shapes and all(f"- {name}:" in text for name in missing)):
        lacking.append(f"Args: {', '.join(missing)}")
    large = owner in (None, burn.Tensor, burn.TensorData)  # elsewhere the summary of a method may say what it gives
    if large and names and not shapes and "Returns:" not in text and gives_a_result(function):
        lacking.append("Returns")
    if ">>>" not in text and not (examples and re.search(rf"\b{name}\b", examples)):
        lacking.append("an example, here or in the class")
    return lacking + origin


def examples_of(item):
    """The lines of a docstring that are run."""
    return "\n".join(re.findall(r"^\s*(?:>>>|\.\.\.) .*", item.__doc__ or "", re.M))


def test_public_items_are_documented():
    """A summary; arguments, result and an example where there are any. Methods may be shown in the example of their class."""
    items = public_items()
    assert len(items) > 700
    faults = [f"{path}: {', '.join(found)}" for path, *rest in items if (found := faults_of(path, *rest))]
    assert not faults, f"{len(faults)} of {len(items)} items lack something:\n" + "\n".join(faults)
