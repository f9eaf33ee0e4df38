"""Well-formed JSON objects among prose and broken ones, and the errors of the broken ones."""

import json
import time

import pytest

from agent.reading.json_decoding import (
    DecodedObject,
    EndlessTextError,
    UndecodedObject,
    decode_objects,
    decode_objects_around,
)

STRICT = json.JSONDecoder()


def test_well_formed_objects_are_decoded_and_the_errors_of_others_are_known():
    text = 'x {"a": 1, "a": 2} {"b": x} {"c": {}}'
    first, broken, last = decode_objects(text)
    assert first == DecodedObject({"a": 2}, 2, 18)
    assert broken == UndecodedObject(19, text.index(": x") + 2)
    assert isinstance(last, DecodedObject)
    assert [found.start for found in decode_objects(text, end=19)] == [2]


def test_a_line_break_in_a_string_is_read_unless_the_decoder_is_strict():
    text = '{"a": "x\ny"}'
    assert [type(found) for found in decode_objects(text)] == [DecodedObject]
    assert [type(found) for found in decode_objects(text, STRICT)] == [UndecodedObject]


def test_objects_around_a_position_are_found_from_the_inside():
    text = '{"x": 1} {"a": {"b": {"c": 1}, "d": 2}} {"e": 3}'
    around = decode_objects_around(text, text.index("1}, "), STRICT)
    assert [list(found.value) for found in around] == [["c"], ["b", "d"], ["a"]]


def test_an_object_that_is_nested_too_deeply_has_no_place_of_its_error():
    first = next(decode_objects('{"a":' * 100_000))
    assert first == UndecodedObject(0, None)


@pytest.mark.parametrize("piece", ['{"', '{"a":', '{"a":"', '{"a":[', '{"a":1', '{"a": "b" {'])
def test_endless_texts_are_given_up_in_time(piece: str):
    text = (piece * 200_000)[:200_000]
    began = time.process_time()
    with pytest.raises(EndlessTextError):
        list(decode_objects(text))
    assert time.process_time() - began < 2  # 0.1 s at most; the margin is for a busy machine
