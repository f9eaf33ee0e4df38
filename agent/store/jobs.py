"""The queue's rows: jobs in their order, and schedules. No process is started here, and no clock is read.

A job is QUEUED until a worker begins it, and then RUNNING until the worker writes how it ended. Each change names the
states that it starts from, so that it is safe to repeat and a late one changes nothing:

    QUEUED ── begin ──> RUNNING ── end ──> DONE or FAILED
       ^                 │   │
       └─ stop, recover ─┘   └─ cancel ──> CANCELLING ── stop, recover ──> CANCELLED
"""

import json
import secrets
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from typing import Any

from agent.store.database import Database

_COLUMNS = (
    "job_id, place, state, sealed, schedule_id, queued_at, started_at, ended_at, exit_code, problem, attempts, "
    "progress"
)

COMMAND_LINE = "command line"
"""The account of jobs that were queued without one."""


class JobState(StrEnum):
    """The state of a job."""

    QUEUED = "queued"
    RUNNING = "running"
    CANCELLING = "cancelling"  # a worker was asked to stop, and has not stopped yet
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def is_open(self) -> bool:
        """Return whether a job in this state is still to be run, or is running."""
        return self in OPEN_STATES


OPEN_STATES = (JobState.QUEUED, JobState.RUNNING, JobState.CANCELLING)


@dataclass(frozen=True, slots=True)
class JobProgress:
    """The progress of a running job, in the figures and words that the command line shows.

    Attributes:
        label: the benchmark and model in work.
        phase: the kind of work, such as "asking" or "judging".
        done: instances finished.
        failed: instances without an answer.
        total: instances in all.
        seconds: time since this run began.
        left: the words of the forecast; may be empty.
        updated_at: time of this report, in seconds since 1970.
        unscored: instances finished without a score so far.
        stored: instances among those done whose answers were stored before.
    """

    label: str
    phase: str
    done: int
    failed: int
    total: int
    seconds: float
    left: str
    updated_at: float
    unscored: int = 0
    stored: int = 0


@dataclass(frozen=True, slots=True)
class QueuedCommand:
    """A command line that may be queued.

    Attributes:
        arguments: the command line after `--site DIR`.
        title: a description for people, without text of a record.
        account: name of the account that queued it.
        servers: keys of the inference servers that it needs.
        folder: the folder in which the command line runs, from which its relative paths start.
        suite: the suite that it works on; empty if it works on none.
        whole_suite: whether it works on all runs of the suite, so that no other job may change them meanwhile.
        private: whether it makes runs that are kept from others. Lacking in jobs of early versions.
    """

    arguments: tuple[str, ...]
    title: str
    account: str
    servers: tuple[str, ...] = ()
    folder: str = ""
    suite: str = ""
    whole_suite: bool = False
    private: bool = False


@dataclass(frozen=True, slots=True)
class Job:
    """One job with its row. Times are in seconds since 1970."""

    job_id: str
    command: QueuedCommand
    state: JobState
    place: int
    schedule_id: str | None
    queued_at: float
    started_at: float | None
    ended_at: float | None
    exit_code: int | None
    problem: str
    attempts: int
    progress: JobProgress | None

    @property
    def arguments(self) -> tuple[str, ...]:
        """Return the command line after `--site DIR`."""
        return self.command.arguments

    @property
    def title(self) -> str:
        """Return the description for people."""
        return self.command.title

    @property
    def account(self) -> str:
        """Return the name of the account that queued it."""
        return self.command.account

    @property
    def servers(self) -> tuple[str, ...]:
        """Return the keys of the inference servers that it needs."""
        return self.command.servers


@dataclass(frozen=True, slots=True)
class Schedule:
    """A command line that is queued at the times of a cron expression. Times are in seconds since 1970.

    Attributes:
        considered_until: times of the expression up to this one have had their job, or were passed over.
    """

    schedule_id: str
    cron: str
    command: QueuedCommand
    made_at: float
    considered_until: float


class Jobs:
    """The store's jobs and schedules."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._connection = database.connection
        self._vault = database.vault

    def add(self, command: QueuedCommand, now: float, schedule_id: str | None = None) -> Job:
        """Append a job to the queue and return it."""
        job_id = secrets.token_hex(8)
        content = self._vault.seal(_bind_job(job_id), _encode(asdict(command)))
        with self._database.transaction():
            self._connection.execute(
                "INSERT INTO jobs (job_id, place, state, sealed, schedule_id, queued_at) "
                "VALUES (?, (SELECT COALESCE(MAX(place), 0) + 1 FROM jobs), ?, ?, ?, ?)",
                (job_id, JobState.QUEUED, content, schedule_id, now),
            )
        job = self.find(job_id)
        assert job is not None  # just written
        return job

    def find(self, job_id: str) -> Job | None:
        """Return the job with this id, or None."""
        return next(iter(self._select("job_id = ?", job_id)), None)

    def list_open(self) -> list[Job]:
        """Return the jobs that are running or queued, in their order."""
        return self._select("state IN (?, ?, ?) ORDER BY place", *OPEN_STATES)

    def count_states(self) -> dict[JobState, int]:
        """Return the number of jobs in each state."""
        counts = dict.fromkeys(JobState, 0)
        for state, count in self._connection.execute(
            "SELECT state, COUNT(*) FROM jobs GROUP BY state"
        ):
            counts[JobState(state)] = count
        return counts

    def find_oldest_queued(self) -> float | None:
        """Return when the job that has waited longest was queued, in seconds since 1970; None if none waits."""
        row = self._connection.execute(
            "SELECT MIN(queued_at) FROM jobs WHERE state = 'queued'"
        ).fetchone()
        return None if row[0] is None else float(row[0])

    def list_recent(self, count: int) -> list[Job]:
        """Return the jobs that ended last, at most `count`, newest first."""
        return self._select(
            "ended_at IS NOT NULL ORDER BY ended_at DESC, place DESC LIMIT ?", count
        )

    def list_unnoticed(self, count: int) -> list[Job]:
        """Return jobs whose end has led to no alert yet, at most `count`, oldest first."""
        return self._select(
            "ended_at IS NOT NULL AND noticed = 0 ORDER BY ended_at, place LIMIT ?", count
        )

    def mark_noticed(self, job_id: str) -> bool:
        """Note that a job's end needs no further alert. Return False if that was noted before."""
        return self._change("UPDATE jobs SET noticed = 1 WHERE job_id = ? AND noticed = 0", job_id)

    def begin(self, job_id: str, now: float) -> bool:
        """Mark a queued job as running. Return False if it is not queued any more."""
        return self._change(
            "UPDATE jobs SET state = 'running', started_at = ?, attempts = attempts + 1, exit_code = NULL, "
            "problem = '', progress = NULL WHERE job_id = ? AND state = 'queued'",
            now,
            job_id,
        )

    def report(self, job_id: str, progress: JobProgress) -> None:
        """Store the progress of a running job."""
        self._change(
            "UPDATE jobs SET progress = ? WHERE job_id = ? AND state IN ('running', 'cancelling')",
            json.dumps(asdict(progress)),
            job_id,
        )

    def end(self, job_id: str, exit_code: int, now: float, problem: str = "") -> bool:
        """Store how the command line ended: DONE after exit code 0, else FAILED.

        Returns:
            False if the job was not running.
        """
        state = JobState.DONE if exit_code == 0 else JobState.FAILED
        return self._change(
            "UPDATE jobs SET state = ?, exit_code = ?, ended_at = ?, problem = ? "
            "WHERE job_id = ? AND state IN ('running', 'cancelling')",
            state,
            exit_code,
            now,
            problem,
            job_id,
        )

    def fail(self, job_id: str, now: float, problem: str) -> bool:
        """End an open job that cannot be run. Return False if it was not open."""
        return self._change(
            "UPDATE jobs SET state = 'failed', ended_at = ?, problem = ? "
            "WHERE job_id = ? AND state IN ('queued', 'running', 'cancelling')",
            now,
            problem,
            job_id,
        )

    def stop(self, job_id: str, now: float) -> None:
        """Mark a job that stopped cleanly: CANCELLED if that was asked for, else QUEUED in its old place.

        The attempt does not count, because nothing went wrong with it.
        """
        with self._database.transaction():
            self._cancel_if_asked(job_id, now)
            self._change(
                "UPDATE jobs SET state = 'queued', attempts = attempts - 1, progress = NULL "
                "WHERE job_id = ? AND state = 'running'",
                job_id,
            )

    def recover(self, job_id: str, now: float, *, max_attempts: int, problem: str) -> None:
        """Mark a job whose worker is gone: CANCELLED if that was asked for, else QUEUED in its old place.

        After `max_attempts` attempts it is FAILED with `problem` instead.
        """
        with self._database.transaction():
            self._cancel_if_asked(job_id, now)
            self._change(
                "UPDATE jobs SET state = 'failed', ended_at = ?, problem = ? "
                "WHERE job_id = ? AND state = 'running' AND attempts >= ?",
                now,
                problem,
                job_id,
                max_attempts,
            )
            self._change(
                "UPDATE jobs SET state = 'queued', progress = NULL "
                "WHERE job_id = ? AND state = 'running'",
                job_id,
            )

    def cancel(self, job_id: str, now: float) -> bool:
        """Cancel a queued job, or ask for a running one to be stopped. Return False if it has ended already."""
        with self._database.transaction():
            was_queued = self._change(
                "UPDATE jobs SET state = 'cancelled', ended_at = ? "
                "WHERE job_id = ? AND state = 'queued'",
                now,
                job_id,
            )
            is_asked = self._change(
                "UPDATE jobs SET state = 'cancelling' "
                "WHERE job_id = ? AND state IN ('running', 'cancelling')",
                job_id,
            )
        return was_queued or is_asked

    def move(self, job_id: str, before: str | None) -> bool:
        """Move a queued job directly before another queued one, or to the end if `before` is None.

        Returns:
            False if one of both is not queued.
        """
        with self._database.transaction():
            rows = self._connection.execute(
                "SELECT job_id, place FROM jobs WHERE state = 'queued' ORDER BY place"
            ).fetchall()
            order = [queued_id for queued_id, _ in rows]
            places = [place for _, place in rows]
            if job_id not in order or (before is not None and before not in order):
                return False
            if job_id == before:
                return True
            order.remove(job_id)
            order.insert(len(order) if before is None else order.index(before), job_id)
            self._connection.executemany(
                "UPDATE jobs SET place = ? WHERE job_id = ?", zip(places, order, strict=True)
            )
        return True

    def delete_ended(self, before: float) -> list[str]:
        """Delete the jobs that ended before this time; return their ids."""
        with self._database.transaction():
            rows = self._connection.execute(
                "DELETE FROM jobs WHERE ended_at < ? RETURNING job_id", (before,)
            ).fetchall()
        return [job_id for (job_id,) in rows]

    def add_schedule(self, cron: str, command: QueuedCommand, now: float) -> Schedule:
        """Store a schedule, whose first time is after `now`, and return it."""
        schedule_id = secrets.token_hex(8)
        sealed = self._seal_schedule(schedule_id, cron, command)
        with self._database.transaction():
            self._connection.execute(
                "INSERT INTO schedules VALUES (?, ?, ?, ?)", (schedule_id, sealed, now, now)
            )
        return Schedule(schedule_id, cron, command, made_at=now, considered_until=now)

    def list_schedules(self) -> list[Schedule]:
        """Return the schedules, oldest first."""
        rows = self._connection.execute(
            "SELECT schedule_id, sealed, made_at, considered_until FROM schedules ORDER BY made_at, schedule_id"
        ).fetchall()
        schedules = []
        for schedule_id, sealed, made_at, considered_until in rows:
            content = json.loads(self._vault.open(_bind_schedule(schedule_id), sealed))
            command = _read_command(content["command"])
            schedules.append(
                Schedule(schedule_id, content["cron"], command, made_at, considered_until)
            )
        return schedules

    def keep_private(self, suite: str, account: str) -> None:
        """Mark the jobs and schedules of an account in a suite as private."""
        with self._database.transaction():
            for job in self._select("1"):
                if _is_shown(job.command, suite, account):
                    command = replace(job.command, private=True)
                    sealed = self._vault.seal(_bind_job(job.job_id), _encode(asdict(command)))
                    self._change("UPDATE jobs SET sealed = ? WHERE job_id = ?", sealed, job.job_id)
            for schedule in self.list_schedules():
                if _is_shown(schedule.command, suite, account):
                    command = replace(schedule.command, private=True)
                    self._change(
                        "UPDATE schedules SET sealed = ? WHERE schedule_id = ?",
                        self._seal_schedule(schedule.schedule_id, schedule.cron, command),
                        schedule.schedule_id,
                    )

    def remove_schedule(self, schedule_id: str) -> bool:
        """Delete a schedule; its jobs stay. Return False if there is none."""
        return self._change("DELETE FROM schedules WHERE schedule_id = ?", schedule_id)

    def queue_due(self, schedule: Schedule, until: float, now: float) -> Job | None:
        """Queue the job of a schedule that is due, and note that its times up to `until` are dealt with.

        Both are written together, so that a crash neither loses nor doubles a job. While an earlier job of the
        schedule is open, the time is passed over.

        Returns:
            The job; None if the time was passed over, or another process was faster.
        """
        with self._database.transaction():
            is_new = self._change(
                "UPDATE schedules SET considered_until = ? WHERE schedule_id = ? AND considered_until < ?",
                until,
                schedule.schedule_id,
                until,
            )
            if not is_new or self._has_open_job(schedule.schedule_id):
                return None
            return self.add(schedule.command, now, schedule.schedule_id)

    def _seal_schedule(self, schedule_id: str, cron: str, command: QueuedCommand) -> bytes:
        content = _encode({"cron": cron, "command": asdict(command)})
        return self._vault.seal(_bind_schedule(schedule_id), content)

    def _has_open_job(self, schedule_id: str) -> bool:
        row = self._connection.execute(
            "SELECT 1 FROM jobs WHERE schedule_id = ? AND state IN (?, ?, ?) LIMIT 1",
            (schedule_id, *OPEN_STATES),
        ).fetchone()
        return row is not None

    def _cancel_if_asked(self, job_id: str, now: float) -> None:
        self._change(
            "UPDATE jobs SET state = 'cancelled', ended_at = ? WHERE job_id = ? AND state = 'cancelling'",
            now,
            job_id,
        )

    def _change(self, statement: str, *values: object) -> bool:
        """Run a statement; return whether it changed a row."""
        with self._database.transaction():
            return self._connection.execute(statement, values).rowcount > 0

    def _select(self, condition: str, *values: object) -> list[Job]:
        rows = self._connection.execute(
            f"SELECT {_COLUMNS} FROM jobs WHERE {condition}",  # noqa: S608 (conditions of this file)
            values,
        ).fetchall()
        return [self._read_row(row) for row in rows]

    def _read_row(self, row: tuple[Any, ...]) -> Job:
        job_id, place, state, sealed, schedule_id, *rest, progress = row
        queued_at, started_at, ended_at, exit_code, problem, attempts = rest
        return Job(
            job_id=job_id,
            command=_read_command(json.loads(self._vault.open(_bind_job(job_id), sealed))),
            state=JobState(state),
            place=place,
            schedule_id=schedule_id,
            queued_at=queued_at,
            started_at=started_at,
            ended_at=ended_at,
            exit_code=exit_code,
            problem=problem,
            attempts=attempts,
            progress=None if progress is None else JobProgress(**json.loads(progress)),
        )


def _read_command(content: dict[str, Any]) -> QueuedCommand:
    return QueuedCommand(
        arguments=tuple(content["arguments"]),
        title=content["title"],
        account=content["account"],
        servers=tuple(content["servers"]),
        folder=content["folder"],
        suite=content["suite"],
        whole_suite=content["whole_suite"],
        private=content.get("private", False),
    )


def _is_shown(command: QueuedCommand, suite: str, account: str) -> bool:
    return command.suite == suite and command.account == account and not command.private


def _encode(content: object) -> bytes:
    return json.dumps(content).encode()


def _bind_job(job_id: str) -> bytes:
    return b"job\0" + job_id.encode()


def _bind_schedule(schedule_id: str) -> bytes:
    return b"schedule\0" + schedule_id.encode()
