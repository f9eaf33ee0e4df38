"""Select a run's instances by the outcome of one metric, from its scores alone, without opening any text."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from agent.store.database import Database
from agent.store.run_details import KeptMetric
from agent.vocabulary import Reason

Selection = Literal["top", "bottom", "ascending", "descending", "unscored"]
"""Instances with the metric's highest or lowest score; all scored ones in the order of their scores; the others."""

_SCORES = "SELECT position, value, reason FROM scores WHERE run_id = :run_id AND metric = :metric"
# A metric of the whole run has no scores, but reasons why instances do not count.
_LABELS = (
    "SELECT position, NULL AS value, reason FROM labelled "
    "WHERE run_id = :run_id AND metric = :metric"
)
_BETWEEN = "value >= :low AND value <= :high"
_CONDITIONS: Mapping[Selection, str] = {
    "top": "value >= :high ORDER BY position",
    "bottom": "value <= :low ORDER BY position",
    "ascending": "value IS NOT NULL ORDER BY value, position",
    "descending": "value IS NOT NULL ORDER BY value DESC, position",
}


@dataclass(frozen=True, slots=True)
class OutcomeCounts:
    """How many instances of a run have which outcome under one metric.

    Attributes:
        instances: all instances of the run.
        scored: those with a score.
        top, bottom: those with the highest and with the lowest score of the metric's range.
        unscored: those without a score, by reason; instances without an outcome yet are NOT_ASKED.
    """

    instances: int
    scored: int
    top: int
    bottom: int
    unscored: Mapping[str, int]


class Outcomes:
    """The outcomes of instances, read from their scores."""

    def __init__(self, database: Database) -> None:
        self._connection = database.connection

    def count(self, run_id: str, metric: KeptMetric) -> OutcomeCounts:
        """Count the outcomes of a run's instances under a metric."""
        (instances,) = self._connection.execute(
            "SELECT COUNT(*) FROM run_instances WHERE run_id = ?", (run_id,)
        ).fetchone()
        unscored = self._count_reasons(run_id, metric)
        with_outcome = self._count(run_id, metric, "TRUE")
        pending = instances - with_outcome
        if pending > 0:
            unscored[Reason.NOT_ASKED.value] = unscored.get(Reason.NOT_ASKED.value, 0) + pending
        return OutcomeCounts(
            instances,
            scored=self._count(run_id, metric, "value IS NOT NULL"),
            top=self._count(run_id, metric, "value >= :high"),
            bottom=self._count(run_id, metric, "value <= :low"),
            unscored=unscored,
        )

    def _count(self, run_id: str, metric: KeptMetric, condition: str) -> int:
        # One condition a query, because each is then answered from a part of the index over the values.
        query = f"SELECT COUNT(*) FROM ({_select_source(metric)}) WHERE {condition}"  # noqa: S608 (from above)
        (number,) = self._connection.execute(query, _bind(run_id, metric)).fetchone()
        return int(number)

    def _count_reasons(self, run_id: str, metric: KeptMetric) -> dict[str, int]:
        query = (
            f"SELECT reason, COUNT(*) FROM ({_select_source(metric)}) "  # noqa: S608 (from above)
            "WHERE value IS NULL AND reason IS NOT NULL GROUP BY reason"
        )
        return dict(self._connection.execute(query, _bind(run_id, metric)).fetchall())

    def count_between(
        self, run_id: str, metric: KeptMetric, low: float | None, high: float | None
    ) -> int:
        """Count the instances with a score from `low` to `high`, both included; None for no such bound."""
        query = f"SELECT COUNT(*) FROM ({_select_source(metric)}) WHERE {_BETWEEN}"  # noqa: S608 (from above)
        values = _bind_range(run_id, metric, low, high)
        (number,) = self._connection.execute(query, values).fetchone()
        return int(number)

    def list_between(
        self,
        run_id: str,
        metric: KeptMetric,
        low: float | None,
        high: float | None,
        offset: int,
        limit: int,
    ) -> list[int]:
        """Return positions of the instances that `count_between` counts, in the order of their scores.

        That is the order of the index over the values, so that nothing is sorted.
        """
        query = (
            f"SELECT position FROM ({_select_source(metric)}) WHERE {_BETWEEN} "  # noqa: S608 (from above)
            "ORDER BY value, position LIMIT :limit OFFSET :offset"
        )
        values = _bind_range(run_id, metric, low, high) | {"offset": offset, "limit": limit}
        return [position for (position,) in self._connection.execute(query, values)]

    def list_positions(
        self,
        run_id: str,
        metric: KeptMetric,
        selection: Selection,
        offset: int,
        limit: int,
        reason: str | None = None,
    ) -> list[int]:
        """Return positions of selected instances, in the order of the selection.

        Args:
            run_id: the run's id.
            metric: the metric whose outcomes count.
            selection: which instances, in which order.
            offset, limit: the part of the selection that is returned.
            reason: with "unscored", only instances without a score for this reason.
        """
        source = _select_source(metric)
        values = _bind(run_id, metric) | {"offset": offset, "limit": limit, "reason": reason}
        if selection == "unscored":
            values["pending"] = Reason.NOT_ASKED.value
            query = (
                "SELECT i.position FROM run_instances i "  # noqa: S608 (from above)
                f"LEFT JOIN ({source}) s ON s.position = i.position WHERE i.run_id = :run_id "
                "AND (s.position IS NULL OR s.reason IS NOT NULL) "
                "AND (:reason IS NULL OR COALESCE(s.reason, :pending) = :reason) ORDER BY 1"
            )
        else:
            query = f"SELECT position FROM ({source}) WHERE {_CONDITIONS[selection]}"  # noqa: S608 (from above)
        rows = self._connection.execute(f"{query} LIMIT :limit OFFSET :offset", values)
        return [position for (position,) in rows]


def _bind_range(
    run_id: str, metric: KeptMetric, low: float | None, high: float | None
) -> dict[str, str | float | int | None]:
    bounds = {"low": -math.inf if low is None else low, "high": math.inf if high is None else high}
    return _bind(run_id, metric) | bounds


def _select_source(metric: KeptMetric) -> str:
    return _LABELS if metric.whole_run else _SCORES


def _bind(run_id: str, metric: KeptMetric) -> dict[str, str | float | int | None]:
    return {"run_id": run_id, "metric": metric.name, "low": metric.low, "high": metric.high}
