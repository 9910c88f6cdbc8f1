"""Every kernel file is accepted by nvcc, where there is one; no GPU is needed."""

import os
import subprocess

import pytest

from burn.backend.cuda import compile, source
from burn.tensor.dtype import DType

UNITS = [
    (family, dtype)
    for family in source.families()
    for dtype in (DType.F32, DType.I32, DType.Bool)
    if dtype in source.dtypes_of(family)
]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """{unit: finished compiler}, two at a time."""
    nvcc = compile.nvcc()
    if nvcc is None:
        pytest.skip("nvcc is not installed")
    folder, waiting, running, done = tmp_path_factory.mktemp("cuda"), list(UNITS), {}, {}
    while waiting or running:
        while waiting and len(running) < min(2, os.cpu_count()):
            family, dtype = unit = waiting.pop()
            path = folder / f"{family}-{dtype.variant}.cu"
            path.write_text(source.text(family, dtype.code))
            command = [
                nvcc,
                "-cubin",
                *compile.OPTIONS,
                "-arch=sm_80",
                "-Werror=all-warnings",
                "-o",
                path.with_suffix(".cubin"),
                path,
            ]
            running[unit] = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        unit = next(iter(running))
        process = running.pop(unit)
        done[unit] = (process.communicate()[0], process.returncode)
    return done


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: f"{unit[0]}-{unit[1]}")
def test_nvcc_accepts_it(unit, made):
    said, status = made[unit]
    assert status == 0, said
