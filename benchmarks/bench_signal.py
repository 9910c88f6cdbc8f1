"""pytest-benchmark over the cases of burn.signal."""

import pytest

from benchmarks.cases import of_family


@pytest.mark.parametrize("case", of_family("signal"), ids=lambda case: case.name)
def bench_signal(run, case):
    run(case)
