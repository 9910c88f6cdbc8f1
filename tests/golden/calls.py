"""How a golden case is called: its arguments are bound by their names to the parameters of the public function.

What has another name or form here than in a manifest is listed below; nothing depends on the order of arguments in a manifest.
"""

import dataclasses
import inspect
import re
from collections.abc import Callable
from typing import Any

import numpy as np

import burn.signal
import burn.tensor
from burn.tensor import GridIndexing, GridOptions, GridSparsity, IndexPos, PadMode, Slice, Tensor
from burn.tensor.ops import (
    AttentionModuleOptions,
    AvgPoolOptions,
    ConvOptions,
    ConvTransposeOptions,
    DeformConvOptions,
    GridSampleOptions,
    GridSamplePaddingMode,
    InterpolateMode,
    InterpolateOptions,
    MaxPoolOptions,
    UnfoldOptions,
)
from tests.cases import as_tuple
from tests.ops.checks import find

# Arguments that only tell a reader something.
REMARKS = {"note"}

# Parameters whose names differ; where just one argument and one parameter are left, they belong together without being listed.
PARAMETERS = {"d1": "dim1", "d2": "dim2", "start_dim": "start", "end_dim": "end"}

# Classes whose fields a manifest lists one by one.
OPTIONS = (
    burn.signal.StftOptions, GridOptions, AttentionModuleOptions, UnfoldOptions, MaxPoolOptions, AvgPoolOptions,
    InterpolateOptions, GridSampleOptions, ConvOptions, ConvTransposeOptions, DeformConvOptions,
)  # fmt: skip

# Inputs of which a manifest says whether they are there.
OPTIONAL = ("bias", "beta", "mask", "attn_bias")

# A manifest's text that the numbers were not made with: `2..0;-1` selects nothing, the numbers are those of `0..3;-2`.
SLICES = {("negative step", "[.., 2..0;-1]"): "[.., 0..3;-2]"}

# Enums by the parameter, or the field of options, that takes them.
ENUMS = {"indexing": GridIndexing, "sparsity": GridSparsity, "index_pos": IndexPos}

# Several functions, one after the other.
COMPOSED: dict[str, Callable[[Tensor, dict], Any]] = {
    "stft_istft": lambda x, args: burn.signal.istft(
        burn.signal.stft(x, None, options := burn.signal.StftOptions(**args)), None, None, options
    ),
}


class UnknownOperation(AssertionError):
    """A case of an operation that burn does not have."""


class UnknownArgument(AssertionError):
    """A case with an argument that the function does not take, or without one that it needs."""


def function_of(op: str) -> Callable:
    """The public function of a manifest's op. Calls on Int and Bool tensors have the kind before the name, as have casts;
    cases of a gradient alone have that behind it."""
    function = find(op) or find(re.sub("^(int|bool|float)_|_grad$", "", op))
    if function is None:
        raise UnknownOperation(f"burn has no operation {op!r}")
    return function


def call(case: dict[str, Any], inputs: dict[str, Tensor], device: Any) -> tuple:
    """Results of a case on its inputs."""
    op, args = case["op"], {k: v for k, v in case["args"].items() if k not in REMARKS}
    if op in COMPOSED:
        return as_tuple(COMPOSED[op](*inputs.values(), args))
    if "slices" in args:
        text = SLICES.get((case["args"].get("note"), args["slices"]), args["slices"])
        args["slices"] = [Slice.parse(part.strip()) for part in text.strip("[]").split(",")]
    function = function_of(op)
    positional, named = bound(function, inputs, args, device, op)
    return as_tuple(function(*positional, **named))


def bound(function: Callable, inputs: dict, args: dict, device: Any, op: str) -> tuple[list, dict]:
    """What stands for each parameter: an argument or a tensor of its name, else the tensors left, in their order."""
    parameters = inspect.signature(function).parameters
    tensors = dict(inputs)
    args = {renamed(k, parameters): converted(k, v) for k, v in args.items()}
    for name in [n for n in OPTIONAL if n in parameters and isinstance(args.get(n), bool)]:
        if args.pop(name) is False:
            args[name] = None
    if "range" in parameters and {"start", "end"} <= set(args):
        args["range"] = range(args.pop("start"), args.pop("end"))
    if "mode" in parameters and isinstance(args.get("mode"), str):
        mode = getattr(PadMode, args["mode"].capitalize())
        args["mode"] = mode(args.pop("value")) if "value" in args else mode
    if "options" in parameters and set(args) - set(parameters):
        args["options"] = gathered({k: args.pop(k) for k in set(args) - set(parameters)}, op)
    if "device" in parameters and not tensors:
        args["device"] = device
    for name in ("tensors", "operands"):
        if name in parameters:
            args[name], tensors = list(tensors.values()), {}
    found = {name: tensors.pop(name) for name in parameters if name in tensors}
    found |= {name: args.pop(name) for name in parameters if name in args}
    if "bias" in parameters and "bias" not in found and "weight" in found:
        found["bias"] = None
    rest = list(tensors.values())
    plain = [p for p in parameters.values() if p.kind is not p.VAR_POSITIONAL and p.name not in found]
    for p in [p for p in plain if p.default is p.empty] + [p for p in plain if p.default is not p.empty]:
        if rest:
            found[p.name] = rest.pop(0)
    if op == "attention":
        found = {"mask": None, "attn_bias": None, "options": AttentionModuleOptions()} | found
    missing = [p.name for p in plain if p.default is p.empty and p.name not in found]
    if len(missing) == 1 and len(args) == 1:
        found[missing.pop()] = args.popitem()[1]
    if missing or args or rest:
        raise UnknownArgument(
            f"{op}{inspect.signature(function)} does not take {sorted(args)}, lacks {missing}, and {len(rest)} inputs are left"
        )
    positional, named = [], {}
    for p in parameters.values():
        if p.name in found:
            if named or p.kind is p.KEYWORD_ONLY:
                named[p.name] = found[p.name]
            else:
                positional.append(found[p.name])
        elif p.kind is not p.VAR_POSITIONAL:
            named.setdefault(p.name, p.default)
    return positional, named


def renamed(name: str, parameters: Any) -> str:
    """The parameter that an argument of a manifest belongs to."""
    if name in parameters:
        return name
    return next((n for n in (name + "_", PARAMETERS.get(name)) if n in parameters), name)


def converted(name: str, value: Any) -> Any:
    """An argument as the function takes it: texts of enums and of numbers, pairs as tuples."""
    if name in ENUMS:
        return ENUMS[name](value.capitalize())
    if name in ("update", "reduction"):
        return value.capitalize()
    if name == "padding":
        return [tuple(pair) if isinstance(pair, list) else pair for pair in value]
    try:
        return float(value) if isinstance(value, str) else value
    except ValueError:
        return value


def named(enum: Any, text: str) -> Any:
    """The member of an enum that a manifest writes in small letters."""
    return next(member for member in enum if member.name.lower() == text.replace("_", ""))


def gathered(fields: dict, op: str) -> Any:
    """The options that have these fields."""
    if isinstance(fields.get("mode"), str):
        fields["mode"] = named(InterpolateMode, fields["mode"])
    if "padding_mode" in fields:
        fields["padding_mode"] = named(GridSamplePaddingMode, fields["padding_mode"])
    if "scale_factor" in fields:  # Burn keeps factors in f32, and makes 6 rows of 10 × 0.7
        fields["scale_factor"] = [float(np.float32(factor)) for factor in fields["scale_factor"]]
    for cls in OPTIONS:
        if set(fields) <= {f.name for f in dataclasses.fields(cls)}:
            return cls(**fields)
    raise UnknownArgument(f"{op} has no options with the fields {sorted(fields)}")
