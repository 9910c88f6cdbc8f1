"""Names that people type from habit at a module: the AttributeError says what burn calls it. More in docs/names.md."""

from burn._waiting import lacks

_NAMES = {
    "children": "the fields of the module",
    "cpu": "to_device(Device.flex())",
    "cuda": "to_device(Device.cuda())",
    "eval": "valid()",
    "half": 'map(mapper), with param.map(lambda tensor: tensor.cast("f16"))',
    "load_state_dict": "load_record(record), load_file(path) or load_from(store)",
    "modules": "the fields of the module",
    "named_parameters": "visit(visitor), with PathTracking for the paths",
    "parameters": "visit(visitor), or list_param_ids(module)",
    "register_buffer": "a field that holds a Tensor, or a RunningState to record it",
    "register_module": "a field that holds the module",
    "register_parameter": "a field that holds a Param",
    "requires_grad_": "set_require_grad(True)",
    "state_dict": "into_record(), save_file(path) or save_into(store)",
    "to": "to_device(device), or fork(device) to train there",
    "zero_grad": "GradientsParams: each backward() gives gradients of its own, nothing is added up",
}


def lack_foreign(cls: type) -> None:
    """Lets a class of modules say of the names of other libraries what to use instead."""
    for name in _NAMES:
        lacks(cls, name, _refuse)


def _refuse(owner, name):
    return AttributeError(
        f"{owner.__name__!r} object has no attribute {name!r}; use {_NAMES[name]}", name=name, obj=owner
    )
