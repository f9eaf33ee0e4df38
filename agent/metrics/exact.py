"""Exact and nearly exact matches, for free text and for multiple choice."""

import re
import string
from collections.abc import Callable

from agent.metrics.choice import extract_option
from agent.metrics.spec import MetricSpec, Options
from agent.vocabulary import Instance, Reason, Unscored

_ARTICLES = re.compile(r"\b(a|an|the)\b")
_PUNCTUATION = str.maketrans("", "", string.punctuation)
_LETTERS = string.ascii_uppercase

Compare = Callable[[str, str], bool]
"""(gold, predicted) -> whether they match."""


def normalise(text: str) -> str:
    """Lower case, without punctuation and English articles, single spaces: HELM's rule, after QuAC's scorer."""
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split())


def _equal(gold: str, predicted: str) -> bool:
    return gold.strip() == predicted.strip()


def _quasi_equal(gold: str, predicted: str) -> bool:
    return normalise(gold) == normalise(predicted)


def _prefix(gold: str, predicted: str) -> bool:
    return predicted.strip().startswith(gold.strip())


def _quasi_prefix(gold: str, predicted: str) -> bool:
    return normalise(predicted).startswith(normalise(gold))


def _score(compare: Compare, answer: str, instance: Instance) -> float | Unscored:
    if not any(reference.correct for reference in instance.references):
        return Unscored(Reason.NO_REFERENCE)
    if not instance.multiple_choice:
        return _best(compare, answer, instance)
    option = extract_option(answer, tuple(reference.text for reference in instance.references))
    if option is None:
        return Unscored(Reason.UNPARSED)
    return _best(compare, instance.references[option].text, instance)


def _helm_score(compare: Compare, answer: str, instance: Instance) -> float | Unscored:
    """Only the bare capital letter counts; anything else is wrong, and so is an empty answer."""
    predicted = answer.strip()
    if instance.multiple_choice:
        index = _LETTERS.find(predicted) if len(predicted) == 1 else -1
        known = 0 <= index < len(instance.references)
        predicted = instance.references[index].text if known else ""
    return _best(compare, predicted, instance) if predicted else 0.0


def _best(compare: Compare, predicted: str, instance: Instance) -> float:
    return float(any(compare(r.text, predicted) for r in instance.references if r.correct))


def _metric(name: str, display_name: str, doc: str, compare: Compare) -> MetricSpec:
    def fn(answer: str, instance: Instance, options: Options) -> float | Unscored:  # noqa: ARG001
        return _score(compare, answer, instance)

    def helm_fn(answer: str, instance: Instance, options: Options) -> float | Unscored:  # noqa: ARG001
        return _helm_score(compare, answer, instance)

    return MetricSpec(name, display_name, 0, 1, True, doc, fn, helm_fn)


SPECS = (
    _metric(
        "exact_match",
        "Exact match",
        "Whether the answer equals the right one but for white space around it, or names the right option.",
        _equal,
    ),
    _metric(
        "quasi_exact_match",
        "Quasi-exact match",
        "As exact match, ignoring case, punctuation, articles and spacing.",
        _quasi_equal,
    ),
    _metric(
        "prefix_exact_match",
        "Prefix exact match",
        "Whether the answer begins with the right one.",
        _prefix,
    ),
    _metric(
        "quasi_prefix_exact_match",
        "Quasi-prefix exact match",
        "As prefix exact match, ignoring case, punctuation, articles and spacing.",
        _quasi_prefix,
    ),
)
