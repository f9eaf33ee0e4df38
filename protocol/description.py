"""The classes of a statement's description, and the wording that all kinds of statements share. Pure.

Descriptions are plain values; the program that shows them decides on the layout.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Final

from protocol.cell_codes import HIGH_CODED, LOW_CODED, NOT_RUN, SUPPRESSED
from protocol.errors import Code, ProtocolError
from protocol.identity import NONE
from protocol.policy import DisclosurePolicy, bucket_range, stricter
from protocol.predicates import (
    DatasetPredicate,
    PlanPredicate,
    ResultPredicate,
    Statement,
)
from protocol.registry import Registry
from protocol.scorecard import Scorecard

CODE_WORDS: Final[Mapping[int, str]] = {
    SUPPRESSED: "suppressed",
    NOT_RUN: "not run",
    LOW_CODED: "low-coded",
    HIGH_CODED: "high-coded",
}
KEPT: Final = "kept"
BY_GATE: Final = "applied to the scores by the site's gate; the statement cannot show it"
BY_AGGREGATOR: Final = "applied by the aggregator when it merges the figures of several sites"
RULE_MEANINGS: Final[Mapping[str, str]] = {
    "min_units": "minimum units (patients, or else documents) behind a published figure or group size",
    "min_events": "minimum successes, and minimum failures, behind a value; below it, a figure is coded or suppressed",
    "grid_units": "values are rounded to a grid no finer than this many units of the group",
    "perturbation_units": "scale of the noise on the sum of a figure's unit scores, in units",
    "metrics_per_group": "maximum figures that may leave for one protected group",
    "variables_per_benchmark": "maximum variables that divide a protected benchmark's units",
    "margin_hidden": "minimum groups of a variable that are withheld together if any is",
    "dominance_n": "number of largest contributions that the next rule adds up",
    "dominance_percent": "share of a sum that these contributions must stay below, in percent",
    "p_percent": "minimum contribution of all but the two largest, in percent of the largest",
    "max_share_percent": "maximum share of a mean that one unit may have, in percent",
    "changed_units": "minimum units added, removed or rescored since an earlier release, unless there are none",
    "monthly_submissions": "maximum submissions in 30 days for one model and one lineage of "
    "datasets",
    "pooled_sites": "minimum sites behind a pooled figure",
    "pooled_share_percent": "maximum share of a pooled figure's units that the largest site may have, in percent",
}
_AGGREGATORS_RULES: Final = frozenset({"pooled_sites", "pooled_share_percent"})


@dataclass(frozen=True, slots=True)
class Fact:
    """A property of a statement, with its name."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class FigureRow:
    """One cell of a result.

    Attributes:
        cell: key in the statement.
        subject: benchmark, metric and subgroup, in words.
        units: published size of the group, a range; "" if none is published.
        value: value in the metric's own range, or the word for its code.
        scale: the metric's range, for example `0 to 1`.
        deviation: published standard deviation in the metric's own range; "" if there is none.
        meaning: explanation of the code, or how coarse the figure is.
        before, units_before: value and units in the previous release; "" if there was none.
        change: difference from that release; "" if either value is not a number.
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
        name: key in the policy's file.
        meaning: explanation of the number.
        site, federation: the number in the policy of each; `effective` is the stricter one.
        source: `site`, `federation`, or `both` if they agree.
        verdict: KEPT, BY_GATE, BY_AGGREGATOR, or how the rule is broken.
        is_broken: whether the statement breaks the rule, so that it must not be signed.
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
    """The information that a person needs to decide on a statement.

    Attributes:
        kind: `result`, `dataset`, ...
        title: one sentence.
        digest: the statement's identity.
        facts: the statement's fields, without the figures.
        figures: the cells of a result; empty for other kinds.
        rules: the numbers of the combined policies, and whether the statement keeps them; empty for requests about
            keys.
        notes: the site's own numbers, which do not leave it; they cannot be checked against the data here.
        sentences: consequences of signing the statement.
        previous: digest of the release that `figures` are compared with; "" if there is none.
        cautions: points that the reader should clear up before signing.
        faults: reasons why the statement must not be signed.
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
    """The reader's own sources: registry, policy and earlier statements.

    Attributes:
        registry: the registry, already verified.
        own_policy: the site's policy.
        earlier: statements of the same site that the reader keeps, by digest, oldest first. A description points out
            any statement it names that is missing here.
        notes: the site's own numbers about a dataset; see `protocol.approval_files.NOTES`.
    """

    registry: Registry
    own_policy: DisclosurePolicy
    earlier: Mapping[str, Statement] = field(default_factory=dict)
    notes: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DescriptionParts:
    """The parts of a description that depend on the kind of statement. Facts from the header are added later."""

    title: str
    facts: tuple[Fact, ...]
    figures: tuple[FigureRow, ...] = ()
    rules: tuple[RuleRow, ...] = ()
    notes: tuple[Fact, ...] = ()
    sentences: tuple[str, ...] = ()
    previous: str = ""
    cautions: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()


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
        own: the site's policy.
        federation: the federation's policy.
        listed: names of the rules to list, in any order; the order of the rows is fixed.
        seen: names of the rules that the statement was checked against.
        broken: name of a rule -> how it is broken.
    """
    effective = stricter(own, federation)
    rows = []
    for name, meaning in RULE_MEANINGS.items():
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


def format_day(day: int) -> str:
    """Return a number of days since 1970-01-01 UTC as `YYYY-MM-DD`, by the Gregorian calendar."""
    # Years are counted from March, so that the leap day is the last day of its year.
    days = day + 719_468
    era, day_of_era = divmod(days, 146_097)
    year_of_era = (
        day_of_era - day_of_era // 1460 + day_of_era // 36_524 - day_of_era // 146_096
    ) // 365
    day_of_year = day_of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    month_from_march = (5 * day_of_year + 2) // 153
    day_of_month = day_of_year - (153 * month_from_march + 2) // 5 + 1
    month = month_from_march + 3 if month_from_march < 10 else month_from_march - 9
    year = year_of_era + era * 400 + (month <= 2)
    return f"{year:04d}-{month:02d}-{day_of_month:02d}"


def find_scorecard(wanted: str, registry: Registry) -> Scorecard:
    """Return a scorecard by its digest; raise ProtocolError if it is unknown or retired."""
    registered = registry.scorecards.get(wanted)
    if registered is None:
        raise ProtocolError(Code.UNKNOWN_SCORECARD, wanted)
    if registered.retired:
        raise ProtocolError(Code.RETIRED_SCORECARD, wanted)
    return registered.scorecard


def list_named_facts(
    statement: PlanPredicate | ResultPredicate, card: Scorecard, knowledge: Knowledge
) -> tuple[Fact, ...]:
    """Return facts with the registered names of model, scorecard, policy and agent; raise for an unregistered one."""
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
        Fact("model", name_both(model.display_name, model.name) + organization),
        Fact("scorecard", f"{card.name} version {card.version}"),
        Fact("policy", f"{policy.name} version {policy.version}"),
        Fact("made by", f"agent {registry.agents[statement.agent]}"),
    )


def describe_data(card: Scorecard, data: Mapping[str, str], knowledge: Knowledge) -> list[Fact]:
    """Return a fact for each benchmark for which the statement names a registered dataset."""
    facts = []
    for entry in card.benchmarks:
        named = data.get(entry.id, NONE)
        if named == NONE:
            continue
        dataset = knowledge.earlier.get(named)
        words = "not among the statements known here"
        if isinstance(dataset, DatasetPredicate):
            words = f"{show_units(dataset.units)} units, registered as link {dataset.header.seq}"
        facts.append(Fact(f"data of {entry.id}", f"{named} ({words})"))
    return facts


def caution_about_data(card: Scorecard, data: Mapping[str, str], knowledge: Knowledge) -> list[str]:
    """Return a warning if the reader lacks the registration of any dataset that a statement names."""
    unknown = []
    for entry in card.benchmarks:
        named = data.get(entry.id, NONE)
        if named != NONE and not isinstance(knowledge.earlier.get(named), DatasetPredicate):
            unknown.append(entry.id)
    if not unknown:
        return []
    return [f"The registered data of {', '.join(unknown)} is not among the statements known here."]


def name_both(display_name: str, identity: str) -> str:
    """Return both names, or only the identity if they agree: the registry lists a pooled site under its id."""
    return identity if display_name == identity else f"{display_name} ({identity})"


def count_things(number: int, singular: str, plural: str) -> str:
    """Return a number with its noun, for example `1 entry` or `2 entries`."""
    return f"{number} {singular if number == 1 else plural}"


def show_units(bucket: int) -> str:
    """Return the range of numbers of units in a bucket, for example `11 to 15`; "" for bucket 0."""
    low, high = bucket_range(bucket)
    return f"{low} to {high}" if bucket else ""
