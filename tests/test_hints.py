"""What a new user meets: names of other libraries, misspelt names, calls with the wrong arguments."""

import _thread
import copy
import functools
import importlib
import inspect
import pickle
import re
import sys
import threading
import weakref

import pytest

import burn
from burn import Tensor, nn, optim
from burn._hints import PYTORCH
from burn.errors import ArgumentError, ArgumentTypeError, BurnError, NotYetError
from burn.lr_scheduler import ConstantLr
from burn.module import Module

X = Tensor([[1.0, 2.0]])


def found(path):
    """The public item of a dotted path."""
    parts = path.split(".")
    for end in range(len(parts), 0, -1):
        try:
            module = importlib.import_module(".".join(parts[:end]))
        except ImportError:
            continue
        return functools.reduce(getattr, parts[end:], module)
    raise AssertionError(path)


@pytest.mark.parametrize("name", PYTORCH)
def test_what_the_table_names_is_there(name):
    paths = re.findall(r"burn(?:\.\w+)+", PYTORCH[name])
    assert paths
    for path in paths:
        found(path)


@pytest.mark.parametrize(
    ("module", "name", "hint"),
    [
        ("burn.nn", "MSELoss", "burn calls it burn.nn.loss.MseLoss"),
        ("burn.nn.loss", "MSELoss", "burn calls it burn.nn.loss.MseLoss"),
        ("burn.nn.loss", "MseLossConfig", "burn.nn.loss.MseLoss needs none"),
        ("burn.nn", "LSTM", "burn calls it burn.nn.Lstm, made by burn.nn.LstmConfig"),
        (
            "burn.nn",
            "MultiheadAttention",
            "burn calls it burn.nn.attention.MultiHeadAttention, made by burn.nn.attention.Multi",
        ),
        ("burn.nn", "BCELoss", r"use burn.nn.loss.BinaryCrossEntropyLoss\(\)"),
        ("burn.nn", "NLLLoss", "use burn.nn.loss.CrossEntropyLoss"),
        ("burn.nn", "SmoothL1Loss", "it is burn.nn.loss.SmoothL1Loss$"),
        ("burn.nn", "Conv2D", "burn calls it burn.nn.conv.Conv2d"),
        ("burn.nn", "Lstmm", "did you mean burn.nn.Lstm"),
        ("burn.nn.pool", "MaxPool3", r"did you mean burn.nn.pool.\w*MaxPool"),
        ("burn.optim", "SGD", "burn calls it burn.optim.Sgd, made by burn.optim.SgdConfig"),
        ("burn", "randn", "use burn.Tensor.random"),
        ("burn", "Linear", "it is burn.nn.Linear$"),
        ("burn.linalg", "l2norm", r"did you mean burn.linalg.l2_norm\?"),
        ("burn.tensor.activation", "swish", "use burn.tensor.activation.silu"),
        ("burn.store", "SafeTensorStore", "did you mean burn.store.SafetensorsStore"),
        ("burn.data", "DataLoader", "it is burn.data.dataloader.DataLoader"),
    ],
)
def test_names(module, name, hint):
    with pytest.raises(AttributeError, match=rf"^module '{module}' has no attribute '{name}'; {hint}") as caught:
        getattr(importlib.import_module(module), name)
    assert caught.value.name == name


def test_names_that_are_no_ones_have_no_hint():
    for module in (burn, nn, optim, nn.pool, burn.linalg, burn.data):
        for name in ("frobnicate", "__frobnicate__"):
            with pytest.raises(AttributeError, match=f"^module '{module.__name__}' has no attribute '{name}'$"):
                getattr(module, name)
        assert not hasattr(module, "frobnicate")
    with pytest.raises(NotYetError):
        nn.loss.GramMatrixLoss  # noqa: B018
    with pytest.raises(ImportError, match="frobnicate"):
        from burn.optim import frobnicate  # noqa: F401


def test_words_never_become_another_error(monkeypatch):
    """Whoever asks, and whatever became of the modules that are looked through, a lacking name is an AttributeError."""
    monkeypatch.setitem(sys.modules, "burn.data.dataset", None)
    assert not hasattr(nn, "frobnicate")
    monkeypatch.delitem(sys.modules, "burn.nn")
    with pytest.raises(AttributeError, match="LSTM"):
        nn.LSTM  # noqa: B018
    for name in ("a\0b", "../loss", "a.b", "\ud800", "x" * 10000):
        assert not hasattr(nn, name)


def test_names_asked_for_without_a_frame_of_python(monkeypatch):
    caught = []
    monkeypatch.setattr(sys, "unraisablehook", caught.append)
    done = threading.Lock()
    done.acquire()
    weakref.finalize(asked := Name("LSTM"), done.release)
    _thread.start_new_thread(getattr, (nn, asked, None))
    del asked
    assert done.acquire(timeout=10) and not caught


class Name(str):
    """A text whose end can be waited for."""


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (
            lambda: nn.loss.CTCLoss()(X),
            r"\[CTCLoss\] missing argument 'targets'; call CTCLoss\(...\).forward\(log_probs, targets, ",
        ),
        (
            lambda: nn.loss.MseLoss().forward(X, X),
            r"\[MseLoss\] missing argument 'reduction'; call MseLoss\(...\).forward\(",
        ),
        (lambda: nn.loss.HuberLoss(1.0).forward_no_reduction(X), r"\[HuberLoss\] missing argument 'targets'"),
        (
            lambda: nn.LinearConfig(2, 3).init()(),
            r"\[Linear\] missing argument 'input'; call Linear\(...\).forward\(input\)$",
        ),
        (lambda: nn.LinearConfig(2, 3).init()(X, X), r"\[Linear\] takes 1 argument by position, got 2 arguments"),
        (lambda: nn.LinearConfig(2, 3).init()(y=X), r"\[Linear\] takes no argument 'y'"),
        (
            lambda: nn.LstmConfig(2, 3, True).init()(X, foo=1),
            r"\[Lstm\] takes no argument 'foo', got foo=1; call .*state=None\)",
        ),
        (lambda: nn.Relu()(), r"\[Relu\] missing argument 'input'"),
        (
            lambda: nn.LinearConfig(2),
            r"\[LinearConfig\] missing argument 'd_output'; call LinearConfig\(d_input, d_output, bias",
        ),
        (lambda: nn.LinearConfig(in_features=2), r"\[LinearConfig\] takes no argument 'in_features'"),
        (lambda: nn.Lstm(1, 2), r"\[Lstm\] .*make one with LstmConfig"),
        (
            lambda: optim.Adam(lr=1e-3),
            r"\[Adam\] takes its configuration alone, got lr=0.001; make one with AdamConfig\(...\).init",
        ),
        (
            lambda: nn.LinearConfig(2, 2).init(1, 2),
            r"^\[LinearConfig\] takes 1 .*; call LinearConfig\(...\).init\(device=None\)",
        ),
        (
            lambda: optim.AdamConfig().init([X]),
            r"^\[AdamConfig\] takes no argument by position, .*AdamConfig\(...\).init\(\)$",
        ),
        (
            lambda: optim.AdamConfig().init().step(),
            r"^\[ModuleOptimizer\] missing argument 'lr'; call ModuleOptimizer\(...\).step\(lr, module, grads\)$",
        ),
        (
            lambda: ConstantLr(0.1).step(1),
            r"^\[ConstantLr\] takes no argument by position, .*ConstantLr\(...\).step\(\)$",
        ),
        (lambda: nn.Relu(inplace=True), r"^\[Relu\] takes no arguments; call Relu\(\)$"),
        (lambda: nn.GLU(1, 2, 3), r"^\[GLU\] takes from 1 to 2 .*; call GLU\(dim=0\)$"),
        (
            lambda: nn.Gru(1, None, "x"),
            r"^\[Gru\] cannot be made of 1, None, 'x': .*; make one with GruConfig\(...\).init\(\)",
        ),
        (lambda: nn.pool.MaxPool2d(2, 2), r"^\[MaxPool2d\] cannot be made of 2, 2: .*; make one with MaxPool2dConfig"),
        (
            lambda: nn.loss.HuberLoss(delta="x"),
            r"^\[HuberLoss\] cannot be made of delta='x': .*; make one with HuberLossConfig",
        ),
        (lambda: optim.Adam(), r"\[Adam\] .* got nothing"),
        (lambda: optim.AdamW([X], lr=0.1), r"\[AdamW\] .* make one with AdamWConfig\(...\).init\(\)"),
        (lambda: optim.Sgd(0.1), r"\[Sgd\] takes its configuration alone, got 0.1"),
    ],
)
def test_calls(call, text):
    with pytest.raises(ArgumentTypeError, match=text):
        call()


@pytest.mark.parametrize(
    "place", ["", ".attention", ".conv", ".loss", ".norm", ".pool", ".rnn", ".transformer", ".activation"]
)
def test_no_layer_that_is_made_wrongly_gives_an_error_without_a_remedy(place):
    """Nothing, too much, an unknown name, and values of the wrong kinds; what is an error is one of burn's."""
    place = importlib.import_module(f"burn.nn{place}")
    for name in place.__all__:
        layer = getattr(place, name)
        if not (isinstance(layer, type) and issubclass(layer, Module)):
            continue
        required = [p for p in inspect.signature(layer).parameters.values() if p.default is p.empty]
        calls = [((), {}), (tuple(range(40)), {}), ((), {"frobnicate": 1})]
        calls += [([value] * len(required), {}) for value in (None, "x", 1.5, object(), [], {}, -1, b"x", float("nan"))]
        for args, kwargs in calls:
            try:
                layer(*args, **kwargs)
            except BurnError as error:
                assert isinstance(error, TypeError | ValueError) and str(error).startswith(f"[{layer.__name__}]"), (
                    name,
                    error,
                )


@pytest.mark.parametrize(
    "place", ["grad_clipping", "lr_scheduler", "module", "nn.attention", "nn.rnn", "nn.transformer", "optim"]
)
def test_what_is_no_layer_says_how_it_is_made_too(place):
    place = importlib.import_module(f"burn.{place}")
    for name in place.__all__:
        cls = getattr(place, name)
        if not isinstance(cls, type) or inspect.isabstract(cls) or cls.__init__ is object.__init__:
            continue
        if issubclass(cls, Module | BaseException):
            continue
        for args, kwargs in ((tuple(range(40)), {}), ((), {"frobnicate": 1})):
            with pytest.raises(BurnError, match=rf"^\[{name}\]") as caught:
                cls(*args, **kwargs)
            assert isinstance(caught.value, TypeError | ValueError)


def test_an_enum_is_no_variant_by_itself():
    with pytest.raises(
        ArgumentTypeError, match=r"take one of PaddingConfig2d.Same, .*PaddingConfig2d.Explicit\(top, left, "
    ):
        nn.PaddingConfig2d(1, 1)
    for variant in (
        nn.PaddingConfig2d.Explicit(1, 1, 1, 1),
        nn.PaddingConfig2d.Valid,
        nn.Initializer.XavierNormal(1.0),
    ):
        assert pickle.loads(pickle.dumps(variant)) == copy.deepcopy(variant) == variant
    assert str(inspect.signature(nn.Initializer.Constant)).startswith("(value")


def test_errors_in_modules_of_users_stay_as_they_are():
    class Mine(Module):
        def __init__(self, x):
            self.x = x.y

    with pytest.raises(AttributeError, match="'int' object has no attribute 'y'") as caught:
        Mine(1)
    assert not isinstance(caught.value, BurnError)
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'x'"):
        Mine()


def test_layers_keep_their_errors_and_their_form():
    """An error that a right call raises speaks of the layer already; modules of users are left as they are."""
    layer = nn.LinearConfig(2, 3).init()
    with pytest.raises(TypeError, match=r"^\[Linear\] 'input' must be a Tensor"):
        layer("x")
    assert layer(X).shape == layer(input=X).shape == [1, 3]

    class Mine(Module):
        def __init__(self):
            self.layer = layer

        def forward(self, x, y):
            return self.layer(x) + y

    assert Mine.forward.__code__.co_argcount == 3
    with pytest.raises(TypeError, match=r"forward.* missing 1 required positional argument: 'y'"):
        Mine()(X)
    assert optim.Adam(optim.AdamConfig()).beta_1 == optim.Adam(config=optim.AdamConfig()).beta_1


@pytest.mark.parametrize("clip", [0.0, -1.0, float("nan"), float("inf")])
def test_a_limit_of_the_state_is_checked_without_a_configuration(clip):
    for config in (nn.RnnConfig(1, 2, True), nn.GruConfig(1, 2, True), nn.LstmConfig(1, 2, True)):
        layer = config.init()
        fields = {name: getattr(layer, name) for name in layer.__dict__ if name not in ("d_hidden", "clip")}
        with pytest.raises(ArgumentError, match=rf"\[{type(layer).__name__}\] 'clip' must be"):
            type(layer)(**fields, clip=clip)
        assert type(layer)(**fields, clip=0.5).clip == 0.5


def test_both_meanings_of_apply():
    layer = nn.RotaryEncodingConfig(10, 2).init()
    assert layer.apply(Tensor([[1.0, 0.0]]), 1).tolist() == layer.forward(Tensor([[0.0, 0.0], [1.0, 0.0]]))[1:].tolist()
    model, result = layer.apply(layer.collect())
    assert isinstance(model, nn.RotaryEncoding) and result.is_success()
    with pytest.raises(ArgumentTypeError, match=r"\[RotaryEncoding\] 'start'"):
        layer.apply(X)
