import dataclasses

import pytest

from burn.errors import ArgumentTypeError, RecordValidationError
from burn.lr_scheduler import ConstantLr, LrScheduler, LrSchedulerRecord, ModuleLearningRate, ModuleLrScheduler
from burn.module import ParamGroup, ParamId
from burn.store.pack import Scalar
from tests.golden import FOLDER, cases

RECORDS = FOLDER / "lr_scheduler"


class Counting(LrScheduler):
    def __init__(self):
        self.steps = 0

    def step(self):
        self.steps += 1
        return self.steps / 10

    def to_record(self):
        return LrSchedulerRecord().with_scalar("steps", Scalar.UInt(self.steps))

    def load_record(self, record):
        steps = record.scalar("steps", int)
        self.steps = self.steps if steps is None else steps
        return self


def test_constant():
    assert ConstantLr(0.1).load_record(LrSchedulerRecord()).step() == 0.1 and ConstantLr(1).to_record().is_empty()


def test_groups_advance_together():
    scheduler = ModuleLrScheduler(0.5).with_group(ParamGroup.from_predicate("head"), Counting())
    rates = [scheduler.step() for _ in range(2)]
    assert [rate.lr_from_param(ParamId(1), "head.weight") for rate in rates] == [0.1, 0.2]
    assert [rate.lr_from_param(ParamId(1), None) for rate in rates] == [0.5, 0.5] == [rate.base() for rate in rates]
    record = scheduler.to_record()
    assert list(record.scalars) == ["1.steps"] and repr(record) == "LrSchedulerRecord({'1.steps': 2})"
    again = ModuleLrScheduler(0.5).with_group(ParamGroup.from_predicate("head"), Counting()).load_record(record)
    assert again.step().lr_from_param(ParamId(1), "head") == pytest.approx(0.3)


def test_later_groups_win():
    rate = ModuleLearningRate(1.0).with_group(ParamGroup.all(), 2.0).with_group(ParamGroup.from_path("a"), 3.0)
    assert [rate.lr_from_param(ParamId(1), path) for path in ("a", "b")] == [3.0, 2.0]


def test_record_files(tmp_path):
    record = (
        LrSchedulerRecord().with_scalar("big", Scalar.UInt(2**64 - 1)).with_scalar("rate", 0.25).with_scalar("on", True)
    )
    record.save(tmp_path / "scheduler")
    again = LrSchedulerRecord.load(tmp_path / "scheduler.bpk")
    assert (
        again.scalar("big", int) == 2**64 - 1
        and again.scalar("rate", float) == 0.25
        and again.scalar("on", bool) is True
    )
    assert again.scalar("rate", int) is None and again.scalar("none", int) is None
    with pytest.raises(FileNotFoundError):
        LrSchedulerRecord.load(tmp_path / "none")


@pytest.mark.parametrize("case", [c for c in cases("lr_scheduler/lr_scheduler") if c["scheduler"] == "Constant"])
def test_burns_constant(case):
    record = LrSchedulerRecord.load(RECORDS / case["record_after_10"])
    assert record.into_bytes() == (RECORDS / case["record_after_10"]).read_bytes()


@dataclasses.dataclass
class Inner:
    on: bool
    offset: int


@dataclasses.dataclass
class State:
    step: int
    rate: float
    inner: Inner
    limit: int | None = None


def test_records_of_states():
    state = State(2**64 - 1, 0.5, Inner(True, -1))
    record = LrSchedulerRecord.from_bytes(LrSchedulerRecord.from_state(state).into_bytes())
    forms = {name: (scalar.variant, scalar.value) for name, scalar in record.scalars.items()}
    assert forms == {
        "step": ("UInt", 2**64 - 1), "rate": ("Float", 0.5), "inner.on": ("Bool", True), "inner.offset": ("Int", -1)
    }  # fmt: skip
    assert record.into_state(State) == state
    with pytest.raises(
        RecordValidationError, match=r"\[into_state\] the record must have the number 'step' .* it has none"
    ):
        LrSchedulerRecord().into_state(State)
    with pytest.raises(ArgumentTypeError, match=r"\[from_state\] 'state' must be a dataclass, got 3"):
        LrSchedulerRecord.from_state(3)
    with pytest.raises(ArgumentTypeError, match=r"\[into_state\] 'kind' must be a dataclass, got the class int"):
        record.into_state(int)


class Halving(LrScheduler):
    def __init__(self, lr):
        self.lr = 2 * lr

    def step(self):
        self.lr /= 2
        return self.lr

    def to_record(self):
        return LrSchedulerRecord().with_scalar("lr", self.lr)

    def load_record(self, record):
        self.lr = record.scalar("lr", float)
        return self


def test_records_of_others_are_refused_and_change_nothing():
    """What matches nothing would leave a schedule at its start without a word."""
    state = LrSchedulerRecord().with_scalar("lr", 0.5)
    with pytest.raises(RecordValidationError, match=r"constant rate must be empty, got lr; load it into the scheduler"):
        ConstantLr(0.1).load_record(state)
    assert ConstantLr(0.1).load_record(LrSchedulerRecord()).step() == 0.1
    with pytest.raises(ArgumentTypeError, match=r"\[load_record\] 'record'"):
        ConstantLr(0.1).load_record({})

    scheduler = ModuleLrScheduler(Halving(0.4)).with_group(ParamGroup.from_path("a"), 0.1)
    for record, what in [
        (state, r"states of 2 groups, named 0. and up, but has 'lr'"),
        (LrSchedulerRecord().with_record("0", state).with_record("2", state), r"but has '2\.lr'"),
        (
            LrSchedulerRecord().with_record("0", state).with_record("1", state),
            r"group 1, a ConstantLr with no numbers.* has lr",
        ),
        (LrSchedulerRecord(), r"group 0, a Halving with lr, but has none there"),
        (
            LrSchedulerRecord().with_record("0", LrSchedulerRecord().with_scalar("step", 3)),
            r"a Halving with lr, but has step",
        ),
    ]:
        with pytest.raises(RecordValidationError, match=what):
            scheduler.load_record(record)
        assert scheduler.to_record().scalars["0.lr"].value == 0.8
    assert scheduler.load_record(LrSchedulerRecord().with_record("0", state)).step().base() == 0.25
