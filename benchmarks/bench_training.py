"""pytest-benchmark over the cases of training."""

import pytest

from benchmarks.cases import of_family


@pytest.mark.parametrize("case", of_family("training"), ids=lambda case: case.name)
def bench_training(run, case):
    run(case)
