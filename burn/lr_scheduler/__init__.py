"""Learning rates that follow a schedule (Burn: `burn::lr_scheduler`)."""

from burn._hints import teaching as _teaching
from burn.lr_scheduler import constant, module_lr_scheduler
from burn.lr_scheduler.base import LrScheduler, LrSchedulerRecord
from burn.lr_scheduler.constant import ConstantLr
from burn.lr_scheduler.module_lr_scheduler import ModuleLearningRate, ModuleLrScheduler
from burn.tensor._calls import teach_constructors as _teach_constructors

__all__ = [
    "ConstantLr",
    "LrScheduler",
    "LrSchedulerRecord",
    "ModuleLearningRate",
    "ModuleLrScheduler",
    "constant",
    "module_lr_scheduler",
]

__getattr__ = _teaching("burn.lr_scheduler")
_teach_constructors(globals(), methods=True)
