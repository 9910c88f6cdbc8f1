"""pytest-benchmark over the cases of attention."""

import pytest

from benchmarks.cases import of_family


@pytest.mark.parametrize("case", of_family("attention"), ids=lambda case: case.name)
def bench_attention(run, case):
    run(case)
