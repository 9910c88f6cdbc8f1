"""Benchmark cases of layers: norms, attention, pooling, resampling, convolutions, losses, recurrent nets."""

from dataclasses import replace

import numpy as np

from benchmarks.case import M4, SQUARE, Arg, Case

VECTOR = Arg((2048,))
PARAMETERS = (replace(VECTOR, tracked=True),) * 2
NORM = [
    Case(
        "layer_norm 2048²", "norm", (SQUARE, VECTOR, VECTOR), "module.layer_norm(a, b, c, 1e-5)",
        "F.layer_norm(a, a.shape[-1:], b, c, 1e-5)", ratio=(1.2, 1.4), memory=8 * M4,
    ),
    Case(
        "layer_norm and gradient 2048²", "norm", (replace(SQUARE, tracked=True), *PARAMETERS),
        "module.layer_norm(a, b, c, 1e-5).sum().backward()",
        "torch.autograd.grad(F.layer_norm(a, a.shape[-1:], b, c, 1e-5).sum(), (a, b, c))", ratio=(1.2, 1.4),
    ),
    Case(
        "batch_norm 2048²", "norm", (SQUARE, VECTOR, VECTOR), "module.batch_norm_train(a, b, c, 1e-5)",
        "F.batch_norm(a, None, None, b, c, True)", ratio=(1.2, 1.4), memory=12 * M4,
    ),
    Case(
        "batch_norm and gradient 2048²", "norm", (replace(SQUARE, tracked=True), *PARAMETERS),
        "module.batch_norm_train(a, b, c, 1e-5).output.sum().backward()",
        "torch.autograd.grad(F.batch_norm(a, None, None, b, c, True).sum(), (a, b, c))", ratio=(1.2, 1.4),
    ),
    Case(
        "batch_norm and gradient 8×64×56×56", "norm",
        (Arg((8, 64, 56, 56), tracked=True), *(Arg((64,), tracked=True),) * 2),
        "module.batch_norm_train(a, b, c, 1e-5).output.sum().backward()",
        "torch.autograd.grad(F.batch_norm(a, None, None, b, c, True).sum(), (a, b, c))",
    ),
]  # fmt: skip

HEADS = (Arg((4, 8, 512, 64)),) * 3
SCORES = 4 * 8 * 512 * 512
ATTENTION = [
    Case(
        "attention 4×8×512×64", "attention", HEADS, "module.attention(a, b, c, None, None, whole)",
        "F.scaled_dot_product_attention(a, b, c)",
        ratio=(1.1, 1.25), flops=SCORES * 64 * 4,
    ),
    Case(
        "causal attention 4×8×512×64", "attention", HEADS, "module.attention(a, b, c, None, None, causal)",
        "F.scaled_dot_product_attention(a, b, c, is_causal=True)", ratio=(1.5, 2.0), flops=SCORES * 64 * 2,
    ),
    Case(
        "attention and gradient 4×8×512×64", "attention", tuple(replace(arg, tracked=True) for arg in HEADS),
        "module.attention(a, b, c, None, None, whole).sum().backward()",
        "torch.autograd.grad(F.scaled_dot_product_attention(a, b, c).sum(), (a, b, c))", ratio=1.1, flops=SCORES * 64 * 14,
    ),
]  # fmt: skip

MAP, SMALL_MAP = Arg((8, 64, 112, 112)), Arg((8, 64, 56, 56))
POINTS = Arg((8, 56, 56, 2))
POOLED = "ops.MaxPoolOptions([3, 3], [2, 2], [1, 1])"
MAPS = 4 * 8 * 64 * 56 * 56  # bytes of the smaller one


def resized(name, mode, factor, ratio=None, memory=5 * MAPS):
    """A plane made larger, corners not aligned."""
    plain = "" if mode.islower() else ", align_corners=False"
    return Case(
        f"interpolate {name} × {factor} 8×64×56²", "interpolate", (SMALL_MAP,),
        f"module.interpolate(a, ops.InterpolateOptions(ops.InterpolateMode.{mode.capitalize()}, False, None, [{factor}] * 2))",
        f"F.interpolate(a, scale_factor={factor}, mode='{mode.lower()}'{plain})", ratio=ratio, memory=memory,
    )  # fmt: skip


def backward(name, arg, burn, torch, family):
    """A layer and its gradient."""
    return Case(
        name,
        family,
        (replace(arg, tracked=True),),
        f"{burn}.sum().backward()",
        f"torch.autograd.grad({torch}.sum(), a)",
    )


POOL = [
    Case("max_pool2d k3 s2 p1 8×64×112²", "pool", (MAP,), f"module.max_pool2d(a, {POOLED})", "F.max_pool2d(a, 3, 2, 1)",
         ratio=(8, 20), memory=5 * MAPS),
    Case("max_pool2d with indices 8×64×112²", "pool", (MAP,), f"module.max_pool2d_with_indices(a, {POOLED})",
         "F.max_pool2d(a, 3, 2, 1, return_indices=True)", ratio=(6, 15), memory=6 * MAPS),
    Case("avg_pool2d k2 8×64×112²", "pool", (MAP,), "module.avg_pool2d(a, ops.AvgPoolOptions([2, 2]))", "F.avg_pool2d(a, 2)",
         ratio=(4, 8), memory=5 * MAPS),
    Case("avg_pool2d k3 s1 p1 8×64×56²", "pool", (SMALL_MAP,),
         "module.avg_pool2d(a, ops.AvgPoolOptions([3, 3], [1, 1], [1, 1]))", "F.avg_pool2d(a, 3, 1, 1)", memory=2 * MAPS),
    Case("adaptive_avg_pool2d 7 8×64×112²", "pool", (MAP,), "module.adaptive_avg_pool2d(a, [7, 7])",
         "F.adaptive_avg_pool2d(a, 7)", ratio=(2, 2.5), memory=4 * MAPS),
    backward("max_pool2d and gradient 8×64×112²", MAP, f"module.max_pool2d(a, {POOLED})", "F.max_pool2d(a, 3, 2, 1)", "pool"),
    backward("avg_pool2d and gradient 8×64×112²", MAP, "module.avg_pool2d(a, ops.AvgPoolOptions([2, 2]))", "F.avg_pool2d(a, 2)",
             "pool"),
    backward("adaptive_avg_pool2d and gradient 8×64×112²", MAP, "module.adaptive_avg_pool2d(a, [7, 7])",
             "F.adaptive_avg_pool2d(a, 7)", "pool"),
]  # fmt: skip

INTERPOLATE = [
    resized("nearest", "nearest", 2.0, (1.5, 2.5)),
    resized("bilinear", "Bilinear", 2.0, (2.5, 5)),
    resized("bicubic", "Bicubic", 2.0, (6, 20)),
    resized("bilinear", "Bilinear", 1.7, (1.0, 5), 0),
    *(
        backward(f"interpolate {mode.lower()} × 2 and gradient", SMALL_MAP,
                 f"module.interpolate(a, ops.InterpolateOptions(ops.InterpolateMode.{mode}, False, None, [2.0, 2.0]))",
                 f"F.interpolate(a, scale_factor=2.0, mode='{mode.lower()}'{plain})", "interpolate")
        for mode, plain in (("Nearest", ""), ("Bilinear", ", align_corners=False"), ("Bicubic", ", align_corners=False"))
    ),
    Case("grid_sample_2d 8×64×56²", "interpolate", (SMALL_MAP, POINTS), "a.grid_sample_2d(b)",
         "F.grid_sample(a, b, align_corners=False)", memory=2 * MAPS),
]  # fmt: skip


def conv(name, shape, weight, ratio, stride=1, padding=1, groups="1", tracked=False):
    """A row of conv2d with bias; the gradients of all inputs too where tracked. `groups` is an expression."""
    n, _, h, w = shape
    out = [(size + 2 * padding - k) // stride + 1 for size, k in zip((h, w), weight[2:], strict=True)]
    options = f"ops.ConvOptions([{stride}] * 2, [{padding}] * 2, [1, 1], {groups})"
    burn = f"module.conv2d(a, b, c, {options})"
    torch = f"F.conv2d(a, b, c, {stride}, {padding}, 1, {groups})"
    end = ".sum().backward()" if tracked else ""
    args = tuple(Arg(s, tracked=tracked) for s in (shape, weight, weight[:1]))
    flops = 2 * n * out[0] * out[1] * int(np.prod(weight)) * (3 if tracked else 1)
    return Case(f"conv2d {name}", "conv", args, burn + end, torch + end, ratio=ratio, flops=flops)


CONV = [
    conv("3x3 8x64x56", (8, 64, 56, 56), (64, 64, 3, 3), (1.4, 2.0)),
    conv("3x3 8x128x28", (8, 128, 28, 28), (128, 128, 3, 3), (1.4, 2.0)),
    conv("3x3 8x256x14", (8, 256, 14, 14), (256, 256, 3, 3), (1.4, 1.4)),
    conv("3x3 stride 2 8x64x56", (8, 64, 56, 56), (128, 64, 3, 3), (0.95, 0.9), stride=2),
    conv("3x3 stride 2 8x128x28", (8, 128, 28, 28), (256, 128, 3, 3), None, stride=2),
    conv("7x7 stride 2 1x3x224", (1, 3, 224, 224), (64, 3, 7, 7), (0.95, 0.9), stride=2, padding=3),
    conv("1x1 8x64x56", (8, 64, 56, 56), (256, 64, 1, 1), (1.15, 1.3), padding=0),
    conv("3x3 64x1x28", (64, 1, 28, 28), (8, 1, 3, 3), (1.15, 3.0), padding=0),
    conv("depthwise 8x128x56", (8, 128, 56, 56), (128, 1, 3, 3), (1.15, 2.0), groups="a.shape[1]"),
    conv("3x3 8x64x56, gradients", (8, 64, 56, 56), (64, 64, 3, 3), (1.3, 1.6), tracked=True),
    Case(
        "conv_transpose2d 3x3 stride 2 8x64x28",
        "conv",
        (Arg((8, 64, 28, 28)), Arg((64, 32, 3, 3)), Arg((32,))),
        "module.conv_transpose2d(a, b, c, ops.ConvTransposeOptions([2, 2], [1, 1], [1, 1], [1, 1], 1))",
        "F.conv_transpose2d(a, b, c, 2, 1, 1)",
        ratio=(1.15, 1.3),
        flops=2 * 8 * 28 * 28 * 64 * 32 * 9,
    ),
    Case(
        "irfft 32×2^16",
        "signal",
        (Arg((32, (1 << 15) + 1)), Arg((32, (1 << 15) + 1))),
        "signal.irfft(a, b, 1)",
        "torch.fft.irfft(torch.complex(a, b), dim=1)",
    ),
    Case(
        "cfft 32×2^16",
        "signal",
        (Arg((32, 1 << 16)), Arg((32, 1 << 16))),
        "signal.cfft(a, b, 1)",
        "torch.fft.fft(torch.complex(a, b), dim=1)",
    ),
]

WIDE = Arg((1024, 1024))
SHARES, LOGARITHMS = replace(WIDE, low=0.05, high=0.95), replace(WIDE, low=-3, high=-0.1)
CLASSES, SIGNS = Arg((1024,), "", below=1024), Arg((1024,), "int64", low=1, high=1)
# A loss, its inputs, burn's statement and PyTorch's, and the ratio asked for.
LOSSES = (
    ("mse", (WIDE, WIDE), "losses.MseLoss().forward(a, b, mean)", "F.mse_loss(a, b)", 1.1),
    ("l1", (WIDE, WIDE), "losses.LpLoss(1.0).forward(a, b, mean)", "F.l1_loss(a, b)", 1.3),
    ("lp(3)", (WIDE, WIDE), "losses.LpLoss(3.0).forward(a, b, mean)", "((a - b).abs() ** 3).mean()", 2),
    ("huber", (WIDE, WIDE), "losses.HuberLoss(0.5).forward(a, b, mean)", "F.huber_loss(a, b, delta=0.5)", 1.1),
    ("smooth_l1", (WIDE, WIDE), "losses.SmoothL1Loss(0.5).forward_with_reduction(a, b, mean)",
     "F.smooth_l1_loss(a, b, beta=0.5)", 1.1),
    ("kl_div", (LOGARITHMS, SHARES), "losses.KLDivLoss().forward(a, b, mean)", "F.kl_div(a, b, reduction='mean')", 1.3),
    ("cross_entropy", (WIDE, CLASSES), "losses.CrossEntropyLoss().forward(a, b)", "F.cross_entropy(a, b)", 1.3),
    ("cosine_embedding", (WIDE, WIDE, SIGNS), "losses.CosineEmbeddingLoss().forward(a, b, c)",
     "F.cosine_embedding_loss(a, b, c)", 1.3),
    ("triplet_margin", (WIDE, WIDE, WIDE), "losses.TripletMarginLoss().forward(a, b, c, mean)",
     "F.triplet_margin_loss(a, b, c)", 1.1),
    ("multi_margin", (WIDE, CLASSES), "losses.MultiMarginLoss().forward(a, b, mean)", "F.multi_margin_loss(a, b)", 1.0),
)  # fmt: skip


def loss(name, args, burn, torch, ratio):
    """A loss, and the same with the gradient by its first input."""
    first, *others = args
    return [
        Case(f"{name} loss 1024²", "loss", args, burn, torch, ratio=ratio),
        Case(
            f"{name} loss and gradient 1024²", "loss", (replace(first, tracked=True), *others), f"{burn}.backward()",
            f"torch.autograd.grad({torch}, a)", ratio=ratio,
        ),
    ]  # fmt: skip


LOSS = [
    *(case for row in LOSSES for case in loss(*row)),
    Case(
        "ctc_loss and gradient 150×32×40, 30 labels", "loss",
        (Arg((150, 32, 40), low=-8, high=0, tracked=True), Arg((32, 30), "", below=40)),
        "module.ctc_loss(a, b, full(b.shape[0], a.shape[0]), full(b.shape[0], b.shape[1]), 0).sum().backward()",
        "F.ctc_loss(a, b, full(b.shape[0], a.shape[0]), full(b.shape[0], b.shape[1]), 0, 'sum').backward()", ratio=1.1,
    ),
    Case(
        "rnnt_loss and gradient 8×100×21×512", "loss",
        (Arg((8, 100, 21, 512), tracked=True), Arg((8, 20), "", below=512)),
        "rnnt(a, b[:, :a.shape[2] - 1], full(8, a.shape[1]), full(8, a.shape[2] - 1)).sum().backward()",
        memory=3 * 4 * 8 * 100 * 21 * 512,
    ),
]  # fmt: skip


def recurrent(kind, ratio, batch=32, tracked=False):
    """A recurrent layer of 128 to 256 over 64 steps."""
    gates = {"Rnn": 1, "Gru": 3, "Lstm": 4, "BiLstm": 8}[kind]
    return Case(
        f"{kind} {batch}×64×128→256{' and gradient' if tracked else ''}", "rnn", (Arg((batch, 64, 128), tracked=tracked),),
        f'recurrent("{kind}", a){".sum().backward()" if tracked else ""}',
        f'recurrent{"_gradients" if tracked else ""}("{kind}", a)', ratio=ratio,
        flops=2 * batch * 64 * gates * 256 * (128 + 256) * (3 if tracked else 1),
    )  # fmt: skip


RNN = [
    recurrent("Lstm", (1.1, 1.1)),
    recurrent("Lstm", (1.1, 1.0), tracked=True),
    recurrent("Lstm", (1.5, 1.4), batch=1),
    recurrent("Lstm", None, batch=1, tracked=True),
    recurrent("BiLstm", (1.1, 1.1)),
    recurrent("BiLstm", None, tracked=True),
    recurrent("Gru", (1.1, 1.1)),
    recurrent("Gru", None, tracked=True),
    recurrent("Rnn", None),
    recurrent("Rnn", None, tracked=True),
]

LAYERS = [*NORM, *ATTENTION, *POOL, *INTERPOLATE, *CONV, *LOSS, *RNN]
