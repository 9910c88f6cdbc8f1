"""The affine layer."""

import numpy as np
import pytest

from burn import Device, Tensor
from burn.config import config_to_json
from burn.errors import ArgumentError, ShapeError
from burn.nn import Initializer, LinearConfig, LinearLayout

CPU = Device.flex()


def test_twos():
    config = LinearConfig(2, 3).with_initializer(Initializer.Constant(2.0))
    ones = Tensor.ones([1, 1, 2], CPU)
    assert config.init(CPU)(ones).tolist() == [[[6.0, 6.0, 6.0]]]
    assert config.with_bias(False).init(CPU)(ones).tolist() == [[[4.0, 4.0, 4.0]]]


@pytest.mark.parametrize("shape", [(4,), (2, 4), (3, 2, 4), (2, 3, 2, 4), (0, 4)])
@pytest.mark.parametrize("layout", LinearLayout)
@pytest.mark.parametrize("bias", [True, False])
def test_any_rank(shape, layout, bias):
    linear = LinearConfig(4, 5, bias=bias, layout=layout).init(CPU)
    x = np.linspace(-1, 1, int(np.prod(shape)), dtype="f4").reshape(shape)
    expected = x @ linear.weight.numpy() + (linear.bias.numpy() if bias else 0)
    np.testing.assert_allclose(linear(Tensor.from_data(x, CPU)).numpy(), expected, rtol=1e-5, atol=1e-6)


def test_both_layouts_draw_from_the_same_range():
    for layout in LinearLayout:
        weight = LinearConfig(100, 4, layout=layout).init(CPU).weight.numpy()
        assert weight.shape == (100, 4) and 0.095 < np.abs(weight).max() <= 0.1


def test_layout_survives_valid_train_and_moves():
    linear = LinearConfig(2, 3, layout=LinearLayout.Col).init(CPU.autodiff())
    for changed in (linear.valid(), linear.valid().train(), linear.fork(Device.ndarray()), linear.clone()):
        assert changed.weight.dims() == [2, 3]
        assert changed.into_record().tensors()[0].shape == (3, 2)


def test_what_it_refuses():
    linear = LinearConfig(4, 5).init(CPU)
    with pytest.raises(
        ShapeError, match=r"\[Linear\] 'input' must be \[..., d_input\] with d_input = 4, got shape \[2, 3\]"
    ):
        linear(Tensor.ones([2, 3], CPU))
    with pytest.raises(TypeError, match=r"\[Linear\] 'input' must be a Tensor, got ndarray"):
        linear(np.ones((2, 4)))
    for sizes in ((0, 1), (1, -1)):
        with pytest.raises(ArgumentError, match="must be a positive integer"):
            LinearConfig(*sizes).init(CPU)


def test_config():
    assert config_to_json(LinearConfig(3, 5)) == (
        '{\n  "d_input": 3,\n  "d_output": 5,\n  "bias": true,\n  "initializer": {\n    "KaimingUniform": {\n'
        '      "gain": 0.5773502691896258,\n      "fan_out_only": false\n    }\n  },\n  "layout": "Row"\n}'
    )


def test_gradients_of_the_parameters():
    linear = LinearConfig(2, 1, initializer=Initializer.Constant(0.5)).init(CPU.autodiff())
    x = Tensor.from_data([[1.0, 2.0], [3.0, 4.0]], CPU)
    grads = linear(x).sum().backward()
    assert linear.weight.grad(grads).tolist() == [[4.0], [6.0]]
    assert linear.bias.grad(grads).tolist() == [2.0]
    frozen = linear.no_grad()
    assert not frozen(x).is_tracked()
