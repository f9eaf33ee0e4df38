"""Stored local releases and imported leaderboards."""

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agent.store.database import Database


@dataclass(frozen=True, slots=True)
class LocalRelease:
    """A named local release of suites and imported leaderboards; later parts override earlier ones."""

    name: str
    parts: tuple[str, ...]
    made_at: int  # seconds since 1970


@dataclass(frozen=True, slots=True)
class LeaderboardCell:
    """One value in an imported leaderboard. `instances` is None if the leaderboard does not state their number."""

    benchmark: str
    benchmark_name: str
    model: str
    metric: str
    metric_name: str
    value: float
    instances: int | None


@dataclass(frozen=True, slots=True)
class ImportedLeaderboard:
    """A leaderboard made elsewhere. `details` contains its release, date and digest."""

    name: str
    details: Mapping[str, Any]
    imported_at: int  # seconds since 1970


class Releases:
    """The stored releases of this site, and the imported leaderboards."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._connection = database.connection

    def keep(self, name: str, parts: Sequence[str]) -> None:
        """Store a release, replacing any release of the same name."""
        with self._database.transaction():
            self._connection.execute("DELETE FROM release_parts WHERE release = ?", (name,))
            self._connection.execute(
                "INSERT OR REPLACE INTO releases VALUES (?, ?)", (name, int(time.time()))
            )
            self._connection.executemany(
                "INSERT INTO release_parts VALUES (?, ?, ?)",
                ((name, position, part) for position, part in enumerate(parts)),
            )

    def read_all(self) -> list[LocalRelease]:
        """Return every release, sorted by name."""
        return [
            LocalRelease(name, self._read_parts(name), made_at)
            for name, made_at in self._connection.execute(
                "SELECT name, made_at FROM releases ORDER BY name"
            ).fetchall()
        ]

    def _read_parts(self, release: str) -> tuple[str, ...]:
        rows = self._connection.execute(
            "SELECT part FROM release_parts WHERE release = ? ORDER BY position", (release,)
        )
        return tuple(part for (part,) in rows)

    def keep_leaderboard(
        self, name: str, details: Mapping[str, Any], cells: Sequence[LeaderboardCell]
    ) -> None:
        """Store an imported leaderboard with its figures, replacing any leaderboard of the same name."""
        with self._database.transaction():
            self._connection.execute("DELETE FROM leaderboard_cells WHERE leaderboard = ?", (name,))
            self._connection.execute(
                "INSERT OR REPLACE INTO leaderboards VALUES (?, ?, ?)",
                (name, json.dumps(details), int(time.time())),
            )
            self._connection.executemany(
                "INSERT INTO leaderboard_cells VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    (
                        name,
                        position,
                        cell.benchmark,
                        cell.benchmark_name,
                        cell.model,
                        cell.metric,
                        cell.metric_name,
                        cell.value,
                        cell.instances,
                    )
                    for position, cell in enumerate(cells)
                ),
            )

    def read_leaderboards(self) -> list[ImportedLeaderboard]:
        """Return every imported leaderboard, sorted by name."""
        rows = self._connection.execute(
            "SELECT name, details, imported_at FROM leaderboards ORDER BY name"
        )
        return [
            ImportedLeaderboard(name, json.loads(details), imported_at)
            for name, details, imported_at in rows
        ]

    def read_leaderboard_cells(self, name: str) -> list[LeaderboardCell]:
        """Return an imported leaderboard's figures, in their original order."""
        rows = self._connection.execute(
            "SELECT benchmark, benchmark_name, model, metric, metric_name, value, instances FROM leaderboard_cells "
            "WHERE leaderboard = ? ORDER BY position",
            (name,),
        )
        return [LeaderboardCell(*row) for row in rows]
