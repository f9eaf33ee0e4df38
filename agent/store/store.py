"""The site's encrypted store: SQLite (WAL) with sealed texts, and identities as keyed hashes.

A run is written in three steps, each safe to repeat: `runs.begin` (its instances), `answers.settle` (answers and
scores, in small transactions as they arrive) and `runs.end`. A killed run leaves only complete transactions.
"""

from contextlib import AbstractContextManager, suppress
from pathlib import Path

from agent import __version__
from agent.errors import StoreError
from agent.store.accounts import Accounts
from agent.store.alerts import Alerts
from agent.store.answers import Answers
from agent.store.api_tokens import ApiTokens
from agent.store.audiences import EVERYTHING, Audience
from agent.store.audit import AuditLog
from agent.store.calibrations import Calibrations
from agent.store.clock import DAY_S, StoreClock
from agent.store.copies import Copies
from agent.store.database import Database, translate_errors
from agent.store.findings import Findings
from agent.store.identities import Identities
from agent.store.jobs import Jobs
from agent.store.juries import Juries
from agent.store.outcomes import Outcomes
from agent.store.releases import Releases
from agent.store.reviews import Reviews
from agent.store.run_deletion import RunContent, count_content, delete_content
from agent.store.runs import Runs
from agent.store.scores import Scores
from agent.store.sessions import Sessions
from agent.store.sign_ins import SignIns
from agent.store.upgrade import delete_texts, list_kept, purge_others
from agent.store.vault import Vault

_LATEST = 2**63 - 1  # the latest time that a row can have


class Store:
    """One open connection to the site's store. Not for several threads.

    Attributes:
        identities: keyed hashes that identify runs, requests, instances, units and raters.
        runs: runs by suite and name.
        answers: instances of runs with their texts, and the models' answers.
        scores: scores of instances and of whole runs.
        juries: replies of judges, and the grades of each seat.
        calibrations: samples that clinicians grade.
        reviews: samples of texts whose redaction a person reviews.
        outcomes: instances selected by the outcome of a metric.
        releases: named releases of this site, and imported leaderboards.
        findings: detections from redaction, by text and rules.
        jobs: the queue of jobs, and schedules.
        alerts: events that people outside the program are told of, and the messages about them.
        accounts: people who may use the service, with their roles.
        sessions: who is signed in.
        api_tokens: secrets of programs that use the service.
        sign_ins: failed attempts to sign in, and people who are at the OpenID provider.
        audit: the chained log of events.
        copies: copies of this site that are known, and deletions of texts.
        clock: the time, as far as the store believes the machine's clock.
    """

    def __init__(
        self, path: Path, vault: Vault, audit_key: bytes, audience: Audience = EVERYTHING
    ) -> None:
        """Open or create the store at `path` and bring its tables up to date.

        Args:
            path: path of the file; its folder is created if it is missing.
            vault: seals and hashes under the data key.
            audit_key: the 32-byte key that chains the audit log; derived from the seal key, not from the data key.
            audience: who reads the store, and which private runs they see.

        Raises:
            StoreError: the file is readable by others, damaged, of a newer version, or was created with other keys.
        """
        self.database = Database(path, vault, audit_key)
        self.clock = StoreClock(self.database)
        self.identities = Identities(vault)
        self.juries = Juries(self.database, self.clock)
        self.scores = Scores(self.database, self.juries)
        self.answers = Answers(self.database, self.scores, self.clock)
        self.runs = Runs(self.database, self.identities, self.scores, self.clock, audience)
        self.calibrations = Calibrations(self.database, self.identities)
        self.reviews = Reviews(self.database, self.clock)
        self.outcomes = Outcomes(self.database)
        self.releases = Releases(self.database)
        self.findings = Findings(self.database)
        self.jobs = Jobs(self.database)
        self.alerts = Alerts(self.database)
        self.accounts = Accounts(self.database)
        self.sessions = Sessions(self.database)
        self.api_tokens = ApiTokens(self.database)
        self.sign_ins = SignIns(self.database)
        self.audit = AuditLog(self.database)
        self.copies = Copies(self.database, self.clock)
        if self.database.upgraded_from is not None:
            self._note_upgrade(self.database.upgraded_from)

    def _note_upgrade(self, version: int) -> None:
        """Record that the tables were upgraded, and that there is a file with the store before."""
        with self.transaction():
            copy = self.copies.note_upgrade(version)
        with suppress(StoreError):  # a log that somebody changed is for its readers to report
            self.audit.record(
                "store upgraded",
                f"from={version} to={self.database.read_version()} program={__version__} copy={copy}",
            )

    def close(self) -> None:
        """Close the connection; a clean close merges the write-ahead log into the file."""
        self.database.close()

    def transaction(self) -> AbstractContextManager[None]:
        """Return a context whose writes are committed together, or not at all."""
        return self.database.transaction()

    def purge(self, older_than_days: int) -> int:
        """Delete texts that no run has used for `older_than_days` times 24 hours; scores stay.

        If `older_than_days` is 0, every stored text is deleted, whatever the clock says or said.

        Returns:
            The number of texts deleted.

        Raises:
            ClockError: the age of texts is not certain; nothing was deleted.
            StoreError: a file of the store before an upgrade cannot be purged; nothing else was deleted.
        """
        last = _LATEST
        if older_than_days:
            last = self.clock.check_before_purge() - older_than_days * DAY_S
        purge_others(self.database.path, last)
        with self.transaction():
            deleted = delete_texts(self.database.connection, last)
            self.copies.note_deletion(deleted)
            self.copies.note_purged_upgrades()
        self.rewrite_file()
        return deleted

    def count_run(self, run_id: str) -> RunContent:
        """Return what the store holds of a run, and so what `delete_run` would delete."""
        return count_content(self.database.connection, run_id)

    def delete_run(self, run_id: str) -> RunContent:
        """Delete a run with the texts that no other run uses; return what was deleted.

        No run may begin meanwhile (`runs.hold_beginnings`). `rewrite_file` must follow, outside of any transaction.
        """
        with self.transaction():
            deleted = delete_content(self.database.connection, run_id)
            self.copies.note_deletion(deleted.texts)
        return deleted

    def forget_kept_upgrades(self) -> None:
        """Delete the files with the store before an upgrade, so that it cannot be rolled back."""
        for kept in list_kept(self.database.path):
            kept.unlink()
        self.copies.forget_upgrade()

    def rewrite_file(self) -> None:
        """Write the file anew, so that nothing of deleted rows is left in it or in its write-ahead log.

        Raises:
            StoreError: it cannot be written, or another process has been reading it all the time.
        """
        connection = self.database.connection
        with translate_errors("written"):
            self._empty_log()
            connection.execute("VACUUM")
            self._empty_log()

    def _empty_log(self) -> None:
        """Merge the write-ahead log into the file. SQLite waits for readers, and then says whether it could."""
        (is_busy, *_) = self.database.connection.execute(
            "PRAGMA wal_checkpoint(TRUNCATE)"
        ).fetchone()
        if is_busy:
            raise StoreError(
                "the store cannot be written anew (it is being read)",
                "Run the same command again once other commands have ended.",
            )
