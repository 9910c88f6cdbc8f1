"""Groups of parameters."""

import pytest

from burn.module import ParamGroup, ParamGroupError, ParamId

A, B = ParamId(1), ParamId(2)


def matched(group, *paths):
    return [path for path in paths if group.matches(A, path)]


def test_ids_and_paths():
    assert ParamGroup.all().matches(A) and ParamGroup.all().matches(B, "x")
    assert ParamGroup.from_ids([A]).matches(A) and not ParamGroup.from_ids([A]).matches(B, "x")
    assert matched(ParamGroup.from_path("weight"), "weight", "weight.lora.a", "a.weight") == ["weight"]
    assert matched(ParamGroup.from_paths(["a", "b"]), "a", "b", "c") == ["a", "b"]
    assert not ParamGroup.from_path("a").matches(A) and not ParamGroup.from_predicate("a").matches(A)
    assert matched(ParamGroup.from_paths([]), "a") == []


def test_texts_and_expressions():
    assert matched(ParamGroup.from_predicates(["layers", "bias"]), "layers.0.bias", "layers.0.weight") == [
        "layers.0.bias"
    ]
    assert matched(ParamGroup.from_any_predicates(["x", "bias"]), "x.w", "a.bias", "a.w") == ["x.w", "a.bias"]
    assert matched(ParamGroup.from_regexes([r"^layers\.\d+", "bias$"]), "layers.3.bias", "layers.x.bias") == [
        "layers.3.bias"
    ]
    assert matched(ParamGroup.from_any_regexes(["^a$", r"\$"]), "a", "a\n", "$", "b") == ["a", "$"]
    lora = ParamGroup.from_regex(r"(^|\.)lora\.(a|b)$")
    assert matched(lora, "lora.a", "weight.lora.b", "weight.lora.bias", "flora.a") == ["lora.a", "weight.lora.b"]


@pytest.mark.parametrize("make", ["from_predicates", "from_any_predicates", "from_regexes", "from_any_regexes"])
def test_empty_lists_are_refused(make):
    with pytest.raises(ParamGroupError, match="must not be empty"):
        getattr(ParamGroup, make)([])


def test_bad_expressions():
    with pytest.raises(ParamGroupError, match=r"expression '\(' is invalid"):
        ParamGroup.from_regex("(")


def test_fuse_keeps_exclusions_and_exclude_ignores_those_of_its_argument():
    left = ParamGroup.from_predicate("a").exclude(ParamGroup.from_predicate("1"))
    right = ParamGroup.from_predicate("b").exclude(ParamGroup.from_predicate("2"))
    assert matched(left.fuse(right), "a1", "a2", "b1", "b2", "a1b") == ["a2", "b1", "a1b"]
    assert matched(ParamGroup.all().exclude(left), "a1", "a2", "b") == ["b"]
    both = ParamGroup.all().exclude(ParamGroup.from_path("x")).exclude(ParamGroup.from_path("y"))
    assert matched(both, "x", "y", "z") == ["z"]


@pytest.mark.parametrize(
    "group, json",
    [
        (ParamGroup.all(), {"matcher": "All", "excludes": None}),
        (ParamGroup.from_ids([A]), {"matcher": {"Explicit": [{"value": 1}]}, "excludes": None}),
        (ParamGroup.from_path("w"), {"matcher": {"Path": {"Exact": ["w"]}}, "excludes": None}),
        (
            ParamGroup.from_predicate("w").exclude(ParamGroup.from_regex("^b")),
            {"matcher": {"Path": {"Include": ["w"]}}, "excludes": {"Path": {"Regex": ["^b"]}}},
        ),
        (
            ParamGroup.from_any_predicates(["a", "b"]),
            {"matcher": {"Combined": [{"Path": {"Include": ["a"]}}, {"Path": {"Include": ["b"]}}]}, "excludes": None},
        ),
    ],
)
def test_json(group, json):
    assert group.to_json() == json
    assert ParamGroup.from_json(json) == group
    assert hash(ParamGroup.from_json(json)) == hash(group)


@pytest.mark.parametrize(
    "value", [None, {}, {"matcher": "None"}, {"matcher": {"Path": {"Glob": ["a"]}}}, {"matcher": {}}]
)
def test_wrong_json(value):
    with pytest.raises(ParamGroupError, match="must be a group"):
        ParamGroup.from_json(value)


def test_patterns_in_the_syntax_of_rust():
    for pattern, path, matches in (
        (r"(?<layer>\d+)\.weight\z", "layers.0.weight", True),
        (r"weight\z", "weight.lora.a", False),
        (r"a$", "a\n", False),
        (r"[$]", "a$b", True),
        (r"\$", "a$b", True),
        (r"(?<=s)\.0", "layers.0", True),
    ):
        group = ParamGroup.from_regex(pattern)
        assert group.matches(ParamId(1), path) is matches, pattern
        assert group.to_json() == {"matcher": {"Path": {"Regex": [pattern]}}, "excludes": None}
