"""Billing codes of a note (MIMIC-IV): precision, recall and F1 of the set of codes in an answer, note by note.

F1 is 2 * hits / (gold + named) for one note; like HELM, we report the mean over notes. An answer without any code has
recall and F1 of 0; its precision is undefined and is unscored(unparsed).

Upstream reads codes, including gold codes, with an expression that ends at the first letter after the digits. It turns
S72.001A into S72, and loses M1A.0110 and C7B.00, all procedures, all lower-case codes, and codes without a point unless
they have three or four characters. In prose, it counts T4, L5 and B12 as codes. `helm_*` reproduce that.
"""

import re
from collections.abc import Callable, Iterator
from functools import partial

from agent.metrics.icd10 import CATEGORIES, find_named_codes, read_listed_codes
from agent.metrics.spec import MetricSpec, Options
from agent.reading.reading import Reading
from agent.vocabulary import Instance, Reason, Unscored

NAMED_CODES = "named codes"
NAMED_CODES_RULE = (
    "ICD-10 codes are read if they are written with their point, or where a code is expected.",
    "E11.9 (DM); I10 (HTN)",
)
"""The meaning of the rule for codes, and an example."""

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


def read_codes(answer: str, instance: Instance, options: Options) -> Reading | Unscored:  # noqa: ARG001
    """Return the codes that the answer names, in the standard form; "none" if it names none.

    The span reaches from the first code to the last; without codes, it is the whole answer.
    """
    codes = sorted(find_named_codes(answer))
    places = [place for code in codes for place in _locate_code(answer, code)]
    start = min((start for start, _ in places), default=0)
    end = max((end for _, end in places), default=len(answer))
    return Reading(", ".join(map(_write_code, codes)) or "none", start, end, NAMED_CODES)


def _write_code(code: str) -> str:
    """Return a code in the usual notation: a diagnosis has a point after three characters."""
    is_diagnosis = code[:3] in CATEGORIES and len(code) > 3
    return f"{code[:3]}.{code[3:]}" if is_diagnosis else code


def _locate_code(answer: str, code: str) -> Iterator[tuple[int, int]]:
    pattern = rf"(?<![\w.]){re.escape(code[:3])}\.?{re.escape(code[3:])}(?!\w)"
    return (match.span() for match in re.finditer(pattern, answer, re.IGNORECASE))


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
        read=read_codes,
        value_kind="codes",
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
