"""pytest-benchmark over the cases of interpolate."""

import pytest

from benchmarks.cases import of_family


@pytest.mark.parametrize("case", of_family("interpolate"), ids=lambda case: case.name)
def bench_interpolate(run, case):
    run(case)
