"""How modules are printed: as a tree in Burn's own form."""

import dataclasses
import enum

import numpy as np

from burn._arguments import integer
from burn.errors import ModuleError
from burn.tensor import Tensor


@dataclasses.dataclass(frozen=True)
class DisplaySettings:
    """Settings of the printed form; what is None takes the default, or the value of the enclosing module.

    Mirrors `burn::module::DisplaySettings`.

    Args:
        show_param_id: whether ids of parameters are shown.
        show_all_attributes: whether every field is, whatever the module chooses.
        show_num_parameters: whether each module shows its number of parameters.
        new_line_after_attribute: whether each attribute has a line.
        indentation_size: spaces of one level.
        level: how deep the module is, from 1.

    Raises:
        ArgumentError: a negative indentation.

    >>> settings = DisplaySettings().with_indentation_size(4).optional().inherit(DisplaySettings())
    >>> settings.get("indentation_size"), settings.get("show_param_id")
    (4, False)
    """

    show_param_id: bool | None = None
    show_all_attributes: bool | None = None
    show_num_parameters: bool | None = None
    new_line_after_attribute: bool | None = None
    indentation_size: int | None = None
    level: int = 1

    def __post_init__(self):
        if self.indentation_size is not None:
            integer("DisplaySettings", "indentation_size", self.indentation_size, 0)

    def with_show_param_id(self, value: bool) -> "DisplaySettings":
        """Print the ids of parameters (default False)."""
        return dataclasses.replace(self, show_param_id=value)

    def with_show_all_attributes(self, value: bool) -> "DisplaySettings":
        """Print every field, also where a module chooses what to print (default False)."""
        return dataclasses.replace(self, show_all_attributes=value)

    def with_show_num_parameters(self, value: bool) -> "DisplaySettings":
        """Print the number of parameters of each module (default True)."""
        return dataclasses.replace(self, show_num_parameters=value)

    def with_new_line_after_attribute(self, value: bool) -> "DisplaySettings":
        """Print one attribute a line (default True)."""
        return dataclasses.replace(self, new_line_after_attribute=value)

    def with_indentation_size(self, value: int) -> "DisplaySettings":
        """Spaces of one level (default 2)."""
        return dataclasses.replace(self, indentation_size=value)

    def optional(self) -> "DisplaySettings":
        """These settings: where Rust wraps them in ``Some``, Python needs nothing."""
        return self

    def inherit(self, top: "DisplaySettings") -> "DisplaySettings":
        """These settings where ``top`` leaves something open; the level is that of ``top``.

        Args:
            top: the settings of the enclosing module.
        """
        return DisplaySettings(
            *(
                mine if theirs is None else theirs
                for mine, theirs in zip(dataclasses.astuple(self)[:-1], dataclasses.astuple(top)[:-1])
            ),
            level=top.level,
        )

    def get(self, name: str):
        """The value in force of one setting.

        Args:
            name: its name.
        """
        value = getattr(self, name)
        return value if value is not None else _DEFAULTS[name]


_DEFAULTS = {
    "show_param_id": False,
    "show_all_attributes": False,
    "show_num_parameters": True,
    "new_line_after_attribute": True,
    "indentation_size": 2,
}

ONE_LINE = DisplaySettings(new_line_after_attribute=False)
"""The settings of the built-in layers."""


class Content:
    """What a module prints: its type name and attributes, or a single text. Mirrors `burn::module::Content`.

    >>> Content(DisplaySettings()).set_top_level_type("Mine").add("rate", 1e-5).add_debug_attribute("debug", 1e-5).attributes
    [('rate', '0.00001'), ('debug', '1e-5')]
    >>> Content(DisplaySettings()).add_field("size", 3, array=False, optional=True).add_formatted("text", "ready").attributes
    [('size', 'Some(3)'), ('text', 'ready')]
    >>> Content(DisplaySettings()).add_single("text alone").optional().single
    'text alone'
    """

    def __init__(self, settings: DisplaySettings):
        self.settings = settings
        self.type_name: str | None = None
        self.attributes: list[tuple[str, str]] = []
        self.single: str | None = None

    def set_top_level_type(self, name: str) -> "Content":
        """Replaces the printed type name."""
        self.type_name = name
        return self

    def add(self, name: str, value) -> "Content":
        """Adds an attribute: a module in its own form, a number or text as people write it (``0.00001``, ``1``).

        Args:
            name: its name.
            value: its value.
        """
        return self.add_formatted(name, _format(value, self.settings, plain=True))

    def add_debug_attribute(self, name: str, value) -> "Content":
        """Adds an attribute in its debug form: texts quoted, ``1e-5``, ``1.0``, ``[1, 2]``.

        Args:
            name: its name.
            value: its value.
        """
        return self.add_formatted(name, _format(value, self.settings, plain=False))

    def add_field(self, name: str, value, array: bool, optional: bool) -> "Content":
        """Adds a field as a derived display has it: an array as one, a constant of an optional field in ``Some``.

        Args:
            name: its name.
            value: its value.
            array: whether a list is shown as an array of fixed length.
            optional: whether the field may be None.
        """
        if array and isinstance(value, (list, tuple)):
            return self.add_formatted(name, format_container(f"[0..{len(value)}]", value, self.settings))
        text = _format(value, self.settings, plain=False)
        wrapped = optional and value is not None and not _holds_parts(value)
        return self.add_formatted(name, f"Some({text})" if wrapped else text)

    def add_formatted(self, name: str, text: str) -> "Content":
        """Adds an attribute whose text is ready.

        Args:
            name: its name.
            text: its text.
        """
        if self.single is not None:
            raise ModuleError("[Content.add] 'name' cannot be added: a single item was set; use one or the other")
        self.attributes.append((name, text))
        return self

    def optional(self) -> "Content":
        """This content: where Rust wraps it in ``Some``, Python needs nothing."""
        return self

    def add_single(self, value) -> "Content":
        """Prints the value alone, without type name and braces.

        Args:
            value: the value.
        """
        if self.attributes:
            raise ModuleError("[Content.add_single] 'value' cannot be set: attributes were added; use one or the other")
        self.single = _format(value, self.settings, plain=True)
        return self


def render(default_name: str, content: Content, num_params: int) -> str:
    """The text of a module with this content."""
    if content.single is not None:
        return content.single
    settings, name = content.settings, content.type_name or default_name
    if not content.attributes:
        return name
    items = [f"{key}: {value}" for key, value in content.attributes]
    if num_params and settings.get("show_num_parameters"):
        items.append(f"params: {num_params}")
    if not settings.get("new_line_after_attribute"):
        return f"{name} {{{', '.join(items)}}}"
    inner = " " * (settings.level * settings.get("indentation_size"))
    closing = " " * ((settings.level - 1) * settings.get("indentation_size"))
    return "".join([f"{name} {{\n", *(f"{inner}{item}\n" for item in items), f"{closing}}}"])


def nested(settings: DisplaySettings) -> DisplaySettings:
    """The settings for what stands inside."""
    return dataclasses.replace(settings, level=settings.level + 1)


def format_container(name: str, items, settings: DisplaySettings) -> str:
    """The text of a list, array, tuple or dict of modules."""
    content = Content(nested(settings))
    for index, item in items.items() if isinstance(items, dict) else enumerate(items):
        content.add(str(index), item)
    content.settings = settings
    return render(name, content, 0)


def _format(value, settings: DisplaySettings, plain: bool) -> str:
    form = getattr(type(value), "_format", None)
    if form is not None:
        return form(value, settings)
    if isinstance(value, Tensor):
        return f"Tensor {{rank: {len(value.shape)}, shape: {list(value.shape)}}}"
    if not _holds_parts(value):
        return plain_text(value) if plain else debug_text(value)
    if isinstance(value, tuple):
        return format_container(f"({', '.join(f'L{i}' for i in range(len(value)))})", value, settings)
    return format_container(f"{'Dict' if isinstance(value, dict) else 'Vec'}<0..{len(value)}>", value, settings)


def _holds_parts(value) -> bool:
    """Whether a value is a part of a module, or a container with one."""
    if isinstance(value, (list, tuple, dict)):
        return any(map(_holds_parts, value.values() if isinstance(value, dict) else value))
    return isinstance(value, Tensor) or hasattr(type(value), "_format")


def plain_text(value) -> str:
    """A value as Rust's Display prints it.

    >>> [plain_text(x) for x in (1e-5, 1.0, -1e4, True, "a", None, [3, 3])]
    ['0.00001', '1', '-10000', 'true', 'a', 'None', '[3, 3]']
    """
    if isinstance(value, str):
        return value
    if isinstance(value, (float, np.floating)) and np.isfinite(value):
        return np.format_float_positional(value, unique=True, trim="-")
    return debug_text(value)


def debug_text(value) -> str:
    """A value as Rust's Debug prints it.

    >>> [debug_text(x) for x in (1e-5, 1.0, 1e16, True, 'a"', (1, 2), [0.5], float("inf"))]
    ['1e-5', '1.0', '1e16', 'true', '"a\\\\""', '(1, 2)', '[0.5]', 'inf']
    """
    if value is None or (isinstance(value, int) and not isinstance(value, (bool, enum.Enum))):
        return str(value)
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, enum.Enum):
        return value.name
    if isinstance(value, (float, np.floating)):
        return _debug_float(value)
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t") + '"'
    if isinstance(value, list):
        return f"[{', '.join(map(debug_text, value))}]"
    if isinstance(value, tuple):
        return f"({', '.join(map(debug_text, value))}{',' if len(value) == 1 else ''})"
    if isinstance(value, (set, frozenset)):
        return f"{{{', '.join(sorted(map(debug_text, value)))}}}"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{debug_text(key)}: {debug_text(item)}' for key, item in value.items())}}}"
    return _debug_object(value)


def _debug_float(value) -> str:
    if not np.isfinite(value):
        return "NaN" if value != value else ("inf" if value > 0 else "-inf")
    if value == 0 or 1e-4 <= abs(value) < 1e16:
        return np.format_float_positional(value, unique=True, trim="0")
    mantissa, exponent = np.format_float_scientific(value, unique=True, trim="-").split("e")
    return f"{mantissa}e{int(exponent)}"


def _debug_object(value) -> str:
    if isinstance(value, type):
        return value.__name__
    # Variants and configs print their short name and their fields, as a derived Debug does.
    if dataclasses.is_dataclass(value):
        fields = [(field.name, debug_text(getattr(value, field.name))) for field in dataclasses.fields(value)]
        if getattr(value, "_positional", False):
            return f"{type(value).__name__}({', '.join(text for _, text in fields)})"
        inside = ", ".join(f"{name}: {text}" for name, text in fields)
        return f"{type(value).__name__} {{ {inside} }}" if fields else type(value).__name__
    return repr(value).rsplit(".", 1)[-1] if type(value).__repr__ is not object.__repr__ else type(value).__name__
