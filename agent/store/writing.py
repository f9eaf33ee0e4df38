"""Writing runs, in steps that are safe to repeat: a killed process leaves whole transactions only."""

import fcntl
import os
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice

from agent.errors import StoreError
from agent.store.codec import encode_instance, encode_response
from agent.store.identities import Identities, PlanDigest
from agent.store.juries import FiledSeat, Juries
from agent.store.reading import RunReader
from agent.store.run_details import RunDetails, write_details
from agent.store.stored import Judgement, RunScore
from agent.store.subgroups import SubgroupLabels
from agent.vocabulary import Instance, Response, Unscored

BATCH = 500  # records sealed in one transaction
_DRAFT = "~"  # after a run's id: scores that will take the place of its own

Scores = Iterable[tuple[int, str, float | Unscored]]  # (position, metric, value)
Labelled = Iterable[tuple[int, str, Unscored | None]]  # (position, whole-run metric, why it does not count)


class RunWriter(Identities, RunReader, Juries):
    """Runs as they are planned, asked and scored."""

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

    def begin_run(
        self,
        *,
        suite: str,
        name: str,
        benchmark: str,
        lineage: str,
        model: str,
        deployment: str,
        details: RunDetails,
        planned: Iterable[tuple[Instance, bytes]],
        scored_by: Sequence[str],
    ) -> str:
        """Write the run and its instances; return its id.

        The same plan again changes nothing but `details` and keeps every score; another plan under the same name
        starts over, with the answers that are still fitting.

        Args:
            lineage: the dataset that the units come from; a patient has one unit key in all benchmarks of it.
            planned: each instance with its request key, in order; walked once, few at a time in memory.
            scored_by: names of the metrics and the scoring rules, part of the plan's identity.
        """
        run_id = self.run_id(suite, name)
        plan = PlanDigest(scored_by)
        subgroups = SubgroupLabels()
        keys: list[bytes] = []  # of one instance each: instance, unit, record and request key in one
        walk = iter(planned)
        while batch := list(islice(walk, BATCH)):
            encoded = [encode_instance(instance) for instance, _ in batch]
            for (instance, request), data, record in zip(batch, encoded, self._keep_records(encoded), strict=True):
                plan.add(data, request)
                subgroups.add(instance.subgroups)
                unit = self.unit_key(lineage, instance.unit)
                keys.append(self.instance_key(benchmark, instance.id) + unit + record + request)
        plan_digest = self._plan_key(plan)
        with self._transaction():
            same = self.holds_plan(run_id, plan_digest)
            self._db.execute(
                "INSERT INTO runs (run_id, suite, name, benchmark, model, deployment, details, plan_digest, state, "
                "started_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'asking', ?) "
                "ON CONFLICT (run_id) DO UPDATE SET benchmark = excluded.benchmark, model = excluded.model, "
                "deployment = excluded.deployment, details = excluded.details, plan_digest = excluded.plan_digest, "
                "state = 'asking'",
                (run_id, suite, name, benchmark, model, deployment, write_details(details), plan_digest, _now()),
            )
            if not same:
                self._start_over(run_id, keys)
            self._db.execute(
                "INSERT OR REPLACE INTO subgroups VALUES (?, ?)",
                (run_id, self._vault.seal(b"subgroups\0" + run_id.encode(), subgroups.encode())),
            )
        return run_id

    def _start_over(self, run_id: str, keys: Iterable[bytes]) -> None:
        for table in ("scores", "labelled", "run_scores", "seats", "run_instances"):
            self._db.execute(f"DELETE FROM {table} WHERE run_id = ?", (run_id,))  # noqa: S608 (names from above)
        self._db.executemany(
            "INSERT INTO run_instances VALUES (?, ?, ?, ?, ?, ?, NULL)",
            ((run_id, place, key[:32], key[32:64], key[64:96], key[96:]) for place, key in enumerate(keys)),
        )
        # Time spent on answers that this plan has no use for is not its own.
        self._db.execute(
            "UPDATE runs SET asked_seconds = NULL WHERE run_id = ? AND NOT EXISTS (SELECT 1 FROM run_instances i "
            "JOIN answers a ON a.request_key = i.request_key WHERE i.run_id = runs.run_id)",
            (run_id,),
        )

    def _keep_records(self, encoded: Sequence[bytes]) -> list[bytes]:
        """Seal what is not stored yet, mark the rest as used today; return the record keys, in order."""
        keys = [self._vault.keyed_hash("record", data) for data in encoded]
        marks = ", ".join("?" for _ in keys)
        with self._transaction():
            rows = self._db.execute(f"SELECT record_key FROM records WHERE record_key IN ({marks})", keys)  # noqa: S608
            known = {key for (key,) in rows}
            self._db.executemany(
                "UPDATE records SET last_used_at = ? WHERE record_key = ?", [(_now(), key) for key in known]
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

    def left_out(self, run_id: str, benchmark: str, instance_ids: Iterable[str]) -> int:
        """Return how many scored instances of the stored run are not among `instance_ids`."""
        kept = {self.instance_key(benchmark, instance_id) for instance_id in instance_ids}
        scored = self._db.execute(
            "SELECT DISTINCT i.instance_key FROM run_instances i JOIN scores s "
            "ON s.run_id = i.run_id AND s.position = i.position WHERE i.run_id = ? AND s.value IS NOT NULL",
            (run_id,),
        )
        return sum(key not in kept for (key,) in scored)

    def settle(
        self,
        run_id: str,
        answers: Iterable[tuple[bytes, Response]],
        scores: Scores,
        labelled: Labelled = (),
        *,
        asked_seconds: float = 0.0,
    ) -> None:
        """Keep answers (by request key) and scores in one transaction.

        Args:
            labelled: which instances count for whole-run metrics.
            asked_seconds: wall time spent asking since the last call.
        """
        scores, labelled = list(scores), list(labelled)
        sealed = [
            (
                key,
                self._vault.seal(b"answer\0" + key, encode_response(response)),
                _now(),
                response.shortened,
                response.attempts,
                response.prompt_tokens,
                response.completion_tokens,
                response.seconds,
                response.finish_reason,
            )
            for key, response in answers
        ]
        with self._transaction():
            self._db.executemany("INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", sealed)
            self._note_ends(run_id, {position for position, _, _ in (*scores, *labelled)})
            self._write_scores(run_id, scores, labelled)
            if asked_seconds:
                self._db.execute(
                    "UPDATE runs SET asked_seconds = COALESCE(asked_seconds, 0) + ? WHERE run_id = ?",
                    (asked_seconds, run_id),
                )

    def _note_ends(self, run_id: str, positions: Iterable[int]) -> None:
        """Keep with the run why the answers ended that are scored now: leaderboards say so after a purge too."""
        self._db.executemany(
            "UPDATE run_instances SET finish_reason = (SELECT finish_reason FROM answers a "
            "WHERE a.request_key = run_instances.request_key) WHERE run_id = ? AND position = ?",
            ((run_id, position) for position in positions),
        )

    def _write_scores(self, run_id: str, scores: Scores, labelled: Labelled) -> None:
        self._db.executemany(
            "INSERT OR REPLACE INTO scores VALUES (?, ?, ?, ?, ?)",
            (
                (run_id, position, metric, None, value.reason.value)
                if isinstance(value, Unscored)
                else (run_id, position, metric, value, None)
                for position, metric, value in scores
            ),
        )
        self._db.executemany(
            "INSERT OR REPLACE INTO labelled VALUES (?, ?, ?, ?)",
            ((run_id, position, metric, why and why.reason.value) for position, metric, why in labelled),
        )

    def keep_scores(
        self,
        run_id: str,
        scores: Scores,
        judgements: Iterable[tuple[bytes, Judgement]] = (),
        seats: Iterable[FiledSeat] = (),
    ) -> None:
        """Keep scores that were made after the asking, with what they rest on, in one transaction.

        Args:
            run_id: whose.
            scores: of metrics that are measured later, or that a jury gave.
            judgements: replies of judges, by the key of their request.
            seats: what each seat gave.
        """
        with self._transaction():
            self._write_judgements(judgements)
            self._write_seats(run_id, seats)
            self._write_scores(run_id, scores, ())

    def change_jury(
        self, run_id: str, details: RunDetails, plan_digest: bytes, seats_of: str, metrics: Sequence[str]
    ) -> None:
        """Give a run another jury in one transaction; its answers and other scores stay.

        Args:
            run_id: whose.
            details: of the run from now on.
            plan_digest: of its plan with the new jury, so that the same `run` finds nothing left to do.
            seats_of: the metric that seats are kept under.
            metrics: those that rest on them.
        """
        with self._transaction():
            self.forget_seats(run_id, seats_of, metrics)
            self._db.execute(
                "UPDATE runs SET details = ?, plan_digest = ? WHERE run_id = ?",
                (write_details(details), plan_digest, run_id),
            )

    def end_run(self, run_id: str, run_scores: Iterable[RunScore] = ()) -> None:
        """Mark the run as ended, with the metrics that only the whole run has."""
        with self._transaction():
            self._write_run_scores(run_id, run_scores)
            self._db.execute("UPDATE runs SET state = 'ended', ended_at = ? WHERE run_id = ?", (_now(), run_id))

    def _write_run_scores(self, run_id: str, run_scores: Iterable[RunScore]) -> None:
        self._db.executemany(
            "INSERT OR REPLACE INTO run_scores VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            ((run_id, one.metric, one.value, one.low, one.high, one.n, one.units, one.floor) for one in run_scores),
        )

    # scoring again: new scores are drafted beside the old ones, and take their place at once

    def drop_draft(self, run_id: str) -> None:
        """Forget drafted scores, such as a killed process leaves."""
        with self._transaction():
            for table in ("scores", "labelled", "seats"):
                self._db.execute(f"DELETE FROM {table} WHERE run_id = ?", (run_id + _DRAFT,))  # noqa: S608

    def draft_scores(
        self, run_id: str, scores: Scores, labelled: Labelled = (), seats: Iterable[FiledSeat] = ()
    ) -> None:
        """Keep new scores of the run, and what the seats of its jury gave, apart from those it has."""
        with self._transaction():
            self._write_scores(run_id + _DRAFT, scores, labelled)
            self._write_seats(run_id + _DRAFT, seats)

    def put_in_place(
        self, run_id: str, details: RunDetails, plan_digest: bytes, run_scores: Iterable[RunScore]
    ) -> None:
        """Let the drafted scores take the place of the run's own, in one transaction.

        Args:
            details: of the run from now on.
            plan_digest: of its plan with the new rules, so that the same `run` finds nothing left to do.
            run_scores: its new whole-run metrics.
        """
        with self._transaction():
            self._db.execute("DELETE FROM run_scores WHERE run_id = ?", (run_id,))
            for table in ("scores", "labelled", "seats"):
                self._db.execute(f"DELETE FROM {table} WHERE run_id = ?", (run_id,))  # noqa: S608 (names from above)
                self._db.execute(
                    f"UPDATE {table} SET run_id = ? WHERE run_id = ?",  # noqa: S608 (names from above)
                    (run_id, run_id + _DRAFT),
                )
            self._write_run_scores(run_id, run_scores)
            self._db.execute(
                "UPDATE runs SET details = ?, plan_digest = ? WHERE run_id = ?",
                (write_details(details), plan_digest, run_id),
            )


def _now() -> int:
    return int(time.time())
