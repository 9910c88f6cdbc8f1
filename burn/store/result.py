"""What became of loading: which parameters were set, and what did not fit."""

import functools
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

_SHOWN = 10
# Similar names are looked for among this many keys of at most this length: the work stays small whatever a file holds.
_MAX_KEYS, _MAX_LENGTH = 1000, 120
_SIMILAR = 0.7
_RULE = "─" * 51


@dataclass(frozen=True)
class ApplyError:
    """A parameter that could not be set. Mirrors `burn::store::ApplyError`; its variants are the classes below.

    Attributes:
        path: the parameter.

    >>> print(ApplyError.ShapeMismatch("fc.weight", (2, 3), (3, 2)))
    Shape mismatch for 'fc.weight': expected [2, 3], found [3, 2]
    """

    path: str

    def __str__(self):
        return f"Error for '{self.path}'"


@dataclass(frozen=True)
class ShapeMismatch(ApplyError):
    """The file has another shape."""

    expected: tuple
    found: tuple

    def __str__(self):
        return f"Shape mismatch for '{self.path}': expected {list(self.expected)}, found {list(self.found)}"


@dataclass(frozen=True)
class DTypeMismatch(ApplyError):
    """The file has values of another kind."""

    expected: str
    found: str

    def __str__(self):
        return f"DType mismatch for '{self.path}': expected {self.expected}, found {self.found}"


@dataclass(frozen=True)
class AdapterError(ApplyError):
    """The adapter raised."""

    message: str

    def __str__(self):
        return f"Adapter error for '{self.path}': {self.message}"


@dataclass(frozen=True)
class LoadError(ApplyError):
    """The values could not be read."""

    message: str

    def __str__(self):
        return f"Load error for '{self.path}': {self.message}"


for _variant in (ShapeMismatch, DTypeMismatch, AdapterError, LoadError):
    setattr(ApplyError, _variant.__name__, _variant)


@dataclass
class ApplyResult:
    """What became of loading tensors into a module. Printed, it is a report. Mirrors `burn::store::ApplyResult`.

    Attributes:
        applied: paths of the parameters that were set, in visit order.
        skipped: paths that the filter left out, sorted.
        missing: (path, container path) of the parameters that found no tensor, sorted.
        unused: names in the source that no parameter wanted, sorted.
        errors: an `ApplyError` for each parameter that could not be set.

    >>> result = ApplyResult(applied=["fc.bias"], missing=[("fc.weight", "Struct:Model.Struct:Linear")], unused=["fc.weigth"])
    >>> result.is_success()
    True
    >>> print(result)
    ┌─ Tensor Loading Summary ─────────────────────────
    │
    │ ✓ Successfully applied: 1 tensors
    │ ⊘ Skipped (filtered):  0 tensors
    │ ✗ Missing in source:    1 tensors
    │ ? Unused in target:     1 tensors
    │ ! Errors:               0 errors
    │
    ├─ Missing Tensors (requested by model but not found in source)
    │
    │  First 1 missing tensors:
    │    • fc.weight
    │        Did you mean: 'fc.weigth'?
    │
    ├─ Unused Tensors (in source but not used by model)
    │
    │  First 1 unused tensors:
    │    • fc.weigth
    │
    └───────────────────────────────────────────────────
    """

    applied: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    missing: list[tuple[str, str]] = field(default_factory=list)
    unused: list[str] = field(default_factory=list)
    errors: list[ApplyError] = field(default_factory=list)

    def is_success(self) -> bool:
        """Whether nothing failed; parameters may be missing."""
        return not self.errors

    def __str__(self):
        lines = [
            "┌─ Tensor Loading Summary ─────────────────────────",
            "│",
            f"│ ✓ Successfully applied: {len(self.applied)} tensors",
            f"│ ⊘ Skipped (filtered):  {len(self.skipped)} tensors",
            f"│ ✗ Missing in source:    {len(self.missing)} tensors",
            f"│ ? Unused in target:     {len(self.unused)} tensors",
            f"│ ! Errors:               {len(self.errors)} errors",
            "│",
        ]
        if self.missing:
            lines += self._missing_section()
        if self.unused:
            lines += ["├─ Unused Tensors (in source but not used by model)", "│"]
            lines += [*_listed([[f"• {name}"] for name in self.unused], "unused"), "│"]
        if self.errors:
            lines += ["├─ Errors", "│"]
            lines += [f"│  ⚠️  {error}" for error in self.errors[:_SHOWN]]
            lines += [*_more(len(self.errors)), "│"]
        return "\n".join([*lines, f"└{_RULE}"])

    __repr__ = __str__

    def _missing_section(self) -> list[str]:
        lines = ["├─ Missing Tensors (requested by model but not found in source)", "│"]
        enums = [path for path, container in self.missing if "Enum:" in container]
        if enums:
            lines += [
                f"│  ⚠️  {len(enums)} of the missing paths go through a variant of an enum, which is a part of Burn's paths:",
                "│     'field.BaseConv.weight' is 'field.weight' in PyTorch. Either leave variants out of the paths,",
                "│     store.skip_enum_variants(True), or rename what the file holds, store.with_key_remapping(from, to).",
                "│",
            ]
        unused = set(self.unused)
        shown = []
        for path, container in self.missing[:_SHOWN]:
            guess = _guess(path, container, self.unused, unused)
            shown.append([f"• {path}", *([f"    Did you mean: '{guess}'?"] if guess else [])])
        return [*lines, *_listed(shown, "missing", len(self.missing)), "│"]


def _listed(entries: list[list[str]], what: str, count: int | None = None) -> list[str]:
    count = len(entries) if count is None else count
    lines = [f"│  First {min(count, _SHOWN)} {what} tensors:"]
    lines += [f"│    {line}" for entry in entries[:_SHOWN] for line in entry]
    return lines + _more(count)


def _more(count: int) -> list[str]:
    return [f"│    ... and {count - _SHOWN} more"] if count > _SHOWN else []


def _guess(path: str, container: str, keys: list[str], known: set[str]) -> str | None:
    """The key that was probably meant by a path: the path without its variant, else the most similar key."""
    segments = path.split(".")
    for at in range(1, len(segments) - 1):
        if segments[at][:1].isupper():
            without = ".".join(segments[:at] + segments[at + 1 :])
            if without in known:
                return without
            break
    return most_similar(path, keys)


def most_similar(name: str, keys: Iterable[str]) -> str | None:
    """The most similar of some names, if one is similar at all.

    >>> most_similar("encoder.weight", ["encoder.weights", "bias"])
    'encoder.weights'
    """
    best, found = _SIMILAR, None
    if len(name) > _MAX_LENGTH:
        return None
    mine = Counter(name)
    for _, key in zip(range(_MAX_KEYS), keys):
        if len(key) > _MAX_LENGTH:
            continue
        common = (mine & _letters(key)).total()  # no more letters than these can match
        if not common or (common / len(name) + common / len(key) + 1) / 3 < best:
            continue
        score = jaro(name, key)
        if score > best or (score == best and found is None):
            best, found = score, key
    return found


@functools.lru_cache(_MAX_KEYS)
def _letters(key: str) -> Counter:
    return Counter(key)


def jaro(a: str, b: str) -> float:
    """How similar two texts are, from 0 to 1, by Jaro's measure.

    >>> round(jaro("MARTHA", "MARHTA"), 4), jaro("abc", "abc"), jaro("", "a")
    (0.9444, 1.0, 0.0)
    """
    if a == b:
        return 1.0
    reach = max(max(len(a), len(b)) // 2 - 1, 0)
    rest, places, matched = b, [], []
    for i, letter in enumerate(a):
        j = rest.find(letter, max(0, i - reach), i + reach + 1) if letter != "\0" else -1
        if j >= 0:
            rest = f"{rest[:j]}\0{rest[j + 1 :]}"
            places.append(j)
            matched.append(letter)
    if not matched:
        return 0.0
    swaps = sum(letter != b[j] for letter, j in zip(matched, sorted(places))) / 2
    count = len(matched)
    return (count / len(a) + count / len(b) + (count - swaps) / count) / 3
