"""Compares burn with the peers that are installed, each in a process of its own, all asked in turns.

    python -m benchmarks.compare [--cases add,softmax] [--rounds 7] [--quick]

Every contender gets the same number of threads and is warm before it is timed. In a round each contender answers once
with a median over about 50 ms; the ratio is the median of the rounds' ratios, so that a slow spell of the machine hits
both sides. `floor` is the share of the machine's limit that burn reaches: the bytes or operations of the case at the
rates of the yardsticks, which are measured first, over burn's time. The last lines give the geometric mean and every case
below its target.
"""

import argparse
import json
import math
import os
import platform
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks import cases, contenders, machine
from benchmarks.timing import Worker

SETTLE_SECONDS = 0.02  # threads of the one asked before go to sleep meanwhile
NEAR_FLOOR = 0.85


@dataclass
class Row:
    """What was measured for one case."""

    case: cases.Case
    target: float | None
    seconds: dict[str, float] = field(default_factory=dict)
    ratios: dict[str, list[float]] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)
    disturbed: bool = False

    def ratio(self, peer="torch"):
        """Median of the peer's time over burn's, or None."""
        return statistics.median(self.ratios[peer]) if self.ratios.get(peer) else None

    def rate(self, name):
        """Giga-units a second that a contender reached: bytes or operations; 0 where the case counts none."""
        return (self.case.memory or self.case.flops) / self.seconds[name] / 1e9 if name in self.seconds else 0.0

    def share(self, rates, name="burn"):
        """Share of the floor that a contender reaches, or None."""
        floor = self.case.floor(rates)
        return floor / self.seconds[name] if floor and name in self.seconds else None


def yardsticks(workers, rounds, seconds):
    """Bytes or operations a second by what limits a case: the best of the contenders."""
    rates = {}
    for limit, name in cases.YARDSTICKS.items():
        row = measure(next(case for case in cases.CASES if case.name == name), workers, rounds, seconds, None)
        rates[limit] = max((1e9 * row.rate(name) for name in row.seconds if name != "numpy"), default=0.0)
    return rates


def measure(case, workers, rounds, seconds, target):
    """Times one case in all workers."""
    row = Row(case, target)
    active = {}
    for name, worker in workers.items():
        if not case.statement(name):
            continue
        answer = worker.ask(do="prepare", case=case.name)
        if "error" in answer:
            row.errors[name] = answer["error"]
        else:
            active[name] = worker
    taken = {name: [] for name in active}
    for turn in range(rounds):
        order = list(active) if turn % 2 == 0 else list(active)[::-1]
        for name in order:
            time.sleep(SETTLE_SECONDS)
            row.disturbed |= not machine.wait_for_quiet()
            answer = active[name].ask(do="time", seconds=seconds)
            if "error" in answer:
                row.errors[name] = answer["error"]
                return row
            taken[name].append(answer["seconds"])
    row.seconds = {name: statistics.median(times) for name, times in taken.items()}
    if "burn" in taken:
        for name in taken:
            row.ratios[name] = [theirs / ours for theirs, ours in zip(taken[name], taken["burn"])]
    return row


def judge(row, rates):
    """One word for the row: whether its target is met."""
    ratio = row.ratio()
    if "burn" in row.errors:
        return "error"
    if row.target is None or ratio is None:
        return ""
    if ratio >= row.target:
        return "ok"
    shares = row.share(rates), row.share(rates, "torch")
    if ratio >= 0.9 and None not in shares and min(shares) >= NEAR_FLOOR:
        return "ok: both at the floor"
    return "below"


def microseconds(seconds):
    """A time for the table."""
    return "" if seconds is None else f"{seconds * 1e6:,.2f}" if seconds < 1e-4 else f"{seconds * 1e6:,.0f}"


def line(row, rates):
    """The row as printed."""
    share = row.share(rates)
    ratio, against_numpy = row.ratio(), row.ratio("numpy")
    spread = f"{min(row.ratios['torch']):.2f}-{max(row.ratios['torch']):.2f}" if ratio else ""
    cells = [
        f"{row.case.name:38}",
        f"{microseconds(row.seconds.get('burn')):>10}",
        f"{microseconds(row.seconds.get('torch')):>10}",
        f"{ratio:7.2f}" if ratio else " " * 7,
        f"{spread:>12}",
        f"{row.target:7g}" if row.target else " " * 7,
        f"{against_numpy:7.2f}" if against_numpy else " " * 7,
        f"{share:6.0%}" if share else " " * 6,
        f"{row.rate('burn'):7.1f} G{unit(row)}" if row.rate("burn") else " " * 12,
    ]
    return " ".join([*cells, judge(row, rates), "(disturbed)" if row.disturbed else ""]).rstrip()


def unit(row):
    """Unit of the row's rate, without the G."""
    return "F/s" if row.case.flops else "B/s"


HEADER = (
    f"{'case':38} {'burn µs':>10} {'torch µs':>10} {'ratio':>7} {'spread':>12} {'target':>7} {'numpy':>7} {'floor':>6} "
    f"{'rate':>11}"
)


def geometric_mean(values):
    """Geometric mean; None of nothing."""
    return math.exp(statistics.fmean(math.log(value) for value in values)) if values else None


def memory_growth(pythons, threads, steps):
    """Bytes by which 100 training steps raise the peak memory, for burn and for torch."""
    grown = {}
    for name in ("burn", "torch"):
        if name in pythons:
            command = [pythons[name], "-m", "benchmarks.memory_growth", name, str(threads), str(steps)]
            done = subprocess.run(command, capture_output=True, text=True)
            grown[name] = int(done.stdout) if done.returncode == 0 else None
            if done.returncode:
                print(done.stderr.strip().rsplit("\n", 1)[-1], file=sys.stderr)
    return grown


def arguments(argv):
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0], prog="python -m benchmarks.compare")
    parser.add_argument(
        "--cases", default="", metavar="WORDS", help="only cases whose name has one of these, or of these families"
    )
    parser.add_argument("--rounds", type=int, default=7, help="paired rounds a case (7)")
    parser.add_argument("--milliseconds", type=float, default=50, help="time a contender gets in a round (50)")
    parser.add_argument("--threads", type=int, default=contenders.usable_threads(), help="threads of each contender")
    parser.add_argument("--quick", action="store_true", help="3 rounds of 15 ms: a first look, not for claims")
    parser.add_argument("--tiny", action="store_true", help="axes of at most 16: tests the benchmark itself")
    parser.add_argument("--peer-python", metavar="PATH", help="interpreter that has torch, where this one has not")
    parser.add_argument("--json", type=Path, default=Path("benchmarks/results/latest.json"), help="where results go")
    options = parser.parse_args(argv)
    if options.quick or options.tiny:
        options.rounds, options.milliseconds = (3, 15) if options.quick else (1, 1)
    return options


def start(options):
    """A worker for each contender, and the interpreter that each runs in."""
    pythons = dict.fromkeys(contenders.installed(), sys.executable)
    if options.peer_python:
        pythons["torch"] = options.peer_python
    # Tensors without a device are made on the processor, on a machine with a GPU too.
    env = dict(os.environ, OMP_NUM_THREADS=str(options.threads), BURN_DEVICE="flex")
    limit = 16 if options.tiny else 1 << 30
    workers = {name: Worker(name, path, options.threads, limit, env) for name, path in pythons.items()}
    return pythons, workers


def main(argv=None):
    """Runs the comparison and prints it; returns the exit status."""
    options = arguments(argv)
    chosen = cases.matching(options.cases)
    if not chosen:
        print(f"no case has {options.cases!r} in its name; families: {', '.join(cases.FAMILIES)}")
        return 2
    pythons, workers = start(options)
    cpu, avx512 = machine.cpu()
    share = machine.wait_until_idle() if not options.tiny else 0.0
    names = ", ".join(f"{name} {worker.version}" for name, worker in workers.items())
    print(
        f"{cpu}{' (AVX-512)' if avx512 else ''}, {options.threads} threads, Python {platform.python_version()}; {names}"
    )
    if "torch" not in workers:
        print(
            "torch is not installed: no ratios (install it beside burn, or name another interpreter by --peer-python)"
        )
    if share > 0.1:
        print(f"warning: {share:.0%} of the machine is busy with other work; do not trust small differences")
    rates = yardsticks(workers, min(options.rounds, 3), options.milliseconds / 1e3)
    print("floor: " + ", ".join(f"{rate / 1e9:.1f} G {limit} a second" for limit, rate in rates.items() if rate))
    print(f"\n{HEADER}\n{'-' * len(HEADER)}")
    rows = []
    for case in chosen:
        row = measure(case, workers, options.rounds, options.milliseconds / 1e3, case.target(avx512))
        rows.append(row)
        print(line(row, rates), *row.errors.items(), flush=True)
    for worker in workers.values():
        worker.close()
    growth = {}
    if not options.cases:
        growth = memory_growth(pythons, options.threads, 3 if options.tiny else 100)
    report(rows, rates, growth)
    options.json.parent.mkdir(parents=True, exist_ok=True)
    document = {
        "cpu": cpu,
        "avx512": avx512,
        "threads": options.threads,
        "versions": {name: worker.version for name, worker in workers.items()},
        "busy": share,
        "geometric_mean": geometric_mean([row.ratio() for row in rows if row.ratio()]),
        "memory_growth": growth,
        "rates": rates,
        "cases": [
            {
                "name": row.case.name,
                "seconds": row.seconds,
                "ratio": row.ratio(),
                "ratios": row.ratios.get("torch", []),
                "target": row.target,
                "floor": row.case.floor(rates),
                "verdict": judge(row, rates),
                "disturbed": row.disturbed,
                "errors": row.errors,
            }
            for row in rows
        ],
    }
    options.json.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n")
    print(f"written to {options.json}")
    return 1 if any(row.errors for row in rows) else 0


def report(rows, rates, growth):
    """Prints what follows the table."""
    print()
    for peer in ("torch", "numpy"):
        mean = geometric_mean([row.ratio(peer) for row in rows if row.ratio(peer)])
        if mean:
            print(f"geometric mean of {peer} time / burn time: {mean:.2f}")
    disturbed = sum(row.disturbed for row in rows)
    if disturbed:
        print(f"warning: other work ran beside {disturbed} of {len(rows)} cases; their numbers are doubtful")
    if growth:
        sizes = ", ".join(
            f"{name} {'failed' if size is None else f'{size / 1e6:.1f} MB'}" for name, size in growth.items()
        )
        ours, theirs = growth.get("burn"), growth.get("torch")
        word = "" if ours is None or theirs is None else " (ok)" if ours <= theirs else " (more than torch)"
        print(f"growth of peak memory in the training steps: {sizes}{word}")
    for row in rows:
        word = judge(row, rates)
        if word in ("below", "ok: both at the floor"):
            shares = [row.share(rates, name) for name in ("burn", "torch")]
            floor = "" if None in shares else "; burn {:.0%}, torch {:.0%} of the floor".format(*shares)
            print(f"{word}: {row.case.name}: {row.ratio():.2f} of {row.target:g}{floor}")
    ours = {row.case.name: row.seconds["burn"] for row in rows if "burn" in row.seconds}
    for name, base, times in [(row.case.name, *row.case.within) for row in rows if row.case.within]:
        if name in ours and base in ours:
            share = ours[name] / ours[base]
            print(f"{'ok' if share <= times else 'above'}: {name}: {share:.2f} times {base}, may be {times:g}")


if __name__ == "__main__":
    sys.exit(main())
