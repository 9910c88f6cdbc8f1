"""Every layer and loss of Burn is there, under its name and with its configuration."""

import dataclasses
import enum
import inspect
import math
import re

import pytest

from burn import nn
from burn._waiting import WAITING
from burn.config import Config, _burn_order
from burn.errors import NotYetError
from burn.module import Module
from tests.conftest import ROOT

KU = nn.Initializer.KaimingUniform(1.0 / math.sqrt(3.0), False)
XN = nn.Initializer.XavierNormal(1.0)

# The table of modules in Burn's book, part by part: the place, and the names in it.
BOOK = {
    "burn.nn": """
        BatchNorm Celu Dropout Elu Embedding GaussianNoise Gelu Glu GLU GroupNorm HardShrink HardSigmoid CosineSimilarity
        InstanceNorm LayerNorm LocalResponseNorm LeakyRelu Linear PairwiseDistance PixelShuffle PixelUnshuffle Prelu PRelu Relu
        Selu Sigmoid Softplus SoftShrink Softsign Shrink RmsNorm SwiGlu Tanh ThresholdedRelu
        Gru BiGru Lstm BiLstm GateController Rnn BiRnn PositionalEncoding RotaryEncoding""",
    "burn.nn.activation": "HardSwish LogSigmoid Mish SiLU",
    "burn.nn.conv": "Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d DeformConv2d",
    "burn.nn.pool": "AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d AvgPool1d AvgPool2d MaxPool1d MaxPool2d",
    "burn.nn.interpolate": "Interpolate1d Interpolate2d",
    "burn.nn.attention": "MultiHeadAttention CrossAttention",
    "burn.nn.transformer": "TransformerDecoder TransformerEncoder",
    "burn.nn.loss": """
        BinaryCrossEntropyLoss CosineEmbeddingLoss CrossEntropyLoss CTCLoss GramMatrixLoss GaussianNLLLoss HingeEmbeddingLoss
        HuberLoss KLDivLoss LpLoss MarginRankingLoss MseLoss MultiMarginLoss PoissonNllLoss RNNTLoss SmoothL1Loss
        SoftMarginLoss TripletMarginLoss""",
}
# Other names that burn::nn exports.
OTHERS = {
    "burn.nn": """
        LinearLayout Identity Fold4d Unfold4d generate_sinusoids RnnState LstmState OptionalInitialLstmState
        Initializer PaddingConfig1d PaddingConfig2d PaddingConfig3d activation attention basic cache conv gru
        interpolate loss lstm norm pool transformer""",
    "burn.nn.activation": "Hardtanh Relu6 RRelu Tanhshrink Threshold Activation ActivationConfig",
    "burn.nn.norm": "BatchNorm GroupNorm InstanceNorm LayerNorm RmsNorm LocalResponseNorm Normalization NormalizationConfig",
    "burn.nn.interpolate": "InterpolateMode",
    "burn.nn.attention": """
        MhaInput MhaOutput MhaCache CrossAttentionCache generate_autoregressive_mask generate_padding_mask GeneratePaddingMask
        SeqLengthOption""",
    "burn.nn.transformer": """
        TransformerEncoderLayer TransformerEncoderInput TransformerDecoderLayer TransformerDecoderInput
        PositionWiseFeedForward""",
    "burn.nn.cache": "TensorCache",
    "burn.nn.loss": "Reduction",
    "burn.nn.lstm": "Lstm BiLstm LstmState OptionalInitialLstmState",
    "burn.nn.gru": "Gru BiGru",
    "burn.nn.basic": "Rnn BiRnn RnnState",
}
WITHOUT_CONFIG = """
    Gelu GLU Glu Relu Selu Sigmoid Softsign Tanh HardSwish LogSigmoid Mish SiLU GateController MseLoss SoftMarginLoss"""

# Fields of configurations as Burn has them: required ones first, then defaults.
FIELDS = """
    LinearConfig(d_input,d_output,bias=True,initializer=KU,layout=Row)
    EmbeddingConfig(n_embedding,d_model,initializer=Normal(0.0,1.0)) DropoutConfig(prob) GaussianNoiseConfig(std)
    BatchNormConfig(num_features,epsilon=1e-05,momentum=0.1) LayerNormConfig(d_model,epsilon=1e-05,bias=True)
    RmsNormConfig(d_model,epsilon=1e-05) GroupNormConfig(num_groups,num_channels,epsilon=1e-05,affine=True)
    InstanceNormConfig(num_channels,epsilon=1e-05,affine=True) LocalResponseNormConfig(size,alpha=0.0001,beta=0.75,k=1.0)
    activation.CeluConfig(alpha=1.0) activation.EluConfig(alpha=1.0) activation.HardShrinkConfig(lambda_=0.5)
    activation.HardSigmoidConfig(alpha=0.2,beta=0.5) activation.HardtanhConfig(min_val=-1.0,max_val=1.0)
    activation.LeakyReluConfig(negative_slope=0.01) activation.ShrinkConfig(lambda_=0.5,bias=0.5)
    activation.SoftShrinkConfig(lambda_=0.5) activation.SoftplusConfig(beta=1.0,threshold=20.0)
    activation.ThresholdedReluConfig(alpha=1.0) PReluConfig(num_parameters=1,alpha=0.25)
    SwiGluConfig(d_input,d_output,bias=False,initializer=KU,layout=Row)
    activation.RReluConfig(lower=0.125,upper=0.3333333333333333) activation.ThresholdConfig(threshold,value)
    CosineSimilarityConfig(dim=1,eps=1e-08) PairwiseDistanceConfig(p=2.0,eps=1e-06) PixelShuffleConfig(upscale_factor)
    PixelUnshuffleConfig(downscale_factor) Unfold4dConfig(kernel_size,stride=(1,1),dilation=(1,1),padding=(0,0))
    Fold4dConfig(output_size,kernel_size,stride=(1,1),dilation=(1,1),padding=(0,0))
    PositionalEncodingConfig(d_model,max_sequence_size=5000,max_timescale=10000)
    RotaryEncodingConfig(max_sequence_length,d_model,theta=10000.0)
    conv.Conv1dConfig(channels_in,channels_out,kernel_size,stride=1,dilation=1,groups=1,padding=Valid,bias=True,
       initializer=KU)
    conv.Conv2dConfig(channels,kernel_size,stride=(1,1),dilation=(1,1),groups=1,padding=Valid,bias=True,initializer=KU)
    conv.ConvTranspose1dConfig(channels,kernel_size,stride=1,dilation=1,groups=1,padding=0,padding_out=0,bias=True,
       initializer=KU)
    conv.Conv3dConfig(channels,kernel_size,stride=(1,1,1),dilation=(1,1,1),groups=1,padding=Valid,bias=True,
       initializer=KU)
    conv.ConvTranspose2dConfig(channels,kernel_size,stride=(1,1),dilation=(1,1),groups=1,padding=(0,0),padding_out=(0,0),
       bias=True,initializer=KU)
    conv.ConvTranspose3dConfig(channels,kernel_size,stride=(1,1,1),dilation=(1,1,1),groups=1,padding=(0,0,0),
       padding_out=(0,0,0),bias=True,initializer=KU)
    conv.DeformConv2dConfig(channels,kernel_size,stride=(1,1),dilation=(1,1),weight_groups=1,offset_groups=1,
       padding=Valid,bias=True,initializer=KU) pool.AdaptiveAvgPool1dConfig(output_size)
    pool.AdaptiveAvgPool2dConfig(output_size) pool.AdaptiveAvgPool3dConfig(output_size)
    pool.AvgPool1dConfig(kernel_size,stride=None,padding=Valid,count_include_pad=True,ceil_mode=False)
    pool.AvgPool2dConfig(kernel_size,strides=None,padding=Valid,count_include_pad=True,ceil_mode=False)
    pool.MaxPool1dConfig(kernel_size,stride=None,padding=Valid,dilation=1,ceil_mode=False)
    pool.MaxPool2dConfig(kernel_size,strides=None,padding=Valid,dilation=[1,1],ceil_mode=False)
    interpolate.Interpolate1dConfig(output_size=None,scale_factor=None,mode=Nearest,align_corners=True)
    interpolate.Interpolate2dConfig(output_size=None,scale_factor=None,mode=Nearest,align_corners=True)
    attention.MultiHeadAttentionConfig(d_model,n_heads,dropout=0.1,min_float=-10000.0,quiet_softmax=False,initializer=KU,
       key_bias=True,value_bias=True,query_bias=True,output_bias=True)
    attention.CrossAttentionConfig(d_model,d_context,n_heads,n_heads_kv,d_head,dropout=0.1,min_float=-10000.0,
       quiet_softmax=False)
    transformer.PositionWiseFeedForwardConfig(d_model,d_ff,dropout=0.1,initializer=KU,activation=Gelu)
    transformer.TransformerEncoderConfig(d_model,d_ff,n_heads,n_layers,dropout=0.1,norm_first=False,quiet_softmax=False,
       initializer=KU,activation=Gelu,layer_norm_eps=1e-05)
    transformer.TransformerDecoderConfig(d_model,d_ff,n_heads,n_layers,dropout=0.1,norm_first=False,quiet_softmax=False,
       initializer=KU,activation=Gelu,layer_norm_eps=1e-05)
    RnnConfig(d_input,d_hidden,bias,clip=None,initializer=XN,batch_first=True,reverse=False,hidden_activation=Tanh)
    BiRnnConfig(d_input,d_hidden,bias,clip=None,initializer=XN,batch_first=True,hidden_activation=Tanh)
    BiGruConfig(d_input,d_hidden,bias,clip=None,initializer=XN,reset_after=True,batch_first=True,gate_activation=Sigmoid,
       hidden_activation=Tanh)
    LstmConfig(d_input,d_hidden,bias,clip=None,initializer=XN,batch_first=True,reverse=False,input_forget=False,
       gate_activation=Sigmoid,cell_activation=Tanh,hidden_activation=Tanh)
    BiLstmConfig(d_input,d_hidden,bias,clip=None,initializer=XN,batch_first=True,input_forget=False,
       gate_activation=Sigmoid,cell_activation=Tanh,hidden_activation=Tanh)
    GruConfig(d_input,d_hidden,bias,clip=None,initializer=XN,reset_after=True,gate_activation=Sigmoid,
       hidden_activation=Tanh) loss.BinaryCrossEntropyLossConfig(weights=None,smoothing=None,logits=False)
    loss.CrossEntropyLossConfig(pad_tokens=None,weights=None,smoothing=None,logits=True)
    loss.CosineEmbeddingLossConfig(margin=0.0,reduction=Mean) loss.CTCLossConfig(blank=0,zero_infinity=False)
    loss.GaussianNLLLossConfig(eps=1e-06,full=False) loss.HingeEmbeddingLossConfig(margin=1.0) loss.HuberLossConfig(delta)
    loss.KLDivLossConfig(log_target=False) loss.LpLossConfig(p) loss.MarginRankingLossConfig(margin=0.0)
    loss.MultiMarginLossConfig(margin=1.0,p=1) loss.PoissonNllLossConfig(log_input=True,full=False,eps=1e-08)
    loss.RNNTLossConfig(blank=0,logits=True) loss.SmoothL1LossConfig(beta=1.0)
    loss.TripletMarginLossConfig(margin=1.0,p=2.0)"""

FIELDS = re.sub(r",\s+", ",", FIELDS)


def listed(table):
    return [(place, name) for place, names in table.items() for name in names.split()]


def found(path):
    """What a dotted name after burn.nn leads to."""
    item = nn
    for name in path.removeprefix("burn.nn").strip(".").split(".") if path != "burn.nn" else ():
        item = getattr(item, name)
    return item


@pytest.mark.parametrize(("place", "name"), listed(BOOK), ids=lambda part: part)
def test_modules_of_the_book(place, name):
    """A layer with its configuration, or a name that says what it waits for."""
    if f"{place}.{name}" in WAITING:
        with pytest.raises(NotYetError, match="vision library"):
            getattr(found(place), name)
        return
    layer = getattr(found(place), name)
    assert issubclass(layer, Module) and callable(layer.gate_product if name == "GateController" else layer.forward)
    if name not in WITHOUT_CONFIG.split():
        config = getattr(found(place), name + "Config")
        assert issubclass(config, Config) and config.init


@pytest.mark.parametrize(("place", "name"), listed(OTHERS), ids=lambda part: part)
def test_other_names(place, name):
    assert hasattr(found(place), name)


CALLS = """forward forward_no_reduction forward_with_reduction forward_reduce_dims forward_residuals forward_iter forward_cache
    forward_autoregressive_inference gate_product"""


@pytest.mark.parametrize(("place", "name"), [*listed(BOOK), *listed(OTHERS)], ids=lambda part: part)
def test_calls_state_their_shapes(place, name):
    layer = None if f"{place}.{name}" in WAITING else getattr(found(place), name)
    for method in CALLS.split() if inspect.isclass(layer) and issubclass(layer, Module) else ():
        if hasattr(layer, method):
            assert "# Shapes" in inspect.getdoc(getattr(layer, method)), method


def test_the_page_of_layers_names_them_all():
    text = (ROOT / "docs/layers.md").read_text()
    lacking = [name for _, name in listed(BOOK) if f"`{name}`" not in text]
    assert not lacking, f"docs/layers.md lacks {lacking}"


def test_both_spellings_are_one_class():
    assert nn.Glu is nn.GLU and nn.Prelu is nn.PRelu and nn.PreluConfig is nn.PReluConfig


def default_of(value):
    """A default as the lists have it."""
    if value == KU:
        return "KU"
    if value == XN:
        return "XN"
    if isinstance(value, nn.Initializer):
        return f"{type(value).__name__}({','.join(map(str, vars(value).values()))})"
    if isinstance(value, enum.Enum):
        return value.name
    text = str(value if isinstance(value, tuple | list | float | int | None) else repr(value))
    return text.rsplit(".", 1)[-1] if text[:1].isupper() else text.replace(" ", "")


@pytest.mark.parametrize("text", FIELDS.split())
def test_fields_of_configurations(text):
    """Names, defaults, and the order of JSON: required ones, those that may be missing, those with a default."""
    path, wanted = text[:-1].split("(", 1)
    config, wanted = found("burn.nn." + path), split(wanted)
    fields = dataclasses.fields(config)
    defaults = {f.name: f.default_factory() if callable(f.default_factory) else f.default for f in fields}
    shown = [n if v is dataclasses.MISSING else f"{n}={default_of(v)}" for n, v in defaults.items()]
    assert sorted(shown) == sorted(wanted)
    order = sorted(wanted, key=lambda part: ("=" in part) + ("=" in part and not part.endswith("=None")))
    assert [f.name for f in _burn_order(config)] == [part.partition("=")[0] for part in order]


SIZES = {"channels": [2, 2], "bias": True, "prob": 0.5, "threshold": 0.25, "n_heads_kv": 1}


@pytest.mark.parametrize("text", FIELDS.split())
def test_configurations_come_back_from_their_json(text):
    path = text.partition("(")[0]
    config = found("burn.nn." + path)
    axes = 1 if "1d" in path else 3 if "3d" in path else 2
    given = {}
    for part in split(text[:-1].partition("(")[2]):
        if "=" not in part:
            listed_sizes = part in ("kernel_size", "output_size") and axes > 1
            given[part] = [2] * axes if listed_sizes else SIZES.get(part, 4)
    made = config(**given)
    assert config.load_binary(str(made).encode()) == made


def test_every_configuration_is_in_the_list():
    listed_here = {text.partition("(")[0].rpartition(".")[2] for text in FIELDS.split()}
    lacking = []
    for place, name in [*listed(BOOK), *listed(OTHERS)]:
        config = None if f"{place}.{name}" in WAITING else getattr(found(place), name + "Config", None)
        if config is not None and issubclass(config, Config) and config.__name__ not in listed_here:
            lacking.append(config.__name__)
    assert not lacking


def split(text):
    """The parts between commas outside brackets."""
    parts, depth = [""], 0
    for letter in text:
        depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(letter, 0)
        if letter == "," and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    return parts


def test_a_name_at_the_wrong_place_is_pointed_at():
    with pytest.raises(AttributeError, match=r"no attribute 'Conv2d'; it is burn\.nn\.conv\.Conv2d"):
        _ = nn.Conv2d
    with pytest.raises(AttributeError, match=r"no attribute 'KLDivLoss'; it is burn\.nn\.loss\.KLDivLoss"):
        _ = nn.KLDivLoss
    with pytest.raises(AttributeError, match=r"module 'burn\.nn\.loss' has no attribute 'L1Loss'"):
        _ = nn.loss.L1Loss


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("LSTM", "burn.nn.Lstm"),
        ("ReLU", "burn.nn.Relu"),
        ("BatchNorm2d", "burn.nn.BatchNorm"),
        ("GELU", "burn.nn.Gelu"),
        ("MSELoss", "burn.nn.loss.MseLoss"),
        ("Module", "burn.module.Module"),
        ("Parameter", "burn.module.Param"),
        ("Sequential", "list of modules"),
    ],
)
def test_names_of_pytorch_are_pointed_at(name, place):
    with pytest.raises(AttributeError, match=f"no attribute '{name}'; .*{place}"):
        getattr(nn, name)
    with pytest.raises(ImportError, match=place):
        exec(f"from burn.nn import {name}")
