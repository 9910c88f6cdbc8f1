"""pytest-benchmark over the cases of recurrent layers."""

import pytest

from benchmarks.cases import of_family


@pytest.mark.parametrize("case", of_family("rnn"), ids=lambda case: case.name)
def bench_rnn(run, case):
    run(case)
