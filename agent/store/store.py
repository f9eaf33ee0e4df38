"""The site's encrypted store: SQLite (WAL), texts sealed, identities as keyed hashes.

A run is written in three steps, each safe to repeat: `begin_run` (its instances), `settle` (answers and scores, in
small transactions as they arrive) and `end_run`. A killed run leaves whole transactions only.
"""

import fcntl
import hashlib
import json
import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

from agent.errors import StoreError
from agent.store.codec import decode_instance, decode_response, encode_instance, encode_response
from agent.store.database import said_plainly
from agent.store.releases import Releases
from agent.vocabulary import Instance, Reason, Response, Unscored

DAY_S = 86_400
RUNS = "SELECT run_id, suite, name, benchmark, model, deployment, details, state, started_at, ended_at FROM runs"
# Reasons that say nothing about the model: such an instance is asked again by the next run.
RETRIED = frozenset({Reason.SERVER_ERROR, Reason.BAD_REPLY, Reason.TIMEOUT, Reason.UNREACHABLE, Reason.NOT_ASKED})


@dataclass(frozen=True, slots=True)
class Run:
    """One stored run. `details` holds settings, digests, metrics and capabilities, never text of a case."""

    run_id: str
    suite: str
    name: str
    benchmark: str
    model: str
    deployment: str
    details: Mapping[str, Any]
    state: Literal["asking", "ended"]
    started_at: int
    ended_at: int | None


@dataclass(frozen=True, slots=True)
class UnitScore:
    """One instance's score under one metric, with keyed hashes instead of identities."""

    unit_key: bytes
    instance_key: bytes
    value: float | None
    reason: str | None


@dataclass(frozen=True, slots=True)
class StoredInstance:
    """Everything the store knows of one instance of a run. Texts are None after a purge or before an answer."""

    position: int
    instance_key: bytes
    instance: Instance | None
    response: Response | None
    scores: Mapping[str, float | Unscored]


class Store(Releases):
    """One open connection to the site's store. Not for several threads."""

    @contextmanager
    def run_lock(self, run_id: str) -> Iterator[None]:
        """Hold the run for this process, so that two processes never ask the same questions.

        Raises:
            StoreError: another process holds it.
        """
        path = self._path.parent / f"run-{run_id}.lock"
        descriptor = os.open(path, os.O_CREAT | os.O_RDWR, 0o600)
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise StoreError("another process is working on this run", "Wait for it, or end it.") from None
            yield
        finally:
            os.close(descriptor)

    # identities

    def run_id(self, suite: str, name: str) -> str:
        """Return the run's id: the same for the same suite and run name on this site."""
        return self._vault.keyed_hash("run", f"{suite}\0{name}".encode()).hex()[:16]

    def request_key(self, deployment: str, body: bytes) -> bytes:
        """Return the keyed hash of the exact request `body` to `deployment`."""
        return self._vault.keyed_hash("request", deployment.encode() + b"\0" + body)

    def instance_key(self, benchmark: str, instance_id: str) -> bytes:
        """Return the keyed hash that stands for an instance wherever a person can see it."""
        return self._vault.keyed_hash("instance", f"{benchmark}\0{instance_id}".encode())

    def unit_key(self, lineage: str, unit: str) -> bytes:
        """Return the keyed hash that stands for a patient or document; the same in all benchmarks of a lineage."""
        return self._vault.keyed_hash("unit", f"{lineage}\0{unit}".encode())

    def plan_digest(self, planned: Sequence[tuple[Instance, bytes]], scored_by: Sequence[str]) -> bytes:
        """Return the keyed hash of what a run asks and how it is scored: equal plans need nothing done twice."""
        whole = hashlib.sha256(json.dumps(list(scored_by)).encode())
        for instance, request_key in planned:
            encoded = encode_instance(instance)
            whole.update(len(encoded).to_bytes(8, "big") + encoded + request_key)
        return self._vault.keyed_hash("plan", whole.digest())

    # writing a run

    def begin_run(
        self,
        *,
        suite: str,
        name: str,
        benchmark: str,
        lineage: str,
        model: str,
        deployment: str,
        details: Mapping[str, Any],
        planned: Sequence[tuple[Instance, bytes]],
        scored_by: Sequence[str],
    ) -> str:
        """Write the run and its instances; return its id.

        The same plan again changes nothing but `details` and keeps every score; another plan under the same name
        starts over, with the answers that are still fitting.

        Args:
            lineage: the dataset that the units come from; a patient has one unit key in all benchmarks of it.
            planned: each instance with its request key, in order.
            scored_by: names of the metrics and the scoring rules, part of the plan's identity.
        """
        run_id = self.run_id(suite, name)
        plan_digest = self.plan_digest(planned, scored_by)
        with self._transaction():
            record_keys = self._keep_records([instance for instance, _ in planned])
            same = self.holds_plan(run_id, plan_digest)
            if not same:
                self._db.execute("DELETE FROM scores WHERE run_id = ?", (run_id,))
                self._db.execute("DELETE FROM run_instances WHERE run_id = ?", (run_id,))
            self._db.execute(
                "INSERT INTO runs VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'asking', ?, NULL) "
                "ON CONFLICT (run_id) DO UPDATE SET benchmark = excluded.benchmark, model = excluded.model, "
                "deployment = excluded.deployment, details = excluded.details, plan_digest = excluded.plan_digest, "
                "state = 'asking'",
                (run_id, suite, name, benchmark, model, deployment, json.dumps(details), plan_digest, _now()),
            )
            if not same:
                keys = (
                    (self.instance_key(benchmark, instance.id), self.unit_key(lineage, instance.unit), record, request)
                    for (instance, request), record in zip(planned, record_keys, strict=True)
                )
                self._db.executemany(
                    "INSERT INTO run_instances VALUES (?, ?, ?, ?, ?, ?)",
                    ((run_id, position, *of_instance) for position, of_instance in enumerate(keys)),
                )
        return run_id

    def _keep_records(self, instances: Sequence[Instance]) -> list[bytes]:
        """Seal what is not stored yet, mark the rest as used today; return the record keys, in order."""
        encoded = [encode_instance(instance) for instance in instances]
        keys = [self._vault.keyed_hash("record", data) for data in encoded]
        known = {key for (key,) in self._db.execute("SELECT record_key FROM records")}
        self._db.executemany(
            "UPDATE records SET last_used_at = ? WHERE record_key = ?", [(_now(), key) for key in keys if key in known]
        )
        self._db.executemany(
            "INSERT OR IGNORE INTO records VALUES (?, ?, ?)",
            (
                (key, self._vault.seal(b"record\0" + key, data), _now())
                for key, data in zip(keys, encoded, strict=True)
                if key not in known
            ),
        )
        return keys

    def holds_plan(self, run_id: str, plan_digest: bytes) -> bool:
        """Whether the stored run has exactly this plan."""
        row = self._db.execute("SELECT plan_digest FROM runs WHERE run_id = ?", (run_id,)).fetchone()
        return row is not None and row[0] == plan_digest

    def left_out(self, run_id: str, benchmark: str, instance_ids: Iterable[str]) -> int:
        """Return how many scored instances of the stored run are not among `instance_ids`."""
        kept = {self.instance_key(benchmark, instance_id) for instance_id in instance_ids}
        scored = self._db.execute(
            "SELECT DISTINCT i.instance_key FROM run_instances i JOIN scores s "
            "ON s.run_id = i.run_id AND s.position = i.position WHERE i.run_id = ? AND s.value IS NOT NULL",
            (run_id,),
        )
        return sum(key not in kept for (key,) in scored)

    def settled_positions(self, run_id: str) -> set[int]:
        """Return the positions that need neither a question nor scoring any more."""
        marks = ", ".join("?" for _ in RETRIED)
        rows = self._db.execute(
            f"SELECT position FROM scores WHERE run_id = ? GROUP BY position "  # noqa: S608 (marks are placeholders)
            f"HAVING SUM(reason IS NOT NULL AND reason IN ({marks})) = 0",
            (run_id, *RETRIED),
        )
        return {position for (position,) in rows}

    def answer(self, request_key: bytes) -> Response | None:
        """Return the stored response to exactly this request, if there is one."""
        row = self._db.execute("SELECT sealed FROM answers WHERE request_key = ?", (request_key,)).fetchone()
        return None if row is None else decode_response(self._vault.open(b"answer\0" + request_key, row[0]))

    def settle(
        self,
        run_id: str,
        answers: Iterable[tuple[bytes, Response]],
        scores: Iterable[tuple[int, str, float | Unscored]],
    ) -> None:
        """Keep answers (by request key) and scores (position, metric, value) in one transaction."""
        sealed = [
            (key, self._vault.seal(b"answer\0" + key, encode_response(response)), _now()) for key, response in answers
        ]
        rows = [
            (run_id, position, metric, None, value.reason.value)
            if isinstance(value, Unscored)
            else (run_id, position, metric, value, None)
            for position, metric, value in scores
        ]
        with self._transaction():
            self._db.executemany("INSERT OR REPLACE INTO answers VALUES (?, ?, ?)", sealed)
            self._db.executemany("INSERT OR REPLACE INTO scores VALUES (?, ?, ?, ?, ?)", rows)

    def end_run(self, run_id: str) -> None:
        """Mark the run as ended."""
        self._db.execute("UPDATE runs SET state = 'ended', ended_at = ? WHERE run_id = ?", (_now(), run_id))

    # reading

    def suites(self) -> list[str]:
        """Return the names of all suites, oldest first."""
        return [s for (s,) in self._db.execute("SELECT suite FROM runs GROUP BY suite ORDER BY MIN(started_at), suite")]

    def runs(self, suite: str | None = None) -> list[Run]:
        """Return the runs of a suite, or all, ordered by benchmark and model."""
        return self._runs("? IS NULL OR suite = ?", suite, suite)

    def run(self, run_id: str) -> Run | None:
        """Return one run."""
        return next(iter(self._runs("run_id = ?", run_id)), None)

    def _runs(self, condition: str, *values: str | None) -> list[Run]:
        rows = self._db.execute(f"{RUNS} WHERE {condition} ORDER BY suite, benchmark, model, name", values)
        return [
            Run(run_id, suite, name, benchmark, model, deployment, json.loads(details), state, started_at, ended_at)
            for run_id, suite, name, benchmark, model, deployment, details, state, started_at, ended_at in rows
        ]

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

    def count_instances(self, run_id: str) -> int:
        """Return how many instances the run has."""
        (count,) = self._db.execute("SELECT COUNT(*) FROM run_instances WHERE run_id = ?", (run_id,)).fetchone()
        return int(count)

    def instances(self, run_id: str, offset: int, limit: int) -> list[StoredInstance]:
        """Return one page of a run's instances with their texts, in order."""
        rows = self._db.execute(
            "SELECT i.position, i.instance_key, i.record_key, r.sealed, i.request_key, a.sealed FROM run_instances i "
            "LEFT JOIN records r ON r.record_key = i.record_key LEFT JOIN answers a ON a.request_key = i.request_key "
            "WHERE i.run_id = ? ORDER BY i.position LIMIT ? OFFSET ?",
            (run_id, limit, offset),
        ).fetchall()
        scores: dict[int, dict[str, float | Unscored]] = {row[0]: {} for row in rows}
        for position, metric, value, reason in self._db.execute(
            "SELECT position, metric, value, reason FROM scores WHERE run_id = ? AND position BETWEEN ? AND ?",
            (run_id, offset, offset + limit - 1),
        ):
            scores[position][metric] = Unscored(Reason(reason)) if value is None else value
        return [
            StoredInstance(
                position,
                instance_key,
                None if record is None else decode_instance(self._vault.open(b"record\0" + record_key, record)),
                None if answer is None else decode_response(self._vault.open(b"answer\0" + request_key, answer)),
                scores[position],
            )
            for position, instance_key, record_key, record, request_key, answer in rows
        ]

    # retention and audit

    def purge(self, older_than_days: int, now: float | None = None) -> int:
        """Delete texts that no run has used for `older_than_days` times 24 hours; scores stay. Returns how many went.

        0 deletes every text that there is.
        """
        last = int(time.time() if now is None else now) - older_than_days * DAY_S
        with self._transaction():
            gone = self._db.execute("DELETE FROM answers WHERE created_at <= ?", (last,)).rowcount
            gone += self._db.execute("DELETE FROM records WHERE last_used_at <= ?", (last,)).rowcount
        with said_plainly("written"):
            self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            self._db.execute("VACUUM")
        return gone

    def audit(self, event: str, detail: str) -> None:
        """Append to the audit log, chained under the site's key. `detail` never holds text of a case."""
        with self._transaction():
            row = self._db.execute("SELECT seq, chain FROM audit ORDER BY seq DESC LIMIT 1").fetchone()
            seq, previous = row or (0, b"")
            at = _now()
            chain = self._audit_link(previous, at, event, detail)
            self._db.execute("INSERT INTO audit VALUES (?, ?, ?, ?, ?)", (seq + 1, at, event, detail, chain))
            self._set_seal("audit head", chain)

    def audit_log(self) -> list[tuple[int, str, str]]:
        """Return (seconds since 1970, event, detail), oldest first.

        Raises:
            StoreError: an entry was changed or removed. That the whole store was put back from an older copy cannot
                be seen here.
        """
        previous, entries = b"", []
        for at, event, detail, chain in self._db.execute("SELECT at, event, detail, chain FROM audit ORDER BY seq"):
            if self._audit_link(previous, at, event, detail) != chain:
                raise StoreError("the audit log was changed: an entry does not follow from the one before it")
            previous = chain
            entries.append((at, event, detail))
        head = self._seal("audit head")
        if (b"" if head is None else self._vault.open(b"seal\0audit head", head)) != previous:
            raise StoreError("the audit log was changed: its last entries are missing")
        return entries

    def _audit_link(self, previous: bytes, at: int, event: str, detail: str) -> bytes:
        return self._vault.keyed_hash("audit", previous + json.dumps([at, event, detail]).encode())


def _now() -> int:
    return int(time.time())
