"""Values and gradients of ops against PyTorch in float64, where the two agree on the meaning."""

import numpy as np
import pytest

from burn._ops import norm
from burn.device import Device
from burn.tensor import module
from burn.tensor.ops import AttentionModuleOptions
from tests.cases.activation import function
from tests.cases.tensors import array, gradients, tensor

torch = pytest.importorskip("torch")
F = torch.nn.functional

X, Y, Z = (3, 5), (3, 5), (5, 4)
INDEX = np.array([[0, 2, 2, 1, 0], [1, 1, 0, 0, 2]])

# name: (ours, theirs, shapes of the inputs)
ROWS = {
    "relu": (function("relu"), F.relu, (X,)),
    "relu6": (function("relu6"), F.relu6, (X,)),
    "leaky_relu": (function("leaky_relu", 0.02), lambda x: F.leaky_relu(x, 0.02), (X,)),
    "prelu": (function("prelu"), F.prelu, ((2, 3, 4), (3,))),
    "elu": (function("elu", 1.3), lambda x: F.elu(x, 1.3), (X,)),
    # PyTorch rounds alpha to float in the gradient: 2 is exact
    "celu": (function("celu", 2.0), lambda x: F.celu(x, 2.0), (X,)),
    "selu": (function("selu"), F.selu, (X,)),
    "gelu": (function("gelu"), F.gelu, (X,)),
    "gelu_approximate": (function("gelu_approximate"), lambda x: F.gelu(x, approximate="tanh"), (X,)),
    "sigmoid": (function("sigmoid"), torch.sigmoid, (X,)),
    "log_sigmoid": (function("log_sigmoid"), F.logsigmoid, (X,)),
    "hard_swish": (function("hard_swish"), F.hardswish, (X,)),
    "silu": (function("silu"), F.silu, (X,)),
    "mish": (function("mish"), F.mish, (X,)),
    "softplus": (function("softplus", 1.5), lambda x: F.softplus(x, 1.5), (X,)),
    "softsign": (function("softsign"), F.softsign, (X,)),
    "tanhshrink": (function("tanhshrink"), F.tanhshrink, (X,)),
    "hard_shrink": (function("hard_shrink", 0.5), lambda x: F.hardshrink(x, 0.5), (X,)),
    "soft_shrink": (function("soft_shrink", 0.5), lambda x: F.softshrink(x, 0.5), (X,)),
    "threshold": (function("threshold", 0.1, 9.0), lambda x: F.threshold(x, 0.1, 9.0), (X,)),
    "glu": (function("glu", 0), lambda x: F.glu(x, 0), ((4, 3),)),
    "softmax": (function("softmax", 0), lambda x: F.softmax(x, 0), (X,)),
    "log_softmax": (function("log_softmax", -1), lambda x: F.log_softmax(x, -1), (X,)),
    "softmin": (function("softmin", -1), lambda x: F.softmin(x, -1), (X,)),
    "linear": (module.linear, lambda x, w, b: F.linear(x, w.T, b), ((2, 3, 4), (4, 5), (5,))),
    "matmul": (lambda x, y: x.matmul(y), torch.matmul, (X, Z)),
    "matmul(batched)": (lambda x, y: x.matmul(y), torch.matmul, ((1, 3, 4), (2, 4, 2))),
    "mul": (lambda x, y: x * y + x, lambda x, y: x * y + x, ((2, 1, 4), (1, 3, 4))),
    "div": (lambda x, y: x.div(y), torch.div, (X, Y)),
    "remainder": (lambda x, y: x.remainder(y), torch.remainder, (X, Y)),
    "fmod": (lambda x, y: x.fmod(y), torch.fmod, (X, Y)),
    "hypot": (lambda x, y: x.hypot(y), torch.hypot, (X, Y)),
    "atan2": (lambda x, y: x.atan2(y), torch.atan2, (X, Y)),
    "powf": (lambda x, y: x.abs().powf(y), lambda x, y: x.abs().pow(y), (X, Y)),
    "mean": (lambda x: x.mean(), lambda x: x.mean().reshape(1), (X,)),
    "var": (lambda x: x.var(1), lambda x: x.var(1, keepdim=True), (X,)),
    "prod": (lambda x: x.prod_dim(1), lambda x: x.prod(1, keepdim=True), (X,)),
    "cumsum": (lambda x: x.cumsum(0), lambda x: x.cumsum(0), (X,)),
    "cumprod": (lambda x: x.cumprod(1), lambda x: x.cumprod(1), (X,)),
    "max_dim": (lambda x: x.max_dim(1), lambda x: x.max(1, keepdim=True)[0], (X,)),
    "sort": (lambda x: x.sort(1), lambda x: x.sort(1)[0], (X,)),
    "topk": (lambda x: x.topk(2, 1), lambda x: x.topk(2, 1)[0], (X,)),
    "median": (lambda x: x.median(1), lambda x: x.median(1, keepdim=True)[0], (X,)),
    "clamp": (lambda x: x.clamp(-0.5, 0.5), lambda x: x.clamp(-0.5, 0.5), (X,)),
    "roll": (lambda x: x.roll([1, -1], [0, 1]), lambda x: x.roll([1, -1], [0, 1]), (X,)),
    "unfold": (lambda x: x.unfold(1, 3, 2), lambda x: x.unfold(1, 3, 2), ((2, 7),)),
    "tril": (lambda x: x.tril(-1), lambda x: x.tril(-1), (X,)),
    "repeat": (lambda x: x.repeat([2, 3]), lambda x: x.repeat(2, 3), (X,)),
    "cat": (lambda x, y: type(x).cat([x, y], 0), lambda x, y: torch.cat([x, y]), (X, Y)),
    "gather": (
        lambda x: x.gather(0, tensor(INDEX, x.device)),
        lambda x: x.gather(0, torch.tensor(INDEX)),
        (X,),
    ),
    "scatter": (
        lambda x, v: x.scatter(0, tensor(INDEX, x.device), v, "Add"),
        lambda x, v: x.scatter_add(0, torch.tensor(INDEX), v),
        (X, (2, 5)),
    ),
    "select": (lambda x: x.select(0, tensor(INDEX[0], x.device)), lambda x: x[torch.tensor(INDEX[0])], (X,)),
    "einsum": (
        lambda x, y: burn_einsum("bij,bjk->bik", [x, y]),
        lambda x, y: torch.einsum("bij,bjk->bik", x, y),
        ((2, 3, 4), (2, 4, 5)),
    ),
    "layer_norm": (
        lambda x, g, b: module.layer_norm(x, g, b, 1e-5),
        lambda x, g, b: F.layer_norm(x, (5,), g, b, 1e-5),
        (X, (5,), (5,)),
    ),
    "batch_norm_train": (
        lambda x, g, b: module.batch_norm_train(x, g, b, 1e-5).output,
        lambda x, g, b: F.batch_norm(x, None, None, g, b, True),
        ((4, 3, 6), (3,), (3,)),
    ),
    "group_norm": (
        lambda x, g, b: norm.group_norm(x, 2, g, b, 1e-5),
        lambda x, g, b: F.group_norm(x, 2, g, b),
        ((3, 4, 6), (4,), (4,)),
    ),
    "rms_norm": (lambda x, g: norm.rms_norm(x, g, 1e-5), lambda x, g: F.rms_norm(x, (5,), g, 1e-5), (X, (5,))),
    # of even sizes the two disagree
    "local_response_norm": (
        lambda x: norm.local_response_norm(x, 3, 0.5, 0.75, 1.2),
        lambda x: F.local_response_norm(x, 3, 0.5, 0.75, 1.2),
        ((2, 5, 4),),
    ),
    "attention": (
        lambda q, k, v: module.attention(q, k, v, None, None, AttentionModuleOptions()),
        F.scaled_dot_product_attention,
        ((2, 2, 7, 4), (2, 2, 7, 4), (2, 2, 7, 3)),
    ),
    "causal attention": (
        lambda q, k, v: module.attention(q, k, v, None, None, AttentionModuleOptions(is_causal=True)),
        lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True),
        ((2, 2, 7, 4), (2, 2, 7, 4), (2, 2, 7, 3)),
    ),
}


def burn_einsum(equation, operands):
    from burn.tensor import einsum

    return einsum(equation, operands)


@pytest.mark.parametrize("name", ROWS)
def test_parity(name):
    ours, theirs, shapes = ROWS[name]
    rng = np.random.default_rng(11)
    arrays = [rng.uniform(-2, 2, s) for s in shapes]
    leaves = [torch.tensor(a, requires_grad=True) for a in arrays]
    out = theirs(*leaves)
    cotangent = rng.uniform(-1, 1, tuple(out.shape))
    (out * torch.tensor(cotangent)).sum().backward()
    device = Device.flex()
    np.testing.assert_allclose(
        array(ours(*(tensor(a, device) for a in arrays))), out.detach().numpy(), rtol=1e-11, atol=1e-12
    )
    for have, leaf in zip(gradients(ours, arrays, [cotangent], device), leaves, strict=True):
        np.testing.assert_allclose(have, leaf.grad.numpy(), rtol=1e-10, atol=1e-11)
