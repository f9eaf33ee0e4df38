"""Judges' replies, and the grades of each jury seat for the answers of a run."""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence

from agent.store.clock import StoreClock
from agent.store.codec import decode_response, encode_response
from agent.store.database import Database
from agent.store.run_details import RunDetails, write_details
from agent.store.stored import RETRIED, AnswerSize, Judgement, Seat, Usage
from agent.vocabulary import Reason

FiledSeat = tuple[int, str, Seat]  # (position, metric, seat)
# Prefix of the context under which a judgement is sealed; the judgement's key follows.
_JUDGEMENT = b"judgement\0"


class Juries:
    """Stored judgements by request, and seats by run, instance and metric."""

    def __init__(self, database: Database, clock: StoreClock) -> None:
        self._database = database
        self._connection = database.connection
        self._vault = database.vault
        self._clock = clock

    def find_judgement(self, judgement_key: bytes) -> Judgement | None:
        """Return the stored replies to exactly this request, or None."""
        row = self._connection.execute(
            "SELECT sealed FROM judgements WHERE judgement_key = ?", (judgement_key,)
        ).fetchone()
        if row is None:
            return None
        return self._open(judgement_key, row[0])

    def write_judgements(self, judgements: Iterable[tuple[bytes, Judgement]]) -> None:
        """Write judgements by their keys, within the open transaction."""
        now = self._clock.stamp()
        rows = []
        for key, judgement in judgements:
            replies = judgement.replies
            rows.append(
                (
                    key,
                    self._vault.seal(_JUDGEMENT + key, _encode(judgement)),
                    now,
                    sum(reply.attempts for reply in replies),
                    _sum_counts([reply.prompt_tokens for reply in replies]),
                    _sum_counts([reply.completion_tokens for reply in replies]),
                    sum(reply.seconds for reply in replies),
                )
            )
        self._connection.executemany(
            "INSERT OR REPLACE INTO judgements VALUES (?, ?, ?, ?, ?, ?, ?)", rows
        )

    def write_seats(self, run_id: str, seats: Iterable[FiledSeat]) -> None:
        """Write the grades of seats, within the open transaction."""
        rows = []
        for position, metric, seat in seats:
            grades = None if seat.grades is None else json.dumps(dict(seat.grades))
            repaired = int(seat.repaired)
            rows.append(
                (
                    run_id,
                    position,
                    metric,
                    seat.seat,
                    seat.judgement_key,
                    grades,
                    seat.reason,
                    repaired,
                )
            )
        self._connection.executemany(
            "INSERT OR REPLACE INTO seats VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows
        )

    def read_seats(self, run_id: str, metric: str) -> dict[int, list[Seat]]:
        """Return the seats under `metric` by the position of the instance, in the order of the jury."""
        seats: dict[int, list[Seat]] = {}
        rows = self._connection.execute(
            "SELECT position, seat, grades, reason, repaired, judgement_key FROM seats "
            "WHERE run_id = ? AND metric = ? ORDER BY position, seat",
            (run_id, metric),
        )
        for position, seat, grades, reason, repaired, key in rows:
            seats.setdefault(position, []).append(_read_seat(seat, grades, reason, repaired, key))
        return seats

    def find_unjudged(
        self, run_id: str, seats_of: str, metrics: Sequence[str], seats: int
    ) -> list[int]:
        """Return the positions of answers without a score, or with a seat that was not asked or must be asked again.

        Purged answers are left out: they cannot be graded any more.

        Args:
            run_id: the run's id.
            seats_of: the metric under which the seats are stored.
            metrics: the metrics computed from the seats.
            seats: number of seats in the jury.
        """
        metric_marks = _marks(metrics)
        retried_marks = _marks(RETRIED)
        rows = self._connection.execute(
            "SELECT i.position FROM run_instances i JOIN answers a ON a.request_key = i.request_key "  # noqa: S608
            "JOIN records r ON r.record_key = i.record_key WHERE i.run_id = ? AND i.position IN ("
            f"SELECT position FROM scores WHERE run_id = ? AND metric IN ({metric_marks}) AND reason = ? UNION "
            "SELECT position FROM seats WHERE run_id = ? AND metric = ? GROUP BY position "
            f"HAVING COUNT(*) < ? OR SUM(reason IS NOT NULL AND reason IN ({retried_marks})) > 0) ORDER BY 1",
            (run_id, run_id, *metrics, Reason.NOT_JUDGED.value, run_id, seats_of, seats, *RETRIED),
        )
        return [position for (position,) in rows]

    def has_seats(self, run_id: str, metric: str) -> bool:
        """Return whether a jury was asked about any of the run's answers."""
        row = self._connection.execute(
            "SELECT 1 FROM seats WHERE run_id = ? AND metric = ? LIMIT 1", (run_id, metric)
        )
        return row.fetchone() is not None

    def forget_seats(self, run_id: str, seats_of: str, metrics: Sequence[str]) -> None:
        """Delete the grades of all seats and the scores computed from them, within the open transaction."""
        self._connection.execute(
            "DELETE FROM seats WHERE run_id = ? AND metric = ?", (run_id, seats_of)
        )
        self._connection.execute(
            f"UPDATE scores SET value = NULL, reason = ? WHERE run_id = ? AND metric IN ({_marks(metrics)}) "  # noqa: S608
            "AND (value IS NOT NULL OR reason = ?)",
            (Reason.NOT_JUDGED.value, run_id, *metrics, Reason.NO_QUORUM.value),
        )

    def sum_usage(self, run_id: str, seats: Sequence[int]) -> Usage:
        """Return the total cost of these seats' judgements in a run; a shared judgement counts once."""
        row = self._connection.execute(
            "SELECT COUNT(*), COALESCE(SUM(prompt_tokens), 0), COALESCE(SUM(completion_tokens), 0), "  # noqa: S608
            "COALESCE(SUM(prompt_tokens IS NULL OR completion_tokens IS NULL), 0), COALESCE(SUM(attempts), 0), 0, 0, "
            "COALESCE(SUM(seconds), 0.0), 0.0 FROM judgements "
            f"WHERE judgement_key IN (SELECT judgement_key FROM seats WHERE run_id = ? AND seat IN ({_marks(seats)}))",
            (run_id, *seats),
        ).fetchone()
        return Usage(*row)

    def read_sizes(self, run_id: str, seats: Sequence[int], limit: int) -> list[AnswerSize]:
        """Return the sizes of up to `limit` of these seats' judgements, without those whose tokens are not known."""
        rows = self._connection.execute(
            "SELECT j.prompt_tokens, j.completion_tokens, j.seconds, MAX(s.repaired) FROM judgements j "  # noqa: S608
            "JOIN seats s ON s.judgement_key = j.judgement_key "
            f"WHERE s.run_id = ? AND s.seat IN ({_marks(seats)}) "
            "AND j.prompt_tokens IS NOT NULL AND j.completion_tokens IS NOT NULL GROUP BY j.judgement_key LIMIT ?",
            (run_id, *seats, limit),
        )
        sizes: list[AnswerSize] = []
        for prompt_tokens, completion_tokens, seconds, corrected in rows:
            sizes.append(AnswerSize(prompt_tokens, completion_tokens, seconds, bool(corrected)))
        return sizes

    def read_every_seat(
        self, run_id: str, positions: Sequence[int]
    ) -> Mapping[int, list[tuple[str, Seat, Judgement]]]:
        """Return (metric, seat, replies) of every seat of these instances of a run, by position.

        The judgement has no replies if the judge did not reply, or after a purge.
        """
        rows = self._connection.execute(
            "SELECT s.position, s.metric, s.seat, s.grades, s.reason, s.repaired, s.judgement_key, j.sealed "  # noqa: S608
            "FROM seats s LEFT JOIN judgements j ON j.judgement_key = s.judgement_key "
            f"WHERE s.run_id = ? AND s.position IN ({_marks(positions)}) ORDER BY s.position, s.metric, s.seat",
            (run_id, *positions),
        )
        seats: dict[int, list[tuple[str, Seat, Judgement]]] = {}
        for position, metric, seat, grades, reason, repaired, key, sealed in rows:
            judgement = Judgement(()) if sealed is None else self._open(key, sealed)
            graded = _read_seat(seat, grades, reason, repaired, key)
            seats.setdefault(position, []).append((metric, graded, judgement))
        return seats

    def change(
        self,
        run_id: str,
        details: RunDetails,
        plan_digest: bytes,
        seats_of: str,
        metrics: Sequence[str],
    ) -> None:
        """Replace a run's jury in one transaction; its answers and other scores stay.

        Args:
            run_id: the run's id.
            details: the run's new details.
            plan_digest: digest of its plan with the new jury, so that repeating the `run` does nothing.
            seats_of: the metric under which the seats are stored.
            metrics: the metrics computed from the seats.
        """
        with self._database.transaction():
            self.forget_seats(run_id, seats_of, metrics)
            self._connection.execute(
                "UPDATE runs SET details = ?, plan_digest = ? WHERE run_id = ?",
                (write_details(details), plan_digest, run_id),
            )

    def _open(self, judgement_key: bytes, sealed: bytes) -> Judgement:
        return _decode(self._vault.open(_JUDGEMENT + judgement_key, sealed))


def _marks(values: Collection[object]) -> str:
    """Return placeholders for an SQL list."""
    return ", ".join("?" for _ in values)


def _read_seat(
    seat: int, grades: str | None, reason: str | None, repaired: int, key: bytes | None
) -> Seat:
    return Seat(
        seat=seat,
        grades=None if grades is None else json.loads(grades),
        reason=reason,
        repaired=bool(repaired),
        judgement_key=key,
    )


def _encode(judgement: Judgement) -> bytes:
    replies = [encode_response(reply).decode() for reply in judgement.replies]
    return json.dumps(
        {"replies": replies, "marker": judgement.marker, "shown": judgement.shown}
    ).encode()


def _decode(sealed: bytes) -> Judgement:
    content = json.loads(sealed)
    if isinstance(content, list):  # the older form, before judges were asked for a mark
        content = {"replies": content}
    replies = tuple(decode_response(reply.encode()) for reply in content["replies"])
    return Judgement(replies, content.get("marker", ""), tuple(content.get("shown", ())))


def _sum_counts(counts: Sequence[int | None]) -> int | None:
    """Return the sum, or None if a count is unknown."""
    known_counts = [count for count in counts if count is not None]
    return sum(known_counts) if len(known_counts) == len(counts) else None
