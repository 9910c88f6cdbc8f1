"""A good call of every public operation, taken down while the op cases run, so that tests can spoil one argument at a time."""

import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

import burn.linalg
import burn.signal
import burn.tensor
from burn import Device, Distribution, Tensor
from burn.tensor import activation, grid, loss, module
from tests.cases import (
    BOOL,
    F32,
    I32,
    attention,
    conv,
    elementwise,
    index,
    interpolate,
    linalg,
    matmul,
    movement,
    norm,
    pool,
    reduce,
)
from tests.cases import activation as activations
from tests.cases import loss as losses
from tests.cases.tensors import array, tensor

PLACES = (Tensor, activation, grid, loss, module, burn.linalg, burn.signal, burn.tensor)
CASES = [
    case
    for f in (
        activations,
        attention,
        conv,
        elementwise,
        index,
        interpolate,
        linalg,
        losses,
        matmul,
        movement,
        norm,
        pool,
        reduce,
    )
    for case in f.CASES
]
DEVICE = object()  # stands for the device of a test


@dataclass(frozen=True)
class Held:
    """A tensor that is on no device yet."""

    values: np.ndarray


@dataclass(frozen=True)
class Call:
    """A call of a public operation: where it is found, its name, and its arguments by name, with Held tensors."""

    place: Any
    name: str
    arguments: dict[str, Any]

    @property
    def function(self) -> Any:
        """What is called; a method takes self."""
        return getattr(self.place, self.name)

    @property
    def parameters(self) -> dict[str, inspect.Parameter]:
        """The parameters by name."""
        return dict(inspect.signature(self.function).parameters)

    def made(self, device: Device) -> dict[str, Any]:
        """The arguments with their tensors on a device."""
        return {name: placed(value, device) for name, value in self.arguments.items()}

    def run(self, arguments: dict[str, Any]) -> Any:
        """The result for given arguments."""
        bound = inspect.BoundArguments(inspect.signature(self.function), arguments)
        return self.function(*bound.args, **bound.kwargs)


def placed(value: Any, device: Device) -> Any:
    """An argument with its tensors on a device."""
    if isinstance(value, Held):
        return tensor(value.values, device)
    if isinstance(value, (list, tuple)):
        return type(value)(placed(v, device) for v in value)
    return device if value is DEVICE else value


def lifted(value: Any) -> Any:
    """An argument without its device."""
    if isinstance(value, Tensor):
        return Held(array(value))
    if isinstance(value, (list, tuple)) and any(isinstance(v, Tensor | list) for v in value):
        return type(value)(lifted(v) for v in value)
    return DEVICE if isinstance(value, Device) else value


def public(place: Any) -> list[str]:
    """The names of the public functions in a place."""
    return [n for n in dir(place) if not n.startswith("_") and hasattr(getattr(place, n, None), "__wrapped__")]


@contextmanager
def _listening(calls: list[Call]) -> Iterator[None]:
    """Takes down every public call of the block that does not come from another one."""
    before, depth = [], 0

    def listener(place: Any, name: str) -> Any:
        function = getattr(place, name)
        signature = inspect.signature(function)

        def call(*args: Any, **kwargs: Any) -> Any:
            nonlocal depth
            depth += 1
            try:
                if depth == 1:
                    bound = signature.bind(*args, **kwargs).arguments
                    calls.append(Call(place, name, {key: lifted(value) for key, value in bound.items()}))
                return function(*args, **kwargs)
            finally:
                depth -= 1

        return call if "self" in signature.parameters or place is not Tensor else staticmethod(call)

    for place in PLACES:
        for name in public(place):
            before.append((place, name, vars(place).get(name)))
            setattr(place, name, listener(place, name))
    try:
        yield
    finally:
        for place, name, value in before:
            if value is None:
                delattr(place, name)
            else:
                setattr(place, name, value)


@cache
def recorded() -> tuple[Call, ...]:
    """The first good call of each public operation, in f32 where it takes that."""
    device, calls = Device.flex(), []
    with _listening(calls):
        for case in CASES:
            dtype = next((t for t in (F32, I32) if t in case.dtypes), case.dtypes[0])
            case.call(*(tensor(a, device) for a in case.inputs(dtype)))
        _more(device)
    first: dict[Any, Call] = {}
    for call in calls:
        if not (call.place is burn.tensor and any(hasattr(p, call.name) for p in PLACES[:-1])):
            first.setdefault((call.place, call.name), call)
    return tuple(first.values())


def _more(d: Device) -> None:
    """Calls of what no case calls."""
    values = np.arange(6, dtype=F32).reshape(2, 3)
    x, i, b = tensor(values / 7, d), tensor(values.astype(I32), d), tensor(np.eye(2, 3, dtype=BOOL), d)
    leaf = x.autodiff().require_grad()
    grads = leaf.sum().backward()
    leaf.grad(grads), leaf.grad_remove(grads), leaf.detach(), leaf.set_require_grad(True)
    leaf.with_gradient_checkpointing_strategy("Balanced"), leaf.inner(), leaf.without_autodiff()
    x.is_close(x), x.all_close(x), x.cast("f64"), x.to_device(d), x.full_like(2.0), x.max_abs_dim(0), x.t()
    x.random_like(Distribution.Default), x.categorical(3), x.cov(0, 1), x.iter_dim(0), b.nonzero(), b.argwhere()
    (
        x.topk_with_indices(1, 0),
        x.argtopk(1, 0),
        x.to_vec_as("f64"),
        x.sum().into_scalar("f64"),
        x.to_data_dtype("f64"),
        x.roll([1], [0]),
    )
    x.var_mean(0), x.var_mean_bias(0), x.float(), x.int(), x.clone(), x.contiguous(), x.empty_like()
    (
        x.zeros_like(),
        x.ones_like(),
        i.powi(i),
        x.powi(2),
        x.powf(2.0),
        i.equal_elem(2),
        x.max_abs(),
        x.max_abs_dims([0]),
    )
    x.mask_select(b), x.split(1, 0), x.permute([1, 0]), x.slice_fill([0], 1.0), x.clone().inplace(lambda y: y * 2)
    for name in ("greater", "greater_equal", "lower", "lower_equal", "not_equal"):
        getattr(x, name + "_elem")(2.0)
    Tensor.empty([2], d), Tensor.full([2], 1.5, d), Tensor.random([2], Distribution.Normal(0.0, 1.0), d)
    Tensor.from_data([1.0], d), Tensor.from_floats([1.0], d), Tensor.from_ints([1], d), Tensor.from_bool([True], d)
    Tensor.arange(0, 5, d), Tensor.from_numpy(values, d), Tensor.from_inner(x)
    grid.affine_grid_2d(tensor(np.ones((2, 2, 3), F32), d), [2, 1, 3, 4]), grid.cartesian_grid([2, 3], d)
    grid.meshgrid([x[0], x[0]]), grid.meshgrid_stack([x[0], x[0]]), loss.cross_entropy_with_logits(x, x)
    burn.tensor.einsum("ij,kj->ik", [x, x]), activation.softplus_with_threshold(x, 1.0, 20.0)
    module.linear(x, x.t(), x[0, :2]), module.embedding(x, i.clamp(0, 1))
    burn.signal.rfft(x, 1, 4), burn.signal.irfft(x, x, 1, 4), burn.signal.cfft(x, x, 1, 4)
    for name in ("hann_window", "hamming_window", "blackman_window"):
        getattr(burn.signal, name)(4, True, d)
    wave, window = tensor(np.ones((1, 16), F32), d), tensor(np.ones(4, F32), d)
    options = burn.signal.StftOptions(4, 2)
    burn.signal.istft(burn.signal.stft(wave, window, options), window, 16, options)
    burn.linalg.svd(x, 60), burn.linalg.vector_norm_dims(x, 2, [0])
