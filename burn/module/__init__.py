"""Modules and their parameters.

`base` has the Module, `declared` its fields as annotated, `param` the parameter, `reparameterization` what can be
attached to one (`lora`, `weight_norm`); `walk` goes over the parts, `visitor` is what users go over them with,
`display` prints them. Mirrors `burn::module`.
"""

from burn._hints import lacking as _lacking
from burn.tensor._calls import teach_constructors as _teach_constructors

from .base import FrozenModuleError, Module
from .display import ONE_LINE, Content, DisplaySettings
from .field import field
from .flag import Flag
from .group import ParamGroup, ParamGroupError
from .lora import Lora, LoraAdapter
from .param import Param
from .param_id import ParamId
from .reparameterization import Reparameterization, Reparameterizer
from .running import RunningState
from .variant import EnumModule
from .visitor import ModuleMapper, ModuleVisitor, PathTracking, list_param_ids
from .weight_norm import WeightNorm, WeightNormalization

__all__ = [
    "ONE_LINE",
    "Content",
    "DisplaySettings",
    "EnumModule",
    "Flag",
    "FrozenModuleError",
    "Lora",
    "LoraAdapter",
    "Module",
    "ModuleMapper",
    "ModuleVisitor",
    "Param",
    "ParamGroup",
    "ParamGroupError",
    "ParamId",
    "PathTracking",
    "Reparameterization",
    "Reparameterizer",
    "RunningState",
    "WeightNorm",
    "WeightNormalization",
    "field",
    "list_param_ids",
]

_teach_constructors(globals())


def __getattr__(name):
    raise _lacking("burn.module", name)
