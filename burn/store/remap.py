"""Other names for what a file holds: patterns, and lists that are numbered anew."""

import re
from collections.abc import Callable, Iterable

from burn._arguments import instance, shown
from burn.errors import ArgumentTypeError, StoreValidationError

from .bridge import renamed
from .filter import compiled
from .pack import PackTensor

# Rust's replacements: $1, ${1}, $name, ${name}, and $$ for a dollar.
_REFERENCE = re.compile(r"\$(?:\$|([0-9A-Za-z_]+)|\{([0-9A-Za-z_]+)\})")
_INDEX = re.compile(r"0|[1-9][0-9]*", re.ASCII)
_MAX_DEPTH = 256


class KeyRemapper:
    r"""Patterns that rename tensors, in order: each replaces all it finds in what those before it left.

    A pattern is a regular expression. Its replacement may name groups: ``$1``, ``${1}``, ``$name``, ``${name}``; ``$$`` is a
    dollar, a group that does not exist is empty. Mirrors `burn::store::KeyRemapper`.

    >>> remapper = KeyRemapper().add_pattern(r"^encoder\.", "transformer.encoder.").add_pattern(r"\.gamma$", ".weight")
    >>> remapper.remap_name("encoder.layer1.gamma"), remapper.is_empty()
    ('transformer.encoder.layer1.weight', False)
    >>> KeyRemapper.from_patterns([(r"blocks\.(\d+)", "layers.${1}.mlp")]).remap_name("blocks.3.fc")
    'layers.3.mlp.fc'
    """

    __slots__ = ("_patterns",)

    def __init__(self):
        """No patterns."""
        self._patterns: list[tuple[re.Pattern, str]] = []

    @classmethod
    def from_patterns(cls, patterns: Iterable[tuple[str, str]]) -> "KeyRemapper":
        """A remapper with these patterns.

        Args:
            patterns: pairs of a regular expression, as text or compiled, and its replacement.

        Raises:
            ArgumentError: one is no regular expression.
        """
        remapper = cls()
        for pair in patterns.items() if isinstance(patterns, dict) else patterns:
            if not isinstance(pair, (tuple, list)) or len(pair) != 2:
                raise ArgumentTypeError(
                    f"[from_patterns] 'patterns' must be pairs of pattern and replacement, got {shown(pair)}"
                )
            remapper.add_pattern(*pair)
        return remapper

    from_pattern_iter = from_patterns
    from_compiled_patterns = from_patterns

    def add_pattern(self, from_: str, to: str) -> "KeyRemapper":
        """Adds a pattern after those that are there, and returns the remapper.

        Args:
            from_: the regular expression.
            to: what stands in place of each match.

        Raises:
            ArgumentError: it is no regular expression.
        """
        self._patterns.append((compiled("add_pattern", "from_", from_), instance("add_pattern", "to", to, str)))
        return self

    def is_empty(self) -> bool:
        """Whether there are no patterns."""
        return not self._patterns

    def remap_name(self, name: str) -> str:
        """The new name for a name.

        Args:
            name: the name.
        """
        for pattern, to in self._patterns:
            name = _replaced(pattern, to, name)
        return name

    def remap(self, tensors: Iterable[PackTensor]) -> tuple[list[PackTensor], list[tuple[str, str]]]:
        """Renames tensors.

        Args:
            tensors: the tensors; none is read.

        Returns:
            The tensors under their new names, and a pair of new and old name for each.

        Raises:
            StoreValidationError: two tensors get the same name.

        >>> from burn.store import bridge
        >>> tensors, names = KeyRemapper().add_pattern("a", "b").remap([bridge.from_tensor("a.w", Tensor([1.0]))])
        >>> tensors[0].name, names
        ('b.w', [('b.w', 'a.w')])
        """
        tensors = list(tensors)
        return _named(tensors, [self.remap_name(tensor.name) for tensor in tensors], "remap")

    def _joined(self, other: "KeyRemapper") -> "KeyRemapper":
        both = KeyRemapper()
        both._patterns = self._patterns + other._patterns
        return both

    def __repr__(self):
        return f"KeyRemapper({', '.join(f'{pattern.pattern!r} -> {to!r}' for pattern, to in self._patterns)})"


def map_indices_contiguous(tensors: Iterable[PackTensor]) -> tuple[list[PackTensor], list[tuple[str, str]]]:
    """Numbers lists anew without gaps: ``fc.0``, ``fc.2``, ``fc.4`` become ``fc.0``, ``fc.1``, ``fc.2``.

    PyTorch counts layers without parameters in a Sequential too, a list of layers that have some does not.
    Mirrors `burn::store::map_indices_contiguous`.

    Args:
        tensors: the tensors; none is read.

    Returns:
        The tensors under their new names, and a pair of new and old name for each.

    >>> from burn.store import bridge
    >>> tensors = [bridge.from_tensor(name, Tensor([1.0])) for name in ("fc.0.weight", "fc.2.weight")]
    >>> [tensor.name for tensor in map_indices_contiguous(tensors)[0]]
    ['fc.0.weight', 'fc.1.weight']
    """
    return map_indices_contiguous_except(tensors, lambda prefix: False)


def map_indices_contiguous_except(
    tensors: Iterable[PackTensor], keep: Callable[[str], bool]
) -> tuple[list[PackTensor], list[tuple[str, str]]]:
    """As `map_indices_contiguous`, with lists that keep their numbers.

    Mirrors `burn::store::map_indices_contiguous_except`.

    Args:
        tensors: the tensors; none is read.
        keep: takes what stands before a number in the old name, such as ``flows`` or ``flows.2.in_layers``.

    Returns:
        The tensors under their new names, and a pair of new and old name for each.

    >>> from burn.store import bridge
    >>> tensors = [bridge.from_tensor(f"flows.{i}.w", Tensor([1.0])) for i in (0, 2)]
    >>> [tensor.name for tensor in map_indices_contiguous_except(tensors, lambda prefix: prefix == "flows")[0]]
    ['flows.0.w', 'flows.2.w']
    """
    tensors = list(tensors)
    split = [tensor.name.split(".") for tensor in tensors]
    seen: dict[str, set[int]] = {}
    for segments in split:
        for prefix, number, _ in _indices(segments):
            seen.setdefault(prefix, set()).add(number)
    order = {
        prefix: {number: str(position) for position, number in enumerate(sorted(numbers))}
        for prefix, numbers in seen.items()
        if not keep(prefix)
    }
    names = []
    for segments in split:
        changed = list(segments)
        for prefix, number, at in _indices(segments):
            if prefix in order:
                changed[at] = order[prefix][number]
        names.append(".".join(changed))
    return _named(tensors, names, "map_indices_contiguous")


def _indices(segments: list[str]):
    """(what stands before, number, position) of each segment that is a number; very long ones are names."""
    if len(segments) > _MAX_DEPTH:  # no module is nested so deep; prefixes would take the square of its length
        return
    for at, segment in enumerate(segments):
        if len(segment) < 20 and _INDEX.fullmatch(segment):
            yield ".".join(segments[:at]), int(segment), at


def _replaced(pattern: re.Pattern, to: str, name: str) -> str:
    """The name with every match replaced. As in Rust, and not in Python, nothing is found right behind a match."""
    pieces, last = [], 0
    for match in pattern.finditer(name):
        if match.start() == match.end() == last and last > 0:
            continue
        pieces += [name[last : match.start()], _expanded(to, match)]
        last = match.end()
    return "".join([*pieces, name[last:]])


def _expanded(to: str, match: re.Match) -> str:
    def value(reference: re.Match) -> str:
        name = reference[1] or reference[2]
        if name is None:
            return "$"
        try:
            return match[int(name) if name.isdecimal() else name] or ""
        except (IndexError, ValueError):
            return ""

    return _REFERENCE.sub(value, to)


def _named(tensors: list[PackTensor], names: list[str], op: str):
    first: dict[str, str] = {}
    for tensor, name in zip(tensors, names):
        other = first.setdefault(name, tensor.name)
        if other != tensor.name:
            raise StoreValidationError(
                f"[{op}] {other!r} and {tensor.name!r} both become {name!r}: make the pattern tell them apart"
            )
    if len(first) != len(tensors):
        twice = next(tensor.name for i, tensor in enumerate(tensors) if tensor.name in names[:i])
        raise StoreValidationError(f"[{op}] two tensors are named {twice!r}; names must differ")
    return [renamed(tensor, name) for tensor, name in zip(tensors, names)], [
        (name, tensor.name) for tensor, name in zip(tensors, names)
    ]
