"""What was read from an answer is shown redacted, and marked only where the redacted answer shows the same words."""

import pytest

from agent.reading.reading import Reading
from agent.redaction import Redacted, open_redactor
from agent.redaction.gateway.cases import Redacting
from agent.redaction.gateway.readings import (
    AnswerReading,
    ClearedReading,
    clear_readings,
    locate_in_redacted,
)
from agent.store import StoredInstance
from agent.vocabulary import Instance, Message, Reference, Response


@pytest.fixture(scope="module")
def clearer() -> Redacting:
    return Redacting(open_redactor())


def clear(
    clearer: Redacting, answer: str, *readings: AnswerReading
) -> tuple[str, list[ClearedReading]]:
    instance = Instance("1", "1", (Message("user", "Who?"),), (Reference("x", True),))
    response = Response(answer, "", "stop", None, None, 0.0)
    stored = StoredInstance(0, b"12345678", instance, response, {})
    (case,) = clearer.clear("run", [stored], read={0: readings})
    assert case.answer is not None
    return case.answer, list(case.readings)


def read(answer: str, words: str, value: str | None = None, kind: str = "query") -> AnswerReading:
    start = answer.index(words)
    reading = Reading(value or words, start, start + len(words), "stated answer")
    return AnswerReading(("m",), kind, reading)  # type: ignore[arg-type]


def test_the_mark_stands_at_the_same_words_between_tags(clearer):
    answer = (
        "John Smith (MRN: 00451234) needs it, so the answer is B, since he was seen on 03/14/2022."
    )
    redacted, (reading,) = clear(clearer, answer, read(answer, "B", kind="option"))
    assert "Smith" not in redacted
    assert reading.start is not None
    assert redacted[reading.start - 14 : reading.end] == "the answer is B"
    assert (reading.value, reading.rule) == ("B", "stated answer")


def test_a_name_in_a_query_is_redacted_in_its_value(clearer):
    answer = "John Smith asked: SELECT age FROM patient WHERE name = 'John Smith'"
    redacted, (reading,) = clear(clearer, answer, read(answer, answer[18:]))
    assert isinstance(reading.value, Redacted)
    assert "Smith" not in reading.value + redacted
    assert reading.start is None


def test_a_value_that_lost_its_context_is_not_shown(clearer):
    answer = "Her record number is MRN 00451234."
    redacted, (reading,) = clear(clearer, answer, read(answer, "MRN 00451234", "451234", "number"))
    assert "451234" not in redacted
    assert reading.value is None or "451234" not in reading.value


@pytest.mark.parametrize(
    ("answer", "words", "original"),
    [
        ("The patient is aged 93, seen 03/14/2022.", "93, seen 03/14/2022", "93"),
        ("Born in 1931, seen 03/14/2022.", "1931, seen 03/14/2022", "1931"),
        ("Phone: 555-0143 on 03/14/2022", "0143 on 03/14/2022", "0143"),
        ("Aged 93, seen 03/14/2022, takes 93 mg.", "93, seen 03/14/2022", "93, seen"),
    ],
)
def test_a_value_of_which_only_a_part_was_redacted_is_not_shown(clearer, answer, words, original):
    redacted, (reading,) = clear(clearer, answer, read(answer, words))
    assert original not in redacted
    assert reading.value is None or original not in reading.value


def test_of_a_withheld_answer_only_a_letter_is_shown(clearer):
    answer = "\ufffd\ufffd The answer is B: give 25.2 mg to \ufffd"
    shown = (read(answer, "B", kind="option"), read(answer, "25.2", kind="number"))
    redacted, (option, number) = clear(clearer, answer, *shown)
    assert redacted.startswith("[WITHHELD")
    assert (option.value, option.start) == ("B", None)
    assert number.value is None


def test_a_text_that_is_compared_whole_is_not_shown_again(clearer):
    answer = "Mr John Smith should rest."
    whole = AnswerReading(("rouge_l",), "text", Reading(answer, 0, 26, "whole text"), True)
    _, (reading,) = clear(clearer, answer, whole)
    assert reading == ClearedReading(("rouge_l",), "whole text", None)


@pytest.mark.parametrize(
    ("answer", "redacted", "words", "place"),
    [
        ("so B", "so B", "B", (3, 4)),
        ("B. John", "B. [NAME-1]", "B", (0, 1)),
        ("John: B", "[NAME-1]: B", "B", (10, 11)),
        ("John: so 5. John", "[NAME-1]: so 5. [NAME-1]", "5", (13, 14)),
        ("John B. Good", "[NAME-1]", "B", None),
        ("Jo 5 and 5 Jo", "[X] 5 and 5 [X]", "5", None),
        ("Jo, room 1", "[NAME-1], [FACILITY-2]", "1", None),
        ("E", "[WITHHELD: time limit]", "E", None),
    ],
)
def test_a_place_is_told_or_left_out(answer, redacted, words, place):
    start = answer.index(words)
    assert locate_in_redacted(answer, redacted, start, start + len(words)) == place


def test_readings_take_exactly_their_own_texts(clearer):
    answer = "B"
    redacted = clearer.clear_records([["B", "B"]], "")[0]
    texts = iter(redacted[1:])
    cleared = list(clear_readings((read(answer, "B", kind="option"),), answer, redacted[0], texts))
    assert cleared[0].value == "B"
    assert next(texts, None) is None
