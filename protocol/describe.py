"""What a person reads about a statement before signing it: facts, figures, rules and sentences, made from its bytes.

The one source of these words: the steward's own tool and the site's page show the same. Plain values come out; how
they are laid out is for whoever shows them. Names come from a verified registry, everything else from the payload, the
two policies, and earlier statements that the reader keeps.
"""

import functools
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Final

from protocol.capacity import Capacity, measure_capacity
from protocol.codes import HIGH_CODED, LOW_CODED, NOT_RUN, SUPPRESSED
from protocol.disclosure import SPREAD_STEPS, check_result, surplus_cells
from protocol.envelope import digest
from protocol.errors import Code, ProtocolError
from protocol.identity import NONE
from protocol.keys import Algorithm, load_public
from protocol.policy import DisclosurePolicy, bucket_of, bucket_range, grid_step, stricter
from protocol.predicates import (
    FIRST_EPOCH,
    AbandonPredicate,
    DatasetPredicate,
    EnrollPredicate,
    PlanPredicate,
    ResetPredicate,
    ResultPredicate,
    RotatePredicate,
    Statement,
    WithdrawPredicate,
)
from protocol.registry import Registry, Role, Site
from protocol.scorecard import Cell, Scorecard
from protocol.statements import kind_name, parse_statement

CODE_WORDS: Final[Mapping[int, str]] = {
    SUPPRESSED: "suppressed",
    NOT_RUN: "not run",
    LOW_CODED: "low-coded",
    HIGH_CODED: "high-coded",
}
"""The words in place of a figure."""

KEPT: Final = "kept"
BY_GATE: Final = "applied by the site's gate to the scores; the statement cannot show it"
BY_AGGREGATOR: Final = "applied by the aggregator, when it joins the figures of several sites"

_RULE_MEANINGS: Final[Mapping[str, str]] = {
    "min_units": "units (patients, else documents) behind a published figure or group size, at least",
    "min_events": "successes, and failures, behind a figure, at least; else it is coded or suppressed",
    "grid_units": "a value lies on a grid no finer than this many units of the group",
    "perturbation_units": "scale of the noise on the sum of a figure's unit scores, in units",
    "metrics_per_group": "figures of one protected group that may leave, at most",
    "variables_per_benchmark": "variables that divide a protected benchmark's units, at most",
    "margin_hidden": "groups withheld as soon as one of their variable is, at least",
    "dominance_n": "how many largest contributions the next rule adds up",
    "dominance_percent": "share of a sum that they stay below, in percent",
    "p_percent": "all but the two largest contribute at least this share of the largest, in percent",
    "max_share_percent": "one unit's share of a mean, at most, in percent",
    "changed_units": "units added, removed or rescored since an earlier release, at least, unless none is",
    "monthly_submissions": "submissions of a model and lineage in 30 days, at most",
    "pooled_sites": "sites behind a pooled figure, at least",
    "pooled_share_percent": "the largest site's share of its units, at most, in percent",
}
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
_SEEN_IN_A_DATASET: Final = frozenset({"min_units", "changed_units"})
_AGGREGATORS_RULES: Final = frozenset({"pooled_sites", "pooled_share_percent"})

_RESET_WORDS: Final[Mapping[str, str]] = {
    "restored": "the site was restored from a back-up",
    "fork": "the chain forked",
    "lost_agent_key": "the agent's key was lost",
    "lost_steward_key": "the steward's key was lost",
    "stolen_key": "a key was stolen",
}
_ABANDON_WORDS: Final[Mapping[str, str]] = {
    "not_run": "it was never run",
    "failed": "its run failed",
    "superseded": "another plan replaces it",
}
_WITHDRAW_WORDS: Final[Mapping[str, str]] = {
    "data_error": "an error in the data",
    "model_error": "an error in how the model was served",
    "scoring_error": "an error in the scoring",
    "consent": "consent was withdrawn",
    "duplicate": "it was reported twice",
}
_NOTE_WORDS: Final[Mapping[str, str]] = {
    "units": "units in this version",
    "added": "units added since the version before",
    "removed": "units removed since the version before",
    "changed": "units whose records changed since the version before",
    "never_seen": "units that no earlier version of any dataset of the site held",
    "merged": "identifiers counted as one person with another, because identifier or records are the same",
}


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing the statement says, with its name."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class FigureRow:
    """One cell of a result.

    Attributes:
        cell: its key in the statement.
        subject: the same for people: benchmark, metric and subgroup.
        units: published size of the group, a range; "" where none is published.
        value: in the metric's own range, or the word for its code.
        scale: the metric's range, for example `0 to 1`.
        deviation: published standard deviation in the metric's own range; "" where there is none.
        meaning: how to read it: what its code stands for, or how coarse the figure is.
        before, units_before: the same in the release before; "" if there was none.
        change: difference to it; "" where either is not a number.
    """

    cell: str
    subject: str
    units: str
    value: str
    scale: str
    deviation: str
    meaning: str
    before: str
    units_before: str
    change: str


@dataclass(frozen=True, slots=True)
class RuleRow:
    """One number of the effective policy.

    Attributes:
        name: as in the policy's file.
        meaning: what the number is.
        site, federation: the numbers of both; `effective` is the stricter one.
        source: `site`, `federation`, or `both` where they agree.
        verdict: KEPT, BY_GATE, BY_AGGREGATOR, or how it is broken.
        is_broken: whether this statement must not be signed because of it.
    """

    name: str
    meaning: str
    site: int
    federation: int
    effective: int
    source: str
    verdict: str
    is_broken: bool = False


@dataclass(frozen=True, slots=True)
class Description:
    """Everything a person needs to decide about one statement.

    Attributes:
        kind: `result`, `dataset`, ...
        title: one sentence.
        digest: the statement's identity.
        facts: what it says, field by field, figures apart.
        figures: the cells of a result; empty for other kinds.
        rules: the numbers that were combined, and whether the statement keeps them; empty for requests about keys.
        notes: the site's own figures, which do not leave it and which nothing here can check against the data.
        sentences: what follows from signing it.
        previous: digest of the release that `figures` are compared with; "" if there is none.
        cautions: what the reader should look into.
        faults: why it must not be signed.
        payload: the exact bytes, which are ASCII.
    """

    kind: str
    title: str
    digest: str
    facts: tuple[Fact, ...]
    payload: str
    figures: tuple[FigureRow, ...] = ()
    rules: tuple[RuleRow, ...] = ()
    notes: tuple[Fact, ...] = ()
    sentences: tuple[str, ...] = ()
    previous: str = ""
    cautions: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Knowledge:
    """What a reader holds besides the bytes.

    Attributes:
        registry: verified.
        own_policy: the site's.
        earlier: statements of the same site that the reader keeps, by digest, oldest first. Without a statement that
            this one names, it is said to be unknown.
        notes: the site's own figures about a dataset; see `protocol.approval_files.NOTES`.
    """

    registry: Registry
    own_policy: DisclosurePolicy
    earlier: Mapping[str, Statement] = field(default_factory=dict)
    notes: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Parts:
    """What one kind of statement adds to the facts of its header."""

    title: str
    facts: tuple[Fact, ...]
    figures: tuple[FigureRow, ...] = ()
    rules: tuple[RuleRow, ...] = ()
    notes: tuple[Fact, ...] = ()
    sentences: tuple[str, ...] = ()
    previous: str = ""
    cautions: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()


def describe_statement(payload: bytes, knowledge: Knowledge) -> Description:
    """Describe a statement that the agent and the steward sign.

    Args:
        payload: the exact bytes.
        knowledge: names, policies and earlier statements.

    Raises:
        ProtocolError: as `parse_statement`; WRONG_TYPE for a request about keys; WRONG_DEPLOYMENT; WRONG_SITE;
            UNKNOWN_SCORECARD, RETIRED_SCORECARD, UNKNOWN_MODEL, UNKNOWN_AGENT, UNKNOWN_POLICY or UNKNOWN_BENCHMARK
            for a name that the registry lacks; WRONG_CELLS for figures that are not the scorecard's. Rules that it
            breaks raise nothing: they are in `faults`.
    """
    statement = parse_statement(payload)
    header, registry = statement.header, knowledge.registry
    if header.deployment != registry.deployment:
        raise ProtocolError(Code.WRONG_DEPLOYMENT, f"meant for {header.deployment}, the registry is another's")
    site = registry.sites.get(header.site)
    if site is None:
        raise ProtocolError(Code.WRONG_SITE, f"{header.site} is not enrolled in this registry")
    match statement:
        case ResultPredicate():
            parts = _describe_result(statement, site, knowledge)
        case DatasetPredicate():
            parts = _describe_dataset(statement, knowledge)
        case PlanPredicate():
            parts = _describe_plan(statement, knowledge)
        case AbandonPredicate():
            parts = _describe_abandon(statement, knowledge)
        case WithdrawPredicate():
            parts = _describe_withdraw(statement, knowledge)
        case _:
            raise ProtocolError(Code.WRONG_TYPE, "a request about keys, which needs no registry to be read")
    return _assemble(payload, statement, _name(site.display_name, header.site), parts)


def describe_request(payload: bytes) -> Description:
    """Describe a request about keys: an enrolment, a reset or a rotation.

    Raises:
        ProtocolError: as `parse_statement`; WRONG_TYPE for any other statement; WEAK_KEY.
    """
    statement = parse_statement(payload)
    match statement:
        case EnrollPredicate():
            parts = _describe_enrolment(statement)
        case ResetPredicate():
            parts = _describe_reset(statement)
        case RotatePredicate():
            parts = _describe_rotation(statement)
        case _:
            raise ProtocolError(Code.WRONG_TYPE, "expected an enrolment, a reset or a rotation")
    return _assemble(payload, statement, statement.header.site, parts)


def describe_code(value: int, cell: Cell, policy: DisclosurePolicy) -> str:
    """Return what a code in a cell stands for, in words.

    Args:
        value: SUPPRESSED, NOT_RUN, LOW_CODED or HIGH_CODED.
        cell: whose.
        policy: the effective one.
    """
    few = f"fewer than {policy.min_events}"
    by_count = {
        LOW_CODED: f"low-coded: {few} successes, as far as the perturbed count tells",
        HIGH_CODED: f"high-coded: {few} failures, as far as the perturbed count tells",
    }
    by_sum = {
        LOW_CODED: f"low-coded: the scores add up to {few} full ones, as far as the perturbed sum tells",
        HIGH_CODED: f"high-coded: the scores lack {few} full ones, as far as the perturbed sum tells",
    }
    coded = by_count if cell.binary else by_sum
    return coded.get(value, CODE_WORDS[value])


def format_day(day: int) -> str:
    """Return a number of days since 1970-01-01 UTC as `YYYY-MM-DD`, by the rule of the Gregorian calendar."""
    # Years are counted from March, so that the leap day is the last of its year.
    days = day + 719_468
    era, day_of_era = divmod(days, 146_097)
    year_of_era = (day_of_era - day_of_era // 1460 + day_of_era // 36_524 - day_of_era // 146_096) // 365
    day_of_year = day_of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    month_from_march = (5 * day_of_year + 2) // 153
    day_of_month = day_of_year - (153 * month_from_march + 2) // 5 + 1
    month = month_from_march + 3 if month_from_march < 10 else month_from_march - 9
    year = year_of_era + era * 400 + (month <= 2)
    return f"{year:04d}-{month:02d}-{day_of_month:02d}"


def describe_publication(site: Site, site_id: str, policy: DisclosurePolicy) -> str:
    """Return, in one sentence, what becomes public of a site's figures."""
    if site.publication == "named":
        return (
            f"Publication is named: the board shows these figures under the name {_name(site.display_name, site_id)}, "
            "to everybody."
        )
    return (
        f"Publication is pooled: the board shows these figures only joined with those of other sites (at least "
        f"{policy.pooled_sites} in all, none with more than {policy.pooled_share_percent} % of the units); the "
        f"aggregator's people and readers of its log see this statement itself, under the id {site_id}."
    )


def list_rules(
    own: DisclosurePolicy,
    federation: DisclosurePolicy,
    *,
    listed: Collection[str],
    seen: Collection[str],
    broken: Mapping[str, str],
) -> tuple[RuleRow, ...]:
    """Return the numbers of two policies side by side, with the stricter of each pair.

    Args:
        own: the site's.
        federation: the federation's.
        seen: names of the rules that the statement at hand was checked against.
        listed: names of the rules to list, in their fixed order.
        broken: name of a rule -> how it is broken.
    """
    effective = stricter(own, federation)
    rows = []
    for name, meaning in _RULE_MEANINGS.items():
        if name not in listed:
            continue
        site_number: int = getattr(own, name)
        federation_number: int = getattr(federation, name)
        number: int = getattr(effective, name)
        source = "both" if site_number == federation_number else "federation"
        if source != "both" and number == site_number:
            source = "site"
        verdict = KEPT if name in seen else BY_GATE
        if name in _AGGREGATORS_RULES:
            verdict = BY_AGGREGATOR
        rows.append(
            RuleRow(
                name=name,
                meaning=meaning,
                site=site_number,
                federation=federation_number,
                effective=number,
                source=source,
                verdict=broken.get(name, verdict),
                is_broken=name in broken,
            )
        )
    return tuple(rows)


def find_previous_result(
    result: ResultPredicate, earlier: Mapping[str, Statement]
) -> tuple[str, ResultPredicate] | None:
    """Return digest and content of the last earlier result of the same model and scorecard; None if there is none."""
    place = (result.header.epoch, result.header.seq)
    newest = None
    for digest_of_other, other in earlier.items():
        if not isinstance(other, ResultPredicate):
            continue
        same_subject = (other.model, other.scorecard) == (result.model, result.scorecard)
        if same_subject and (other.header.epoch, other.header.seq) < place:
            newest = (digest_of_other, other)
    return newest


def _assemble(payload: bytes, statement: Statement, site: str, parts: _Parts) -> Description:
    header = statement.header
    facts = (
        Fact("site", site),
        Fact("goes to", header.deployment),
        *parts.facts,
        Fact("place", f"epoch {header.epoch}, link {header.seq} of the site's chain"),
        Fact("link before", header.prev),
        Fact("ledger", _count(header.ledger.length, "entry", "entries") + f", head {header.ledger.head}"),
        Fact("registry", f"version {header.registry}"),
    )
    return Description(
        kind=kind_name(statement),
        title=parts.title,
        digest=digest(payload),
        facts=facts,
        payload=payload.decode("ascii"),
        figures=parts.figures,
        rules=parts.rules,
        notes=parts.notes,
        sentences=parts.sentences,
        previous=parts.previous,
        cautions=parts.cautions,
        faults=parts.faults,
    )


# Results


def _describe_result(result: ResultPredicate, site: Site, knowledge: Knowledge) -> _Parts:
    registry = knowledge.registry
    card = _find_scorecard(result.scorecard, registry)
    federation = registry.policy_for(result.policy)
    policy = stricter(knowledge.own_policy, federation)
    faults, broken = _check_figures(result, card, policy)
    faults += _check_data(result, card, knowledge.earlier)
    previous = find_previous_result(result, knowledge.earlier)
    before = previous[1] if previous else None
    surplus = {cell.key for cell in surplus_cells(card, policy)}
    figures = []
    for cell in card.cells:
        figures.append(_describe_figure(cell, result, before, policy, is_surplus=cell.key in surplus))
    if result.approval != "two_person":
        faults.append("approval by exception: the registry names no terms and people of exceptions")
    datasets = tuple(_describe_data(card, result.data, knowledge))
    compared = f"{previous[0]}, of {format_day(previous[1].day)}" if previous else "no earlier release is known here"
    facts = (
        *_named_facts(result, card, knowledge),
        *datasets,
        *_describe_juries(card, result),
        Fact("plan", _describe_plan_of(result, knowledge)),
        Fact("day", format_day(result.day)),
        Fact("outcome", _describe_outcome(result.outcome)),
        Fact("scores", f"fingerprint {result.scores_root}"),
        Fact("compared with", compared),
    )
    sentences = (
        "Of the number of units only the range leaves. A protected figure was perturbed with noise before anything "
        f"was decided (scale {policy.perturbation_units} units), then rounded; all else follows from what came out.",
        describe_publication(site, result.header.site, policy),
        _describe_capacity(card, policy, site),
    )
    return _Parts(
        title=f"Figures of {registry.models[result.model].display_name} for scorecard {card.name} leave the site.",
        facts=facts,
        figures=tuple(figures),
        rules=list_rules(
            knowledge.own_policy, federation, listed=_RULE_MEANINGS, seen=_SEEN_IN_A_RESULT, broken=broken
        ),
        sentences=sentences,
        previous=previous[0] if previous else "",
        cautions=tuple(_caution_about_data(card, result.data, knowledge)),
        faults=tuple(faults),
    )


def _check_figures(
    result: ResultPredicate, card: Scorecard, policy: DisclosurePolicy
) -> tuple[list[str], dict[str, str]]:
    """Return what is wrong with a result's figures, and which rules it breaks; raise where they cannot be shown."""
    try:
        check_result(result, card, policy)
    except ProtocolError as error:
        if error.code is Code.WRONG_CELLS:
            raise
        words = f"broken ({error.code}: {error.detail})"
        rule = _BROKEN_BY.get(error.code)
        return [f"the figures do not obey the rules ({error.code}: {error.detail})"], {rule: words} if rule else {}
    return [], {}


def _check_data(result: ResultPredicate, card: Scorecard, earlier: Mapping[str, Statement]) -> list[str]:
    """Return what is wrong with the datasets that a result names; one that is not known here is no fault."""
    faults = []
    for entry in card.benchmarks:
        cells = [cell for cell in card.cells if cell.benchmark == entry.id]
        was_run = any(result.cells[cell.key] != NOT_RUN for cell in cells)
        needs_dataset = was_run and any(cell.protected for cell in cells)
        named = result.data[entry.id]
        if needs_dataset and named == NONE:
            faults.append(f"{entry.id}: protected figures of data that was never registered")
        if not needs_dataset and named != NONE:
            faults.append(f"{entry.id}: names a dataset, but has no protected figure of it")
        dataset = earlier.get(named)
        if dataset is None:
            continue
        if not isinstance(dataset, DatasetPredicate) or dataset.definition != entry.definition:
            faults.append(f"{entry.id}: the statement that it names is no dataset of this benchmark")
        elif result.groups[entry.id] > dataset.units:
            faults.append(f"{entry.id}: more units than its registered dataset has")
    return faults


def _describe_figure(
    cell: Cell, result: ResultPredicate, before: ResultPredicate | None, policy: DisclosurePolicy, *, is_surplus: bool
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
        units_before = _show_units(before.groups[cell.group])
        if value >= 0 and value_before >= 0:
            change = f"{_scale(cell, value) - _scale(cell, value_before):+.3f}"
    return FigureRow(
        cell=cell.key,
        subject=f"{cell.benchmark}, {cell.metric}" + (f", {cell.subgroup}" if cell.subgroup else ""),
        units=_show_units(bucket),
        value=_show_value(cell, value),
        scale=f"{cell.low} to {cell.high}",
        deviation=deviation,
        meaning=_explain_figure(cell, value, bucket, policy, is_surplus=is_surplus),
        before=shown_before,
        units_before=units_before,
        change=change,
    )


def _explain_figure(cell: Cell, value: int, bucket: int, policy: DisclosurePolicy, *, is_surplus: bool) -> str:
    if value >= 0 and not cell.protected:
        return "as it is: the benchmark is public"
    if value >= 0:
        step = grid_step(bucket_range(bucket)[0], policy) if bucket else 1000
        return f"perturbed, then rounded to a grid of {step / 1000 * (cell.high - cell.low):g}"
    words = describe_code(value, cell, policy)
    if value != SUPPRESSED:
        return words
    if is_surplus:
        which = "one" if policy.metrics_per_group == 1 else str(policy.metrics_per_group)
        return f"{words}: of this group's figures only the first {which} may leave"
    if not bucket:
        return f"{words}: fewer than {policy.min_units} units, or the group's size would betray another group's"
    return f"{words}: no rounding of it would hide a few units, or it would help to compute what is withheld"


def _describe_outcome(outcome: str) -> str:
    if outcome == "complete":
        return "complete"
    return "partial: a benchmark was not run, or not on its whole data, or many of its questions have no score"


def _describe_plan_of(result: ResultPredicate, knowledge: Knowledge) -> str:
    if result.plan == NONE:
        return "none: the board marks the result as unplanned"
    known = isinstance(knowledge.earlier.get(result.plan), PlanPredicate)
    return result.plan if known else f"{result.plan} (not among the statements known here)"


def _describe_capacity(card: Scorecard, policy: DisclosurePolicy, site: Site) -> str:
    algorithms: dict[Role, Algorithm] = {"agent": "ed25519", "steward": "ed25519"}
    for entry in site.keys:
        if entry.until_index is None and entry.revoked_from is None:
            algorithms[entry.role] = entry.key.algorithm
    capacity = _measure(card, policy, (algorithms["agent"], algorithms["steward"]))
    return (
        f"By choosing among all figures, outcomes and days that the rules allow here, a site could tell at most "
        f"{capacity.payload_bits:.1f} bits, as much as so many yes-or-no answers. Besides, the fingerprint of the "
        f"scores and the state of the ledger take {capacity.determined_bits:.0f} bits, which the gate computes and "
        f"from which no score can be read, and the two signatures {capacity.signature_bits:.0f} bits: they could "
        f"carry anything only if the gate or a signer had been replaced. In all {capacity.total_bits:.1f} bits."
    )


@functools.lru_cache(maxsize=8)
def _measure(card: Scorecard, policy: DisclosurePolicy, signers: tuple[Algorithm, ...]) -> Capacity:
    """Return the capacity of a result's envelope; the same for all results of a scorecard."""
    return measure_capacity(card, policy, signers)


# Datasets


def _describe_dataset(dataset: DatasetPredicate, knowledge: Knowledge) -> _Parts:
    registry = knowledge.registry
    federation = registry.policies[registry.policy_floor]
    policy = stricter(knowledge.own_policy, federation)
    benchmark = _find_benchmark(dataset.definition, registry)
    faults, broken = _check_dataset_sizes(dataset, policy)
    notes, contradictions = _describe_notes(dataset, knowledge.notes)
    is_first = dataset.previous == NONE
    cautions = []
    if not is_first and dataset.previous not in knowledge.earlier:
        cautions.append("The version before this one is not among the statements known here.")
    if is_first and dataset.header.epoch > FIRST_EPOCH:
        cautions.append(
            "The site was reset, so it may have lost its record of earlier versions. Sign only if you know that this "
            "data differs from any that figures were released of by nobody, or by at least "
            f"{policy.changed_units} patients."
        )
    if is_first and dataset.lineage != dataset.commitment:
        cautions.append("Its patients are those of another dataset of this site: both belong to one lineage.")
    differences = (
        Fact("added", _show_difference(dataset.added)),
        Fact("removed", _show_difference(dataset.removed)),
        Fact("changed", _show_difference(dataset.changed)),
    )
    facts = (
        Fact("benchmark", benchmark),
        Fact("units", f"{_show_units(dataset.units)} (only this range leaves)"),
        *(() if is_first else differences),
        Fact("version before", "none: this is the first version" if is_first else dataset.previous),
        Fact("lineage", "its own" if dataset.lineage == dataset.commitment else dataset.lineage),
        Fact(
            "origin",
            "official: a version of its files that the benchmark's definition knows"
            if dataset.origin == "official"
            else "the site's own data",
        ),
        Fact("commitment", dataset.commitment),
    )
    return _Parts(
        title=f"A version of the site's dataset for {benchmark} is registered.",
        facts=facts,
        rules=list_rules(
            knowledge.own_policy, federation, listed=_SEEN_IN_A_DATASET, seen=_SEEN_IN_A_DATASET, broken=broken
        ),
        notes=notes,
        sentences=(
            "No record leaves: the commitment is a salted fingerprint, from which none can be read or confirmed.",
            "Protected figures may leave only for a registered version. Whoever adds, removes or changes a few "
            "patients between two versions could learn about these few: compare the numbers with what you know of "
            "the hospital.",
        ),
        cautions=tuple(cautions),
        faults=(*faults, *contradictions),
    )


def _check_dataset_sizes(dataset: DatasetPredicate, policy: DisclosurePolicy) -> tuple[list[str], dict[str, str]]:
    faults, broken = [], {}
    if bucket_range(dataset.units)[0] < policy.min_units:
        broken["min_units"] = f"broken: {_show_units(dataset.units) or 'no'} units"
        faults.append(f"a dataset may not have fewer than {policy.min_units} units")
    for name in ("added", "removed", "changed"):
        bucket: int = getattr(dataset, name)
        if bucket and bucket_range(bucket)[0] < policy.changed_units:
            broken["changed_units"] = f"broken: {_show_units(bucket)} units {name}"
            faults.append(f"a version may not differ by fewer than {policy.changed_units} units ({name})")
    return faults, broken


def _describe_notes(dataset: DatasetPredicate, notes: Mapping[str, int]) -> tuple[tuple[Fact, ...], list[str]]:
    """Return the site's own figures, and where they contradict the statement."""
    facts, contradictions = [], []
    for name, words in _NOTE_WORDS.items():
        if name not in notes:
            continue
        facts.append(Fact(words, str(notes[name])))
        stated: int | None = getattr(dataset, name, None)
        if stated is not None and bucket_of(notes[name]) != stated:
            contradictions.append(f"the site's own figure of {words} is not in the range that the statement gives")
    return tuple(facts), contradictions


# Plans, and what ends them


def _describe_plan(plan: PlanPredicate, knowledge: Knowledge) -> _Parts:
    registry = knowledge.registry
    card = _find_scorecard(plan.scorecard, registry)
    facts = _named_facts(plan, card, knowledge)
    served = "from weights that the agent hashed" if plan.model_assurance == "weights_hashed" else "as its server says"
    model = registry.models[plan.model].display_name
    return _Parts(
        title=f"The site plans to evaluate {model} for scorecard {card.name}.",
        facts=(
            *facts,
            *_describe_data(card, plan.data, knowledge),
            Fact("model runs", served),
            Fact("result until", format_day(plan.expires_day)),
        ),
        sentences=(
            "No figure leaves. The plan is public from now on: a result, or a reason for none, is expected of it.",
        ),
        cautions=tuple(_caution_about_data(card, plan.data, knowledge)),
    )


def _describe_abandon(abandon: AbandonPredicate, knowledge: Knowledge) -> _Parts:
    plan = knowledge.earlier.get(abandon.plan)
    words, cautions = "not among the statements known here", ["The plan is not among the statements known here."]
    if isinstance(plan, PlanPredicate):
        words, cautions = _name_subject(plan, knowledge.registry), []
    return _Parts(
        title="A plan will have no result.",
        facts=(Fact("plan", f"{abandon.plan} ({words})"), Fact("reason", _ABANDON_WORDS[abandon.reason])),
        sentences=("No figure leaves. The plan stays in the log, with this reason.",),
        cautions=tuple(cautions),
    )


def _describe_withdraw(withdraw: WithdrawPredicate, knowledge: Knowledge) -> _Parts:
    result = knowledge.earlier.get(withdraw.result)
    words, cautions = "not among the statements known here", ["The result is not among the statements known here."]
    if isinstance(result, ResultPredicate):
        words, cautions = f"{_name_subject(result, knowledge.registry)}, {format_day(result.day)}", []
    return _Parts(
        title="An earlier result is withdrawn from the board.",
        facts=(Fact("result", f"{withdraw.result} ({words})"), Fact("reason", _WITHDRAW_WORDS[withdraw.reason])),
        sentences=("No figure leaves. The result leaves the board; the log keeps it, as it keeps everything.",),
        cautions=tuple(cautions),
    )


# Requests about keys


_COMPARE: Final = (
    "Read the fingerprints to the aggregator's people, by telephone or face to face: they put the keys in force only "
    "after comparing them."
)


def _describe_enrolment(request: EnrollPredicate) -> _Parts:
    return _Parts(
        title=f"The site asks {request.header.deployment} to be enrolled, with these two keys.",
        facts=(_fingerprint("agent's key", request.agent_key), _fingerprint("steward's key", request.steward_key)),
        sentences=(
            _COMPARE,
            "Only a statement that both keys have signed is taken from this site afterwards.",
            "Ask them, too, whether the site's figures will be published under its name, or only joined with those of "
            "other sites.",
        ),
    )


def _describe_reset(request: ResetPredicate) -> _Parts:
    return _Parts(
        title=f"The site asks to start epoch {request.header.epoch} of its chain, with these two keys.",
        facts=(
            Fact("reason", _RESET_WORDS[request.reason]),
            _fingerprint("agent's key", request.agent_key),
            _fingerprint("steward's key", request.steward_key),
        ),
        sentences=(_COMPARE, "A key of the site that is not among the two is revoked."),
        cautions=("Ask at the site what happened: a reset is rare, and also what an intruder would ask for.",),
    )


def _describe_rotation(request: RotatePredicate) -> _Parts:
    return _Parts(
        title=f"The site asks to replace its {request.role}'s key.",
        facts=(_fingerprint(f"new {request.role}'s key", request.new_key),),
        sentences=(_COMPARE, "Both old keys and the new one sign this; the key that it replaces ends with it."),
    )


def _fingerprint(name: str, der: bytes) -> Fact:
    return Fact(name, load_public(der).fingerprint)


# Names


def _find_scorecard(wanted: str, registry: Registry) -> Scorecard:
    registered = registry.scorecards.get(wanted)
    if registered is None:
        raise ProtocolError(Code.UNKNOWN_SCORECARD, wanted)
    if registered.retired:
        raise ProtocolError(Code.RETIRED_SCORECARD, wanted)
    return registered.scorecard


def _find_benchmark(definition: str, registry: Registry) -> str:
    for registered in registry.scorecards.values():
        for entry in registered.scorecard.benchmarks:
            if entry.definition == definition:
                return _name(entry.display_name, entry.id)
    raise ProtocolError(Code.UNKNOWN_BENCHMARK, "no registered scorecard has a benchmark of this definition")


def _named_facts(statement: PlanPredicate | ResultPredicate, card: Scorecard, knowledge: Knowledge) -> tuple[Fact, ...]:
    """Return model, scorecard, policy and agent by their registered names; raise for one that is not registered."""
    registry = knowledge.registry
    model = registry.models.get(statement.model)
    if model is None:
        raise ProtocolError(Code.UNKNOWN_MODEL, statement.model)
    if statement.agent not in registry.agents:
        raise ProtocolError(Code.UNKNOWN_AGENT, statement.agent)
    registry.policy_for(statement.policy)
    policy = registry.policies[statement.policy]
    organization = f", {model.organization}" if model.organization else ""
    return (
        Fact("model", _name(model.display_name, model.name) + organization),
        Fact("scorecard", f"{card.name} version {card.version}"),
        Fact("policy", f"{policy.name} version {policy.version}"),
        Fact("made by", f"agent {registry.agents[statement.agent]}"),
    )


def _describe_data(card: Scorecard, data: Mapping[str, str], knowledge: Knowledge) -> list[Fact]:
    """Return, for each benchmark of a scorecard that names a registered dataset, which one."""
    facts = []
    for entry in card.benchmarks:
        named = data.get(entry.id, NONE)
        if named == NONE:
            continue
        dataset = knowledge.earlier.get(named)
        words = "not among the statements known here"
        if isinstance(dataset, DatasetPredicate):
            words = f"{_show_units(dataset.units)} units, registered as link {dataset.header.seq}"
        facts.append(Fact(f"data of {entry.id}", f"{named} ({words})"))
    return facts


def _describe_juries(card: Scorecard, result: ResultPredicate) -> list[Fact]:
    """Return, for each panel of judges behind figures that were run, who they are and which benchmarks they graded."""
    graded: dict[str, dict[str, None]] = {}
    for cell in card.cells:
        jury = card.jury_of(cell)
        if jury is not None and result.cells[cell.key] != NOT_RUN:
            panel = f"{', '.join(jury.seats)} ({jury.quorum} valid verdicts needed)"
            graded.setdefault(panel, {})[cell.benchmark] = None
    return [Fact(f"judges of {', '.join(benchmarks)}", panel) for panel, benchmarks in graded.items()]


def _caution_about_data(card: Scorecard, data: Mapping[str, str], knowledge: Knowledge) -> list[str]:
    unknown = []
    for entry in card.benchmarks:
        named = data.get(entry.id, NONE)
        if named != NONE and not isinstance(knowledge.earlier.get(named), DatasetPredicate):
            unknown.append(entry.id)
    if not unknown:
        return []
    return [f"The registered data of {', '.join(unknown)} is not among the statements known here."]


def _name_subject(statement: PlanPredicate | ResultPredicate, registry: Registry) -> str:
    model = registry.models.get(statement.model)
    registered = registry.scorecards.get(statement.scorecard)
    model_name = model.display_name if model else "a model that is no longer registered"
    card_name = registered.scorecard.name if registered else "a scorecard that is no longer registered"
    return f"{model_name}, {card_name}"


def _name(display_name: str, identity: str) -> str:
    """Return both names, or one where they are the same: a pooled site stands in the registry under its id."""
    return identity if display_name == identity else f"{display_name} ({identity})"


def _count(number: int, singular: str, plural: str) -> str:
    return f"{number} {singular if number == 1 else plural}"


def _show_units(bucket: int) -> str:
    low, high = bucket_range(bucket)
    return f"{low} to {high}" if bucket else ""


def _show_difference(bucket: int) -> str:
    return f"{_show_units(bucket)} units" if bucket else "no unit"


def _show_value(cell: Cell, value: int) -> str:
    return CODE_WORDS[value] if value < 0 else f"{_scale(cell, value):.3f}"


def _scale(cell: Cell, value: int) -> float:
    return cell.low + value / 1000 * (cell.high - cell.low)
