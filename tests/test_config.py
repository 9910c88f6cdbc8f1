"""Configurations: builders, the JSON that Burn writes, and what cannot be read."""

import collections
import copy
import dataclasses
import enum
import pickle
import typing
import warnings

import numpy as np
import pytest

import burn
from burn.config import (
    F32,
    Config,
    ConfigEnum,
    ConfigFileNotFound,
    ConfigWarning,
    Float32,
    config_to_json,
    float_text,
    tuple_variant,
)
from burn.data.dataset.transform import RngSource, SizeConfig
from burn.errors import ArgumentError, ArgumentTypeError, BurnError, ConfigError


class Empty(Config):
    pass


class Order(Config):
    int: int
    float: float
    string: str
    other_config: Empty
    int_default: typing.Annotated[int, "i32"] = 2
    float_default: F32 = 2.0
    maybe: typing.Optional[int] = None  # noqa: UP045 - both spellings are in use


class Choice(ConfigEnum):
    class Nothing:
        pass

    @tuple_variant
    class Single:
        value: float

    @tuple_variant
    class Multiple:
        value: float
        name: str

    class Named:
        first: float
        second: str = "x"


class Layout(enum.Enum):
    Row = 0
    Col = 1


class Full(Config):
    weights: list[F32] | None
    choice: Choice
    sizes: tuple[int, int] = (1, 2)
    layout: Layout = Layout.Row
    lambda_: float = 0.5
    table: dict[str, int] = dataclasses.field(default_factory=dict)


def test_key_order_is_required_optional_default():
    config = Order(1, 2.0, "a", Empty())
    assert config_to_json(config) == (
        '{\n  "int": 1,\n  "float": 2.0,\n  "string": "a",\n  "other_config": {},\n'
        '  "maybe": null,\n  "int_default": 2,\n  "float_default": 2.0\n}'
    )
    assert str(config) == config_to_json(config)


def test_builders_only_for_defaults():
    config = Order(1, 2.0, "a", Empty())
    assert config.with_int_default(7).int_default == 7
    assert config.with_maybe(3).maybe == 3
    assert config.int_default == 2
    assert not hasattr(config, "with_int") and not hasattr(config, "with_other_config")
    assert Full(Choice.Nothing).with_lambda(2.0).lambda_ == 2.0


def test_configs_are_frozen_and_compare_by_value():
    config = Order(1, 2.0, "a", Empty())
    with pytest.raises(dataclasses.FrozenInstanceError):
        config.int = 3
    assert config == Order(1, 2.0, "a", Empty()) != Order(2, 2.0, "a", Empty())
    assert copy.deepcopy(config) == config == pickle.loads(pickle.dumps(config))


def test_containers_are_the_configurations_own():
    class Holding(Config):
        sizes: list[int] = (1, 2)
        pair: tuple[int, int] = (1, 2)
        rows: list[list[float]] | None = None
        table: dict[str, list[int]] = dataclasses.field(default_factory=dict)
        any: typing.Any = None

    sizes, rows, table = [3, 4], [[1.0], (2.0,)], {"a": (1,)}
    config = Holding(sizes, [5, 6], rows=rows, table=table, any=(1, [2]))
    sizes.append(5), rows[0].append(9.0), table.clear()
    assert (config.sizes, config.pair, config.rows, config.table) == ([3, 4], (5, 6), [[1.0], [2.0]], {"a": [1]})
    assert config.any == (1, [2]) and Holding().sizes == [1, 2]
    for made in (Holding(), config.with_any(None)):
        assert Holding.load_binary(str(made).encode()) == made
    point = collections.namedtuple("Point", "x y")(1, 2)
    assert Holding(any=point).any is point


@pytest.mark.parametrize(
    "choice, text",
    [
        (Choice.Nothing, '"Nothing"'),
        (Choice.Single(42.0), '{"Single": 42.0}'),
        (Choice.Multiple(42.0, "Allow"), '{"Multiple": [42.0, "Allow"]}'),
        (Choice.Named(1.0), '{"Named": {"first": 1.0, "second": "x"}}'),
    ],
)
def test_variants(tmp_path, choice, text):
    config = Full(choice, weights=[0.1, 1.0], layout=Layout.Col, table={"a": 1})
    compact = " ".join(config_to_json(config).split())
    assert compact.startswith(
        '{ "choice": ' + text.replace("{", "{ ").replace("}", " }").replace("[", "[ ").replace("]", " ]")
    )
    assert (
        '"weights": [ 0.1, 1.0 ], "sizes": [ 1, 2 ], "layout": "Col", "lambda": 0.5, "table": { "a": 1 } }' in compact
    )
    config.save(tmp_path / "c.json")
    loaded = Full.load(tmp_path / "c.json")
    assert loaded == config
    assert loaded.choice == choice and (loaded.choice is choice or choice is not Choice.Nothing)


def test_variants_are_values():
    assert repr(Choice.Multiple(1.0, "a")) == "Choice.Multiple(1.0, 'a')"
    assert repr(Choice.Nothing) == "Choice.Nothing"
    assert Choice.Single(1.0) == Choice.Single(1.0) != Choice.Single(2.0)
    assert hash(Choice.Single(1.0)) == hash(Choice.Single(1.0))
    assert pickle.loads(pickle.dumps(Choice.Nothing)) is Choice.Nothing
    assert copy.deepcopy(Choice.Nothing) is Choice.Nothing
    assert isinstance(Choice.Nothing, Choice) and isinstance(Choice.Single(1.0), Choice)
    match Choice.Named(3.0):
        case Choice.Named(first, second):
            assert (first, second) == (3.0, "x")


def test_integers_in_float_fields_print_as_floats():
    assert '"float": 2.0' in config_to_json(Order(1, 2, "a", Empty()))


@pytest.mark.parametrize(
    "value, text",
    [(0.0, "0.0"), (-0.0, "-0.0"), (1.0, "1.0"), (0.1, "0.1"), (123456.789, "123456.789"), (1e-5, "0.00001"),
     (1e-6, "1e-6"), (1.25e-10, "1.25e-10"), (1e15, "1000000000000000.0"), (1e16, "1e16"), (1.5e300, "1.5e300"),
     (0.5773502691896258, "0.5773502691896258"), (-2.5, "-2.5"), (Float32(0.1), "0.1"), (Float32(0.001), "0.001"),
     (Float32(1e-6), "0.000001"), (Float32(1e-7), "1e-7"), (Float32(16777216.0), "16777216.0"), (5e-324, "5e-324")],
)  # fmt: skip
def test_float_text(value, text):
    assert float_text(value) == text
    kind = np.float32 if isinstance(value, Float32) else np.float64
    assert kind(text) == kind(value)


def test_missing_keys_take_defaults_and_unknown_ones_are_ignored():
    with pytest.warns(ConfigWarning) as caught:
        loaded = Order.load_binary(b'{"int": 1, "float": 3, "string": "a", "other_config": {"x": 1}, "later": 0}')
    assert [str(warning.message).partition(", ")[0] for warning in caught] == [
        "[config] 'Order.other_config' has the key 'x'",
        "[config] 'Order' has the key 'later'",
    ]
    assert all(warning.filename == __file__ for warning in caught)
    assert loaded == Order(1, 3.0, "a", Empty())
    assert isinstance(loaded.float, float)


@pytest.mark.parametrize(
    "data, message",
    [
        (b"{", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b"\xff\xfe", "not UTF-8"),
        (b"[]", "'Order' must be an object"),
        (b'{"float": NaN}', "NaN is no number of JSON"),
        (b'{"int": 1, "int": 2}', "the key 'int' stands twice in one object"),
        (b'{"float": -Infinity}', "-Infinity is no number of JSON"),
        (b'{"int": 1, "float": 1e999, "string": "a", "other_config": {}}', "'Order.float' must be a finite number"),
        (b'{"int": 1, "float": 1' + b"0" * 400 + b', "string": "a"}', "'Order.float' must be a finite number"),
        (b'{"float": 1.0, "string": "a", "other_config": {}}', "lacks the key 'int'"),
        (b'{"int": 1.5, "float": 1.0, "string": "a", "other_config": {}}', r"'Order.int' must be an integer, got 1.5"),
        (b'{"int": true, "float": 1.0, "string": "a", "other_config": {}}', "must be an integer"),
        (b'{"int": 1, "float": "1", "string": "a", "other_config": {}}', "must be a number"),
        (b'{"int": 1, "float": null, "string": "a", "other_config": {}}', "must be a number"),
    ],
)
def test_what_does_not_fit_is_named(data, message):
    with pytest.raises(ConfigError, match=message):
        Order.load_binary(data)


@pytest.mark.parametrize(
    "choice", ['"Single"', '"Other"', '{"Nothing": 1}', '{"Multiple": [1.0]}', '{"Named": 1}', "3"]
)
def test_wrong_variants(choice):
    with pytest.raises(ConfigError, match="choice"):
        Full.load_binary(f'{{"choice": {choice}}}'.encode())


def test_files(tmp_path, monkeypatch):
    with pytest.raises(ConfigFileNotFound, match="no file"):
        Order.load(tmp_path / "missing.json")
    with pytest.raises(FileNotFoundError):
        Order.load(tmp_path / "missing.json")
    with pytest.raises(ConfigError, match="cannot read"):
        Order.load(tmp_path)
    with pytest.raises(ConfigError, match="cannot write"):
        Empty().save(tmp_path / "no" / "c.json")
    (tmp_path / "bad.json").write_text("{")
    with pytest.raises(ConfigError, match=r"bad\.json"):
        Order.load(tmp_path / "bad.json")


def test_nan_cannot_be_saved_and_the_old_file_stays(tmp_path):
    path = tmp_path / "c.json"
    Order(1, 2.0, "a", Empty()).save(path)
    before = path.read_bytes()
    with pytest.raises(ConfigError, match=r"'Order.float' must be finite"):
        Order(1, float("nan"), "a", Empty()).save(path)
    assert path.read_bytes() == before and not before.endswith(b"\n")


class Odd(Config):
    single: F32 = 0.5
    double: float = 0.5
    many: list[F32] | None = None
    count: int = 1
    named: dict[int, float] = dataclasses.field(default_factory=dict)
    anything: dict = dataclasses.field(default_factory=dict)


@pytest.mark.parametrize(
    "config",
    [
        Odd(0.123456789), Odd(1e-46), Odd(120 / 88), Odd(np.float32(0.1)), Odd(double=np.float32(0.1)), Odd(3), Odd(-0.0),
        Odd(double=5e-324), Odd(double=2**1000), Odd(many=[0.123456789, 1]), Odd(count=np.int64(3)), Odd(count=10**30),
        Odd(named={1: 0.5, -2: 1.0}), Odd(anything={"é": [1, None]}),
    ],
)  # fmt: skip
def test_odd_values_come_back_equal(config, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        config.save(tmp_path / "odd.json")
        assert Odd.load(tmp_path / "odd.json") == config
    assert type(config.count) is int


@pytest.mark.parametrize("make, message", [
    (lambda: Odd(double=10**400), r"\[Odd\] 'double' must be a number that 64 bits hold, got int; use a smaller one"),
    (lambda: Odd(-1e39), r"\[Odd\] 'single' must be a number that 32 bits hold, got -1e\+39"),
    (lambda: Odd(many=[1e300]), r"'many' must be a list of numbers or None that 32 bits hold, got \[1e\+300\]"),
])  # fmt: skip
def test_numbers_that_do_not_fit(make, message):
    with pytest.raises(ArgumentError, match=message):
        make()


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: str(Order(1, 2.0, "\ud800", Empty())), "'Order.string' must be Unicode"),
        (lambda: str(Odd(anything={"\ud800": 1})), "'Odd.anything' must be Unicode"),
        (lambda: str(Odd(anything={None: 1})), "the keys of 'Odd.anything' must be texts or integers .*, got None"),
        (lambda: Odd.load_binary(b'{"single": 1e39}'), "'Odd.single' must be a number of 32 bits, got 1e"),
        (
            lambda: Odd.load_binary(b'{"named": {"a": 1}}'),
            "'Odd.named' must be an object with integers as keys, got 'a'",
        ),
    ],
)
def test_what_json_does_not_have(make, message):
    with pytest.raises(ConfigError, match=message):
        make()


def test_texts_keep_their_letters():
    assert '"string": "é\\n\\""' in config_to_json(Order(1, 2.0, 'é\n"', Empty()))


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: Order("a", 2.0, "a", Empty()), r"\[Order\] 'int' must be an integer, got 'a'"),
        (lambda: Order(1.0, 2.0, "a", Empty()), "'int' must be an integer, got 1.0"),
        (lambda: Order(1, "2", "a", Empty()), "'float' must be a number, got '2'"),
        (lambda: Order(1, 2.0, 3, Empty()), "'string' must be a str, got 3"),
        (lambda: Order(1, 2.0, "a", 4), "'other_config' must be an Empty, got 4"),
        (lambda: Order(1, 2.0, "a", Empty()).with_maybe("x"), "'maybe' must be an integer or None, got 'x'"),
        (lambda: Order(1, 2.0, "a", Empty(), int_default=True), "'int_default' must be an integer, got True"),
        (lambda: Full("Nothing"), r"'choice' must be a Choice \(Nothing, Single, Multiple, Named\), got 'Nothing'"),
        (lambda: Full(Choice.Single), "'choice' must be .* got the class Single"),
        (lambda: Full(Choice.Nothing, weights=["a"]), r"'weights' must be a list of numbers or None, got \['a'\]"),
        (lambda: Full(Choice.Nothing, (1, 2, 3)), "'sizes' must be a tuple of an integer, an integer"),
        (lambda: Full(Choice.Nothing).with_layout("Row"), r"'layout' must be a Layout \(Row, Col\), got 'Row'"),
        (lambda: Choice.Single("a"), r"\[Choice.Single\] 'value' must be a number, got 'a'"),
        (lambda: Order.load(3), "'path' must be a path"),
        (lambda: Empty().save(None), "'path' must be a path"),
        (lambda: Order.load_binary("{}"), "'data' must be bytes, got '{}'"),
    ],
)
def test_values_of_another_type(make, message):
    with pytest.raises(ArgumentTypeError, match=message) as caught:
        make()
    assert isinstance(caught.value, BurnError) and isinstance(caught.value, TypeError)


def test_what_a_class_does_after_its_construction_comes_after_the_check():
    class Seen(Config):
        number: int

        def __post_init__(self):
            seen.append(self.number)

    class Below(Seen):
        text: str = "a"

    seen = []
    Seen(1)
    Below(2)
    for wrong in (lambda: Seen("a"), lambda: Below(1, 3)):
        with pytest.raises(ArgumentTypeError):
            wrong()
    assert seen == [1, 2]


@pytest.mark.parametrize(
    "variant",
    [
        burn.tensor.PadMode.Reflect, burn.tensor.PadMode.Edge, burn.Distribution.Default, burn.linalg.Norm.L0,
        burn.linalg.Norm.LNegInf, burn.nn.Initializer.Zeros, RngSource.Default, SizeConfig.Default,
    ],
    ids=repr,
)  # fmt: skip
def test_variants_without_values_stay_the_same_object(variant):
    assert copy.copy(variant) is copy.deepcopy(variant) is variant
    assert all(pickle.loads(pickle.dumps(variant, p)) is variant for p in range(pickle.HIGHEST_PROTOCOL + 1))


def test_variants_without_values_may_be_called():
    for variant in (
        burn.tensor.PadMode.Reflect,
        burn.tensor.PadMode.Edge,
        burn.Distribution.Default,
        burn.linalg.Norm.L2,
        burn.nn.Initializer.Ones,
        burn.nn.PaddingConfig2d.Same,
    ):
        assert variant() is variant
        with pytest.raises(TypeError):
            variant(1)


def test_variants_with_values_stay_equal():
    for variant in (
        burn.tensor.PadMode.Constant(2.0),
        burn.Distribution.Normal(0.0, 2.0),
        RngSource.Seed(3),
        SizeConfig.Ratio(0.5),
    ):
        assert pickle.loads(pickle.dumps(variant)) == copy.deepcopy(variant) == variant
