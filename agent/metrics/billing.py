"""Billing codes of a note (MIMIC-IV): precision, recall and F1 of the set of codes in an answer, note by note.

F1 is 2 * hits / (gold + named) for one note; like HELM, we report the mean over notes. An answer without any code has
recall and F1 of 0; its precision is undefined and is unscored(unparsed).

Upstream reads codes, including gold codes, with an expression that ends at the first letter after the digits. It turns
S72.001A into S72, and loses M1A.0110 and C7B.00, all procedures, all lower-case codes, and codes without a point unless
they have three or four characters. In prose, it counts T4, L5 and B12 as codes. `helm_*` reproduce that.
"""

import re
from collections.abc import Callable
from functools import partial

from agent.metrics.icd10 import find_named_codes, read_listed_codes
from agent.metrics.spec import MetricSpec, Options
from agent.vocabulary import Instance, Reason, Unscored

_UPSTREAM = re.compile(r"\b[A-Z]\d{1,3}(?:\.\d{1,4})?\.?\b")

Figure = Callable[[int, int, int], float | Unscored]
"""Computes a score from (codes in common, gold codes, named codes)."""


def _compute_precision(hits: int, gold: int, named: int) -> float | Unscored:  # noqa: ARG001
    return hits / named if named else Unscored(Reason.UNPARSED)


def _compute_recall(hits: int, gold: int, named: int) -> float | Unscored:  # noqa: ARG001
    return hits / gold


def _compute_f1(hits: int, gold: int, named: int) -> float | Unscored:
    return 2 * hits / (gold + named)


def _score(figure: Figure, answer: str, instance: Instance, options: Options) -> float | Unscored:  # noqa: ARG001
    gold = frozenset[str]().union(
        *(read_listed_codes(r.text) for r in instance.references if r.correct)
    )
    if not gold:
        return Unscored(Reason.NO_REFERENCE)
    named = find_named_codes(answer)
    return figure(len(gold & named), len(gold), len(named))


def _score_as_helm(
    figure: Figure,
    answer: str,
    instance: Instance,
    options: Options,  # noqa: ARG001
) -> float | Unscored:
    """Score as HELM does at version 0.5.16. HELM gives 0 if a score is undefined or the gold is unreadable."""
    if not instance.references:
        return Unscored(Reason.NO_REFERENCE)
    gold = {code for r in instance.references for code in upstream_codes(r.text)}
    named = upstream_codes(answer.strip())
    if (figure is _compute_recall and not gold) or not named | gold:
        return 0.0
    value = figure(len(gold & named), len(gold), len(named))
    return 0.0 if isinstance(value, Unscored) else value


def upstream_codes(text: str) -> set[str]:
    """Return the codes that HELM reads in a text, in HELM's notation."""
    return {code.rstrip(".") for code in _UPSTREAM.findall(text.replace("**", ""))}


def _make_spec(name: str, display_name: str, doc: str, figure: Figure) -> MetricSpec:
    return MetricSpec(
        f"mimiciv_billing_code_{name}",
        display_name,
        0,
        1,
        False,
        doc,
        partial(_score, figure),
        partial(_score_as_helm, figure),
    )


SPECS = (
    _make_spec(
        "precision",
        "Code precision",
        "Share of the named ICD-10 codes that are right, per note.",
        _compute_precision,
    ),
    _make_spec(
        "recall",
        "Code recall",
        "Share of the right ICD-10 codes that are named, per note.",
        _compute_recall,
    ),
    _make_spec(
        "f1",
        "Code F1",
        "Harmonic mean of precision and recall of the named ICD-10 codes, per note.",
        _compute_f1,
    ),
)
