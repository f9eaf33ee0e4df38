"""intramural.json, stored next to HELM's files of a run: the details that HELM's files cannot hold.

With it, an exported run can be imported again without loss.

    {"format": "intramural run 1", "data": "sample", "own_data": false, "unit": "patient", "unit_named": true,
     "scoring": "intramural", "metrics": [{"name": ..., "helm_name": ..., ...}],
     "instances": [{"id": ..., "unit": ..., "unscored": {"exact_match": "unparsed"},
                    "seats": {"jury_score": [{"seat": 0, "grades": {...}, "repaired": false}, ...]}}]}

The first metric is the main metric. A metric scored by a jury has a `jury` (judges, quorum, scale, criteria, fields).
Units are keyed hashes, and are written only if the data names its units.
"""

import os
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast, get_args

from agent.catalog.judges import MAX_TEMPERATURE
from agent.exchange.helm.juries import HelmSeat
from agent.exchange.helm.names import metric_title
from agent.exchange.json_path import MAX_NAME_LENGTH, JsonNode, read_json
from agent.redaction.gateway.cases import ClearedCase, ClearedJudgement
from agent.store import KeptJury, KeptMetric, Run
from agent.vocabulary import Judge, Reason, Scale, Scoring, ScoringChoice, Unscored

RECORD = "intramural.json"
INSTANCES = "instances"
MAX_JUDGES = 1_000  # per jury
_FORMAT = "intramural run 1"
_DATA = ("official", "sample", "invented", "unknown", "imported")
_REASONS = tuple(reason.value for reason in Reason)


@dataclass(frozen=True, slots=True)
class OwnRecord:
    """The details in a run's intramural.json.

    Attributes:
        data, own_data, unit, unit_named, scoring: as in `RunDetails`; `data` is its field `data.known`.
        metrics: the main metric first; `helm_name` is its name in HELM's files.
        reasons: the reason why there is no score, by instance id and metric.
        units: by instance id, if the data names units.
        seats: by instance id and metric; the judges' replies are in HELM's annotations.
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


def write_run_record(run: Run, helm_names: Mapping[str, str]) -> dict[str, Any]:
    """Return the record of the run without its instances. `helm_names` maps our metric keys to HELM's names."""
    details = run.details
    return {
        "format": _FORMAT,
        "data": details.data.known,
        "own_data": details.data.own,
        "unit": details.unit,
        "unit_named": details.unit_named,
        "scoring": details.scoring,
        "metrics": [
            _write_metric(metric, helm_names[metric.name], details.scoring)
            for metric in details.metrics
        ],
    }


def _write_metric(metric: KeptMetric, helm_name: str, scoring_of_run: str) -> dict[str, Any]:
    record: dict[str, Any] = {
        "name": metric.name,
        "display_name": metric.display_name,
        "low": metric.low,
        "high": metric.high,
        "binary": metric.binary,
        "helm_name": helm_name,
        "scoring": metric.scoring or scoring_of_run,
        "whole_run": metric.whole_run,
    }
    if metric.jury is not None:
        record["jury"] = _write_jury(metric.jury)
    return record


def _write_judge(judge: Judge) -> dict[str, Any]:
    """Return one seat; its sampling is left out if the jury does not set it, as in earlier versions."""
    seat: dict[str, Any] = {"name": judge.name, "model": judge.model_name}
    if judge.seed is not None:
        seat["seed"] = judge.seed
    if judge.temperature:
        seat["temperature"] = judge.temperature
    return seat


def _write_jury(jury: KeptJury) -> dict[str, Any]:
    return {
        "judges": [_write_judge(judge) for judge in jury.judges],
        "criteria": list(jury.criteria),
        "quorum": jury.quorum,
        "scale": [jury.scale.low, jury.scale.high],
        "fields": {criterion: list(fields) for criterion, fields in jury.fields.items()},
        "gold_shown": jury.gold_shown,
    }


def write_instance_record(case: ClearedCase, identity: str, unit: str | None) -> dict[str, Any]:
    """Return the record of one instance. `unit` is None if the data names no units."""
    record: dict[str, Any] = {"id": identity}
    if unit is not None:
        record["unit"] = unit
    reasons = {
        name: score.reason.value
        for name, score in case.scores.items()
        if isinstance(score, Unscored)
    }
    if reasons:
        record["unscored"] = reasons
    if case.judgements:
        record["seats"] = _write_seats(case.judgements)
    return record


def _write_seats(judgements: Sequence[ClearedJudgement]) -> dict[str, list[dict[str, Any]]]:
    seats: dict[str, list[dict[str, Any]]] = {}
    for judgement in judgements:
        seat: dict[str, Any] = {"seat": judgement.seat}
        if judgement.grades is None:
            seat["reason"] = judgement.reason
        else:
            seat["grades"] = dict(judgement.grades)
        seat["repaired"] = judgement.repaired
        seats.setdefault(judgement.metric, []).append(seat)
    return seats


@dataclass(slots=True)
class _InstanceRecords:
    """The records of a run's instances; each field is keyed by instance id as in `OwnRecord`."""

    reasons: dict[str, dict[str, Reason]] = field(default_factory=dict)
    units: dict[str, str] = field(default_factory=dict)
    seats: dict[str, dict[str, tuple[HelmSeat, ...]]] = field(default_factory=dict)

    def add(self, instance: JsonNode, metric_names: Set[str]) -> None:
        """Read one instance. Entries for metrics that the run does not have are ignored."""
        identity = instance.at("id").name()
        if identity in self.reasons:
            raise instance.at("id").wrong("an id that is unique among the instances")
        self.reasons[identity] = {}
        unscored = instance.maybe("unscored")
        for metric, reason in unscored.pairs() if unscored else ():
            if metric in metric_names:
                self.reasons[identity][metric] = Reason(reason.one_of(_REASONS))
        unit = instance.maybe("unit")
        if unit is not None:
            self.units[identity] = unit.name()
        seats = instance.maybe("seats")
        if seats is None:
            return
        self.seats[identity] = {}
        for metric, seats_of_metric in seats.pairs():
            if metric in metric_names:
                self.seats[identity][metric] = tuple(map(_read_seat, seats_of_metric.items()))


def read_own_record(folder: Path) -> tuple[OwnRecord, bytes] | None:
    """Return the record in a run's folder and its bytes, or None if there is none because HELM wrote the folder.

    Raises:
        BenchmarkError: the record is wrong; the message names the key.
    """
    if not os.path.lexists(folder / RECORD):
        return None
    node, content = read_json(folder, RECORD)
    node.at("format").one_of((_FORMAT,))
    metrics = tuple(map(_read_metric, node.at("metrics").items()))
    metric_names = {metric.name for metric in metrics}
    if not metrics or len(metric_names) < len(metrics):
        raise node.at("metrics").wrong("at least one metric, and no name twice")
    instances = _InstanceRecords()
    for instance in node.at(INSTANCES).items():
        instances.add(instance, metric_names)
    record = OwnRecord(
        data=node.at("data").one_of(_DATA),
        own_data=node.at("own_data").yes_no(),
        unit=node.at("unit").name(),
        unit_named=node.at("unit_named").yes_no(),
        scoring=cast("ScoringChoice", node.at("scoring").one_of(get_args(ScoringChoice))),
        metrics=metrics,
        reasons=instances.reasons,
        units=instances.units,
        seats=instances.seats,
    )
    return record, content


def _read_seat(node: JsonNode) -> HelmSeat:
    grades_node = node.maybe("grades")
    seat = node.at("seat").whole()
    if not 0 <= seat < MAX_JUDGES:
        raise node.at("seat").wrong(f"a number from 0 to {MAX_JUDGES - 1}")
    grades = None
    reason = None
    if grades_node is None:
        reason = node.at("reason").plain_name()
    else:
        grades = {
            _check_criterion(grades_node, key): grade.number() for key, grade in grades_node.pairs()
        }
    return HelmSeat(
        seat=seat, grades=grades, reason=reason, repaired=node.at("repaired").yes_no(), reply=""
    )


def _check_criterion(node: JsonNode, name: str) -> str:
    if not name.strip() or len(name) > MAX_NAME_LENGTH or not name.isprintable():
        raise node.wrong("criteria whose names are single lines")
    return name


def _read_metric(node: JsonNode) -> KeptMetric:
    name = node.at("name").plain_name()
    jury = node.maybe("jury")
    low = _read_end(node.at("low"), of_jury=jury is not None)
    high = _read_end(node.at("high"), of_jury=jury is not None)
    if low >= high:
        raise node.at("high").wrong("a number greater than `low`")
    return KeptMetric(
        name=name,
        metric=name.partition("@")[0],
        display_name=metric_title(name),
        helm_name=node.at("helm_name").plain_name(),
        low=low,
        high=high,
        binary=node.at("binary").yes_no(),
        scoring=cast("Scoring", node.at("scoring").one_of(get_args(Scoring))),
        whole_run=node.at("whole_run").yes_no(),
        jury=None if jury is None else _read_jury(jury),
    )


def _read_end(node: JsonNode, *, of_jury: bool) -> float:
    """Return one end of a metric's range, which must be a whole number unless a jury scores the metric."""
    return node.number() if of_jury else node.whole()


def _read_seed(judge: JsonNode) -> int | None:
    """Return the seed of a seat; None if it sets none. A rounded seed would be that of another seat."""
    node = judge.maybe("seed")
    if node is None:
        return None
    if node.whole() < 0:
        raise node.wrong("a seed of 0 or more")
    return node.whole()


def _read_temperature(judge: JsonNode) -> float:
    node = judge.maybe("temperature")
    if node is None:
        return 0.0
    if not 0 <= node.number() <= MAX_TEMPERATURE:
        raise node.wrong(f"a temperature from 0 to {MAX_TEMPERATURE:g}")
    return node.number()


def _read_jury(node: JsonNode) -> KeptJury:
    """Return a run's jury. The record contains neither the judges' deployments nor their prompts."""
    judges = []
    for judge in node.at("judges").items():
        name = judge.at("name").text()
        model = judge.at("model").name()
        judges.append(
            Judge(
                model_deployment=model,
                model_name=model,
                name=name,
                seed=_read_seed(judge),
                temperature=_read_temperature(judge),
            )
        )
    scale = [end.number() for end in node.at("scale").items()]
    if len(judges) > MAX_JUDGES or any(
        judge.name and not judge.name.isprintable() for judge in judges
    ):
        raise node.at("judges").wrong(f"at most {MAX_JUDGES} judges whose names are single lines")
    if len(scale) != 2 or scale[0] >= scale[1]:
        raise node.at("scale").wrong("the lowest and highest grades")
    quorum = node.maybe("quorum")
    criteria = [criterion.name() for criterion in node.at("criteria").items()]
    fields = {}
    for criterion, names in node.at("fields").pairs():
        fields[_check_criterion(node, criterion)] = tuple(name.name() for name in names.items())
    return KeptJury(
        judges=tuple(judges),
        quorum=None if quorum is None else quorum.whole(),
        scale=Scale(low=scale[0], high=scale[1]),
        criteria=dict.fromkeys(criteria, ""),
        fields=fields,
        gold_shown=node.at("gold_shown").yes_no(),
    )
