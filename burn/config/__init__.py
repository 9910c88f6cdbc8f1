"""Configurations: frozen dataclasses with ``with_*`` builders that are saved as the JSON that Burn writes."""

import dataclasses
import enum
import functools
import json
import math
import sys
import types
import typing
import warnings

import numpy as np

from burn._annotations import allows_none, own_annotations
from burn._arguments import Unit, check_variant, class_name, described, file_path, fits, shown
from burn.errors import ArgumentError, ArgumentTypeError, ConfigError
from burn.tensor._calls import teach_constructor

from ._fields import (
    F32,
    F32_END,
    check_text,
    dict_hints,
    expect,
    has_f32,
    inner_hints,
    is_f32,
    key_from_json,
    key_to_json,
    own_value,
    wants_float,
)

__all__ = [
    "F32", "Config", "ConfigEnum", "ConfigFileNotFound", "ConfigWarning", "Float32", "config_to_json", "float_text", "from_json",
    "to_json", "tuple_variant",
]  # fmt: skip


@typing.dataclass_transform(frozen_default=True)
class Config:
    """Base of configurations: subclasses become frozen dataclasses.

    Each field with a default gets a builder ``with_<field>(value)`` that returns a changed copy; a field whose type
    allows None has the default None. A value that does not have the type of its annotation raises `ArgumentTypeError`
    when the configuration is made; an int is good for a float. Mirrors `burn::config::Config`.

    >>> class TrainingConfig(Config):
    ...     epochs: int
    ...     lr: float = 1e-3
    ...     seed: int | None = None
    >>> config = TrainingConfig(10).with_lr(0.1)
    >>> config
    TrainingConfig(epochs=10, lr=0.1, seed=None)
    >>> print(config)
    {
      "epochs": 10,
      "seed": null,
      "lr": 0.1
    }
    >>> config.save("training.json")
    >>> TrainingConfig.load("training.json") == config, TrainingConfig.load_binary(b'{"epochs": 3}').epochs
    (True, 3)
    """

    if typing.TYPE_CHECKING:  # the builders, `with_<field>`

        def __getattr__(self, name: str) -> typing.Callable[..., typing.Self]: ...

    def __init_subclass__(cls, **kwargs: typing.Any) -> None:
        super().__init_subclass__(**kwargs)
        for name, annotation in own_annotations(cls).items():
            if name not in cls.__dict__ and allows_none(annotation):
                setattr(cls, name, dataclasses.field(default=None, kw_only=True))  # required fields may follow it
        _check_when_made(cls)
        dataclasses.dataclass(frozen=True)(cls)
        teach_constructor(cls)
        for field in dataclasses.fields(cls):
            builder = f"with_{_json_name(field.name)}"
            if not _required(field) and builder not in cls.__dict__:
                setattr(cls, builder, _builder(cls, builder, field.name))

    def save(self, file) -> None:
        """Writes the configuration as JSON; the file is always the old one or the new one, never a part.

        Args:
            file: path of the file.

        Raises:
            ConfigError: the file cannot be written, or a number is NaN or infinite.
        """
        from burn.store.pack.atomic import AtomicFile  # the store is not needed to build a model

        path = file_path("Config.save", file)
        text = config_to_json(self).encode()
        try:
            with AtomicFile(path) as out:
                out.write(text)
        except OSError as error:
            raise ConfigError(f"[Config.save] cannot write {path!r}: {error.strerror or error}") from error

    @classmethod
    def load(cls, file) -> typing.Self:
        """Reads a configuration from a JSON file.

        Unknown keys are ignored with a `ConfigWarning`; missing ones take their defaults (Burn refuses the file).

        Args:
            file: path of the file.

        Returns:
            The configuration.

        Raises:
            ConfigFileNotFound: there is no such file.
            ConfigError: the file cannot be read, or its content does not fit the fields.
        """
        path = file_path(f"{cls.__name__}.load", file)
        try:
            with open(path, "rb") as stream:
                data = stream.read()
        except FileNotFoundError as error:
            raise ConfigFileNotFound(f"[{cls.__name__}.load] there is no file {path!r}") from error
        except OSError as error:
            raise ConfigError(f"[{cls.__name__}.load] cannot read {path!r}: {error.strerror or error}") from error
        try:
            return cls.load_binary(data)
        except ConfigError as error:
            raise type(error)(f"{error} (in {path!r})") from error

    @classmethod
    def load_binary(cls, data: bytes) -> typing.Self:
        """Reads a configuration from the bytes of a JSON file.

        Args:
            data: the bytes.

        Raises:
            ConfigError: the bytes are not UTF-8 or JSON, or their content does not fit the fields.
        """
        if not isinstance(data, (bytes, bytearray, memoryview)):
            raise ArgumentTypeError(f"[{cls.__name__}.load_binary] 'data' must be bytes, got {shown(data)}")
        try:
            value = json.loads(bytes(data).decode(), parse_constant=_no_number, object_pairs_hook=_once)
        except UnicodeDecodeError as error:
            raise ConfigError(f"[{cls.__name__}.load] the data is not UTF-8: {error}") from error
        except ConfigError:
            raise
        except (ValueError, RecursionError) as error:
            raise ConfigError(f"[{cls.__name__}.load] the data is not JSON: {error}") from error
        return from_json(value, cls, cls.__name__)

    def __str__(self):
        return config_to_json(self)


class ConfigWarning(UserWarning):
    """The JSON of a configuration has a key that is no field."""


class ConfigFileNotFound(ConfigError, FileNotFoundError):
    """The file of a configuration is missing."""


class ConfigEnum:
    """Base of enums whose variants hold data: each class in the body is a variant, a subclass of the enum.

    A variant without fields is an instance, and called it is itself; JSON has its bare name. A variant with annotated
    fields is a frozen dataclass; JSON has ``{"Name": {"field": ..}}``, or a list (a bare value, if there is just one)
    where the class is marked with `tuple_variant`.

    >>> class Schedule(ConfigEnum):
    ...     class Off:
    ...         pass
    ...     class Step:
    ...         size: int
    ...         gamma: float = 0.1
    >>> Schedule.Off, Schedule.Step(3), isinstance(Schedule.Step(3), Schedule)
    (Schedule.Off, Schedule.Step(size=3, gamma=0.1), True)
    >>> Schedule.Off() is Schedule.Off
    True
    """

    _positional: typing.ClassVar[bool] = False
    __init__ = check_variant

    def __init_subclass__(cls, **kwargs: typing.Any) -> None:
        super().__init_subclass__(**kwargs)
        if ConfigEnum not in cls.__bases__:
            return  # a variant
        cls._variants = {}
        for name, body in list(cls.__dict__.items()):
            if isinstance(body, type) and not name.startswith("_"):
                cls._variants[name] = _make_variant(cls, name, body)
                setattr(cls, name, cls._variants[name])


def tuple_variant(body: type) -> type:
    """Marks a variant of a `ConfigEnum` whose fields have positions and no names, as ``Explicit(1, 2)`` in Burn.

    Args:
        body: the class.

    Returns:
        The class.

    >>> class Size(ConfigEnum):
    ...     @tuple_variant
    ...     class Fixed:
    ...         width: int
    >>> Size.Fixed(3), to_json(Size.Fixed(3))
    (Size.Fixed(3), {'Fixed': 3})
    """
    body._positional = True
    return body


def config_to_json(config) -> str:
    """The JSON text of a configuration: two spaces of indentation, keys in Burn's order, no final newline.

    Args:
        config: a Config.

    Returns:
        A str.

    Raises:
        ConfigError: a value has no place in JSON (NaN, an infinity, an unknown type).

    >>> class Size(Config):
    ...     width: int
    >>> print(config_to_json(Size(3)))
    {
      "width": 3
    }
    """
    return _pretty(to_json(config), "")


def to_json(value):
    """The nested dicts, lists and numbers that stand for a configuration; `Float32` marks 32-bit floats.

    Args:
        value: a Config, a ConfigEnum, or what their fields hold.

    Returns:
        What `json.dumps` takes.

    >>> class Size(Config):
    ...     width: int
    >>> to_json(Size(3))
    {'width': 3}
    """
    return _encode(value, type(value), type(value).__name__)


def from_json(value, hint, where: str = "value"):
    """Builds a value of type ``hint`` from what `json.loads` gave.

    Args:
        value: what `json.loads` gave.
        hint: the type to build.
        where: name of the place in messages.

    Returns:
        A value of that type.

    Raises:
        ConfigError: the value does not fit the type; the message names the place.

    >>> from_json([1, 2], list[int])
    [1, 2]
    """
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Annotated:
        inner = from_json(value, arguments[0], where)
        expect(hint is not F32 or abs(inner) < F32_END, "a number of 32 bits", value, where)
        return inner
    if origin in (typing.Union, types.UnionType):
        return _from_union(value, arguments, where)
    if hint is typing.Any:
        return value
    if isinstance(hint, type) and issubclass(hint, ConfigEnum):
        return _variant_from_json(value, hint, where)
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        if isinstance(value, str) and value in hint.__members__:
            return hint[value]
        raise ConfigError(f"[config] {where!r} must be one of {', '.join(hint.__members__)}, got {value!r}")
    if dataclasses.is_dataclass(hint):
        return _dataclass_from_json(value, hint, where)
    if origin in (list, tuple) or hint in (list, tuple):
        return _sequence_from_json(value, origin or hint, arguments, where)
    if origin is dict or hint is dict:
        kind, item = dict_hints(hint)
        expect(isinstance(value, dict), "an object", value, where)
        return {
            key_from_json(key, kind, where): from_json(entry, item, f"{where}.{key}") for key, entry in value.items()
        }
    if hint is float:
        expect(isinstance(value, (int, float)) and not isinstance(value, bool), "a number", value, where)
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        expect(math.isfinite(number), "a finite number", value, where)
        return number
    if hint is int:
        expect(isinstance(value, int) and not isinstance(value, bool), "an integer", value, where)
        return value
    for kind, wanted in ((bool, "true or false"), (str, "a text"), (types.NoneType, "null")):
        if hint is kind:
            expect(isinstance(value, kind), wanted, value, where)
            return value
    if hasattr(hint, "from_json"):
        return hint.from_json(value)
    raise ConfigError(f"[config] {where!r} has a type that cannot be read from JSON: {hint}")


class Float32(float):
    """A float that is printed with the digits of 32 bits.

    >>> Float32(0.5) + 1.0
    1.5
    """


def _required(field: dataclasses.Field) -> bool:
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


def _json_name(name: str) -> str:
    return name.removesuffix("_")


def _check_when_made(cls: type) -> None:
    """Puts the check of the fields before what a class itself does after its construction."""
    own = cls.__dict__.get("__post_init__")

    def __post_init__(self, *arguments):
        _check_fields(self)
        if own is not None:
            own(self, *arguments)

    if own is not None or not hasattr(cls, "__post_init__"):
        cls.__post_init__ = __post_init__


def _check_fields(config) -> None:
    """Raises unless the values have the types of their annotations; lists, tuples and dicts become the configuration's own."""
    try:
        hints = _hints(type(config))
    except NameError:  # a class that is defined in a function, and names another one from there
        return
    for field in dataclasses.fields(config):
        value, hint = getattr(config, field.name), hints[field.name]
        if not fits(value, hint):
            raise ArgumentTypeError(
                f"[{class_name(type(config))}] {field.name!r} must be {described(hint)}, got {shown(value)}"
            )
        try:
            kept = own_value(value, hint)
        except OverflowError:
            raise ArgumentError(
                f"[{class_name(type(config))}] {field.name!r} must be {described(hint)} that {32 if has_f32(hint) else 64} bits "
                f"hold, got {shown(value)}; use a smaller one"
            ) from None
        if kept is not value:
            object.__setattr__(config, field.name, kept)


def _builder(cls, builder: str, name: str):
    def build(self, value):
        return dataclasses.replace(self, **{name: value})

    build.__name__, build.__qualname__ = builder, f"{cls.__qualname__}.{builder}"
    build.__doc__ = f"A copy with another ``{name}``."
    return build


def _make_variant(base: type, name: str, body: type):
    dropped = ("__dict__", "__weakref__", "__annotate__", "__annotate_func__", "__annotations_cache__")
    namespace = {key: value for key, value in body.__dict__.items() if key not in dropped}
    namespace["__qualname__"] = f"{base.__qualname__}.{name}"
    namespace["__annotations__"] = own_annotations(body)
    if not namespace["__annotations__"]:
        unit = type(name, (Unit, base), namespace | {"__repr__": lambda self: f"{base.__name__}.{name}"})
        unit.__reduce__ = lambda self: (getattr, (base, name))
        return unit()
    made = type(name, (base,), namespace)
    _check_when_made(made)
    variant = dataclasses.dataclass(frozen=True, repr=False)(made)
    values = dataclasses.fields(variant)

    def show(self):
        shown = [(field.name, repr(getattr(self, field.name))) for field in values]
        inside = ", ".join(text if self._positional else f"{key}={text}" for key, text in shown)
        return f"{base.__name__}.{name}({inside})"

    variant.__repr__ = show
    return variant


@functools.cache
def _hints(cls) -> dict:
    return typing.get_type_hints(cls, include_extras=True)


def _burn_order(cls) -> list[dataclasses.Field]:
    """Required fields, then those that may be None, then those with a default, as Burn writes them."""
    hints = _hints(cls)

    def rank(field):
        if _required(field):
            return 0
        return 1 if allows_none(hints[field.name]) and field.default is None else 2

    return sorted(dataclasses.fields(cls), key=rank)


def _encode(value, hint, where: str):
    if isinstance(value, str):
        return check_text(value, where)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, enum.Enum):
        return value.name
    if isinstance(value, ConfigEnum):
        return _encode_variant(value, where)
    if dataclasses.is_dataclass(value):
        hints = _hints(type(value))
        return {
            _json_name(field.name): _encode(getattr(value, field.name), hints[field.name], f"{where}.{field.name}")
            for field in _burn_order(type(value))
        }
    if isinstance(value, (float, np.floating)):
        single = is_f32(hint) or isinstance(value, np.float32)
        if not math.isfinite(value) or (single and abs(float(value)) >= F32_END):
            bits = "in 32 bits " if single else ""
            raise ConfigError(f"[config] {where!r} must be finite {bits}to be saved as JSON, got {value}")
        return Float32(value) if single else float(value)
    if isinstance(value, (int, np.integer)):
        # Python code writes 1 where Burn has the float 1.0; the file must say 1.0.
        return float(value) if wants_float(hint) else int(value)
    if isinstance(value, (list, tuple)):
        inner = inner_hints(hint, len(value))
        return [_encode(item, each, f"{where}[{i}]") for i, (item, each) in enumerate(zip(value, inner))]
    if isinstance(value, dict):
        _, item = dict_hints(hint)
        return {key_to_json(key, where): _encode(entry, item, f"{where}.{key}") for key, entry in value.items()}
    if hasattr(value, "to_json"):
        return value.to_json()
    raise ConfigError(f"[config] {where!r} has a type that cannot be saved as JSON: {type(value).__name__}")


def _encode_variant(value: ConfigEnum, where: str):
    name = type(value).__name__
    if not dataclasses.is_dataclass(value):
        return name
    hints = _hints(type(value))
    content = {
        _json_name(field.name): _encode(getattr(value, field.name), hints[field.name], f"{where}.{name}.{field.name}")
        for field in dataclasses.fields(value)
    }
    if value._positional:
        content = list(content.values()) if len(content) > 1 else next(iter(content.values()))
    return {name: content}


def _variant_from_json(value, base: type, where: str):
    names = ", ".join(base._variants)
    if isinstance(value, str) and isinstance(base._variants.get(value), base):
        return base._variants[value]
    expect(isinstance(value, dict) and len(value) == 1, f"one of {names}", value, where)
    ((name, content),) = value.items()
    variant = base._variants.get(name)
    expect(isinstance(variant, type), f"one of {names}", value, where)
    if not variant._positional:
        return _dataclass_from_json(content, variant, f"{where}.{name}")
    fields, hints = dataclasses.fields(variant), _hints(variant)
    items = content if len(fields) > 1 else [content]
    expect(isinstance(items, list) and len(items) == len(fields), f"{len(fields)} values", content, f"{where}.{name}")
    return variant(*(from_json(i, hints[f.name], f"{where}.{name}.{f.name}") for i, f in zip(items, fields)))


def _dataclass_from_json(value, cls, where: str):
    expect(isinstance(value, dict), "an object", value, where)
    hints, given = _hints(cls), {}
    for field in dataclasses.fields(cls):
        key = _json_name(field.name)
        if key in value:
            given[field.name] = from_json(value[key], hints[field.name], f"{where}.{key}")
        elif _required(field):
            raise ConfigError(f"[config] {where!r} lacks the key {key!r}, which has no default")
    made = cls(**given)
    known = {_json_name(field.name) for field in dataclasses.fields(cls)}
    for key in value:
        if key not in known:
            warnings.warn(
                f"[config] {where!r} has the key {key!r}, which is no field of {cls.__name__} and is ignored",
                ConfigWarning,
                stacklevel=_level(),
            )
    return made


def _level() -> int:
    """How far up the stack the caller of this file is."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_code.co_filename == __file__:
        frame, level = frame.f_back, level + 1
    return level


def _once(pairs: list[tuple[str, typing.Any]]) -> dict:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        key = next(name for name in names if names.count(name) > 1)
        raise ConfigError(f"[config] the key {key!r} stands twice in one object; keep one of them")
    return found


def _no_number(text: str):
    raise ConfigError(f"[config] {text} is no number of JSON: a configuration holds finite numbers only")


def _from_union(value, arguments, where: str):
    if value is None and types.NoneType in arguments:
        return None
    choices = [argument for argument in arguments if argument is not types.NoneType]
    for choice in choices[:-1]:
        try:
            return from_json(value, choice, where)
        except ConfigError:
            continue
    return from_json(value, choices[-1], where)


def _sequence_from_json(value, kind: type, arguments, where: str):
    expect(isinstance(value, list), "a list", value, where)
    if kind is tuple and arguments and arguments[-1] is not ...:
        expect(len(value) == len(arguments), f"a list of {len(arguments)}", value, where)
    inner = inner_hints(kind[arguments] if arguments else kind, len(value))
    return kind(from_json(item, each, f"{where}[{i}]") for i, (item, each) in enumerate(zip(value, inner)))


def _pretty(value, indent: str) -> str:
    inner = indent + "  "
    if isinstance(value, dict) and value:
        lines = [f"{inner}{json.dumps(key, ensure_ascii=False)}: {_pretty(item, inner)}" for key, item in value.items()]
        return "{\n" + ",\n".join(lines) + f"\n{indent}}}"
    if isinstance(value, list) and value:
        return "[\n" + ",\n".join(inner + _pretty(item, inner) for item in value) + f"\n{indent}]"
    if isinstance(value, float):
        return float_text(value)
    return json.dumps(value, ensure_ascii=False)


def float_text(value: float) -> str:
    """A finite float as Burn's JSON has it: shortest digits that round-trip, an exponent only far from 1.

    Args:
        value: a finite number.

    Returns:
        A str.

    >>> [float_text(x) for x in (1.0, 1e-5, 1e-6, 1e15, 1e16, 1.5e-7, Float32(0.1))]
    ['1.0', '0.00001', '1e-6', '1000000000000000.0', '1e16', '1.5e-7', '0.1']
    """
    single = isinstance(value, Float32)
    text = np.format_float_scientific(np.float32(value) if single else np.float64(value), unique=True, trim="-")
    mantissa, exponent = text.split("e")
    sign, digits = ("-", mantissa[1:]) if mantissa[0] == "-" else ("", mantissa)
    digits, point = digits.replace(".", ""), int(exponent) + 1
    if digits == "0":
        return f"{sign}0.0"
    smallest, largest = (-6, 13) if single else (-5, 16)
    if len(digits) <= point <= largest:
        return f"{sign}{digits}{'0' * (point - len(digits))}.0"
    if 0 < point <= largest:
        return f"{sign}{digits[:point]}.{digits[point:]}"
    if smallest < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    fraction = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{fraction}e{point - 1}"
