"""Samples for clinicians and the clinicians' grades; both are sealed, and contain no patient text."""

import json
import time
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agent.store.database import Database
from agent.store.identities import Identities


@dataclass(frozen=True, slots=True)
class Calibration:
    """One sample. `plan` maps each item to an instance of a run, and contains the questions to clinicians."""

    name: str
    plan: Mapping[str, Any]
    made_at: int  # seconds since 1970


@dataclass(frozen=True, slots=True)
class Rater:
    """The grades of one clinician in a sample.

    Attributes:
        number: position in the order of import, from 1; shown in place of the clinician's name (R1, R2, ...).
        grades: item -> criterion -> grade, without blank cells.
        imported_at: seconds since 1970.
    """

    number: int
    grades: Mapping[str, Mapping[str, float]]
    imported_at: int


class Calibrations:
    """The stored samples for clinicians, with each clinician's grades."""

    def __init__(self, database: Database, identities: Identities) -> None:
        self._database = database
        self._connection = database.connection
        self._vault = database.vault
        self._identities = identities

    def keep(self, name: str, plan: Mapping[str, Any]) -> None:
        """Store a new sample."""
        sealed = self._vault.seal(b"calibration\0" + name.encode(), json.dumps(plan).encode())
        with self._database.transaction():
            self._connection.execute(
                "INSERT INTO calibrations VALUES (?, ?, ?)", (name, sealed, int(time.time()))
            )

    def read_all(self) -> list[Calibration]:
        """Return every sample, sorted by name."""
        rows = self._connection.execute(
            "SELECT name, sealed, made_at FROM calibrations ORDER BY name"
        )
        return [
            Calibration(
                name,
                json.loads(self._vault.open(b"calibration\0" + name.encode(), sealed)),
                made_at,
            )
            for name, sealed, made_at in rows.fetchall()
        ]

    def find(self, name: str) -> Calibration | None:
        """Return the sample with this name, or None."""
        return next(
            (calibration for calibration in self.read_all() if calibration.name == name), None
        )

    def delete(self, name: str) -> None:
        """Delete a sample with the clinicians' grades and names."""
        with self._database.transaction():
            self._connection.execute("DELETE FROM ratings WHERE calibration = ?", (name,))
            self._connection.execute("DELETE FROM calibrations WHERE name = ?", (name,))

    def delete_ratings(self, calibration: str, number: int) -> None:
        """Delete the name and grades of one clinician; the others keep their numbers."""
        with self._database.transaction():
            for key, (_, rater) in self._read_raters(calibration).items():
                if rater.number == number:
                    self._connection.execute(
                        "DELETE FROM ratings WHERE calibration = ? AND rater_key = ?",
                        (calibration, key),
                    )

    def keep_ratings(
        self, calibration: str, rater: str, grades: Mapping[str, Mapping[str, float]]
    ) -> int:
        """Store the grades of the clinician named `rater`, replacing any earlier ones.

        Returns:
            The clinician's number, which does not change.
        """
        with self._database.transaction():
            raters = self._read_raters(calibration)
            earlier_key = next(
                (key for key, (name, _) in raters.items() if _fold(name) == _fold(rater)), None
            )
            if earlier_key is None:
                key = self._identities.rater_key(calibration, rater)
                number = 1 + max((earlier.number for _, earlier in raters.values()), default=0)
            else:
                key = earlier_key
                number = raters[earlier_key][1].number
            content = json.dumps({"name": rater, "number": number, "grades": grades}).encode()
            self._connection.execute(
                "INSERT OR REPLACE INTO ratings VALUES (?, ?, ?, ?)",
                (
                    calibration,
                    key,
                    self._vault.seal(_context(calibration, key), content),
                    int(time.time()),
                ),
            )
        return number

    def find_rater(self, calibration: str, name: str) -> Rater | None:
        """Return the grades of the clinician with this name; case and spaces in the name are ignored."""
        raters = self._read_raters(calibration).values()
        return next(
            (rater for rater_name, rater in raters if _fold(rater_name) == _fold(name)), None
        )

    def read_raters(self, calibration: str) -> list[Rater]:
        """Return the grades of each clinician by number, without names."""
        return sorted(
            (rater for _, rater in self._read_raters(calibration).values()),
            key=lambda rater: rater.number,
        )

    def _read_raters(self, calibration: str) -> dict[bytes, tuple[str, Rater]]:
        """Return each clinician's name and grades."""
        rows = self._connection.execute(
            "SELECT rater_key, sealed, imported_at FROM ratings WHERE calibration = ?",
            (calibration,),
        ).fetchall()
        raters = {}
        for key, sealed, imported_at in rows:
            content = json.loads(self._vault.open(_context(calibration, key), sealed))
            raters[key] = (
                content["name"],
                Rater(content["number"], content["grades"], imported_at),
            )
        return raters


def _context(calibration: str, key: bytes) -> bytes:
    return b"ratings\0" + calibration.encode() + b"\0" + key


def _fold(name: str) -> str:
    return " ".join(unicodedata.normalize("NFC", name).split()).casefold()
