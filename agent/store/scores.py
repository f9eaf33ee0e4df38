"""Scores of instances and of whole runs, stored unencrypted."""

from collections.abc import Iterable

from agent.store.database import Database
from agent.store.juries import FiledSeat, Juries
from agent.store.run_details import RunDetails, write_details
from agent.store.stored import Judgement, RunScore, UnitScore
from agent.vocabulary import Reason, Unscored

DRAFT = "~"  # suffix of a run's id under which draft scores are stored until they replace the run's scores

FiledScore = tuple[int, str, float | Unscored]  # (position, metric, value)
FiledLabel = tuple[int, str, Unscored | None]  # (position, whole-run metric, why it does not count)


class Scores:
    """The stored scores by run, instance and metric, and the values of whole-run metrics."""

    def __init__(self, database: Database, juries: Juries) -> None:
        self._database = database
        self._connection = database.connection
        self._juries = juries

    def read_units(self, run_id: str, metric: str) -> list[UnitScore]:
        """Return every instance's score under `metric`, in order; instances without a score yet are NOT_ASKED."""
        rows = self._connection.execute(
            "SELECT i.unit_key, i.instance_key, s.value, CASE WHEN s.run_id IS NULL THEN ? ELSE s.reason END "
            "FROM run_instances i LEFT JOIN scores s "
            "ON s.run_id = i.run_id AND s.position = i.position AND s.metric = ? "
            "WHERE i.run_id = ? ORDER BY i.position",
            (Reason.NOT_ASKED.value, metric, run_id),
        )
        return [UnitScore(*row) for row in rows]

    def read_whole_run(self, run_id: str, metric: str) -> tuple[RunScore | None, dict[str, int]]:
        """Return a whole-run metric's value (None if not computed yet) and, by reason, the instances that do not count.

        Instances without an outcome yet are NOT_ASKED.
        """
        row = self._connection.execute(
            "SELECT metric, value, low, high, n, units, floor FROM run_scores WHERE run_id = ? AND metric = ?",
            (run_id, metric),
        ).fetchone()
        reasons = self._connection.execute(
            "SELECT CASE WHEN l.run_id IS NULL THEN ? ELSE l.reason END AS reason, COUNT(*) FROM run_instances i "
            "LEFT JOIN labelled l ON l.run_id = i.run_id AND l.position = i.position AND l.metric = ? "
            "WHERE i.run_id = ? AND (l.run_id IS NULL OR l.reason IS NOT NULL) GROUP BY 1",
            (Reason.NOT_ASKED.value, metric, run_id),
        )
        return None if row is None else RunScore(*row), dict(reasons)

    def find_unmeasured(self, run_id: str) -> list[int]:
        """Return the positions of instances that lack a metric measured later, and whose texts are stored."""
        rows = self._connection.execute(
            "SELECT i.position FROM run_instances i JOIN answers a ON a.request_key = i.request_key "
            "JOIN records r ON r.record_key = i.record_key WHERE i.run_id = ? AND i.position IN ("
            "SELECT position FROM scores WHERE run_id = ? AND reason = ?) ORDER BY 1",
            (run_id, run_id, Reason.NOT_MEASURED.value),
        )
        return [position for (position,) in rows]

    def keep(
        self,
        run_id: str,
        scores: Iterable[FiledScore],
        judgements: Iterable[tuple[bytes, Judgement]] = (),
        seats: Iterable[FiledSeat] = (),
    ) -> None:
        """Store scores that were computed after asking the model, with their judgements, in one transaction.

        Args:
            run_id: the run's id.
            scores: scores under metrics that are measured later or graded by a jury.
            judgements: replies of judges, by the key of their request.
            seats: grades of each seat.
        """
        with self._database.transaction():
            self._juries.write_judgements(judgements)
            self._juries.write_seats(run_id, seats)
            self.write(run_id, scores, ())

    def write(
        self, run_id: str, scores: Iterable[FiledScore], labels: Iterable[FiledLabel]
    ) -> None:
        """Write scores, and whether instances count for whole-run metrics, within the open transaction."""
        self._connection.executemany(
            "INSERT OR REPLACE INTO scores VALUES (?, ?, ?, ?, ?)",
            (
                (run_id, position, metric, None, value.reason.value)
                if isinstance(value, Unscored)
                else (run_id, position, metric, value, None)
                for position, metric, value in scores
            ),
        )
        self._connection.executemany(
            "INSERT OR REPLACE INTO labelled VALUES (?, ?, ?, ?)",
            (
                (run_id, position, metric, why and why.reason.value)
                for position, metric, why in labels
            ),
        )

    def write_whole_run(self, run_id: str, run_scores: Iterable[RunScore]) -> None:
        """Write the values of whole-run metrics, within the open transaction."""
        self._connection.executemany(
            "INSERT OR REPLACE INTO run_scores VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (
                (
                    run_id,
                    score.metric,
                    score.value,
                    score.low,
                    score.high,
                    score.n,
                    score.units,
                    score.floor,
                )
                for score in run_scores
            ),
        )

    # Rescoring: new scores are drafted next to the old ones, and replace them in one transaction.

    def drop_draft(self, run_id: str) -> None:
        """Delete draft scores, such as those that a killed process left."""
        with self._database.transaction():
            for table in ("scores", "labelled", "seats"):
                statement = f"DELETE FROM {table} WHERE run_id = ?"  # noqa: S608
                self._connection.execute(statement, (run_id + DRAFT,))

    def draft(
        self,
        run_id: str,
        scores: Iterable[FiledScore],
        labels: Iterable[FiledLabel] = (),
        seats: Iterable[FiledSeat] = (),
    ) -> None:
        """Store new scores of the run and grades of its jury's seats as drafts, without changing the current ones."""
        with self._database.transaction():
            self.write(run_id + DRAFT, scores, labels)
            self._juries.write_seats(run_id + DRAFT, seats)

    def put_draft_in_place(
        self, run_id: str, details: RunDetails, plan_digest: bytes, run_scores: Iterable[RunScore]
    ) -> None:
        """Replace the run's scores with the drafts, in one transaction.

        Args:
            run_id: the run's id.
            details: the run's new details.
            plan_digest: digest of its plan with the new rules, so that repeating the `run` does nothing.
            run_scores: the new values of its whole-run metrics.
        """
        with self._database.transaction():
            self._connection.execute("DELETE FROM run_scores WHERE run_id = ?", (run_id,))
            for table in ("scores", "labelled", "seats"):
                self._connection.execute(f"DELETE FROM {table} WHERE run_id = ?", (run_id,))  # noqa: S608 (from above)
                self._connection.execute(
                    f"UPDATE {table} SET run_id = ? WHERE run_id = ?",  # noqa: S608 (names from above)
                    (run_id, run_id + DRAFT),
                )
            self.write_whole_run(run_id, run_scores)
            self._connection.execute(
                "UPDATE runs SET details = ?, plan_digest = ? WHERE run_id = ?",
                (write_details(details), plan_digest, run_id),
            )
