"""MedCalc-Bench: compare a clinical calculator's result with the published answer or its limits.

Versions of the dataset spell categories differently: "lab" or "lab test", "dosage" or "dosage conversion". Upstream
accepts only one spelling of each, so its lab and dosage rows always score 0 (helm issue 4351); `helm_accuracy`
reproduces that.
"""

import datetime
import math
import re
from collections.abc import Callable
from dataclasses import replace

from agent.metrics.spec import MetricSpec, Options
from agent.reading.reading import Reading
from agent.vocabulary import Instance, Reason, Unscored

_RANGE = {"lab", "lab test", "physical", "dosage", "dosage conversion"}
_EXACT = {"risk", "severity", "diagnosis"}
_TUPLE = re.compile(r"\('(\d+) weeks', '(\d+) days'\)")


Value = float | datetime.date


def accuracy(answer: str, instance: Instance, options: Options) -> float | Unscored:  # noqa: ARG001
    """Score 1 if the answer gives a single value that is right for the row's category.

    Lab, physical and dosage: within the limits, both inclusive. Risk, severity and diagnosis: the same number
    ("5" is "5.0"). Date: within the limits, as a date or as weeks and days. `Instance.extra` contains `category`,
    `lower_limit` and `upper_limit`, and `question` if the definition names its column; the first reference is the
    published answer.
    """
    # Imported when first needed, because compiling the patterns takes a tenth of a second.
    from agent.reading.numbers import find_date, find_days, find_number

    gold = _get_gold(instance)
    category = _get_category(instance)
    question = instance.extra.get("question", "")
    low = instance.extra["lower_limit"].strip()
    high = instance.extra["upper_limit"].strip()
    if category in _EXACT:
        return _compare(answer, question, gold, gold, find_number)
    if category in _RANGE:
        return _compare(answer, question, low, high, find_number)
    if category == "date" and _TUPLE.fullmatch(gold):
        return _compare(answer, question, low, high, find_days)
    if category == "date":
        return _compare(answer, question, low, high, find_date)
    return Unscored(Reason.NO_REFERENCE)


def read_result(answer: str, instance: Instance, options: Options) -> Reading | Unscored:  # noqa: ARG001
    """Return the number, date or number of weeks and days that the row asks for."""
    from agent.reading.numbers import read_date, read_duration, read_number

    category = _get_category(instance)
    question = instance.extra.get("question", "")
    if category in _EXACT or category in _RANGE:
        reading = read_number(answer, question)
    elif category == "date" and _TUPLE.fullmatch(_get_gold(instance)):
        reading = read_duration(answer, question)
        if reading is not None:
            weeks, days = divmod(int(reading.value), 7)
            reading = replace(reading, value=f"{weeks} weeks, {days} days")
    elif category == "date":
        reading = read_date(answer, question)
    else:
        return Unscored(Reason.NO_REFERENCE)
    return reading or Unscored(Reason.UNPARSED)


def _get_gold(instance: Instance) -> str:
    return instance.references[0].text.strip() if instance.references else ""


def _get_category(instance: Instance) -> str:
    return instance.extra["category"].strip().lower()


def _compare(
    answer: str, question: str, low: str, high: str, find_value: Callable[[str, str], Value | None]
) -> float | Unscored:
    lowest = find_value(low, "")
    highest = find_value(high, "")
    if lowest is None or highest is None:
        return Unscored(Reason.NO_REFERENCE)
    value = find_value(answer, question)
    if value is None:
        return Unscored(Reason.UNPARSED)
    return float(_is_within(value, lowest, highest))


def _is_within(value: Value, low: Value, high: Value) -> bool:
    if (
        isinstance(value, datetime.date)
        or isinstance(low, datetime.date)
        or isinstance(high, datetime.date)
    ):
        return str(low) <= str(value) <= str(high)  # ISO dates sort as strings
    # Limits of a negative result may be given in the wrong order.
    low, high = min(low, high), max(low, high)
    if low <= value <= high:
        return True
    # Limits are rounded decimals, so an answer equal to a limit must not fail because of the last binary digit.
    return math.isclose(value, low, rel_tol=1e-12) or math.isclose(value, high, rel_tol=1e-12)


def helm_accuracy(answer: str, instance: Instance, options: Options) -> float | Unscored:  # noqa: ARG001
    """Score as HELM does at version 0.5.16, including its faults."""
    if not instance.references:
        return Unscored(Reason.NO_REFERENCE)
    predicted = answer.strip()
    gold = instance.references[0].text
    extra = instance.extra
    if extra["category"] in _EXACT:
        return float(predicted == gold)
    low, high = extra["lower_limit"], extra["upper_limit"]
    try:
        match extra["category"]:
            case "date" if _TUPLE.match(gold):
                return float(
                    _read_helm_days(low) <= _read_helm_days(predicted) <= _read_helm_days(high)
                )
            case "date":
                return float(
                    _read_helm_date(low) <= _read_helm_date(predicted) <= _read_helm_date(high)
                )
            case "physical" | "dosage conversion":
                return float(float(low) <= float(predicted) <= float(high))
            case _:
                return 0.0
    except ValueError:
        return 0.0


def _read_helm_days(text: str) -> int:
    match = _TUPLE.match(text)
    if match is None:
        raise ValueError
    return int(match[1]) * 7 + int(match[2])


def _read_helm_date(text: str) -> datetime.datetime:
    return datetime.datetime.strptime(text, "%m/%d/%Y")  # a calendar day


SPECS = (
    MetricSpec(
        "medcalc_bench_accuracy",
        "MedCalc accuracy",
        0,
        1,
        True,
        "Whether the computed value is the published value or within its limits.",
        accuracy,
        helm_accuracy,
        read=read_result,
        value_kind="number",
    ),
)
