"""Targets that are 1 or -1."""

import numpy as np

from burn.errors import ArgumentError
from burn.tensor import Tensor


def check_signs(loss: str, target: Tensor) -> Tensor:
    """Where the targets are 1; raises unless all others are -1, naming the first that is not."""
    target = target.inner()
    positive = target.equal_scalar(1)
    if not positive.bool_or(target.equal_scalar(-1)).all().item():
        values = target.float().cast("f64").numpy()
        place = np.argwhere(np.abs(values) != 1)[0]
        raise ArgumentError(
            f"[{loss}] 'target' must be 1 or -1, got {values[tuple(place)]:g} at position {place.tolist()}"
        )
    return positive
