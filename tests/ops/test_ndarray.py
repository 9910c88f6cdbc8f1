"""How kernels of the reference backend report values that they cannot use."""

import numpy as np
import pytest

from burn.backend.contract import INDEX, SHIFT, ZERO_DIV, KernelError
from burn.backend.ndarray import KERNELS


@pytest.mark.parametrize(
    ("name", "inputs", "ints", "facts"),
    [
        ("div", ([4, 2, 1], [1, 0, 0]), (), (ZERO_DIV, 1, 0, 0)),
        ("remainder", ([4, 2, 1], [1, 3, 0]), (), (ZERO_DIV, 2, 0, 0)),
        ("bitwise_left_shift", ([4, 2, 1], [1, 3, -5]), (), (SHIFT, 2, -5, 0)),
        ("gather", ([4, 2, 1], [0, 3, -1]), (1, 3, 1, 3), (INDEX, 1, 3, 3)),
        ("select", ([4, 2, 1], [0, -2, 9]), (1, 3, 1, 3), (INDEX, 1, -2, 3)),
        ("scatter", ([4, 2, 1], [0, 3, -1]), (1, 3, 1, 3, 1), (INDEX, 1, 3, 3)),
        ("select_assign", ([4, 2, 1], [2, 3, -1]), (1, 3, 1, 3, 0), (INDEX, 1, 3, 3)),
    ],
)
def test_values_that_cannot_be_used(name, inputs, ints, facts):
    """The code, the flat position and the value are reported, and nothing is written."""
    out = np.array([7, 8, 9])
    with pytest.raises(KernelError) as caught:
        KERNELS[name]([out], [np.array(x) for x in inputs], ints, ())
    error = caught.value
    assert (error.code, error.position, error.value, error.size) == facts
    np.testing.assert_array_equal(out, [7, 8, 9])
