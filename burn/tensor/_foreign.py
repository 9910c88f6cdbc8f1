"""Names that a tensor lacks: those of Burn that wait, and those of other libraries that people type from habit.

The AttributeError says what burn calls it. More in docs/names.md.
"""

from burn._waiting import LackingNames, lacks, shown

__all__ = ["ForeignNames"]

_NAMES = {
    "astype": "cast()", "cpu": "to_device(Device.flex())", "cuda": "to_device(Device.cuda())", "double": 'cast("f64")',
    "half": 'cast("f16")', "index_select": "select()", "long": 'cast("i64")', "masked_fill": "mask_fill()",
    "masked_select": "mask_select()", "norm": "burn.linalg.l2_norm()", "numel": "shape.num_elements()",
    "pow": "powf(), powf_scalar() or **", "requires_grad_": "autodiff().require_grad()", "size": "shape",
    "softmax": "burn.tensor.activation.softmax()", "to": "to_device() or cast()", "type": "cast()", "view": "reshape()",
    "where": "mask_where()",
}  # fmt: skip


class ForeignNames(metaclass=LackingNames):
    """The part of Tensor that knows names which it lacks."""

    __slots__ = ()

    def __dir__(self):
        return shown(type(self), super().__dir__())


def _refuse(owner, name):
    return AttributeError(
        f"'{owner.__name__}' object has no attribute {name!r}; use {_NAMES[name]}", name=name, obj=owner
    )


for _name in _NAMES:
    lacks(ForeignNames, _name, _refuse)
