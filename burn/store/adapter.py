"""Adapters: what makes the tensors of one library those of another, on the way into a module or out of it."""

from typing import ClassVar

import numpy as np

from burn._arguments import instance, shown
from burn.device import Device
from burn.errors import ArgumentError, ArgumentTypeError
from burn.tensor import DType, Tensor

from . import packed
from .bridge import derived, dtype_of, renamed
from .pack import PackDType, PackTensor

_NORMS = frozenset(f"Struct:{name}" for name in ("BatchNorm", "GroupNorm", "InstanceNorm", "LayerNorm", "RmsNorm"))
_PRELU = frozenset({"Struct:PRelu", "Struct:Prelu"})
_HALF = (
    "Linear", "Embedding", "Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d",
    "DeformConv2d", "LayerNorm", "GroupNorm", "InstanceNorm", "RmsNorm", "PRelu",
)  # fmt: skip


class ModuleContext:
    """Where a parameter stands: what an adapter needs to know about it. Mirrors `burn::store::ModuleContext`.

    Attributes:
        path: the parameter's path in the module, such as ``layers.0.weight``.
        containers: what it is in, outermost first.
        param: the Param.

    >>> from burn.nn import LinearConfig
    >>> context = ModuleContext("fc.weight", ["Struct:Model", "Struct:Linear"], LinearConfig(2, 3).init().weight)
    >>> context.module_type(), context.container_path(), context.param_name(), context.is_column_layout()
    ('Struct:Linear', 'Struct:Model.Struct:Linear', 'weight', False)
    >>> linear = LinearConfig(2, 3).init()
    >>> ModuleContext("bias", ["Struct:Linear"], linear.bias, ["bias"], linear).module_of("Struct:Linear") is linear
    True
    """

    __slots__ = ("_found", "_names", "_root", "containers", "param", "path")

    def __init__(self, path: str, containers, param=None, names=(), root=None):
        """A place.

        Args:
            path: the parameter's path.
            containers: what it is in, outermost first: ``Struct:<type>``, ``Enum:<type>``, ``Vec``, ``Array``, ``Tuple``.
            param: the Param.
            names: the name in each container, those too that the path leaves out.
            root: the module that is walked over.
        """
        self.path = path
        self.containers = tuple(containers)
        self.param = param
        self._names = tuple(names)
        self._root = root
        self._found = path  # the name in the file

    def module_type(self) -> str | None:
        """The innermost module or enum that the parameter is in; None outside of any."""
        return next((c for c in reversed(self.containers) if c.startswith(("Struct:", "Enum:"))), None)

    def container_path(self) -> str:
        """What the parameter is in, joined by dots."""
        return ".".join(self.containers)

    def param_name(self) -> str:
        """The last name of the path."""
        return self.path.rpartition(".")[2]

    def module_of(self, module_type: str):
        """The innermost module of that type that the parameter is in; None if there is none, or where it is not known.

        Args:
            module_type: such as ``Struct:Lstm``.
        """
        if module_type not in self.containers or self._root is None:
            return None
        depth = len(self.containers) - 1 - self.containers[::-1].index(module_type)
        value = self._root
        try:
            for name, container in zip(self._names[:depth], self.containers):
                if container.startswith("Struct:"):
                    value = vars(value)[next(attribute for attribute, shown, _ in value._layout if shown == name)]
                else:
                    value = value[name if container == "Dict" else int(name)]
        except (
            AttributeError,
            LookupError,
            StopIteration,
            TypeError,
            ValueError,
        ):  # what visits its parts in a way of its own
            return None
        return value

    def is_column_layout(self) -> bool:
        """Whether the parameter is saved transposed already, as the weight of a Linear with ``LinearLayout.Col`` is."""
        return getattr(self.param, "_save", None) is Tensor.transpose


class ModuleAdapter:
    """Base of adapters: override `adapt`, and `get_alternative_param_name` where names differ.

    On the way into a module the tensor has the path of the parameter as its name, whatever it is called in the file; on
    the way out of it the name that `adapt` gives is the one saved. Mirrors `burn::store::ModuleAdapter`.

    >>> from burn.store import bridge
    >>> class Negate(ModuleAdapter):
    ...     def adapt(self, tensor, context):
    ...         return bridge.map_data(tensor, lambda array: -array, tensor.dtype, tensor.shape)
    >>> tensor, context = bridge.from_tensor("w", Tensor([1.0])), ModuleContext("w", ["Struct:Model"])
    >>> Negate().adapt(tensor, context).to_numpy().tolist(), Negate().get_alternative_param_name("w", "Struct:Model")
    ([-1.0], None)
    >>> Negate().chain(Negate()).adapt(tensor, context).to_numpy().tolist()
    [1.0]
    """

    def adapt(self, tensor: PackTensor, context: ModuleContext) -> PackTensor:
        """The tensor to use in place of ``tensor``; nothing is read until it is needed.

        Args:
            tensor: the named bytes.
            context: where the parameter stands.
        """
        raise NotImplementedError(f"[{type(self).__name__}] an adapter needs a method adapt(tensor, context)")

    def get_alternative_param_name(self, param_name: str, module_type: str | None) -> str | None:
        """What a parameter is called in the file if it is not found under its own name; None if nothing else.

        Args:
            param_name: the last name of the path.
            module_type: the innermost module that it is in.
        """
        return None

    def get_alternative_path(self, context: ModuleContext) -> str | None:
        """The whole name that a parameter has in the file if it is not found under its path; None if nothing else.

        Args:
            context: where the parameter stands.

        >>> context = ModuleContext("norm.gamma", ["Struct:Model", "Struct:LayerNorm"])
        >>> PyTorchToBurnAdapter().get_alternative_path(context)
        'norm.weight'
        """
        name = context.param_name()
        other = self.get_alternative_param_name(name, context.module_type())
        return None if other is None else context.path[: len(context.path) - len(name)] + other

    def get_alternative_paths(self, context: ModuleContext) -> list[str]:
        """All names that a parameter may have in the file if it is not found under its path; the first that is there is taken.

        Args:
            context: where the parameter stands.

        >>> context = ModuleContext("norm.gamma", ["Struct:Model", "Struct:LayerNorm"])
        >>> PyTorchToBurnAdapter().get_alternative_paths(context)
        ['norm.weight']
        """
        other = self.get_alternative_path(context)
        return [] if other is None else [other]

    def chain(self, next: "ModuleAdapter") -> "ModuleAdapter":
        """This adapter, then another.

        Args:
            next: the adapter that gets what this one gives.
        """
        return ChainAdapter(self, next)


class IdentityAdapter(ModuleAdapter):
    """Changes nothing. Mirrors `burn::store::IdentityAdapter`.

    >>> from burn.store import bridge
    >>> tensor = bridge.from_tensor("w", Tensor([1.0]))
    >>> IdentityAdapter().adapt(tensor, ModuleContext("w", [])) is tensor
    True
    """

    def adapt(self, tensor: PackTensor, context: ModuleContext) -> PackTensor:
        return tensor


class ChainAdapter(ModuleAdapter):
    """One adapter after another. Mirrors `burn::store::ChainAdapter`.

    >>> chain = ChainAdapter(PyTorchToBurnAdapter(), FloatCastAdapter.to("f16"))
    >>> chain.get_alternative_param_name("gamma", "Struct:LayerNorm")
    'weight'
    """

    def __init__(self, first: ModuleAdapter, second: ModuleAdapter):
        """Both adapters.

        Args:
            first: the adapter that gets the tensor.
            second: the adapter that gets what the first one gives.
        """
        self.first = adapter("ChainAdapter", first)
        self.second = adapter("ChainAdapter", second)

    def adapt(self, tensor: PackTensor, context: ModuleContext) -> PackTensor:
        return self.second.adapt(self.first.adapt(tensor, context), context)

    def get_alternative_param_name(self, param_name: str, module_type: str | None) -> str | None:
        found = self.first.get_alternative_param_name(param_name, module_type)
        again = self.second.get_alternative_param_name(found or param_name, module_type)
        return again or found

    def get_alternative_path(self, context: ModuleContext) -> str | None:
        return next(iter(self.get_alternative_paths(context)), None)

    def get_alternative_paths(self, context: ModuleContext) -> list[str]:
        own = super().get_alternative_path(context)
        both = [*alternative_paths(self.first, context), *alternative_paths(self.second, context)]
        return both if own is None else [own, *both]


class _PyTorch(ModuleAdapter):
    """Both directions between PyTorch and burn: a Linear's weight is transposed, the parts of norms are renamed."""

    _names: ClassVar[dict[str, str]]
    _slope: ClassVar[tuple[str, str]]

    def adapt(self, tensor: PackTensor, context: ModuleContext) -> PackTensor:
        kind, name = context.module_type(), context.param_name()
        other = self._other(name, kind)
        if other is not None and tensor.name.rpartition(".")[2] == name:
            tensor = renamed(tensor, tensor.name[: len(tensor.name) - len(name)] + other)
        turned = kind == "Struct:Linear" and name == "weight" and not context.is_column_layout()
        if turned and len(tensor.shape) == 2 and tensor.dtype.kind in ("float", "int", "bool"):
            return derived(tensor, _transposed, tensor.dtype, tensor.shape[::-1])
        return tensor

    def _other(self, name: str, kind: str | None) -> str | None:
        if kind in _NORMS:
            return self._names.get(name)
        return self._slope[1] if kind in _PRELU and name == self._slope[0] else None


class PyTorchToBurnAdapter(_PyTorch):
    """Takes the tensors of a PyTorch module into burn's. Mirrors `burn::store::PyTorchToBurnAdapter`.

    The weight of a Linear is transposed, unless its layout saves it transposed anyway; ``weight`` and ``bias`` of norms are
    found for ``gamma`` and ``beta``, ``weight`` of a PReLU for ``alpha``. Query, key and value of a MultiHeadAttention take their
    part of ``in_proj_weight`` and ``in_proj_bias`` where PyTorch has them in one, its output takes ``out_proj``. The gates of
    Lstm, Gru and Rnn take theirs of ``weight_ih_l0`` and the like, of both ways in BiLstm, BiGru and BiRnn. The layers of
    TransformerEncoder and TransformerDecoder are found under PyTorch's names, such as ``self_attn`` and ``linear1``.

    >>> PyTorchToBurnAdapter().get_alternative_param_name("gamma", "Struct:InstanceNorm")
    'weight'
    """

    _names: ClassVar = {"weight": "gamma", "bias": "beta"}
    _slope = ("weight", "alpha")

    def adapt(self, tensor: PackTensor, context: ModuleContext) -> PackTensor:
        return super().adapt(packed.part_of(tensor, context), context)

    def get_alternative_param_name(self, param_name: str, module_type: str | None) -> str | None:
        return _TO_PYTORCH._other(param_name, module_type)

    def get_alternative_path(self, context: ModuleContext) -> str | None:
        found = packed.place(context.path, context.containers)
        return super().get_alternative_path(context) if found is None else found[0]

    def get_alternative_paths(self, context: ModuleContext) -> list[str]:
        found = super().get_alternative_paths(context)
        path = packed.pytorch_path(context)
        if path != context.path:
            other = ModuleContext(path, context.containers)
            found += [*super().get_alternative_paths(other), path]
        return found


class BurnToPyTorchAdapter(_PyTorch):
    """Takes the tensors of a module to where PyTorch expects them. Mirrors `burn::store::BurnToPyTorchAdapter`.

    >>> BurnToPyTorchAdapter().get_alternative_param_name("weight", "Struct:LayerNorm")
    'gamma'
    """

    _names: ClassVar = {"gamma": "weight", "beta": "bias"}
    _slope = ("alpha", "weight")

    def get_alternative_param_name(self, param_name: str, module_type: str | None) -> str | None:
        return _TO_BURN._other(param_name, module_type)


class FloatCastAdapter(ModuleAdapter):
    """Converts the floats of all modules to one dtype. Mirrors `burn::store::FloatCastAdapter`.

    >>> from burn.store import bridge
    >>> tensor = bridge.from_tensor("w", Tensor([1.00390625, -3.0]))
    >>> FloatCastAdapter.to("bf16").adapt(tensor, ModuleContext("w", [])).to_numpy().view("u2").tolist()
    [16256, 49216]
    """

    def __init__(self, dtype):
        """Use `to`.

        Args:
            dtype: a float dtype.
        """
        dtype = DType.of(dtype)
        if not dtype.is_float:
            raise ArgumentError(
                f"[FloatCastAdapter] 'dtype' must be a float dtype, got {dtype}; take DType.F16 or DType.BF16"
            )
        self.dtype = dtype

    @classmethod
    def to(cls, dtype) -> "FloatCastAdapter":
        """An adapter that converts to this dtype.

        Args:
            dtype: a float dtype.

        Raises:
            ArgumentError: it is no float dtype.
        """
        return cls(dtype)

    def adapt(self, tensor: PackTensor, context: ModuleContext) -> PackTensor:
        return _cast(tensor, dtype_of(self.dtype)) if tensor.dtype.kind == "float" else tensor


class HalfPrecisionAdapter(ModuleAdapter):
    """Halves the parameters of common layers: F32 becomes F16, and F16 becomes F32 on the way back.

    Batch norm is left as it is, since its running variance would underflow. Mirrors `burn::store::HalfPrecisionAdapter`.

    >>> from burn.store import bridge
    >>> tensor = bridge.from_tensor("w", Tensor([1.0]))
    >>> adapter = HalfPrecisionAdapter().with_module("Mine").without_module("Linear")
    >>> [str(adapter.adapt(tensor, ModuleContext("w", [kind])).dtype) for kind in ("Struct:Mine", "Struct:Linear")]
    ['F16', 'F32']
    """

    def __init__(self):
        """An adapter of the common layers."""
        self._modules = frozenset(f"Struct:{name}" for name in _HALF)

    def with_module(self, name: str) -> "HalfPrecisionAdapter":
        """Adds a module: the name of its class, or ``Enum:`` and that of an enum."""
        return self._with(self._modules | {_module_type("with_module", name)})

    def without_module(self, name: str) -> "HalfPrecisionAdapter":
        """Leaves a module out.

        Args:
            name: the name of its class.

        Raises:
            ArgumentError: it does not take part anyway.
        """
        kind = _module_type("without_module", name)
        if kind not in self._modules:
            raise ArgumentError(
                f"[without_module] 'name' must be one of {', '.join(sorted(m.partition(':')[2] for m in self._modules))}, "
                f"got {name!r}"
            )
        return self._with(self._modules - {kind})

    def adapt(self, tensor: PackTensor, context: ModuleContext) -> PackTensor:
        if context.module_type() in self._modules and tensor.dtype.name in ("F32", "F16"):
            return _cast(tensor, PackDType("F16" if tensor.dtype.name == "F32" else "F32"))
        return tensor

    def _with(self, modules: frozenset) -> "HalfPrecisionAdapter":
        adapter = HalfPrecisionAdapter()
        adapter._modules = modules
        return adapter


def is_ours(adapter) -> bool:
    """Whether an adapter is one of this module's, which any thread may run."""
    if type(adapter) is ChainAdapter:
        return is_ours(adapter.first) and is_ours(adapter.second)
    return type(adapter) in (
        IdentityAdapter, PyTorchToBurnAdapter, BurnToPyTorchAdapter, FloatCastAdapter, HalfPrecisionAdapter
    )  # fmt: skip


def alternative_paths(adapter, context: ModuleContext) -> list[str]:
    """What an adapter says about the names of a parameter; one that is no ModuleAdapter may know the last name only."""
    if hasattr(adapter, "get_alternative_paths"):
        return adapter.get_alternative_paths(context)
    if hasattr(adapter, "get_alternative_path"):
        other = adapter.get_alternative_path(context)
    else:
        other = ModuleAdapter.get_alternative_path(adapter, context)
    return [] if other is None else [other]


def adapter(op: str, value) -> ModuleAdapter:
    """An adapter; anything with a method ``adapt`` and one ``get_alternative_param_name`` will do."""
    if isinstance(value, ModuleAdapter):
        return value
    if isinstance(value, type) or not all(hasattr(value, name) for name in ("adapt", "get_alternative_param_name")):
        raise ArgumentTypeError(
            f"[{op}] 'adapter' must be a ModuleAdapter, got {shown(value)}; derive from ModuleAdapter"
        )
    return value


def _module_type(op: str, name: str) -> str:
    name = instance(op, "name", name, str, "use the name of its class")
    return name if name.startswith(("Struct:", "Enum:")) else f"Struct:{name}"


def _cast(tensor: PackTensor, dtype: PackDType) -> PackTensor:
    """The tensor in another float dtype, rounded to the nearest; what is too large becomes infinite."""
    if tensor.dtype == dtype:
        return tensor

    def convert(array: np.ndarray) -> np.ndarray:
        # Not NumPy's cast, which rounds a double to bf16 twice.
        return _tensor(array.reshape(-1)).cast(DType.of(dtype.name.lower())).numpy().reshape(array.shape)

    return derived(tensor, convert, dtype, tensor.shape)


def _transposed(array: np.ndarray) -> np.ndarray:
    """The transposed values in row-major order; our own kernel is several times as fast as NumPy's."""
    return _tensor(array).transpose().contiguous().numpy()


def _tensor(array: np.ndarray) -> Tensor:
    """The array as a tensor of the CPU; what lies askew in a file is copied first."""
    return Tensor.from_numpy(np.require(array, requirements="A"), Device.flex())


_TO_BURN, _TO_PYTORCH = PyTorchToBurnAdapter(), BurnToPyTorchAdapter()
