"""Names that a tensor lacks: those of Burn that wait, and those of other libraries that people type from habit.

The AttributeError says what burn calls it. More in docs/names.md.
"""

from burn._waiting import check_waiting

__all__ = ["ForeignNames"]

_NAMES = {
    "astype": "cast()", "cpu": "to_device(Device.flex())", "cuda": "to_device(Device.cuda())", "double": 'cast("f64")',
    "half": 'cast("f16")', "index_select": "select()", "long": 'cast("i64")', "masked_fill": "mask_fill()",
    "masked_select": "mask_select()", "norm": "burn.linalg.l2_norm()", "numel": "shape.num_elements()",
    "pow": "powf(), powf_scalar() or **", "requires_grad_": "autodiff().require_grad()", "size": "shape",
    "softmax": "burn.tensor.activation.softmax()", "to": "to_device() or cast()", "type": "cast()", "view": "reshape()",
    "where": "mask_where()",
}  # fmt: skip


class ForeignNames:
    """The part of Tensor that is asked for attributes it lacks."""

    __slots__ = ()

    def __getattr__(self, name):
        if hasattr(type(self), name):  # a property refused: its own words count
            return object.__getattribute__(self, name)
        check_waiting("Tensor", name)
        hint = f"; use {_NAMES[name]}" if name in _NAMES else ""
        raise AttributeError(f"'{type(self).__name__}' object has no attribute {name!r}{hint}", name=name, obj=self)
