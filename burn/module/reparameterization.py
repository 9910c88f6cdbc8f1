"""Parameters whose tensors are computed from what is stored: LoRA, weight norm, and what users make of it."""

import abc
from typing import Any, ClassVar

from burn._arguments import instance, shown
from burn.errors import ArgumentTypeError, ModuleError
from burn.tensor import Tensor

from .base import Module
from .param import Param
from .running import RunningState
from .visitor import ModuleMapper, PathTracking
from .walk import check_places, parts


class Reparameterization(Module):
    """What is attached to a parameter and makes its tensor out of the stored one.

    It is a module: its parameters are visited, recorded, moved and trained, at paths such as ``weight.lora.a``.
    `Param.val()` asks it each time, `Param.base()` is what is stored. Mirrors `burn::module::Reparameterization`.

    >>> from burn.module import ParamGroup, Reparameterization, Reparameterizer
    >>> class Shift(Reparameterization):
    ...     NAME = "shift"
    ...     def __init__(self, by):
    ...         self.by = by
    ...     def apply(self, base):
    ...         return base + self.by.val()
    >>> class Shifting(Reparameterizer):
    ...     def reparameterize(self, path, param):
    ...         return param, Shift(Param.from_data([10.0])) if path == "bias" else None
    >>> model = burn.nn.LinearConfig(2, 1).init().apply_reparameterization(Shifting())
    >>> model.into_record().paths()
    ['weight', 'bias', 'bias.shift.by']
    """

    NAME: ClassVar[str] = ""
    """The name in paths, between the parameter's own and the names of the fields."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        name = cls.NAME
        if not isinstance(name, str) or not name or "." in name:
            raise ModuleError(
                f"[{cls.__name__}] 'NAME' must be a text without a dot, got {shown(name)}: it stands in the paths of parameters"
            )

    @abc.abstractmethod
    def apply(self, base: Tensor) -> Tensor:  # type: ignore[override]
        """The tensor of the parameter.

        Args:
            base: the stored tensor.

        Returns:
            A tensor with as many axes.
        """


class Reparameterizer(abc.ABC):
    """Chooses what to attach to each parameter of a module. Mirrors `burn::module::Reparameterizer`.

    >>> class Freeze(Reparameterizer):
    ...     def reparameterize(self, path, param):
    ...         return param.set_require_grad(False), None
    >>> burn.nn.LinearConfig(2, 1).init().apply_reparameterization(Freeze()).bias.is_active()
    False
    """

    @abc.abstractmethod
    def reparameterize(self, path: str, param: Param) -> tuple[Param, Reparameterization | None]:
        """The base of a Float parameter, and what is attached to it.

        Args:
            path: the path of the parameter.
            param: the parameter.

        Returns:
            The parameter to store, and a `Reparameterization` or None.
        """


def reparameterized(module, reparameterizer: Reparameterizer):
    """The module with what a reparameterizer attaches to its parameters."""
    remedy = "use a Lora, or a class of your own"
    instance("apply_reparameterization", "reparameterizer", reparameterizer, Reparameterizer, remedy)
    states = set()
    for path, part in parts(module):
        if type(part) is Param and part._adapter is not None:
            raise ModuleError(
                f"[apply_reparameterization] {path!r} has a {type(part._adapter).__name__} already, and a second one "
                "cannot be attached: fold the first in with materialize()"
            )
        if type(part) is RunningState:
            states.add(part.id)
    changed = module.map(_Attach(reparameterizer, states))
    check_places(changed)
    return changed


class _Attach(PathTracking, ModuleMapper):
    """Asks the reparameterizer about every Float parameter; running statistics are none."""

    def __init__(self, reparameterizer: Reparameterizer, states: set):
        super().__init__()
        self.reparameterizer = reparameterizer
        self.states = states

    def map_float(self, param: Param) -> Param:
        if param.id in self.states:
            return param
        path = self.path()
        answer = self.reparameterizer.reparameterize(path, param)
        if not (
            isinstance(answer, tuple)
            and len(answer) == 2
            and isinstance(answer[0], Param)
            and isinstance(answer[1], Reparameterization | None)
        ):
            raise ArgumentTypeError(
                f"[{type(self.reparameterizer).__name__}.reparameterize] 'param' at {path!r} must give a Param and a "
                f"Reparameterization or None, got {shown(answer)}"
            )
        base, attached = answer
        return base if attached is None else base._adapted(attached)
