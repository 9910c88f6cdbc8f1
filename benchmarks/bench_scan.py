"""pytest-benchmark over the cases of scan."""

import pytest

from benchmarks.cases import of_family


@pytest.mark.parametrize("case", of_family("scan"), ids=lambda case: case.name)
def bench_scan(run, case):
    run(case)
