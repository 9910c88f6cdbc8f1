"""Modules and their parameters.

`base` has the Module, `param` the parameter; `walk` goes over the parts, `visitor` is what users go over them with,
`display` prints them. Mirrors `burn::module`.
"""

from .base import FrozenModuleError, Module
from .display import ONE_LINE, Content, DisplaySettings
from .field import field
from .flag import Flag
from .group import ParamGroup, ParamGroupError
from .param import Param
from .param_id import ParamId
from .running import RunningState
from .variant import EnumModule
from .visitor import ModuleMapper, ModuleVisitor, PathTracking, list_param_ids

__all__ = [
    "ONE_LINE",
    "Content",
    "DisplaySettings",
    "EnumModule",
    "Flag",
    "FrozenModuleError",
    "Module",
    "ModuleMapper",
    "ModuleVisitor",
    "Param",
    "ParamGroup",
    "ParamGroupError",
    "ParamId",
    "PathTracking",
    "RunningState",
    "field",
    "list_param_ids",
]
