"""Words for names that a module lacks: those of Burn that wait, those of PyTorch, those of another module, misspelt ones.

The `__getattr__` of a module raises what `lacking` makes.
"""

import contextlib
import importlib
import sys
from collections.abc import Callable
from importlib.machinery import PathFinder
from opcode import opmap
from types import ModuleType
from typing import NoReturn

from burn._waiting import check_waiting
from burn.errors import NotYetError

__all__ = ["PYTORCH", "lacking", "teaching"]

# What a name of PyTorch is in burn, where no name here differs just in upper and lower case. Dotted paths are public items.
PYTORCH = {
    "BCELoss": "burn.nn.loss.BinaryCrossEntropyLoss()",
    "BCEWithLogitsLoss": "burn.nn.loss.BinaryCrossEntropyLoss(logits=True)",
    "L1Loss": "burn.nn.loss.LpLossConfig.l1()",
    "NLLLoss": "burn.nn.loss.CrossEntropyLoss() of the logits, without log_softmax before it",
    "BatchNorm1d": "burn.nn.BatchNormConfig(...).init(), for any number of axes",
    "BatchNorm2d": "burn.nn.BatchNormConfig(...).init(), for any number of axes",
    "BatchNorm3d": "burn.nn.BatchNormConfig(...).init(), for any number of axes",
    "InstanceNorm1d": "burn.nn.InstanceNormConfig(...).init(), for any number of axes",
    "InstanceNorm2d": "burn.nn.InstanceNormConfig(...).init(), for any number of axes",
    "InstanceNorm3d": "burn.nn.InstanceNormConfig(...).init(), for any number of axes",
    "Fold": "burn.nn.Fold4dConfig(...).init()",
    "Unfold": "burn.nn.Unfold4dConfig(...).init()",
    "Upsample": "burn.nn.interpolate.Interpolate2dConfig(...).init()",
    "Flatten": "burn.Tensor.flatten in forward",
    "Unflatten": "burn.Tensor.reshape in forward",
    "Softmax": "burn.tensor.activation.softmax in forward",
    "LogSoftmax": "burn.tensor.activation.log_softmax in forward",
    "Transformer": "burn.nn.transformer.TransformerEncoderConfig and burn.nn.transformer.TransformerDecoderConfig",
    "Sequential": "a list of modules in a field of a burn.module.Module",
    "ModuleList": "a list of modules in a field of a burn.module.Module",
    "ModuleDict": "a dict of modules in a field of a burn.module.Module",
    "Parameter": "burn.module.Param.from_tensor",
    "Buffer": "a burn.Tensor in a field of a burn.module.Module",
    "functional": "burn.tensor.activation, burn.tensor.module and the losses of burn.nn.loss",
    "init": "burn.nn.Initializer",
    "utils": "burn.grad_clipping for gradients and burn.module.WeightNorm for weights",
    "NAdam": "burn.optim.AdamConfig(...).init()",
    "StepLR": "burn.lr_scheduler.ModuleLrScheduler",
    "clip_grad_norm_": "burn.grad_clipping.GradientClippingConfig.Norm in the configuration of an optimizer",
    "clip_grad_value_": "burn.grad_clipping.GradientClippingConfig.Value in the configuration of an optimizer",
    "DataLoader": "burn.data.dataloader.DataLoaderBuilder",
    "Dataset": "burn.data.dataset.Dataset",
    "tensor": "burn.Tensor.from_data",
    "as_tensor": "burn.Tensor.from_data",
    "array": "burn.Tensor.from_data",
    "from_numpy": "burn.Tensor.from_numpy",
    "zeros": "burn.Tensor.zeros",
    "ones": "burn.Tensor.ones",
    "full": "burn.Tensor.full",
    "eye": "burn.Tensor.eye",
    "arange": "burn.Tensor.arange",
    "rand": "burn.Tensor.random",
    "randn": "burn.Tensor.random with burn.tensor.Distribution.Normal",
    "randint": "burn.Tensor.random with burn.tensor.Distribution.Uniform",
    "cat": "burn.Tensor.cat",
    "concatenate": "burn.Tensor.cat",
    "stack": "burn.Tensor.stack",
    "matmul": "burn.Tensor.matmul",
    "swish": "burn.tensor.activation.silu",
    "einsum": "burn.tensor.einsum",
    "where": "burn.Tensor.mask_where",
    "float16": "burn.DType.F16",
    "bfloat16": "burn.DType.BF16",
    "float32": "burn.DType.F32",
    "float64": "burn.DType.F64",
    "int32": "burn.DType.I32",
    "int64": "burn.DType.I64",
    "cuda": "burn.Device.cuda",
    "manual_seed": "burn.Device.seed",
    "no_grad": "burn.Tensor.inner, which leaves autodiff",
    "save": "burn.module.Module.save_file",
    "load": "burn.module.Module.load_file",
}

# Where a name may be, in the order in which they are looked through; the module that was asked comes first.
_PLACES = (
    "burn", "burn.nn", "burn.nn.loss", "burn.nn.activation", "burn.nn.attention", "burn.nn.conv", "burn.nn.pool", "burn.nn.norm",
    "burn.nn.interpolate", "burn.nn.transformer", "burn.nn.cache", "burn.module", "burn.optim", "burn.lr_scheduler",
    "burn.grad_clipping", "burn.tensor", "burn.tensor.activation", "burn.tensor.module", "burn.linalg", "burn.signal",
    "burn.config", "burn.data.dataloader", "burn.data.dataset", "burn.store", "burn.train.metric",
)  # fmt: skip


def lacking(owner: str, name: str) -> Exception:
    """What the `__getattr__` of a module raises for a name that it lacks.

    `from module import name` drops the words of an AttributeError, so it gets them as an ImportError.
    """
    error: Exception
    try:
        check_waiting(owner, name)
    except (NotYetError, AttributeError) as known:
        error = known
    else:
        hint = ""
        with contextlib.suppress(
            Exception
        ):  # a place that cannot be imported, or the end of the interpreter: no words then
            hint = "" if name.startswith("_") or _importing(owner, name) else _hint(owner, name)
        error = AttributeError(f"module {owner!r} has no attribute {name!r}{hint}", name=name)
        if not hint:
            return error
    frame = sys._getframe(
        1
    ).f_back  # None where C alone asks, as at the end of the interpreter and where a thread begins
    if frame is None or frame.f_code.co_code[frame.f_lasti] != opmap["IMPORT_FROM"]:
        return error
    taught = ImportError(str(error), name=owner)
    taught.__cause__ = error
    return taught


def teaching(owner: str) -> Callable[[str], NoReturn]:
    """A `__getattr__` for a module that has none of its own."""

    def __getattr__(name: str) -> NoReturn:
        raise lacking(owner, name)

    return __getattr__


def _importing(owner: str, name: str) -> bool:
    """Whether it is the machinery of imports that asks: for a module that is not loaded yet, or while the owner is made."""
    module = sys.modules[owner]
    path = getattr(module, "__path__", None)
    return getattr(module.__spec__, "_initializing", False) or (
        path is not None and PathFinder.find_spec(f"{owner}.{name}", path) is not None
    )


def _hint(owner: str, name: str) -> str:
    places = [owner, *(place for place in _PLACES if place != owner)]
    names = {place: _public(place) for place in places}
    for place in places[1:]:
        if name in names[place]:
            return f"; it is {place}.{name}"
    if name in PYTORCH:
        return f"; use {PYTORCH[name]}"
    for place in places:
        for known in names[place]:
            if known.casefold() == name.casefold():
                return f"; burn calls it {_path(place, known, names)}"
    if name.endswith("Config"):
        for place in places:
            if (plain := name.removesuffix("Config")) in names[place]:
                return f"; {place}.{plain} needs none"
    import difflib

    for place in places:
        near = difflib.get_close_matches(name.casefold(), [known.casefold() for known in names[place]], 1, 0.8)
        if near:
            known = next(known for known in names[place] if known.casefold() == near[0])
            return f"; did you mean {_path(place, known, names)}?"
    return ""


def _public(place: str) -> list[str]:
    module = importlib.import_module(place)
    listed = getattr(module, "__all__", None) or [
        name for name in dir(module) if not name.startswith("_") and not isinstance(vars(module).get(name), ModuleType)
    ]
    return list(listed)


def _path(place: str, name: str, names: dict[str, list[str]]) -> str:
    made = f", made by {place}.{name}Config" if f"{name}Config" in names[place] else ""
    return f"{place}.{name}{made}"
