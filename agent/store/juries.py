"""What judges replied, and what each seat of a jury gave for the answers of a run."""

import json
import time
from collections.abc import Iterable, Mapping, Sequence

from agent.store.codec import decode_response, encode_response
from agent.store.database import Database
from agent.store.stored import RETRIED, Judgement, Seat, Usage
from agent.vocabulary import Reason

FiledSeat = tuple[int, str, Seat]  # (position, metric, what the seat gave)


class Juries(Database):
    """Judgements by the exact request they are replies to, and seats by run, instance and metric."""

    def judgement_key(self, deployment: str, body: bytes) -> bytes:
        """Return the keyed hash of the exact first request `body` to the judge served as `deployment`."""
        return self._vault.keyed_hash("judgement", deployment.encode() + b"\0" + body)

    def fence_marker(self, text: bytes) -> str:
        """Return 16 hex digits that only this site can compute for `text`: nobody who wrote it can have known them."""
        return self._vault.keyed_hash("fence", text).hex()[:16]

    def judgement(self, judgement_key: bytes) -> Judgement | None:
        """Return the stored replies to exactly this request, if there are any."""
        row = self._db.execute("SELECT sealed FROM judgements WHERE judgement_key = ?", (judgement_key,)).fetchone()
        if row is None:
            return None
        return _decode(self._vault.open(b"judgement\0" + judgement_key, row[0]))

    def _write_judgements(self, judgements: Iterable[tuple[bytes, Judgement]]) -> None:
        now = int(time.time())
        self._db.executemany(
            "INSERT OR REPLACE INTO judgements VALUES (?, ?, ?, ?, ?, ?, ?)",
            (
                (
                    key,
                    self._vault.seal(b"judgement\0" + key, _encode(judgement)),
                    now,
                    sum(reply.attempts for reply in judgement.replies),
                    _total([reply.prompt_tokens for reply in judgement.replies]),
                    _total([reply.completion_tokens for reply in judgement.replies]),
                    sum(reply.seconds for reply in judgement.replies),
                )
                for key, judgement in judgements
            ),
        )

    def _write_seats(self, run_id: str, seats: Iterable[FiledSeat]) -> None:
        self._db.executemany(
            "INSERT OR REPLACE INTO seats VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (
                (
                    *(run_id, position, metric, seat.seat, seat.judgement_key),
                    None if seat.grades is None else json.dumps(dict(seat.grades)),
                    *(seat.reason, int(seat.repaired)),
                )
                for position, metric, seat in seats
            ),
        )

    def seats(self, run_id: str, metric: str) -> dict[int, list[Seat]]:
        """Return what every seat gave under `metric`, by the instance's position, in the order of the jury."""
        found: dict[int, list[Seat]] = {}
        rows = self._db.execute(
            "SELECT position, seat, grades, reason, repaired, judgement_key FROM seats "
            "WHERE run_id = ? AND metric = ? ORDER BY position, seat",
            (run_id, metric),
        )
        for position, seat, grades, reason, repaired, key in rows:
            given = None if grades is None else json.loads(grades)
            found.setdefault(position, []).append(Seat(seat, given, reason, bool(repaired), key))
        return found

    def unjudged(self, run_id: str, seats_of: str, metrics: Sequence[str], seats: int) -> list[int]:
        """Return the positions whose answers a jury has yet to grade, or of which a seat is yet to be asked, or again.

        Answers that were purged are left out: nobody can grade them any more.

        Args:
            run_id: whose.
            seats_of: the metric that the seats are kept under.
            metrics: those that rest on them.
            seats: of the jury.
        """
        marks, retried = ", ".join("?" for _ in metrics), ", ".join("?" for _ in RETRIED)
        rows = self._db.execute(
            "SELECT i.position FROM run_instances i JOIN answers a ON a.request_key = i.request_key "  # noqa: S608
            "JOIN records r ON r.record_key = i.record_key WHERE i.run_id = ? AND i.position IN ("
            f"SELECT position FROM scores WHERE run_id = ? AND metric IN ({marks}) AND reason = ? UNION "
            "SELECT position FROM seats WHERE run_id = ? AND metric = ? GROUP BY position "
            f"HAVING COUNT(*) < ? OR SUM(reason IS NOT NULL AND reason IN ({retried})) > 0) ORDER BY 1",
            (run_id, run_id, *metrics, Reason.NOT_JUDGED.value, run_id, seats_of, seats, *RETRIED),
        )
        return [position for (position,) in rows]

    def has_seats(self, run_id: str, metric: str) -> bool:
        """Whether any seat of a jury was asked about the run's answers."""
        row = self._db.execute("SELECT 1 FROM seats WHERE run_id = ? AND metric = ? LIMIT 1", (run_id, metric))
        return row.fetchone() is not None

    def forget_seats(self, run_id: str, seats_of: str, metrics: Sequence[str]) -> None:
        """Let another jury begin: what the seats gave goes, and with it every score that rests on them."""
        marks = ", ".join("?" for _ in metrics)
        self._db.execute("DELETE FROM seats WHERE run_id = ? AND metric = ?", (run_id, seats_of))
        self._db.execute(
            f"UPDATE scores SET value = NULL, reason = ? WHERE run_id = ? AND metric IN ({marks}) "  # noqa: S608
            "AND (value IS NOT NULL OR reason = ?)",
            (Reason.NOT_JUDGED.value, run_id, *metrics, Reason.NO_QUORUM.value),
        )

    def judging_usage(self, run_id: str, seats: Sequence[int]) -> Usage:
        """Sum up what the judgements of these seats of a run cost, each counted once however many of them share it."""
        marks = ", ".join("?" for _ in seats)
        row = self._db.execute(
            "SELECT COUNT(*), COALESCE(SUM(prompt_tokens), 0), COALESCE(SUM(completion_tokens), 0), "  # noqa: S608
            "COALESCE(SUM(prompt_tokens IS NULL OR completion_tokens IS NULL), 0), COALESCE(SUM(attempts), 0), 0, 0, "
            "COALESCE(SUM(seconds), 0.0), 0.0 FROM judgements "
            f"WHERE judgement_key IN (SELECT judgement_key FROM seats WHERE run_id = ? AND seat IN ({marks}))",
            (run_id, *seats),
        ).fetchone()
        return Usage(*row)

    def every_seat(self, run_id: str, positions: Sequence[int]) -> Mapping[int, list[tuple[str, Seat, Judgement]]]:
        """Return (metric, seat, replies) of every seat that these instances of a run have, by position.

        Where no reply came, or it was purged, there are none.
        """
        marks = ", ".join("?" for _ in positions)
        rows = self._db.execute(
            "SELECT s.position, s.metric, s.seat, s.grades, s.reason, s.repaired, s.judgement_key, j.sealed "  # noqa: S608
            "FROM seats s LEFT JOIN judgements j ON j.judgement_key = s.judgement_key "
            f"WHERE s.run_id = ? AND s.position IN ({marks}) ORDER BY s.position, s.metric, s.seat",
            (run_id, *positions),
        )
        found: dict[int, list[tuple[str, Seat, Judgement]]] = {}
        for position, metric, seat, grades, reason, repaired, key, sealed in rows:
            given = None if grades is None else json.loads(grades)
            judgement = Judgement(()) if sealed is None else _decode(self._vault.open(b"judgement\0" + key, sealed))
            found.setdefault(position, []).append((metric, Seat(seat, given, reason, bool(repaired), key), judgement))
        return found


def _encode(judgement: Judgement) -> bytes:
    replies = [encode_response(reply).decode() for reply in judgement.replies]
    return json.dumps({"replies": replies, "marker": judgement.marker, "shown": judgement.shown}).encode()


def _decode(sealed: bytes) -> Judgement:
    found = json.loads(sealed)
    if isinstance(found, list):  # as it was kept before judges were asked for a mark
        found = {"replies": found}
    replies = tuple(decode_response(reply.encode()) for reply in found["replies"])
    return Judgement(replies, found.get("marker", ""), tuple(found.get("shown", ())))


def _total(counts: Sequence[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(counts) else None
