"""Juries in HELM's files: run_spec.json lists the judges, scenario_state.json contains their verdicts.

    metric_specs: [{"class_name": "...LLMJuryMetric", "args": {"metric_name": ..., "scenario_name": ANNOTATOR,
                    "annotator_models": {JUDGE: {"model_name": ..., "model_deployment": ...}}}}]
    annotations:  {ANNOTATOR: {"prompt_text": ..., JUDGE: {CRITERION: {"score": ..., "explanation": ...}}}}

HELM omits a judge that gave no verdict, without a reason.
"""

import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from agent.exchange.json_path import PLAIN_NAME, JsonNode
from agent.exchange.redacted_only import require_redacted
from agent.jury.seats import name_seats
from agent.redaction.gateway.cases import ClearedJudgement
from agent.store import KeptJury, KeptMetric
from agent.vocabulary import Judge, Reason, Scale

JURY_METRIC = "helm.benchmark.metrics.llm_jury_metrics.LLMJuryMetric"
_PROMPT = "prompt_text"  # HELM's key for the judges' prompt, next to the judges' names


@dataclass(frozen=True, slots=True)
class HelmJury:
    """A jury of a HELM run: HELM's name of its metric, and its judges by their names in the annotations."""

    metric: str
    annotator: str
    judges: Mapping[str, Judge]


@dataclass(frozen=True, slots=True)
class HelmSeat:
    """One judge's grades for one answer.

    Attributes:
        seat: the position in the jury, from 0.
        grades: number per criterion; None if there is no verdict.
        reason: why there is no verdict.
        repaired: whether the judge had to be asked a second time.
        reply: the verdict, serialised again as JSON; empty if there is no verdict.
    """

    seat: int
    grades: Mapping[str, float] | None
    reason: str | None
    repaired: bool
    reply: str


# Export to HELM


def write_annotations(
    judgements: Sequence[ClearedJudgement], annotator: str, keys: Sequence[str]
) -> dict[str, Any]:
    """Return an instance's verdicts as HELM's annotators write them. Judges without a verdict are omitted.

    Args:
        judgements: the judgements of the answer for one metric.
        annotator: HELM's name for the annotator that asks the judges.
        keys: the judges' names in HELM's annotations, by seat.
    """
    verdicts = {}
    for judgement in judgements:
        if judgement.grades is not None:
            verdicts[keys[judgement.seat]] = _write_verdict(judgement.grades, judgement.words)
    return {annotator: verdicts} if verdicts else {}


def _write_verdict(
    grades: Mapping[str, float], words: Mapping[str, Mapping[str, Any]]
) -> dict[str, dict[str, Any]]:
    verdict = {}
    for criterion, grade in grades.items():
        fields: dict[str, Any] = {"score": grade}
        for field, text in words.get(criterion, {}).items():
            if field != "score":
                fields[field] = require_redacted(text)
        verdict[criterion] = fields
    return verdict


def describe_jury_metric(metric: KeptMetric, helm_name: str, annotator: str) -> dict[str, Any]:
    """Return the entry for a jury's metric in run_spec.json. It does not reveal where the judges are served."""
    models = {
        key: {"model_name": judge.model_name, "model_deployment": judge.model_name}
        for key, judge in zip(name_judges(metric), metric.judges, strict=True)
    }
    args = {"metric_name": helm_name, "scenario_name": annotator, "annotator_models": models}
    return {"class_name": JURY_METRIC, "args": args}


def name_judges(metric: KeptMetric) -> list[str]:
    """Return the names of a metric's judges in annotations, by seat: like `name_seats`, but avoiding HELM's own key."""
    judges = []
    for judge in metric.judges:
        has_key_as_name = judge.name == _PROMPT
        judges.append(replace(judge, name=f"judge {_PROMPT}") if has_key_as_name else judge)
    return list(name_seats(judges))


# Import from HELM


def read_juries(spec: JsonNode) -> tuple[HelmJury, ...]:
    """Return the juries that run_spec.json lists, each with its judges."""
    return tuple(_find_juries(spec))


def _find_juries(spec: JsonNode) -> Iterator[HelmJury]:
    metrics = spec.maybe("metric_specs")
    if metrics is None:
        return
    for metric in metrics.items():
        if metric.at("class_name").text() != JURY_METRIC:
            continue
        args = metric.at("args")
        models = args.maybe("annotator_models")
        judges = {} if models is None else _read_judges(models)
        if judges:
            yield HelmJury(
                args.at("metric_name").plain_name(), args.at("scenario_name").name(), judges
            )


def _read_judges(models: JsonNode) -> dict[str, Judge]:
    judges = {}
    for key, model in models.pairs():
        name = JsonNode(model.file, model.path, key).name()
        judges[name] = Judge(
            model.at("model_deployment").name(), model.at("model_name").name(), key
        )
    return judges


def read_seats(
    request_state: JsonNode, juries: Sequence[HelmJury]
) -> dict[str, tuple[HelmSeat, ...]]:
    """Return the seats of one instance by HELM's metric name, omitting juries that did not annotate it."""
    annotations = request_state.maybe("annotations")
    if annotations is None:
        return {}
    seats: dict[str, tuple[HelmSeat, ...]] = {}
    for jury in juries:
        verdicts = annotations.maybe(jury.annotator)
        if verdicts is None or not any(map(verdicts.has, (_PROMPT, *jury.judges))):
            continue
        seats[jury.metric] = tuple(
            _read_seat(seat, verdicts.maybe(key)) for seat, key in enumerate(jury.judges)
        )
    return seats


def _read_seat(seat: int, verdict: JsonNode | None) -> HelmSeat:
    grades: dict[str, float] = {}
    words: dict[str, dict[str, Any]] = {}
    if verdict is not None and isinstance(verdict.value, dict):
        for criterion, fields in verdict.value.items():
            grade = _read_grade(criterion, fields)
            if grade is None:
                continue
            texts = {
                key: text
                for key, text in fields.items()
                if isinstance(text, str) and key != "score"
            }
            grades[criterion] = grade
            words[criterion] = {"score": grade, **texts}
    if not grades:
        return HelmSeat(
            seat, grades=None, reason=Reason.NOT_IMPORTED.value, repaired=False, reply=""
        )
    reply = json.dumps(words, ensure_ascii=False)
    return HelmSeat(seat, grades=grades, reason=None, repaired=False, reply=reply)


def _read_grade(criterion: str, fields: object) -> float | None:
    """Return a criterion's grade, accepting a number or a string that contains one, as HELM does.

    An entry of any other form, such as judges may add, is not a criterion; return None for it.
    """
    if not PLAIN_NAME.fullmatch(criterion) or not isinstance(fields, dict):
        return None
    value = fields.get("score")
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        grade = float(value)
    except (ValueError, OverflowError):
        return None
    return grade if math.isfinite(grade) else None


def describe_jury(jury: HelmJury, seats: Iterable[HelmSeat], scale: Scale) -> KeptJury:
    """Return the stored form of an imported jury: its judges, and the criteria and fields common to its verdicts.

    Judges write the keys of their verdicts, so a key may name a patient. Only keys that occur in most verdicts are kept
    as criteria.
    """
    verdicts = [json.loads(seat.reply) for seat in seats if seat.reply]
    uses = Counter(criterion for verdict in verdicts for criterion in verdict)
    shared_fields: dict[str, set[str]] = {}
    for verdict in verdicts:
        for criterion, words in verdict.items():
            if 2 * uses[criterion] <= len(verdicts):
                continue
            fields = {field for field in words if field != "score" and PLAIN_NAME.fullmatch(field)}
            shared_fields[criterion] = shared_fields.get(criterion, fields) & fields
    return KeptJury(
        judges=tuple(jury.judges.values()),
        scale=scale,
        criteria=dict.fromkeys(shared_fields, ""),
        fields={criterion: tuple(sorted(fields)) for criterion, fields in shared_fields.items()},
    )
