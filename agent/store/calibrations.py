"""Samples for clinicians, and what clinicians gave them; both sealed, neither with text of a case."""

import json
import time
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agent.store.database import Database


@dataclass(frozen=True, slots=True)
class Calibration:
    """One sample. `plan` says which item is which instance of which run, and what was asked of clinicians."""

    name: str
    plan: Mapping[str, Any]
    made_at: int  # seconds since 1970


@dataclass(frozen=True, slots=True)
class Rater:
    """What one clinician gave a sample.

    Attributes:
        number: 1 for the first whose ratings came, and so on; what the clinician is called on pages and in tables.
        grades: item -> criterion -> grade; what was left blank is not there.
        imported_at: seconds since 1970.
    """

    number: int
    grades: Mapping[str, Mapping[str, float]]
    imported_at: int


class Calibrations(Database):
    """The part of the store that holds samples for clinicians."""

    def keep_calibration(self, name: str, plan: Mapping[str, Any]) -> None:
        """Keep a new sample."""
        sealed = self._vault.seal(b"calibration\0" + name.encode(), json.dumps(plan).encode())
        with self._transaction():
            self._db.execute("INSERT INTO calibrations VALUES (?, ?, ?)", (name, sealed, int(time.time())))

    def calibrations(self) -> list[Calibration]:
        """Return every sample, by name."""
        rows = self._db.execute("SELECT name, sealed, made_at FROM calibrations ORDER BY name")
        return [
            Calibration(name, json.loads(self._vault.open(b"calibration\0" + name.encode(), sealed)), made_at)
            for name, sealed, made_at in rows.fetchall()
        ]

    def calibration(self, name: str) -> Calibration | None:
        """Return one sample."""
        return next((calibration for calibration in self.calibrations() if calibration.name == name), None)

    def delete_calibration(self, name: str) -> None:
        """Delete a sample with all that clinicians gave it, their names too."""
        with self._transaction():
            self._db.execute("DELETE FROM ratings WHERE calibration = ?", (name,))
            self._db.execute("DELETE FROM calibrations WHERE name = ?", (name,))

    def delete_ratings(self, calibration: str, number: int) -> None:
        """Delete the name and grades of one clinician; the others keep their numbers."""
        with self._transaction():
            for key, (_, rater) in self._raters(calibration).items():
                if rater.number == number:
                    self._db.execute("DELETE FROM ratings WHERE calibration = ? AND rater_key = ?", (calibration, key))

    def keep_ratings(self, calibration: str, rater: str, grades: Mapping[str, Mapping[str, float]]) -> int:
        """Keep what the clinician named `rater` gave, in place of what the same one gave before.

        Returns:
            The clinician's number, which stays the same.
        """
        with self._transaction():
            known = self._raters(calibration)
            same = next((key for key, (name, _) in known.items() if _folded(name) == _folded(rater)), None)
            key = self._rater_key(calibration, rater) if same is None else same
            number = max((one.number for _, one in known.values()), default=0) + 1
            if same is not None:
                number = known[same][1].number
            content = json.dumps({"name": rater, "number": number, "grades": grades}).encode()
            self._db.execute(
                "INSERT OR REPLACE INTO ratings VALUES (?, ?, ?, ?)",
                (calibration, key, self._vault.seal(_context(calibration, key), content), int(time.time())),
            )
        return number

    def rater_called(self, calibration: str, name: str) -> Rater | None:
        """Return what the clinician of this name gave; large and small letters and blanks do not tell names apart."""
        found = self._raters(calibration).values()
        return next((rater for known, rater in found if _folded(known) == _folded(name)), None)

    def raters(self, calibration: str) -> list[Rater]:
        """Return what each clinician gave, by number. Names are sealed and not among it."""
        return sorted((rater for _, rater in self._raters(calibration).values()), key=lambda rater: rater.number)

    def answer_mark(self, answer: str) -> str:
        """Return what tells an answer from every other and says nothing of it to who lacks the site's key."""
        return self._vault.keyed_hash("calibrated answer", answer.encode("utf-8", "surrogatepass")).hex()

    def _raters(self, calibration: str) -> dict[bytes, tuple[str, Rater]]:
        """Return each clinician's name and ratings."""
        rows = self._db.execute(
            "SELECT rater_key, sealed, imported_at FROM ratings WHERE calibration = ?", (calibration,)
        ).fetchall()
        found = {}
        for key, sealed, imported_at in rows:
            content = json.loads(self._vault.open(_context(calibration, key), sealed))
            found[key] = (content["name"], Rater(content["number"], content["grades"], imported_at))
        return found

    def _rater_key(self, calibration: str, rater: str) -> bytes:
        return self._vault.keyed_hash("rater", calibration.encode() + b"\0" + rater.encode("utf-8", "surrogatepass"))


def _context(calibration: str, key: bytes) -> bytes:
    return b"ratings\0" + calibration.encode() + b"\0" + key


def _folded(name: str) -> str:
    return " ".join(unicodedata.normalize("NFC", name).split()).casefold()
