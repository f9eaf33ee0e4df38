"""A site's own patterns and words: refused if they stall, taken out as whole words, and bounded in time."""

import time

import pytest

from agent.redaction.deadline import Deadline
from agent.redaction.engine import Engine
from agent.redaction.policy.site_patterns import Phrases, check_pattern


@pytest.mark.sample(1)
@pytest.mark.parametrize("pattern", [r"(a+)+$", r"(?:MRN ?|MRN)+#", r"\s*\w*\s*\w*\s*\w*#"])
def test_a_pattern_made_to_stall_is_refused_soon(pattern: str):
    began = time.monotonic()
    with pytest.raises(ValueError, match="takes too long"):
        check_pattern(pattern)
    assert time.monotonic() - began < 20


@pytest.mark.parametrize(
    "pattern", [r"\bTRIAL-\d{4}\b", r"(?i)study arm: \K[a-z]{1,9}", r"[A-Z]{2}\d{6}[A-Z]?"]
)
def test_a_pattern_as_hospitals_write_them_passes(pattern: str):
    check_pattern(pattern)


def test_own_patterns_and_denied_words_are_taken_out_as_whole_words_in_any_case(ours: Engine):
    shown = ours.redact(
        "Study arm: zebra. From SUNRISE-HOUSE to the blue  wing with bo! Bow and bluewings stay, elbow too."
    )
    assert shown == (
        "Study arm: [ID-1]. From [FACILITY-1] to the [FACILITY-2] with [NAME-1]! Bow and bluewings stay, elbow too."
    )


def test_an_allowed_word_stays_unless_it_is_somebodys_name_or_part_of_more(ours: Engine):
    assert (
        ours.redact("Call 617-555-0100, not 617-555-0101.") == "Call 617-555-0100, not [PHONE-1]."
    )
    assert "Foley" in ours.redact("Name: Foley")
    assert "Foley" not in ours.redact(
        "Patient name: Margaret Foley\nFoley catheter was placed for Foley."
    )
    assert "617-555-0100" not in ours.redact("Call 617-555-0100 x 4521.")


@pytest.mark.full
def test_a_list_of_fifty_thousand_names_costs_no_time_per_name():
    names = Phrases(f"Xq{n} Zz{n * 7}" for n in range(50_000))
    deadline = Deadline()
    deadline.start(60)
    text = "the patient Xq17 Zz119 came with chest pain " * 2_000
    began = time.process_time()
    assert sum(1 for _ in names.find(text, deadline)) == 2_000
    assert time.process_time() - began < 2


def test_own_patterns_stop_when_the_time_of_a_field_is_over():
    deadline = Deadline()
    deadline.start(-1)
    with pytest.raises(TimeoutError):
        list(Phrases(["blue wing"]).find("blue wing", deadline))
