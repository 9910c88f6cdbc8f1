"""pytest-benchmark over the cases of random."""

import pytest

from benchmarks.cases import of_family


@pytest.mark.parametrize("case", of_family("random"), ids=lambda case: case.name)
def bench_random(run, case):
    run(case)
