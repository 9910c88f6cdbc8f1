"""What type checkers read instead of what runs: `Param` alone is `Param[Tensor]`."""

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from typing_extensions import TypeVar as TypeVarWithDefault

    from burn.tensor import Tensor

    Value = TypeVarWithDefault("Value", default=Tensor)
else:
    Value = TypeVar("Value")
