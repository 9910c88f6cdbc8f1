"""pytest-benchmark over modules and their files; `benchmarks.module_costs` prints the table with limits and peers."""

import pytest

from benchmarks import module_costs
from burn.store import ModuleRecord


@pytest.fixture(scope="module")
def model():
    return module_costs.initialised(25)


def bench_visit_10000_parameters(benchmark):
    many = module_costs.Many(5000)
    benchmark(lambda: many.visit(module_costs.Count()))


def bench_build_and_initialise_25_million(benchmark):
    benchmark(lambda: module_costs.initialised(25))


def bench_save_file(benchmark, model, tmp_path):
    benchmark(lambda: model.save_file(tmp_path / "model"))


def bench_load_file(benchmark, model, tmp_path):
    model.save_file(tmp_path / "model")
    benchmark(lambda: model.load_file(tmp_path / "model"))


def bench_load_bytes(benchmark, model):
    data = model.into_record().into_bytes()
    benchmark(lambda: model.load_record(ModuleRecord.from_bytes(data)))
