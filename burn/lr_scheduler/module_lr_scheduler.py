"""Learning rates that differ by group of parameters."""

from __future__ import annotations

from typing import NamedTuple

from burn._arguments import finite, fits, instance
from burn.errors import RecordValidationError
from burn.lr_scheduler.base import LrScheduler, LrSchedulerRecord
from burn.lr_scheduler.constant import ConstantLr
from burn.module import ParamGroup, ParamId


class _Rate(NamedTuple):
    group: ParamGroup
    lr: float


class _Group(NamedTuple):
    group: ParamGroup
    scheduler: LrScheduler


class ModuleLearningRate:
    """Learning rate of each parameter of a module in one step (Burn: `ModuleLearningRate`).

    Args:
        lr: the rate of every parameter.

    Example:
        >>> rate = ModuleLearningRate(0.001).with_group(ParamGroup.from_predicate("backbone"), 0.1)
        >>> rate.lr_from_param(ParamId(1), "backbone.weight"), rate.lr_from_param(ParamId(2), "head.weight"), rate.base()
        (0.1, 0.001, 0.001)
    """

    def __init__(self, lr: float) -> None:
        self._rates = [_Rate(ParamGroup.all(), finite("ModuleLearningRate", "lr", lr))]

    def with_group(self, group: ParamGroup, lr: float) -> ModuleLearningRate:
        """Set the rate of a group; a parameter takes the last group it belongs to. Returns this object.

        Args:
            group: which parameters.
            lr: their rate.
        """
        self._rates.append(_Rate(_group(group), finite("with_group", "lr", lr)))
        return self

    def lr_from_param(self, id: ParamId, path: str | None = None) -> float:
        """Rate of a parameter.

        Args:
            id: its id.
            path: its path, if it is known.
        """
        return next(rate.lr for rate in reversed(self._rates) if rate.group.matches(id, path))

    def base(self) -> float:
        """Rate of the parameters in no other group."""
        return self._rates[0].lr


class ModuleLrScheduler:
    """Schedulers of the parameters of a module (Burn: `ModuleLrScheduler`).

    Args:
        scheduler: that of every parameter: a scheduler, or a float for a constant rate.

    >>> scheduler = ModuleLrScheduler(0.01).with_group(ParamGroup.from_predicate("backbone"), 0.001)
    >>> scheduler.step().lr_from_param(ParamId(1), "backbone.weight")
    0.001
    >>> scheduler.load_record(scheduler.to_record()).step().base()
    0.01
    """

    def __init__(self, scheduler: LrScheduler | float) -> None:
        self._groups = [_Group(ParamGroup.all(), _scheduler(scheduler))]

    def with_group(self, group: ParamGroup, scheduler: LrScheduler | float) -> ModuleLrScheduler:
        """Set the scheduler of a group; a parameter takes the last group it belongs to. Returns this object.

        Args:
            group: which parameters.
            scheduler: a scheduler, or a float for a constant rate.
        """
        self._groups.append(_Group(_group(group), _scheduler(scheduler)))
        return self

    def step(self) -> ModuleLearningRate:
        """Advance every scheduler and return the rates to use now."""
        base, *others = self._groups
        rate = ModuleLearningRate(base.scheduler.step())
        for group, scheduler in others:
            rate.with_group(group, scheduler.step())
        return rate

    def to_record(self) -> LrSchedulerRecord:
        """The states of all schedulers, each under its number."""
        record = LrSchedulerRecord()
        for number, group in enumerate(self._groups):
            record.with_record(str(number), group.scheduler.to_record())
        return record

    def load_record(self, record: LrSchedulerRecord) -> ModuleLrScheduler:
        """Set the states of all schedulers; returns this object.

        Args:
            record: what `to_record` gave.

        Raises:
            RecordValidationError: if the record has numbers of no group, or lacks all those of a group whose scheduler has
                some; nothing is then changed.
        """
        instance("load_record", "record", record, LrSchedulerRecord, "read one with LrSchedulerRecord.load(path)")
        parts = [record.record(str(number)) for number in range(len(self._groups))]
        known = {f"{number}.{key}" for number, part in enumerate(parts) for key in part.scalars}
        strange = [key for key in record.scalars if key not in known]
        if strange:
            raise RecordValidationError(
                f"[load_record] the record must have the states of {len(self._groups)} groups, named 0. and up, but has "
                f"{', '.join(map(repr, strange[:3]))}; load it into a scheduler of the same groups, or that of one scheduler "
                "into that scheduler"
            )
        for number, (group, part) in enumerate(zip(self._groups, parts)):
            own = group.scheduler.to_record().scalars
            if part.scalars.keys().isdisjoint(own) and (own or part.scalars):
                raise RecordValidationError(
                    f"[load_record] the record must have the state of group {number}, a {type(group.scheduler).__name__} with "
                    f"{', '.join(own) or 'no numbers'}, but has {', '.join(part.scalars) or 'none'} there; load it into the "
                    "schedulers that wrote it"
                )
        for group, part in zip(self._groups, parts):
            group.scheduler.load_record(part)
        return self


def _scheduler(scheduler: LrScheduler | float) -> LrScheduler:
    if not isinstance(scheduler, LrScheduler) and fits(scheduler, float):
        return ConstantLr(scheduler)
    return instance("ModuleLrScheduler", "scheduler", scheduler, LrScheduler, "a number stands for a constant rate")


def _group(group: ParamGroup) -> ParamGroup:
    return instance("with_group", "group", group, ParamGroup, "use ParamGroup.from_path(...)")
