"""The pages on which a steward checks redaction: original texts of one record with what redaction found in them.

Every page with original text is recorded in the audit log before it is shown. Marks are kept in the sealed texts, and
addresses name the sample and the number of the record only.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import get_args

from starlette.responses import Response

from agent.errors import AgentError, ConfigError
from agent.redaction.entities import Entity
from agent.redaction.gateway.cases import Revealing
from agent.review.estimate import summarize_review
from agent.review.record_marks import (
    Limits,
    MissedWords,
    RecordMarks,
    mark_record,
    read_record,
    read_verdict,
    show_text,
)
from agent.review.sample import (
    ReviewSampling,
    delete_review,
    make_review,
    require_review,
    reveal_gold_rows,
)
from agent.service.web.call import Call
from agent.service.web.numbers import read_whole_number
from agent.service.web.review_views import TextView, view_text
from agent.service.web.service import HTML, Desk
from agent.store import PUBLIC, Review
from agent.store.reviews import RecordState

ROWS = 4  # fields for missed identifiers on a page; whoever needs more adds these first
MOST_RECORDS = 200  # on the page, whose reader waits; the command makes larger samples
_FIELDS = {"name": "", "suite": "", "records": "50", "seed": ""}
_WRONG = re.compile(r"([1-9][0-9]{0,8})\.([0-9]{1,9})")
_DROPPED = re.compile(r"([1-9][0-9]{0,8})\.([0-9]{1,9})\.([0-9]{1,9})")


@dataclass(frozen=True, slots=True)
class ReviewLine:
    """One review in the list: how many of its records are reviewed."""

    review: Review
    records: int
    reviewed: int


def list_reviews(desk: Desk, call: Call) -> Response:
    """Show all reviews with their progress."""
    lines = [_describe_line(desk, review) for review in desk.store.reviews.read_all()]
    return desk.draw("redaction.html", call, lines=lines)


def _describe_line(desk: Desk, review: Review) -> ReviewLine:
    states = desk.store.reviews.read_states(review.name)
    open_records = sum(state.is_open for state in states)
    return ReviewLine(review, len(states), len(states) - open_records)


def show_form(desk: Desk, call: Call) -> Response:
    """Show the form for a new review."""
    return _draw_form(desk, call)


def make(desk: Desk, call: Call) -> Response:
    """Choose the records of a new review and search them for identifiers."""
    try:
        seed = call.get("seed").strip()
        wanted = ReviewSampling(
            name=call.require("name", "The name"),
            suite=call.require("suite", "The suite"),
            records=read_whole_number(
                call.get("records"), "the number of records", 1, MOST_RECORDS
            ),
            seed=read_whole_number(seed, "the seed", 0, 2**63) if seed else None,
        )
        # No text is taken from a run that its owner keeps from others.
        site = desk.service.site.serve(PUBLIC)
        make_review(site, wanted, call.signed_in.account.account_id)
    except AgentError as error:
        return _draw_form(desk, call, f"{error}. {error.advice}")
    words = f"The records of review {wanted.name} are chosen."
    return desk.confirm(call, f"/redaction/of/{wanted.name}", words)


def _draw_form(desk: Desk, call: Call, problem: str = "") -> Response:
    return desk.draw(
        "new_review.html",
        call,
        400 if problem else 200,
        suites=desk.serve(PUBLIC).store.runs.list_suites(),
        values={name: call.get(name, value) for name, value in _FIELDS.items()},
        most=MOST_RECORDS,
        problem=problem,
    )


def show_review(desk: Desk, call: Call) -> Response:
    """Show one review: its records, and the estimate of what redaction finds."""
    review = require_review(desk.store, call.path["name"])
    states = desk.store.reviews.read_states(review.name)
    return desk.draw(
        "review.html",
        call,
        line=_describe_line(desk, review),
        states=states,
        next=_find_open(states, 0),
        summary=summarize_review(desk.store.reviews.read_texts(review.name)),
    )


def show_record(desk: Desk, call: Call) -> Response:
    """Show the original texts of one record with the marks in them, after an entry in the audit log."""
    return _draw_record(desk, call)


def mark(desk: Desk, call: Call) -> Response:
    """Store the marks of one record; then go to the next one, or stay for more."""
    review = require_review(desk.store, call.path["name"])
    record = _read_record_number(call)
    rows = _read_rows(call)
    is_done = call.get("step") == "save"
    marks = RecordMarks(
        wrong=_read_wrong(call),
        dropped=_read_dropped(call),
        missed=[MissedWords(words, entity) for words, entity in rows],
    )
    by = call.signed_in.account.account_id
    outcome = mark_record(desk.store, review.name, record, marks, done=is_done, by=by)
    if outcome.unknown:
        unknown = [rows[index] for index in outcome.unknown]
        return _draw_record(desk, call, unknown)
    address = f"/redaction/of/{review.name}"
    if not is_done:
        return desk.confirm(call, f"{address}/records/{record}#missed", "The marks are saved.")
    following = _find_open(desk.store.reviews.read_states(review.name), record)
    if following:
        words = f"Record {record} is reviewed; this is the next one."
        return desk.confirm(call, f"{address}/records/{following}#main", words)
    return desk.confirm(call, address, f"Record {record} is reviewed. No other one waits.")


def _draw_record(desk: Desk, call: Call, unknown: Sequence[tuple[str, str]] = ()) -> Response:
    """Draw the page of one record; `unknown` are words with their kinds that were not found in it."""
    review = require_review(desk.store, call.path["name"])
    number = _read_record_number(call)
    states = desk.store.reviews.read_states(review.name)
    numbers = [state.record for state in states]
    rows = [*unknown, *[("", "NAME")] * ROWS][: max(ROWS, len(unknown))]
    frame = desk.service.frame(call.caller, call.route)
    content = desk.service.revealing_renderer.page(
        "web/review_record.html",
        frame,
        review=review,
        number=number,
        position=numbers.index(number) + 1 if number in numbers else 0,
        records=len(numbers),
        is_reviewed=any(state.record == number and not state.is_open for state in states),
        texts=_reveal_texts(desk, call, review.name, number),
        rows=rows,
        unknown=len(unknown),
        entities=get_args(Entity),
        before=max((other for other in numbers if other < number), default=None),
        after=min((other for other in numbers if other > number), default=None),
        next=_find_open(states, number),
    )
    return Response(content, 400 if unknown else 200, media_type=HTML)


def _reveal_texts(desk: Desk, call: Call, name: str, record: int) -> list[TextView]:
    """Return the texts of a record as they are shown, after an entry in the audit log."""
    texts = read_record(desk.store, name, record)
    by = call.signed_in.account.account_id
    revealing = Revealing(lambda event: desk.store.audit.record("reveal", event, by), "review")
    ((*shown,),) = revealing.clear_records(
        [[show_text(text) for text in texts]], f"name={name} record={record}"
    )
    return [
        view_text(text.item, words, read_verdict(text))
        for text, words in zip(texts, shown, strict=True)
    ]


def _read_rows(call: Call) -> list[tuple[str, str]]:
    """Return the missed words of the form, each with its kind, without empty fields."""
    words = call.form.get("words", ())
    entities = call.form.get("entity", ())
    return [(text, entity) for text, entity in zip(words, entities, strict=False) if text.strip()]


def _read_wrong(call: Call) -> Mapping[int, frozenset[int]]:
    """Return the detections of the form that identify no person: indexes by the number of their text."""
    chosen: dict[int, set[int]] = {}
    for value in call.form.get("wrong", ()):
        match = _WRONG.fullmatch(value)
        if match is not None:
            chosen.setdefault(int(match[1]), set()).add(int(match[2]))
    return {item: frozenset(indexes) for item, indexes in chosen.items()}


def _read_dropped(call: Call) -> Mapping[int, frozenset[Limits]]:
    """Return the missed identifiers of the form that are no longer marked, by the number of their text."""
    chosen: dict[int, set[Limits]] = {}
    for value in call.form.get("drop", ()):
        match = _DROPPED.fullmatch(value)
        if match is not None:
            chosen.setdefault(int(match[1]), set()).add((int(match[2]), int(match[3])))
    return {item: frozenset(limits) for item, limits in chosen.items()}


def _read_record_number(call: Call) -> int:
    return read_whole_number(call.path["record"], "the number of the record", 1, 10**9)


def _find_open(states: Sequence[RecordState], after: int) -> int | None:
    """Return the next record to review, after record `after` or else from the start; None if none is left."""
    waiting = [state.record for state in states if state.is_open]
    later = [number for number in waiting if number > after]
    return next(iter(later or waiting), None)


def download_marks(desk: Desk, call: Call) -> Response:
    """Hand out the reviewed texts with all identifiers annotated, after an entry in the audit log."""
    review = require_review(desk.store, call.path["name"])
    if call.get("confirmed") != "yes":
        raise ConfigError("the download was not confirmed", "Tick the box and send the form again.")
    rows = reveal_gold_rows(desk.store, review.name, call.signed_in.account.account_id)
    lines = [json.dumps(row, ensure_ascii=True) + "\n" for row in rows]
    headers = {"Content-Disposition": 'attachment; filename="gold.jsonl"'}
    return Response("".join(lines), headers=headers, media_type="application/jsonl")


def ask_to_delete(desk: Desk, call: Call) -> Response:
    """Show what would be deleted with a review."""
    review = require_review(desk.store, call.path["name"])
    return desk.draw("review_delete.html", call, review=review)


def delete(desk: Desk, call: Call) -> Response:
    """Delete a review with its texts and marks."""
    review = require_review(desk.store, call.path["name"])
    if call.get("confirmed") != "yes":
        raise ConfigError("the deletion was not confirmed", "Tick the box and send the form again.")
    delete_review(desk.store, review.name, call.signed_in.account.account_id)
    words = f"Review {review.name} is deleted with its texts."
    return desk.confirm(call, "/redaction", words)
