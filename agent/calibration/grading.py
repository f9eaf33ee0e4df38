"""What a clinician grades on the pages of the service: the items of a sample in their order, and one item's texts."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agent.calibration.make_calibration import read_common_rubric, shuffle_items
from agent.calibration.sheet import parse_grade
from agent.errors import ConfigError
from agent.scoring.jury_scores import read_judged_answer
from agent.scoring.measures import Rules
from agent.vocabulary import Instance, Scale

if TYPE_CHECKING:
    from agent.store import Calibration, Rater, Store

_MOST_STEPS = (
    10  # a longer scale is a field for a number, because nobody tabs through so many choices
)


@dataclass(frozen=True, slots=True)
class Question:
    """One criterion as a clinician reads it. `words` is empty if only the judges' prompt explains it."""

    criterion: str
    words: str


@dataclass(frozen=True, slots=True)
class GradingForm:
    """What is asked about each answer.

    Attributes:
        questions: the criteria, in order.
        scale: the scale of the grades.
        steps: the whole numbers of the scale; empty if it has other ends or too many steps to choose from.
        prompt: the judges' own prompt, which explains the grades; empty if they have none.
    """

    questions: tuple[Question, ...]
    scale: Scale
    steps: tuple[int, ...]
    prompt: str


@dataclass(frozen=True, slots=True)
class GradedText:
    """The texts of one item, not redacted.

    Attributes:
        instance: the question with its references.
        answer: the answer as the judges read it.
    """

    instance: Instance
    answer: str


@dataclass(frozen=True, slots=True)
class GradingProgress:
    """How far a clinician is.

    Attributes:
        order: the items in the order in which this clinician sees them.
        saved: how many of them are saved.
        next: the first item that is not saved; None if all are.
    """

    order: tuple[str, ...]
    saved: int
    next: str | None

    def find_neighbours(self, item: str) -> tuple[str | None, str | None]:
        """Return the items before and after `item`."""
        position = self.order.index(item)
        before = self.order[position - 1] if position else None
        after = self.order[position + 1] if position + 1 < len(self.order) else None
        return before, after

    def find_following(self, item: str, saved: tuple[str, ...]) -> str | None:
        """Return the next item that is not saved, after `item` or else from the start; None if all are."""
        position = self.order.index(item) + 1
        return next(
            (code for code in self.order[position:] + self.order if code not in saved), None
        )


def measure_progress(calibration: "Calibration", rater: "Rater") -> GradingProgress:
    """Return how far a clinician is, with the items in their order."""
    plan = calibration.plan
    order = shuffle_items(list(plan["items"]), plan["seed"], rater.number)
    remaining = [item for item in order if item not in rater.saved]
    return GradingProgress(
        tuple(order), len(order) - len(remaining), remaining[0] if remaining else None
    )


def begin_grading(store: "Store", calibration: "Calibration", account: str, name: str) -> "Rater":
    """Make an account a clinician of a sample, or return it if it is one already.

    Raises:
        ConfigError: the sample has as many clinicians as it was made for, or a sheet was imported under this name.
    """
    with store.transaction():
        joined = store.calibrations.find_account(calibration.name, account)
        if joined is not None:
            return joined
        if not has_room(store, calibration):
            raise ConfigError(
                f"calibration {calibration.name} has as many clinicians as it was made for",
                "Whoever made it can make another one for more clinicians.",
            )
        rater = store.calibrations.join(calibration.name, account, name)
        store.audit.record("calibration grading begun", f"name={calibration.name}", account)
    return rater


def has_room(store: "Store", calibration: "Calibration") -> bool:
    """Return whether a sample has fewer clinicians than it was made for."""
    wanted: int = calibration.plan["raters"]
    return len(store.calibrations.read_raters(calibration.name)) < wanted


def finish_grading(store: "Store", calibration: "Calibration", account: str) -> None:
    """Lock an account's grades.

    The audit log does not say which number (R1, R2, ...) the account has in the report.

    Raises:
        ConfigError: nothing is graded yet, or the account has finished or has not begun.
    """
    with store.transaction():
        rater = store.calibrations.find_account(calibration.name, account)
        if rater is not None and not rater.grades:
            raise ConfigError("you have not graded any answer yet", "Grade at least one answer.")
        store.calibrations.finish(calibration.name, account)
        graded = len(rater.grades) if rater is not None else 0
        detail = f"name={calibration.name} items={graded}"
        store.audit.record("calibration grading finished", detail, account)


def read_grading_form(store: "Store", calibration: "Calibration") -> GradingForm:
    """Return what is asked about each answer, in the words of the runs that gave the answers.

    Raises:
        ConfigError: none of these runs exists any longer.
    """
    plan = calibration.plan
    of_sample = {planned["run"] for planned in plan["items"].values()}
    runs = [run for run in store.runs.select(plan["suite"]) if run.run_id in of_sample]
    if not runs:
        raise ConfigError(
            f"the runs of calibration {calibration.name} do not exist any longer",
            "Make a new calibration.",
        )
    measure, rubric = read_common_rubric(runs)
    questions = [
        Question(criterion, measure.use.criteria.get(criterion, ""))
        for criterion in plan["criteria"]
    ]
    return GradingForm(
        questions=tuple(questions),
        scale=rubric.scale,
        steps=_list_steps(rubric.scale),
        prompt=measure.use.prompt,
    )


def _list_steps(scale: Scale) -> tuple[int, ...]:
    has_whole_ends = float(scale.low).is_integer() and float(scale.high).is_integer()
    if not has_whole_ends or scale.high - scale.low > _MOST_STEPS:
        return ()
    return tuple(range(int(scale.low), int(scale.high) + 1))


def read_item(store: "Store", calibration: "Calibration", item: str) -> GradedText | None:
    """Return the texts of one item; None if they were purged, or if its run has a different answer now.

    Raises:
        ConfigError: the sample has no such item.
    """
    planned = calibration.plan["items"].get(item)
    if planned is None:
        raise ConfigError(
            "this calibration has no such answer", "Open it from the list of calibrations."
        )
    run = store.runs.find(planned["run"])
    if run is None:
        return None
    rules = Rules.of_run(run.details)
    for stored in store.answers.read_each_instance(run.run_id, [planned["position"]]):
        if stored.instance is None or stored.response is None:
            return None
        mark = store.identities.answer_mark(stored.response.text)
        if stored.request_key.hex() != planned["request"] or mark != planned["answer"]:
            return None
        answer = read_judged_answer(rules, stored.response)
        return GradedText(stored.instance, answer) if isinstance(answer, str) else None
    return None


def parse_grades(form: GradingForm, given: Mapping[str, Any]) -> dict[str, float]:
    """Return the grade of each criterion; a criterion with an empty text has none.

    Args:
        form: what is asked.
        given: criterion -> the text of its grade; empty for a clinician who cannot decide.

    Raises:
        ConfigError: a criterion has no text at all, or one that is not a grade on the scale.
    """
    grades: dict[str, float] = {}
    for question in form.questions:
        text = given.get(question.criterion)
        if text is None:
            raise ConfigError(
                f"{question.criterion} has no grade", "Choose a grade, or “cannot judge”."
            )
        if not text:
            continue
        grade = parse_grade(text, form.scale)
        if grade is None:
            low, high = form.scale.low, form.scale.high
            raise ConfigError(
                f"the grade of {question.criterion} is not a number from {low:g} to {high:g}",
                "Correct it, or leave the field empty if you cannot judge.",
            )
        grades[question.criterion] = grade
    return grades
