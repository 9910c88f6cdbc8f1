"""Runs one case under pytest-benchmark, for each contender that is installed."""

import functools

import pytest

from benchmarks import contenders

cached = functools.cache(contenders.contender)


@pytest.fixture(params=contenders.installed())
def run(request, benchmark):
    """A function that times a case; cases that the contender does not take part in are skipped."""

    def time(case):
        if not case.statement(request.param):
            pytest.skip(f"{request.param} has no such case")
        benchmark.group = case.name
        benchmark(case.function(cached(request.param)))

    return time
