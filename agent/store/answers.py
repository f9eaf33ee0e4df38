"""Stored instances of runs, read page by page, and the models' answers to them."""

from collections.abc import Iterable, Iterator, Sequence

from agent.store.clock import StoreClock
from agent.store.codec import decode_instance, decode_response, encode_response
from agent.store.database import Database
from agent.store.scores import FiledLabel, FiledScore, Scores
from agent.store.stored import RETRIED, AnswerSize, StoredInstance, Usage
from agent.store.subgroups import SubgroupLabels, decode_subgroups
from agent.vocabulary import Reason, Response, Unscored

PAGE = 200  # instances per page; limits the texts in memory
_MARKS = ", ".join("?" for _ in RETRIED)
# Selects the positions of instances that need neither asking nor scoring any more.
_SETTLED = (
    "SELECT position FROM (SELECT position, reason FROM scores WHERE run_id = ? "  # noqa: S608 (marks)
    "UNION ALL SELECT position, reason FROM labelled WHERE run_id = ?) "
    f"GROUP BY position HAVING SUM(reason IS NOT NULL AND reason IN ({_MARKS})) = 0"
)


class Answers:
    """Stored answers by request, and the instances of runs."""

    def __init__(self, database: Database, scores: Scores, clock: StoreClock) -> None:
        self._database = database
        self._connection = database.connection
        self._vault = database.vault
        self._scores = scores
        self._clock = clock

    def find(self, request_key: bytes) -> Response | None:
        """Return the stored response to exactly this request, or None."""
        row = self._connection.execute(
            "SELECT sealed FROM answers WHERE request_key = ?", (request_key,)
        ).fetchone()
        return (
            None
            if row is None
            else decode_response(self._vault.open(b"answer\0" + request_key, row[0]))
        )

    def select_answered(self, request_keys: Sequence[bytes]) -> set[bytes]:
        """Return the requests that have a stored response."""
        answered: set[bytes] = set()
        for start in range(0, len(request_keys), PAGE):
            page = request_keys[start : start + PAGE]
            marks = ", ".join("?" for _ in page)
            rows = self._connection.execute(
                f"SELECT request_key FROM answers WHERE request_key IN ({marks})",  # noqa: S608 (marks)
                page,
            )
            answered.update(key for (key,) in rows)
        return answered

    def read_request_keys(self, run_id: str) -> Iterator[bytes]:
        """Yield the request key of every instance of the run, in order."""
        rows = self._connection.execute(
            "SELECT request_key FROM run_instances WHERE run_id = ? ORDER BY position", (run_id,)
        )
        return (key for (key,) in rows)

    def settle(
        self,
        run_id: str,
        answers: Iterable[tuple[bytes, Response]],
        scores: Iterable[FiledScore],
        labels: Iterable[FiledLabel] = (),
        *,
        asked_seconds: float = 0.0,
    ) -> None:
        """Store answers, keyed by request, and their scores in one transaction.

        Args:
            run_id: the run's id.
            answers: responses by the keys of their requests.
            scores: scores under the metrics of single instances.
            labels: for whole-run metrics, None for each instance that counts, or the reason why it does not.
            asked_seconds: wall time spent asking since the last call.
        """
        scores, labels = list(scores), list(labels)
        # Sealed before the transaction, for which other commands wait.
        sealed = [
            (key, self._vault.seal(b"answer\0" + key, encode_response(response)), response)
            for key, response in answers
        ]
        with self._database.transaction():
            now = self._clock.stamp()
            self._connection.executemany(
                "INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    (
                        key,
                        sealed_response,
                        now,
                        response.shortened,
                        response.attempts,
                        response.prompt_tokens,
                        response.completion_tokens,
                        response.seconds,
                        response.finish_reason,
                    )
                    for key, sealed_response, response in sealed
                ),
            )
            self._note_finish_reasons(run_id, {position for position, _, _ in (*scores, *labels)})
            self._scores.write(run_id, scores, labels)
            if asked_seconds:
                self._connection.execute(
                    "UPDATE runs SET asked_seconds = COALESCE(asked_seconds, 0) + ? WHERE run_id = ?",
                    (asked_seconds, run_id),
                )

    def _note_finish_reasons(self, run_id: str, positions: Iterable[int]) -> None:
        """Copy the answers' finish reasons to their run, so that leaderboards can show them after a purge."""
        self._connection.executemany(
            "UPDATE run_instances SET finish_reason = (SELECT finish_reason FROM answers a "
            "WHERE a.request_key = run_instances.request_key) WHERE run_id = ? AND position = ?",
            ((run_id, position) for position in positions),
        )

    # Remaining work.

    def read_settled_positions(self, run_id: str) -> set[int]:
        """Return the positions of instances that need neither asking nor scoring any more."""
        return {
            position
            for (position,) in self._connection.execute(_SETTLED, (run_id, run_id, *RETRIED))
        }

    def find_unsettled(self, run_id: str) -> list[tuple[int, bytes, bool]]:
        """Return (position, request key, whether an answer is stored) for all unsettled instances, in order."""
        rows = self._connection.execute(
            "SELECT i.position, i.request_key, a.request_key IS NOT NULL FROM run_instances i "  # noqa: S608 (marks)
            "LEFT JOIN answers a ON a.request_key = i.request_key "
            f"WHERE i.run_id = ? AND i.position NOT IN ({_SETTLED}) ORDER BY i.position",
            (run_id, run_id, run_id, *RETRIED),
        )
        return [(position, key, bool(answered)) for position, key, answered in rows]

    # Counts.

    def count_instances(self, run_id: str) -> int:
        """Return the number of instances of the run."""
        (count,) = self._connection.execute(
            "SELECT COUNT(*) FROM run_instances WHERE run_id = ?", (run_id,)
        ).fetchone()
        return int(count)

    def count_truncated(self, run_id: str) -> tuple[int, int]:
        """Return how many scored answers ended at their length limit, and for how many the finish reason is known."""
        row = self._connection.execute(
            "SELECT COALESCE(SUM(finish_reason = 'length'), 0), COUNT(finish_reason) FROM run_instances "
            "WHERE run_id = ?",
            (run_id,),
        ).fetchone()
        return int(row[0]), int(row[1])

    def sum_usage(self, run_id: str) -> Usage:
        """Sum up the tokens and seconds of the run's answers."""
        row = self._connection.execute(
            "SELECT COUNT(*), COALESCE(SUM(prompt_tokens), 0), COALESCE(SUM(completion_tokens), 0), "
            "COALESCE(SUM(prompt_tokens IS NULL OR completion_tokens IS NULL), 0), "
            "COALESCE(SUM(COALESCE(attempts, 1)), 0), COALESCE(SUM(COALESCE(shortened, 0) > 0), 0), "
            "COALESCE(SUM(shortened), 0), COALESCE(SUM(seconds), 0.0), "
            "COALESCE((SELECT asked_seconds FROM runs WHERE run_id = ?), 0.0) FROM answers "
            "WHERE request_key IN (SELECT request_key FROM run_instances WHERE run_id = ?)",
            (run_id, run_id),
        ).fetchone()
        return Usage(*row)

    def read_sizes(self, run_id: str, limit: int) -> list[AnswerSize]:
        """Return the sizes of up to `limit` of the run's answers, without those whose tokens are not known."""
        rows = self._connection.execute(
            "SELECT prompt_tokens, completion_tokens, seconds FROM answers "
            "WHERE request_key IN (SELECT request_key FROM run_instances WHERE run_id = ?) "
            "AND prompt_tokens IS NOT NULL AND completion_tokens IS NOT NULL LIMIT ?",
            (run_id, limit),
        )
        return [AnswerSize(*row) for row in rows]

    def has_answers_from_before(self, run_id: str) -> bool:
        """Return whether the run reuses answers that were stored before it started, which it spent no time on."""
        (found,) = self._connection.execute(
            "SELECT EXISTS (SELECT 1 FROM run_instances i JOIN answers a ON a.request_key = i.request_key "
            "JOIN runs r ON r.run_id = i.run_id WHERE i.run_id = ? AND a.created_at < r.started_at)",
            (run_id,),
        ).fetchone()
        return bool(found)

    # Instances.

    def read_unit_and_instance_keys(self, run_id: str) -> list[tuple[bytes, bytes]]:
        """Return the unit key and instance key of every instance of the run, in order."""
        query = (
            "SELECT unit_key, instance_key FROM run_instances WHERE run_id = ? ORDER BY position"
        )
        return [(unit, instance) for unit, instance in self._connection.execute(query, (run_id,))]

    def read_subgroups(self, run_id: str) -> dict[str, Sequence[str | None]]:
        """Return the value of each attribute (sex, age group, ...) for all instances, in order."""
        row = self._connection.execute(
            "SELECT sealed FROM subgroups WHERE run_id = ?", (run_id,)
        ).fetchone()
        if row is not None:
            return decode_subgroups(self._vault.open(b"subgroups\0" + run_id.encode(), row[0]))
        labels = SubgroupLabels()  # the run began before labels were stored separately
        for stored in self.read_each_instance(run_id):
            labels.add({} if stored.instance is None else stored.instance.subgroups)
        return labels.by_position()

    def read_instances(self, run_id: str, offset: int, limit: int) -> list[StoredInstance]:
        """Return one page of a run's instances with their texts, in order.

        Under a whole-run metric, instances have no score, but may have a reason why they do not count.
        """
        return self._read_page(run_id, range(offset, offset + limit))

    def read_each_instance(
        self, run_id: str, positions: Sequence[int] | None = None
    ) -> Iterator[StoredInstance]:
        """Yield the run's instances, or those at `positions` (ascending), page by page to keep few texts in memory."""
        if positions is None:
            positions = range(self.count_instances(run_id))
        for start in range(0, len(positions), PAGE):
            yield from self._read_page(run_id, positions[start : start + PAGE])

    def _read_page(self, run_id: str, positions: Sequence[int]) -> list[StoredInstance]:
        if isinstance(positions, range):
            condition = "BETWEEN ? AND ?"
            values: tuple[int, ...] = (positions.start, positions.stop - 1)
        else:
            condition = f"IN ({', '.join('?' for _ in positions)})"
            values = tuple(positions)
        rows = self._connection.execute(
            "SELECT i.position, i.instance_key, i.record_key, r.sealed, i.request_key, a.sealed "  # noqa: S608 (marks)
            "FROM run_instances i LEFT JOIN records r ON r.record_key = i.record_key "
            "LEFT JOIN answers a ON a.request_key = i.request_key "
            f"WHERE i.run_id = ? AND i.position {condition} ORDER BY i.position",
            (run_id, *values),
        ).fetchall()
        scores: dict[int, dict[str, float | Unscored]] = {row[0]: {} for row in rows}
        for position, metric, value, reason in self._connection.execute(
            f"SELECT position, metric, value, reason FROM scores WHERE run_id = ? AND position {condition} "  # noqa: S608
            f"UNION ALL SELECT position, metric, NULL, reason FROM labelled WHERE run_id = ? AND position {condition} "
            "AND reason IS NOT NULL",
            (run_id, *values, run_id, *values),
        ):
            scores[position][metric] = Unscored(Reason(reason)) if value is None else value
        page = []
        for position, instance_key, record_key, record, request_key, answer in rows:
            instance = response = None  # stays None if purged or not answered yet
            if record is not None:
                instance = decode_instance(self._vault.open(b"record\0" + record_key, record))
            if answer is not None:
                response = decode_response(self._vault.open(b"answer\0" + request_key, answer))
            page.append(
                StoredInstance(
                    position=position,
                    instance_key=instance_key,
                    instance=instance,
                    response=response,
                    scores=scores[position],
                    request_key=request_key,
                )
            )
        return page
