"""Optimizers, the containers of gradients, and the records of optimizer states (Burn: `burn::optim`)."""

from burn._hints import teaching as _teaching
from burn.optim import decay, momentum
from burn.optim.adam import Adam, AdamConfig, AdamState
from burn.optim.adamw import AdamW, AdamWConfig
from burn.optim.base import Optimizer
from burn.optim.grad_accum import GradientsAccumulator
from burn.optim.grads import GradientsParams
from burn.optim.module_optimizer import ModuleOptimizer
from burn.optim.record import OptimizerRecord
from burn.optim.sgd import Sgd, SgdConfig, SgdState
from burn.tensor._calls import teach_constructors as _teach_constructors

__all__ = [
    "Adam",
    "AdamConfig",
    "AdamState",
    "AdamW",
    "AdamWConfig",
    "GradientsAccumulator",
    "GradientsParams",
    "ModuleOptimizer",
    "Optimizer",
    "OptimizerRecord",
    "Sgd",
    "SgdConfig",
    "SgdState",
    "decay",
    "momentum",
]

__getattr__ = _teaching("burn.optim")
_teach_constructors(globals(), methods=True)
