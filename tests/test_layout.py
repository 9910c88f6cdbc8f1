"""The layout keeps its promises: who imports whom, how large files are, and that every operation is complete."""

import ast
import ctypes
import importlib
import re

import pytest

from burn._ops import OPS
from burn.backend.cuda import source
from burn.backend.cuda.lacks import LACKS
from burn.backend.flex import available_levels
from burn.backend.ndarray import KERNELS
from tests.conftest import ROOT

BURN = ROOT / "burn"
COMPILED = (".pyx", ".pxd", ".pxi", ".h")
MAX_LINES, MAX_WIDTH = 600, 130
FAMILIES = sorted(path.stem for path in (BURN / "_core").glob("*.pyx") if path.stem != "core")


def files(*suffixes):
    """All source files with these suffixes."""
    folders = (BURN, ROOT / "tests", ROOT / "benchmarks", ROOT / "examples", ROOT / "cuda")
    found = [path for folder in folders for path in folder.rglob("*") if path.suffix in suffixes]
    return sorted([*found, ROOT / "setup.py"] if ".py" in suffixes else found)


def module_of(path):
    """Dotted name of a file of the package."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports_of(path, everywhere=False):
    """Modules that a file imports when it is loaded; `everywhere` adds those in functions and for types."""
    found = set()
    package = module_of(path).split(".") if path.name == "__init__.py" else module_of(path).split(".")[:-1]

    def visit(node):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join([*base, *([node.module] if node.module else [])])
            found.update(f"{base}.{alias.name}" for alias in node.names)
        elif everywhere or not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            checked = isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")
            for child in node.orelse if checked and not everywhere else ast.iter_child_nodes(node):
                visit(child)

    visit(ast.parse(path.read_text()))
    return found


@pytest.fixture(scope="module")
def layers():
    """The folders of docs/architecture.md, lowest first."""
    text = (ROOT / "docs/architecture.md").read_text().split("## Who may import whom")[1]
    rows = re.findall(r"^\| (`burn[^|]*) \|", text, re.M)
    return [name for row in rows for name in re.findall(r"`([\w.]+)`", row)]


def layer_of(name, layers):
    """The longest entry of the table that a module lies in, or None."""
    inside = [layer for layer in layers if name == layer or name.startswith(layer + ".")]
    return max(inside, key=len, default=None)


def test_every_folder_is_in_the_table(layers):
    for path in BURN.rglob("*.py"):
        name = module_of(path)
        assert name == "burn" or layer_of(name, layers), f"{name} is missing in docs/architecture.md"


@pytest.mark.parametrize("path", sorted(BURN.rglob("*.py")), ids=module_of)
def test_imports_point_downward(path, layers):
    own = layer_of(module_of(path), layers)
    if own is None:
        return
    for name in imports_of(path):
        layer = layer_of(name, layers)
        assert layer is None or layers.index(layer) <= layers.index(own), (
            f"{module_of(path)} may not import {name} when it is loaded: {layer} is above {own}"
        )


def test_only_the_cuda_backend_knows_pycuda():
    for path in BURN.rglob("*.py"):
        if "backend/cuda" not in path.as_posix():
            assert not any(name.split(".")[0] == "pycuda" for name in imports_of(path, everywhere=True)), path


def test_only_one_header_knows_openmp():
    users = [
        path.name
        for path in files(*COMPILED)
        if re.search(r"\bomp\.h|\bopenmp\b.*cimport|#pragma omp", path.read_text())
    ]
    assert users == ["_openmp.h"]


def test_kernels_include_no_python_header_of_numpy():
    for path in files(*COMPILED):
        assert not re.search(r"cimport numpy|numpy/arrayobject", path.read_text()), path


def test_no_flag_changes_floating_point():
    text = (ROOT / "setup.py").read_text().replace("No -ffast-math", "")
    assert not re.search(r"-ffast-math|-Ofast|-funsafe|-ffinite|-fassociative|-march=native", text)


@pytest.mark.parametrize("path", files(".py", *COMPILED, ".cu", ".cuh"), ids=lambda path: str(path.relative_to(ROOT)))
def test_files_are_short(path):
    lines = path.read_text().splitlines()
    assert len(lines) <= MAX_LINES
    wide = [number for number, line in enumerate(lines, 1) if len(line) > MAX_WIDTH]
    assert not wide, f"lines wider than {MAX_WIDTH}: {wide}"


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("folder", ["burn/_ops", "burn/backend/ndarray"])
def test_family_has_a_file_everywhere(family, folder):
    assert (ROOT / folder / f"{family}.py").exists()


# Ops that only give another view of their input, or that call other ops: no kernel of their own.
WITHOUT_KERNEL = {
    "cat", "expand", "fft_step", "linalg_step", "pad", "permute", "reshape", "roll", "scatter_step", "slice", "slice_assign",
    "to_device", "unfold",
}  # fmt: skip


class Row(ctypes.Structure):
    """burn_row of abi.h."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("dtype", ctypes.c_int32),
        ("flags", ctypes.c_int32),
        ("cost", ctypes.c_float),
        ("fn", ctypes.c_void_p),
    )


class Table(ctypes.Structure):
    """burn_table of abi.h."""

    _fields_ = (
        ("family", ctypes.c_char_p),
        ("level", ctypes.c_char_p),
        ("n", ctypes.c_int32),
        ("rows", ctypes.POINTER(Row)),
        ("stride", ctypes.c_int32),
        ("init", ctypes.c_void_p),
    )


def table_of(level, family):
    """The kernel table of a family at a level."""
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    capsule = importlib.import_module(f"burn._core._{level}.{family}").table
    return Table.from_address(pointer(capsule, b"burn.kernels"))


def rows_of(level, family):
    """(kernel name, dtype code) of each row of a table."""
    table = table_of(level, family)
    return [(table.rows[k].name.decode(), table.rows[k].dtype) for k in range(table.n)]


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("level", available_levels())
def test_table_is_sound(level, family):
    table = table_of(level, family)
    assert (table.family.decode(), table.level.decode()) == (family, level)
    rows = rows_of(level, family)
    assert len(set(rows)) == len(rows), "a kernel stands twice in the table"
    assert all(table.rows[k].fn and table.rows[k].cost > 0 for k in range(table.n))
    assert rows == rows_of(available_levels()[0], family), "levels differ"


@pytest.mark.parametrize("family", FAMILIES)
def test_kernels_and_ops_match(family):
    """Each op has its kernel in the compiled backend and in the NumPy one; no kernel is without an op."""
    kernels = {name for name, _ in rows_of(available_levels()[0], family)}
    wanted = {op.kernel for op in OPS.values() if op.family == family} - WITHOUT_KERNEL
    assert kernels == wanted
    assert wanted <= set(KERNELS)


def test_ndarray_has_no_kernel_without_an_op():
    assert set(KERNELS) <= {op.kernel for op in OPS.values()}


def test_every_op_is_of_a_known_family():
    assert {op.family for op in OPS.values()} == set(FAMILIES)


# CUDA: the kernels are text, so all of this holds without a GPU.


@pytest.mark.parametrize("family", FAMILIES)
def test_cuda_has_the_kernels_of_the_cpu(family):
    """Each kernel of the CPU for each dtype is announced in cuda/<family>.cu or stands in the list of what CUDA lacks."""
    cpu = set(rows_of(available_levels()[0], family))
    cuda = set(source.rows(family))
    lacking = {(name, dtype) for name, dtype in cpu if name in LACKS}
    assert cuda - cpu == set(), "CUDA takes dtypes that the CPU refuses"
    assert cpu - cuda == lacking, "neither in cuda/ nor in LACKS"
    assert not set(LACKS) & {name for name, _ in cuda}, "LACKS names a kernel that is there"


def test_numbers_that_c_and_python_share_are_equal():
    from burn.backend import cuda
    from burn.backend.cuda import errors

    text = (BURN / "backend/cuda/device.h").read_text() + (BURN / "backend/cuda/driver.h").read_text()
    for name, value in {
        "CUDA_FIRST_SLOT": cuda.FIRST_SLOT, "CUDA_REFUSED": errors.REFUSED, "CUDA_TOO_LARGE": errors.TOO_LARGE,
        "CUDA_OUT_OF_MEMORY": errors.OUT_OF_MEMORY,
    }.items():  # fmt: skip
        assert int(re.search(rf"\b{name}\b\s*=?\s*\(?(-?\d+)", text)[1]) == value, name


def parameters(text):
    """(type, name) of each parameter of a C parameter list."""
    found = []
    for part in re.sub(r"<[^<>]*>", "", text.replace("\\", " ")).split(","):
        name = re.search(r"(\w+)\s*$", part)
        if name:
            found.append((part[: name.start()].strip(), name[1]))
    return found


def cuda_kernels(family):
    """(name, parameters) of each kernel written out in a .cu file and the files that it includes."""
    text = source.expanded(f"{family}.cu")
    for match in re.finditer(r"^ *KERNEL\(([\w#]+), \w+,[\s\\]*\(", text, re.M):
        depth, end = 1, match.end()
        while depth:
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            end += 1
        yield match[1], parameters(text[match.end() : end - 1])


def cpu_order(family):
    """For each adapter of a kernel module: its op, and the names of its results, operands and numbers in order."""
    text = (BURN / "_core" / f"{family}.pyx").read_text()
    externs = {
        name: [n for kind, n in parameters(listed) if "*" not in kind]
        for name, listed in re.findall(r"^    int (\w+)\((.*?)\)(?: noexcept)?$", text, re.M | re.S)
    }
    operand = r"const burn_buf \*(\w+)"
    adapter = rf"cdef int (\w+?)(?:_fwd)?\({operand}, {operand}, .*?noexcept nogil:\n(.*?)(?=\ncdef|\n\n\n)"
    for op, out, ins, body in re.findall(adapter, text, re.S):
        called = [name for name in re.findall(r"(\w+)\(", body) if name in externs]
        yield op, [out, *ins.split("_"), *(externs[called[0]] if called else [])]


HOW_STORED = {"size", "wide"}  # of an element and of an index
# A CUDA kernel gets what the CPU's works out from these itself.
WORKED_OUT = {"high": ("range", "top"), "p": ("threshold",)}


@pytest.mark.parametrize("family", [f for f in source.families() if f != "elementwise"])
def test_cuda_parameters_come_in_the_order_of_the_cpu(family):
    """Results first, then operands, then numbers; the names that both have in the same order."""
    order = dict(cpu_order(family))
    seen = 0
    for name, listed in cuda_kernels(family):
        if "__VA_ARGS__" in {n for _, n in listed}:
            continue  # a macro's list: each use of it is one line below
        kinds = ["out" if "*" in t and "const" not in t and "Error" not in t else "in" if "*" in t or "In" in t else "number"
                 for t, _ in listed if "Error" not in t]  # fmt: skip
        assert kinds[0] == "out", name
        ops = [op for op in order if name.startswith(op)]
        if ops:
            words = [word for word in order[max(ops, key=len)] if word not in HOW_STORED]
            wanted = [n for word in words for n in (word, *WORKED_OUT.get(word, ()))]
            shared = [n for _, n in listed if n in wanted]
            assert shared == [n for n in wanted if n in shared], (name, shared, wanted)
            seen += 1
    # the kernels of these are macros over the op's name
    assert seen or family in ("reduce", "scan", "softmax", "sort"), "no kernel was recognised"
