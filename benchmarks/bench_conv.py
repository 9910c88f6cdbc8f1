"""pytest-benchmark over the cases of convolutions."""

import pytest

from benchmarks.cases import of_family


@pytest.mark.parametrize("case", of_family("conv"), ids=lambda case: case.name)
def bench_conv(run, case):
    run(case)
