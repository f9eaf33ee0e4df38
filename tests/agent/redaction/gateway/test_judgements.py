"""A judge's words are redacted with the case they are about, however the judge spells them."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.redaction.engine import Engine
from agent.redaction.gateway.cases import ClearedCase, Redacting, Revealing
from agent.redaction.gateway.judgements import read_seat_judgements, undo_escapes
from agent.vocabulary import Reason, Reference, Response
from tests.agent.service.filled_site import case, filled_site
from tests.agent.service.judged import Replies, add_judged, verdict

NOTE = "Patient name: Xochitl Wrzesniewski, MRN: 00451234, was seen on 03/14/2022."


def cleared(
    folder: Path, engine: Engine, *replies: Replies, prompt: str = NOTE, answer: str = "ok"
) -> ClearedCase:
    """One case with these judges' replies, redacted."""
    filled = filled_site(folder)
    cases = [case(0, prompt=prompt, answer=answer, references=(Reference("Rest.", True),))]
    run_id = add_judged(filled, cases, {0: replies})
    with filled.site.store() as store:
        run = store.runs.find(run_id)
        assert run is not None
        page = store.answers.read_instances(run_id, 0, 1)
        (found,) = Redacting(engine).clear(run_id, page, read_seat_judgements(store, run, page))
    return found


def everything(shown: ClearedCase) -> str:
    return "\n".join(
        [text for one in shown.judgements for of in one.words.values() for text in of.values()]
        + [
            text
            for one in shown.judgements
            for reply in one.replies
            for text in (reply.text, reply.reasoning)
        ]
    )


def test_a_name_of_the_question_has_the_same_tag_in_every_explanation_and_reply(
    tmp_path: Path, engine: Engine
):
    shown = cleared(
        tmp_path,
        engine,
        [verdict(5, "Right about wrzesniewski.")],
        [
            Response("Agreed, wrzesniewski.", "It is about Wrzesniewski.", "stop", 1, 1, 0.1),
            verdict(3, "Xochitl has gout"),
        ],
        Reason.TIMEOUT,
    )
    assert [one.judge for one in shown.judgements] == ["llama", "qwen/qwen3-32b", "y"]
    assert shown.judgements[0].words["accuracy"] == {"explanation": "Right about [NAME-1]."}
    assert shown.judgements[1].replies[0].text == "Agreed, [NAME-1]."
    assert shown.judgements[1].replies[0].reasoning == "It is about [NAME-1]."
    assert shown.judgements[1].words["clarity"] == {"explanation": "[NAME-1] has gout"}
    assert (shown.judgements[1].grades, shown.judgements[1].repaired) == (
        {"accuracy": 3.0, "completeness": 3.0, "clarity": 3.0},
        True,
    )
    assert (shown.judgements[2].reason, shown.judgements[2].replies) == ("timeout", ())
    assert "wrzesniewski" not in everything(shown).casefold()


def test_a_name_that_only_the_judge_writes_is_gone_from_the_answer_too(
    tmp_path: Path, engine: Engine
):
    answer = "I would ask szczepanik again."
    shown = cleared(
        tmp_path, engine, [verdict(5, "He means Dr. Szczepanik.")], prompt="Whom?", answer=answer
    )
    assert shown.answer == "I would ask [NAME-1] again."


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    "spelt",
    [
        r"seen: Xochitl\nWrzesniewski\nagain",
        r"seen: Xochitl \u0057rzesniewski again",
        r"seen: Xochitl \\u0057rzesniewski again",
        r"seen: Xochitl \"Wrzesniewski\" again",
        r"seen: Xochitl Wrze\u0073niewski\tagain",
        "seen: Xochitl \\u005cu0057rzesniewski again",
        json.dumps(json.dumps(json.dumps({"seen": "Xochitl\nWrzesniewski\n"}))),
    ],
)
@pytest.mark.parametrize("whole", [True, False], ids=["in a verdict", "in a broken reply"])
def test_no_spelling_of_json_hides_a_name(tmp_path: Path, engine: Engine, spelt: str, whole: bool):
    reply = verdict(4, spelt) if whole else '{"accuracy": {"explanation": "' + spelt
    shown = everything(cleared(tmp_path, engine, [reply, reply]))
    assert "[NAME-1]" in shown
    assert "rzesniewski" not in shown
    assert "Xochitl" not in shown


def test_what_hides_in_a_number_or_in_a_key_of_a_reply_is_redacted(tmp_path: Path, engine: Engine):
    reply = verdict(4, "Fine.", Wrzesniewski=451234, more={"MRN": "00451234", "note": ["Xochitl"]})
    shown = everything(cleared(tmp_path, engine, [reply]))
    assert "Fine." in shown
    assert [word for word in ("Wrzesniewski", "00451234", "Xochitl") if word in shown] == []


def test_a_reply_that_is_no_text_is_withheld_and_counted(tmp_path: Path, engine: Engine):
    before = sum(engine.withheld.values())
    shown = cleared(tmp_path, engine, ["half a pair \\ud83d", "a whole pair \\ud83d\\ude00"])
    assert [reply.text for reply in shown.judgements[0].replies] == [
        "[WITHHELD: undecodable]",
        "a whole pair \U0001f600",
    ]
    assert sum(engine.withheld.values()) == before + 1


def test_a_purge_leaves_grades_and_takes_every_word(tmp_path: Path, engine: Engine):
    filled = filled_site(tmp_path)
    run_id = add_judged(
        filled, [case(0)], {0: [[verdict(4, "quicksilver")], ["no verdict", "nor here"]]}
    )
    with filled.site.store() as store:
        store.purge(0)
        run = store.runs.find(run_id)
        assert run is not None
        page = store.answers.read_instances(run_id, 0, 1)
        (shown,) = Redacting(engine).clear(run_id, page, read_seat_judgements(store, run, page))
    assert [(one.grades is not None, one.reason) for one in shown.judgements] == [
        (True, None),
        (False, "no_verdict"),
    ]
    assert [(one.words, one.replies) for one in shown.judgements] == [({}, ()), ({}, ())]


def test_words_of_another_reading_do_not_stand_beside_a_seats_grades(
    tmp_path: Path, engine: Engine
):
    filled = filled_site(tmp_path)
    run_id = add_judged(
        filled, [case(0)], {0: [[verdict(2, "poor"), verdict(4, "better")], [verdict(5, "fine")]]}
    )
    with filled.site.store() as store:
        # As a version that read replies by other rules left them: the first one counted, and the other seat's was cut.
        was = store.juries.read_seats(run_id, "jury_score")[0]
        other = [dict.fromkeys(was[0].grades or {}, grade) for grade in (2.0, 3.0)]
        seats = [replace(seat, grades=grades) for seat, grades in zip(was, other, strict=True)]
        store.scores.keep(run_id, [], [], [(0, "jury_score", seat) for seat in seats])
        run = store.runs.find(run_id)
        assert run is not None
        page = store.answers.read_instances(run_id, 0, 1)
        (shown,) = Redacting(engine).clear(run_id, page, read_seat_judgements(store, run, page))
    assert [set((one.grades or {}).values()) for one in shown.judgements] == [{2.0}, {3.0}]
    assert shown.judgements[0].words["accuracy"]["explanation"] == "poor"
    assert shown.judgements[1].words == {}
    assert len(shown.judgements[1].replies) == 1


def test_revealed_replies_are_as_the_judge_wrote_them_and_are_in_the_audit_log_first(
    tmp_path: Path,
):
    filled = filled_site(tmp_path)
    reply = verdict(4, "Seen \u00e9\nWrzesniewski.")
    run_id = add_judged(filled, [case(0)], {0: [[reply]]})
    events: list[str] = []
    with filled.site.store() as store:
        run = store.runs.find(run_id)
        assert run is not None
        page = store.answers.read_instances(run_id, 0, 1)
        (shown,) = Revealing(events.append, "look").clear(
            run_id, page, read_seat_judgements(store, run, page)
        )
        with pytest.raises(OSError, match="disk"):
            Revealing(_full, "look").clear(run_id, page, read_seat_judgements(store, run, page))
    assert shown.judgements[0].replies[0].text == reply
    assert shown.judgements[0].words["accuracy"]["explanation"] == "Seen \u00e9\nWrzesniewski."
    assert events == [f"look run={run_id} instances=0-0"]


def _full(event: str) -> None:
    raise OSError("disk full")


@given(st.text(), st.integers(0, 4))
def test_whatever_is_written_as_json_reads_as_it_was_meant(text: str, layers: int):
    if "\\" in text or any(c in text for c in "\b\f\r"):
        return
    spelt = text
    for _ in range(layers):
        spelt = json.dumps(spelt)[1:-1]
    assert undo_escapes(spelt) == text


@given(st.text(alphabet='\\u005cn"x{}', max_size=400))
def test_nothing_legible_holds_an_escape(text: str):
    shown = undo_escapes(text)
    assert undo_escapes(shown) == shown


def test_a_mountain_of_escapes_is_taken_apart_in_bounded_time():
    shown = undo_escapes("\\u005c" + "u005c" * 60_000 + "u0041" + "\\" * 100_000 + "n")
    assert "A" not in shown
    assert "\\" not in shown
