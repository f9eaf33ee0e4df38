"""EHRSQL: whether the model's query returns the published query's result, and whether the model abstained correctly.

`Instance.extra` contains `database` (the SQLite file), `is_impossible` ("true" for a question that the tables cannot
answer) and `value` (the question's parameters as JSON, read only by upstream's rule). The first reference is the
published query, or "null" for an unanswerable question.

The published queries were converted to lower case and contain names instead of normal ranges, so SQLite cannot run them
as intended. The dataset's own evaluation repairs both queries before it runs them, and so does this module: see
`repair_query`. Upstream runs them unchanged, with the machine's clock, on a connection that may write.
"""

import json
import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache, wraps
from pathlib import Path

from agent.metrics.read_only_sql import Cell, Outcome, SqlRow, compiles, run_query
from agent.metrics.spec import MetricSpec, Options, ScoreFunction
from agent.reading.reading import Reading
from agent.vocabulary import Instance, Reason, Unscored

NOW = "2105-12-31 23:59:00"  # the current time assumed by the questions

# The dataset's normal ranges: (lowest, highest).
_RANGES = {
    "temperature": ("35.5", "38.1"),
    "sao2": ("95.0", "100.0"),
    "heart_rate": ("60.0", "100.0"),
    "respiration": ("12.0", "18.0"),
    "systolic_bp": ("90.0", "120.0"),
    "diastolic_bp": ("60.0", "90.0"),
    "mean_bp": ("60.0", "110.0"),
}
_LIMIT = re.compile(rf"\b({'|'.join(_RANGES)})_(lower|upper)\b", re.IGNORECASE)
_YEAR_OR_DAY = re.compile(r"%([yj])")
# A query that asks the tables for nothing: an abstention in the form of a query.
_SELECTS_NULL = re.compile(r"\s*select\s+(['\"]?)null\1\s*;?\s*", re.IGNORECASE)
_CLOSE = 1e-6
_MAX_UNEQUAL = 500  # rows without an exact match that are compared one by one


def find_query_or_abstention(answer: str) -> str | None:
    """Return the query in an answer, "" if the answer abstains, None if it is unread.

    "SELECT NULL" abstains: it asks the tables for nothing.
    """
    from agent.reading.queries import find_query  # compiling its patterns takes time

    query = find_query(answer)
    return "" if query and _abstains(query) else query


def _abstains(query: str) -> bool:
    return _SELECTS_NULL.fullmatch(query) is not None


def show_query(answer: str, instance: Instance, options: Options) -> Reading | Unscored:  # noqa: ARG001
    """Return the query of `find_query_or_abstention`; "null" if the answer abstains."""
    from agent.reading.queries import ABSTENTION, read_query

    reading = read_query(answer)
    if reading is None:
        return Unscored(Reason.UNPARSED)
    if _abstains(reading.value):
        return replace(reading, value="null", rule=ABSTENTION)
    return reading if reading.value else replace(reading, value="null")


def repair_query(sql: str) -> str:
    """Return a query as the dataset's evaluation runs it, which fills in years, days, normal ranges and the clock."""
    sql = _LIMIT.sub(_find_limit, sql)
    sql = _YEAR_OR_DAY.sub(lambda match: f"%{match[1].upper()}", sql)
    return sql.replace("'now'", f"'{NOW}'")


def _find_limit(match: re.Match[str]) -> str:
    lowest, highest = _RANGES[match[1].lower()]
    return highest if match[2].lower() == "upper" else lowest


def is_same_result(gold: Sequence[SqlRow], predicted: Sequence[SqlRow]) -> bool:
    """Return whether two results have the same rows in any order, each equally often.

    Numbers are compared to a millionth, texts exactly.
    """
    if len(gold) != len(predicted):
        return False
    gold_counts = Counter(gold)
    predicted_counts = Counter(predicted)
    unmatched_gold = list((gold_counts - predicted_counts).elements())
    unmatched_predicted = list((predicted_counts - gold_counts).elements())
    if len(unmatched_gold) > _MAX_UNEQUAL:
        return False
    for row in unmatched_gold:
        partner = next(
            (candidate for candidate in unmatched_predicted if _is_same_row(row, candidate)), None
        )
        if partner is None:
            return False
        unmatched_predicted.remove(partner)
    return True


def is_empty_result(rows: Sequence[SqlRow]) -> bool:
    """Return whether a result looks like that of a query without a match: no rows, or only NULL and zero."""
    return all(cell is None or cell == 0 for row in rows for cell in row)


def _is_same_row(a: SqlRow, b: SqlRow) -> bool:
    return len(a) == len(b) and all(map(_is_same_cell, a, b))


def _is_same_cell(a: Cell, b: Cell) -> bool:
    if isinstance(a, int | float) and isinstance(b, int | float):
        return math.isclose(a, b, rel_tol=_CLOSE, abs_tol=_CLOSE)
    return a == b


def _require_reference(fn: ScoreFunction) -> ScoreFunction:
    """Wrap a rule so that it gives no score if the instance lacks a published query or a database."""

    @wraps(fn)
    def scored(answer: str, instance: Instance, options: Options) -> float | Unscored:
        if not instance.references or not {"database", "is_impossible"} <= instance.extra.keys():
            return Unscored(Reason.NO_REFERENCE)
        return fn(answer, instance, options)

    return scored


@_require_reference
def execution_accuracy(answer: str, instance: Instance, options: Options) -> float | Unscored:  # noqa: ARG001
    """Score 1 if the query returns the published result, or if the model abstains from an unanswerable question.

    Abstaining from an answerable question is wrong, and so is a query that fails, is refused or does not finish. A
    published query that cannot be run is not a reference for another query. Nor is one with an empty result, because
    most wrong queries return an empty result too.
    """
    query = find_query_or_abstention(answer)
    if query is None:
        return Unscored(Reason.UNPARSED)
    if not _is_answerable(instance):
        return float(not query)
    if not query:
        return 0.0
    gold = _run(instance, repair_query(_read_gold(instance)))
    if gold.ended != "finished" or is_empty_result(gold.rows):
        return Unscored(Reason.NO_REFERENCE)
    predicted = _run(instance, repair_query(query))
    return float(predicted.ended == "finished" and is_same_result(gold.rows, predicted.rows))


@_require_reference
def query_validity(answer: str, instance: Instance, options: Options) -> float | Unscored:  # noqa: ARG001
    """Score 1 if the model's query runs, only reads and finishes in time. Without a query there is no score."""
    query = find_query_or_abstention(answer)
    if query is None:
        return Unscored(Reason.UNPARSED)
    if not query:
        return Unscored(Reason.NOT_APPLICABLE)
    return float(_run(instance, repair_query(query)).ended in ("finished", "too_much"))


@_require_reference
def precision_answerable(answer: str, instance: Instance, options: Options) -> float | Unscored:  # noqa: ARG001
    """Score each question for which the model wrote a query: 1 if the question is answerable."""
    query = find_query_or_abstention(answer)
    if query is None:
        return Unscored(Reason.UNPARSED)
    return float(_is_answerable(instance)) if query else Unscored(Reason.NOT_APPLICABLE)


@_require_reference
def recall_answerable(answer: str, instance: Instance, options: Options) -> float | Unscored:  # noqa: ARG001
    """Score each answerable question: 1 if the model wrote a query."""
    if not _is_answerable(instance):
        return Unscored(Reason.NOT_APPLICABLE)
    query = find_query_or_abstention(answer)
    return Unscored(Reason.UNPARSED) if query is None else float(bool(query))


@_require_reference
def helm_execution_accuracy(answer: str, instance: Instance, options: Options) -> float:  # noqa: ARG001
    """Score as HELM does at version 0.5.16: equal, non-empty sets of rows; or nothing written and nothing expected."""
    gold = _list_helm_gold_rows(instance)
    predicted = _run(instance, _read_helm_query(answer), now=None).rows
    if gold and predicted:
        return float(set(predicted) == set(gold))
    return float(bool(_read_gold(instance)) and not gold and not predicted and not answer.strip())


@_require_reference
def helm_query_validity(answer: str, instance: Instance, options: Options) -> float:  # noqa: ARG001
    """Score as HELM does, where a statement that writes is also valid. Here it is only checked, never run."""
    query = _read_helm_query(answer)
    if not query:
        return 0.0
    outcome = _run(instance, query, now=None)
    writes = outcome.ended == "refused" and compiles(_locate_database(instance), query)
    return float(outcome.ended in ("finished", "too_much") or writes)


@_require_reference
def helm_answerable(answer: str, instance: Instance, options: Options) -> float:  # noqa: ARG001
    """Score precision and recall as HELM does: 1 if the question is answerable and the model wrote anything."""
    return float(_helm_is_answerable(instance) and bool(answer.strip()))


@_require_reference
def predicted_answerable(answer: str, instance: Instance, options: Options) -> float | Unscored:  # noqa: ARG001
    """Score 1 if the model wrote a query."""
    query = find_query_or_abstention(answer)
    return Unscored(Reason.UNPARSED) if query is None else float(bool(query))


@_require_reference
def helm_predicted_answerable(answer: str, instance: Instance, options: Options) -> float:  # noqa: ARG001
    """Score as HELM does: 1 if the model wrote anything."""
    return float(bool(answer.strip()))


@_require_reference
def answerable(answer: str, instance: Instance, options: Options) -> float:  # noqa: ARG001
    """Score 1 if the question is answerable."""
    return float(_is_answerable(instance))


@_require_reference
def helm_ground_truth_answerable(answer: str, instance: Instance, options: Options) -> float:  # noqa: ARG001
    """Score as HELM does."""
    return float(_helm_is_answerable(instance))


def _is_answerable(instance: Instance) -> bool:
    return instance.extra["is_impossible"].strip().lower() != "true" and _read_gold(
        instance
    ).lower() not in (
        "",
        "null",
    )


def _helm_is_answerable(instance: Instance) -> bool:
    return instance.extra["is_impossible"].strip().lower() != "true" and bool(_read_gold(instance))


def _read_gold(instance: Instance) -> str:
    return instance.references[0].text.strip()


def _locate_database(instance: Instance) -> Path:
    return Path(instance.extra["database"])


def _run(instance: Instance, sql: str, now: str | None = NOW) -> Outcome:
    database = _locate_database(instance)
    state = database.stat() if database.is_file() else None
    return _run_once(database, state and (state.st_ino, state.st_size, state.st_mtime_ns), sql, now)


# Several metrics score the same answer, and the next answer has another question, so a small cache suffices.
@lru_cache(maxsize=16)
def _run_once(
    database: Path,
    state: tuple[int, int, int] | None,  # noqa: ARG001 - part of the cache key, so that a changed file is read again
    sql: str,
    now: str | None,
) -> Outcome:
    return run_query(database, sql, now=now)


def _read_helm_query(answer: str) -> str:
    text = answer.strip()
    match = re.search(r"<\s*sql\s*>(.*?)<\/?\s*sql\s*>", text, re.DOTALL | re.IGNORECASE)
    query = (match[1] if match else text).strip().replace("`", "").strip()
    return re.sub(r"^sql\n", "", query, flags=re.MULTILINE)


def _list_helm_gold_rows(instance: Instance) -> Sequence[SqlRow | str]:
    """Return the rows of the published query; without any, the question's parameters, which no row can equal."""
    rows = _run(instance, _read_gold(instance), now=None).rows
    if rows:
        return rows
    try:
        values = json.loads(instance.extra.get("value", "") or "{}")
    except json.JSONDecodeError:
        return ()
    return tuple(map(str, values.values())) if isinstance(values, dict) else ()


SPECS = (
    MetricSpec(
        "ehr_sql_execution_accuracy",
        "Execution accuracy",
        0,
        1,
        True,
        "Whether the query gives the published result, or the model abstained from an unanswerable question.",
        execution_accuracy,
        helm_execution_accuracy,
        read=show_query,
        value_kind="query",
    ),
    MetricSpec(
        "ehr_sql_query_validity",
        "Valid queries",
        0,
        1,
        True,
        "Share of the written queries that run, do not write to the database and finish in time.",
        query_validity,
        helm_query_validity,
        read=show_query,
        value_kind="query",
    ),
    MetricSpec(
        "ehr_sql_precision_answerable",
        "Precision, answerable",
        0,
        1,
        True,
        "Share of the questions for which the model wrote a query that are answerable.",
        precision_answerable,
        helm_answerable,
        read=show_query,
        value_kind="query",
    ),
    MetricSpec(
        "ehr_sql_recall_answerable",
        "Recall, answerable",
        0,
        1,
        True,
        "Share of the answerable questions for which the model wrote a query.",
        recall_answerable,
        helm_answerable,
        read=show_query,
        value_kind="query",
    ),
    MetricSpec(
        "ehr_sql_total_predicted_answerable",
        "Queries written",
        0,
        1,
        True,
        "Whether the model wrote a query.",
        predicted_answerable,
        helm_predicted_answerable,
        read=show_query,
        value_kind="query",
    ),
    MetricSpec(
        "ehr_sql_total_ground_truth_answerable",
        "Answerable questions",
        0,
        1,
        True,
        "Whether the question is answerable according to the dataset.",
        answerable,
        helm_ground_truth_answerable,
    ),
)
