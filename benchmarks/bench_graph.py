"""pytest-benchmark over the cases of graph."""

import pytest

from benchmarks.cases import of_family


@pytest.mark.parametrize("case", of_family("graph"), ids=lambda case: case.name)
def bench_graph(run, case):
    run(case)
