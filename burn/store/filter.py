"""Which parameters a store saves or loads."""

import re
from collections.abc import Callable, Iterable

from burn._arguments import instance, shown
from burn.errors import ArgumentError, ArgumentTypeError


def compiled(op: str, name: str, pattern) -> re.Pattern:
    """A regular expression, compiled; Rust's ``(?<name>...)`` is taken for Python's ``(?P<name>...)``."""
    if isinstance(pattern, re.Pattern) and isinstance(pattern.pattern, str):
        return pattern
    text = instance(op, name, pattern, str, "give a regular expression as a str")
    try:
        return re.compile(re.sub(r"(?<!\\)\(\?<(?=[A-Za-z_])", "(?P<", text))
    except (re.error, RecursionError, OverflowError) as error:
        raise ArgumentError(f"[{op}] {name!r} must be a regular expression, got {text!r}: {error}") from None


class PathFilter:
    r"""A rule that says which parameters take part, by path and by what they are in.

    A parameter takes part if one of the criteria holds: a regular expression that is found in its path, its exact path, a
    predicate of the path and of the container path, such as ``Struct:Model.Vec.Struct:Linear``. A filter without
    criteria lets everything through (Burn's stores disagree about it); `none()` lets nothing through, until a criterion
    is added. Filters do not change: every method gives a new one. Mirrors `burn::store::PathFilter`.

    >>> encoder = PathFilter().with_regex(r"^encoder\.").with_full_path("head.bias")
    >>> [encoder.matches(path) for path in ("encoder.0.weight", "head.bias", "head.weight")]
    [True, True, False]
    >>> encoder, encoder.criteria_count(), PathFilter().matches("any"), PathFilter.none().matches("any")
    (PathFilter[regex: ["^encoder\."], paths: ["head.bias"], predicates: 0], 2, True, False)
    >>> linear = PathFilter.from_predicate(lambda path, container: container.endswith("Struct:Linear"))
    >>> linear.matches_with_container("fc.weight", "Struct:Model.Struct:Linear")
    True
    >>> linear.or_(PathFilter.from_paths(["norm.gamma"])).with_predicates([]).matches("norm.gamma")
    True
    >>> PathFilter().with_regexes(["a", "b"]).with_full_paths(["c"]).with_predicate(lambda path, container: False)
    PathFilter[regex: ["a", "b"], paths: ["c"], predicates: 1]
    >>> only = PathFilter().with_regex("a").with_full_path("b")
    >>> only.clear_regex().clear_predicates(), only.clear_regex().clear_paths(), only.match_all(), only.is_empty()
    (PathFilter[regex: [], paths: ["b"], predicates: 0], PathFilter::none(), PathFilter::all(), False)
    """

    __slots__ = ("_all", "_none", "_paths", "_predicates", "_regexes")

    def __init__(self):
        """A filter without criteria."""
        self._regexes: tuple[re.Pattern, ...] = ()
        self._paths: tuple[str, ...] = ()
        self._predicates: tuple[Callable, ...] = ()
        self._all = False
        self._none = False

    @classmethod
    def all(cls) -> "PathFilter":
        """Everything, whatever criteria are added.

        >>> PathFilter.all()
        PathFilter::all()
        """
        return cls().match_all()

    @classmethod
    def none(cls) -> "PathFilter":
        """Nothing, until a criterion is added."""
        filter = cls()
        filter._none = True
        return filter

    @classmethod
    def from_regex_patterns(cls, patterns: Iterable[str]) -> "PathFilter":
        """The paths in which one of the regular expressions is found; nothing if there is none.

        Args:
            patterns: the regular expressions.

        >>> PathFilter.from_regex_patterns(["bias$"]).matches("fc.bias")
        True
        """
        return cls.none().with_regexes(patterns)

    @classmethod
    def from_paths(cls, paths: Iterable[str]) -> "PathFilter":
        """Exactly these paths; nothing if there is none.

        Args:
            paths: the paths.
        """
        return cls.none().with_full_paths(paths)

    @classmethod
    def from_predicate(cls, predicate: Callable[[str, str], bool]) -> "PathFilter":
        """Where a function says so.

        Args:
            predicate: takes the path and the container path.
        """
        return cls().with_predicate(predicate)

    def with_regex(self, pattern: str) -> "PathFilter":
        """Lets through paths in which the regular expression is found."""
        return self._with(_regexes=(*self._regexes, compiled("with_regex", "pattern", pattern)))

    def with_regexes(self, patterns: Iterable[str]) -> "PathFilter":
        """Lets through paths in which one of the regular expressions is found."""
        found = [compiled("with_regexes", "patterns", p) for p in _several("with_regexes", "patterns", patterns)]
        return self._with(_regexes=(*self._regexes, *found))

    def with_full_path(self, path: str) -> "PathFilter":
        """Lets this path through."""
        return self._with(_paths=(*self._paths, instance("with_full_path", "path", path, str)))

    def with_full_paths(self, paths: Iterable[str]) -> "PathFilter":
        """Lets these paths through."""
        found = [instance("with_full_paths", "paths", p, str) for p in _several("with_full_paths", "paths", paths)]
        return self._with(_paths=(*self._paths, *found))

    def with_predicate(self, predicate: Callable[[str, str], bool]) -> "PathFilter":
        """Lets through where a function of path and container path says so."""
        return self._with(_predicates=(*self._predicates, _function("with_predicate", predicate)))

    def with_predicates(self, predicates: Iterable[Callable[[str, str], bool]]) -> "PathFilter":
        """Lets through where one of the functions of path and container path says so."""
        listed = _several("with_predicates", "predicates", predicates)
        return self._with(_predicates=(*self._predicates, *(_function("with_predicates", p) for p in listed)))

    def match_all(self) -> "PathFilter":
        """Lets everything through."""
        return self._with(_all=True)

    def or_(self, other: "PathFilter") -> "PathFilter":
        """What either lets through; one without criteria has no say. Burn's ``or``.

        Args:
            other: another filter.
        """
        instance("or_", "other", other, PathFilter)
        if self._all or other._all:
            return PathFilter.all()
        return self._with(
            _regexes=self._regexes + other._regexes,
            _paths=self._paths + other._paths,
            _predicates=self._predicates + other._predicates,
            _none=self._none or other._none,
        )

    def clear_regex(self) -> "PathFilter":
        """Without the regular expressions; what had no other criterion lets nothing through."""
        return self._with(_regexes=(), _none=self._none or not self.is_empty())

    def clear_paths(self) -> "PathFilter":
        """Without the exact paths; what had no other criterion lets nothing through."""
        return self._with(_paths=(), _none=self._none or not self.is_empty())

    def clear_predicates(self) -> "PathFilter":
        """Without the predicates; what had no other criterion lets nothing through."""
        return self._with(_predicates=(), _none=self._none or not self.is_empty())

    def clear(self) -> "PathFilter":
        """A filter without criteria, as `PathFilter()`.

        >>> PathFilter().with_regex("a").clear().is_empty()
        True
        """
        return PathFilter()

    def matches(self, path: str) -> bool:
        """Whether a path takes part; its container path counts as empty.

        Args:
            path: the path.
        """
        return self.matches_with_container(path, "")

    def matches_with_container(self, path: str, container_path: str) -> bool:
        """Whether a parameter takes part.

        Args:
            path: its path.
            container_path: what it is in, joined by dots.
        """
        if self._all or (self.is_empty() and not self._none):
            return True
        return (
            path in self._paths
            or any(regex.search(path) for regex in self._regexes)
            or any(predicate(path, container_path) for predicate in self._predicates)
        )

    matches_with_container_path_str = matches_with_container

    def matches_with_container_path(self, path: Iterable[str], container_stack: Iterable[str]) -> bool:
        """Whether a parameter takes part, its path and what it is in given in pieces.

        Args:
            path: the names of the path.
            container_stack: the container types.

        >>> PathFilter().with_full_path("fc.bias").matches_with_container_path(["fc", "bias"], ["Struct:Model", "Struct:Linear"])
        True
        """
        return self.matches_with_container(".".join(path), ".".join(container_stack))

    def is_empty(self) -> bool:
        """Whether there are no criteria."""
        return not (self._all or self._regexes or self._paths or self._predicates)

    def criteria_count(self) -> int:
        """How many criteria there are; 1 for `all()`."""
        return 1 if self._all else len(self._regexes) + len(self._paths) + len(self._predicates)

    def _with(self, **changes) -> "PathFilter":
        filter = PathFilter()
        for name in self.__slots__:
            setattr(filter, name, changes.get(name, getattr(self, name)))
        return filter

    def __repr__(self):
        if self._all or (self.is_empty() and not self._none):
            return "PathFilter::all()"
        if self.is_empty():
            return "PathFilter::none()"
        regexes = ", ".join(f'"{regex.pattern}"' for regex in self._regexes)
        paths = ", ".join(f'"{path}"' for path in self._paths)
        return f"PathFilter[regex: [{regexes}], paths: [{paths}], predicates: {len(self._predicates)}]"


def _several(op: str, name: str, values) -> list:
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise ArgumentTypeError(f"[{op}] {name!r} must be a list, got {shown(values)}; put a single one into a list")
    return list(values)


def _function(op: str, value) -> Callable:
    if not callable(value):
        raise ArgumentTypeError(f"[{op}] 'predicate' must be a function of path and container path, got {shown(value)}")
    return value
