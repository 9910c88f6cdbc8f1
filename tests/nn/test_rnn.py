"""Recurrent layers: Burn's numbers, directions, orders of axes, activations without a kernel, states, wrong calls."""

import numpy as np
import pytest

from burn import Device, Tensor, nn
from burn.errors import ArgumentError, ArgumentTypeError, BurnError, DTypeError, KindError, ShapeError
from burn.nn.activation import ActivationConfig
from tests.nn.test_attention import filled, tensor, values

CPU = Device.flex()
AD = CPU.autodiff()
HALF = nn.Initializer.Constant(0.5)
X = [[0.949, -0.861], [0.892, 0.927], [-0.173, -0.301], [-0.081, 0.992]]
H0 = [[[0.280, 0.360, -1.242]], [[-0.588, 0.729, -0.788]]]
FORWARD = (
    [[0.367, 0.091, 0.342], [0.322, 0.533, 0.059]],
    [-0.196, 0.354, 0.209],
    [[-0.320, 0.232, -0.165], [0.093, -0.572, -0.315], [-0.467, 0.325, 0.046]],
    [0.181, -0.190, -0.245],
)
REVERSE = (
    [[-0.055, 0.506, 0.247], [-0.369, 0.178, -0.258]],
    [0.540, -0.164, 0.033],
    [[0.159, 0.180, -0.037], [-0.443, 0.485, -0.488], [0.098, -0.085, -0.140]],
    [-0.510, 0.105, 0.114],
)


def gate(weight, bias, state_weight, state_bias):
    return {
        "input_transform.weight": weight,
        "input_transform.bias": bias,
        "hidden_transform.weight": state_weight,
        "hidden_transform.bias": state_bias,
    }


def named(prefix, parts):
    return {f"{prefix}.{path}": data for path, data in parts.items()}


def draw(config, seed=0):
    """The layer with parameters of its own, the same for the same seed."""
    CPU.seed(seed)
    layer = config.init(CPU)
    layer.num_params()
    return layer


def test_both_directions_as_in_burn():
    layer = filled(
        nn.BiRnnConfig(2, 3, True).init(CPU),
        named("forward_.gate", gate(*FORWARD)) | named("reverse.gate", gate(*REVERSE)),
    )
    output, state = layer(tensor([X]), nn.RnnState(tensor(H0)))
    want = [
        [0.5226, -0.6370, 0.0210, 0.0685, 0.3867, 0.3602],
        [0.3580, 0.8431, 0.4129, -0.3175, 0.4374, 0.1766],
        [-0.3837, -0.2703, -0.3957, -0.1542, -0.1122, 0.0725],
        [0.5059, 0.5527, 0.1244, -0.6779, 0.3725, -0.3387],
    ]
    np.testing.assert_allclose(values(output)[0], want, atol=6e-5)
    np.testing.assert_allclose(values(state.hidden)[:, 0], [want[3][:3], want[0][3:]], atol=6e-5)
    output = layer(tensor([X]))[0]
    np.testing.assert_allclose(values(output)[0, 0], [0.0560, -0.2056, 0.2334, 0.0892, 0.3912, 0.3607], atol=6e-5)


def test_reverse_keeps_places():
    layer = nn.RnnConfig(1, 1, False).with_initializer(HALF).with_reverse(True).init(CPU)
    output, state = layer(tensor([[[0.1], [0.2], [0.3]]]))
    np.testing.assert_allclose(values(output).ravel(), [0.135508, 0.172694, 0.148885], rtol=1e-5)
    np.testing.assert_allclose(values(state.hidden), [[0.135508]], rtol=1e-5)


@pytest.mark.parametrize("reset_after", [True, False])
def test_gru_of_one_unit(reset_after):
    layer = nn.GruConfig(1, 1, False).with_reset_after(reset_after).init(CPU)
    parts = {
        f"{name}.{part}.weight": [[w]]
        for name, w in (("update_gate", 0.5), ("reset_gate", 0.6), ("new_gate", 0.7))
        for part in ("input_transform", "hidden_transform")
    }
    y = filled(layer, parts)(tensor([[[0.1], [0.2], [0.3]]]))
    np.testing.assert_allclose(values(y).ravel(), [0.03406955, 0.08939192, 0.15745276], rtol=2e-5)


def test_coupled_gates():
    config = nn.LstmConfig(1, 1, False).with_input_forget(True).with_initializer(nn.Initializer.Constant(0.25))
    layer = config.init(CPU)
    state = nn.LstmState(tensor([[0.8]]), tensor([[0.2]]))
    assert layer.forget_gate is None
    for x, want in ((0.6, [0.468656, 0.240340]), (-0.3, [0.228674, 0.111547])):
        _, state = layer(tensor([[[x]]]), state)
        np.testing.assert_allclose([state.cell.item(), state.hidden.item()], want, atol=2e-6)


def kinds():
    """A configuration of each layer, and how its output and last states are got at."""
    return {
        "Rnn": (nn.RnnConfig(2, 3, True), lambda y: (y[0], y[1].hidden)),
        "BiRnn": (nn.BiRnnConfig(2, 3, True), lambda y: (y[0], y[1].hidden)),
        "Gru": (nn.GruConfig(2, 3, True), lambda y: (y,)),
        "Gru before": (nn.GruConfig(2, 3, True).with_reset_after(False), lambda y: (y,)),
        "BiGru": (nn.BiGruConfig(2, 3, True), lambda y: y),
        "Lstm": (nn.LstmConfig(2, 3, True), lambda y: (y[0], *y[1].unpack())),
        "coupled": (nn.LstmConfig(2, 3, True).with_input_forget(True), lambda y: (y[0], *y[1].unpack())),
        "BiLstm": (nn.BiLstmConfig(2, 3, True), lambda y: (y[0], *y[1].unpack())),
    }


KINDS = kinds()


def test_displays_and_parameters():
    shown = {name: str(config.init(CPU)) for name, (config, _) in KINDS.items()}
    assert shown["Rnn"] == "Rnn {d_input: 2, d_hidden: 3, bias: true, params: 21}"
    assert shown["BiRnn"] == "BiRnn {d_input: 2, d_hidden: 3, bias: true, params: 42}"
    assert shown["BiGru"] == "BiGru {d_input: 2, d_hidden: 3, bias: true, params: 126}"
    assert shown["Lstm"] == "Lstm {d_input: 2, d_hidden: 3, bias: true, params: 84}"
    assert shown["BiLstm"] == "BiLstm {d_input: 2, d_hidden: 3, bias: true, params: 168}"
    both = [(False, False, 60), (False, True, 45), (True, False, 84), (True, True, 63)]
    for bias, coupled, count in both:
        assert nn.LstmConfig(2, 3, bias).with_input_forget(coupled).init(CPU).num_params() == count
    paths = KINDS["BiLstm"][0].init(CPU).into_record().paths()
    assert paths[:2] == ["forward.input_gate.input_transform.weight", "forward.input_gate.input_transform.bias"]
    assert [p.split(".")[1] for p in paths[:16:4]] == ["input_gate", "forget_gate", "output_gate", "cell_gate"]


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("clip", [None, 0.3])
def test_activations_without_a_kernel_go_step_by_step(name, clip, monkeypatch):
    """The same layer both ways: numbers, and gradients of the input and of all parameters."""
    config, parts = KINDS[name]
    layer = draw(config.with_clip(clip)).train()
    x = tensor(np.random.default_rng(3).standard_normal((2, 4, 2)), AD).require_grad()

    def run():
        outputs = parts(layer(x))
        grads = sum((t * t).sum() * (k + 1.0) for k, t in enumerate(outputs)).backward()
        return [values(t) for t in outputs], [values(p.grad(grads)) for p in [x, *parameters(layer)]]

    fused = run()
    monkeypatch.setattr("burn.nn.rnn._sequence.is_tanh", lambda activation: False)
    for have, want in zip(run(), fused, strict=True):
        for a, b in zip(have, want, strict=True):
            np.testing.assert_allclose(a, b, rtol=2e-5, atol=2e-6)


def parameters(layer):
    from burn.module import ModuleVisitor

    found = []

    class Collect(ModuleVisitor):
        def visit_float(self, param):
            found.append(param)

    layer.visit(Collect())
    return found


def test_other_activations():
    config = nn.RnnConfig(1, 1, False).with_initializer(HALF).with_hidden_activation(ActivationConfig.Relu)
    output, state = config.init(CPU)(tensor([[[1.0], [-3.0], [2.0]]]))
    assert values(output).ravel().tolist() == [0.5, 0.0, 1.0] and state.hidden.item() == 1.0
    config = nn.LstmConfig(1, 1, False).with_initializer(HALF).with_hidden_activation(ActivationConfig.Identity)
    plain = config.with_hidden_activation(ActivationConfig.Tanh).init(CPU)(tensor([[[1.0]]]))[1]
    state = config.init(CPU)(tensor([[[1.0]]]))[1]
    assert state.cell.item() == pytest.approx(plain.cell.item())
    assert plain.hidden.item() == pytest.approx(state.hidden.item() / state.cell.item() * np.tanh(state.cell.item()))


@pytest.mark.parametrize("name", [n for n in KINDS if n not in ("Gru", "Gru before")])
def test_steps_before_the_batch(name):
    config, parts = KINDS[name]
    layer = draw(config)
    turned = layer.replace(batch_first=False)
    x = tensor(np.random.default_rng(3).standard_normal((2, 5, 2)))
    first, second = parts(layer(x)), parts(turned(x.swap_dims(0, 1)))
    np.testing.assert_array_equal(values(first[0]), values(second[0]).swapaxes(0, 1))
    for a, b in zip(first[1:], second[1:], strict=True):
        np.testing.assert_array_equal(values(a), values(b))


@pytest.mark.parametrize("name", KINDS)
def test_a_sequence_in_pieces(name):
    """The last state of a piece is where the next one begins."""
    if name.startswith("Bi"):
        return
    config, parts = KINDS[name]
    layer = draw(config)
    x = tensor(np.random.default_rng(4).standard_normal((2, 5, 2)))
    whole = values(parts(layer(x))[0])
    first = layer(x.narrow(1, 0, 3))
    state = first.narrow(1, 2, 1).squeeze_dim(1) if name.startswith("Gru") else first[1]
    second = parts(layer(x.narrow(1, 3, 2), state))[0]
    np.testing.assert_allclose(np.concatenate([values(parts(first)[0]), values(second)], 1), whole, atol=1e-6)


@pytest.mark.parametrize("dtype", ["f64", "f16", "bf16"])
@pytest.mark.parametrize("name", KINDS)
def test_dtypes(name, dtype):
    config, parts = KINDS[name]
    layer = draw(config)
    x = tensor(np.random.default_rng(4).standard_normal((2, 5, 2)))
    from burn.module import ModuleMapper

    class Cast(ModuleMapper):
        def map_float(self, param):
            return param.map(lambda t: t.cast(dtype))

    for have, want in zip(parts(layer.map(Cast())(x.cast(dtype))), parts(layer(x)), strict=True):
        assert have.dtype.name == dtype
        np.testing.assert_allclose(
            values(have.cast("f64")), values(want), atol={"f64": 1e-6, "f16": 3e-3, "bf16": 2e-2}[dtype]
        )
    with pytest.raises(DTypeError, match=r"'input'.*f32"):
        layer(x.cast(dtype))


def test_steps_one_by_one():
    layer = draw(nn.LstmConfig(2, 3, True).with_clip(0.5))
    x = tensor(np.random.default_rng(4).standard_normal((2, 5, 2)))
    want, last = layer(x)
    steps = [(t, x.narrow(1, t, 1)) for t in range(5)]
    have, state = layer.forward_iter(steps, None, 2, 5, CPU)
    np.testing.assert_allclose(values(have), values(want), atol=1e-6)
    np.testing.assert_allclose(values(state.cell), values(last.cell), atol=1e-6)
    some, _ = layer.forward_iter(steps[::-1][:2], None, 2, 5, CPU)
    assert (values(some)[:, :3] == 0).all() and (values(some)[:, 3:] != 0).all()
    assert layer.forward_iter([], None, 2, 0, CPU)[0].dims() == [2, 0, 3]
    step, other = (0, x.narrow(1, 0, 1)), nn.LstmState.initial([1, 3], CPU)
    for given, word in (
        (([(5, step[1])], None, 2, 5), "0..4"),
        (([(0, x)], None, 2, 5), "[2, 1, 2]"),
        (([(0.0, step[1])], None, 2, 5), "'input_timestep_iter' must be an integer, got 0.0"),
        (([step], (1, 2), 2, 5), "'state' must be a LstmState"),
        (([step], other, 2, 5), "'state.hidden' must be [batch, d_hidden] = [2, 3], got shape [1, 3]"),
        (([step], None, "2", 5), "'batch_size' must be an integer"),
        (([step], None, 2, -1), "'seq_length' must be at least 0"),
    ):
        with pytest.raises(BurnError) as error:
            layer.forward_iter(*given, CPU)
        assert "[Lstm]" in str(error.value) and word in str(error.value)


def test_empty_batches_and_sequences():
    for config, parts in KINDS.values():
        layer = config.init(AD)
        for shape in ((0, 4, 2), (2, 0, 2)):
            y, *states = parts(layer(Tensor.zeros(shape, AD).require_grad()))
            assert y.dims()[:2] == list(shape[:2])
            assert all(s.dims()[-2:] == [shape[0], 3] and (values(s) == 0).all() for s in states)


def test_wrong_calls():
    lstm, gru, both = (
        nn.LstmConfig(2, 3, True).init(CPU),
        nn.GruConfig(2, 3, True).init(CPU),
        nn.BiRnnConfig(2, 3, True).init(CPU),
    )
    x, ones = Tensor.ones([4, 5, 2], CPU), Tensor.ones([4, 3], CPU)
    for call, error, words in (
        (lambda: lstm(Tensor.ones([4, 2], CPU)), ShapeError, ("[Lstm] 'input'", "[batch, steps, d_input]", "[4, 2]")),
        (lambda: gru(Tensor.ones([4, 5, 3], CPU)), ShapeError, ("[Gru] 'input'", "d_input = 2", "[4, 5, 3]")),
        (lambda: lstm(x.int()), KindError, ("[Lstm] 'input'", "Float")),
        (lambda: lstm(x, ones), ArgumentTypeError, ("[Lstm] 'state'", "LstmState")),
        (lambda: lstm(x, nn.LstmState.initial([5, 3], CPU)), ShapeError, ("'state.hidden'", "[4, 3]", "[5, 3]")),
        (lambda: gru(x, ones.unsqueeze_dim(0)), ShapeError, ("[Gru] 'state'", "[1, 4, 3]")),
        (lambda: gru(x, ones.cast("f64")), DTypeError, ("[Gru] 'state'", "f64")),
        (lambda: gru(x, ones.int()), KindError, ("[Gru] 'state'", "Float")),
        (lambda: both(x, nn.RnnState(ones)), ShapeError, ("[BiRnn] 'state.hidden'", "[2, 4, 3]")),
        (lambda: both(x.to_device(Device.ndarray())), BurnError, ("[BiRnn]", "device")),
        (lambda: nn.LstmState(ones, x), ShapeError, ("[LstmState]", "'hidden'")),
        (lambda: nn.LstmState.stack([], 0), ArgumentError, ("[LstmState]", "'states'")),
        (lambda: nn.LstmConfig(0, 3, True).init(), ArgumentError, ("[LstmConfig]", "'d_input'")),
        (lambda: nn.GruConfig(2, 3, True).with_clip(0.0).init(), ArgumentError, ("[GruConfig]", "'clip'", "0.0")),
        (lambda: nn.RnnConfig(2, 3, True).with_clip(float("nan")).init(), ArgumentError, ("[RnnConfig]", "'clip'")),
        (
            lambda: nn.LstmConfig(2, 3, True).with_input_forget(True).init(CPU).replace(input_forget=False)(x),
            ArgumentError,
            ("Forget gate must be present when input_forget is false",),
        ),
    ):
        with pytest.raises(error) as caught:
            call()
        assert all(w in str(caught.value) for w in words), str(caught.value)


def test_gates_that_are_not_alike():
    """Layers that were put together by hand: refused before a kernel, or step by step where a bias is missing."""
    layer, x = draw(nn.GruConfig(2, 3, True)), Tensor.ones([4, 5, 2], CPU)
    wide = nn.GruConfig(2, 4, True).init(CPU).reset_gate
    deep = nn.GruConfig(5, 3, True).init(CPU).reset_gate
    for gate, words in ((wide, ("'weight'", "[2, 3]", "[2, 4]")), (deep, ("'weight'", "[2, 3]", "[5, 3]"))):
        with pytest.raises(ShapeError) as caught:
            layer.replace(reset_gate=gate)(x)
        assert all(w in str(caught.value) for w in ("[gru]", *words)), str(caught.value)
    hidden = layer.new_gate.hidden_transform
    other = hidden.replace(weight=hidden.weight.map(lambda t: t.cast("f64")))
    with pytest.raises(DTypeError, match=r"\[gru\] 'state_weight'.*f64"):
        layer.replace(new_gate=layer.new_gate.replace(hidden_transform=other))(x)
    zero = hidden.replace(bias=hidden.bias.map(lambda t: t * 0.0))
    same = [
        layer.replace(new_gate=layer.new_gate.replace(hidden_transform=h))(x) for h in (zero, zero.replace(bias=None))
    ]
    np.testing.assert_allclose(values(same[0]), values(same[1]), atol=1e-6)


def test_states():
    state = nn.LstmState(tensor([[1.0, 2.0], [3.0, 4.0]]), tensor([[5.0, 6.0], [7.0, 8.0]]))
    assert [values(t)[0, 0] for t in state.unpack()] == [1, 5] and state.device == CPU
    assert values(state.map_state(lambda t: t * 2.0).hidden).tolist() == [[10, 12], [14, 16]]
    assert values(state.slice([slice(1, 2)]).cell).tolist() == [[3, 4]]
    assert [values(s.hidden).tolist() for s in state.chunk(2, 1)] == [[[5], [7]], [[6], [8]]]
    stacked = nn.LstmState.stack([state, state], 1)
    assert stacked.cell.dims() == [2, 2, 2] and state.unsqueeze_dim(-1).cell.dims() == [2, 2, 1]
    assert state.unsqueeze_dim(0).squeeze_dim(0).cell.dims() == [2, 2]
    assert nn.LstmState.unwrap_or_initial(state, [9, 9]) is state


def test_old_records_of_coupled_gates():
    """They hold a forget gate that nothing reads."""
    whole, coupled = nn.LstmConfig(2, 3, False), nn.LstmConfig(2, 3, False).with_input_forget(True)
    record = whole.init(CPU).into_record()
    with pytest.raises(BurnError, match="Unused tensors"):
        coupled.init(CPU).load_record(record)
    loaded = coupled.init(CPU).load_record(record.allow_unused(True))
    assert loaded.num_params() == 45


def test_as_pytorch():
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(5)
    x = rng.standard_normal((3, 6, 4)).astype("f4")
    pairs = {
        torch.nn.LSTM: (nn.LstmConfig, ("input", "forget", "cell", "output")),
        torch.nn.GRU: (nn.GruConfig, ("reset", "update", "new")),
        torch.nn.RNN: (nn.RnnConfig, ("",)),
    }
    for other, (config, names) in pairs.items():
        theirs = other(4, 5, batch_first=True)
        parts = {}
        for part, w, b in (
            ("input", theirs.weight_ih_l0, theirs.bias_ih_l0),
            ("hidden", theirs.weight_hh_l0, theirs.bias_hh_l0),
        ):
            for name, rows, bias in zip(names, w.chunk(len(names)), b.chunk(len(names)), strict=True):
                path = f"{name}_gate".lstrip("_") + f".{part}_transform"
                parts |= {f"{path}.weight": rows.detach().T.numpy(), f"{path}.bias": bias.detach().numpy()}
        ours = filled(config(4, 5, True).init(CPU), parts)(tensor(x))
        ours = ours[0] if isinstance(ours, tuple) else ours
        np.testing.assert_allclose(values(ours), theirs(torch.tensor(x))[0].detach().numpy(), atol=2e-6)


@pytest.mark.parametrize("activation", [ActivationConfig.Tanh, ActivationConfig.Relu])
def test_no_steps_have_gradients(activation):
    layer = nn.LstmConfig(2, 3, True, hidden_activation=activation).init(AD)
    grads = layer.forward(Tensor.zeros([2, 0, 2], AD))[0].sum().backward()
    assert (values(layer.input_gate.input_transform.weight.val().grad(grads)) == 0).all()


def test_layers_called_as_their_configurations_are():
    for call in (lambda: nn.Lstm(3, 4), lambda: nn.Linear(3, 2)):
        with pytest.raises(
            BurnError, match=r"^\[(Lstm|Linear)\].*make one with (Lstm|Linear)Config\(\.\.\.\)\.init\(\)"
        ):
            call()


def test_directions_of_two_sizes():
    one, other = (nn.LstmConfig(3, n, True).init() for n in (4, 5))
    with pytest.raises(ShapeError, match=r"\[BiLstm\] both directions must have the same d_hidden, got 4 and 5"):
        nn.BiLstm(one, other)


@pytest.mark.parametrize("both", ["", "Bi"])
def test_states_that_are_none(both):
    """PyTorch's states are tensors, or pairs of hidden and cell."""
    x, h = Tensor.zeros([1, 2, 3], CPU), Tensor.zeros([1, 2], CPU)
    for kind, state, form in (("Lstm", (h, h), r"LstmState\(cell, hidden\)"), ("Rnn", h, r"RnnState\(hidden\)")):
        layer = getattr(nn, f"{both}{kind}Config")(3, 2, True).init(CPU)
        with pytest.raises(
            ArgumentTypeError, match=rf"\[{both}{kind}\] 'state' must be a {kind}State, got .*; use {form}"
        ):
            layer(x, state)
    with pytest.raises(ArgumentTypeError, match=r"\[RnnState\] 'hidden' must be a Tensor, got None"):
        nn.RnnState(None)
