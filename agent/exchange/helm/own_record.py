"""intramural.json beside HELM's files of a run: what HELM has no place for, so that an export can come back whole.

    {"format": "intramural run 1", "data": "sample", "own_data": false, "unit": "patient", "unit_named": true,
     "scoring": "intramural", "metrics": [{"name": ..., "helm_name": ..., ...}],
     "instances": [{"id": ..., "unit": ..., "unscored": {"exact_match": "unparsed"},
                    "seats": {"jury_score": [{"seat": 0, "grades": {...}, "repaired": false}, ...]}}]}

The first metric is the main one. One that a jury gives has a `jury` (judges, quorum, scale, criteria, fields).
Units are keyed hashes, and only there where the data names its units.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast, get_args

from agent.exchange.helm.juries import HelmSeat
from agent.exchange.helm.names import metric_title
from agent.exchange.json_path import LONGEST_NAME, JsonNode, read_json
from agent.redaction.gateway.cases import ClearedCase, ClearedJudgement
from agent.store import KeptJury, KeptMetric, Run
from agent.vocabulary import Judge, Reason, Scale, Scoring, ScoringChoice, Unscored

RECORD = "intramural.json"
INSTANCES = "instances"
MOST_JUDGES = 1_000  # of one jury
_FORMAT = "intramural run 1"
_DATA = ("official", "sample", "invented", "unknown", "imported")
_REASONS = tuple(reason.value for reason in Reason)


@dataclass(frozen=True, slots=True)
class OwnRecord:
    """What a run of our own export said of itself.

    Attributes:
        data, own_data, unit, unit_named, scoring: as in the run's details: `data` is its data's `known`.
        metrics: the main one first; `helm_name` is what HELM's files call it.
        reasons: by instance's id and metric, why there is no score.
        units: by instance's id, where the data names units.
        seats: by instance's id and metric, what each judge gave; their words are in HELM's annotations.
    """

    data: str
    own_data: bool
    unit: str
    unit_named: bool
    scoring: ScoringChoice
    metrics: tuple[KeptMetric, ...]
    reasons: Mapping[str, Mapping[str, Reason]]
    units: Mapping[str, str]
    seats: Mapping[str, Mapping[str, tuple[HelmSeat, ...]]]


def run_record(run: Run, helm_names: Mapping[str, str]) -> dict[str, Any]:
    """Return what is said of the run besides its instances. `helm_names` are HELM's, by our key."""
    details = run.details
    return {
        "format": _FORMAT,
        "data": details.data.known,
        "own_data": details.data.own,
        "unit": details.unit,
        "unit_named": details.unit_named,
        "scoring": details.scoring,
        "metrics": [
            {
                "name": metric.name,
                "display_name": metric.display_name,
                "low": metric.low,
                "high": metric.high,
                "binary": metric.binary,
                "helm_name": helm_names[metric.name],
                "scoring": metric.scoring or details.scoring,
                "whole_run": metric.whole_run,
                **({} if metric.jury is None else {"jury": _jury_record(metric.jury)}),
            }
            for metric in details.metrics
        ],
    }


def _jury_record(jury: KeptJury) -> dict[str, Any]:
    return {
        "judges": [{"name": judge.name, "model": judge.model_name} for judge in jury.judges],
        "criteria": list(jury.criteria),
        "quorum": jury.quorum,
        "scale": [jury.scale.low, jury.scale.high],
        "fields": {criterion: list(fields) for criterion, fields in jury.fields.items()},
        "gold_shown": jury.gold_shown,
    }


def instance_record(case: ClearedCase, identity: str, unit: str | None) -> dict[str, Any]:
    """Return what is said of one instance. `unit` is None where the data names none."""
    reasons = {name: score.reason.value for name, score in case.scores.items() if isinstance(score, Unscored)}
    return {
        "id": identity,
        **({} if unit is None else {"unit": unit}),
        **({"unscored": reasons} if reasons else {}),
        **({"seats": _seats_record(case.judgements)} if case.judgements else {}),
    }


def _seats_record(judgements: Sequence[ClearedJudgement]) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    for given in judgements:
        gave = {"reason": given.reason} if given.grades is None else {"grades": dict(given.grades)}
        found.setdefault(given.metric, []).append({"seat": given.seat, **gave, "repaired": given.repaired})
    return found


def read_own_record(folder: Path) -> tuple[OwnRecord, bytes] | None:
    """Read the file from a run's folder; None where there is none, as in what HELM wrote. Returns its bytes too.

    Raises:
        BenchmarkError: it is wrong; names the place.
    """
    if not os.path.lexists(folder / RECORD):
        return None
    whole, content = read_json(folder, RECORD)
    whole.at("format").one_of((_FORMAT,))
    metrics = tuple(map(_metric, whole.at("metrics").items()))
    names = {metric.name for metric in metrics}
    if not metrics or len(names) < len(metrics):
        raise whole.at("metrics").wrong("at least one metric, each name once")
    reasons: dict[str, dict[str, Reason]] = {}
    units: dict[str, str] = {}
    seats: dict[str, dict[str, tuple[HelmSeat, ...]]] = {}
    for place in whole.at(INSTANCES).items():
        identity = place.at("id").name()
        if identity in reasons:
            raise place.at("id").wrong("an id that no other instance has")
        unscored = place.maybe("unscored")
        reasons[identity] = {
            metric: Reason(reason.one_of(_REASONS))
            for metric, reason in (unscored.pairs() if unscored else ())
            if metric in names
        }
        if unit := place.maybe("unit"):
            units[identity] = unit.name()
        if given := place.maybe("seats"):
            seats[identity] = {metric: tuple(map(_seat, of.items())) for metric, of in given.pairs() if metric in names}
    record = OwnRecord(
        data=whole.at("data").one_of(_DATA),
        own_data=whole.at("own_data").yes_no(),
        unit=whole.at("unit").name(),
        unit_named=whole.at("unit_named").yes_no(),
        scoring=cast("ScoringChoice", whole.at("scoring").one_of(get_args(ScoringChoice))),
        metrics=metrics,
        reasons=reasons,
        units=units,
        seats=seats,
    )
    return record, content


def _seat(place: JsonNode) -> HelmSeat:
    grades, number = place.maybe("grades"), place.at("seat").whole()
    if not 0 <= number < MOST_JUDGES:
        raise place.at("seat").wrong(f"a number from 0 to {MOST_JUDGES - 1}")
    return HelmSeat(
        seat=number,
        grades=None if grades is None else {_criterion(grades, key): of.number() for key, of in grades.pairs()},
        reason=place.at("reason").plain_name() if grades is None else None,
        repaired=place.at("repaired").yes_no(),
        reply="",
    )


def _criterion(place: JsonNode, name: str) -> str:
    if not name.strip() or len(name) > LONGEST_NAME or not name.isprintable():
        raise place.wrong("criteria with names of one line")
    return name


def _metric(place: JsonNode) -> KeptMetric:
    name, jury = place.at("name").plain_name(), place.maybe("jury")
    low, high = (_end(place.at(key), of_jury=jury is not None) for key in ("low", "high"))
    if low >= high:
        raise place.at("high").wrong("a number above low")
    return KeptMetric(
        name=name,
        metric=name.partition("@")[0],
        display_name=metric_title(name),
        helm_name=place.at("helm_name").plain_name(),
        low=low,
        high=high,
        binary=place.at("binary").yes_no(),
        scoring=cast("Scoring", place.at("scoring").one_of(get_args(Scoring))),
        whole_run=place.at("whole_run").yes_no(),
        jury=None if jury is None else _jury(jury),
    )


def _end(place: JsonNode, *, of_jury: bool) -> float:
    return place.number() if of_jury else place.whole()


def _jury(place: JsonNode) -> KeptJury:
    """Return a run's jury. Where the judges were served is not known here, nor what they were asked."""
    judges = [(judge.at("name").text(), judge.at("model").name()) for judge in place.at("judges").items()]
    scale = [end.number() for end in place.at("scale").items()]
    if len(judges) > MOST_JUDGES or any(name and not name.isprintable() for name, _ in judges):
        raise place.at("judges").wrong(f"at most {MOST_JUDGES} judges with names of one line")
    if len(scale) != 2 or scale[0] >= scale[1]:
        raise place.at("scale").wrong("the lowest and the highest grade")
    quorum = place.maybe("quorum")
    criteria = [criterion.name() for criterion in place.at("criteria").items()]
    return KeptJury(
        judges=tuple(Judge(model, model, name) for name, model in judges),
        quorum=None if quorum is None else quorum.whole(),
        scale=Scale(*scale),
        criteria=dict.fromkeys(criteria, ""),
        fields={
            _criterion(place, key): tuple(field.name() for field in of.items())
            for key, of in place.at("fields").pairs()
        },
        gold_shown=place.at("gold_shown").yes_no(),
    )
