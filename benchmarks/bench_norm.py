"""pytest-benchmark over the cases of norm."""

import pytest

from benchmarks.cases import of_family


@pytest.mark.parametrize("case", of_family("norm"), ids=lambda case: case.name)
def bench_norm(run, case):
    run(case)
