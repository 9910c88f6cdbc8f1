"""The printed form of modules."""

import numpy as np
import pytest

from burn import Device, Tensor
from burn.errors import ArgumentError, ModuleError
from burn.module import Content, DisplaySettings, EnumModule, Module, Param, ParamId, RunningState, field
from burn.nn import DropoutConfig, EmbeddingConfig, Gelu, LayerNormConfig, LinearConfig, Relu
from burn.nn.loss import CrossEntropyLossConfig, MseLoss

CPU = Device.flex()

NET = """Net {
  block: Block {
    weight: ParamTensor {rank: 2, shape: [2, 3], kind: float}
    scale: None
    eps: 1e-5
    name: "a"
    params: 6
  }
  layers: Vec<0..2> {
    0: Linear {d_input: 3, d_output: 5, bias: true, params: 20}
    1: Linear {d_input: 5, d_output: 2, bias: false, params: 10}
  }
  pair: (L0, L1) {
    0: Linear {d_input: 2, d_output: 2, bias: true, params: 6}
    1: Dropout {prob: 0.5}
  }
  params: 42
}"""


class Block(Module):
    def __init__(self):
        self.weight = Param.initialized(ParamId(123456), Tensor.ones([2, 3], CPU))
        self.scale = None
        self.eps = 1e-5
        self.name = "a"


class Net(Module):
    def __init__(self):
        self.block = Block()
        self.layers = [LinearConfig(3, 5).init(CPU), LinearConfig(5, 2, bias=False).init(CPU)]
        self.pair = (LinearConfig(2, 2).init(CPU), DropoutConfig(0.5).init())


def test_a_tree():
    net = Net()
    assert str(net) == repr(net) == NET
    assert not net.layers[0].weight.is_initialized()


@pytest.mark.parametrize(
    "module, line",
    [
        (EmbeddingConfig(100, 10).init(CPU), "Embedding {n_embedding: 100, d_model: 10, params: 1000}"),
        (LinearConfig(3, 5).init(CPU), "Linear {d_input: 3, d_output: 5, bias: true, params: 20}"),
        (LayerNormConfig(6, bias=False).init(CPU), "LayerNorm {d_model: 6, epsilon: 0.00001, bias: false, params: 6}"),
        (DropoutConfig(0.5).init(), "Dropout {prob: 0.5}"),
        (DropoutConfig(0.5).init().freeze(), "Dropout {prob: 0.5, training: disabled}"),
        (Relu(), "Relu"),
        (Gelu(), "Gelu {\n  approximate: false\n}"),
        (MseLoss(), "MseLoss"),
        (
            CrossEntropyLossConfig([1, 2], [1.0, 2.0, 3.0], 0.5).init(CPU),
            "CrossEntropyLoss {pad_tokens: Vec<0..2>, weights: Tensor {rank: 1, shape: [3]}, smoothing: 0.5, "
            "logits: true}",
        ),
    ],
)
def test_known_lines(module, line):
    assert str(module) == line


def test_settings_that_are_refused():
    for wrong in (lambda: DisplaySettings(indentation_size=-1), lambda: DisplaySettings().with_indentation_size(-2)):
        with pytest.raises(ArgumentError, match=r"\[DisplaySettings\] 'indentation_size' must be at least 0, got -"):
            wrong()


def test_settings():
    net = Net()
    one_line = net.block.format(DisplaySettings().with_new_line_after_attribute(False))
    assert one_line == (
        "Block {weight: ParamTensor {rank: 2, shape: [2, 3], kind: float}, "
        'scale: None, eps: 1e-5, name: "a", params: 6}'
    )
    wide = net.block.format(
        DisplaySettings().with_indentation_size(4).with_show_num_parameters(False).with_show_param_id(True)
    )
    assert wide.splitlines()[1] == "    weight: ParamTensor {rank: 2, shape: [2, 3], kind: float, id: 83h0200000000}"
    assert "params" not in wide
    # The settings of the enclosing module win over a layer's own.
    assert "    0: Linear {\n      d_input: 3\n" in net.format(DisplaySettings().with_new_line_after_attribute(True))
    everything = net.layers[0].format(DisplaySettings().with_show_all_attributes(True))
    assert everything == (
        "Linear {weight: ParamTensor {rank: 2, shape: [3, 5], kind: float}, "
        "bias: ParamTensor {rank: 1, shape: [5], kind: float}, params: 20}"
    )


class Choice(EnumModule):
    Big: object


class Odd(Module):
    maybe: int | None
    nothing: int | None
    sizes: list[int] | None
    array: list = field(array=True)
    skipped: object = field(skip=True)
    renamed_: Relu = field(name="renamed")

    def __init__(self):
        self.maybe = 3
        self.nothing = None
        self.sizes = [1, 2]
        self.choice = Choice.Big(Relu())
        self.array = [Relu(), Relu()]
        self.state = RunningState(Tensor.zeros([2], CPU))
        self.table = Tensor.zeros([2, 3], CPU)
        self.flag = Param.from_bool(False)
        self.text = 'a"\n'
        self.numbers = (1.0, 1e16, float("nan"), np.float32(0.1))
        self.skipped = abs
        self.renamed_ = Relu()


def test_every_kind_of_field():
    lines = str(Odd()).splitlines()
    assert lines[:4] == ["Odd {", "  maybe: Some(3)", "  nothing: None", "  sizes: Some([1, 2])"]
    assert "  array: [0..2] {" in lines and "  skipped: <built-in function abs>" in lines
    assert lines[lines.index("  choice: Big {") + 1] == "    _0: Relu"
    for line in (
        "  state: RunningState",
        "  table: Tensor {rank: 2, shape: [2, 3]}",
        "  flag: disabled",
        '  text: "a\\"\\n"',
        "  numbers: (1.0, 1e16, NaN, 0.1)",
        "  renamed: Relu",
        "  params: 2",
    ):
        assert line in lines


def test_containers_in_containers():
    class Deep(Module):
        def __init__(self):
            self.rows = [[Relu()], []]
            self.named = [{"a": (Relu(), None)}]
            self.tables = [Tensor.zeros([2, 3], CPU)]
            self.kind = Relu  # a class is a constant
            self.sizes = [[1, 2], [3]]

    assert str(Deep()) == (
        "Deep {\n"
        "  rows: Vec<0..2> {\n    0: Vec<0..1> {\n      0: Relu\n    }\n    1: []\n  }\n"
        "  named: Vec<0..1> {\n    0: Dict<0..1> {\n      a: (L0, L1) {\n        0: Relu\n        1: None\n      }\n    }\n  }\n"
        "  tables: Vec<0..1> {\n    0: Tensor {rank: 2, shape: [2, 3]}\n  }\n"
        "  kind: Relu\n"
        "  sizes: [[1, 2], [3]]\n}"
    )


def test_a_module_that_is_not_finished_can_be_printed():
    class Early(Module):
        def __init__(self):
            self.size = 3
            self.text = repr(self)  # as debuggers do

    assert Early().text == "Early {\n  size: 3\n}"


def test_notebooks_show_the_printed_form():
    assert (
        Net()._repr_html_() == f"<pre>{NET.replace('<', '&lt;').replace('>', '&gt;').replace(chr(34), '&quot;')}</pre>"
    )


def test_content_of_ones_own():
    class Own(Module):
        def custom_content(self, content):
            content.set_top_level_type("Mine")
            content.add("text", "bare").add("small", 1e-5).add("one", 1.0).add("low", -1e4)
            return content.add_debug_attribute("debug", "quoted").add_formatted("ready", "<x>")

    assert str(Own()) == (
        'Mine {\n  text: bare\n  small: 0.00001\n  one: 1\n  low: -10000\n  debug: "quoted"\n  ready: <x>\n}'
    )

    class Alone(Module):
        def custom_content(self, content):
            return content.add_single("just this")

    assert str(Alone()) == "just this"
    content = Content(DisplaySettings())
    with pytest.raises(ModuleError, match="a single item was set"):
        content.add_single(1).add("a", 2)
    with pytest.raises(ModuleError, match="attributes were added"):
        Content(DisplaySettings()).add("a", 2).add_single(1)
