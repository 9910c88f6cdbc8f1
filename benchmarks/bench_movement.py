"""pytest-benchmark over the cases of movement."""

import pytest

from benchmarks.cases import of_family


@pytest.mark.parametrize("case", of_family("movement"), ids=lambda case: case.name)
def bench_movement(run, case):
    run(case)
