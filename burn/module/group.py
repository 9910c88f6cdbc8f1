"""Sets of parameters, chosen by id or by path."""

import re
from collections.abc import Iterable

from burn._arguments import instance
from burn.errors import ModuleError

from .param_id import ParamId


class ParamGroupError(ModuleError, ValueError):
    """A pattern that is not a regular expression, or an empty list of patterns."""


class ParamGroup:
    """A rule that says which parameters belong to a group.

    Paths are the names that records use, such as ``layers.0.weight``. Mirrors `burn::module::ParamGroup`.

    >>> group = ParamGroup.from_predicate("weight").exclude(ParamGroup.from_path("head.weight"))
    >>> [group.matches(ParamId(1), path) for path in ("layers.0.weight", "head.weight", "head.bias", None)]
    [True, False, False, False]
    >>> either = ParamGroup.from_path("a").fuse(ParamGroup.from_paths(["b", "c"]))
    >>> [either.matches(ParamId(1), path) for path in "abcd"]
    [True, True, True, False]
    >>> ParamGroup.from_json(group.to_json()) == group, ParamGroup.all().matches(ParamId(1))
    (True, True)
    """

    __slots__ = ("_excludes", "_matcher")

    def __init__(self, matcher, excludes=None):
        """Use the constructors `all`, `from_ids`, `from_path` ..."""
        self._matcher = matcher
        self._excludes = excludes

    @classmethod
    def all(cls) -> "ParamGroup":
        """Every parameter."""
        return cls(_All())

    @classmethod
    def from_ids(cls, ids) -> "ParamGroup":
        """The parameters with these ids.

        Args:
            ids: `ParamId`s or ints.

        >>> ParamGroup.from_ids([ParamId(1)]).matches(ParamId(1))
        True
        """
        return cls(_Explicit(instance("from_ids", "ids", ids, Iterable, "put a single id into a list")))

    @classmethod
    def ids_from_module(cls, module) -> "ParamGroup":
        """The parameters and flags that a module holds now, by id.

        Args:
            module: a Module.

        >>> model = burn.nn.LinearConfig(2, 1).init()
        >>> ParamGroup.ids_from_module(model).matches(model.bias.id)
        True
        """
        from .visitor import ModuleVisitor

        ids = []

        class Collect(ModuleVisitor):
            def visit_float(self, param):
                ids.append(param.id)

            visit_int = visit_bool = visit_flag = visit_float

        module.visit(Collect())
        return cls(_Explicit(ids))

    @classmethod
    def from_path(cls, path: str) -> "ParamGroup":
        """The parameter at exactly this path.

        Args:
            path: the path.
        """
        return cls.from_paths([path])

    @classmethod
    def from_paths(cls, paths) -> "ParamGroup":
        """The parameters at exactly these paths.

        Args:
            paths: the paths.
        """
        return cls(_Exact(_texts(paths, "from_paths")))

    @classmethod
    def from_predicate(cls, text: str) -> "ParamGroup":
        """The parameters whose path contains the text.

        Args:
            text: the text.
        """
        return cls.from_predicates([text])

    @classmethod
    def from_predicates(cls, texts) -> "ParamGroup":
        """The parameters whose path contains all the texts.

        Args:
            texts: the texts, at least one.

        >>> ParamGroup.from_predicates(["layers", "bias"]).matches(ParamId(1), "layers.0.bias")
        True
        """
        return cls(_Include(_some(texts, "from_predicates")))

    @classmethod
    def from_any_predicates(cls, texts) -> "ParamGroup":
        """The parameters whose path contains one of the texts.

        Args:
            texts: the texts, at least one.

        >>> ParamGroup.from_any_predicates(["norm", "bias"]).matches(ParamId(1), "layers.0.bias")
        True
        """
        return cls(_any(_Include([text]) for text in _some(texts, "from_any_predicates")))

    @classmethod
    def from_regex(cls, pattern: str) -> "ParamGroup":
        """The parameters in whose path the regular expression is found.

        Args:
            pattern: the regular expression.

        >>> ParamGroup.from_regex("^layers").matches(ParamId(1), "layers.0.bias")
        True
        """
        return cls.from_regexes([pattern])

    @classmethod
    def from_regexes(cls, patterns) -> "ParamGroup":
        """The parameters in whose path all the regular expressions are found.

        Args:
            patterns: the regular expressions, at least one.

        >>> ParamGroup.from_regexes(["^layers", "bias$"]).matches(ParamId(1), "layers.0.bias")
        True
        """
        return cls(_Regex(_some(patterns, "from_regexes")))

    @classmethod
    def from_any_regexes(cls, patterns) -> "ParamGroup":
        """The parameters in whose path one of the regular expressions is found.

        Args:
            patterns: the regular expressions, at least one.

        >>> ParamGroup.from_any_regexes(["^head", "bias$"]).matches(ParamId(1), "layers.0.bias")
        True
        """
        return cls(_any(_Regex([pattern]) for pattern in _some(patterns, "from_any_regexes")))

    def fuse(self, other: "ParamGroup") -> "ParamGroup":
        """The parameters of either group; the exclusions of each stay with it (Burn drops them).

        Args:
            other: another group.
        """
        instance("fuse", "other", other, ParamGroup)
        if self._excludes is None and other._excludes is None:
            return ParamGroup(_any([self._matcher, other._matcher]))
        return ParamGroup(_any([_part(self), _part(other)]))

    def exclude(self, other: "ParamGroup") -> "ParamGroup":
        """This group without the parameters that ``other`` names; what ``other`` itself excludes plays no part.

        Args:
            other: the group to leave out.
        """
        instance("exclude", "other", other, ParamGroup)
        excludes = other._matcher if self._excludes is None else _any([self._excludes, other._matcher])
        return ParamGroup(self._matcher, excludes)

    def matches(self, id: ParamId, path: str | None = None) -> bool:
        """Whether a parameter belongs to the group; rules about paths never match without a path.

        Args:
            id: the id of the parameter.
            path: its path, if it is known.
        """
        if not self._matcher.matches(id, path):
            return False
        return self._excludes is None or not self._excludes.matches(id, path)

    def to_json(self) -> dict:
        """The form that Burn writes."""
        return {"matcher": self._matcher.to_json(), "excludes": self._excludes and self._excludes.to_json()}

    @classmethod
    def from_json(cls, value: dict) -> "ParamGroup":
        """Reads the form that Burn writes.

        Args:
            value: the form, as `json.loads` gives it.

        Raises:
            ParamGroupError: the value is not a group.
        """
        try:
            excludes = value.get("excludes")
            return cls(_matcher_from_json(value["matcher"]), excludes and _matcher_from_json(excludes))
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            if isinstance(error, ParamGroupError):
                raise
            raise ParamGroupError(f"[ParamGroup] 'value' must be a group as Burn writes it, got {value!r}") from error

    def __eq__(self, other):
        return self.to_json() == other.to_json() if isinstance(other, ParamGroup) else NotImplemented

    def __hash__(self):
        return hash(repr(self.to_json()))

    def __repr__(self):
        return f"ParamGroup({self.to_json()})"


class _All:
    def matches(self, id, path):
        return True

    def to_json(self):
        return "All"


class _Explicit:
    def __init__(self, ids):
        self.ids = [id if isinstance(id, ParamId) else ParamId(id) for id in ids]
        self._set = frozenset(self.ids)

    def matches(self, id, path):
        return id in self._set

    def to_json(self):
        return {"Explicit": [{"value": id.val()} for id in self.ids]}


class _Exact:
    def __init__(self, paths):
        self.paths = list(paths)
        self._set = frozenset(self.paths)

    def matches(self, id, path):
        return path in self._set

    def to_json(self):
        return {"Path": {"Exact": self.paths}}


class _Include:
    def __init__(self, texts):
        self.texts = list(texts)

    def matches(self, id, path):
        return path is not None and all(text in path for text in self.texts)

    def to_json(self):
        return {"Path": {"Include": self.texts}}


class _Regex:
    def __init__(self, patterns):
        self.patterns = list(patterns)
        self._compiled = [_compile(pattern) for pattern in self.patterns]

    def matches(self, id, path):
        return path is not None and all(pattern.search(path) for pattern in self._compiled)

    def to_json(self):
        return {"Path": {"Regex": self.patterns}}


class _Combined:
    def __init__(self, matchers):
        self.matchers = matchers

    def matches(self, id, path):
        return any(matcher.matches(id, path) for matcher in self.matchers)

    def to_json(self):
        return {"Combined": [matcher.to_json() for matcher in self.matchers]}


class _Without:
    """A matcher with its exclusions, inside a combination; Burn's form has no place for it."""

    def __init__(self, group):
        self.group = group

    def matches(self, id, path):
        return self.group.matches(id, path)

    def to_json(self):
        return {"Group": self.group.to_json()}


def _part(group: ParamGroup):
    return group._matcher if group._excludes is None else _Without(group)


def _any(matchers):
    flat = []
    for matcher in matchers:
        flat += matcher.matchers if isinstance(matcher, _Combined) else [matcher]
    return _Combined(flat) if len(flat) != 1 else flat[0]


def _some(items, op: str) -> list[str]:
    items = _texts(items, op)
    if not items:
        raise ParamGroupError(f"[{op}] the list must not be empty: use from_ids([]) for a group without parameters")
    return items


def _texts(items, op: str) -> list[str]:
    items = [items] if isinstance(items, str) else instance(op, "texts", items, Iterable)
    return [instance(op, "texts", item, str) for item in items]


# In Rust's syntax `$` is the very end of the text, in Python's also the place before a final line break; Rust has `\\z` for it
# too, and names groups as `(?<name>..)`.
_FOREIGN = re.compile(r"(?P<end>\$|\\z)|(?P<group>\(\?<(?=\w))|\\.|\[(?:\\.|[^\]\\])*\]")


def _python_form(match: re.Match) -> str:
    if match["end"]:
        return r"\Z"
    return "(?P<" if match["group"] else match[0]


def _compile(pattern: str) -> re.Pattern:
    try:
        return re.compile(_FOREIGN.sub(_python_form, pattern))
    except re.error as error:
        raise ParamGroupError(f"[ParamGroup] the regular expression {pattern!r} is invalid: {error}") from error


def _matcher_from_json(value):
    if value == "All":
        return _All()
    ((kind, content),) = value.items()
    if kind == "Explicit":
        return _Explicit([item["value"] for item in content])
    if kind == "Combined":
        return _Combined([_matcher_from_json(item) for item in content])
    if kind == "Group":
        return _Without(ParamGroup.from_json(content))
    if kind == "Path":
        ((kind, content),) = content.items()
        return {"Exact": _Exact, "Include": _Include, "Regex": _Regex}[kind](content)
    raise ValueError(kind)
