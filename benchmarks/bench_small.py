"""pytest-benchmark over single operations on 8 elements."""

import pytest

from benchmarks.cases import of_family


@pytest.mark.parametrize("case", of_family("small"), ids=lambda case: case.name)
def bench_small(run, case):
    run(case)
