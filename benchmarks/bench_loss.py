"""pytest-benchmark over the cases of losses."""

import pytest

from benchmarks.cases import of_family


@pytest.mark.parametrize("case", of_family("loss"), ids=lambda case: case.name)
def bench_loss(run, case):
    run(case)
