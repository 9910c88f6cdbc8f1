"""pytest-benchmark over the cases of index."""

import pytest

from benchmarks.cases import of_family


@pytest.mark.parametrize("case", of_family("index"), ids=lambda case: case.name)
def bench_index(run, case):
    run(case)
