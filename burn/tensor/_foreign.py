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
    "to": "to_device() or cast()", "type": "cast()", "view": "reshape()",
    "where": "mask_where()",
}  # fmt: skip
_ACTIVATIONS = """
    celu elu gelu gelu_approximate glu hard_shrink hard_sigmoid hard_swish hardtanh leaky_relu log_sigmoid log_softmax mish prelu
    quiet_softmax relu relu6 selu shrink sigmoid silu soft_shrink softmax softmin softplus softplus_with_threshold softsign
    tanhshrink threshold thresholded_relu
"""
_NAMES |= {name: f"burn.tensor.activation.{name}()" for name in _ACTIVATIONS.split()}


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
