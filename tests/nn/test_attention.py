"""Attention layers, masks, caches and transformers."""

import numpy as np
import pytest

from burn import Device, Tensor
from burn.errors import ArgumentError, ArgumentTypeError, KindError, ShapeError
from burn.nn.attention import (
    CrossAttentionCache,
    CrossAttentionConfig,
    MhaCache,
    MhaInput,
    MultiHeadAttentionConfig,
    SeqLengthOption,
    generate_autoregressive_mask,
    generate_padding_mask,
)
from burn.nn.transformer import (
    PositionWiseFeedForwardConfig,
    TransformerDecoderConfig,
    TransformerDecoderInput,
    TransformerEncoderConfig,
    TransformerEncoderInput,
)

CPU = Device.flex()
AD = CPU.autodiff()
X = [[1.0, 2.0], [3.0, 4.0], [-1.0, 0.5]]
WEIGHTS = {
    "query": ([[0.1, 0.2], [0.3, 0.4]], [0.01, 0.02]),
    "key": ([[0.5, -0.6], [0.7, 0.8]], [0.03, -0.04]),
    "value": ([[0.9, 1.0], [-1.1, 1.2]], [0.05, 0.06]),
    "output": ([[1.3, -1.4], [1.5, 1.6]], [0.07, -0.08]),
}


def values(tensor):
    return np.asarray(tensor.numpy(), "f8")


def tensor(data, device=CPU):
    return Tensor.from_data(np.asarray(data, "f4"), device, dtype="f32")


def filled(module, parts):
    """The module with values for its parameters by path."""
    for path, data in parts.items():
        name, _, rest = path.partition(".")
        part = getattr(module, name)
        new = filled(part, {rest: data}) if rest else part.map(lambda t, d=data: tensor(d).reshape(t.dims()))
        module = module.replace(**{name: new})
    return module


def attention(heads, **options):
    parts = {
        f"{name}.{kind}": v for name, pair in WEIGHTS.items() for kind, v in zip(("weight", "bias"), pair, strict=True)
    }
    return filled(MultiHeadAttentionConfig(2, heads, **options).init(CPU), parts)


SELF = MhaInput.self_attn(tensor([X]))
CAUSAL = generate_autoregressive_mask(1, 3, CPU)


@pytest.mark.parametrize(
    "heads, given, options, context",
    [
        (1, SELF, {}, [[7.931968, 12.669385], [9.422941, 14.447534], [4.08578, 8.222883]]),
        (2, SELF, {}, [[4.40941, 8.956905], [5.462766, 10.240537], [3.697484, 7.817846]]),
        (2, SELF.mask_attn(CAUSAL), {}, [[3.635, 7.206], [7.804461, 12.73913], [3.697484, 7.817846]]),
        (
            1,
            SELF.mask_pad(Tensor.from_data([[False, False, True]], CPU)),
            {},
            [[8.599864, 13.41208], [9.474681, 14.505602], [6.838213, 11.210016]],
        ),
        (1, SELF, {"quiet_softmax": True}, [[7.683135, 12.265864], [9.412566, 14.431419], [3.159136, 6.306989]]),
        (1, SELF.mask_pad(Tensor.from_data([[True] * 3], CPU)), {}, [[3.696667, 7.782667]] * 3),
    ],
    ids=["one head", "two heads", "causal", "padding", "quiet", "all masked"],
)
def test_multi_head_attention(heads, given, options, context):
    layer = attention(heads, **options)
    np.testing.assert_allclose(values(layer(given).context)[0], context, rtol=1e-5)
    through_weights = attention(heads, min_float=-9.0e3, **options)(given)
    np.testing.assert_allclose(values(through_weights.context)[0], context, rtol=1e-5)
    np.testing.assert_allclose(values(layer(given).weights), values(through_weights.weights), rtol=1e-5, atol=1e-7)


def test_weights():
    out = attention(1)(SELF)
    want = [[0.172131, 0.766368, 0.061501], [0.039352, 0.956239, 0.004409], [0.330015, 0.367461, 0.302525]]
    np.testing.assert_allclose(values(out.weights)[0, 0], want, atol=1e-6)
    assert out.weights is out.weights


def test_dropout_falls_on_the_weights():
    layer = MultiHeadAttentionConfig(2, 1, dropout=0.5).init(AD)
    out = layer(MhaInput.self_attn(Tensor.zeros([4, 2, 2], AD)))
    assert set(np.unique(values(out.weights))) <= {0.0, 1.0}


@pytest.mark.parametrize("mask", [False, True])
def test_the_gradient_is_that_through_the_weights(mask):
    """The fused path, with a query whose keys are all masked, and the path through the matrix of weights."""
    rng = np.random.default_rng(0)
    x, pad, found = rng.standard_normal((2, 5, 4)), np.array([[False] * 5, [True] * 5]), []
    fused = MultiHeadAttentionConfig(4, 2, dropout=0.0).init(AD)
    for layer in (fused, fused.replace(min_float=-9.0e3)):
        leaf = tensor(x, AD).require_grad()
        given = MhaInput.self_attn(leaf)
        out = layer(given.mask_pad(Tensor.from_data(pad, CPU)) if mask else given).context
        grads = (out * out).sum().backward()
        parts = (leaf, layer.query.weight, layer.key.weight, layer.value.bias)
        found.append([values(part.grad(grads)) for part in parts])
    for one, two in zip(*found, strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(("dtype", "min_float"), [("f16", -1e9), ("f32", -1e300), ("f64", -np.inf)])
def test_a_masked_score_below_what_the_dtype_holds(dtype, min_float):
    """With a matrix of weights, too, a query whose keys are all masked takes the mean of all values."""
    x = Tensor.from_data([[[1.0, 2.0], [3.0, 5.0]]], AD, dtype=dtype)
    mask = Tensor.from_data([[[True, True], [False, True]]], CPU)
    layer = MultiHeadAttentionConfig(2, 1, dropout=1e-9, min_float=min_float).init(AD)
    for name in WEIGHTS:
        part = getattr(layer, name)
        part = part.replace(
            weight=part.weight.map(lambda t: t.cast(dtype)), bias=part.bias.map(lambda t: t.cast(dtype))
        )
        layer = layer.replace(**{name: part})
    out = layer(MhaInput.self_attn(x).mask_attn(mask))
    np.testing.assert_allclose(values(out.weights), [[[[0.5, 0.5], [1.0, 0.0]]]], rtol=1e-6)
    assert np.isfinite(values(out.context)).all()


def test_attention_refuses():
    layer = MultiHeadAttentionConfig(4, 2).init(CPU)
    x = Tensor.ones([2, 3, 4], CPU)
    for given, text in (
        (MhaInput.self_attn(Tensor.ones([2, 3, 5], CPU)), r"'query' must be .* d_model = 4, got shape \[2, 3, 5\]"),
        (MhaInput(x, Tensor.ones([1, 3, 4], CPU), x), "'key' must have the batch of 'query'"),
        (MhaInput(x, x, x.narrow(1, 0, 2)), "'value' must have the shape of 'key'"),
        (
            MhaInput.self_attn(x).mask_pad(Tensor.zeros([2, 4], CPU) > 1.0),
            r"'mask_pad' must have shape \[2, 3\], got \[2, 4\]",
        ),
        (MhaInput.self_attn(x).mask_attn(Tensor.zeros([2, 3], CPU) > 1.0), r"'mask_attn' must have shape \[2, 3, 3\]"),
    ):
        with pytest.raises(ShapeError, match=text):
            layer(given)
    with pytest.raises(KindError, match="'mask_pad' must be a Bool tensor, got f32"):
        layer(MhaInput.self_attn(x).mask_pad(Tensor.zeros([2, 3], CPU)))
    with pytest.raises(ArgumentError, match="'n_heads' must divide 'd_model', got 3 heads of 4 features"):
        MultiHeadAttentionConfig(4, 3).init(CPU)
    for config in (MultiHeadAttentionConfig(4, 2), CrossAttentionConfig(4, 4, 2, 1, 2)):
        with pytest.raises(ArgumentError, match=r"Config\] 'min_float' must be a number below infinity, got nan"):
            config.with_min_float(np.nan).init(CPU)


@pytest.mark.parametrize("quiet", [False, True])
@pytest.mark.parametrize("masked", [False, True])
def test_cache_gives_what_the_masked_whole_gives(masked, quiet):
    rng = np.random.default_rng(2)
    layer = MultiHeadAttentionConfig(4, 2).with_quiet_softmax(quiet).init(CPU)
    x = Tensor.from_data(rng.standard_normal((2, 4, 4)), CPU, "f32")
    causal = generate_autoregressive_mask(2, 4, CPU)
    pad, pairs = (Tensor.from_data(rng.random(shape) < 0.3 * masked, CPU) for shape in ((2, 4), (1, 4, 4)))
    whole = layer(MhaInput.self_attn(x).mask_pad(pad).mask_attn(causal.bool_or(pairs.expand([2, 4, 4]))))
    cache = MhaCache.autoregressive()
    for n in range(1, 5):
        step = MhaInput.self_attn(x.narrow(1, 0, n)).mask_pad(pad.narrow(1, 0, n)).mask_attn(pairs[:, :n, :n])
        out = layer.forward_cache(step, cache)
        np.testing.assert_allclose(values(out.context), values(whole.context)[:, :n], rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(values(out.weights)[:, :, -1], values(whole.weights)[:, :, n - 1, :n], atol=1e-6)
    with pytest.raises(
        ShapeError, match=r"\[cache\] 'input' must have the batch of 2 and one position more than the 4"
    ):
        layer.forward_cache(MhaInput.self_attn(x), cache)


def test_a_refused_step_leaves_caches_as_they_are():
    layer, x = MultiHeadAttentionConfig(4, 2).init(CPU), Tensor.ones([2, 3, 4], CPU)
    one, two, cache = x.narrow(1, 0, 1), x.narrow(1, 0, 2), MhaCache.autoregressive()
    layer.forward_cache(MhaInput.self_attn(one), cache)
    with pytest.raises(ShapeError, match="one position more than the 1 that are cached"):
        layer.forward_cache(MhaInput(two, x, x), cache)
    assert layer.forward_cache(MhaInput.self_attn(two), cache).context.dims() == [2, 2, 4]
    decoder = TransformerDecoderConfig(4, 8, 2, 2).init(CPU)
    cache, hidden = decoder.new_autoregressive_cache(), Tensor.ones([2, 1], CPU) > 1.0
    decoder.forward_autoregressive_inference(TransformerDecoderInput(one, x), cache)
    other = TransformerDecoderInput(two, one).memory_mask_pad(hidden)
    with pytest.raises(
        ShapeError, match=r"\[TransformerDecoder\] 'memory' must have the 3 positions of the first call"
    ):
        decoder.forward_autoregressive_inference(other, cache)
    assert decoder.forward_autoregressive_inference(TransformerDecoderInput(two, x), cache).dims() == [2, 2, 4]
    cross, kept = CrossAttentionConfig(4, 4, 2, 1, 2).init(CPU), CrossAttentionCache()
    with pytest.raises(ShapeError, match="'mask' must have shape"):
        cross.forward_cache(one, x, hidden, kept)
    assert kept.k.value is None and cross.forward_cache(one, two, None, kept).dims() == [2, 1, 4]


def test_a_tensor_is_no_input():
    x = Tensor.ones([1, 2, 4], CPU)
    for layer, name in (
        (MultiHeadAttentionConfig(4, 2), "MhaInput"),
        (TransformerEncoderConfig(4, 4, 2, 1), "TransformerEncoderInput"),
        (TransformerDecoderConfig(4, 4, 2, 1), "TransformerDecoderInput"),
    ):
        with pytest.raises(ArgumentTypeError, match=rf"'input' must be an? {name}, got Tensor; use {name}"):
            layer.init(CPU)(x)


def test_cross_attention():
    rng = np.random.default_rng(3)
    layer = CrossAttentionConfig(6, 5, 4, 2, 3).init(CPU)
    query, context = tensor(rng.standard_normal((2, 3, 6))), tensor(rng.standard_normal((2, 4, 5)))
    mask = Tensor.from_data([[False, True, False, True], [True] * 4], CPU)
    q, k, v = (values(p(x)) for p, x in ((layer.query, query), (layer.key, context), (layer.value, context)))
    q, k, v = q.reshape(2, 3, 4, 3), k.reshape(2, 4, 2, 3), v.reshape(2, 4, 2, 3)
    merged = np.zeros((2, 3, 4, 3))
    for b, i, h in np.ndindex(2, 3, 4):
        s = np.where(values(mask)[b], -1e4, k[b, :, h // 2] @ q[b, i, h] / np.sqrt(3))
        e = np.exp(s - s.max())
        merged[b, i, h] = e @ v[b, :, h // 2] / e.sum()
    want = values(layer.output(tensor(merged.reshape(2, 3, 12))))
    np.testing.assert_allclose(values(layer(query, context, mask)), want, rtol=1e-4, atol=1e-5)
    cache = CrossAttentionCache()
    layer.forward_cache(query, context, mask, cache)
    again = layer.forward_cache(query, context * 0.0, mask, cache)
    np.testing.assert_allclose(values(again), want, rtol=1e-4, atol=1e-5)
    with pytest.raises(ShapeError, match="must have the batch of 'query'"):
        layer(query, context.narrow(0, 0, 1))
    with pytest.raises(ArgumentError, match="'n_heads_kv' must divide 'n_heads', got 3 and 4"):
        CrossAttentionConfig(6, 5, 4, 3, 3).init(CPU)


def test_masks():
    assert CAUSAL.tolist() == [[[False, True, True], [False, False, True], [False, False, False]]]
    rows = [[1, 2, 3], [4, 5, 6], [7, 8, 9, 0], [1, 2, 3, 4, 5, 6]]
    made = generate_padding_mask(0, rows, None, CPU)
    assert made.tensor.dims() == [4, 6] and made.tensor.tolist()[2] == [7, 8, 9, 0, 0, 0]
    # A token that equals the padding is a token.
    assert made.mask.tolist() == [[k >= len(row) for k in range(6)] for row in rows]
    for option, length in (
        (4, 4),
        (SeqLengthOption.Max(9), 6),
        (SeqLengthOption.Fixed(7), 7),
        (SeqLengthOption.NoMax, 6),
    ):
        assert generate_padding_mask(0, rows, option, CPU).mask.dims() == [4, length]
    assert generate_padding_mask(0, [], None, CPU).mask.dims() == [0, 1]
    with pytest.raises(ArgumentTypeError, match=r"\[generate_padding_mask\] 'seq_length' must be an integer"):
        generate_padding_mask(0, rows, "long", CPU)
    with pytest.raises(ArgumentTypeError, match=r"\[generate_padding_mask\] 'tokens_list'.*got 1; give one list"):
        generate_padding_mask(0, [1, 2], None, CPU)


def rule(k, shape, scale=0.5):
    """Element i is scale * sin(0.7 i + k)."""
    return (scale * np.sin(0.7 * np.arange(np.prod(shape)) + k)).reshape(shape)


def attention_parts(prefix, first):
    parts = {}
    for i, name in enumerate(("query", "key", "value", "output")):
        parts |= {
            f"{prefix}.{name}.weight": rule(first + 2 * i, (4, 4)),
            f"{prefix}.{name}.bias": rule(first + 2 * i + 1, (4,)),
        }
    return parts


FEED_FORWARD = {
    "pwff.linear_inner.weight": rule(9, (4, 6)), "pwff.linear_inner.bias": rule(10, (6,)),
    "pwff.linear_outer.weight": rule(11, (6, 4)), "pwff.linear_outer.bias": rule(12, (4,)),
}  # fmt: skip


def norm_parts(count):
    return {
        f"norm_{i}.{n}": rule(11 + 2 * i + (n == "beta"), (4,)) + (n == "gamma")
        for i in range(1, count + 1)
        for n in ("gamma", "beta")
    }


SEQUENCE = tensor(rule(0.3, (1, 3, 4), 2.0))


POST = [[-1.15214, 0.652823, 0.119283, -0.955493], [1.850395, -0.111677, -1.090169, -0.817435]]
POST_CAUSAL = [[-1.136374, 0.656261, 0.115004, -0.960084], [1.861943, -0.128568, -1.098669, -0.806975]]
POST_LAST = [-2.261317, -0.489116, 0.180004, 0.002159]
PRE = [[0.857887, 1.902206, 2.051887, 1.236534], [0.203378, -0.886942, -1.56012, -1.499549]]
PRE_CAUSAL = [[0.875644, 2.209227, 2.503776, 1.62076], [0.198151, -0.939228, -1.634874, -1.561613]]
PRE_LAST = [-0.485542, 1.001504, 2.017526, 2.084674]


@pytest.mark.parametrize(
    "norm_first, causal, want",
    [
        (False, False, [*POST, POST_LAST]),
        (False, True, [*POST_CAUSAL, POST_LAST]),
        (True, False, [*PRE, PRE_LAST]),
        (True, True, [*PRE_CAUSAL, PRE_LAST]),
    ],
)
def test_encoder(norm_first, causal, want):
    encoder = TransformerEncoderConfig(4, 6, 2, 1, norm_first=norm_first).init(CPU)
    layer = filled(encoder.layers[0], attention_parts("mha", 1) | FEED_FORWARD | norm_parts(2))
    given = TransformerEncoderInput(SEQUENCE)
    out = encoder.replace(layers=[layer])(given.mask_attn(CAUSAL) if causal else given)
    np.testing.assert_allclose(values(out)[0], want, rtol=2e-4, atol=2e-5)


@pytest.mark.parametrize("norm_first", [False, True])
def test_inference_step_by_step(norm_first):
    rng = np.random.default_rng(4)
    x, memory = tensor(rng.standard_normal((2, 4, 4))), tensor(rng.standard_normal((2, 3, 4)))
    mask = generate_autoregressive_mask(2, 4, CPU)
    encoder = TransformerEncoderConfig(4, 6, 2, 3, norm_first=norm_first).init(CPU)
    decoder = TransformerDecoderConfig(4, 6, 2, 3, norm_first=norm_first).init(CPU)
    for model, given in (
        (encoder, lambda x: TransformerEncoderInput(x)),
        (decoder, lambda x: TransformerDecoderInput(x, memory)),
    ):
        whole = given(x)
        whole = model(whole.mask_attn(mask) if model is encoder else whole.target_mask_attn(mask))
        cache = model.new_autoregressive_cache()
        for n in range(1, 5):
            step = model.forward_autoregressive_inference(given(x.narrow(1, 0, n)), cache)
            np.testing.assert_allclose(values(step), values(whole)[:, :n], rtol=1e-4, atol=1e-5)


def test_caches_of_another_make_are_refused():
    x = Tensor.ones([1, 1, 4], CPU)
    encoder, decoder = TransformerEncoderConfig(4, 8, 2, 2).init(CPU), TransformerDecoderConfig(4, 8, 2, 1).init(CPU)
    given = TransformerEncoderInput(x)
    for cache, error, found in (
        (encoder.new_autoregressive_cache()[:1], ArgumentError, "one of 1 layers"),
        (decoder.new_autoregressive_cache(), ArgumentTypeError, "list|LayerCache"),
        (None, ArgumentTypeError, "None"),
    ):
        with pytest.raises(
            error, match=rf"\[TransformerEncoder\] 'cache' must be of 2 layers, got .*({found}).*; use new_auto"
        ):
            encoder.forward_autoregressive_inference(given, cache)
    with pytest.raises(ArgumentTypeError, match=r"\[TransformerDecoder\] 'cache' must be of 1 layers, got"):
        decoder.forward_autoregressive_inference(TransformerDecoderInput(x, x), encoder.new_autoregressive_cache()[:1])
    with pytest.raises(ArgumentTypeError, match=r"\[MultiHeadAttention\] 'cache' must be a MhaCache, got None"):
        MultiHeadAttentionConfig(4, 2).init(CPU).forward_cache(MhaInput.self_attn(x), None)
    with pytest.raises(ArgumentTypeError, match=r"\[CrossAttention\] 'cache' must be a CrossAttentionCache, got None"):
        CrossAttentionConfig(4, 4, 2, 1, 3).init(CPU).forward_cache(x, x, None, None)


def test_displays_and_paths():
    encoder = TransformerEncoderConfig(2, 4, 2, 3).init(CPU)
    assert str(encoder) == (
        "TransformerEncoder {d_model: 2, d_ff: 4, n_heads: 2, n_layers: 3, dropout: 0.1, norm_first: false, "
        "quiet_softmax: false, params: 162}"
    )
    decoder = TransformerDecoderConfig(2, 4, 2, 3).init(CPU)
    assert "params: 246}" in str(decoder)
    assert (
        str(PositionWiseFeedForwardConfig(2, 4).init(CPU))
        == "PositionWiseFeedForward {d_model: 2, d_ff: 4, prob: 0.1, params: 22}"
    )
