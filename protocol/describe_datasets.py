"""Descriptions of datasets, of plans, and of statements that end a plan or withdraw a result. Pure."""

from collections.abc import Mapping
from typing import Final

from protocol.description import (
    DescriptionParts,
    Fact,
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
from protocol.errors import Code, ProtocolError
from protocol.identity import NONE
from protocol.policy import DisclosurePolicy, bucket_of, bucket_range, stricter
from protocol.predicates import (
    FIRST_EPOCH,
    AbandonPredicate,
    DatasetPredicate,
    PlanPredicate,
    ResultPredicate,
    WithdrawPredicate,
)
from protocol.registry import Registry

_SEEN_IN_A_DATASET: Final = frozenset({"min_units", "changed_units"})
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
    "added": "units added since the previous version",
    "removed": "units removed since the previous version",
    "changed": "units whose records changed since the previous version",
    "never_seen": "units that are in no earlier version of any dataset of the site",
    "merged": "identifiers merged with another one, because the identifiers or the records are the same",
}


def describe_dataset(dataset: DatasetPredicate, knowledge: Knowledge) -> DescriptionParts:
    """Describe the registration of a version of a dataset."""
    registry = knowledge.registry
    federation = registry.policies[registry.policy_floor]
    policy = stricter(knowledge.own_policy, federation)
    benchmark = _find_benchmark(dataset.definition, registry)
    faults, broken = _check_dataset_sizes(dataset, policy)
    notes, contradictions = _describe_notes(dataset, knowledge.notes)
    is_first = dataset.previous == NONE
    cautions = []
    if not is_first and dataset.previous not in knowledge.earlier:
        cautions.append("The previous version is not among the statements known here.")
    if is_first and dataset.header.epoch > FIRST_EPOCH:
        cautions.append(
            "The site was reset, so it may have lost its record of earlier versions. Sign only if you know that, "
            "compared with all data whose figures were released before, the patients are the same or at least "
            f"{policy.changed_units} of them differ."
        )
    if is_first and dataset.lineage != dataset.commitment:
        cautions.append(
            "It shares patients with another dataset of this site: both belong to one lineage."
        )
    differences = (
        Fact("added", _show_difference(dataset.added)),
        Fact("removed", _show_difference(dataset.removed)),
        Fact("changed", _show_difference(dataset.changed)),
    )
    facts = (
        Fact("benchmark", benchmark),
        Fact("units", f"{show_units(dataset.units)} (only this range leaves the site)"),
        *(() if is_first else differences),
        Fact("previous version", "none: this is the first" if is_first else dataset.previous),
        Fact("lineage", "its own" if dataset.lineage == dataset.commitment else dataset.lineage),
        Fact(
            "origin",
            "official: its files are a version listed in the benchmark's definition"
            if dataset.origin == "official"
            else "the site's own data",
        ),
        Fact("commitment", dataset.commitment),
    )
    return DescriptionParts(
        title=f"The site registers a version of its dataset for {benchmark}.",
        facts=facts,
        rules=list_rules(
            knowledge.own_policy,
            federation,
            listed=_SEEN_IN_A_DATASET,
            seen=_SEEN_IN_A_DATASET,
            broken=broken,
        ),
        notes=notes,
        sentences=(
            "No record leaves the site. The commitment is a salted fingerprint, from which no record can be read or "
            "confirmed.",
            "Protected figures may leave only for a registered version. Adding, removing or changing a few patients "
            "between two versions could reveal something about these patients. Compare the numbers with your "
            "knowledge of the hospital.",
        ),
        cautions=tuple(cautions),
        faults=(*faults, *contradictions),
    )


def _check_dataset_sizes(
    dataset: DatasetPredicate, policy: DisclosurePolicy
) -> tuple[list[str], dict[str, str]]:
    faults, broken = [], {}
    if bucket_range(dataset.units)[0] < policy.min_units:
        broken["min_units"] = f"broken: {show_units(dataset.units) or 'no'} units"
        faults.append(f"the dataset has fewer than {policy.min_units} units")
    for name in ("added", "removed", "changed"):
        bucket: int = getattr(dataset, name)
        if bucket and bucket_range(bucket)[0] < policy.changed_units:
            broken["changed_units"] = f"broken: {show_units(bucket)} units {name}"
            faults.append(
                f"a version may not differ from the previous one by fewer than {policy.changed_units} units ({name})"
            )
    return faults, broken


def _describe_notes(
    dataset: DatasetPredicate, notes: Mapping[str, int]
) -> tuple[tuple[Fact, ...], list[str]]:
    """Return the site's own numbers, and their contradictions with the statement."""
    facts, contradictions = [], []
    for name, words in _NOTE_WORDS.items():
        if name not in notes:
            continue
        facts.append(Fact(words, str(notes[name])))
        stated: int | None = getattr(dataset, name, None)
        if stated is not None and bucket_of(notes[name]) != stated:
            contradictions.append(
                f"the site's own number of {words} is not in the range that the statement gives"
            )
    return tuple(facts), contradictions


def _find_benchmark(definition: str, registry: Registry) -> str:
    for registered in registry.scorecards.values():
        for entry in registered.scorecard.benchmarks:
            if entry.definition == definition:
                return name_both(entry.display_name, entry.id)
    raise ProtocolError(
        Code.UNKNOWN_BENCHMARK, "no registered scorecard has a benchmark with this definition"
    )


def _show_difference(bucket: int) -> str:
    return f"{show_units(bucket)} units" if bucket else "no units"


def describe_plan(plan: PlanPredicate, knowledge: Knowledge) -> DescriptionParts:
    """Describe a plan to evaluate a model."""
    registry = knowledge.registry
    card = find_scorecard(plan.scorecard, registry)
    facts = list_named_facts(plan, card, knowledge)
    served = (
        "from weights that the agent hashed"
        if plan.model_assurance == "weights_hashed"
        else "as its server reports"
    )
    model = registry.models[plan.model].display_name
    return DescriptionParts(
        title=f"The site plans to evaluate {model} for scorecard {card.name}.",
        facts=(
            *facts,
            *describe_data(card, plan.data, knowledge),
            Fact("model runs", served),
            Fact("result until", format_day(plan.expires_day)),
        ),
        sentences=(
            "No figure leaves the site. The plan becomes public, and a result, or a reason for the lack of one, is "
            "expected.",
        ),
        cautions=tuple(caution_about_data(card, plan.data, knowledge)),
    )


def describe_abandon(abandon: AbandonPredicate, knowledge: Knowledge) -> DescriptionParts:
    """Describe the end of a plan that has no result."""
    plan = knowledge.earlier.get(abandon.plan)
    words, cautions = (
        "not among the statements known here",
        ["The plan is not among the statements known here."],
    )
    if isinstance(plan, PlanPredicate):
        words, cautions = _name_subject(plan, knowledge.registry), []
    return DescriptionParts(
        title="A plan will have no result.",
        facts=(
            Fact("plan", f"{abandon.plan} ({words})"),
            Fact("reason", _ABANDON_WORDS[abandon.reason]),
        ),
        sentences=("No figure leaves the site. The plan stays in the log, with this reason.",),
        cautions=tuple(cautions),
    )


def describe_withdraw(withdraw: WithdrawPredicate, knowledge: Knowledge) -> DescriptionParts:
    """Describe the withdrawal of an earlier result."""
    result = knowledge.earlier.get(withdraw.result)
    words, cautions = (
        "not among the statements known here",
        ["The result is not among the statements known here."],
    )
    if isinstance(result, ResultPredicate):
        words, cautions = (
            f"{_name_subject(result, knowledge.registry)}, {format_day(result.day)}",
            [],
        )
    return DescriptionParts(
        title="An earlier result is withdrawn from the board.",
        facts=(
            Fact("result", f"{withdraw.result} ({words})"),
            Fact("reason", _WITHDRAW_WORDS[withdraw.reason]),
        ),
        sentences=(
            "No figure leaves the site. The result is removed from the board, but stays in the log.",
        ),
        cautions=tuple(cautions),
    )


def _name_subject(statement: PlanPredicate | ResultPredicate, registry: Registry) -> str:
    model = registry.models.get(statement.model)
    registered = registry.scorecards.get(statement.scorecard)
    model_name = model.display_name if model else "a model that is no longer registered"
    card_name = (
        registered.scorecard.name if registered else "a scorecard that is no longer registered"
    )
    return f"{model_name}, {card_name}"
