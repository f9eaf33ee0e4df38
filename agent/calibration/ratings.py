"""What clinicians gave a sample, and what jury, judges and word metrics gave the same answers, as one table."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from agent.calibration.making import jury_measure
from agent.jury.seats import compute_jury_score, compute_quorum, name_seats
from agent.metrics import METRICS
from agent.results.comparability import build_unit_prefix
from agent.results.judge_agreement import identify_jury
from agent.scoring.measures import Measure, Rules
from agent.statistics.agreement import Ratings

if TYPE_CHECKING:
    from agent.store import Calibration, Run, Seat, Store

OVERALL = "(all)"  # the mean over all criteria
WORD_METRICS = ("rouge_l", "BERTScore-F")

_Values = dict[str, float]  # criterion, or OVERALL -> number


@dataclass(frozen=True, slots=True)
class Grader:
    """Who or what gave numbers: a clinician (R1, R2, ...), the jury, one of its judges, or a metric of words.

    Where runs had different juries these are `jury 1`, `jury 2`; and so are metrics with different options.
    """

    name: str
    kind: Literal["clinician", "jury", "judge", "metric"]


@dataclass(frozen=True, slots=True)
class RatingTable:
    """All that is known of a sample's items.

    Attributes:
        criteria: names; beside them there is OVERALL, the mean of all criteria of one item and grader.
        graders: the columns: clinicians, jury, judges, metrics.
        units: of each row: the patient or document.
        values: criterion or OVERALL -> rows of items. A metric has one number for an answer, the same under each.
        changed: items left out because their run was made again since, with another answer or without it.
        purged: items whose answer was purged, so that only its question could be seen to be the same.
    """

    criteria: tuple[str, ...]
    graders: tuple[Grader, ...]
    units: tuple[bytes, ...]
    values: Mapping[str, Ratings]
    changed: int
    purged: int

    def columns(self, *kinds: str) -> list[int]:
        """Return the places of the graders of these kinds."""
        return [place for place, grader in enumerate(self.graders) if grader.kind in kinds]


def rating_table(store: "Store", calibration: "Calibration") -> RatingTable:
    """Put together what every grader gave every item of a sample."""
    plan = calibration.plan
    criteria = tuple(plan["criteria"])
    same, changed, purged = _same_answers(store, plan["items"])
    found: dict[Grader, dict[str, _Values]] = {}
    for rater in store.calibrations.read_raters(calibration.name):
        grader = Grader(f"R{rater.number}", "clinician")
        found[grader] = {item: _with_overall(rater.grades.get(item, {}), criteria) for item in same}
    units: dict[str, bytes] = {}
    runs: list[tuple[Run, dict[int, str]]] = []
    for run in (run for run in store.runs.select(plan["suite"]) if run.benchmark == plan["benchmark"]):
        items = {plan["items"][item]["position"]: item for item in same if plan["items"][item]["run"] == run.run_id}
        if items:
            runs.append((run, items))
    versions = _versions([run for run, _ in runs])
    for run, items in runs:
        scores = store.scores.read_units(run.run_id, plan["metric"])
        units |= {item: build_unit_prefix(run) + scores[position].unit_key for position, item in items.items()}
        for grader, position, values in _machines(store, run, criteria, versions):
            if position in items:
                found.setdefault(grader, {})[items[position]] = values
    order = ("clinician", "jury", "judge", "metric")
    graders = tuple(sorted(found, key=lambda grader: order.index(grader.kind)))
    ratings: dict[str, Ratings] = {
        criterion: [[found[grader].get(item, {}).get(criterion) for grader in graders] for item in same]
        for criterion in (*criteria, OVERALL)
    }
    return RatingTable(criteria, graders, tuple(units[item] for item in same), ratings, changed, purged)


def _same_answers(store: "Store", items: Mapping[str, Mapping[str, object]]) -> tuple[list[str], int, int]:
    """Return the items that still are what clinicians saw, how many are not, and of how many the answer is gone."""
    by_run: dict[str, dict[int, str]] = {}
    for item, place in items.items():
        by_run.setdefault(str(place["run"]), {})[int(str(place["position"]))] = item
    same: set[str] = set()
    purged = 0
    for run_id, by_position in by_run.items():
        for stored in store.answers.read_each_instance(run_id, sorted(by_position)):
            item = by_position[stored.position]
            if stored.request_key.hex() != items[item]["request"]:
                continue
            if stored.response is None:
                purged += 1
            elif store.identities.answer_mark(stored.response.text) != items[item]["answer"]:
                continue
            same.add(item)
    return [item for item in items if item in same], len(items) - len(same), purged


_Versions = Mapping[str, Sequence[str]]  # a measure's name -> everything that it is in these runs


def _versions(runs: "Sequence[Run]") -> _Versions:
    found: dict[str, dict[str, None]] = {}
    for measure in (measure for run in runs for measure in Rules.of_run(run.details).measures):
        if measure.name in WORD_METRICS or measure.use.judges:
            found.setdefault(measure.name, {})[_what(measure)] = None
    return {name: list(each) for name, each in found.items()}


def _what(measure: Measure) -> str:
    """Return what tells the measure from others of its name."""
    metric = measure.to_keep()
    jury = () if metric.jury is None else (identify_jury(metric.jury), compute_quorum(measure.use))
    return repr((sorted(metric.options.items()), jury))


def _label(name: str, measure: Measure, versions: _Versions) -> str:
    known = versions.get(measure.name, ())
    return name if len(known) < 2 else f"{name} {known.index(_what(measure)) + 1}"


def _machines(
    store: "Store", run: "Run", criteria: Sequence[str], versions: _Versions
) -> Iterator[tuple[Grader, int, _Values]]:
    """Yield (who, position, values) of jury, judges and metrics."""
    rules = Rules.of_run(run.details)
    measure = jury_measure(rules)
    if measure is None:
        return
    jury = _label("jury", measure, versions)
    names = [name if jury == "jury" else f"{name} ({jury})" for name in name_seats(measure.use.judges)]
    for position, seats in store.juries.read_seats(run.run_id, measure.name).items():
        if values := _jury_values(seats, measure, criteria):
            yield Grader(jury, "jury"), position, values
        for seat in seats:
            if seat.grades is not None and seat.seat < len(names):
                yield Grader(names[seat.seat], "judge"), position, _with_overall(seat.grades, criteria)
    for one in rules.measures:
        if one.name in WORD_METRICS:
            grader = Grader(_label(METRICS[one.name].display_name, one, versions), "metric")
            for position, score in enumerate(store.scores.read_units(run.run_id, one.name)):
                if score.value is not None:
                    yield grader, position, dict.fromkeys((*criteria, OVERALL), score.value)


def _jury_values(seats: "Sequence[Seat]", measure: Measure, criteria: Sequence[str]) -> _Values:
    """Return the jury's means, where enough of its seats gave a valid verdict."""
    whole = compute_jury_score(seats, measure.use)
    valid = [seat.grades for seat in seats if seat.grades is not None]
    if not isinstance(whole, float | int) or len(valid) < compute_quorum(measure.use):
        return {}
    means = {}
    for criterion in criteria:
        given = [grades[criterion] for grades in valid if criterion in grades]
        if given:
            means[criterion] = sum(given) / len(given)
    return {**means, OVERALL: float(whole)}


def _with_overall(grades: Mapping[str, float], criteria: Sequence[str]) -> _Values:
    """Add the mean over all criteria, if each has a grade."""
    given = {criterion: float(grades[criterion]) for criterion in criteria if criterion in grades}
    return {**given, OVERALL: sum(given.values()) / len(criteria)} if len(given) == len(criteria) else given
