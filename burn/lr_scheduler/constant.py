"""The constant learning rate."""

from __future__ import annotations

from burn._arguments import finite, instance
from burn.errors import RecordValidationError
from burn.lr_scheduler.base import LrScheduler, LrSchedulerRecord


class ConstantLr(LrScheduler):
    """The same rate at every step (Burn: `ConstantLr`); a float stands for it.

    Args:
        lr: the rate.

    Raises:
        ArgumentError: if it is not finite.

    Example:
        >>> ConstantLr(0.1).step()
        0.1
    """

    def __init__(self, lr: float) -> None:
        self.lr = finite("ConstantLr", "lr", lr)

    def step(self) -> float:
        return self.lr

    def to_record(self) -> LrSchedulerRecord:
        return LrSchedulerRecord()

    def load_record(self, record: LrSchedulerRecord) -> ConstantLr:
        instance("load_record", "record", record, LrSchedulerRecord, "read one with LrSchedulerRecord.load(path)")
        if not record.is_empty():
            raise RecordValidationError(
                f"[load_record] the record of a constant rate must be empty, got {', '.join(record.scalars)}; load it into the "
                "scheduler that wrote it"
            )
        return self
