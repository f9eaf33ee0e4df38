"""Tags: typed, numbered over a whole record, left alone the second time, and not to be counterfeited."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.redaction import Redactor


def test_the_same_person_has_the_same_number_in_prompt_answer_and_reasoning(redactor: Redactor):
    prompt, answer, reasoning = redactor.redact_record(
        [
            "Dr. Anna Kowalski referred Margaret Holloway on 03/14/2022.",
            "Holloway should see Kowalski again.",
            "The note of 03/14/2022 names MARGARET HOLLOWAY; margaret holloway is stable.",
        ]
    )
    assert prompt == "[NAME-1] referred [NAME-2] on [DATE-1]."
    assert answer == "[NAME-2] should see [NAME-1] again."
    assert reasoning == "The note of [DATE-1] names [NAME-2]; [NAME-2] is stable."


def test_a_name_found_by_its_cue_is_searched_where_it_has_none(redactor: Redactor):
    _, answer = redactor.redact_record(
        ["Patient name: Xochitl Wrzesniewski", "I think wrzesniewski, Xochitl has gout."]
    )
    assert "Xochitl" not in answer
    _, answer = redactor.redact_record(["MRN: QX-7", "The chart QX-7 shows gout."])
    assert "QX-7" not in answer


def test_records_do_not_share_numbers(redactor: Redactor):
    assert redactor.redact("Mr. Holloway has gout.") == redactor.redact("Mr. Kowalski has gout.")


def test_tags_already_there_keep_their_numbers_and_new_ones_go_on_after_them(redactor: Redactor):
    assert redactor.redact("[NAME-4] and Mr. Holloway.") == "[NAME-4] and [NAME-5]."


def test_text_made_to_look_like_a_tag_is_redacted(redactor: Redactor):
    for disguised in (
        "[MRN-00451234]",
        "[WITHHELD: margaret henderson]",
        "[NAME-Margaret Holloway]",
        "[SMITH-004512]",
    ):
        shown = redactor.redact(disguised)
        assert not any(part in shown for part in ("00451234", "henderson", "Holloway", "004512"))


TEXTS = st.lists(
    st.one_of(
        st.sampled_from(
            [
                "Dr. Anna Kowalski",
                "MRN: 00451234",
                "on 03/14/2022",
                "Mayo Clinic",
                "aged 94",
                "[NAME-1]",
                "call 617-555-0143",
            ]
        ),
        st.text(
            alphabet=st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]), max_size=30
        ),
        st.sampled_from(["fever", "\n", "a 50 mg dose.", "(", ", ", "\u202e", "e\u0301"]),
    ),
    max_size=12,
).map(" ".join)


@pytest.mark.full
@settings(deadline=None)
@given(TEXTS)
def test_redacting_twice_changes_nothing_more(redactor: Redactor, text: str):
    once = redactor.redact(text)
    assert redactor.redact(once) == once


def test_names_in_speech_written_without_capitals_are_found(redactor: Redactor):
    shown = redactor.redact(
        "[doctor] hi andrew , i'm dr . szczepanik . how is the shoulder ?\n"
        "[patient] my nurse said it will heal , doctor ."
    )
    assert "andrew" not in shown
    assert "szczepanik" not in shown
    assert "my nurse said it will heal , doctor ." in shown


def test_a_name_in_the_gold_answer_is_gone_from_a_prompt_that_has_it_in_small_letters(
    redactor: Redactor,
):
    prompt, gold = redactor.redact_record(
        ["so , xochitl , what brings you in", "Ms. Xochitl Wrzesniewski has gout."]
    )
    assert (prompt, gold) == ("so , [NAME-1] , what brings you in", "[NAME-1] has gout.")


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("seen by Mr. H[\u200bNAME-1]olloway today", ["olloway"]),
        ("H[NAME-1]olloway was seen", ["olloway"]),
        ("Mr. [N\u0410ME-1]Holloway came", ["Holloway"]),
        ("Patient Ko[NAME-1]wa[NAME-1]lc[NAME-1]zy[NAME-1]k", ["wa", "lc", "zy"]),
        ("SSN 4[ID-1]8[ID-1]2-55-9013", ["4", "8[", "9013"]),
        (
            "SSN 4[ID-1]8[ID-1]2[ID-1]5[ID-1]5[ID-1]9[ID-1]0[ID-1]1[ID-1]3",
            ["SSN 4", "]8", "]9", "]3"],
        ),
    ],
)
def test_tags_between_letters_or_digits_hide_nobody(
    redactor: Redactor, text: str, hidden: list[str]
):
    once = redactor.redact(text)
    assert [part for part in hidden if part in once] == []
    assert redactor.redact(once) == once
