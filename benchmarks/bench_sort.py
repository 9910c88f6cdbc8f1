"""pytest-benchmark over the cases of sort."""

import pytest

from benchmarks.cases import of_family


@pytest.mark.parametrize("case", of_family("sort"), ids=lambda case: case.name)
def bench_sort(run, case):
    run(case)
