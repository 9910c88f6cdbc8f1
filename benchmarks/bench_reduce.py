"""pytest-benchmark over the cases of reduce."""

import pytest

from benchmarks.cases import of_family


@pytest.mark.parametrize("case", of_family("reduce"), ids=lambda case: case.name)
def bench_reduce(run, case):
    run(case)
