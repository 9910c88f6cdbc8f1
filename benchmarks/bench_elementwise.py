"""pytest-benchmark over the cases of elementwise."""

import pytest

from benchmarks.cases import of_family


@pytest.mark.parametrize("case", of_family("elementwise"), ids=lambda case: case.name)
def bench_elementwise(run, case):
    run(case)
