"""Stored runs. Each step that begins or ends a run is safe to repeat."""

import fcntl
import os
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from itertools import islice
from typing import Any, Concatenate, ParamSpec, TypeVar

from agent.errors import ConfigError, StoreError
from agent.store.audiences import EVERYTHING, Audience
from agent.store.clock import StoreClock
from agent.store.codec import add_origin, encode_question
from agent.store.database import Database
from agent.store.identities import Identities, PlanDigest
from agent.store.run_details import RunDetails, read_details, write_details
from agent.store.scores import Scores
from agent.store.stored import Run, RunScore
from agent.store.subgroups import SubgroupLabels
from agent.vocabulary import Instance

P = ParamSpec("P")
R = TypeVar("R")

BATCH = 500  # maximum records sealed in one transaction
_RUNS = (
    "SELECT run_id, suite, name, benchmark, model, deployment, details, state, started_at, ended_at, owner, private "
    "FROM runs"
)
# The runs that an audience sees; its values are those of `_list_seen`.
_SEEN = "(private = 0 OR ? OR owner IS NOT NULL AND owner IS ?)"


@dataclass(frozen=True, slots=True)
class _KeptPlan:
    """A plan whose questions are stored.

    Attributes:
        digest: the keyed digest of the plan.
        keys: the instance, unit, record and request keys of each instance, joined.
        subgroups: the values of each attribute for all instances, encoded.
    """

    digest: bytes
    keys: Sequence[bytes]
    subgroups: bytes


def _do_at_once(
    work: Callable[Concatenate[R, P], Generator[None, None, str]],
) -> Callable[Concatenate[R, P], str]:
    """Return the function that does the same work without pauses."""

    @wraps(work)
    def work_at_once(self: R, /, *args: P.args, **kwargs: P.kwargs) -> str:
        parts = work(self, *args, **kwargs)
        while True:
            try:
                next(parts)
            except StopIteration as end:
                return str(end.value)

    return work_at_once


class Runs:
    """The store's runs, by suite and name.

    Attributes:
        audience: who reads them. Runs that others keep from this audience are neither listed nor found.
    """

    def __init__(
        self,
        database: Database,
        identities: Identities,
        scores: Scores,
        clock: StoreClock,
        audience: Audience = EVERYTHING,
    ) -> None:
        self.audience = audience
        self._database = database
        self._connection = database.connection
        self._vault = database.vault
        self._identities = identities
        self._scores = scores
        self._clock = clock

    def list_suites(self) -> list[str]:
        """Return the names of all suites, oldest first."""
        rows = self._connection.execute(
            f"SELECT suite FROM runs WHERE {_SEEN} GROUP BY suite ORDER BY MIN(started_at), suite",  # noqa: S608 (from above)
            self._list_seen(),
        )
        return [suite for (suite,) in rows]

    def require_suite(self, suite: str) -> None:
        """Refuse a suite that has no run.

        Raises:
            ConfigError: the suite has no run; the message lists the suites that have runs.
        """
        suites = self.list_suites()
        if suite not in suites:
            raise ConfigError(
                f"there is no suite {suite} (suites here: {', '.join(suites) or 'none yet'})",
                "Name a suite with --suite.",
            )

    def select(self, suite: str | None = None) -> list[Run]:
        """Return the runs of a suite, or all, ordered by benchmark and model.

        Raises:
            StoreError: the details of a run are damaged or of another version; the message names the key.
        """
        return self._select("? IS NULL OR suite = ?", suite, suite)

    def find(self, run_id: str) -> Run | None:
        """Return the run with this id, or None."""
        return next(iter(self._select("run_id = ?", run_id)), None)

    def hides(self, run_id: str) -> bool:
        """Return whether there is such a run, but this audience does not see it."""
        row = self._connection.execute(
            f"SELECT 1 FROM runs WHERE run_id = ? AND NOT {_SEEN}",  # noqa: S608 (from above)
            (run_id, *self._list_seen()),
        ).fetchone()
        return row is not None

    def list_hidden_owners(self, suite: str) -> set[str | None]:
        """Return the owners of a suite's runs that this audience does not see."""
        rows = self._connection.execute(
            f"SELECT DISTINCT owner FROM runs WHERE suite = ? AND NOT {_SEEN}",  # noqa: S608 (from above)
            (suite, *self._list_seen()),
        )
        return {owner for (owner,) in rows}

    def is_private_suite(self, suite: str) -> bool:
        """Return whether a suite has runs, all of which are private, whoever owns them."""
        row = self._connection.execute(
            "SELECT MIN(private) FROM runs WHERE suite = ?", (suite,)
        ).fetchone()
        return bool(row[0])

    def has_private(self) -> bool:
        """Return whether this audience sees a private run."""
        row = self._connection.execute(
            f"SELECT 1 FROM runs WHERE private = 1 AND {_SEEN} LIMIT 1",  # noqa: S608 (from above)
            self._list_seen(),
        ).fetchone()
        return row is not None

    def _select(self, condition: str, *values: str | None) -> list[Run]:
        rows = self._connection.execute(
            f"{_RUNS} WHERE ({condition}) AND {_SEEN} ORDER BY suite, benchmark, model, name",
            (*values, *self._list_seen()),
        )
        return [_read_row(row) for row in rows]

    def _list_seen(self) -> tuple[int, str | None]:
        """Return the values of the condition `_SEEN`."""
        return int(self.audience.sees_all), self.audience.account

    def holds_plan(self, run_id: str, plan_digest: bytes) -> bool:
        """Return whether the stored run has exactly this plan."""
        row = self._connection.execute(
            "SELECT plan_digest FROM runs WHERE run_id = ?", (run_id,)
        ).fetchone()
        return row is not None and row[0] == plan_digest

    def share_a_request(self, run_ids: Sequence[str]) -> bool:
        """Return whether any two of the runs sent the same request, byte for byte."""
        marks = ", ".join("?" for _ in run_ids)
        row = self._connection.execute(
            f"SELECT 1 FROM run_instances WHERE run_id IN ({marks}) "  # noqa: S608 (marks are placeholders)
            "GROUP BY request_key HAVING COUNT(DISTINCT run_id) > 1 LIMIT 1",
            tuple(run_ids),
        ).fetchone()
        return row is not None

    @contextmanager
    def hold_beginnings(self) -> Iterator[None]:
        """Return a context in which no run begins: texts that no run has can then be deleted.

        Raises:
            StoreError: a run is beginning.
        """
        with self._lock_beginnings(fcntl.LOCK_EX | fcntl.LOCK_NB):
            yield

    @contextmanager
    def hold_figures(self) -> Iterator[None]:
        """Return a context in which no run is deleted or kept from others: their figures can be drafted.

        Several processes may be in it at a time.

        Raises:
            StoreError: a run is being deleted or kept from others.
        """
        problem = "a run is just being deleted or kept from others"
        with self._lock_file("figures.lock", fcntl.LOCK_SH | fcntl.LOCK_NB, problem):
            yield

    @contextmanager
    def hold_drafting(self) -> Iterator[None]:
        """Return a context in which no draft is made of the figures of runs, so that a run can go.

        Raises:
            StoreError: a draft is being made, or another run goes.
        """
        problem = "results are just being drafted from runs"
        with self._lock_file("figures.lock", fcntl.LOCK_EX | fcntl.LOCK_NB, problem):
            yield

    @contextmanager
    def _lock_beginnings(self, operation: int) -> Iterator[None]:
        with self._lock_file("beginnings.lock", operation, "a run is just beginning"):
            yield

    @contextmanager
    def _lock_file(self, name: str, operation: int, problem: str) -> Iterator[None]:
        path = self._database.path.parent / name
        descriptor = os.open(path, os.O_CREAT | os.O_RDWR, 0o600)
        try:
            try:
                fcntl.flock(descriptor, operation)
            except OSError:
                raise StoreError(problem, "Wait a moment, then try again.") from None
            yield
        finally:
            os.close(descriptor)

    @contextmanager
    def lock(self, run_id: str) -> Iterator[None]:
        """Return a context that locks the run, so that two processes never ask the same questions.

        Raises:
            StoreError: another process holds the lock.
        """
        path = self._database.path.parent / f"run-{run_id}.lock"
        descriptor = os.open(path, os.O_CREAT | os.O_RDWR, 0o600)
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise StoreError(
                    "another process is working on this run",
                    "Wait until that process has ended, or end it.",
                ) from None
            yield
        finally:
            os.close(descriptor)

    def begin_in_parts(
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
        private: bool = False,
    ) -> Generator[None, None, str]:
        """Write the run and its instances, and pause after each batch of questions; return the run's id.

        Beginning the same plan again changes only `details` and keeps every score. A different plan under the same
        name starts over, and uses the stored answers that still apply.

        Args:
            suite: the suite that the run belongs to.
            name: the run's name, unique in its suite: its run entry.
            benchmark: name of the benchmark.
            lineage: the dataset that the units come from; benchmarks on the same dataset share unit keys, so that a
                patient has the same key in all of them.
            model: name of the model.
            deployment: name of the deployment that serves it.
            details: the run's details.
            planned: each instance with its request key, in order; iterated once, in batches.
            scored_by: names of the metrics and the scoring rules, part of the plan's identity.
            private: whether the owner of a new run keeps it from others. The audience's account becomes the owner.

        Raises:
            ConfigError: see `check_privacy`; nothing was written.
        """
        run_id = self._identities.run_id(suite, name)
        self.check_privacy(suite, name, private=private)
        # Questions are stored before the run that has them, and must not be deleted in between.
        with self._lock_beginnings(fcntl.LOCK_SH):
            kept = yield from self._keep_plan(benchmark, lineage, planned, scored_by)
            with self._database.transaction():
                is_same_plan = self.holds_plan(run_id, kept.digest)
                self._connection.execute(
                    "INSERT INTO runs (run_id, suite, name, benchmark, model, deployment, details, plan_digest, state, "
                    "started_at, owner, private) VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'asking', ?, ?, ?) "
                    "ON CONFLICT (run_id) DO UPDATE SET benchmark = excluded.benchmark, model = excluded.model, "
                    "deployment = excluded.deployment, details = excluded.details, plan_digest = excluded.plan_digest, "
                    "state = 'asking'",
                    (
                        run_id,
                        suite,
                        name,
                        benchmark,
                        model,
                        deployment,
                        write_details(details),
                        kept.digest,
                        self._clock.stamp(),
                        self.audience.account,
                        int(private),
                    ),
                )
                if not is_same_plan:
                    self._start_over(run_id, kept.keys)
                self._connection.execute(
                    "INSERT OR REPLACE INTO subgroups VALUES (?, ?)",
                    (run_id, self._vault.seal(b"subgroups\0" + run_id.encode(), kept.subgroups)),
                )
        return run_id

    begin = _do_at_once(begin_in_parts)

    def _keep_plan(
        self,
        benchmark: str,
        lineage: str,
        planned: Iterable[tuple[Instance, bytes]],
        scored_by: Sequence[str],
    ) -> Generator[None, None, _KeptPlan]:
        """Store the questions of a plan, in batches; return its instances' keys. The arguments are those of `begin`."""
        plan = PlanDigest(scored_by)
        subgroups = SubgroupLabels()
        keys: list[bytes] = []
        walk = iter(planned)
        while batch := list(islice(walk, BATCH)):
            questions = [encode_question(instance) for instance, _ in batch]
            encoded = [
                add_origin(question, instance)
                for question, (instance, _) in zip(questions, batch, strict=True)
            ]
            record_keys = self._keep_records(encoded)
            for (instance, request_key), question, record_key in zip(
                batch, questions, record_keys, strict=True
            ):
                plan.add(question, request_key)
                subgroups.add(instance.subgroups)
                instance_key = self._identities.instance_key(benchmark, instance.id)
                unit_key = self._identities.unit_key(lineage, instance.unit)
                keys.append(instance_key + unit_key + record_key + request_key)
            yield
        return _KeptPlan(self._identities.key_plan(plan), keys, subgroups.encode())

    def check_privacy(self, suite: str, name: str, *, private: bool) -> None:
        """Check that a run may be begun or continued as it is wanted: private, or visible to everyone.

        Raises:
            ConfigError: the run exists and is the other, or is somebody else's private run.
        """
        row = self._connection.execute(
            "SELECT owner, private FROM runs WHERE run_id = ?",
            (self._identities.run_id(suite, name),),
        ).fetchone()
        if row is None:
            return
        owner, was_private = row
        if not self.audience.admits(owner, is_private=bool(was_private)):
            raise ConfigError(
                f"suite {suite} cannot take this run entry: {name}", "Choose another --suite."
            )
        if was_private and not private:
            raise ConfigError(
                f"the run {name} of suite {suite} is private",
                "Add --private to continue it, or show it to others first.",
            )
        if private and not was_private:
            raise ConfigError(
                f"the run {name} of suite {suite} exists, and others see it",
                "Choose another --suite for a private run.",
            )

    def set_privacy(self, run_id: str, *, private: bool) -> bool:
        """Keep a run from others, or show it to them. Return False if it was so already."""
        with self._database.transaction():
            changed = self._connection.execute(
                "UPDATE runs SET private = ? WHERE run_id = ? AND private <> ?",
                (int(private), run_id, int(private)),
            )
            return changed.rowcount > 0

    def _start_over(self, run_id: str, keys: Iterable[bytes]) -> None:
        """Delete every score of the run and write its instances again."""
        for table in ("scores", "labelled", "run_scores", "seats", "run_instances"):
            self._connection.execute(f"DELETE FROM {table} WHERE run_id = ?", (run_id,))  # noqa: S608 (from above)
        self._connection.executemany(
            "INSERT INTO run_instances VALUES (?, ?, ?, ?, ?, ?, NULL)",
            (
                (run_id, position, key[:32], key[32:64], key[64:96], key[96:])
                for position, key in enumerate(keys)
            ),
        )
        # If none of the stored answers belongs to the new plan, the time spent on them is not counted either.
        self._connection.execute(
            "UPDATE runs SET asked_seconds = NULL WHERE run_id = ? AND NOT EXISTS (SELECT 1 FROM run_instances i "
            "JOIN answers a ON a.request_key = i.request_key WHERE i.run_id = runs.run_id)",
            (run_id,),
        )

    def _keep_records(self, encoded: Sequence[bytes]) -> list[bytes]:
        """Seal records that are not stored yet, and mark the others as used now; return the record keys, in order."""
        keys = [self._vault.keyed_hash("record", data) for data in encoded]
        marks = ", ".join("?" for _ in keys)
        with self._database.transaction():
            now = self._clock.stamp()
            rows = self._connection.execute(
                f"SELECT record_key FROM records WHERE record_key IN ({marks})",  # noqa: S608 (marks)
                keys,
            )
            stored_keys = {key for (key,) in rows}
            self._connection.executemany(
                "UPDATE records SET last_used_at = ? WHERE record_key = ?",
                [(now, key) for key in stored_keys],
            )
            new_records = [
                pair for pair in zip(keys, encoded, strict=True) if pair[0] not in stored_keys
            ]
            self._connection.executemany(
                "INSERT OR IGNORE INTO records VALUES (?, ?, ?)",
                (
                    (key, self._vault.seal(b"record\0" + key, data), now)
                    for key, data in new_records
                ),
            )
        return keys

    def count_left_out(self, run_id: str, benchmark: str, instance_ids: Iterable[str]) -> int:
        """Return the number of scored instances of the stored run that are not among `instance_ids`."""
        planned_keys = {
            self._identities.instance_key(benchmark, instance_id) for instance_id in instance_ids
        }
        scored_keys = self._connection.execute(
            "SELECT DISTINCT i.instance_key FROM run_instances i JOIN scores s "
            "ON s.run_id = i.run_id AND s.position = i.position WHERE i.run_id = ? AND s.value IS NOT NULL",
            (run_id,),
        )
        return sum(key not in planned_keys for (key,) in scored_keys)

    def end(self, run_id: str, run_scores: Iterable[RunScore] = ()) -> None:
        """Mark the run as ended, and store the metrics of the whole run."""
        with self._database.transaction():
            self._scores.write_whole_run(run_id, run_scores)
            self._connection.execute(
                "UPDATE runs SET state = 'ended', ended_at = ? WHERE run_id = ?",
                (self._clock.stamp(), run_id),
            )


def _read_row(row: tuple[Any, ...]) -> Run:
    run_id, suite, name, benchmark, model, deployment, details, state, *times, owner, private = row
    started_at, ended_at = times
    return Run(
        run_id=run_id,
        suite=suite,
        name=name,
        benchmark=benchmark,
        model=model,
        deployment=deployment,
        details=read_details(details),
        state=state,
        started_at=started_at,
        ended_at=ended_at,
        owner=owner,
        is_private=bool(private),
    )
