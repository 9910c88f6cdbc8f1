"""pytest-benchmark over the cases of pool."""

import pytest

from benchmarks.cases import of_family


@pytest.mark.parametrize("case", of_family("pool"), ids=lambda case: case.name)
def bench_pool(run, case):
    run(case)
