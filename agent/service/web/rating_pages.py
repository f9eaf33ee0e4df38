"""The pages on which clinicians grade answers for a calibration: redacted, blinded, one answer a page.

Each account sees and changes only its own grades, which are found by the account that is signed in and by nothing else.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from starlette.responses import Response

from agent.access.roles import Action
from agent.calibration.grading import (
    GradedText,
    GradingForm,
    GradingProgress,
    begin_grading,
    finish_grading,
    has_room,
    measure_progress,
    parse_grades,
    read_grading_form,
    read_item,
)
from agent.calibration.make_calibration import require_calibration
from agent.errors import ConfigError
from agent.redaction import Redacted
from agent.redaction.gateway.cases import Clearer
from agent.service.pages import suite_slug
from agent.service.web.call import Call
from agent.service.web.service import Desk, redirect
from agent.store import Calibration, Rater


@dataclass(frozen=True, slots=True)
class CalibrationLine:
    """One calibration in the list.

    Attributes:
        calibration: the calibration.
        progress: how far the caller is; None if the caller has not begun.
        finished: whether the caller's grades are locked.
        clinicians: number of clinicians, from sheets and on these pages.
        has_room: whether another clinician can begin.
    """

    calibration: Calibration
    progress: GradingProgress | None
    finished: bool
    clinicians: int
    has_room: bool


@dataclass(frozen=True, slots=True)
class ShownText:
    """One text with its heading."""

    heading: str
    text: Redacted


@dataclass(frozen=True, slots=True)
class _Seat:
    """The caller's place in a calibration that the caller has begun."""

    calibration: Calibration
    rater: Rater
    progress: GradingProgress

    @property
    def address(self) -> str:
        """The address of the calibration's page."""
        return f"/rating/of/{self.calibration.name}"


def list_calibrations(desk: Desk, call: Call) -> Response:
    """Show all calibrations, with how far the caller is in each."""
    lines = [
        _describe_line(desk, call, calibration)
        for calibration in desk.store.calibrations.read_all()
    ]
    can_make = call.signed_in.can_enter(Action.QUEUE_JOBS)
    return desk.draw("ratings.html", call, lines=lines, can_make=can_make)


def show_calibration(desk: Desk, call: Call) -> Response:
    """Show one calibration: how to grade, and where the caller can begin or go on."""
    calibration = require_calibration(desk.store, call.path["name"])
    return desk.draw(
        "rating.html",
        call,
        line=_describe_line(desk, call, calibration),
        form=read_grading_form(desk.store, calibration),
        report=f"/results/suites/{suite_slug(calibration.plan['suite'])}/calibration.html",
        can_make=call.signed_in.can_enter(Action.QUEUE_JOBS),
    )


def _describe_line(desk: Desk, call: Call, calibration: Calibration) -> CalibrationLine:
    account = call.signed_in.account.account_id
    rater = desk.store.calibrations.find_account(calibration.name, account)
    return CalibrationLine(
        calibration=calibration,
        progress=None if rater is None else measure_progress(calibration, rater),
        finished=rater is not None and rater.finished,
        clinicians=len(desk.store.calibrations.read_raters(calibration.name)),
        has_room=has_room(desk.store, calibration),
    )


def begin(desk: Desk, call: Call) -> Response:
    """Make the caller a clinician of a calibration, and go to the first answer that is not rated."""
    calibration = require_calibration(desk.store, call.path["name"])
    account = call.signed_in.account
    rater = begin_grading(desk.store, calibration, account.account_id, account.name)
    seat = _Seat(calibration, rater, measure_progress(calibration, rater))
    return _go_to(seat, seat.progress.next)


def show_item(desk: Desk, call: Call) -> Response:
    """Show one answer with the grades that the caller gave it."""
    seat = _require_seat(desk, call)
    grades = seat.rater.grades.get(call.path["item"], {})
    given = {criterion: f"{grade:g}" for criterion, grade in grades.items()}
    if call.path["item"] in seat.rater.saved:
        # Saved without a grade means that the clinician could not judge.
        given = {
            criterion: given.get(criterion, "") for criterion in seat.calibration.plan["criteria"]
        }
    return _draw_item(desk, call, seat, given)


def save_item(desk: Desk, call: Call) -> Response:
    """Save the caller's grades of one answer, and go to the next one that is not rated."""
    seat = _require_seat(desk, call)
    item, account = call.path["item"], call.signed_in.account.account_id
    text = read_item(desk.store, seat.calibration, item)
    form = read_grading_form(desk.store, seat.calibration)
    given = _read_given(call, form)
    try:
        grades = {} if text is None else parse_grades(form, given)
    except ConfigError as error:
        return _draw_item(desk, call, seat, given, f"{error}. {error.advice}")
    desk.store.calibrations.save_item(seat.calibration.name, account, item, grades)
    return _go_to(seat, seat.progress.find_following(item, (*seat.rater.saved, item)))


def _read_given(call: Call, form: GradingForm) -> dict[str, str]:
    given: dict[str, str] = {}
    for number, question in enumerate(form.questions):
        if f"grade-{number}" in call.form:
            given[question.criterion] = call.get(f"grade-{number}").strip()
    return given


def _draw_item(
    desk: Desk, call: Call, seat: _Seat, given: Mapping[str, str], problem: str = ""
) -> Response:
    item = call.path["item"]
    text = read_item(desk.store, seat.calibration, item)
    with_reference = seat.calibration.plan["with_reference"]
    texts: list[ShownText] = []
    if text is not None:
        texts = desk.service.texts.clear(partial(_clear_item, text, with_reference=with_reference))
    before, after = seat.progress.find_neighbours(item)
    return desk.draw(
        "rating_item.html",
        call,
        400 if problem else 200,
        seat=seat,
        item=item,
        number=seat.progress.order.index(item) + 1,
        texts=texts,
        form=read_grading_form(desk.store, seat.calibration),
        given=given,
        before=before,
        after=after,
        problem=problem,
    )


def _clear_item(text: GradedText, clearer: Clearer, *, with_reference: bool) -> list[ShownText]:
    """Return the redacted texts of an item, all redacted together."""
    ((instance, answer),) = clearer.clear_answered([(text.instance, text.answer)], "rating")
    shown: list[ShownText] = []
    for message in instance.messages:
        heading = "Question" if message.role == "user" else f"Question ({message.role})"
        shown.append(ShownText(heading, _require_redacted(message.content)))
    for reference in instance.references if with_reference else ():
        if reference.correct:
            shown.append(ShownText("Right answer", _require_redacted(reference.text)))
    shown.append(ShownText("Answer to grade", answer))
    return shown


def _require_redacted(text: str) -> Redacted:
    if not isinstance(text, Redacted):
        raise TypeError("text from an instance reached a page without redaction")
    return text


def ask_to_finish(desk: Desk, call: Call) -> Response:
    """Ask whether the caller's grades may be locked."""
    seat = _require_seat(desk, call)
    return desk.draw("rating_finish.html", call, seat=seat)


def finish(desk: Desk, call: Call) -> Response:
    """Lock the caller's grades."""
    calibration = require_calibration(desk.store, call.path["name"])
    finish_grading(desk.store, calibration, call.signed_in.account.account_id)
    words = "Your grades are locked. Thank you."
    return desk.confirm(call, f"/rating/of/{calibration.name}", words)


def _require_seat(desk: Desk, call: Call) -> _Seat:
    """Return the caller's place in the calibration of a route.

    Raises:
        ConfigError: there is no such calibration or answer, or the caller has not begun.
    """
    calibration = require_calibration(desk.store, call.path["name"])
    account = call.signed_in.account.account_id
    rater = desk.store.calibrations.find_account(calibration.name, account)
    if rater is None:
        raise ConfigError(
            f"you have not begun to grade calibration {calibration.name}",
            "Open it from the list of calibrations.",
        )
    if "item" in call.path and call.path["item"] not in calibration.plan["items"]:
        raise ConfigError(
            "this calibration has no such answer", "Open it from the list of calibrations."
        )
    return _Seat(calibration, rater, measure_progress(calibration, rater))


def _go_to(seat: _Seat, item: str | None) -> Response:
    """Send the browser to an item, with the keyboard's focus at its texts; without one, to the calibration's page."""
    return redirect(f"{seat.address}/items/{item}#main" if item else seat.address)
