"""Juries as HELM's files hold them: in run_spec.json who judges, in scenario_state.json what each judge gave.

    metric_specs: [{"class_name": "...LLMJuryMetric", "args": {"metric_name": ..., "scenario_name": ANNOTATOR,
                    "annotator_models": {JUDGE: {"model_name": ..., "model_deployment": ...}}}}]
    annotations:  {ANNOTATOR: {"prompt_text": ..., JUDGE: {CRITERION: {"score": ..., "explanation": ...}}}}

HELM leaves out a judge that gave no verdict, and does not say why.
"""

import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from agent.exchange.json_path import PLAIN_NAME, JsonNode
from agent.exchange.redacted_only import redacted_only
from agent.jury.seats import seat_names
from agent.redaction.gateway.cases import ClearedJudgement
from agent.store import KeptJury, KeptMetric
from agent.vocabulary import Judge, Reason, Scale

JURY_METRIC = "helm.benchmark.metrics.llm_jury_metrics.LLMJuryMetric"
_PROMPT = "prompt_text"  # HELM's key for what the judges were asked, beside the judges


@dataclass(frozen=True, slots=True)
class HelmJury:
    """A jury of a HELM run: the metric it gives by HELM's name, and its judges by their names in the annotations."""

    metric: str
    annotator: str
    judges: Mapping[str, Judge]


@dataclass(frozen=True, slots=True)
class HelmSeat:
    """What one judge gave for one answer.

    Attributes:
        seat: from 0, in the order of the jury.
        grades: criterion -> number; None without a verdict.
        reason: why there is none.
        repaired: whether the judge was asked twice.
        reply: the verdict as JSON, written anew; empty where there is none.
    """

    seat: int
    grades: Mapping[str, float] | None
    reason: str | None
    repaired: bool
    reply: str


# to HELM


def annotations(judgements: Sequence[ClearedJudgement], annotator: str, keys: Sequence[str]) -> dict[str, Any]:
    """Return what an instance's judges gave as HELM's annotators write it. Judges without a verdict are left out.

    Args:
        judgements: of one metric.
        annotator: HELM's name for who asks the judges.
        keys: the judges' names there, by seat.
    """
    verdicts = {keys[given.seat]: _verdict(given) for given in judgements if given.grades is not None}
    return {annotator: verdicts} if verdicts else {}


def _verdict(given: ClearedJudgement) -> dict[str, dict[str, Any]]:
    assert given.grades is not None
    return {
        criterion: {"score": grade}
        | {field: redacted_only(text) for field, text in given.words.get(criterion, {}).items() if field != "score"}
        for criterion, grade in given.grades.items()
    }


def jury_metric(metric: KeptMetric, helm_name: str, annotator: str) -> dict[str, Any]:
    """Return the entry of a jury's metric in run_spec.json. Where a judge is served is not said."""
    models = {
        key: {"model_name": judge.model_name, "model_deployment": judge.model_name}
        for key, judge in zip(keys_of_jury(metric), metric.judges, strict=True)
    }
    args = {"metric_name": helm_name, "scenario_name": annotator, "annotator_models": models}
    return {"class_name": JURY_METRIC, "args": args}


def keys_of_jury(metric: KeptMetric) -> list[str]:
    """Return the names of a metric's judges in annotations, by seat: those of `seat_names`, none HELM's own key."""
    renamed = [replace(judge, name=f"judge {_PROMPT}") if judge.name == _PROMPT else judge for judge in metric.judges]
    return list(seat_names(renamed))


# from HELM


def juries_of(spec: JsonNode) -> tuple[HelmJury, ...]:
    """Return the juries that run_spec.json names, each with its judges."""
    return tuple(_juries(spec))


def _juries(spec: JsonNode) -> Iterator[HelmJury]:
    for metric in spec.at("metric_specs").items() if spec.has("metric_specs") else ():
        if metric.at("class_name").text() != JURY_METRIC:
            continue
        args = metric.at("args")
        models = args.maybe("annotator_models")
        judges = {
            JsonNode(model.file, model.path, key).name(): Judge(
                model.at("model_deployment").name(), model.at("model_name").name(), key
            )
            for key, model in (models.pairs() if models else ())
        }
        if judges:
            yield HelmJury(args.at("metric_name").plain_name(), args.at("scenario_name").name(), judges)


def seats_of(state: JsonNode, juries: Sequence[HelmJury]) -> dict[str, tuple[HelmSeat, ...]]:
    """Return what the judges gave for one instance, by HELM's name of the metric. Empty: nobody judged it."""
    found: dict[str, tuple[HelmSeat, ...]] = {}
    notes = state.maybe("annotations")
    for jury in juries:
        given = notes.maybe(jury.annotator) if notes else None
        if given is not None and any(given.has(key) for key in (_PROMPT, *jury.judges)):
            found[jury.metric] = tuple(_seat(seat, given.maybe(key)) for seat, key in enumerate(jury.judges))
    return found


def _seat(seat: int, verdict: JsonNode | None) -> HelmSeat:
    read = {} if verdict is None or not isinstance(verdict.value, dict) else dict(_criteria(verdict))
    if not read:
        return HelmSeat(seat, None, Reason.NOT_IMPORTED.value, repaired=False, reply="")
    grades = {criterion: grade for criterion, (grade, _) in read.items()}
    words = {criterion: {"score": grade, **said} for criterion, (grade, said) in read.items()}
    return HelmSeat(seat, grades, None, repaired=False, reply=json.dumps(words, ensure_ascii=False))


def _criteria(verdict: JsonNode) -> Iterator[tuple[str, tuple[float, dict[str, str]]]]:
    """Yield what is graded: (criterion, (grade, its texts)). HELM asks for no more, and judges add what they like."""
    for criterion, place in verdict.pairs():
        of = place.value
        if PLAIN_NAME.fullmatch(criterion) and isinstance(of, dict) and (grade := _number(of.get("score"))) is not None:
            yield (
                criterion,
                (grade, {key: text for key, text in of.items() if isinstance(text, str) and key != "score"}),
            )


def _number(value: object) -> float | None:
    """Return a grade as HELM takes it: a number, or a text that is one."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def keep_jury(jury: HelmJury, seats: Iterable[HelmSeat], scale: Scale) -> KeptJury:
    """Return the record of an imported jury: its judges, and the criteria and fields that its verdicts share.

    Keys of a verdict are a judge's words, which may name a patient. A criterion is one that most verdicts have.
    """
    verdicts = [json.loads(seat.reply) for seat in seats if seat.reply]
    most = Counter(criterion for verdict in verdicts for criterion in verdict)
    fields: dict[str, set[str]] = {}
    for criterion, of in (pair for verdict in verdicts for pair in verdict.items()):
        if 2 * most[criterion] > len(verdicts):
            said = {field for field in of if field != "score" and PLAIN_NAME.fullmatch(field)}
            fields[criterion] = fields.get(criterion, said) & said
    return KeptJury(
        judges=tuple(jury.judges.values()),
        scale=scale,
        criteria=dict.fromkeys(fields, ""),
        fields={criterion: tuple(sorted(of)) for criterion, of in fields.items()},
    )
