"""intramural.json beside HELM's files of a run: what HELM has no place for, so that an export can come back whole.

    {"format": "intramural run 1", "data": "sample", "own_data": false, "unit": "patient", "unit_named": true,
     "scoring": "intramural", "metrics": [{"name": ..., "helm_name": ..., ...}],
     "instances": [{"id": ..., "unit": ..., "unscored": {"exact_match": "unparsed"}}]}

The first metric is the main one. Units are keyed hashes, and only there where the data names its units.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from agent.evaluation.measures import ScoringChoice
from agent.exchange.helm_names import metric_title
from agent.exchange.json_place import Place, read_json
from agent.redaction.clearing import ClearedCase
from agent.store import Run
from agent.vocabulary import Reason, Scoring, Unscored

RECORD = "intramural.json"
INSTANCES = "instances"
_FORMAT = "intramural run 1"
_DATA = ("official", "sample", "invented", "unknown", "imported")
_REASONS = tuple(reason.value for reason in Reason)


@dataclass(frozen=True, slots=True)
class OwnRecord:
    """What a run of our own export said of itself.

    Attributes:
        data: whose data it was, and whether it was the site's own.
        settings: unit, unit_named and scoring, as a run keeps them.
        metrics: what a run keeps of each, the main one first; `helm_name` is what HELM's files call it.
        reasons: by instance's id and metric, why there is no score.
        units: by instance's id, where the data names units.
    """

    data: Mapping[str, Any]
    settings: Mapping[str, Any]
    metrics: tuple[Mapping[str, Any], ...]
    reasons: Mapping[str, Mapping[str, Reason]]
    units: Mapping[str, str]


def run_record(run: Run, helm_names: Mapping[str, str]) -> dict[str, Any]:
    """Return what is said of the run besides its instances. `helm_names` are HELM's, by our key."""
    details = run.details
    return {
        "format": _FORMAT,
        "data": details["data"]["known"],
        "own_data": details["data"]["own"],
        "unit": details["unit"],
        "unit_named": details["unit_named"],
        "scoring": details["scoring"],
        "metrics": [
            {key: metric[key] for key in ("name", "display_name", "low", "high", "binary")}
            | {
                "helm_name": helm_names[metric["name"]],
                "scoring": metric.get("scoring") or details["scoring"],
                "whole_run": bool(metric.get("whole_run")),
            }
            for metric in details["metrics"]
        ],
    }


def instance_record(case: ClearedCase, identity: str, unit: str | None) -> dict[str, Any]:
    """Return what is said of one instance. `unit` is None where the data names none."""
    reasons = {name: score.reason.value for name, score in case.scores.items() if isinstance(score, Unscored)}
    return {
        "id": identity,
        **({} if unit is None else {"unit": unit}),
        **({"unscored": reasons} if reasons else {}),
    }


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
    names = {metric["name"] for metric in metrics}
    if not metrics or len(names) < len(metrics):
        raise whole.at("metrics").wrong("at least one metric, each name once")
    reasons: dict[str, dict[str, Reason]] = {}
    units: dict[str, str] = {}
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
    record = OwnRecord(
        data={"known": whole.at("data").one_of(_DATA), "own": whole.at("own_data").yes_no()},
        settings={
            "unit": whole.at("unit").name(),
            "unit_named": whole.at("unit_named").yes_no(),
            "scoring": whole.at("scoring").one_of(get_args(ScoringChoice)),
        },
        metrics=metrics,
        reasons=reasons,
        units=units,
    )
    return record, content


def _metric(place: Place) -> dict[str, Any]:
    name, low, high = place.at("name").plain_name(), place.at("low").whole(), place.at("high").whole()
    if low >= high:
        raise place.at("high").wrong("a number above low")
    return {
        "name": name,
        "metric": name.partition("@")[0],
        "display_name": metric_title(name),
        "low": low,
        "high": high,
        "binary": place.at("binary").yes_no(),
        "scoring": place.at("scoring").one_of(get_args(Scoring)),
        "helm_name": place.at("helm_name").plain_name(),
        "whole_run": place.at("whole_run").yes_no(),
        "options": {},
    }
