"""Reading runs: their scores in plain numbers, their texts page by page."""

from collections.abc import Iterator, Sequence

from agent.errors import ConfigError
from agent.store.codec import decode_instance, decode_response
from agent.store.database import Database
from agent.store.run_details import read_details
from agent.store.stored import RETRIED, Run, RunScore, StoredInstance, UnitScore, Usage
from agent.store.subgroups import SubgroupLabels, decode_subgroups
from agent.vocabulary import Reason, Response, Unscored

PAGE = 200  # instances whose texts are in memory at a time
_RUNS = "SELECT run_id, suite, name, benchmark, model, deployment, details, state, started_at, ended_at FROM runs"
_MARKS = ", ".join("?" for _ in RETRIED)
# Positions that need neither a question nor scoring any more.
_SETTLED = (
    "SELECT position FROM (SELECT position, reason FROM scores WHERE run_id = ? "  # noqa: S608 (marks)
    "UNION ALL SELECT position, reason FROM labelled WHERE run_id = ?) "
    f"GROUP BY position HAVING SUM(reason IS NOT NULL AND reason IN ({_MARKS})) = 0"
)


class RunReader(Database):
    """What the store knows of its runs."""

    def suites(self) -> list[str]:
        """Return the names of all suites, oldest first."""
        return [s for (s,) in self._db.execute("SELECT suite FROM runs GROUP BY suite ORDER BY MIN(started_at), suite")]

    def require_suite(self, suite: str) -> None:
        """See that there is such a suite.

        Raises:
            ConfigError: there is none; names those that are there.
        """
        found = self.suites()
        if suite not in found:
            known = ", ".join(found) or "none yet"
            raise ConfigError(f"there is no suite {suite} (suites here: {known})", "Name a suite with --suite.")

    def runs(self, suite: str | None = None) -> list[Run]:
        """Return the runs of a suite, or all, ordered by benchmark and model.

        Raises:
            StoreError: what is kept of a run is damaged, or of another version; names the key.
        """
        return self._runs("? IS NULL OR suite = ?", suite, suite)

    def run(self, run_id: str) -> Run | None:
        """Return one run."""
        return next(iter(self._runs("run_id = ?", run_id)), None)

    def _runs(self, condition: str, *values: str | None) -> list[Run]:
        rows = self._db.execute(f"{_RUNS} WHERE {condition} ORDER BY suite, benchmark, model, name", values)
        return [
            Run(run_id, suite, name, benchmark, model, deployment, read_details(details), state, started_at, ended_at)
            for run_id, suite, name, benchmark, model, deployment, details, state, started_at, ended_at in rows
        ]

    # what is left to do

    def holds_plan(self, run_id: str, plan_digest: bytes) -> bool:
        """Whether the stored run has exactly this plan."""
        row = self._db.execute("SELECT plan_digest FROM runs WHERE run_id = ?", (run_id,)).fetchone()
        return row is not None and row[0] == plan_digest

    def settled_positions(self, run_id: str) -> set[int]:
        """Return the positions that need neither a question nor scoring any more."""
        return {position for (position,) in self._db.execute(_SETTLED, (run_id, run_id, *RETRIED))}

    def unsettled(self, run_id: str) -> list[tuple[int, bytes, bool]]:
        """Return (position, request key, whether an answer is stored) of every other instance, in order."""
        rows = self._db.execute(
            "SELECT i.position, i.request_key, a.request_key IS NOT NULL FROM run_instances i "  # noqa: S608 (marks)
            "LEFT JOIN answers a ON a.request_key = i.request_key "
            f"WHERE i.run_id = ? AND i.position NOT IN ({_SETTLED}) ORDER BY i.position",
            (run_id, run_id, run_id, *RETRIED),
        )
        return [(position, key, bool(answered)) for position, key, answered in rows]

    def unmeasured(self, run_id: str) -> list[int]:
        """Return the positions that a metric which is measured later has yet to be computed for, and can be."""
        rows = self._db.execute(
            "SELECT i.position FROM run_instances i JOIN answers a ON a.request_key = i.request_key "
            "JOIN records r ON r.record_key = i.record_key WHERE i.run_id = ? AND i.position IN ("
            "SELECT position FROM scores WHERE run_id = ? AND reason = ?) ORDER BY 1",
            (run_id, run_id, Reason.NOT_MEASURED.value),
        )
        return [position for (position,) in rows]

    # scores

    def unit_scores(self, run_id: str, metric: str) -> list[UnitScore]:
        """Return every instance's score under `metric`, in order; instances not yet settled are NOT_ASKED."""
        rows = self._db.execute(
            "SELECT i.unit_key, i.instance_key, s.value, CASE WHEN s.run_id IS NULL THEN ? ELSE s.reason END "
            "FROM run_instances i LEFT JOIN scores s "
            "ON s.run_id = i.run_id AND s.position = i.position AND s.metric = ? "
            "WHERE i.run_id = ? ORDER BY i.position",
            (Reason.NOT_ASKED.value, metric, run_id),
        )
        return [UnitScore(*row) for row in rows]

    def unit_and_instance_keys(self, run_id: str) -> list[tuple[bytes, bytes]]:
        """Return the keys of unit and instance of every instance of the run, in order."""
        query = "SELECT unit_key, instance_key FROM run_instances WHERE run_id = ? ORDER BY position"
        return [(unit, instance) for unit, instance in self._db.execute(query, (run_id,))]

    def run_score(self, run_id: str, metric: str) -> tuple[RunScore | None, dict[str, int]]:
        """Return a whole-run metric's value, None if not computed yet, and the instances that do not count by reason.

        Instances not yet settled are NOT_ASKED.
        """
        row = self._db.execute(
            "SELECT metric, value, low, high, n, units, floor FROM run_scores WHERE run_id = ? AND metric = ?",
            (run_id, metric),
        ).fetchone()
        reasons = self._db.execute(
            "SELECT CASE WHEN l.run_id IS NULL THEN ? ELSE l.reason END AS reason, COUNT(*) FROM run_instances i "
            "LEFT JOIN labelled l ON l.run_id = i.run_id AND l.position = i.position AND l.metric = ? "
            "WHERE i.run_id = ? AND (l.run_id IS NULL OR l.reason IS NOT NULL) GROUP BY 1",
            (Reason.NOT_ASKED.value, metric, run_id),
        )
        return None if row is None else RunScore(*row), dict(reasons)

    def subgroups(self, run_id: str) -> dict[str, Sequence[str | None]]:
        """Return what each instance of the run has of each attribute (sex, age group, ...), in order."""
        row = self._db.execute("SELECT sealed FROM subgroups WHERE run_id = ?", (run_id,)).fetchone()
        if row is not None:
            return decode_subgroups(self._vault.open(b"subgroups\0" + run_id.encode(), row[0]))
        labels = SubgroupLabels()  # the run began before they were kept apart
        for stored in self.each_instance(run_id):
            labels.add({} if stored.instance is None else stored.instance.subgroups)
        return labels.by_position()

    def shared_instances(self, run_ids: Sequence[str]) -> bool:
        """Whether one question, to the letter, was asked in two of the runs."""
        marks = ", ".join("?" for _ in run_ids)
        row = self._db.execute(
            f"SELECT 1 FROM run_instances WHERE run_id IN ({marks}) "  # noqa: S608 (marks are placeholders)
            "GROUP BY request_key HAVING COUNT(DISTINCT run_id) > 1 LIMIT 1",
            tuple(run_ids),
        ).fetchone()
        return row is not None

    def usage(self, run_id: str) -> Usage:
        """Sum up what the run's answers cost."""
        row = self._db.execute(
            "SELECT COUNT(*), COALESCE(SUM(prompt_tokens), 0), COALESCE(SUM(completion_tokens), 0), "
            "COALESCE(SUM(prompt_tokens IS NULL OR completion_tokens IS NULL), 0), "
            "COALESCE(SUM(COALESCE(attempts, 1)), 0), COALESCE(SUM(COALESCE(shortened, 0) > 0), 0), "
            "COALESCE(SUM(shortened), 0), COALESCE(SUM(seconds), 0.0), "
            "COALESCE((SELECT asked_seconds FROM runs WHERE run_id = ?), 0.0) FROM answers "
            "WHERE request_key IN (SELECT request_key FROM run_instances WHERE run_id = ?)",
            (run_id, run_id),
        ).fetchone()
        return Usage(*row)

    def cut_off(self, run_id: str) -> tuple[int, int]:
        """Return how many of the run's scored answers ended at their length limit, and of how many that is known."""
        row = self._db.execute(
            "SELECT COALESCE(SUM(finish_reason = 'length'), 0), COUNT(finish_reason) FROM run_instances "
            "WHERE run_id = ?",
            (run_id,),
        ).fetchone()
        return int(row[0]), int(row[1])

    # texts

    def count_instances(self, run_id: str) -> int:
        """Return how many instances the run has."""
        (count,) = self._db.execute("SELECT COUNT(*) FROM run_instances WHERE run_id = ?", (run_id,)).fetchone()
        return int(count)

    def answer(self, request_key: bytes) -> Response | None:
        """Return the stored response to exactly this request, if there is one."""
        row = self._db.execute("SELECT sealed FROM answers WHERE request_key = ?", (request_key,)).fetchone()
        return None if row is None else decode_response(self._vault.open(b"answer\0" + request_key, row[0]))

    def answered(self, request_keys: Sequence[bytes]) -> set[bytes]:
        """Return those of the requests that have a stored response."""
        found: set[bytes] = set()
        for start in range(0, len(request_keys), PAGE):
            page = request_keys[start : start + PAGE]
            marks = ", ".join("?" for _ in page)
            rows = self._db.execute(f"SELECT request_key FROM answers WHERE request_key IN ({marks})", page)  # noqa: S608
            found.update(key for (key,) in rows)
        return found

    def request_keys(self, run_id: str) -> Iterator[bytes]:
        """Yield the request key of every instance of the run, in order."""
        rows = self._db.execute("SELECT request_key FROM run_instances WHERE run_id = ? ORDER BY position", (run_id,))
        return (key for (key,) in rows)

    def instances(self, run_id: str, offset: int, limit: int) -> list[StoredInstance]:
        """Return one page of a run's instances with their texts, in order.

        Of a metric of the whole run an instance has no score; it may have a reason why it does not count.
        """
        return self._instances(run_id, range(offset, offset + limit))

    def each_instance(self, run_id: str, positions: Sequence[int] | None = None) -> Iterator[StoredInstance]:
        """Yield the run's instances, or those at `positions` (rising), page by page: few texts are in memory."""
        wanted = range(self.count_instances(run_id)) if positions is None else positions
        for start in range(0, len(wanted), PAGE):
            yield from self._instances(run_id, wanted[start : start + PAGE])

    def _instances(self, run_id: str, positions: Sequence[int]) -> list[StoredInstance]:
        which = "BETWEEN ? AND ?" if isinstance(positions, range) else f"IN ({', '.join('?' for _ in positions)})"
        values = (positions.start, positions.stop - 1) if isinstance(positions, range) else tuple(positions)
        rows = self._db.execute(
            "SELECT i.position, i.instance_key, i.record_key, r.sealed, i.request_key, a.sealed "  # noqa: S608 (marks)
            "FROM run_instances i LEFT JOIN records r ON r.record_key = i.record_key "
            "LEFT JOIN answers a ON a.request_key = i.request_key "
            f"WHERE i.run_id = ? AND i.position {which} ORDER BY i.position",
            (run_id, *values),
        ).fetchall()
        scores: dict[int, dict[str, float | Unscored]] = {row[0]: {} for row in rows}
        for position, metric, value, reason in self._db.execute(
            f"SELECT position, metric, value, reason FROM scores WHERE run_id = ? AND position {which} UNION ALL "  # noqa: S608
            f"SELECT position, metric, NULL, reason FROM labelled WHERE run_id = ? AND position {which} "
            "AND reason IS NOT NULL",
            (run_id, *values, run_id, *values),
        ):
            scores[position][metric] = Unscored(Reason(reason)) if value is None else value
        return [
            StoredInstance(
                position,
                instance_key,
                None if record is None else decode_instance(self._vault.open(b"record\0" + record_key, record)),
                None if answer is None else decode_response(self._vault.open(b"answer\0" + request_key, answer)),
                scores[position],
                request_key,
            )
            for position, instance_key, record_key, record, request_key, answer in rows
        ]
