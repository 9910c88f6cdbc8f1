"""The calls in PyTorch's pickles that are understood. Everything else is an opaque object."""

from collections.abc import Callable

from .values import DTYPES, STORAGES, Budget, Damaged, Global, Opaque, Storage, Strided

MAX_RANK = 64
_I64 = 1 << 63


def call(function, args, budget: Budget):
    """What a call gives: a tensor, a container, or an opaque object."""
    if not isinstance(function, Global):
        return Opaque("object", function, args)
    known = _CALLS.get(function.name)
    if known is None or not isinstance(args, tuple):
        return Opaque(function.name, args)
    budget.spend(len(args))
    return known(budget, *args)


def storage(kind, key, numel, start: int = 0) -> Storage:
    """A storage from what a persistent id says about it."""
    name = kind.name.rpartition(".")[2] if isinstance(kind, Global) else ""
    if name not in STORAGES:
        shown = kind.name if isinstance(kind, Global) else type(kind).__name__
        raise Damaged(f"holds a storage of the unknown class {shown[:100]}")
    if not isinstance(key, (str, int)) or not _size(numel) or not _size(start):
        raise Damaged("is damaged: a storage in it has no sound key or size")
    return Storage(str(key), name, numel, start)


def strided(where, offset, shape, strides, dtype: str | None = None) -> Strided:
    """A tensor in a storage, checked against the size of it."""
    if not isinstance(where, Storage):
        raise Damaged("is damaged: a tensor in it has no storage")
    if not all(isinstance(sizes, (tuple, list)) and len(sizes) <= MAX_RANK for sizes in (shape, strides)):
        raise Damaged(f"is damaged: the shape or the strides of a tensor in it are no list of at most {MAX_RANK} sizes")
    if len(shape) != len(strides) or not all(map(_size, [offset, *shape, *strides])):
        raise Damaged("is damaged: shape, strides or offset of a tensor in it are no sizes that fit each other")
    result = Strided(where, offset, tuple(shape), tuple(strides), dtype)
    item = result.element()[1]
    count = 1
    for size in shape:
        count *= size
    extent = offset + sum((size - 1) * stride for size, stride in zip(shape, strides)) + 1 if count else 0
    if count * item >= _I64 or extent * item > where.numel * where.itemsize:
        raise Damaged(
            f"is damaged: a tensor of the shape {list(shape)[:8]} in it reaches {extent} elements into a storage of "
            f"{where.numel * where.itemsize // item}"
        )
    return result


def holds_tensor(value, budget: Budget) -> bool:
    """Whether a tensor or a storage is somewhere in a value."""
    waiting, seen = [value], set()
    while waiting:
        value = waiting.pop()
        if isinstance(value, (Strided, Storage)):
            return True
        if isinstance(value, (dict, list, tuple, Opaque)):
            if id(value) in seen:
                continue
            seen.add(id(value))
            parts = value.values() if isinstance(value, dict) else value.held if isinstance(value, Opaque) else value
            budget.spend(len(parts))
            waiting += parts
    return False


def _size(value) -> bool:
    return type(value) is int and 0 <= value < _I64


def _tensor_v2(budget, where, offset, shape, strides, requires_grad=False, hooks=None, metadata=None, *_):
    if isinstance(where, Storage) and where.kind == "UntypedStorage":
        return Opaque("torch.UntypedStorage", where)
    return _as_stored(metadata, strided(where, offset, shape, strides))


def _tensor_v3(budget, where, offset, shape, strides, requires_grad, hooks, dtype, metadata=None, *_):
    name = dtype.name.removeprefix("torch.") if isinstance(dtype, Global) else ""
    if name not in DTYPES:
        return Opaque(f"tensor of {dtype.name if isinstance(dtype, Global) else 'an unknown dtype'}", where)
    return _as_stored(metadata, strided(where, offset, shape, strides, name))


def _as_stored(metadata, tensor: Strided) -> Strided | Opaque:
    """The tensor, unless its values are the negative ones of what is stored, as those of ``x.conj().imag`` are."""
    if isinstance(metadata, dict) and metadata.get("neg"):
        return Opaque("view that negates (tensor.resolve_neg() makes it plain)", tensor)
    return tensor


def _parameter(budget, data, *_):
    return data


def _from_type(budget, function, kind, args, state=None, *_):
    if not isinstance(function, Global) or function.name not in _TENSORS or holds_tensor(state, budget):
        return Opaque(kind.name if isinstance(kind, Global) else "object", function, args, state)
    return call(function, args, budget)


def _ordered(budget, items=(), *_):
    result: dict = {}
    budget.spend(len(items))
    for pair in items:
        if not isinstance(pair, (tuple, list)) or len(pair) != 2 or not isinstance(pair[0], (str, int)):
            raise ValueError("an ordered dict of something else than pairs")
        result[pair[0]] = pair[1]
    return result


def _default_dict(*_):
    return {}


def _set(budget, items=(), *_):
    if not isinstance(items, (list, tuple)):
        raise TypeError("a set of something that is no list")
    return items


_TENSORS: dict[str, Callable] = {
    "torch._utils._rebuild_tensor": _tensor_v2,
    "torch._utils._rebuild_tensor_v2": _tensor_v2,
    "torch._utils._rebuild_tensor_v3": _tensor_v3,
}
_CALLS: dict[str, Callable] = {
    **_TENSORS,
    "torch._utils._rebuild_parameter": _parameter,
    "torch._utils._rebuild_parameter_with_state": _parameter,
    "torch._tensor._rebuild_from_type_v2": _from_type,
    "collections.OrderedDict": _ordered,
    "collections.defaultdict": _default_dict,
    **{f"{module}.{name}": _set for module in ("builtins", "__builtin__") for name in ("set", "frozenset")},
}
