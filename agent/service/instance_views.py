"""Build the pages of a run's instances: lists of twenty, filtered by outcome, and a page for each instance.

Patients' texts pass through a `Clearer`, so views contain them only as `Redacted`. Filters and counts use scores alone.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from agent.exchange.shown_names import ShownNames
from agent.redaction.gateway.cases import ClearedCase, Clearer
from agent.redaction.gateway.judgements import read_seat_judgements
from agent.redaction.redacted import Redacted
from agent.scoring.measures import HELM_TWIN
from agent.scoring.readings import describe_other_version
from agent.service.answer_readings import read_stored_answers
from agent.service.comparison_views import list_shared_positions
from agent.service.heads import RunHead, build_run_head
from agent.service.instance_lists import ScoreRange, read_score_range
from agent.service.reasons import REASONS
from agent.service.words import find_word
from agent.store import RETRIED, KeptMetric, Run, Store
from agent.store.outcomes import OutcomeCounts, Selection
from agent.vocabulary import Reason, Unscored

INSTANCES_PER_PAGE = 20
ALL = "instances"

Outcome = Literal["right", "wrong", "scored", "unscored", "counted"]

_SELECTIONS: Mapping[str, Selection] = {
    "right": "top",
    "wrong": "bottom",
    "lowest": "ascending",
    "highest": "descending",
    "unscored": "unscored",
}


@dataclass(frozen=True, slots=True)
class InstanceFilter:
    """A list of some of a run's instances.

    Attributes:
        stem: beginning of its pages' names, such as "instances-wrong".
        label: its name for people.
        count: the number of its instances.
    """

    stem: str
    label: str
    count: int


@dataclass(frozen=True, slots=True)
class CaseView:
    """One instance.

    Attributes:
        case: its cleared texts and scores.
        status: the reason why there is no answer to show, or empty if there is one.
        outcome: its outcome under the listed metric. An instance of a whole-run metric is "counted" or "unscored".
        score: its score under that metric; None if it has none.
        reason: why it has no score, as pages call it; empty if it has one.
        reason_code: the same as programs call it.
        read: what that metric read from the answer; None if that is the whole text or may not be shown.
        why: why it has this outcome, in sentences.
        titles: what pages call the run's metrics, by their names.
    """

    case: ClearedCase
    status: str
    outcome: Outcome
    score: float | None
    reason: str
    reason_code: str
    read: Redacted | None
    why: str
    titles: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class InstancesPage:
    """One page of a list of a run's instances. Pages are numbered from 1.

    Attributes:
        metric: display name of the metric whose outcomes are listed.
        stem: beginning of the names of this list's pages.
        label: the list's name for people.
        count: the number of its instances.
        filters: all lists of the run that are not empty; none in pages written as files.
        has_own_pages: whether each instance has a page of its own, as on a server.
        scale: the lowest and the highest possible score, if instances can be listed by their scores; else None.
        between: the scores of the listed instances; None for another list.
        withheld: the number of texts on this page that are withheld.
        note: why the page does not show what was read from the answers; empty if it does.
    """

    run: RunHead
    page: int
    pages: int
    cases: tuple[CaseView, ...]
    withheld: int
    note: str
    metric: str
    stem: str
    label: str
    count: int
    filters: tuple[InstanceFilter, ...]
    has_own_pages: bool
    scale: tuple[float, float] | None
    between: ScoreRange | None


@dataclass(frozen=True, slots=True)
class InstancePage:
    """The page of one instance; `instances` is their number in the run. The other fields are those of a list."""

    run: RunHead
    shown: CaseView
    instances: int
    withheld: int
    note: str
    metric: str


@dataclass(frozen=True, slots=True)
class _Listed:
    """A run, the metric whose outcomes are listed, and their numbers."""

    run: Run
    metric: KeptMetric
    counts: OutcomeCounts


def count_instance_pages(store: Store, run: Run) -> int:
    """Return the number of pages of the list of all of a run's instances, at least one."""
    return _count_pages(store.answers.count_instances(run.run_id))


def build_instances_page(
    store: Store,
    run: Run,
    stem: str,
    page: int,
    clearer: Clearer,
    names: ShownNames,
    *,
    served: bool,
) -> InstancesPage | None:
    """Build one page of a list of instances with all texts redacted; None if the run has no such page.

    Args:
        store: the site's store.
        run: the run.
        stem: the list, as in `InstanceFilter.stem`.
        page: number of the page, from 1.
        clearer: redacts the texts.
        names: replacements for names of the run.
        served: whether a server shows the page, which then leads to lists and pages that are not written as files.
    """
    listed = _open_list(store, run)
    filters = tuple(_list_filters(listed))
    chosen = _find_list(store, listed, filters, stem)
    if chosen is None:
        return None
    pages = _count_pages(chosen.count)
    if not 1 <= page <= pages:
        return None
    positions = _select_positions(store, listed, stem, (page - 1) * INSTANCES_PER_PAGE)
    shown_run = names.show_run(run)
    withheld_before = clearer.withheld
    cases = _clear_cases(store, listed, shown_run, positions, clearer)
    return InstancesPage(
        run=build_run_head(shown_run),
        page=page,
        pages=pages,
        cases=tuple(cases),
        withheld=clearer.withheld - withheld_before,
        note=describe_other_version(shown_run),
        metric=_find_title(listed.metric),
        stem=stem,
        label=chosen.label,
        count=chosen.count,
        filters=filters if served else (),
        has_own_pages=served,
        scale=_find_scale(listed) if served else None,
        between=read_score_range(stem),
    )


def build_instance_page(
    store: Store, run: Run, number: int, clearer: Clearer, names: ShownNames
) -> InstancePage | None:
    """Build the page of one instance, numbered from 1; None if the run has no such instance."""
    listed = _open_list(store, run)
    if not 1 <= number <= listed.counts.instances:
        return None
    shown_run = names.show_run(run)
    withheld_before = clearer.withheld
    (case,) = _clear_cases(store, listed, shown_run, [number - 1], clearer)
    return InstancePage(
        run=build_run_head(shown_run),
        shown=case,
        instances=listed.counts.instances,
        withheld=clearer.withheld - withheld_before,
        note=describe_other_version(shown_run),
        metric=_find_title(listed.metric),
    )


@dataclass(frozen=True, slots=True)
class Hit:
    """An instance in whose texts some words stand.

    Attributes:
        shown: the instance.
        part: the part of it in which they stand first.
        text: the whole text of that part, redacted.
    """

    shown: CaseView
    part: str
    text: Redacted


@dataclass(frozen=True, slots=True)
class FoundPage:
    """The instances of a list in whose redacted texts some words stand, as far as the list was searched.

    Attributes:
        found: the instances.
        searched: how many instances of the list were searched, from `start` on.
        start: how many instances of the list stand before those that were searched.
        instances: the number of instances in the list.
        label, stem: those of the list, as in `InstanceFilter`.
    """

    run: RunHead
    found: tuple[Hit, ...]
    searched: int
    start: int
    instances: int
    label: str
    stem: str

    @property
    def next_start(self) -> int | None:
        """Where the search goes on; None if it reached the end of the list."""
        end = self.start + self.searched
        return end if end < self.instances else None


def search_instances(
    store: Store,
    run: Run,
    words: str,
    stem: str,
    start: int,
    clearer: Clearer,
    names: ShownNames,
    may_go_on: Callable[[], bool],
) -> FoundPage | None:
    """Search the redacted texts of a list of a run's instances; None if the run has no such list.

    Only redacted text is compared, so that neither the outcome nor its time tells whether an identifier stands there.

    Args:
        store, run, stem, clearer, names: as for `build_instances_page`.
        words: what is searched for, in any case.
        start: how many instances of the list are passed over.
        may_go_on: is asked before each twenty instances but the first.
    """
    listed = _open_list(store, run)
    chosen = _find_list(store, listed, tuple(_list_filters(listed)), stem)
    if chosen is None:
        return None
    shown_run = names.show_run(run)
    folded = words.casefold()
    found: list[Hit] = []
    place = start
    while place < chosen.count and len(found) < INSTANCES_PER_PAGE:
        if place > start and not may_go_on():
            break
        positions = _select_positions(store, listed, stem, place)
        for case in _clear_cases(store, listed, shown_run, positions, clearer):
            hit = _find_hit(case, folded)
            if hit is not None:
                found.append(hit)
        place += INSTANCES_PER_PAGE
    searched = max(0, min(place, chosen.count) - start)
    head = build_run_head(shown_run)
    return FoundPage(head, tuple(found), searched, start, chosen.count, chosen.label, stem)


def _find_hit(shown: CaseView, folded: str) -> Hit | None:
    """Return the first text of an instance that contains words, which are given without differences of case."""
    for part, text in _iterate_searched_texts(shown.case):
        if folded in text.casefold():
            return Hit(shown, part, text)
    return None


def _iterate_searched_texts(case: ClearedCase) -> Iterator[tuple[str, Redacted]]:
    """Yield the texts of an instance that a search compares, each with the name of its part."""
    if case.answer:
        yield "answer", case.answer
    if case.reasoning:
        yield "reasoning", case.reasoning
    for message in case.prompt or ():
        yield "prompt", message.text
    for reference in case.references or ():
        yield "option" if reference.letter else "reference", reference.text


@dataclass(frozen=True, slots=True)
class AnswerPair:
    """The answers of two runs to one instance."""

    a: CaseView
    b: CaseView


@dataclass(frozen=True, slots=True)
class BesidePage:
    """One page of the answers of two runs side by side, the greatest difference of scores first.

    Attributes:
        instances: number of instances that both runs asked.
        differing: number of those with different scores.
        stem: beginning of the names of these pages. The other fields are those of a list.
    """

    run: RunHead
    other: RunHead
    instances: int
    differing: int
    page: int
    pages: int
    pairs: tuple[AnswerPair, ...]
    withheld: int
    metric: str
    stem: str


def build_beside_page(
    store: Store, run: Run, other: Run, page: int, clearer: Clearer, names: ShownNames
) -> BesidePage | None:
    """Build one page of the answers of two runs side by side; None if there is no such page."""
    listed = _open_list(store, run)
    metric = listed.metric
    if run.benchmark != other.benchmark or other.details.find_metric(metric.name) is None:
        return None
    shared, differing = list_shared_positions(store, run, other, metric.name)
    pages = _count_pages(len(shared))
    if not 1 <= page <= pages:
        return None
    first = (page - 1) * INSTANCES_PER_PAGE
    positions = shared[first : first + INSTANCES_PER_PAGE]
    withheld_before = clearer.withheld
    shown_run, shown_other = names.show_run(run), names.show_run(other)
    cases_a = _clear_cases(store, listed, shown_run, [a for a, _ in positions], clearer)
    listed_b = replace(listed, run=other)
    cases_b = _clear_cases(store, listed_b, shown_other, [b for _, b in positions], clearer)
    return BesidePage(
        run=build_run_head(shown_run),
        other=build_run_head(shown_other),
        instances=len(shared),
        differing=differing,
        page=page,
        pages=pages,
        pairs=tuple(AnswerPair(a, b) for a, b in zip(cases_a, cases_b, strict=True)),
        withheld=clearer.withheld - withheld_before,
        metric=_find_title(metric),
        stem=f"instances-beside-{other.run_id}",
    )


def _count_pages(instances: int) -> int:
    return max(1, math.ceil(instances / INSTANCES_PER_PAGE))


def _open_list(store: Store, run: Run) -> _Listed:
    """Return the run with its main metric or, while a jury has graded nothing, the first metric with scores."""
    listed = []
    for metric in run.details.metrics:
        candidate = _Listed(run, metric, store.outcomes.count(run.run_id, metric))
        if candidate.counts.scored or metric.whole_run:
            return candidate
        listed.append(candidate)
    return listed[0]


def _find_title(metric: KeptMetric) -> str:
    return metric.display_name or metric.name


def _list_titles(metrics: Iterable[KeptMetric]) -> dict[str, str]:
    """Return what pages call each of a run's metrics, by its name. No two are called the same."""
    titles: dict[str, str] = {}
    for metric in metrics:
        title = _find_title(metric)
        if title in titles.values():
            is_twin = metric.name.endswith(HELM_TWIN)
            title = f"{title} by HELM’s rules" if is_twin else f"{title} ({metric.name})"
        titles[metric.name] = title
    return titles


def _list_filters(listed: _Listed) -> Iterator[InstanceFilter]:
    """Yield the lists of a run that lead somewhere: those that are not empty, and that of all instances."""
    counts = listed.counts
    for choice in _list_outcomes(listed):
        if choice.stem == ALL or choice.count:
            yield choice
    if len(counts.unscored) > 1:
        yield _list_unscored(listed)
    for reason, number in sorted(counts.unscored.items()):
        label = f"Unscored: {find_word(reason, 'reason')}"
        yield InstanceFilter(f"{ALL}-unscored-{reason}", label, number)


def _list_outcomes(listed: _Listed) -> Iterator[InstanceFilter]:
    counts = listed.counts
    yield InstanceFilter(ALL, "All", counts.instances)
    if listed.metric.binary and not listed.metric.whole_run:
        yield InstanceFilter(f"{ALL}-right", "Right", counts.top)
        yield InstanceFilter(f"{ALL}-wrong", "Wrong", counts.bottom)
    else:
        yield InstanceFilter(f"{ALL}-lowest", "Lowest score first", counts.scored)
        yield InstanceFilter(f"{ALL}-highest", "Highest score first", counts.scored)


def _list_unscored(listed: _Listed) -> InstanceFilter:
    return InstanceFilter(f"{ALL}-unscored", "Unscored", sum(listed.counts.unscored.values()))


def _find_list(
    store: Store, listed: _Listed, filters: Sequence[InstanceFilter], stem: str
) -> InstanceFilter | None:
    """Return the list of a name; None if the run has no such list. A list may be empty."""
    between = read_score_range(stem)
    if between is None:
        known = (*filters, *_list_outcomes(listed), _list_unscored(listed))
        return next((choice for choice in known if choice.stem == stem), None)
    count = store.outcomes.count_between(
        listed.run.run_id, listed.metric, between.low, between.high
    )
    return InstanceFilter(stem, between.label, count)


def _find_scale(listed: _Listed) -> tuple[float, float] | None:
    """Return the ends of the metric's scale; None if its scores say no more than the lists by outcome."""
    metric = listed.metric
    if metric.binary or metric.whole_run or not listed.counts.scored:
        return None
    return metric.low, metric.high


def _select_positions(store: Store, listed: _Listed, stem: str, offset: int) -> list[int]:
    if stem == ALL:
        last = min(offset + INSTANCES_PER_PAGE, listed.counts.instances)
        return list(range(offset, last))
    between = read_score_range(stem)
    if between is not None:
        return store.outcomes.list_between(
            listed.run.run_id,
            listed.metric,
            between.low,
            between.high,
            offset,
            INSTANCES_PER_PAGE,
        )
    _, name, *reason = stem.split("-")
    return store.outcomes.list_positions(
        listed.run.run_id,
        listed.metric,
        _SELECTIONS[name],
        offset,
        INSTANCES_PER_PAGE,
        reason[0] if reason else None,
    )


def _clear_cases(
    store: Store, listed: _Listed, shown_run: Run, positions: list[int], clearer: Clearer
) -> list[CaseView]:
    """Return the instances at these positions, in this order."""
    run = listed.run
    instances = list(store.answers.read_each_instance(run.run_id, sorted(positions)))
    judgements = read_seat_judgements(store, shown_run, instances)
    readings = read_stored_answers(run, instances)
    cases = clearer.clear(run.run_id, instances, judgements, readings)
    by_position = {case.position: _build_case(listed, case) for case in cases}
    return [by_position[position] for position in positions if position in by_position]


def _build_case(listed: _Listed, case: ClearedCase) -> CaseView:
    metric = listed.metric
    given = case.scores.get(metric.name)
    reason = given.reason if isinstance(given, Unscored) else None
    if given is None and not (metric.whole_run and case.answer is not None):
        reason = Reason.NOT_ASKED
    score = None if isinstance(given, Unscored) else given
    outcome = _find_outcome(metric, score, reason)
    return CaseView(
        case=case,
        status=_describe_status(case),
        outcome=outcome,
        score=score,
        reason="" if reason is None else find_word(reason, "reason"),
        reason_code="" if reason is None else reason.value.replace("_", " "),
        read=_find_read(metric, case),
        why=_explain_outcome(metric, case, score, reason),
        titles=_list_titles(listed.run.details.metrics),
    )


def _find_outcome(metric: KeptMetric, score: float | None, reason: Reason | None) -> Outcome:
    if reason is not None:
        return "unscored"
    if score is None:
        return "counted"
    if not metric.binary:
        return "scored"
    return "right" if score >= metric.high else "wrong"


def _find_read(metric: KeptMetric, case: ClearedCase) -> Redacted | None:
    """Return what the metric read from the answer, if it may be shown."""
    title = _find_title(metric)
    for reading in case.readings:
        if title in reading.metrics:
            return reading.value
    return None


def _explain_outcome(
    metric: KeptMetric, case: ClearedCase, score: float | None, reason: Reason | None
) -> str:
    title = _find_title(metric)
    if reason is not None:
        return f"{title}: no score. {REASONS[reason]}"
    if score is None:
        return f"{title} is computed over the whole run; this answer counts for it."
    range_words = f"{title}: {score:.3g} on a scale from {metric.low:g} to {metric.high:g}."
    if metric.jury is not None:
        return f"{range_words} It is the mean of the judges' valid verdicts."
    if case.likelihoods:
        return f"{range_words} The likeliest option counts as the answer."
    if not case.readings:
        return range_words
    if _find_read(metric, case) is None:
        return f"{range_words} It compares the answer with the reference."
    return f"{range_words} It compares what was read with the reference."


def _describe_status(case: ClearedCase) -> str:
    """Return the reason why an instance has no answer to show, or an empty string if it has one."""
    if case.answer is not None:
        return ""
    for score in case.scores.values():
        if isinstance(score, Unscored) and score.reason in RETRIED:
            return f"No answer: {find_word(score.reason, 'reason')}."
    if case.prompt is None:
        return "The texts were purged; the scores were kept."
    return "No answer is stored: it was purged, or the question has not been asked yet."
