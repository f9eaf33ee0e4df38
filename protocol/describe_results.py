"""Descriptions of results: every figure with its meaning, the rules it obeys, and how it will be published. Pure."""

import functools
from collections.abc import Mapping
from typing import Final

from protocol.capacity import Capacity, measure_capacity
from protocol.cell_codes import HIGH_CODED, LOW_CODED, NOT_RUN, SUPPRESSED
from protocol.description import (
    CODE_WORDS,
    RULE_MEANINGS,
    DescriptionParts,
    Fact,
    FigureRow,
    Knowledge,
    caution_about_data,
    describe_data,
    find_scorecard,
    format_day,
    list_named_facts,
    list_rules,
    name_both,
    show_units,
)
from protocol.disclosure import SPREAD_STEPS, check_result, surplus_cells
from protocol.errors import Code, ProtocolError
from protocol.identity import NONE
from protocol.keys import Algorithm
from protocol.policy import DisclosurePolicy, bucket_range, grid_step, stricter
from protocol.predicates import (
    DatasetPredicate,
    PlanPredicate,
    ResultPredicate,
    Statement,
)
from protocol.registry import Role, Site
from protocol.scorecard import Cell, Scorecard

_BROKEN_BY: Final[Mapping[Code, str]] = {
    Code.BELOW_THRESHOLD: "min_units",
    Code.SMALL_COUNT: "min_events",
    Code.EXTREME_VALUE: "min_events",
    Code.OFF_GRID: "grid_units",
    Code.TOO_MANY_METRICS: "metrics_per_group",
    Code.OPEN_MARGIN: "margin_hidden",
}
_SEEN_IN_A_RESULT: Final = frozenset(
    {
        *("min_units", "min_events", "grid_units", "metrics_per_group", "variables_per_benchmark"),
        *("margin_hidden", "max_share_percent"),
    }
)


def describe_result(result: ResultPredicate, site: Site, knowledge: Knowledge) -> DescriptionParts:
    """Describe the figures of one model for one scorecard."""
    registry = knowledge.registry
    card = find_scorecard(result.scorecard, registry)
    federation = registry.policy_for(result.policy)
    policy = stricter(knowledge.own_policy, federation)
    faults, broken = _check_figures(result, card, policy)
    faults += _check_data(result, card, knowledge.earlier)
    previous = _find_previous_result(result, knowledge.earlier)
    before = previous[1] if previous else None
    surplus = {cell.key for cell in surplus_cells(card, policy)}
    figures = [
        _describe_figure(cell, result, before, policy, is_surplus=cell.key in surplus)
        for cell in card.cells
    ]
    if result.approval != "two_person":
        faults.append(
            "approval by exception: the registry names no terms for exceptions and nobody who may grant them"
        )
    datasets = tuple(describe_data(card, result.data, knowledge))
    compared = (
        f"{previous[0]} of {format_day(previous[1].day)}"
        if previous
        else "no earlier release is known here"
    )
    facts = (
        *list_named_facts(result, card, knowledge),
        *datasets,
        *_describe_juries(card, result),
        Fact("plan", _describe_plan_of(result, knowledge)),
        Fact("day", format_day(result.day)),
        Fact("outcome", _describe_outcome(result.outcome)),
        Fact("scores", f"fingerprint {result.scores_root}"),
        Fact("compared with", compared),
    )
    sentences = (
        "The number of units leaves the site only as a range. Noise was added to every protected figure before "
        f"anything was decided (scale {policy.perturbation_units} units), then it was rounded; all decisions use only "
        "the perturbed figure.",
        _describe_publication(site, result.header.site, policy),
        _describe_capacity(card, policy, site),
    )
    return DescriptionParts(
        title=f"Figures of {registry.models[result.model].display_name} for scorecard {card.name} leave the site.",
        facts=facts,
        figures=tuple(figures),
        rules=list_rules(
            knowledge.own_policy,
            federation,
            listed=RULE_MEANINGS,
            seen=_SEEN_IN_A_RESULT,
            broken=broken,
        ),
        sentences=sentences,
        previous=previous[0] if previous else "",
        cautions=tuple(caution_about_data(card, result.data, knowledge)),
        faults=tuple(faults),
    )


def _check_figures(
    result: ResultPredicate, card: Scorecard, policy: DisclosurePolicy
) -> tuple[list[str], dict[str, str]]:
    """Return the faults of a result's figures and the rules they break; raise if the figures cannot be shown."""
    try:
        check_result(result, card, policy)
    except ProtocolError as error:
        if error.code is Code.WRONG_CELLS:
            raise
        words = f"broken ({error.code}: {error.detail})"
        rule = _BROKEN_BY.get(error.code)
        return [f"the figures do not obey the rules ({error.code}: {error.detail})"], {
            rule: words
        } if rule else {}
    return [], {}


def _check_data(
    result: ResultPredicate, card: Scorecard, earlier: Mapping[str, Statement]
) -> list[str]:
    """Return the faults of the datasets that a result names. A dataset that is unknown here is not a fault."""
    faults = []
    for entry in card.benchmarks:
        cells = [cell for cell in card.cells if cell.benchmark == entry.id]
        was_run = any(result.cells[cell.key] != NOT_RUN for cell in cells)
        needs_dataset = was_run and any(cell.protected for cell in cells)
        named = result.data[entry.id]
        if needs_dataset and named == NONE:
            faults.append(f"{entry.id} has protected figures from data that was never registered")
        if not needs_dataset and named != NONE:
            faults.append(f"{entry.id} names a dataset, but has no protected figure from it")
        dataset = earlier.get(named)
        if dataset is None:
            continue
        if not isinstance(dataset, DatasetPredicate) or dataset.definition != entry.definition:
            faults.append(f"{entry.id} names a statement that is not a dataset for this benchmark")
        elif result.groups[entry.id] > dataset.units:
            faults.append(f"{entry.id} reports more units than its registered dataset has")
    return faults


def _find_previous_result(
    result: ResultPredicate, earlier: Mapping[str, Statement]
) -> tuple[str, ResultPredicate] | None:
    """Return digest and content of the latest earlier result for the same model and scorecard, or None."""
    position = (result.header.epoch, result.header.seq)
    newest = None
    for statement_digest, statement in earlier.items():
        if not isinstance(statement, ResultPredicate):
            continue
        has_same_subject = (statement.model, statement.scorecard) == (
            result.model,
            result.scorecard,
        )
        if has_same_subject and (statement.header.epoch, statement.header.seq) < position:
            newest = (statement_digest, statement)
    return newest


def _describe_figure(
    cell: Cell,
    result: ResultPredicate,
    before: ResultPredicate | None,
    policy: DisclosurePolicy,
    *,
    is_surplus: bool,
) -> FigureRow:
    bucket, value = result.groups[cell.group], result.cells[cell.key]
    spread = result.spreads.get(cell.key, -1)
    deviation = ""
    if spread >= 0:
        deviation = f"{spread / (2 * SPREAD_STEPS) * (cell.high - cell.low):.3f}"
    shown_before, units_before, change = "", "", ""
    if before is not None and cell.key in before.cells:
        value_before = before.cells[cell.key]
        shown_before = _show_value(cell, value_before)
        units_before = show_units(before.groups[cell.group])
        if value >= 0 and value_before >= 0:
            change = f"{_scale(cell, value) - _scale(cell, value_before):+.3f}"
    return FigureRow(
        cell=cell.key,
        subject=f"{cell.benchmark}, {cell.metric}"
        + (f", {cell.subgroup}" if cell.subgroup else ""),
        units=show_units(bucket),
        value=_show_value(cell, value),
        scale=f"{cell.low} to {cell.high}",
        deviation=deviation,
        meaning=_explain_figure(cell, value, bucket, policy, is_surplus=is_surplus),
        before=shown_before,
        units_before=units_before,
        change=change,
    )


def _explain_figure(
    cell: Cell, value: int, bucket: int, policy: DisclosurePolicy, *, is_surplus: bool
) -> str:
    if value >= 0 and not cell.protected:
        return "exact: the benchmark is public"
    if value >= 0:
        step = grid_step(bucket_range(bucket)[0], policy) if bucket else 1000
        return f"perturbed, then rounded to a grid of {step / 1000 * (cell.high - cell.low):g}"
    words = _describe_code(value, cell, policy)
    if value != SUPPRESSED:
        return words
    if is_surplus:
        which = "one" if policy.metrics_per_group == 1 else str(policy.metrics_per_group)
        return f"{words}: only the first {which} of this group's figures may leave the site"
    if not bucket:
        return f"{words}: fewer than {policy.min_units} units, or the group's size would reveal another group's"
    return f"{words}: rounding would not hide a few units, or the figure would help to compute a withheld one"


def _describe_code(value: int, cell: Cell, policy: DisclosurePolicy) -> str:
    """Explain a code in a cell.

    Args:
        value: SUPPRESSED, NOT_RUN, LOW_CODED or HIGH_CODED.
        cell: the cell that has the code.
        policy: the effective one.
    """
    few = f"fewer than {policy.min_events}"
    by_count = {
        LOW_CODED: f"low-coded: {few} successes, according to the perturbed count",
        HIGH_CODED: f"high-coded: {few} failures, according to the perturbed count",
    }
    by_sum = {
        LOW_CODED: f"low-coded: the scores add up to {few} full scores, according to the perturbed sum",
        HIGH_CODED: f"high-coded: the scores fall short of the maximum by {few} full scores, according to the "
        "perturbed sum",
    }
    coded = by_count if cell.binary else by_sum
    return coded.get(value, CODE_WORDS[value])


def _show_value(cell: Cell, value: int) -> str:
    return CODE_WORDS[value] if value < 0 else f"{_scale(cell, value):.3f}"


def _scale(cell: Cell, value: int) -> float:
    return cell.low + value / 1000 * (cell.high - cell.low)


def _describe_publication(site: Site, site_id: str, policy: DisclosurePolicy) -> str:
    """Return a sentence on how a site's figures are published."""
    if site.publication == "named":
        name = name_both(site.display_name, site_id)
        return f"Publication is named: the board shows these figures to everyone under the name {name}."
    return (
        f"Publication is pooled: the board shows these figures only merged with those of other sites (at least "
        f"{policy.pooled_sites} sites in all, none with more than {policy.pooled_share_percent} % of the units). The "
        f"central team and the readers of the aggregator's log see this statement itself, under the id {site_id}."
    )


def _describe_capacity(card: Scorecard, policy: DisclosurePolicy, site: Site) -> str:
    algorithms: dict[Role, Algorithm] = {"agent": "ed25519", "steward": "ed25519"}
    for entry in site.keys:
        if entry.until_index is None and entry.revoked_from is None:
            algorithms[entry.role] = entry.key.algorithm
    capacity = _measure_once(card, policy, (algorithms["agent"], algorithms["steward"]))
    return (
        f"By choosing among all figures, outcomes and days that the rules allow here, a site could convey at most "
        f"{capacity.payload_bits:.1f} bits: the answers to that many yes-or-no questions. The fingerprint of the "
        f"scores and the state of the ledger take another {capacity.determined_bits:.0f} bits, which the gate "
        f"computes and from which no score can be read. The two signatures take {capacity.signature_bits:.0f} bits. "
        f"These could carry a message only if the gate or a signer had been replaced. In total: "
        f"{capacity.total_bits:.1f} bits."
    )


@functools.lru_cache(maxsize=8)
def _measure_once(
    card: Scorecard, policy: DisclosurePolicy, signers: tuple[Algorithm, ...]
) -> Capacity:
    """Return the capacity of a result's envelope. It is the same for all results for a scorecard."""
    return measure_capacity(card, policy, signers)


def _describe_outcome(outcome: str) -> str:
    if outcome == "complete":
        return "complete"
    return "partial: a benchmark was not run, or was run on part of its data, or many of its questions have no score"


def _describe_plan_of(result: ResultPredicate, knowledge: Knowledge) -> str:
    if result.plan == NONE:
        return "none: the board marks the result as unplanned"
    known = isinstance(knowledge.earlier.get(result.plan), PlanPredicate)
    return result.plan if known else f"{result.plan} (not among the statements known here)"


def _describe_juries(card: Scorecard, result: ResultPredicate) -> list[Fact]:
    """Return the judges of each jury that graded figures of this result, with the benchmarks they graded."""
    graded: dict[str, dict[str, None]] = {}
    for cell in card.cells:
        jury = card.jury_of(cell)
        if jury is not None and result.cells[cell.key] != NOT_RUN:
            panel = f"{', '.join(jury.seats)} ({jury.quorum} valid verdicts needed)"
            graded.setdefault(panel, {})[cell.benchmark] = None
    return [
        Fact(f"judges of {', '.join(benchmarks)}", panel) for panel, benchmarks in graded.items()
    ]
