"""The JSON objects of an answer, whole or broken, with the place of every value."""

import json
import time
from contextlib import suppress
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.reading.json_decoding import EndlessTextError
from agent.reading.json_objects import (
    JsonNode,
    JsonObject,
    JsonScalar,
    blank_objects,
    find_loose_members,
    find_members,
    find_objects,
    find_well_formed_objects,
    iter_members,
    iter_scalars,
    list_quoted_keys,
    read_object_in_string,
    unescape,
    write_json,
)


def list_texts(text: str) -> list[tuple[str, str]]:
    """Return the key and text of every member whose value is a scalar."""
    members = find_members(text)
    return [
        (key, value.text.strip()) for key, _, _, value in members if isinstance(value, JsonScalar)
    ]


@pytest.mark.parametrize(
    "text",
    [
        '{"a": "x", "b": 1}',
        '```json\n{\n  "a": "x",\n  "b": 1\n}\n```',
        'Sure {here}: {"a": "x", "b": 1} I hope it helps.',
        '[{"a": "x"}, {"b": 1}]',
        '{"c": {"a": "x", "d": [{"b": 1}]}}',
        '{"c": ```json\n{"a": "x", "b": 1}\n```}',
        "{'a': 'x', 'b': 1}",
        "{“a”: “x”, “b”: 1}",
        "{a: `x`, b: 1}",
        '{"a": """x""", "b": 1}',
        "{'a': '''x''', 'b': 1}",
        '{\\"a\\": \\"x\\", \\"b\\": 1}',
        '{"a": "x" "b": 1,}',
        '{"a": "x", "b": 1',
        '{"a" = "x"; "b" => 1}',
        '{{"a": "x", "b": 1}}',
        '..., "a": "x", "b": 1}',
    ],
)
def test_members_are_found_however_the_object_is_written(text: str):
    assert list_texts(text) == [("a", "x"), ("b", "1")]
    for member in find_members(text):
        assert text[member.start :].startswith(member.key)
        for scalar in iter_scalars(member.value):
            assert text[scalar.start : scalar.end].rstrip("\\") == scalar.raw.rstrip()


@pytest.mark.parametrize(
    ("text", "raw", "outer", "is_closed"),
    [
        ('{"a": "x y"}', "x y", '"x y"', True),
        ('{"a": "x y', "x y", '"x y', False),
        ('{"a": """x', "x", '"""x', False),
        ('{"a": "He said "no" and left", "b": 1}', 'He said "no" and left', '"He said "no" and left"', True),
        ('{"a": "x"\nBecause of y', "x", '"x', False),
        ('{"a": "x\\"y"}', 'x\\"y', '"x\\"y"', True),
        ('{"a": -1.50}', "-1.50", "-1.50", True),
        ('{"a": ', "", "", True),
    ],
)  # fmt: skip
def test_the_place_of_a_value_is_known_with_and_without_its_quotes(text, raw, outer, is_closed):
    value = find_objects(text)[0].members[0].value
    assert isinstance(value, JsonScalar)
    assert value.raw == raw
    assert text[value.outer_start : value.outer_end] == outer
    assert value.is_closed == is_closed


@pytest.mark.parametrize(
    "text", ["", "no braces", "{}", "{ }", r"\boxed{5}", r"\frac{a}{b}", "{x | x > 0}", '{"a"}']
)
def test_braces_without_a_member_are_no_object(text: str):
    assert find_objects(text) == []
    assert find_members(text) == []


def test_a_key_that_a_broken_string_ran_over_is_found_too():
    text = '{"a": "no end,\n "sql": "SELECT 1"}'
    found = find_objects(text)[0].members[0].value
    assert isinstance(found, JsonScalar)
    assert found.has_swallowed_member
    assert ("sql", "SELECT 1") in list_texts(text)
    whole = find_objects(json.dumps({"a": "'b': 'c'"}))[0].members[0].value
    assert isinstance(whole, JsonScalar)
    assert not whole.has_swallowed_member


def test_loose_members_are_those_outside_of_any_object():
    text = '"a": "x", {"b": 1} "c": [2, 3]'
    assert [member.key for member in find_loose_members(text, 0, 10)] == ["a"]
    assert [member.key for member in find_members(text)] == ["a", "b", "c"]
    assert find_loose_members("12:30 and 'x'") == []


def test_well_formed_objects_inside_broken_ones_are_found():
    text = '{"thought": "no end {"answer": "B"} and {"c": [1, {"d": null}]}'
    assert [found.members[0].key for found in find_well_formed_objects(text, 10_000)] == [
        "answer",
        "c",
    ]
    assert [found.members[0].key for found in find_objects(text)] == ["thought", "c"]


def test_arguments_of_a_tool_call_are_an_object_in_a_string():
    text = '{"arguments": "{\\"answer\\": \\"C\\"}", "name": "x"}'
    arguments, name = (member.value for member in find_objects(text)[0].members)
    assert isinstance(arguments, JsonScalar)
    assert isinstance(name, JsonScalar)
    inner = read_object_in_string(arguments)
    assert inner is not None
    value = inner.members[0].value
    assert isinstance(value, JsonScalar)
    assert text[value.start : value.start + 1] == "C"
    assert read_object_in_string(name) is None


def test_objects_are_blanked_and_places_stay():
    text = 'Before ```json {"a": "x"} ``` after'
    blanked = blank_objects(text, find_objects(text))
    assert len(blanked) == len(text)
    assert blanked.split() == ["Before", "after"]
    assert blanked.index("after") == text.index("after")


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("plain", "plain"),
        (r"a\nb\tc", "a\nb\tc"),
        (r"\"x\" \\ \/", '"x" \\ /'),
        (r"5 \u00b5g", "5 µg"),
        (r"\ud83e\uddb5", "🦵"),
        (r"\ud83e", "\ufffd"),
        (r"answer\_choice", "answer_choice"),
        ("end\\", "end\\"),
    ],
)
def test_escapes_are_resolved(raw: str, text: str):
    assert unescape(raw) == text


def test_keys_are_listed_wherever_they_are_written():
    assert list_quoted_keys('"a": \'b\' : {"c d"  : 1, "e"}') == ["a", "b", "c d"]


# The escapes of these two are read as spaces.
TEXTS = st.text(st.characters(exclude_characters="\b\f", exclude_categories=["Cs"]), max_size=12)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)


@settings(deadline=None)
@given(st.dictionaries(TEXTS, VALUES, min_size=1), st.sampled_from([None, 2]), st.booleans())
def test_a_well_formed_object_is_read_as_json_reads_it(value, indent, ensure_ascii):
    text = "Here: " + json.dumps(value, indent=indent, ensure_ascii=ensure_ascii) + " {done}"
    found = find_objects(text)[0]
    assert text[found.start : found.end] == json.dumps(
        value, indent=indent, ensure_ascii=ensure_ascii
    )
    for member, (key, inner) in zip(found.members, value.items(), strict=True):
        assert member.key == key
        expected = inner if isinstance(inner, str) else json.dumps(inner, ensure_ascii=False)
        assert write_json(text, member.value) == expected


@settings(deadline=None)
@given(st.text("{}[]\":,\\'\n`ab“ ", max_size=60))
def test_every_place_lies_within_the_text(text: str):
    for found in find_objects(text):
        check_places(found, text)
    for member in find_members(text):
        check_places(member.value, text)


def check_places(node: JsonNode, text: str) -> None:
    assert 0 <= node.start <= node.end <= len(text)
    if isinstance(node, JsonObject):
        for member in iter_members(node):
            check_places(member.value, text)


def test_too_many_objects_are_not_read_in_part():
    assert len(find_objects('{"a": 1}' * 100)) == 100
    with pytest.raises(EndlessTextError):
        find_objects('{"a": 1}' * 101)
    assert len(find_well_formed_objects('{"a": 1}' * 1_000, 1)) == 1_000


@pytest.mark.parametrize(
    "piece",
    ['{"', '{"a":', '{"a":"', '{"a":[', "{'a':\"", '"a":"b" ', '"a":"', "“a”:", '"a":`', "{a:```", '{"a": "b" {'],
)  # fmt: skip
def test_endless_texts_are_given_up_in_time(piece: str):
    text = (piece * 100_000)[:200_000]
    began = time.process_time()
    find_well_formed = partial(find_well_formed_objects, max_work=2_000_000)
    for find in (find_objects, find_members, find_well_formed, find_loose_members):
        with suppress(EndlessTextError):
            find(text)
    assert time.process_time() - began < 2  # 0.2 s at most; the margin is for a busy machine
