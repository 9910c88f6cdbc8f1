"""Which parameters take part, and what they are called."""

import re

import numpy as np
import pytest

from burn.errors import ArgumentError, ArgumentTypeError, StoreValidationError
from burn.store import KeyRemapper, PathFilter, map_indices_contiguous, map_indices_contiguous_except
from burn.store.pack import PackTensor


def tensors(*names):
    return [PackTensor.from_numpy(name, np.zeros(1, "f4")) for name in names]


def names(result):
    return [tensor.name for tensor in result[0]]


def test_criteria_are_alternatives():
    filter = (
        PathFilter().with_regex(r"^a\.").with_full_path("b.bias").with_predicate(lambda path, box: box.endswith("Norm"))
    )
    assert [filter.matches(path) for path in ("a.x", "b.bias", "b.weight", "xa.y")] == [True, True, False, False]
    assert filter.matches_with_container("c", "Struct:Model.Struct:Norm")
    assert filter.matches_with_container_path_str("c", "Struct:Norm") and not filter.matches_with_container("c", "")
    assert filter.matches_with_container_path(["b", "bias"], [])


def test_without_criteria_everything_takes_part_unless_none_was_asked_for():
    assert PathFilter().matches("x") and PathFilter.all().matches("x") and PathFilter().is_empty()
    assert not PathFilter.none().matches("x")
    assert not PathFilter.from_paths([]).matches("x") and not PathFilter.from_regex_patterns([]).matches("x")
    only = PathFilter.none().with_full_path("x")
    assert only.matches("x") and not only.matches("y")
    assert not only.clear_paths().matches("x") and only.clear().matches("y")


def test_filters_are_joined():
    a, b = PathFilter().with_full_path("a"), PathFilter().with_regex("b")
    assert [a.or_(b).matches(path) for path in "abc"] == [True, True, False]
    assert [PathFilter().or_(a).matches(path) for path in "abc"] == [True, False, False]
    assert a.or_(PathFilter.all()).matches("c") and a.or_(b).criteria_count() == 2
    assert not a.matches("b"), "a filter does not change"


def test_what_a_filter_prints():
    assert repr(PathFilter.all()) == "PathFilter::all()" and repr(PathFilter.none()) == "PathFilter::none()"
    filter = (
        PathFilter().with_regexes(["a$"]).with_full_paths(["b"]).with_predicates([lambda p, c: True, lambda p, c: True])
    )
    assert repr(filter) == 'PathFilter[regex: ["a$"], paths: ["b"], predicates: 2]'


def test_wrong_criteria():
    with pytest.raises(ArgumentError, match=r"\[with_regex\] 'pattern'.*'\(a'"):
        PathFilter().with_regex("(a")
    with pytest.raises(ArgumentTypeError, match="single one into a list"):
        PathFilter().with_regexes("abc")
    with pytest.raises(ArgumentTypeError, match="function of path"):
        PathFilter().with_predicate("abc")


@pytest.mark.parametrize(
    ("patterns", "name", "want"),
    [
        ([(r"^encoder\.", "transformer.encoder."), (r"\.gamma$", ".weight")], "encoder.layer1.gamma",
         "transformer.encoder.layer1.weight"),
        ([("a", "b"), ("b", "c")], "aab", "ccc"),
        ([(r"(\w+)\.(\d+)", "$2.$1")], "fc.0.w", "0.fc.w"),
        ([(r"(a)", "$1x")], "a.b", ".b"),
        ([(r"(a)", "${1}x")], "a.b", "ax.b"),
        ([(r"(?P<n>\d+)", "[$n]")], "a.7", "a.[7]"),
        ([(r"(?<n>\d+)", "[${n}]")], "a.7", "a.[7]"),
        ([("a", "$$1")], "a", "$1"),
        ([(".*", "x")], "abc", "x"),
        ([("b*", "-")], "abc", "-a-c-"),
        ([(r"(a)|(b)", "[$2]")], "ab", "[][b]"),
        ([("a", r"\1\g<0>")], "a", r"\1\g<0>"),
    ],
)  # fmt: skip
def test_patterns(patterns, name, want):
    remapper = KeyRemapper.from_patterns(patterns)
    assert remapper.remap_name(name) == want
    assert remapper.remap(tensors(name))[1] == [(want, name)]


def test_patterns_come_compiled_or_as_a_dict():
    assert KeyRemapper.from_compiled_patterns([(re.compile("a"), "b")]).remap_name("a") == "b"
    assert KeyRemapper.from_pattern_iter({"a": "b"}.items()).remap_name("a") == "b"
    with pytest.raises(ArgumentError, match="from_"):
        KeyRemapper().add_pattern("[", "x")


def test_names_that_collide_are_both_named():
    with pytest.raises(StoreValidationError, match=r"'a\.w' and 'b\.w' both become 'x\.w'"):
        KeyRemapper().add_pattern("^[ab]", "x").remap(tensors("a.w", "c.w", "b.w"))
    with pytest.raises(StoreValidationError, match=r"'fc\.2' and 'fc\.02'|'fc\.02'"):
        KeyRemapper().add_pattern(r"\.0(\d)", ".$1").remap(tensors("fc.2", "fc.02"))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (["fc.0", "fc.2", "fc.4"], ["fc.0", "fc.1", "fc.2"]),
        (["encoder.0", "encoder.2", "decoder.1", "decoder.5"], ["encoder.0", "encoder.1", "decoder.0", "decoder.1"]),
        (["feature.layers.0.conv_block.0", "feature.layers.2.conv_block.0", "feature.layers.2.conv_block.2"],
         ["feature.layers.0.conv_block.0", "feature.layers.1.conv_block.0", "feature.layers.1.conv_block.1"]),
        (["3.w", "5.w"], ["0.w", "1.w"]),
        (["a.007", "a.+5", "a.9", "a.-1"], ["a.007", "a.+5", "a.0", "a.-1"]),
        (["a.10", "a.9"], ["a.1", "a.0"]),
        (["a.²", "a.3"], ["a.²", "a.0"]),
    ],
)  # fmt: skip
def test_lists_are_numbered_anew(before, after):
    assert names(map_indices_contiguous(tensors(*before))) == after


def test_every_level_is_numbered_on_its_own():
    before = [f"a.{i}.b.{j}.c.{k}" for i in (0, 2) for j in (0, 2) for k in (0, 2)]
    after = [f"a.{i}.b.{j}.c.{k}" for i in (0, 1) for j in (0, 1) for k in (0, 1)]
    assert names(map_indices_contiguous(tensors(*before))) == after


def test_lists_that_keep_their_numbers():
    before = tensors("flows.0.w", "flows.2.in_layers.0", "flows.2.in_layers.2")
    kept = map_indices_contiguous_except(before, lambda prefix: prefix == "flows")
    assert names(kept) == ["flows.0.w", "flows.2.in_layers.0", "flows.2.in_layers.1"]
    inner = map_indices_contiguous_except(before, lambda prefix: prefix == "flows.2.in_layers")
    assert names(inner) == ["flows.0.w", "flows.1.in_layers.0", "flows.1.in_layers.2"]


def test_a_name_of_a_million_parts_takes_no_time():
    name = ".".join(["1"] * 1_000_000)
    assert names(map_indices_contiguous(tensors(name))) == [name]
