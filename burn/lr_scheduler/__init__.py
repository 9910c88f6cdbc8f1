"""Learning rates that follow a schedule (Burn: `burn::lr_scheduler`)."""

from burn._waiting import no_name as _no_name
from burn.lr_scheduler import constant, module_lr_scheduler
from burn.lr_scheduler.base import LrScheduler, LrSchedulerRecord
from burn.lr_scheduler.constant import ConstantLr
from burn.lr_scheduler.module_lr_scheduler import ModuleLearningRate, ModuleLrScheduler

__all__ = [
    "ConstantLr",
    "LrScheduler",
    "LrSchedulerRecord",
    "ModuleLearningRate",
    "ModuleLrScheduler",
    "constant",
    "module_lr_scheduler",
]


def __getattr__(name):
    """Names that wait, or that Burn has no longer, say what to use."""
    _no_name(__name__, name)
