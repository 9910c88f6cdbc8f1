"""pytest-benchmark over the cases of softmax."""

import pytest

from benchmarks.cases import of_family


@pytest.mark.parametrize("case", of_family("softmax"), ids=lambda case: case.name)
def bench_softmax(run, case):
    run(case)
