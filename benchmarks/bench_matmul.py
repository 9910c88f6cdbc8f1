"""pytest-benchmark over the cases of matmul."""

import pytest

from benchmarks.cases import of_family


@pytest.mark.parametrize("case", of_family("matmul"), ids=lambda case: case.name)
def bench_matmul(run, case):
    run(case)
