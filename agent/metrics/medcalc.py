"""MedCalc-Bench: a clinical calculator's result against the published answer or its limits.

Categories are spelt differently in the dataset's versions: "lab" or "lab test", "dosage" or "dosage conversion".
Upstream knows only one spelling of each, so its lab and dosage rows always score 0 (helm issue 4351);
`helm_accuracy` reproduces that.
"""

import datetime
import math
import re

from agent.metrics.numbers import find_date, find_days, find_number
from agent.metrics.spec import MetricSpec, Options
from agent.vocabulary import Instance, Reason, Unscored

_RANGE = {"lab", "lab test", "physical", "dosage", "dosage conversion"}
_EXACT = {"risk", "severity", "diagnosis"}
_TUPLE = re.compile(r"\('(\d+) weeks', '(\d+) days'\)")


def accuracy(answer: str, instance: Instance, options: Options) -> float | Unscored:  # noqa: ARG001
    """Score 1 when the answer's one value is right, by the row's category.

    Lab, physical and dosage: within the limits, both inclusive. Risk, severity and diagnosis: the same number
    ("5" is "5.0"). Date: within the limits, as a date or as weeks and days. `Instance.extra` holds `category`,
    `lower_limit` and `upper_limit`; the first reference is the published answer.
    """
    gold = instance.references[0].text.strip() if instance.references else ""
    category = instance.extra["category"].strip().lower()
    low, high = instance.extra["lower_limit"].strip(), instance.extra["upper_limit"].strip()
    value: float | datetime.date | None
    limits: tuple[float | datetime.date | None, float | datetime.date | None]
    if category in _EXACT:
        value, limits = find_number(answer), (find_number(gold), find_number(gold))
    elif category in _RANGE:
        value, limits = find_number(answer), (find_number(low), find_number(high))
    elif category == "date" and _TUPLE.fullmatch(gold):
        value, limits = find_days(answer), (find_days(low), find_days(high))
    elif category == "date":
        value, limits = find_date(answer), (find_date(low), find_date(high))
    else:
        return Unscored(Reason.NO_REFERENCE)
    if limits[0] is None or limits[1] is None:
        return Unscored(Reason.NO_REFERENCE)
    if value is None:
        return Unscored(Reason.UNPARSED)
    return float(_within(value, limits[0], limits[1]))


def _within(value: float | datetime.date, low: float | datetime.date, high: float | datetime.date) -> bool:
    if isinstance(value, datetime.date) or isinstance(low, datetime.date) or isinstance(high, datetime.date):
        return str(low) <= str(value) <= str(high)  # ISO dates sort as text
    # Limits of a negative result may be given the other way round. Limits are rounded decimals, so an answer
    # that is one of them must not fail by the last binary digit.
    low, high = min(low, high), max(low, high)
    return low <= value <= high or math.isclose(value, low, rel_tol=1e-12) or math.isclose(value, high, rel_tol=1e-12)


def helm_accuracy(answer: str, instance: Instance, options: Options) -> float | Unscored:  # noqa: ARG001
    """Score as HELM does at version 0.5.16, faults included."""
    if not instance.references:
        return Unscored(Reason.NO_REFERENCE)
    predicted, gold, extra = answer.strip(), instance.references[0].text, instance.extra
    if extra["category"] in _EXACT:
        return float(predicted == gold)
    low, high = extra["lower_limit"], extra["upper_limit"]
    try:
        match extra["category"]:
            case "date" if _TUPLE.match(gold):
                return float(_helm_days(low) <= _helm_days(predicted) <= _helm_days(high))
            case "date":
                return float(_helm_date(low) <= _helm_date(predicted) <= _helm_date(high))
            case "physical" | "dosage conversion":
                return float(float(low) <= float(predicted) <= float(high))
            case _:
                return 0.0
    except ValueError:
        return 0.0


def _helm_days(text: str) -> int:
    match = _TUPLE.match(text)
    if match is None:
        raise ValueError
    return int(match[1]) * 7 + int(match[2])


def _helm_date(text: str) -> datetime.datetime:
    return datetime.datetime.strptime(text, "%m/%d/%Y")  # a calendar day


SPECS = (
    MetricSpec(
        "medcalc_bench_accuracy",
        "MedCalc accuracy",
        0,
        1,
        True,
        "Whether the computed value is the published one, or within its limits.",
        accuracy,
        helm_accuracy,
    ),
)
