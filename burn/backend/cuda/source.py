"""The text of the kernels: where it is, what it offers, and one module's worth of it."""

import functools
import re
from pathlib import Path

from burn.tensor.dtype import DType

__all__ = ["dtypes_of", "families", "folder", "ops", "rows", "text"]

# The words by which a line of a .cu file says for which dtypes its op has a kernel.
ALL = [DType.of_code(code) for code in range(14)]
DTYPES = {
    "FLOAT": [d for d in ALL if d.is_float],
    "REAL": [DType.F64, DType.F32, DType.Flex32],
    "INT": [d for d in ALL if d.is_int or d.is_uint],
    "BOOL": [DType.Bool],
    "ANY": ALL,
}
DTYPES["NUMERIC"] = DTYPES["FLOAT"] + DTYPES["INT"]
DTYPES["PRODUCT"] = DTYPES["FLOAT"] + [DType.I64, DType.I32, DType.U64, DType.U32]

# How an op is announced: `OP(sum, NUMERIC)`, or a macro of the file that makes its kernels too.
ANNOUNCED = re.compile(
    r"^(?:OP|UNARY|BINARY|TERNARY|GRADIENT|COMPARE|TEST|BITS|NUMBERED2?|NUMBERED_GRADIENT2?)\((\w+), (\w+)[,)]", re.M
)
INCLUDE = re.compile(r'^#include "([\w.]+)"$', re.M)


@functools.cache
def folder():
    """Where the `.cu` files are: data of the installed package, or the folder `cuda` of a checkout."""
    installed = Path(__file__).parent / "kernels"
    return installed if installed.is_dir() else Path(__file__).parents[3] / "cuda"


def families():
    """Families that have kernels."""
    return sorted(path.stem for path in folder().glob("*.cu"))


@functools.cache
def expanded(name):
    """A file with its includes in place, each once, and marks by which compilers name the true file and line."""
    seen = set()

    def expand(name):
        if name in seen:
            return ""
        seen.add(name)
        out = [f'#line 1 "cuda/{name}"']
        for number, line in enumerate((folder() / name).read_text().splitlines(), 1):
            found = INCLUDE.match(line)
            if found:
                out += [expand(found[1]), f'#line {number + 1} "cuda/{name}"']
            elif line.strip() != "#pragma once":
                out.append(line)
        return "\n".join(out)

    return expand(name)


@functools.cache
def ops(family):
    """{kernel name of an op: its dtypes} as announced in the family's file."""
    path = folder() / f"{family}.cu"
    found = ANNOUNCED.findall(expanded(path.name)) if path.exists() else []
    dtypes: dict[str, list[DType]] = {}
    for name, word in found:  # an op may be announced once for floats and once for integers
        dtypes[name] = dtypes.get(name, []) + [d for d in DTYPES[word] if d not in dtypes.get(name, [])]
    return dtypes


def rows(family):
    """(kernel name, dtype code) of each kernel of a family."""
    return [(name, dtype.code) for name, dtypes in ops(family).items() for dtype in dtypes]


def dtypes_of(family):
    """The dtypes for which a family has a module."""
    return [d for d in ALL if any(d in dtypes for dtypes in ops(family).values())]


def text(family, code):
    """The source of the module of a family for one dtype."""
    codes = "\n".join(f"#define {c_name(d)} {d.code}" for d in ALL)
    return f"{codes}\n#define DTYPE {c_name(DType.of_code(code))}\n{expanded(family + '.cu')}\n"


def c_name(dtype):
    """Name of a dtype in C: DT_F32, DT_FLEX32."""
    return "DT_" + re.sub(r"(?<=[a-z])(?=[A-Z])", "_", dtype.variant).upper()
