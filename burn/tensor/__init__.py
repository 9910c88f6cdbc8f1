"""Tensors: the data type that everything else is made of. Mirrors `burn::tensor`."""

from burn._hints import lacking as _lacking
from burn.device import Device as Device
from burn.device import DeviceConfig as DeviceConfig
from burn.device import DeviceFilter as DeviceFilter
from burn.device import Devices as Devices
from burn.device import DeviceSettings as DeviceSettings
from burn.device import DeviceType as DeviceType
from burn.device import GradientCheckpointingStrategy as GradientCheckpointingStrategy
from burn.tensor._einsum import einsum as einsum
from burn.tensor._math import DEFAULT_ATOL as DEFAULT_ATOL
from burn.tensor._math import DEFAULT_RTOL as DEFAULT_RTOL
from burn.tensor._options import TensorCreationOptions as TensorCreationOptions
from burn.tensor.checks import assert_shape as assert_shape
from burn.tensor.checks import check_closeness as check_closeness
from burn.tensor.checks import debug_assert_shape as debug_assert_shape
from burn.tensor.compare import Tolerance as Tolerance
from burn.tensor.data import TensorData as TensorData
from burn.tensor.data import TensorDataView as TensorDataView
from burn.tensor.display import PrintOptions as PrintOptions
from burn.tensor.display import set_print_options as set_print_options
from burn.tensor.distribution import Distribution as Distribution
from burn.tensor.dtype import Bool as Bool
from burn.tensor.dtype import BoolDType as BoolDType
from burn.tensor.dtype import BoolStore as BoolStore
from burn.tensor.dtype import DType as DType
from burn.tensor.dtype import Float as Float
from burn.tensor.dtype import FloatDType as FloatDType
from burn.tensor.dtype import Int as Int
from burn.tensor.dtype import IntDType as IntDType
from burn.tensor.dtype import Kind as Kind
from burn.tensor.indexing import IndexingUpdateOp as IndexingUpdateOp
from burn.tensor.indexing import Slice as Slice
from burn.tensor.indexing import s as s
from burn.tensor.pad_mode import PadMode as PadMode
from burn.tensor.shape import Shape as Shape
from burn.tensor.tensor import Tensor as Tensor
from burn.tensor.transaction import Transaction as Transaction

from burn.tensor.grid import GridIndexing as GridIndexing  # isort: skip
from burn.tensor.grid import GridOptions as GridOptions  # isort: skip
from burn.tensor.grid import GridSparsity as GridSparsity  # isort: skip
from burn.tensor.grid import IndexPos as IndexPos  # isort: skip
from burn.tensor.grid import affine_grid_2d as affine_grid_2d  # isort: skip
from burn.tensor.grid import cartesian_grid as cartesian_grid  # isort: skip
from burn.tensor.grid import meshgrid as meshgrid  # isort: skip
from burn.tensor.grid import meshgrid_stack as meshgrid_stack  # isort: skip

from burn.tensor.loss import cross_entropy_with_logits as cross_entropy_with_logits  # isort: skip

from burn.tensor import activation as activation  # isort: skip
from burn.tensor import grid as grid  # isort: skip
from burn.tensor import loss as loss  # isort: skip
from burn.tensor import module as module  # isort: skip


def __getattr__(name):
    """`burn.tensor.linalg` is `burn.linalg`, as in Burn, and so is `signal`; they are imported when they are first used.

    Names that wait say what for.
    """
    if name in ("linalg", "signal"):
        import importlib

        return importlib.import_module(f"burn.{name}")
    raise _lacking("burn.tensor", name)
