"""Collect the ratings of the same answers by clinicians, juries, judges and text-overlap metrics in one table."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from agent.calibration.make_calibration import find_jury_measure
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
_KINDS = ("clinician", "jury", "judge", "metric")  # in column order

_Values = dict[str, float]  # criterion, or OVERALL -> number


@dataclass(frozen=True, slots=True)
class Grader:
    """A source of ratings: a clinician (R1, R2, ...), the jury, one of its judges, or a text-overlap metric.

    If the runs have different juries, the juries are named `jury 1`, `jury 2` and so on. Metrics with different options
    are numbered in the same way.
    """

    name: str
    kind: Literal["clinician", "jury", "judge", "metric"]


@dataclass(frozen=True, slots=True)
class RatingTable:
    """The ratings of a sample's items by every grader.

    Attributes:
        criteria: names of the criteria, without OVERALL.
        graders: the columns, in this order: clinicians, jury, judges, metrics.
        units: the patient or document of each row.
        values: rows of ratings by criterion, and under OVERALL the mean over all criteria. A metric has one value per
            answer, which is repeated for every criterion.
        changed: number of items left out because their run was repeated and the answer changed or disappeared.
        purged: number of items whose answer was purged, so that only the question could be compared.
        unfinished: number of clinicians left out because they have not finished on the pages of the service.
    """

    criteria: tuple[str, ...]
    graders: tuple[Grader, ...]
    units: tuple[bytes, ...]
    values: Mapping[str, Ratings]
    changed: int
    purged: int
    unfinished: int = 0

    def list_columns(self, *kinds: str) -> list[int]:
        """Return the indexes of the columns whose graders are of these kinds."""
        return [column for column, grader in enumerate(self.graders) if grader.kind in kinds]


@dataclass(frozen=True, slots=True)
class _UnchangedItems:
    """The items whose answers are still those that clinicians saw; `changed` and `purged` as in `RatingTable`."""

    items: list[str]
    changed: int
    purged: int


@dataclass(frozen=True, slots=True)
class _SampledRun:
    """A run, and those of its answers that are items of the sample, by position."""

    run: "Run"
    items: dict[int, str]


@dataclass(frozen=True, slots=True)
class _MachineRating:
    """The values that a jury, a judge or a metric gave to one answer of a run."""

    grader: Grader
    position: int
    values: _Values


def build_rating_table(store: "Store", calibration: "Calibration") -> RatingTable:
    """Return the ratings of a sample's items by all graders."""
    plan = calibration.plan
    criteria = tuple(plan["criteria"])
    unchanged = _find_unchanged_items(store, plan["items"])
    ratings: dict[Grader, dict[str, _Values]] = {}
    raters = store.calibrations.read_raters(calibration.name)
    for rater in raters:
        # Whoever still grades must not learn how their grades compare with those of others.
        if not rater.finished:
            continue
        grader = Grader(f"R{rater.number}", "clinician")
        ratings[grader] = {
            item: _add_overall(rater.grades.get(item, {}), criteria) for item in unchanged.items
        }

    sampled_runs = _list_sampled_runs(store, plan, unchanged.items)
    variants = _list_variants([sampled.run for sampled in sampled_runs])
    units: dict[str, bytes] = {}
    for sampled in sampled_runs:
        unit_prefix = build_unit_prefix(sampled.run)
        scores = store.scores.read_units(sampled.run.run_id, plan["metric"])
        for position, item in sampled.items.items():
            units[item] = unit_prefix + scores[position].unit_key
        for rating in _read_machine_ratings(store, sampled.run, criteria, variants):
            if rating.position in sampled.items:
                item = sampled.items[rating.position]
                ratings.setdefault(rating.grader, {})[item] = rating.values

    graders = tuple(sorted(ratings, key=lambda grader: _KINDS.index(grader.kind)))
    values: dict[str, Ratings] = {}
    for criterion in (*criteria, OVERALL):
        values[criterion] = [
            [ratings[grader].get(item, {}).get(criterion) for grader in graders]
            for item in unchanged.items
        ]
    return RatingTable(
        criteria=criteria,
        graders=graders,
        units=tuple(units[item] for item in unchanged.items),
        values=values,
        changed=unchanged.changed,
        purged=unchanged.purged,
        unfinished=sum(not rater.finished for rater in raters),
    )


def _find_unchanged_items(
    store: "Store", items: Mapping[str, Mapping[str, object]]
) -> _UnchangedItems:
    items_by_run: dict[str, dict[int, str]] = {}
    for item, planned in items.items():
        items_of_run = items_by_run.setdefault(str(planned["run"]), {})
        items_of_run[int(str(planned["position"]))] = item
    unchanged: set[str] = set()
    purged = 0
    for run_id, items_of_run in items_by_run.items():
        for stored in store.answers.read_each_instance(run_id, sorted(items_of_run)):
            item = items_of_run[stored.position]
            if stored.request_key.hex() != items[item]["request"]:
                continue
            if stored.response is None:
                # A purged answer cannot be compared, so an unchanged question must suffice.
                purged += 1
            elif store.identities.answer_mark(stored.response.text) != items[item]["answer"]:
                continue
            unchanged.add(item)
    in_order = [item for item in items if item in unchanged]
    return _UnchangedItems(in_order, changed=len(items) - len(in_order), purged=purged)


def _list_sampled_runs(
    store: "Store", plan: Mapping[str, Any], items: Sequence[str]
) -> list[_SampledRun]:
    """Return the runs of the sample's benchmark that contain at least one of the `items`."""
    sampled_runs: list[_SampledRun] = []
    for run in store.runs.select(plan["suite"]):
        if run.benchmark != plan["benchmark"]:
            continue
        positions: dict[int, str] = {}
        for item in items:
            planned = plan["items"][item]
            if planned["run"] == run.run_id:
                positions[planned["position"]] = item
        if positions:
            sampled_runs.append(_SampledRun(run, positions))
    return sampled_runs


# For the name of each measure, the different variants of the measure in these runs, in order.
_Variants = Mapping[str, Sequence[str]]


def _list_variants(runs: "Sequence[Run]") -> _Variants:
    variants: dict[str, dict[str, None]] = {}
    for run in runs:
        for measure in Rules.of_run(run.details).measures:
            if measure.name in WORD_METRICS or measure.use.judges:
                variants.setdefault(measure.name, {})[_describe_variant(measure)] = None
    return {name: list(descriptions) for name, descriptions in variants.items()}


def _describe_variant(measure: Measure) -> str:
    """Return a text that identifies the options and the jury of a measure."""
    metric = measure.to_keep()
    jury = () if metric.jury is None else (identify_jury(metric.jury), compute_quorum(measure.use))
    return repr((sorted(metric.options.items()), jury))


def _name_variant(name: str, measure: Measure, variants: _Variants) -> str:
    """Return `name`, with a number appended if these runs have several variants of the measure."""
    descriptions = variants.get(measure.name, ())
    if len(descriptions) < 2:
        return name
    return f"{name} {descriptions.index(_describe_variant(measure)) + 1}"


def _read_machine_ratings(
    store: "Store", run: "Run", criteria: Sequence[str], variants: _Variants
) -> Iterator[_MachineRating]:
    """Yield the ratings of a run's answers by its jury, judges and text-overlap metrics."""
    rules = Rules.of_run(run.details)
    jury_measure = find_jury_measure(rules)
    if jury_measure is None:
        return
    yield from _read_jury_ratings(store, run, jury_measure, criteria, variants)
    for measure in rules.measures:
        if measure.name not in WORD_METRICS:
            continue
        name = _name_variant(METRICS[measure.name].display_name, measure, variants)
        for position, score in enumerate(store.scores.read_units(run.run_id, measure.name)):
            if score.value is not None:
                values = dict.fromkeys((*criteria, OVERALL), score.value)
                yield _MachineRating(Grader(name, "metric"), position, values)


def _read_jury_ratings(
    store: "Store", run: "Run", measure: Measure, criteria: Sequence[str], variants: _Variants
) -> Iterator[_MachineRating]:
    jury_name = _name_variant("jury", measure, variants)
    judge_names = list(name_seats(measure.use.judges))
    if jury_name != "jury":
        judge_names = [f"{name} ({jury_name})" for name in judge_names]
    for position, seats in store.juries.read_seats(run.run_id, measure.name).items():
        if jury_values := _compute_jury_values(seats, measure, criteria):
            yield _MachineRating(Grader(jury_name, "jury"), position, jury_values)
        for seat in seats:
            # A stored seat may belong to an earlier, larger jury.
            if seat.grades is not None and seat.seat < len(judge_names):
                grader = Grader(judge_names[seat.seat], "judge")
                yield _MachineRating(grader, position, _add_overall(seat.grades, criteria))


def _compute_jury_values(
    seats: "Sequence[Seat]", measure: Measure, criteria: Sequence[str]
) -> _Values:
    """Return the jury's mean grades, or nothing if there is no quorum of valid verdicts."""
    score = compute_jury_score(seats, measure.use)
    verdicts = [seat.grades for seat in seats if seat.grades is not None]
    if not isinstance(score, float | int) or len(verdicts) < compute_quorum(measure.use):
        return {}
    values: _Values = {}
    for criterion in criteria:
        grades = [verdict[criterion] for verdict in verdicts if criterion in verdict]
        if grades:
            values[criterion] = sum(grades) / len(grades)
    values[OVERALL] = float(score)
    return values


def _add_overall(grades: Mapping[str, float], criteria: Sequence[str]) -> _Values:
    """Return the grades, and their mean under OVERALL if every criterion has a grade."""
    values = {criterion: float(grades[criterion]) for criterion in criteria if criterion in grades}
    if len(values) == len(criteria):
        values[OVERALL] = sum(values.values()) / len(criteria)
    return values
