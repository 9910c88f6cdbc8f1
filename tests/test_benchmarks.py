"""Every benchmark case runs, at tiny sizes, so that the benchmarks cannot rot."""

import json
import subprocess
import sys

import numpy as np
import pytest

from benchmarks import bench_store, cases, compare, contenders, machine, module_costs, timing

TINY = 16


@pytest.fixture(scope="module")
def burn():
    return contenders.contender("burn")


@pytest.mark.parametrize("case", cases.CASES, ids=lambda case: case.name)
def test_case_runs(case, burn):
    case.function(burn, TINY)()


@pytest.mark.parametrize(
    "case",
    [case for case in cases.CASES if case.numpy and case.family != "random"],
    ids=lambda case: case.name,
)
def test_case_means_the_same_for_numpy(case, burn):
    ours = eval(case.burn, case.names(burn, TINY)).numpy()
    theirs = eval(case.numpy, case.names(contenders.contender("numpy"), TINY))
    np.testing.assert_allclose(ours.ravel(), np.ravel(theirs), rtol=1e-5, atol=1e-5)


def test_inputs_keep_their_dtype(burn):
    for case in cases.CASES:
        names = case.names(burn, TINY)
        for letter, arg in zip("abc", case.args, strict=False):
            assert names[letter].numpy().dtype == (arg.dtype or burn.index_dtype), case.name


def test_names_are_unique():
    names = [case.name for case in cases.CASES]
    assert len(set(names)) == len(names)


def test_each_family_has_a_file(root):
    for family in cases.FAMILIES:
        assert (root / f"benchmarks/bench_{family}.py").exists()


def test_timing_takes_the_time_it_is_given(burn):
    timed = timing.Timed(cases.CASES[0], burn, TINY)
    assert 0 < timed.median(0.002) < 0.01


def test_comparison_end_to_end(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(contenders, "installed", lambda: ["burn", "numpy"])
    path = tmp_path / "results.json"
    assert compare.main(["--tiny", "--cases", "add 8,training", "--json", str(path)]) == 0
    printed = capsys.readouterr().out
    assert "add 8" in printed and "floor: " in printed and "geometric mean of numpy time" in printed
    results = json.loads(path.read_text())
    assert results["cases"][0]["seconds"]["burn"] > 0
    assert not any(case["errors"] for case in results["cases"])


@pytest.mark.parametrize("case", [(), ("ctc_loss and gradient 150×32×40, 30 labels",)], ids=["training", "case"])
def test_memory_of_a_step(case, root):
    """One number of bytes, below what all intermediate values of the step together would take."""
    command = [sys.executable, "-m", "benchmarks.memory_growth", "burn", "2", "2", *case]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    assert 0 < int(done.stdout) < 30e6


def test_unknown_case_is_named(capsys):
    assert compare.main(["--cases", "nothing-has-this-name"]) == 2
    assert "nothing-has-this-name" in capsys.readouterr().out


@pytest.mark.parametrize(
    "ratios, target, word",
    [([1.3, 1.2, 1.4], 1.2, "ok"), ([1.0, 1.1, 1.05], 1.2, "below"), ([2.0], None, "")],
)
def test_verdict(ratios, target, word):
    row = compare.Row(cases.CASES[0], target, {"burn": 1.0, "torch": 1.0}, {"torch": ratios})
    assert compare.judge(row, {}) == word


def test_verdict_near_the_floor():
    case = next(case for case in cases.CASES if case.memory)
    seconds = case.memory / 1e10
    row = compare.Row(case, 1.3, {"burn": seconds, "torch": seconds * 0.95}, {"torch": [0.95]})
    assert compare.judge(row, {case.limit: 10.6e9}) == "ok: both at the floor"
    assert compare.judge(row, {case.limit: 20e9}) == "below"
    assert row.share({case.limit: 20e9}) == pytest.approx(0.5) and row.share({}) is None


def test_each_limit_has_a_yardstick():
    by_name = {case.name: case for case in cases.CASES}
    assert {by_name[name].limit for name in cases.YARDSTICKS.values()} == set(cases.YARDSTICKS)
    assert {case.limit for case in cases.CASES if case.limit} <= set(cases.YARDSTICKS)


def test_costs_of_modules(capsys, tmp_path):
    module_costs.main(0.01, str(tmp_path))
    printed = capsys.readouterr().out
    assert "visit 10000 parameters" in printed and "burn: load_file" in printed and not list(tmp_path.iterdir())


def test_machine_is_described():
    name, avx512 = machine.cpu()
    assert name and isinstance(avx512, bool)
    assert 0.0 <= machine.busy(0.01) <= 1.0


def test_stores_end_to_end(capsys):
    bench_store.main(megabytes=5, rounds=1)
    assert "safetensors load" in capsys.readouterr().out
